#include "data/dataset/reader.h"

#include "base/error.h"
#include "data/dataset/hdf5.h"
#include "data/text/segments.h"

namespace paceline {

namespace {
constexpr size_t max_open_shards = 64;
constexpr uint64_t max_row_tokens = uint64_t{1}
                                    << 24;  // a stranger's file cannot make us allocate more a row
}  // namespace

struct SplitReader::Shard {
  fs::path path;
  Hdf5Id file;
  Hdf5Array ids, offsets, labels, second_begins;
};

void Rows::clear() {
  ids.clear();
  offsets.assign(1, 0);
  labels.clear();
  flags.clear();
  second_begins.clear();
}

void Rows::shorten(uint64_t max_length, bool ends_stay) {
  if (max_length == 0) return;
  uint64_t begin = 0, kept = 0;
  for (size_t i = 0; i < size(); ++i) {
    const auto row = std::span(ids).subspan(begin, offsets[i + 1] - begin);
    begin = offsets[i + 1];
    uint32_t none = 0;
    const size_t length =
        ends_stay ? shorten_sequence(row, second_begins.empty() ? none : second_begins[i], max_length)
                  : std::min<size_t>(row.size(), max_length);
    std::copy_n(row.begin(), length, ids.begin() + static_cast<ptrdiff_t>(kept));
    kept += length;
    offsets[i + 1] = kept;
  }
  ids.resize(kept);
}

SplitReader::SplitReader(const fs::path& folder, const DatasetInfo& info, std::string_view split)
    : folder_(folder),
      labels_(info.labels),
      classes_(info.classes.size()),
      vocabulary_(info.tokenizer.vocabulary_size),
      pairs_(info.pairs),
      infos_(info.split(split, folder).shards) {
  for (const auto& shard : infos_) {
    first_rows_.push_back(rows_);
    rows_ += shard.rows;
  }
  open_.resize(infos_.size());
}

SplitReader::~SplitReader() = default;
SplitReader::SplitReader(SplitReader&&) noexcept = default;

SplitReader::Shard& SplitReader::open(size_t index) {
  std::erase(recent_, index);
  recent_.push_back(index);
  if (open_[index]) return *open_[index];
  if (recent_.size() > max_open_shards) {
    open_[recent_.front()].reset();
    recent_.erase(recent_.begin());
  }
  auto shard = std::make_unique<Shard>();
  shard->path = folder_ / infos_[index].file;
  shard->file = open_hdf5(shard->path);
  const uint64_t rows = infos_[index].rows;
  shard->ids = Hdf5Array(shard->file, shard->path, "ids", H5T_NATIVE_UINT32, infos_[index].tokens);
  shard->offsets = Hdf5Array(shard->file, shard->path, "offsets", H5T_NATIVE_UINT64, rows + 1);
  if (labels_ == LabelKind::single)
    shard->labels = Hdf5Array(shard->file, shard->path, "labels", H5T_NATIVE_UINT32, rows);
  if (labels_ == LabelKind::multiple)
    shard->labels = Hdf5Array(shard->file, shard->path, "labels", H5T_NATIVE_UINT8, rows, classes_);
  if (pairs_)
    shard->second_begins = Hdf5Array(shard->file, shard->path, "second_begins", H5T_NATIVE_UINT32, rows);
  open_[index] = std::move(shard);
  return *open_[index];
}

void SplitReader::read(uint64_t first, uint64_t count, Rows& into) {
  PACELINE_ASSERT(first + count <= rows_);
  std::vector<uint64_t> offsets;
  while (count > 0) {
    const size_t index = static_cast<size_t>(std::upper_bound(first_rows_.begin(), first_rows_.end(), first) -
                                             first_rows_.begin()) -
                         1;
    Shard& shard = open(index);
    const uint64_t row = first - first_rows_[index];
    const uint64_t rows = std::min(count, infos_[index].rows - row);
    offsets.resize(rows + 1);
    shard.offsets.read(row, rows + 1, offsets.data());
    for (uint64_t i = 0; i < rows; ++i)
      if (offsets[i] > offsets[i + 1] || offsets[i + 1] - offsets[i] > max_row_tokens)
        input_error("{}: row {} cannot lie between offsets {} and {}; the shard is damaged",
                    shard.path.string(), row + i, offsets[i], offsets[i + 1]);
    if (offsets[rows] > infos_[index].tokens)
      input_error("{}: row {} reaches to token {}, the shard has {}; the shard is damaged",
                  shard.path.string(), row + rows - 1, offsets[rows], infos_[index].tokens);
    const size_t begin = into.ids.size();
    into.ids.resize(begin + offsets[rows] - offsets[0]);
    shard.ids.read(offsets[0], offsets[rows] - offsets[0], into.ids.data() + begin);
    for (size_t i = begin; i < into.ids.size(); ++i)
      if (into.ids[i] >= vocabulary_)
        input_error("{}: id {} near row {} is beyond the vocabulary of {}; the shard is damaged",
                    shard.path.string(), into.ids[i], row, vocabulary_);
    for (uint64_t i = 1; i <= rows; ++i) into.offsets.push_back(begin + offsets[i] - offsets[0]);
    read_labels(shard, row, rows, into);
    if (pairs_) read_second_begins(shard, row, rows, into);
    first += rows;
    count -= rows;
  }
}

void SplitReader::read_labels(Shard& shard, uint64_t row, uint64_t rows, Rows& into) const {
  if (labels_ == LabelKind::single) {
    const size_t old = into.labels.size();
    into.labels.resize(old + rows);
    shard.labels.read(row, rows, into.labels.data() + old);
    for (size_t i = old; i < into.labels.size(); ++i)
      if (into.labels[i] >= classes_)
        input_error("{}: label {} at row {}, but there are {} classes; the shard is damaged",
                    shard.path.string(), into.labels[i], row + i - old, classes_);
  } else if (labels_ == LabelKind::multiple) {
    const size_t old = into.flags.size();
    into.flags.resize(old + rows * classes_);
    shard.labels.read(row, rows, into.flags.data() + old);
    for (size_t i = old; i < into.flags.size(); ++i)
      if (into.flags[i] > 1)
        input_error("{}: a label other than 0 and 1; the shard is damaged", shard.path.string());
  }
}

// Called when the rows' offsets are there already.
void SplitReader::read_second_begins(Shard& shard, uint64_t row, uint64_t rows, Rows& into) const {
  const size_t old = into.second_begins.size();
  into.second_begins.resize(old + rows);
  shard.second_begins.read(row, rows, into.second_begins.data() + old);
  for (size_t i = old; i < into.second_begins.size(); ++i) {
    const uint32_t begin = into.second_begins[i];
    if (begin != 0 && (begin < special_of_one || begin >= into.row(i).size()))
      input_error("{}: the second text of row {} cannot begin at {} of {} ids; the shard is damaged",
                  shard.path.string(), row + i - old, begin, into.row(i).size());
  }
}

}  // namespace paceline
