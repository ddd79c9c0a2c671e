#include "executor/redis/url.h"

#include <charconv>
#include <optional>

#include "sql/error.h"

namespace redquel::executor {

namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw std::move(sql::SqlError("22023", "invalid Redis URL: " + std::string(what)))
      .hint("Use redis://[[user]:password@]host[:port][/database], rediss:// for the same within TLS, or unix://[[user]:password@]/path[?db=database].");
}

template <typename Integer>
Integer parse_number(std::string_view digits, Integer lowest, Integer highest, std::string_view what) {
  Integer number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || rest != digits.data() + digits.size() || number < lowest || number > highest)
    refuse(std::string(what) + " must be a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  return number;
}

std::optional<int> hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return std::nullopt;
}

std::string decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] != '%') {
      decoded += text[position];
      continue;
    }
    const auto high = position + 2 < text.size() ? hex_digit(text[position + 1]) : std::nullopt;
    const auto low = position + 2 < text.size() ? hex_digit(text[position + 2]) : std::nullopt;
    if (!high || !low) refuse("% must be followed by two hexadecimal digits");
    decoded += static_cast<char>(*high * 16 + *low);
    if (decoded.back() == '\0') refuse("it contains a zero byte");
    position += 2;
  }
  return decoded;
}

/// Takes "user:password@" off the front. The last @ before the first / counts, so a password may contain one.
void take_login(std::string_view& rest, RedisUrl& url) {
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view login = authority.substr(0, at);
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) refuse("a user needs a password (user:password@)");
  url.user = decode_percent(login.substr(0, colon));
  url.password = decode_percent(login.substr(colon + 1));
  if (url.password.empty()) refuse("the password is empty");
  rest.remove_prefix(at + 1);
}

/// Takes "?db=N" off the end, for both forms of URL.
void take_query(std::string_view& rest, RedisUrl& url) {
  const std::size_t mark = rest.find('?');
  if (mark == std::string_view::npos) return;
  const std::string_view query = rest.substr(mark + 1);
  if (!query.starts_with("db=")) refuse("the only parameter is db");
  url.database = parse_number<int>(query.substr(3), 0, 1'000'000, "the database");
  rest = rest.substr(0, mark);
}

TcpPlace parse_host_and_port(std::string_view text) {
  TcpPlace place;
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) refuse("] is missing behind the host");
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') refuse("only a port may follow ]");
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
    if (port.substr(1).find(':') != std::string_view::npos) refuse("an IPv6 address must stand in brackets");
  }
  place.host = decode_percent(host);
  if (place.host.empty()) refuse("the host is missing");
  if (!port.empty()) place.port = parse_number<std::uint16_t>(port.substr(1), 1, 65535, "the port");
  return place;
}

RedisUrl parse_tcp_url(std::string_view rest) {
  RedisUrl url;
  take_login(rest, url);
  take_query(rest, url);
  const std::size_t slash = rest.find('/');
  url.place = parse_host_and_port(rest.substr(0, slash));
  if (slash != std::string_view::npos && slash + 1 < rest.size())
    url.database = parse_number<int>(rest.substr(slash + 1), 0, 1'000'000, "the database");
  return url;
}

RedisUrl parse_unix_url(std::string_view rest) {
  RedisUrl url;
  take_login(rest, url);
  take_query(rest, url);
  if (!rest.starts_with('/') || rest.size() == 1) refuse("the path of the socket must be absolute");
  url.place = UnixPlace{decode_percent(rest)};
  return url;
}

}  // namespace

std::string RedisUrl::address() const {
  if (const auto* local = std::get_if<UnixPlace>(&place)) return local->path;
  const TcpPlace& remote = std::get<TcpPlace>(place);
  const bool is_ipv6 = remote.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + remote.host + "]" : remote.host) + ":" + std::to_string(remote.port);
}

RedisUrl parse_redis_url(std::string_view url) {
  constexpr std::string_view kTcpScheme = "redis://";
  constexpr std::string_view kTlsScheme = "rediss://";
  constexpr std::string_view kUnixScheme = "unix://";
  if (url.starts_with(kTcpScheme)) return parse_tcp_url(url.substr(kTcpScheme.size()));
  if (url.starts_with(kUnixScheme)) return parse_unix_url(url.substr(kUnixScheme.size()));
  if (url.starts_with(kTlsScheme)) {
    RedisUrl parsed = parse_tcp_url(url.substr(kTlsScheme.size()));
    parsed.tls = true;
    return parsed;
  }
  refuse("it must begin with redis://, rediss:// or unix://");
}

}  // namespace redquel::executor
