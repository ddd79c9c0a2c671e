#pragma once

#include "executor/ddl/ddl.h"

namespace redquel::executor {

/// Returns true for ALTER ROLE … SET or RESET, or ALTER DATABASE.
bool sets_parameters(const parser::ast::AlterRole& statement);
/// Carries it out.
asio::awaitable<void> set_parameters(DdlContext& context, const parser::ast::AlterRole& statement);

/// 3D000 unless there is such a database.
asio::awaitable<void> require_database(DdlContext& context, const std::string& name);
/// ALTER DATABASE … OWNER TO.
asio::awaitable<void> change_database_owner(DdlContext& context, const parser::ast::AlterOwner& statement);
/// CREATE DATABASE: 42501 without CREATEDB, or for an owner that the role is no member of; 42704.
void check_database_creation(const SessionState& session, const std::optional<std::string>& owner);
/// Change the stored attributes of a database beside its number: keep, delete, or rename them.
asio::awaitable<void> record_database(DdlContext& context, std::string name, std::optional<std::string> owner, std::int32_t connection_limit);
asio::awaitable<void> forget_database_facts(DdlContext& context, std::string name);
asio::awaitable<void> rename_database_facts(DdlContext& context, std::string name, std::string new_name);

/// Checks the values of a parameter as SET does, without setting it. Returns name=value in the parameter's own spelling. 42704, 22023.
/// `is_text`: the one value is as SHOW prints it.
using SettingCheck = std::string (*)(const SessionState& session, const std::string& name, const std::vector<std::string>& values, bool is_text);
/// The server names its own before any statement runs.
void set_setting_check(SettingCheck check);

}  // namespace redquel::executor
