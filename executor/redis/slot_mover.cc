#include "executor/redis/slot_mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "executor/redis/brief_talk.h"
#include "executor/redis/redis_error.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/slot_tags.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostMoverBytes = std::size_t{64} << 20;
/// Redis stands still while such a part of the keys travels.
constexpr std::size_t kKeysPerStep = 100;
constexpr int kMigrateMilliseconds = 30'000;
constexpr int kReplicaMilliseconds = 1000, kReplicaAttempts = 60;
/// Keys that are measured at one master, at most. A slot has some keys that are much larger than its rows: if these are in one sample and not in the next,
/// its size seems to change.
constexpr std::size_t kMeasuredKeys = 20'000, kCommandsPerStep = 500;
constexpr int kAgreementAttempts = 600;
constexpr milliseconds kAgreementPause{50};

/// Returns a key of redquel's own in the slot.
std::string key_in(Slot slot, std::string_view key) { return sql::slot_tag(slot).append(key); }

/// Returns true for keys of tables and of redquel's own, which begin with the tag of the slot's bucket.
bool is_in_bucket(Slot slot, std::string_view key) {
  const std::string_view tag = sql::bucket_tag(slot / (sql::kSlotCount / sql::kBucketLimit));
  return slot_of(tag) == slot && key.starts_with(tag);
}

bool is_redirect(const Reply& reply) { return reply.is_error() && (reply.text.starts_with("ASK ") || reply.text.starts_with("MOVED ")); }

}  // namespace

/// A connection to one node, which runs batches in turn.
class SlotMover::Node {
 public:
  Node(asio::any_io_executor executor, TcpPlace place) : socket_(executor), talk_(socket_), place_(std::move(place)) {}

  asio::awaitable<void> open(RedisLogin login) {
    CommandBatch hello;
    if (!login.user.empty()) hello.add("AUTH", login.user, login.password);
    else if (!login.password.empty()) hello.add("AUTH", login.password);
    hello.add("PING");
    try {
      co_await talk_.open(place_, login.tls);
    } catch (const std::exception& error) {
      throw connection_failed(place_.address(), error.what());
    }
    const RepliesPtr replies = co_await ask(std::move(hello));
    replies->or_throw();
  }

  /// One reply for each command; error replies are values.
  asio::awaitable<RepliesPtr> ask(CommandBatch batch) {
    const std::size_t size = batch.size();
    RepliesPtr replies;
    std::string reason;
    try {
      replies = co_await talk_.ask(std::move(batch), kMostMoverBytes);
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (!replies) throw connection_failed(place_.address(), reason);
    if (replies->size() < size) throw connection_failed(place_.address(), "too long a reply");
    co_return replies;
  }

  /// Runs one command that must succeed.
  template <typename... Words>
  asio::awaitable<RepliesPtr> run(Words... words) {
    CommandBatch batch;
    batch.add(words...);
    RepliesPtr replies = co_await ask(std::move(batch));
    replies->or_throw();
    co_return replies;
  }

  const TcpPlace& place() const { return place_; }

 private:
  RedisSocket socket_;
  NodeTalk talk_;
  TcpPlace place_;
};

SlotMover::SlotMover(asio::any_io_executor executor, RedisUrl url, RedisLogin login, std::set<Slot> table_slots)
    : executor_(std::move(executor)), url_(std::move(url)), login_(std::move(login)), table_slots_(std::move(table_slots)) {}
SlotMover::~SlotMover() = default;

asio::awaitable<std::shared_ptr<SlotMover::Node>> SlotMover::node_at(TcpPlace place) {
  const std::string address = place.address();
  if (const auto found = nodes_.find(address); found != nodes_.end()) co_return found->second;
  auto node = std::make_shared<Node>(executor_, std::move(place));
  co_await node->open(login_);
  nodes_[address] = node;
  co_return node;
}

asio::awaitable<std::vector<ClusterMember>> SlotMover::members() {
  std::optional<sql::SqlError> failure;
  for (const TcpPlace& seed : url_.cluster) {
    try {
      TcpPlace place = seed;
      const std::shared_ptr<Node> node = co_await node_at(std::move(place));
      const RepliesPtr replies = co_await node->run("CLUSTER", "NODES");
      co_return read_members(replies->text(0).value_or(""), node->place());
    } catch (const sql::SqlError& error) {
      nodes_.erase(seed.address());
      failure = error;
    }
  }
  throw sql::SqlError(*failure);
}

asio::awaitable<ClusterSurvey> SlotMover::survey() {
  nodes_.clear();  // they may have ended since
  ClusterSurvey survey;
  const std::vector<ClusterMember> all = co_await members();
  for (const ClusterMember& member : all) {
    if (!member.master.empty() || !member.is_reachable) continue;
    ClusterSurvey::Master master{.node = member, .replicas = 0, .slots = member.slots.count(), .keys = 0, .bytes = 0};
    const auto is_replica = [&](const ClusterMember& other) { return other.is_reachable && other.master == member.id; };
    master.replicas = static_cast<std::size_t>(std::ranges::count_if(all, is_replica));
    survey.masters.push_back(std::move(master));
  }
  std::ranges::sort(survey.masters, {}, [](const ClusterSurvey::Master& master) { return std::pair(master.node.place.host, master.node.place.port); });
  std::map<Slot, std::string> targets;  // of moves that have begun, by the target's id
  std::bitset<kSlotCount> owned;
  for (std::size_t number = 0; number < survey.masters.size(); ++number) {
    TcpPlace place = survey.masters[number].node.place;
    const std::shared_ptr<Node> node = co_await node_at(std::move(place));
    co_await weigh(*node, number, survey, targets);
    owned |= survey.masters[number].node.slots;
  }
  survey.slots_without_node = kSlotCount - owned.count();
  for (const auto& [slot, id] : targets) {
    // A replica may have been promoted in the target's place.
    const auto named = std::ranges::find(all, id, &ClusterMember::id);
    const std::string master = named == all.end() || named->master.empty() ? id : named->master;
    const auto to = std::ranges::find(survey.masters, master, [](const ClusterSurvey::Master& one) { return one.node.id; });
    const auto from = std::ranges::find_if(survey.masters, [&](const ClusterSurvey::Master& one) { return one.node.slots.test(slot); });
    if (from == survey.masters.end()) continue;
    if (to == survey.masters.end()) {
      throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("slot {} is on its way to node {}, which is no master that can be reached", slot, id))
          .hint("Start the node again, or end the move by \"redis-cli --cluster fix\".");
    }
    survey.unfinished.push_back({slot, static_cast<std::size_t>(from - survey.masters.begin()), static_cast<std::size_t>(to - survey.masters.begin())});
  }
  co_return survey;
}

asio::awaitable<void> SlotMover::weigh(Node& node, std::size_t number, ClusterSurvey& survey, std::map<Slot, std::string>& targets) {
  ClusterSurvey::Master& master = survey.masters[number];
  const RepliesPtr listed = co_await node.run("CLUSTER", "NODES");
  for (const ClusterMember& member : read_members(listed->text(0).value_or(""), node.place())) {
    if (!member.is_asked) continue;
    master.node.slots = member.slots;  // others may not have heard of them yet
    master.slots = member.slots.count();
    for (const auto& [slot, target] : member.leaving) targets[slot] = target;
  }
  std::vector<SlotLoad> loads;
  CommandBatch counts;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    if (!master.node.slots.test(slot)) continue;
    loads.push_back({.slot = static_cast<Slot>(slot), .owner = number, .keys = 0, .bytes = 0, .takes_tables = table_slots_.contains(static_cast<Slot>(slot))});
    counts.add("CLUSTER", "COUNTKEYSINSLOT", slot);
  }
  const RepliesPtr counted = co_await node.ask(std::move(counts));
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i].keys = static_cast<std::uint64_t>(std::max<std::int64_t>(counted->integer(i), 0));
  std::erase_if(loads, [](const SlotLoad& load) { return load.keys == 0 && !load.takes_tables; });
  for (const SlotLoad& load : loads) master.keys += load.keys;
  const auto sample_of = [&](const SlotLoad& load) { return std::max<std::uint64_t>(1, load.keys * std::min<std::uint64_t>(kMeasuredKeys, master.keys) / std::max<std::uint64_t>(master.keys, 1)); };
  for (std::size_t first = 0; first < loads.size();) {
    std::size_t end = first;
    for (std::size_t commands = 0; end < loads.size() && commands < kCommandsPerStep; ++end) commands += sample_of(loads[end]);
    CommandBatch names;
    for (std::size_t i = first; i < end; ++i) names.add("CLUSTER", "GETKEYSINSLOT", loads[i].slot, sample_of(loads[i])).add("GET", key_in(loads[i].slot, sql::kMovingKey));
    const RepliesPtr named = co_await node.ask(std::move(names));
    CommandBatch sizes;
    for (std::size_t i = first; i < end; ++i) {
      const Reply& mark = (*named)[2 * (i - first) + 1];
      if (mark.is_text()) targets[loads[i].slot] = std::string(mark.text);
      for (const Reply& key : named->array(2 * (i - first))) sizes.add("MEMORY", "USAGE", key.text);
    }
    const RepliesPtr measured = co_await node.ask(std::move(sizes));
    std::size_t next = 0;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t count = named->array(2 * (i - first)).size();
      std::uint64_t bytes = 0;
      for (std::size_t key = 0; key < count; ++key, ++next) {
        const Reply& size = (*measured)[next];
        if (size.kind == Reply::Kind::integer && size.integer > 0) bytes += static_cast<std::uint64_t>(size.integer);
      }
      loads[i].bytes = count == 0 ? 0 : bytes * loads[i].keys / count;
      master.bytes += loads[i].bytes;
    }
    first = end;
  }
  survey.loads.insert(survey.loads.end(), loads.begin(), loads.end());
}

/// The move of one slot.
class SlotMover::Move {
 public:
  Move(SlotMover& mover, const ClusterSurvey& survey, SlotMove wanted, std::function<void(std::uint64_t)> report)
      : mover_(mover), survey_(survey), slot_(wanted.slot), from_(survey.masters[wanted.from]), to_(survey.masters[wanted.to]), report_(std::move(report)),
        mark_(key_in(slot_, sql::kMovingKey)) {}

  asio::awaitable<std::uint64_t> run() {
    TcpPlace from = from_.node.place, to = to_.node.place;
    source_ = co_await mover_.node_at(std::move(from));
    target_ = co_await mover_.node_at(std::move(to));
    if (source_ != target_) {
      co_await begin();
      while (co_await step()) {
        if (report_) report_(moved_);
      }
      co_await hand_over();
    }
    co_await end();
    co_return moved_;
  }

 private:
  asio::awaitable<void> begin() {
    // The mark stays at the source until the target owns the slot, also if the source is replaced meanwhile.
    const RepliesPtr count = co_await source_->run("CLUSTER", "COUNTKEYSINSLOT", slot_);
    if (count->integer(0) > 0) co_await write_mark(*source_, from_.replicas, false);
    // A target that imports does not hear that its source was replaced, and has no owner of the slot once the old source is a replica.
    co_await target_->run("CLUSTER", "SETSLOT", slot_, "NODE", from_.node.id);
    co_await target_->run("CLUSTER", "SETSLOT", slot_, "IMPORTING", from_.node.id);
    co_await source_->run("CLUSTER", "SETSLOT", slot_, "MIGRATING", to_.node.id);
  }

  /// Writes the mark, and waits until so many replicas have it and all that was written before it.
  asio::awaitable<void> write_mark(Node& node, std::size_t replicas, bool asks) {
    for (int attempt = 0; attempt < kReplicaAttempts; ++attempt) {
      CommandBatch batch;
      if (asks) batch.add("ASKING");
      batch.add("SET", mark_, to_.node.id);
      if (replicas > 0) batch.add("WAIT", replicas, kReplicaMilliseconds);
      const RepliesPtr replies = co_await node.ask(std::move(batch));
      replies->or_throw();
      if (replicas == 0 || replies->integer(replies->size() - 1) >= static_cast<std::int64_t>(replicas)) co_return;
    }
    throw sql::SqlError(sqlstate::kCannotConnectNow, fmt::format("the replicas of {} do not confirm what it was given", node.place().address()))
        .detail(fmt::format("Slot {} has not moved yet.", slot_))
        .hint("Run redquel rebalance again once they are in step.");
  }

  /// Moves some keys. False: there are none any more.
  asio::awaitable<bool> step() {
    const RepliesPtr listed = co_await source_->run("CLUSTER", "GETKEYSINSLOT", slot_, kKeysPerStep + 1);
    std::vector<std::string> own, others;
    for (const Reply& key : listed->array(0)) {
      if (key.text != mark_) (is_in_bucket(slot_, key.text) ? own : others).emplace_back(key.text);
    }
    if (own.empty() && others.empty()) co_return false;
    if (!others.empty()) {
      const RepliesPtr replies = co_await migrate(others, false);
      replies->or_throw();
      co_await write_mark(*target_, to_.replicas, true);
      moved_ += others.size();
    }
    if (!own.empty()) co_await move_own(std::move(own));
    co_return true;
  }

  asio::awaitable<RepliesPtr> migrate(const std::vector<std::string>& keys, bool copies) {
    std::vector<std::string> words;
    if (copies) words.insert(words.end(), {"COPY", "REPLACE"});
    if (!mover_.login_.user.empty()) words.insert(words.end(), {"AUTH2", mover_.login_.user, mover_.login_.password});
    else if (!mover_.login_.password.empty()) words.insert(words.end(), {"AUTH", mover_.login_.password});
    words.emplace_back("KEYS");
    CommandBatch batch;
    if (copies) batch.add("WATCH", keys);
    batch.add("MIGRATE", to_.node.place.host, to_.node.place.port, "", "0", kMigrateMilliseconds, words, keys);
    co_return co_await source_->ask(std::move(batch));
  }

  asio::awaitable<void> move_own(std::vector<std::string> keys) {
    const RepliesPtr copied = co_await migrate(keys, true);
    // WATCH is refused if one of the keys has expired since.
    if (is_redirect((*copied)[0]) || ((*copied)[0].is_error() && (*copied)[0].text.starts_with("TRYAGAIN"))) co_return co_await forget_copies(std::move(keys));
    copied->or_throw();
    co_await write_mark(*target_, to_.replicas, true);
    CommandBatch removal;
    removal.add("MULTI");
    for (const std::string& key : keys) removal.add("UNLINK", key);
    removal.add("EXEC");
    const RepliesPtr removed = co_await source_->ask(std::move(removal));
    const Reply& outcome = (*removed)[removed->size() - 1];
    if (outcome.is_array()) {
      moved_ += keys.size();
      co_return;
    }
    if (outcome.is_error() && !outcome.text.starts_with("EXECABORT")) removed->or_throw();
    co_await forget_copies(std::move(keys));
  }

  /// Some of the keys have changed: they are copied again. Copies of those that are gone would come back to life.
  asio::awaitable<void> forget_copies(std::vector<std::string> keys) {
    CommandBatch look;
    look.add("UNWATCH");
    for (const std::string& key : keys) look.add("EXISTS", key);
    const RepliesPtr there = co_await source_->ask(std::move(look));
    CommandBatch removal;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (is_redirect((*there)[1 + i])) removal.add("ASKING").add("UNLINK", keys[i]);
    }
    if (removal.empty()) co_return;
    const RepliesPtr removed = co_await target_->ask(std::move(removal));
    removed->or_throw();
  }

  asio::awaitable<void> hand_over() {
    if (to_.replicas > 0) co_await write_mark(*target_, to_.replicas, true);
    // The target takes an epoch above all that it knows. If it did not know the source's, an older message of the source would give the slot back
    // at the target alone, and no master would have it.
    std::function<asio::awaitable<bool>()> knows_epoch = [this] { return target_knows_epoch(); };
    co_await agree("the epoch of its source", std::move(knows_epoch));
    co_await target_->run("CLUSTER", "SETSLOT", slot_, "NODE", to_.node.id);
    // The source may have heard of it already: then it has removed the mark itself.
    CommandBatch batch;
    batch.add("UNLINK", mark_).add("CLUSTER", "SETSLOT", slot_, "NODE", to_.node.id);
    co_await source_->ask(std::move(batch));
    for (const ClusterSurvey::Master& other : survey_.masters) {
      if (other.node.id == from_.node.id || other.node.id == to_.node.id) continue;
      TcpPlace place = other.node.place;
      const std::shared_ptr<Node> node = co_await mover_.node_at(std::move(place));
      CommandBatch told;
      told.add("CLUSTER", "SETSLOT", slot_, "NODE", to_.node.id);
      co_await node->ask(std::move(told));
    }
    std::function<asio::awaitable<bool>()> know_owner = [this] { return all_know_owner(); };
    co_await agree("its owner", std::move(know_owner));
  }

  asio::awaitable<std::vector<ClusterMember>> members_at(Node& node) {
    const RepliesPtr replies = co_await node.run("CLUSTER", "NODES");
    co_return read_members(replies->text(0).value_or(""), node.place());
  }

  static const ClusterMember* member(const std::vector<ClusterMember>& members, const std::string& id) {
    const auto found = std::ranges::find(members, id, &ClusterMember::id);
    return found == members.end() ? nullptr : &*found;
  }

  asio::awaitable<bool> target_knows_epoch() {
    const std::vector<ClusterMember> at_source = co_await members_at(*source_);
    const std::vector<ClusterMember> at_target = co_await members_at(*target_);
    const ClusterMember *own = member(at_source, from_.node.id), *known = member(at_target, from_.node.id);
    co_return own != nullptr && known != nullptr && own->epoch == known->epoch;
  }

  /// Returns true if each master names the target as the owner of the slot.
  asio::awaitable<bool> all_know_owner() {
    for (const ClusterSurvey::Master& master : survey_.masters) {
      TcpPlace place = master.node.place;
      const std::shared_ptr<Node> node = co_await mover_.node_at(std::move(place));
      const std::vector<ClusterMember> members = co_await members_at(*node);
      const ClusterMember* target = member(members, to_.node.id);
      if (target == nullptr || !target->slots.test(slot_)) co_return false;
    }
    co_return true;
  }

  /// Waits until the nodes agree.
  asio::awaitable<void> agree(std::string_view what, std::function<asio::awaitable<bool>()> is_agreed) {
    asio::steady_timer timer(mover_.executor_);
    for (int attempt = 0; attempt < kAgreementAttempts; ++attempt) {
      if (co_await is_agreed()) co_return;
      timer.expires_after(kAgreementPause);
      co_await timer.async_wait(asio::use_awaitable);
    }
    throw sql::SqlError(sqlstate::kCannotConnectNow, fmt::format("the masters do not agree on slot {}: on {}", slot_, what)).hint("Run redquel rebalance again.");
  }

  asio::awaitable<void> end() {
    CommandBatch batch;
    batch.add("CLUSTER", "SETSLOT", slot_, "STABLE").add("UNLINK", mark_);
    const RepliesPtr replies = co_await target_->ask(std::move(batch));
    replies->or_throw();
  }

  SlotMover& mover_;
  const ClusterSurvey& survey_;
  Slot slot_;
  const ClusterSurvey::Master &from_, &to_;
  std::function<void(std::uint64_t)> report_;
  std::string mark_;
  std::shared_ptr<Node> source_, target_;
  std::uint64_t moved_ = 0;
};

asio::awaitable<std::uint64_t> SlotMover::move(const ClusterSurvey& survey, SlotMove wanted, std::function<void(std::uint64_t)> report) {
  Move move(*this, survey, wanted, std::move(report));
  co_return co_await move.run();
}

}  // namespace redquel::executor
