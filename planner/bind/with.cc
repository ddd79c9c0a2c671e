#include "planner/bind/with.h"

#include <fmt/format.h>

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
    throw SqlError("42P10", fmt::format("WITH query \"{}\" has {} columns available but {} columns specified", item.name,
                                        columns.size(), definition.columns.size()))
        .at(state.position(definition.offset));
  }
  for (std::size_t i = 0; i < definition.columns.size(); ++i) columns[i].name = definition.columns[i];
  query.plan = make_logical(query.plan->node, std::move(columns));
  return query;
}

}  // namespace

WithScope::WithScope(BindState& state, QueryLevel* outer_level, WithItem* with, const std::optional<ast::WithClause>& clause)
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
    WithItem* visible = innermost_;
    if (clause->recursive) {
      // The query itself and later ones could be meant: found, they are refused.
      for (std::size_t j = i; j < clause->expressions.size(); ++j) {
        items_.push_back({.outer = visible, .name = clause->expressions[j].name, .recursive = true});
        visible = &items_.back();
      }
    }
    items_.push_back({.outer = visible, .name = definition.name, .definition = &definition, .outer_level = outer_level});
    WithItem& item = items_.back();
    item.bound = bind_definition(state, item);
    item.is_volatile = has_volatile(*item.bound->plan);
    if (clause->recursive) {  // the stand-ins are for its definition alone
      items_.push_back(item);
      items_.back().outer = innermost_;
    }
    innermost_ = &items_.back();
  }
}

WithItem* find_with(WithItem* innermost, std::string_view name) {
  for (WithItem* item = innermost; item != nullptr; item = item->outer) {
    if (item->name == name) return item;
  }
  return nullptr;
}

BoundQuery reference_with(BindState& state, WithItem& item, std::optional<std::uint32_t> offset) {
  if (item.recursive) throw sql::not_supported("WITH RECURSIVE", offset);
  if (++item.references > 1 && item.is_volatile) {
    throw sql::not_supported("WITH query with volatile functions that is used more than once", offset);
  }
  if (item.bound) {
    BoundQuery query = *std::move(item.bound);
    item.bound.reset();
    return query;
  }
  return bind_definition(state, item);
}

}  // namespace redquel::planner
