#include "sql/extensions/armor.h"

#include <array>
#include <cstdint>

#include "sql/error.h"
#include "sql/functions/byte_encodings.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PGP MESSAGE-----\n", kEnd = "-----END PGP MESSAGE-----\n";
constexpr std::size_t kSumBytes = 3;

/// Returns the checksum CRC-24 of RFC 4880, 6.1, as bytes.
std::string checksum(std::string_view data) {
  constexpr std::uint32_t kInitial = 0xB704CE, kPolynomial = 0x1864CFB;
  std::uint32_t sum = kInitial;
  for (const char byte : data) {
    sum ^= std::uint32_t{static_cast<unsigned char>(byte)} << 16;
    for (int bit = 0; bit < 8; ++bit) {
      sum <<= 1;
      if ((sum & 0x1000000) != 0) sum ^= kPolynomial;
    }
  }
  return {static_cast<char>(sum >> 16), static_cast<char>(sum >> 8), static_cast<char>(sum)};
}

SqlError corrupt() { return SqlError(sqlstate::kExternalRoutineInvocation, "Corrupt ascii-armor"); }

/// Returns the rest of the text behind a line that begins with the words and ends with dashes; nullopt: there is no such line.
struct Line {
  std::size_t begin = std::string_view::npos, end = 0;
};
Line find_line(std::string_view text, std::string_view words, std::size_t from) {
  for (std::size_t at = text.find(words, from); at != std::string_view::npos; at = text.find(words, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::size_t dashes = text.find("-----", at + words.size());
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    if (dashes != std::string_view::npos && dashes < line_end) return {at, line_end};
  }
  return {};
}

std::string decoded(std::string_view text) {
  std::string bytes;
  try {
    decode_bytes(text, "base64", bytes);
  } catch (const SqlError&) {
    throw corrupt();
  }
  return bytes;
}

}  // namespace

void append_armor(std::string_view data, std::string_view headers, std::string& out) {
  check_allocation(data.size() * 2);
  out.append(kBegin).append(headers).append("\n");
  std::string lines;
  encode_bytes(data, "base64", lines);
  out.append(lines);
  if (!lines.empty() && lines.back() != '\n') out += '\n';
  out += '=';
  encode_bytes(checksum(data), "base64", out);
  out.append("\n").append(kEnd);
}

void append_dearmored(std::string_view text, std::string& out) {
  const Line begin = find_line(text, "-----BEGIN ", 0);
  if (begin.begin == std::string_view::npos) throw corrupt();
  const Line end = find_line(text, "-----END ", begin.end);
  if (end.begin == std::string_view::npos) throw corrupt();
  // Header lines end with an empty line.
  std::string_view body = text.substr(begin.end, end.begin - begin.end);
  while (true) {
    if (body.empty() || body[0] != '\n') throw corrupt();
    body.remove_prefix(1);
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(line.size());
    if (line.empty() || line == "\r") break;
  }
  const std::size_t sum_at = body.rfind("\n=");
  if (sum_at == std::string_view::npos) throw corrupt();
  const std::string data = decoded(body.substr(0, sum_at));
  const std::string sum = decoded(body.substr(sum_at + 2));
  if (sum.size() != kSumBytes || sum != checksum(data)) throw corrupt();
  out += data;
}

}  // namespace redquel::sql
