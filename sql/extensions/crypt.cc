#include "sql/extensions/crypt.h"

#include <crypt.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "sql/ascii.h"
#include "sql/aside_thread.h"
#include "sql/error.h"
#include "sql/functions/random_generator.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

SqlError invalid_salt() { return SqlError(sqlstate::kInvalidParameterValue, "invalid salt"); }

/// Returns libcrypt's hash; empty: it refuses the settings or the password.
std::string hash_here(const std::string& password, const std::string& settings) {
  const auto data = std::make_unique<crypt_data>();
  const char* hash = crypt_r(password.c_str(), settings.c_str(), data.get());
  return hash == nullptr || hash[0] == '*' ? std::string() : std::string(hash);
}

std::string hash_aside(const std::string& password, const std::string& settings) {
  const auto hash = std::make_shared<std::string>();
  AsideThread::least_busy()->run([hash, password, settings] { *hash = hash_here(password, settings); });
  return *hash;
}

/// Returns a digit of settings of DES. PostgreSQL takes any other character for the digit 0, which libcrypt refuses.
char as_digit(char c) {
  const bool is_digit = c == '.' || c == '/' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return is_digit ? c : '.';
}

/// `length`: of the settings. They begin the hash as they were written.
std::string des_hash(std::string_view password, std::string_view salt, std::size_t length) {
  if (salt.size() < length) throw invalid_salt();
  const std::string written(salt.substr(0, length));
  std::string settings = written;
  const bool is_extended = written[0] == '_';
  std::transform(settings.begin() + (is_extended ? 1 : 0), settings.end(), settings.begin() + (is_extended ? 1 : 0), as_digit);
  const std::string hash = hash_here(std::string(is_extended ? password : password.substr(0, 8)), settings);
  if (hash.empty()) throw invalid_salt();
  return written + hash.substr(length);
}

std::string blowfish_hash(std::string_view password, std::string_view salt) {
  constexpr std::size_t kUsedBytes = 72;
  constexpr int kMostRounds = 20;
  const bool has_rounds = salt.size() > 6 && is_digit(salt[4]) && is_digit(salt[5]) && salt[6] == '$';
  const int rounds = has_rounds ? (salt[4] - '0') * 10 + (salt[5] - '0') : 0;
  if (rounds < 4 || rounds > 31) throw invalid_salt();
  if (rounds > kMostRounds) throw not_supported(fmt::format("crypt() by bf with more than {} rounds", kMostRounds));
  std::string hash = hash_aside(std::string(password.substr(0, kUsedBytes)), std::string(salt));
  if (hash.empty()) throw invalid_salt();
  return hash;
}

// ---- salts ------------------------------------------------------------------------------------------------------------------

constexpr std::string_view kDigits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBlowfishDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

std::string random_digits(std::size_t count, std::string_view digits) {
  std::string text(count, '\0');
  fill_random(reinterpret_cast<unsigned char*>(text.data()), count);
  for (char& c : text) c = digits[static_cast<unsigned char>(c) % digits.size()];
  return text;
}

std::string des_salt(std::int32_t) { return random_digits(2, kDigits); }
std::string md5_salt(std::int32_t) { return "$1$" + random_digits(8, kDigits); }
std::string extended_des_salt(std::int32_t rounds) {
  std::string text = "_";
  for (int i = 0; i < 4; ++i) text += kDigits[static_cast<std::size_t>((rounds >> (6 * i)) & 0x3F)];
  return text + random_digits(4, kDigits);
}
std::string blowfish_salt(std::int32_t rounds) {
  // 22 digits are 132 bits, of which bf has 128: the last digit has two bits of them.
  return fmt::format("$2a${:02}${}{}", rounds, random_digits(21, kBlowfishDigits), random_digits(1, ".Oeu"));
}

struct Method {
  std::string_view name;
  std::int32_t default_rounds, least_rounds, most_rounds;
  bool odd;  // an even number of rounds would show weak keys
  std::string (*salt)(std::int32_t rounds);
};
constexpr Method kMethods[] = {
    {"des", 25, 25, 25, false, des_salt},
    {"md5", 1000, 1000, 1000, false, md5_salt},
    {"xdes", 29 * 25, 1, 0xFFFFFF, true, extended_des_salt},
    {"bf", 6, 4, 31, false, blowfish_salt},
};

}  // namespace

std::string password_hash(std::string_view password, std::string_view salt) {
  if (salt.starts_with("$2a$") || salt.starts_with("$2x$")) return blowfish_hash(password, salt);
  if (salt.starts_with("$2$")) throw SqlError(sqlstate::kExternalRoutineInvocation, "crypt(3) returned NULL");
  if (salt.starts_with("$1$")) {
    std::string hash = hash_here(std::string(password), std::string(salt));
    if (hash.empty()) throw invalid_salt();
    return hash;
  }
  return salt.starts_with("_") ? des_hash(password, salt, 9) : des_hash(password, salt, 2);
}

std::string password_salt(std::string_view method, std::optional<std::int32_t> rounds) {
  const auto* found = std::ranges::find(kMethods, lower_case(method), &Method::name);
  if (found == std::end(kMethods)) throw SqlError(sqlstate::kInvalidParameterValue, "gen_salt: Unknown salt algorithm");
  const std::int32_t count = rounds.value_or(0) == 0 ? found->default_rounds : *rounds;
  if (count < found->least_rounds || count > found->most_rounds || (found->odd && count % 2 == 0)) {
    throw SqlError(sqlstate::kInvalidParameterValue, "gen_salt: Incorrect number of rounds");
  }
  return found->salt(count);
}

}  // namespace redquel::sql
