#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/mapping.h"
#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// A value as an application wrote it, read as its column's type and format say; NULL for an empty text of a type that has none, where
/// absence is written so. Throws what the type's input function throws: 22P02, …
Datum decode_mapped(const Mapping::Column& column, Type type, std::string_view text);
/// The text that stands for a value (not NULL) in Redis: PostgreSQL's text form in ISO style and UTC, or as the format says.
std::string encode_mapped(const Mapping::Column& column, Type type, const Datum& value);
/// The parts of a string that holds several columns, parallel to the mapping's columns. 22P02 where it is no JSON object, or has too few
/// parts.
std::vector<std::optional<std::string>> split_mapped(const Mapping& mapping, std::string_view text);
/// The string of these parts. `old`: what stood there before; JSON keeps its other members. 22023 where a part cannot stand in it.
std::string join_mapped(const Mapping& mapping, const std::vector<std::optional<std::string>>& parts, const std::vector<Type>& types,
                        std::optional<std::string_view> old);
/// Returns the value of an absent field; NULL unless the column has another one.
Datum absent_value(const Mapping::Column& column, Type type);
/// A slot's value from its text: nullopt where no value of the type is written that way in a key (`007` for a number without width).
std::optional<Datum> decode_slot(const KeyTemplate::Part& slot, const Mapping::Column& column, Type type, std::string_view text);

}  // namespace redquel::sql
