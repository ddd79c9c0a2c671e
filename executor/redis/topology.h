#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "executor/redis/redis_login.h"
#include "executor/redis/slot_map.h"
#include "executor/redis/url.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

class PendingBatch;
struct ConnectionOptions;

/// A thread's knowledge of a cluster, and its schedule of questions to nodes. Sans I/O.
class TopologyState {
 public:
  using Clock = std::chrono::steady_clock;

  /// `seeds` are asked when no other node answers; they stay known for ever.
  explicit TopologyState(std::vector<TcpPlace> seeds) : seeds_(std::move(seeds)) {}

  /// Null: no node has answered yet.
  const std::shared_ptr<const SlotMap>& map() const { return map_; }
  /// Grows each time that a place which had slots has none any more, or one gets slots that had none: its data may be another's now, or gone.
  std::uint64_t failovers() const { return failovers_; }
  /// An answer of a master counts if it answered a command on the same connection that was sent less than this before.
  std::chrono::milliseconds proof_time() const;

  /// Takes an answer that has a map.
  void take(const TopologyAnswer& answer);
  /// Takes MOVED: the slot is at that place until a node answers. Commands that are sent there count as those of another server, if it had no slots.
  void take(const Redirect& moved);

  /// Returns the places to ask, the most promising ones first: where a redirect led, masters, replicas, seeds; each once.
  std::vector<TcpPlace> places(std::minstd_rand& random) const;
  /// Returns the nodes that can say whether the master at the place was replaced, and how many of them must deny it.
  struct Witnesses {
    std::vector<TcpPlace> places;
    std::size_t needed = 0;
  };
  Witnesses witnesses(const TcpPlace& place, std::minstd_rand& random) const;

  /// Something hints at another map: a refresh shall begin soon.
  void want() { is_wanted_ = true; }
  bool is_wanted() const { return is_wanted_; }
  void begin_refresh(Clock::time_point now, std::minstd_rand& random);
  /// Returns when the next refresh may begin.
  Clock::time_point next_refresh() const;

 private:
  std::vector<TcpPlace> seeds_;
  std::shared_ptr<const SlotMap> map_;
  std::optional<TcpPlace> redirected_to_;
  std::chrono::milliseconds node_timeout_{};
  std::uint64_t failovers_ = 0;
  bool is_wanted_ = true;
  Clock::time_point begun_{}, regular_{};
};

/// The slot map of one thread. It asks nodes for it every 30 seconds with jitter, and soon after a redirect or a lost connection: one refresh at
/// a time, at most ten a second.
class Topology : public std::enable_shared_from_this<Topology> {
 public:
  /// `redis.url` names nodes of a cluster.
  static std::shared_ptr<Topology> start(asio::any_io_executor executor, const ConnectionOptions& redis);

  std::shared_ptr<const SlotMap> map() const { return state_.map(); }
  std::uint64_t failovers() const { return state_.failovers(); }
  std::chrono::milliseconds proof_time() const { return state_.proof_time(); }
  /// The error of the last refresh; nullopt: it succeeded.
  const std::optional<sql::SqlError>& error() const { return error_; }

  /// Waits for the first map. Throws 08006 after `patience`, and at once what lasts: 28000, 42501, 0A000.
  asio::awaitable<std::shared_ptr<const SlotMap>> known(std::chrono::milliseconds patience);
  /// Asks soon.
  void look();
  /// Takes MOVED, and asks soon.
  void moved(const Redirect& redirect);
  /// Returns the reason why an answer of the master at the place may not count: nodes name another one, or too few answer. Empty: it counts.
  asio::awaitable<std::string> objection(TcpPlace place);
  /// Asks all masters which slots they have now. Throws 08006 if one does not answer.
  asio::awaitable<std::vector<NodeSlots>> placement();

  /// `changed` is called after each refresh with another map.
  void on_change(std::function<void()> changed) { changed_.push_back(std::move(changed)); }
  void stop();

 private:
  Topology(asio::any_io_executor executor, const ConnectionOptions& redis);
  static asio::awaitable<void> run(std::shared_ptr<Topology> self);
  asio::awaitable<void> refresh();
  void wake_waiters();

  asio::any_io_executor executor_;
  RedisUrl url_;
  std::shared_ptr<RedisLogin> login_;
  bool only_looks_;
  TopologyState state_;
  std::optional<sql::SqlError> error_;
  bool is_lasting_error_ = false;
  asio::steady_timer timer_;
  std::minstd_rand random_{std::random_device{}()};
  std::vector<std::shared_ptr<PendingBatch>> waiters_;  // for the first map
  std::vector<std::function<void()>> changed_;
  bool is_asking_ = false;
  bool stopped_ = false;
};

}  // namespace redquel::executor
