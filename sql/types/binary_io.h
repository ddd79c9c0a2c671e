#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

class EncodingConverter;

/// PostgreSQL's receive function of the type: network byte order. 08P01 "insufficient data left in message" where it is
/// too short, 22P03 "incorrect binary data format" where bytes are left over (the caller knows the parameter's number),
/// and the type's own range errors. 42883 `no binary input function available for type …` where there is none.
/// `client`: the encoding of the texts in it, at any depth; null: UTF-8, which is checked (22021).
Datum decode_binary(Type type, std::string_view bytes, EncodingConverter* client = nullptr);

/// PostgreSQL's send function; the value is not NULL. Only the value's bytes, without their length. `client`: as above.
void encode_binary(Type type, const Datum& value, std::string& out, EncodingConverter* client = nullptr);
/// Encodes a row of a column, encoded columns included.
void encode_binary(const Column& column, std::size_t row, std::string& out, EncodingConverter* client = nullptr);

}  // namespace redquel::sql
