#include "planner/bind/grouping_sets.h"

#include <algorithm>

#include "planner/bind/collation.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

using Set = std::vector<std::size_t>;
using Sets = std::vector<Set>;

constexpr std::size_t kMostSets = 4096;
constexpr std::size_t kMostCubeElements = 12;

/// `first` and what `second` has besides.
Set united(Set first, const Set& second) {
  for (const std::size_t key : second) {
    if (std::ranges::find(first, key) == first.end()) first.push_back(key);
  }
  return first;
}

class SetBinder {
 public:
  SetBinder(BindState& state, TargetList& targets, bool has_sets) : state_(state), targets_(targets), has_sets_(has_sets) {}

  std::vector<ExpressionPtr> keys;
  std::vector<std::size_t> key_targets;

  /// Returns the grouping sets of one element of GROUP BY, or of GROUPING SETS.
  Sets sets_of(const ast::GroupElement& element) {
    if (const auto* written = std::get_if<ast::ExpressionPtr>(&element)) return {keys_of(**written)};
    const ast::GroupingSet& set = *std::get<std::unique_ptr<const ast::GroupingSet>>(element);
    switch (set.kind) {
      case ast::GroupingSetKind::kEmpty:
        return {Set{}};
      case ast::GroupingSetKind::kRollup:
        return rollup(parts_of(set));
      case ast::GroupingSetKind::kCube:
        if (set.elements.size() > kMostCubeElements) {
          throw SqlError(sqlstate::kTooManyColumns, "CUBE is limited to 12 elements").at(state_.position(set.offset));
        }
        return cube(parts_of(set));
      case ast::GroupingSetKind::kSets:
        break;
    }
    Sets all;
    for (const ast::GroupElement& inner : set.elements) {
      for (Set& each : sets_of(inner)) all.push_back(std::move(each));
    }
    return all;
  }

 private:
  std::size_t key_of(const ast::Expression& item) {
    const std::size_t target = targets_.find_or_add(item, Clause::kGroupBy);
    const ExpressionPtr key = targets_.items()[target].value;
    sql::equality_operator(key->type, key->offset);
    check_key_collation(*key);
    // Equal targets are different keys of grouping sets: one may be left out of a set that has the other.
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (has_sets_ ? key_targets[i] == target : sql::equal(*keys[i], *key)) return i;
    }
    keys.push_back(key);
    key_targets.push_back(target);
    return keys.size() - 1;
  }

  /// GROUP BY (a, b) is GROUP BY a, b.
  Set keys_of(const ast::Expression& item) {
    const auto* row = std::get_if<ast::Row>(&item.node);
    if (row == nullptr || row->explicit_row) return {key_of(item)};
    Set set;
    for (const ast::ExpressionPtr& part : row->items) set = united(std::move(set), keys_of(*part));
    return set;
  }

  Sets parts_of(const ast::GroupingSet& set) {
    Sets parts;
    for (const ast::GroupElement& element : set.elements) parts.push_back(keys_of(*std::get<ast::ExpressionPtr>(element)));
    return parts;
  }

  static Sets rollup(const Sets& parts) {
    Sets sets;
    for (std::size_t count = parts.size() + 1; count-- > 0;) {
      sets.emplace_back();
      for (std::size_t i = 0; i < count; ++i) sets.back() = united(std::move(sets.back()), parts[i]);
    }
    return sets;
  }

  static Sets cube(const Sets& parts) {
    Sets sets;
    for (std::size_t left_out = 0; left_out < (std::size_t{1} << parts.size()); ++left_out) {
      sets.emplace_back();
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if ((left_out >> i & 1) == 0) sets.back() = united(std::move(sets.back()), parts[i]);
      }
    }
    return sets;
  }

  BindState& state_;
  TargetList& targets_;
  bool has_sets_;
};

}  // namespace

namespace {

/// One set with all keys groups as GROUP BY without sets does: equal keys count once.
void drop_equal_keys(GroupingClause& clause) {
  GroupingClause single{.sets = {Set{}}};
  for (std::size_t i = 0; i < clause.keys.size(); ++i) {
    const auto is_equal = [&](const ExpressionPtr& other) { return sql::equal(*other, *clause.keys[i]); };
    if (std::ranges::any_of(single.keys, is_equal)) continue;
    single.sets[0].push_back(single.keys.size());
    single.keys.push_back(clause.keys[i]);
    single.targets.push_back(clause.targets[i]);
  }
  clause = std::move(single);
}

}  // namespace

GroupingClause bind_group_by(BindState& state, TargetList& targets, const ast::Select& select) {
  const bool has_sets = std::ranges::any_of(select.group_by, [](const ast::GroupElement& element) {
    return std::holds_alternative<std::unique_ptr<const ast::GroupingSet>>(element);
  });
  SetBinder binder(state, targets, has_sets);
  GroupingClause clause{.sets = {Set{}}};
  for (const ast::GroupElement& element : select.group_by) {
    const Sets choices = binder.sets_of(element);
    if (clause.sets.size() * choices.size() > kMostSets) {
      throw SqlError(sqlstate::kStatementTooComplex, "too many grouping sets present (maximum 4096)");
    }
    Sets products;
    for (const Set& set : clause.sets) {
      for (const Set& choice : choices) products.push_back(united(set, choice));
    }
    clause.sets = std::move(products);
  }
  for (Set& set : clause.sets) std::ranges::sort(set);
  if (select.group_distinct) {
    Sets distinct;
    for (const Set& set : clause.sets) {
      if (std::ranges::find(distinct, set) == distinct.end()) distinct.push_back(set);
    }
    clause.sets = std::move(distinct);
  }
  clause.keys = std::move(binder.keys);
  clause.targets = std::move(binder.key_targets);
  if (!clause.has_sets()) drop_equal_keys(clause);
  return clause;
}

}  // namespace redquel::planner
