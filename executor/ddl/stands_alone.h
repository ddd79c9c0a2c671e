#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// Does the statement take no part in transactions (VACUUM, CREATE DATABASE, CREATE INDEX CONCURRENTLY, DISCARD ALL)? In a block it is refused.
bool stands_alone(const parser::ast::Statement& statement);

}  // namespace redquel::executor
