#include "executor/redis/connection_core.h"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cmath>
#include <random>

#include "executor/redis/executor_counts.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/seen_version.h"
#include "executor/redis/tls_handshake.h"
#include "executor/redis/write_admission.h"
#include "executor/redis/redis_presence.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using boost::system::error_code;

constexpr std::size_t kInputBytes = 64 * 1024;
constexpr std::size_t kPolledBytes = 16 * 1024;
// hiredis moves the rest of what it was fed to the front again and again: small portions keep that cheap.
constexpr std::size_t kPortionBytes = 8 * 1024;

void warn_of_eviction(const ServerInfo& server, const std::string& address, bool is_refused) {
  if (!server.may_evict_rows()) return;
  spdlog::warn("Redis at {} has maxmemory-policy {}: at its limit of memory it drops rows and index entries. Set it to noeviction.{}",
               address, server.maxmemory_policy, is_refused ? " Until then redquel only reads." : "");
}

/// `now()` is by this machine's clock, times to live and leases by that of Redis.
void warn_of_skew(const ServerInfo& server, const std::string& address) {
  using std::chrono::microseconds;
  if (server.clock == 0) return;
  const auto now = std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
  const double seconds = static_cast<double>(server.clock - now.count()) / 1e6;
  if (std::abs(seconds) > 1) spdlog::warn("the clock of Redis at {} is {:.1f} seconds {}", address, std::abs(seconds), seconds > 0 ? "ahead" : "behind");
}

std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto half = pause.count() / 2;
  return std::chrono::milliseconds(half + std::uniform_int_distribution<std::int64_t>(0, half)(random));
}

}  // namespace

SharedConnection::Core::Core(asio::any_io_executor executor, ConnectionOptions options, std::shared_ptr<ServerState> server_state)
    : options_(std::move(options)),
      socket_(executor),
      retry_timer_(executor),
      attempt_timer_(executor),
      deadline_timer_(executor),
      admission_timer_(executor),
      silence_timer_(executor),
      retry_pause_(options_.retry_pause),
      input_(kInputBytes),
      polled_input_(kPolledBytes),
      server_state_(std::move(server_state)),
      replica_timer_(executor),
      watch_timer_(executor) {
  set_version_key(options_.version_key);
}

void SharedConnection::Core::set_version_key(std::string_view key) {
  version_command_.clear();
  if (key.empty()) return;
  CommandBatch batch;
  batch.add("GET", key);
  version_command_ = batch.bytes();
}

void SharedConnection::Core::enqueue(std::shared_ptr<PendingBatch> pending) {
  if (state_ == State::stopped) throw sql::SqlError(sqlstate::kAdminShutdown, "the connection to Redis is closed");
  ++statistics_.batches;
  statistics_.commands += pending->batch.size();
  waiting_.push_back(std::move(pending));
  if (state_ != State::ready || writes_ != Writes::pass || is_silent_) {
    waiting_.back()->deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  }
  if (is_silent_ && waiting_.size() == 1) arm_deadline();
  if (state_ == State::ready) {
    post_flush();
    return;
  }
  if (waiting_.size() == 1) arm_deadline();
  if (state_ == State::idle) {
    state_ = State::connecting;
    asio::co_spawn(socket_.get_executor(), run(shared_from_this()), asio::detached);
  }
}

void SharedConnection::Core::stop(const sql::SqlError& error) {
  if (state_ == State::stopped) return;
  state_ = State::stopped;
  close_socket();
  retry_timer_.cancel();
  attempt_timer_.cancel();
  deadline_timer_.cancel();
  admission_timer_.cancel();
  silence_timer_.cancel();
  replica_timer_.cancel();
  watch_timer_.cancel();
  for (Turn& turn : turns_) {
    for (const auto& pending : turn.batches) pending->fail(error);
  }
  for (Turn& turn : unproven_) {
    for (const auto& pending : turn.batches) pending->fail(error);
  }
  give_up_unreplicated(error);
  turns_.clear();
  unproven_.clear();
  fail_all(waiting_, error);
}

asio::awaitable<void> SharedConnection::Core::run(std::shared_ptr<Core> self) {
  while (self->state_ != State::stopped) {
    self->last_error_ = co_await self->connect();
    if (self->state_ == State::stopped) break;
    if (self->last_error_) {
      note_redis_gone(self->options_.url.address(), self->last_error_->message());
      self->close_socket();
      if (self->options_.topology) self->options_.topology->look();
      co_await self->pause_before_retry();
      continue;
    }
    self->became_ready();
    const std::string reason = co_await self->read_until_lost();
    if (self->state_ != State::stopped) self->lost(reason);
  }
}

asio::awaitable<std::optional<sql::SqlError>> SharedConnection::Core::connect() {
  RedisUrl url = options_.url;
  const RedisLogin login = current_login(options_);
  if (url.sentinels) {
    if (options_.master_watch) options_.master_watch->follow(weak_from_this());
    const FoundMaster found = co_await find_master(url, login.tls);
    if (state_ == State::stopped || !found.place) co_return connection_failed(url.address(), found.reason);
    url.place = *found.place;
    master_ = found.place;
    proof_time_ = found.down_after / 2;
  } else if (options_.topology) {
    master_ = std::get<TcpPlace>(url.place);
    proof_time_ = options_.topology->proof_time();
  }
  // The timer closes the socket, which ends every wait of the attempt.
  attempt_timer_.expires_after(options_.connect_timeout);
  attempt_timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->state_ == State::connecting) self->close_socket();
  });
  last_proof_ = std::chrono::steady_clock::now();
  const error_code error = co_await connect_socket(socket_, url);
  std::optional<sql::SqlError> failure;
  tls_.reset();
  if (error) {
    const bool timed_out = error == asio::error::operation_aborted || error == asio::error::bad_descriptor;
    failure = connection_failed(options_.url.address(), timed_out ? "timeout" : error.message());
  } else {
    if (login.tls) {
      tls_.emplace(login.tls, master_ ? master_->host : std::string());
      TlsHandshakeResult handshake = co_await shake_tls_hands(socket_, *tls_, options_.url.address());
      if (handshake.is_lasting) fail_all(waiting_, *handshake.error);
      failure = std::move(handshake.error);
    }
    if (!failure) failure = co_await shake_hands(login);
    if (!failure) failure = co_await confirm_master();
  }
  attempt_timer_.cancel();
  co_return failure;
}

std::string_view SharedConnection::Core::plain(std::string_view received) {
  if (!tls_) return received;
  tls_->feed(received);
  decrypted_.clear();
  while (tls_->has_input()) {
    const std::size_t size = decrypted_.size();
    decrypted_.resize(size + kInputBytes);
    const std::size_t count = tls_->decrypt(std::span(decrypted_).subspan(size));
    decrypted_.resize(size + count);
    if (count == 0) break;
  }
  return decrypted_;
}

asio::awaitable<std::optional<sql::SqlError>> SharedConnection::Core::shake_hands(RedisLogin login) {
  const CommandBatch commands = handshake_commands(options_.url, login, options_.client_name, options_.only_looks);
  decoder_ = std::make_unique<ReplyDecoder>(options_.max_reply_bytes);
  Replies replies;
  replies.set_names(commands.names());

  error_code error;
  const std::string bytes = tls_ ? tls_->encrypted(commands.bytes()) : std::string(commands.bytes());
  co_await asio::async_write(socket_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  std::optional<std::string> protocol_error;
  while (!error && !protocol_error && replies.size() < commands.size()) {
    const std::size_t received =
        co_await socket_.async_read_some(asio::buffer(input_), asio::redirect_error(asio::use_awaitable, error));
    try {
      decoder_->feed(plain(std::string_view(input_.data(), received)));
      while (replies.size() < commands.size() && decoder_->next(replies)) {
      }
    } catch (const TlsError& failure) {
      co_return connection_failed(options_.url.address(), std::string("TLS: ") + failure.what());
    } catch (const std::exception& failure) {
      protocol_error = failure.what();
    }
  }
  if (protocol_error)
    co_return connection_failed(options_.url.address(), "it does not speak Redis's protocol: " + *protocol_error);

  // Redis that hangs up half-way (too many clients) has often said why.
  HandshakeResult result = read_handshake(options_.url, replies);
  if (result.error) {
    if (result.is_lasting) fail_all(waiting_, *result.error);
    co_return std::move(result.error);
  }
  if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor)
    co_return connection_failed(options_.url.address(), "timeout");
  if (error) co_return connection_failed(options_.url.address(), error.message());

  if (server_state_->generation == 0 || (is_connected_before_ && result.server.is_another_server_than(server_))) ++server_state_->generation;
  if (server_state_->replicas_of != result.server.run_id) {
    server_state_->replicas = {};
    server_state_->replicas_of = result.server.run_id;
  }
  if (!is_connected_before_ || result.server.is_another_server_than(server_)) {
    rewrite_is_impossible_ = false;
    warn_of_eviction(result.server, options_.url.address(), options_.refuses_eviction);
    warn_of_skew(result.server, options_.url.address());
    if (result.server.role == "slave" && !options_.only_looks) spdlog::warn("Redis at {} is a replica: redquel only reads", options_.url.address());
  }
  server_ = std::move(result.server);
  take_replicas(server_.replication);
  if (!is_connected_before_ && (options_.master_watch || !server_.replication.replicas.empty())) report_replicas();
  is_connected_before_ = true;
  ++statistics_.connects;
  co_return std::nullopt;
}

asio::awaitable<void> SharedConnection::Core::pause_before_retry() {
  retry_timer_.expires_after(with_jitter(retry_pause_));
  retry_pause_ = std::min(retry_pause_ * 2, options_.retry_pause_limit);
  error_code cancelled;
  co_await retry_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

void SharedConnection::Core::close_socket() {
  error_code ignored;
  socket_.close(ignored);
}

void SharedConnection::Core::became_ready() {
  state_ = State::ready;
  note_redis_there(options_.url.address());
  retry_pause_ = options_.retry_pause;
  deadline_timer_.cancel();
  loss_.clear();
  writes_ = must_hold_writes() ? Writes::wait : Writes::pass;
  if (writes_ == Writes::wait) {
    asio::co_spawn(socket_.get_executor(), admit_writes(shared_from_this(), statistics_.connects), asio::detached);
  }
  if (awaits_replicas_ && follows_replicas()) {
    asio::co_spawn(socket_.get_executor(), watch_replicas(shared_from_this(), statistics_.connects), asio::detached);
  }
  flush();
}

void SharedConnection::Core::lost(const std::string& reason) {
  state_ = State::connecting;
  note_redis_gone(options_.url.address(), reason);
  if (options_.topology) options_.topology->look();
  close_socket();
  admission_timer_.cancel();
  silence_timer_.cancel();
  watch_timer_.cancel();
  is_silent_ = watches_silence_ = is_dropping_replicas_ = false;
  decoder_.reset();
  const sql::SqlError error = connection_lost(reason);
  for (Turn& turn : turns_) {
    for (const auto& pending : turn.batches) pending->fail(error);
  }
  for (Turn& turn : unproven_) {
    for (const auto& pending : turn.batches) pending->fail(error);
  }
  give_up_unreplicated(error);
  turns_.clear();
  unproven_.clear();
  is_proving_ = false;
  // Not a byte of these was written.
  const auto deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  for (const auto& pending : waiting_) pending->deadline = deadline;
  if (!waiting_.empty()) arm_deadline();
}

void SharedConnection::Core::arm_deadline() {
  deadline_timer_.expires_at(waiting_.front()->deadline);
  deadline_timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    const bool is_held = self->state_ == State::ready && self->writes_ == Writes::wait;
    if (!cancelled && (self->state_ == State::connecting || is_held || self->is_silent_)) self->fail_overdue();
  });
}

void SharedConnection::Core::fail_overdue() {
  const auto now = std::chrono::steady_clock::now();
  while (!waiting_.empty() && waiting_.front()->deadline <= now) {
    waiting_.front()->fail(overdue_error());
    waiting_.pop_front();
  }
  if (!waiting_.empty()) arm_deadline();
}

void SharedConnection::Core::fail_all(std::deque<std::shared_ptr<PendingBatch>>& batches, const sql::SqlError& error) {
  for (const auto& pending : batches) pending->fail(error);
  batches.clear();
}

void SharedConnection::Core::note_progress() { last_progress_ = std::chrono::steady_clock::now(); }

std::chrono::milliseconds SharedConnection::Core::first_look() const {
  constexpr std::chrono::milliseconds kNodePatience{500};
  return options_.topology ? std::min(kNodePatience, options_.connect_timeout) : options_.connect_timeout;
}

/// One timer for many turns: it looks when the last progress was.
void SharedConnection::Core::watch_silence() {
  if (watches_silence_) return;
  watches_silence_ = true;
  silence_timer_.expires_at(std::max(last_progress_, last_look_) + first_look());
  silence_timer_.async_wait([self = shared_from_this(), connection = statistics_.connects](error_code cancelled) {
    if (cancelled || !self->is_connection(connection)) return;
    self->watches_silence_ = false;
    if (self->turns_.empty()) return;
    error_code ignored;
    const bool has_input = self->socket_.available(ignored) > 0;  // it was this process that stood still
    if (has_input) self->note_progress();
    const auto silence = std::chrono::steady_clock::now() - self->last_progress_;
    if (silence >= self->options_.connect_timeout && !self->is_silent_) self->begin_silence();
    if (self->options_.topology && silence >= self->first_look()) {
      self->options_.topology->look();  // again and again: the cluster may take its time
      self->last_look_ = std::chrono::steady_clock::now();
    }
    if (self->options_.topology || !self->is_silent_) self->watch_silence();
  });
}

/// Reads give up; what may write waits for its outcome. Batches that were not sent may wait as long as for a connection.
void SharedConnection::Core::begin_silence() {
  is_silent_ = true;
  if (options_.master_watch) options_.master_watch->look();
  const sql::SqlError error = overdue_error();
  for (Turn& turn : turns_) {
    for (const auto& pending : turn.batches) {
      if (only_reads(*pending->replies, pending->expected_replies)) pending->fail(error);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  for (const auto& pending : waiting_) pending->deadline = deadline;
  if (!waiting_.empty()) arm_deadline();
}

void SharedConnection::Core::end_silence() {
  is_silent_ = false;
  if (!turns_.empty()) watch_silence();
  if (writes_ == Writes::pass) deadline_timer_.cancel();
  flush();
}

asio::awaitable<std::string> SharedConnection::Core::read_until_lost() {
  while (true) {
    error_code error;
    const std::size_t received =
        co_await socket_.async_read_some(asio::buffer(input_), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::eof) co_return "server closed the connection";
    if (error) co_return loss_.empty() ? error.message() : loss_;
    statistics_.bytes_received += received;
    note_progress();
    if (is_silent_) end_silence();
    try {
      take_replies(plain(std::string_view(input_.data(), received)));
    } catch (const std::exception& failure) {  // ProtocolError, out of memory
      co_return std::string("protocol error: ") + failure.what();
    }
    if (state_ == State::stopped) co_return "stopped";
  }
}

void SharedConnection::Core::take_replies(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view portion = bytes.substr(0, kPortionBytes);
    bytes.remove_prefix(portion.size());
    decoder_->feed(portion);
    while (take_reply()) {
    }
    if (turns_.empty() && (decoder_->has_pending() || !bytes.empty()))
      throw ProtocolError("a reply without a request");
  }
}

bool SharedConnection::Core::take_reply() {
  if (turns_.empty()) return false;
  Turn& turn = turns_.front();
  if (turn.current == turn.batches.size()) {
    if (!decoder_->next(turn.replicas ? *turn.replicas : *turn.version)) return false;
    if (!turn.replicas || turn.replicas->size() == turn.expected_confirmations) finish_turn();
    return true;
  }
  PendingBatch& pending = *turn.batches[turn.current];
  if (!decoder_->next(*pending.replies)) return false;
  if (pending.replies->size() == pending.expected_replies) {
    ++turn.current;
    if (turn.current == turn.batches.size() && !turn.version) finish_turn();
  }
  return true;
}

void SharedConnection::Core::finish_turn() {
  Turn turn = std::move(turns_.front());
  turns_.pop_front();
  if (turn.replicas) return check_replicas(turn);
  if (!master_) return give_replies(turn);
  turn.answered = std::chrono::steady_clock::now();
  if (unproven_.empty() && is_proven(turn)) return give_replies(turn);
  unproven_.push_back(std::move(turn));
  if (std::exchange(is_proving_, true)) return;
  asio::co_spawn(socket_.get_executor(), prove(shared_from_this(), statistics_.connects), asio::detached);
}

void SharedConnection::Core::give_replies(const Turn& turn) {
  last_proof_ = turn.written;
  if (turn.batches.empty()) return;
  const bool is_bulk = options_.client_name.ends_with("-bulk");
  const std::chrono::nanoseconds taken = std::max(last_progress_, turn.written) - turn.written;  // since the reply was read
  (is_bulk ? counts_of_thread().bulk_round_trips : counts_of_thread().round_trips).note(static_cast<std::uint64_t>(taken.count()));
  std::optional<std::string> version;
  if (turn.version && (*turn.version)[0].is_text()) version = std::string((*turn.version)[0].text);
  if (options_.own_version) version = options_.own_version();
  const bool is_told = turn.version || options_.own_version;
  if (is_told && !is_bulk) seen_version(options_.url.database) = version.value_or("");
  const bool knows_version = !turn.version || !(*turn.version)[0].is_error();
  for (const auto& pending : turn.batches) {
    pending->knows_version = knows_version;
    pending->replies->set_catalog_version(version);
    pending->replies->set_generation(server_state_->generation);
    pending->finish_at_once();
  }
  idle_since_ = std::chrono::steady_clock::now();  // what waited has run
}

}  // namespace redquel::executor
