#include "sql/passwords/saslprep.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "sql/passwords/stringprep_tables.h"
#include "sql/types/byte_text.h"

namespace redquel::sql {
namespace {

bool is_in(std::span<const CodePointRange> ranges, char32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &CodePointRange::first);
  return after != ranges.begin() && c <= std::prev(after)->last;
}

/// Returns the code points of a text that is valid UTF-8.
std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t size = utf8proc_iterate(bytes, left, &point);
    if (size <= 0) break;
    points.push_back(static_cast<char32_t>(point));
    bytes += size;
    left -= size;
  }
  return points;
}

/// Maps other spaces to the space and takes out what SASLprep maps to nothing.
std::string mapped(std::string_view password) {
  std::string result;
  for (const char32_t c : code_points(password)) {
    const bool is_space = is_in(kOtherSpaces, c);
    if (!is_space && is_in(kMappedToNothing, c)) continue;
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t size = utf8proc_encode_char(is_space ? ' ' : static_cast<utf8proc_int32_t>(c), bytes);
    result.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return result;
}

std::string normalized(const std::string& text) {
  utf8proc_uint8_t* bytes = nullptr;
  constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &bytes, kForm);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (size < 0) throw std::bad_alloc();  // the text is valid UTF-8
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

/// Returns true if a text with letters written from right to left has no others, and begins and ends with such ones (RFC 3454, 6).
bool has_one_direction(const std::vector<char32_t>& points) {
  const auto is_right_to_left = [](char32_t c) { return is_in(kRightToLeft, c); };
  if (std::ranges::none_of(points, is_right_to_left)) return true;
  if (std::ranges::any_of(points, [](char32_t c) { return is_in(kLeftToRight, c); })) return false;
  return is_right_to_left(points.front()) && is_right_to_left(points.back());
}

}  // namespace

std::optional<std::string> saslprep(std::string_view password) {
  if (std::ranges::all_of(password, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return std::string(password);
  if (!is_valid_utf8(password)) return std::nullopt;
  const std::string text = mapped(password);
  if (text.empty()) return std::nullopt;
  std::string result = normalized(text);
  const std::vector<char32_t> points = code_points(result);
  const auto is_refused = [](char32_t c) { return is_in(kProhibited, c) || is_in(kUnassigned, c); };
  if (std::ranges::any_of(points, is_refused) || !has_one_direction(points)) return std::nullopt;
  return result;
}

std::string prepared_password(std::string_view password) { return saslprep(password).value_or(std::string(password)); }

}  // namespace redquel::sql
