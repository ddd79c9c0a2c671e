#include "executor/redis/topology.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "executor/redis/inquiry.h"
#include "executor/redis/pending_batch.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/shared_connection.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLeastBetweenRefreshes{100};
constexpr seconds kRegularRefresh{30};
/// A node that takes longer is not waited for.
constexpr milliseconds kNodePatience{1000};
constexpr std::size_t kAskedAtOnce = 3, kMostWitnesses = 5;
constexpr std::size_t kMostTopologyBytes = std::size_t{8} << 20;
constexpr milliseconds kUnknownNodeTimeout{1000}, kShortestNodeTimeout{200}, kLongestNodeTimeout{60'000};

}  // namespace

milliseconds TopologyState::proof_time() const {
  const milliseconds timeout = node_timeout_ > milliseconds::zero() ? node_timeout_ : kUnknownNodeTimeout;
  return std::clamp(timeout, kShortestNodeTimeout, kLongestNodeTimeout) / 2;
}

void TopologyState::take(const TopologyAnswer& answer) {
  if (map_) {
    const auto is_gone = [&](const ClusterMaster& master) { return !answer.map->find(master.place); };
    if (std::ranges::any_of(map_->masters(), is_gone)) ++failovers_;
  }
  map_ = answer.map;
  if (answer.node_timeout > milliseconds::zero()) node_timeout_ = answer.node_timeout;
  redirected_to_.reset();
}

void TopologyState::take(const Redirect& moved) {
  redirected_to_ = moved.place;
  want();
  if (!map_) return;
  if (!map_->find(moved.place)) ++failovers_;  // probably a replica that was promoted
  auto map = std::make_shared<SlotMap>(*map_);
  map->assign(moved.slot, moved.place);
  map_ = std::move(map);
}

std::vector<TcpPlace> TopologyState::places(std::minstd_rand& random) const {
  std::vector<TcpPlace> masters, replicas, seeds = seeds_, all;
  if (map_) {
    for (const ClusterMaster& master : map_->masters()) {
      masters.push_back(master.place);
      replicas.insert(replicas.end(), master.replicas.begin(), master.replicas.end());
    }
  }
  const auto add = [&](const TcpPlace& place) {
    if (std::ranges::find(all, place) == all.end()) all.push_back(place);
  };
  if (redirected_to_) add(*redirected_to_);
  for (std::vector<TcpPlace>* some : {&masters, &replicas, &seeds}) {
    std::ranges::shuffle(*some, random);
    for (const TcpPlace& place : *some) add(place);
  }
  return all;
}

TopologyState::Witnesses TopologyState::witnesses(const TcpPlace& place, std::minstd_rand& random) const {
  Witnesses witnesses;
  if (!map_) return witnesses;
  const std::optional<std::size_t> own = map_->find(place);
  for (const ClusterMaster& master : map_->masters()) {
    if (master.place != place) witnesses.places.push_back(master.place);
  }
  std::ranges::shuffle(witnesses.places, random);
  if (witnesses.places.size() > kMostWitnesses) witnesses.places.resize(kMostWitnesses);
  // A replica becomes master by the votes of most masters: together with the master itself these are a majority of those that were asked.
  witnesses.needed = (witnesses.places.size() + 1) / 2;
  // No vote can replace the only master; a person may, and its replicas know.
  if (witnesses.places.empty() && own) witnesses.places = map_->masters()[*own].replicas;
  return witnesses;
}

void TopologyState::begin_refresh(Clock::time_point now, std::minstd_rand& random) {
  is_wanted_ = false;
  begun_ = now;
  const auto quarter = std::chrono::duration_cast<milliseconds>(kRegularRefresh).count() / 4;
  regular_ = now + kRegularRefresh + milliseconds(std::uniform_int_distribution<std::int64_t>(-quarter, quarter)(random));
}

TopologyState::Clock::time_point TopologyState::next_refresh() const {
  if (begun_ == Clock::time_point{}) return begun_;
  return is_wanted_ ? begun_ + kLeastBetweenRefreshes : regular_;
}

Topology::Topology(asio::any_io_executor executor, const ConnectionOptions& redis)
    : executor_(executor),
      url_(redis.url),
      login_(redis.login ? redis.login : std::make_shared<RedisLogin>(current_login(redis))),
      only_looks_(redis.only_looks),
      state_(redis.url.cluster),
      timer_(executor) {}

std::shared_ptr<Topology> Topology::start(asio::any_io_executor executor, const ConnectionOptions& redis) {
  const std::shared_ptr<Topology> topology(new Topology(executor, redis));
  asio::co_spawn(executor, run(topology), asio::detached);
  return topology;
}

asio::awaitable<void> Topology::run(std::shared_ptr<Topology> self) {
  while (!self->stopped_) {
    const auto next = self->state_.next_refresh();
    if (std::chrono::steady_clock::now() < next) {
      self->timer_.expires_at(next);
      error_code cancelled;
      co_await self->timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
      continue;  // something may have hinted at another map meanwhile
    }
    self->state_.begin_refresh(std::chrono::steady_clock::now(), self->random_);
    self->is_asking_ = true;
    co_await self->refresh();
    self->is_asking_ = false;
  }
  self->wake_waiters();
}

asio::awaitable<void> Topology::refresh() {
  const std::vector<TcpPlace> places = state_.places(random_);
  std::optional<TopologyAnswer> refused;
  for (std::size_t first = 0; first < places.size() && !stopped_; first += kAskedAtOnce) {
    const auto some = std::span(places).subspan(first, std::min(kAskedAtOnce, places.size() - first));
    const auto inquiry = std::make_shared<Inquiry>(executor_, login_->tls, topology_questions(login_->user, login_->password, only_looks_), some, kMostTopologyBytes);
    std::optional<TopologyAnswer> found;
    const auto look = [&] {
      // In the order of asking: the first places know most.
      for (const Inquiry::Asked& asked : inquiry->asked()) {
        if (!asked.replies) continue;
        TopologyAnswer answer = read_topology(*asked.replies, asked.place);
        if (answer.map) {
          found = std::move(answer);
          return true;
        }
        refused = std::move(answer);
      }
      return false;
    };
    co_await inquiry->run(kNodePatience, [&look] { return look() ? std::optional(milliseconds::zero()) : std::nullopt; });
    if (stopped_) co_return;
    if (!found) look();
    if (found) {
      const std::shared_ptr<const SlotMap> before = state_.map();
      state_.take(*found);
      error_.reset();
      is_lasting_error_ = false;
      wake_waiters();
      if (before && before->has_same_owners(*state_.map())) co_return;
      const std::vector<std::function<void()>> all = changed_;
      for (const std::function<void()>& changed : all) changed();
      co_return;
    }
    if (!refused) {
      TopologyAnswer unreachable;
      unreachable.error = connection_failed(url_.address(), some.front().address() + ": " + inquiry->asked().front().failure);
      refused = std::move(unreachable);
    }
  }
  if (!refused) co_return;
  error_ = refused->error;
  is_lasting_error_ = refused->is_lasting;
  if (is_lasting_error_) wake_waiters();
  else state_.want();
}

void Topology::wake_waiters() {
  for (const std::shared_ptr<PendingBatch>& waiter : std::exchange(waiters_, {})) waiter->finish();
}

asio::awaitable<std::shared_ptr<const SlotMap>> Topology::known(milliseconds patience) {
  const std::shared_ptr<Topology> self = shared_from_this();
  if (map()) co_return map();
  const auto latch = std::make_shared<PendingBatch>(CommandBatch());
  waiters_.push_back(latch);
  look();
  asio::steady_timer timer(executor_, patience);
  timer.async_wait([latch](error_code cancelled) {
    if (!cancelled) latch->finish();
  });
  co_await latch->wait();
  timer.cancel();
  if (map()) co_return map();
  if (stopped_) throw sql::SqlError(sqlstate::kAdminShutdown, "the connection to Redis is closed");
  if (error_) throw sql::SqlError(*error_);
  throw connection_failed(url_.address(), "timeout");
}

void Topology::look() {
  state_.want();
  if (!is_asking_) timer_.cancel();
}

void Topology::moved(const Redirect& redirect) {
  state_.take(redirect);
  if (!is_asking_) timer_.cancel();
}

asio::awaitable<std::string> Topology::objection(TcpPlace place) {
  const std::shared_ptr<Topology> self = shared_from_this();
  const TopologyState::Witnesses witnesses = state_.witnesses(place, random_);
  if (witnesses.places.empty()) co_return "";
  const auto inquiry = std::make_shared<Inquiry>(executor_, login_->tls, topology_questions(login_->user, login_->password, only_looks_), witnesses.places, kMostTopologyBytes);
  const bool had_slots = map()->find(place).has_value();
  std::size_t agree = 0;
  std::string objection;
  const auto look = [&] {
    agree = 0;
    for (const Inquiry::Asked& asked : inquiry->asked()) {
      if (!asked.replies) continue;
      const TopologyAnswer answer = read_topology(*asked.replies, asked.place);
      if (!answer.map) continue;
      const auto has_it = [&](const ClusterMaster& master) { return std::ranges::find(master.replicas, place) != master.replicas.end(); };
      // A master that has no slots yet stands in no answer.
      if (!answer.map->find(place) && (had_slots || std::ranges::any_of(answer.map->masters(), has_it))) {
        objection = fmt::format("node {} names another master for the slots of {}", asked.place.address(), place.address());
        return true;
      }
      ++agree;
    }
    return agree > 0 && agree >= witnesses.needed;
  };
  co_await inquiry->run(kNodePatience, [&look] { return look() ? std::optional(milliseconds::zero()) : std::nullopt; });
  look();
  if (!objection.empty()) {
    self->look();
    co_return objection;
  }
  if (agree >= witnesses.needed) co_return "";
  co_return fmt::format("too few other masters confirm that {} is one", place.address());
}

asio::awaitable<std::vector<NodeSlots>> Topology::placement() {
  const std::shared_ptr<Topology> self = shared_from_this();
  const std::shared_ptr<const SlotMap> now = map();
  std::vector<TcpPlace> places;
  for (const ClusterMaster& master : now->masters()) places.push_back(master.place);
  CommandBatch question;
  if (!login_->user.empty()) question.add("AUTH", login_->user, login_->password);
  else if (!login_->password.empty()) question.add("AUTH", login_->password);
  question.add("CLUSTER", "NODES");
  const auto inquiry = std::make_shared<Inquiry>(executor_, login_->tls, std::move(question), places, kMostTopologyBytes);
  co_await inquiry->run(kNodePatience, [] { return std::nullopt; });
  std::vector<NodeSlots> all;
  for (const Inquiry::Asked& asked : inquiry->asked()) {
    if (!asked.replies || asked.replies->empty()) throw connection_failed(asked.place.address(), asked.failure);
    const std::size_t last = asked.replies->size() - 1;
    const Reply& reply = (*asked.replies)[last];
    if (reply.is_error()) throw redis_error(reply.text, asked.replies->command(last)).hint("Grant +cluster|nodes to the user.");
    all.push_back(read_node_slots(asked.replies->text(last).value_or(""), asked.place));
  }
  co_return all;
}

void Topology::stop() {
  stopped_ = true;
  timer_.cancel();
  wake_waiters();
}

}  // namespace redquel::executor
