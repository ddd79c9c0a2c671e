#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/handshake.h"
#include "executor/redis/master_watch.h"
#include "executor/redis/pending_batch.h"
#include "executor/redis/reply_polling.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/shared_connection.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/topology.h"
#include "executor/tls/tls_session.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

/// The machinery of a SharedConnection. Kept alive by the operations under way, so that the connection can be dropped
/// at any time.
class SharedConnection::Core : public MasterFollower, public std::enable_shared_from_this<Core> {
 public:
  /// The state that the connections to one Redis share.
  struct ServerState {
    std::uint64_t generation = 0;
    ReplicaSet replicas;
    std::string replicas_of;  // the run_id of their master: in a failover connections move to the new one at different times
  };
  Core(asio::any_io_executor executor, ConnectionOptions options, std::shared_ptr<ServerState> server_state = std::make_shared<ServerState>());

  /// Makes the connection of commits, which replicas confirm (replica_wait.cc).
  std::shared_ptr<Core> for_commits();
  /// Returns true if commits go without confirmations, as far as is known.
  bool needs_no_replicas() const { return is_connected_before_ && !follows_replicas() && needed_replicas() == 0; }
  /// Looks now and then whether the server has got its first replica.
  void look_for_replicas();
  const ConnectionOptions& options() const { return options_; }

  void enqueue(std::shared_ptr<PendingBatch> pending);
  /// Writes what was enqueued now if the thread has nothing else to do: for a batch that nothing else of its statement will join.
  void flush_if_idle();
  void stop() { stop(sql::SqlError(sqlstate::kAdminShutdown, "the connection to Redis is closed")); }
  /// Fails what waits with this error.
  void stop(const sql::SqlError& error);
  /// Reads another key as the version from now on.
  void set_version_key(std::string_view key);
  void master_is_at(const TcpPlace& place) override;

  const ServerInfo& server() const { return server_; }
  ConnectionStatistics statistics() const {
    ConnectionStatistics now = statistics_;
    now.held_writes = state_ == State::ready && writes_ != Writes::pass ? waiting_.size() : 0;
    return now;
  }
  std::uint64_t generation() const { return server_state_->generation; }

 private:
  enum class State { idle, connecting, ready, stopped };
  /// The treatment of commands that may write, on a connection that is ready (write_admission.h).
  enum class Writes { pass, wait, refused };

  /// The contents of one write: batches whose replies are still expected, in order, and the version behind them; or a WAIT for the writes
  /// before it.
  struct Turn {
    std::vector<std::shared_ptr<PendingBatch>> batches;
    std::size_t current = 0;
    std::unique_ptr<Replies> version, replicas;  // of GET; of WAIT and INFO
    std::size_t needed_replicas = 0, expected_confirmations = 0;  // numbers of replicas, and of replies
    std::optional<UnreplicatedCommits::Ticket> ticket;
    std::chrono::steady_clock::time_point written, answered;
  };

  // The life of the connection: one coroutine from first use to stop().
  static asio::awaitable<void> run(std::shared_ptr<Core> self);
  asio::awaitable<std::optional<sql::SqlError>> connect();
  asio::awaitable<std::optional<sql::SqlError>> shake_hands(RedisLogin login);
  /// Returns the bytes that were received, decrypted where the connection is. Valid until the next call. Throws TlsError.
  std::string_view plain(std::string_view received);
  asio::awaitable<std::string> read_until_lost();
  asio::awaitable<void> pause_before_retry();
  void close_socket();

  // Writing.
  void post_flush();
  void flush();
  void encrypt_output();
  /// Notes that bytes went to Redis or came from it.
  void note_progress();
  void watch_silence();
  void end_silence();
  void begin_silence();
  /// Returns the longest time without a byte until the sentinels or nodes are asked for the master.
  std::chrono::milliseconds first_look() const;
  void written(boost::system::error_code error, std::uint64_t connection);

  // Reading.
  void take_replies(std::string_view bytes);
  bool take_reply();
  void finish_turn();
  void give_replies(const Turn& turn);
  std::size_t needed_replicas() const;
  /// Returns true if each commit waits for the replicas of that moment, also for none: sentinels may make any of them the master.
  bool follows_replicas() const;
  void take_replicas(const ReplicationInfo& info);
  /// Returns false if another connection knows another master by now: what replicas confirm to this one does not count.
  bool knows_replicas() const { return server_state_->replicas_of == server_.run_id; }
  /// Writes a line to the log, one for all connections of all threads.
  void report_replicas() const;
  static asio::awaitable<void> drop_replicas(std::shared_ptr<Core> self, std::uint64_t connection);
  static asio::awaitable<void> watch_replicas(std::shared_ptr<Core> self, std::uint64_t connection);
  /// Appends a turn that waits for so many replicas. `ticket`: of the commits before it; nullopt: there are none.
  void append_wait(std::size_t replicas, std::optional<UnreplicatedCommits::Ticket> ticket);
  bool have_replicas_confirmed(const Turn& turn);
  void check_replicas(const Turn& turn);
  sql::SqlError too_few_replicas(std::string_view reason) const;
  void give_up_unreplicated(const sql::SqlError& reason);
  void ask_replicas_again();
  static asio::awaitable<void> find_replicas(std::shared_ptr<Core> self);
  void send_turn(Turn turn);
  void write_output();
  /// Asks the socket for the replies of a turn that was just written, for some microseconds, if that is likely to pay.
  void poll_replies();
  /// Sends what the socket's buffer takes, which is nearly always all. Returns false if a rest is left.
  bool send_at_once();
  void forget_output();
  /// Gives the replies of unproven turns once the sentinels, or other nodes of the cluster, have confirmed that they are the master's (connection_proof.cc).
  static asio::awaitable<void> prove(std::shared_ptr<Core> self, std::uint64_t connection);
  bool is_proven(const Turn& turn) const;
  /// Returns the error of a place that is not that of the master; nullopt: it is, or the Redis stands alone.
  asio::awaitable<std::optional<sql::SqlError>> confirm_master();

  // Batches that wait for a connection.
  void became_ready();
  bool must_hold_writes() const;
  bool is_connection(std::uint64_t number) const { return state_ == State::ready && statistics_.connects == number; }
  /// Runs from the moment in which the connection with this number became ready until writes may pass, or it is lost.
  static asio::awaitable<void> admit_writes(std::shared_ptr<Core> self, std::uint64_t connection);
  asio::awaitable<bool> wait_for_rewrite(std::uint64_t connection);
  /// The replies to commands of the connection's own; null: it was lost.
  asio::awaitable<std::shared_ptr<Replies>> ask(CommandBatch batch);
  asio::awaitable<void> pause(std::chrono::milliseconds duration);
  /// The error of a batch that has waited too long.
  sql::SqlError overdue_error() const;
  void lost(const std::string& reason);
  void arm_deadline();
  void fail_overdue();
  void fail_all(std::deque<std::shared_ptr<PendingBatch>>& batches, const sql::SqlError& error);

  ConnectionOptions options_;
  RedisSocket socket_;
  asio::steady_timer retry_timer_;     // between two attempts
  asio::steady_timer attempt_timer_;   // limits an attempt
  asio::steady_timer deadline_timer_;  // of the batch that has waited longest for a connection
  asio::steady_timer admission_timer_;
  asio::steady_timer silence_timer_;
  State state_ = State::idle;
  Writes writes_ = Writes::pass;
  bool rewrite_is_impossible_ = false;  // Redis lets us ask for none
  std::optional<sql::SqlError> last_error_;  // of the last attempt
  std::chrono::milliseconds retry_pause_;

  std::deque<std::shared_ptr<PendingBatch>> waiting_;  // not yet written
  std::deque<Turn> turns_;                             // written, replies expected
  std::string output_;                                 // being written; must not move meanwhile
  std::string version_command_;
  bool flush_posted_ = false;
  bool writing_ = false;
  // Redis has not answered for `connect_timeout`: what is sent now would wait, too.
  bool is_silent_ = false, watches_silence_ = false;
  std::chrono::steady_clock::time_point last_progress_, last_look_;
  ReplyPolling polling_;
  std::chrono::steady_clock::time_point idle_since_;  // the end of the last turn

  std::unique_ptr<ReplyDecoder> decoder_;
  std::vector<char> input_, polled_input_;
  std::optional<TlsSession> tls_;
  std::string decrypted_;

  std::optional<TcpPlace> master_;  // the place that the sentinels named, or of the node of a cluster; nullopt: of a Redis that stands alone
  std::string loss_;                // the reason why this process closed the socket
  // An answer counts if the master answered a command that was sent less than this before it.
  std::chrono::milliseconds proof_time_{};
  std::chrono::steady_clock::time_point last_proof_;
  std::deque<Turn> unproven_;
  bool is_proving_ = false;

  ServerInfo server_;
  ConnectionStatistics statistics_;
  std::shared_ptr<ServerState> server_state_;
  bool is_connected_before_ = false;

  bool awaits_replicas_ = false;  // this is a connection of commits
  /// Commits that were answered, and that replicas have not confirmed yet.
  struct Unreplicated {
    UnreplicatedCommits::Ticket ticket;
    std::chrono::steady_clock::time_point written;
  };
  std::deque<Unreplicated> unreplicated_;
  std::chrono::steady_clock::time_point looked_for_replicas_;
  asio::steady_timer replica_timer_, watch_timer_;
  bool is_dropping_replicas_ = false;
  std::optional<std::chrono::steady_clock::time_point> lacks_replicas_since_;
};

}  // namespace redquel::executor
