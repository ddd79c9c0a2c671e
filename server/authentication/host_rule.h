#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/authentication/rule_lines.h"

namespace redquel::server {

namespace asio = boost::asio;

enum class RuleConnection : std::uint8_t { kLocal, kHost, kHostSsl, kHostNoSsl, kHostGss, kHostNoGss };
enum class AuthenticationMethod : std::uint8_t { kTrust, kReject, kScram, kMd5, kPassword, kCert, kPeer };
/// The client certificate that a rule asks for: none, one that tls.client_ca has signed, or one that names the role, too.
enum class ClientCertificateRule : std::uint8_t { kOff, kAuthority, kFull };

std::string_view to_text(RuleConnection connection);
std::string_view to_text(AuthenticationMethod method);

/// Addresses that agree with `address` in the bits of `mask`.
struct AddressRange {
  asio::ip::address address, mask;

  bool contains(const asio::ip::address& other) const;
  /// Returns true if every address in it belongs to this machine.
  bool is_loopback() const;
};

/// A line of pg_hba.conf (PostgreSQL's manual, 21.1).
struct HostRule {
  enum class Addresses : std::uint8_t { kRange, kAll, kSameHost, kSameNet };

  std::size_t line = 0;
  std::string text;
  RuleConnection connection = RuleConnection::kLocal;
  RuleField databases, roles;
  Addresses addresses = Addresses::kAll;
  AddressRange range;  // of kRange
  AuthenticationMethod method = AuthenticationMethod::kReject;
  std::optional<std::string> map;  // none or empty: the names must be equal
  ClientCertificateRule client_certificate = ClientCertificateRule::kOff;
  bool uses_distinguished_name = false;
};

/// A line with its rule, unless it has an error.
struct ParsedHostRule {
  std::size_t line = 0;
  std::optional<HostRule> rule;
  std::string error;  // empty: none. A line may have both: a hostssl rule while TLS is off
};

/// Reads a line as PostgreSQL 15 does (hba.c, parse_hba_line), with its errors. Further errors of redquel: host names, methods that it does
/// not have, trust beyond loopback, password without TLS.
ParsedHostRule parse_host_rule(const RuleLine& line, bool tls_is_on);
std::vector<ParsedHostRule> parse_host_rules(const std::vector<RuleLine>& lines, bool tls_is_on);

/// Returns the column `options` of pg_hba_file_rules.
std::vector<std::string> options_of(const HostRule& rule);

}  // namespace redquel::server
