#include "sql/functions/variadic_calls.h"

#include <array>
#include <map>
#include <utility>

#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/functions/polymorphic.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kMaxFunctions = 64;
constexpr std::size_t kMaxArguments = 100'000;  // of one call

/// A kernel is a bare pointer, so each variadic function that is called with an array gets a number and a kernel of its own.
std::array<const ScalarFunction*, kMaxFunctions> spread_functions;

/// For an array without elements: returns the overload that takes only the arguments before it, if there is one.
const ScalarFunction& without_rest(const ScalarFunction& function) {
  for (const ScalarFunction* other : find_functions(function.name)) {
    const bool fits = !other->variadic && other->arguments.size() + 1 == function.arguments.size() &&
                      std::equal(other->arguments.begin(), other->arguments.end(), function.arguments.begin());
    if (fits) return *other;
  }
  return function;
}

ColumnPtr one_row(const ColumnPtr& column, std::size_t row) {
  return std::make_shared<const Column>(Column::constant(column->type(), column->datum(row), 1));
}

ColumnPtr call_spread(const ScalarFunction& function, std::span<const ColumnPtr> arguments, std::size_t rows, Type result,
                      const EvaluationContext& context) {
  const Column& arrays = *arguments.back();
  const Type element = element_type_of(arrays.type());
  auto column = std::make_shared<Column>(result);
  for (std::size_t row = 0; row < rows; ++row) {
    // format() alone takes no array for an empty one.
    const bool is_null = arrays.is_null(row);
    if (is_null && function.name != "format") {
      column->append_null();
      continue;
    }
    std::vector<ColumnPtr> values;
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) values.push_back(one_row(arguments[i], row));
    const ArrayValue array = is_null ? ArrayValue{} : read_array(arrays.type().oid, arrays.get<std::string_view>(row));
    if (array.elements.size() > kMaxArguments) {
      throw SqlError(sqlstate::kTooManyArguments, "cannot pass more than " + std::to_string(kMaxArguments) + " arguments to a function");
    }
    for (const std::optional<std::string_view>& text : array.elements) {
      auto value = std::make_shared<Column>(element);
      append_element(*value, text);
      values.push_back(std::move(value));
    }
    const ScalarFunction& called = array.elements.empty() ? without_rest(function) : function;
    const ColumnPtr value = called.kernel(values, 1, result, context);
    column->append_datum(value->datum(0));
  }
  return column;
}

template <std::size_t number>
ColumnPtr spread_kernel(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return call_spread(*spread_functions[number], arguments, rows, result, context);
}

template <std::size_t... numbers>
constexpr std::array<Kernel, sizeof...(numbers)> kernels(std::index_sequence<numbers...>) {
  return {spread_kernel<numbers>...};
}

/// The function itself, or one that takes several arguments of the same type where it takes one.
const ScalarFunction* variadic_form_of(const ScalarFunction* function) {
  if (function->variadic) return function;
  for (const ScalarFunction* other : find_functions(function->name)) {
    if (other->variadic && other->arguments == function->arguments) return other;
  }
  return function;
}

/// All variadic functions in the form that takes an array; made once, before any of them runs.
const std::map<const ScalarFunction*, ScalarFunction>& spread_forms() {
  static const std::map<const ScalarFunction*, ScalarFunction> forms = [] {
    static constexpr std::array<Kernel, kMaxFunctions> kKernels = kernels(std::make_index_sequence<kMaxFunctions>());
    std::map<const ScalarFunction*, ScalarFunction> made;
    for (const ScalarFunction& function : all_functions()) {
      if (!function.variadic || made.size() == kMaxFunctions) continue;
      const std::size_t number = made.size();
      spread_functions[number] = &function;
      ScalarFunction form = function;
      form.kernel = kKernels[number];
      form.variadic = false;
      made.emplace(&function, std::move(form));
    }
    return made;
  }();
  return forms;
}

SqlError no_such_function(std::string_view name, std::span<const Type> types) {
  std::string text = "function " + std::string(name) + "(";
  for (std::size_t i = 0; i < types.size(); ++i) text += (i == 0 ? "" : ", ") + format_type(Type{types[i].oid});
  return SqlError(sqlstate::kUndefinedFunction, text + ") does not exist")
      .hint("No function matches the given name and argument types. You might need to add explicit type casts.");
}

}  // namespace

ResolvedFunction resolve_variadic_call(std::string_view name, std::span<const Type> types, std::optional<std::uint32_t> offset,
                                       std::optional<std::uint32_t> array_offset) {
  const Type last = types.back();
  const bool is_array = is_array_type(last.oid);
  std::vector<Type> elements(types.begin(), types.end());
  if (is_array) elements.back() = element_type_of(last);
  std::optional<ResolvedFunction> found = try_resolve_function(name, elements, offset);
  if (!found) throw no_such_function(name, types).at(offset);
  ResolvedFunction resolved = *std::move(found);
  const auto form = spread_forms().find(variadic_form_of(resolved.function));
  if (form == spread_forms().end() || form->first->arguments.size() != types.size()) throw no_such_function(name, types).at(offset);
  const Oid declared = form->first->arguments.back();
  if (declared == oid::kAny) {
    if (!is_array) throw SqlError(sqlstate::kDatatypeMismatch, "VARIADIC argument must be an array").at(array_offset);
    resolved.arguments.back() = last;
  } else {
    const bool fits = last.oid == oid::kUnknown || (is_array && element_type_of(last).oid == declared);
    if (!fits) throw no_such_function(name, types).at(offset);
    resolved.arguments.back() = Type{array_type_over(declared)};
  }
  resolved.function = &form->second;
  return resolved;
}

}  // namespace redquel::sql
