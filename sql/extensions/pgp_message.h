#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

// Messages of OpenPGP (RFC 4880) that a password encrypts, as pgcrypto's pgp_sym_encrypt() makes them. `options`: "cipher-algo=aes256, s2k-mode=1".
// Errors are PostgreSQL's: 39000.

/// Appends the message. 0A000 for compression.
void append_pgp_message(std::string_view data, bool is_text, std::string_view password, std::string_view options, std::string& out);
/// Appends the data of a message. Throws 39000 for a wrong password, and for binary data if text is wanted; 0A000 for compressed data and
/// public keys.
void append_pgp_data(std::string_view message, bool wants_text, std::string_view password, std::string_view options, std::string& out);

}  // namespace redquel::sql
