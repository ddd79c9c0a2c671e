#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/types/type.h"

namespace redquel::planner {

/// The variables of a procedural language that the names in a statement may mean. Each is a parameter of the statement.
struct VariableScope {
  /// The meaning of a name that is a variable and a column, too: 42702, or one of them (#variable_conflict).
  enum class Conflict : std::uint8_t { kError, kVariable, kColumn };
  struct Variable {
    std::string block;  // the label of its block; empty: none
    std::string name;   // "$1" for an argument by number
    std::string field;  // of a record; empty: the variable as a whole
    std::uint32_t place = 0;  // of the field
    std::uint32_t parameter = 0;  // from 0
    sql::Type type;
  };
  /// A transition table of a trigger. It hides other relations of its name.
  struct TransitionTable {
    std::string name;
    std::shared_ptr<const sql::TableDef> table;  // whose rows it has
    std::uint32_t number = 0;                    // of the shared rows (kept_rows.h)
  };
  Conflict conflict = Conflict::kError;
  std::vector<Variable> variables;  // those of inner blocks first
  /// Records of which the statement names fields.
  std::vector<std::string> records;
  bool numbers_are_variables = true;  // $1 is a variable; false: a parameter of the statement, as in EXECUTE
  std::vector<TransitionTable> transition_tables;
  sql::Oid maintained_view = 0;  // the materialized view that the statement may change; 0: none

  /// Returns the transition table of that name; null: there is none.
  const TransitionTable* find_transition_table(const std::string& name) const {
    const auto found = std::ranges::find(transition_tables, name, &TransitionTable::name);
    return found == transition_tables.end() ? nullptr : &*found;
  }
};

}  // namespace redquel::planner
