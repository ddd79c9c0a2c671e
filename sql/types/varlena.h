#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace redquel::sql {

// Modifiers of types whose values have no fixed length.

/// VARHDRSZ: PostgreSQL counts it into the modifiers of varlena types.
inline constexpr std::int32_t kVarlenaHeader = 4;

inline constexpr std::int32_t kMaxTextLength = 10485760;
/// Returns the length in varchar(n) or bit(n), from 1 to `longest`. Throws 22023.
std::int32_t encode_length(std::string_view name, std::span<const std::int32_t> written, std::int32_t longest = kMaxTextLength);

}  // namespace redquel::sql
