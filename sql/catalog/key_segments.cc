#include "sql/catalog/key_segments.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sql/ascii.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace {

constexpr char kCapitalHexDigits[] = "0123456789ABCDEF";
constexpr std::string_view kReservedSegments[] = {"id", "rowid", "zset", "indices", "uniques"};

/// By byte.
constexpr std::array<bool, 256> kNeedsEscape = [] {
  std::array<bool, 256> bytes{};
  for (unsigned byte = 0; byte < 0x21; ++byte) bytes[byte] = true;
  bytes[0x7F] = true;
  for (const char character : std::string_view("%:{}*?[]\\")) bytes[static_cast<unsigned char>(character)] = true;
  return bytes;
}();

bool needs_escape(char character, std::string_view also) {
  return kNeedsEscape[static_cast<unsigned char>(character)] || also.find(character) != std::string_view::npos;
}

void append_escaped(char character, std::string& out) {
  const auto byte = static_cast<unsigned char>(character);
  out += '%';
  out += kCapitalHexDigits[byte >> 4];
  out += kCapitalHexDigits[byte & 15];
}

void append_segment(std::string_view raw, std::string_view also, std::string& out) {
  if (raw.empty()) {
    out += '%';
    return;
  }
  for (std::string_view reserved : kReservedSegments) {
    if (raw != reserved) continue;
    append_escaped(raw.front(), out);
    out.append(raw.substr(1));
    return;
  }
  for (char character : raw) {
    if (needs_escape(character, also)) {
      append_escaped(character, out);
    } else {
      out += character;
    }
  }
}

std::string escape(std::string_view raw, std::string_view also) {
  std::string out;
  out.reserve(raw.size());
  append_segment(raw, also, out);
  return out;
}

/// "%#" and the first 32 hex digits of the SHA-256.
std::string hashed_segment(std::string_view raw) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_Digest(raw.data(), raw.size(), digest, &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  std::string out = "%#";
  for (unsigned index = 0; index < 16; ++index) append_hex_byte(out, digest[index]);
  return out;
}

int capital_hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

std::string escape_segment(std::string_view raw) {
  std::string out;
  append_escaped_segment(raw, out);
  return out;
}

void append_escaped_segment(std::string_view raw, std::string& out) {
  if (raw.size() > kMaxSegmentValue) {
    out += hashed_segment(raw);
  } else {
    append_segment(raw, "", out);
  }
}

std::string escape_name(std::string_view name) { return escape(name, ","); }

std::string escape_unhashed(std::string_view value) { return escape(value, ""); }

bool is_hashed_segment(std::string_view segment) { return segment.starts_with("%#"); }

std::string unescape_segment(std::string_view segment) {
  if (segment == "%") return "";
  std::string out;
  out.reserve(segment.size());
  for (std::size_t index = 0; index < segment.size(); ++index) {
    if (segment[index] != '%') {
      out += segment[index];
      continue;
    }
    const int high = index + 2 < segment.size() ? capital_hex_value(segment[index + 1]) : -1;
    const int low = high >= 0 ? capital_hex_value(segment[index + 2]) : -1;
    if (low < 0) throw SqlError(sqlstate::kDataCorrupted, "a key of Redis holds a malformed segment: \"" + escape(segment, "") + "\"");
    out += static_cast<char>(high * 16 + low);
    index += 2;
  }
  return out;
}

std::vector<std::string_view> split_segments(std::string_view key) {
  std::vector<std::string_view> segments;
  while (true) {
    const std::size_t colon = key.find(':');
    segments.push_back(key.substr(0, colon));
    if (colon == std::string_view::npos) return segments;
    key.remove_prefix(colon + 1);
  }
}

void append_listed_word(std::string& text, std::string_view word) { text.append(std::to_string(word.size())).append(":").append(word); }

std::string_view take_listed_word(std::string_view& words) {
  std::size_t size = 0, at = 0;
  for (; at < words.size() && is_digit(words[at]); ++at) size = size * 10 + static_cast<std::size_t>(words[at] - '0');
  words.remove_prefix(std::min(at + 1, words.size()));
  const std::string_view word = words.substr(0, size);
  words.remove_prefix(word.size());
  return word;
}

}  // namespace redquel::sql
