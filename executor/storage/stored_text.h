#pragma once

#include <string>
#include <string_view>

#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::executor {

/// The text of a value (not NULL) as a row's hash holds it: PostgreSQL's output under default settings, char(n) without its
/// trailing blanks. Appended to `out`.
void append_stored_text(sql::Type type, const sql::Datum& value, std::string& out);

/// Returns whether a text of a row's hash is a value of the type: a few nanoseconds for texts as append_stored_text() writes them.
using StoredTextCheck = bool (*)(sql::Type type, std::string_view text);
/// Returns the check for columns of the type. Null for types whose texts need a full parse: json, arrays, ranges and the like.
StoredTextCheck stored_text_check(sql::Type type);

/// The value of a stored text, char(n) padded again. Throws SqlError where it is no value of the type.
sql::Datum parse_stored_text(sql::Type type, std::string_view text);

}  // namespace redquel::executor
