// Sequence manipulation functions (manual 9.17).

#include <algorithm>
#include <array>
#include <utility>

#include "sql/computation_pause.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/functions/identity_value.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/sequence_calls.h"
#include "sql/functions/user_function_call.h"
#include "sql/name_errors.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using Kind = SequenceCall::Kind;

/// In `value` of rows that nextval() asks for, which has no other use there.
constexpr std::int64_t kIdentityMark = 1;

thread_local SequenceCalls* current_calls = nullptr;

/// 42809 for another relation.
const SequenceDef& sequence_of(Oid oid, const EvaluationContext& context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  if (const auto found = catalog.sequences.find(oid); found != catalog.sequences.end()) return found->second;
  const std::string name = relation_name(oid, context);
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0) {
    throw wrong_object_kind(split_name(name).back(), "a sequence");
  }
  throw SqlError(sqlstate::kInternalError, "could not open relation with OID " + std::to_string(oid));
}

/// currval() and lastval(): 42501 unless the role has USAGE or SELECT.
void check_readable(const SequenceDef& sequence, const EvaluationContext& context) {
  const RoleSet& roles = *known_roles();
  const RoleDef* role = roles.find(context.user);
  const Rights held = held_rights(acl_of(catalog_of(context), sequence), role == nullptr ? kPublic : role->oid, roles, context.database);
  if ((held & (right::kUsage | right::kSelect)) != 0) return;
  throw permission_denied("sequence", sequence.name);
}

SequenceCalls::Answer session_values(const SequenceCall& call, const SessionSequences& session,
                                     const EvaluationContext& context) {
  SequenceCalls::Answer values;
  for (const SequenceCall::Row& row : call.rows) {
    if (call.kind == Kind::kLastval) {
      if (session.latest == 0 || !catalog_of(context).sequences.contains(session.latest)) {
        throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "lastval is not yet defined in this session");
      }
      check_readable(catalog_of(context).sequences.at(session.latest), context);
      values.emplace_back(session.values.at(session.latest));
      continue;
    }
    const SequenceDef& sequence = sequence_of(row.sequence, context);
    check_readable(sequence, context);
    const auto found = session.values.find(row.sequence);
    if (found == session.values.end()) {
      throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "currval of sequence \"" + sequence.name + "\" is not yet defined in this session");
    }
    values.emplace_back(found->second);
  }
  return values;
}

/// Asks for the rows without NULL arguments; the other rows are NULL.
template <Kind kind, std::int64_t mark = 0>
ColumnPtr call_sequence(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  SequenceCall call{.kind = kind, .rows = {}};
  std::vector<bool> asked(rows, true);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const ColumnPtr& argument : arguments) asked[i] = asked[i] && !argument->is_null(i);
    if (!asked[i]) continue;
    SequenceCall::Row row{.value = mark};
    if (!arguments.empty()) {
      row.sequence = static_cast<Oid>(arguments[0]->get<std::int32_t>(i));
      sequence_of(row.sequence, context);
    }
    if (arguments.size() > 1) row.value = arguments[1]->get<std::int64_t>(i);
    if (arguments.size() > 2) row.is_called = arguments[2]->get<bool>(i);
    call.rows.push_back(row);
  }
  SequenceCalls::Answer answer;
  if (!call.rows.empty()) answer = ask_evaluator(std::move(call), context);
  auto column = std::make_shared<Column>(result);
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (asked[i] && next < answer.size() && answer[next]) {
      column->append(*answer[next++]);
    } else {
      if (asked[i]) ++next;
      column->append_null();
    }
  }
  return column;
}

}  // namespace

SequenceCalls::Answer ask_evaluator(SequenceCall call, const EvaluationContext& context) {
  if (current_calls == nullptr) {
    if (call.kind == Kind::kTimeToLive) throw not_supported("redquel.ttl in this place");
    if (call.kind == Kind::kSignal) throw not_supported("a signal to a session of another process in this place");
    throw not_supported(call.kind == Kind::kAdvisory ? "an advisory lock function in this place" : "a sequence function in this place");
  }
  return current_calls->ask(std::move(call), context);
}

SequenceCalls::Documents ask_evaluator_for_documents(SequenceCall call) {
  if (current_calls == nullptr) throw not_supported("redis.call() in this place");
  return current_calls->ask_documents(std::move(call));
}

SequenceCalls::Values ask_evaluator_for_values(SequenceCall call) {
  if (current_calls == nullptr) throw not_supported("a function in LANGUAGE sql of several statements, or that calls itself, in this place");
  return current_calls->ask_values(std::move(call));
}

SequenceCalls* exchange_sequence_calls(SequenceCalls* calls) { return std::exchange(current_calls, calls); }

SequenceCalls::Evaluation::Evaluation(SequenceCalls& calls) : outer_(std::exchange(current_calls, &calls)) {
  calls.next_ = calls.next_document_ = calls.next_values_ = 0;
}
SequenceCalls::Evaluation::~Evaluation() { current_calls = outer_; }

SequenceCalls::Answer SequenceCalls::ask(SequenceCall call, const EvaluationContext& context) {
  if (next_ < answers_.size()) return answers_[next_++];
  if (call.kind == Kind::kCurrval || call.kind == Kind::kLastval) {
    Answer values = session_values(call, session_, context);
    // A later call of the same row may change it, and the row is evaluated again then.
    answers_.push_back(values);
    ++next_;
    return values;
  }
  pending_ = std::move(call);
  throw SequenceCallPending{};
}

SequenceCalls::Documents SequenceCalls::ask_documents(SequenceCall call) {
  if (next_document_ < documents_.size()) return documents_[next_document_++];
  pending_ = std::move(call);
  throw SequenceCallPending{};
}

SequenceCalls::Values SequenceCalls::ask_values(SequenceCall call) {
  if (next_values_ < values_.size()) return values_[next_values_++];
  pending_ = std::move(call);
  throw SequenceCallPending{};
}

bool is_sequence_function(const ScalarFunction& function) {
  static constexpr std::array<Kernel, 6> kKernels{call_sequence<Kind::kNextval>, call_sequence<Kind::kNextval, kIdentityMark>,
                                                  call_sequence<Kind::kSetval>,
                                                  call_sequence<Kind::kCurrval>, call_sequence<Kind::kLastval>,
                                                  call_sequence<Kind::kLastValue>};
  return std::find(kKernels.begin(), kKernels.end(), function.kernel) != kKernels.end() || is_advisory_lock_function(function) ||
         is_redis_function(function) || is_time_to_live(function) || is_signal_function(function) || &function == &user_function_call();
}

const ScalarFunction& identity_value() {
  static const ScalarFunction function = column_function("nextval", {Type{oid::kRegclass}}, kInt8, call_sequence<Kind::kNextval, kIdentityMark>,
                                                         Volatility::kVolatile, true, false);
  return function;
}

bool is_identity_value(const SequenceCall::Row& row) { return row.value == kIdentityMark; }

std::vector<ScalarFunction> sequence_functions() {
  constexpr auto kVolatile = Volatility::kVolatile;
  const Type regclass{oid::kRegclass};
  return {
      column_function("nextval", {regclass}, kInt8, call_sequence<Kind::kNextval>, kVolatile, true, false),
      column_function("currval", {regclass}, kInt8, call_sequence<Kind::kCurrval>, kVolatile, true, false),
      column_function("lastval", {}, kInt8, call_sequence<Kind::kLastval>, kVolatile, true, false),
      column_function("setval", {regclass, kInt8}, kInt8, call_sequence<Kind::kSetval>, kVolatile, true, false),
      column_function("setval", {regclass, kInt8, kBool}, kInt8, call_sequence<Kind::kSetval>, kVolatile, true, false),
      column_function("pg_sequence_last_value", {regclass}, kInt8, call_sequence<Kind::kLastValue>, kVolatile, true, false),
  };
}

}  // namespace redquel::sql
