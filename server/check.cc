#include "server/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/requirements.h"
#include "executor/storage/role_store.h"
#include "server/configuration.h"
#include "server/redis_check.h"
#include "server/reload.h"
#include "sql/catalog/stored_keys.h"
#include "sql/passwords/password_verifier.h"

namespace redquel::server {

namespace {

/// Returns a line for each entry of the roles that counts for nothing.
asio::awaitable<std::vector<std::string>> check_roles(executor::RedisClient& home) {
  std::vector<std::string> lines;
  const sql::RoleSetPtr roles = co_await executor::load_roles(home);
  if (!roles->is_stored) lines.push_back(fmt::format("{} does not exist: every login is refused until \"redquel init\"", sql::kRolesKey));
  for (const std::string& field : roles->damaged) lines.push_back(fmt::format("{}: the field \"{}\" cannot be read", sql::kRolesKey, field));
  const std::map<sql::Oid, std::string> verifiers = co_await executor::load_verifiers(home);
  for (const auto& [role, verifier] : verifiers) {
    if (roles->find(role) == nullptr) {
      lines.push_back(fmt::format("{}: there is no role {}", sql::kVerifiersKey, role));
    } else if (sql::password_form(verifier) == sql::PasswordForm::kPlain) {
      lines.push_back(fmt::format("{}: the value of role {} (\"{}\") is no verifier", sql::kVerifiersKey, role, roles->name_of(role)));
    }
  }
  co_return lines;
}

}  // namespace

int run_check(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel check: names stored definitions that redquel cannot use", "redquel check");
  Configuration configuration;
  std::string ca;
  app.add_option("--redis", configuration.redis_url, "the Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS) or unix://…")
      ->type_name("URL")
      ->required();
  std::string keys;
  CLI::Option* acl = app.add_option("--acl", keys,
                                    "print the least ACL rule of redquel's own login: for all keys (\"all\"), or for those of the tables that are there (\"tables\")")
                         ->expected(0, 1)
                         ->default_str("all")
                         ->check(CLI::IsMember({"all", "tables"}));
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
    if (acl->count() > 0) {
      std::optional<std::set<std::string>> prefixes;
      if (keys == "tables") {
        run_over_redis(redis_connection(configuration), [&](executor::RedisPool& pool) -> asio::awaitable<void> { prefixes = co_await load_prefixes(pool); });
      }
      std::printf("ACL SETUSER redquel on >PASSWORD %s\n", executor::least_acl_rule(prefixes).c_str());
      return 0;
    }
    std::vector<std::string> lines;
    run_over_redis(redis_connection(configuration), [&](executor::RedisPool& pool) -> asio::awaitable<void> {
      lines = co_await check_roles(pool.shared(pool.default_database()));
    });
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
    std::printf("%zu errors\n", lines.size());
    return lines.empty() ? 0 : kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
