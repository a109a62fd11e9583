// Takes the HTML out of text.
#pragma once
#include <string>
#include <string_view>

namespace paceline {

// Replaces out. Tags, comments, and script and style elements with their content become one space
// each; then entities are decoded (so "&lt;b&gt;" becomes the text "<b>"): the common named ones, and
// numeric ones, of which those that name no character become U+FFFD. What only looks like HTML ("a <
// b", "<3", "R&D", "&unknown;") stays as it is. Linear in time; out is never longer than in.
void clean_html(std::string_view in, std::string& out);

}  // namespace paceline
