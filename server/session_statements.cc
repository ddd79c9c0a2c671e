#include "server/session_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "executor/runtime/notifications.h"
#include "parser/parse.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace ast = parser::ast;

namespace {

template <class... Types>
bool holds_any(const decltype(ast::Statement::node)& node) {
  return (std::holds_alternative<Types>(node) || ...);
}

}  // namespace

/// The work happens at the first `next`; EXECUTE then forwards to the run of the prepared statement.
class SessionStatements::Run final : public executor::Execution {
 public:
  Run(SessionStatements& owner, PreparedStatementPtr prepared, std::vector<sql::Datum> parameters)
      : owner_(owner), prepared_(std::move(prepared)), parameters_(std::move(parameters)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (inner_) co_return co_await inner_->next();
    if (fetched_.count > 0) co_return owner_.find_cursor(cursor_).take(fetched_);
    if (acted_) co_return std::nullopt;
    acted_ = true;
    const auto& node = prepared_->statement->node;
    if (std::holds_alternative<ast::Execute>(node)) {
      inner_ = co_await owner_.start_prepared(prepared_);
      co_return co_await inner_->next();
    }
    if (std::holds_alternative<ast::Explain>(node)) {
      inner_ = co_await owner_.explain_prepared(prepared_);
      co_return co_await inner_->next();
    }
    if (std::holds_alternative<ast::CreateTableAs>(node)) {
      inner_ = co_await owner_.create_from_prepared(prepared_);
      co_return co_await inner_->next();
    }
    if (std::holds_alternative<ast::Prepare>(node)) {
      co_await owner_.store_prepared(prepared_);
      tag_ = "PREPARE";
      co_return std::nullopt;
    }
    if (const auto* transaction = std::get_if<ast::Transaction>(&node)) {
      tag_ = co_await owner_.transactions_.run(*transaction, this);
      co_return std::nullopt;
    }
    if (const auto* constraints = std::get_if<ast::SetConstraints>(&node)) {
      owner_.warn_outside_block("SET CONSTRAINTS");
      co_await owner_.engine_->set_constraints(*constraints, owner_.state_);
      tag_ = "SET CONSTRAINTS";
      co_return std::nullopt;
    }
    if (std::holds_alternative<ast::DeclareCursor>(node)) {
      co_await owner_.declare_cursor(prepared_, std::move(parameters_));
      tag_ = "DECLARE CURSOR";
      co_return std::nullopt;
    }
    if (const auto* fetch = std::get_if<ast::Fetch>(&node)) {
      cursor_ = fetch->cursor;
      fetched_ = co_await owner_.fetch(*fetch, this, tag_);
      co_return co_await next();
    }
    if (const auto* discard = std::get_if<ast::Discard>(&node)) {
      tag_ = owner_.discard(*discard, this);
      const bool all = discard->target == ast::DiscardTarget::kAll;
      if ((all || discard->target == ast::DiscardTarget::kTemporary) && owner_.engine_ != nullptr) {
        co_await owner_.engine_->drop_temporary(owner_.state_);
      }
      if (all) co_await owner_.transactions_.release_session_locks();
      co_return std::nullopt;
    }
    const auto* set = std::get_if<ast::SetVariable>(&node);
    const bool names_role = set != nullptr && (set->name == "role" || set->name == "session_authorization");
    if (names_role && owner_.engine_ != nullptr) co_await owner_.refresh_roles();
    co_return act(node);
  }

  std::string command_tag() const override { return inner_ ? inner_->command_tag() : tag_; }
  sql::UserTypesPtr user_types() const override {
    if (inner_) return inner_->user_types();
    return cursor_.empty() ? nullptr : owner_.find_cursor(cursor_).run().user_types();
  }
  sql::ColumnPtr named(const sql::ColumnPtr& column) const override {
    if (inner_) return inner_->named(column);
    return cursor_.empty() ? column : owner_.find_cursor(cursor_).run().named(column);
  }

 private:
  std::optional<sql::Batch> act(const decltype(ast::Statement::node)& node) {
    if (const auto* show = std::get_if<ast::ShowVariable>(&node)) {
      tag_ = "SHOW";
      return owner_.show(*show);
    }
    if (const auto* set = std::get_if<ast::SetVariable>(&node)) {
      tag_ = owner_.set(*set);
    } else if (const auto* deallocate = std::get_if<ast::Deallocate>(&node)) {
      tag_ = owner_.deallocate(*deallocate);
    } else {
      tag_ = owner_.close_portal(std::get<ast::ClosePortal>(node), this);
    }
    return std::nullopt;
  }

  SessionStatements& owner_;
  PreparedStatementPtr prepared_;
  std::vector<sql::Datum> parameters_;
  std::unique_ptr<executor::Execution> inner_;
  std::string cursor_;  // of FETCH,
  CursorMove fetched_;  // and which of the rows it has not given yet
  bool acted_ = false;
  std::string tag_;
};

/// Roles that other processes have changed are known from the next load of the definitions on, whose version moves with them.
asio::awaitable<void> SessionStatements::refresh_roles() {
  co_await engine_->load_definitions(state_);
}

bool SessionStatements::handles(const ast::Statement& statement) {
  if (const auto* explain = std::get_if<ast::Explain>(&statement.node)) return std::holds_alternative<ast::Execute>(explain->statement->node);
  if (const auto* create = std::get_if<ast::CreateTableAs>(&statement.node)) return std::holds_alternative<ast::Execute>(create->query->node);
  return holds_any<ast::SetVariable, ast::ShowVariable, ast::Discard, ast::Transaction, ast::SetConstraints,
                   ast::Prepare, ast::Execute, ast::Deallocate, ast::DeclareCursor, ast::Fetch, ast::ClosePortal>(statement.node);
}

asio::awaitable<PreparedStatementPtr> SessionStatements::prepare(SourceText source, std::string text,
                                                                 std::shared_ptr<const ast::Statement> statement,
                                                                 executor::DeclaredParameters parameters) {
  auto prepared = std::make_shared<PreparedStatement>();
  prepared->source = std::move(source);
  if (const auto* fetched = std::get_if<ast::Fetch>(&statement->node)) co_await adopt_cursor(fetched->cursor);
  if (const auto* closed = std::get_if<ast::ClosePortal>(&statement->node); closed) co_await adopt_cursor(closed->name);
  if (const auto* show = std::get_if<ast::ShowVariable>(&statement->node)) {
    const auto text_column = [](std::string name) { return executor::OutputColumn{std::move(name), sql::kText, 0, 0}; };
    prepared->returns_rows = true;
    if (show->name == "all") {
      for (const char* name : {"name", "setting", "description"}) prepared->columns.push_back(text_column(name));
    } else {
      prepared->columns.push_back(text_column(parameters_.display_name(show->name)));
    }
  } else if (const auto* execute = std::get_if<ast::Execute>(&statement->node)) {
    const PreparedStatementPtr& target = find_statement(execute->name);
    prepared->columns = target->columns;
    prepared->returns_rows = target->returns_rows;
  } else if (const auto* explain = std::get_if<ast::Explain>(&statement->node)) {
    find_statement(std::get<ast::Execute>(explain->statement->node).name);
    const bool is_json = std::ranges::any_of(explain->options, [](const ast::Option& option) {
      const auto* format = std::get_if<std::string>(&option.value);
      return option.name == "format" && format != nullptr && *format == "json";
    });
    prepared->columns = {executor::OutputColumn{"QUERY PLAN", is_json ? sql::Type{sql::oid::kJson} : sql::kText, 0, 0}};
    prepared->returns_rows = true;
  } else if (const auto* fetch = std::get_if<ast::Fetch>(&statement->node); fetch != nullptr && !fetch->move) {
    if (const auto cursor = cursors_.find(fetch->cursor); cursor != cursors_.end()) {
      prepared->columns = cursor->second->query->columns;
      prepared->returns_rows = true;
      prepared->binary = cursor->second->binary;
    } else if (const auto portal = portals_.find(fetch->cursor); portal != portals_.end()) {
      prepared->columns = portal->second->statement->columns;
      prepared->returns_rows = portal->second->statement->returns_rows;
    }  // else it fails when it runs, unless the cursor is there by then
  } else if (std::holds_alternative<ast::DeclareCursor>(statement->node)) {
    prepared->parameter_types = co_await analyze_cursor(std::move(text), statement, std::move(parameters));
  }
  prepared->statement = std::move(statement);
  co_return prepared;
}

std::unique_ptr<executor::Execution> SessionStatements::execute(PreparedStatementPtr prepared, std::vector<sql::Datum> parameters) {
  return std::make_unique<Run>(*this, std::move(prepared), std::move(parameters));
}

std::unique_ptr<executor::Execution> SessionStatements::start(Portal& portal) {
  const PreparedStatement& statement = *portal.statement;
  return statement.plan ? engine_->execute(statement.plan, std::move(portal.parameters), state_)
                        : execute(portal.statement, std::move(portal.parameters));
}

void SessionStatements::warn_outside_block(std::string_view construct) const {
  if (state_.notice && !transactions_.block().is_block()) state_.notice("WARNING", outside_block(construct));
}

std::string SessionStatements::set(const ast::SetVariable& set) {
  using Kind = ast::SetVariable::Kind;
  if (set.kind == Kind::kTransaction) return set_transaction(set);
  if (set.kind == Kind::kResetAll) {
    parameters_.reset_all();
    return "RESET";
  }
  // SET LOCAL lasts as long as the transaction, which without a block is this statement: checked, then undone.
  const bool undone = set.local && !state_.transaction;
  const std::optional<std::string> before = undone ? parameters_.find(set.name) : std::nullopt;
  if (set.local) warn_outside_block("SET LOCAL");
  switch (set.kind) {
    case Kind::kValue: {
      std::vector<std::string> values;
      for (const ast::SettingValue& value : set.values) {
        values.push_back(value.interval ? fmt::format("INTERVAL '{}'", value.text) : value.text);
      }
      const std::string text = RunTimeParameters::join_values(set.name, values);
      parameters_.set(set.name, text, set.local);
      break;
    }
    case Kind::kFromCurrent:
      parameters_.show(set.name);
      break;
    default:
      parameters_.reset(set.name, set.local);
      break;
  }
  if (before) parameters_.set(set.name, *before);
  return set.kind == Kind::kReset ? "RESET" : "SET";
}

std::string SessionStatements::set_transaction(const ast::SetVariable& set) {
  if (set.snapshot) throw sql::not_supported("SET TRANSACTION SNAPSHOT");
  if (set.session_characteristics) {
    for (const ast::Option& mode : set.modes) parameters_.set("default_" + mode.name, mode_value(mode));
    return "SET";
  }
  warn_outside_block("SET TRANSACTION");
  if (state_.transaction) transactions_.set_modes(set.modes);
  return "SET";
}

sql::Batch SessionStatements::show(const ast::ShowVariable& show) const {
  std::vector<sql::Column> columns;
  std::size_t rows = 0;
  if (show.name == "all") {
    columns.assign(3, sql::Column(sql::kText));
    for (const RunTimeParameters::Description& row : parameters_.all()) {
      columns[0].append(std::string_view(row.name));
      columns[1].append(std::string_view(row.setting));
      columns[2].append(std::string_view(row.description));
      ++rows;
    }
  } else {
    columns.assign(1, sql::Column(sql::kText));
    columns[0].append(std::string_view(parameters_.show(show.name)));
    rows = 1;
  }
  sql::Batch batch;
  batch.rows = rows;
  for (sql::Column& column : columns) batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
  return batch;
}

std::string SessionStatements::discard(const ast::Discard& discard, const executor::Execution* running) {
  switch (discard.target) {
    // The engine's plans follow the catalog by themselves.
    case ast::DiscardTarget::kPlans:
      return "DISCARD PLANS";
    case ast::DiscardTarget::kSequences:
      state_.sequences = {};
      return "DISCARD SEQUENCES";
    case ast::DiscardTarget::kTemporary:
      return "DISCARD TEMP";
    case ast::DiscardTarget::kAll:
      if (transactions_.block().is_block()) throw inside_block("DISCARD ALL");
      break;
  }
  std::erase_if(portals_, [&](const auto& entry) { return entry.second->execution.get() != running; });
  std::erase_if(statements_, [](const auto& entry) { return !entry.first.empty(); });
  cursors_.clear();
  state_.sequences = {};
  state_.notifications->add({executor::SessionNotifications::Action::Kind::kUnlistenAll, {}});
  parameters_.reset("session_authorization");
  parameters_.reset("role");
  parameters_.reset_all();
  return "DISCARD ALL";
}

std::string SessionStatements::deallocate(const ast::Deallocate& deallocate) {
  if (deallocate.name.empty()) {
    std::erase_if(statements_, [](const auto& entry) { return !entry.first.empty(); });
    return "DEALLOCATE ALL";
  }
  find_statement(deallocate.name);
  statements_.erase(deallocate.name);
  return "DEALLOCATE";
}

std::string SessionStatements::close_portal(const ast::ClosePortal& close, const executor::Execution* running) {
  if (cursors_.erase(close.name) > 0) return "CLOSE CURSOR";
  if (close.name.empty()) {
    cursors_.clear();
    std::erase_if(portals_, [&](const auto& entry) { return entry.second->execution.get() != running; });
    return "CLOSE CURSOR ALL";
  }
  const auto found = portals_.find(close.name);
  if (found == portals_.end()) {
    throw sql::undefined_cursor(close.name);
  }
  if (found->second->execution.get() == running) {
    throw sql::SqlError(sqlstate::kInvalidCursorState, fmt::format("cannot drop active portal \"{}\"", close.name));
  }
  portals_.erase(found);
  return "CLOSE CURSOR";
}

}  // namespace redquel::server
