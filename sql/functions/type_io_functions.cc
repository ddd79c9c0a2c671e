// The functions that read and print the text forms of types (pg_type.typinput, typoutput): int4in('1'), numeric_out(1.5).

#include <fmt/format.h>

#include <limits>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/polymorphic.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// The text, and for types with a modifier the element type (of no use here) and the modifier.
ColumnPtr input(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const Now now = context.transaction_timestamp;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    Type type{result.oid};
    if (arguments.size() == 3) type.modifier = arguments[2]->get<std::int32_t>(row);
    column.append_datum(apply_modifier(type, parse_value(type, arguments[0]->get<std::string_view>(row), *context.settings, now), false));
  });
}

/// array_in(text, oid of the element type, modifier), enum_in(text, oid) and their like: read as the type that the oid names.
template <Oid kind>
ColumnPtr input_of_named_type(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const auto is_kind = [](Oid type) {
    switch (kind) {
      case oid::kAnyArray: return is_array_type(type);
      case oid::kAnyEnum: return is_enum_type(type);
      case oid::kAnyRange: return is_range_type(type);
      case oid::kAnyMultirange: return is_multirange_type(type);
      default: return is_composite_type(type) || type == oid::kRecord;
    }
  };
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const auto named = static_cast<Oid>(arguments[1]->get<std::int32_t>(row));
    if (find_type(named) == nullptr) throw SqlError(sqlstate::kUndefinedObject, "type with OID " + std::to_string(named) + " does not exist");
    Type type{kind == oid::kAnyArray ? array_type_over(named) : named};
    const std::string_view text = arguments[0]->get<std::string_view>(row);
    if (!is_kind(type.oid)) {
      if (kind == oid::kAnyEnum) {
        throw SqlError(sqlstate::kInvalidTextRepresentation,
                       "invalid input value for enum " + format_type(type) + ": \"" + std::string(text) + "\"");
      }
      throw SqlError(sqlstate::kWrongObjectType, "type " + format_type(Type{named}) + " is not " +
                                                     (kind == oid::kRecord ? "composite" : "of the kind that the function reads"));
    }
    if (arguments.size() == 3) type.modifier = arguments[2]->get<std::int32_t>(row);
    const std::string stored = std::get<std::string>(apply_modifier(type, read_value(type, text, context), false));
    column.append(is_composite_type(type.oid) ? row_text(oid::kRecord, read_row(type.oid, stored)) : stored);
  });
}

/// regclassin('pg_class') and its like, for which the catalog is asked.
ColumnPtr object_input(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(static_cast<std::int32_t>(parse_object_name(result, arguments[0]->get<std::string_view>(row), context)));
  });
}
ColumnPtr object_output(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(object_name(arguments[0]->type(), static_cast<Oid>(arguments[0]->get<std::int32_t>(row)), context));
  });
}

/// A value, the modifier, and for some types whether what is too long is cut.
/// Throws 22023 for a precision that no declaration can have.
void check_precision(Type type, const Datum& timestamp) {
  if ((type.oid != oid::kTimestamp && type.oid != oid::kTimestamptz) || type.modifier == -1) return;
  if ((type.modifier >= 0 && type.modifier <= 6) || !is_finite_timestamp(std::get<std::int64_t>(timestamp))) return;
  throw SqlError(sqlstate::kInvalidParameterValue,
                 fmt::format("timestamp({}) precision must be between 0 and 6", type.modifier));
}

ColumnPtr coerce_length(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Type type{result.oid, arguments[1]->get<std::int32_t>(row)};
    constexpr std::int32_t kMostBits = std::numeric_limits<std::int32_t>::max() - 7;
    const bool is_bits = type.oid == oid::kBit || type.oid == oid::kVarbit;
    Datum value = arguments[0]->datum(row);
    if (is_bits && (type.modifier <= 0 || type.modifier > kMostBits)) return column.append_datum(value);  // no length
    check_precision(type, value);
    column.append_datum(apply_modifier(type, std::move(value), arguments.size() < 3 || arguments[2]->get<bool>(row)));
  });
}

ColumnPtr output(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  std::string text;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    text.clear();
    format_value(*arguments[0], row, *context.settings, text);
    column.append(std::string_view(text));
  });
}

/// The input and output functions that a type's row names. An input function of a type with a modifier has it as its third argument.
void add_text_form(const TypeRow& row, std::vector<ScalarFunction>& table) {
  const Type type{row.type.oid};
  const TypeFunctionNames& names = row.functions;
  const TypeOperations& operations = *row.type.operations;
  const Volatility volatility = names.is_stable ? kStable : Volatility::kImmutable;
  if (!names.input.empty()) {
    const Kernel kernel = operations.names_objects ? object_input : input;
    table.push_back(operations.modifier != nullptr ? column_function(names.input, {kCstring, kOidType, kInt4}, type, kernel, volatility, true)
                                                   : column_function(names.input, {kCstring}, type, kernel, volatility, true));
  }
  if (names.output.empty()) return;
  table.push_back(column_function(names.output, {type}, kCstring, operations.names_objects ? object_output : output, volatility, true));
}

/// The function that casts a value to the modifier of its type: varchar(varchar, integer, boolean).
void add_length_coercion(const TypeInfo& info, std::vector<ScalarFunction>& table) {
  if (info.operations->modifier == nullptr) return;
  const Type type{info.oid};
  table.push_back(info.operations->modifier->may_cut
                      ? column_function(info.name, {type, kInt4, kBool}, type, coerce_length, Volatility::kImmutable, true)
                      : column_function(info.name, {type, kInt4}, type, coerce_length, Volatility::kImmutable, true));
}

}  // namespace

std::vector<ScalarFunction> type_io_functions() {
  std::vector<ScalarFunction> table;
  for (const std::span<const TypeRow> family : type_families()) {
    for (const TypeRow& row : family) {
      add_text_form(row, table);
      add_length_coercion(row.type, table);
    }
  }
  const auto add_input = [&](std::string_view name, Oid kind, Kernel kernel) {
    table.push_back(kind == oid::kAnyEnum ? column_function(name, {kCstring, kOidType}, Type{kind}, kernel, kStable, true)
                                          : column_function(name, {kCstring, kOidType, kInt4}, Type{kind}, kernel, kStable, true));
  };
  add_input("array_in", oid::kAnyArray, input_of_named_type<oid::kAnyArray>);
  add_input("enum_in", oid::kAnyEnum, input_of_named_type<oid::kAnyEnum>);
  add_input("range_in", oid::kAnyRange, input_of_named_type<oid::kAnyRange>);
  add_input("multirange_in", oid::kAnyMultirange, input_of_named_type<oid::kAnyMultirange>);
  add_input("record_in", oid::kRecord, input_of_named_type<oid::kRecord>);
  return table;
}

}  // namespace redquel::sql
