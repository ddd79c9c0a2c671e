// From the first byte to the first ReadyForQuery.

#include <spdlog/spdlog.h>

#include "server/body_reader.h"
#include "server/session.h"
#include "server/session_login.h"
#include "sql/types/byte_text.h"

namespace redquel::server {

asio::awaitable<void> Session::read_startup_bytes() {
  host_.set_startup_waiting(number_, true);
  co_await read_more();
  host_.set_startup_waiting(number_, false);
  if (refused_) throw sql::SqlError("53300", "sorry, too many clients already");
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

asio::awaitable<bool> Session::start_up() {
  bool ssl_answered = false, gss_answered = false;
  while (true) {
    if (terminating_) throw sql::SqlError("57P03", "the database system is shutting down");
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
    // Encryption is asked for once of each kind, as in PostgreSQL; N: not here, go on without.
    bool& answered = std::holds_alternative<SslRequest>(*packet) ? ssl_answered : gss_answered;
    if (answered) {
      throw sql::SqlError("0A000", std::string("unsupported frontend protocol 1234.") +
                                       (&answered == &ssl_answered ? "5679" : "5680") + ": server supports 3.0 to 3.0");
    }
    answered = true;
    co_await connection_.write("N");
  }
}

/// ALTER ROLE … SET and ALTER DATABASE … SET. A value that is refused by now is a warning in the log.
void Session::set_role_defaults(const std::vector<ParameterValue>& settings) {
  for (const auto& [name, value] : settings) {
    try {
      parameters_.set_at_start(name, value);
    } catch (const sql::SqlError& error) {
      spdlog::warn("a setting of role {} in database {} is ignored: {}", state_.user, state_.database, error.message());
    }
  }
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
  host_.take_place(place);
  place_ = std::move(place);
  host_.end_startup(number_);

  state_.user = message.user;
  state_.database = message.database;
  parameters_.user_known();
  set_role_defaults(login.role->settings);
  for (const auto& [name, value] : message.settings) {
    if (name != "application_name") sql::check_utf8(value);
    parameters_.set_at_start(name, value);
  }
  follow_client_encoding();

  engine_ = co_await host_.engines().open(message.database);
  session_statements_.set_engine(*engine_);
  transactions_.set_engine(*engine_);
  for (const auto& [name, value] : parameters_.reported()) encoder_.parameter_status(name, value);
  encoder_.backend_key_data(key_);
  deadline_.reset();
  started_ = true;
  spdlog::debug("session {}: {} at {}, database {}", key_.process_id, state_.user, connection_.peer_address(),
                state_.database);
  tell_ready();
  co_await flush();
}

}  // namespace redquel::server
