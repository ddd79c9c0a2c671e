#include "sql/functions/jsonb_assignment.h"

#include "sql/error.h"
#include "sql/functions/json_path_steps.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

ColumnPtr with_part(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  constexpr std::size_t kSteps = 3;
  auto column = std::make_shared<Column>(result);
  std::vector<std::optional<std::string_view>> path(arguments.size() - kSteps);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = kSteps; i < arguments.size(); ++i) {
      if (arguments[i]->is_null(row)) throw SqlError(sqlstate::kNullValueNotAllowed, "jsonb subscript in assignment must not be null");
      path[i - kSteps] = arguments[i]->get<std::string_view>(row);
    }
    const std::string_view empty = arguments[1]->get<bool>(row) ? "[]" : "{}";
    const std::string_view target = arguments[0]->is_null(row) ? empty : arguments[0]->get<std::string_view>(row);
    const std::string_view value = arguments[2]->is_null(row) ? "null" : arguments[2]->get<std::string_view>(row);
    column->append(std::string_view(change_jsonb(target, path, value, JsonbChange::kAssign)));
  }
  return column;
}

}  // namespace

const ScalarFunction& jsonb_with_part() {
  static const ScalarFunction function = column_function("jsonb_set_element", {kJsonb, kBool, kJsonb, kText}, kJsonb, with_part,
                                                         Volatility::kImmutable, false, true);
  return function;
}

}  // namespace redquel::sql
