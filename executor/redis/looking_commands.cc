#include "executor/redis/looking_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql/ascii.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Commands of @read without those that answer from the whole keyspace at once (KEYS), change a time (TOUCH) or wait (XREAD). INFO and the reports
/// below are sent for the tables of schema redis alone; the Redis user may have no right to them.
constexpr auto kReading = std::to_array<std::string_view>({
    "BITCOUNT", "BITFIELD_RO", "BITPOS", "DBSIZE", "DUMP", "EXISTS", "EXPIRETIME", "GEODIST", "GEOHASH", "GEOPOS", "GEORADIUSBYMEMBER_RO",
    "GEORADIUS_RO", "GEOSEARCH", "GET", "GETBIT", "GETRANGE", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HRANDFIELD", "HSCAN",
    "HSTRLEN", "HVALS", "INFO", "LCS", "LINDEX", "LLEN", "LPOS", "LRANGE", "MGET", "PEXPIRETIME", "PING", "PTTL", "RANDOMKEY", "SCAN", "SCARD", "SDIFF",
    "SINTER", "SINTERCARD", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SORT_RO", "SRANDMEMBER", "SSCAN", "STRLEN", "SUBSTR", "SUNION", "TTL", "TYPE",
    "XLEN", "XPENDING", "XRANGE", "XREVRANGE", "ZCARD", "ZCOUNT", "ZDIFF", "ZINTER", "ZINTERCARD", "ZLEXCOUNT", "ZMSCORE", "ZRANDMEMBER", "ZRANGE",
    "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK", "ZREVRANGE", "ZREVRANGEBYLEX", "ZREVRANGEBYSCORE", "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION",
});
static_assert(std::ranges::is_sorted(kReading));

constexpr std::array<std::string_view, 12> kWithSubcommand = {"CLIENT LIST", "SLOWLOG GET", "MEMORY STATS", "LATENCY LATEST", "COMMAND GETKEYS", "COMMAND INFO", "MEMORY USAGE", "OBJECT ENCODING",
                                                              "OBJECT IDLETIME", "OBJECT FREQ",  "XINFO STREAM", "XINFO GROUPS"};

/// The longest name, "OBJECT ENCODING" and its like included.
constexpr std::size_t kLongestName = 32;

std::string upper(std::string_view word) {
  std::string result(word.substr(0, kLongestName));
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

}  // namespace

bool is_looking_command(std::span<const std::string_view> words) {
  if (words.empty()) return false;
  const std::string name = upper(words[0]);
  if (std::ranges::binary_search(kReading, std::string_view(name))) return true;
  return words.size() > 1 && std::ranges::find(kWithSubcommand, name + " " + upper(words[1])) != kWithSubcommand.end();
}

CommandBatch looking_trials() {
  const std::string_view key = sql::kTrialKey;
  CommandBatch batch;
  batch.add("SCAN", "0", "COUNT", "1");
  for (const char* command : {"TYPE", "PTTL", "EXISTS", "STRLEN", "GET", "HLEN", "HGETALL", "SCARD", "SMEMBERS", "ZCARD", "LLEN", "XLEN"}) batch.add(command, key);
  batch.add("GETRANGE", key, 0, 0);
  batch.add("MGET", key);
  batch.add("HMGET", key, "f");
  batch.add("HSCAN", key, "0");
  batch.add("HRANDFIELD", key, 1);
  batch.add("SSCAN", key, "0");
  batch.add("SRANDMEMBER", key, 1);
  batch.add("SMISMEMBER", key, "m");
  batch.add("SINTER", key);
  batch.add("ZRANGE", key, 0, 0);
  batch.add("ZSCAN", key, "0");
  batch.add("ZSCORE", key, "m");
  batch.add("LRANGE", key, 0, 0);
  batch.add("XRANGE", key, "-", "+", "COUNT", 1);
  return batch;
}

std::optional<sql::SqlError> refused_looking(const Replies& replies, const std::string& address) {
  std::set<std::string> rules, refused;
  std::string reason;
  for (std::size_t index = 0; index < replies.size(); ++index) {
    const Reply& reply = replies[index];
    const bool is_unknown = reply.is_error() && reply.text.starts_with("ERR unknown command");
    // A user may be kept to some keys: the trial key need not be one of them.
    const bool is_refused = reply.is_error() && reply.text.starts_with("NOPERM") && reply.text.find(" key") == std::string_view::npos;
    if (!is_unknown && !is_refused) continue;
    const std::string name(replies.command(index));
    refused.insert(name);
    if (reason.empty()) reason = std::string(reply.text);
    if (!is_refused) continue;
    std::string rule = "+" + name;
    std::ranges::transform(rule, rule.begin(), sql::to_lower);
    rules.insert(std::move(rule));
  }
  if (refused.empty()) return std::nullopt;
  sql::SqlError error(sqlstate::kInsufficientPrivilege,
                      fmt::format("Redis at {} refuses commands that looking needs: {} ({})", address, fmt::join(refused, ", "), reason));
  constexpr std::size_t kShown = 5;
  if (rules.empty()) return error;
  return sql::SqlError(error.sqlstate(), error.message() + fmt::format("; the ACL rule of its user lacks {}", rules.size() > kShown ? "+@read" : fmt::format("{}", fmt::join(rules, " "))));
}

}  // namespace redquel::executor
