// Threads that do little, and that others wait for.
#pragma once

namespace paceline {

// Asks the scheduler to let this thread run soon after it wakes, even where all cores compute: it gets short
// turns instead of long ones, which needs no rights (Linux 6.12 and newer; elsewhere nothing happens).
void wake_quickly();

}  // namespace paceline
