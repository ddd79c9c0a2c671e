// The extension pgcrypto: digests, hashes of passwords, ciphers, armor.

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/extensions/armor.h"
#include "sql/extensions/cipher.h"
#include "sql/extensions/crypt.h"
#include "sql/extensions/families.h"
#include "sql/extensions/pgp_message.h"
#include "sql/functions/lift.h"
#include "sql/functions/random_generator.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/uuid.h"

namespace redquel::sql {
namespace {

using Bytes = std::string_view;

constexpr Volatility kVolatile = Volatility::kVolatile;

/// Returns OpenSSL's algorithm. 22023 where it has none of that name, or does not offer it.
const EVP_MD* find_digest(Text written) {
  const std::string name = lower_case(written);
  const EVP_MD* algorithm = EVP_get_digestbyname(name.c_str());
  const auto refuse = [&](std::string_view reason) {
    return SqlError(sqlstate::kInvalidParameterValue, fmt::format("Cannot use \"{}\": {}", name, reason));
  };
  if (algorithm == nullptr) throw refuse("No such hash algorithm");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  if (EVP_Digest("", 0, digest.data(), nullptr, algorithm, nullptr) != 1) throw refuse("Cipher cannot be initialized");
  return algorithm;
}

void digest(Bytes data, Text name, std::string& out) {
  const EVP_MD* algorithm = find_digest(name);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), bytes.data(), &size, algorithm, nullptr) != 1) {
    throw SqlError(sqlstate::kInternalError, "could not compute digest");
  }
  out.append(reinterpret_cast<const char*>(bytes.data()), size);
}

void keyed_digest(Bytes data, Bytes key, Text name, std::string& out) {
  const EVP_MD* algorithm = find_digest(name);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  const char* key_bytes = key.empty() ? "" : key.data();
  if (HMAC(algorithm, key_bytes, static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(data.data()), data.size(), bytes.data(),
           &size) == nullptr) {
    throw SqlError(sqlstate::kInternalError, "could not compute digest");
  }
  out.append(reinterpret_cast<const char*>(bytes.data()), size);
}

void random_bytes(Int count, std::string& out) {
  constexpr Int kMost = 1024;
  if (count < 1 || count > kMost) throw SqlError(sqlstate::kExternalRoutineInvocation, "Length not in range");
  out.resize(static_cast<std::size_t>(count));
  fill_random(reinterpret_cast<unsigned char*>(out.data()), out.size());
}

Uuid random_uuid() {
  Uuid uuid;
  fill_random(uuid.bytes.data(), uuid.bytes.size());
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0F) | 0x40);
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3F) | 0x80);
  return uuid;
}

void crypt(Text password, Text salt, std::string& out) { out += password_hash(password, salt); }
void gen_salt(Text method, std::string& out) { out += password_salt(method, {}); }
void gen_salt_rounds(Text method, Int rounds, std::string& out) { out += password_salt(method, rounds); }

void encrypt(Bytes data, Bytes key, Text type, std::string& out) { encrypt_bytes(data, key, {}, type, "encrypt", out); }
void decrypt(Bytes data, Bytes key, Text type, std::string& out) { decrypt_bytes(data, key, {}, type, "decrypt", out); }
void encrypt_iv(Bytes data, Bytes key, Bytes vector, Text type, std::string& out) { encrypt_bytes(data, key, vector, type, "encrypt_iv", out); }
void decrypt_iv(Bytes data, Bytes key, Bytes vector, Text type, std::string& out) { decrypt_bytes(data, key, vector, type, "decrypt_iv", out); }

// ---- armor ------------------------------------------------------------------------------------------------------------------

void armor(Bytes data, std::string& out) { append_armor(data, {}, out); }
void dearmor(Text text, std::string& out) { append_dearmored(text, out); }

/// `part`: "key" or "value".
std::string_view checked_header(const std::optional<std::string_view>& text, std::string_view part) {
  if (!text) throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("null value not allowed for header {}", part));
  const auto refuse = [&](std::string_view reason) {
    return SqlError(sqlstate::kInvalidParameterValue, fmt::format("header {} must not contain {}", part, reason));
  };
  if (std::ranges::any_of(*text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) throw refuse("non-ASCII characters");
  if (part == "key" && text->find(": ") != std::string_view::npos) throw refuse("\": \"");
  if (text->find('\n') != std::string_view::npos) throw refuse("newlines");
  return *text;
}

void armor_with_headers(Bytes data, Text keys, Text values, std::string& out) {
  const ArrayValue names = read_array(oid::kTextArray, keys), texts = read_array(oid::kTextArray, values);
  if (names.dimensions.size() > 1 || names.dimensions.size() != texts.dimensions.size()) {
    throw SqlError(sqlstate::kArraySubscriptError, "wrong number of array subscripts");
  }
  if (names.elements.size() != texts.elements.size()) throw SqlError(sqlstate::kArraySubscriptError, "mismatched array dimensions");
  std::string headers;
  for (std::size_t i = 0; i < names.elements.size(); ++i) {
    const std::string_view name = checked_header(names.elements[i], "key");
    headers.append(name).append(": ").append(checked_header(texts.elements[i], "value")).append("\n");
  }
  append_armor(data, headers, out);
}

// ---- OpenPGP ----------------------------------------------------------------------------------------------------------------

template <bool is_text>
void encrypt_message(Text data, Text password, std::string& out) {
  append_pgp_message(data, is_text, password, {}, out);
}
template <bool is_text>
void encrypt_message_with(Text data, Text password, Text options, std::string& out) {
  append_pgp_message(data, is_text, password, options, out);
}
template <bool is_text>
void decrypt_message(Bytes message, Text password, std::string& out) {
  append_pgp_data(message, is_text, password, {}, out);
}
template <bool is_text>
void decrypt_message_with(Bytes message, Text password, Text options, std::string& out) {
  append_pgp_data(message, is_text, password, options, out);
}

std::vector<ExtensionFunction> password_messages() {
  return {
      {scalar<encrypt_message<true>>("pgp_sym_encrypt", {kText, kText}, kBytea, kVolatile), "pgp_sym_encrypt_text"},
      {scalar<encrypt_message<false>>("pgp_sym_encrypt_bytea", {kBytea, kText}, kBytea, kVolatile), "pgp_sym_encrypt_bytea"},
      {scalar<encrypt_message_with<true>>("pgp_sym_encrypt", {kText, kText, kText}, kBytea, kVolatile), "pgp_sym_encrypt_text"},
      {scalar<encrypt_message_with<false>>("pgp_sym_encrypt_bytea", {kBytea, kText, kText}, kBytea, kVolatile), "pgp_sym_encrypt_bytea"},
      {scalar<decrypt_message<true>>("pgp_sym_decrypt", {kBytea, kText}, kText), "pgp_sym_decrypt_text"},
      {scalar<decrypt_message<false>>("pgp_sym_decrypt_bytea", {kBytea, kText}, kBytea), "pgp_sym_decrypt_bytea"},
      {scalar<decrypt_message_with<true>>("pgp_sym_decrypt", {kBytea, kText, kText}, kText), "pgp_sym_decrypt_text"},
      {scalar<decrypt_message_with<false>>("pgp_sym_decrypt_bytea", {kBytea, kText, kText}, kBytea), "pgp_sym_decrypt_bytea"},
  };
}

/// Throws 0A000: messages for public keys are not built.
ColumnPtr refuse_message(std::span<const ColumnPtr>, std::size_t rows, Type result, const EvaluationContext&) {
  if (rows == 0) return std::make_shared<Column>(result);
  throw not_supported("OpenPGP message for a public key");
}

std::vector<ExtensionFunction> public_key_messages() {
  const auto row = [](std::string_view name, std::initializer_list<Type> arguments, Type result, Volatility volatility, std::string_view source) {
    return ExtensionFunction{column_function(name, arguments, result, refuse_message, volatility, true), source};
  };
  constexpr Volatility kImmutable = Volatility::kImmutable;
  return {
      row("pgp_pub_encrypt", {kText, kBytea}, kBytea, kVolatile, "pgp_pub_encrypt_text"),
      row("pgp_pub_encrypt_bytea", {kBytea, kBytea}, kBytea, kVolatile, "pgp_pub_encrypt_bytea"),
      row("pgp_pub_encrypt", {kText, kBytea, kText}, kBytea, kVolatile, "pgp_pub_encrypt_text"),
      row("pgp_pub_encrypt_bytea", {kBytea, kBytea, kText}, kBytea, kVolatile, "pgp_pub_encrypt_bytea"),
      row("pgp_pub_decrypt", {kBytea, kBytea}, kText, kImmutable, "pgp_pub_decrypt_text"),
      row("pgp_pub_decrypt_bytea", {kBytea, kBytea}, kBytea, kImmutable, "pgp_pub_decrypt_bytea"),
      row("pgp_pub_decrypt", {kBytea, kBytea, kText}, kText, kImmutable, "pgp_pub_decrypt_text"),
      row("pgp_pub_decrypt_bytea", {kBytea, kBytea, kText}, kBytea, kImmutable, "pgp_pub_decrypt_bytea"),
      row("pgp_pub_decrypt", {kBytea, kBytea, kText, kText}, kText, kImmutable, "pgp_pub_decrypt_text"),
      row("pgp_pub_decrypt_bytea", {kBytea, kBytea, kText, kText}, kBytea, kImmutable, "pgp_pub_decrypt_bytea"),
      row("pgp_key_id", {kBytea}, kText, kImmutable, "pgp_key_id_w"),
  };
}

}  // namespace

Extension pgcrypto_extension() {
  Extension extension{.name = "pgcrypto",
                      .version = "1.3",
                      .comment = "cryptographic functions",
                      .functions = {
                          {scalar<digest>("digest", {kText, kText}, kBytea), "pg_digest"},
                          {scalar<digest>("digest", {kBytea, kText}, kBytea), "pg_digest"},
                          {scalar<keyed_digest>("hmac", {kText, kText, kText}, kBytea), "pg_hmac"},
                          {scalar<keyed_digest>("hmac", {kBytea, kBytea, kText}, kBytea), "pg_hmac"},
                          {scalar<crypt>("crypt", {kText, kText}, kText), "pg_crypt"},
                          {scalar<gen_salt>("gen_salt", {kText}, kText, kVolatile), "pg_gen_salt"},
                          {scalar<gen_salt_rounds>("gen_salt", {kText, kInt4}, kText, kVolatile), "pg_gen_salt_rounds"},
                          {scalar<encrypt>("encrypt", {kBytea, kBytea, kText}, kBytea), "pg_encrypt"},
                          {scalar<decrypt>("decrypt", {kBytea, kBytea, kText}, kBytea), "pg_decrypt"},
                          {scalar<encrypt_iv>("encrypt_iv", {kBytea, kBytea, kBytea, kText}, kBytea), "pg_encrypt_iv"},
                          {scalar<decrypt_iv>("decrypt_iv", {kBytea, kBytea, kBytea, kText}, kBytea), "pg_decrypt_iv"},
                          {scalar<random_bytes>("gen_random_bytes", {kInt4}, kBytea, kVolatile), "pg_random_bytes"},
                          {scalar<random_uuid>("gen_random_uuid", {}, kUuid, kVolatile), "pg_random_uuid"},
                          {scalar<armor>("armor", {kBytea}, kText), "pg_armor"},
                          {scalar<armor_with_headers>("armor", {kBytea, kTextArray, kTextArray}, kText), "pg_armor"},
                          {scalar<dearmor>("dearmor", {kText}, kBytea), "pg_dearmor"},
                      }};
  std::ranges::move(password_messages(), std::back_inserter(extension.functions));
  std::ranges::move(public_key_messages(), std::back_inserter(extension.functions));
  return extension;
}

}  // namespace redquel::sql
