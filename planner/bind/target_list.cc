#include "planner/bind/target_list.h"

#include <fmt/format.h>

#include "planner/bind/column_name.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/missing_name.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/row_shape.h"
#include "planner/bind/variable_lookup.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void expand_all(BindState& state, QueryLevel& level, const ast::ColumnRef& star, std::vector<Target>& targets,
                std::optional<std::uint32_t> offset) {
  if (state.names != nullptr) state.names->stars[&star].clear();
  bool found = false;
  for (const NamespaceItem& item : level.names) {
    if (!item.by_column) continue;
    found = true;
    if (state.names != nullptr) state.names->note_star(star, *item.relation, level);
    mark_all_read(*item.relation);
    for (const RelationColumn& column : item.relation->columns)
      targets.push_back({column.name, with_offset(column.value, offset)});
  }
  if (!found) throw SqlError(sqlstate::kSyntaxError, "SELECT * with no tables specified is not valid").at(offset);
}

void expand_relation(BindState& state, QueryLevel& level, const ast::ColumnRef& star, std::vector<Target>& targets,
                     std::optional<std::uint32_t> offset) {
  const ColumnName name = split_column_name(state, star.names, true, offset);
  const auto found = find_relation(state, level, name.schema, name.relation, offset);
  if (!found) {
    if (const auto fields = state.variables ? fields_of_variable(*state.variables, star.names) : std::vector<const VariableScope::Variable*>{}; !fields.empty()) {
      for (const VariableScope::Variable* field : fields) targets.push_back({field->field, variable_reference(*field)});
      return;
    }
    const sql::ExpressionPtr row = ExpressionBinder(state, level).parameter_row(name);
    const auto fields = row ? row_shape(state, *row) : std::nullopt;
    if (!fields) throw_missing_relation(state, level, name.schema, name.relation, offset);
    for (const RowField& field : *fields) targets.push_back({field.name, with_offset(field.value, offset)});
    return;
  }
  if (state.names != nullptr) {
    state.names->stars[&star].clear();
    state.names->note_star(star, *found->relation, *found->level);
  }
  mark_all_read(*found->relation);
  for (const RelationColumn& column : found->relation->columns) {
    sql::ExpressionPtr value = with_offset(column.value, offset);
    if (found->level != &level) value = correlate(state, *found->level->frames.back(), value);
    targets.push_back({column.name, std::move(value)});
  }
}

}  // namespace

void check_target_count(std::size_t count) {
  if (count > kMostTargets) throw SqlError(sqlstate::kTooManyColumns, fmt::format("target lists can have at most {} entries", kMostTargets));
}

std::vector<Target> bind_targets(BindState& state, QueryLevel& level, const std::vector<ast::Target>& list) {
  std::vector<Target> targets;
  for (const ast::Target& item : list) {
    const auto* column = std::get_if<ast::ColumnRef>(&item.value->node);
    if (column != nullptr && column->star) {
      const auto offset = state.position(item.value->start);
      if (column->names.empty()) {
        expand_all(state, level, *column, targets, offset);
      } else {
        expand_relation(state, level, *column, targets, offset);
      }
      continue;
    }
    if (const auto* steps = std::get_if<ast::Indirection>(&item.value->node);
        steps != nullptr && std::holds_alternative<ast::StarStep>(steps->steps.back())) {
      for (const RowField& field : ExpressionBinder(state, level).expanded_row(*steps, state.position(item.value->start))) {
        targets.push_back({field.name, field.value});
      }
      continue;
    }
    sql::ExpressionPtr value = ExpressionBinder(state, level).bind(*item.value);
    if (state.names != nullptr && column != nullptr && state.names->rows.contains(column)) {
      throw sql::not_supported("a whole row as a column of a view", state.position(item.value->start));
    }
    targets.push_back({item.name.empty() ? default_column_name(state, *item.value) : item.name, std::move(value), false, item.value.get()});
    if (state.names != nullptr) state.names->targets[&item] = targets.back().name;
  }
  return targets;
}

}  // namespace redquel::planner
