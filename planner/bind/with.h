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
  /// Inside a definition: the queries of the clause from `later_from` on, which are not defined yet. Only WITH RECURSIVE could
  /// mean them, which is not built.
  const parser::ast::WithClause* later = nullptr;
  std::size_t later_from = 0;
  std::optional<BoundQuery> bound;    // until the first reference takes it
  std::size_t references = 0;
};

/// The WITH queries of one statement or query; lives while it is bound. All are bound at once, also those that nobody
/// uses: their errors count. Each reference gets a plan of its own (WITH queries are inlined).
class WithScope {
 public:
  /// 42712 for two of one name, 0A000 for data-modifying ones.
  WithScope(BindState&, QueryLevel* outer_level, WithItem* with, const std::optional<parser::ast::WithClause>&);
  WithItem* innermost() const { return innermost_; }

 private:
  std::deque<WithItem> items_;
  WithItem* innermost_;
};

/// nullptr: no such WITH query. 0A000 for WITH RECURSIVE.
WithItem* find_with(WithItem* innermost, std::string_view name, std::optional<std::uint32_t> offset);
/// Is a query of that name defined later?
bool is_future_with(const WithItem* innermost, std::string_view name);
/// The query's plan with new columns, named as the WITH clause says. 0A000 for the second use of a volatile query.
BoundQuery reference_with(BindState&, WithItem&, std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
