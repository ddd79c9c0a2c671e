#include "planner/physical/increment.h"

#include <algorithm>

#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "planner/physical/physical_planner.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

namespace {

/// Positions of the columns that one expression reads.
std::vector<std::uint32_t> columns_of(const sql::ExpressionPtr& expression) {
  std::vector<std::uint32_t> columns;
  if (expression) sql::collect_columns(*expression, columns);
  return columns;
}

/// Positions of the columns from which index entries are made.
std::vector<std::uint32_t> indexed_columns(const sql::TableDef& table) {
  std::vector<std::uint32_t> positions;
  for (const sql::Structure& structure : sql::structures_of(table)) {
    for (const std::int16_t number : structure.columns) {
      if (number > 0) positions.push_back(static_cast<std::uint32_t>(table.position(number)));
    }
  }
  if (table.computed.empty()) return positions;
  for (const sql::ExpressionPtr& computed : bind_computed(table, positions_as_ids(table))) {
    const std::vector<std::uint32_t> sources = columns_of(computed);
    positions.insert(positions.end(), sources.begin(), sources.end());
  }
  return positions;
}

}  // namespace

bool adds_to(const sql::Expression& value, std::uint32_t position) {
  const auto* call = std::get_if<sql::FunctionCall>(&value.node);
  if (call == nullptr || call->arguments.size() != 2 || (call->function->name != "+" && call->function->name != "-")) return false;
  const auto is_column = [&](const sql::ExpressionPtr& argument) {
    const auto* column = std::get_if<sql::ColumnRef>(&argument->node);
    return column != nullptr && column->column == position && argument->type.oid == value.type.oid;
  };
  if (is_column(call->arguments[0])) return columns_of(call->arguments[1]).empty();
  return call->function->name == "+" && is_column(call->arguments[1]) && columns_of(call->arguments[0]).empty();
}

const KeyLookup* row_lookup(const PhysicalUpdate& update) {
  const PhysicalNode* source = update.source.get();
  if (const auto* gather = std::get_if<Gather>(&source->node)) {
    if (!gather->reads_one_bucket() || gather->combine != Gather::Combine::kAppend) return nullptr;
    source = gather->parts.front().get();
  }
  return std::get_if<KeyLookup>(&source->node);
}

namespace {

/// The columns to which integers are added, where that is all that happens and nothing else of the statement depends on them.
std::vector<std::size_t> added_columns(const PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  const KeyLookup* lookup = row_lookup(update);
  if (lookup == nullptr || table.is_mapped() || !update.generated.empty() || table.has_hidden_key()) return {};
  for (const std::uint32_t column : columns_of(lookup->read.condition)) {
    if (!table.in_primary_key(lookup->read.numbers[column])) return {};
  }
  std::vector<bool> is_used(table.columns.size());
  const auto use = [&](const sql::ExpressionPtr& expression) {
    for (const std::uint32_t column : columns_of(expression)) {
      if (column < is_used.size()) is_used[column] = true;
      for (std::size_t i = 0; i < is_used.size(); ++i) is_used[i] = is_used[i] || column == is_used.size() + update.old_row[i];
    }
  };
  for (const BoundCheck& check : update.checks) use(check.condition);
  for (const PolicyCheck& check : update.policy_checks) use(check.condition);
  for (const sql::ExpressionPtr& expression : update.returning) use(expression);
  std::vector<std::size_t> added;
  for (const Assignment& assignment : update.assignments) {
    const std::size_t position = table.position(assignment.number);
    const sql::ColumnDef& column = table.columns[position];
    const bool is_integer = column.type.oid == sql::oid::kInt4 || column.type.oid == sql::oid::kInt8;
    if (!is_integer || is_used[position] || column.missing || table.in_primary_key(column.number) || assignment.value->type.oid != column.type.oid ||
        !adds_to(*assignment.value, static_cast<std::uint32_t>(update.old_row[position]))) {
      return {};
    }
    added.push_back(position);
  }
  return added;
}

/// One row by its key, of which nothing else is looked at, told or demanded.
bool is_plain_change_of_one_row(const PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  const KeyLookup* lookup = row_lookup(update);
  if (lookup == nullptr || lookup->keys.size() != 1 || table.is_mapped() || table.has_hidden_key() || !update.generated.empty()) return false;
  if (!table.computed.empty() || table.rows_expire() || table.has_foreign_keys() || update.has_returning || !update.checks.empty() ||
      !update.policy_checks.empty()) {
    return false;
  }
  for (const std::uint32_t column : columns_of(lookup->read.condition)) {
    if (!table.in_primary_key(lookup->read.numbers[column])) return false;
  }
  return std::ranges::none_of(update.assignments, [](const Assignment& assignment) { return waits(*assignment.value); });
}

/// Returns true if a script can move the row's entry without a previous read of the row. It makes the old entry from the old field.
bool is_moved_by_script(const sql::TableDef& table, const sql::Structure& structure) {
  if (structure.columns.size() != 1) return false;
  return sql::structure_kind(structure.kind).is_moved_by_script(table.columns[table.position(structure.columns[0])].type);
}

/// Values that are known without the row, for columns whose entries a script can move.
bool assigns_known_values(const PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  for (const Assignment& assignment : update.assignments) {
    const sql::ColumnDef& column = table.columns[table.position(assignment.number)];
    if (!columns_of(assignment.value).empty() || column.missing || table.in_primary_key(column.number)) return false;
  }
  const auto is_assigned = [&](std::int16_t number) { return std::ranges::find(update.assignments, number, &Assignment::number) != update.assignments.end(); };
  return std::ranges::all_of(sql::structures_of(table), [&](const sql::Structure& structure) {
    return std::ranges::none_of(structure.columns, is_assigned) || is_moved_by_script(table, structure);
  });
}

}  // namespace

void find_added_columns(PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  const std::vector<std::size_t> added = added_columns(update);
  const auto is_added = [&](std::size_t position) { return std::ranges::find(added, position) != added.end(); };
  if (std::ranges::none_of(indexed_columns(table), is_added)) update.added = added;
  const bool are_moved = std::ranges::all_of(sql::structures_of(table), [&](const sql::Structure& structure) {
    const bool has_added = std::ranges::any_of(structure.columns, [&](std::int16_t number) { return number > 0 && is_added(table.position(number)); });
    return !has_added || is_moved_by_script(table, structure);
  });
  if (are_moved) update.added_unread = added;
}

bool may_write_unread(const PhysicalUpdate& update) {
  return is_plain_change_of_one_row(update) && (!update.added_unread.empty() || assigns_known_values(update));
}

}  // namespace redquel::planner
