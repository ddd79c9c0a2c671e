#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

/// One evaluated call of nextval() or the like: what it asks for each row, in order.
struct SequenceCall {
  enum class Kind : std::uint8_t { kNextval, kSetval, kCurrval, kLastval, kLastValue, kAdvisory, kRedis, kTimeToLive, kUserFunction, kSignal };
  struct Row {
    Oid sequence = 0;
    std::int64_t value = 0;  // kSetval; kAdvisory: the key, or both halves of it; kSignal: the process id
    bool is_called = true;   // kSetval; kSignal: the session ends, too
  };
  Kind kind;
  std::vector<Row> rows;
  /// kTimeToLive, instead of rows: keys of Redis. The answer is in milliseconds.
  std::vector<std::string> row_keys = {};
  /// kAdvisory: the answer is 1 for true (or void), 0 for false.
  struct Advisory {
    enum class Action : std::uint8_t { kLock, kTry, kUnlock, kUnlockAll } action = Action::kLock;
    bool shared = false, transaction = false;
    bool halves = false;  // the key was given as two integers: another key than the same bits as one
  } advisory = {};
  /// kRedis: the words of each row's command.
  std::vector<std::vector<std::string>> commands = {};
  /// kUserFunction: a function in LANGUAGE sql, the types of its arguments, and the arguments of each row. `result`: of one value.
  Oid function = 0;
  std::vector<Type> types = {};
  std::vector<std::vector<Datum>> arguments = {};
  Type result = {};
};

/// Ends an evaluation whose next call has no answer yet.
struct SequenceCallPending {};

/// nextval() and its relatives ask Redis, but evaluation never waits. A call without an answer leaves its question in `pending` and throws
/// SequenceCallPending. The evaluator answers it and evaluates the expression again (executor/operators/sequence_evaluation.h); earlier
/// calls find their answers here, in order.
class SequenceCalls {
 public:
  using Answer = std::vector<std::optional<std::int64_t>>;  // per row
  using Documents = std::vector<std::optional<std::string>>;  // of kRedis: jsonb per row
  using Values = std::vector<Datum>;                          // of kUserFunction, per row

  explicit SequenceCalls(SessionSequences& session) : session_(session) {}

  SessionSequences& session() { return session_; }
  /// While it lives, sequence functions that this thread evaluates ask `calls`, whose answers are given out from the first on. It
  /// never lives across a wait.
  class Evaluation {
   public:
    explicit Evaluation(SequenceCalls& calls);
    ~Evaluation();
    Evaluation(const Evaluation&) = delete;
    Evaluation& operator=(const Evaluation&) = delete;

   private:
    SequenceCalls* outer_;
  };
  /// The question that ended the evaluation.
  const SequenceCall& pending() const { return pending_; }
  void answer(Answer answer) { answers_.push_back(std::move(answer)); }
  void answer(Documents documents) { documents_.push_back(std::move(documents)); }
  void answer(Values values) { values_.push_back(std::move(values)); }

  /// Returns the answer of a call. Throws SequenceCallPending; 55000 for currval() and lastval() of a session without a value.
  Answer ask(SequenceCall call, const EvaluationContext& context);
  /// Like ask(), for calls of kind kRedis.
  Documents ask_documents(SequenceCall call);
  /// Like ask(), for calls of kind kUserFunction.
  Values ask_values(SequenceCall call);

 private:
  SessionSequences& session_;
  std::vector<Answer> answers_;
  std::vector<Documents> documents_;
  std::vector<Values> values_;
  std::size_t next_ = 0, next_document_ = 0, next_values_ = 0;
  SequenceCall pending_;
};

/// Returns the answer of the evaluator. Throws SequenceCallPending; 0A000 without an evaluator that answers.
SequenceCalls::Answer ask_evaluator(SequenceCall call, const EvaluationContext& context);
SequenceCalls::Documents ask_evaluator_for_documents(SequenceCall call);
SequenceCalls::Values ask_evaluator_for_values(SequenceCall call);

std::vector<ScalarFunction> sequence_functions();
/// pg_advisory_lock and its kin.
std::vector<ScalarFunction> advisory_lock_functions();
bool is_advisory_lock_function(const ScalarFunction& function);
/// redis.call()
std::vector<ScalarFunction> redis_functions();
bool is_redis_function(const ScalarFunction& function);
/// redquel.ttl.
std::vector<ScalarFunction> time_to_live_functions();
bool is_time_to_live(const ScalarFunction& function);
/// pg_cancel_backend and pg_terminate_backend. The answer of kSignal is 1 if there is such a session, else 0.
bool is_signal_function(const ScalarFunction& function);
/// nextval, setval, currval, lastval, pg_sequence_last_value, those for advisory locks, redis.call, redquel.ttl,
/// pg_cancel_backend, pg_terminate_backend, calls of functions in LANGUAGE sql (user_function_call.h).
bool is_sequence_function(const ScalarFunction& function);

}  // namespace redquel::sql
