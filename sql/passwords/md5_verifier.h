#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

/// Returns true for "md5" and 32 lower-case hexadecimal digits.
bool is_md5_verifier(std::string_view text);
/// Returns "md5" and the MD5 of password and role name, as PostgreSQL stores it.
std::string make_md5_verifier(std::string_view password, std::string_view role);
/// Returns what a client answers to AuthenticationMD5Password with this salt: "md5" and the MD5 of the verifier's digits and the salt.
std::string md5_response(std::string_view verifier, std::string_view salt);
/// Returns a verifier that no password matches. It depends on the name and `nonce` alone.
std::string mock_md5_verifier(std::string_view role, std::string_view nonce);
/// Compares without telling by its time where the texts differ.
bool equals_in_constant_time(std::string_view left, std::string_view right);

}  // namespace redquel::sql
