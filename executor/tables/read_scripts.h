#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/redis/command_batch.h"
#include "executor/storage/row_reader.h"

namespace redquel::executor {

// Arguments and replies of the read-only scripts range_rows, unique_rows and group_counts: index and rows in one atomic unit and one round
// trip. They know no schema; all of it is arguments. A script that would hold Redis too long, or needs a key that Lua cannot make (a
// hashed one), refuses with a nil reply, and its caller uses bounded commands instead. Each append_… has its decode_… beside it.

/// Rows in a script's flat reply: a member and its fields, again and again. Views into the reply.
class FlatRows {
 public:
  FlatRows() = default;
  /// `fields`: of each row. Throws XX000 if the last row is not whole.
  FlatRows(std::span<const Reply> flat, std::size_t fields);

  std::size_t size() const { return flat_.size() / width_; }
  std::span<const Reply> replies() const { return flat_; }
  std::string_view member(std::size_t i) const { return flat_[i * width_].text; }
  std::span<const Reply> fields(std::size_t i) const { return flat_.subspan(i * width_ + 1, width_ - 1); }

 private:
  std::span<const Reply> flat_;
  std::size_t width_ = 1;
};

/// The way a script makes row keys, and the fields that it reads of them.
struct RowArguments {
  std::string prefix;                      // "emp:"
  bool escape = false;                     // members need escaping to become keys
  const std::vector<std::string>* fields;  // of the row
};
RowArguments row_arguments(const sql::TableDef& table, const sql::RowFields& fields);
RowArguments row_arguments(const RowReader& reader);
void append_row_arguments(CommandBatch& batch, const RowArguments& rows);

struct ZsetRange {
  std::string low, high;  // as ZRANGE takes them, low end first in either direction
  enum class By : std::uint8_t { kScore, kLex } by = By::kScore;
  bool descending = false;
  std::size_t offset = 0, count = 0;
};
/// For the reply see RangeRows. Of a range by score that has more than `few` elements (if given) RangePlace.
void append_range_rows(CommandBatch& batch, std::string_view key, const ZsetRange& range, bool members_hold_value,
                       const RowArguments& rows, std::optional<std::size_t> few = {});
/// The elements alone: `ZRANGE … BYSCORE … WITHSCORES` or `ZRANGE … BYLEX`.
void append_range(CommandBatch& batch, std::string_view key, const ZsetRange& range);

/// The elements of a range with their rows: { flat (member, score or ""), flat fields }; nil instead of the fields where Lua cannot make
/// a row's key.
class RangeRows {
 public:
  /// Views into the reply. `fields`: of each row.
  RangeRows(const Reply& reply, std::size_t fields);
  /// Takes `append_range`'s reply: elements without rows.
  RangeRows(std::span<const Reply> elements, ZsetRange::By by) : elements_(elements), step_(by == ZsetRange::By::kScore ? 2 : 1) {}

  std::size_t size() const { return elements_.size() / step_; }
  std::string_view member(std::size_t i) const { return elements_[step_ * i].text; }
  std::string_view score(std::size_t i) const { return step_ == 2 ? elements_[step_ * i + 1].text : std::string_view(); }
  /// The score, or the member where there is none.
  const Reply& value(std::size_t i) const { return elements_[step_ * i + step_ - 1]; }
  bool has_fields() const { return has_fields_; }
  std::span<const Reply> fields(std::size_t i) const { return fields_.subspan(i * width_, width_); }

 private:
  std::span<const Reply> elements_, fields_;
  std::size_t step_ = 2, width_ = 0;
  bool has_fields_ = false;
};

/// Where a range lies in its zset.
struct RangePlace {
  std::size_t rank, size;  // of the first element; how many elements there are
};
/// Returns the place of a range that has more than `few` elements; nullopt: the reply is RangeRows.
std::optional<RangePlace> decode_range_place(const Reply& reply);

/// Asks for the rows that own unique values.
void append_unique_rows(CommandBatch& batch, std::string_view uniques, std::span<const std::string> values, const RowArguments& rows);
/// Returns the rows of the values that are there; nullopt: a key that Lua cannot make. `fields`: of each row.
std::optional<FlatRows> decode_unique_rows(const Reply& reply, std::size_t fields);

/// The values of an index, each with the number of its rows. Views into the reply.
class GroupCounts {
 public:
  /// Throws XX000 if the last value has no number.
  explicit GroupCounts(std::span<const Reply> flat);

  std::size_t size() const { return flat_.size() / 2; }
  /// Returns nil for the rows with NULL.
  const Reply& value(std::size_t i) const { return flat_[2 * i]; }
  std::int64_t rows(std::size_t i) const { return flat_[2 * i + 1].integer; }

 private:
  std::span<const Reply> flat_;
};

/// Asks for the values of an index. `among`: sets that the rows must be in (none: all rows). `counts`: otherwise each value counts 1.
void append_group_counts(CommandBatch& batch, std::string_view values, std::string_view null_set, std::span<const std::string> among,
                         const ReadLimits& limits, bool counts);
/// Returns nullopt if there are too many values.
std::optional<GroupCounts> decode_group_counts(const Reply& reply);

}  // namespace redquel::executor
