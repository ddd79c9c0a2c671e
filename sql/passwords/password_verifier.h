#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

/// The forms of a text that PASSWORD '…' may give (PostgreSQL's get_password_type).
enum class PasswordForm : std::uint8_t { kPlain, kMd5, kScram };
PasswordForm password_form(std::string_view text);

/// Returns the verifier to store for PASSWORD 'text' of a role: the text itself if it is one, else made as password_encryption says.
/// `form` is not kPlain.
std::string make_verifier(std::string_view text, std::string_view role, PasswordForm form);

/// Returns true if a stored verifier is of this password. False for texts that are no verifier.
bool verifier_matches(std::string_view verifier, std::string_view role, std::string_view password);

}  // namespace redquel::sql
