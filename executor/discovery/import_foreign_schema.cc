#include "executor/discovery/import_foreign_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/ddl/mapped_table.h"
#include "executor/ddl/object_lookup.h"
#include "executor/discovery/keyspace_sampler.h"
#include "executor/discovery/proposal_import.h"
#include "executor/engine/kept_statements.h"
#include "executor/redis/own_keyspace.h"
#include "executor/roles/access.h"
#include "executor/roles/user_mappings.h"
#include "executor/transaction/transaction.h"
#include "parser/option_value.h"
#include "parser/parse.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

struct ImportOptions {
  DiscoveryOptions discovery;
  std::optional<std::size_t> database;  // the logical one
  std::string maintained = "redquel";
};

std::size_t read_number(const ast::Option& option, std::size_t least, std::size_t most) {
  const std::string value = parser::option_text(option).value_or("");
  std::size_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == value.data() + value.size();
  if (!is_number || number < least || number > most) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for option \"{}\": \"{}\"", option.name, value))
        .detail(fmt::format("Valid values are {} to {}.", least, most));
  }
  return number;
}

ImportOptions import_options(const ast::ImportForeignSchema& statement) {
  constexpr std::size_t kMostSamples = 1000, kMostDatabases = 1'000'000;
  ImportOptions options;
  options.discovery.pattern = statement.remote_schema;
  for (const ast::Option& option : statement.options) {
    if (option.name == "sample") {
      options.discovery.sample = read_number(option, 1, kMostSamples);
    } else if (option.name == "database") {
      options.database = read_number(option, 0, kMostDatabases);
    } else if (option.name == "maintained") {
      options.maintained = read_maintainer(parser::option_text(option).value_or(""));
    } else {
      throw SqlError(sqlstate::kFdwInvalidOptionName, fmt::format("invalid option \"{}\"", option.name))
          .hint("Valid options in this context are: sample, database, maintained");
    }
  }
  return options;
}

bool is_wanted(const ast::ImportForeignSchema& statement, const std::string& table) {
  const bool is_listed = std::ranges::any_of(statement.tables, [&](const ast::RelationName& name) { return name.name == table; });
  if (statement.list == ast::ImportList::kLimitTo) return is_listed;
  return statement.list != ast::ImportList::kExcept || !is_listed;
}

/// The objects of a framework are made together: all of them where LIMIT TO names one, none where EXCEPT does.
bool is_wanted(const ast::ImportForeignSchema& statement, const sql::ProposedFramework& framework) {
  const auto is_listed = [&](const auto& object) {
    const std::string own = sql::framework_object_name(framework, object.name, statement.local_schema);
    return std::ranges::any_of(statement.tables, [&](const ast::RelationName& name) { return name.name == own; });
  };
  const bool any = std::ranges::any_of(framework.tables, is_listed) || std::ranges::any_of(framework.views, is_listed);
  if (statement.list == ast::ImportList::kLimitTo) return any;
  return statement.list != ast::ImportList::kExcept || !any;
}

class ImportExecution final : public Execution {
 public:
  ImportExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (refuses_definition(*prepared_->statement, session_)) throw sql::in_read_only_transaction(command_tag());
    const auto& statement = std::get<ast::ImportForeignSchema>(prepared_->statement->node);
    if (statement.server != "redis") throw SqlError(sqlstate::kUndefinedObject, fmt::format("server \"{}\" does not exist", statement.server));
    const sql::CatalogPtr catalog = co_await engine_.catalog(session_);
    if (!catalog->schemas.contains(statement.local_schema) && !is_system_schema(statement.local_schema)) {
      throw sql::undefined_schema(statement.local_schema);
    }
    ImportOptions options = import_options(statement);
    const sql::Oid role = current_role(*sql::known_roles(), session_);
    if (!may_define_foreign_tables(*catalog, role)) throw foreign_server_denied();
    const int database = options.database ? static_cast<int>(*options.database) : engine_.database();
    RedisUserPtr user;
    if (const sql::UserMappingDef* mapping = find_user_mapping(catalog->server, role)) {
      user = co_await mapped_user(engine_.access(), engine_.database(), catalog->version, *mapping, role);
    }
    RedisClient& client = user ? user->bulk(database) : engine_.access().bulk(database);
    if (OwnKeyspace* own = client.own_keyspace()) options.discovery.step = [own] { return own->share().step(); };
    Discovery discovery = co_await discover(client, std::move(options.discovery));
    for (sql::ProposedTable& table : discovery.proposal.tables) {
      if (options.database) table.database = std::to_string(*options.database);
      table.maintained = options.maintained;
    }
    for (sql::ProposedFramework& framework : discovery.proposal.frameworks) {
      for (sql::ProposedTable& table : framework.tables) {
        if (options.database) table.database = std::to_string(*options.database);
      }
    }

    ProposalImport import(engine_, session_, statement.local_schema);
    ProposalImport::Wanted wanted{.table = [&](const std::string& table) { return is_wanted(statement, table); },
                                  .framework = [&](const sql::ProposedFramework& framework) { return is_wanted(statement, framework); },
                                  .notes_left_out = statement.list != ast::ImportList::kLimitTo};
    co_await import.run(discovery.proposal, std::move(wanted));
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

std::unique_ptr<Execution> make_import(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<ImportExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
