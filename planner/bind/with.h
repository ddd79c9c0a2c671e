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
  QueryLevel* outer_level = nullptr;  // whose columns its definition may use
  bool recursive = false;             // stands for a query that is not defined yet: not built
  std::optional<BoundQuery> bound;    // until the first reference takes it
  bool is_volatile = false;
  std::size_t references = 0;
};

/// The WITH queries of one statement or query; lives while it is bound. All are bound at once, also those that nobody uses:
/// their errors count. Each reference gets a plan of its own (WITH queries are inlined).
class WithScope {
 public:
  /// 42712 for two of one name, 0A000 for data-modifying ones.
  WithScope(BindState&, QueryLevel* outer_level, WithItem* with, const std::optional<parser::ast::WithClause>&);
  WithItem* innermost() const { return innermost_; }

 private:
  std::deque<WithItem> items_;
  WithItem* innermost_;
};

/// nullptr: no such WITH query.
WithItem* find_with(WithItem* innermost, std::string_view name);
/// The query's plan with new columns, named as the WITH clause says. 0A000 for the second use of a volatile query.
BoundQuery reference_with(BindState&, WithItem&, std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
