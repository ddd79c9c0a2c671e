#include "sql/functions/user_function_call.h"

#include <algorithm>

#include "sql/catalog/catalog.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/sequence_calls.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

bool is_strict(Oid function, const EvaluationContext& context) {
  const auto found = catalog_of(context).functions.find(function);
  return found != catalog_of(context).functions.end() && found->second->strict;
}

ColumnPtr run_function(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  auto column = std::make_shared<Column>(result);
  if (rows == 0) return column;
  const UserFunctionHead head = read_user_function_head(arguments[0]->datum(0), arguments[1]->datum(0));
  const std::span<const ColumnPtr> given = arguments.subspan(head.size());
  const bool strict = is_strict(head.function, context);
  SequenceCall call{.kind = SequenceCall::Kind::kUserFunction, .rows = {}};
  call.function = head.function;
  call.result = result;
  for (const ColumnPtr& argument : given) call.types.push_back(argument->type());
  std::vector<bool> asked(rows, true);
  for (std::size_t row = 0; row < rows; ++row) {
    asked[row] = !strict || std::ranges::none_of(given, [&](const ColumnPtr& argument) { return argument->is_null(row); });
    if (!asked[row]) continue;
    std::vector<Datum>& values = call.arguments.emplace_back();
    for (const ColumnPtr& argument : given) values.push_back(argument->datum(row));
  }
  SequenceCalls::Values values;
  if (!call.arguments.empty()) values = ask_evaluator_for_values(std::move(call));
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (asked[row]) {
      column->append_datum(values.at(next++));
    } else {
      column->append_null();
    }
  }
  return column;
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
