#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/subscription.h"

namespace redquel::executor {

namespace asio = boost::asio;

// The redquel processes over one Redis ask each other by publish/subscribe. Messages are sealed with a key that lies in Redis, where only
// redquel's own login reads it: other users of Redis neither read nor forge one. Nothing of a message is stored.

/// The key of the messages, in the home database.
class ExchangeKey {
 public:
  /// Reads the key; makes it if there is none. Throws 08006, and the errors of Redis.
  asio::awaitable<std::string> load(RedisClient& home);
  /// Returns the key that was loaded last; empty: none.
  const std::string& known() const { return known_; }

 private:
  std::string known_;
};

/// Answers the questions of other processes. One for each process; belongs to one thread.
class ProcessListener {
 public:
  /// Returns the answer to a question; nullopt: none is sent.
  using Answer = std::function<std::optional<std::string>(std::string_view question)>;
  /// `identity`: of this process, whose own questions are not answered.
  ProcessListener(RedisAccess& access, RedisClient& home, std::string identity, Answer answer);
  ~ProcessListener();
  ProcessListener(const ProcessListener&) = delete;
  ProcessListener& operator=(const ProcessListener&) = delete;

  /// Waits until questions arrive. Throws as Subscription::ready does.
  asio::awaitable<void> ready();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Asks the other processes. One for each thread.
class ProcessQuestions {
 public:
  ProcessQuestions(RedisAccess& access, RedisClient& home, std::string identity);
  ~ProcessQuestions();
  ProcessQuestions(const ProcessQuestions&) = delete;
  ProcessQuestions& operator=(const ProcessQuestions&) = delete;

  /// Returns the answers of the other processes in any order; waits for at most half a second. Without Redis, or if it refuses, there are none.
  asio::awaitable<std::vector<std::string>> ask(std::string question);
  const std::string& identity() const { return identity_; }

 private:
  struct State;
  asio::awaitable<std::vector<std::string>> ask_all(std::string question);

  RedisAccess& access_;
  RedisClient& home_;
  const std::string identity_;
  std::shared_ptr<State> state_;
};

/// Returns the questions of this thread. Null: there are no other processes.
ProcessQuestions*& other_processes();

}  // namespace redquel::executor
