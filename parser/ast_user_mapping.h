#pragma once

#include <string>
#include <vector>

#include "parser/ast_query.h"

namespace redquel::parser::ast {

/// CREATE, ALTER and DROP USER MAPPING.
struct UserMapping {
  enum class Action { kCreate, kAlter, kDrop } action = Action::kCreate;
  std::string role;  // "public": PUBLIC
  std::string server;
  std::vector<Option> options;
  bool is_lenient = false;  // IF NOT EXISTS, IF EXISTS
};

}  // namespace redquel::parser::ast
