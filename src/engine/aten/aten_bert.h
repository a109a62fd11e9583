// The model bert in LibTorch's operations and autograd: slower, but for any device. The masks and the loss
// are those of the fused kernels, so both train alike up to rounding.
#pragma once

namespace paceline {

// From then on --kernels aten finds it.
void register_aten_bert();

}  // namespace paceline
