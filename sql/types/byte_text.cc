#include "sql/types/byte_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

constexpr std::array<std::int8_t, 256> kHexValues = [] {
  std::array<std::int8_t, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(hex_value(static_cast<char>(i)));
  return values;
}();

int hex_nibble(char c) { return kHexValues[static_cast<unsigned char>(c)]; }

/// Bytes that a UTF-8 lead byte announces.
std::size_t announced_length(unsigned char lead) {
  if ((lead & 0x80) == 0) return 1;
  if ((lead & 0xE0) == 0xC0) return 2;
  if ((lead & 0xF0) == 0xE0) return 3;
  if ((lead & 0xF8) == 0xF0) return 4;
  return 1;
}

std::string parse_hex_bytea(std::string_view digits) {
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  const auto invalid_digit = [&](std::size_t at) {
    const std::size_t length = std::min(announced_length(static_cast<unsigned char>(digits[at])), digits.size() - at);
    return SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid hexadecimal digit: \"{}\"", digits.substr(at, length)));
  };
  for (std::size_t i = 0; i < digits.size();) {
    const char c = digits[i];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {  // between pairs only
      ++i;
      continue;
    }
    const int high = hex_nibble(c);
    if (high < 0) throw invalid_digit(i);
    if (i + 1 >= digits.size()) throw SqlError(sqlstate::kInvalidParameterValue, "invalid hexadecimal data: odd number of digits");
    const int low = hex_nibble(digits[i + 1]);
    if (low < 0) throw invalid_digit(i + 1);
    bytes.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return bytes;
}

}  // namespace

std::string parse_bytea(std::string_view text) {
  if (text.size() >= 2 && text[0] == '\\' && text[1] == 'x') return parse_hex_bytea(text.substr(2));
  std::string bytes;
  bytes.reserve(text.size());
  const auto octal = [&](std::size_t at, char largest) {
    return at < text.size() && text[at] >= '0' && text[at] <= largest;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      bytes.push_back(text[i++]);
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes.push_back('\\');
      i += 2;
    } else if (octal(i + 1, '3') && octal(i + 2, '7') && octal(i + 3, '7')) {
      bytes.push_back(static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0')));
      i += 4;
    } else {
      throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid input syntax for type bytea");
    }
  }
  return bytes;
}

void append_bytea(std::string_view bytes, ByteaOutput style, std::string& out) {
  if (style == ByteaOutput::kHex) {
    const std::size_t start = out.size();
    out.resize(start + 2 + 2 * bytes.size());
    char* at = out.data() + start;
    *at++ = '\\';
    *at++ = 'x';
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      *at++ = kHexDigits[byte >> 4];
      *at++ = kHexDigits[byte & 15];
    }
    return;
  }
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte > 0x7E) {
      out.push_back('\\');
      out.push_back(static_cast<char>('0' + (byte >> 6)));
      out.push_back(static_cast<char>('0' + (byte >> 3 & 7)));
      out.push_back(static_cast<char>('0' + (byte & 7)));
    } else {
      out.push_back(c);
    }
  }
}

Uuid parse_uuid(std::string_view text) {
  const auto invalid = [&] {
    return SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type uuid: \"{}\"", text));
  };
  Uuid uuid;
  std::string_view rest = text;
  const bool braces = !rest.empty() && rest.front() == '{';
  if (braces) {
    rest.remove_prefix(1);
    if (rest.empty() || rest.back() != '}') throw invalid();
    rest.remove_suffix(1);
  }
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (rest.size() < 2) throw invalid();
    const int high = hex_nibble(rest[0]), low = hex_nibble(rest[1]);
    if (high < 0 || low < 0) throw invalid();
    uuid.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
    rest.remove_prefix(2);
    // A hyphen may follow every group of four digits but the last.
    if (i % 2 == 1 && i + 1 < uuid.bytes.size() && !rest.empty() && rest.front() == '-') rest.remove_prefix(1);
  }
  if (!rest.empty()) throw invalid();
  return uuid;
}

void append_uuid(const Uuid& uuid, std::string& out) {
  char buffer[36];
  char* at = buffer;
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = kHexDigits[uuid.bytes[i] >> 4];
    *at++ = kHexDigits[uuid.bytes[i] & 15];
  }
  out.append(buffer, sizeof buffer);
}

namespace {

/// Walked between two checks of the interrupts.
constexpr std::size_t kCheckedBytes = std::size_t{64} << 10;

/// Position of the first byte that is not part of valid UTF-8 (or is 0x00); npos if there is none.
std::size_t find_invalid_utf8(std::string_view bytes) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
  const auto continues = [&](std::size_t k) { return (at(k) & 0xC0) == 0x80; };
  std::size_t checked = 0;
  while (i < bytes.size()) {
    if (i - checked >= kCheckedBytes) {
      check_interrupts();
      checked = i;
    }
    // Eight ASCII bytes at a time: no high bit, no zero byte.
    for (const std::size_t end = std::min(bytes.size(), i + kCheckedBytes); i + 8 <= end;) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + i, 8);
      constexpr std::uint64_t kHigh = 0x8080808080808080, kLow = 0x0101010101010101;
      if ((word & kHigh) != 0 || ((word - kLow) & kHigh) != 0) break;
      i += 8;
    }
    if (i == bytes.size()) break;
    const unsigned char lead = at(i);
    if (lead == 0) return i;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = announced_length(lead);
    if (length == 1 || i + length > bytes.size()) return i;
    const unsigned char second = at(i + 1);
    bool valid = continues(i + 1);
    if (length == 2) {
      valid = valid && lead >= 0xC2;
    } else if (length == 3) {
      valid = valid && continues(i + 2) && (lead != 0xE0 || second >= 0xA0) && (lead != 0xED || second < 0xA0);
    } else {
      valid = valid && continues(i + 2) && continues(i + 3) && (lead != 0xF0 || second >= 0x90) &&
              (lead < 0xF4 || (lead == 0xF4 && second < 0x90));
    }
    if (!valid) return i;
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) { return find_invalid_utf8(bytes) == std::string_view::npos; }

void check_utf8(std::string_view bytes) {
  const std::size_t at = find_invalid_utf8(bytes);
  if (at == std::string_view::npos) return;
  std::string message = "invalid byte sequence for encoding \"UTF8\":";
  const std::size_t length = std::min(announced_length(static_cast<unsigned char>(bytes[at])), bytes.size() - at);
  for (std::size_t i = 0; i < length; ++i)
    message += fmt::format(" 0x{:02x}", static_cast<unsigned char>(bytes[at + i]));
  throw SqlError(sqlstate::kCharacterNotInRepertoire, message);
}

std::size_t utf8_length(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string_view utf8_clip(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::size_t utf8_prefix(std::string_view text, std::size_t characters) {
  if (text.size() <= characters) return text.size();
  std::size_t at = 0;
  while (at < text.size() && characters-- > 0) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

}  // namespace redquel::sql
