#include "server/check.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/requirements.h"
#include "server/configuration.h"
#include "server/configuration_check.h"
#include "server/doctor.h"
#include "server/redis_check.h"
#include "server/reload.h"
#include "server/tls_options.h"
#include "server/version.h"
#include "sql/error.h"

namespace redquel::server {

namespace {

std::size_t count_of(const std::vector<Finding>& findings, Finding::Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

void print_texts(const std::vector<Finding>& findings) {
  constexpr const char* kNames[] = {"NOTE", "WARNING", "ERROR"};
  for (const Finding& finding : findings) {
    std::printf("%s: %s\n", kNames[static_cast<std::size_t>(finding.severity)], finding.message.c_str());
    if (!finding.hint.empty()) std::printf("HINT: %s\n", finding.hint.c_str());
  }
  const std::size_t errors = count_of(findings, Finding::Severity::kError), warnings = count_of(findings, Finding::Severity::kWarning);
  std::printf("%zu error%s, %zu warning%s\n", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
}

void print_json(const std::vector<Finding>& findings) {
  boost::json::array notes, warnings, errors;
  boost::json::array* const lists[] = {&notes, &warnings, &errors};
  for (const Finding& finding : findings) {
    boost::json::object entry{{"message", finding.message}};
    if (!finding.hint.empty()) entry["hint"] = finding.hint;
    lists[static_cast<std::size_t>(finding.severity)]->push_back(std::move(entry));
  }
  const std::string text = boost::json::serialize(boost::json::object{{"version", kVersion}, {"errors", std::move(errors)}, {"warnings", std::move(warnings)}, {"notes", std::move(notes)}});
  std::printf("%s\n", text.c_str());
}

/// Reads a configuration file and examines what it names. nullopt: it cannot be read, which is a finding.
std::optional<Configuration> read_and_examine(const std::string& file, std::vector<Finding>& findings) {
  try {
    std::vector<const char*> words = {"redquel", "--config", file.c_str()};
    Configuration configuration = *read_configuration(static_cast<int>(words.size()), words.data());
    findings = examine_configuration(configuration);
    return configuration;
  } catch (const ConfigurationError& error) {
    findings.push_back({Finding::Severity::kError, error.what(), std::filesystem::exists(file) ? "" : "Give --config FILE, or --redis URL."});
    return std::nullopt;
  }
}

/// Returns how to reach the Redis of a configuration; nullopt: it is redquel's own, which does not run.
std::optional<executor::ConnectionOptions> reach_redis(Configuration configuration) {
  if (configuration.embedded) {
    const std::filesystem::path socket = std::filesystem::absolute(configuration.data_directory) / "redis.sock";
    if (!std::filesystem::exists(socket)) return std::nullopt;
    configuration.redis_url = "unix://" + socket.string();
  }
  configuration.allow_eviction = true;  // a finding, no reason to stop
  use_buckets(configuration);
  return redis_connection(configuration);
}

void examine_redis_of(const Configuration& configuration, std::vector<Finding>& findings) {
  std::optional<executor::ConnectionOptions> redis;
  try {
    redis = reach_redis(configuration);
  } catch (const ConfigurationError&) {
    if (findings.empty()) throw;
    return;  // a file for TLS, which is a finding already
  }
  if (!redis) {
    findings.push_back({Finding::Severity::kWarning, "redquel's own Redis does not run: what is stored in it was not examined", "Start redquel first."});
    return;
  }
  const std::string address = redis->url.address();
  try {
    std::vector<Finding> found;
    run_over_redis(*std::move(redis), [&](executor::RedisPool& pool) -> asio::awaitable<void> { found = co_await examine_redis(pool, address); });
    findings.insert(findings.end(), found.begin(), found.end());
  } catch (const sql::SqlError& error) {
    findings.push_back({Finding::Severity::kError, error.message(), error.hint()});
  }
}

/// Prints the least rule of redquel's login. Returns the exit code.
int print_acl_rule(const Configuration& configuration, const std::string& keys) {
  use_buckets(configuration);
  std::optional<std::set<std::string>> prefixes;
  if (keys == "tables") {
    std::optional<executor::ConnectionOptions> redis = reach_redis(configuration);
    if (!redis) throw ConfigurationError("redquel's own Redis does not run");
    run_over_redis(*std::move(redis), [&](executor::RedisPool& pool) -> asio::awaitable<void> { prefixes = co_await load_prefixes(pool); });
  }
  std::printf("ACL SETUSER redquel on >PASSWORD %s\n", executor::least_acl_rule(prefixes).c_str());
  return 0;
}

}  // namespace

int run_check(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel check: names what is wrong with a configuration, with its Redis, and with stored definitions", "redquel check");
  std::string file = kInstalledFile, url;
  executor::TlsClientSettings tls;
  CLI::Option* config = app.add_option("--config", file, "the configuration file (/etc/redquel/redquel.toml): its files, certificate and limits, then its Redis")->type_name("FILE");
  CLI::Option* redis = app.add_option("--redis", url, "only this Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS), unix://…, sentinel://host:26379,…/master or cluster://host:port,…")
      ->type_name("URL");
  redis->excludes(config);
  std::string keys;
  CLI::Option* acl = app.add_option("--acl", keys,
                                    "print the least ACL rule of redquel's own login: for all keys (\"all\"), or for those of the tables that are there (\"tables\")")
                         ->expected(0, 1)
                         ->default_str("all")
                         ->check(CLI::IsMember({"all", "tables"}));
  bool as_json = false;
  app.add_flag("--json", as_json, "print the findings as one JSON object");
  add_tls_options(app, tls);
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "redquel check: %s\n", error.what());
    return kBadUsage;
  }
  try {
    std::optional<Configuration> configuration;
    std::vector<Finding> findings;
    if (redis->count() > 0) {
      configuration.emplace();
      configuration->redis_url = url;
      configuration->redis_tls = std::move(tls);
      configuration->redis_password = environment_password();
    } else {
      configuration = read_and_examine(file, findings);
    }
    if (acl->count() > 0 && configuration) return print_acl_rule(*configuration, keys);
    spdlog::set_level(spdlog::level::off);
    if (configuration) examine_redis_of(*configuration, findings);
    if (as_json) print_json(findings);
    else print_texts(findings);
    return count_of(findings, Finding::Severity::kError) == 0 ? 0 : kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
