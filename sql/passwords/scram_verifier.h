#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

inline constexpr std::size_t kScramKeyBytes = 32, kScramSaltBytes = 16;
inline constexpr std::uint32_t kScramIterations = 4096;
/// Rounds of a stored verifier beyond which a password is not compared with it.
inline constexpr std::uint32_t kMaxScramIterations = 1'000'000;

using ScramKey = std::array<unsigned char, kScramKeyBytes>;

/// The data that a server stores for a password of SCRAM-SHA-256 (RFC 5803; the text form is PostgreSQL's).
struct ScramVerifier {
  std::uint32_t iterations = kScramIterations;
  std::string salt;  // raw bytes
  ScramKey stored_key{}, server_key{};

  friend bool operator==(const ScramVerifier&, const ScramVerifier&) = default;
};

/// Reads SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>. nullopt: the text is none.
std::optional<ScramVerifier> parse_scram_verifier(std::string_view text);
std::string to_text(const ScramVerifier& verifier);

/// Makes a verifier of a password as the client sent it: SASLprep is done here. Slow on purpose (2 ms for 4,096 rounds).
ScramVerifier make_scram_verifier(std::string_view password, std::string salt, std::uint32_t iterations = kScramIterations);
/// Makes a verifier with a random salt.
ScramVerifier make_scram_verifier(std::string_view password);

/// Returns true if the verifier is of this password. As slow as making one; always compares the whole keys.
bool matches_password(const ScramVerifier& verifier, std::string_view password);

/// Returns a verifier that no password matches, for a name without one. Its salt depends on the name and `nonce` alone, so that all
/// processes show the same one.
ScramVerifier mock_scram_verifier(std::string_view name, std::string_view nonce);

}  // namespace redquel::sql
