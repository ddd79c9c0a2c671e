#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

void append_hex(std::string_view bytes, std::string& out);

/// encode(bytea, format) and decode(text, format): hex, base64, escape. 22023 for other formats and malformed data.
void encode_bytes(std::string_view bytes, std::string_view format, std::string& out);
void decode_bytes(std::string_view text, std::string_view format, std::string& out);

/// convert_to(text, encoding) and convert_from(bytea, encoding), by iconv. 22023 for unknown names, 0A000 for MULE_INTERNAL, 22P05 and
/// 22021 for what cannot be converted.
void bytes_in_encoding(std::string_view text, std::string_view encoding, std::string& out);
void text_from_encoding(std::string_view bytes, std::string_view encoding, std::string& out);
/// length(bytea, encoding): of the text that the bytes are.
std::int32_t characters_in_encoding(std::string_view bytes, std::string_view encoding);
/// convert(bytea, source, destination). 42883 where PostgreSQL has no conversion between the two.
void convert_bytes(std::string_view bytes, std::string_view source, std::string_view destination, std::string& out);

}  // namespace redquel::sql
