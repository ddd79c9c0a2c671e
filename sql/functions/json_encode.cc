#include "sql/functions/json_encode.h"

#include "sql/error.h"
#include "sql/functions/object_names.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"
#include "sql/types/byte_text.h"
#include "sql/types/json_text.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

/// Behind the date a T; a zone always with its minutes.
void append_iso(Type type, const Datum& value, const EvaluationContext& context, std::string& out) {
  SessionSettings settings = *context.settings;
  settings.date_style = DateStyle::kIso;
  std::string text = format_value(type, value, settings);
  const std::size_t space = text.find(' ');
  if (type.oid != oid::kDate && space != std::string::npos) {
    text[space] = 'T';
    const std::size_t sign = type.oid == oid::kTimestamptz ? text.find_first_of("+-", space) : std::string::npos;
    const std::size_t hours_end = sign == std::string::npos ? sign : sign + 3;
    if (sign != std::string::npos && (hours_end >= text.size() || text[hours_end] != ':')) text.insert(hours_end, ":00");
  }
  out += text;
}

bool is_number_text(std::string_view text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return first < text.size() && text[first] >= '0' && text[first] <= '9';  // not NaN, not Infinity
}

/// The text that stands in the string, or for the number.
void append_text(Type type, const Datum& value, const EvaluationContext& context, std::string& out) {
  const TypeOperations& operations = operations_of(type.oid);
  if (operations.json_form == JsonForm::kBoolean) {
    out += std::get<bool>(value) ? "true" : "false";
  } else if (operations.json_form == JsonForm::kDateTime) {
    append_iso(type, value, context, out);
  } else if (operations.names_objects) {
    out += object_name(type, static_cast<Oid>(std::get<std::int32_t>(value)), context);
  } else {
    format_value(type, value, *context.settings, out);
  }
}

void append_value(Type type, const Datum& value, const EvaluationContext& context, bool line_feeds, std::string& out);

/// The elements below one dimension, beginning with element `next`; line feeds only between those of the outermost.
void append_dimension(Type element, const ArrayValue& array, std::size_t level, std::size_t& next, const EvaluationContext& context,
                      bool line_feeds, std::string& out) {
  out.push_back('[');
  for (std::int32_t i = 0; i < array.dimensions[level].length; ++i) {
    if (i > 0) out += line_feeds ? ",\n " : ",";
    if (level + 1 < array.dimensions.size()) {
      append_dimension(element, array, level + 1, next, context, false, out);
    } else {
      const auto& item = array.elements[next++];
      append_value(element, item ? stored_value(element, *item) : Datum{}, context, false, out);
    }
  }
  out.push_back(']');
}

void append_array(Type type, std::string_view text, const EvaluationContext& context, bool line_feeds, std::string& out) {
  const ArrayValue array = read_array(type.oid, text);
  if (array.elements.empty()) {
    out += "[]";
    return;
  }
  std::size_t next = 0;
  append_dimension(Type{type_info(type.oid).element}, array, 0, next, context, line_feeds, out);
}

/// The fields by name; with line feeds between them.
void append_row_object(Type type, std::string_view text, const EvaluationContext& context, bool line_feeds, std::string& out) {
  const RowValue row = read_row(type.oid, text);
  out.push_back('{');
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (i > 0) out += line_feeds ? ",\n " : ",";
    append_json_string(row.name_of(i), out);
    out.push_back(':');
    const Type field = row.types[i];
    append_value(field, row.fields[i] ? stored_value(field, *row.fields[i]) : Datum{}, context, false, out);
  }
  out.push_back('}');
}

void append_value(Type type, const Datum& value, const EvaluationContext& context, bool line_feeds, std::string& out) {
  check_stack_depth();
  const JsonForm form = operations_of(type.oid).json_form;
  if (is_null(value)) {
    out += "null";
  } else if (form == JsonForm::kJson) {
    out += std::get<std::string>(value);
  } else if (is_row_type(type.oid)) {
    append_row_object(type, std::get<std::string>(value), context, line_feeds, out);
  } else if (is_array_type(type.oid)) {
    append_array(type, std::get<std::string>(value), context, line_feeds, out);
  } else if (form == JsonForm::kBoolean) {
    append_text(type, value, context, out);
  } else {
    std::string text;
    append_text(type, value, context, text);
    if (form == JsonForm::kNumber && is_number_text(text)) {
      out += text;
    } else {
      append_json_string(text, out);
    }
  }
}

}  // namespace

void append_json(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out, bool line_feeds) {
  append_value(column.type(), column.is_null(row) ? Datum{} : column.datum(row), context, line_feeds, out);
}

void append_json_key(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out) {
  const Type type = column.type();
  if (is_json_container_type(type) || operations_of(type.oid).json_form == JsonForm::kJson) {
    throw SqlError(sqlstate::kInvalidParameterValue, "key value must be scalar, not array, composite, or json");
  }
  std::string text;
  append_text(type, column.datum(row), context, text);
  append_json_string(text, out);
}

bool is_json_container_type(Type type) {
  return is_row_type(type.oid) || is_array_type(type.oid);
}

}  // namespace redquel::sql
