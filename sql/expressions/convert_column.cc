#include "sql/expressions/convert_column.h"

#include <cassert>

#include "sql/functions/object_names.h"
#include "sql/functions/padded_text.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// Types that take every text as it is.
bool is_plain_text(Type type) {
  return type.oid == oid::kText || type.oid == oid::kVarchar || type.oid == oid::kBpchar;
}

bool reads_as_text(Type type) { return is_plain_text(type) || type.oid == oid::kUnknown || type.oid == oid::kName; }

ColumnPtr convert_rows(const Column& column, Type target, std::size_t rows, const EvaluationContext& context) {
  Column result(target);
  result.reserve(rows);
  std::string text;
  const bool names = is_object_name_type(column.type().oid);
  for (std::size_t row = 0; row < rows; ++row) {
    if (column.is_null(row)) {
      result.append_null();
      continue;
    }
    std::string_view form;
    if (reads_as_text(column.type())) {
      form = column.get<std::string_view>(row);
    } else if (names) {
      form = text = object_name(column.type(), static_cast<Oid>(column.get<std::int32_t>(row)), context);
    } else if (shows_object_names(column.type().oid)) {
      form = text = object_names(column.type(), column.get<std::string_view>(row), context);
    } else {
      text.clear();
      format_value(column, row, *context.settings, text);
      form = text;
    }
    if (is_plain_text(target)) {
      result.append(form);
    } else if (is_object_name_type(target.oid)) {
      result.append(static_cast<std::int32_t>(parse_object_name(target, form, context)));
    } else if (shows_object_names(target.oid)) {
      result.append(read_object_names(target, form, context));
    } else {
      append_parsed(result, form, *context.settings, context.transaction_timestamp);
    }
  }
  return std::make_shared<const Column>(std::move(result));
}

/// No value of the column is longer than its varchar(n) allows.
bool fits(const Column& column, std::size_t characters) {
  const std::vector<std::string_view>& values = column.values<std::string_view>();
  for (std::string_view value : values) {
    if (value.size() > characters && utf8_length(value) > characters) return false;
  }
  return true;
}

}  // namespace

ColumnPtr convert_through_text(const ColumnPtr& column, Type target, const EvaluationContext& context) {
  assert(context.settings != nullptr);
  const std::size_t rows = column->size();
  if (is_plain_text(target) && reads_as_text(column->type())) {
    return std::make_shared<const Column>(column->retyped(target));
  }
  // The reader of the text gets a char(n) with its blanks.
  if (column->type().oid == oid::kBpchar && column->type().modifier >= 0) {
    return convert_through_text(std::make_shared<const Column>(with_padding(column)->retyped(kText)), target, context);
  }
  if (!column->is_constant() || rows == 0) return convert_rows(*column, target, rows, context);
  return std::make_shared<const Column>(
      Column::constant(target, convert_rows(*column, target, 1, context)->datum(0), rows));
}

ColumnPtr apply_modifier(const ColumnPtr& column, Type target, bool is_explicit) {
  const std::size_t rows = column->size();
  if (!has_modifier_effect(target) ||
      (target.oid == oid::kVarchar && fits(*column, static_cast<std::size_t>(target.modifier - 4)))) {
    return std::make_shared<const Column>(column->retyped(target));
  }
  if (column->is_constant()) {
    Datum value = rows == 0 ? Datum{} : apply_modifier(target, column->datum(0), is_explicit);
    return std::make_shared<const Column>(Column::constant(target, value, rows));
  }
  if (target.oid == oid::kNumeric) {
    std::vector<Numeric> values = column->values<Numeric>();
    for (Numeric& value : values) value = value.with_modifier(target.modifier);
    return std::make_shared<const Column>(Column::from_values(target, std::move(values), column->null_mask()));
  }
  Column result(target);
  result.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    result.append_datum(apply_modifier(target, column->datum(row), is_explicit));
  }
  return std::make_shared<const Column>(std::move(result));
}

}  // namespace redquel::sql
