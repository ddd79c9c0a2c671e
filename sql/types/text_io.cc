#include "sql/types/text_io.h"

#include <algorithm>
#include <utility>

#include "sql/functions/characters.h"
#include "sql/types/array_value.h"
#include "sql/types/byte_text.h"
#include "sql/types/type_operations.h"
#include "sql/types/varlena.h"

namespace redquel::sql {

Datum parse_value(Type type, std::string_view text, const SessionSettings& settings, Now now) {
  return operations_of(type.oid).parse({type, text, settings, now});
}

void append_parsed(Column& column, std::string_view text, const SessionSettings& settings, Now now) {
  operations_of(column.type().oid).append_parsed({column.type(), text, settings, now}, column);
}

void append_stored(Column& column, std::span<const std::string_view> texts, std::span<const std::uint8_t> nulls) {
  operations_of(column.type().oid).append_stored(column.type(), texts, nulls, column);
}

bool has_modifier_effect(Type type) {
  if (type.modifier < 0) return false;
  if (const ModifierOperations* modifier = operations_of(type.oid).modifier) return modifier->has_effect(type.modifier);
  return is_array_type(type.oid) && has_modifier_effect(element_type_of(type));
}

Datum apply_modifier(Type type, Datum value, bool explicit_cast) {
  if (is_null(value) || !has_modifier_effect(type)) return value;
  if (const ModifierOperations* modifier = operations_of(type.oid).modifier) return modifier->apply(type, std::move(value), explicit_cast);
  return apply_element_modifier(type, std::get<std::string>(value), explicit_cast);
}

void append_padding(Type type, std::string_view value, std::string& out) {
  if (type.modifier < kVarlenaHeader) return;
  const auto wanted = static_cast<std::size_t>(type.modifier - kVarlenaHeader);
  const std::size_t length = utf8_length(value);
  if (length >= wanted) return;
  check_text_size(value.size() + wanted - length);
  out.append(wanted - length, ' ');
}

void format_value(Type type, const Datum& value, const SessionSettings& settings, std::string& out) {
  if (!is_null(value)) operations_of(type.oid).format(type, value, settings, out);
}

std::string format_value(Type type, const Datum& value, const SessionSettings& settings) {
  std::string out;
  format_value(type, value, settings, out);
  return out;
}

void format_value(const Column& column, std::size_t row, const SessionSettings& settings, std::string& out) {
  const Type type = column.type();
  const TypeOperations& operations = operations_of(type.oid);
  if (!column.is_encoded()) {
    operations.format_row(column, row, settings, out);
    return;
  }
  const std::string_view text = column.get<std::string_view>(row);
  if (operations.prints_stored_form(type, settings)) {
    out += text;
  } else {
    operations.format(type, operations.parse({type, text, {}, {}}), settings, out);
  }
}

bool is_kept_as_text(Oid type) { return operations_of(type).is_kept_as_text; }

Datum stored_value(Type type, std::string_view text) {
  // Not checked: while a type changes, values of its new form are there before it is known.
  if (is_kept_as_text(type.oid)) return std::string(text);
  return parse_value(type, text, {});
}

bool output_depends_on_settings(Type type) { return operations_of(type.oid).depends_on_settings(type); }

bool output_is_storage_form(Type type, const SessionSettings& settings) {
  return operations_of(type.oid).prints_stored_form(type, settings);
}

}  // namespace redquel::sql
