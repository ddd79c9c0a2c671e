#pragma once

#include <boost/asio/awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "executor/runtime/turn_queue.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// A function that runs on a stack of its own, so that it can stand still in the middle and go on later. It stands still where it checks its
/// interrupts (sql/computation_pause.h) after its turn is over. Belongs to one thread.
class Computation {
 public:
  /// Throws SqlError 53200 without memory for the stack.
  explicit Computation(std::function<void()> work);
  /// A function that stands still fails with 57014.
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  /// Runs the function for a turn. Returns true once it has ended; rethrows what it has thrown.
  bool resume();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a function that may compute for long, in turns: the other sessions of the thread go on meanwhile. Give it a named closure, as
/// BackgroundThread::run.
template <class Work>
asio::awaitable<std::invoke_result_t<Work>> compute_in_turns(Work work) {
  std::optional<std::invoke_result_t<Work>> result;
  Computation computation([&] { result.emplace(work()); });
  while (!computation.resume()) co_await TurnQueue::wait();
  co_return *std::move(result);
}

/// Returns true if an evaluation may take long, however few its rows are: it makes or walks values whose length the statement decides.
bool may_take_long(std::span<const sql::ExpressionPtr> expressions);

}  // namespace redquel::executor
