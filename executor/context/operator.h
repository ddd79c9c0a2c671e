#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "executor/context/key_filter.h"
#include "executor/context/morsels.h"
#include "sql/column.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// One run of a plan node. A plan is data, an operator is one run of it.
class Operator {
 public:
  virtual ~Operator() = default;
  /// The next non-empty batch, or nullopt at the end. Throws SqlError. Not called again after either.
  virtual asio::awaitable<std::optional<sql::Batch>> next() = 0;
  /// Says that rows with another value in this column of the output are of no use. The operator may leave them out from now on.
  virtual void leave_out(std::size_t, const KeyFilterPtr&) {}
  /// Instead of next(): lets so many workers make the rows side by side, in any order. Null: it cannot, and next() goes on.
  virtual asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t) { co_return nullptr; }
};

using OperatorPtr = std::unique_ptr<Operator>;

}  // namespace redquel::executor
