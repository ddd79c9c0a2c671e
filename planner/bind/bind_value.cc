#include "planner/bind/bind_value.h"

#include <fmt/format.h>

#include "planner/bind/domain.h"
#include "planner/bind/expression_binder.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;

namespace {

/// SELECT value, and nothing else.
bool has_only_value(const ast::Select& query) {
  return query.targets.size() == 1 && query.targets[0].value && query.from.empty() && !query.where && query.group_by.empty() && !query.having &&
         query.values.empty() && query.set_operator == ast::SetOperator::kNone && query.order_by.empty() && !query.limit_count &&
         !query.limit_offset && !query.with && !query.distinct && query.windows.empty() && query.locking.empty() && !query.into;
}

}  // namespace

ExpressionPtr bind_value(const ast::Statement& statement, const sql::CatalogSnapshot& catalog, std::vector<sql::Type> parameters,
                         const BindSettings& settings) {
  const auto* query = std::get_if<ast::Select>(&statement.node);
  if (query == nullptr || !has_only_value(*query)) return nullptr;
  const auto* column = std::get_if<ast::ColumnRef>(&query->targets[0].value->node);
  if (column != nullptr && column->star) return nullptr;
  const auto slots = static_cast<std::uint32_t>(parameters.size());
  BindState state(catalog, settings, std::move(parameters), slots);
  QueryLevel level{.clause = Clause::kSelectList};
  ExpressionPtr value = ExpressionBinder(state, level).bind(*query->targets[0].value);
  const bool is_plain = level.subqueries.empty() && level.aggregates.empty() && level.window_calls.empty() && level.groupings.empty();
  std::vector<ColumnId> columns;
  sql::collect_columns(*value, columns);
  if (!is_plain || !columns.empty() || waits(*value) || !state.requirements.finish().empty() || state.next_slot() != slots) return nullptr;
  return value;
}

ExpressionPtr assigned_value(const ExpressionPtr& value, sql::Type type, sql::Oid domain, const sql::CatalogSnapshot& catalog,
                             const BindSettings& settings) {
  ExpressionPtr converted = sql::try_coerce(value, type, sql::CastContext::kAssignment, settings.session, settings.now);
  if (!converted) converted = sql::try_coerce(value, type, sql::CastContext::kExplicit, settings.session, settings.now);
  if (!converted) {
    throw sql::SqlError(sqlstate::kCannotCoerce,
                        fmt::format("cannot cast type {} to {}", sql::format_type(value->type), sql::format_type(type)));
  }
  return into_domain(catalog, settings, *value, converted, domain);
}

}  // namespace redquel::planner
