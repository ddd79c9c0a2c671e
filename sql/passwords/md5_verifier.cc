#include "sql/passwords/md5_verifier.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <stdexcept>

#include "sql/functions/byte_encodings.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kMark = "md5";

std::string md5_text(std::string_view first, std::string_view second) {
  const std::string text = std::string(first).append(second);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_md5(), nullptr) != 1) {
    throw std::runtime_error("MD5 could not be computed");
  }
  std::string result(kMark);
  append_hex({reinterpret_cast<const char*>(digest), size}, result);
  return result;
}

}  // namespace

bool is_md5_verifier(std::string_view text) {
  constexpr std::size_t kDigits = 32;
  return text.size() == kMark.size() + kDigits && text.starts_with(kMark) &&
         text.find_first_not_of("0123456789abcdef", kMark.size()) == std::string_view::npos;
}

std::string make_md5_verifier(std::string_view password, std::string_view role) { return md5_text(password, role); }

std::string md5_response(std::string_view verifier, std::string_view salt) { return md5_text(verifier.substr(kMark.size()), salt); }

std::string mock_md5_verifier(std::string_view role, std::string_view nonce) { return md5_text(nonce, role); }

bool equals_in_constant_time(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace redquel::sql
