#include "executor/tables/lookup_pairs.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

/// The rows of a left join in the order of the outer rows: its pairs, and NULLs on the right where a row has none. `outer_of_pairs`: the outer row
/// of each pair, ascending.
sql::Batch with_unmatched(const sql::Batch& outer, const sql::Batch& pairs, std::span<const std::uint32_t> outer_of_pairs) {
  sql::Batch result;
  for (std::size_t c = 0; c < pairs.columns.size(); ++c) {
    const sql::Column& from = *pairs.columns[c];
    const bool left = c < outer.columns.size();
    const bool encoded = left ? outer.columns[c]->is_encoded() : from.is_encoded();
    auto column = std::make_shared<sql::Column>(encoded ? sql::Column::encoded(from.type()) : sql::Column(from.type()));
    std::size_t pair = 0;
    for (std::size_t row = 0; row < outer.rows; ++row) {
      const bool is_matched = pair < outer_of_pairs.size() && outer_of_pairs[pair] == row;
      for (; pair < outer_of_pairs.size() && outer_of_pairs[pair] == row; ++pair) column->append_from(from, pair);
      if (is_matched) continue;
      if (left) column->append_from(*outer.columns[c], row);
      else column->append_null();
    }
    // Views point into the memory of both sources.
    column->keep_alive(pairs.columns[c]);
    if (left) column->keep_alive(outer.columns[c]);
    result.columns.push_back(std::move(column));
  }
  const auto repeated = std::ranges::count_if(outer_of_pairs, [previous = std::optional<std::uint32_t>()](std::uint32_t row) mutable {
    return std::exchange(previous, row) == row;
  });
  result.rows = outer.rows + static_cast<std::size_t>(repeated);
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
  return with_unmatched(outer, pairs.gather(kept), outer_of_pairs);
}

}  // namespace redquel::executor
