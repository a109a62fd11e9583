// The code in our pages for people, so that tests can run it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// The contents of the page's blocks fenced by ``` and this language, in their order. The page is relative to
// the source tree.
std::vector<std::string> code_blocks(std::string_view page, std::string_view language);

// The script with every ./paceline as the program that run_script() names, ending at its first failure.
std::string as_script(std::string block);

}  // namespace paceline
