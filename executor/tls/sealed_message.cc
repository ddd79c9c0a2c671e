#include "executor/tls/sealed_message.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <limits>
#include <memory>
#include <stdexcept>

namespace redquel::executor {

namespace {

constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;
constexpr std::size_t kMostBytes = std::numeric_limits<int>::max() / 2;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text, std::size_t at) { return reinterpret_cast<unsigned char*>(text.data()) + at; }

}  // namespace

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(bytes_of(bytes, 0), static_cast<int>(count)) != 1) throw std::runtime_error("no random numbers");
  return bytes;
}

std::string seal(std::string_view key, std::string_view message) {
  if (key.size() != kSealKeyBytes || message.size() > kMostBytes) throw std::invalid_argument("a message that cannot be sealed");
  std::string sealed = random_bytes(kNonceBytes);
  sealed.resize(kNonceBytes + message.size() + kTagBytes);
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int length = 0;
  const bool is_done = cipher && EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(sealed, 0)) == 1 &&
                       EVP_EncryptUpdate(cipher.get(), bytes_of(sealed, kNonceBytes), &length, bytes_of(message), static_cast<int>(message.size())) == 1 &&
                       EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed, kNonceBytes + message.size()), &length) == 1 &&
                       EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, bytes_of(sealed, kNonceBytes + message.size())) == 1;
  if (!is_done) throw std::runtime_error("AES-256-GCM failed");
  return sealed;
}

std::optional<std::string> unseal(std::string_view key, std::string_view sealed) {
  if (key.size() != kSealKeyBytes || sealed.size() < kNonceBytes + kTagBytes || sealed.size() > kMostBytes) return std::nullopt;
  const std::size_t count = sealed.size() - kNonceBytes - kTagBytes;
  std::string message(count, '\0'), tag(sealed.substr(kNonceBytes + count));
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int length = 0;
  const bool is_genuine = cipher && EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(sealed)) == 1 &&
                          EVP_DecryptUpdate(cipher.get(), bytes_of(message, 0), &length, bytes_of(sealed.substr(kNonceBytes)), static_cast<int>(count)) == 1 &&
                          EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, bytes_of(tag, 0)) == 1 &&
                          EVP_DecryptFinal_ex(cipher.get(), bytes_of(message, count), &length) == 1;
  return is_genuine ? std::optional(std::move(message)) : std::nullopt;
}

}  // namespace redquel::executor
