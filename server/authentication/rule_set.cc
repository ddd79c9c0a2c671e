#include "server/authentication/rule_set.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "server/authentication/socket_owner.h"
#include "server/connection_security.h"

namespace redquel::server {

namespace {

/// Passwords for all but the machine's own users on a unix socket.
constexpr std::string_view kBuiltInRules =
    "local all all     peer map=redquel\n"
    "host  all all all scram-sha-256\n";

std::vector<RuleLine> read_lines(const std::filesystem::path& file, const std::string& text) {
  if (!text.empty()) return split_rule_lines(text, std::filesystem::current_path() / "rules", read_rule_file);
  return split_rule_lines(read_rule_file(file), file, read_rule_file);
}

/// Takes the rules of lines without errors. Throws for the first error.
template <class Rule, class Parsed>
std::vector<Rule> take_rules(std::vector<Parsed> lines, const std::string& source) {
  std::vector<Rule> rules;
  for (Parsed& line : lines) {
    if (!line.rule) throw std::runtime_error(fmt::format("{}:{}: {}", source, line.line, line.error));
    rules.push_back(*std::move(line.rule));
  }
  return rules;
}

bool is_member(const RuleSet::Login& login, std::string_view role) {
  return std::ranges::find(login.memberships, role) != login.memberships.end();
}

bool fits_database(const RuleSet::Login& login, const RuleField& databases) {
  return std::ranges::any_of(databases, [&](const RuleWord& word) {
    if (word.is_keyword("all")) return true;
    if (word.is_keyword("sameuser")) return login.database == login.user;
    if (word.is_keyword("samegroup") || word.is_keyword("samerole")) return is_member(login, login.database);
    return !word.is_keyword("replication") && word.text == login.database;
  });
}

bool fits_role(const RuleSet::Login& login, const RuleField& roles) {
  return std::ranges::any_of(roles, [&](const RuleWord& word) {
    if (!word.is_quoted && word.text.starts_with('+')) return is_member(login, std::string_view(word.text).substr(1));
    return word.text == login.user || word.is_keyword("all");
  });
}

asio::ip::address address_of(const sockaddr& socket) {
  if (socket.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &socket, sizeof in);
    return asio::ip::address_v4(ntohl(in.sin_addr.s_addr));
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &socket, sizeof in);
  asio::ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
  return asio::ip::address_v6(bytes);
}

/// Returns true if an interface of this machine has the address, or with `network` one of its network (check_same_host_or_net).
bool is_of_this_machine(const asio::ip::address& address, bool network) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(first, ::freeifaddrs);
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_addr->sa_family != AF_INET && each->ifa_addr->sa_family != AF_INET6)) continue;
    const asio::ip::address own = address_of(*each->ifa_addr);
    if (own == address) return true;
    if (!network || each->ifa_netmask == nullptr || each->ifa_netmask->sa_family != each->ifa_addr->sa_family) continue;
    if (AddressRange{own, address_of(*each->ifa_netmask)}.contains(address)) return true;
  }
  return false;
}

bool fits_address(const asio::ip::address& address, const HostRule& rule) {
  switch (rule.addresses) {
    case HostRule::Addresses::kRange:
      return rule.range.contains(address);
    case HostRule::Addresses::kAll:
      return true;
    case HostRule::Addresses::kSameHost:
    case HostRule::Addresses::kSameNet:
      return is_of_this_machine(address, rule.addresses == HostRule::Addresses::kSameNet);
  }
  return false;
}

bool fits_connection(const ConnectionSecurity& connection, RuleConnection kind) {
  switch (kind) {
    case RuleConnection::kLocal:
      return connection.is_unix_socket;
    case RuleConnection::kHost:
    case RuleConnection::kHostNoGss:
      return !connection.is_unix_socket;
    case RuleConnection::kHostSsl:
      return !connection.is_unix_socket && connection.tls.has_value();
    case RuleConnection::kHostNoSsl:
      return !connection.is_unix_socket && !connection.tls.has_value();
    case RuleConnection::kHostGss:
      return false;  // redquel has no GSSAPI encryption
  }
  return false;
}

}  // namespace

std::vector<ParsedHostRule> read_host_rules(const RuleSources& sources) {
  if (sources.has_rules()) return parse_host_rules(read_lines(sources.hba_file, sources.rules), sources.tls_is_on);
  return parse_host_rules(split_rule_lines(kBuiltInRules, {}, read_rule_file), sources.tls_is_on);
}

std::vector<ParsedIdentRule> read_ident_rules(const RuleSources& sources) {
  if (sources.ident_file.empty()) return {};
  return parse_ident_rules(read_lines(sources.ident_file, {}));
}

RuleSetPtr RuleSet::load(RuleSources sources) {
  auto set = std::make_shared<RuleSet>();
  std::string source = sources.rules.empty() ? sources.hba_file.string() : "authentication.rules";
  try {
    set->rules_ = take_rules<HostRule>(read_host_rules(sources), source);
    if (set->rules_.empty()) throw std::runtime_error(fmt::format("{}: the file contains no rules", source));
    source = sources.ident_file.string();
    set->maps_ = take_rules<IdentRule>(read_ident_rules(sources), source);
  } catch (const std::system_error& failure) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", source, std::strerror(failure.code().value())));
  }
  set->sources_ = std::move(sources);
  return set;
}

const HostRule* RuleSet::find(const Login& login) const {
  const auto found = std::ranges::find_if(rules_, [&](const HostRule& rule) {
    return fits_connection(login.connection, rule.connection) &&
           (rule.connection == RuleConnection::kLocal || fits_address(login.connection.client_address, rule)) &&
           fits_database(login, rule.databases) && fits_role(login, rule.roles);
  });
  return found == rules_.end() ? nullptr : &*found;
}

bool RuleSet::is_mapped(const HostRule& rule, std::string_view system_name, std::string_view role, std::string& log) const {
  return server::is_mapped(maps_, sources_.has_rules() ? rule.map.value_or("") : "", system_name, role, log);
}

bool RuleSet::lets_in_all_roles(std::uint32_t user) const { return !sources_.has_rules() && is_own_or_root(user); }

}  // namespace redquel::server
