#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// PostgreSQL's receive function of the type: network byte order. 08P01 "insufficient data left in message" where it is
/// too short, 22P03 "incorrect binary data format" where bytes are left over (the caller knows the parameter's number),
/// and the type's own range errors. 42883 `no binary input function available for type …` where there is none.
Datum decode_binary(Type type, std::string_view bytes);

/// PostgreSQL's send function; the value is not NULL. Only the value's bytes, without their length.
void encode_binary(Type type, const Datum& value, std::string& out);
/// A row of a column, encoded columns included.
void encode_binary(const Column& column, std::size_t row, std::string& out);

}  // namespace redquel::sql
