// Functions of information_schema's views and of tools that copy their queries: information_schema._pg_char_max_length() and others.

#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/system_tables/type_properties.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;
using Int = std::int32_t;
using Number = std::optional<Int>;

template <std::optional<Int> TypeProperties::*property>
Number number_of(Int type, Int modifier) {
  return type_properties(Type{static_cast<Oid>(type), modifier}).*property;
}

std::optional<std::string> interval_fields(Int type, Int modifier) { return type_properties(Type{static_cast<Oid>(type), modifier}).interval_type; }

std::string field_named(const RowValue& row, Text name) {
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (row.name_of(i) == name) return std::string(row.fields[i].value_or(""));
  }
  return {};
}

/// A row of pg_attribute and that of its type in pg_type: what a column of a domain is made of, else its own.
template <bool modifier>
Int true_type(Text attribute, Text type) {
  const RowValue column = read_row(oid::kRecord, attribute), its_type = read_row(oid::kRecord, type);
  const bool is_domain = field_named(its_type, "typtype") == "d";
  const std::string text = is_domain ? field_named(its_type, modifier ? "typtypmod" : "typbasetype")
                                     : field_named(column, modifier ? "atttypmod" : "atttypid");
  return text.empty() ? 0 : static_cast<Int>(std::stoll(text));
}

}  // namespace

std::vector<ScalarFunction> information_functions() {
  constexpr Type kRow{oid::kRecord};
  return {
      scalar<true_type<false>>("information_schema._pg_truetypid", {kRow, kRow}, kOidType),
      scalar<true_type<true>>("information_schema._pg_truetypmod", {kRow, kRow}, kInt4),
      scalar<number_of<&TypeProperties::maximum_length>>("information_schema._pg_char_max_length", {kOidType, kInt4}, kInt4),
      scalar<number_of<&TypeProperties::octet_length>>("information_schema._pg_char_octet_length", {kOidType, kInt4}, kInt4),
      scalar<number_of<&TypeProperties::precision>>("information_schema._pg_numeric_precision", {kOidType, kInt4}, kInt4),
      scalar<number_of<&TypeProperties::radix>>("information_schema._pg_numeric_precision_radix", {kOidType, kInt4}, kInt4),
      scalar<number_of<&TypeProperties::scale>>("information_schema._pg_numeric_scale", {kOidType, kInt4}, kInt4),
      scalar<number_of<&TypeProperties::datetime_precision>>("information_schema._pg_datetime_precision", {kOidType, kInt4}, kInt4),
      scalar<interval_fields>("information_schema._pg_interval_type", {kOidType, kInt4}, kText),
  };
}

}  // namespace redquel::sql
