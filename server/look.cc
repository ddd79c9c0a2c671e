#include "server/look.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "executor/discovery/keyspace_sampler.h"
#include "executor/discovery/proposal_import.h"
#include "executor/make_engine.h"
#include "executor/redis/look_client.h"
#include "executor/redis/looking_commands.h"
#include "executor/redis/own_keyspace.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/runtime/random_version.h"
#include "executor/storage/role_store.h"
#include "parser/parse.h"
#include "server/catalog_file.h"
#include "server/configuration.h"
#include "server/progress_line.h"
#include "server/redis_check.h"
#include "server/redis_engines.h"
#include "server/reload.h"
#include "server/server.h"
#include "server/server_options.h"
#include "sql/catalog/role_json.h"
#include "sql/catalog/role_set.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::server {

using namespace std::chrono_literals;

namespace {

constexpr int kGood = 0, kFailed = 1, kBadUsage = 2;
/// Tables of a larger keyspace are made twice: after so many keys, and of all keys.
constexpr std::size_t kFirstKeys = 20'000;
/// The port opens at the latest after so long, also while discovery runs.
constexpr auto kLongestStart = 700ms;
constexpr auto kLogInterval = 10s;

struct LookOptions {
  Configuration configuration;
  std::optional<CatalogFile> catalog;
  std::string pattern = "*";  // of the keys that become tables
};

/// nullopt: --help was asked and printed. Throws ConfigurationError.
std::optional<LookOptions> read_options(int argc, const char* const* argv) {
  LookOptions options;
  Configuration& configuration = options.configuration;
  CLI::App app("redquel look: SQL over the keys of a Redis, which it only reads", "redquel look");
  std::string url, catalog, file, log_level;
  std::vector<std::string> listen;
  app.add_option("URL", url, "the Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS), unix://…, sentinel://host:26379,…/master or cluster://host:port,…")->required();
  app.add_option("--catalog", catalog, "file of SQL that defines the tables; made from the keys if there is none (default: kept in memory)")->type_name("FILE");
  app.add_option("--pattern", options.pattern, "keys that become tables, as SCAN MATCH reads it (*)")->type_name("PATTERN");
  app.add_option("--listen", listen, "address for PostgreSQL clients (127.0.0.1:5433); port 0 takes a free one")->type_name("HOST:PORT")->allow_extra_args(false);
  app.add_option("--config", file, "configuration file (TOML): TLS towards Redis, rules for clients")->type_name("FILE");
  std::size_t keys_per_second = 0;
  app.add_option("--max-keys-per-second", keys_per_second, "keys that a scan looks at in a second; 0 (the default): no limit")->type_name("N")->check(CLI::Range(0, 2147483647));
  std::size_t redis_share = 0;
  app.add_option("--max-redis-share", redis_share, "percent of Redis's time that scans may take (10)")->type_name("PERCENT")->check(CLI::Range(1, 100));
  std::size_t start_keys = 0;
  app.add_option("--max-start-keys", start_keys, "keys that the start scans to compare the structures of one table (10000000); 0: no limit")->type_name("N")->check(CLI::Range(0, 2147483647));
  app.add_option("--threads", configuration.threads, "event loops; 0: one per core")->check(CLI::Range(0, 1024));
  app.add_option("--log-level", log_level, "trace, debug, info, warn, error or off");
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::Success& success) {
    app.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw ConfigurationError(error.what());
  }
  if (!file.empty()) read_configuration_file(file, configuration);
  if (!listen.empty()) configuration.listen.clear();
  for (const std::string& text : listen) {
    for (ListenAddress& address : parse_listen_addresses(text)) configuration.listen.push_back(std::move(address));
  }
  if (app.count("--max-keys-per-second") > 0) configuration.look_keys_per_second = keys_per_second;
  if (app.count("--max-start-keys") > 0) configuration.look_start_keys = start_keys;
  if (app.count("--max-redis-share") > 0) configuration.look_redis_share = redis_share;
  configuration.redis_url = url;
  configuration.embedded = false;
  if (std::string password = environment_password(); !password.empty()) configuration.redis_password = std::move(password);
  if (!log_level.empty()) configuration.log_level = log_level;
  if (!catalog.empty()) options.catalog.emplace(catalog);
  return options;
}

/// Returns a keyspace that holds role postgres alone.
std::shared_ptr<executor::OwnKeyspace> new_keyspace(executor::RedisShareLimits limits) {
  auto own = std::make_shared<executor::OwnKeyspace>(limits);
  own->put(sql::kRolesKey, sql::role_field(sql::kPostgresRole), sql::encode(*sql::built_in_roles()->find(sql::kPostgresRole)));
  own->put(sql::kRolesKey, sql::kRolesVersionField, executor::random_version());
  return own;
}

/// Throws if Redis cannot be reached, or refuses commands that reading needs.
void check_readable(const executor::ConnectionOptions& redis) {
  run_over_redis(redis, [&](executor::RedisPool& pool) -> asio::awaitable<void> {
    const executor::RepliesPtr replies = co_await pool.shared(pool.default_database()).execute(executor::looking_trials());
    if (auto refusal = executor::refused_looking(*replies, redis.url.address())) throw *std::move(refusal);
  });
}

/// Definition statements that are run outside of sessions: of a catalog file, or those that discovery proposes.
class DefinitionRun {
 public:
  /// `most_keys`: that are scanned to compare the structures of one table with its rows; 0: no limit.
  DefinitionRun(executor::RedisPool& pool, executor::OwnKeyspace& own, std::size_t most_keys)
      : access_(pool, own), home_(access_.shared(pool.default_database())), number_(pool.default_database()) {
    executor::home_database() = {&home_, number_};
    engine_ = executor::make_engine(access_, number_, home_);
    session_.only_looks = session_.modes.read_only = true;
    session_.show = [most_keys](const std::string& name) { return name == "redquel.max_scanned_keys" ? std::optional(std::to_string(most_keys)) : std::nullopt; };
    session_.notice = [](std::string_view severity, const sql::SqlError& notice) { spdlog::info("{}: {}", severity, notice.message()); };
  }
  ~DefinitionRun() { executor::home_database() = {}; }
  DefinitionRun(const DefinitionRun&) = delete;
  DefinitionRun& operator=(const DefinitionRun&) = delete;

  /// The types that its coroutines must know.
  std::shared_ptr<const sql::KnownTypes> known_types() const { return session_.known_types; }

  asio::awaitable<void> run_all(std::string text, std::string name) {
    std::size_t offset = 0;
    try {
      for (const parser::ParsedStatement& parsed : parser::parse(text)) {
        offset = parsed.offset;
        co_await run_one(text.substr(parsed.offset, parsed.length));
      }
    } catch (const sql::SqlError& error) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
      throw ConfigurationError(fmt::format("{}:{}: {}", name, line, error.message()));
    }
  }

  /// Makes tables for the keys. `report` is called between two reads, and ends the discovery if it throws. `in_steps`: the tables of the
  /// first keys are made early, and those that turn out otherwise are made anew.
  asio::awaitable<void> discover(executor::OwnKeyspace& own, std::function<void()> report, std::string pattern, bool in_steps) {
    executor::ProposalImport import(*engine_, session_, "public");
    executor::DiscoveryOptions options;
    options.pattern = std::move(pattern);
    options.step = [&own] { return own.share().step(); };
    options.report = [&own, report = std::move(report)](std::size_t walked, std::size_t all, bool is_reading) {
      own.discovery().enter(is_reading ? executor::DiscoveryProgress::State::kReading : executor::DiscoveryProgress::State::kListing);
      own.discovery().report(walked, all);
      report();
    };
    if (in_steps) {
      executor::DiscoveryOptions first = options;
      first.max_keys = kFirstKeys;
      executor::Discovery part = co_await executor::discover(access_.bulk(number_), std::move(first));
      const bool is_all = part.keys < kFirstKeys;
      co_await define(own, import, part.proposal, is_all);
      if (is_all) co_return;
    }
    const executor::Discovery all = co_await executor::discover(access_.bulk(number_), std::move(options));
    co_await define(own, import, all.proposal, true);
  }

  static asio::awaitable<void> define(executor::OwnKeyspace& own, executor::ProposalImport& import, const sql::Proposal& proposal, bool notes_left_out) {
    own.discovery().enter(executor::DiscoveryProgress::State::kDefining);
    co_await import.run(proposal, {.notes_left_out = notes_left_out});
    own.discovery().note_tables(import.made(), import.left_out());
  }

  asio::awaitable<void> run_one(std::string text) {
    const std::shared_ptr<const parser::ast::Statement> statement = parser::parse_statement(text);
    if (const auto* set = std::get_if<parser::ast::SetVariable>(&statement->node); set && set->name == "search_path") {
      std::vector<std::string> path;
      for (const parser::ast::SettingValue& value : set->values) path.push_back(value.text);
      const bool is_reset = set->kind != parser::ast::SetVariable::Kind::kValue;
      session_.set_search_path(is_reset ? std::vector<std::string>{"public"} : std::move(path));
      co_return;
    }
    const executor::PreparedPtr prepared = co_await engine_->prepare(std::move(text), statement, std::nullopt, session_);
    const std::unique_ptr<executor::Execution> run = engine_->execute(prepared, {}, session_);
    while (co_await run->next()) continue;
  }

 private:
  executor::LookAccess access_;
  executor::RedisClient& home_;
  int number_;
  std::unique_ptr<executor::RedisEngine> engine_;
  executor::SessionState session_;
};

/// Runs the statements of a catalog file.
void load_file(const executor::ConnectionOptions& redis, const std::shared_ptr<executor::OwnKeyspace>& own, const CatalogFile& file, std::string text,
               std::size_t most_keys) {
  run_over_redis(redis, [&](executor::RedisPool& pool) -> asio::awaitable<void> {
    DefinitionRun run(pool, *own, most_keys);
    co_await executor::with_known_types(run.known_types(), run.run_all(std::move(text), file.path().string()));
  });
}

/// The discovery of tables on a thread of its own, beside the sessions.
class BackgroundDiscovery {
 public:
  BackgroundDiscovery(executor::ConnectionOptions redis, std::shared_ptr<executor::OwnKeyspace> own, std::size_t most_keys, std::string pattern, bool in_steps)
      : redis_(std::move(redis)), own_(std::move(own)), most_keys_(most_keys), pattern_(std::move(pattern)), in_steps_(in_steps) {
    own_->discovery().begin();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  /// Waits until the discovery ends, or for this time. Throws the error that has ended it.
  void wait_for(std::chrono::milliseconds time) {
    if (ended_.get_future().wait_for(time) == std::future_status::ready && error_) std::rethrow_exception(error_);
  }

 private:
  using Clock = executor::DiscoveryProgress::Clock;
  using State = executor::DiscoveryProgress::State;
  struct Stopped {};

  void run(const std::stop_token& stop) {
    ProgressLine line(stderr);
    Clock::time_point logged = Clock::now();
    const auto report = [&] {
      if (stop.stop_requested()) throw Stopped();
      const executor::DiscoveryProgress::Figures figures = own_->discovery().figures();
      line.show(figures);
      const Clock::time_point now = Clock::now();
      if (line.is_shown() || now - logged < kLogInterval) return;
      logged = now;
      spdlog::info("discovery: {}", executor::progress_text(figures, now));
    };
    try {
      run_over_redis(redis_, [&](executor::RedisPool& pool) -> asio::awaitable<void> {
        DefinitionRun definitions(pool, *own_, most_keys_);
        co_await executor::with_known_types(definitions.known_types(), definitions.discover(*own_, report, pattern_, in_steps_));
      });
      const executor::DiscoveryProgress::Figures figures = own_->discovery().figures();
      const std::size_t left_out = own_->discovery().left_out()->size();
      own_->discovery().end(State::kDone);
      spdlog::info("discovery has ended: {} keys, {} tables and frameworks{}", figures.all, figures.tables,
                   left_out == 0 ? "" : fmt::format("; redquel.left_out lists {} forms without a table", left_out));
    } catch (const Stopped&) {
      own_->discovery().end(State::kStopped);
      spdlog::info("discovery was interrupted");
    } catch (const std::exception& error) {
      own_->discovery().end(State::kFailed, error.what());
      error_ = std::current_exception();
      spdlog::error("discovery has failed: {}", error.what());
    }
    ended_.set_value();
  }

  executor::ConnectionOptions redis_;
  std::shared_ptr<executor::OwnKeyspace> own_;
  std::size_t most_keys_;
  std::string pattern_;
  bool in_steps_;
  std::promise<void> ended_;
  std::exception_ptr error_;
  std::jthread thread_;  // the last member: it uses the others
};

int serve(const LookOptions& options) {
  const std::shared_ptr<executor::OwnKeyspace> own =
      new_keyspace({.percent = options.configuration.look_redis_share, .keys_per_second = options.configuration.look_keys_per_second});
  const executor::ConnectionOptions redis = executor::looking_options(redis_connection(options.configuration), own);
  ServerOptions server_options = server_options_of(options.configuration);
  server_options.limits.only_looks = true;
  if (server_options.status_listen.empty()) {
    server_options.status_listen = {{"127.0.0.1", 0}};
    server_options.shows_page = true;
  }
  server_options.limits.server_values.emplace_back("default_transaction_read_only", "on");
  server_options.limits.server_values.emplace_back("redquel.max_keys_per_second", std::to_string(options.configuration.look_keys_per_second));
  server_options.logins = std::make_shared<LoginPolicy>(server_options.rules);
  server_options.logins->take_up(false, false, "Set authentication.rules in a file for --config");
  check_readable(redis);
  const std::size_t most_keys = options.configuration.look_start_keys;
  std::optional<std::string> text = options.catalog ? options.catalog->read() : std::nullopt;
  if (text) load_file(redis, own, *options.catalog, *text, most_keys);
  if (options.catalog) own->keep_changes([file = *options.catalog](const std::vector<std::string>& statements) { file.append(statements); });
  std::optional<BackgroundDiscovery> discovery;
  if (!text) {
    // A file gets the definitions once, as they are in the end.
    discovery.emplace(redis, own, most_keys, options.pattern, !options.catalog);
    discovery->wait_for(kLongestStart);
  }
  Server server(std::move(server_options), redis_engines(redis, {}, own));
  spdlog::info("looking at Redis at {}; definitions are kept in {}", redis.url.address(), options.catalog ? options.catalog->path().string() : "memory");
  const bool clean = server.run([&server] {
    std::printf("ready %s\n", server.address().c_str());
    std::fflush(stdout);
  });
  if (!clean) {
    spdlog::shutdown();  // threads are stuck in statements
    std::_Exit(kFailed);
  }
  return kGood;
}

}  // namespace

int run_look(int argc, const char* const* argv) {
  try {
    const std::optional<LookOptions> options = read_options(argc, argv);
    if (!options) return kGood;
    spdlog::set_level(spdlog::level::from_str(options->configuration.log_level));
    return serve(*options);
  } catch (const ConfigurationError& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
