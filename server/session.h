#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "executor/ddl/stands_alone.h"
#include "executor/engine/engine.h"
#include "parser/literals.h"
#include "parser/parse.h"
#include "server/connection.h"
#include "server/engine_source.h"
#include "server/message_decoder.h"
#include "server/message_encoder.h"
#include "server/portal.h"
#include "server/prepared_statement.h"
#include "server/run_time_parameters.h"
#include "server/session_log.h"
#include "server/session_places.h"
#include "server/session_statements.h"
#include "server/session_transactions.h"
#include "server/startup_packet.h"
#include "server/statistics/session_meter.h"
#include "server/transaction_texts.h"
#include "sql/interrupts.h"

namespace redquel::server {

class LoginPolicy;

/// The limits that all sessions of a server share.
struct SessionLimits {
  std::size_t statement_bytes = std::size_t{64} << 20;  // 54000 beyond
  std::size_t message_bytes = std::size_t{65} << 20;    // of longer messages nothing is kept: 54000
  std::chrono::milliseconds login_delay{0};  // between a failed login and its answer
  std::chrono::seconds startup_time{60};                // a connection that has not logged in by then is closed
  /// The upper limits of SET work_mem and SET temp_file_limit; none: any number.
  std::optional<std::uint64_t> work_mem_bytes, temporary_bytes;
  bool only_looks = false;  // no session writes rows (`redquel look`)
  /// Values of parameters that differ from the table's initial ones.
  std::vector<ParameterValue> server_values;
};

/// The session's interface to its thread.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  virtual const SessionLimits& limits() const = 0;
  virtual EngineSource& engines() = 0;
  virtual TransactionTexts& transaction_texts() = 0;
  virtual sql::ProcessMemory& memory() = 0;
  /// Null: connections are not encrypted.
  virtual executor::TlsContextPtr tls() = 0;
  /// Passes a CancelRequest of a client at this address to the session that has the key, on any thread.
  virtual void forward_cancel(CancelKey key, const std::string& address) = 0;
  /// The connection with this number waits for bytes of its client before it has logged in, or does not any more.
  virtual void set_startup_waiting(std::uint64_t number, bool is_waiting) = 0;
  /// It has logged in.
  virtual void end_startup(std::uint64_t number) = 0;
  /// Logs misbehaviour before the login, at most once a minute for an address.
  virtual void note_bad_startup(const std::string& address, std::string_view what) = 0;
  virtual LoginPolicy& logins() = 0;
  /// The figures of the process, and of the thread.
  virtual ServerCounts& server_counts() = 0;
  virtual ThreadCounts& thread_counts() = 0;
  /// Takes a place, to be given back when the session ends. Throws 53300 if there is none.
  virtual void take_place(const SessionPlaces::Place& place) = 0;
  virtual void give_place_back(const SessionPlaces::Place& place) = 0;
};

/// One client, from its first byte to its last. Lives on one thread, together with its engine.
///
/// The conversation is one chain of coroutines. `cancel` reaches it while a statement runs: the current wait throws. The cancellation
/// state is reset before the session answers.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// `number`: the connection's, see StartupSlots.
  Session(SessionHost& host, Connection connection, CancelKey key, std::uint64_t number);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The whole conversation; throws nothing.
  asio::awaitable<void> run();

  const CancelKey& key() const { return key_; }
  /// For other threads: ends computations that keep this one from its event loop.
  std::shared_ptr<sql::Interrupts> interrupts() const { return interrupts_; }

  enum class CancelReason : std::uint8_t { kNone, kUserRequest, kStatementTimeout, kClientGone, kShutdown, kMemory };
  /// Ends the running statement; without effect when none runs.
  void cancel(CancelReason reason);
  /// Says 57P01 to the client as soon as its statement is done.
  void terminate();
  /// The server ends: the same, but a client that is in the middle of its work may end it, as long as it is not silent for a second. So a
  /// client that connects for one transaction never meets the end of the server.
  void drain();
  /// Ends a connection that has not logged in: 53300, others need its slot.
  void refuse();
  /// The configuration was reloaded: run-time parameters that belong to it follow.
  void follow_reload();
  /// Closes the socket without another word.
  void close();
  /// For inet_client_addr(), current_query() and their like.
  sql::ConnectionFacts connection_facts() const;
  /// The session waits for a lock, see SessionLog.
  void note_lock_wait(std::int64_t milliseconds, bool is_over);
  void show_wait(std::string_view event) { meter_.show_wait(event); }
  /// Called a few times a second: notices clients that are gone, and timeouts that need no precision.
  void tick(std::chrono::steady_clock::time_point now);

 private:
  // --- session.cc: the conversation
  /// Returns the executor of its coroutines, which know the types of the running statement.
  asio::any_io_executor executor();
  asio::awaitable<void> converse();
  asio::awaitable<void> serve();
  asio::awaitable<void> handle(RawMessage raw);
  asio::awaitable<void> read_more();
  asio::awaitable<void> flush();
  /// Sends what goes without waiting. Returns true if that is all; else `finish_flush` sends the rest.
  bool flush_at_once();
  asio::awaitable<void> finish_flush();
  /// ReadyForQuery, sent with all that is before it as flush_at_once() sends.
  bool end_answer();
  /// Sends what waits behind a notice while a statement runs. What the client does not take stays in `flush_.stalled`.
  void flush_notices();
  asio::awaitable<void> say_goodbye(std::optional<sql::SqlError> fatal);
  /// NotificationResponse of what has arrived, unless a transaction is open.
  void send_notifications();
  /// ParameterStatus of what changed, notifications, then ReadyForQuery.
  void tell_ready();

  // --- session_startup.cc: until the first ReadyForQuery
  /// False: the connection has served its purpose (a CancelRequest) or never was one of ours.
  asio::awaitable<bool> start_up();
  asio::awaitable<std::optional<StartupPacket>> read_startup_packet();
  asio::awaitable<void> read_startup_bytes();
  /// Throws 57P03 if the server ends.
  void check_shutdown() const;
  /// TLS without a question before it, by the first byte of the connection. Returns false where the connection ends.
  asio::awaitable<bool> take_direct_tls();
  /// S or N to an SSLRequest, and the handshake.
  asio::awaitable<void> answer_ssl_request();
  /// Throws TlsRefusal.
  asio::awaitable<void> complete_handshake();
  asio::awaitable<void> open(StartupMessage message);
  sql::SessionStatistics session_facts(const SessionPlaces::Place& place) const;
  void set_role_defaults(const std::vector<ParameterValue>& settings);
  // --- session_login: who the client is
  class Login;

  // --- session_errors.cc
  /// Reports a failed message to the client, unless the session must end (then it throws on).
  void report(std::exception_ptr failure);
  sql::SqlError as_sql_error(std::exception_ptr failure) const;
  void send_notice(std::string_view severity, const sql::SqlError& notice);
  std::uint32_t character_position(const sql::SqlError& error) const;

  /// Logs how long the message took, where parameters want it. `type`: of the message.
  void log_duration(char type);

  // --- direct_statement.cc
  /// A statement that runs directly.
  struct DirectStatement {
    PreparedStatementPtr statement = nullptr;
    std::shared_ptr<const std::string> text = nullptr;  // of a Query; null: the statement's own
    ColumnFormats formats = {};
    bool describes = false;
    std::size_t bytes = 0;  // of its messages
    executor::DirectRunPtr run = nullptr;
    /// BEGIN and its kin, which run at once.
    std::shared_ptr<const parser::ast::Statement> control = nullptr;
  };
  /// Returns true if nothing but the next messages decides whether they run directly.
  bool may_run_directly() const;
  /// Sends the commands of a statement that is one turn of them. Null: it is to run by its plan.
  executor::DirectRunPtr start_directly(const PreparedStatement& statement, std::span<const sql::Datum> parameters);
  /// Sends the rows, described before if that is wanted, and returns their number; nullopt: the statement is to run by its plan, and nothing
  /// was sent. Throws if Redis was lost.
  std::optional<std::size_t> give_directly(executor::DirectRun& run, const PreparedStatement& statement, std::span<const std::int16_t> formats,
                                           bool describes);
  void describe_directly(const PreparedStatement& statement, std::span<const std::int16_t> formats);
  void end_directly(const PreparedStatement& statement, std::size_t rows);
  /// Runs BEGIN or its kin and says so. Returns false if that needs a wait, and nothing has happened.
  bool control_directly(const DirectStatement& direct);
  /// Sends the commands of the next messages, if they run a statement that is one turn of commands. The messages stay unread.
  bool begin_directly();
  /// Like begin_directly(), for a Query that differs from the last one in constants only (simple_query.cc).
  bool begin_query_directly();
  std::vector<sql::Datum> values_of(const std::vector<parser::Literal>& literals, const std::vector<sql::Type>& types) const;
  /// Reads the messages of begin_directly() and answers them, unless the statement is to run by its plan (`direct_is_refused_`).
  asio::awaitable<void> answer_directly();

  // --- statement_run.cc
  /// Between the two, `cancel` and statement_timeout reach the session's waits.
  void begin_cancellable();
  void end_cancellable();
  /// Runs a statement's coroutine so that `cancel` and statement_timeout reach it. Rethrows what it throws.
  asio::awaitable<void> run_cancellable(asio::awaitable<void> statement);
  asio::awaitable<PreparedStatementPtr> prepare(SourceText source, std::string text,
                                                std::shared_ptr<const parser::ast::Statement> statement,
                                                executor::DeclaredParameters parameters, PreparedStatementPtr before = nullptr);
  /// Sends up to `max_rows` rows (0: all) and how it ended: CommandComplete, PortalSuspended or EmptyQueryResponse.
  /// `describe`: RowDescription goes before the first row.
  /// `commits`: the implicit transaction ends with this statement, before its end is told.
  asio::awaitable<void> run_portal(Portal& portal, std::size_t max_rows, bool describe, bool commits = false);
  /// Sends up to `max_rows` rows (0: all) of a cursor from where it stands, and how that ended. `tag`: of the query.
  asio::awaitable<void> run_cursor(Cursor& cursor, std::vector<std::int16_t> formats, std::string tag, std::size_t max_rows);
  /// Takes the result of the portal's execution: a batch to send, or the end.
  static void take(Portal& portal, std::optional<sql::Batch> batch);
  asio::awaitable<void> hold_all_rows(Portal& portal);

  /// Parses what the client sent. A long text is parsed on a thread of its own: it holds up no other session, and `cancel` and
  /// statement_timeout end the wait for it. Throws as parser::parse does, and 53200.
  asio::awaitable<std::vector<parser::ParsedStatement>> parse_text(std::shared_ptr<const std::string> text);

  // --- simple_query.cc
  asio::awaitable<void> log_texts(std::shared_ptr<const std::string> text);
  asio::awaitable<void> on(const QueryMessage& message);
  /// Runs the statements of a Query.
  asio::awaitable<void> run_query(std::shared_ptr<const std::string> text);
  /// Returns the statement that this text was parsed to before; null: unknown.
  std::shared_ptr<const parser::ast::Statement> known_statement(const std::string& text) const;
  /// Runs a statement by the plan that all statements share which differ from it in constants only. `is_done` stays false if the plan
  /// needs the constants or the statement is wrong: the caller then runs it as it is written.
  asio::awaitable<void> run_with_literals(parser::TextWithoutLiterals shared, bool& is_done);
  /// Runs a statement with WHERE CURRENT OF: plans it anew for the row at the cursor.
  asio::awaitable<void> run_at_cursor(Portal& portal, std::size_t max_rows);
  asio::awaitable<void> run_simple(SourceText source, std::string text,
                                   std::shared_ptr<const parser::ast::Statement> statement, bool commits);

  /// The stricter isolation levels check what was read when they commit, also for a single statement.
  bool needs_transaction(const PreparedStatement& statement) const;
  /// Between the statements of a transaction, a failed one included.
  /// Returns true if a draining server waits for the client: a statement runs; or the login, a transaction, or messages of the extended
  /// protocol have begun, and the client was heard a moment ago.
  bool is_awaited(std::chrono::steady_clock::time_point now) const;
  bool is_in_transaction() const { return transactions_.block().status() != TransactionStatus::kIdle; }
  bool is_strict(const parser::ast::Statement& statement) const {
    return state_.modes.isolation != executor::IsolationLevel::kReadCommitted && !executor::stands_alone(statement);
  }

  // --- replication_session: the commands of replication
  class Replication;

  // --- extended_query.cc
  asio::awaitable<void> on(const ParseMessage& message);
  asio::awaitable<void> on(const BindMessage& message);
  asio::awaitable<void> on(const DescribeMessage& message);
  asio::awaitable<void> on(const ExecuteMessage& message);
  asio::awaitable<void> on(const CloseMessage& message);
  asio::awaitable<void> on(const FlushMessage& message);
  asio::awaitable<void> on(const SyncMessage& message);
  asio::awaitable<void> on(const TerminateMessage& message);
  asio::awaitable<void> on(const FunctionCallMessage& message);
  asio::awaitable<void> on(const StrayCopyMessage& message);
  asio::awaitable<void> parse_statement(std::string name, SourceText source, std::vector<sql::Type> parameter_types,
                                        std::shared_ptr<const parser::ast::Statement> statement);
  std::vector<sql::Datum> bind_parameters(const BindMessage& message, const PreparedStatement& statement);
  sql::Datum bind_parameter(std::string_view bytes, std::int16_t format, sql::Type type, std::size_t number);
  const PreparedStatementPtr& find_statement(const std::string& name) const;
  Portal& find_portal(const std::string& name) const;

  /// A text of the client as UTF-8. 22021, 22P05.
  std::string from_client(std::string_view bytes);
  /// Takes up a changed client_encoding.
  void follow_client_encoding();

  /// Bytes in the output buffer that make a statement, or the next message, wait for the client.
  static constexpr std::size_t kFlushBytes = 64 * 1024;

  // --- copy_stream: COPY's data
  class CopyStream;
  void attach_copy_stream(Portal& portal);

  SessionHost& host_;
  Connection connection_;
  CancelKey key_;
  const std::uint64_t number_;
  std::shared_ptr<sql::SessionMemory> memory_;
  SessionMeter meter_;
  MessageDecoder decoder_;
  MessageEncoder encoder_;

  executor::SessionState state_;
  RunTimeParameters parameters_;
  SessionLog log_;
  PreparedStatements statements_;
  std::unordered_set<std::string> individual_texts_;  // see run_with_literals
  /// The statement that run_with_literals ran last, and the types of its literals: most clients repeat one.
  struct {
    PreparedStatementPtr statement;
    std::vector<sql::Type> types;
  } last_with_literals_;
  SessionTransactions transactions_;
  SessionStatements session_statements_;
  std::shared_ptr<executor::Engine> engine_;
  std::unique_ptr<CopyStream> copy_stream_;
  std::unique_ptr<Replication> replication_;  // null: the session replicates nothing
  Portals portals_;
  Cursors cursors_;  // after what their executions use
  std::string encoding_name_ = "UTF8";

  /// The message under way.
  struct Message {
    SourceText source;                           // of the statement at work, for positions
    std::shared_ptr<const std::string> text;     // from the client, for current_query()
    executor::ExecutionCounters counters_before; // where durations are logged
    std::string error_context;                   // the step at work, where that helps
    bool is_skipped_to_sync = false;
    bool has_unsent_error = false;  // an error waits in the buffer: it leaves before the next wait
  };
  Message message_;
  bool is_idle_ = false;  // ReadyForQuery was the last word
  std::optional<SessionPlaces::Place> place_;  // from the login on
  bool started_ = false;

  /// For other threads, too: see interrupts().
  std::shared_ptr<sql::Interrupts> interrupts_ = std::make_shared<sql::Interrupts>();
  /// The running statement.
  struct RunningStatement {
    explicit RunningStatement(asio::any_io_executor executor) : timeout(std::move(executor)) {}

    asio::cancellation_signal cancel_signal;
    asio::steady_timer timeout;
    bool is_running = false;
    bool has_timeout = false;     // `timeout` runs
    bool waits_for_data = false;  // reads COPY data
    CancelReason cancel_reason = CancelReason::kNone;
    std::uint64_t number = 0;
    int ticks_without_client = 0;
  };
  RunningStatement running_;

  DirectStatement direct_;
  bool direct_is_refused_ = false;  // the next messages are to be handled one by one

  /// The way of the output buffer to the client.
  struct Flush {
    bool has_notice = false;  // in the buffer
    bool is_running = false;  // waits for the client
    std::string stalled;      // sent before the buffer; the client has not taken all of it
  };
  Flush flush_;

  /// The end of the conversation, and the silence of the client before it.
  struct Ending {
    bool is_terminating = false;
    bool is_draining = false;
    bool has_answered = false;  // a ReadyForQuery since the login's
    bool is_refused = false;
    bool is_saying_goodbye = false;
    bool was_idle_too_long = false;
    std::chrono::steady_clock::time_point waiting_since = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> deadline;  // the socket is closed then
  };
  Ending end_;
};

}  // namespace redquel::server
