#include "executor/redis/write_admission.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string_view>

#include "executor/redis/connection_core.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/tls_handshake.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{20}, kLongestPause{500};
/// After a rewrite that failed, and between two looks at the policy.
constexpr milliseconds kLongPause{1000};

// BGREWRITEAOF and SCRIPT LOAD change no data. In order, for the search.
constexpr std::string_view kReads[] = {
    "ASKING", "AUTH", "BGREWRITEAOF", "CLIENT", "CLUSTER", "COMMAND", "DBSIZE", "ECHO", "EVALSHA_RO", "EVAL_RO", "EXEC", "EXISTS", "GET",
    "GETRANGE", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HRANDFIELD", "HSCAN", "HSTRLEN", "HVALS", "INFO", "LATENCY",
    "LINDEX", "LLEN", "LPOS", "LRANGE", "MEMORY", "MGET", "MULTI", "OBJECT", "PING", "PTTL", "RANDOMKEY", "SCAN", "SCARD", "SCRIPT",
    "SDIFF", "SELECT", "SINTER", "SINTERCARD", "SISMEMBER", "SLOWLOG", "SMEMBERS", "SMISMEMBER", "SORT_RO", "SRANDMEMBER", "SSCAN",
    "STRLEN", "SUNION", "TIME", "TTL", "TYPE", "XINFO", "XLEN", "XRANGE", "XREVRANGE", "ZCARD", "ZCOUNT", "ZDIFF", "ZINTER", "ZINTERCARD",
    "ZLEXCOUNT", "ZMSCORE", "ZRANDMEMBER", "ZRANGE", "ZRANK", "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION",
};
static_assert(std::ranges::is_sorted(kReads));

/// Returns true if the user may not run the command, or no user may: the owner of the Redis has removed it.
bool is_refused_for_ever(const Reply& reply) {
  return reply.is_error() && (reply.text.starts_with("NOPERM") || reply.text.starts_with("ERR unknown command"));
}

}  // namespace

bool is_reading_command(std::string_view command) { return std::ranges::binary_search(kReads, command); }

bool only_reads(const CommandBatch& batch) {
  for (std::size_t index = 0; index < batch.size(); ++index) {
    if (!is_reading_command(batch.names()[index])) return false;
  }
  return true;
}

bool only_reads(const Replies& awaited, std::size_t commands) {
  for (std::size_t index = 0; index < commands; ++index) {
    if (!is_reading_command(awaited.command(index))) return false;
  }
  return true;
}

sql::SqlError eviction_refused(const std::string& address, const std::string& policy) {
  return sql::SqlError(sqlstate::kReadOnlyTransaction, "Redis at " + address + " may evict rows: redquel only reads from it")
      .detail("Its maxmemory-policy is \"" + policy + "\": at its limit of memory it drops rows and index entries.")
      .hint("Set maxmemory-policy to noeviction, or redis.allow_eviction in redquel's configuration.");
}

sql::SqlError rewrite_awaited(const std::string& address) {
  return sql::SqlError(sqlstate::kCannotConnectNow,
                       "Redis at " + address + " has started and rewrites its append-only file: writes wait until it has");
}

sql::SqlError redis_is_silent(const std::string& address) {
  return sql::SqlError(sqlstate::kCannotConnectNow, "Redis at " + address + " does not answer")
      .hint("A command or script of another client may hold it.");
}

bool SharedConnection::Core::must_hold_writes() const {
  const bool is_torn = options_.repairs_append_only_file && !rewrite_is_impossible_ && server_.may_append_to_torn_file();
  return is_torn || (options_.refuses_eviction && server_.may_evict_rows());
}

asio::awaitable<void> SharedConnection::Core::admit_writes(std::shared_ptr<Core> self, std::uint64_t connection) {
  while (self->is_connection(connection)) {
    if (self->options_.repairs_append_only_file && !co_await self->wait_for_rewrite(connection)) co_return;
    const bool is_refused = self->must_hold_writes();
    self->writes_ = is_refused ? Writes::refused : Writes::pass;
    self->flush();
    if (!is_refused) co_return;
    co_await self->pause(kLongPause);
    if (!self->is_connection(connection)) co_return;
    CommandBatch look;
    look.add("INFO");
    const std::shared_ptr<Replies> replies = co_await self->ask(std::move(look));
    if (replies && (*replies)[0].is_text()) parse_info((*replies)[0].text, self->server_);
  }
}

asio::awaitable<bool> SharedConnection::Core::wait_for_rewrite(std::uint64_t connection) {
  milliseconds patience = kShortestPause;
  bool has_asked = false;
  while (!rewrite_is_impossible_ && server_.may_append_to_torn_file()) {
    CommandBatch batch;
    const bool asks = !server_.aof_rewriting;
    if (asks) batch.add("BGREWRITEAOF");
    batch.add("INFO");
    const std::shared_ptr<Replies> replies = co_await ask(std::move(batch));
    if (!replies || !is_connection(connection)) co_return false;
    const Reply& info = (*replies)[replies->size() - 1];
    if (info.is_text()) parse_info(info.text, server_);
    if (asks && is_refused_for_ever((*replies)[0])) {
      rewrite_is_impossible_ = true;
      spdlog::warn("Redis at {} lets redquel ask for no BGREWRITEAOF: should its append-only file have been torn when it started, "
                   "it loses writes of now at its next start", options_.url.address());
      break;
    }
    if (asks && !(*replies)[0].is_error()) {
      spdlog::info("Redis at {} has started: its append-only file is rewritten before the first write", options_.url.address());
      patience = has_asked ? kLongPause : kShortestPause;  // the one before has failed
      has_asked = true;
    }
    co_await pause(patience);
    if (!is_connection(connection)) co_return false;
    patience = std::min(patience * 2, kLongestPause);
  }
  co_return true;
}

asio::awaitable<std::shared_ptr<Replies>> SharedConnection::Core::ask(CommandBatch batch) {
  const auto pending = std::make_shared<PendingBatch>(std::move(batch));
  pending->expect_waiter();
  pending->deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  waiting_.push_back(pending);
  if (is_silent_ && waiting_.size() == 1) arm_deadline();
  post_flush();
  co_await pending->wait();
  co_return pending->error ? nullptr : pending->replies;
}

asio::awaitable<void> SharedConnection::Core::pause(milliseconds duration) {
  admission_timer_.expires_after(duration);
  boost::system::error_code cancelled;
  co_await admission_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

sql::SqlError SharedConnection::Core::overdue_error() const {
  if (is_silent_) return redis_is_silent(options_.url.address());
  if (state_ == State::ready) return rewrite_awaited(options_.url.address());
  if (last_error_) return *last_error_;
  const bool shakes_hands = tls_ && !tls_->is_established();
  return connection_failed(options_.url.address(), shakes_hands ? kTlsTimeout : "timeout");
}

}  // namespace redquel::executor
