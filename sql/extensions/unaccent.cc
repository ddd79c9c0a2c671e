// The extension unaccent: texts without accents, and the dictionary of text search that does so.

#include <algorithm>

#include "sql/error.h"
#include "sql/extensions/accents.h"
#include "sql/extensions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/text_search/dictionary.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

namespace ts = text_search;

void unaccent(Text text, std::string& out) { append_without_accents(text, out); }

/// The first lexeme that the dictionary makes of the text; the text itself if there is none.
void unaccent_by_dictionary(std::int32_t dictionary, Text text, std::string& out) {
  if (static_cast<Oid>(dictionary) == kUnaccentDictionary) return unaccent(text, out);
  const auto row = std::ranges::find(ts::built_in_dictionaries(), static_cast<Oid>(dictionary), &ts::DictionaryRow::oid);
  if (row == ts::built_in_dictionaries().end()) {
    throw SqlError(sqlstate::kInternalError, fmt::format("cache lookup failed for text search dictionary {}", static_cast<Oid>(dictionary)));
  }
  const auto lexemes = ts::built_in_dictionary(row->name)->lexemes(text);
  if (!lexemes || lexemes->empty()) out += text;
  else out += lexemes->front();
}

}  // namespace

Extension unaccent_extension() {
  return {.name = "unaccent",
          .version = "1.1",
          .comment = "text search dictionary that removes accents",
          .functions = {
              {scalar<unaccent_by_dictionary>("unaccent", {kRegdictionary, kText}, kText, kStable), "unaccent_dict"},
              {scalar<unaccent>("unaccent", {kText}, kText, kStable), "unaccent_dict"},
          }};
}

}  // namespace redquel::sql
