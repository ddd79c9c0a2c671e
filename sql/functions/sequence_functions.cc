// Sequence manipulation functions (manual 9.17).

#include <algorithm>
#include <array>
#include <utility>

#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/functions/certain_call.h"
#include "sql/functions/deferred_calls.h"
#include "sql/functions/identity_value.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/name_errors.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

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

std::int64_t current_value(Oid oid, const SessionSequences& session, const EvaluationContext& context) {
  const SequenceDef& sequence = sequence_of(oid, context);
  check_readable(sequence, context);
  const auto found = session.values.find(oid);
  if (found != session.values.end()) return found->second;
  throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "currval of sequence \"" + sequence.name + "\" is not yet defined in this session");
}

std::int64_t latest_value(const SessionSequences& session, const EvaluationContext& context) {
  if (session.latest == 0 || !catalog_of(context).sequences.contains(session.latest)) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "lastval is not yet defined in this session");
  }
  check_readable(catalog_of(context).sequences.at(session.latest), context);
  return session.values.at(session.latest);
}

void append_integer(Column& column, std::int64_t value) { column.append(value); }

/// The oid in the first argument. 42809 if it is no sequence's.
Oid sequence_at(std::span<const ColumnPtr> arguments, std::size_t row, const EvaluationContext& context) {
  const auto sequence = static_cast<Oid>(arguments[0]->get<std::int32_t>(row));
  sequence_of(sequence, context);
  return sequence;
}

template <bool is_identity>
ColumnPtr next_value(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const AskedRows asked(arguments, rows);
  NextValues call{{}, is_identity};
  asked.for_each([&](std::size_t row) { call.sequences.push_back(sequence_at(arguments, row, context)); });
  return asked.column(result, asked.ask(std::move(call)), append_integer);
}

ColumnPtr set_value(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const AskedRows asked(arguments, rows);
  SetValues call;
  asked.for_each([&](std::size_t row) {
    const bool is_called = arguments.size() < 3 || arguments[2]->get<bool>(row);
    call.rows.push_back({sequence_at(arguments, row, context), arguments[1]->get<std::int64_t>(row), is_called});
  });
  return asked.column(result, asked.ask(std::move(call)), append_integer);
}

ColumnPtr sequence_last_value(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const AskedRows asked(arguments, rows);
  LastValues call;
  asked.for_each([&](std::size_t row) { call.sequences.push_back(sequence_at(arguments, row, context)); });
  return asked.column(result, asked.ask(std::move(call)), [](Column& column, const std::optional<std::int64_t>& value) {
    if (value) {
      column.append(*value);
    } else {
      column.append_null();
    }
  });
}

/// currval() and lastval(): values that the session was given. They are those of the first evaluation of the rows.
template <bool is_latest>
ColumnPtr session_value(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  using Values = std::vector<std::int64_t>;
  const AskedRows asked(arguments, rows);
  Values values;
  if (!asked.empty()) {
    DeferredCalls* const calls = current_deferred_calls();
    if (calls == nullptr) throw not_supported(std::string(NextValues::kName) + " in this place");
    values = calls->remember<Values>([&] {
      Values known;
      asked.for_each([&](std::size_t row) {
        known.push_back(is_latest ? latest_value(calls->session(), context)
                                  : current_value(sequence_at(arguments, row, context), calls->session(), context));
      });
      return known;
    });
  }
  return asked.column(result, values, append_integer);
}

/// Returns the nextval() of a constant that the expression is, perhaps cast; null: it is another one.
const FunctionCall* next_value_of_constant(const Expression& expression) {
  if (const auto* cast = std::get_if<CastCall>(&expression.node)) return next_value_of_constant(*cast->operand);
  const auto* call = std::get_if<FunctionCall>(&expression.node);
  if (call == nullptr || (call->function->kernel != next_value<false> && call->function->kernel != next_value<true>)) return nullptr;
  const auto* constant = std::get_if<Constant>(&call->arguments[0]->node);
  return constant != nullptr && !is_null(constant->value) ? call : nullptr;
}

bool cannot_fail(const Expression& expression) {
  return std::holds_alternative<Constant>(expression.node) || std::holds_alternative<ParameterRef>(expression.node) ||
         std::holds_alternative<ColumnRef>(expression.node);
}

}  // namespace

std::optional<NextValues> certain_next_values(std::span<const ExpressionPtr> expressions, std::size_t rows, const EvaluationContext& context) {
  const FunctionCall* certain = nullptr;
  for (const ExpressionPtr& expression : expressions) {
    if (!expression || cannot_fail(*expression)) continue;
    const FunctionCall* const call = next_value_of_constant(*expression);
    if (call == nullptr || certain != nullptr) return std::nullopt;
    certain = call;
  }
  if (certain == nullptr || rows == 0) return std::nullopt;
  const Oid sequence = static_cast<Oid>(std::get<std::int32_t>(std::get<Constant>(certain->arguments[0]->node).value));
  sequence_of(sequence, context);
  return NextValues{std::vector<Oid>(rows, sequence), certain->function->kernel == next_value<true>};
}

bool is_sequence_function(const ScalarFunction& function) {
  static constexpr std::array<Kernel, 6> kKernels{next_value<false>,    next_value<true>,    set_value,
                                                  session_value<false>, session_value<true>, sequence_last_value};
  return std::find(kKernels.begin(), kKernels.end(), function.kernel) != kKernels.end();
}

const ScalarFunction& identity_value() {
  static const ScalarFunction function =
      column_function("nextval", {Type{oid::kRegclass}}, kInt8, next_value<true>, Volatility::kVolatile, true, false);
  return function;
}

std::vector<ScalarFunction> sequence_functions() {
  constexpr auto kVolatile = Volatility::kVolatile;
  const Type regclass{oid::kRegclass};
  return {
      column_function("nextval", {regclass}, kInt8, next_value<false>, kVolatile, true, false),
      column_function("currval", {regclass}, kInt8, session_value<false>, kVolatile, true, false),
      column_function("lastval", {}, kInt8, session_value<true>, kVolatile, true, false),
      column_function("setval", {regclass, kInt8}, kInt8, set_value, kVolatile, true, false),
      column_function("setval", {regclass, kInt8, kBool}, kInt8, set_value, kVolatile, true, false),
      column_function("pg_sequence_last_value", {regclass}, kInt8, sequence_last_value, kVolatile, true, false),
  };
}

}  // namespace redquel::sql
