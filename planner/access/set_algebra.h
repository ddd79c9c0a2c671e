#pragma once

#include <optional>

#include "planner/access/index_condition.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

/// Turns conditions into algebra over equality sets, with SQL's three-valued logic in mind: `b <> 2` is true neither for the
/// rows of set b:2 nor for those of the NULL set.
class SetAlgebra {
 public:
  explicit SetAlgebra(const sql::TableDef& table) : SetAlgebra(table, sql::structures_of(table)) {}
  /// Over these structures.
  SetAlgebra(const sql::TableDef& table, std::vector<sql::Structure> structures) : table_(table), structures_(std::move(structures)) {}

  /// Sets that hold at least the rows for which the condition is true; the rows are checked again.
  std::optional<SetExpression> superset(const Condition& condition) const { return true_rows(condition, Precision::kSuperset); }
  /// Exactly those rows; a superset where a set that is taken away has a NULL value (`b <> $1`).
  std::optional<SetExpression> exact(const Condition& condition) const { return true_rows(condition, Precision::kExact); }
  /// Exactly the rows for which the condition is false or NULL, where sets can say it (`b <> 2`, `b IS NOT NULL`); a part of them where
  /// a value is NULL.
  std::optional<SetExpression> exact_complement(const Condition& condition) const { return untrue_rows(condition, Precision::kExact); }

  bool has(sql::Structure::Kind kind, std::int16_t column) const;

  /// Returns true if members of one of the sets leave out parts of the key (sql::omitted_parts): Redis cannot combine it with other sets.
  static bool has_short_members(const sql::TableDef& table, const SetExpression& sets);

  /// Returns true if the algebra is better than a walk along one index. Returns false if it only consists of ranges that all must hold.
  static bool is_worthwhile(const SetExpression&);

 private:
  enum class Precision : std::uint8_t { kSuperset, kExact, kExactWithNulls };  // the last: also where a value is NULL

  std::optional<SetExpression> true_rows(const Condition&, Precision) const;
  std::optional<SetExpression> untrue_rows(const Condition&, Precision) const;
  std::optional<SetExpression> intersection(const std::vector<Condition>&, Precision) const;
  /// The members of an ordered index that bounds of its column leave; marks these in `used`. The bounds are those of `first` on.
  std::optional<SetExpression> range(const std::vector<Condition>&, std::size_t first, bool exact, std::vector<bool>& used) const;
  /// Equalities of an AND that one set answers, composite structures first; marks them in `used`.
  std::vector<SetExpression> equality_sets(const std::vector<Condition>&, std::vector<bool>& used) const;
  std::optional<SetExpression> null_set(std::int16_t column) const;
  bool nullable(std::int16_t column) const;

  const sql::TableDef& table_;
  std::vector<sql::Structure> structures_;
};

}  // namespace redquel::planner
