#include "planner/bind/with.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "planner/bind/modification.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/recursive_with.h"
#include "planner/bind/search_cycle.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void check_names(const BindState& state, const ast::WithClause& clause) {
  for (std::size_t i = 0; i < clause.expressions.size(); ++i) {
    const ast::CommonTableExpression& definition = clause.expressions[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (clause.expressions[j].name == definition.name) {
        throw SqlError(sqlstate::kDuplicateAlias, fmt::format("WITH query name \"{}\" specified more than once", definition.name))
            .at(state.position(definition.offset));
      }
    }
  }
}

/// An INSERT, UPDATE or DELETE as a WITH query.
LogicalPtr bind_write(BindState& state, const ast::Statement& statement, WithItem* with, std::optional<std::uint32_t> offset) {
  sql::check_stack_depth();
  if (const auto* insert = std::get_if<ast::Insert>(&statement.node)) return bind_insert(state, *insert, with);
  if (const auto* update = std::get_if<ast::Update>(&statement.node)) return bind_update(state, *update, with);
  if (std::holds_alternative<ast::Merge>(statement.node)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "MERGE not supported in WITH query").at(offset);
  }
  return bind_delete(state, std::get<ast::Delete>(statement.node), with);
}

}  // namespace

void name_with_columns(const BindState& state, WithItem& item, std::vector<LogicalColumn> columns) {
  const ast::CommonTableExpression& definition = *item.definition;
  if (definition.columns.size() > columns.size()) {
    throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("WITH query \"{}\" has {} columns available but {} columns specified", item.name,
                                                                  columns.size(), definition.columns.size()))
        .at(state.position(definition.offset));
  }
  for (std::size_t i = 0; i < definition.columns.size(); ++i) columns[i].name = definition.columns[i];
  item.columns = std::move(columns);
}

WithScope::WithScope(BindState& state, QueryLevel* outer_level, WithItem* with,
                     const std::optional<ast::WithClause>& clause)
    : state_(state), outer_level_(outer_level), innermost_(with) {
  if (!clause) return;
  may_write_ = &*clause == state.statement_with;
  check_names(state, *clause);
  if (clause->recursive) {
    const RecursiveOrder order = order_recursive(state, *clause);
    for (const std::size_t index : order.order) add(clause->expressions[index], order.recursive[index]);
    return;
  }
  for (std::size_t i = 0; i < clause->expressions.size(); ++i) {
    // Inside the definition: a stand-in for what is not defined yet.
    WithItem stand_in{.outer = innermost_, .later = &*clause, .later_from = i};
    WithItem* before = std::exchange(innermost_, &stand_in);
    add(clause->expressions[i], false);
    items_.back().outer = before;
  }
}

void WithScope::add(const ast::CommonTableExpression& definition, bool recursive) {
  const auto offset = state_.position(definition.offset);
  const bool has_order = definition.search || definition.cycle;
  if (has_order && !recursive) throw SqlError(sqlstate::kSyntaxError, "WITH query is not recursive").at(offset);
  const auto* select = std::get_if<ast::Select>(&definition.statement->node);
  if (select == nullptr && !may_write_) {
    throw SqlError(sqlstate::kFeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level").at(offset);
  }
  items_.push_back({.outer = innermost_, .name = definition.name, .definition = &definition, .recursive = recursive});
  WithItem& item = items_.back();
  item.number = state_.new_column();
  if (has_order) {
    bind_with_search_or_cycle(state_, outer_level_, item, *select);
  } else if (recursive) {
    bind_recursive(state_, outer_level_, item, *select);
  } else if (select == nullptr) {
    item.plan = bind_write(state_, *definition.statement, innermost_, offset);
    item.writes = true;
    name_with_columns(state_, item, item.plan->columns);
  } else {
    BoundQuery bound = bind_query(state_, outer_level_, innermost_, *select);
    item.plan = std::move(bound.plan);
    item.collations = std::move(bound.collations);
    name_with_columns(state_, item, item.plan->columns);
  }
  innermost_ = &item;
}

namespace {

/// Adds how often each number is scanned.
void count_scans(const Logical& node, std::map<std::uint32_t, std::size_t>& counts) {
  sql::check_stack_depth();
  if (const auto* scan = std::get_if<LogicalSharedScan>(&node.node)) ++counts[scan->number];
  for (const LogicalPtr& input : inputs_of(node)) count_scans(*input, counts);
}

/// `plan` with the scans of those numbers replaced by the sources themselves, in which the same is done.
LogicalPtr inlined(const LogicalPtr& plan, const std::map<std::uint32_t, LogicalPtr>& sources) {
  sql::check_stack_depth();
  if (const auto* scan = std::get_if<LogicalSharedScan>(&plan->node)) {
    const auto found = sources.find(scan->number);
    if (found == sources.end()) return plan;
    const LogicalPtr source = inlined(found->second, sources);
    LogicalProject project{source, {}};
    for (const std::size_t position : scan->positions) project.expressions.push_back(reference(source->columns[position]));
    return make_logical(std::move(project), plan->columns);
  }
  std::vector<LogicalPtr> inputs = inputs_of(*plan);
  bool changed = false;
  for (LogicalPtr& input : inputs) {
    const LogicalPtr replaced = inlined(input, sources);
    changed = changed || replaced != input;
    input = replaced;
  }
  return changed ? with_inputs(*plan, inputs) : plan;
}

}  // namespace

LogicalPtr WithScope::place(LogicalPtr plan) const {
  std::map<std::uint32_t, std::size_t> references;
  count_scans(*plan, references);
  std::map<std::uint32_t, LogicalPtr> used_once;
  std::vector<const WithItem*> shared;  // later ones read earlier ones
  for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
    const std::size_t count = references[item->number];
    if (count == 0 && !item->writes) continue;
    count_scans(*item->plan, references);
    const bool stays = item->definition->materialization == ast::Materialization::kAlways || item->recursive || item->writes ||
                       count > 1 || has_volatile(*item->plan);
    if (stays) {
      shared.push_back(&*item);
    } else {
      used_once[item->number] = item->plan;
    }
  }
  plan = inlined(plan, used_once);
  for (const WithItem* item : shared) {
    std::vector<LogicalColumn> columns = plan->columns;
    plan = make_logical(LogicalShare{std::move(plan), inlined(item->plan, used_once), item->number, item->name}, std::move(columns));
  }
  return plan;
}

WithItem* find_with(WithItem* innermost, std::string_view name) {
  for (WithItem* item = innermost; item != nullptr; item = item->outer) {
    if (item->definition != nullptr && item->name == name) return item;
  }
  return nullptr;
}

bool is_future_with(const WithItem* innermost, std::string_view name) {
  for (const WithItem* item = innermost; item != nullptr; item = item->outer) {
    if (item->later == nullptr) continue;
    const auto& expressions = item->later->expressions;
    const bool defined = std::any_of(expressions.begin() + static_cast<std::ptrdiff_t>(item->later_from), expressions.end(),
                                     [&](const ast::CommonTableExpression& later) { return later.name == name; });
    if (defined) return true;
  }
  return false;
}

LogicalPtr reference_with(BindState& state, const WithItem& item, std::uint32_t offset) {
  if (item.writes && item.columns.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("WITH query \"{}\" does not have a RETURNING clause", item.name))
        .at(state.position(offset));
  }
  LogicalSharedScan scan{item.working_number.value_or(item.number), item.name, {}};
  std::vector<LogicalColumn> columns = item.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].id = state.new_column();
    scan.positions.push_back(i);
  }
  return make_logical(std::move(scan), std::move(columns));
}

}  // namespace redquel::planner
