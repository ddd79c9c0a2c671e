#include "planner/bind/collation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "planner/bind/expression_binder.h"
#include "sql/error.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

using sql::Collation;
using sql::ExpressionPtr;
using sql::SqlError;
using CollationStrength = Collation::Strength;

namespace {

constexpr sql::Oid kDefaultCollation = 100;

struct NamedCollation {
  std::string_view name;
  sql::Oid oid;
};
constexpr std::array<NamedCollation, 4> kCollations = {NamedCollation{"default", kDefaultCollation}, NamedCollation{"C", 950}, NamedCollation{"POSIX", 951}, NamedCollation{"ucs_basic", 962}};

/// Returns the name of the collation's use for errors; empty: the function uses none.
std::string_view use_of_collation(std::string_view function) {
  constexpr std::array<std::string_view, 6> kComparisons = {"=", "<>", "<", "<=", ">", ">="};
  if (std::ranges::find(kComparisons, function) != kComparisons.end()) return "string comparison";
  if (function == "lower") return "lower() function";
  if (function == "upper") return "upper() function";
  if (function == "initcap") return "initcap() function";
  if (function == "~~*" || function == "!~~*") return "ILIKE";
  const bool matches = function == "~" || function == "!~" || function == "~*" || function == "!~*" || function.starts_with("regexp_");
  return matches ? "regular expression" : std::string_view();
}

/// Gathers what the parts of one expression say.
class CollationMerger {
 public:
  void add(const Collation& part, std::optional<std::uint32_t> offset) {
    if (part.strength == CollationStrength::kNone) return;
    if (part.strength == CollationStrength::kExplicit && merged_.strength == CollationStrength::kExplicit && part.oid != merged_.oid) {
      throw SqlError(sqlstate::kCollationMismatch, fmt::format("collation mismatch between explicit collations \"{}\" and \"{}\"",
                                                               collation_name(merged_.oid), collation_name(part.oid)))
          .at(offset);
    }
    const bool is_weaker = part.strength < merged_.strength;
    if (is_weaker) return;
    const bool both_implicit = part.strength == CollationStrength::kImplicit && merged_.strength == CollationStrength::kImplicit;
    if (!both_implicit || merged_.oid == kDefaultCollation) {
      merged_ = part;
    } else if (part.oid != merged_.oid && part.oid != kDefaultCollation) {
      merged_ = {CollationStrength::kConflict, merged_.oid, part.oid};
    }
  }

  const Collation& result() const { return merged_; }

 private:
  Collation merged_;
};

void check_collation_known(const Collation& collation, std::string_view use) {
  if (collation.strength != CollationStrength::kConflict || use.empty()) return;
  throw SqlError(sqlstate::kIndeterminateCollation, fmt::format("could not determine which collation to use for {}", use))
      .hint("Use the COLLATE clause to set the collation explicitly.");
}

bool same_collation(const Collation& a, const Collation& b) { return a.strength == b.strength && a.oid == b.oid; }

/// Returns the place of the part that gives the expression its collation, a COLLATE or a column; its own place if there is none.
std::optional<std::uint32_t> place_of_collation(const sql::Expression& expression) {
  if (expression.collation.strength == CollationStrength::kNone) return expression.offset;
  std::optional<std::uint32_t> place = expression.offset;
  bool found = false;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) {
    if (found || !same_collation(child->collation, expression.collation)) return;
    found = true;
    place = place_of_collation(*child);
  });
  return place;
}

bool keeps_parts_apart(const sql::FunctionCall& call) {
  return call.function == &sql::row_constructor() || call.function == &sql::named_row_constructor();
}

/// Calls `visit` with each part whose collation may be the whole's.
template <class Visit>
void for_each_collated_part(const sql::Expression& expression, const Visit& visit) {
  const auto* choice = std::get_if<sql::CaseCall>(&expression.node);
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  const bool is_boolean = std::holds_alternative<sql::Logical>(expression.node);
  sql::for_each_child(expression, [&](const ExpressionPtr& child) {
    const Collation part = derived_collation(*child);
    const bool is_condition =
        choice != nullptr && std::ranges::any_of(choice->branches, [&](const auto& branch) { return branch.condition == child; });
    if (is_condition || is_boolean || (call != nullptr && keeps_parts_apart(*call))) return;
    visit(*child, part);
  });
}

Collation merged_collation(const sql::Expression& expression) {
  CollationMerger merger;
  for_each_collated_part(expression, [&](const sql::Expression& part, const Collation& collation) {
    merger.add(collation, place_of_collation(part));
  });
  return merger.result();
}

/// Returns the place of the second of two collations that conflict.
std::optional<std::uint32_t> place_of_conflict(const sql::Expression& expression) {
  CollationMerger merger;
  std::optional<std::uint32_t> place = expression.offset;
  for_each_collated_part(expression, [&](const sql::Expression& part, const Collation& collation) {
    const bool known = merger.result().strength == CollationStrength::kConflict;
    merger.add(collation, part.offset);
    if (known || merger.result().strength != CollationStrength::kConflict) return;
    place = collation.strength == CollationStrength::kConflict ? place_of_conflict(part) : place_of_collation(part);
  });
  return place;
}

SqlError implicit_mismatch(const Collation& conflict) {
  return SqlError(sqlstate::kCollationMismatch, fmt::format("collation mismatch between implicit collations \"{}\" and \"{}\"",
                                                            collation_name(conflict.oid), collation_name(conflict.other)))
      .hint("You can choose the collation by applying the COLLATE clause to one or both expressions.");
}

std::string_view collation_use_in(const sql::Expression& expression) {
  if (const auto* call = std::get_if<sql::FunctionCall>(&expression.node)) return use_of_collation(call->function->name);
  const bool compares = std::holds_alternative<sql::DistinctTest>(expression.node) || std::holds_alternative<sql::NullIfCall>(expression.node) ||
                        std::holds_alternative<sql::InListTest>(expression.node) || std::holds_alternative<sql::GreatestLeast>(expression.node);
  if (compares) return use_of_collation("=");
  const auto* test = std::get_if<sql::ArrayTest>(&expression.node);
  return test == nullptr ? std::string_view() : use_of_collation(test->comparison->name);
}

/// Within the expression, so many levels down.
bool carries_collation(const sql::Expression& expression, int depth) {
  bool found = expression.collation.strength != CollationStrength::kNone;
  if (found || depth == 0) return found;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) { found = found || carries_collation(*child, depth - 1); });
  return found;
}

}  // namespace

sql::Oid find_collation(std::string_view name) {
  const auto found = std::ranges::find(kCollations, name, &NamedCollation::name);
  return found == kCollations.end() ? 0 : found->oid;
}

std::string collation_name(sql::Oid collation) {
  const auto found = std::ranges::find(kCollations, collation, &NamedCollation::oid);
  return std::string(found == kCollations.end() ? "default" : found->name);
}

ExpressionPtr with_collation(const ExpressionPtr& expression, Collation collation) {
  sql::Expression copy = *expression;
  copy.collation = collation;
  return std::make_shared<const sql::Expression>(std::move(copy));
}

ExpressionPtr with_derived_collation(ExpressionPtr expression) {
  // The result of one written expression is no deeper: BETWEEN is AND over comparisons over converted values.
  constexpr int kDepth = 3;
  if (!carries_collation(*expression, kDepth)) return expression;
  const Collation collation = derived_collation(*expression);
  return collation.strength == CollationStrength::kNone ? expression : with_collation(expression, collation);
}

Collation derived_collation(const sql::Expression& expression) {
  if (expression.collation.strength != CollationStrength::kNone) return expression.collation;
  const Collation of_parts = merged_collation(expression);
  check_collation_known(of_parts, collation_use_in(expression));
  if (!is_collatable(expression.type)) return {};
  if (of_parts.strength != CollationStrength::kNone) return of_parts;
  return {CollationStrength::kImplicit, kDefaultCollation};
}

Collation known_collation(const sql::Expression& expression) {
  if (expression.collation.strength != CollationStrength::kNone || !is_collatable(expression.type)) return expression.collation;
  return {CollationStrength::kImplicit, kDefaultCollation};
}

ExpressionPtr with_column_collation(const ExpressionPtr& column, Collation inner) {
  const bool is_own = inner.strength == CollationStrength::kImplicit || inner.strength == CollationStrength::kExplicit;
  return is_own && inner.oid != kDefaultCollation ? with_collation(column, {CollationStrength::kImplicit, inner.oid}) : column;
}

void check_key_collation(const sql::Expression& key) {
  if (key.collation.strength == CollationStrength::kConflict) throw implicit_mismatch(key.collation).at(place_of_conflict(key));
}

Collation united_collation(const sql::Expression& left, const sql::Expression& right, bool keeps_all) {
  CollationMerger merger;
  merger.add(known_collation(left), left.offset);
  merger.add(known_collation(right), right.offset);
  if (merger.result().strength == CollationStrength::kConflict && !keeps_all) throw implicit_mismatch(merger.result()).at(right.offset);
  return merger.result();
}

}  // namespace redquel::planner
