#include "server/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "executor/redis/requirements.h"
#include "executor/redis/server_info.h"
#include "executor/runtime/random_version.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/databases.h"
#include "executor/storage/role_store.h"
#include "executor/storage/stored_format.h"
#include "server/redis_check.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/passwords/password_verifier.h"

namespace redquel::server {

namespace {

/// The share of the memory limit from which on a warning is given.
constexpr double kMuchMemory = 0.9;
/// The number of empty logical databases from which on a warning is given.
constexpr std::int64_t kFewDatabases = 2;

class Findings {
 public:
  void error(std::string message, std::string hint = {}) { all_.push_back({Finding::Severity::kError, std::move(message), std::move(hint)}); }
  void error(const sql::SqlError& cause) { error(cause.message(), cause.hint()); }
  void note(std::string message) { all_.push_back({Finding::Severity::kNote, std::move(message)}); }
  void warning(std::string message, std::string hint) { all_.push_back({Finding::Severity::kWarning, std::move(message), std::move(hint)}); }
  /// Adds findings, with this before each message.
  void add(std::vector<Finding> others, const std::string& prefix) {
    for (Finding& other : others) {
      other.message = prefix + other.message;
      all_.push_back(std::move(other));
    }
  }
  std::vector<Finding> take() { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

using InfoFields = std::map<std::string_view, std::string_view>;

InfoFields fields_of(std::string_view info) {
  InfoFields fields;
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) fields.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return fields;
}

std::uint64_t bytes_in(const InfoFields& fields, std::string_view name) {
  std::uint64_t bytes = 0;
  if (const auto found = fields.find(name); found != fields.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), bytes);
  }
  return bytes;
}

/// Examines the slots of a cluster, and which masters have replicas.
void examine_slots(const executor::SlotMap& slots, Findings& findings) {
  if (const std::size_t missing = executor::kSlotCount - slots.assigned(); missing > 0) {
    findings.error(fmt::format("{} slots of the cluster have no node", missing), "Run \"redis-cli --cluster fix\".");
  }
  for (const executor::ClusterMaster& master : slots.masters()) {
    if (!master.replicas.empty()) continue;
    findings.warning(fmt::format("the master at {} has no replica: its keys are gone with it", master.place.address()), "Add a replica to each master.");
  }
}

/// Says what commits wait for. `needed`: redis.synchronous_replicas; nullopt: all that follow. Returns true if replicas are connected to Redis.
bool examine_replicas(const executor::ServerInfo& server, std::optional<int> needed, Findings& findings) {
  executor::ReplicaSet replicas;
  replicas.take(server.replication, executor::ReplicaSet::Clock::now(), false);
  if (server.replication.replicas.empty()) return false;
  if (!needed) findings.note(fmt::format("{} (redis.synchronous_replicas is auto)", replicas.description()));
  if (needed && static_cast<std::size_t>(*needed) < replicas.size()) {
    findings.warning(fmt::format("commits wait for {} of {} replicas: a failover to another one may lose them", *needed, replicas.size()),
                     "Set redis.synchronous_replicas to \"auto\" in redquel's configuration.");
  }
  return true;
}

void examine_server(std::string_view info, std::optional<int> needed_replicas, Findings& findings) {
  executor::ServerInfo server;
  executor::parse_info(info, server);
  const InfoFields fields = fields_of(info);
  const auto is_bad = [&](std::string_view name) { return fields.contains(name) && fields.at(name) != "ok"; };
  if (!executor::is_supported_version(server.version)) findings.error(fmt::format("Redis {} is older than 7.0", server.version), "Update Redis.");
  if (server.role == "slave" && !server.cluster_enabled) findings.error("this Redis is a replica, which takes no writes", "Give --redis the primary, or use \"redquel look\".");
  if (server.loading) findings.error("Redis loads its data; until its end statements fail");
  if (server.may_evict_rows()) {
    findings.error(fmt::format("maxmemory-policy is {}: at its limit of memory Redis drops rows and index entries", server.maxmemory_policy),
                   "Set maxmemory-policy to noeviction, or redis.allow_eviction in redquel's configuration.");
  }
  if (is_bad("aof_last_write_status")) findings.error("Redis could not write its append-only file, so that it refuses writes", "See Redis's log; the disk may be full.");
  if (is_bad("rdb_last_bgsave_status")) findings.error("Redis's last snapshot failed, so that it may refuse writes", "See Redis's log; the disk may be full.");
  const bool has_replicas = examine_replicas(server, needed_replicas, findings);
  // (INFO has the field where min-replicas-to-write is set.)
  if (has_replicas && !fields.contains("min_slaves_good_slaves")) {
    findings.warning("min-replicas-to-write is 0: a master that is cut off from its replicas takes writes, which a failover loses",
                     "Set min-replicas-to-write to 1 and min-replicas-max-lag to 5 in Redis's configuration.");
  }
  if (!server.aof_enabled && has_replicas) {
    findings.warning("appendonly is off: if Redis is started again before a failover, its replicas take over its last snapshot and lose what came after it",
                     "Set appendonly to yes in Redis's configuration.");
  } else if (!server.aof_enabled) {
    findings.warning("appendonly is off: a crash of Redis loses the transactions since its last snapshot", "Set appendonly to yes in Redis's configuration.");
  }
  const std::uint64_t limit = bytes_in(fields, "maxmemory"), used = bytes_in(fields, "used_memory");
  if (limit > 0 && static_cast<double>(used) > kMuchMemory * static_cast<double>(limit)) {
    findings.warning(fmt::format("Redis uses {} of {} bytes; at its limit it refuses writes", used, limit), "Raise maxmemory, or delete data.");
  }
}

/// The rights of the login, as a start of redquel asks for them.
asio::awaitable<void> examine_access(executor::RedisPool& pool, std::string address, Findings& findings) {
  executor::RedisClient& home = pool.shared(pool.default_database());
  const executor::RepliesPtr replies = co_await home.execute(executor::required_commands(sql::home_key(sql::kTrialPrefix) + executor::random_version()));
  if (const auto refusal = executor::refusal_of(*replies, address)) co_return findings.error(*refusal);
  const std::set<std::string> prefixes = co_await load_prefixes(pool);
  const executor::RepliesPtr reached = co_await home.execute(executor::access_trials(prefixes));
  if (const auto refusal = executor::refused_access(*reached, prefixes, address)) findings.error(*refusal);
}

/// Names the entries of the roles that count for nothing.
asio::awaitable<void> examine_roles(executor::RedisClient& home, Findings& findings) {
  const sql::RoleSetPtr roles = co_await executor::load_roles(home);
  if (!roles->is_stored) {
    findings.warning(fmt::format("{} does not exist: a redquel that runs refuses every login", sql::kRolesKey),
                     "redquel makes role postgres when it starts; \"redquel init\" makes it now, with a password.");
  }
  for (const std::string& field : roles->damaged) findings.error(fmt::format("{}: the field \"{}\" cannot be read", sql::kRolesKey, field));
  const std::map<sql::Oid, std::string> verifiers = co_await executor::load_verifiers(home);
  for (const auto& [role, verifier] : verifiers) {
    if (roles->find(role) == nullptr) {
      findings.error(fmt::format("{}: there is no role {}", sql::kVerifiersKey, role));
    } else if (sql::password_form(verifier) == sql::PasswordForm::kPlain) {
      findings.error(fmt::format("{}: the value of role {} (\"{}\") is no verifier", sql::kVerifiersKey, role, roles->name_of(role)));
    }
  }
  if (roles->is_stored && verifiers.empty()) {
    findings.warning("no role has a password: without rules only redquel's own operating-system user and root may connect", "Run \"redquel init\".");
  }
}

asio::awaitable<void> examine_databases(executor::RedisPool& pool, Findings& findings) {
  const std::map<int, std::string> databases = co_await load_databases(pool);
  for (const auto& [number, name] : databases) {
    executor::RedisClient& client = pool.shared(number);
    std::optional<std::string> reason;
    try {
      executor::CommandBatch look;
      look.add("GET", sql::home_key(sql::kFormatKey));
      const executor::RepliesPtr format = co_await client.execute(std::move(look));
      executor::check_stored_format(format->text(0));
      co_await executor::load_catalog(client);
    } catch (const sql::SqlError& error) {
      reason = error.message();
    }
    if (reason) findings.error(fmt::format("database \"{}\" (number {}): {}", name, number, *reason));
  }
  if (pool.slots()) co_return;  // a cluster has one
  const int home = pool.default_database();
  const executor::LogicalDatabases counted = co_await executor::count_logical_databases(pool.shared(home), home);
  if (counted.free > kFewDatabases) co_return;
  findings.warning(fmt::format("{} of {} logical databases are used; each CREATE DATABASE needs an empty one",
                               counted.all - counted.free, counted.all),
                   executor::more_databases_hint(counted.all));
}

/// Examines at which masters of a cluster the tables lie.
asio::awaitable<void> examine_placement(executor::RedisPool& pool, Findings& findings) {
  const std::shared_ptr<const executor::SlotMap> slots = pool.slots();
  if (!slots || slots->masters().size() < 2) co_return;
  std::map<std::string, std::size_t> tables;  // by the address of their master
  const executor::LoadedCatalog loaded = co_await executor::load_catalog(pool.shared(pool.default_database()));
  for (const auto& table : loaded.snapshot->managed_tables()) {
    if (table->tag().empty()) continue;
    if (const executor::TcpPlace* place = slots->place_of(executor::slot_of(table->prefix))) ++tables[place->address()];
  }
  if (tables.size() != 1 || tables.begin()->second < 2) co_return;
  findings.warning(fmt::format("all {} tables lie at {}", tables.begin()->second, tables.begin()->first),
                   "SET redquel.placement = balanced puts new tables into other buckets. \"redquel rebalance\" spreads buckets over the masters.");
}

}  // namespace

asio::awaitable<std::vector<Finding>> examine_redis(executor::RedisPool& pool, std::string address) {
  Findings findings;
  executor::CommandBatch ask;
  ask.add("INFO");
  const std::vector<executor::RedisPool::NodeReplies> nodes = co_await pool.ask_each(std::move(ask));
  for (const executor::RedisPool::NodeReplies& node : nodes) {
    const executor::Reply& info = (*node.replies)[0];
    if (!info.is_text()) continue;
    Findings own;
    examine_server(info.text, pool.synchronous_replicas(), own);
    findings.add(own.take(), pool.slots() ? node.address + ": " : "");
  }
  if (const auto slots = pool.slots()) examine_slots(*slots, findings);
  if (pool.slots() && pool.slots()->assigned() < executor::kSlotCount) co_return findings.take();
  executor::RedisClient& home = pool.shared(pool.default_database());
  try {
    co_await examine_access(pool, std::move(address), findings);
    co_await examine_databases(pool, findings);
    co_await examine_roles(home, findings);
    co_await examine_placement(pool, findings);
  } catch (const sql::SqlError& error) {
    findings.error(error);
  }
  co_return findings.take();
}

}  // namespace redquel::server
