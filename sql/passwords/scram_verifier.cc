#include "sql/passwords/scram_verifier.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <charconv>
#include <limits>
#include <stdexcept>

#include "sql/passwords/base64.h"
#include "sql/passwords/saslprep.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kScheme = "SCRAM-SHA-256";

void require(bool done) {
  if (!done) throw std::runtime_error("a digest could not be computed");
}

ScramKey hmac(const ScramKey& key, std::string_view text) {
  ScramKey result;
  unsigned size = 0;
  require(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
               result.data(), &size) != nullptr);
  return result;
}

ScramKey sha256(const void* bytes, std::size_t size) {
  ScramKey result;
  require(EVP_Digest(bytes, size, result.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return result;
}

/// SaltedPassword of RFC 5802.
ScramKey salted_password(std::string_view password, std::string_view salt, std::uint32_t iterations) {
  const std::string prepared = prepared_password(password);
  ScramKey result;
  require(PKCS5_PBKDF2_HMAC(prepared.data(), static_cast<int>(prepared.size()), reinterpret_cast<const unsigned char*>(salt.data()),
                            static_cast<int>(salt.size()), static_cast<int>(iterations), EVP_sha256(), static_cast<int>(result.size()),
                            result.data()) == 1);
  return result;
}

/// Takes what stands before the separator off the text. nullopt: there is no separator, or nothing before it.
std::optional<std::string_view> take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + 1);
  return part;
}

std::optional<ScramKey> parse_key(std::string_view text) {
  const std::optional<std::string> bytes = decode_base64(text);
  if (!bytes || bytes->size() != kScramKeyBytes) return std::nullopt;
  ScramKey key;
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return key;
}

std::string key_text(const ScramKey& key) { return encode_base64({reinterpret_cast<const char*>(key.data()), key.size()}); }

}  // namespace

std::optional<ScramVerifier> parse_scram_verifier(std::string_view text) {
  const auto scheme = take_until(text, '$');
  if (!scheme || *scheme != kScheme) return std::nullopt;
  const auto iterations = take_until(text, ':');
  const auto salt = iterations ? take_until(text, '$') : std::nullopt;
  const auto stored_key = salt ? take_until(text, ':') : std::nullopt;
  if (!stored_key) return std::nullopt;
  ScramVerifier verifier;
  const char* end = iterations->data() + iterations->size();
  const auto parsed = std::from_chars(iterations->data(), end, verifier.iterations);
  if (parsed.ec != std::errc() || parsed.ptr != end || verifier.iterations == 0) return std::nullopt;
  if (verifier.iterations > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) return std::nullopt;
  const std::optional<std::string> salt_bytes = decode_base64(*salt);
  const std::optional<ScramKey> stored = parse_key(*stored_key), server = parse_key(text);
  if (!salt_bytes || !stored || !server) return std::nullopt;
  verifier.salt = *salt_bytes;
  verifier.stored_key = *stored;
  verifier.server_key = *server;
  return verifier;
}

std::string to_text(const ScramVerifier& verifier) {
  return fmt::format("{}${}:{}${}:{}", kScheme, verifier.iterations, encode_base64(verifier.salt), key_text(verifier.stored_key),
                     key_text(verifier.server_key));
}

ScramVerifier make_scram_verifier(std::string_view password, std::string salt, std::uint32_t iterations) {
  const ScramKey salted = salted_password(password, salt, iterations);
  const ScramKey client_key = hmac(salted, "Client Key");
  return {iterations, std::move(salt), sha256(client_key.data(), client_key.size()), hmac(salted, "Server Key")};
}

ScramVerifier make_scram_verifier(std::string_view password) {
  std::string salt(kScramSaltBytes, '\0');
  require(RAND_bytes(reinterpret_cast<unsigned char*>(salt.data()), static_cast<int>(salt.size())) == 1);
  return make_scram_verifier(password, std::move(salt));
}

bool matches_password(const ScramVerifier& verifier, std::string_view password) {
  if (verifier.iterations > kMaxScramIterations) return false;
  const ScramKey server_key = hmac(salted_password(password, verifier.salt, verifier.iterations), "Server Key");
  return CRYPTO_memcmp(server_key.data(), verifier.server_key.data(), server_key.size()) == 0;
}

ScramVerifier mock_scram_verifier(std::string_view name, std::string_view nonce) {
  const std::string text = std::string(name).append(nonce);
  const ScramKey hash = sha256(text.data(), text.size());
  // The digest of no key at all: no proof and no password leads to it.
  return {kScramIterations, std::string(reinterpret_cast<const char*>(hash.data()), kScramSaltBytes), {}, {}};
}

}  // namespace redquel::sql
