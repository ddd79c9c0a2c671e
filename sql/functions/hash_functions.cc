// Hash functions of types (hashtext(…) and its like), which programs use to spread keys and to name advisory locks. Their numbers
// are PostgreSQL's. Names and bodies stand in the rows of the types.

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/structured_compare.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

template <bool extended>
ColumnPtr hash_kernel(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type type = arguments[0]->type();
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Datum value = arguments[0]->datum(row);
    if constexpr (extended) {
      const HashSeed seed{static_cast<std::uint64_t>(arguments[1]->get<std::int64_t>(row)), true};
      column.append(static_cast<std::int64_t>(postgres_hash_of(type, value, seed)));
    } else {
      column.append(static_cast<std::int32_t>(static_cast<std::uint32_t>(postgres_hash_of(type, value, {}))));
    }
  });
}

}  // namespace

std::vector<ScalarFunction> hash_functions() {
  std::vector<ScalarFunction> table;
  for (const std::span<const TypeRow> family : type_families()) {
    for (const TypeRow& row : family) {
      if (row.functions.hash.empty()) continue;
      const Type type{row.type.oid};
      table.push_back(column_function(row.functions.hash, {type}, kInt4, hash_kernel<false>, Volatility::kImmutable, true));
      table.push_back(column_function(row.functions.hash_extended, {type, kInt8}, kInt8, hash_kernel<true>, Volatility::kImmutable, true));
    }
  }
  return table;
}

}  // namespace redquel::sql
