#include "sql/extensions/cipher.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// A cipher by its name, without a mode and an alias.
struct Algorithm {
  std::string_view name;
  const EVP_CIPHER* (*cbc)();
  const EVP_CIPHER* (*ecb)();
  std::size_t most_key_bytes;
  bool takes_any_key_length;  // else the key is padded
};
constexpr Algorithm kAlgorithms[] = {
    {"aes", EVP_aes_256_cbc, EVP_aes_256_ecb, 32, false},
    {"bf", EVP_bf_cbc, EVP_bf_ecb, 56, true},
    {"des", EVP_des_cbc, EVP_des_ecb, 8, false},
    {"3des", EVP_des_ede3_cbc, EVP_des_ede3_ecb, 24, false},
    {"cast5", EVP_cast5_cbc, EVP_cast5_ecb, 16, true},
};

/// "rijndael-ecb/pad:none" read.
struct CipherType {
  const Algorithm* algorithm = nullptr;
  bool ecb = false, padded = true;
};

SqlError cannot_use(std::string_view type, std::string_view reason) {
  return SqlError(sqlstate::kInvalidParameterValue, fmt::format("Cannot use \"{}\": {}", type, reason));
}

CipherType read_type(std::string_view written) {
  const std::string type = lower_case(written);
  std::string_view rest = type;
  const auto cut = [&rest](char end) {
    const std::string_view part = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
  };
  std::string_view name = cut('/'), padding = "pkcs";
  while (!rest.empty()) {
    std::string_view option = cut('/');
    if (option.empty()) continue;
    const std::size_t colon = option.find(':');
    if (colon == std::string_view::npos) throw cannot_use(type, "Badly formatted type");
    if (option.substr(0, colon) != "pad") throw cannot_use(type, "Unknown option");
    padding = option.substr(colon + 1);
  }
  CipherType read;
  read.ecb = name.ends_with("-ecb");
  const bool has_mode = read.ecb || name.ends_with("-cbc");
  if (has_mode) name.remove_suffix(4);
  if (name == "blowfish") name = "bf";
  if (name == "rijndael") name = "aes";
  if (name == "des3" && has_mode) name = "3des";
  const auto* algorithm = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  read.padded = padding == "pkcs";
  if (algorithm == std::end(kAlgorithms) || (!read.padded && padding != "none")) throw cannot_use(type, "No such cipher algorithm");
  read.algorithm = algorithm;
  return read;
}

const EVP_CIPHER* cipher_of(const CipherType& type, std::size_t key_bytes) {
  if (type.algorithm->name == "aes" && key_bytes <= 16) return type.ecb ? EVP_aes_128_ecb() : EVP_aes_128_cbc();
  if (type.algorithm->name == "aes" && key_bytes <= 24) return type.ecb ? EVP_aes_192_ecb() : EVP_aes_192_cbc();
  return type.ecb ? type.algorithm->ecb() : type.algorithm->cbc();
}

struct Words {
  std::string_view function, failure;
};

void run_cipher(std::string_view data, std::string_view key, std::string_view vector, std::string_view written, bool encrypts, const Words& words,
                std::string& out) {
  const CipherType type = read_type(written);
  const auto refuse = [&](std::string_view reason) {
    return SqlError(sqlstate::kExternalRoutineInvocation, fmt::format("{} error: {}", words.function, reason));
  };
  key = key.substr(0, type.algorithm->most_key_bytes);
  const EVP_CIPHER* cipher = cipher_of(type, key.size());
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> state(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  const int direction = encrypts ? 1 : 0;
  bool is_ready = state != nullptr && EVP_CipherInit_ex(state.get(), cipher, nullptr, nullptr, nullptr, direction) == 1;
  if (is_ready && type.algorithm->takes_any_key_length && !key.empty()) {
    is_ready = EVP_CIPHER_CTX_set_key_length(state.get(), static_cast<int>(key.size())) == 1;
  }
  if (!is_ready) throw refuse("Cipher cannot be initialized");
  std::string full_key(key), full_vector(vector);
  full_key.resize(static_cast<std::size_t>(EVP_CIPHER_CTX_key_length(state.get())));
  full_vector.resize(EVP_MAX_IV_LENGTH);
  const auto bytes_of = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  is_ready = EVP_CipherInit_ex(state.get(), nullptr, nullptr, bytes_of(full_key), bytes_of(full_vector), direction) == 1 &&
             EVP_CIPHER_CTX_set_padding(state.get(), type.padded ? 1 : 0) == 1;
  if (!is_ready) throw refuse("Cipher cannot be initialized");

  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::size_t begin = out.size();
  check_allocation(data.size() + EVP_MAX_BLOCK_LENGTH);
  out.resize(begin + data.size() + EVP_MAX_BLOCK_LENGTH);
  std::size_t end = begin;
  int written_bytes = 0;
  const auto place = [&] { return reinterpret_cast<unsigned char*>(out.data() + end); };
  WorkMeter meter;
  for (; !data.empty(); data.remove_prefix(std::min(kPiece, data.size()))) {
    const std::string_view piece = data.substr(0, kPiece);
    if (EVP_CipherUpdate(state.get(), place(), &written_bytes, bytes_of(piece), static_cast<int>(piece.size())) != 1) throw refuse(words.failure);
    end += static_cast<std::size_t>(written_bytes);
    meter.add(piece.size());
  }
  if (EVP_CipherFinal_ex(state.get(), place(), &written_bytes) != 1) throw refuse(words.failure);
  out.resize(end + static_cast<std::size_t>(written_bytes));
}

}  // namespace

void encrypt_bytes(std::string_view data, std::string_view key, std::string_view vector, std::string_view type, std::string_view function,
                   std::string& out) {
  run_cipher(data, key, vector, type, true, {function, "Encryption failed"}, out);
}

void decrypt_bytes(std::string_view data, std::string_view key, std::string_view vector, std::string_view type, std::string_view function,
                   std::string& out) {
  run_cipher(data, key, vector, type, false, {function, "Decryption failed"}, out);
}

}  // namespace redquel::sql
