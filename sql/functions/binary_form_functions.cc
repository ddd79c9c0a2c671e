// Send functions: a value in its binary form, as bytea. Their names stand in the rows of the types.

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/binary_io.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

ColumnPtr send(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::string bytes;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    bytes.clear();
    encode_binary(*arguments[0], row, bytes);
    column.append(std::string_view(bytes));
  });
}

}  // namespace

std::vector<ScalarFunction> binary_form_functions() {
  std::vector<ScalarFunction> table;
  for (const std::span<const TypeRow> family : type_families()) {
    for (const TypeRow& row : family) {
      if (row.functions.send.empty()) continue;
      table.push_back(column_function(row.functions.send, {Type{row.type.oid}}, kBytea, send, Volatility::kImmutable, true));
    }
  }
  return table;
}

}  // namespace redquel::sql
