// Writes files as torch.save does, from pickles written by hand.
#pragma once
#include <bit>

#include "../zip_builder.h"

namespace paceline {

// Opcodes of protocol 2.
namespace pickled {

inline std::string text(const std::string& value) { return "X" + little_endian(value.size(), 4) + value; }
inline std::string integer(int64_t value) {
  return "\x8a\x08" + little_endian(static_cast<uint64_t>(value), 8);  // LONG1
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
inline std::string counts(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string call(const std::string& function, const std::vector<std::string>& arguments) {
  return function + tuple(arguments) + "R";
}
inline std::string storage(const std::string& type, const std::string& key, int64_t elements) {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(elements)}) + "Q";
}
inline const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2");
inline const std::string hooks = global("collections", "OrderedDict") + ")R";
inline std::string tensor(const std::string& from, int64_t offset, const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& strides) {
  return call(rebuild, {from, integer(offset), counts(shape), counts(strides), "\x89", hooks});
}
// A whole pickle: a dict with one name.
inline std::string dict(const std::string& name, const std::string& value) {
  return "\x80\x02}" + text(name) + value + "s.";
}

}  // namespace pickled

// Storage 0 has 24 bytes.
inline ZipBuilder torch_archive(const std::string& pickle, const std::string& prefix = "archive/") {
  ZipBuilder builder;
  builder.add(prefix + "data.pkl", pickle);
  builder.add(prefix + "byteorder", "little");
  std::string bytes;
  for (float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})
    bytes += little_endian(std::bit_cast<uint32_t>(value), 4);
  builder.add(prefix + "data/0", bytes);
  builder.add(prefix + "version", "3\n");
  return builder;
}

}  // namespace paceline
