#include "data/prepare/row_packer.h"

#include "base/error.h"

namespace paceline {

RowPacker::RowPacker(SplitWriter& split, const PackedRows& rows)
    : split_(split), rows_(rows), row_{rows.begin} {
  PACELINE_ASSERT(rows.length >= 3);
}

void RowPacker::write_row() {
  RowView view;
  view.ids = row_;
  split_.add(view);
  row_.assign(1, rows_.begin);
}

void RowPacker::add(std::span<const uint32_t> text) {
  for (uint32_t id : text.subspan(1, text.size() - 2)) {
    if (row_.size() + 1 == rows_.length) {
      row_.push_back(rows_.end);
      write_row();
    }
    row_.push_back(id);
  }
  row_.push_back(rows_.end);
  if (row_.size() == rows_.length) write_row();
}

void RowPacker::finish() {
  if (row_.size() > 1) write_row();
}

}  // namespace paceline
