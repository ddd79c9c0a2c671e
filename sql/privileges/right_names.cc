#include "sql/privileges/right_names.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sql/ascii.h"

namespace redquel::sql {

namespace {

// In the order of their bits.
constexpr std::array<std::string_view, 14> kRightNames = {"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER",
                                                      "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"};

}  // namespace

std::string_view right_name(Rights right) { return kRightNames[static_cast<std::size_t>(std::countr_zero(right)) % kRightNames.size()]; }

std::optional<Rights> find_right(std::string_view name) {
  const auto is_same = [&](std::string_view other) {
    return std::ranges::equal(name, other, {}, [](char c) { return to_upper(c); });
  };
  if (is_same("TEMP")) return right::kTemporary;
  if (is_same("RULE")) return 0;
  const auto* const found = std::ranges::find_if(kRightNames, is_same);
  if (found == kRightNames.end()) return std::nullopt;
  return Rights{1} << (found - kRightNames.begin());
}

}  // namespace redquel::sql
