#include <algorithm>
#include <bit>

#include "base/error.h"
#include "engine/model/pickle_machine.h"

namespace paceline {
namespace {

constexpr uint8_t newest_protocol = 5;

// Opcodes by their names in Python's pickle.py.
enum Opcode : uint8_t {
  MARK = '(',
  STOP = '.',
  POP = '0',
  BINFLOAT = 'G',
  BININT = 'J',
  BININT1 = 'K',
  BININT2 = 'M',
  NONE = 'N',
  BINPERSID = 'Q',
  REDUCE = 'R',
  BINUNICODE = 'X',
  EMPTY_LIST = ']',
  APPEND = 'a',
  BUILD = 'b',
  GLOBAL = 'c',
  APPENDS = 'e',
  BINGET = 'h',
  LONG_BINGET = 'j',
  BINPUT = 'q',
  LONG_BINPUT = 'r',
  SETITEM = 's',
  TUPLE = 't',
  SETITEMS = 'u',
  EMPTY_TUPLE = ')',
  EMPTY_DICT = '}',
  PROTO = 0x80,
  TUPLE1 = 0x85,
  TUPLE2 = 0x86,
  TUPLE3 = 0x87,
  NEWTRUE = 0x88,
  NEWFALSE = 0x89,
  LONG1 = 0x8a,
  SHORT_BINUNICODE = 0x8c,
  BINUNICODE8 = 0x8d,
  STACK_GLOBAL = 0x93,
  MEMOIZE = 0x94,
  FRAME = 0x95,
};

}  // namespace

uint32_t PickleMachine::run() {
  for (;;) {
    opcode_at_ = at_;
    const auto opcode = static_cast<uint8_t>(take(1)[0]);
    if (opcode == STOP) break;
    if (!make_simple(opcode) && !make_text_or_number(opcode) && !make_tuple(opcode) &&
        !fill_container(opcode) && !use_memo(opcode) && !name_or_call(opcode))
      refuse(fmt::format("it has the opcode 0x{:02x}, which tensors do not need", opcode));
  }
  const uint32_t result = pop();
  if (!stack_.empty() || !marks_.empty()) refuse("it ends with something left on its stack");
  return result;
}

bool PickleMachine::make_simple(uint8_t opcode) {
  switch (opcode) {
    case PROTO:
      if (const uint64_t protocol = take_number(1); protocol > newest_protocol)
        refuse(fmt::format("it is of protocol {}; {} is the newest known", protocol, newest_protocol));
      return true;
    case FRAME:  // only says how much could be read at once
      take_number(8);
      return true;
    case MARK:
      if (marks_.size() == most_values) refuse(fmt::format("it has more than {} marks", most_values));
      marks_.push_back(stack_.size());
      return true;
    case POP:
      pop();
      return true;
    case NONE:
      push_kind(Kind::none);
      return true;
    case NEWTRUE:
    case NEWFALSE:
      push({.kind = Kind::boolean, .integer = opcode == NEWTRUE ? 1 : 0});
      return true;
    case EMPTY_LIST:
      push_kind(Kind::list);
      return true;
    case EMPTY_DICT:
      push_kind(Kind::dict);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::make_text_or_number(uint8_t opcode) {
  switch (opcode) {
    case BININT:
      push_integer(static_cast<int32_t>(static_cast<uint32_t>(take_number(4))));
      return true;
    case BININT1:
      push_integer(static_cast<int64_t>(take_number(1)));
      return true;
    case BININT2:
      push_integer(static_cast<int64_t>(take_number(2)));
      return true;
    case LONG1: {
      const uint64_t bytes = take_number(1);
      if (bytes > 8) refuse(fmt::format("it has an integer of {} bytes; at most 8 are possible", bytes));
      const uint64_t value = take_number(bytes);
      // The highest bit of the bytes that are there is the sign.
      const auto missing = static_cast<int>(64 - 8 * bytes);
      push_integer(bytes == 0 ? 0 : static_cast<int64_t>(value << missing) >> missing);
      return true;
    }
    case BINFLOAT: {
      uint64_t bits = 0;
      for (char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
      push({.kind = Kind::real, .real = std::bit_cast<double>(bits)});
      return true;
    }
    case SHORT_BINUNICODE:
      push_text(take(take_number(1)));
      return true;
    case BINUNICODE:
      push_text(take(take_number(4)));
      return true;
    case BINUNICODE8:
      push_text(take(take_number(8)));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::make_tuple(uint8_t opcode) {
  PickleValue tuple{.kind = Kind::tuple};
  if (opcode == TUPLE) {
    tuple.items = pop_to_mark();
  } else if (opcode >= TUPLE1 && opcode <= TUPLE3) {
    for (int i = TUPLE1; i <= opcode; ++i) tuple.items.push_back(pop());
    std::reverse(tuple.items.begin(), tuple.items.end());
  } else if (opcode != EMPTY_TUPLE) {
    return false;
  }
  push(std::move(tuple));
  return true;
}

bool PickleMachine::fill_container(uint8_t opcode) {
  switch (opcode) {
    case APPEND: {
      const uint32_t item = pop();
      top(Kind::list).items.push_back(item);
      return true;
    }
    case APPENDS: {
      const std::vector<uint32_t> items = pop_to_mark();
      PickleValue& list = top(Kind::list);
      list.items.insert(list.items.end(), items.begin(), items.end());
      return true;
    }
    case SETITEM: {
      const uint32_t value = pop(), key = pop();
      add_pairs(top(Kind::dict), {key, value});
      return true;
    }
    case SETITEMS: {
      const std::vector<uint32_t> items = pop_to_mark();
      add_pairs(top(Kind::dict), items);
      return true;
    }
    case BUILD:  // the attributes of an OrderedDict (_metadata of a state_dict) say nothing about tensors
      pop(Kind::dict);
      top(Kind::dict);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::use_memo(uint8_t opcode) {
  switch (opcode) {
    case BINPUT:
      remember(take_number(1));
      return true;
    case LONG_BINPUT:
      remember(take_number(4));
      return true;
    case MEMOIZE:
      remember(memo_.size());
      return true;
    case BINGET:
      recall(take_number(1));
      return true;
    case LONG_BINGET:
      recall(take_number(4));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::name_or_call(uint8_t opcode) {
  switch (opcode) {
    case GLOBAL: {
      const std::string_view module = take_line(), name = take_line();
      push_global(module, name);
      return true;
    }
    case STACK_GLOBAL: {
      const std::string_view name = values_[pop(Kind::text)].text, module = values_[pop(Kind::text)].text;
      push_global(module, name);
      return true;
    }
    case REDUCE:
      call();
      return true;
    case BINPERSID: {
      const uint32_t id = pop();
      push({.kind = Kind::persistent, .items = {id}});
      return true;
    }
    default:
      return false;
  }
}

}  // namespace paceline
