#include "data/text/clean.h"

#include <algorithm>

#include "data/text/entities.h"
#include "data/text/find_byte.h"

namespace paceline {
namespace {

constexpr size_t npos = std::string_view::npos;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == ':'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t k = 0; k < text.size(); ++k) {
    if ((is_letter(text[k]) ? text[k] | 0x20 : text[k]) != lower[k]) return false;
  }
  return true;
}

// Goes through the text once: whatever fails to be markup is remembered, so that nothing is searched
// for twice in vain.
class Cleaner {
 public:
  Cleaner(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void run() {
    size_t position = 0, next_tag = 0, next_entity = 0;
    while (position < text_.size()) {
      if (next_tag <= position) next_tag = find_byte(text_, '<', position);
      if (next_entity <= position) next_entity = find_byte(text_, '&', position);
      const size_t markup = std::min(next_tag, next_entity);
      out_.append(text_, position, markup - position);
      if (markup == text_.size()) break;
      position = markup == next_tag ? clean_tag(markup) : clean_entity(markup);
    }
  }

 private:
  size_t clean_entity(size_t position) {
    const size_t length = decode_entity(text_, position, out_);
    if (length == 0) out_.push_back('&');
    return position + (length == 0 ? 1 : length);
  }

  size_t clean_tag(size_t position) {
    const size_t end = markup_end(position);
    out_.push_back(end == npos ? '<' : ' ');
    return end == npos ? position + 1 : end;
  }

  // The position behind the tag, comment or element that begins at the '<'; npos when none does.
  size_t markup_end(size_t position) {
    const std::string_view rest = text_.substr(position + 1);
    if (rest.starts_with("!--")) return comment_end(position + 4);
    if (rest.size() < 2) return npos;
    if (rest[0] == '!' || rest[0] == '?')
      return is_letter(rest[1]) || rest[1] == '[' ? tag_end(position + 2) : npos;
    const size_t name_begin = position + (rest[0] == '/' ? 2 : 1);
    if (!is_letter(text_[name_begin])) return npos;
    size_t name_end = name_begin;
    while (name_end < text_.size() && is_name(text_[name_end])) ++name_end;
    if (name_end == text_.size() || text_[name_end - 1] == ':') return npos;  // <https://example.org>
    const char behind = text_[name_end];
    if (!is_space(behind) && behind != '/' && behind != '>') return npos;  // <someone@example.org>
    const size_t end = tag_end(name_end);
    if (end == npos || rest[0] == '/') return end;
    const std::string_view name = text_.substr(name_begin, name_end - name_begin);
    if (equals_ignoring_case(name, "script")) return element_end(end, "script", script_open_);
    if (equals_ignoring_case(name, "style")) return element_end(end, "style", style_open_);
    return end;
  }

  // Behind the first '>' outside of quoted attribute values. A tag holds no further '<', so that no
  // text is passed over for a '>' far away; if a quote does not close, its first '>' ends the tag.
  size_t tag_end(size_t position) const {
    char quote = 0;
    size_t inside_quotes = npos;
    for (size_t k = position; k < text_.size() && text_[k] != '<'; ++k) {
      const char c = text_[k];
      if (quote != 0) {
        if (c == quote) quote = 0;
        if (c == '>' && inside_quotes == npos) inside_quotes = k + 1;
      } else if (c == '>') {
        return k + 1;
      } else if ((c == '"' || c == '\'') && text_[k - 1] == '=') {
        quote = c;
      }
    }
    return inside_quotes;
  }

  size_t comment_end(size_t position) {
    if (comment_open_) return npos;
    const size_t end = text_.find("-->", position);
    comment_open_ = end == npos;
    return end == npos ? npos : end + 3;
  }

  // Behind </name ...>; behind the opening tag alone when the element is never closed.
  size_t element_end(size_t content, std::string_view name, bool& open) {
    if (open) return content;
    for (size_t k = find_byte(text_, '<', content); k < text_.size(); k = find_byte(text_, '<', k + 1)) {
      if (k + 1 == text_.size() || text_[k + 1] != '/') continue;
      if (!equals_ignoring_case(text_.substr(k + 2, name.size()), name)) continue;
      const size_t end = tag_end(k + 2 + name.size());
      if (end != npos) return end;
    }
    open = true;
    return content;
  }

  std::string_view text_;
  std::string& out_;
  bool comment_open_ = false, script_open_ = false, style_open_ = false;  // known to have no end
};

}  // namespace

void clean_html(std::string_view in, std::string& out) {
  if (find_byte(in, '<', 0) == in.size() && find_byte(in, '&', 0) == in.size()) {
    out.assign(in);
    return;
  }
  out.clear();
  out.reserve(in.size());
  Cleaner(in, out).run();
}

}  // namespace paceline
