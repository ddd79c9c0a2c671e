#pragma once

#include <string>
#include <vector>

#include "parser/ast_expression.h"
#include "parser/ast_query.h"

namespace redquel::parser::ast {

struct CreatePolicy {
  std::string name;
  RelationName relation;
  bool restrictive = false;
  std::string command;             // "all", "select", "insert", "update" or "delete"
  std::vector<std::string> roles;  // "public" for PUBLIC
  ExpressionPtr using_condition;   // null: none
  ExpressionPtr check_condition;   // null: none
};

struct AlterPolicy {
  std::string name;
  RelationName relation;
  std::vector<std::string> roles;  // empty: as they were
  ExpressionPtr using_condition;   // null: as it was
  ExpressionPtr check_condition;   // null: as it was
};

}  // namespace redquel::parser::ast
