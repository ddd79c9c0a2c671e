#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

// Ciphers as pgcrypto names them, by OpenSSL: "aes", "bf-ecb", "3des-cbc/pad:none".

/// Appends the encrypted data. The key is padded with zero bytes or cut to what the cipher takes, the initialization vector to its block.
/// 22023 `Cannot use "x": No such cipher algorithm`, 39000 "encrypt error: …", where `function` is the word before "error".
void encrypt_bytes(std::string_view data, std::string_view key, std::string_view vector, std::string_view type, std::string_view function,
                   std::string& out);
/// Like encrypt_bytes(), the other way. 39000 "decrypt error: Decryption failed".
void decrypt_bytes(std::string_view data, std::string_view key, std::string_view vector, std::string_view type, std::string_view function,
                   std::string& out);

}  // namespace redquel::sql
