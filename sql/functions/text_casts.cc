// Casts among text types (pg_cast), and to text where the output function would say it differently.

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/padded_text.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/conversions.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

CastFunction relabel(Type source, Type target, CastContext context = CastContext::kImplicit) {
  return {source.oid, target.oid, context, nullptr, Volatility::kImmutable};
}
Text unchanged(Text text) { return text; }

/// Prints like "char": bytes above 127 as \ooo.
void text_from_char(Text value, std::string& out) { format_value(kChar, std::string(value), {}, out); }

/// "char" is one byte as a number: signed.
std::int32_t int4_from_char(Text value) {
  return value.empty() ? 0 : static_cast<std::int32_t>(static_cast<signed char>(value[0]));
}
std::string char_from_int4(std::int32_t value) {
  if (value < -128 || value > 127) throw SqlError(sqlstate::kNumericValueOutOfRange, "\"char\" out of range");
  if (value == 0) return {};
  return std::string(1, static_cast<char>(value));
}

}  // namespace

std::vector<CastFunction> text_casts() {
  constexpr auto implicit = CastContext::kImplicit;
  constexpr auto assignment = CastContext::kAssignment;
  return {
      cast<text_from_bool>(kBool, kText, assignment),
      cast<text_from_bool>(kBool, kVarchar, assignment),
      cast<text_from_bool>(kBool, kBpchar, assignment),
      relabel(Type{oid::kNodeTree}, kText),
      relabel(kText, kVarchar),
      relabel(kText, kBpchar),
      relabel(kVarchar, kText),
      relabel(kVarchar, kBpchar),
      cast<without_trailing_blanks>(kBpchar, kText, implicit),
      cast<without_trailing_blanks>(kBpchar, kVarchar, implicit),
      cast<name_from_text>(kText, kName, implicit),
      cast<name_from_text>(kVarchar, kName, implicit),
      cast<[](Text value) { return name_from_text(without_trailing_blanks(value)); }>(kBpchar, kName, implicit),
      cast<unchanged>(kName, kText, implicit),
      cast<unchanged>(kName, kVarchar, assignment),
      cast<unchanged>(kName, kBpchar, assignment),
      cast<text_from_char>(kChar, kText, implicit),
      cast<text_from_char>(kChar, kVarchar, assignment),
      cast<text_from_char>(kChar, kBpchar, assignment),
      cast<char_from_text>(kText, kChar, assignment),
      cast<char_from_text>(kVarchar, kChar, assignment),
      {oid::kBpchar, oid::kChar, assignment, over_padded<kernel_of<char_from_text>()>, Volatility::kImmutable},
      relabel(kCitext, kText),
      relabel(kCitext, kVarchar),
      relabel(kCitext, kBpchar, assignment),
      relabel(kText, kCitext, assignment),
      relabel(kVarchar, kCitext, assignment),
      cast<without_trailing_blanks>(kBpchar, kCitext, assignment),
      cast<text_from_bool>(kBool, kCitext, assignment),
      cast<int4_from_char>(kChar, kInt4, CastContext::kExplicit),
      cast<char_from_int4>(kInt4, kChar, CastContext::kExplicit),
  };
}

}  // namespace redquel::sql
