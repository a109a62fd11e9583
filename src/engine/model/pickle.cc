#include "engine/model/pickle.h"

#include "engine/model/pickle_machine.h"

namespace paceline {

Pickle::Pickle(std::string bytes, std::span<const std::string_view> globals) : bytes_(std::move(bytes)) {
  root_ = PickleMachine(bytes_, globals, values_).run();
}

const char* kind_name(PickleValue::Kind kind) {
  using Kind = PickleValue::Kind;
  switch (kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a number";
    case Kind::text:
      return "a text";
    case Kind::tuple:
      return "a tuple";
    case Kind::list:
      return "a list";
    case Kind::dict:
      return "a dict";
    case Kind::global:
      return "a type or function";
    case Kind::call:
      return "an object";
    case Kind::persistent:
      return "a storage";
  }
  return "a value";
}

}  // namespace paceline
