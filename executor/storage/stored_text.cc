#include "executor/storage/stored_text.h"

#include "sql/types/compare.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

void append_stored_text(sql::Type type, const sql::Datum& value, std::string& out) {
  static const sql::SessionSettings kStorageForm;
  const std::size_t before = out.size();
  sql::format_value(type, value, kStorageForm, out);
  if (type.oid == sql::oid::kBpchar) {
    out.resize(before + sql::without_trailing_blanks(std::string_view(out).substr(before)).size());
  }
}

sql::Datum parse_stored_text(sql::Type type, std::string_view text) {
  static const sql::SessionSettings kStorageForm;
  sql::Datum value = sql::parse_value(type, text, kStorageForm);
  return type.oid == sql::oid::kBpchar ? sql::apply_modifier(type, std::move(value), true) : value;
}

}  // namespace redquel::executor
