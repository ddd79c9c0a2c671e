#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/error.h"
#include "sql/functions/function.h"

namespace redquel::sql {

/// The sequence values that a session was given.
struct SessionSequences {
  std::map<Oid, std::int64_t> values;  // currval
  Oid latest = 0;                      // lastval; 0: none

  /// Values that follow each other by the sequence's increment.
  struct Run {
    std::int64_t first, count;
  };
  /// Values taken ahead (CACHE).
  struct Ahead {
    std::string key;               // the sequence's counter, and how often it had changed: after another change there are other values
    std::int64_t changes = 0;
    std::uint64_t generation = 0;  // of the Redis that gave them
    std::deque<Run> runs;
  };
  std::map<Oid, Ahead> ahead;

  void note(Oid sequence, std::int64_t value) {
    values[sequence] = value;
    latest = sequence;
  }
};

// Some functions ask Redis or other sessions, but evaluation never waits: it leaves the call as a question, and the evaluator answers
// (executor/operators/sequence_evaluation.h). A question is one evaluated call for all rows, its answer one value per row, in order.
// kName is how errors name the functions of a call.

/// nextval().
struct NextValues {
  std::vector<Oid> sequences;
  bool is_identity = false;  // of identity_value()
  using Answer = std::vector<std::int64_t>;
  static constexpr std::string_view kName = "a sequence function";
};

/// setval(). The answer is the value.
struct SetValues {
  struct Row {
    Oid sequence = 0;
    std::int64_t value = 0;
    bool is_called = true;
  };
  std::vector<Row> rows;
  using Answer = std::vector<std::int64_t>;
  static constexpr std::string_view kName = "a sequence function";
};

/// pg_sequence_last_value().
struct LastValues {
  std::vector<Oid> sequences;
  using Answer = std::vector<std::optional<std::int64_t>>;
  static constexpr std::string_view kName = "a sequence function";
};

struct AdvisoryRequest {
  enum class Action : std::uint8_t { kLock, kTry, kUnlock, kUnlockAll } action = Action::kLock;
  bool shared = false, transaction = false;
  bool halves = false;  // the key was given as two integers: another key than the same bits as one
};
/// pg_advisory_lock() and its relatives. The answer is true if the function's is true or void.
struct AdvisoryCall {
  AdvisoryRequest request;
  std::vector<std::int64_t> keys;  // or both halves of each
  using Answer = std::vector<bool>;
  static constexpr std::string_view kName = "an advisory lock function";
};

/// redis.call(): the words of each row's command. The answer is jsonb.
struct RedisCommands {
  std::vector<std::vector<std::string>> commands;
  using Answer = std::vector<std::optional<std::string>>;
  static constexpr std::string_view kName = "redis.call()";
};

/// redquel.ttl(): keys of rows. The answer is in milliseconds; nullopt: the row does not expire, or does not exist.
struct TimesToLive {
  std::vector<std::string> keys;
  using Answer = std::vector<std::optional<std::int64_t>>;
  static constexpr std::string_view kName = "redquel.ttl";
};

/// A function in LANGUAGE sql: the types of its arguments, and the arguments of each row.
struct UserFunctionCalls {
  Oid function = 0;
  std::vector<Type> types;
  std::vector<std::vector<Datum>> arguments;
  using Answer = std::vector<Datum>;
  static constexpr std::string_view kName = "a function in LANGUAGE sql of several statements, or that calls itself,";
};

/// pg_cancel_backend() and pg_terminate_backend() for sessions of other processes. The answer is true if there is such a session.
struct SessionSignals {
  std::vector<std::int32_t> process_ids;
  bool ends_session = false;
  using Answer = std::vector<bool>;
  static constexpr std::string_view kName = "a signal to a session of another process";
};

using DeferredCall =
    std::variant<NextValues, SetValues, LastValues, AdvisoryCall, RedisCommands, TimesToLive, UserFunctionCalls, SessionSignals>;
/// Each type that an answer has, once.
using DeferredAnswer = std::variant<std::vector<std::int64_t>, std::vector<std::optional<std::int64_t>>, std::vector<bool>,
                                    std::vector<std::optional<std::string>>, std::vector<Datum>>;

/// Ends an evaluation whose next call has no answer yet.
struct DeferredCallPending {};

/// The deferred calls of one evaluation. A call without an answer leaves its question in `pending` and throws DeferredCallPending. The
/// evaluator answers it and evaluates the expression again; earlier calls find their answers here, in order.
class DeferredCalls {
 public:
  explicit DeferredCalls(SessionSequences& session) : session_(session) {}

  SessionSequences& session() { return session_; }
  /// While it lives, functions that this thread evaluates ask `calls`, whose answers are given out from the first on. It never lives
  /// across a wait.
  class Evaluation {
   public:
    explicit Evaluation(DeferredCalls& calls);
    ~Evaluation();
    Evaluation(const Evaluation&) = delete;
    Evaluation& operator=(const Evaluation&) = delete;

   private:
    DeferredCalls* outer_;
  };
  /// The question that ended the evaluation.
  const DeferredCall& pending() const { return pending_; }
  void answer(DeferredAnswer answer) { answers_.push_back(std::move(answer)); }

  /// Returns the answer of a call. Throws DeferredCallPending.
  template <class Call>
  typename Call::Answer ask(Call call) {
    if (const DeferredAnswer* known = next_answer()) return std::get<typename Call::Answer>(*known);
    pending_ = std::move(call);
    throw DeferredCallPending{};
  }
  /// Returns the answer that an earlier evaluation computed by itself, or keeps that of `compute`: a later call of the row may change the
  /// state that it depends on (currval).
  template <class Answer, class Compute>
  Answer remember(Compute compute) {
    if (const DeferredAnswer* known = next_answer()) return std::get<Answer>(*known);
    answers_.push_back(compute());
    ++next_;
    return std::get<Answer>(answers_.back());
  }

 private:
  const DeferredAnswer* next_answer() { return next_ < answers_.size() ? &answers_[next_++] : nullptr; }

  SessionSequences& session_;
  std::vector<DeferredAnswer> answers_;
  std::size_t next_ = 0;
  DeferredCall pending_;
};

/// The calls of the evaluation that this thread runs; null: it runs where no evaluator answers.
DeferredCalls* current_deferred_calls();

/// Returns the answer of the evaluator. Throws DeferredCallPending; 0A000 without an evaluator that answers.
template <class Call>
typename Call::Answer ask_evaluator(Call call) {
  DeferredCalls* const calls = current_deferred_calls();
  if (calls == nullptr) throw not_supported(std::string(Call::kName) + " in this place");
  return calls->ask(std::move(call));
}

/// The rows of a call that are asked for: those without NULL arguments, or as a test says. The other rows are NULL.
class AskedRows {
 public:
  AskedRows(std::span<const ColumnPtr> arguments, std::size_t rows) : asked_(rows, true) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (const ColumnPtr& argument : arguments) asked_[row] = asked_[row] && !argument->is_null(row);
    }
  }
  explicit AskedRows(std::vector<bool> asked) : asked_(std::move(asked)) {}

  template <class Use>
  void for_each(Use use) const {
    for (std::size_t row = 0; row < asked_.size(); ++row) {
      if (asked_[row]) use(row);
    }
  }
  bool empty() const { return std::ranges::find(asked_, true) == asked_.end(); }
  /// Returns the answer to the call; no rows are no question.
  template <class Call>
  typename Call::Answer ask(Call call) const {
    return empty() ? typename Call::Answer() : ask_evaluator(std::move(call));
  }
  /// Makes the result: `append(column, answer)` appends the answer of a row that was asked for.
  template <class Answer, class Append>
  ColumnPtr column(Type result, const Answer& answers, Append append) const {
    auto column = std::make_shared<Column>(result);
    std::size_t next = 0;
    for (const bool asked : asked_) {
      if (asked) {
        append(*column, answers.at(next++));
      } else {
        column->append_null();
      }
    }
    return column;
  }

 private:
  std::vector<bool> asked_;
};

std::vector<ScalarFunction> sequence_functions();
bool is_sequence_function(const ScalarFunction& function);
/// pg_advisory_lock and its kin.
std::vector<ScalarFunction> advisory_lock_functions();
bool is_advisory_lock_function(const ScalarFunction& function);
/// redis.call()
std::vector<ScalarFunction> redis_functions();
bool is_redis_function(const ScalarFunction& function);
/// redquel.ttl.
std::vector<ScalarFunction> time_to_live_functions();
bool is_time_to_live(const ScalarFunction& function);
/// pg_cancel_backend and pg_terminate_backend.
bool is_signal_function(const ScalarFunction& function);
/// All of these, and calls of functions in LANGUAGE sql (user_function_call.h): the evaluator answers them.
bool is_deferred_function(const ScalarFunction& function);

}  // namespace redquel::sql
