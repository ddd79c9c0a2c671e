#include "executor/redis/cluster_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestWait{5}, kLongestWait{100};
/// A unit that is sent from node to node more often waits between the times.
constexpr int kMovesWithoutPause = 5;

/// An error reply, or our own error, as a message may hold it: shortened, in printable ASCII.
std::string shown_reason(std::string_view text) {
  constexpr std::size_t kLongest = 500;
  std::string shown(text.substr(0, kLongest));
  std::ranges::replace_if(shown, [](char character) { return static_cast<unsigned char>(character) < ' ' || static_cast<unsigned char>(character) >= 0x7F; }, '?');
  return shown;
}

bool is_passing(const sql::SqlError& error) { return error.sqlstate() == sqlstate::kConnectionFailure || error.sqlstate() == sqlstate::kCannotConnectNow; }

}  // namespace

ClusterRequest::ClusterRequest(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, ClusterPlan plan, milliseconds move_timeout,
                               ExecutionCounters* counters)
    : executor_(std::move(executor)),
      nodes_(std::move(nodes)),
      plan_(std::move(plan)),
      move_timeout_(move_timeout),
      counters_(counters),
      replies_(plan_.parts().size()) {}

void ClusterRequest::begin() {
  if (has_begun_ || !nodes_->map()) return;
  has_begun_ = true;
  std::vector<std::size_t> all;
  all.reserve(plan_.units().size());
  for (std::size_t unit = 0; unit < plan_.units().size(); ++unit) (plan_.units()[unit].is_beside ? beside_ : all).push_back(unit);
  if (all.empty()) std::swap(all, beside_);  // nothing but SCRIPT LOAD
  send(all);
}

TcpPlace ClusterRequest::any_place(const SlotMap& map) const {
  // Where other parts go, so that this one costs no write of its own.
  for (const ClusterPlan::Unit& unit : plan_.units()) {
    if (!unit.slot) continue;
    if (const TcpPlace* place = map.place_of(*unit.slot)) return *place;
  }
  // INFO and its like are those of the first master, always.
  std::size_t slot = 0;
  while (slot < kSlotCount && !map.owner(static_cast<Slot>(slot))) ++slot;
  return slot < kSlotCount ? *map.place_of(static_cast<Slot>(slot)) : map.masters()[0].place;
}

void ClusterRequest::send(std::span<const std::size_t> units) {
  const std::shared_ptr<const SlotMap> map = nodes_->map();
  std::vector<std::vector<std::size_t>> by_master(map->masters().size());
  std::vector<std::size_t> masters;
  for (const std::size_t index : units) {
    const ClusterPlan::Unit& unit = plan_.units()[index];
    const std::optional<std::size_t> master = unit.slot ? map->owner(*unit.slot) : map->find(any_place(*map));
    if (!master) {
      wait_with(index, fmt::format("no node has slot {}", *unit.slot));
      nodes_->look();
      continue;
    }
    if (by_master[*master].empty()) masters.push_back(*master);
    by_master[*master].push_back(index);
  }
  for (const std::size_t master : masters) {
    Sent sent{.place = map->masters()[master].place, .units = std::move(by_master[master]), .parts = {}, .request = nullptr};
    const auto add = [&](std::size_t index) {
      const ClusterPlan::Unit& unit = plan_.units()[index];
      for (std::size_t part = unit.first; part < unit.first + unit.count; ++part) sent.parts.push_back(part);
    };
    if (!beside_.empty() && std::ranges::find(have_scripts_, sent.place) == have_scripts_.end()) {
      have_scripts_.push_back(sent.place);
      std::ranges::for_each(beside_, add);
    }
    std::ranges::for_each(sent.units, add);
    std::ranges::sort(sent.parts);
    CommandBatch batch;
    if (sent.parts.size() == plan_.parts().size()) batch = plan_.parts();
    else batch.append_commands(plan_.parts(), sent.parts);
    submit(std::move(sent), std::move(batch));
  }
}

void ClusterRequest::send_asking(std::size_t unit, const TcpPlace& place) {
  Sent sent{.place = place, .units = {unit}, .parts = {}, .request = nullptr, .is_asking = true};
  CommandBatch batch;
  batch.add("ASKING");
  sent.parts.push_back(plan_.units()[unit].first);
  batch.append_commands(plan_.parts(), sent.parts);
  submit(std::move(sent), std::move(batch));
}

void ClusterRequest::submit(Sent sent, CommandBatch batch) {
  if (plan_.parts().awaits_replicas()) batch.await_replicas();
  if (counters_ != nullptr) {
    counters_->commands += batch.size();
    counters_->bytes_sent += batch.bytes().size();
  }
  sent.request = nodes_->send(sent.place, std::move(batch));
  sent_.push_back(std::move(sent));
}

void ClusterRequest::wait_with(std::size_t unit, std::string reason) {
  waiting_.push_back(unit);
  reason_ = shown_reason(reason);
  waiting_slot_ = plan_.units()[unit].slot;
}

asio::awaitable<void> ClusterRequest::take_outcomes() {
  // All were sent, so the slowest one alone counts.
  std::vector<Sent> all = std::exchange(sent_, {});
  for (const Sent& sent : all) take(sent, co_await sent.request->outcome());
  if (counters_ != nullptr && !all.empty()) ++counters_->round_trips;
}

void ClusterRequest::take(const Sent& sent, NodeOutcome outcome) {
  if (outcome.error) {
    if (!is_passing(*outcome.error)) throw sql::SqlError(*std::move(outcome.error));
    for (const std::size_t unit : sent.units) {
      if (outcome.was_sent && !plan_.only_reads(plan_.units()[unit])) throw sql::SqlError(*std::move(outcome.error));
    }
    std::erase(have_scripts_, sent.place);
    nodes_->look();
    for (const std::size_t unit : sent.units) wait_with(unit, outcome.error->message());
    return;
  }
  const Replies& replies = *outcome.replies;
  if (counters_ != nullptr) counters_->bytes_received += replies.bytes();
  knows_version_ = knows_version_ && outcome.knows_version;
  const std::size_t skipped = sent.is_asking ? 1 : 0;
  for (std::size_t index = 0; index < sent.parts.size(); ++index) replies_[sent.parts[index]] = replies[index + skipped];
  kept_.push_back(std::move(outcome.replies));
  for (const std::size_t unit : sent.units) judge(sent, unit);
}

/// Finds out whether the unit has run.
void ClusterRequest::judge(const Sent& sent, std::size_t index) {
  const ClusterPlan::Unit& unit = plan_.units()[index];
  for (std::size_t part = unit.first; part < unit.first + unit.count; ++part) {
    const Reply& reply = replies_[part];
    NodeVerdict verdict = verdict_of(reply);
    if (verdict == NodeVerdict::kAnswer) continue;
    const std::optional<Redirect> redirect = read_redirect(reply.text, sent.place);
    if (verdict == NodeVerdict::kMoved && redirect) {
      nodes_->moved(*redirect);
      moved_.push_back(index);
      return;
    }
    if (verdict == NodeVerdict::kAsk && redirect && unit.follows_ask && !sent.is_asking) {
      asking_.push_back({index, redirect->place});
      return;
    }
    if (verdict == NodeVerdict::kLater) nodes_->look();
    wait_with(index, std::string(reply.text));
    return;
  }
}

sql::SqlError ClusterRequest::overdue() const {
  const std::string what = waiting_slot_ ? fmt::format("slot {} of the cluster is not served", *waiting_slot_) : std::string("the cluster is not served");
  return sql::SqlError(sqlstate::kCannotConnectNow, fmt::format("{} for {} ms: {}", what, move_timeout_.count(), reason_))
      .hint("The statement waited as long as redis.move_timeout says.");
}

asio::awaitable<void> ClusterRequest::finish() {
  if (!has_begun_) {
    co_await nodes_->known();
    begin();
  }
  const auto deadline = std::chrono::steady_clock::now() + move_timeout_;
  milliseconds pause = kShortestWait;
  int moves = 0;
  for (;;) {
    co_await take_outcomes();
    const std::vector<std::size_t> moved = std::exchange(moved_, {}), waiting = std::exchange(waiting_, {});
    const std::vector<Asking> asking = std::exchange(asking_, {});
    if (moved.empty() && waiting.empty() && asking.empty()) co_return;
    for (const Asking& one : asking) send_asking(one.unit, one.place);
    const bool must_pause = !waiting.empty() || (!moved.empty() && ++moves > kMovesWithoutPause);
    if (must_pause) {
      if (std::chrono::steady_clock::now() >= deadline) throw overdue();
      asio::steady_timer timer(executor_, std::min<std::chrono::steady_clock::duration>(pause, deadline - std::chrono::steady_clock::now()));
      co_await timer.async_wait(asio::use_awaitable);
      pause = std::min(pause * 2, kLongestWait);
    }
    std::vector<std::size_t> again = moved;
    again.insert(again.end(), waiting.begin(), waiting.end());
    std::ranges::sort(again);
    send(again);
  }
}

std::shared_ptr<Replies> ClusterRequest::merged(std::span<const Reply> specials, std::span<const RepliesPtr> kept) {
  /// Replies that point into others.
  struct Merged {
    Replies replies;
    std::vector<RepliesPtr> sources;
  };
  auto whole = std::make_shared<Merged>();
  const std::shared_ptr<Replies> merged(whole, &whole->replies);
  plan_.merge(replies_, specials, *merged);
  merged->set_names(plan_.names());
  std::optional<std::string> version;
  bool is_first = true, is_mixed = false;
  const auto note_version = [&](const RepliesPtr& one) {
    if (!is_first && one->catalog_version() != version) is_mixed = true;
    version = one->catalog_version();
    is_first = false;
  };
  std::ranges::for_each(kept_, note_version);
  std::ranges::for_each(kept, note_version);
  if (is_mixed) version = std::string(kMixedVersion);
  merged->set_catalog_version(std::move(version));
  merged->set_generation(nodes_->generation());
  for (const RepliesPtr& one : kept_) merged->add_bytes(one->bytes());
  whole->sources = std::move(kept_);
  whole->sources.insert(whole->sources.end(), kept.begin(), kept.end());
  return merged;
}

}  // namespace redquel::executor
