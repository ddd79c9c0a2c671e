#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

class PendingBatch;

/// The commits of one thread, over all its connections, that replicas of Redis have not confirmed yet. Each write of commits has a ticket;
/// tickets are numbers in the order of sending.
class UnreplicatedCommits {
 public:
  using Ticket = std::uint64_t;

  /// Returns the ticket of a write that is about to be sent.
  Ticket issue();
  /// Replicas have the write.
  void confirm(Ticket ticket) { close(ticket, std::nullopt); }
  /// It will not be known whether replicas have the write. `reason`: 08006 if its connection was lost.
  void give_up(Ticket ticket, const sql::SqlError& reason) { close(ticket, reason); }

  /// Returns the ticket of the next write.
  Ticket next() const { return next_; }
  /// Waits until replicas have every write from `first` on that was sent before the call. Throws the reason for which one was given up, and
  /// system_error(operation_aborted) when the coroutine is cancelled.
  asio::awaitable<void> confirmed(Ticket first);
  /// Waits until replicas have every write that was sent before the call; as `confirmed`.
  asio::awaitable<void> all_confirmed();
  /// Returns true if `confirmed(first)` would wait or throw.
  bool has_open(Ticket first) const;

 private:
  struct Waiter {
    Ticket first, end;
    std::shared_ptr<PendingBatch> latch;
  };
  void close(Ticket ticket, const std::optional<sql::SqlError>& reason);
  bool has_open(Ticket first, Ticket end) const;

  Ticket next_ = 1;
  std::set<Ticket> open_;
  std::optional<std::pair<Ticket, sql::SqlError>> last_given_up_;
  std::vector<Waiter> waiters_;
};

}  // namespace redquel::executor
