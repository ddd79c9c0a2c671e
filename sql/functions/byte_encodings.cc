#include "sql/functions/byte_encodings.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_encoding.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string_view character_at(std::string_view text, std::size_t at) { return first_character(text.substr(at)); }

int hex_digit_at(std::string_view text, std::size_t at) {
  const int digit = hex_value(text[at]);
  if (digit < 0) throw SqlError(sqlstate::kInvalidParameterValue, "invalid hexadecimal digit: \"" + std::string(character_at(text, at)) + "\"");
  return digit;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

void decode_hex(std::string_view text, std::string& out) {
  WorkMeter meter;
  for (std::size_t i = 0; i < text.size();) {
    meter.add(1);
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    const int high = hex_digit_at(text, i++);
    if (i >= text.size()) throw SqlError(sqlstate::kInvalidParameterValue, "invalid hexadecimal data: odd number of digits");
    out += static_cast<char>(high << 4 | hex_digit_at(text, i++));
  }
}

/// Lines of 76 characters, as MIME has them.
void encode_base64(std::string_view bytes, std::string& out) {
  const std::size_t begin = out.size();
  std::size_t line_begin = begin;
  check_text_size(bytes.size() / 57 * 77 + 77);
  WorkMeter meter;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    meter.add(3);
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kBase64[(group >> (18 - 6 * k)) & 0x3F] : '=';
    if (out.size() - line_begin >= 76 && count == 3) {
      out += '\n';
      line_begin = out.size();
    }
  }
}

void decode_base64(std::string_view text, std::string& out) {
  std::uint32_t group = 0;
  int position = 0, padding = 0;
  WorkMeter meter;
  for (std::size_t i = 0; i < text.size(); ++i) {
    meter.add(1);
    const char c = text[i];
    if (is_space(c)) continue;
    std::size_t digit = 0;
    if (c == '=') {
      if (padding == 0) {
        if (position == 2) {
          padding = 1;
        } else if (position == 3) {
          padding = 2;
        } else {
          throw SqlError(sqlstate::kInvalidParameterValue, "unexpected \"=\" while decoding base64 sequence");
        }
      }
    } else {
      digit = kBase64.find(c);
      if (digit == std::string_view::npos) {
        throw SqlError(sqlstate::kInvalidParameterValue,
                       "invalid symbol \"" + std::string(character_at(text, i)) + "\" found while decoding base64 sequence");
      }
    }
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++position == 4) {
      out += static_cast<char>(group >> 16);
      if (padding == 0 || padding > 1) out += static_cast<char>(group >> 8);
      if (padding == 0 || padding > 2) out += static_cast<char>(group);
      group = 0;
      position = 0;
    }
  }
  if (position != 0) {
    throw SqlError(sqlstate::kInvalidParameterValue, "invalid base64 end sequence")
        .hint("Input data is missing padding, is truncated, or is otherwise corrupted.");
  }
}

void encode_escape(std::string_view bytes, std::string& out) {
  WorkMeter meter;
  for (char c : bytes) {
    meter.add(1);
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0 || byte >= 0x80) {
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    } else {
      if (c == '\\') out += '\\';
      out += c;
    }
  }
}

void decode_escape(std::string_view text, std::string& out) {
  const auto octal = [&](std::size_t at, char highest) {
    return at < text.size() && text[at] >= '0' && text[at] <= highest;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      out += text[i++];
    } else if (octal(i + 1, '3') && octal(i + 2, '7') && octal(i + 3, '7')) {
      out += static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
      i += 4;
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      out += '\\';
      i += 2;
    } else {
      throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid input syntax for type bytea");
    }
  }
}

[[noreturn]] void throw_unknown_encoding(std::string_view name) {
  throw SqlError(sqlstate::kInvalidParameterValue, "unrecognized encoding: \"" + std::string(name) + "\"");
}

/// 22023 for what is no encoding; 0A000 for what PostgreSQL knows and no library converts.
const EncodingInfo& require_encoding(std::string_view name, std::string_view role) {
  if (const EncodingInfo* found = find_encoding(name)) return *found;
  std::string clean;
  for (char c : name) {
    if (is_alphanumeric(c)) clean += to_lower(c);
  }
  if (clean == "muleinternal") throw not_supported("conversion with encoding " + std::string(name));
  throw SqlError(sqlstate::kInvalidParameterValue, "invalid " + std::string(role) + "encoding name \"" + std::string(name) + "\"");
}

bool is_utf8(const EncodingInfo& encoding) { return encoding.name == "UTF8"; }
/// Returns true if the bytes have no known meaning.
bool is_raw(const EncodingInfo& encoding) { return encoding.name == "SQL_ASCII"; }

/// Those of this thread: opening one reads iconv's tables.
EncodingConverter& converter_of(const EncodingInfo& encoding) {
  thread_local std::map<std::string_view, std::unique_ptr<EncodingConverter>> converters;
  std::unique_ptr<EncodingConverter>& converter = converters[encoding.name];
  if (!converter) converter = EncodingConverter::make(encoding);
  return *converter;
}

void verify(std::string_view bytes, const EncodingInfo& encoding) {
  if (is_utf8(encoding)) return check_utf8(bytes);
  if (bytes.find('\0') != std::string_view::npos) {
    throw SqlError(sqlstate::kCharacterNotInRepertoire, fmt::format("invalid byte sequence for encoding \"{}\": 0x00", encoding.name));
  }
  if (!is_raw(encoding) && encoding.width != EncodingInfo::Width::kSingle) converter_of(encoding).from_client(bytes);
}

/// Encodings between which PostgreSQL converts, other than from and to UTF8.
bool has_conversion(std::string_view from, std::string_view to) {
  constexpr std::array<std::array<std::string_view, 4>, 5> kGroups = {{{"KOI8R", "WIN1251", "WIN866", "ISO_8859_5"},
                                                                       {"LATIN2", "WIN1250"},
                                                                       {"EUC_JP", "SJIS"},
                                                                       {"EUC_TW", "BIG5"},
                                                                       {"EUC_JIS_2004", "SHIFT_JIS_2004"}}};
  return std::ranges::any_of(kGroups, [&](const auto& group) {
    return std::ranges::find(group, from) != group.end() && std::ranges::find(group, to) != group.end();
  });
}

}  // namespace

void append_hex(std::string_view bytes, std::string& out) {
  for (const char c : bytes) append_hex_byte(out, static_cast<unsigned char>(c));
}

void encode_bytes(std::string_view bytes, std::string_view format, std::string& out) {
  const std::string name = lower_case(format);
  if (name == "hex") {
    append_hex(bytes, out);
  } else if (name == "base64") {
    encode_base64(bytes, out);
  } else if (name == "escape") {
    encode_escape(bytes, out);
  } else {
    throw_unknown_encoding(format);
  }
}

void decode_bytes(std::string_view text, std::string_view format, std::string& out) {
  const std::string name = lower_case(format);
  if (name == "hex") {
    decode_hex(text, out);
  } else if (name == "base64") {
    decode_base64(text, out);
  } else if (name == "escape") {
    decode_escape(text, out);
  } else {
    throw_unknown_encoding(format);
  }
}

void bytes_in_encoding(std::string_view text, std::string_view encoding, std::string& out) {
  const EncodingInfo& to = require_encoding(encoding, "destination ");
  if (is_utf8(to) || is_raw(to)) out += text;
  else converter_of(to).append_for_client(text, out);
}

void text_from_encoding(std::string_view bytes, std::string_view encoding, std::string& out) {
  const EncodingInfo& from = require_encoding(encoding, "source ");
  if (!is_utf8(from) && !is_raw(from)) {
    out += converter_of(from).from_client(bytes);
    return;
  }
  check_utf8(bytes);
  out += bytes;
}

std::int32_t characters_in_encoding(std::string_view bytes, std::string_view name) {
  const EncodingInfo& encoding = require_encoding(name, "");
  verify(bytes, encoding);
  const bool is_narrow = is_raw(encoding) || (!is_utf8(encoding) && encoding.width == EncodingInfo::Width::kSingle);
  if (is_narrow) return static_cast<std::int32_t>(bytes.size());
  return static_cast<std::int32_t>(utf8_length(is_utf8(encoding) ? std::string(bytes) : converter_of(encoding).from_client(bytes)));
}

void convert_bytes(std::string_view bytes, std::string_view source, std::string_view destination, std::string& out) {
  const EncodingInfo& from = require_encoding(source, "source ");
  const EncodingInfo& to = require_encoding(destination, "destination ");
  verify(bytes, from);
  if (&from == &to || is_raw(from) || is_raw(to)) {
    if (is_raw(from)) verify(bytes, to);
    out += bytes;
  } else if (is_utf8(from)) {
    converter_of(to).append_for_client(bytes, out);
  } else if (is_utf8(to)) {
    out += converter_of(from).from_client(bytes);
  } else if (has_conversion(from.name, to.name)) {
    converter_of(to).append_for_client(converter_of(from).from_client(bytes), out);
  } else {
    throw SqlError(sqlstate::kUndefinedFunction,
                   fmt::format("default conversion function for encoding \"{}\" to \"{}\" does not exist", from.name, to.name));
  }
}

}  // namespace redquel::sql
