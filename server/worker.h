#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "server/engine_source.h"
#include "server/address_watch.h"
#include "sql/memory_account.h"
#include "server/client_socket.h"
#include "server/live_processes.h"
#include "server/reloadable.h"
#include "server/session.h"
#include "server/startup_slots.h"

namespace redquel::server {

/// The state that the threads of a server share; the only one that several of them write.
struct SharedCounts {
  struct Limits {
    std::size_t processes, startups, wrong_cancels, threads;
    sql::MemoryLimits memory;
  };
  explicit SharedCounts(const Limits& limits)
      : startups(limits.startups), processes(limits.processes), addresses(limits.wrong_cancels), memory(limits.memory), figures(limits.threads) {}
  SessionPlaces places;
  StartupSlots startups;
  LiveProcesses processes;
  AddressWatch addresses;
  sql::ProcessMemory memory;
  ServerCounts figures;
  /// The number of this process among those over one Redis, see sql::kSessionsOfProcess.
  std::atomic<std::int32_t> process_number = 0;
};

/// One thread's event loop with the sessions, engines and Redis connections that live on it. Everything but `post_*`,
/// `context` and the constructor runs on that thread.
class Worker final : public SessionHost {
 public:
  struct Options {
    std::size_t index = 0;  // of `count` workers: part of every process id that this one gives out
    std::size_t count = 1;
    SessionPlaces::Limits places;
    LoginPolicy* logins = nullptr;
    Reloadable reloadable;
    std::chrono::milliseconds drain_time{10000};
    /// Brings a CancelRequest to the worker that gave out its process id.
    std::function<void(CancelKey, const std::string& address)> forward_cancel;
    /// pg_cancel_backend() and pg_terminate_backend(): the same without a secret. False: there is no such session.
    std::function<bool(std::int32_t process_id, bool ends_session)> forward_signal;
    /// pg_reload_conf(): the server reads its configuration soon.
    std::function<void()> ask_reload;
    /// Called once the process is known to others, or cannot be, by the first worker.
    std::function<void()> joined;
  };

  Worker(Options options, SharedCounts& counts, const EngineSourceFactory& engines);
  ~Worker() override;

  asio::io_context& context() { return context_; }
  /// Runs until the sessions are gone after `post_drain`. False: some could not be ended.
  bool run();

  // From any thread.
  /// `number`: of its startup slot.
  void post_connection(ClientSocket socket, std::uint64_t number, ClientOrigin origin = ClientOrigin::kNetwork);
  /// The connection has lost its startup slot.
  void post_refusal(std::uint64_t number);
  void post_cancel(CancelKey key, const std::string& address);
  void post_signal(std::int32_t process_id, bool ends_session);
  /// A cancel request for a session of another process.
  void post_cancel_elsewhere(CancelKey key);
  /// New sessions and connections to Redis follow this configuration.
  void post_reload(std::shared_ptr<const Reloadable> reloadable);
  /// Lets functions ask for the sessions of the worker whose thread they run on. Before any worker runs.
  static void name_connection_hooks();
  /// Sessions end (Session::drain); after the drain time their statements are cancelled. No connection is posted any more.
  void post_drain();
  /// Statements are cancelled at once. After `post_drain`.
  void post_hurry();

  // SessionHost
  const SessionLimits& limits() const override { return reloadable_->limits; }
  executor::TlsContextPtr tls() override { return reloadable_->tls; }
  EngineSource& engines() override { return *engines_; }
  TransactionTexts& transaction_texts() override { return transaction_texts_; }
  sql::ProcessMemory& memory() override { return counts_.memory; }
  void forward_cancel(CancelKey key, const std::string& address) override { options_.forward_cancel(key, address); }
  void set_startup_waiting(std::uint64_t number, bool is_waiting) override { counts_.startups.set_waiting(number, is_waiting); }
  void end_startup(std::uint64_t number) override;
  void note_bad_startup(const std::string& address, std::string_view what) override;
  LoginPolicy& logins() override { return *options_.logins; }
  ServerCounts& server_counts() override { return counts_.figures; }
  ThreadCounts& thread_counts() override { return counts_.figures.thread(options_.index); }
  void take_place(const SessionPlaces::Place& place) override;
  void give_place_back(const SessionPlaces::Place& place) override;

 private:
  struct Arrival {
    ClientSocket socket;
    std::uint64_t number;
    ClientOrigin origin;
  };
  /// Begins one connection a turn of the event loop, so that a flood of them holds up no session.
  asio::awaitable<void> begin_arrivals();
  asio::awaitable<void> serve(Arrival arrival);
  /// Interrupts a session's computation at once, where a posted handler would wait for its end. Without a secret
  /// any session is interrupted. Returns false if there is no such session or the secret is wrong. Any thread may call.
  bool interrupt(std::int32_t process_id, std::optional<std::int32_t> secret);
  /// Makes the sessions of the process known to other processes over the same Redis.
  asio::awaitable<void> join_processes();
  asio::awaitable<void> tick_forever();
  /// Notes the event loop's delay and what the thread's connections to Redis have done.
  void publish_figures(std::chrono::nanoseconds delay);
  /// The reserve of all threads is registered by one.
  bool owns_reserve() const { return options_.index == 0; }
  /// Asks Redis for a sign of life, for /health/ready.
  asio::awaitable<void> ping_redis();
  asio::awaitable<void> drain();
  void finish_if_empty();
  /// A copy: what is done to one session may end it, or another.
  std::vector<std::shared_ptr<Session>> all_sessions() const;
  CancelKey make_key();

  Options options_;
  std::shared_ptr<const Reloadable> reloadable_;
  SharedCounts& counts_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::unique_ptr<EngineSource> engines_;
  TransactionTexts transaction_texts_;
  std::deque<Arrival> arrivals_;
  std::size_t connections_ = 0;  // posted and not yet ended
  bool is_beginning_ = false;
  std::unordered_map<std::int32_t, std::shared_ptr<Session>> sessions_;
  std::unordered_map<std::uint64_t, std::int32_t> starting_;  // process ids of sessions that have not logged in, by number
  /// A session that other threads may interrupt while this thread computes.
  struct Interruptible {
    std::int32_t secret;
    std::shared_ptr<sql::Interrupts> interrupts;
  };
  std::mutex interruptible_mutex_;
  std::unordered_map<std::int32_t, Interruptible> interruptible_;  // by process id
  asio::steady_timer tick_timer_;
  asio::steady_timer drain_timer_;
  std::uint32_t next_sequence_ = 0;
  bool is_pinging_ = false;
  bool draining_ = false;
  bool finished_ = false;
  bool gave_up_ = false;
};

}  // namespace redquel::server
