#include "server/server.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "server/worker.h"

namespace redquel::server {

namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

/// A client that sends nothing for so long loses its startup slot where others need it.
constexpr auto kSilence = 500ms;
/// Beside one message of the largest size, each client may hold so much.
constexpr std::size_t kSmallMemory = std::size_t{1} << 20;
constexpr std::size_t kListedProcesses = 65'536;
/// Descriptors that are not clients: files, Redis connections, the event loops.
constexpr std::size_t kReservedDescriptors = 128;

tcp::endpoint resolve(asio::io_context& context, const std::string& host, std::uint16_t port) {
  tcp::resolver resolver(context);
  boost::system::error_code failure;
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, failure);
  if (failure || found.empty()) {
    throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}", host, port, failure.message()));
  }
  return found.begin()->endpoint();
}

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

/// Accepts on the calling thread and hands each connection to the worker with the fewest.
class Server::Listener {
 public:
  Listener(ServerOptions options, const EngineSourceFactory& engines)
      : options_(std::move(options)), acceptor_(context_), pause_(context_), signals_(context_) {
    if (!options_.logins) options_.logins = std::make_shared<LoginPolicy>(RuleSources(), 0ms);
    listen();
    limit_connections();
    name_rule_hooks(*options_.logins);
    Worker::name_connection_hooks();
    options_.limits.server_values.emplace_back("port", std::to_string(acceptor_.local_endpoint().port()));
    options_.limits.server_values.emplace_back("listen_addresses", options_.host);
    options_.limits.server_values.emplace_back("max_connections", std::to_string(options_.max_connections));
    options_.limits.server_values.emplace_back("superuser_reserved_connections", std::to_string(reserved_connections()));
    options_.limits.server_values.emplace_back("authentication_timeout", std::to_string(options_.limits.startup_time.count()));
    options_.limits.server_values.emplace_back("hba_file", options_.logins->sources().hba_file.string());
    options_.limits.server_values.emplace_back("ident_file", options_.logins->sources().ident_file.string());
    std::size_t threads = options_.threads;
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < threads; ++i) {
      Worker::Options worker{.index = i,
                             .count = threads,
                             .places = {.sessions = options_.max_connections,
                                        .reserved = reserved_connections()},
                             .logins = options_.logins.get(),
                             .limits = options_.limits,
                             .drain_time = options_.drain_time,
                             .forward_cancel = [this](CancelKey key, const std::string& address) { forward_cancel(key, address); },
                             .forward_signal = [this](std::int32_t process_id, bool ends_session) {
                               return forward_signal(process_id, ends_session);
                             }};
      workers_.push_back(std::make_unique<Worker>(std::move(worker), counts_, engines));
    }
  }

  tcp::endpoint endpoint() const { return endpoint_; }
  const std::string& host() const { return options_.host; }

  bool run(const std::function<void()>& ready) {
    std::vector<std::thread> threads;
    std::atomic<bool> clean = true;
    for (const auto& worker : workers_) {
      threads.emplace_back([&clean, &worker] {
        if (!worker->run()) clean = false;
      });
    }
    asio::co_spawn(context_, accept_forever(), asio::detached);
    if (options_.handle_signals) {
      signals_.add(SIGTERM);
      signals_.add(SIGINT);
      signals_.async_wait([this](const boost::system::error_code& failure, int signal) {
        if (failure) return;
        spdlog::info("signal {}: shutting down; running statements of {} sessions have {} seconds to end", signal,
                     counts_.places.count(), std::chrono::duration_cast<std::chrono::seconds>(options_.drain_time).count());
        drain();
      });
    }
    if (ready) ready();
    context_.run();
    for (std::thread& thread : threads) thread.join();
    return clean;
  }

  void stop() {
    asio::post(context_, [this] { drain(); });
  }

 private:
  void listen() {
    const tcp::endpoint wanted = resolve(context_, options_.host, options_.port);
    if (!wanted.address().is_loopback() && options_.logins->is_protected()) {
      throw std::runtime_error(fmt::format(
          "refusing to listen on {}: no role has a password. Run `redquel init` first, give --pwfile FILE or REDQUEL_PASSWORD_FILE, or set "
          "authentication.rules; without them redquel serves this machine only",
          options_.host));
    }
    boost::system::error_code failure;
    acceptor_.open(wanted.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(wanted, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
      throw std::runtime_error(
          fmt::format("cannot listen on {}:{}: {}", options_.host, options_.port, failure.message()));
    }
    endpoint_ = acceptor_.local_endpoint();
  }

  void limit_connections() {
    const std::size_t descriptors = raise_descriptor_limit();
    const std::size_t reserved = kReservedDescriptors + options_.max_startups;
    const std::size_t possible = descriptors > 2 * reserved ? descriptors - reserved : descriptors / 2;
    if (options_.max_connections > possible) {
      spdlog::warn("max_connections lowered from {} to {}: this process may open {} files (ulimit -n)",
                   options_.max_connections, possible, descriptors);
      options_.max_connections = possible;
    }
  }

  /// Of few connections, one stays for other roles.
  std::size_t reserved_connections() const { return std::min(options_.reserved_connections, options_.max_connections - 1); }

  Worker& least_busy() {
    // Round robin is as good while connections are few and alike, and needs no count per worker.
    next_worker_ = (next_worker_ + 1) % workers_.size();
    return *workers_[next_worker_];
  }

  asio::awaitable<void> accept_forever() {
    while (!draining_) {
      Worker& worker = least_busy();
      auto [failure, socket] = co_await acceptor_.async_accept(worker.context(), asio::as_tuple(asio::use_awaitable));
      if (draining_) break;
      if (failure) {
        // Out of descriptors or memory: the connection stays in the queue and accept would fail at once again.
        spdlog::warn("accept: {}", failure.message());
        pause_.expires_after(100ms);
        co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      boost::system::error_code ignored;
      std::string address = socket.remote_endpoint(ignored).address().to_string();
      co_await wait_for_startup_slot();
      if (draining_) break;
      const std::uint64_t number = counts_.startups.add(next_worker_, std::move(address));
      worker.post_connection(std::move(socket), number);
    }
  }

  /// Takes the slot of a silent client where all are taken. Where the clients wait for redquel, the newcomer waits with them.
  asio::awaitable<void> wait_for_startup_slot() {
    while (counts_.startups.is_full() && !draining_) {
      if (const auto silent = counts_.startups.take_silent(kSilence)) {
        if (counts_.addresses.may_log(silent->address)) {
          spdlog::warn("client at {}: too many connections without a login, silent ones are closed", silent->address);
        }
        workers_[silent->worker]->post_refusal(silent->number);
        continue;
      }
      pause_.expires_after(10ms);
      co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  void forward_cancel(CancelKey key, const std::string& address) {
    workers_[static_cast<std::size_t>(std::max(key.process_id, 0)) % workers_.size()]->post_cancel(key, address);
  }

  bool forward_signal(std::int32_t process_id, bool ends_session) {
    if (!counts_.processes.contains(process_id)) return false;
    workers_[static_cast<std::size_t>(process_id) % workers_.size()]->post_signal(process_id, ends_session);
    return true;
  }

  void drain() {
    if (draining_) return;
    draining_ = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    signals_.cancel(ignored);
    for (const auto& worker : workers_) worker->post_drain();
  }

  ServerOptions options_;
  SharedCounts counts_{{.processes = std::min(options_.max_connections + options_.max_startups, kListedProcesses),
                        .startups = options_.max_startups,
                        .wrong_cancels = options_.wrong_cancels,
                        .client_memory = std::max(options_.client_memory, 4 * (options_.limits.message_bytes + kSmallMemory))}};
  asio::io_context context_{1};
  std::vector<std::unique_ptr<Worker>> workers_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::steady_timer pause_;
  asio::signal_set signals_;
  std::size_t next_worker_ = 0;
  bool draining_ = false;
};

Server::Server(ServerOptions options, const EngineSourceFactory& engines)
    : listener_(std::make_unique<Listener>(std::move(options), engines)) {}
Server::~Server() = default;

std::string Server::address() const {
  const tcp::endpoint endpoint = listener_->endpoint();
  return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), endpoint.address().to_string(),
                     endpoint.port());
}
std::uint16_t Server::port() const { return listener_->endpoint().port(); }
bool Server::run(const std::function<void()>& ready) { return listener_->run(ready); }
void Server::stop() { listener_->stop(); }

}  // namespace redquel::server
