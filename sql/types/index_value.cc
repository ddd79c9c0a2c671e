#include "sql/types/index_value.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "sql/types/text_io.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

std::string canonical_text(Type type, const Datum& value) {
  assert(!is_null(value));
  const TypeOperations& operations = operations_of(type.oid);
  return operations.canonical != nullptr ? operations.canonical(type, value) : format_value(type, value);
}

bool canonical_text_is_output(Type type) {
  const TypeOperations& operations = operations_of(type.oid);
  return operations.canonical_is_output != nullptr ? operations.canonical_is_output(type) : operations.has_textual_equality(type);
}

bool has_score(Type type) { return operations_of(type.oid).index_order != IndexOrder::kLexical; }

bool score_is_exact(Type type) { return operations_of(type.oid).index_order == IndexOrder::kExactScore; }

double score_of(Type type, const Datum& value) {
  assert(has_score(type));
  return operations_of(type.oid).score(value);
}

std::string ordered_score(Type type, const Datum& value) {
  const double score = score_of(type, value);
  if (std::isinf(score)) return score > 0 ? "+inf" : "-inf";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, score);
  return {buffer, static_cast<std::size_t>(result.ptr - buffer)};
}

std::string ordered_member_prefix(Type type, const Datum& value) {
  assert(!has_score(type) && !is_null(value));
  const TypeOperations& operations = operations_of(type.oid);
  std::string prefix = operations.ordered_bytes != nullptr ? operations.ordered_bytes(type, value) : format_value(type, value);
  if (prefix.size() > kMaxOrderedPrefix) prefix.resize(kMaxOrderedPrefix);
  return prefix;
}

}  // namespace redquel::sql
