#include "planner/bind/with.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/rules/rule.h"
#include "sql/error.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

BoundQuery bind_definition(BindState& state, const WithItem& item) {
  const ast::CommonTableExpression& definition = *item.definition;
  const auto* select = std::get_if<ast::Select>(&definition.statement->node);
  if (select == nullptr) throw sql::not_supported("data-modifying WITH", state.position(definition.offset));
  BoundQuery query = bind_query(state, item.outer_level, item.outer, *select);
  std::vector<LogicalColumn> columns = query.plan->columns;
  if (definition.columns.size() > columns.size()) {
    throw SqlError("42P10", fmt::format("WITH query \"{}\" has {} columns available but {} columns specified",
                                        item.name, columns.size(), definition.columns.size()))
        .at(state.position(definition.offset));
  }
  for (std::size_t i = 0; i < definition.columns.size(); ++i) columns[i].name = definition.columns[i];
  query.plan = make_logical(query.plan->node, std::move(columns));
  return query;
}

}  // namespace

WithScope::WithScope(BindState& state, QueryLevel* outer_level, WithItem* with,
                     const std::optional<ast::WithClause>& clause)
    : innermost_(with) {
  if (!clause) return;
  for (std::size_t i = 0; i < clause->expressions.size(); ++i) {
    const ast::CommonTableExpression& definition = clause->expressions[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (clause->expressions[j].name == definition.name) {
        throw SqlError("42712", fmt::format("WITH query name \"{}\" specified more than once", definition.name))
            .at(state.position(definition.offset));
      }
    }
  }
  for (std::size_t i = 0; i < clause->expressions.size(); ++i) {
    const ast::CommonTableExpression& definition = clause->expressions[i];
    if (definition.search) throw sql::not_supported("SEARCH", state.position(definition.search->offset));
    if (definition.cycle) throw sql::not_supported("CYCLE", state.position(definition.cycle->offset));
    items_.push_back({.outer = innermost_, .later = &*clause, .later_from = i});
    items_.push_back(
        {.outer = &items_.back(), .name = definition.name, .definition = &definition, .outer_level = outer_level});
    WithItem& item = items_.back();
    item.bound = bind_definition(state, item);
    item.outer = innermost_;  // what comes after it does not see the stand-in
    innermost_ = &item;
  }
}

namespace {

bool defines_later(const WithItem& item, std::string_view name) {
  if (item.later == nullptr) return false;
  const auto& expressions = item.later->expressions;
  return std::any_of(expressions.begin() + static_cast<std::ptrdiff_t>(item.later_from), expressions.end(),
                     [&](const ast::CommonTableExpression& later) { return later.name == name; });
}

}  // namespace

WithItem* find_with(WithItem* innermost, std::string_view name, std::optional<std::uint32_t> offset) {
  for (WithItem* item = innermost; item != nullptr; item = item->outer) {
    if (item->definition != nullptr && item->name == name) return item;
    if (item->later != nullptr && item->later->recursive && defines_later(*item, name)) {
      throw sql::not_supported("WITH RECURSIVE", offset);
    }
  }
  return nullptr;
}

bool is_future_with(const WithItem* innermost, std::string_view name) {
  for (const WithItem* item = innermost; item != nullptr; item = item->outer) {
    if (defines_later(*item, name)) return true;
  }
  return false;
}

BoundQuery reference_with(BindState& state, WithItem& item, std::optional<std::uint32_t> offset) {
  if (++item.references == 1) {
    BoundQuery query = *std::move(item.bound);
    item.bound.reset();
    return query;
  }
  BoundQuery query = bind_definition(state, item);
  if (has_volatile(*query.plan)) {
    throw sql::not_supported("WITH query with volatile functions that is used more than once", offset);
  }
  return query;
}

}  // namespace redquel::planner
