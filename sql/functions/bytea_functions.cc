// Functions over bytea (manual 9.5), digests and encodings included.

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "sql/error.h"
#include "sql/functions/byte_encodings.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Bytes = std::string_view;

std::int32_t octets(Bytes bytes) { return static_cast<std::int32_t>(bytes.size()); }

Bytes bytes_from(Bytes bytes, std::int64_t start, std::int64_t length) {
  const std::int64_t end = std::min<std::int64_t>(start + length, static_cast<std::int64_t>(bytes.size()) + 1);
  start = std::max<std::int64_t>(start, 1);
  if (end <= start) return {};
  return bytes.substr(static_cast<std::size_t>(start - 1), static_cast<std::size_t>(end - start));
}
Bytes substring_to_end(Bytes bytes, std::int32_t start) { return bytes_from(bytes, start, std::int64_t{1} << 32); }
Bytes substring(Bytes bytes, std::int32_t start, std::int32_t length) {
  if (length < 0) throw negative_substring_length();
  return bytes_from(bytes, start, length);
}
std::int32_t position(Bytes bytes, Bytes part) {
  const std::size_t found = bytes.find(part);
  return found == Bytes::npos ? 0 : static_cast<std::int32_t>(found) + 1;
}
void overlay_length(Bytes bytes, Bytes part, std::int32_t start, std::int32_t length, std::string& out) {
  if (start <= 0) throw negative_substring_length();
  std::int32_t end;
  if (__builtin_add_overflow(start, length, &end)) throw number_out_of_range("integer");
  out += bytes_from(bytes, 1, start - 1);
  out += part;
  out += substring_to_end(bytes, end);
}
void overlay(Bytes bytes, Bytes part, std::int32_t start, std::string& out) {
  overlay_length(bytes, part, start, octets(part), out);
}
Bytes trim_left(Bytes bytes, Bytes set) {
  const std::size_t first = bytes.find_first_not_of(set);
  return first == Bytes::npos ? Bytes{} : bytes.substr(first);
}
Bytes trim_right(Bytes bytes, Bytes set) { return bytes.substr(0, bytes.find_last_not_of(set) + 1); }
Bytes trim_both(Bytes bytes, Bytes set) { return trim_left(trim_right(bytes, set), set); }
void concatenate(Bytes a, Bytes b, std::string& out) {
  check_text_size(a.size() + b.size());
  out += a;
  out += b;
}

// ---- bits and bytes -------------------------------------------------------------------------------------------------

void check_index(std::int64_t index, std::int64_t count) {
  if (index < 0 || index >= count) {
    throw SqlError(sqlstate::kArraySubscriptError, fmt::format("index {} out of valid range, 0..{}", index, count - 1));
  }
}
std::int32_t get_byte(Bytes bytes, std::int32_t index) {
  check_index(index, octets(bytes));
  return static_cast<unsigned char>(bytes[static_cast<std::size_t>(index)]);
}
void set_byte(Bytes bytes, std::int32_t index, std::int32_t value, std::string& out) {
  check_index(index, octets(bytes));
  out += bytes;
  out[static_cast<std::size_t>(index)] = static_cast<char>(value);
}
std::int32_t get_bit(Bytes bytes, std::int64_t index) {
  check_index(index, std::int64_t{octets(bytes)} * 8);
  return (static_cast<unsigned char>(bytes[static_cast<std::size_t>(index / 8)]) >> (index % 8)) & 1;
}
void set_bit(Bytes bytes, std::int64_t index, std::int32_t value, std::string& out) {
  check_index(index, std::int64_t{octets(bytes)} * 8);
  if (value != 0 && value != 1) throw SqlError(sqlstate::kInvalidParameterValue, "new bit must be 0 or 1");
  out += bytes;
  const auto mask = static_cast<unsigned char>(1U << (index % 8));
  char& byte = out[static_cast<std::size_t>(index / 8)];
  byte = static_cast<char>(value == 1 ? static_cast<unsigned char>(byte) | mask
                                      : static_cast<unsigned char>(byte) & ~mask);
}
std::int64_t bit_count(Bytes bytes) {
  std::int64_t count = 0;
  for (char c : bytes) count += std::popcount(static_cast<unsigned char>(c));
  return count;
}

// ---- digests --------------------------------------------------------------------------------------------------------

void digest(const EVP_MD* algorithm, Bytes bytes, std::string& out) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  unsigned char result[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  bool done = state != nullptr && EVP_DigestInit_ex(state.get(), algorithm, nullptr) == 1;
  WorkMeter meter;
  while (done && !bytes.empty()) {
    const Bytes piece = bytes.substr(0, kPiece);
    done = EVP_DigestUpdate(state.get(), piece.data(), piece.size()) == 1;
    bytes.remove_prefix(piece.size());
    meter.add(piece.size());
  }
  if (!done || EVP_DigestFinal_ex(state.get(), result, &size) != 1) throw SqlError(sqlstate::kInternalError, "could not compute digest");
  out.append(reinterpret_cast<const char*>(result), size);
}
void md5(Bytes bytes, std::string& out) {
  std::string raw;
  digest(EVP_md5(), bytes, raw);
  append_hex(raw, out);
}

}  // namespace

std::vector<ScalarFunction> bytea_functions() {
  return {
      scalar<octets>("length", {kBytea}, kInt4),
      scalar<characters_in_encoding>("length", {kBytea, kName}, kInt4, Volatility::kStable),
      scalar<octets>("octet_length", {kBytea}, kInt4),
      scalar<[](Bytes bytes) { return octets(bytes) * 8; }>("bit_length", {kBytea}, kInt4),
      scalar<substring_to_end>("substr", {kBytea, kInt4}, kBytea),
      scalar<substring>("substr", {kBytea, kInt4, kInt4}, kBytea),
      scalar<substring_to_end>("substring", {kBytea, kInt4}, kBytea),
      scalar<substring>("substring", {kBytea, kInt4, kInt4}, kBytea),
      scalar<position>("position", {kBytea, kBytea}, kInt4),
      scalar<overlay>("overlay", {kBytea, kBytea, kInt4}, kBytea),
      scalar<overlay_length>("overlay", {kBytea, kBytea, kInt4, kInt4}, kBytea),
      scalar<trim_both>("btrim", {kBytea, kBytea}, kBytea),
      scalar<trim_left>("ltrim", {kBytea, kBytea}, kBytea),
      scalar<trim_right>("rtrim", {kBytea, kBytea}, kBytea),
      scalar<concatenate>("||", {kBytea, kBytea}, kBytea),
      scalar<get_byte>("get_byte", {kBytea, kInt4}, kInt4),
      scalar<set_byte>("set_byte", {kBytea, kInt4, kInt4}, kBytea),
      scalar<get_bit>("get_bit", {kBytea, kInt8}, kInt4),
      scalar<set_bit>("set_bit", {kBytea, kInt8, kInt4}, kBytea),
      scalar<bit_count>("bit_count", {kBytea}, kInt8),
      scalar<md5>("md5", {kText}, kText),
      scalar<md5>("md5", {kBytea}, kText),
      scalar<[](Bytes bytes, std::string& out) { digest(EVP_sha224(), bytes, out); }>("sha224", {kBytea}, kBytea),
      scalar<[](Bytes bytes, std::string& out) { digest(EVP_sha256(), bytes, out); }>("sha256", {kBytea}, kBytea),
      scalar<[](Bytes bytes, std::string& out) { digest(EVP_sha384(), bytes, out); }>("sha384", {kBytea}, kBytea),
      scalar<[](Bytes bytes, std::string& out) { digest(EVP_sha512(), bytes, out); }>("sha512", {kBytea}, kBytea),
      scalar<encode_bytes>("encode", {kBytea, kText}, kText),
      scalar<decode_bytes>("decode", {kText, kText}, kBytea),
      scalar<bytes_in_encoding>("convert_to", {kText, kName}, kBytea, Volatility::kStable),
      scalar<convert_bytes>("convert", {kBytea, kName, kName}, kBytea, Volatility::kStable),
      scalar<text_from_encoding>("convert_from", {kBytea, kName}, kText, Volatility::kStable),
  };
}

}  // namespace redquel::sql
