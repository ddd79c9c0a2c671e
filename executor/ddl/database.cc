#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/role_setting.h"
#include "executor/roles/access.h"
#include "executor/storage/databases.h"
#include "sql/catalog/buckets.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An option must have the value that every database has here; options without meaning here (tablespace, strategy) are accepted.
void check_option(const ast::Option& option) {
  const auto* text = std::get_if<std::string>(&option.value);
  if (option.name == "template") {
    if (text && !is_one_of(*text, {"template0", "template1"})) throw sql::not_supported("CREATE DATABASE with a template");
  } else if (option.name == "encoding") {
    std::string encoding = text ? *text : "utf8";
    std::ranges::transform(encoding, encoding.begin(), [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    std::erase(encoding, '-');
    if (!is_one_of(encoding, {"utf8", "unicode"})) {
      throw sql::not_supported(fmt::format("CREATE DATABASE with encoding \"{}\"", *text), option.offset);
    }
  } else if (is_one_of(option.name, {"locale", "lc_collate", "lc_ctype", "collation"})) {
    if (text && !is_one_of(*text, {"C", "POSIX", "C.UTF-8", "C.utf8"})) {
      throw sql::not_supported(fmt::format("CREATE DATABASE with locale \"{}\"", *text), option.offset);
    }
  } else if (!is_one_of(option.name, {"owner", "tablespace", "allow_connections", "connection_limit", "is_template", "strategy",
                                      "locale_provider", "icu_locale", "oid", "collation_version"})) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("option \"{}\" not recognized", option.name)).at(option.offset);
  }
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateDatabase& statement) {
  for (const ast::Option& option : statement.options) check_option(option);
  std::optional<std::string> owner;
  std::int32_t connection_limit = -1;
  for (const ast::Option& option : statement.options) {
    const auto* text = std::get_if<std::string>(&option.value);
    const auto* number = std::get_if<std::int64_t>(&option.value);
    if (option.name == "owner" && text != nullptr) owner = *text;
    if (option.name == "connection_limit" && number != nullptr) connection_limit = static_cast<std::int32_t>(*number);
  }
  if (connection_limit < -1) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid connection limit: {}", connection_limit));
  check_database_creation(context.session, owner);
  if (is_template_database(statement.name)) throw sql::duplicate_database(statement.name);
  if (sql::uses_cluster()) throw sql::not_supported("CREATE DATABASE on a Redis Cluster, which has one logical database");
  co_await create_database(context.home, statement.name);
  co_await record_database(context, statement.name, std::move(owner), connection_limit);
}

namespace {

/// Deletes what tables, sequences and redquel itself have in the logical database. Gives the number of keys that are not redquel's.
asio::awaitable<std::size_t> empty_database(DdlContext& context, int number) {
  RedisClient& redis = context.access->bulk(number);
  SessionState other;
  other.known_types = context.session.known_types;
  DdlContext inside{redis, redis, other, context.home, number, context.access};
  const MakeDraft drop_all = [](CatalogDraft& draft) {
    const DependentChanges owned_by_all;
    const sql::CatalogSnapshot all = draft.catalog();
    for (const auto& [oid, view] : all.views) draft.drop_view(oid);
    for (const auto& [oid, function] : all.functions) draft.drop_function(oid);
    for (const auto& [oid, table] : all.tables) draft.drop_table(oid);
    for (const auto& [oid, sequence] : all.sequences) {
      if (draft.catalog().sequences.contains(oid)) draft.drop_sequence(oid);
    }
    for (const auto& [oid, type] : all.types) draft.drop_type(oid);
  };
  co_await change_catalog(inside, drop_all);
  const LoadedCatalog loaded = co_await load_catalog(redis);
  for (const Removal& removal : loaded.removals) co_await run_removal(redis, removal);
  co_return co_await delete_own_keys(redis);
}

}  // namespace

asio::awaitable<void> drop_database(DdlContext& context, const ast::Drop& statement) {
  const std::string& name = statement.names.at(0).names.at(0);
  if (name == context.session.database) require_database_owner(*sql::known_roles(), context.session, name);
  if (name == context.session.database) throw SqlError(sqlstate::kObjectInUse, "cannot drop the currently open database");
  if (name == kHomeDatabase) throw sql::not_supported(fmt::format("DROP DATABASE {}", kHomeDatabase));
  if (is_template_database(name)) throw SqlError(sqlstate::kWrongObjectType, "cannot drop a template database");
  const std::optional<int> number = co_await find_database(context.home, name);
  if (number) {
    require_database_owner(*sql::known_roles(), context.session, name);
    const std::size_t left = co_await empty_database(context, *number);
    if (left > 0 && context.session.notice) {
      context.session.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion,
                                                fmt::format("{} keys of other programs stay in logical database {} of Redis", left, *number)));
    }
    co_await forget_database(context.home, name);
    co_await forget_database_facts(context, name);
    co_return;
  }
  const SqlError missing(sqlstate::kUndefinedDatabase, fmt::format("database \"{}\" does not exist", name));
  if (!statement.if_exists) throw missing;
  if (context.session.notice) {
    context.session.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, fmt::format("database \"{}\" does not exist, skipping", name)));
  }
}

asio::awaitable<void> rename_database(DdlContext& context, const ast::Rename& statement) {
  const std::string& name = statement.old_name;
  if (name == context.session.database || name == kHomeDatabase) require_database_owner(*sql::known_roles(), context.session, name);
  if (name == context.session.database) throw SqlError(sqlstate::kFeatureNotSupported, "current database cannot be renamed");
  if (name == kHomeDatabase || is_template_database(name)) throw sql::not_supported(fmt::format("ALTER DATABASE {} RENAME", name));
  require_database_owner(*sql::known_roles(), context.session, name);
  co_await rename_database(context.home, name, statement.new_name);
  co_await rename_database_facts(context, name, statement.new_name);
}

}  // namespace redquel::executor
