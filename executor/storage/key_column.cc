#include "executor/storage/key_column.h"

#include "executor/storage/stored_text.h"
#include "sql/error.h"
#include "sql/evaluation_context.h"
#include "sql/expressions/coerce.h"
#include "sql/expressions/evaluate.h"
#include "sql/expressions/expression.h"
#include "sql/sqlstate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

using sql::CastContext;
using sql::Datum;
using sql::SessionSettings;
using sql::Type;
using Form = sql::KeyComparison::Form;

namespace {

Type without_modifier(Type type) { return Type{type.oid}; }

Datum cast(const Datum& value, Type from, Type to, CastContext context, const SessionSettings& settings) {
  if (from == to) return value;
  sql::EvaluationContext evaluation;
  evaluation.settings = &settings;
  return sql::evaluate_scalar(*sql::coerce(sql::make_constant(from, value), to, context, settings), evaluation);
}

/// Returns the value of `to` that is equal to a value of `from` where both are compared as `from`; nullopt: there is
/// none.
std::optional<Datum> narrowed(const Datum& value, Type from, Type to, const SessionSettings& settings) {
  if (from == to) return value;
  try {
    Datum narrow = cast(value, from, to, CastContext::kExplicit, settings);
    const Datum wide = cast(narrow, to, from, CastContext::kImplicit, settings);
    if (sql::canonical_text(from, wide) != sql::canonical_text(from, value)) return std::nullopt;
    return narrow;
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
}

/// Like narrowed(), for types whose equal values have one canonical text.
std::optional<Datum> with_same_text(const Datum& value, Type from, Type to) {
  if (from == to) return value;
  try {
    const std::string text = sql::canonical_text(from, value);
    Datum same = parse_stored_text(to, text);
    if (sql::canonical_text(to, same) != text) return std::nullopt;
    return same;
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
}

}  // namespace

KeyColumn::KeyColumn(Type referring, Type referenced) : referring_(referring), referenced_(referenced) {
  const std::optional<sql::KeyComparison> comparison = sql::key_comparison(referenced.oid, referring.oid);
  if (!comparison) throw sql::SqlError(sqlstate::kDataCorrupted, "the columns of a foreign key cannot be compared");
  comparison_ = *comparison;
}

std::optional<Datum> KeyColumn::as_referenced(const Datum& value, const SessionSettings& settings) const {
  const Type from = without_modifier(referring_), to = without_modifier(referenced_), compared{comparison_.type};
  if (comparison_.form == Form::kSameText) return with_same_text(value, from, to);
  if (comparison_.form == Form::kAsReferring) return narrowed(value, from, to, settings);
  return narrowed(cast(value, from, compared, CastContext::kImplicit, settings), compared, to, settings);
}

std::optional<Datum> KeyColumn::as_referring(const Datum& value, const SessionSettings& settings) const {
  const Type from = without_modifier(referenced_), to = without_modifier(referring_);
  if (comparison_.form == Form::kSameText) return with_same_text(value, from, to);
  if (comparison_.form == Form::kAsReferring) return cast(value, from, to, CastContext::kImplicit, settings);
  return narrowed(value, from, to, settings);
}

Datum KeyColumn::referring_as_compared(const Datum& value, const SessionSettings& settings) const {
  return cast(value, without_modifier(referring_), Type{comparison_.type}, CastContext::kImplicit, settings);
}

Datum KeyColumn::referenced_as_compared(const Datum& value, const SessionSettings& settings) const {
  return cast(value, without_modifier(referenced_), Type{comparison_.type}, CastContext::kImplicit, settings);
}

Datum KeyColumn::assigned(const Datum& value, const SessionSettings& settings) const {
  return cast(value, referenced_, referring_, CastContext::kAssignment, settings);
}

}  // namespace redquel::executor
