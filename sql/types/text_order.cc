#include "sql/types/text_order.h"

#include "sql/types/structured_compare.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

int compare_text_form(Oid type, std::string_view a, std::string_view b) { return operations_of(type).compare_texts(Type{type}, a, b); }

bool equal_text_form(Oid type, std::string_view a, std::string_view b) {
  return a == b || (!has_textual_equality(type) && compare_text_form(type, a, b) == 0);
}

std::uint64_t hash_text_form(Oid type, std::string_view value) { return operations_of(type).hash_text(Type{type}, value); }

bool compares_as_bytes(Oid type) { return operations_of(type).compares_as_bytes; }

bool has_ordered_form(Type type) { return operations_of(type.oid).has_ordered_form(type); }

}  // namespace redquel::sql
