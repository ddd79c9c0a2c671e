#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/bind/bind.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// The hidden column of a maintained view: what its aggregates are computed from, as an array of numbers.
inline constexpr std::string_view kMaintainedState = "redquel state";
/// The names of the transition tables that the statements of a maintained view read.
inline constexpr std::string_view kMaintainedOldRows = "redquel old", kMaintainedNewRows = "redquel new";

/// A materialized view WITH (maintained): aggregates of one table by groups. Each write of the table changes the rows of the groups that it concerns
/// by the difference that its rows make. All texts are SQL, with quoted names.
class MaintainedView {
 public:
  /// Reads the query that the catalog stores. `table`: the view's rows, whose first columns are those of the query. Throws SqlError 0A000, which
  /// names the part of the query that cannot be kept.
  static MaintainedView read(const sql::ViewDef& query, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, const BindSettings& settings);

  /// Returns the oid of the table that the query reads.
  sql::Oid base() const { return base_oid_; }
  /// Returns the numbers of the view's columns that have its groups, each group once.
  const std::vector<std::int16_t>& key() const { return key_; }

  /// Returns true if a row may have NULL in a group.
  bool has_nullable_groups() const;

  /// Returns the INSERT that fills the empty view.
  std::string fill() const;
  /// Returns the statements, in PL/pgSQL, that bring the view up to date after a statement with this event. They read the transition tables.
  /// The record `redquel_change` and the bigint `redquel_empty` must be declared.
  std::string after(sql::TriggerDef::Event event) const;

 private:
  struct Group {
    std::string expression, column;
    bool is_nullable = true;
  };
  /// The argument of aggregates; `totals`: the state has the sum of its values, too.
  struct Argument {
    std::string expression;
    bool counts = false, totals = false, is_numeric = false;
    std::size_t state = 0;  // the place of its first element, from 1
  };
  enum class Kind : std::uint8_t { kGroup, kRows, kCount, kSum, kAverage, kLeast, kGreatest };
  struct Output {
    std::string column;
    Kind kind;
    std::size_t number = 0;  // of the group or the argument
    bool is_integer = false;  // of a sum: bigint, else numeric
  };
  /// The transition tables that a difference is made of.
  enum class Rows : std::uint8_t { kBase, kNew, kOld, kBoth };

  MaintainedView() = default;
  void place_arguments();
  bool has_extremes() const;
  std::size_t state_size() const;
  std::string rows_of(std::string_view source, std::string_view sign) const;
  std::string rows(Rows rows) const;
  std::string elements(Rows rows) const;
  std::string difference(Rows rows) const;
  std::string join_groups(bool with_nulls) const;
  std::string old_groups() const;
  std::string change(Rows rows) const;
  std::string change_and_remove_empty(Rows rows) const;
  std::string update_groups(const std::string& before, const std::string& after) const;
  std::string recompute_extremes() const;
  template <class Element>
  std::string shown(const Output& output, const Element& element) const;

  sql::Oid base_oid_ = 0;
  std::string view_, base_, alias_, condition_;
  std::vector<Group> groups_;
  std::vector<Argument> arguments_;
  std::vector<Output> outputs_;
  std::vector<std::int16_t> key_;
};

}  // namespace redquel::planner
