// normalize() and IS NORMALIZED (manual 9.4): the four normal forms of Unicode, by utf8proc.

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

utf8proc_option_t form_options(Text form) {
  std::string letters;
  for (const char c : form) letters += to_lower(c);
  constexpr int composed = UTF8PROC_STABLE | UTF8PROC_COMPOSE, decomposed = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  if (letters == "nfc") return static_cast<utf8proc_option_t>(composed);
  if (letters == "nfd") return static_cast<utf8proc_option_t>(decomposed);
  if (letters == "nfkc") return static_cast<utf8proc_option_t>(composed | UTF8PROC_COMPAT);
  if (letters == "nfkd") return static_cast<utf8proc_option_t>(decomposed | UTF8PROC_COMPAT);
  throw SqlError(sqlstate::kInvalidParameterValue, "invalid normalization form: " + std::string(form));
}

void append_normalized(Text text, utf8proc_option_t options, std::string& out) {
  utf8proc_uint8_t* bytes = nullptr;
  const BlockCharge characters(text.size() * sizeof(utf8proc_int32_t));
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &bytes, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) throw SqlError(sqlstate::kInternalError, utf8proc_errmsg(size));  // text of the database is valid UTF-8
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

void normalized(Text text, Text form, std::string& out) {
  const utf8proc_option_t options = form_options(form);
  out.clear();
  // U+11A7 stands before the trailing consonants of Hangul and composes with nothing. utf8proc takes it for one of them and drops it.
  constexpr Text kBeforeTrailing = "\u11A7";
  for (std::size_t end; (end = text.find(kBeforeTrailing)) != Text::npos; text.remove_prefix(end + kBeforeTrailing.size())) {
    append_normalized(text.substr(0, end), options, out);
    out += kBeforeTrailing;
  }
  append_normalized(text, options, out);
}

bool is_normalized(Text text, Text form) {
  std::string same;
  normalized(text, form, same);
  return same == text;
}

}  // namespace

std::vector<ScalarFunction> unicode_functions() {
  return {
      scalar<normalized>("normalize", {kText, kText}, kText),
      scalar<[](Text text, std::string& out) { normalized(text, "nfc", out); }>("normalize", {kText}, kText),
      scalar<is_normalized>("is_normalized", {kText, kText}, kBool),
      scalar<[](Text text) { return is_normalized(text, "nfc"); }>("is_normalized", {kText}, kBool),
  };
}

}  // namespace redquel::sql
