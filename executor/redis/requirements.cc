#include "executor/redis/requirements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sql/ascii.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

// The script "return 1".
constexpr std::string_view kTrialScript = "return 1", kTrialSha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

/// The commands that redquel and its scripts send for its own tables, for foreign tables, for NOTIFY, and for the schema redis.
constexpr std::string_view kCommands[] = {
    "auth", "select", "ping", "info", "client|setname", "config|get", "bgrewriteaof", "command|info", "command|getkeys", "multi", "exec", "watch",
    "eval", "eval_ro", "evalsha", "evalsha_ro", "script|load", "time", "wait", "dbsize", "randomkey", "publish", "subscribe",
    "copy", "del", "exists", "expire", "object|encoding", "persist", "pexpire", "pttl", "rename", "scan", "sort_ro", "ttl", "type", "unlink",
    "get", "getrange", "incr", "incrby", "mget", "set", "setnx", "strlen",
    "hdel", "hexists", "hget", "hgetall", "hincrby", "hkeys", "hlen", "hmget", "hrandfield", "hscan", "hset", "hsetnx", "hvals",
    "sadd", "scard", "sdiff", "sinter", "sintercard", "sismember", "smembers", "smismember", "srandmember", "srem", "sscan", "sunion",
    "zadd", "zcard", "zcount", "zincrby", "zlexcount", "zmscore", "zrandmember", "zrange", "zrangebyscore", "zrank", "zrem", "zrevrank", "zscan", "zscore",
    "lindex", "llen", "lpos", "lpush", "lrange", "lrem", "lset", "ltrim", "rpop", "rpush",
    "xadd", "xdel", "xinfo|stream", "xlen", "xrange", "xrevrange",
    "client|list", "cluster|nodes", "latency|latest", "memory|stats", "memory|usage", "slowlog|get",
};
/// Those that redquel needs in a cluster besides.
constexpr std::string_view kClusterCommands[] = {"asking", "cluster|slots", "pubsub|numsub"};
constexpr std::string_view kOwnKeys = "~redquel:*", kOwnChannels = "&redquel:*";

/// The keys below a prefix as a pattern, in which no byte of the prefix means anything else.
std::string pattern_of(std::string_view prefix) {
  std::string pattern;
  for (const char byte : prefix) {
    if (std::string_view("*?[]^\\").find(byte) != std::string_view::npos) pattern += '\\';
    pattern += byte;
  }
  return pattern + ":*";
}

std::string missing_rule(std::string_view reason, std::string_view command) {
  if (reason.find(" channel") != std::string_view::npos) return std::string(kOwnChannels);
  if (reason.find(" key") != std::string_view::npos) return std::string(kOwnKeys);
  std::string rule = "+" + std::string(command);
  std::ranges::transform(rule, rule.begin(), sql::to_lower);
  return rule;
}

template <typename Rules>
std::string lacking(const Rules& rules) {
  return fmt::format("; the ACL rule of its user lacks {} (\"redquel check --acl\" prints the least rule)", fmt::join(rules, " "));
}

/// An error of another kind says nothing of rights: Redis loads its data, is a replica, or has no memory left.
bool is_refusal(const Reply& reply) {
  return reply.is_error() && (reply.text.starts_with("NOPERM") || reply.text.starts_with("ERR unknown command"));
}

}  // namespace

CommandBatch required_commands(const std::string& trial) {
  CommandBatch batch;
  batch.add("SCRIPT", "LOAD", kTrialScript);
  batch.add("EVALSHA", kTrialSha1, "0");
  batch.add("EVALSHA_RO", kTrialSha1, "0");
  batch.add("SET", trial, "1", "PX", "1000");
  for (const char* command : {"GET", "MGET", "STRLEN", "TYPE", "EXISTS", "TTL", "PTTL", "INCR"}) batch.add(command, trial);
  batch.add("INCRBY", trial, "1");
  batch.add("PERSIST", trial);
  batch.add("PEXPIRE", trial, "1000");
  batch.add("UNLINK", trial);
  batch.add("HSET", trial, "f", "1");
  batch.add("HSETNX", trial, "f", "1");
  batch.add("HINCRBY", trial, "f", "1");
  for (const char* command : {"HGET", "HMGET", "HEXISTS"}) batch.add(command, trial, "f");
  for (const char* command : {"HGETALL", "HLEN", "HKEYS", "HVALS", "HRANDFIELD"}) batch.add(command, trial);
  batch.add("HSCAN", trial, "0");
  batch.add("HDEL", trial, "f");
  batch.add("SADD", trial, "m");
  for (const char* command : {"SISMEMBER", "SMISMEMBER"}) batch.add(command, trial, "m");
  for (const char* command : {"SCARD", "SMEMBERS", "SINTER", "SUNION", "SDIFF"}) batch.add(command, trial);
  batch.add("SINTERCARD", "1", trial);
  batch.add("SSCAN", trial, "0");
  batch.add("SREM", trial, "m");
  batch.add("ZADD", trial, "1", "m");
  for (const char* command : {"ZSCORE", "ZMSCORE", "ZRANK", "ZREVRANK"}) batch.add(command, trial, "m");
  batch.add("ZCARD", trial);
  batch.add("ZCOUNT", trial, "1", "1");
  batch.add("ZLEXCOUNT", trial, "-", "+");
  batch.add("ZRANGE", trial, "0", "0");
  batch.add("ZSCAN", trial, "0");
  batch.add("ZREM", trial, "m");
  batch.add("RPUSH", trial, "e");
  batch.add("LRANGE", trial, "0", "0");
  batch.add("LINDEX", trial, "0");
  batch.add("LLEN", trial);
  batch.add("RPOP", trial);
  batch.add("UNLINK", trial);
  batch.add("TIME");
  batch.add("SCAN", "0");
  batch.add("MULTI");
  batch.add("EXEC");
  return batch;
}

std::optional<sql::SqlError> refusal_of(const Replies& replies, const std::string& address) {
  std::set<std::string_view> seen;
  std::set<std::string> rules;
  std::string refused, reason;
  for (std::size_t index = 0; index < replies.size(); ++index) {
    const std::string_view command = replies.command(index);
    if (!is_refusal(replies[index])) continue;
    if (replies[index].text.starts_with("NOPERM")) rules.insert(missing_rule(replies[index].text, command));
    if (!seen.insert(command).second) continue;
    if (refused.empty()) reason = std::string(replies[index].text);
    refused += (refused.empty() ? "" : ", ") + std::string(command);
  }
  if (refused.empty()) return std::nullopt;
  std::string message = "Redis at " + address + " refuses commands that redquel needs: " + refused + " (" + reason + ")";
  if (!rules.empty()) message += lacking(rules);
  return sql::SqlError(sqlstate::kInsufficientPrivilege, std::move(message));
}

std::string least_acl_rule(const std::optional<std::set<std::string>>& prefixes) {
  std::string rule = "resetkeys";
  if (!prefixes) rule += " ~*";
  if (prefixes) rule += sql::uses_cluster() ? " ~{*}redquel:*" : " " + std::string(kOwnKeys);
  if (prefixes) {
    for (const std::string& prefix : *prefixes) rule += " ~" + pattern_of(prefix);
  }
  rule += " resetchannels " + std::string(kOwnChannels) + " -@all";
  for (const std::string_view command : kCommands) rule += " +" + std::string(command);
  for (const std::string_view command : kClusterCommands) {
    if (sql::uses_cluster()) rule += " +" + std::string(command);
  }
  return rule;
}

CommandBatch access_trials(const std::set<std::string>& prefixes) {
  CommandBatch batch;
  batch.add("PUBLISH", std::string(sql::kNotifyPrefix) + "trial", "");
  for (const std::string& prefix : prefixes) batch.add("TYPE", prefix + ":zset");
  return batch;
}

std::optional<sql::SqlError> refused_access(const Replies& replies, const std::set<std::string>& prefixes, const std::string& address) {
  constexpr std::size_t kShown = 20;
  std::vector<std::string> rules;
  std::size_t index = 0;
  if (is_refusal(replies[index])) rules.emplace_back(kOwnChannels);
  for (const std::string& prefix : prefixes) {
    if (is_refusal(replies[++index]) && rules.size() < kShown) rules.push_back("~" + pattern_of(prefix));
  }
  if (rules.empty()) return std::nullopt;
  return sql::SqlError(sqlstate::kInsufficientPrivilege, "Redis at " + address + " refuses keys or channels of redquel's" + lacking(rules));
}

}  // namespace redquel::executor
