// Which instruction sets the hot loops are compiled for: included before hwy/foreach_target.h. The two left
// out would add compile time and no speed.
#pragma once
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
