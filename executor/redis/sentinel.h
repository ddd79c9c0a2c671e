#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/redis/url.h"
#include "executor/tls/tls_context.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The answer of one sentinel. Anything in it may be a lie.
struct SentinelAnswer {
  std::optional<TcpPlace> master;          // nullopt: it names none
  std::uint64_t epoch = 0;                 // of its configuration: grows with each failover
  std::chrono::milliseconds down_after{};  // zero: unknown
  bool is_failing_over = false;            // it replaces this master
  std::string refusal;                     // the reason why it names none
};

/// A sign that another master than the one that most sentinels name will be the master soon. Or a sentinel lies.
struct MasterDispute {
  TcpPlace master;          // that a sentinel names
  std::uint64_t epoch = 0;  // of its configuration
  bool is_failing_over = false;

  bool operator==(const MasterDispute&) const = default;
};

/// The answers of all sentinels, weighed.
struct FoundMaster {
  std::optional<TcpPlace> place;
  /// A master that does not answer the sentinels for this time may be replaced.
  std::chrono::milliseconds down_after{};
  std::string reason;  // if there is no place
  /// A sentinel names another master than most do, with a newer configuration, or replaces the one that most name.
  std::optional<MasterDispute> disputed;
  std::size_t silent = 0;  // sentinels that name no master: one of them may be replacing it
};

/// Returns the login and the questions for one sentinel.
CommandBatch sentinel_questions(const SentinelGroup& group);
/// Takes the replies to sentinel_questions(), which may be fewer.
SentinelAnswer read_sentinel(const Replies& replies);
/// Returns the master that most answers name; between equal numbers the newest configuration decides.
FoundMaster weigh_answers(std::span<const SentinelAnswer> answers);

/// Asks all sentinels of the URL at once and waits at most about a second for them, three more while they dispute. A dispute that did not end is
/// remembered on this thread and not waited for again. Never throws.
asio::awaitable<FoundMaster> find_master(RedisUrl url, TlsContextPtr tls);

}  // namespace redquel::executor
