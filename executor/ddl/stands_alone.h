#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// Returns true if the statement takes no part in transactions (VACUUM, CREATE DATABASE, CREATE ROLE, CREATE INDEX CONCURRENTLY, DISCARD ALL): a block refuses it.
bool stands_alone(const parser::ast::Statement& statement);

}  // namespace redquel::executor
