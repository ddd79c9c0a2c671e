#include "server/server.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <future>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "server/client_socket.h"
#include "server/memory_watch.h"
#include "server/status/readiness.h"
#include "server/status/status_server.h"
#include "server/worker.h"
#include "sql/allocator.h"
#include "sql/connection_hooks.h"

namespace redquel::server {

namespace {

using namespace std::chrono_literals;

/// A client that sends nothing for so long loses its startup slot where others need it.
constexpr auto kSilence = 500ms;
/// Beside one message of the largest size, each client may hold so much.
constexpr std::size_t kSmallMemory = std::size_t{1} << 20;

/// Returns the bounds of memory. Clients may always send one message of the largest size.
sql::MemoryLimits memory_limits(const ServerOptions& options) {
  sql::MemoryLimits limits = options.memory;
  limits.clients = std::max(limits.clients, 4 * (options.limits.message_bytes + kSmallMemory));
  return limits;
}
constexpr std::size_t kListedProcesses = 65'536;
/// Descriptors that are not clients: files, Redis connections, the event loops.
constexpr std::size_t kReservedDescriptors = 128;
/// While the server ends, the log says so often which sessions it waits for, and names so many of them.
constexpr auto kReportInterval = 2s;
constexpr std::size_t kNamedSessions = 10;
/// How long the start waits for the numbers of other processes.
constexpr auto kJoinTime = 2s;
/// The port of unix sockets if there is no TCP address.
constexpr std::uint16_t kDefaultPort = 5433;

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t possible_connections(std::size_t descriptors, std::size_t max_startups) {
  const std::size_t reserved = kReservedDescriptors + max_startups;
  return descriptors > 2 * reserved ? descriptors - reserved : descriptors / 2;
}

/// Accepts on the calling thread and hands each connection to the worker with the fewest.
class Server::Listener {
 public:
  Listener(ServerOptions options, const EngineSourceFactory& engines)
      : options_(with_logins(std::move(options))),
        listeners_(make_listeners()),
        signals_(context_),
        delay_(context_),
        watchdog_(context_),
        report_(context_) {
    limit_connections();
    name_rule_hooks(*options_.logins);
    Worker::name_connection_hooks();
    add_server_values(options_);
    const std::size_t threads = thread_count(options_);
    counts_.figures.pings_redis = !options_.status_listen.empty();
    if (!options_.status_listen.empty()) {
      StatusServer::Options status{.listen = options_.status_listen, .hosts = options_.status_hosts, .max_sessions = options_.max_connections,
                                   .token_file = options_.status_token_file,
                                   .shows_page = options_.shows_page,
                                   .open_inside = [this](ClientOrigin origin) { return open_inside(origin); },
                                   .tls = options_.status_tls};
      status_ = std::make_unique<StatusServer>(std::move(status), counts_.figures);
    }
    for (std::size_t i = 0; i < threads; ++i) {
      Worker::Options worker{.index = i,
                             .count = threads,
                             .places = {.sessions = options_.max_connections, .reserved = reserved_connections()},
                             .logins = options_.logins.get(),
                             .reloadable = options_,
                             .drain_time = options_.drain_time,
                             .forward_cancel = [this](CancelKey key, const std::string& address) { forward_cancel(key, address); },
                             .forward_signal = [this](std::int32_t process_id, bool ends_session) {
                               return forward_signal(process_id, ends_session);
                             },
                             .ask_reload = [this] { asio::post(context_, [this] { reload(); }); },
                             .joined = [this] { joined_.set_value(); }};
      workers_.push_back(std::make_unique<Worker>(std::move(worker), counts_, engines));
    }
  }

  const Listeners& listeners() const { return listeners_; }

  bool run(const std::function<void()>& ready) {
    sql::start_page_thread();
    const MemoryWatch memory(counts_.memory, counts_.figures);
    std::vector<std::thread> threads;
    std::atomic<bool> clean = true;
    std::atomic<std::size_t> running = workers_.size();
    for (const auto& worker : workers_) {
      threads.emplace_back([this, &clean, &running, &worker] {
        if (!worker->run()) clean = false;
        if (--running == 0) asio::post(context_, [this] { end(); });
      });
    }
    // The process ids of sessions have the number of the process in them.
    joined_.get_future().wait_for(kJoinTime);
    for (Listeners::Listener& listener : listeners_.all()) asio::co_spawn(context_, accept_forever(listener), asio::detached);
    if (options_.handle_signals) {
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_.add(signal);
      await_signal();
    }
    if (options_.supervisor != nullptr && options_.supervisor->watchdog()) asio::co_spawn(context_, report_life(), asio::detached);
    counts_.figures.is_accepting = true;
    if (status_) status_->start();
    if (ready) ready();
    context_.run();
    for (std::thread& thread : threads) thread.join();
    if (status_) status_->stop();
    return clean;
  }

  void stop() {
    asio::post(context_, [this] { drain(); });
  }

 private:
  void await_signal() {
    signals_.async_wait([this](const boost::system::error_code& failure, int signal) {
      if (failure) return;
      if (signal == SIGHUP) {
        spdlog::info("SIGHUP: the configuration is read again");
        if (options_.supervisor != nullptr) options_.supervisor->notify_reloading();
        reload();
        notify("READY=1");
        return await_signal();
      }
      end_by_signal(signal);
      await_signal();
    });
  }

  /// The first signal begins the end, each further one cuts it short.
  void end_by_signal(int signal) {
    if (counts_.figures.is_draining) {
      spdlog::warn("signal {} again: running statements are cancelled", signal);
      delay_.cancel();
      if (draining_) {
        for (const auto& worker : workers_) worker->post_hurry();
      }
      return;
    }
    counts_.figures.is_draining = true;
    notify("STOPPING=1");
    spdlog::info("signal {}: shutting down; running statements of {} sessions have {} seconds to end", signal, counts_.places.count(),
                 std::chrono::duration_cast<std::chrono::seconds>(options_.drain_time).count());
    delay_.expires_after(options_.drain_delay);
    delay_.async_wait([this](const boost::system::error_code&) { drain(); });
  }

  void notify(std::string_view lines) const {
    if (options_.supervisor != nullptr) options_.supervisor->notify(lines);
  }

  /// Says WATCHDOG=1 in half of the time that the service manager allows, while all event loops turn.
  asio::awaitable<void> report_life() {
    const auto interval = *options_.supervisor->watchdog() / 2;
    while (!ended_) {
      if (readiness_of(counts_.figures).is_live) notify("WATCHDOG=1");
      watchdog_.expires_after(interval);
      co_await watchdog_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  /// Logs which sessions the end waits for.
  asio::awaitable<void> report_waits() {
    while (!ended_) {
      report_.expires_after(kReportInterval);
      co_await report_.async_wait(asio::as_tuple(asio::use_awaitable));
      const std::vector<sql::SessionStatistics> sessions = counts_.figures.sessions();
      if (ended_ || sessions.empty()) continue;
      std::vector<std::string> waits;
      for (const sql::SessionStatistics& one : sessions) {
        if (waits.size() < kNamedSessions) waits.push_back(fmt::format("{} ({})", one.process_id, one.state));
      }
      const std::string list = fmt::format("{}{}", fmt::join(waits, ", "), sessions.size() > waits.size() ? ", …" : "");
      spdlog::info("shutting down: {} sessions have not ended: {}", sessions.size(), list);
      notify(fmt::format("STATUS=waiting for {} sessions", sessions.size()));
    }
  }

  /// All workers have ended.
  void end() {
    ended_ = true;
    boost::system::error_code ignored;
    signals_.cancel(ignored);
    watchdog_.cancel();
    report_.cancel();
  }

  Listeners make_listeners() {
    const Listeners::Rules rules{.serves_others = !options_.logins->is_protected(), .shares_ports = options_.reuse_port};
    if (!options_.passed_sockets.empty()) return {context_, options_.passed_sockets, rules, kDefaultPort};
    return {context_, options_.listen, options_.unix_sockets, rules, kDefaultPort};
  }

  /// Values of run-time parameters that only the server knows.
  void add_server_values(Reloadable& reloadable) const {
    std::string hosts, directories;
    for (const ListenAddress& address : options_.listen) hosts += (hosts.empty() ? "" : ",") + address.host;
    for (const auto& directory : options_.unix_sockets.directories) directories += (directories.empty() ? "" : ", ") + directory.string();
    std::vector<ParameterValue>& values = reloadable.limits.server_values;
    values.emplace_back("port", std::to_string(listeners_.port()));
    values.emplace_back("listen_addresses", hosts);
    values.emplace_back("unix_socket_directories", directories);
    values.emplace_back("unix_socket_group", options_.unix_sockets.group);
    values.emplace_back("unix_socket_permissions", fmt::format("{:04o}", options_.unix_sockets.permissions));
    values.emplace_back("max_connections", std::to_string(options_.max_connections));
    values.emplace_back("superuser_reserved_connections", std::to_string(reserved_connections()));
    values.emplace_back("ssl", reloadable.tls ? "on" : "off");
  }

  static std::size_t thread_count(const ServerOptions& options) {
    return options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  }

  static ServerOptions with_logins(ServerOptions options) {
    if (!options.logins) options.logins = std::make_shared<LoginPolicy>(options.rules);
    return options;
  }

  /// At least one connection stays for other roles.
  std::size_t reserved_connections() const { return std::min(options_.reserved_connections, options_.max_connections - 1); }

  void reload() {
    if (draining_ || !options_.reload) return;
    std::optional<Reloadable> reloadable = options_.reload();
    if (!reloadable) return;
    add_server_values(*reloadable);
    if (reloadable->rules) options_.logins->replace_rules(reloadable->rules);
    if (status_) status_->set_tls(reloadable->status_tls);
    const auto shared = std::make_shared<const Reloadable>(*std::move(reloadable));
    for (const auto& worker : workers_) worker->post_reload(shared);
  }

  void limit_connections() {
    const std::size_t descriptors = raise_descriptor_limit();
    const std::size_t possible = possible_connections(descriptors, options_.max_startups);
    if (options_.max_connections > possible) {
      spdlog::warn("max_connections lowered from {} to {}: this process may open {} files (ulimit -n)",
                   options_.max_connections, possible, descriptors);
      options_.max_connections = possible;
    }
  }

  Worker& least_busy() {
    // Round robin is as good while connections are few and alike, and needs no count per worker.
    next_worker_ = (next_worker_ + 1) % workers_.size();
    return *workers_[next_worker_];
  }

  asio::awaitable<void> accept_forever(Listeners::Listener& listener) {
    while (!draining_) {
      Worker& worker = least_busy();
      const std::size_t index = next_worker_;
      Listeners::Acceptor::endpoint_type peer;
      auto [failure, socket] = co_await listener.acceptor.async_accept(worker.context(), peer, asio::as_tuple(asio::use_awaitable));
      if (failure && draining_) break;
      if (failure) {
        // Out of descriptors or memory: the connection stays in the queue and accept would fail at once again.
        spdlog::warn("accept: {}", failure.message());
        listener.pause.expires_after(100ms);
        co_await listener.pause.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      co_await wait_for_startup_slot(listener.pause);
      post(worker, index, std::move(socket), peer);
    }
  }

  void post(Worker& worker, std::size_t index, ClientSocket socket, const Listeners::Acceptor::endpoint_type& peer) {
    const std::uint64_t number = counts_.startups.add(index, address_text(peer));
    worker.post_connection(std::move(socket), number);
  }

  /// See OpenInside.
  int open_inside(ClientOrigin origin) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::system_error(errno, std::generic_category(), "socketpair");
    asio::post(context_, [this, origin, end = ends[1]] {
      if (draining_) return static_cast<void>(::close(end));
      Worker& worker = least_busy();
      ClientSocket socket(worker.context(), asio::generic::stream_protocol(AF_UNIX, 0), end);
      worker.post_connection(std::move(socket), counts_.startups.add(next_worker_, "[inside]"), origin);
    });
    return ends[0];
  }

  /// Accepts the connections in the queues of sockets that close with this process, which would otherwise be lost. Those of a service
  /// manager's sockets wait for the next process.
  void accept_queued() {
    for (Listeners::Listener& listener : listeners_.all()) {
      boost::system::error_code failure;
      listener.acceptor.non_blocking(true, failure);
      while (!failure && !counts_.startups.is_full()) {
        Worker& worker = least_busy();
        Listeners::Acceptor::endpoint_type peer;
        ClientSocket socket(worker.context());
        listener.acceptor.accept(socket, peer, failure);
        if (!failure) post(worker, next_worker_, std::move(socket), peer);
      }
    }
  }

  /// Takes the slot of a silent client where all are taken. Where the clients wait for redquel, the newcomer waits with them.
  asio::awaitable<void> wait_for_startup_slot(asio::steady_timer& pause) {
    while (counts_.startups.is_full() && !draining_) {
      if (const auto silent = counts_.startups.take_silent(kSilence)) {
        if (counts_.addresses.may_log(silent->address)) {
          spdlog::warn("client at {}: too many connections without a login, silent ones are closed", silent->address);
        }
        workers_[silent->worker]->post_refusal(silent->number);
        continue;
      }
      pause.expires_after(10ms);
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  /// Returns the worker that gave out a process id of this process.
  Worker& worker_of(std::int32_t process_id) {
    return *workers_[static_cast<std::size_t>(std::max(process_id, 0) % sql::kSessionsOfProcess) % workers_.size()];
  }

  void forward_cancel(CancelKey key, const std::string& address) {
    if (std::max(key.process_id, 0) / sql::kSessionsOfProcess == counts_.process_number) return worker_of(key.process_id).post_cancel(key, address);
    // This process does not learn whether the secret is right.
    if (!counts_.addresses.may_cancel(address)) return;
    counts_.addresses.note_wrong_cancel(address);
    workers_.front()->post_cancel_elsewhere(key);
  }

  bool forward_signal(std::int32_t process_id, bool ends_session) {
    if (!counts_.processes.contains(process_id)) return false;
    worker_of(process_id).post_signal(process_id, ends_session);
    return true;
  }

  void drain() {
    if (draining_) return;
    draining_ = true;
    counts_.figures.is_draining = true;
    if (options_.passed_sockets.empty()) accept_queued();
    listeners_.close();
    asio::co_spawn(context_, report_waits(), asio::detached);
    // Behind the connections that were accepted before: their handlers wait in the queue of this thread.
    asio::post(context_, [this] {
      for (const auto& worker : workers_) worker->post_drain();
    });
  }

  ServerOptions options_;
  SharedCounts counts_{{.processes = std::min(options_.max_connections + options_.max_startups, kListedProcesses),
                        .startups = options_.max_startups,
                        .wrong_cancels = options_.wrong_cancels,
                        .threads = thread_count(options_),
                        .memory = memory_limits(options_)}};
  asio::io_context context_{1};
  std::promise<void> joined_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<StatusServer> status_;  // null: none
  Listeners listeners_;
  asio::signal_set signals_;
  asio::steady_timer delay_, watchdog_, report_;
  std::size_t next_worker_ = 0;
  bool draining_ = false;
  bool ended_ = false;
};

Server::Server(ServerOptions options, const EngineSourceFactory& engines)
    : listener_(std::make_unique<Listener>(std::move(options), engines)) {}
Server::~Server() = default;

std::string Server::address() const { return listener_->listeners().address(); }
std::uint16_t Server::port() const { return listener_->listeners().port(); }
bool Server::run(const std::function<void()>& ready) { return listener_->run(ready); }
void Server::stop() { listener_->stop(); }

}  // namespace redquel::server
