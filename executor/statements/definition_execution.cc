#include "executor/statements/definition_execution.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <set>
#include <stdexcept>

#include "executor/ddl/ddl.h"
#include "executor/ddl/role_statements.h"
#include "executor/ddl/stands_alone.h"
#include "executor/ddl/structure_state.h"
#include "executor/ddl/temporary.h"
#include "executor/discovery/import_foreign_schema.h"
#include "executor/engine/kept_statements.h"
#include "executor/engine/statement_kind.h"
#include "executor/roles/access.h"
#include "executor/roles/role_access.h"
#include "executor/runtime/body_error.h"
#include "executor/runtime/failure.h"
#include "executor/statements/create_schema.h"
#include "executor/statements/create_table_as.h"
#include "executor/statements/do_statement.h"
#include "executor/statements/lock_table.h"
#include "executor/statements/materialized_view.h"
#include "executor/statements/notification_statement.h"
#include "executor/statements/truncate_foreign.h"
#include "executor/statements/truncate_triggers.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

class DefinitionExecution final : public Execution {
 public:
  DefinitionExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    refuse_in_transaction();
    if (const std::shared_ptr<Transaction> transaction = session_.transaction) {
      std::set<sql::Oid> tables = transaction->changed_tables();
      if (!transaction->buffer().increments(tables).empty()) {
        co_await engine_.prepare_locks(*transaction, session_);
        const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout, session_.backend_pid};
        co_await settle_increments(engine_.shared(), *transaction, std::move(tables), limits, engine_.random());
      }
    }
    const sql::CatalogPtr known = co_await engine_.catalog(session_);
    RoleAccess access(engine_.access(), engine_.database(), known, current_role(*sql::known_roles(), session_));
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home(), engine_.database(), &access};
    if (engine_.shared().own_keyspace() == nullptr) {
      context.lock_table = [this](const sql::TableDef& table, TableLock mode) { return lock(table, mode); };
    } else {
      context.statement = statement_with_path(prepared_->text, session_, *known);
    }
    const auto* truncate = std::get_if<ast::Truncate>(&prepared_->statement->node);
    if (truncate != nullptr && may_fire_triggers(*truncate, *known, session_)) context.fire_truncate = [this](std::vector<std::shared_ptr<const sql::TableDef>> tables, sql::TriggerDef::Timing timing) {
      return fire_truncate_triggers(engine_, session_, std::move(tables), timing);
    };
    if (makes_temporary(*prepared_->statement)) co_await engine_.open_temporary(session_);
    std::optional<sql::SqlError> in_body;
    try {
      co_await std::visit([&](const auto& statement) { return run_one(context, statement); }, prepared_->statement->node);
    } catch (const BodyError& error) {
      in_body = error.in_statement(prepared_->text);
    }
    if (in_body) throw *in_body;
    const StructureContext structures{context, access, engine_.database()};
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
      throw sql::SqlError(sqlstate::kActiveTransaction,
                          command_tag() + (is_index ? " CONCURRENTLY" : "") + " cannot run inside a transaction block");
    }
    if (session_.transaction && rename && rename->object == ast::ObjectType::kDatabase) {
      throw sql::not_supported("ALTER DATABASE in a transaction block");
    }
    if (refuses_definition(statement, session_)) throw sql::in_read_only_transaction(command_tag());
  }

  /// Outside of a transaction the statement only waits until it could have the table: its definitions change in one step.
  asio::awaitable<void> lock(const sql::TableDef& table, TableLock mode) {
    const bool is_alone = session_.transaction == nullptr;
    const std::shared_ptr<Transaction> holder = is_alone ? engine_.begin_transaction() : session_.transaction;
    const std::exception_ptr failure = co_await failure_of(engine_.lock_table(session_, *holder, table, static_cast<std::int32_t>(mode)));
    if (is_alone) {
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
      co_await engine_.release(session_, *holder);
      co_await asio::this_coro::reset_cancellation_state();
    }
    if (failure) std::rethrow_exception(failure);
  }

  template <class Statement>
  static asio::awaitable<void> run_one(DdlContext& context, const Statement& statement) {
    if constexpr (statement_kind<Statement>() == StatementKind::kDefinition) return run(context, statement);
    throw std::logic_error("no definition statement");  // see MakeExecution
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

/// The execution of each kind of statement that has no plan.
struct MakeExecution {
  RedisEngine& engine;
  PreparedPtr prepared;
  SessionState& session;
  std::vector<sql::Datum> parameters;

  using Made = std::unique_ptr<Execution>;

  Made operator()(const planner::OneOf<ast::Select, ast::CreateTableAs> auto&) {
    return make_create_table_as(engine, std::move(prepared), session, std::move(parameters));
  }
  Made operator()(const planner::OneOf<ast::Listen, ast::Notify, ast::Unlisten> auto&) {
    return make_notification_statement(std::move(prepared), session);
  }
  Made operator()(const ast::Do&) { return make_do_statement(engine, std::move(prepared), session); }
  Made operator()(const ast::LockTable&) { return make_lock_table(engine, std::move(prepared), session); }
  Made operator()(const ast::RefreshMaterializedView&) { return make_refresh(engine, std::move(prepared), session); }
  Made operator()(const ast::ImportForeignSchema&) { return make_import(engine, std::move(prepared), session); }
  Made operator()(const ast::CreateSchema& schema) {
    return schema.elements.empty() ? plain() : make_create_schema(engine, prepared, session, plain());
  }
  Made operator()(const ast::Truncate&) { return make_truncate(engine, prepared, session, plain()); }

  template <class Statement>
  Made operator()(const Statement&) {
    constexpr StatementKind kKind = statement_kind<Statement>();
    static_assert(kKind != StatementKind::kComposed, "a composed statement without an execution");
    if constexpr (kKind == StatementKind::kDefinition) return plain();
    throw std::logic_error("no definition statement");  // see is_definition
  }

 private:
  Made plain() const { return std::make_unique<DefinitionExecution>(engine, prepared, session); }
};

}  // namespace

std::unique_ptr<Execution> make_definition_execution(RedisEngine& engine, PreparedPtr prepared, SessionState& session,
                                                     std::vector<sql::Datum> parameters) {
  const std::shared_ptr<const ast::Statement> statement = prepared->statement;
  return std::visit(MakeExecution{engine, std::move(prepared), session, std::move(parameters)}, statement->node);
}

}  // namespace redquel::executor
