#include "server/authentication/scram_exchange.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <stdexcept>

#include "sql/error.h"
#include "sql/passwords/base64.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

constexpr std::string_view kMechanism = "SCRAM-SHA-256", kPlusMechanism = "SCRAM-SHA-256-PLUS", kBindingType = "tls-server-end-point";
constexpr std::size_t kNonceBytes = 18;

sql::SqlError malformed(std::string detail) {
  return sql::SqlError(sqlstate::kProtocolViolation, "malformed SCRAM message").detail(std::move(detail));
}

bool is_visible(char c) { return c >= 0x21 && c <= 0x7e; }

/// Returns a byte of the client as it may stand in an error.
std::string shown(char c) {
  return is_visible(c) ? fmt::format("'{}'", c) : fmt::format("0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
}

/// Returns a text for messages, cut after 30 bytes.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 30));
  std::ranges::replace_if(result, [](char c) { return !is_visible(c); }, '?');
  return result;
}

/// Reads attributes from front to back. At the end of the text each further byte is zero.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view text) : rest_(text) {}

  char next() const { return rest_.empty() ? '\0' : rest_[0]; }
  void skip() { rest_.remove_prefix(1); }
  std::string_view rest() const { return rest_; }

  std::string_view value_of(char attribute) {
    if (next() != attribute) throw malformed(fmt::format("Expected attribute \"{}\" but found \"{}\".", attribute, shown(next())));
    skip();
    return value(attribute);
  }

  std::string_view any_value(char& attribute) {
    attribute = next();
    if (attribute == '\0') throw malformed("Attribute expected, but found end of string.");
    const bool is_letter = (attribute >= 'A' && attribute <= 'Z') || (attribute >= 'a' && attribute <= 'z');
    if (!is_letter) throw malformed(fmt::format("Attribute expected, but found invalid character \"{}\".", shown(attribute)));
    skip();
    return value(attribute);
  }

 private:
  std::string_view value(char attribute) {
    if (next() != '=') throw malformed(fmt::format("Expected character \"=\" for attribute \"{}\".", attribute));
    skip();
    const std::string_view found = rest_.substr(0, rest_.find(','));
    rest_.remove_prefix(std::min(found.size() + 1, rest_.size()));
    return found;
  }

  std::string_view rest_;
};

void check_text(std::string_view message) {
  if (message.empty()) throw malformed("The message is empty.");
  if (message.find('\0') != std::string_view::npos) throw malformed("Message length does not match input length.");
}

sql::ScramKey keyed_hash(const sql::ScramKey& key, std::string_view text) {
  sql::ScramKey result;
  unsigned length = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), result.data(), &length) == nullptr) {
    throw std::runtime_error("HMAC-SHA-256 is not available");
  }
  return result;
}

std::string_view text_of(const sql::ScramKey& key) { return {reinterpret_cast<const char*>(key.data()), key.size()}; }

}  // namespace

ScramExchange::ScramExchange(Options options) : options_(std::move(options)) {}

std::string ScramExchange::make_nonce() {
  std::string bytes(kNonceBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("no random numbers");
  }
  return sql::encode_base64(bytes);
}

std::vector<std::string_view> ScramExchange::mechanisms() const {
  if (options_.server_end_point.empty()) return {kMechanism};
  return {kPlusMechanism, kMechanism};
}

void ScramExchange::select(std::string_view mechanism) {
  const auto offered = mechanisms();
  if (std::ranges::find(offered, mechanism) == offered.end()) {
    throw sql::SqlError(sqlstate::kProtocolViolation, "client selected an invalid SASL authentication mechanism");
  }
  binds_channel_ = mechanism == kPlusMechanism;
}

std::string ScramExchange::answer_first(std::string_view message) {
  check_text(message);
  client_nonce_ = read_first(message);
  server_first_ = fmt::format("r={}{},s={},i={}", client_nonce_, options_.nonce, sql::encode_base64(options_.verifier.salt),
                              options_.verifier.iterations);
  return server_first_;
}

std::string ScramExchange::read_first(std::string_view message) {
  AttributeReader reader(message);
  binding_flag_ = reader.next();
  switch (binding_flag_) {
    case 'n':
    case 'y':
      if (binds_channel_) {
        throw malformed("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.");
      }
      if (binding_flag_ == 'y' && !options_.server_end_point.empty()) {
        throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, "SCRAM channel binding negotiation error")
            .detail("The client supports SCRAM channel binding but thinks the server does not.  However, this server does support channel "
                    "binding.");
      }
      reader.skip();
      if (reader.next() != ',') throw malformed(fmt::format("Comma expected, but found character \"{}\".", shown(reader.next())));
      reader.skip();
      break;
    case 'p': {
      if (!binds_channel_) {
        throw malformed("The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data.");
      }
      const std::string_view type = reader.value_of('p');
      if (type != kBindingType) {
        throw sql::SqlError(sqlstate::kProtocolViolation, fmt::format("unsupported SCRAM channel-binding type \"{}\"", shown(type)));
      }
      break;
    }
    default:
      throw malformed(fmt::format("Unexpected channel-binding flag \"{}\".", shown(binding_flag_)));
  }
  if (reader.next() == 'a') throw sql::SqlError(sqlstate::kFeatureNotSupported, "client uses authorization identity, but it is not supported");
  if (reader.next() != ',') {
    throw malformed(fmt::format("Unexpected attribute \"{}\" in client-first-message.", shown(reader.next())));
  }
  reader.skip();
  client_first_bare_ = reader.rest();
  if (reader.next() == 'm') throw sql::SqlError(sqlstate::kFeatureNotSupported, "client requires an unsupported SCRAM extension");
  reader.value_of('n');  // the startup packet has named the user
  std::string nonce(reader.value_of('r'));
  if (!std::ranges::all_of(nonce, is_visible)) throw sql::SqlError(sqlstate::kProtocolViolation, "non-printable characters in SCRAM nonce");
  char extension = '\0';
  while (!reader.rest().empty()) reader.any_value(extension);
  return nonce;
}

sql::ScramKey ScramExchange::read_final(std::string_view message) {
  AttributeReader reader(message);
  const std::string_view binding = reader.value_of('c');
  if (binds_channel_) {
    if (binding != sql::encode_base64(fmt::format("p={},,{}", kBindingType, options_.server_end_point))) {
      throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, "SCRAM channel binding check failed");
    }
  } else if (binding != (binding_flag_ == 'n' ? "biws" : "eSws")) {  // "n,,", "y,,"
    throw sql::SqlError(sqlstate::kProtocolViolation, "unexpected SCRAM channel-binding attribute in client-final-message");
  }
  const std::string_view nonce = reader.value_of('r');
  char attribute = '\0';
  std::string_view value;
  std::size_t proof_at = 0;
  while (attribute != 'p') {
    proof_at = message.size() - reader.rest().size();
    value = reader.any_value(attribute);
  }
  const std::optional<std::string> proof = sql::decode_base64(value);
  if (!proof || proof->size() != sql::kScramKeyBytes) throw malformed("Malformed proof in client-final-message.");
  if (!reader.rest().empty()) throw malformed("Garbage found at the end of client-final-message.");
  if (nonce != client_nonce_ + options_.nonce) {
    throw sql::SqlError(sqlstate::kProtocolViolation, "invalid SCRAM response").detail("Nonce does not match.");
  }
  client_final_without_proof_ = message.substr(0, proof_at - 1);
  sql::ScramKey key;
  std::ranges::copy(*proof, key.begin());
  return key;
}

std::optional<std::string> ScramExchange::answer_final(std::string_view message) {
  check_text(message);
  sql::ScramKey client_key = read_final(message);
  const std::string text = fmt::format("{},{},{}", client_first_bare_, server_first_, client_final_without_proof_);
  const sql::ScramKey signature = keyed_hash(options_.verifier.stored_key, text);
  for (std::size_t i = 0; i < client_key.size(); ++i) client_key[i] ^= signature[i];
  sql::ScramKey hash;
  if (EVP_Digest(client_key.data(), client_key.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  const bool is_right = CRYPTO_memcmp(hash.data(), options_.verifier.stored_key.data(), hash.size()) == 0;
  const std::string answer = "v=" + sql::encode_base64(text_of(keyed_hash(options_.verifier.server_key, text)));
  if (!is_right || options_.is_mock) return std::nullopt;
  return answer;
}

}  // namespace redquel::server
