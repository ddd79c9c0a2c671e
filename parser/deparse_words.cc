#include "parser/sql_writer.h"

namespace redquel::parser {

bool SqlWriter::call_in_words(std::string_view function, const std::vector<ast::Argument>& arguments) {
  const std::size_t count = arguments.size();
  const auto value = [&](std::size_t i) { unconverted(*arguments[i].value); };
  const auto* field = count == 0 ? nullptr : std::get_if<ast::StringLiteral>(&arguments[0].value->node);
  const auto* form = count == 2 ? std::get_if<ast::StringLiteral>(&arguments[1].value->node) : nullptr;
  const auto call = [&](std::string_view opening, std::initializer_list<std::string_view> words) {
    *this << opening;
    std::size_t i = 0;
    for (const std::string_view before : words) {
      if (i == count) break;
      *this << before;
      value(i++);
    }
    *this << ")";
  };
  if (function == "timezone" && count == 2) {
    *this << "(";
    operand(*arguments[1].value);
    *this << " AT TIME ZONE ";
    operand(*arguments[0].value);
    *this << ")";
  } else if (function == "extract" && count == 2 && field != nullptr) {
    *this << "EXTRACT(";
    name(field->value);
    *this << " FROM ";
    value(1);
    *this << ")";
  } else if (function == "normalize" && (count == 1 || form != nullptr)) {
    *this << "NORMALIZE(";
    value(0);
    if (form != nullptr) *this << ", " << form->value;
    *this << ")";
  } else if (function == "is_normalized" && (count == 1 || form != nullptr)) {
    *this << "(";
    operand(*arguments[0].value);
    *this << " IS ";
    if (form != nullptr) *this << form->value << " ";
    *this << "NORMALIZED)";
  } else if (function == "pg_collation_for" && count == 1) {
    call("COLLATION FOR (", {""});
  } else if (function == "overlaps" && count == 4) {
    call("((", {"", ", ", ") OVERLAPS (", ", "});
    *this << ")";
  } else if (function == "position" && count == 2) {
    *this << "POSITION((";
    value(1);
    *this << ") IN (";
    value(0);
    *this << "))";
  } else if (function == "overlay" && count >= 3) {
    call("OVERLAY(", {"", " PLACING ", " FROM ", " FOR "});
  } else if (function == "substring" && count >= 2) {
    call("SUBSTRING(", {"", " FROM ", " FOR "});
  } else if (function == "btrim" || function == "ltrim" || function == "rtrim") {
    *this << (function == "btrim" ? "TRIM(BOTH" : function == "ltrim" ? "TRIM(LEADING" : "TRIM(TRAILING");
    if (count > 1) {
      *this << " ";
      value(1);
    }
    *this << " FROM ";
    value(0);
    *this << ")";
  } else {
    return false;
  }
  return true;
}

}  // namespace redquel::parser
