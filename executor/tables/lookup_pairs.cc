#include "executor/tables/lookup_pairs.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sql/expressions/evaluate.h"
#include "sql/expressions/row_selection.h"

namespace redquel::executor {

namespace {

/// Returns the rows of a left join in the order of the outer rows: its pairs, and NULLs on the right where a row has none.
/// `outer_of_pairs`: the outer row of each pair, ascending. `inner`: the right columns of the pairs.
sql::Batch with_unmatched(const sql::Batch& outer, std::span<const std::uint32_t> outer_of_pairs,
                          const sql::Batch& inner) {
  std::vector<std::uint32_t> outer_rows, places;  // `places`: of the pairs
  std::size_t pair = 0;
  for (std::uint32_t row = 0; row < outer.rows; ++row) {
    const bool is_matched = pair < outer_of_pairs.size() && outer_of_pairs[pair] == row;
    for (; pair < outer_of_pairs.size() && outer_of_pairs[pair] == row; ++pair) {
      places.push_back(static_cast<std::uint32_t>(outer_rows.size()));
      outer_rows.push_back(row);
    }
    if (!is_matched) outer_rows.push_back(row);
  }
  sql::Batch result = outer.gather(outer_rows);
  for (const sql::ColumnPtr& column : inner.columns) {
    const sql::Piece piece{places, column};
    result.columns.push_back(sql::assemble(column->type(), outer_rows.size(), {&piece, 1}));
  }
  return result;
}

}  // namespace

sql::Batch pair_up(planner::JoinKind kind, const sql::ExpressionPtr& residual, const LookupRows& rows, const sql::EvaluationContext& context) {
  const sql::Batch &outer = rows.outer, &inner = rows.inner;
  std::vector<std::vector<std::uint32_t>> rows_of_key(rows.key_count);
  for (std::size_t i = 0; i < rows.keys_of_inner.size(); ++i) rows_of_key[rows.keys_of_inner[i]].push_back(static_cast<std::uint32_t>(i));
  std::vector<std::uint32_t> outer_rows, inner_rows;
  for (std::size_t row = 0; row < outer.rows; ++row) {
    if (!rows.key_of_outer[row]) continue;
    for (std::uint32_t match : rows_of_key[*rows.key_of_outer[row]]) {
      outer_rows.push_back(static_cast<std::uint32_t>(row));
      inner_rows.push_back(match);
    }
  }
  sql::Batch pairs = outer.gather(outer_rows), right = inner.gather(inner_rows);
  pairs.columns.insert(pairs.columns.end(), right.columns.begin(), right.columns.end());
  std::vector<std::uint32_t> kept;
  if (residual && pairs.rows > 0) {
    kept = sql::select_rows(*residual, pairs, context);
  } else {
    for (std::size_t i = 0; i < pairs.rows; ++i) kept.push_back(static_cast<std::uint32_t>(i));
  }
  if (kind == planner::JoinKind::kInner) return kept.size() == pairs.rows ? pairs : pairs.gather(kept);

  std::vector<char> matched(outer.rows, 0);
  for (std::uint32_t pair : kept) matched[outer_rows[pair]] = 1;
  if (kind != planner::JoinKind::kLeft) {
    std::vector<std::uint32_t> found;
    bool wanted = kind == planner::JoinKind::kSemi;
    for (std::size_t row = 0; row < outer.rows; ++row) {
      if ((matched[row] != 0) == wanted) found.push_back(static_cast<std::uint32_t>(row));
    }
    return outer.gather(found);
  }
  std::vector<std::uint32_t> outer_of_pairs;
  for (const std::uint32_t pair : kept) outer_of_pairs.push_back(outer_rows[pair]);
  return with_unmatched(outer, outer_of_pairs, right.gather(kept));
}

}  // namespace redquel::executor
