#include "sql/functions/user_function_call.h"

#include <algorithm>

#include "sql/catalog/catalog.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/deferred_calls.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

bool is_strict(Oid function, const EvaluationContext& context) {
  const auto found = catalog_of(context).functions.find(function);
  return found != catalog_of(context).functions.end() && found->second->strict;
}

ColumnPtr run_function(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  if (rows == 0) return std::make_shared<Column>(result);
  const UserFunctionHead head = read_user_function_head(arguments[0]->datum(0), arguments[1]->datum(0));
  const std::span<const ColumnPtr> given = arguments.subspan(head.size());
  const bool strict = is_strict(head.function, context);
  UserFunctionCalls call{.function = head.function, .types = {}, .arguments = {}};
  for (const ColumnPtr& argument : given) call.types.push_back(argument->type());
  const AskedRows asked(strict ? given : std::span<const ColumnPtr>(), rows);
  asked.for_each([&](std::size_t row) {
    std::vector<Datum>& values = call.arguments.emplace_back();
    for (const ColumnPtr& argument : given) values.push_back(argument->datum(row));
  });
  return asked.column(result, asked.ask(std::move(call)), [](Column& column, const Datum& value) { column.append_datum(value); });
}

}  // namespace

UserFunctionHead read_user_function_head(const Datum& names, const Datum& function) {
  UserFunctionHead head;
  const ArrayValue words = read_array(oid::kTextArray, std::get<std::string>(names));
  for (const auto& word : words.elements) head.columns.emplace_back(word.value_or(""));
  head.name = head.columns.at(0);
  head.columns.erase(head.columns.begin());
  head.function = static_cast<Oid>(std::get<std::int32_t>(function));
  return head;
}

const ScalarFunction& user_function_call() {
  static const ScalarFunction function =
      column_function("sql_function", {kAny}, kAnyElement, run_function, Volatility::kVolatile, false, true);
  return function;
}

const TableFunction& user_function_rows() {
  static const TableFunction function{.name = "sql_function", .arguments = {}, .columns = {}, .open = nullptr};
  return function;
}

}  // namespace redquel::sql
