#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "executor/redis/client.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

/// Units that are written one after another: one that Redis works on, one that waits there, while the next is made. The client outlives this
/// and what it leaves behind.
class UnitsInFlight {
 public:
  /// Looks at the end of a unit, in the order of the units, and throws for one that was not applied.
  using Check = std::function<void(const WriteUnit&, WriteStatus)>;
  /// Takes a unit that is in Redis now. May be empty.
  using Written = std::function<void(const WriteUnit&)>;

  UnitsInFlight(asio::any_io_executor executor, RedisClient& client, Check check);

  /// Sends a unit. Throws for a unit before: RowError 23505, what Redis says, and what the check throws.
  asio::awaitable<void> write(std::shared_ptr<WriteUnit> unit, Written written);
  /// Waits until everything is in Redis. Throws as write() does.
  asio::awaitable<void> flush();
  /// Waits until no unit is on its way, whatever became of it.
  asio::awaitable<void> settle();

 private:
  struct State;
  asio::awaitable<void> finish_first();

  std::shared_ptr<State> state_;
};

}  // namespace redquel::executor
