#include "executor/runtime/notifications.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <charconv>

#include "executor/runtime/random_version.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

using sql::SqlError;
using Action = SessionNotifications::Action;

namespace {

constexpr std::size_t kChannelBytes = 64, kPayloadBytes = 8000;  // NAMEDATALEN, NOTIFY_PAYLOAD_MAX_LENGTH
/// The limit of one transaction, and of notifications that wait for a session in a transaction.
constexpr std::size_t kMostNotificationBytes = std::size_t{64} << 20;
/// Notifications that go out in one message to Redis.
constexpr std::size_t kMessageBytes = std::size_t{256} << 10;

// A message is a row of netstrings, "5:hello": who sent it, the process id, then channel and payload of each notification.

void append_netstring(std::string_view text, std::string& out) { out += fmt::format("{}:{}", text.size(), text); }

/// Takes the first netstring off; false: there is none.
bool take_netstring(std::string_view& message, std::string_view& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(message.data(), message.data() + message.size(), length);
  const auto digits = static_cast<std::size_t>(end - message.data());
  if (error != std::errc() || digits == message.size() || *end != ':' || length > message.size() - digits - 1) return false;
  text = message.substr(digits + 1, length);
  message.remove_prefix(digits + 1 + length);
  return true;
}

/// Returns true for what NOTIFY can have sent. Every Redis user with the right to publish there may send anything.
bool is_genuine(std::string_view channel, std::string_view payload) {
  const auto is_text = [](std::string_view text) { return sql::is_valid_utf8(text) && text.find('\0') == std::string_view::npos; };
  return !channel.empty() && channel.size() < kChannelBytes && payload.size() < kPayloadBytes && is_text(channel) && is_text(payload);
}

std::string notification_key(const Action& action) {
  std::string key;
  append_netstring(action.channel, key);
  return key + action.payload;
}

}  // namespace

void SessionNotifications::add(Action action) {
  if (action.kind == Action::Kind::kNotify) {
    if (!notified_.insert(notification_key(action)).second) return;
    pending_bytes_ += action.channel.size() + action.payload.size() + sizeof action;
    if (pending_bytes_ > kMostNotificationBytes) throw SqlError(sqlstate::kProgramLimitExceeded, "too many notifications in the NOTIFY queue");
  }
  pending_.push_back(std::move(action));
}

void SessionNotifications::notify(std::string channel, std::string payload) {
  if (channel.empty()) throw SqlError(sqlstate::kInvalidParameterValue, "channel name cannot be empty");
  if (channel.size() >= kChannelBytes) throw SqlError(sqlstate::kInvalidParameterValue, "channel name too long");
  if (payload.size() >= kPayloadBytes) throw SqlError(sqlstate::kInvalidParameterValue, "payload string too long");
  add({Action::Kind::kNotify, std::move(channel), std::move(payload)});
}

std::vector<Action> SessionNotifications::take_pending() {
  notified_.clear();
  savepoints_.clear();
  pending_bytes_ = 0;
  return std::exchange(pending_, {});
}

void SessionNotifications::roll_back_to(std::size_t number) {
  if (number >= savepoints_.size()) return;
  savepoints_.resize(number + 1);
  std::vector<Action> kept(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(savepoints_[number]));
  const std::vector<std::size_t> savepoints = std::move(savepoints_);
  take_pending();
  for (Action& action : kept) add(std::move(action));
  savepoints_ = savepoints;
}

bool SessionNotifications::listens_to(std::string_view channel) const { return std::ranges::find(channels_, channel) != channels_.end(); }

void SessionNotifications::change_channels(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kListen:
      if (!listens_to(action.channel)) channels_.push_back(action.channel);
      break;
    case Action::Kind::kUnlisten:
      std::erase(channels_, action.channel);
      break;
    case Action::Kind::kUnlistenAll:
      channels_.clear();
      break;
    case Action::Kind::kNotify:
      break;
  }
}

void SessionNotifications::arrive(Notification notification) {
  const std::size_t bytes = notification.channel.size() + notification.payload.size() + sizeof notification;
  if (arrived_bytes_ + bytes > kMostNotificationBytes) {
    spdlog::warn("a notification is dropped: its session has too many that it does not fetch");
    return;
  }
  arrived_bytes_ += bytes;
  arrived_.push_back(std::move(notification));
}

std::vector<Notification> SessionNotifications::take_arrived() {
  arrived_bytes_ = 0;
  return std::exchange(arrived_, {});
}

NotificationExchange::NotificationExchange(RedisAccess& access, RedisClient& redis, int database)
    : access_(access), redis_(redis), redis_channel_(fmt::format("{}{}", sql::kNotifyPrefix, database)), identity_(random_version()) {}

asio::awaitable<void> NotificationExchange::prepare(SessionState& session) {
  const std::shared_ptr<SessionNotifications> own = session.notifications;
  if (!own) co_return;
  using Kind = Action::Kind;
  const auto has = [&](Kind kind) { return std::ranges::any_of(own->pending(), [=](const Action& action) { return action.kind == kind; }); };
  const bool listens = has(Kind::kListen);
  // Notifications that were committed before UNLISTEN may still be on their way from Redis.
  if (subscription_ && !own->channels().empty() && (has(Kind::kUnlisten) || has(Kind::kUnlistenAll))) co_await subscription_->catch_up();
  if (!listens) co_return;
  std::erase_if(sessions_, [](const auto& other) { return other.expired(); });
  if (!subscription_) {
    subscription_ = access_.subscribe(redis_channel_, [this](std::string_view message) { deliver(message); });
  }
  co_await subscription_->ready();
  const bool known = std::ranges::any_of(sessions_, [&](const auto& other) { return other.lock() == own; });
  if (!known) sessions_.push_back(own);
}

asio::awaitable<void> NotificationExchange::commit(SessionState& session) {
  const std::shared_ptr<SessionNotifications> own = session.notifications;
  if (!own || !own->has_pending()) co_return;
  const std::vector<Action> actions = own->take_pending();
  for (const Action& action : actions) own->change_channels(action);
  std::vector<std::string> messages;
  for (const Action& action : actions) {
    if (action.kind != Action::Kind::kNotify) continue;
    if (messages.empty() || messages.back().size() > kMessageBytes) {
      std::string& message = messages.emplace_back();
      append_netstring(identity_, message);
      append_netstring(std::to_string(session.backend_pid), message);
    }
    append_netstring(action.channel, messages.back());
    append_netstring(action.payload, messages.back());
    // Its own come without a detour, so that they are there when the commit is told.
    if (own->listens_to(action.channel)) own->arrive({session.backend_pid, action.channel, action.payload});
  }
  if (messages.empty()) co_return;
  // The notification is sent: a cancellation comes too late.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  CommandBatch batch;
  for (const std::string& message : messages) batch.add("PUBLISH", redis_channel_, message);
  std::optional<SqlError> failure;
  try {
    const RepliesPtr replies = co_await redis_.execute(std::move(batch));
    replies->or_throw();
  } catch (const SqlError& error) {
    failure = error;
  }
  if (failure && session.notice) session.notice("WARNING", SqlError(failure->sqlstate(), "notifications were lost").detail(failure->message()));
  co_await asio::this_coro::reset_cancellation_state();
}

/// Delivers a notification of another session, of this process or another one. Ignores messages of other publishers.
void NotificationExchange::deliver(std::string_view message) {
  std::string_view sender, process, channel, payload;
  if (!take_netstring(message, sender) || !take_netstring(message, process)) return;
  Notification notification;
  std::from_chars(process.data(), process.data() + process.size(), notification.process_id);
  const bool is_own = sender == identity_;
  std::vector<std::shared_ptr<SessionNotifications>> woken;
  while (take_netstring(message, channel) && take_netstring(message, payload)) {
    if (!is_genuine(channel, payload)) continue;
    notification.channel = channel;
    notification.payload = payload;
    for (const auto& weak : sessions_) {
      const std::shared_ptr<SessionNotifications> session = weak.lock();
      if (!session || !session->listens_to(channel)) continue;
      if (is_own && session->process_id == notification.process_id) continue;
      session->arrive(notification);
      if (std::ranges::find(woken, session) == woken.end()) woken.push_back(session);
    }
  }
  for (const auto& session : woken) {
    if (session->wake) session->wake();
  }
}

}  // namespace redquel::executor
