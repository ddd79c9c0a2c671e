#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  Conflict conflict = Conflict::kError;
  std::vector<Variable> variables;  // those of inner blocks first
  /// Records of which the statement names fields.
  std::vector<std::string> records;
};

}  // namespace redquel::planner
