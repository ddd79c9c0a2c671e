#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

struct SortOrder {
  bool descending = false, nulls_first = false;
};
/// Direction and place of NULLs with PostgreSQL's defaults. `type` is the key's: 42883 for USING with an operator that it has not, 42809 with
/// one that does not order.
SortOrder sort_order(const parser::ast::SortKey&, sql::Type type);

/// A value of the select list, or one that only ORDER BY needs (junk).
struct Target {
  std::string name;
  sql::ExpressionPtr value;
  bool junk = false;
  const parser::ast::Expression* written = nullptr;  // null: an item of *
};

/// The select list, and what ORDER BY, GROUP BY and DISTINCT ON mean in it: an ordinal, an output name, or an
/// expression.
class TargetList {
 public:
  TargetList(BindState& state, QueryLevel& level, std::vector<Target> targets)
      : state_(state), level_(level), targets_(std::move(targets)) {}

  /// Position of the target that the item means; an expression that is not in the list is added as junk. Untyped
  /// literals become text. 42P10 "ORDER BY position 3 is not in select list", 42702, 42601.
  std::size_t find_or_add(const parser::ast::Expression& item, Clause clause);
  std::vector<Target>& items() { return targets_; }
  const std::vector<Target>& items() const { return targets_; }
  std::size_t visible() const;
  /// Returns the written targets that have subqueries, by their text.
  std::vector<std::pair<std::string, sql::ExpressionPtr>> with_subqueries() const;

 private:
  std::size_t settle(std::size_t index, Clause clause);
  /// The target that has subqueries and is written as the item is: bound again, they would be others. nullopt: none.
  std::optional<std::size_t> find_with_subqueries(const parser::ast::Expression& item) const;
  /// 42803, 42P20: a target that GROUP BY names by its place or name.
  void check_groupable(const sql::Expression& value) const;

  BindState& state_;
  QueryLevel& level_;
  std::vector<Target> targets_;
};

/// The clauses after the rows: ORDER BY, DISTINCT, LIMIT, in terms of the target list.
struct QueryTail {
  struct Key {
    std::size_t target;
    SortOrder order;
  };
  std::vector<Key> order_by;
  bool has_order_by = false;  // it was written; keys of DISTINCT ON are in `order_by`, too
  bool distinct = false;
  std::vector<std::size_t> distinct_on;  // positions of targets
  sql::ExpressionPtr limit, offset;
  bool with_ties = false;
};

void bind_order_by(BindState&, TargetList&, QueryTail&, const parser::ast::Select&);
/// After ORDER BY. 42P10 where ORDER BY and DISTINCT do not go together.
void bind_distinct(BindState&, TargetList&, QueryTail&, const parser::ast::Select&);
void bind_limit(BindState&, QueryLevel&, QueryTail&, const parser::ast::Select&);

/// `input` sorted, made distinct, cut off and projected to the visible targets.
LogicalPtr place_tail(BindState&, const QueryLevel&, LogicalPtr input, const TargetList&, const QueryTail&);

}  // namespace redquel::planner
