// CREATE, ALTER and DROP USER MAPPING, as PostgreSQL checks them.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/foreign_options.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/role_draft.h"
#include "executor/roles/role_access.h"
#include "executor/roles/user_mappings.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/random_version.h"
#include "executor/transaction/transaction.h"
#include "sql/name_errors.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

using MappingAction = ast::UserMapping::Action;

/// The options that a statement writes, each once.
class WrittenMappingOptions {
 public:
  explicit WrittenMappingOptions(const std::vector<ast::Option>& options) {
    for (const ast::Option& option : options) {
      if (option.name != "user" && option.name != "password") {
        throw SqlError(sqlstate::kFdwInvalidOptionName, fmt::format("invalid option \"{}\"", option.name))
            .hint("Valid options in this context are: user, password");
      }
      if (find(option.name) != nullptr) {
        throw SqlError(sqlstate::kDuplicateObject, fmt::format("option \"{}\" provided more than once", option.name));
      }
      options_.push_back(&option);
    }
  }

  const ast::Option* find(std::string_view name) const {
    const auto found = std::ranges::find_if(options_, [&](const ast::Option* option) { return option->name == name; });
    return found == options_.end() ? nullptr : *found;
  }
  /// Returns the option's value; nullopt: it is not written, or dropped.
  std::optional<std::string> value(std::string_view name) const {
    const ast::Option* option = find(name);
    if (option == nullptr || option->action == ast::OptionAction::kDrop) return std::nullopt;
    return mapping_text(*option);
  }

 private:
  std::vector<const ast::Option*> options_;
};

/// 42704 for SET and DROP of an option that is not there, 42710 for ADD of one that is.
void check_option_action(const ast::Option* option, bool is_there) {
  if (option == nullptr) return;
  const bool adds = option->action == ast::OptionAction::kNone || option->action == ast::OptionAction::kAdd;
  if (adds && is_there) throw SqlError(sqlstate::kDuplicateObject, fmt::format("option \"{}\" provided more than once", option->name));
  if (!adds && !is_there) throw SqlError(sqlstate::kUndefinedObject, fmt::format("option \"{}\" not found", option->name));
}

/// A Redis user without a name would be the user "default", who may do everything in many Redis.
std::string required_redis_user(std::optional<std::string> user) {
  if (!user || user->empty()) throw SqlError(sqlstate::kFdwOptionNameNotFound, "option \"user\" of a user mapping for server \"redis\" is required");
  return *std::move(user);
}

/// PostgreSQL's user_mapping_ddl_aclcheck().
void check_mapping_rights(const CatalogDraft& draft, sql::Oid role) {
  const sql::ForeignServerDef& server = draft.catalog().server;
  const sql::Oid current = current_role(*sql::known_roles(), draft.session());
  if (owns_foreign_server(server, current, draft.session().database)) return;
  if (role != current) throw SqlError(sqlstate::kInsufficientPrivilege, "must be owner of foreign server redis");
  if (!may_use_foreign_server(server, current, draft.session().database)) {
    throw sql::permission_denied("foreign server", "redis");
  }
}

/// Throws an error, or sends its text as a notice.
void skip_or_throw(CatalogDraft& draft, bool is_lenient, SqlError error) {
  if (!is_lenient) throw error;
  const bool exists = error.sqlstate() == sqlstate::kDuplicateObject;
  draft.notice(exists ? sqlstate::kDuplicateObject : sqlstate::kSuccessfulCompletion, error.message() + ", skipping");
}

/// A password that waits for the commit of its mapping under a key of its own, which expires.
struct StagedPassword {
  std::string key;                // empty: the statement writes no password
  std::optional<sql::Oid> owner;  // the mapping that gets it

  void give_to(CatalogDraft& draft, sql::Oid mapping) {
    if (key.empty()) return;
    draft.rename_key(key, mapping_password_key(mapping));
    owner = mapping;
  }
};

/// Facts that a statement needs beside the definitions.
struct MappingContext {
  StagedPassword password;
  const RedisLogin* own_login = nullptr;  // redquel's; null where no statement of a client runs
  std::set<sql::Oid> with_password;       // mappings from before their definitions said so
};

/// Notes who makes the mapping. A role that is no superuser gives a password, and gets no Redis user who may do everything.
void settle_maker(const CatalogDraft& draft, const RedisLogin* own_login, sql::UserMappingDef& mapping) {
  const bool is_by_superuser = is_superuser(*sql::known_roles(), draft.session());
  if (!is_by_superuser && own_login != nullptr) check_redis_user(mapping.user, mapping.has_password, *own_login);
  mapping.maker = is_by_superuser ? sql::UserMappingDef::Maker::kSuperuser : sql::UserMappingDef::Maker::kRole;
}

void create_mapping(CatalogDraft& draft, const ast::UserMapping& statement, sql::Oid role, const std::string& shown, MappingContext& context) {
  const WrittenMappingOptions options(statement.options);
  sql::ForeignServerDef server = draft.catalog().server;
  if (std::ranges::find(server.mappings, role, &sql::UserMappingDef::role) != server.mappings.end()) {
    const std::string message = fmt::format("user mapping for \"{}\" already exists for server \"redis\"", shown);
    return skip_or_throw(draft, statement.is_lenient, SqlError(sqlstate::kDuplicateObject, message));
  }
  sql::UserMappingDef mapping{.oid = 0, .role = role, .user = required_redis_user(options.value("user"))};
  mapping.has_password = !options.value("password").value_or("").empty();
  settle_maker(draft, context.own_login, mapping);
  mapping.oid = draft.new_oid();
  context.password.give_to(draft, mapping.oid);
  server.mappings.push_back(mapping);
  draft.put(std::move(server));
}

void alter_mapping(CatalogDraft& draft, const ast::UserMapping& statement, std::size_t index, MappingContext& context) {
  const WrittenMappingOptions options(statement.options);
  sql::ForeignServerDef server = draft.catalog().server;
  sql::UserMappingDef& mapping = server.mappings[index];
  if (mapping.maker == sql::UserMappingDef::Maker::kUnknown) mapping.has_password = context.with_password.contains(mapping.oid);
  check_option_action(options.find("user"), true);
  check_option_action(options.find("password"), mapping.has_password);
  if (options.find("user") != nullptr) mapping.user = required_redis_user(options.value("user"));
  if (options.find("password") != nullptr) mapping.has_password = !options.value("password").value_or("").empty();
  settle_maker(draft, context.own_login, mapping);
  if (options.find("password") != nullptr && context.password.key.empty()) draft.delete_key(mapping_password_key(mapping.oid));
  context.password.give_to(draft, mapping.oid);
  draft.put(std::move(server));
}

void drop_mapping(CatalogDraft& draft, std::size_t index) {
  sql::ForeignServerDef server = draft.catalog().server;
  draft.delete_key(mapping_password_key(server.mappings[index].oid));
  server.mappings.erase(server.mappings.begin() + static_cast<std::ptrdiff_t>(index));
  draft.put(std::move(server));
}

void change_mapping(CatalogDraft& draft, const ast::UserMapping& statement, MappingContext& context) {
  const bool skips_missing = statement.action == MappingAction::kDrop && statement.is_lenient;
  sql::Oid role = sql::kPublic;
  if (statement.role != "public") {
    const std::string name = role_meant(draft.session(), statement.role);
    const sql::RoleDef* found = sql::known_roles()->find(name);
    if (found == nullptr) return skip_or_throw(draft, skips_missing, sql::undefined_role(name));
    role = found->oid;
  }
  if (statement.server != "redis") {
    return skip_or_throw(draft, skips_missing, SqlError(sqlstate::kUndefinedObject, fmt::format("server \"{}\" does not exist", statement.server)));
  }
  const std::string shown = role == sql::kPublic ? "public" : sql::known_roles()->name_of(role);
  const auto& mappings = draft.catalog().server.mappings;
  const auto found = std::ranges::find(mappings, role, &sql::UserMappingDef::role);
  if (statement.action == MappingAction::kCreate) {
    check_mapping_rights(draft, role);
    return create_mapping(draft, statement, role, shown, context);
  }
  if (found == mappings.end()) {
    const std::string message = fmt::format("user mapping for \"{}\" does not exist for server \"redis\"", shown);
    return skip_or_throw(draft, skips_missing, SqlError(sqlstate::kUndefinedObject, message));
  }
  check_mapping_rights(draft, role);
  const SessionState& session = draft.session();
  require_mapping_change(draft.catalog().server, *found, current_role(*sql::known_roles(), session), session.database);
  const auto index = static_cast<std::size_t>(found - mappings.begin());
  if (statement.action == MappingAction::kDrop) return drop_mapping(draft, index);
  alter_mapping(draft, statement, index, context);
}

/// The time after which a staged password expires: longer than a transaction that makes its mapping.
constexpr std::int64_t kStagedMilliseconds = 24 * 3600 * 1000;

asio::awaitable<void> stage_password(RedisClient& redis, std::string key, std::string password) {
  CommandBatch batch;
  batch.add("SET", key, password, "PX", kStagedMilliseconds);
  const RepliesPtr replies = co_await redis.execute(std::move(batch));
  replies->or_throw();
}

asio::awaitable<void> forget_password(RedisClient& redis, std::string key) {
  CommandBatch batch;
  batch.add("UNLINK", key);
  co_await redis.execute(std::move(batch));
}

asio::awaitable<void> keep_password(RedisClient& redis, std::string key) {
  CommandBatch batch;
  batch.add("PERSIST", key);
  co_await redis.execute(std::move(batch));
}

asio::awaitable<std::set<sql::Oid>> mappings_with_password(RedisClient& redis) {
  const LoadedCatalog loaded = co_await load_catalog(redis);
  std::set<sql::Oid> mappings;
  for (const auto& [mapping, password] : co_await load_mapping_passwords(redis, loaded.snapshot->server.mappings)) mappings.insert(mapping);
  co_return mappings;
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::UserMapping& statement) {
  MappingContext mapping;
  if (RoleAccess* access = role_access(context.access)) mapping.own_login = &logins_of(access->own()).own_login();
  if (statement.action == MappingAction::kAlter) mapping.with_password = co_await mappings_with_password(context.redis);
  StagedPassword& staged = mapping.password;
  if (std::optional<std::string> password = WrittenMappingOptions(statement.options).value("password"); password && !password->empty()) {
    staged.key = mapping_password_key(0) + ":" + random_version();
    co_await stage_password(context.redis, staged.key, *std::move(password));
  }
  const MakeDraft make = [&](CatalogDraft& draft) { change_mapping(draft, statement, mapping); };
  const auto forget = [&]() -> asio::awaitable<void> {
    if (!staged.key.empty()) co_await forget_password(context.redis, staged.key);
  };
  co_await run_or_undo(change_catalog(context, make), forget);
  if (!staged.owner) co_return co_await forget();
  const std::string key = mapping_password_key(*staged.owner);
  if (!context.session.transaction) co_return co_await keep_password(context.redis, key);
  context.session.transaction->catalog()->add_sequel([key](DdlContext& later) { return keep_password(later.redis, key); });
}

}  // namespace redquel::executor
