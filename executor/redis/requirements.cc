#include "executor/redis/requirements.h"

#include <set>

#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

// Of the script "return 1".
constexpr std::string_view kTrialScript = "return 1", kTrialSha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

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
  for (const char* command : {"SCARD", "SMEMBERS", "SINTER"}) batch.add(command, trial);
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
  std::string refused, reason;
  for (std::size_t index = 0; index < replies.size(); ++index) {
    const std::string_view command = replies.command(index);
    if (!is_refusal(replies[index]) || !seen.insert(command).second) continue;
    if (refused.empty()) reason = std::string(replies[index].text);
    refused += (refused.empty() ? "" : ", ") + std::string(command);
  }
  if (refused.empty()) return std::nullopt;
  return sql::SqlError(sqlstate::kInsufficientPrivilege,
                       "Redis at " + address + " refuses commands that redquel needs: " + refused + " (" + reason + ")");
}

}  // namespace redquel::executor
