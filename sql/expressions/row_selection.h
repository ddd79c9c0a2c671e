#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/column.h"

namespace redquel::sql {

/// The rows that an expression is evaluated for: a batch, or some rows of another selection. Columns are gathered and
/// decoded when an expression asks for them, once.
class RowSelection {
 public:
  explicit RowSelection(const Batch& batch);
  /// `rows` are positions in `parent`; both outlive the selection.
  RowSelection(RowSelection& parent, std::span<const std::uint32_t> rows);

  std::size_t size() const { return size_; }
  /// The column at that position of the batch, decoded.
  const ColumnPtr& column(std::uint32_t position);

 private:
  const Batch& batch_;
  RowSelection* parent_ = nullptr;
  std::span<const std::uint32_t> rows_;
  std::size_t size_;
  std::vector<ColumnPtr> decoded_;
};

/// Part of a result column: its rows, and where their values are.
struct Piece {
  std::vector<std::uint32_t> rows;
  ColumnPtr values;
  bool aligned = false;  // the value of row r is at r, not at the position of r in `rows`
};

/// A column of `size` rows made of pieces, which have the type's storage or are encoded; rows in no piece are NULL. It is
/// encoded if all pieces are.
Column assembled(Type type, std::size_t size, std::span<const Piece> pieces);
/// Like assembled(), but a piece that is all of the column is given as it is.
ColumnPtr assemble(Type type, std::size_t size, std::span<const Piece> pieces);

}  // namespace redquel::sql
