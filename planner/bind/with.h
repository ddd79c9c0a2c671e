#pragma once

#include <deque>
#include <optional>
#include <string>

#include "planner/bind/query_binder.h"

namespace redquel::planner {

/// A WITH query as names see it: a list from the innermost outwards.
struct WithItem {
  WithItem* outer = nullptr;  // visible inside its definition
  std::string name;
  const parser::ast::CommonTableExpression* definition = nullptr;
  std::uint32_t number = 0;            // of its LogicalShare
  LogicalPtr plan;                     // null while it is being bound
  std::vector<LogicalColumn> columns;  // named as the WITH clause says; of a recursive query known from its first term on
  std::vector<sql::Collation> collations;  // of a plain query's columns
  bool recursive = false;
  bool writes = false;
  /// The number of the previous round's rows, while the recursive term is bound.
  std::optional<std::uint32_t> working_number;
  /// Inside a definition of a clause without RECURSIVE: the queries from `later_from` on, which are not defined yet.
  const parser::ast::WithClause* later = nullptr;
  std::size_t later_from = 0;
};

/// The WITH queries of one statement or query; lives while it is bound. All are bound at once, including unused ones: their errors count.
class WithScope {
 public:
  /// 42712 for two of one name, 0A000 for data-modifying ones below the statement's own clause; 42P19 where a recursion is not one that SQL allows.
  WithScope(BindState&, QueryLevel* outer_level, WithItem* with, const std::optional<parser::ast::WithClause>&);
  WithItem* innermost() const { return innermost_; }
  /// The plan of what may use the queries, with a LogicalShare above it for each that is used; a query that is used once stands in its
  /// place (unless MATERIALIZED, recursive or volatile). One that writes has its share in any case.
  LogicalPtr place(LogicalPtr plan) const;

 private:
  void add(const parser::ast::CommonTableExpression&, bool recursive);

  BindState& state_;
  QueryLevel* outer_level_;
  std::deque<WithItem> items_;  // in the order in which they are bound
  WithItem* innermost_;
  bool may_write_ = false;
};

/// nullptr: no such WITH query.
WithItem* find_with(WithItem* innermost, std::string_view name);
/// Returns true if a query of that name is defined later.
bool is_future_with(const WithItem* innermost, std::string_view name);
/// A scan of the query's rows with new columns. 0A000 for one that writes without RETURNING.
LogicalPtr reference_with(BindState&, const WithItem&, std::uint32_t offset);

}  // namespace redquel::planner
