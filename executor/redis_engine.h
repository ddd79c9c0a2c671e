#pragma once

#include <list>
#include <random>
#include <unordered_map>

#include "executor/engine.h"
#include "executor/execution_context.h"
#include "executor/planned.h"
#include "executor/redis/client.h"
#include "executor/storage/exclusive_tables.h"

namespace redquel::executor {

struct EngineLimits {
  std::size_t script_rows = 2000;  // that one script writes; statements with more rows are journaled units
  std::size_t cached_plans = 1000;
};

/// The engine over one logical database of Redis.
class RedisEngine final : public Engine {
 public:
  RedisEngine(RedisClient& shared, RedisClient& bulk, RedisClient& home, EngineLimits limits);

  asio::awaitable<void> begin_session() override;
  asio::awaitable<PreparedPtr> prepare(std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                       DeclaredParameters parameters, SessionState& session) override;
  asio::awaitable<PreparedPtr> refresh(PreparedPtr prepared, SessionState& session) override;
  std::unique_ptr<Execution> execute(PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session) override;

  // ---- for its executions ----
  /// The definitions as last loaded; loads them at first use.
  asio::awaitable<sql::CatalogPtr> catalog();
  /// Those that another unit had for itself when the definitions were loaded.
  const ExclusiveTables& exclusive_tables() const { return exclusive_; }
  /// Loads the definitions again; true if they had moved.
  asio::awaitable<bool> reload_catalog();
  /// The same statement planned with the catalog of now. 0A000 when the result's columns are not the same any more.
  asio::awaitable<PreparedPtr> replan(const Prepared& prepared, SessionState& session);
  RedisClient& shared() { return shared_; }
  RedisClient& bulk() { return bulk_; }
  RedisClient& home() { return home_; }
  const EngineLimits& limits() const { return limits_; }
  CheapnessMemory& cheapness() { return cheapness_; }
  std::minstd_rand& random() { return random_; }

 private:
  PreparedPtr plan(std::string text, std::shared_ptr<const parser::ast::Statement> statement, DeclaredParameters parameters,
                   const SessionState& session) const;

  RedisClient& shared_;
  RedisClient& bulk_;
  RedisClient& home_;
  EngineLimits limits_;
  sql::CatalogPtr catalog_;
  ExclusiveTables exclusive_;
  std::uint64_t generation_ = 0;
  CheapnessMemory cheapness_;
  std::minstd_rand random_{std::random_device{}()};
};

/// `home`: a way to the logical database where the list of databases lies.
std::unique_ptr<Engine> make_engine(RedisClient& shared, RedisClient& bulk, RedisClient& home, EngineLimits limits = {});

}  // namespace redquel::executor
