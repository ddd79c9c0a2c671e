#include "executor/ddl/row_validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/row_copy.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/session_context.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_image.h"
#include "executor/storage/table_walk.h"
#include "executor/storage/write_program.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/catalog/spread_table.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

struct BoundRowCheck {
  std::string name;
  sql::ExpressionPtr condition;
};

std::vector<BoundRowCheck> bind_checks(const SessionState& session, const sql::CatalogSnapshot& catalog,
                                       const sql::TableDef& table, const std::vector<std::string>& names) {
  const std::vector<planner::ColumnId> ids = planner::positions_as_ids(table);
  std::vector<BoundRowCheck> bound;
  for (const sql::CheckDef& check : table.checks) {
    if (std::find(names.begin(), names.end(), check.name) == names.end()) continue;
    const parser::ast::ExpressionPtr parsed = parser::parse_expression(check.expression_sql);
    bound.push_back({check.name, planner::bind_check(*parsed, table, ids, catalog, bind_settings(session), true)});
  }
  return bound;
}

}  // namespace

bool has_own_changes(const SessionState& session, const TablePtr& table) {
  const Transaction* transaction = session.transaction.get();
  if (transaction == nullptr) return false;
  return std::ranges::any_of(sql::stored_tables(table), [&](const TablePtr& stored) { return transaction->buffer().changes(stored->oid) != nullptr; });
}

asio::awaitable<TableState> own_table_state(DdlContext& context, TablePtr table) {
  TableState state = co_await table_state(context.redis, *table);
  if (has_own_changes(context.session, table)) state.is_empty = false;
  co_return state;
}

asio::awaitable<void> examine_rows(DdlContext& context, std::shared_ptr<const sql::TableDef> table, std::function<void(const sql::Batch&)> examine) {
  EventLoopTurn turn;
  for (const auto& stored : sql::stored_tables(table)) {
    TableChangesPtr changes;
    if (context.session.transaction) changes = context.session.transaction->buffer().changes(stored->oid);
    TableWalk walk(stored);
    while (std::optional<sql::Batch> page = co_await walk.next(context.bulk)) {
      examine(changes ? unchanged_rows(*page, *stored, *changes) : *page);
    }
    if (!changes) continue;
    TableChanges::Walk changed(*changes);
    for (bool is_over = false; !is_over;) {
      std::vector<RowValues> rows;
      while (rows.size() < sql::kBatchRows && !is_over) {
        const ChangeLog::VersionPtr version = changed.next();
        is_over = version == nullptr;
        if (version && version->row.current) rows.push_back(version->row.current);
      }
      if (!rows.empty()) examine(page_of_changed(*stored, rows));
      if (turn.is_over()) co_await turn.yield();
    }
  }
}

asio::awaitable<void> validate_rows(DdlContext& context, sql::CatalogPtr catalog, sql::TableDef definition,
                                    std::vector<std::int16_t> not_null, std::vector<std::string> check_names) {
  // Readers take a NOT NULL column for the sign that a row exists; a row with NULL there would be none.
  for (std::int16_t number : not_null) definition.columns[definition.position(number)].not_null = false;
  const auto table = std::make_shared<const sql::TableDef>(std::move(definition));
  const std::vector<BoundRowCheck> checks = bind_checks(context.session, *catalog, *table, check_names);
  const sql::EvaluationContext evaluation = definition_context(context.session, *catalog);

  const auto examine = [&](const sql::Batch& page) {
    for (std::int16_t number : not_null) {
      const sql::Column& column = *page.columns[table->position(number)];
      for (std::size_t row = 0; row < page.rows; ++row) {
        if (column.is_null(row)) throw column_contains_nulls(*table, *table->find_column(number));
      }
    }
    for (const BoundRowCheck& check : checks) {
      const sql::ColumnPtr result = sql::evaluate(*check.condition, page, evaluation);
      for (std::size_t row = 0; row < page.rows; ++row) {
        if (result->is_null(row) || result->get<bool>(row)) continue;
        throw SqlError(sqlstate::kCheckViolation,
                       fmt::format("check constraint \"{}\" of relation \"{}\" is violated by some row", check.name, table->name))
            .schema(table->schema)
            .table(table->name)
            .constraint(check.name);
      }
    }
  };
  co_await examine_rows(context, table, examine);
}

asio::awaitable<void> store_keys(DdlContext& context, std::shared_ptr<const sql::TableDef> table) {
  for (const auto& part : table->parts) co_await store_keys(context, part);
  if (!table->parts.empty()) co_return;
  const RowEncoder encoder(table, std::vector<sql::Structure>());
  std::vector<std::size_t> key_positions;
  for (std::size_t position = 0; position < encoder.width(); ++position) {
    const bool is_hidden = position == table->columns.size();
    if (is_hidden || table->in_primary_key(table->columns[position].number)) key_positions.push_back(position);
  }
  TableWalk walk(table);
  while (true) {
    std::optional<sql::Batch> page = co_await walk.next(context.bulk);
    if (!page) co_return;
    Words words;
    CommandBatch calls;
    for (const auto& row : decode_rows(*page)) {
      const RowImage image = encoder.encode(row, words);
      std::vector<std::string_view> fields;
      for (const std::size_t position : key_positions) fields.insert(fields.end(), {*encoder.field(position), words[image.texts + position]});
      WriteProgram program;
      program.add(StepKind::kParent, {image.key});  // a row that is gone does not come back
      program.add(StepKind::kHset, {image.key}, fields);
      append_program(calls, kWriteScript, program, table->tag());
    }
    if (calls.size() == 0) continue;
    std::vector<const Script*> scripts{&kWriteScript};
    const RepliesPtr replies = co_await run_scripts(context.bulk, std::move(scripts), std::move(calls));
    replies->or_throw();
  }
}

}  // namespace redquel::executor
