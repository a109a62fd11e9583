#include "data/prepare/reduce_phase.h"

#include <cstring>

#include "base/error.h"
#include "data/prepare/mapped_record.h"
#include "data/prepare/mapper.h"

namespace paceline {
namespace {

void append_ids(std::string_view words, const Vocabulary& vocabulary, std::vector<uint32_t>& ids) {
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    ids.push_back(vocabulary.id(words.substr(begin, end - begin)));
    begin = end + 1;
  }
}

void copy_ids(std::string_view bytes, std::vector<uint32_t>& ids) {
  const size_t old = ids.size();
  ids.resize(old + bytes.size() / sizeof(uint32_t));
  std::memcpy(ids.data() + old, bytes.data(), bytes.size());
}

}  // namespace

void reduce_bucket(const ReduceRules& rules, const Vocabulary& vocabulary, ReducedBucket& bucket) {
  bucket.rows.clear();
  bucket.ids.clear();
  bucket.rejects.clear();
  bucket.duplicates = 0;
  std::vector<MappedRecord> records;
  for (size_t position = 0; position < bucket.bytes.size();)
    records.push_back(take_record(bucket.bytes, position));
  std::sort(records.begin(), records.end(), [](const MappedRecord& a, const MappedRecord& b) {
    return std::tie(a.key, a.second, a.split, a.origin) < std::tie(b.key, b.second, b.split, b.origin);
  });
  const MappedRecord* previous = nullptr;
  for (const auto& record : records) {
    if (rules.deduplicate && previous != nullptr && previous->key == record.key &&
        previous->second == record.second && previous->split == record.split) {
      ++bucket.duplicates;
      bucket.rejects +=
          reject_line(rules.files[record.origin >> MappedRecord::origin_bits], record.line, "duplicate",
                      fmt::format("same text as line {} of {}", previous->line,
                                  rules.files[previous->origin >> MappedRecord::origin_bits]),
                      {});
      continue;
    }
    previous = &record;
    ReducedBucket::Row row;
    row.first_id = bucket.ids.size();
    if (rules.have_ids)
      copy_ids(record.words, bucket.ids);
    else
      append_ids(record.words, vocabulary, bucket.ids);
    row.ids = bucket.ids.size() - row.first_id;
    row.flags = static_cast<uint64_t>(record.flags.data() - bucket.bytes.data());
    row.label = rules.labels == LabelKind::single ? rules.class_places[record.label] : 0;
    row.split = record.split;
    row.second_begin = record.second_begin;
    row.truncated = record.truncated;
    bucket.rows.push_back(row);
  }
}

uint64_t reduce_all(const ReduceRules& rules, const Vocabulary& vocabulary, ShuffleReader& shuffle,
                    uint64_t records, std::vector<SplitWriter>& splits, FileWriter& rejects,
                    Executors& executors, Progress& progress) {
  progress.begin("writing", records, "rows");
  std::vector<ReducedBucket> buckets(executors.count());
  uint64_t done = 0, duplicates = 0;
  const size_t classes = rules.class_places.size();
  std::vector<RowPacker> packers;
  for (auto& split : splits)
    if (rules.packed.length > 0) packers.emplace_back(split, rules.packed);
  for (;;) {
    throw_if_interrupted();
    size_t count = 0;
    for (; count < buckets.size(); ++count) {
      auto bytes = shuffle.next();
      if (!bytes) break;
      buckets[count].bytes = std::move(*bytes);
    }
    if (count == 0) break;
    executors.run(count, [&](uint64_t i, unsigned) { reduce_bucket(rules, vocabulary, buckets[i]); });
    for (size_t i = 0; i < count; ++i) {
      const ReducedBucket& bucket = buckets[i];
      for (const auto& row : bucket.rows) {
        RowView view{std::span(bucket.ids).subspan(row.first_id, row.ids),
                     row.label,
                     {},
                     row.second_begin,
                     row.truncated};
        if (rules.labels == LabelKind::multiple)
          view.labels = {reinterpret_cast<const uint8_t*>(bucket.bytes.data()) + row.flags, classes};
        if (packers.empty())
          splits[row.split].add(view);
        else
          packers[row.split].add(view.ids);
      }
      rejects.write(bucket.rejects);
      duplicates += bucket.duplicates;
      done += bucket.rows.size() + bucket.duplicates;
    }
    progress.update(done);
  }
  for (auto& packer : packers) packer.finish();
  progress.end();
  return duplicates;
}

}  // namespace paceline
