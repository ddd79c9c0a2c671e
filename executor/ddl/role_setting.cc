// ALTER ROLE … SET and ALTER DATABASE … SET: values that later sessions begin with. ALTER DATABASE with options.

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/new_owner.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_setting.h"
#include "executor/ddl/role_statements.h"
#include "parser/role_option.h"
#include "executor/roles/access.h"
#include "executor/storage/databases.h"
#include "sql/name_errors.h"
#include "sql/privileges/grants.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

const ast::Option* find_option(const ast::AlterRole& statement, std::string_view name) {
  const auto found = std::ranges::find(statement.options, name, &ast::Option::name);
  return found == statement.options.end() ? nullptr : &*found;
}

namespace {

SettingCheck& setting_check() {
  static SettingCheck check = nullptr;
  return check;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return text;
}

/// The database of IN DATABASE or ALTER DATABASE; empty: none.
std::string database_of(const ast::AlterRole& statement) {
  for (const std::string_view name : {parser::kInDatabase, parser::kAlterDatabase}) {
    if (const ast::Option* option = find_option(statement, name)) return std::get<std::string>(option->value);
  }
  return {};
}

const ast::Option* find_setting(const ast::AlterRole& statement) {
  const auto found = std::ranges::find(statement.options, parser::kSettingSpace, &ast::Option::name_space);
  return found == statement.options.end() ? nullptr : &*found;
}

/// The parameter in its own spelling and its new value; an empty name: RESET ALL.
struct WrittenSetting {
  std::string name, value;
  bool is_removed = false;
};

WrittenSetting read_setting(const ast::Option& option, const SessionState& session) {
  if (option.action == ast::OptionAction::kDrop) return {.name = option.name, .value = {}, .is_removed = true};
  if (setting_check() == nullptr) throw sql::not_supported("ALTER ROLE SET outside of a session");
  const bool is_current = option.action == ast::OptionAction::kAdd;
  std::vector<std::string> values;
  if (is_current) {
    const std::optional<std::string> value = session.show ? session.show(lower(option.name)) : std::nullopt;
    if (!value) throw SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized configuration parameter \"{}\"", option.name));
    values.push_back(*value);
  } else if (const auto* words = std::get_if<std::vector<std::string>>(&option.value)) {
    values = *words;
  }
  const std::string text = setting_check()(session, option.name, values, is_current);
  const std::size_t equals = text.find('=');
  return {.name = text.substr(0, equals), .value = text.substr(equals + 1)};
}

void change_setting(RoleDraft& draft, const std::string& database, sql::Oid role, const WrittenSetting& written) {
  const auto found = draft.roles.settings().find({database, role});
  sql::RoleSetting setting = found == draft.roles.settings().end() ? sql::RoleSetting{database, role, {}} : found->second;
  const auto is_meant = [&](const auto& pair) { return written.name.empty() || lower(pair.first) == lower(written.name); };
  if (written.is_removed) {
    std::erase_if(setting.values, is_meant);
  } else if (const auto known = std::ranges::find_if(setting.values, is_meant); known != setting.values.end()) {
    known->second = written.value;
  } else {
    setting.values.emplace_back(written.name, written.value);
  }
  if (setting.values.empty()) return draft.roles.drop_setting(database, role);
  draft.roles.put(std::move(setting));
}

void check_may_set(const RoleDraft& draft, const std::string& database, const sql::RoleDef* role) {
  const SessionState& session = draft.session();
  if (role != nullptr) {
    if (role->superuser) {
      if (!draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to alter superusers");
    } else if (!draft.may_create_roles() && role->oid != draft.current_role()) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied");
    }
  } else if (!database.empty()) {
    require_database_owner(draft.roles, session, database);
  } else if (!draft.is_superuser()) {
    throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to alter settings globally");
  }
}

/// ALTER DATABASE … WITH.
void change_database(RoleDraft& draft, const std::string& name, const ast::AlterRole& statement) {
  require_database_owner(draft.roles, draft.session(), name);
  sql::DatabaseFacts facts = draft.roles.facts_of(name);
  for (const ast::Option& option : statement.options) {
    if (option.name == parser::kAlterDatabase) continue;
    if (option.name != "connection_limit") throw sql::not_supported(fmt::format("ALTER DATABASE with option \"{}\"", option.name), option.offset);
    const auto* limit = std::get_if<std::int64_t>(&option.value);
    if (limit == nullptr || *limit < -1) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid connection limit: {}", limit == nullptr ? 0 : *limit));
    }
    facts.connection_limit = static_cast<std::int32_t>(*limit);
  }
  draft.roles.put(name, facts);
}

void drop_settings(RoleDraft& draft, const std::string& database, const std::string* new_name) {
  const auto settings = draft.roles.settings();
  for (const auto& [key, setting] : settings) {
    if (key.first != database) continue;
    draft.roles.drop_setting(key.first, key.second);
    if (new_name != nullptr) draft.roles.put(sql::RoleSetting{*new_name, key.second, setting.values});
  }
}

}  // namespace

asio::awaitable<void> require_database(DdlContext& context, const std::string& name) {
  if (name == kHomeDatabase || is_template_database(name)) co_return;
  const std::optional<int> number = co_await find_database(context.home, name);
  if (!number) throw sql::undefined_database(name);
}

asio::awaitable<void> change_database_owner(DdlContext& context, const ast::AlterOwner& statement) {
  const std::string name = statement.name.names.back();
  co_await require_database(context, name);
  co_await change_roles(context, [&](RoleDraft& draft) {
    const sql::RoleDef& role = require_role(draft.roles, draft.session(), statement.role);
    if (draft.roles.facts_of(name).owner == role.oid) return;
    require_database_owner(draft.roles, draft.session(), name);
    if (!draft.roles.may_become(draft.current_role(), role.oid)) {
      throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be member of role \"{}\"", role.name));
    }
    const sql::RoleDef* current = draft.roles.find(draft.current_role());
    if (!current->superuser && !current->create_database) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to change owner of database");
    }
    sql::DatabaseFacts facts = draft.roles.facts_of(name);
    facts.acl = facts.acl ? sql::OptionalAcl(sql::change_owner(*facts.acl, facts.owner, role.oid)) : std::nullopt;
    facts.owner = role.oid;
    draft.roles.put(name, facts);
  });
}

void check_database_creation(const SessionState& session, const std::optional<std::string>& owner) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef* role = roles.find(current_role(roles, session));
  if (owner) require_role(roles, session, *owner);
  if (role == nullptr || (!role->superuser && !role->create_database)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to create database");
  }
  if (owner) new_owner(session, *owner);
}

asio::awaitable<void> record_database(DdlContext& context, std::string name, std::optional<std::string> owner, std::int32_t connection_limit) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    const sql::Oid role = owner ? require_role(draft.roles, draft.session(), *owner).oid : draft.current_role();
    draft.roles.put(name, sql::DatabaseFacts{role, connection_limit});
  });
}

asio::awaitable<void> forget_database_facts(DdlContext& context, std::string name) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    draft.roles.drop_database(name);
    drop_settings(draft, name, nullptr);
  });
}

asio::awaitable<void> rename_database_facts(DdlContext& context, std::string name, std::string new_name) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    const sql::DatabaseFacts facts = draft.roles.facts_of(name);
    draft.roles.drop_database(name);
    draft.roles.put(new_name, facts);
    drop_settings(draft, name, &new_name);
  });
}

void set_setting_check(SettingCheck check) { setting_check() = check; }

bool sets_parameters(const ast::AlterRole& statement) {
  return find_setting(statement) != nullptr || find_option(statement, parser::kAlterDatabase) != nullptr;
}

asio::awaitable<void> set_parameters(DdlContext& context, const ast::AlterRole& statement) {
  const std::string database = database_of(statement);
  if (!database.empty()) co_await require_database(context, database);
  const ast::Option* setting = find_setting(statement);
  co_await change_roles(context, [&](RoleDraft& draft) {
    if (setting == nullptr) return change_database(draft, database, statement);
    const sql::RoleDef* role = nullptr;
    if (!statement.name.empty()) {
      check_role_name(statement.name, "Cannot alter reserved roles.");
      role = &require_role(draft.roles, draft.session(), statement.name);
    }
    check_may_set(draft, database, role);
    change_setting(draft, database, role == nullptr ? 0 : role->oid, read_setting(*setting, draft.session()));
  });
}

}  // namespace redquel::executor
