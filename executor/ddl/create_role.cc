// CREATE and ALTER ROLE, USER, GROUP, in PostgreSQL's order of checks.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <optional>

#include "executor/ddl/role_draft.h"
#include "executor/ddl/role_setting.h"
#include "executor/ddl/role_statements.h"
#include "parser/role_option.h"
#include "sql/name_errors.h"
#include "sql/passwords/password_verifier.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

constexpr std::string_view kReserved = "Role names starting with \"pg_\" are reserved.";

/// The options as written, by their names in the grammar. Missing ones are null.
class WrittenOptions {
 public:
  WrittenOptions(const std::vector<ast::Option>& options, RoleDraft& draft) {
    for (const ast::Option& option : options) {
      if (option.name == "sysid") {
        draft.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, "SYSID can no longer be specified"));
        continue;
      }
      if (find(option.name) != nullptr) throw sql::conflicting_options().at(option.offset);
      options_.push_back(&option);
    }
  }

  const ast::Option* find(std::string_view name) const {
    const auto found = std::ranges::find_if(options_, [&](const ast::Option* option) { return option->name == name; });
    return found == options_.end() ? nullptr : *found;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The value of a flag; `otherwise` where it is not written.
  bool flag(std::string_view name, bool otherwise) const {
    const ast::Option* option = find(name);
    if (option == nullptr) return otherwise;
    if (const auto* value = std::get_if<bool>(&option->value)) return *value;
    const auto* number = std::get_if<std::int64_t>(&option->value);
    return number == nullptr || *number != 0;
  }
  std::vector<std::string> names(std::string_view name) const {
    const ast::Option* option = find(name);
    const auto* words = option == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&option->value);
    return words == nullptr ? std::vector<std::string>{} : *words;
  }
  const std::string* text(std::string_view name) const {
    const ast::Option* option = find(name);
    return option == nullptr ? nullptr : std::get_if<std::string>(&option->value);
  }

  void change(sql::RoleDef& role, const SessionState& session) const {
    role.superuser = flag("superuser", role.superuser);
    role.inherit = flag("inherit", role.inherit);
    role.create_role = flag("createrole", role.create_role);
    role.create_database = flag("createdb", role.create_database);
    role.can_login = flag("canlogin", role.can_login);
    role.replication = flag("isreplication", role.replication);
    role.bypass_row_security = flag("bypassrls", role.bypass_row_security);
    if (const ast::Option* limit = find("connectionlimit")) role.connection_limit = static_cast<std::int32_t>(std::get<std::int64_t>(limit->value));
    if (const std::string* until = text("validUntil")) role.valid_until = valid_until(*until, session);
  }

  void check_limit() const {
    const ast::Option* option = find("connectionlimit");
    const auto* limit = option == nullptr ? nullptr : std::get_if<std::int64_t>(&option->value);
    if (limit != nullptr && *limit < -1) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid connection limit: {}", *limit));
  }

 private:
  static std::int64_t valid_until(const std::string& text, const SessionState& session) {
    return sql::parse_timestamptz(text, session.settings);
  }

  std::vector<const ast::Option*> options_;
};

/// PASSWORD 'text' of a statement, hashed once though a draft is made several times.
class WrittenPassword {
 public:
  WrittenPassword(const std::vector<ast::Option>& options, const SessionState& session) {
    const auto found = std::ranges::find(options, "password", &ast::Option::name);
    if (found == options.end()) return;
    is_written_ = true;
    if (const auto* text = std::get_if<std::string>(&found->value)) text_ = *text;
    const std::optional<std::string> form = session.show ? session.show("password_encryption") : std::nullopt;
    form_ = form && *form == "md5" ? sql::PasswordForm::kMd5 : sql::PasswordForm::kScram;
  }

  bool is_written() const { return is_written_; }

  /// `verifiers`: those that roles have already.
  void store(RoleDraft& draft, const sql::RoleDef& role, const std::map<sql::Oid, std::string>& verifiers) {
    if (!is_written_) return;
    if (text_ && (text_->empty() || sql::verifier_matches(*text_, role.name, ""))) {
      draft.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, "empty string is not a valid password, clearing password"));
      text_.reset();
    }
    if (!text_) return draft.drop_verifier(role.oid);
    if (verifier_.empty()) verifier_ = sql::make_verifier(*text_, role.name, form_);
    draft.set_verifier(role.oid, verifier_);
    const auto is_covered = [&](const auto& entry) {
      const sql::RoleDef& other = entry.second;
      return other.superuser && other.can_login && (other.oid == role.oid || verifiers.contains(other.oid));
    };
    if (std::ranges::any_of(draft.roles.roles(), is_covered)) return;
    spdlog::warn("role \"{}\" gets a password while no superuser has one: from now on logins need a password, except for superusers of root and redquel's own user on this machine", role.name);
    draft.notice("WARNING", SqlError(sqlstate::kWarning, "no superuser has a password, and from now on logins need one")
                                .detail("Until a superuser has one, root and redquel's own operating-system user log in as superusers from this machine.")
                                .hint("Give a superuser a password by ALTER ROLE or \"redquel init\"."));
  }

 private:
  bool is_written_ = false;
  std::optional<std::string> text_;
  sql::PasswordForm form_ = sql::PasswordForm::kScram;
  std::string verifier_;
};

std::vector<sql::Oid> oids_of(const RoleDraft& draft, const std::vector<std::string>& names) {
  std::vector<sql::Oid> oids;
  for (const std::string& name : names) oids.push_back(require_role(draft.roles, draft.session(), name).oid);
  return oids;
}

void check_may_create(const RoleDraft& draft, const WrittenOptions& options) {
  const auto require_superuser = [&](std::string_view kind) {
    if (!draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be superuser to create {}", kind));
  };
  if (options.flag("superuser", false)) return require_superuser("superusers");
  if (options.flag("isreplication", false)) return require_superuser("replication users");
  if (options.flag("bypassrls", false)) return require_superuser("bypassrls users");
  if (!draft.may_create_roles()) throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to create role");
}

/// Without CREATEROLE a role may change its own password alone.
void check_may_alter(const RoleDraft& draft, const sql::RoleDef& role, const WrittenOptions& options) {
  const bool is_superuser = draft.is_superuser();
  if (role.superuser || options.has("superuser")) {
    if (!is_superuser) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to alter superuser roles or change superuser attribute");
  } else if (role.replication || options.has("isreplication")) {
    if (!is_superuser) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to alter replication roles or change replication attribute");
    }
  } else if (options.has("bypassrls")) {
    if (!is_superuser) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to change bypassrls attribute");
  } else if (!draft.may_create_roles()) {
    const auto is_written = [&](std::string_view name) { return options.has(name); };
    constexpr std::string_view kOthers[] = {"inherit", "createrole", "createdb", "canlogin", "connectionlimit", "rolemembers", "validUntil"};
    if (std::ranges::any_of(kOthers, is_written) || !options.has("password") || role.oid != draft.current_role()) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied");
    }
  }
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateRole& statement) {
  WrittenPassword password(statement.options, context.session);
  std::map<sql::Oid, std::string> verifiers;
  if (password.is_written()) verifiers = co_await load_verifiers(context);
  co_await change_roles(context, [&](RoleDraft& draft) {
    const WrittenOptions options(statement.options, draft);
    options.check_limit();
    check_may_create(draft, options);
    check_role_name(statement.name, kReserved);
    if (draft.roles.find(statement.name) != nullptr) {
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("role \"{}\" already exists", statement.name));
    }
    sql::RoleDef role;
    role.oid = draft.new_oid();
    role.name = statement.name;
    role.can_login = statement.kind == ast::CreateRole::Kind::kUser;
    if (draft.roles.find_owner(role.name) == nullptr) role.owner_name = role.name;
    options.change(role, draft.session());
    draft.roles.put(role);
    password.store(draft, role, verifiers);
    const sql::Oid grantor = draft.current_role();
    for (const std::string& name : options.names("addroleto")) {
      const sql::RoleDef parent = require_role(draft.roles, draft.session(), name);
      add_members(draft, parent, {role.oid}, grantor, false);
    }
    add_members(draft, role, oids_of(draft, options.names("adminmembers")), grantor, true);
    add_members(draft, role, oids_of(draft, options.names("rolemembers")), grantor, false);
  });
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterRole& statement) {
  if (sets_parameters(statement)) co_return co_await set_parameters(context, statement);
  if (concerns_owned_objects(statement)) co_return co_await change_owned_objects(context, statement);
  WrittenPassword password(statement.options, context.session);
  std::map<sql::Oid, std::string> verifiers;
  if (password.is_written()) verifiers = co_await load_verifiers(context);
  co_await change_roles(context, [&](RoleDraft& draft) {
    check_role_name(statement.name, "Cannot alter reserved roles.");
    const WrittenOptions options(statement.options, draft);
    options.check_limit();
    sql::RoleDef role = require_role(draft.roles, draft.session(), statement.name);
    check_may_alter(draft, role, options);
    options.change(role, draft.session());
    draft.roles.put(role);
    password.store(draft, role, verifiers);
    const std::vector<sql::Oid> members = oids_of(draft, options.names("rolemembers"));
    if (options.has(parser::kDropMembers)) {
      remove_members(draft, role, members, false);
    } else {
      add_members(draft, role, members, draft.current_role(), false);
    }
  });
}

asio::awaitable<void> rename_role(DdlContext& context, const ast::Rename& statement) {
  const std::string& name = statement.old_name;
  const std::map<sql::Oid, std::string> verifiers = co_await load_verifiers(context);
  co_await change_roles(context, [&](RoleDraft& draft) {
    const sql::RoleDef* found = draft.roles.find(name);
    if (found == nullptr) throw sql::undefined_role(name);
    sql::RoleDef role = *found;
    if (role.oid == session_role(draft.base(), draft.session())) throw SqlError(sqlstate::kFeatureNotSupported, "session user cannot be renamed");
    if (role.oid == draft.current_role()) throw SqlError(sqlstate::kFeatureNotSupported, "current user cannot be renamed");
    check_role_name(name, kReserved);
    check_role_name(statement.new_name, kReserved);
    if (draft.roles.find(statement.new_name) != nullptr) {
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("role \"{}\" already exists", statement.new_name));
    }
    if (role.superuser) {
      if (!draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to rename superusers");
    } else if (!draft.may_create_roles()) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied to rename role");
    }
    role.name = statement.new_name;
    const auto verifier = verifiers.find(role.oid);
    if (verifier != verifiers.end() && sql::password_form(verifier->second) == sql::PasswordForm::kMd5) {
      draft.drop_verifier(role.oid);
      draft.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, "MD5 password cleared because of role rename"));
    }
    draft.roles.put(std::move(role));
  });
}

}  // namespace redquel::executor
