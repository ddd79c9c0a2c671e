#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::executor {

/// Bytes of the key of sealed messages.
inline constexpr std::size_t kSealKeyBytes = 32;

/// Returns random bytes. Throws std::runtime_error if the system has none.
std::string random_bytes(std::size_t count);
/// Encrypts and authenticates a message: AES-256-GCM with a random nonce, which comes first. `key`: kSealKeyBytes.
std::string seal(std::string_view key, std::string_view message);
/// Returns the message that `seal` made with this key; nullopt for any other bytes.
std::optional<std::string> unseal(std::string_view key, std::string_view sealed);

}  // namespace redquel::executor
