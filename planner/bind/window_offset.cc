#include "planner/bind/window_offset.h"

#include <fmt/format.h>

#include "planner/bind/expression_binder.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::Oid;
using sql::SqlError;

namespace {

/// pg_amproc: what can be added to values of the type, in PostgreSQL's order.
std::vector<Oid> offset_types(Oid key) {
  switch (key) {
    case sql::oid::kInt2:
    case sql::oid::kInt4:
      return {sql::oid::kInt8, sql::oid::kInt2, sql::oid::kInt4};
    case sql::oid::kInt8:
      return {sql::oid::kInt8};
    case sql::oid::kFloat4:
    case sql::oid::kFloat8:
      return {sql::oid::kFloat8};
    case sql::oid::kNumeric:
      return {sql::oid::kNumeric};
    case sql::oid::kDate:
    case sql::oid::kTime:
    case sql::oid::kTimetz:
    case sql::oid::kTimestamp:
    case sql::oid::kTimestamptz:
    case sql::oid::kInterval:
      return {sql::oid::kInterval};
    default:
      return {};
  }
}

sql::Type range_offset_type(const sql::Expression& offset, Oid key) {
  const std::vector<Oid> types = offset_types(key);
  const Oid given = offset.type.oid;
  const Oid compared = key == sql::oid::kVarchar ? sql::oid::kText : key;  // whose operator class the order is
  const std::string column = sql::format_type(sql::Type{compared});
  if (types.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}", column))
        .at(offset.offset);
  }
  const Oid preferred = given == sql::oid::kUnknown ? key : given;
  Oid selected = 0;
  std::size_t matches = 0;
  for (const Oid type : types) {
    if (!sql::can_coerce(offset.type, sql::Type{type}, sql::CastContext::kImplicit)) continue;
    ++matches;
    if (selected != preferred) selected = type;
  }
  if (matches == 0) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {} and offset type {}", column,
                               sql::format_type(sql::Type{given})))
        .hint("Cast the offset value to an appropriate type.")
        .at(offset.offset);
  }
  if (matches != 1 && selected != preferred) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("RANGE with offset PRECEDING/FOLLOWING has multiple interpretations for column type {} and "
                               "offset type {}",
                               column, sql::format_type(sql::Type{given})))
        .hint("Cast the offset value to the exact intended type.")
        .at(offset.offset);
  }
  return sql::Type{selected};
}

}  // namespace

ExpressionPtr bind_frame_offset(BindState& state, QueryLevel& level, const ast::Expression& written, FrameMode mode,
                                const ExpressionPtr& key) {
  Clause clause = Clause::kFrameRange;
  if (mode == FrameMode::kRows) clause = Clause::kFrameRows;
  if (mode == FrameMode::kGroups) clause = Clause::kFrameGroups;
  ExpressionPtr bound;
  {
    Scoped scope(level.clause, clause);
    bound = ExpressionBinder(state, level).bind(written);
  }
  const sql::Type type = mode == FrameMode::kRange ? range_offset_type(*bound, key->type.oid) : sql::kInt8;
  const std::string_view name = clause_name(clause);
  ExpressionPtr offset = try_coerce(state, bound, type, sql::CastContext::kAssignment);
  if (!offset) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("argument of {} must be type {}, not type {}", name, sql::format_type(type),
                                                            sql::format_type(sql::Type{bound->type.oid})))
        .at(bound->offset);
  }
  std::vector<ColumnId> columns;
  sql::collect_columns(*offset, columns);
  for (const ColumnId id : columns) {
    const PendingSubquery* subquery = level.find_subquery(id);
    if (subquery != nullptr && subquery->correlations.empty()) continue;
    const auto at = subquery == nullptr ? bound->offset : subquery->correlations[0].value->offset;
    throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("argument of {} must not contain variables", name)).at(at);
  }
  return offset;
}

}  // namespace redquel::planner
