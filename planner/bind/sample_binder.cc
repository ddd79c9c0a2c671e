#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/locking.h"
#include "planner/bind/plan_nodes.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/table_sample.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// 42704 for another method than PostgreSQL's own, 2202H for another number of arguments.
void check_method(const ast::TableSample& sample, std::optional<std::uint32_t> offset) {
  const std::string& method = sample.method.back();
  const bool is_known = (method == "bernoulli" || method == "system") && (sample.method.size() == 1 || sample.method[0] == "pg_catalog");
  if (!is_known) throw SqlError(sqlstate::kUndefinedObject, fmt::format("tablesample method {} does not exist", fmt::join(sample.method, "."))).at(offset);
  if (sample.arguments.size() == 1) return;
  throw SqlError(sqlstate::kInvalidTablesampleArgument, fmt::format("tablesample method {} requires 1 argument, not {}", method, sample.arguments.size())).at(offset);
}

ExpressionPtr bind_number(BindState& state, QueryLevel& level, const ast::Expression& written, sql::Type type, std::string_view clause) {
  const ExpressionPtr bound = ExpressionBinder(state, level).bind(written);
  if (ExpressionPtr number = try_coerce(state, bound, type, sql::CastContext::kAssignment)) return number;
  throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("argument of {} must be type {}, not type {}", clause, sql::format_type(type),
                                                          sql::format_type(sql::Type{bound->type.oid})))
      .at(bound->offset);
}

/// The columns that tell the rows of a scan apart: all of them where no key does.
std::vector<ExpressionPtr> identity_of(const Logical& rows, const sql::TableDef* table) {
  std::vector<ExpressionPtr> identity;
  const bool has_key = table != nullptr && (!table->primary_key.empty() || table->has_hidden_key());
  for (const LogicalColumn& column : rows.columns) {
    // The hidden key and the partition of a row are no columns of its table.
    const bool is_of_key = column.attribute == 0 || table == nullptr || table->in_primary_key(column.attribute);
    if (!has_key || is_of_key) identity.push_back(reference(column));
  }
  return identity;
}

}  // namespace

/// The rows for which a hash of their key is below the percentage: the same ones each time for a seed.
FromPart FromBinder::item(const ast::TableSample& sample, std::uint32_t at) {
  FromPart part = bind_item(*sample.relation);
  const auto offset = state_.position(at);
  const RelationPtr& relation = part.names[0].relation;
  const bool is_table = relation->table != nullptr || !relation->system_name.empty();
  if (!is_table) {
    throw SqlError(sqlstate::kFeatureNotSupported, "TABLESAMPLE clause can only be applied to tables and materialized views")
        .at(state_.position(sample.relation->offset));
  }
  check_method(sample, offset);
  ExpressionPtr percentage, seed;
  {
    Scoped clause(level_.clause, Clause::kFromFunction);
    percentage = bind_number(state_, level_, *sample.arguments[0], sql::kFloat4, "TABLESAMPLE");
    if (sample.repeatable) seed = bind_number(state_, level_, *sample.repeatable, sql::kFloat8, "REPEATABLE");
  }
  // Two clauses of one statement give different samples.
  if (!seed) seed = sql::make_constant(sql::kFloat8, static_cast<double>(at));
  ExpressionPtr* const numbers[] = {&percentage, &seed};
  CorrelationFrame subqueries;
  const LogicalPtr input = pass_values(numbers, part.lateral, subqueries);
  std::vector<ExpressionPtr> arguments{percentage, seed};
  for (ExpressionPtr& column : identity_of(*part.plan, relation->table.get())) arguments.push_back(std::move(column));
  const sql::ScalarFunction& function = sql::table_sample(sample.repeatable != nullptr);
  std::vector<LogicalColumn> columns = part.plan->columns;
  part.plan = make_logical(LogicalFilter{part.plan, sql::make_expression(sql::kBool, sql::FunctionCall{&function, std::move(arguments)}, offset)}, std::move(columns));
  if (!subqueries.empty()) part.plan = lateral_join(JoinKind::kInner, input, part.plan, subqueries, nullptr);
  return part;
}

}  // namespace redquel::planner
