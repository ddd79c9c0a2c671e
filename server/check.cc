#include "server/check.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/requirements.h"
#include "server/configuration.h"
#include "server/doctor.h"
#include "server/redis_check.h"
#include "server/reload.h"
#include "server/version.h"
#include "sql/error.h"

namespace redquel::server {

namespace {

void print_texts(const std::vector<Finding>& findings, std::size_t errors) {
  for (const Finding& finding : findings) {
    std::printf("%s: %s\n", finding.severity == Finding::Severity::kError ? "ERROR" : "WARNING", finding.message.c_str());
    if (!finding.hint.empty()) std::printf("HINT: %s\n", finding.hint.c_str());
  }
  const std::size_t warnings = findings.size() - errors;
  std::printf("%zu error%s, %zu warning%s\n", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
}

void print_json(const std::vector<Finding>& findings) {
  boost::json::array errors, warnings;
  for (const Finding& finding : findings) {
    boost::json::object entry{{"message", finding.message}};
    if (!finding.hint.empty()) entry["hint"] = finding.hint;
    (finding.severity == Finding::Severity::kError ? errors : warnings).push_back(std::move(entry));
  }
  const std::string text = boost::json::serialize(boost::json::object{{"version", kVersion}, {"errors", std::move(errors)}, {"warnings", std::move(warnings)}});
  std::printf("%s\n", text.c_str());
}

}  // namespace

int run_check(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel check: names what is wrong with a Redis for redquel, and stored definitions that it cannot use", "redquel check");
  Configuration configuration;
  std::string ca;
  app.add_option("--redis", configuration.redis_url, "the Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS), unix://…, sentinel://host:26379,…/master or cluster://host:port,…")
      ->type_name("URL")
      ->required();
  std::string keys;
  CLI::Option* acl = app.add_option("--acl", keys,
                                    "print the least ACL rule of redquel's own login: for all keys (\"all\"), or for those of the tables that are there (\"tables\")")
                         ->expected(0, 1)
                         ->default_str("all")
                         ->check(CLI::IsMember({"all", "tables"}));
  bool as_json = false;
  app.add_flag("--json", as_json, "print the findings as one JSON object");
  app.add_option("--tls-ca", ca, "certificates that vouch for the Redis (the system's)")->type_name("FILE");
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "redquel check: %s\n", error.what());
    return kBadUsage;
  }
  try {
    configuration.redis_password = environment_password();
    configuration.redis_tls.ca = ca;
    use_buckets(configuration);
    if (acl->count() > 0) {
      std::optional<std::set<std::string>> prefixes;
      if (keys == "tables") {
        run_over_redis(redis_connection(configuration), [&](executor::RedisPool& pool) -> asio::awaitable<void> { prefixes = co_await load_prefixes(pool); });
      }
      std::printf("ACL SETUSER redquel on >PASSWORD %s\n", executor::least_acl_rule(prefixes).c_str());
      return 0;
    }
    std::vector<Finding> findings;
    configuration.allow_eviction = true;  // a finding, no reason to stop
    spdlog::set_level(spdlog::level::off);
    executor::ConnectionOptions redis = redis_connection(configuration);
    const std::string address = redis.url.address();
    try {
      run_over_redis(std::move(redis), [&](executor::RedisPool& pool) -> asio::awaitable<void> { findings = co_await examine_redis(pool, address); });
    } catch (const sql::SqlError& error) {
      findings.push_back({Finding::Severity::kError, error.message(), error.hint()});
    }
    const auto errors = static_cast<std::size_t>(std::ranges::count(findings, Finding::Severity::kError, &Finding::severity));
    if (as_json) print_json(findings);
    else print_texts(findings, errors);
    return errors == 0 ? 0 : kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
