#include "server/discover.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "executor/discovery/keyspace_sampler.h"
#include "executor/redis/look_client.h"
#include "executor/redis/redis_share.h"
#include "server/configuration.h"
#include "server/progress_line.h"
#include "server/redis_check.h"
#include "server/reload.h"
#include "server/tls_options.h"

namespace redquel::server {

namespace {

/// `share`: percent of Redis's time.
executor::Discovery discover(executor::ConnectionOptions connection, executor::DiscoveryOptions options, std::size_t share) {
  executor::Discovery discovery;
  executor::RedisShare pace({.percent = share});
  ProgressLine progress(stderr);
  executor::DiscoveryProgress figures;
  figures.begin();
  if (progress.is_shown()) {
    options.report = [&](std::size_t walked, std::size_t all, bool) {
      figures.report(walked, all);
      progress.show(figures.figures());
    };
  }
  run_over_redis(executor::looking_options(std::move(connection), nullptr), [&](executor::RedisPool& pool) -> asio::awaitable<void> {
    executor::LookClient client(pool.bulk(pool.default_database()), nullptr, pace, executor::LookClient::Paced::kAll);
    options.step = [&pace] { return pace.step(); };
    discovery = co_await executor::discover(client, std::move(options));
  });
  return discovery;
}

}  // namespace

int run_discover(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel discover: proposes tables for the keys that a Redis holds", "redquel discover");
  std::string schema;
  Configuration configuration;
  executor::DiscoveryOptions options;
  app.add_option("--redis", configuration.redis_url, "the Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS), unix://…, sentinel://host:26379,…/master or cluster://host:port,…")
      ->type_name("URL")
      ->required();
  add_tls_options(app, configuration.redis_tls);
  app.add_option("--pattern", options.pattern, "keys to look at, as SCAN MATCH reads it (*)")->type_name("PATTERN");
  app.add_option("--sample", options.sample, "keys to read of each form of key (50)")->type_name("N")->check(CLI::Range(1, 1000));
  app.add_option("--max-redis-share", configuration.look_redis_share, "percent of Redis's time that discovery may take (10)")
      ->type_name("PERCENT")
      ->check(CLI::Range(1, 100));
  app.add_option("--schema", schema, "the schema of the tables")->type_name("NAME");
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "redquel discover: %s\n", error.what());
    return kBadUsage;
  }
  try {
    configuration.redis_password = environment_password();
    const executor::Discovery discovery = discover(redis_connection(configuration), options, configuration.look_redis_share);
    const std::string head = fmt::format("-- {} keys, {} tables proposed\n\n", discovery.keys, discovery.proposal.tables.size());
    const std::string text = head + sql::proposal_text(discovery.proposal, schema);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
