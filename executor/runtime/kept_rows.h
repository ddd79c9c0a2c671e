#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/runtime/row_store.h"
#include "sql/column.h"

namespace redquel::executor {

/// Sources of one column behind each other, as if they were one. kNoRow is NULL.
class PagedColumn final : public sql::ColumnSource {
 public:
  /// Rows of a source begin at a multiple of this.
  static constexpr std::uint32_t kPageBits = 16;

  explicit PagedColumn(sql::Type type) : ColumnSource(type) {}

  /// Appends a source of so many pages.
  void add(sql::ColumnSourcePtr source, std::uint32_t pages);
  sql::Column gather(std::span<const RowNumber> rows) const override;
  bool is_lasting() const override { return true; }
  std::size_t memory() const override { return 0; }

 private:
  struct Part {
    sql::ColumnSourcePtr source;
    RowNumber first, end;
  };
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_of_page_;
};

/// Rows that an operator keeps until others read them. Unread columns of lasting sources (copies in memory) are kept as positions, which
/// columns of one scan share; others are copied as RowStore does.
class KeptRows {
 public:
  explicit KeptRows(std::span<const sql::Type> types);

  /// The given rows of columns of the store's types. Throws 22P02 … where a column must be decoded for it and does not parse.
  void append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  /// A row of NULLs.
  void append_nulls();
  /// Leaves only these rows, in that order.
  void keep(std::span<const RowNumber> rows);
  /// No row will be appended. From now on several threads may read.
  void finish();

  std::size_t rows() const { return rows_; }
  std::size_t column_count() const { return columns_.size(); }
  std::size_t memory() const;
  /// Returns the given rows. Their columns may be selected and unread.
  sql::Batch gather(std::span<const RowNumber> rows) const;
  sql::Column gather(std::size_t column, std::span<const RowNumber> rows) const;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  /// Columns that are selected by the same rows of their sources.
  struct Group {
    /// Rows of sources that were appended together.
    struct Run {
      std::vector<sql::ColumnSourcePtr> sources;  // parallel to `columns`
      std::uint32_t first_page, pages;
    };
    std::vector<std::size_t> columns;
    std::vector<std::shared_ptr<PagedColumn>> paged;  // parallel
    std::vector<Run> runs;
    std::uint32_t pages = 0;
    std::vector<RowNumber> positions;  // by row, of `paged`
  };
  struct Kept {
    RowStore values;
    sql::ColumnPtr finished = nullptr;  // the values after finish()
    std::size_t group = kNone;          // in place of values
  };

  void choose_groups(std::span<const sql::ColumnPtr> columns);
  /// Appends positions. False: the columns are not selected by the same rows of lasting sources.
  static bool append_positions(Group& group, std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  /// Copies the values of a group.
  void dissolve(std::size_t group);

  std::vector<sql::Type> types_;
  std::vector<Kept> columns_;
  std::vector<Group> groups_;
  std::size_t rows_ = 0;
};

/// Returns true if the column's values are those of a copy in memory, and none of them has been read.
bool is_borrowed(const sql::Column& column);
/// Returns the bytes that the batch takes while its borrowed columns are not read.
std::size_t unread_memory(const sql::Batch& batch);

}  // namespace redquel::executor
