#include "server/authentication/host_rule.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace redquel::server {

namespace {

using enum AuthenticationMethod;

struct MethodName {
  std::string_view name;
  AuthenticationMethod method;
};
constexpr MethodName kMethods[] = {{"trust", kTrust}, {"reject", kReject}, {"scram-sha-256", kScram}, {"md5", kMd5},
                                   {"password", kPassword}, {"cert", kCert}, {"peer", kPeer}};
/// PostgreSQL's other methods.
constexpr std::string_view kUnsupportedMethods[] = {"ident", "gss", "sspi", "pam", "bsd", "ldap", "radius"};

constexpr std::string_view kConnections[] = {"local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc"};

/// Options of methods that redquel does not have, with PostgreSQL's words for those methods.
struct ForeignOption {
  std::string_view name, methods;
};
constexpr ForeignOption kForeignOptions[] = {
    {"pamservice", "pam"}, {"pam_use_hostname", "pam"}, {"ldapurl", "ldap"}, {"ldaptls", "ldap"}, {"ldapscheme", "ldap"},
    {"ldapserver", "ldap"}, {"ldapport", "ldap"}, {"ldapbinddn", "ldap"}, {"ldapbindpasswd", "ldap"}, {"ldapsearchattribute", "ldap"},
    {"ldapsearchfilter", "ldap"}, {"ldapbasedn", "ldap"}, {"ldapprefix", "ldap"}, {"ldapsuffix", "ldap"}, {"krb_realm", "gssapi and sspi"},
    {"include_realm", "gssapi and sspi"}, {"compat_realm", "sspi"}, {"upn_username", "sspi"}, {"radiusservers", "radius"},
    {"radiussecrets", "radius"}, {"radiusports", "radius"}, {"radiusidentifiers", "radius"}};

struct LineError {
  std::string text;
};

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw LineError{fmt::format(format, std::forward<Arguments>(arguments)...)};
}

/// Reads an address as getaddrinfo(AI_NUMERICHOST) does. Returns its error number; 0: `address` is set.
int read_address(const std::string& text, asio::ip::address& address) {
  if (text.empty()) return EAI_NONAME;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_family = AF_UNSPEC;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(text.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  if (failure != 0) return failure;
  if (found->ai_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, found->ai_addr, sizeof in);
    address = asio::ip::address_v4(ntohl(in.sin_addr.s_addr));
  } else {
    sockaddr_in6 in{};
    std::memcpy(&in, found->ai_addr, sizeof in);
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    address = asio::ip::address_v6(bytes);
  }
  return 0;
}

/// Reads the number behind the slash (pg_sockaddr_cidr_mask).
std::optional<asio::ip::address> mask_of_length(const std::string& digits, bool is_v4) {
  char* end = nullptr;
  const long bits = std::strtol(digits.c_str(), &end, 10);
  if (digits.empty() || *end != '\0' || bits < 0 || bits > (is_v4 ? 32 : 128)) return std::nullopt;
  asio::ip::address_v6::bytes_type bytes{};
  for (long bit = 0; bit < bits; ++bit) bytes[static_cast<std::size_t>(bit / 8)] |= static_cast<unsigned char>(0x80 >> bit % 8);
  if (!is_v4) return asio::ip::address_v6(bytes);
  return asio::ip::address_v4({bytes[0], bytes[1], bytes[2], bytes[3]});
}

/// A line, field after field.
class LineParser {
 public:
  LineParser(const RuleLine& line, bool tls_is_on, std::string& warning) : line_(line), tls_is_on_(tls_is_on), warning_(warning) {}

  HostRule parse() {
    rule_.line = line_.number;
    rule_.text = line_.text;
    read_connection();
    rule_.databases = take("end-of-line before database specification");
    rule_.roles = take("end-of-line before role specification");
    if (!is_local()) read_addresses();
    read_method();
    while (next_ < line_.fields.size()) {
      for (const RuleWord& word : line_.fields[next_++]) read_option(word.text);
    }
    if (rule_.method == kCert) rule_.client_certificate = ClientCertificateRule::kFull;
    check_exposure();
    return std::move(rule_);
  }

 private:
  bool is_local() const { return rule_.connection == RuleConnection::kLocal; }

  const RuleField& take(std::string_view missing) {
    if (next_ == line_.fields.size()) fail("{}", missing);
    return line_.fields[next_++];
  }
  const RuleWord& take_one(std::string_view missing, std::string_view several) {
    const RuleField& field = take(missing);
    if (field.size() > 1) fail("{}", several);
    return field[0];
  }

  void read_connection() {
    const std::string& name = take_one("", "multiple values specified for connection type").text;
    const auto* found = std::ranges::find(kConnections, name);
    if (found == std::end(kConnections)) fail("invalid connection type \"{}\"", name);
    rule_.connection = static_cast<RuleConnection>(found - kConnections);
    if (rule_.connection == RuleConnection::kHostSsl && !tls_is_on_) warning_ = "hostssl record cannot match because SSL is disabled";
  }

  void read_addresses() {
    const RuleWord& word = take_one("end-of-line before IP address specification", "multiple values specified for host address");
    if (word.is_keyword("all")) {
      rule_.addresses = HostRule::Addresses::kAll;
    } else if (word.is_keyword("samehost")) {
      rule_.addresses = HostRule::Addresses::kSameHost;
    } else if (word.is_keyword("samenet")) {
      rule_.addresses = HostRule::Addresses::kSameNet;
    } else {
      rule_.addresses = HostRule::Addresses::kRange;
      read_range(word.text);
    }
  }

  void read_range(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::string host = text.substr(0, slash);
    const int failure = read_address(host, rule_.range.address);
    if (failure == EAI_NONAME && slash != std::string::npos) fail("specifying both host name and CIDR mask is invalid: \"{}\"", text);
    if (failure == EAI_NONAME) fail("host name \"{}\" is not supported by redquel, specify an IP address", host);
    if (failure != 0) fail("invalid IP address \"{}\": {}", host, ::gai_strerror(failure));
    if (slash != std::string::npos) {
      const auto mask = mask_of_length(text.substr(slash + 1), rule_.range.address.is_v4());
      if (!mask) fail("invalid CIDR mask in address \"{}\"", text);
      rule_.range.mask = *mask;
      return;
    }
    const std::string& mask = take_one("end-of-line before netmask specification", "multiple values specified for netmask").text;
    const int mask_failure = read_address(mask, rule_.range.mask);
    if (mask_failure != 0) fail("invalid IP mask \"{}\": {}", mask, ::gai_strerror(mask_failure));
    if (rule_.range.address.is_v4() != rule_.range.mask.is_v4()) fail("IP address and mask do not match");
  }

  void read_method() {
    const std::string& name =
        take_one("end-of-line before authentication method", "multiple values specified for authentication type").text;
    if (const auto* found = std::ranges::find(kMethods, name, &MethodName::name); found != std::end(kMethods)) {
      rule_.method = found->method;
    } else if (is_local() && name == "ident") {
      rule_.method = kPeer;  // as in PostgreSQL, for old files
    } else if (std::ranges::find(kUnsupportedMethods, name) != std::end(kUnsupportedMethods)) {
      fail("invalid authentication method \"{}\": not supported by this build", name);
    } else {
      fail("invalid authentication method \"{}\"", name);
    }
    if (rule_.method == kPeer && !is_local()) fail("peer authentication is only supported on local sockets");
    if (rule_.method == kCert && rule_.connection != RuleConnection::kHostSsl) {
      fail("cert authentication is only supported on hostssl connections");
    }
  }

  void read_option(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) fail("authentication option not in name=value format: {}", text);
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (name == "map") {
      if (rule_.method != kPeer && rule_.method != kCert) wrong_methods(name, "ident, peer, gssapi, sspi, and cert");
      rule_.map = value;
    } else if (name == "clientcert") {
      read_client_certificate(value);
    } else if (name == "clientname") {
      if (rule_.connection != RuleConnection::kHostSsl) fail("clientname can only be configured for \"hostssl\" rows");
      if (value != "CN" && value != "DN") fail("invalid value for clientname: \"{}\"", value);
      rule_.uses_distinguished_name = value == "DN";
    } else if (const auto* found = std::ranges::find(kForeignOptions, name, &ForeignOption::name); found != std::end(kForeignOptions)) {
      wrong_methods(name, found->methods);
    } else {
      fail("unrecognized authentication option name: \"{}\"", name);
    }
  }

  [[noreturn]] static void wrong_methods(std::string_view option, std::string_view methods) {
    fail("authentication option \"{}\" is only valid for authentication methods {}", option, methods);
  }

  void read_client_certificate(const std::string& value) {
    if (rule_.connection != RuleConnection::kHostSsl) fail("clientcert can only be configured for \"hostssl\" rows");
    if (value == "verify-full") {
      rule_.client_certificate = ClientCertificateRule::kFull;
    } else if (value != "verify-ca") {
      fail("invalid value for clientcert: \"{}\"", value);
    } else if (rule_.method == kCert) {
      fail("clientcert can only be set to \"verify-full\" when using \"cert\" authentication");
    } else {
      rule_.client_certificate = ClientCertificateRule::kAuthority;
    }
  }

  /// Refuses what PostgreSQL takes and redquel does not: logins without a secret beyond this machine, passwords without TLS.
  void check_exposure() const {
    if (is_local()) return;
    const bool is_this_machine = rule_.addresses == HostRule::Addresses::kRange && rule_.range.is_loopback();
    if (rule_.method == kTrust && !is_this_machine) fail("trust authentication is only supported for loopback addresses");
    if (rule_.method == kPassword && rule_.connection != RuleConnection::kHostSsl) {
      fail("password authentication is only supported on hostssl and local connections");
    }
  }

  const RuleLine& line_;
  const bool tls_is_on_;
  std::string& warning_;
  std::size_t next_ = 0;
  HostRule rule_;
};

template <class Bytes>
bool agree(const Bytes& left, const Bytes& right, const Bytes& mask) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (((left[i] ^ right[i]) & mask[i]) != 0) return false;
  }
  return true;
}

}  // namespace

std::string_view to_text(RuleConnection connection) { return kConnections[static_cast<std::size_t>(connection)]; }
std::string_view to_text(AuthenticationMethod method) { return std::ranges::find(kMethods, method, &MethodName::method)->name; }

bool AddressRange::contains(const asio::ip::address& other) const {
  if (other.is_v4() != address.is_v4()) return false;
  if (other.is_v4()) return agree(other.to_v4().to_bytes(), address.to_v4().to_bytes(), mask.to_v4().to_bytes());
  return agree(other.to_v6().to_bytes(), address.to_v6().to_bytes(), mask.to_v6().to_bytes());
}

bool AddressRange::is_loopback() const {
  if (!address.is_loopback()) return false;
  if (address.is_v4()) return mask.to_v4().to_bytes()[0] == 0xff;
  return std::ranges::all_of(mask.to_v6().to_bytes(), [](unsigned char byte) { return byte == 0xff; });
}

ParsedHostRule parse_host_rule(const RuleLine& line, bool tls_is_on) {
  ParsedHostRule parsed{.line = line.number, .rule = std::nullopt, .error = line.error};
  if (!parsed.error.empty()) return parsed;
  try {
    parsed.rule = LineParser(line, tls_is_on, parsed.error).parse();
  } catch (LineError& error) {
    parsed.error = std::move(error.text);
  }
  return parsed;
}

std::vector<ParsedHostRule> parse_host_rules(const std::vector<RuleLine>& lines, bool tls_is_on) {
  std::vector<ParsedHostRule> rules;
  rules.reserve(lines.size());
  for (const RuleLine& line : lines) rules.push_back(parse_host_rule(line, tls_is_on));
  return rules;
}

std::vector<std::string> options_of(const HostRule& rule) {
  std::vector<std::string> options;
  if (rule.map) options.push_back("map=" + *rule.map);
  if (rule.client_certificate != ClientCertificateRule::kOff) {
    options.emplace_back(rule.client_certificate == ClientCertificateRule::kFull ? "clientcert=verify-full" : "clientcert=verify-ca");
  }
  return options;
}

}  // namespace redquel::server
