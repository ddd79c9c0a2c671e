// From the first byte to the first ReadyForQuery.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "executor/runtime/clock.h"
#include "server/body_reader.h"
#include "server/replication/replication_session.h"
#include "server/session.h"
#include "server/session_login.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::server {

asio::awaitable<void> Session::read_startup_bytes() {
  host_.set_startup_waiting(number_, true);
  co_await read_more();
  host_.set_startup_waiting(number_, false);
  if (end_.is_refused) throw sql::SqlError(sqlstate::kTooManyConnections, "sorry, too many clients already");
  check_shutdown();
}

void Session::check_shutdown() const {
  if (end_.is_terminating) throw sql::SqlError(sqlstate::kCannotConnectNow, "the database system is shutting down");
}

asio::awaitable<std::optional<StartupPacket>> Session::read_startup_packet() {
  constexpr std::size_t kLengthBytes = 4;
  while (!decoder_.peek(kLengthBytes)) co_await read_startup_bytes();
  const std::uint32_t length = BodyReader(*decoder_.peek(kLengthBytes)).uint32();
  if (length < 2 * kLengthBytes || length - kLengthBytes > kStartupPacketLimit) {
    host_.note_bad_startup(connection_.peer_address(), "no startup packet of PostgreSQL");
    co_return std::nullopt;
  }
  while (!decoder_.peek(length)) co_await read_startup_bytes();
  const std::string_view packet = *decoder_.take(length);
  co_return decode_startup_packet(packet.substr(kLengthBytes));
}

asio::awaitable<void> Session::complete_handshake() {
  host_.set_startup_waiting(number_, true);
  bool done = false;
  while (!done) {
    done = co_await connection_.shake_hands();
    if (end_.is_refused || end_.is_terminating) throw TlsRefusal{"interrupted"};  // before that, the client understands no message
  }
  host_.set_startup_waiting(number_, false);
}

asio::awaitable<bool> Session::take_direct_tls() {
  constexpr char kHandshakeRecord = 0x16;
  while (decoder_.unread() == 0) co_await read_startup_bytes();
  if (decoder_.peek(1)->front() != kHandshakeRecord) co_return true;
  const executor::TlsContextPtr context = connection_.security().is_unix_socket ? nullptr : host_.tls();
  if (!context) {
    host_.note_bad_startup(connection_.peer_address(), "TLS where there is none");
    co_return false;
  }
  connection_.begin_tls(context, *decoder_.take(decoder_.unread()));
  co_await complete_handshake();
  // Without it, a client of another protocol may have been led here (ALPACA); PostgreSQL 17 demands it, too.
  if (!connection_.has_application_protocol()) throw TlsRefusal{"a client that begins with TLS must offer the protocol postgresql (ALPN)"};
  co_return true;
}

asio::awaitable<void> Session::answer_ssl_request() {
  const executor::TlsContextPtr context = connection_.security().is_unix_socket ? nullptr : host_.tls();
  co_await connection_.write(context ? "S" : "N");
  if (context) {
    connection_.begin_tls(context, {});
    co_await complete_handshake();
  }
}

asio::awaitable<bool> Session::start_up() {
  check_shutdown();
  if (!co_await take_direct_tls()) co_return false;
  bool ssl_answered = connection_.is_encrypted(), gss_answered = ssl_answered;
  while (true) {
    check_shutdown();
    std::optional<StartupPacket> packet = co_await read_startup_packet();
    if (!packet) co_return false;
    if (const auto* request = std::get_if<CancelRequest>(&*packet)) {
      host_.forward_cancel(request->key, connection_.peer_address());
      co_return false;
    }
    if (auto* message = std::get_if<StartupMessage>(&*packet)) {
      auto opening = open(std::move(*message));
      co_await std::move(opening);
      co_return true;
    }
    // Encryption is asked for once of each kind, as in PostgreSQL.
    const bool is_ssl = std::holds_alternative<SslRequest>(*packet);
    if (is_ssl ? ssl_answered : gss_answered) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported,
                          fmt::format("unsupported frontend protocol 1234.{}: server supports 3.0 to 3.0", is_ssl ? "5679" : "5680"));
    }
    (is_ssl ? ssl_answered : gss_answered) = true;
    // Bytes behind the request were sent without encryption, perhaps by another one than the client (CVE-2021-23214).
    const bool is_stuffed = decoder_.unread() > 0;
    if (is_ssl) co_await answer_ssl_request();
    else co_await connection_.write("N");
    if (is_stuffed) {
      throw sql::SqlError(sqlstate::kProtocolViolation,
                          fmt::format("received unencrypted data after {} request", is_ssl ? "SSL" : "GSSAPI encryption"))
          .detail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.");
    }
    gss_answered = gss_answered || connection_.is_encrypted();
  }
}

/// ALTER ROLE … SET and ALTER DATABASE … SET. A value that is refused by now is a warning in the log.
void Session::set_role_defaults(const std::vector<ParameterValue>& settings) {
  for (const auto& [name, value] : settings) {
    try {
      parameters_.set_stored(name, value);
    } catch (const sql::SqlError& error) {
      spdlog::warn("a setting of role {} in database {} is ignored: {}", state_.user, state_.database, error.message());
    }
  }
}

sql::SessionStatistics Session::session_facts(const SessionPlaces::Place& place) const {
  const sql::ConnectionFacts& ends = connection_.facts();
  return {.process_id = key_.process_id,
          .role = place.role,
          .role_name = place.role_name,
          .database = place.database,
          .application_name = {},
          .client_address = ends.client_address,
          .client_port = ends.client_port,
          .started = executor::now_microseconds(),
          .encryption = ends.encryption};
}

asio::awaitable<void> Session::open(StartupMessage message) {
  if (message.minor_version > 0 || !message.protocol_options.empty()) {
    encoder_.negotiate_protocol_version(message.protocol_options);
  }
  const executor::LoginFacts login = co_await Login(*this, message).run();
  SessionPlaces::Place place{.role = login.role->oid,
                             .role_name = login.role->name,
                             .database = message.database,
                             .is_superuser = login.role->superuser,
                             .role_limit = login.role->connection_limit,
                             .database_limit = login.database.connection_limit};
  const sql::RoleDef* role = login.roles ? login.roles->find(login.role->oid) : nullptr;
  if (message.replicates && !login.role->superuser && (role == nullptr || !role->replication)) {
    throw sql::SqlError(sqlstate::kInsufficientPrivilege, "must be superuser or replication role to start walsender");
  }
  host_.take_place(place);
  sql::SessionStatistics facts = session_facts(place);
  place_ = std::move(place);
  host_.end_startup(number_);

  state_.user = message.user;
  state_.database = message.database;
  parameters_.user_known(login.role->oid);
  set_role_defaults(login.role->settings);
  for (const auto& [name, value] : message.settings) {
    if (name != "application_name") sql::check_utf8(value);
    parameters_.set_at_start(name, value);
  }
  follow_client_encoding();

  engine_ = co_await host_.engines().open(message.database);
  if (message.replicates) replication_ = co_await Replication::open(*this);
  session_statements_.set_engine(*engine_);
  transactions_.set_engine(*engine_);
  for (const auto& [name, value] : parameters_.reported()) encoder_.parameter_status(name, value);
  encoder_.backend_key_data(key_);
  end_.deadline.reset();
  started_ = true;
  facts.application_name = parameters_.find("application_name").value_or("");
  meter_.log_in(facts, state_.counters, connection_.security().origin != ClientOrigin::kStatusPage);
  state_.relation_counts = &meter_.relations();
  state_.progress = meter_.progress();
  log_.begin(facts);
  spdlog::debug("session {}: {} at {}, database {}", key_.process_id, state_.user, connection_.peer_address(),
                state_.database);
  tell_ready();
  co_await flush();
}

}  // namespace redquel::server
