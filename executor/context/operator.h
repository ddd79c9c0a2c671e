#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "executor/context/key_filter.h"
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
  /// Returns true if there is nothing behind the last batch, as next() would say, too. False: it is not known.
  virtual bool is_at_end() const { return false; }
  /// Says that rows with another value in this column of the output are of no use. The operator may leave them out from now on.
  virtual void leave_out(std::size_t, const KeyFilterPtr&) {}
};

using OperatorPtr = std::unique_ptr<Operator>;

}  // namespace redquel::executor
