#include "engine/model/pickle_machine.h"

#include <algorithm>

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {
namespace {

constexpr std::string_view ordered_dict = "collections.OrderedDict";

}  // namespace

void PickleMachine::refuse(const std::string& what) const {
  throw std::runtime_error(fmt::format("{} (at byte {} of its pickle)", what, opcode_at_));
}

std::string_view PickleMachine::take(uint64_t count) {
  if (count > bytes_.size() - at_) refuse("it ends in the middle");
  at_ += count;
  return bytes_.substr(at_ - count, count);
}

uint64_t PickleMachine::take_number(size_t bytes) {
  uint64_t value = 0;
  const std::string_view text = take(bytes);
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

std::string_view PickleMachine::take_line() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) refuse("it ends in the middle");
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

void PickleMachine::push(PickleValue value) {
  if (values_.size() == most_values) refuse(fmt::format("it has more than {} values", most_values));
  stack_.push_back(static_cast<uint32_t>(values_.size()));
  values_.push_back(std::move(value));
}

uint32_t PickleMachine::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    refuse("it takes something from its stack where nothing is");
  const uint32_t number = stack_.back();
  stack_.pop_back();
  return number;
}

uint32_t PickleMachine::pop(Kind kind) {
  const uint32_t number = pop();
  if (values_[number].kind != kind)
    refuse(fmt::format("it has {} where {} belongs", kind_name(values_[number].kind), kind_name(kind)));
  return number;
}

std::vector<uint32_t> PickleMachine::pop_to_mark() {
  if (marks_.empty()) refuse("it goes back to a mark that is not there");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<uint32_t> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

PickleValue& PickleMachine::top(Kind kind) {
  const uint32_t number = pop(kind);
  stack_.push_back(number);
  return values_[number];
}

void PickleMachine::add_pairs(PickleValue& dict, const std::vector<uint32_t>& items) {
  if (items.size() % 2 != 0) refuse("it has a key without a value");
  dict.items.insert(dict.items.end(), items.begin(), items.end());
}

void PickleMachine::remember(uint64_t number) {
  const uint32_t value = pop();
  stack_.push_back(value);
  memo_[number] = value;
  if (memo_.size() > most_values) refuse(fmt::format("it remembers more than {} values", most_values));
}

void PickleMachine::recall(uint64_t number) {
  const auto found = memo_.find(number);
  if (found == memo_.end()) refuse(fmt::format("it recalls value {}, which it has not remembered", number));
  stack_.push_back(found->second);
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  const std::string full = shortened(module) + "." + shortened(name);
  if (full == ordered_dict) return push({.kind = Kind::global, .text = ordered_dict});
  const auto found = std::find(globals_.begin(), globals_.end(), full);
  if (found == globals_.end()) refuse(fmt::format("it asks for {}; only tensors are read", full));
  push({.kind = Kind::global, .text = *found});
}

// Arguments stay where they are: copies of a large tuple would make a short pickle expensive.
void PickleMachine::call() {
  const uint32_t arguments = pop(Kind::tuple), function = pop(Kind::global);
  if (values_[function].text != ordered_dict)
    return push({.kind = Kind::call, .items = {function, arguments}});
  if (!values_[arguments].items.empty()) refuse("it makes an OrderedDict from something");
  push_kind(Kind::dict);
}

}  // namespace paceline
