#include "sql/types/tid.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// The number up to `end`; false: there is none from `least` to `limit`.
bool take_number(std::string_view& text, char end, std::int64_t least, std::int64_t limit, std::int64_t& number) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < least || number > limit || next == text.data() + text.size() || *next != end) return false;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  return true;
}

}  // namespace

std::int64_t parse_tid(std::string_view text) {
  std::string_view rest = text;
  const std::size_t open = rest.find('(');
  std::int64_t block = 0, offset = 0;
  bool fits = open != std::string_view::npos;
  if (fits) rest.remove_prefix(open + 1);
  fits = fits && take_number(rest, ',', std::numeric_limits<std::int32_t>::min(), 0xFFFFFFFF, block) &&
         take_number(rest, ')', 0, 0xFFFF, offset);
  if (!fits) throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type tid: \"{}\"", text));
  // 48 bits with their sign; a negative block is the number of the same 32 bits.
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(block) << 16 | static_cast<std::uint64_t>(offset)) << 16) >> 16;
}

void append_tid(std::int64_t number, std::string& out) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 47;
  if (number < -kLimit || number >= kLimit) throw not_supported("the ctid of a row whose key has more than 48 bits");
  out += fmt::format("({},{})", static_cast<std::uint32_t>(number >> 16), number & 0xFFFF);
}

}  // namespace redquel::sql
