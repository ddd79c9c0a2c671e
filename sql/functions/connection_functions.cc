// Functions about connections: where the client is, and what it sent (manual 9.26.1), and its TLS (F.40, sslinfo).

#include "sql/catalog/role_set.h"
#include "sql/connection_hooks.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/privileges/permission_errors.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

namespace {

ConnectionHooks known_hooks;

const ConnectionHooks& server() {
  if (known_hooks.facts == nullptr) throw not_supported("a function about connections outside of a server's session");
  return known_hooks;
}

std::optional<ConnectionFacts> facts(Context context) { return server().facts(context.backend_pid); }

/// NULL without a connection over a network.
template <std::string ConnectionFacts::*address>
bool address_of(Context context, std::string& out) {
  const std::optional<ConnectionFacts> found = facts(context);
  if (!found || ((*found).*address).empty()) return false;
  out = std::get<std::string>(parse_value(kInet, (*found).*address, {}));
  return true;
}
template <std::int32_t ConnectionFacts::*port>
std::optional<std::int32_t> port_of(Context context) {
  const std::optional<ConnectionFacts> found = facts(context);
  return found && (*found).*port > 0 ? std::optional((*found).*port) : std::nullopt;
}

bool current_query(Context context, std::string& out) {
  const std::optional<ConnectionFacts> found = facts(context);
  if (found) out = found->query;
  return found.has_value();
}

bool is_superuser(Context context) {
  const RoleDef* role = known_roles()->find(context.user);
  return role != nullptr && role->superuser;
}

/// Returns true once the server is asked; it reads its files afterwards.
bool reload_configuration(Context context) {
  if (!is_superuser(context)) throw permission_denied("function", "pg_reload_conf");
  return server().reload();
}

// ---- sslinfo: the TLS of the own connection ------------------------------------------------------------------------

std::optional<EncryptionFacts> encryption(Context context) {
  std::optional<ConnectionFacts> found = facts(context);
  return found ? std::move(found->encryption) : std::nullopt;
}

bool has_certificate(Context context) {
  const std::optional<EncryptionFacts> tls = encryption(context);
  return tls && !tls->client_serial.empty();
}

/// Returns false (NULL) without TLS, or if the client has shown no certificate and the text is one of it.
template <std::string EncryptionFacts::*text>
bool tls_text(Context context, std::string& out) {
  std::optional<EncryptionFacts> tls = encryption(context);
  if (!tls || ((*tls).*text).empty()) return false;
  out = std::move((*tls).*text);
  return true;
}

std::optional<Numeric> client_serial(Context context) {
  std::string serial;
  if (!tls_text<&EncryptionFacts::client_serial>(context, serial)) return std::nullopt;
  return std::get<Numeric>(parse_value(kNumeric, serial, {}));
}

}  // namespace

const ConnectionHooks& connection_hooks() { return known_hooks; }
void set_connection_hooks(const ConnectionHooks& given) { known_hooks = given; }

std::vector<ScalarFunction> connection_functions() {
  constexpr Volatility kStable = Volatility::kStable, kVolatile = Volatility::kVolatile;
  return {
      scalar<address_of<&ConnectionFacts::client_address>>("inet_client_addr", {}, kInet, kStable),
      scalar<port_of<&ConnectionFacts::client_port>>("inet_client_port", {}, kInt4, kStable),
      scalar<address_of<&ConnectionFacts::server_address>>("inet_server_addr", {}, kInet, kStable),
      scalar<port_of<&ConnectionFacts::server_port>>("inet_server_port", {}, kInt4, kStable),
      scalar<current_query>("current_query", {}, kText, kVolatile),
      scalar<reload_configuration>("pg_reload_conf", {}, kBool, kVolatile),
      scalar<[](Context context) { return encryption(context).has_value(); }>("ssl_is_used", {}, kBool, kStable),
      scalar<tls_text<&EncryptionFacts::version>>("ssl_version", {}, kText, kStable),
      scalar<tls_text<&EncryptionFacts::cipher>>("ssl_cipher", {}, kText, kStable),
      scalar<has_certificate>("ssl_client_cert_present", {}, kBool, kStable),
      scalar<client_serial>("ssl_client_serial", {}, kNumeric, kStable),
      scalar<tls_text<&EncryptionFacts::client_subject>>("ssl_client_dn", {}, kText, kStable),
      scalar<tls_text<&EncryptionFacts::client_issuer>>("ssl_issuer_dn", {}, kText, kStable),
  };
}

}  // namespace redquel::sql
