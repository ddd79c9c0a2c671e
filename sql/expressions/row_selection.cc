#include "sql/expressions/row_selection.h"

#include <algorithm>
#include <cassert>

namespace redquel::sql {
namespace {

template <class T>
Column assemble_as(Type type, std::size_t size, std::span<const Piece> pieces) {
  std::vector<T> values(size);
  std::vector<std::uint8_t> nulls(size, 1);
  std::size_t filled = 0;
  for (const Piece& piece : pieces) {
    const std::vector<T>& source = piece.values->values<T>();
    const std::size_t stride = piece.values->is_constant() ? 0 : 1;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      const std::size_t from = piece.aligned ? piece.rows[i] : i;
      if (piece.values->is_null(from)) continue;
      values[piece.rows[i]] = source[from * stride];
      nulls[piece.rows[i]] = 0;
      ++filled;
    }
  }
  if (filled == size) nulls.clear();
  Column column = Column::from_values(type, std::move(values), std::move(nulls));
  if constexpr (std::is_same_v<T, std::string_view>) {
    for (const Piece& piece : pieces) column.keep_alive(piece.values);
  }
  return column;
}

/// Returns the encoded column that is made of encoded pieces.
Column assembled_texts(Type type, std::size_t size, std::span<const Piece> pieces) {
  std::vector<const Piece*> piece_of(size, nullptr);
  std::vector<std::size_t> row_of(size);
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      piece_of[piece.rows[i]] = &piece;
      row_of[piece.rows[i]] = piece.aligned ? piece.rows[i] : i;
    }
  }
  Column column = Column::encoded(type);
  column.reserve(size);
  for (std::size_t row = 0; row < size; ++row) {
    if (piece_of[row] == nullptr || piece_of[row]->values->is_null(row_of[row])) column.append_null();
    else column.append_view(piece_of[row]->values->get<std::string_view>(row_of[row]));
  }
  for (const Piece& piece : pieces) column.keep_alive(piece.values);
  return column;
}

bool is_encoded(const Piece& piece) { return piece.values->is_encoded(); }

std::vector<Piece> decoded(std::span<const Piece> pieces) {
  std::vector<Piece> result(pieces.begin(), pieces.end());
  for (Piece& piece : result) {
    if (is_encoded(piece)) piece.values = std::make_shared<const Column>(piece.values->decode());
  }
  return result;
}

}  // namespace

RowSelection::RowSelection(const Batch& batch) : batch_(batch), size_(batch.rows), decoded_(batch.columns.size()) {}

RowSelection::RowSelection(RowSelection& parent, std::span<const std::uint32_t> rows)
    : batch_(parent.batch_), parent_(&parent), rows_(rows), size_(rows.size()), decoded_(parent.decoded_.size()) {}

const ColumnPtr& RowSelection::column(std::uint32_t position) {
  assert(position < decoded_.size());
  ColumnPtr& column = decoded_[position];
  if (column) return column;
  if (parent_ != nullptr) {
    const Column& whole = *batch_.columns[position];
    // Where most rows are not wanted, the others of an unread column stay unread.
    const bool reads_few = parent_->parent_ == nullptr && !parent_->decoded_[position] && whole.unread() != nullptr && rows_.size() * 2 < whole.size();
    Column some = (reads_few ? whole : *parent_->column(position)).gather(rows_);
    column = std::make_shared<const Column>(some.is_encoded() ? some.decode() : std::move(some));
  } else if (batch_.columns[position]->is_encoded()) {
    column = std::make_shared<const Column>(batch_.columns[position]->decode());
  } else {
    column = batch_.columns[position];
  }
  return column;
}

Column assembled(Type type, std::size_t size, std::span<const Piece> pieces) {
  if (std::ranges::any_of(pieces, is_encoded)) {
    if (std::ranges::all_of(pieces, is_encoded)) return assembled_texts(type, size, pieces);
    return assembled(type, size, decoded(pieces));
  }
  switch (storage_of(type)) {
    case Storage::kBool:
      return assemble_as<std::uint8_t>(type, size, pieces);
    case Storage::kInt2:
      return assemble_as<std::int16_t>(type, size, pieces);
    case Storage::kInt4:
      return assemble_as<std::int32_t>(type, size, pieces);
    case Storage::kInt8:
      return assemble_as<std::int64_t>(type, size, pieces);
    case Storage::kFloat4:
      return assemble_as<float>(type, size, pieces);
    case Storage::kFloat8:
      return assemble_as<double>(type, size, pieces);
    case Storage::kNumeric:
      return assemble_as<Numeric>(type, size, pieces);
    case Storage::kText:
      return assemble_as<std::string_view>(type, size, pieces);
    case Storage::kInterval:
      return assemble_as<Interval>(type, size, pieces);
    case Storage::kUuid:
      return assemble_as<Uuid>(type, size, pieces);
  }
  return Column(type);
}

ColumnPtr assemble(Type type, std::size_t size, std::span<const Piece> pieces) {
  // The common case: one branch took every row.
  if (pieces.size() == 1 && pieces[0].rows.size() == size && pieces[0].values->type() == type &&
      pieces[0].values->size() == size) {
    return pieces[0].values;
  }
  return std::make_shared<const Column>(assembled(type, size, pieces));
}

}  // namespace redquel::sql
