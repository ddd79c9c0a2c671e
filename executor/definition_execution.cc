#include "executor/create_schema.h"
#include "executor/create_table_as.h"
#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/role_statements.h"
#include "executor/ddl/stands_alone.h"
#include "executor/ddl/structure_state.h"
#include "executor/ddl/temporary.h"
#include "executor/ddl/vacuum_options.h"
#include "executor/discovery/import_foreign_schema.h"
#include "executor/lock_table.h"
#include "executor/materialized_view.h"
#include "executor/notifications.h"
#include "executor/query_execution.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/transaction.h"
#include "executor/truncate_foreign.h"
#include "parser/parse.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

constexpr std::int32_t kAccessShare = 1;

void check_lockable(const CatalogDraft& draft, const ast::RelationName& name) {
  switch (relation_kind(draft, name)) {
    case RelationKind::kNone:
      throw missing_relation(draft, name);
    case RelationKind::kIndex:
    case RelationKind::kSequence:
      throw sql::SqlError("42809", "cannot lock relation \"" + name.name + "\"");
    case RelationKind::kTable:
    case RelationKind::kView:
    case RelationKind::kSystemTable:
      return;
  }
}

/// Calls `check` with the definitions that the statement sees.
asio::awaitable<void> check_definitions(DdlContext& context, const std::function<void(const CatalogDraft&)>& check) {
  if (context.session.transaction && context.session.transaction->catalog()) {
    const MakeDraft make = [&](CatalogDraft& draft) { check(draft); };
    co_await change_catalog(context, make);
    co_return;
  }
  const LoadedCatalog loaded = co_await load_catalog(context.redis);
  const CatalogDraft draft(loaded, context.session);
  check(draft);
}

/// LOCK TABLE … IN ACCESS SHARE MODE, which every reading statement has: definitions that others change are noticed when the
/// transaction's statements run, so it holds nothing.
asio::awaitable<void> run(DdlContext& context, const ast::LockTable& statement) {
  if (!context.session.transaction) throw sql::SqlError("25P01", "LOCK TABLE can only be used in transaction blocks");
  if (statement.mode != kAccessShare) throw sql::not_supported("LOCK TABLE in this mode");
  const std::function<void(const CatalogDraft&)> check = [&](const CatalogDraft& draft) {
    for (const ast::TableRef& relation : statement.relations) check_lockable(draft, relation.name);
  };
  co_await check_definitions(context, check);
}

/// VACUUM and ANALYZE: there are no statistics to gather, but half-done removals to finish.
asio::awaitable<void> run_vacuum(DdlContext& context, const ast::Vacuum& statement) {
  check_vacuum_options(statement);
  const std::function<void(const CatalogDraft&)> check = [&](const CatalogDraft& draft) {
    for (const ast::VacuumRelation& listed : statement.relations) {
      const ast::RelationName& name = listed.relation.name;
      if (relation_kind(draft, name) == RelationKind::kNone) throw missing_relation(draft, name);
      const TablePtr table = draft.catalog().find_table(name.schema, name.name, draft.session().search_path);
      for (auto column = listed.columns.begin(); table && column != listed.columns.end(); ++column) {
        const std::string shown = "column \"" + *column + "\" of relation \"" + table->name + "\"";
        if (table->find_column(*column) == nullptr) throw sql::SqlError("42703", shown + " does not exist");
        if (std::find(listed.columns.begin(), column, *column) != column) throw sql::SqlError("42701", shown + " appears more than once");
      }
    }
  };
  if (!statement.relations.empty()) co_await check_definitions(context, check);
  co_await finish_removals(context.redis);
}

/// CLUSTER: rows have no order of their own to change, so only the names are looked at.
asio::awaitable<void> run(DdlContext& context, const ast::Cluster& statement) {
  const std::function<void(const CatalogDraft&)> check = [&](const CatalogDraft& draft) {
    if (!statement.relation) return;
    check_schema(draft, *statement.relation);
    const TablePtr table = require_table(draft, *statement.relation);
    if (statement.index.empty()) {
      throw sql::SqlError("42704", "there is no previously clustered index for table \"" + table->name + "\"");
    }
    if (table->find_index(statement.index) == nullptr && (table->primary_key.empty() || table->primary_key_name != statement.index)) {
      throw sql::SqlError("42704", "index \"" + statement.index + "\" for table \"" + table->name + "\" does not exist");
    }
  };
  co_await check_definitions(context, check);
}

/// CHECKPOINT: Redis writes its file itself.
asio::awaitable<void> run(DdlContext&, const ast::Checkpoint&) { co_return; }

template <class Statement>
concept Definition = requires(DdlContext& context, const Statement& statement) { run(context, statement); };

class DefinitionExecution final : public Execution {
 public:
  DefinitionExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    refuse_in_transaction();
    std::vector<sql::Oid> any_table;
    const LockDeadline deadline = lock_deadline(session_.lock_timeout);
    co_await wait_while_exclusive(engine_.shared(), std::move(any_table), deadline);
    if (const std::shared_ptr<Transaction> transaction = session_.transaction) {
      std::set<sql::Oid> tables = transaction->changed_tables();
      if (!transaction->buffer().increments(tables).empty()) {
        co_await engine_.prepare_locks(*transaction, session_);
        const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout};
        co_await settle_increments(engine_.shared(), *transaction, std::move(tables), limits, engine_.random());
      }
    }
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home(), engine_.database(), &engine_.access()};
    context.lock_table = [this](const sql::TableDef& table, TableLock mode) { return lock(table, mode); };
    if (makes_temporary(*prepared_->statement)) co_await engine_.open_temporary(session_);
    co_await std::visit([&](const auto& statement) { return run_one(context, statement); }, prepared_->statement->node);
    const StructureContext structures{context, engine_.access(), engine_.database()};
    if (!session_.transaction) co_await settle_structures(structures, *prepared_->statement);
    co_await engine_.reload_catalog();
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  void refuse_in_transaction() const {
    const ast::Statement& statement = *prepared_->statement;
    const auto* drop = std::get_if<ast::Drop>(&statement.node);
    const auto* rename = std::get_if<ast::Rename>(&statement.node);
    if (session_.transaction && stands_alone(statement)) {
      const bool is_index = std::holds_alternative<ast::CreateIndex>(statement.node) || (drop && drop->concurrently);
      throw sql::SqlError("25001", command_tag() + (is_index ? " CONCURRENTLY" : "") + " cannot run inside a transaction block");
    }
    if (session_.transaction && rename && rename->object == ast::ObjectType::kDatabase) {
      throw sql::not_supported("ALTER DATABASE in a transaction block");
    }
    if (session_.modes.read_only && !std::holds_alternative<ast::LockTable>(statement.node)) {
      throw sql::in_read_only_transaction(command_tag());
    }
  }

  /// Outside of a transaction the statement only waits until it could have the table: its definitions change in one step.
  asio::awaitable<void> lock(const sql::TableDef& table, TableLock mode) {
    const bool is_alone = session_.transaction == nullptr;
    const std::shared_ptr<Transaction> holder = is_alone ? engine_.begin_transaction() : session_.transaction;
    std::exception_ptr failure;
    try {
      co_await lock_table(engine_, session_, *holder, table, static_cast<std::int32_t>(mode));
    } catch (...) {
      failure = std::current_exception();
    }
    if (is_alone) {
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
      co_await engine_.release(session_, *holder);
      co_await asio::this_coro::reset_cancellation_state();
    }
    if (failure) std::rethrow_exception(failure);
  }

  template <class Statement>
  static asio::awaitable<void> run_one(DdlContext& context, const Statement& statement) {
    if constexpr (Definition<Statement>) {
      return run(context, statement);
    } else if constexpr (std::is_same_v<Statement, ast::Vacuum>) {
      return run_vacuum(context, statement);
    } else {
      return finish_removals(context.redis);
    }
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

bool is_definition(const ast::Statement& statement) {
  return is_create_table_as(statement) || is_notification_statement(statement) || is_refresh(statement) || is_import(statement) || std::visit(
      []<class Statement>(const Statement&) { return Definition<Statement> || std::is_same_v<Statement, ast::Vacuum>; },
      statement.node);
}

std::unique_ptr<Execution> make_definition_execution(RedisEngine& engine, PreparedPtr prepared, SessionState& session,
                                                     std::vector<sql::Datum> parameters) {
  if (is_create_table_as(*prepared->statement)) return make_create_table_as(engine, std::move(prepared), session, std::move(parameters));
  if (auto notification = make_notification_statement(prepared, session)) return notification;
  if (is_refresh(*prepared->statement)) return make_refresh(engine, std::move(prepared), session);
  if (is_import(*prepared->statement)) return make_import(engine, std::move(prepared), session);
  auto plain = std::make_unique<DefinitionExecution>(engine, prepared, session);
  const auto* schema = std::get_if<ast::CreateSchema>(&prepared->statement->node);
  if (schema != nullptr && !schema->elements.empty()) return make_create_schema(engine, std::move(prepared), session, std::move(plain));
  if (!std::holds_alternative<ast::Truncate>(prepared->statement->node)) return plain;
  return make_truncate(engine, std::move(prepared), session, std::move(plain));
}

}  // namespace redquel::executor
