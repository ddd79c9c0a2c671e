#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <optional>

#include "executor/context/operator.h"
#include "sql/column.h"

namespace redquel::executor {

/// The rows of an operator as several threads make them side by side. The operator outlives them.
class Morsels {
 public:
  virtual ~Morsels() = default;
  /// Returns the next rows for a worker, after less than a millisecond or so; an empty batch: none yet; nullopt: none are left. Each worker is in one
  /// thread at a time. Throws SqlError.
  virtual std::optional<sql::Batch> next(std::size_t worker) = 0;
};

/// The interface of an Operator whose rows several threads may make.
class SharedOperator {
 public:
  virtual ~SharedOperator() = default;
  /// Instead of next(): lets so many workers make the rows, in any order. Null: it cannot now, and next() goes on.
  virtual asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) = 0;
};

/// Like SharedOperator::share(). Null for operators of other kinds.
inline asio::awaitable<std::unique_ptr<Morsels>> share(Operator& source, std::size_t workers) {
  std::unique_ptr<Morsels> morsels;
  if (auto* const shared = dynamic_cast<SharedOperator*>(&source)) morsels = co_await shared->share(workers);
  co_return morsels;
}

}  // namespace redquel::executor
