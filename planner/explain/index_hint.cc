#include "planner/explain/index_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "planner/access/index_condition.h"
#include "sql/catalog/table_keys.h"
#include "sql/functions/quote.h"
#include "sql/types/text_order.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace {

/// Returns true if a default index over the column would answer the condition.
bool could_answer(const sql::TableDef& table, const ColumnCondition& condition) {
  const sql::Type type = table.find_column(condition.column)->type;
  if (type.oid == sql::oid::kJson || type.oid == sql::oid::kJsonpath) return false;
  return is_equality(condition.kind) || (is_range(condition.kind) && sql::has_ordered_form(type));
}

bool has_index(const sql::TableDef& table, std::int16_t column) {
  return std::ranges::any_of(sql::structures_of(table), [&](const sql::Structure& structure) {
    return structure.kind != sql::Structure::Kind::kNulls && structure.columns.front() == column;
  });
}

std::string statement_for(const sql::TableDef& table, std::string_view method, const std::vector<std::int16_t>& columns) {
  std::string name = sql::quote_identifier(table.name);
  if (table.schema != "public") name = sql::quote_identifier(table.schema) + "." + name;
  std::vector<std::string> names;
  for (const std::int16_t column : columns) names.push_back(sql::quote_identifier(table.find_column(column)->name));
  return fmt::format("CREATE INDEX ON {}{} ({})", name, method, fmt::join(names, ", "));
}

}  // namespace

std::optional<std::string> index_hint(const FullScan& scan) {
  const sql::TableDef& table = *scan.read.table;
  if (!scan.read.condition || !scan.key_start.empty() || table.is_mapped()) return std::nullopt;
  const ColumnNumber number = [&](ColumnId position) -> std::optional<std::int16_t> {
    const std::int16_t found = position < scan.read.numbers.size() ? scan.read.numbers[position] : std::int16_t{0};
    return found > 0 ? std::optional(found) : std::nullopt;
  };
  const Condition condition = analyse_condition(*scan.read.condition, table, number);
  std::vector<Condition> single;
  const ColumnCondition* best = nullptr;
  for (const Condition& part : conjuncts(condition, single)) {
    if (part.kind != Condition::Kind::kColumn || !could_answer(table, part.column) || has_index(table, part.column.column)) continue;
    if (best == nullptr || (is_equality(part.column.kind) && !is_equality(best->kind))) best = &part.column;
  }
  if (best == nullptr) return std::nullopt;
  return statement_for(table, "", {best->column});
}

std::optional<std::string> index_hint(const SetScan& scan) {
  if (!scan.first) return std::nullopt;
  std::vector<std::int16_t> columns;
  const bool is_intersection = scan.sets.kind == SetExpression::Kind::kIntersection;
  for (const SetExpression& set : is_intersection ? std::span(scan.sets.operands) : std::span(&scan.sets, 1)) {
    if (set.kind != SetExpression::Kind::kSet) return std::nullopt;
    columns.insert(columns.end(), set.columns.begin(), set.columns.end());
  }
  columns.push_back(scan.first->column);
  const bool are_columns = std::ranges::all_of(columns, [](std::int16_t column) { return column > 0; });
  return are_columns ? std::optional(statement_for(*scan.read.table, " USING zset", columns)) : std::nullopt;
}

}  // namespace redquel::planner
