#include "sql/types/compare.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "sql/ascii.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

int compare_text(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0) return order;
  return (a.size() > b.size()) - (a.size() < b.size());
}

int compare_citext(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a, b, {}, to_lower, to_lower);
  if (in_a == a.end() || in_b == b.end()) return (a.size() > b.size()) - (a.size() < b.size());
  const auto byte_a = static_cast<unsigned char>(to_lower(*in_a)), byte_b = static_cast<unsigned char>(to_lower(*in_b));
  return byte_a < byte_b ? -1 : 1;
}

int compare_bpchar(std::string_view a, std::string_view b) {
  return compare_text(without_trailing_blanks(a), without_trailing_blanks(b));
}

int compare_floats(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return (a > b) - (a < b);
}

int compare(Type type, const Datum& a, const Datum& b) {
  assert(a.index() == b.index() && !is_null(a));
  return operations_of(type.oid).compare(type, a, b);
}

int compare(const Column& a, std::size_t row_a, const Column& b, std::size_t row_b) {
  return operations_of(a.type().oid).compare_rows(a, row_a, b, row_b);
}

std::uint64_t hash(Type type, const Datum& value) { return is_null(value) ? 0 : operations_of(type.oid).hash(type, value); }

std::uint64_t hash(const Column& column, std::size_t row) { return operations_of(column.type().oid).hash_row(column, row); }

}  // namespace redquel::sql
