#include "planner/bind/recursive_with.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_walk.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

const ast::Select& query_of(const ast::CommonTableExpression& definition) {
  return std::get<ast::Select>(definition.statement->node);
}

/// The query that it is, or that it writes the rows of; null: neither.
const ast::Select* query_in(const ast::CommonTableExpression& definition) {
  if (const auto* insert = std::get_if<ast::Insert>(&definition.statement->node)) return insert->source.get();
  return std::get_if<ast::Select>(&definition.statement->node);
}

/// Returns the queries of the clause that each one uses.
std::vector<std::vector<std::size_t>> dependencies(const ast::WithClause& clause) {
  std::vector<std::vector<std::size_t>> uses(clause.expressions.size());
  for (std::size_t i = 0; i < clause.expressions.size(); ++i) {
    const ast::Select* query = query_in(clause.expressions[i]);
    if (query == nullptr) continue;
    for (std::size_t j = 0; j < clause.expressions.size(); ++j) {
      if (references_to(*query, clause.expressions[j].name).empty()) continue;
      uses[i].push_back(j);
    }
  }
  return uses;
}

std::string_view place_text(ReferencePlace place) {
  switch (place) {
    case ReferencePlace::kPlain:
      return "";
    case ReferencePlace::kSubquery:
      return "a subquery";
    case ReferencePlace::kOuterJoin:
      return "an outer join";
    case ReferencePlace::kIntersect:
      return "INTERSECT";
    case ReferencePlace::kExcept:
      return "EXCEPT";
  }
  return "";
}

void check_recursion(const BindState& state, const ast::CommonTableExpression& definition) {
  const std::string& name = definition.name;
  if (!std::holds_alternative<ast::Select>(definition.statement->node)) {
    throw SqlError(sqlstate::kInvalidRecursion, fmt::format("recursive query \"{}\" must not contain data-modifying statements", name))
        .at(state.position(definition.offset));
  }
  const ast::Select& query = query_of(definition);
  if (query.set_operator != ast::SetOperator::kUnion) {
    throw SqlError(sqlstate::kInvalidRecursion,
                   fmt::format("recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] recursive-term", name))
        .at(state.position(definition.offset));
  }
  const auto refuse = [&](std::string_view how, std::uint32_t offset) {
    return SqlError(sqlstate::kInvalidRecursion, fmt::format("recursive reference to query \"{}\" must not appear {}", name, how))
        .at(state.position(offset));
  };
  if (query.with) {
    for (const ast::CommonTableExpression& inner : query.with->expressions) {
      const ast::Select* written = query_in(inner);
      const std::vector<QueryReference> found = written != nullptr ? references_to(*written, name) : std::vector<QueryReference>{};
      if (!found.empty()) throw refuse("within a subquery", found[0].offset);
    }
  }
  const std::vector<QueryReference> first = references_to(*query.left, name);
  if (!first.empty()) throw refuse("within its non-recursive term", first[0].offset);
  std::size_t count = 0;
  for (const QueryReference& reference : references_to(*query.right, name)) {
    if (reference.place != ReferencePlace::kPlain) {
      throw refuse(fmt::format("within {}", place_text(reference.place)), reference.offset);
    }
    if (++count > 1) throw refuse("more than once", reference.offset);
  }
  const auto unsupported = [&](std::string_view clause, const ast::ExpressionPtr& at) {
    return SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} in a recursive query is not implemented", clause))
        .at(state.position(at->start));
  };
  if (!query.order_by.empty()) throw unsupported("ORDER BY", query.order_by[0].value);
  if (query.limit_offset) throw unsupported("OFFSET", query.limit_offset);
  if (query.limit_count) throw unsupported("LIMIT", query.limit_count);
  if (!query.locking.empty()) throw SqlError(sqlstate::kFeatureNotSupported, "FOR UPDATE/SHARE in a recursive query is not implemented");
}

}  // namespace

RecursiveOrder order_recursive(const BindState& state, const ast::WithClause& clause) {
  std::vector<std::vector<std::size_t>> uses = dependencies(clause);
  RecursiveOrder result;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto own = std::ranges::find(uses[i], i);
    result.recursive.push_back(own != uses[i].end());
    if (own != uses[i].end()) uses[i].erase(own);
  }
  std::vector<bool> done(uses.size(), false);
  while (result.order.size() < uses.size()) {
    std::size_t next = 0;
    const auto is_ready = [&](std::size_t i) {
      return !done[i] && std::ranges::all_of(uses[i], [&](std::size_t j) { return done[j]; });
    };
    while (next < uses.size() && !is_ready(next)) ++next;
    if (next == uses.size()) {
      const auto first = std::ranges::find(done, false) - done.begin();
      throw SqlError(sqlstate::kFeatureNotSupported, "mutual recursion between WITH items is not implemented")
          .at(state.position(clause.expressions[static_cast<std::size_t>(first)].offset));
    }
    done[next] = true;
    result.order.push_back(next);
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (result.recursive[i]) check_recursion(state, clause.expressions[i]);
  }
  return result;
}

void bind_recursive(BindState& state, QueryLevel* outer_level, WithItem& item, const ast::Select& query) {
  const WithScope inner(state, outer_level, item.outer, query.with);
  BoundQuery first = bind_query(state, outer_level, inner.innermost(), *query.left);
  std::vector<LogicalColumn> columns = first.plan->columns;
  for (LogicalColumn& column : columns) column = {.id = column.id, .name = column.name, .type = column.type};
  name_with_columns(state, item, columns);
  item.working_number = state.new_column();
  WithItem* visible = inner.innermost();
  WithItem self = item;
  self.outer = visible;
  BoundQuery second = bind_query(state, outer_level, &self, *query.right, true);
  if (second.plan->columns.size() != columns.size()) {
    const auto offset = second.offsets.empty() ? std::nullopt : second.offsets[0];
    throw SqlError(sqlstate::kSyntaxError, "each UNION query must have the same number of columns").at(offset);
  }
  std::vector<OutputValue> outputs;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const sql::ExpressionPtr mine = reference(first.plan->columns[i], first.offsets[i]);
    const sql::ExpressionPtr value =
        second.unknowns[i] ? second.unknowns[i] : reference(second.plan->columns[i], second.offsets[i]);
    const sql::Type common = common_type({mine, value}, "UNION");
    if (common != columns[i].type) {
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall", item.name, i + 1,
                                 sql::format_type(columns[i].type), sql::format_type(common)))
          .hint("Cast the output of the non-recursive term to the correct type.")
          .at(first.offsets[i]);
    }
    if (!query.set_all) sql::equality_operator(common, first.offsets[i]);
    outputs.push_back({in_common_type(state, value, common), columns[i].name});
  }
  LogicalRecursiveUnion recursion{first.plan, make_project(state, second.plan, outputs), *item.working_number, query.set_all};
  for (LogicalColumn& column : columns) column.id = state.new_column();
  item.plan = inner.place(make_logical(std::move(recursion), columns));
  item.working_number.reset();
}

}  // namespace redquel::planner
