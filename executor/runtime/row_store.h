#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/column.h"

namespace redquel::executor {

/// Numbers a row of a store or a batch; kNoRow: none.
using RowNumber = std::uint32_t;
inline constexpr RowNumber kNoRow = 0xFFFFFFFF;

/// `count` numbers from `first` on.
std::vector<RowNumber> row_range(std::size_t first, std::size_t count);
/// The column in its type's storage; itself where it is.
sql::ColumnPtr decoded(const sql::ColumnPtr& column);
std::vector<sql::ColumnPtr> decoded(std::span<const sql::ColumnPtr> columns);

/// Rows that an operator keeps, column by column. Texts are copied, so the batches they came in (and the replies of
/// Redis that those hold) go free. A column stays encoded as long as all that is appended to it is.
class RowStore {
 public:
  explicit RowStore(std::span<const sql::Type> types);

  /// The given rows of columns of the store's types. Throws 22P02 … where a column must be decoded for it and does not
  /// parse.
  void append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  void append(const RowStore& other, std::span<const RowNumber> rows);
  void append_all(const sql::Batch& batch);
  /// A row of NULLs.
  void append_nulls();
  /// Leaves only these rows, in that order, and frees the others' memory.
  void keep(std::span<const RowNumber> rows);
  void clear();

  std::size_t rows() const { return rows_; }
  const std::vector<sql::Column>& columns() const { return columns_; }
  std::size_t memory() const { return fixed_bytes_ * rows_ + text_bytes_; }

  sql::Batch gather(std::span<const RowNumber> rows) const;
  sql::Batch slice(std::size_t first, std::size_t count) const;
  /// All rows as one batch; the store is empty then.
  sql::Batch take();

 private:
  void append_column(std::size_t index, const sql::Column& source, std::span<const RowNumber> rows);

  std::vector<sql::Type> types_;
  std::vector<sql::Column> columns_;
  std::size_t rows_ = 0;
  std::size_t fixed_bytes_ = 0;  // of one row
  std::size_t text_bytes_ = 0;
};

}  // namespace redquel::executor
