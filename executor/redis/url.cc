#include "executor/redis/url.h"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/sub_delim_chars.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <charconv>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw sql::SqlError(sqlstate::kInvalidParameterValue, "invalid Redis URL: " + std::string(what))
      .hint("Use redis://[[user]:password@]host[:port][/database], rediss:// for the same within TLS, or unix://[[user]:password@]/path[?db=database].");
}

template <typename Integer>
Integer parse_number(std::string_view digits, Integer lowest, Integer highest, std::string_view what) {
  Integer number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || rest != digits.data() + digits.size() || number < lowest || number > highest) {
    refuse(std::string(what) + " must be a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return number;
}

int parse_database(std::string_view digits) { return parse_number<int>(digits, 0, 1'000'000, "the database"); }

std::string checked(std::string text) {
  if (text.find('\0') != std::string::npos) refuse("it contains a zero byte");
  return text;
}

/// Encodes all but these characters and %, which begins what is encoded already.
std::string encoded_except(std::string_view text, const boost::urls::grammar::lut_chars& allowed) {
  std::string out;
  for (;;) {
    const std::size_t percent = text.find('%');
    out += boost::urls::encode(text.substr(0, percent), allowed);
    if (percent == std::string_view::npos) return out;
    out += '%';
    text.remove_prefix(percent + 1);
  }
}

/// Encodes the characters that RFC 3986 does not allow unencoded: passwords and paths are often written as they are. The last @ before the
/// first / ends the login, so a password may contain one.
std::string encoded(std::string_view url) {
  constexpr auto kLoginChars = boost::urls::unreserved_chars + boost::urls::sub_delim_chars + ':';
  constexpr auto kOtherChars = kLoginChars + '/' + '?' + '#' + '[' + ']' + '@';
  const std::size_t begin = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  const std::size_t login_end = at == std::string_view::npos || at < begin ? begin : at;
  return std::string(url.substr(0, begin)) + encoded_except(url.substr(begin, login_end - begin), kLoginChars) +
         encoded_except(url.substr(login_end), kOtherChars);
}

void read_login(const boost::urls::url_view& parts, RedisUrl& url) {
  if (!parts.has_userinfo()) return;
  if (!parts.has_password()) refuse("a user needs a password (user:password@)");
  url.user = checked(parts.user());
  url.password = checked(parts.password());
  if (url.password.empty()) refuse("the password is empty");
}

void read_query(const boost::urls::url_view& parts, RedisUrl& url) {
  for (const boost::urls::param& parameter : parts.params()) {
    if (parameter.key != "db") refuse("the only parameter is db");
    url.database = parse_database(parameter.value);
  }
}

TcpPlace tcp_place(const boost::urls::url_view& parts) {
  TcpPlace place;
  place.host = checked(parts.host_address());
  if (place.host.empty()) refuse("the host is missing; an IPv6 address must stand in brackets []");
  if (parts.has_port()) place.port = parse_number<std::uint16_t>(parts.port(), 1, 65535, "the port");
  return place;
}

UnixPlace unix_place(const boost::urls::url_view& parts) {
  const std::string path = checked(parts.path());
  if (!parts.host().empty() || path.size() < 2) refuse("the path of the socket must be absolute");
  return UnixPlace{path};
}

}  // namespace

std::string RedisUrl::address() const {
  if (const auto* local = std::get_if<UnixPlace>(&place)) return local->path;
  const TcpPlace& remote = std::get<TcpPlace>(place);
  const bool is_ipv6 = remote.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + remote.host + "]" : remote.host) + ":" + std::to_string(remote.port);
}

RedisUrl parse_redis_url(std::string_view text) {
  const bool is_known = text.starts_with("redis://") || text.starts_with("rediss://") || text.starts_with("unix://");
  if (!is_known) refuse("it must begin with redis://, rediss:// or unix://");
  const std::string written = encoded(text);
  const auto parsed = boost::urls::parse_uri(written);
  if (!parsed) refuse("an IPv6 address must stand in brackets [], and % must be followed by two hexadecimal digits");
  const boost::urls::url_view& parts = *parsed;
  if (parts.has_fragment()) refuse("it must not contain #");
  RedisUrl url;
  read_login(parts, url);
  read_query(parts, url);
  if (parts.scheme() == "unix") {
    url.place = unix_place(parts);
  } else {
    url.tls = parts.scheme() == "rediss";
    url.place = tcp_place(parts);
    if (const std::string path = parts.path(); path.size() > 1) url.database = parse_database(std::string_view(path).substr(1));
  }
  return url;
}

}  // namespace redquel::executor
