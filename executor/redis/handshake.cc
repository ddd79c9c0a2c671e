#include "executor/redis/handshake.h"

#include <array>

#include "executor/redis/redis_error.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {


bool is_permission_error(const Reply& reply) { return reply.is_error() && !reply.text.starts_with("LOADING"); }

bool is_lasting_error(const sql::SqlError& error) {
  constexpr std::array<std::string_view, 2> kLasting = {sqlstate::kInvalidAuthorizationSpecification, sqlstate::kInsufficientPrivilege};
  for (const std::string_view sqlstate : kLasting) {
    if (error.sqlstate() == sqlstate) return true;
  }
  return false;
}

/// Fills the fields from the reply of HELLO, in which names and values alternate. Returns true if the reply has the version.
bool read_hello(const Reply& reply, ServerInfo& server) {
  const std::span<const Reply> facts = reply.children();
  for (std::size_t index = 0; index + 1 < facts.size(); index += 2) {
    if (facts[index].text == "version") server.version = facts[index + 1].text;
    if (facts[index].text == "role") server.role = facts[index + 1].text;
    if (facts[index].text == "mode") server.cluster_enabled = facts[index + 1].text == "cluster";
    if (facts[index].text == "mode") server.is_sentinel = facts[index + 1].text == "sentinel";
  }
  return !server.version.empty();
}

}  // namespace

CommandBatch handshake_commands(const RedisUrl& url, const RedisLogin& login, std::string_view client_name, bool only_looks) {
  CommandBatch batch;
  if (!login.user.empty()) {
    batch.add("AUTH", login.user, login.password);
  } else if (!login.password.empty()) {
    batch.add("AUTH", login.password);
  }
  if (url.database != 0) batch.add("SELECT", url.database);
  batch.add("CLIENT", "SETNAME", client_name);
  if (only_looks) return std::move(batch.add("HELLO"));
  batch.add("INFO");
  batch.add("MULTI");
  batch.add("EXEC");
  batch.add("EVAL_RO", "return 1", "0");
  batch.add("SORT_RO", sql::home_key(sql::kTrialKey), "BY", "nosort", "GET", "#");
  return batch;
}

HandshakeResult read_handshake(const RedisUrl& url, const Replies& replies) {
  HandshakeResult result;
  const auto refuse = [&](sql::SqlError error, bool is_lasting) {
    result.error = std::move(error);
    result.is_lasting = is_lasting;
    return result;
  };

  bool is_informed = false;
  for (std::size_t index = 0; index < replies.size(); ++index) {
    const Reply& reply = replies[index];
    const std::string_view command = replies.command(index);
    if (reply.is_error() &&
        (command == "AUTH" || reply.text.starts_with("NOAUTH") || reply.text.starts_with("ERR max number"))) {
      sql::SqlError error = redis_error(reply.text, command);
      const bool is_lasting = is_lasting_error(error);
      return refuse(std::move(error), is_lasting);
    }
    if (reply.is_error() && command == "SELECT") {
      if (reply.text.starts_with("LOADING")) return refuse(redis_error(reply.text, command), false);
      if (reply.text.starts_with("NOPERM")) return refuse(redis_error(reply.text, command), true);
      return refuse(sql::SqlError(sqlstate::kUndefinedDatabase, "Redis at " + url.address() + " has no database " + std::to_string(url.database)),
                    true);
    }
    if (command == "INFO") {
      is_informed = reply.is_text();
      result.server.may_info = !reply.is_error();
      if (reply.is_text()) parse_info(reply.text, result.server);
    }
    if (command == "HELLO") is_informed = read_hello(reply, result.server);
    if (command == "MULTI") result.server.may_multi = !is_permission_error(reply);
    if (command == "EVAL_RO") result.server.may_script_read = !is_permission_error(reply);
    if (command == "SORT_RO") result.server.may_sort_get = !is_permission_error(reply);
  }

  if (is_informed && !is_supported_version(result.server.version)) {
    return refuse(sql::SqlError(sqlstate::kFeatureNotSupported,
                                "Redis at " + url.address() + " is version " + result.server.version + ", redquel needs 7.0 or later"),
                  true);
  }
  if (result.server.cluster_enabled && !url.is_node) {
    const bool is_local = std::holds_alternative<UnixPlace>(url.place);
    const std::string right = is_local ? "cluster://host:port with the address of a node" : (url.tls ? "rediss+cluster://" : "cluster://") + url.address();
    return refuse(sql::SqlError(sqlstate::kFeatureNotSupported, "Redis at " + url.address() + " is a node of a cluster: use " + right), true);
  }
  if (url.is_node && is_informed && !result.server.cluster_enabled) {
    return refuse(sql::SqlError(sqlstate::kFeatureNotSupported, "Redis at " + url.address() + " is no node of a cluster")
                      .hint(std::string("Use ") + (url.tls ? "rediss" : "redis") + "://" + url.address() + "."), true);
  }
  if (result.server.is_sentinel && !url.is_sentinel) {
    return refuse(sql::SqlError(sqlstate::kFeatureNotSupported, "Redis at " + url.address() + " is a sentinel: use sentinel://" + url.address() + "/MASTER"),
                  true);
  }
  if (url.sentinels && is_informed && result.server.role != "master") {
    return refuse(sql::SqlError(sqlstate::kCannotConnectNow, "the sentinels name a Redis as " + url.address() + " that is not a master"), false);
  }
  if (url.sentinels && !is_informed && replies.size() > 0) {
    return refuse(sql::SqlError(sqlstate::kInsufficientPrivilege, "Redis at " + url.address() + " does not let its user run INFO, which shows whether it is the master")
                      .hint("Grant +info to the user."), true);
  }
  if (result.server.loading)
    return refuse(sql::SqlError(sqlstate::kCannotConnectNow, "Redis at " + url.address() + " is loading its data set into memory"), false);
  return result;
}

}  // namespace redquel::executor
