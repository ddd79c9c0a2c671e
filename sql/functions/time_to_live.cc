// redquel.ttl(table, key…): the remaining time to live of a row. The evaluator asks Redis.

#include <fmt/format.h>

#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/deferred_calls.h"
#include "sql/name_errors.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// 42501 unless the role may read the table: a time to live says that a row is there.
const TableDef& table_of(Oid oid, const EvaluationContext& context) {
  if (const auto table = catalog_of(context).find_table(oid)) {
    const RoleSet& roles = *known_roles();
    const RoleDef* role = roles.find(context.user);
    const Rights held = held_rights(acl_of(*table), role == nullptr ? kPublic : role->oid, roles, context.database);
    if ((held & right::kSelect) != 0) return *table;
    throw permission_denied("table", table->name);
  }
  throw wrong_object_kind(relation_name(oid, context), "a table");
}

/// The row's key in Redis, from the values of its primary key in any types; by their texts.
std::string row_key(const TableDef& table, std::span<const ColumnPtr> values, std::size_t row, const EvaluationContext& context) {
  if (table.has_hidden_key()) throw SqlError(sqlstate::kWrongObjectType, fmt::format("table \"{}\" has no primary key", table.name));
  const TableKeys keys(table);
  if (values.size() != keys.key_size()) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("the primary key of table \"{}\" has {} columns", table.name, keys.key_size()));
  }
  const SessionSettings& settings = *context.settings;
  std::vector<Datum> key;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string text;
    format_value(*values[i], row, settings, text);
    key.push_back(apply_modifier(keys.key_type(i), parse_value(keys.key_type(i), text, settings), true));
  }
  return keys.row(key);
}

ColumnPtr time_to_live(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const AskedRows asked(arguments, rows);
  TimesToLive call;
  asked.for_each([&](std::size_t row) {
    const TableDef& table = table_of(static_cast<Oid>(arguments[0]->get<std::int32_t>(row)), context);
    call.keys.push_back(row_key(table, arguments.subspan(1), row, context));
  });
  return asked.column(result, asked.ask(std::move(call)), [](Column& column, const std::optional<std::int64_t>& milliseconds) {
    if (milliseconds) {
      column.append(Interval{.microseconds = *milliseconds * 1000, .days = 0, .months = 0});
    } else {
      column.append_null();
    }
  });
}

}  // namespace

bool is_time_to_live(const ScalarFunction& function) { return function.kernel == static_cast<Kernel>(time_to_live); }

std::vector<ScalarFunction> time_to_live_functions() {
  return {column_function("redquel.ttl", {Type{oid::kRegclass}, Type{oid::kAny}}, kInterval, time_to_live, Volatility::kVolatile, true, true)};
}

}  // namespace redquel::sql
