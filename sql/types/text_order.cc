#include "sql/types/text_order.h"

#include <algorithm>
#include <functional>

#include "sql/types/array_value.h"
#include "sql/types/compare.h"
#include "sql/types/jsonb.h"
#include "sql/types/row_value.h"
#include "sql/types/structured_compare.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {

int compare_text_form(Oid type, std::string_view a, std::string_view b) {
  switch (type) {
    case oid::kText:
    case oid::kVarchar:
    case oid::kName:
    case oid::kBytea:
      return compare_text(a, b);
    case oid::kBpchar:
      return compare_bpchar(a, b);
    case oid::kJsonb:
      return compare_jsonb(a, b);
    default:
      return is_structured(type) ? compare_structured(type, a, b) : compare_text(a, b);
  }
}

bool equal_text_form(Oid type, std::string_view a, std::string_view b) {
  return a == b || (!has_textual_equality(type) && compare_text_form(type, a, b) == 0);
}

std::uint64_t hash_text_form(Oid type, std::string_view value) {
  if (type == oid::kJsonb) return hash_jsonb(value);
  if (type == oid::kBpchar) value = without_trailing_blanks(value);
  if (is_structured(type) && !has_textual_equality(type)) return hash_structured(type, value);
  return std::hash<std::string_view>()(value);
}

bool compares_as_bytes(Oid type) { return type != oid::kJsonb && type != oid::kBpchar && !is_structured(type); }

bool has_ordered_form(Type type) {
  if (is_composite_type(type.oid)) {
    return std::ranges::all_of(find_user_type(type.oid)->fields, [](const CompositeField& field) { return has_ordered_form(field.type); });
  }
  return is_array_type(type.oid) ? has_ordered_form(element_type_of(type)) : type.oid != oid::kJsonb;
}

}  // namespace redquel::sql
