// Rows as values: ROW(…), their fields, their comparison (manual 4.2.13, 8.16, 9.24).

#include "sql/functions/row_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/part_text.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

Type plain(Type type) { return Type{type.oid}; }

/// Writes rows of values; what stands in front of them is the same for all rows.
class RowWriter {
 public:
  RowWriter(Oid type, Arguments fields, const std::vector<std::string>& names = {}) : fields_(fields) {
    RowValue shape;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      shape.add(plain(fields[i]->type()), std::nullopt, names.empty() ? std::string() : names[i]);
    }
    head_ = row_text(type, shape);
    head_.resize(head_.find('(') + 1);
  }

  std::string_view write(std::size_t row) {
    text_ = head_;
    for (const ColumnPtr& field : fields_) {
      if (const std::optional<std::string_view> value = element_at(*field, row, element_)) append_part(*value, kRowSigns, text_);
      text_ += ',';
    }
    if (fields_.empty()) text_ += ')';
    text_.back() = ')';
    return text_;
  }

 private:
  Arguments fields_;
  std::string head_, text_, element_;
};

ColumnPtr construct(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  RowWriter writer(result.oid, arguments);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) { column.append(writer.write(row)); });
}

/// `null_extended`: a row whose fields are all NULL is no row.
template <bool null_extended>
ColumnPtr construct_named(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::vector<std::string> names;
  if (rows > 0) {
    for (const auto& name : array_at(*arguments[0], 0).elements) names.emplace_back(name.value_or(""));
  }
  if (rows == 0) return each_row(arguments, rows, result, [](Column&, std::size_t) {});
  const Arguments fields = arguments.subspan(1);
  RowWriter writer(result.oid, fields, names);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const bool exists = !null_extended || !std::ranges::all_of(fields, [&](const ColumnPtr& field) { return field->is_null(row); });
    if (exists) {
      column.append(writer.write(row));
    } else {
      column.append_null();
    }
  });
}

std::size_t place_at(const Column& column, std::size_t row) { return static_cast<std::size_t>(column.get<std::int32_t>(row)); }

ColumnPtr field(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RowValue value = read_row(arguments[0]->type().oid, arguments[0]->get<std::string_view>(row));
    append_element(column, value.fields.at(place_at(*arguments[1], row)));
  });
}

/// 42804 for a record whose fields are not the declared ones.
void check_declared(const RowValue& value, const Column& declared, std::size_t row) {
  const auto types = array_at(declared, row).elements;
  const auto refuse = [](std::string detail) {
    return SqlError(sqlstate::kDatatypeMismatch, "function return row and query-specified return row do not match")
        .detail(std::move(detail));
  };
  if (value.fields.size() != types.size()) {
    throw refuse(fmt::format("Returned row contains {} attribute{}, but query expects {}.", value.fields.size(),
                             value.fields.size() == 1 ? "" : "s", types.size()));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto wanted = static_cast<Oid>(std::stoul(std::string(types[i].value_or("0"))));
    if (value.types[i].oid == wanted) continue;
    throw refuse(fmt::format("Returned type {} at ordinal position {}, but query expects {}.",
                             format_type(plain(value.types[i])), i + 1, format_type(Type{wanted})));
  }
}

ColumnPtr field_as_declared(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RowValue value = read_row(arguments[0]->type().oid, arguments[0]->get<std::string_view>(row));
    check_declared(value, *arguments[2], row);
    append_element(column, value.fields.at(place_at(*arguments[1], row)));
  });
}

ColumnPtr with_field(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::string text;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const bool is_new = arguments[0]->is_null(row);
    RowValue before;
    if (!is_new) before = read_row(result.oid, arguments[0]->get<std::string_view>(row));
    RowValue after;
    const std::vector<CompositeField>& fields = user_type(result.oid).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i == place_at(*arguments[1], row)) {
        after.add(plain(fields[i].type), element_at(*arguments[2], row, text));
      } else {
        after.add(plain(fields[i].type), is_new ? std::nullopt : before.fields[i]);
      }
    }
    column.append(row_text(result.oid, after));
  });
}

/// `wanted`: whether the fields must be NULL.
template <bool wanted>
ColumnPtr all_null(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    if (arguments[0]->is_null(row)) {
      column.append(wanted);
      return;
    }
    const RowValue value = read_row(arguments[0]->type().oid, arguments[0]->get<std::string_view>(row));
    bool holds = true;
    for (const auto& item : value.fields) holds = holds && item.has_value() != wanted;
    column.append(holds);
  });
}

/// Returns the row with the target's declared fields; fields of other types are converted through their texts.
RowValue convert_row(const RowValue& from, Type target, const EvaluationContext& context) {
  const std::vector<CompositeField>& fields = user_type(target.oid).fields;
  if (from.fields.size() != fields.size()) {
    throw SqlError(sqlstate::kCannotCoerce, fmt::format("cannot cast type record to {}", format_type(plain(target))))
        .detail(from.fields.size() < fields.size() ? "Input has too few columns." : "Input has too many columns.");
  }
  RowValue to;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type type = fields[i].type;
    std::optional<std::string> stored;
    if (from.fields[i]) {
      Datum value = stored_value(from.types[i], *from.fields[i]);
      if (from.types[i].oid != type.oid) value = parse_value(type, format_value(from.types[i], value), *context.settings);
      stored = format_value(plain(type), apply_modifier(type, std::move(value), true));
    }
    to.add(plain(type), stored);
  }
  return to;
}

ColumnPtr cast_row(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    RowValue value = read_row(arguments[0]->type().oid, arguments[0]->get<std::string_view>(row));
    if (result.oid != oid::kRecord) value = convert_row(value, result, context);
    column.append(row_text(result.oid, value));
  });
}

template <class Operator>
ColumnPtr compare_records(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid type = arguments[0]->type().oid;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const int order = compare_text_form(type, arguments[0]->get<std::string_view>(row), arguments[1]->get<std::string_view>(row));
    column.append(Operator{}(order, 0));
  });
}

constexpr Type kRecord{oid::kRecord};

}  // namespace

const ScalarFunction& row_constructor() {
  static const ScalarFunction function = column_function("ROW", {kAny}, kRecord, construct, Volatility::kImmutable, false, true);
  return function;
}

const ScalarFunction& named_row_constructor() {
  static const ScalarFunction function =
      column_function("ROW", {Type{oid::kTextArray}, kAny}, kRecord, construct_named<false>, Volatility::kImmutable, false, true);
  return function;
}

const ScalarFunction& null_extended_row_constructor() {
  static const ScalarFunction function =
      column_function("ROW", {Type{oid::kTextArray}, kAny}, kRecord, construct_named<true>, Volatility::kImmutable, false, true);
  return function;
}

const ScalarFunction& row_field() {
  static const ScalarFunction function = column_function("field", {kRecord, kInt4}, kAny, field, Volatility::kImmutable, true);
  return function;
}

const ScalarFunction& declared_field() {
  static const ScalarFunction function = column_function("field", {kRecord, kInt4, Type{oid::kTextArray}}, kAny,
                                                         field_as_declared, Volatility::kImmutable, true);
  return function;
}

const ScalarFunction& row_with_field() {
  static const ScalarFunction function =
      column_function("with_field", {kRecord, kInt4, kAny}, kRecord, with_field, Volatility::kImmutable, false);
  return function;
}

const ScalarFunction& row_is_null() {
  static const ScalarFunction function = column_function("row_is_null", {kRecord}, kBool, all_null<true>, Volatility::kImmutable, false);
  return function;
}

const ScalarFunction& row_is_not_null() {
  static const ScalarFunction function =
      column_function("row_is_not_null", {kRecord}, kBool, all_null<false>, Volatility::kImmutable, false);
  return function;
}

const CastFunction& row_cast() {
  static const CastFunction function{0, 0, CastContext::kImplicit, cast_row, Volatility::kStable};
  return function;
}

std::vector<ScalarFunction> row_functions() {
  const auto row = [&](std::string_view name, Kernel kernel) {
    return column_function(name, {kRecord, kRecord}, kBool, kernel, Volatility::kImmutable, true);
  };
  return {
      row("=", compare_records<std::equal_to<>>), row("<>", compare_records<std::not_equal_to<>>),
      row("<", compare_records<std::less<>>),     row("<=", compare_records<std::less_equal<>>),
      row(">", compare_records<std::greater<>>),  row(">=", compare_records<std::greater_equal<>>),
  };
}

}  // namespace redquel::sql
