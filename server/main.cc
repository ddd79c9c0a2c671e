// redquel: reads its configuration, starts a Redis if it has none, and serves until it is told to end.

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/embedded/embedded_redis.h"
#include "server/check.h"
#include "server/configuration.h"
#include "server/discover.h"
#include "server/status/health.h"
#include "server/init.h"
#include "server/log_format.h"
#include "server/look.h"
#include "server/redis_check.h"
#include "server/redis_engines.h"
#include "server/rebalance.h"
#include "server/reload.h"
#include "server/server.h"
#include "server/server_options.h"
#include "server/supervisor.h"
#include "sql/catalog/buckets.h"

namespace {

/// The server ends: from now on signals that would end it have no effect. Asio gives a signal back to the system once no set has it, and then
/// the signal would kill what lets go of its threads; the set made here stays, and is never waited for.
void ignore_further_signals() {
  static auto* const context = new boost::asio::io_context;
  static auto* const signals = new boost::asio::signal_set(*context, SIGTERM, SIGINT, SIGHUP);
  static_cast<void>(signals);
}

using namespace redquel;

/// The program's exit status.
enum ExitCode : int { kGood = 0, kFailed = 1, kBadUsage = 2 };

/// Makes the first role. Decides about the protected mode, unless Redis does not answer yet.
std::shared_ptr<server::LoginPolicy> login_policy(const server::Reloadable& reloadable, const executor::ConnectionOptions& redis) {
  auto policy = std::make_shared<server::LoginPolicy>(reloadable.rules);
  if (const std::optional<bool> has_verifiers = server::prepare_roles(redis)) policy->take_up(*has_verifiers, false);
  return policy;
}

/// Everything that needs the configuration. Throws what is fit to be printed.
int serve(const server::Configuration& configuration, std::vector<std::string> command_line) {
  server::Supervisor supervisor;
  server::ServerOptions server_options = server::server_options_of(configuration);
  server_options.supervisor = &supervisor;
  server_options.passed_sockets = supervisor.take_sockets();
  server_options.reload = server::ConfigurationReload(std::move(command_line), configuration);
  // The child must be forked while this is the only thread.
  std::unique_ptr<executor::EmbeddedRedis> embedded;
  executor::ConnectionOptions redis;
  if (configuration.embedded) {
    executor::EmbeddedRedisOptions options;
    options.data_directory = configuration.data_directory;
    options.server_program = configuration.redis_server;
    embedded = std::make_unique<executor::EmbeddedRedis>(std::move(options));
    redis.url = embedded->url();
  } else {
    server::use_buckets(configuration);
    redis = server::redis_connection(configuration);  // the embedded one is never started on a torn file
    server::check_redis(redis);
  }
  if (!configuration.password_file.empty()) server::set_first_password(redis, server::read_password_file(configuration.password_file));
  const executor::EngineLimits limits{.script_rows = configuration.script_rows,
                                      .lock_lease_ms = configuration.lock_lease,
                                      .unrestricted_call = configuration.unrestricted_call};
  // A copy is kept up by the messages of one Redis about its keys.
  const executor::MemoryOptions memory{.bytes = sql::uses_cluster() ? 0 : configuration.cache_memory,
                                       .least_rows = configuration.cache_least_rows,
                                       .first_scan = configuration.cache_first_scan,
                                       .threads = configuration.cache_threads};
  if (sql::uses_cluster() && configuration.cache_memory > 0) {
    spdlog::info("tables are not kept in memory (cache.memory): a cluster does not report the changes of its keys");
  }
  server_options.logins = login_policy(server_options, redis);
  if (configuration.loopback_until_password && server_options.logins->is_protected()) {
    server_options.listen = server::loopback_of(server_options.listen);
    spdlog::warn("listening on loopback alone, because no role has a password; run `redquel init`, then restart");
  }
  server::Server server(std::move(server_options), server::redis_engines(redis, limits, nullptr, memory));
  if (embedded) embedded->supervise();

  spdlog::info("data in Redis at {}{}", redis.url.address(), embedded ? " (embedded)" : "");
  const bool clean = server.run([&server, &supervisor] {
    std::printf("ready %s\n", server.address().c_str());
    std::fflush(stdout);
    supervisor.notify("READY=1\nSTATUS=serving clients");
  });
  ignore_further_signals();
  if (embedded) embedded->stop();
  if (!clean) {
    // Threads are stuck in statements: nothing that they use may be torn down under them.
    spdlog::shutdown();
    std::_Exit(kFailed);
  }
  spdlog::info("ended");
  return kGood;
}

}  // namespace

int main(int argc, char** argv) {
  auto logger = spdlog::stderr_color_mt("redquel");
  logger->set_formatter(server::log_format());
  spdlog::set_default_logger(std::move(logger));
  const std::vector<std::string> words(argv, argv + argc);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  server::hide_passwords(argc, argv);
  if (argc > 1 && words[1] == "init") return server::run_init(argc, arguments.data());
  if (argc > 1 && words[1] == "check") return server::run_check(argc, arguments.data());
  if (argc > 1 && words[1] == "rebalance") return server::run_rebalance(argc, arguments.data());
  if (argc > 1 && words[1] == "health") return server::run_health(argc, arguments.data());
  if (argc > 1 && words[1] == "discover") return server::run_discover(argc, arguments.data());
  if (argc > 1 && words[1] == "look") return server::run_look(argc, arguments.data());
  try {
    const std::optional<server::Configuration> configuration = server::read_configuration(argc, arguments.data());
    if (!configuration) return kGood;
    spdlog::set_level(spdlog::level::from_str(configuration->log_level));
    if (configuration->json_log) spdlog::set_formatter(server::log_format(server::LogForm::kJson));
    return serve(*configuration, words);
  } catch (const server::ConfigurationError& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}
