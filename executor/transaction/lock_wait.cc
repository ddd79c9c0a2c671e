#include "executor/transaction/lock_wait.h"

#include <fmt/format.h>

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "executor/redis/executor_counts.h"
#include "executor/runtime/background_pause.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_answers.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/statistics.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// `others`: those of the circle, with blanks between; the first is waited for by `token`, each of them waits for the next.
sql::SqlError deadlock(const std::string& token, std::string_view others) {
  std::string detail;
  std::string waiter = token;
  const auto add = [&](const std::string& holder) {
    const LockOwner by = owner_of(waiter), of = owner_of(holder);
    if (!detail.empty()) detail += '\n';
    detail += fmt::format("Process {} waits for ShareLock on transaction {}; blocked by process {}.", by.pid, of.number, of.pid);
    waiter = holder;
  };
  while (!others.empty()) {
    const std::string_view holder = others.substr(0, others.find(' '));
    others.remove_prefix(std::min(holder.size() + 1, others.size()));
    add(std::string(holder));
  }
  add(token);
  return sql::SqlError(sqlstate::kDeadlockDetected, "deadlock detected").detail(detail).hint("See server log for query details.");
}

asio::awaitable<void> forget_wait(RedisClient& redis, const std::string& token) {
  if (token.empty()) co_return;
  CommandBatch batch;
  batch.add("HDEL", sql::home_key(sql::kWaitsKey), session_of(token));
  co_await redis.execute(std::move(batch));
}

}  // namespace

struct LockLease::State {
  State(RedisClient& client, int of, std::size_t lease, LockSweep::Tables tables)
      : redis(client), database(of), length(lease), locked_tables(tables), sweeper(client, std::move(tables)) {}

  /// Returns the tags of the buckets in which there may be locks: all that tables may lie in, because a transaction may lock rows of a table that
  /// it has made itself.
  std::set<std::string, std::less<>> tags() const {
    if (!sql::uses_cluster() || !locked_tables) return {std::string(sql::home_tag())};
    std::set<std::string, std::less<>> all(placement_tags().begin(), placement_tags().end());
    for (const std::string& silent : silent_buckets()) all.erase(silent);  // a lock there finds no lease: 40001
    return all;
  }

  /// Returns true if the lease is there for long enough, in all buckets.
  bool is_held() const {
    if (silence != silent_bucket_changes() || is_lost()) return false;
    const Clock::time_point oldest = Clock::now() - length / 3;
    const auto is_fresh = [&](const auto& lease) { return lease.second->renewed() > oldest; };
    return renewed > oldest || (!kept.empty() && std::ranges::all_of(kept, is_fresh));
  }

  bool is_lost() const {
    return std::ranges::any_of(kept, [](const auto& lease) { return lease.second->is_lost(); });
  }

  using Tags = std::set<std::string, std::less<>>;

  void append_renewal(CommandBatch& batch, const std::string& tag) const {
    const std::vector<std::string> keys{process_key(process, tag)}, arguments{std::to_string(length.count()), leased.contains(tag) ? "" : "new"};
    kRenewLeaseScript.append_call(batch, keys, arguments);
  }

  static bool is_set(const Replies& replies) {
    for (std::size_t index = 0; index < replies.size(); ++index) {
      if (replies.integer(index) != 1) return false;
    }
    return true;
  }

  /// Takes the lease, or renews it here if the keeper is late. A lease that has lapsed is never taken up again: others have had the locks since.
  asio::awaitable<void> renew() {
    const Clock::time_point now = Clock::now();
    const bool is_new = !is_taken;
    const std::string name = process;
    const Tags wanted = tags();
    const std::uint64_t known_silence = silent_bucket_changes();
    CommandBatch batch;
    for (const std::string& tag : wanted) append_renewal(batch, tag);
    std::vector<const Script*> scripts{&kRenewLeaseScript};
    const RepliesPtr replies = co_await run_scripts(redis, std::move(scripts), std::move(batch));
    replies->or_throw();
    if (process != name) co_return;  // forgotten meanwhile
    if (is_set(*replies)) {
      is_taken = true;
      renewed = now;
      silence = known_silence;
      leased.insert(wanted.begin(), wanted.end());
      keep_in(wanted);
    } else if (!is_new || !is_taken) {  // or an attempt to take it whose reply did not come
      forget();
    }
  }

  /// Lets the keeper renew the lease in these buckets, in each by itself: a bucket without an answer delays no other.
  void keep_in(const Tags& wanted) {
    if (lease_keeper() == nullptr) return;
    std::erase_if(kept, [&](const auto& lease) { return !wanted.contains(lease.first); });
    for (const std::string& tag : wanted) {
      if (kept.contains(tag)) continue;
      LeaseTerms terms{.database = database, .length = length, .key = process_key(process, tag), .scripts = {&kRenewLeaseScript}, .is_renewed = is_set};
      append_renewal(terms.renewal, tag);
      kept.emplace(tag, lease_keeper()->keep(std::move(terms)));
    }
    set_needed();
  }

  void set_needed() {
    for (const auto& [tag, lease] : kept) lease->set_needed(!tokens.empty());
  }

  asio::awaitable<void> sweep() {
    if (!is_taken) co_return;
    co_await sweeper.run(process, [this](std::string_view token) { return tokens.contains(owner_of(token).number); });
  }

  void forget() {
    process = random_version();
    is_taken = false;
    renewed = {};
    leased.clear();
    kept.clear();
  }

  RedisClient& redis;
  int database;
  milliseconds length;
  LockSweep::Tables locked_tables;
  bool is_taken = false;
  std::set<std::string, std::less<>> leased;  // tags of the buckets that have the lease
  std::string process = random_version();
  std::int64_t next_number = 1;
  std::map<std::int64_t, bool> tokens;  // by number, not yet given back: whether a call has failed
  LockSweep sweeper;
  Clock::time_point renewed{};          // by this thread
  std::uint64_t silence = 0;            // silent_bucket_changes() of that renewal
  std::map<std::string, std::unique_ptr<KeptLease>, std::less<>> kept;  // by tag; empty: not taken, or this thread has no keeper
  bool is_swept = false;                // `sweep_on` runs
  BackgroundPause pause;                // between two sweeps
};

LockLease::LockLease(RedisClient& redis, int database, std::size_t lease, LockSweep::Tables tables)
    : state_(std::make_shared<State>(redis, database, lease, std::move(tables))) {}

LockLease::~LockLease() {
  state_->tokens.clear();
  state_->locked_tables = nullptr;
  state_->sweeper.stop();
  state_->kept.clear();
  state_->pause.end();
}

asio::awaitable<void> LockLease::hold() {
  const std::shared_ptr<State> state = state_;
  // The second time for one that has lapsed.
  for (int attempt = 0; attempt < 3 && !state->is_held(); ++attempt) co_await state->renew();
}

bool LockLease::covers(std::string_view token) const {
  return token.starts_with(state_->process) && !state_->is_lost();
}

asio::awaitable<void> LockLease::sweep_on(std::shared_ptr<State> state) {
  while (!state->tokens.empty()) {
    co_await state->pause.wait(state->length / 3);
    if (state->tokens.empty()) break;
    try {
      co_await state->sweep();
    } catch (const std::exception&) {  // the next one sees to it
    }
  }
  state->is_swept = false;
}

LockOwner owner_of(std::string_view token) {
  LockOwner owner;
  const char* const end = token.data() + token.size();
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return owner;
  const char* const rest = std::from_chars(token.data() + first + 1, end, owner.number).ptr;
  if (rest != end && *rest == '.') std::from_chars(rest + 1, end, owner.pid);
  return owner;
}

std::string session_of(std::string_view token) {
  const LockOwner owner = owner_of(token);
  if (owner.pid == 0) return std::string(token);
  return fmt::format("{}.{}", token.substr(0, token.find('.')), owner.pid);
}

asio::awaitable<std::string> LockLease::take_token(std::int32_t pid) {
  co_await hold();
  const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
  std::string token = fmt::format("{}.{}.{}", state_->process, state_->next_number, pid);
  state_->tokens.emplace(state_->next_number++, false);
  state_->set_needed();
  if (!std::exchange(state_->is_swept, true)) asio::co_spawn(executor, sweep_on(state_), asio::detached);
  co_return token;
}

void LockLease::give_back(const std::string& token) {
  state_->tokens.erase(owner_of(token).number);
  if (!state_->tokens.empty()) return;
  state_->set_needed();
  state_->pause.end();
}

void LockLease::suspect(const std::string& token) {
  const auto found = state_->tokens.find(owner_of(token).number);
  if (found != state_->tokens.end()) found->second = true;
}

bool LockLease::suspects(const std::string& token) const {
  const auto found = state_->tokens.find(owner_of(token).number);
  return found != state_->tokens.end() && found->second;
}

asio::awaitable<void> LockLease::sweep() {
  const std::shared_ptr<State> state = state_;
  state->sweeper.start_over();
  try {
    co_await state->sweep();
  } catch (const std::exception&) {  // the next renewal sees to it
  }
}

const std::string& LockLease::process() const { return state_->process; }

bool LockLease::is_taken() const { return state_->is_taken; }

void LockLease::renounce(std::string_view token) {
  if (token.starts_with(state_->process)) state_->forget();
}

sql::SqlError lapsed_lock() {
  return sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access: a lock of the transaction has lapsed")
      .hint("The transaction might succeed if retried.");
}

namespace {

/// Counts the time from its making to its end.
class CountedWait {
 public:
  CountedWait() = default;
  ~CountedWait() {
    counts_of_thread().lock_waits.note(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started_).count()));
  }
  CountedWait(const CountedWait&) = delete;
  CountedWait& operator=(const CountedWait&) = delete;

 private:
  const Clock::time_point started_ = Clock::now();
};

/// Shows the wait in pg_stat_activity from its making to its end.
class ShownWait {
 public:
  /// `event`: as of sql::SessionStatistics::awaited_event.
  ShownWait(std::int32_t process_id, std::string_view event) : process_id_(process_id) { show(event); }
  ~ShownWait() { show({}); }
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

 private:
  void show(std::string_view event) const {
    if (const auto hook = sql::statistics_hooks().show_wait; hook != nullptr) hook(process_id_, event);
  }

  std::int32_t process_id_;
};

std::string_view wait_event(const LockConflict& conflict) {
  constexpr std::string_view kFieldOfTable = "t";  // fields of rows begin with another letter
  if (sql::without_tag(conflict.key) == sql::kExclusiveKey || conflict.field == kFieldOfTable) return "relation";
  return sql::without_tag(conflict.key) == sql::kAdvisoryKey ? "advisory" : "transactionid";
}

/// Returns "free", "held", or "deadlock" and the holders of a circle of waits, the own one among those that wait.
asio::awaitable<std::string> ask_about_lock(RedisClient& redis, const LockConflict& conflict, const std::string& token, bool looks_for_circle) {
  const std::string looks = looks_for_circle ? "1" : "0", session = session_of(token);
  const std::string_view tag = sql::tag_of(conflict.key);
  // Locks of other buckets are in other slots than the waits: a wait is noted without a token there, and by another script in the home bucket.
  const bool is_elsewhere = tag != sql::home_tag();
  const std::vector<std::string> keys{conflict.key, own_key(tag, sql::kWaitsKey)};
  const std::vector<std::string> arguments{conflict.field, conflict.holder, is_elsewhere ? std::string() : token, looks, session};
  RepliesPtr replies = co_await run_script(redis, kWaitForLockScript, keys, arguments);
  std::string answer(replies->text(0).value_or(""));
  if (!is_elsewhere || token.empty()) co_return answer;
  if (answer == "free") {
    co_await forget_wait(redis, token);
    co_return answer;
  }
  const std::vector<std::string> waits{sql::home_key(sql::kWaitsKey)}, wait{conflict.holder, token, looks, session};
  replies = co_await run_script(redis, kLookForCircleScript, waits, wait);
  answer = replies->text(0).value_or("");
  co_return answer;
}

asio::awaitable<void> wait_until_free(RedisClient& redis, LockConflict conflict, std::string token, LockWaitLimits limits, std::minstd_rand& random) {
  const Clock::time_point started = Clock::now();
  const auto waited = [&] { return std::chrono::duration_cast<milliseconds>(Clock::now() - started).count(); };
  asio::steady_timer timer(co_await asio::this_coro::executor);
  // The session whose wait closes a circle looks for it. Later looks find a circle whose notes a failover has lost.
  const milliseconds patience(limits.deadlock_timeout);
  constexpr int kLaterLooks = 10;
  Clock::time_point next_check = started + patience;
  bool is_noted = false;
  for (int round = 0;; ++round) {
    const bool looks_for_circle = Clock::now() >= next_check;
    if (looks_for_circle) next_check = Clock::now() + kLaterLooks * patience;
    const std::string answer = co_await ask_about_lock(redis, conflict, token, looks_for_circle);
    const auto note = sql::statistics_hooks().note_lock_wait;
    if (answer == "free") {
      if (is_noted) note(limits.process_id, waited(), true);
      co_return;
    }
    constexpr std::string_view kDeadlock = "deadlock ";
    if (answer.starts_with(kDeadlock)) throw deadlock(token, std::string_view(answer).substr(kDeadlock.size()));
    end_leases_of_the_dead();
    if (looks_for_circle && !is_noted && note != nullptr) {
      note(limits.process_id, waited(), false);
      is_noted = true;
    }
    if (limits.lock_timeout > 0 && waited() >= limits.lock_timeout) {
      throw sql::SqlError(sqlstate::kLockNotAvailable, "canceling statement due to lock timeout");
    }
    std::uniform_int_distribution<int> microseconds(500, std::min(1000 << std::min(round, 5), 20'000));
    timer.expires_after(std::chrono::microseconds(microseconds(random)));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace

asio::awaitable<void> wait_for_lock(RedisClient& redis, LockConflict conflict, std::string token, LockWaitLimits limits,
                                    std::minstd_rand& random) {
  const CountedWait counted;
  const ShownWait shown(limits.process_id, wait_event(conflict));
  if (sql::without_tag(conflict.key) == sql::kExclusiveKey) {  // the owner of an exclusive table waits for no lock: there is no circle
    sql::Oid table = 0;
    std::from_chars(conflict.field.data(), conflict.field.data() + conflict.field.size(), table);
    std::vector<PlacedTable> tables;
    if (sql::tag_of(conflict.key).empty()) tables.emplace_back(table);
    else tables.emplace_back(table, sql::bucket_of(conflict.key));
    co_await wait_while_exclusive(redis, std::move(tables), lock_deadline(limits.lock_timeout));
    co_return;
  }
  std::string waiter = token;
  const std::exception_ptr failure = co_await failure_of(wait_until_free(redis, std::move(conflict), std::move(waiter), limits, random));
  if (!failure) co_return;
  // The session goes on with the locks that it has, and must not seem to wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  try {
    co_await forget_wait(redis, token);
  } catch (const sql::SqlError&) {  // the next wait of this token, or the end of its locks, sets it right
  }
  co_await asio::this_coro::reset_cancellation_state();
  std::rethrow_exception(failure);
}

namespace {

/// Looks at all locks; gives those back that are still held, if it is so wanted. How many were not, or more.
asio::awaitable<std::int64_t> visit_locks(RedisClient& redis, const LockSet& locks, bool give_back) {
  constexpr std::size_t kFieldsPerCall = 2000;  // and per round trip, so that others have their turn
  std::int64_t lost = 0;
  CommandBatch batch;
  const auto send = [&]() -> asio::awaitable<void> {
    std::vector<const Script*> scripts{&kReleaseLocksScript};
    const RepliesPtr replies = co_await run_scripts(redis, std::move(scripts), std::exchange(batch, {}));
    replies->or_throw();
    for (std::size_t index = 0; index < replies->size(); ++index) lost += (*replies)[index].integer;
  };
  for (std::size_t part = 0; part < locks.parts(); ++part) {
    const LockSet::Fields of_part = locks.part(part);
    for (const auto& [table, fields] : of_part) {
      std::vector<std::string> arguments{locks.token, give_back ? "1" : "0"};
      const std::vector<std::string> keys{lock_key(table)};
      for (const std::string& field : fields) {
        arguments.push_back(field);
        if (arguments.size() < kFieldsPerCall + 2) continue;
        kReleaseLocksScript.append_call(batch, keys, arguments);
        arguments.resize(2);
        co_await send();
      }
      if (arguments.size() > 2) kReleaseLocksScript.append_call(batch, keys, arguments);
    }
  }
  if (!batch.empty()) co_await send();
  co_return lost;
}

}  // namespace

asio::awaitable<bool> release_locks(RedisClient& redis, const LockSet& locks) {
  if (locks.empty()) co_return true;
  co_await forget_wait(redis, locks.token);
  if (!locks.may_repeat()) {
    const std::int64_t lost = co_await visit_locks(redis, locks, true);
    co_return lost == 0;
  }
  // A lock that is there twice seems lost when it is given back the second time, so all are looked at before.
  const std::int64_t lost = co_await visit_locks(redis, locks, false);
  co_await visit_locks(redis, locks, true);
  co_return lost == 0;
}

}  // namespace redquel::executor
