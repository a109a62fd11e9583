#include "engine/model/torch_tensors.h"

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {
namespace {

using Kind = PickleValue::Kind;
constexpr size_t most_extents = 64;
constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view rebuild_parameter = "torch._utils._rebuild_parameter";
constexpr std::string_view storage_prefix = "torch.";

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
}

class TensorDescriber {
 public:
  TensorDescriber(const Pickle& pickle, const FindStorage& find_storage, std::string name)
      : pickle_(pickle), find_storage_(find_storage), name_(std::move(name)) {}

  // value: a call of rebuild_tensor.
  TorchTensor describe(const PickleValue& value) const {
    const PickleValue& arguments = pickle_[value.items[1]];
    if (arguments.items.size() < 4) refuse("'{}' is made from {} values", name_, arguments.items.size());
    TorchTensor tensor;
    const uint64_t elements = find_elements(pickle_[arguments.items[0]], tensor);
    tensor.first = count(pickle_[arguments.items[1]], "offset");
    tensor.shape = counts(pickle_[arguments.items[2]], "shape");
    tensor.strides = counts(pickle_[arguments.items[3]], "strides");
    if (tensor.shape.size() != tensor.strides.size())
      refuse("'{}' has {} extents and {} strides", name_, tensor.shape.size(), tensor.strides.size());
    if (!count_elements(tensor.shape, tensor.elements))
      refuse("the shape of '{}', {}, is impossible", name_, shape_text(tensor.shape));
    check_span(tensor, elements);
    return tensor;
  }

 private:
  // A persistent id is ('storage', type, key, device, number of elements). Returns the last.
  uint64_t find_elements(const PickleValue& storage, TorchTensor& tensor) const {
    const PickleValue* id = storage.kind == Kind::persistent ? &pickle_[storage.items[0]] : nullptr;
    if (id == nullptr || id->kind != Kind::tuple || id->items.size() != 5 ||
        pickle_[id->items[0]].text != "storage")
      refuse("'{}' has no storage", name_);
    const PickleValue &type = pickle_[id->items[1]], &key = pickle_[id->items[2]];
    if (type.kind == Kind::global && type.text.starts_with(storage_prefix))
      tensor.type = find_storage_type(type.text.substr(storage_prefix.size()));
    if (tensor.type == nullptr) refuse("'{}' has a storage of an unknown type", name_);
    if (key.kind != Kind::text) refuse("'{}' has a storage without a name", name_);
    const uint64_t elements = count(pickle_[id->items[4]], "number of elements");
    const StoragePlace place = find_storage_(std::string(key.text));
    if (elements > place.bytes / tensor.type->bytes)
      refuse("the storage '{}' of '{}' has {} bytes, and {} numbers of type {} need more",
             shortened(key.text), name_, place.bytes, elements, tensor.type->name);
    tensor.begin = place.begin;
    return elements;
  }

  uint64_t count(const PickleValue& value, const char* what) const {
    if (value.kind != Kind::integer || value.integer < 0)
      refuse("the {} of '{}' is {}, not a count", what, name_,
             value.kind == Kind::integer ? std::to_string(value.integer) : kind_name(value.kind));
    return static_cast<uint64_t>(value.integer);
  }

  std::vector<uint64_t> counts(const PickleValue& value, const char* what) const {
    if (value.kind != Kind::tuple)
      refuse("the {} of '{}' is {}, not a tuple", what, name_, kind_name(value.kind));
    if (value.items.size() > most_extents)
      refuse("the {} of '{}' has {} numbers, at most {} are possible", what, name_, value.items.size(),
             most_extents);
    std::vector<uint64_t> all;
    for (uint32_t item : value.items) all.push_back(count(pickle_[item], what));
    return all;
  }

  // Whether the last element of the tensor still lies in the storage.
  void check_span(TorchTensor& tensor, uint64_t elements) const {
    bool fits = tensor.first <= elements;
    if (tensor.elements > 0) {
      uint64_t last = 0;
      for (size_t i = 0; i < tensor.shape.size(); ++i) {
        uint64_t distance = 0;
        fits = fits && !__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &distance) &&
               !__builtin_add_overflow(last, distance, &last);
      }
      fits = fits && last < elements - tensor.first;
      tensor.span = last + 1;
    }
    if (!fits)
      refuse("'{}' ({}, from element {} on) is not inside its storage of {} elements", name_,
             shape_text(tensor.shape), tensor.first, elements);
  }

  const Pickle& pickle_;
  const FindStorage& find_storage_;
  const std::string name_;
};

// The call that makes a tensor; nullptr for any other value. A parameter is a tensor with more to it.
const PickleValue* find_tensor(const Pickle& pickle, const PickleValue* value) {
  for (int depth = 0; depth < 2 && value->kind == Kind::call; ++depth) {
    if (pickle[value->items[0]].text == rebuild_tensor) return value;
    const PickleValue& arguments = pickle[value->items[1]];
    if (pickle[value->items[0]].text != rebuild_parameter || arguments.items.empty()) return nullptr;
    value = &pickle[arguments.items[0]];
  }
  return nullptr;
}

}  // namespace

std::span<const std::string_view> torch_globals() {
  static constexpr std::string_view all[] = {
      rebuild_tensor,
      rebuild_parameter,
      "torch.FloatStorage",
      "torch.DoubleStorage",
      "torch.HalfStorage",
      "torch.LongStorage",
      "torch.IntStorage",
      "torch.ShortStorage",
      "torch.CharStorage",
      "torch.ByteStorage",
      "torch.BoolStorage",
      "torch.BFloat16Storage",
      "torch.ComplexFloatStorage",
      "torch.ComplexDoubleStorage",
  };
  return all;
}

std::map<std::string, TorchTensor> describe_tensors(const Pickle& pickle, const FindStorage& find_storage) {
  const PickleValue& root = pickle.root();
  if (root.kind != Kind::dict) refuse("it holds {}, not a dict of tensors by name", kind_name(root.kind));
  std::map<std::string, TorchTensor> tensors;
  for (size_t i = 0; i < root.items.size(); i += 2) {
    const PickleValue& key = pickle[root.items[i]];
    const PickleValue* tensor = find_tensor(pickle, &pickle[root.items[i + 1]]);
    if (tensor == nullptr || key.kind != Kind::text) continue;
    const TensorDescriber describer(pickle, find_storage, shortened(key.text));
    if (!tensors.emplace(key.text, describer.describe(*tensor)).second)
      refuse("it has '{}' twice", shortened(key.text));
  }
  if (tensors.empty()) refuse("it holds no tensors by name");
  return tensors;
}

}  // namespace paceline
