// DECLARE, FETCH and MOVE.

#include <fmt/format.h>

#include "executor/runtime/clock.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "server/session_statements.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace ast = parser::ast;

const Cursor& SessionStatements::find_cursor(const std::string& name) const {
  if (const auto found = cursors_.find(name); found != cursors_.end()) return *found->second;
  if (const auto bound = portals_.find(name); bound != portals_.end() && bound->second->cursor) return *bound->second->cursor;
  throw sql::undefined_cursor(name);
}

namespace {

/// Refuses clauses that exclude FOR UPDATE and its relatives.
void refuse_locking(const ast::DeclareCursor& declare) {
  static constexpr const char* kClauses[] = {"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"};
  const char* clause = kClauses[static_cast<std::size_t>(declare.query->locking[0].strength)];
  if (declare.hold) {
    throw sql::SqlError(sqlstate::kFeatureNotSupported, fmt::format("DECLARE CURSOR WITH HOLD ... {} is not supported", clause))
        .detail("Holdable cursors must be READ ONLY.");
  }
  if (declare.scroll.value_or(false)) {
    throw sql::SqlError(sqlstate::kFeatureNotSupported, fmt::format("DECLARE SCROLL CURSOR ... {} is not supported", clause))
        .detail("Scrollable cursors must be READ ONLY.");
  }
  if (declare.insensitive.value_or(false)) {
    throw sql::SqlError(sqlstate::kInvalidCursorDefinition, fmt::format("DECLARE INSENSITIVE CURSOR ... {} is not valid", clause))
        .detail("Insensitive cursors must be READ ONLY.");
  }
}

/// The table whose rows are the query's, as the query calls it; null: no such table.
const ast::TableRef* single_table(const ast::Select& query) {
  const bool is_plain = query.from.size() == 1 && !query.distinct && query.distinct_on.empty() && query.group_by.empty() && !query.having &&
                        query.set_operator == ast::SetOperator::kNone && !query.with && query.windows.empty();
  return is_plain ? std::get_if<ast::TableRef>(&query.from[0].node) : nullptr;
}

std::string ctid_of(const ast::TableRef& table) {
  return parser::quote_identifier(table.alias ? table.alias->name : table.name.name) + ".ctid";
}

}  // namespace

asio::awaitable<bool> SessionStatements::plan_with_places(Cursor& cursor, const ast::Select& query, executor::DeclaredParameters parameters) {
  const ast::TableRef* table = single_table(query);
  if (table == nullptr) co_return false;
  const std::shared_ptr<ast::Statement> extended = std::move(parser::parse(parser::to_sql(query)).at(0).statement);
  ast::Target place;
  place.value = parser::parse_expression(ctid_of(*table));
  std::get<ast::Select>(extended->node).targets.push_back(std::move(place));
  std::string text = parser::to_sql(std::get<ast::Select>(extended->node));
  bool is_planned = false;
  try {
    auto statement = parser::parse_statement(text);
    SourceText source;
    const PreparedStatementPtr planned =
        co_await plan_statement(*engine_, std::move(source), std::move(text), std::move(statement), std::move(parameters), state_);
    auto visible = std::make_shared<PreparedStatement>(*planned);
    visible->columns.pop_back();
    cursor.query = std::move(visible);
    cursor.table = table->name.name;
    is_planned = true;
  } catch (const sql::SqlError&) {  // groups, or a table without such a column
  }
  co_return is_planned;
}

namespace {

/// UPDATE or DELETE … WHERE CURRENT OF; null: another statement.
const ast::CurrentOf* current_of(const ast::Statement& statement) {
  const auto* update = std::get_if<ast::Update>(&statement.node);
  const auto* removal = std::get_if<ast::Delete>(&statement.node);
  const ast::Expression* where = update ? update->where.get() : removal ? removal->where.get() : nullptr;
  return where ? std::get_if<ast::CurrentOf>(&where->node) : nullptr;
}

const ast::TableRef& target_of(const ast::Statement& statement) {
  const auto* update = std::get_if<ast::Update>(&statement.node);
  return update ? update->relation : std::get<ast::Delete>(statement.node).relation;
}

}  // namespace

bool SessionStatements::names_cursor(const ast::Statement& statement) { return current_of(statement) != nullptr; }

std::string SessionStatements::text_at_place(const std::string& text, std::string_view place) {
  const std::shared_ptr<ast::Statement> rewritten = std::move(parser::parse(text).at(0).statement);
  ast::ExpressionPtr condition = parser::parse_expression(fmt::format("{} = {}", ctid_of(target_of(*rewritten)), parser::quote_literal(place)));
  if (auto* update = std::get_if<ast::Update>(&rewritten->node)) {
    update->where = std::move(condition);
  } else {
    std::get<ast::Delete>(rewritten->node).where = std::move(condition);
  }
  return parser::to_sql(*rewritten);
}

std::optional<std::string> SessionStatements::text_for_current(const std::string& text, const ast::Statement& statement) const {
  const ast::CurrentOf* current = current_of(statement);
  if (current == nullptr) return std::nullopt;
  if (portals_.contains(current->cursor)) throw sql::not_supported("WHERE CURRENT OF a portal that Bind made");
  const ast::TableRef& table = target_of(statement);
  const Cursor& cursor = find_cursor(current->cursor);
  if (cursor.outlives) {
    throw sql::SqlError(sqlstate::kInvalidCursorState, fmt::format("cursor \"{}\" is held from a previous transaction", current->cursor));
  }
  if (cursor.table != table.name.name) {
    throw sql::SqlError(sqlstate::kInvalidCursorState,
                        fmt::format("cursor \"{}\" is not a simply updatable scan of table \"{}\"", current->cursor, table.name.name));
  }
  const std::optional<std::string> place = cursor.place();
  if (!place) throw sql::SqlError(sqlstate::kInvalidCursorState, fmt::format("cursor \"{}\" is not positioned on a row", current->cursor));
  return text_at_place(text, *place);
}

asio::awaitable<std::vector<sql::Type>> SessionStatements::analyze_cursor(std::string text, std::shared_ptr<const ast::Statement> statement,
                                                                          executor::DeclaredParameters parameters) {
  const auto& declare = std::get<ast::DeclareCursor>(statement->node);
  if (declare.scroll && *declare.scroll && declare.insensitive && !*declare.insensitive) {
    throw sql::SqlError(sqlstate::kInvalidCursorDefinition, "cannot specify both SCROLL and ASENSITIVE");
  }
  const executor::PreparedPtr analyzed = co_await engine_->prepare(std::move(text), statement, std::move(parameters), state_);
  if (!declare.query->locking.empty()) refuse_locking(declare);
  co_return analyzed->parameter_types;
}

asio::awaitable<void> SessionStatements::declare_cursor(PreparedStatementPtr outer, std::vector<sql::Datum> parameters) {
  const auto& declare = std::get<ast::DeclareCursor>(outer->statement->node);
  // Without a block the transaction, and the cursor with it, would end with this statement.
  if (!declare.hold && !transactions_.block().is_block()) throw outside_block("DECLARE CURSOR");
  if (cursors_.contains(declare.name) || portals_.contains(declare.name)) {
    throw sql::SqlError(sqlstate::kDuplicateCursor, fmt::format("cursor \"{}\" already exists", declare.name));
  }
  auto cursor = std::make_unique<Cursor>(memory_);
  cursor->binary = declare.binary;
  cursor->statement = outer->source.text ? *outer->source.text : std::string();
  cursor->created_at = executor::now_microseconds();
  cursor->hold = declare.hold;
  cursor->savepoints = state_.savepoints;
  cursor->outlives = !state_.transaction;
  cursor->scrolls = declare.scroll.value_or(declare.query->locking.empty());
  executor::DeclaredParameters types;
  if (!parameters.empty()) types = outer->parameter_types;
  std::unique_ptr<executor::Execution> run;
  if (co_await plan_with_places(*cursor, *declare.query, types)) {
    run = engine_->execute(cursor->query->plan, parameters, state_);
    bool may_read_places = true;
    try {
      co_await run->open();
    } catch (const sql::SqlError&) {  // ctid is for roles that may read the whole table
      may_read_places = false;
    }
    if (!may_read_places) {
      run.reset();
      cursor->table.clear();
    }
  }
  if (!run) {
    std::string text = parser::to_sql(*declare.query);
    auto query = parser::parse_statement(text);
    SourceText source;
    std::optional<sql::SqlError> failure;
    try {
      cursor->query = co_await plan_statement(*engine_, std::move(source), std::move(text), std::move(query), std::move(types), state_);
    } catch (const sql::SqlError& error) {
      failure = error.without_position();
    }
    if (failure) throw *failure;
  }
  if (!run) run = engine_->execute(cursor->query->plan, std::move(parameters), state_);
  co_await cursor->read(std::move(run), state_);
  cursors_.insert_or_assign(declare.name, std::move(cursor));
}

asio::awaitable<void> SessionStatements::hold(Portal& portal, const executor::Execution* running) {
  if (portal.cursor) co_return;
  if (portal.finished || (portal.execution && portal.execution.get() == running)) {
    throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("portal \"{}\" cannot be run", portal.name));
  }
  if (!portal.statement->returns_rows) throw sql::SqlError(sqlstate::kInternalError, "unsupported portal strategy");
  auto cursor = std::make_unique<Cursor>(memory_);
  cursor->query = portal.statement;
  cursor->scrolls = false;
  if (!portal.execution) portal.execution = start(portal);
  portal.finished = true;  // if its rows cannot be read
  co_await cursor->read_rest(portal, state_);
  portal.finished = false;
  portal.command_tag = cursor->run().command_tag();
  portal.cursor = std::move(cursor);
}

asio::awaitable<CursorMove> SessionStatements::fetch(const ast::Fetch& fetch, const executor::Execution* running, std::string& tag) {
  Cursor* cursor = nullptr;
  if (const auto declared = cursors_.find(fetch.cursor); declared != cursors_.end()) {
    cursor = declared->second.get();
  } else if (const auto bound = portals_.find(fetch.cursor); bound != portals_.end()) {
    co_await hold(*bound->second, running);
    cursor = bound->second->cursor.get();
  } else {
    throw sql::undefined_cursor(fetch.cursor);
  }
  CursorMove move = cursor->move(fetch);
  tag = fmt::format("{} {}", fetch.move ? "MOVE" : "FETCH", move.count);
  if (fetch.move) move.count = 0;
  co_return move;
}

}  // namespace redquel::server
