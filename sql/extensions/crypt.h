#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

// Hashes of passwords as pgcrypto has them, by libcrypt: des, xdes, md5 and bf.

/// Returns the hash of the password, which begins with the settings of `salt`. 22023 "invalid salt", 39000.
std::string password_hash(std::string_view password, std::string_view salt);
/// Returns random settings for a method. Without rounds: the method's default. 22023.
std::string password_salt(std::string_view method, std::optional<std::int32_t> rounds);

}  // namespace redquel::sql
