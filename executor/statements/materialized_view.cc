#include "executor/statements/materialized_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/maintained_parts.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/row_copy.h"
#include "executor/engine/inner_statements.h"
#include "executor/roles/acting_role.h"
#include "executor/runtime/session_context.h"
#include "parser/deparse.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// 0A000 for other relations, 55000 where CONCURRENTLY cannot be.
TablePtr find_view(const CatalogDraft& draft, const ast::RefreshMaterializedView& statement) {
  const ast::RelationName& name = statement.relation;
  const RelationKind kind = relation_kind(draft, name);
  if (kind == RelationKind::kNone) throw missing_relation(draft, name);
  const TablePtr table = kind == RelationKind::kTable ? find_table(draft, name) : nullptr;
  if (!table || !table->materialized) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("\"{}\" is not a materialized view", name.name));
  }
  if (!statement.concurrently) return table;
  if (statement.with_no_data) throw SqlError(sqlstate::kSyntaxError, "CONCURRENTLY and WITH NO DATA options cannot be used together");
  if (!table->populated) throw SqlError(sqlstate::kFeatureNotSupported, "CONCURRENTLY cannot be used when the materialized view is not populated");
  const bool has_key = std::ranges::any_of(table->indexes, [](const sql::IndexDef& index) {
    const bool plain = std::ranges::all_of(index.parts, [](const sql::IndexDef::Part& part) { return part.column > 0; });
    return index.unique && index.predicate_sql.empty() && plain && index.state == sql::IndexState::kReady;
  });
  if (!has_key) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                   fmt::format("cannot refresh materialized view \"{}.{}\" concurrently", table->schema, table->name))
        .hint("Create a unique index with no WHERE clause on one or more columns of the materialized view.");
  }
  return table;
}

class RefreshExecution final : public Execution {
 public:
  RefreshExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    co_await in_transaction(engine_, session_, refresh());
    co_return std::nullopt;
  }

  std::string command_tag() const override { return "REFRESH MATERIALIZED VIEW"; }

 private:
  asio::awaitable<void> refresh() {
    const auto& statement = std::get<ast::RefreshMaterializedView>(prepared_->statement->node);
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home(), engine_.database()};
    TablePtr before;
    std::shared_ptr<const sql::ViewDef> view;
    std::string target, insert;
    std::shared_ptr<const sql::TableDef> base;  // that the view follows; null: it is not maintained
    const MakeDraft open = [&](CatalogDraft& draft) {
      before = find_view(draft, statement);
      sql::TableDef table = *before;
      view = table.materialized;
      target = parser::quote_identifier(table.schema) + "." + parser::quote_identifier(table.name);
      insert = "INSERT INTO " + target + " " + view->query;
      if (is_maintained(*view)) {
        const auto kept = planner::MaintainedView::read(*view, table, draft.catalog(), bind_settings(session_));
        insert = kept.fill();
        base = draft.catalog().find_table(kept.base());
      }
      table.materialized = nullptr;
      draft.put(std::move(table));
    };
    co_await change_catalog(context, open);
    if (base) co_await engine_.lock_table(session_, *session_.transaction, *base, static_cast<std::int32_t>(TableLock::kShareRowExclusive));
    const ActingRole owner(session_, sql::owner_role(before->owner));
    co_await run_inner_statement(engine_, session_, "TRUNCATE " + target);
    if (!statement.with_no_data) {
      try {
        co_await run_inner_statement(engine_, session_, insert);
      } catch (const SqlError& error) {
        if (statement.concurrently) throw;
        throw as_build_error(error, *before);
      }
    }
    const MakeDraft close = [&](CatalogDraft& draft) {
      sql::TableDef table = *draft.catalog().find_table(before->oid);
      table.materialized = view;
      table.populated = !statement.with_no_data;
      draft.put(std::move(table));
    };
    co_await change_catalog(context, close);
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

std::unique_ptr<Execution> make_refresh(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<RefreshExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
