#include "executor/storage/stored_text.h"

#include "sql/types/compare.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

void append_stored_text(sql::Type type, const sql::Datum& value, std::string& out) {
  static const sql::SessionSettings kStorageForm;
  if (type.oid == sql::oid::kBpchar) {  // its blanks are added when it is printed
    out += sql::without_trailing_blanks(std::get<std::string>(value));
  } else {
    sql::format_value(type, value, kStorageForm, out);
  }
}

sql::Datum parse_stored_text(sql::Type type, std::string_view text) {
  static const sql::SessionSettings kStorageForm;
  sql::Datum value = sql::parse_value(type, text, kStorageForm);
  return type.oid == sql::oid::kBpchar ? sql::apply_modifier(type, std::move(value), true) : value;
}

}  // namespace redquel::executor
