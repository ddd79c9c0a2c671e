#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW: they make a table and fill it.
bool is_create_table_as(const parser::ast::Statement& statement);
/// Returns true if a part of WITH changes data.
bool writes_in_with(const parser::ast::Select& query);
/// LISTEN, UNLISTEN, NOTIFY.
bool is_notification_statement(const parser::ast::Statement& statement);
/// CREATE, ALTER, DROP, LOCK TABLE, VACUUM …: the statements that are run as they are written, without a plan.
bool is_definition(const parser::ast::Statement& statement);

}  // namespace redquel::executor
