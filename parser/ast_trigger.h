#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parser/ast_expression.h"
#include "parser/ast_query.h"

namespace redquel::parser::ast {

struct CreateTrigger {
  enum class Timing : std::uint8_t { kAfter, kBefore, kInsteadOf };
  /// REFERENCING OLD | NEW TABLE AS name.
  struct TransitionTable {
    std::string name;
    bool is_new = false, is_table = true;
  };
  std::string name;
  RelationName relation;
  bool replace = false, constraint = false;
  std::vector<std::string> function;
  std::vector<std::string> arguments;
  bool for_each_row = false;
  Timing timing = Timing::kAfter;
  bool on_insert = false, on_delete = false, on_update = false, on_truncate = false;
  std::vector<std::string> columns;  // UPDATE OF
  ExpressionPtr condition;           // WHEN; null: none
  std::vector<TransitionTable> transition_tables;
  bool deferrable = false, initially_deferred = false;
  bool names_other_table = false;  // FROM, of a constraint trigger
};

}  // namespace redquel::parser::ast
