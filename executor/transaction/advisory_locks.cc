#include "executor/transaction/advisory_locks.h"

#include <algorithm>
#include <utility>

#include "executor/runtime/lease_keeper.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

std::string field_of(const AdvisoryLocks::Lock& lock) { return (lock.halves ? "2:" : "1:") + std::to_string(lock.key); }

asio::awaitable<std::string> run_advisory(RedisClient& redis, std::string field, std::string token, int mode, bool looks) {
  const std::vector<std::string> keys{sql::home_key(sql::kAdvisoryKey)}, arguments{std::move(field), std::move(token), std::to_string(mode), looks ? "1" : "0"};
  RepliesPtr replies = co_await run_script(redis, kAdvisoryLockScript, keys, arguments);
  co_return std::string(replies->text(0).value_or(""));
}

}  // namespace

int AdvisoryLocks::Counts::mode() const {
  if (session[0] + transaction[0] > 0) return 4;
  return session[1] + transaction[1] > 0 ? 1 : 0;
}

bool AdvisoryLocks::any_of_transaction() const {
  return std::ranges::any_of(held_, [](const auto& lock) { return lock.second.transaction[0] + lock.second.transaction[1] > 0; });
}

asio::awaitable<bool> AdvisoryLocks::set_mode(RedisClient& redis, const std::string& field, int mode) {
  std::string copy = field, token = token_;
  co_return co_await run_advisory(redis, std::move(copy), std::move(token), mode, false) != "lost";
}

asio::awaitable<bool> AdvisoryLocks::take(RedisClient& redis, Lock lock, std::optional<LockWaitLimits> limits, std::minstd_rand& random) {
  const std::string field = field_of(lock);
  const int wanted = lock.shared ? 1 : 4;
  const auto found = held_.find(field);
  if (found == held_.end() || found->second.mode() < wanted) {
    while (true) {
      std::string asked = field, token = token_;
      std::string holder;
      try {
        holder = co_await run_advisory(redis, std::move(asked), std::move(token), wanted, true);
      } catch (...) {
        uncertain_ = field;
        throw;
      }
      if (holder.empty()) break;
      if (!limits) {
        end_leases_of_the_dead();
        co_return false;
      }
      LockConflict conflict{holder, sql::home_key(sql::kAdvisoryKey), field};
      std::string waiter = token_;
      co_await wait_for_lock(redis, std::move(conflict), std::move(waiter), *limits, random);
    }
  }
  Counts& counts = held_[field];
  ++(lock.transaction ? counts.transaction : counts.session)[lock.shared ? 1 : 0];
  co_return true;
}

asio::awaitable<void> AdvisoryLocks::settle(RedisClient& redis) {
  const std::optional<std::string> field = std::exchange(uncertain_, std::nullopt);
  if (!field) co_return;
  const auto found = held_.find(*field);
  co_await set_mode(redis, *field, found == held_.end() ? 0 : found->second.mode());
}

asio::awaitable<bool> AdvisoryLocks::unlock(RedisClient& redis, Lock lock) {
  const std::string field = field_of(lock);
  const auto found = held_.find(field);
  if (found == held_.end() || found->second.session[lock.shared ? 1 : 0] == 0) co_return false;
  --found->second.session[lock.shared ? 1 : 0];
  const int mode = found->second.mode();
  if (mode == 0) held_.erase(found);
  const bool was_held = co_await set_mode(redis, field, mode);
  if (!was_held) held_.erase(field);
  co_return was_held;
}

asio::awaitable<void> AdvisoryLocks::drop(RedisClient& redis, bool session) {
  const std::map<std::string, Counts> all = held_;
  for (const auto& [field, before] : all) {
    Counts counts = before;
    auto& dropped = session ? counts.session : counts.transaction;
    dropped[0] = dropped[1] = 0;
    if (counts.mode() == 0) {
      held_.erase(field);
    } else {
      held_[field] = counts;
    }
    if (counts.mode() != before.mode()) co_await set_mode(redis, field, counts.mode());
  }
}

asio::awaitable<void> AdvisoryLocks::unlock_all(RedisClient& redis) { return drop(redis, true); }
asio::awaitable<void> AdvisoryLocks::end_transaction(RedisClient& redis) { return drop(redis, false); }

}  // namespace redquel::executor
