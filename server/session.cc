#include "server/session.h"

#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

#include "executor/runtime/known_types_executor.h"
#include "executor/runtime/notifications.h"
#include "executor/transaction/own_roles.h"
#include "server/copy_stream.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::server {

namespace {

using namespace std::chrono_literals;

/// The time that a client has to read its last message.
constexpr auto kGoodbyeTime = 3s;
/// A client in the middle of its work that is silent for so long does not hold up the end of the server.
constexpr auto kDrainSilence = std::chrono::seconds(1);

bool belongs_to_extended_protocol(char type) {
  switch (type) {
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
    case 'H':
      return true;
    default:
      return false;
  }
}

}  // namespace

Session::Session(SessionHost& host, Connection connection, CancelKey key, std::uint64_t number)
    : host_(host),
      connection_(std::move(connection)),
      key_(key),
      number_(number),
      memory_(std::make_shared<sql::SessionMemory>(host.memory())),
      meter_(host.server_counts(), host.thread_counts()),
      decoder_(host.limits().message_bytes, sql::HeldBytes(*memory_, 0)),
      parameters_(state_, host.limits().server_values),
      log_(parameters_.log()),
      transactions_(parameters_, portals_, cursors_, state_),
      session_statements_(parameters_, statements_, portals_, cursors_, state_, transactions_, *memory_),
      running_(connection_.executor()) {
  end_.deadline = end_.waiting_since + host.limits().startup_time;
  state_.backend_pid = key.process_id;
  state_.only_looks = host.limits().only_looks;
  state_.only_reads = connection_.security().origin == ClientOrigin::kReadingConsole;
  state_.account = memory_;
  interrupts_->set_memory(memory_.get());
  state_.work_mem_limit = host.limits().work_mem_bytes;
  state_.temporary_space_limit = host.limits().temporary_bytes;
  sql::set_interrupts(key.process_id, interrupts_.get());
  copy_stream_ = std::make_unique<CopyStream>(*this);
  state_.notice = [this](std::string_view severity, const sql::SqlError& notice) { send_notice(severity, notice); };
  state_.show = [this](const std::string& name) { return parameters_.find(name); };
  state_.run_time_parameters = [this] { return parameters_.settings(); };
  state_.notifications = std::make_shared<executor::SessionNotifications>();
  state_.notifications->process_id = key.process_id;
  state_.notifications->wake = [this] {
    if (is_idle_) connection_.interrupt();
  };
  state_.auto_explain.log = [this](double milliseconds, const std::string& query, const std::string& plan) {
    log_.note_plan(milliseconds, message_.text ? *message_.text : query, plan, meter_.query_id());
  };
  state_.names = [this] { return session_statements_.names(); };
  state_.set = [this](const std::string& name, const std::optional<std::string>& value, bool local) {
    const bool undone = local && !state_.transaction;
    const std::string before = undone ? parameters_.find(name).value_or("") : "";
    value ? parameters_.set(name, *value, local) : parameters_.reset(name, local);
    std::string now = parameters_.show(name);
    // Without a transaction block a local value ends with its statement, which nothing after this call can see.
    if (undone) parameters_.set(name, before);
    return now;
  };
}


Session::~Session() {
  sql::set_interrupts(key_.process_id, nullptr);
  interrupts_->set_memory(nullptr);
}

asio::any_io_executor Session::executor() {
  return executor::KnownTypesExecutor(executor::loop_of(connection_.executor())->get_executor(), state_.known_types);
}

asio::awaitable<void> Session::run() { co_await asio::co_spawn(executor(), converse(), asio::use_awaitable); }

asio::awaitable<void> Session::converse() {
  std::optional<sql::SqlError> fatal;
  try {
    if (co_await start_up()) {
      // In a chain of coroutines of its own, which `cancel` reaches: what comes after it is not cancelled.
      auto token = asio::bind_cancellation_slot(running_.cancel_signal.slot(), asio::as_tuple(asio::use_awaitable));
      auto [failure] = co_await asio::co_spawn(executor(), serve(), std::move(token));
      if (failure) std::rethrow_exception(failure);
    }
  } catch (const Disconnected&) {
    spdlog::debug("session {}: client gone", key_.process_id);
    meter_.end(SessionMeter::End::kAbandoned);
  } catch (const TlsRefusal& refusal) {
    ++meter_.connections().failed_tls;
    host_.note_bad_startup(connection_.peer_address(), "TLS handshake failed: " + refusal.reason);
  } catch (const sql::SqlError& error) {
    fatal = error;
    const bool is_misbehaviour = fatal->sqlstate() == sqlstate::kProtocolViolation || fatal->sqlstate() == sqlstate::kInvalidAuthorizationSpecification;
    if (!started_ && is_misbehaviour) host_.note_bad_startup(connection_.peer_address(), fatal->message());
  } catch (const std::exception& error) {
    spdlog::error("session {} ends: {}", key_.process_id, error.what());
    fatal.emplace(sqlstate::kInternalError, error.what());
  }
  if (fatal && !started_) meter_.note_refusal(fatal->sqlstate());
  const bool is_killed = fatal && fatal->sqlstate() == sqlstate::kAdminShutdown;
  log_.end();
  meter_.end(is_killed ? SessionMeter::End::kKilled : fatal ? SessionMeter::End::kFatal : SessionMeter::End::kRegular);
  portals_.clear();
  try {
    co_await transactions_.close();
  } catch (const std::exception& error) {
    spdlog::warn("session {}: its transaction or its temporary tables remain: {}", key_.process_id, error.what());
  }
  try {
    co_await say_goodbye(std::move(fatal));
  } catch (const Disconnected&) {
    spdlog::debug("session {}: client did not wait for its last message", key_.process_id);
  }
  connection_.close();
  if (place_) host_.give_place_back(*place_);
}

asio::awaitable<void> Session::say_goodbye(std::optional<sql::SqlError> fatal) {
  end_.is_saying_goodbye = true;
  if (!started_) host_.set_startup_waiting(number_, true);
  end_.deadline = std::chrono::steady_clock::now() + kGoodbyeTime;
  if (fatal) {
    if (!started_) spdlog::debug("session {}: FATAL {} {}", key_.process_id, fatal->sqlstate(), fatal->message());
    log_.note_error("FATAL", *fatal, {});
    encoder_.error_response({"FATAL", &*fatal, 0});
  }
  co_await flush();
  connection_.shut_down();
  if (!fatal || end_.is_refused) co_return;
  // Closing a socket with unread bytes resets the connection, and the message might be lost: read until the client
  // ends.
  end_.is_terminating = false;
  char ignored[4096];
  for (int i = 0; i < 256; ++i) co_await connection_.read_some(ignored);
}

asio::awaitable<void> Session::serve() {
  while (true) {
    const bool has_ended = end_.is_draining && end_.has_answered && is_idle_ && !is_in_transaction();
    if (end_.is_terminating || has_ended) throw sql::SqlError(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
    if (!std::exchange(direct_is_refused_, false) && (begin_directly() || begin_query_directly())) {
      co_await answer_directly();
      continue;
    }
    const std::optional<RawMessage> raw = decoder_.next();
    if (!raw) {
      co_await read_more();
      continue;
    }
    if (raw->type == 'X') co_return;
    if (message_.is_skipped_to_sync && raw->type != 'S') continue;
    co_await handle(*raw);
  }
}

asio::awaitable<void> Session::read_more() {
  if (message_.has_unsent_error) co_await flush();
  while (is_idle_ && state_.notifications->has_arrived()) {
    send_notifications();
    if (encoder_.empty()) break;  // in a transaction block
    co_await flush();
  }
  end_.waiting_since = std::chrono::steady_clock::now();
  constexpr std::size_t kMostRead = std::size_t{128} << 10;  // other sessions go on between the parts of a large message
  const std::span<char> room = decoder_.room();
  const std::size_t count = co_await connection_.read_some(room.first(std::min(room.size(), kMostRead)));
  if (end_.was_idle_too_long && is_in_transaction()) {
    throw sql::SqlError(sqlstate::kIdleInTransactionSessionTimeout, "terminating connection due to idle-in-transaction timeout");
  }
  if (end_.was_idle_too_long) throw sql::SqlError(sqlstate::kIdleSessionTimeout, "terminating connection due to idle-session timeout");
  meter_.note_received(count);
  decoder_.commit(count);
}

asio::awaitable<void> Session::handle(RawMessage raw) {
  std::exception_ptr failure;
  message_.source = {};
  message_.error_context.clear();
  is_idle_ = false;
  message_.counters_before = state_.counters;
  try {
    const FrontendMessage message = decode_message(raw);
    auto work = std::visit([this](const auto& fields) { return on(fields); }, message);
    // Bind reads names of roles and may plan. Statements do so in run_cancellable().
    if (std::holds_alternative<BindMessage>(message)) work = executor::with_own_roles(state_, std::move(work));
    co_await std::move(work);
  } catch (const Disconnected&) {
    throw;
  } catch (const ProtocolViolation&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    failure = co_await engine_->named_failure(failure, state_);
    report(failure);
    co_await transactions_.fail();
    message_.is_skipped_to_sync = belongs_to_extended_protocol(raw.type);
  }
  if (!failure && log_.wants_durations()) log_duration(raw.type);
  // Flushes also without Sync: unread answers block the client.
  if (encoder_.size() >= kFlushBytes) co_await flush();
  if (raw.type == 'Q' || raw.type == 'F' || raw.type == 'S') {
    message_.is_skipped_to_sync = false;
    if (!end_answer()) co_await finish_flush();
  }
}

void Session::send_notifications() {
  if (is_in_transaction()) return;
  for (const executor::Notification& notification : state_.notifications->take_arrived()) {
    encoder_.notification_response(notification.process_id, notification.channel, notification.payload);
  }
}

void Session::tell_ready() {
  follow_client_encoding();
  for (const auto& [name, value] : parameters_.take_changes()) {
    encoder_.parameter_status(name, value);
    if (name == "application_name") meter_.rename(value);
  }
  send_notifications();
  encoder_.ready_for_query(transactions_.block().status());
  meter_.rest(transactions_.block().status());
  is_idle_ = true;
}

bool Session::end_answer() {
  end_.has_answered = true;
  tell_ready();
  return flush_at_once();
}

bool Session::flush_at_once() {
  flush_.has_notice = false;
  if (!flush_.stalled.empty()) return false;
  if (encoder_.empty()) return true;
  message_.has_unsent_error = false;
  meter_.note_sent(encoder_.size());
  const bool is_all = connection_.write_at_once(encoder_.bytes());
  if (is_all) encoder_.clear();
  return is_all;
}

asio::awaitable<void> Session::finish_flush() {
  flush_.is_running = true;
  co_await connection_.finish_write();
  if (!flush_.stalled.empty()) {
    flush_.stalled.clear();
    meter_.note_sent(encoder_.size());
    co_await connection_.write(encoder_.bytes());
  }
  encoder_.clear();
  flush_.is_running = false;
}

void Session::flush_notices() {
  if (!flush_.has_notice || flush_.is_running || !running_.is_running || !flush_.stalled.empty()) return;
  flush_.has_notice = false;
  flush_.stalled = encoder_.bytes();
  meter_.note_sent(flush_.stalled.size());
  encoder_.clear();
  try {
    if (connection_.write_at_once(flush_.stalled)) flush_.stalled.clear();
  } catch (const Disconnected&) {
    cancel(CancelReason::kClientGone);
  }
}

asio::awaitable<void> Session::flush() {
  if (!flush_at_once()) co_await finish_flush();
}

void Session::cancel(CancelReason reason) {
  if (!running_.is_running || running_.cancel_reason != CancelReason::kNone) return;
  running_.cancel_reason = reason;
  running_.cancel_signal.emit(asio::cancellation_type::terminal);
  if (running_.waits_for_data) connection_.interrupt();
}

bool Session::is_awaited(std::chrono::steady_clock::time_point now) const {
  if (running_.is_running) return true;
  const bool is_between = !end_.has_answered || !is_idle_ || is_in_transaction();
  return is_between && now - end_.waiting_since < kDrainSilence;
}

void Session::drain() {
  end_.is_draining = true;
  if (!is_awaited(std::chrono::steady_clock::now()) || end_.is_saying_goodbye) terminate();
}

void Session::terminate() {
  end_.is_terminating = true;
  connection_.interrupt();
}

void Session::refuse() {
  end_.is_refused = true;
  if (end_.is_saying_goodbye) close();
  else connection_.interrupt();
}

void Session::follow_reload() { parameters_.follow_reload(host_.limits().server_values); }

void Session::close() { connection_.close(); }

sql::ConnectionFacts Session::connection_facts() const {
  sql::ConnectionFacts facts = connection_.facts();
  if (message_.text) facts.query = *message_.text;
  return facts;
}

void Session::note_lock_wait(std::int64_t milliseconds, bool is_over) {
  log_.note_lock_wait(milliseconds, is_over, message_.text ? std::string_view(*message_.text) : std::string_view());
}

void Session::tick(std::chrono::steady_clock::time_point now) {
  if (end_.deadline && now > *end_.deadline) {
    if (!started_ && !end_.is_saying_goodbye) ++meter_.connections().timed_out;
    return close();
  }
  if (end_.is_draining && !end_.is_terminating && !end_.is_saying_goodbye && !is_awaited(now)) return terminate();
  if (running_.is_running) {
    // Requires two ticks in a row, so that a client that closes only its sending side still gets the answer to a quick statement.
    running_.ticks_without_client = connection_.peer_closed() ? running_.ticks_without_client + 1 : 0;
    if (running_.ticks_without_client >= 2) cancel(CancelReason::kClientGone);
    if (memory_->must_end()) cancel(CancelReason::kMemory);
    flush_notices();
    return;
  }
  running_.ticks_without_client = 0;
  const std::int64_t limit = is_in_transaction() ? parameters_.idle_in_transaction_timeout_ms() : parameters_.idle_session_timeout_ms();
  if (started_ && limit > 0 && connection_.reading() && decoder_.unread() == 0 &&
      now - end_.waiting_since > std::chrono::milliseconds(limit)) {
    end_.was_idle_too_long = true;
    connection_.interrupt();
  }
}

std::string Session::from_client(std::string_view bytes) {
  if (sql::EncodingConverter* converter = encoder_.converter()) return converter->from_client(bytes);
  sql::check_utf8(bytes);
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  if (bytes.size() <= kPiece) return std::string(bytes);
  std::string copy;
  copy.reserve(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    sql::check_interrupts();
    copy.append(bytes.substr(0, kPiece));
  }
  return copy;
}

void Session::follow_client_encoding() {
  if (parameters_.client_encoding() == encoding_name_) return;
  encoding_name_ = parameters_.client_encoding();
  encoder_.set_converter(sql::EncodingConverter::make(*sql::find_client_encoding(encoding_name_)));
}

}  // namespace redquel::server
