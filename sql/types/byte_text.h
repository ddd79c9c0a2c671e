#pragma once

#include <string>
#include <string_view>

#include "sql/session_settings.h"
#include "sql/types/uuid.h"

namespace redquel::sql {

/// \x hex and escape forms: 22023 `invalid hexadecimal digit: "x"`, 22P02 "invalid input syntax for type bytea".
std::string parse_bytea(std::string_view text);
void append_bytea(std::string_view bytes, ByteaOutput style, std::string& out);

/// 22P02 `invalid input syntax for type uuid: "x"`.
Uuid parse_uuid(std::string_view text);
void append_uuid(const Uuid& uuid, std::string& out);

/// Every text that a client sends passes here once: 22021 `invalid byte sequence for encoding "UTF8": 0xff`, also for
/// 0x00.
void check_utf8(std::string_view bytes);
bool is_valid_utf8(std::string_view bytes);
/// Characters of valid UTF-8.
std::size_t utf8_length(std::string_view text);
/// Bytes of the first `characters` characters (the whole text if it has fewer).
std::size_t utf8_prefix(std::string_view text, std::size_t characters);
/// The text, cut to at most so many bytes, but not inside of a character.
std::string_view utf8_clip(std::string_view text, std::size_t bytes);

/// 22P02 "invalid input syntax for type json" with PostgreSQL's detail; depth is bounded (54001).
void check_json(std::string_view text);

}  // namespace redquel::sql
