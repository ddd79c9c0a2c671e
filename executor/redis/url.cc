#include "executor/redis/url.h"

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/sub_delim_chars.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <charconv>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::uint16_t kRedisPort = 6379, kSentinelPort = 26379;

[[noreturn]] void refuse(std::string_view what) {
  throw sql::SqlError(sqlstate::kInvalidParameterValue, "invalid Redis URL: " + std::string(what))
      .hint("Use redis://[[user]:password@]host[:port][/database], rediss:// for the same within TLS, unix://[[user]:password@]/path[?db=database], "
            "sentinel://[[user]:password@]host[:port],host[:port]/master[?db=database] (rediss+sentinel:// within TLS), or "
            "cluster://[[user]:password@]host[:port],host[:port] (rediss+cluster:// within TLS).");
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
    if (parameter.key == "db") {
      url.database = parse_database(parameter.value);
    } else if (url.sentinels && parameter.key == "sentinel_user") {
      url.sentinels->user = checked(parameter.value);
    } else if (url.sentinels && parameter.key == "sentinel_password") {
      url.sentinels->password = checked(parameter.value);
    } else {
      refuse(url.sentinels ? "the only parameters are db, sentinel_user and sentinel_password" : "the only parameter is db");
    }
  }
  if (url.sentinels && !url.sentinels->user.empty() && url.sentinels->password.empty()) refuse("sentinel_user needs sentinel_password");
}

TcpPlace tcp_place(const boost::urls::url_view& parts, std::uint16_t default_port) {
  TcpPlace place;
  place.port = default_port;
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

boost::urls::url_view parsed(const std::string& written) {
  const auto parts = boost::urls::parse_uri(written);
  if (!parts) refuse("an IPv6 address must stand in brackets [], and % must be followed by two hexadecimal digits");
  if (parts->has_fragment()) refuse("it must not contain #");
  return *parts;
}

/// An encoded URL with one or more hosts, taken apart.
struct ManyHosts {
  std::vector<TcpPlace> places;
  std::string rest;  // the URL with one host in place of all
};

ManyHosts read_hosts(const std::string& written, std::uint16_t default_port, std::string_view noun) {
  constexpr std::size_t kMostHosts = 16;
  const std::size_t begin = written.find("://") + 3;
  const std::size_t hosts_end = std::min(written.find_first_of("/?", begin), written.size());
  const std::size_t at = written.substr(0, hosts_end).rfind('@');
  const std::size_t hosts_begin = at == std::string::npos || at < begin ? begin : at + 1;
  ManyHosts hosts;
  for (std::size_t place = hosts_begin; place <= hosts_end;) {
    const std::size_t end = std::min(written.find(',', place), hosts_end);
    const std::string one = "redis://" + written.substr(place, end - place);
    hosts.places.push_back(tcp_place(parsed(one), default_port));
    place = end + 1;
  }
  if (hosts.places.size() > kMostHosts) refuse("it names more than " + std::to_string(kMostHosts) + " " + std::string(noun));
  hosts.rest = written.substr(0, hosts_begin) + "hosts" + written.substr(hosts_end);
  return hosts;
}

RedisUrl sentinel_url(const std::string& written) {
  RedisUrl url;
  ManyHosts hosts = read_hosts(written, kSentinelPort, "sentinels");
  url.sentinels.emplace();
  url.sentinels->places = std::move(hosts.places);
  const boost::urls::url_view parts = parsed(hosts.rest);
  read_login(parts, url);
  read_query(parts, url);
  const std::string path = checked(parts.path());
  if (path.size() < 2) refuse("the name of the master is missing (sentinel://host:26379/NAME)");
  url.sentinels->master = path.substr(1);
  const auto is_unusable = [](unsigned char byte) { return byte <= ' ' || byte == '/' || byte == 0x7F; };
  if (std::ranges::any_of(url.sentinels->master, is_unusable)) refuse("the name of the master contains a space or a slash");
  url.tls = parts.scheme() == "rediss+sentinel";
  return url;
}

RedisUrl cluster_url(const std::string& written) {
  RedisUrl url;
  ManyHosts hosts = read_hosts(written, kRedisPort, "nodes");
  url.cluster = std::move(hosts.places);
  const boost::urls::url_view parts = parsed(hosts.rest);
  read_login(parts, url);
  read_query(parts, url);
  if (const std::string path = parts.path(); path.size() > 1) url.database = parse_database(std::string_view(path).substr(1));
  if (url.database != 0) refuse("a cluster has the database 0 alone");
  url.tls = parts.scheme() == "rediss+cluster";
  return url;
}

}  // namespace

std::string TcpPlace::address() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string RedisUrl::address() const {
  if (sentinels) {
    std::string list;
    for (const TcpPlace& one : sentinels->places) list += (list.empty() ? "" : ", ") + one.address();
    return "master " + sentinels->master + " (sentinels " + list + ")";
  }
  if (!cluster.empty()) {
    std::string list;
    for (const TcpPlace& one : cluster) list += (list.empty() ? "cluster " : ", ") + one.address();
    return list;
  }
  if (const auto* local = std::get_if<UnixPlace>(&place)) return local->path;
  return std::get<TcpPlace>(place).address();
}

RedisUrl parse_redis_url(std::string_view text) {
  const bool has_sentinels = text.starts_with("sentinel://") || text.starts_with("rediss+sentinel://");
  const bool is_cluster = text.starts_with("cluster://") || text.starts_with("rediss+cluster://");
  const bool is_known = has_sentinels || is_cluster || text.starts_with("redis://") || text.starts_with("rediss://") || text.starts_with("unix://");
  if (!is_known) refuse("it must begin with redis://, rediss://, unix://, sentinel://, rediss+sentinel://, cluster:// or rediss+cluster://");
  const std::string written = encoded(text);
  if (has_sentinels) return sentinel_url(written);
  if (is_cluster) return cluster_url(written);
  const boost::urls::url_view parts = parsed(written);
  RedisUrl url;
  read_login(parts, url);
  read_query(parts, url);
  if (parts.scheme() == "unix") {
    url.place = unix_place(parts);
  } else {
    url.tls = parts.scheme() == "rediss";
    url.place = tcp_place(parts, kRedisPort);
    if (const std::string path = parts.path(); path.size() > 1) url.database = parse_database(std::string_view(path).substr(1));
  }
  return url;
}

}  // namespace redquel::executor
