#include "server/startup_packet.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "server/ascii.h"
#include "server/body_reader.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::server {

namespace {

constexpr std::uint32_t kSslRequestCode = 1234u << 16 | 5679;
constexpr std::uint32_t kGssRequestCode = 1234u << 16 | 5680;
constexpr std::uint32_t kCancelRequestCode = 1234u << 16 | 5678;
constexpr std::size_t kNameLimit = 63;  // bytes of an identifier

sql::SqlError bad_layout() {
  return sql::SqlError(sqlstate::kProtocolViolation, "invalid startup packet layout: expected terminator as last byte");
}

std::string identifier(std::string_view text) {
  sql::check_utf8(text);
  if (text.size() > kNameLimit) {
    text = text.substr(0, kNameLimit);
    while (!sql::is_valid_utf8(text)) text.remove_suffix(1);
  }
  return std::string(text);
}

/// Returns true for a session of logical replication.
bool wants_replication(std::string_view value) {
  const std::string word = lower_case(value);
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is_one_of({"false", "off", "no", "0", "f", "n"})) return false;
  if (word == "database") return true;
  if (is_one_of({"true", "on", "yes", "1", "t", "y"})) throw sql::not_supported("physical replication");
  throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"replication\": \"{}\"", value))
      .hint("Valid values are: \"false\", 0, \"true\", 1, \"database\".");
}

StartupMessage decode_startup_message(std::uint16_t minor, BodyReader& reader) {
  StartupMessage message;
  message.minor_version = minor;
  std::string options;
  std::vector<std::pair<std::string, std::string>> settings;
  // Pairs of texts until an empty name, which must be the packet's last byte.
  if (reader.rest().empty() || reader.rest().back() != '\0') throw bad_layout();
  while (true) {
    const std::string_view name = reader.text();
    if (name.empty()) break;
    if (reader.rest().empty()) throw bad_layout();
    const std::string_view value = reader.text();
    if (reader.rest().empty()) throw bad_layout();
    if (name == "user") {
      message.user = identifier(value);
    } else if (name == "database") {
      message.database = identifier(value);
    } else if (name == "options") {
      options = std::string(value);
    } else if (name == "replication") {
      message.replicates = wants_replication(value);
    } else if (name.substr(0, 5) == "_pq_.") {
      message.protocol_options.emplace_back(name);
    } else {
      settings.emplace_back(name, value);
    }
  }
  if (!reader.rest().empty()) throw bad_layout();
  if (message.user.empty()) {
    throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, "no PostgreSQL user name specified in startup packet");
  }
  if (message.database.empty()) message.database = message.user;
  message.settings = parse_startup_options(options);
  message.settings.insert(message.settings.end(), settings.begin(), settings.end());
  return message;
}

/// Words separated by blanks; a backslash takes the next byte as it is.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (sql::is_blank(text[i])) {
      if (word) words.push_back(*std::move(word));
      word.reset();
      continue;
    }
    if (!word) word.emplace();
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    word->push_back(text[i]);
  }
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options) {
  std::vector<std::pair<std::string, std::string>> settings;
  const std::vector<std::string> words = split_words(options);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    std::string_view flag;
    if (word.substr(0, 2) == "-c") {
      flag = "-c ";
      word.remove_prefix(2);
      if (word.empty()) {
        if (++i == words.size()) throw sql::SqlError(sqlstate::kSyntaxError, "invalid command-line argument for server process: -c");
        word = words[i];
      }
    } else if (word.size() > 2 && word.substr(0, 2) == "--") {
      flag = "--";
      word.remove_prefix(2);
    } else {
      throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("invalid command-line argument for server process: {}", word));
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("{}{} requires a value", flag, word));
    std::string name(word.substr(0, equals));
    std::ranges::replace(name, '-', '_');
    settings.emplace_back(std::move(name), std::string(word.substr(equals + 1)));
  }
  return settings;
}

StartupPacket decode_startup_packet(std::string_view body) {
  BodyReader reader(body);
  const std::uint32_t code = reader.uint32();
  switch (code) {
    case kSslRequestCode:
      return SslRequest{};
    case kGssRequestCode:
      return GssEncryptionRequest{};
    case kCancelRequestCode: {
      const auto process_id = static_cast<std::int32_t>(reader.uint32());
      const auto secret = static_cast<std::int32_t>(reader.uint32());
      return CancelRequest{{process_id, secret}};
    }
    default:
      break;
  }
  const std::uint32_t major = code >> 16, minor = code & 0xffff;
  if (major != 3) {
    throw sql::SqlError(sqlstate::kFeatureNotSupported,
                        fmt::format("unsupported frontend protocol {}.{}: server supports 3.0 to 3.0", major, minor));
  }
  return decode_startup_message(static_cast<std::uint16_t>(minor), reader);
}

}  // namespace redquel::server
