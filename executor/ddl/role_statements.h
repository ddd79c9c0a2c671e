#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "executor/ddl/ddl.h"

namespace redquel::executor {

// CREATE, ALTER, DROP ROLE, GRANT and REVOKE of roles: PostgreSQL's commands/user.c. Roles are no part of a database's definitions. In a
// transaction its commit changes them together with definitions and rows.

asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateRole& statement);
/// Also ALTER ROLE … SET, ALTER DATABASE … SET and ALTER DATABASE … WITH: see role_option.h.
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterRole& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::DropRole& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::GrantRole& statement);
/// Returns the option of that name (role_option.h); nullptr: the statement has none.
const parser::ast::Option* find_option(const parser::ast::AlterRole& statement, std::string_view name);
/// DROP OWNED and REASSIGN OWNED, which are AlterRole statements, too. Unlike the others they change definitions.
bool concerns_owned_objects(const parser::ast::AlterRole& statement);
asio::awaitable<void> change_owned_objects(DdlContext& context, const parser::ast::AlterRole& statement);
asio::awaitable<void> rename_role(DdlContext& context, const parser::ast::Rename& statement);

}  // namespace redquel::executor
