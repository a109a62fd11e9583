// The stack machine that a pickle is a program for.
#pragma once
#include <unordered_map>

#include "engine/model/pickle.h"

namespace paceline {

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, std::span<const std::string_view> globals,
                std::vector<PickleValue>& values)
      : bytes_(bytes), globals_(globals), values_(values) {}
  // The number of the value that the program leaves. Throws std::runtime_error.
  uint32_t run();

 private:
  using Kind = PickleValue::Kind;
  // Far more than the tensors of any model need, and little memory.
  static constexpr size_t most_values = 1 << 20;

  // Each does what the opcode says, if it is of its kind; otherwise false.
  bool make_simple(uint8_t opcode);
  bool make_text_or_number(uint8_t opcode);
  bool make_tuple(uint8_t opcode);
  bool fill_container(uint8_t opcode);
  bool use_memo(uint8_t opcode);
  bool name_or_call(uint8_t opcode);

  std::string_view take(uint64_t count);
  uint64_t take_number(size_t bytes);  // little-endian
  std::string_view take_line();
  void push(PickleValue value);
  void push_kind(Kind kind) { push({.kind = kind}); }
  void push_integer(int64_t integer) { push({.kind = Kind::integer, .integer = integer}); }
  void push_text(std::string_view text) { push({.kind = Kind::text, .text = text}); }
  uint32_t pop();
  uint32_t pop(Kind kind);
  // What stands above the last mark, which goes.
  std::vector<uint32_t> pop_to_mark();
  // The container on top of the stack.
  PickleValue& top(Kind kind);
  void add_pairs(PickleValue& dict, const std::vector<uint32_t>& items);
  void remember(uint64_t number);
  void recall(uint64_t number);
  void push_global(std::string_view module, std::string_view name);
  void call();
  [[noreturn]] void refuse(const std::string& what) const;

  std::string_view bytes_;
  std::span<const std::string_view> globals_;
  std::vector<PickleValue>& values_;
  size_t at_ = 0, opcode_at_ = 0;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::unordered_map<uint64_t, uint32_t> memo_;
};

}  // namespace paceline
