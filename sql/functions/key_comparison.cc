#include "sql/functions/key_comparison.h"

#include <algorithm>
#include <vector>

#include "sql/functions/polymorphic.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

namespace {

constexpr Oid kBtreeMethod = 403;
constexpr std::string_view kEqualStrategy = "3";

/// An operator class: its family, and the type whose values its operators take.
struct KeyClass {
  Oid oid = 0, family = 0, input = 0;
};

const std::vector<KeyClass>& classes() {
  static const std::vector<KeyClass> all = [] {
    const FactTable& facts = operator_class_facts();
    const std::size_t oid = facts.column("oid"), family = facts.column("opcfamily"), input = facts.column("opcintype");
    std::vector<KeyClass> made;
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      made.push_back({fact_oid(row[oid]), fact_oid(row[family]), fact_oid(row[input])});
    }
    return made;
  }();
  return all;
}

/// Zeros: the type has no order.
KeyClass class_of(Oid type) {
  const Oid oid = operator_class_of(kBtreeMethod, type);
  const auto found = std::ranges::find(classes(), oid, &KeyClass::oid);
  return oid == 0 || found == classes().end() ? KeyClass{} : *found;
}

struct Equality {
  Oid family, left, right, oid;
};

const std::vector<Equality>& equalities() {
  static const std::vector<Equality> all = [] {
    const FactTable& facts = family_operator_facts();
    const std::size_t family = facts.column("amopfamily"), left = facts.column("amoplefttype"),
                      right = facts.column("amoprighttype");
    const std::size_t strategy = facts.column("amopstrategy"), method = facts.column("amopmethod"),
                      oid = facts.column("amopopr");
    std::vector<Equality> made;
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      if (fact_oid(row[method]) != kBtreeMethod || row[strategy] != kEqualStrategy) continue;
      made.push_back({fact_oid(row[family]), fact_oid(row[left]), fact_oid(row[right]), fact_oid(row[oid])});
    }
    return made;
  }();
  return all;
}

/// 0: the family has no operator = for these types.
Oid equality(Oid family, Oid left, Oid right) {
  const auto found = std::ranges::find_if(equalities(), [&](const Equality& entry) {
    return entry.family == family && entry.left == left && entry.right == right;
  });
  return found == equalities().end() ? 0 : found->oid;
}

bool is_text(Oid type) { return type == oid::kText || type == oid::kVarchar || type == oid::kName; }

/// Values of both types have one canonical text where they are equal.
bool have_same_texts(Oid referenced, Oid referring) {
  if (referenced == referring || (is_integer_type(referenced) && is_integer_type(referring))) return true;
  if (is_text(referenced)) return is_text(referring) || (referring == oid::kBpchar && referenced != oid::kName);
  return referenced == oid::kNumeric && is_integer_type(referring);
}

bool reads_session(Oid from, Oid to) {
  const std::optional<CastPath> path = find_cast_path(from, to, CastContext::kImplicit);
  return path && path->function != nullptr && path->function->volatility != Volatility::kImmutable;
}

}  // namespace

std::optional<KeyComparison> key_comparison(Oid referenced, Oid referring) {
  const KeyClass key_class = class_of(referenced);
  const Oid family = key_class.family, input = key_class.input;
  KeyComparison comparison{.type = input, .referenced = equality(family, input, input)};
  if (comparison.referenced == 0 && referenced != referring) return std::nullopt;
  const auto reaches = [](Oid from, Oid to) { return find_cast_path(from, to, CastContext::kImplicit).has_value(); };
  comparison.across = equality(family, input, referring);
  comparison.referring = equality(family, referring, referring);
  if (comparison.across == 0 || comparison.referring == 0) {
    // A polymorphic class takes values of one type.
    const bool is_one_type = input == 0 || is_polymorphic(input) || input == oid::kRecord;
    if (is_one_type ? referenced != referring : !reaches(referring, input)) return std::nullopt;
    comparison.across = comparison.referring = comparison.referenced;
    comparison.form = KeyComparison::Form::kAsReferenced;
  } else if (reaches(input, referring)) {
    comparison.form = KeyComparison::Form::kAsReferring;
    comparison.type = referring;
  } else {
    comparison.form = KeyComparison::Form::kAsReferenced;
  }
  if (have_same_texts(referenced, referring)) comparison.form = KeyComparison::Form::kSameText;
  comparison.depends_on_session =
      comparison.form == KeyComparison::Form::kAsReferenced
          ? reads_session(referring, input)
          : comparison.form == KeyComparison::Form::kAsReferring && reads_session(input, referring);
  return comparison;
}

}  // namespace redquel::sql
