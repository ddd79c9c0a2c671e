#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

/// Returns the password in the form that SCRAM hashes (RFC 4013, SASLprep; PostgreSQL's pg_saslprep). ASCII texts stay as they are.
/// nullopt: it is no UTF-8, is empty then, or has characters that SASLprep refuses.
std::optional<std::string> saslprep(std::string_view password);

/// Returns saslprep(password), or the password itself where that is nullopt, as PostgreSQL and libpq do.
std::string prepared_password(std::string_view password);

}  // namespace redquel::sql
