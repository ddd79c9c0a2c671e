#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "executor/operators/key_view.h"
#include "sql/column.h"

namespace redquel::executor {

/// The keys of a batch by which its rows form groups.
struct GroupKeys {
  explicit GroupKeys(std::span<const sql::ColumnPtr> keys) : columns(keys.begin(), keys.end()), views(views_of(columns)) {}
  std::vector<sql::ColumnPtr> columns;
  KeyViews views;
};

/// The last change of groups in each batch of an input whose groups come one after another.
class GroupChanges {
 public:
  /// Takes the keys of the next batch, which has rows. Returns the row with which its last group begins; nullopt: all its rows belong to the
  /// last group of the batch before, or to the first group. `is_same`: (const GroupKeys&, row, const GroupKeys&, row) → bool.
  template <typename IsSame>
  std::optional<std::size_t> take(std::span<const sql::ColumnPtr> keys, std::size_t rows, const IsSame& is_same) {
    const GroupKeys now(keys);
    std::optional<std::size_t> change;
    for (std::size_t row = rows - 1; row > 0 && !change; --row) {
      if (!is_same(now, row - 1, now, row)) change = row;
    }
    if (!change && has_rows_ && !is_same(GroupKeys(last_keys_), last_row_, now, 0)) change = 0;
    last_keys_.assign(keys.begin(), keys.end());
    last_row_ = rows - 1;
    has_rows_ = true;
    return change;
  }

 private:
  std::vector<sql::ColumnPtr> last_keys_;  // of the batch that was taken last
  std::size_t last_row_ = 0;
  bool has_rows_ = false;
};

}  // namespace redquel::executor
