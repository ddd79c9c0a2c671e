#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/subscription.h"
#include "executor/runtime/session_state.h"

namespace redquel::executor {

/// A notification of NOTIFY: NotificationResponse has these three fields.
struct Notification {
  std::int32_t process_id = 0;
  std::string channel, payload;
};

/// LISTEN and NOTIFY of one session: the channels that it listens to, what its open transaction has asked for, and what has arrived.
class SessionNotifications {
 public:
  struct Action {
    enum class Kind : std::uint8_t { kListen, kUnlisten, kUnlistenAll, kNotify } kind;
    std::string channel, payload = {};
  };

  /// Done when the transaction commits.
  void add(Action action);
  /// Adds a notification, for pg_notify() too; duplicates in a transaction are sent once. 22023; 54000 if there are too many.
  void notify(std::string channel, std::string payload);

  bool has_pending() const { return !pending_.empty(); }
  const std::vector<Action>& pending() const { return pending_; }
  std::vector<Action> take_pending();
  void forget() { take_pending(); }

  // Savepoints are numbered from 0, the oldest.
  void set_savepoint() { savepoints_.push_back(pending_.size()); }
  void release_savepoint(std::size_t number) { savepoints_.resize(std::min(number, savepoints_.size())); }
  void roll_back_to(std::size_t number);

  /// In the order in which they were listened to.
  const std::vector<std::string>& channels() const { return channels_; }
  bool listens_to(std::string_view channel) const;
  /// LISTEN and UNLISTEN take effect.
  void change_channels(const Action& action);

  void arrive(Notification notification);
  bool has_arrived() const { return !arrived_.empty(); }
  std::vector<Notification> take_arrived();

  /// Called when something of another session has arrived; may be empty.
  std::function<void()> wake;
  std::int32_t process_id = 0;  // the session's

 private:
  std::vector<std::string> channels_;
  std::vector<Action> pending_;
  std::set<std::string> notified_;  // what is pending already
  std::size_t pending_bytes_ = 0;
  std::vector<std::size_t> savepoints_;
  std::vector<Notification> arrived_;
  std::size_t arrived_bytes_ = 0;
};

/// Carries notifications between the sessions of one database, in all processes, through one channel of Redis's publish/subscribe:
/// redquel:notify:<number of the database>.
class NotificationExchange {
 public:
  NotificationExchange(RedisAccess& access, RedisClient& redis, int database);

  /// Before the commit: a session that will listen has the messages coming. Throws as Subscription::ready does.
  asio::awaitable<void> prepare(SessionState& session);
  /// After the commit: LISTEN and UNLISTEN take effect, notifications go out in one piece. What Redis does not take is a WARNING.
  asio::awaitable<void> commit(SessionState& session);

 private:
  void deliver(std::string_view message);

  RedisAccess& access_;
  RedisClient& redis_;
  std::string redis_channel_;
  std::string identity_;  // of this exchange, among all of all processes
  std::unique_ptr<Subscription> subscription_;
  std::vector<std::weak_ptr<SessionNotifications>> sessions_;
};

}  // namespace redquel::executor
