#include "sql/functions/array_casts.h"

#include "sql/expressions/convert_column.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/resolve.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

ColumnPtr convert_elements(const ColumnPtr& elements, Type target, const EvaluationContext& context) {
  const CastFunction* function = find_cast(elements->type().oid, target.oid);
  if (function == nullptr || function->kernel == nullptr) return convert_through_text(elements, target, context);
  return function->kernel({&elements, 1}, elements->size(), target, context);
}

ColumnPtr cast_array(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const Column& column = *arguments[0];
  const std::size_t computed = column.is_constant() && rows > 0 ? 1 : rows;
  // The elements of all rows make one column.
  std::vector<std::optional<ArrayValue>> arrays;
  Column elements(Type{element_type_of(column.type()).oid});
  for (std::size_t row = 0; row < computed; ++row) {
    arrays.push_back(array_or_null(column, row));
    if (!arrays.back()) continue;
    for (const auto& element : arrays.back()->elements) append_element(elements, element);
  }
  const ColumnPtr source = std::make_shared<const Column>(std::move(elements));
  const ColumnPtr converted = convert_elements(source, Type{element_type_of(result).oid}, context);
  std::size_t next = 0;
  std::string text;
  return each_row(arguments, rows, result, [&](Column& values, std::size_t row) {
    if (!arrays[row]) return values.append_null();
    const std::size_t count = arrays[row]->elements.size();
    arrays[row]->elements.clear();
    for (std::size_t i = 0; i < count; ++i) arrays[row]->add(element_at(*converted, next++, text));
    append_array_to(values, *arrays[row]);
  });
}

}  // namespace

const CastFunction& array_cast(bool stable) {
  static const CastFunction kImmutableCast{0, 0, CastContext::kImplicit, cast_array, Volatility::kImmutable};
  static const CastFunction kStableCast{0, 0, CastContext::kImplicit, cast_array, Volatility::kStable};
  return stable ? kStableCast : kImmutableCast;
}

std::vector<CastFunction> array_casts() { return {}; }

}  // namespace redquel::sql
