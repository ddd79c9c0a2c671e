#include "executor/runtime/lease_keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "executor/redis/redis_pool.h"
#include "executor/runtime/background_pause.h"
#include "executor/runtime/process_mark.h"
#include "executor/runtime/thread_priority.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kRenewalsInLength = 6;
/// Attempts in the length of a lease while Redis does not answer as it should.
constexpr int kAttemptsInLength = 60;
constexpr milliseconds kPauseBetweenLooks{500};
/// Entries without a lease are removed at every so many looks.
constexpr std::uint64_t kLooksUntilCleanup = 60;

sql::DurationHistogram renewal_delays;  // written by the keeper's thread

ConnectionOptions own_options(ConnectionOptions options) {
  options.client_name += "-leases";
  options.version_key.clear();
  options.node_version_keys.clear();
  options.own_version = nullptr;
  options.synchronous_replicas = 0;
  options.repairs_append_only_file = false;  // the other connections do it
  options.refuses_eviction = false;
  return options;
}

}  // namespace

/// The keeper's thread renews, the owner's thread reads.
struct KeptLease::State {
  State(const std::shared_ptr<LeaseKeeper::Core>& by, LeaseTerms of)
      : keeper(by), terms(std::move(of)), renewed(Clock::now().time_since_epoch().count()) {}

  const std::weak_ptr<LeaseKeeper::Core> keeper;
  const LeaseTerms terms;
  BackgroundPause pause;  // of the keeper's thread
  std::atomic<Clock::rep> renewed;
  std::atomic<bool> is_lost = false, is_needed = true, is_given_up = false;
};

namespace {

/// Returns true if a key is one of leases. Other programs may write the notes, so that nothing else is deleted for them.
bool is_lease_key(std::string_view key) {
  const std::string_view name = sql::without_tag(key);
  constexpr std::string_view kLeases[] = {sql::kProcessPrefix, sql::kUnitLeasePrefix, sql::kBuildingPrefix};
  return std::ranges::any_of(kLeases, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

class LeaseKeeper::Core {
 public:
  explicit Core(ConnectionOptions redis) : guard_(asio::make_work_guard(context_)), pool_(context_.get_executor(), own_options(std::move(redis))) {
    thread_ = std::thread([this] {
      request_slice(kServiceSlice);
      context_.run();
    });
  }

  ~Core() {
    asio::post(context_, [this] {
      is_stopping_ = true;
      for (const auto& lease : leases_) lease->pause.end();
      pool_.stop();
      guard_.reset();
    });
    thread_.join();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void keep(std::shared_ptr<KeptLease::State> lease) {
    asio::post(context_, [this, lease = std::move(lease)] {
      leases_.insert(lease);
      asio::co_spawn(context_, renew_until_given_up(lease), asio::detached);
    });
  }

  void give_up(std::shared_ptr<KeptLease::State> lease) {
    asio::post(context_, [lease = std::move(lease)] { lease->pause.end(); });
  }

  void watch(int database) {
    asio::post(context_, [this, database] { watched_.insert(database); });
  }

  void look() {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = last_look_;
    if (Clock::duration(now - last) < kPauseBetweenLooks || !last_look_.compare_exchange_strong(last, now)) return;
    asio::co_spawn(context_, end_leases_of_the_dead(), asio::detached);
  }

  void change_login(const RedisLogin& login) {
    asio::post(context_, [this, login] { pool_.change_login(login); });
  }

 private:
  asio::awaitable<void> renew_until_given_up(std::shared_ptr<KeptLease::State> lease) {
    const LeaseTerms& terms = lease->terms;
    co_await note_holder(terms);
    const Clock::duration period = terms.length / kRenewalsInLength, pause = terms.length / kAttemptsInLength;
    Clock::time_point due = Clock::now() + period, next = due;
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(next - Clock::now());
      if (!lease->is_given_up && !is_stopping_) co_await lease->pause.wait(left);
      if (lease->is_given_up || is_stopping_) break;
      const Clock::time_point sent = Clock::now();
      if (!lease->is_needed) {
        next = due = sent + period;
        continue;
      }
      bool has_answered = false;
      try {
        CommandBatch renewal = terms.renewal;
        std::vector<const Script*> scripts = terms.scripts;
        const RepliesPtr replies = co_await run_scripts(pool_.shared(terms.database), std::move(scripts), std::move(renewal));
        replies->or_throw();
        if (terms.is_renewed(*replies)) lease->renewed = sent.time_since_epoch().count();
        else lease->is_lost = true;
        has_answered = true;
      } catch (const std::exception& error) {
        spdlog::debug("a lease could not be renewed: {}", error.what());
      }
      if (lease->is_lost) break;
      next = Clock::now() + pause;
      if (!has_answered) continue;
      renewal_delays.note(static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - due).count()));
      next = due = sent + period;
    }
    leases_.erase(lease);
    if (!is_stopping_) co_await forget_holder(terms);
  }

  // The notes are for other processes alone: without them leases last their length.
  asio::awaitable<void> note_holder(const LeaseTerms& terms) {
    if (own_process_mark().empty()) co_return;
    CommandBatch batch;
    batch.add("HSET", sql::home_key(sql::kHoldersKey), terms.key, own_process_mark());
    co_await send_note(terms.database, std::move(batch));
  }

  asio::awaitable<void> forget_holder(const LeaseTerms& terms) {
    CommandBatch batch;
    batch.add("HDEL", sql::home_key(sql::kHoldersKey), terms.key);
    co_await send_note(terms.database, std::move(batch));
  }

  asio::awaitable<void> send_note(int database, CommandBatch batch) {
    try {
      co_await pool_.shared(database).execute(std::move(batch));
    } catch (const std::exception& error) {
      spdlog::debug("the holder of a lease could not be noted: {}", error.what());
    }
  }

  asio::awaitable<void> end_leases_of_the_dead() {
    const std::set<int> databases = watched_;
    ++looks_;
    for (const int database : databases) {
      if (is_stopping_) break;
      try {
        co_await look_for_the_dead(database);
      } catch (const std::exception& error) {  // the next look may succeed
        spdlog::debug("the holders of leases could not be read: {}", error.what());
      }
    }
  }

  asio::awaitable<void> look_for_the_dead(int database) {
    RedisClient& client = pool_.shared(database);
    const std::string holders = sql::home_key(sql::kHoldersKey);
    CommandBatch read;
    read.add("HGETALL", holders);
    const RepliesPtr replies = co_await client.execute(std::move(read));
    replies->or_throw();
    const std::span<const Reply> entries = replies->array(0);
    std::map<std::string_view, bool> ended;  // by mark
    std::vector<std::string> dead, others;
    for (std::size_t index = 0; index + 1 < entries.size(); index += 2) {
      if (!is_lease_key(entries[index].text)) continue;
      const auto [found, is_new] = ended.try_emplace(entries[index + 1].text, false);
      if (is_new) found->second = has_ended(found->first);
      (found->second ? dead : others).emplace_back(entries[index].text);
    }
    if (looks_ % kLooksUntilCleanup == 0 && !others.empty()) {
      CommandBatch look;
      for (const std::string& key : others) look.add("EXISTS", key);
      const RepliesPtr found = co_await client.execute(std::move(look));
      for (std::size_t index = 0; index < others.size(); ++index) {
        if (found->integer(index) == 0) dead.push_back(others[index]);
      }
    }
    if (dead.empty()) co_return;
    CommandBatch end;
    for (const std::string& key : dead) end.add("UNLINK", key);
    end.add("HDEL", holders, dead);
    const RepliesPtr done = co_await client.execute(std::move(end));
    done->or_throw();
  }

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  RedisPool pool_;
  // Of the keeper's thread.
  std::set<std::shared_ptr<KeptLease::State>> leases_;  // that are renewed
  std::set<int> watched_;                              // logical databases
  std::uint64_t looks_ = 0;
  bool is_stopping_ = false;

  std::atomic<Clock::rep> last_look_ = 0;
  std::thread thread_;
};

KeptLease::~KeptLease() {
  state_->is_given_up = true;
  if (const auto keeper = state_->keeper.lock()) keeper->give_up(state_);
}

KeptLease::Clock::time_point KeptLease::renewed() const { return Clock::time_point(Clock::duration(state_->renewed.load())); }

bool KeptLease::is_lost() const { return state_->is_lost; }

void KeptLease::set_needed(bool needed) { state_->is_needed = needed; }

LeaseKeeper::LeaseKeeper(ConnectionOptions redis) : core_(std::make_shared<Core>(std::move(redis))) {}

LeaseKeeper::~LeaseKeeper() = default;

std::unique_ptr<KeptLease> LeaseKeeper::keep(LeaseTerms terms) {
  auto state = std::make_shared<KeptLease::State>(core_, std::move(terms));
  core_->keep(state);
  return std::make_unique<KeptLease>(std::move(state));
}

void LeaseKeeper::watch(int database) { core_->watch(database); }

void LeaseKeeper::end_leases_of_the_dead() { core_->look(); }

void LeaseKeeper::change_login(const RedisLogin& login) { core_->change_login(login); }

LeaseKeeper*& lease_keeper() {
  thread_local LeaseKeeper* keeper = nullptr;
  return keeper;
}

void end_leases_of_the_dead() {
  if (LeaseKeeper* const keeper = lease_keeper()) keeper->end_leases_of_the_dead();
}

const sql::DurationHistogram& lease_renewal_delays() { return renewal_delays; }

}  // namespace redquel::executor
