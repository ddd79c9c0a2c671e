#include "executor/tables/condition_first.h"

#include <algorithm>

#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

// The cost of a row, in fields: in a scan, and by a command of its own.
constexpr double kScannedRow = 2, kFetchedRow = 5;
/// Guesses may err: what is read twice must be worth it.
constexpr double kClearGain = 0.7;

/// The columns that the condition asks for, and the condition over them.
planner::TableRead condition_alone(const planner::TableRead& read) {
  planner::TableRead alone;
  alone.table = read.table;
  alone.alias = read.alias;
  std::vector<std::uint32_t> places(read.numbers.size());
  std::vector<std::uint32_t> used;
  sql::collect_columns(*read.condition, used);
  std::ranges::sort(used);
  for (const std::uint32_t place : used) {
    if (!alone.numbers.empty() && alone.numbers.back() == read.numbers[place]) continue;
    places[place] = static_cast<std::uint32_t>(alone.numbers.size());
    alone.numbers.push_back(read.numbers[place]);
  }
  alone.condition = sql::map_columns(read.condition, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    return sql::make_column(whole.type, places[column.column], column.name);
  });
  return alone;
}

}  // namespace

ConditionReader::ConditionReader(const planner::TableRead& read, TableChangesPtr changes)
    : read_(condition_alone(read)), reader_(read_, std::move(changes)) {
  reader_.note_members();
}

std::vector<std::string> ConditionReader::take_members(const sql::EvaluationContext& context) {
  const std::vector<std::string_view> members = reader_.take_members();
  const sql::Batch batch = reader_.take_all();
  std::vector<std::string> found;
  if (batch.rows == 0) return found;
  for (const std::uint32_t row : sql::select_rows(*read_.condition, batch, context)) found.emplace_back(members[row]);
  return found;
}

bool ConditionReader::is_cheaper(const RowReader& whole, double share) const {
  const auto all = static_cast<double>(whole.fields().size()), asked = static_cast<double>(reader_.fields().size());
  return kScannedRow + asked + share * (kFetchedRow + all) < kClearGain * (kScannedRow + all);
}

}  // namespace redquel::executor
