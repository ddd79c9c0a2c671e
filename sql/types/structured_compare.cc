#include "sql/types/structured_compare.h"

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

bool is_structured(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->operations->is_structured;
}

bool has_textual_equality(Oid type) { return operations_of(type).has_textual_equality(Type{type}); }

int compare_elements(Oid type, std::string_view a, std::string_view b) {
  // The text of bytea is in the order of its bytes, too.
  if (is_kept_as_text(type) || type == oid::kBytea) return compare_text_form(type, a, b);
  return compare(Type{type}, parse_value(Type{type}, a, {}), parse_value(Type{type}, b, {}));
}

bool equal_elements(Oid type, std::string_view a, std::string_view b) {
  if (a == b) return true;
  return !has_textual_equality(type) && compare_elements(type, a, b) == 0;
}

std::uint64_t hash_element(Oid type, std::string_view text) {
  if (storage_of(Type{type}) == Storage::kText) return hash_text_form(type, text);
  return hash(Type{type}, parse_value(Type{type}, text, {}));
}

std::uint64_t postgres_hash_of(Type type, const Datum& value, HashSeed seed) {
  const auto hash = operations_of(type.oid).postgres_hash;
  if (hash != nullptr) return hash(type, value, seed);
  throw SqlError(sqlstate::kUndefinedFunction,
                 std::string("could not identify ") + (seed.extended ? "an extended" : "a") + " hash function for type " + format_type(type));
}

std::uint64_t postgres_hash_of_stored(Type type, std::optional<std::string_view> text, HashSeed seed) {
  return text ? postgres_hash_of(type, stored_value(type, *text), seed) : 0;
}

}  // namespace redquel::sql
