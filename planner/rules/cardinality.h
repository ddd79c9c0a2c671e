#pragma once

#include <map>
#include <optional>
#include <vector>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// Guesses how many rows parts of a query give, from the sizes of its tables, their keys and the forms of the conditions. Values are
/// taken to be spread evenly, conditions to be independent.
class Cardinality {
 public:
  /// The share of rows that a comparison finds by entries of values.
  static constexpr double kEntriesShare = 0.01;

  Cardinality() = default;
  explicit Cardinality(const Logical& query) { add(query); }
  /// Another part of the query.
  void add(const Logical& part);
  /// A column of a table of this size; number 0 is the hidden row key.
  void add_column(ColumnId column, const sql::TableDef& table, std::int16_t number, const TableSize& size);
  /// Further conditions of inner joins over the query's columns: columns that are equal have equally many values.
  void add_conditions(const std::vector<sql::ExpressionPtr>& conditions);

  /// There are tables, and all of them have been counted.
  bool is_known() const { return counted_tables_ > 0 && uncounted_tables_ == 0; }
  /// At least one.
  double rows(const Logical& part) const;
  /// The share of rows for which a condition is true.
  double selectivity(const sql::Expression& condition) const;
  /// The share of pairs of rows for which all of a join's conditions are. Several equalities of one join are seldom independent: each
  /// further one counts less.
  double pair_selectivity(const std::vector<sql::ExpressionPtr>& conditions) const;

 private:
  /// Columns that are equal to each other.
  struct Values {
    double named = 1;                // how many different ones they have, if a query names one
    double joined = 1;               // the same, if they are joined with others: those of an index are likely to be many then
    std::optional<double> at_most;   // one of the columns is unique, and its table has so many rows
  };

  void add(const Logical& node, const LogicalScan& scan);
  ColumnId representative(ColumnId column) const;
  void make_equal(ColumnId one, ColumnId other);
  /// Returns the number of distinct values of the expression; `other` is the value compared with it.
  double values_of(const sql::Expression& expression, const sql::Expression& other) const;

  std::size_t counted_tables_ = 0, uncounted_tables_ = 0;
  std::map<ColumnId, ColumnId> equal_to_;  // towards the representative of its class
  std::map<ColumnId, Values> values_;      // of representatives
};

/// The two sides of an equality; null, null: it is none.
std::pair<const sql::Expression*, const sql::Expression*> sides_of_equality(const sql::Expression& condition);

}  // namespace redquel::planner
