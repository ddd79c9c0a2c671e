#include <fmt/format.h>

#include <exception>
#include <optional>

#include "executor/ddl/ddl.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/mapped_table.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/table_alteration.h"
#include "executor/ddl/table_rewrite.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Writers may get between the look at the rows and the commit so often.
constexpr int kAttempts = 20;

TablePtr find_altered(CatalogDraft& draft, const ast::AlterTable& statement) {
  TablePtr table = find_table(draft, statement.relation);
  if (table) return table;
  if (!statement.if_exists) throw missing_relation(statement.relation);
  draft.notice("00000", fmt::format("relation \"{}\" does not exist, skipping", statement.relation.name));
  return nullptr;
}

/// PostgreSQL's name of a command in its error; empty: it has none.
struct ActionName {
  std::string_view operator()(const ast::AddColumn&) const { return "ADD COLUMN"; }
  std::string_view operator()(const ast::DropColumn&) const { return "DROP COLUMN"; }
  std::string_view operator()(const ast::AlterColumnDefault&) const { return "ALTER COLUMN ... SET DEFAULT"; }
  std::string_view operator()(const ast::AlterColumnNotNull& command) const {
    return command.not_null ? "ALTER COLUMN ... SET NOT NULL" : "ALTER COLUMN ... DROP NOT NULL";
  }
  std::string_view operator()(const ast::AlterColumnType&) const { return "ALTER COLUMN ... SET DATA TYPE"; }
  std::string_view operator()(const ast::AddIdentity&) const { return "ALTER COLUMN ... ADD IDENTITY"; }
  std::string_view operator()(const ast::SetIdentity&) const { return "ALTER COLUMN ... SET"; }
  std::string_view operator()(const ast::DropIdentity&) const { return "ALTER COLUMN ... DROP IDENTITY"; }
  std::string_view operator()(const ast::DropExpression&) const { return "ALTER COLUMN ... DROP EXPRESSION"; }
  std::string_view operator()(const ast::SetColumnOptions& command) const {
    return command.reset ? "ALTER COLUMN ... RESET" : "ALTER COLUMN ... SET";
  }
  std::string_view operator()(const ast::AlterForeignOptions& command) const {
    return command.column.empty() ? "OPTIONS" : "ALTER COLUMN ... OPTIONS";
  }
  std::string_view operator()(const ast::AddConstraint&) const { return "ADD CONSTRAINT"; }
  std::string_view operator()(const ast::AlterConstraint&) const { return "ALTER CONSTRAINT"; }
  std::string_view operator()(const ast::DropConstraint&) const { return "DROP CONSTRAINT"; }
  std::string_view operator()(const ast::ValidateConstraint&) const { return "VALIDATE CONSTRAINT"; }
  std::string_view operator()(const ast::SetTableOptions& command) const { return command.reset ? "RESET" : "SET"; }
  std::string_view operator()(const ast::ChangeOwner&) const { return "OWNER TO"; }
  std::string_view operator()(const ast::OtherAlteration&) const { return ""; }
};

SqlError cannot_be_performed(const ast::AlterTable& statement, const ast::Alteration& command, std::string_view plural) {
  const std::string_view name = std::visit(ActionName{}, command);
  return SqlError("42809", fmt::format("ALTER action {}{}cannot be performed on relation \"{}\"", name, name.empty() ? "" : " ",
                                       statement.relation.name))
      .detail(fmt::format("This operation is not supported for {}.", plural));
}

/// ALTER VIEW, SEQUENCE and INDEX with commands of ALTER TABLE: an owner, and options that mean nothing here.
void alter_other(CatalogDraft& draft, const ast::AlterTable& statement, RelationKind kind) {
  const std::string_view plural = kind == RelationKind::kView ? "views" : kind == RelationKind::kIndex ? "indexes" : "sequences";
  for (const ast::Alteration& command : statement.commands) {
    if (const auto* owner = std::get_if<ast::ChangeOwner>(&command)) {
      require_role(draft.session(), owner->role);
      if (kind != RelationKind::kView) continue;
      sql::ViewDef view = *draft.catalog().find_view(statement.relation.schema, statement.relation.name, draft.session().search_path);
      view.owner = owner->role;
      draft.put(std::move(view));
    } else if (const auto* options = std::get_if<ast::SetTableOptions>(&command); options != nullptr && kind == RelationKind::kIndex) {
      check_storage_parameters(options->options);
    } else if (kind == RelationKind::kView && std::holds_alternative<ast::AlterColumnDefault>(command)) {
      throw sql::not_supported("a column default of a view");
    } else {
      throw cannot_be_performed(statement, command, plural);
    }
  }
}

/// 42809 for what a materialized view cannot have.
void check_materialized(const ast::AlterTable& statement) {
  for (const ast::Alteration& command : statement.commands) {
    if (std::holds_alternative<ast::ChangeOwner>(command) || std::holds_alternative<ast::SetTableOptions>(command)) continue;
    if (std::holds_alternative<ast::OtherAlteration>(command)) continue;
    throw cannot_be_performed(statement, command, "materialized views");
  }
}

/// From now on writes store the key; then the rows that are there get it.
asio::awaitable<void> prepare_stored_keys(DdlContext& context, sql::Oid oid) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr table = draft.catalog().find_table(oid);
    if (!table || table->stores_key) return;
    sql::TableDef changed = *table;
    changed.stores_key = true;
    draft.put(std::move(changed));
  };
  co_await change_catalog(context, make);
  LoadedCatalog loaded = co_await load_definitions(context);
  if (const TablePtr table = loaded.snapshot->find_table(oid)) co_await store_keys(context, table);
}

/// Takes back what ALTER TABLE committed before its index could not be built.
asio::awaitable<void> restore(DdlContext& context, TablePtr before) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr now = draft.catalog().find_table(before->oid);
    if (!now) return;
    sql::TableDef restored = *before;
    restored.next_column = now->next_column;
    restored.used_fields = now->used_fields;
    for (const sql::ColumnDef& column : now->columns) {
      if (before->find_column(column.number) == nullptr) restored.used_fields.push_back(column.field);
    }
    for (const sql::ColumnDef& column : before->columns) std::erase(restored.used_fields, column.field);
    if (now->presence != before->presence && now->stores_key) {
      restored.presence = now->presence;
      restored.stores_key = true;
    }
    draft.remove_unused_structures(*now, restored);
    draft.put(std::move(restored));
  };
  co_await change_catalog(context, make);
}

/// What would have to look at rows or change them before the transaction's end.
void refuse_in_transaction(const DdlContext& context, const TableAlteration& alteration, const sql::TableDef& table, bool is_empty) {
  if (!is_empty && (alteration.needs_stored_keys() || !alteration.new_indexes().empty())) {
    throw sql::not_supported("a new key of a table with rows in a transaction block");
  }
  if (!alteration.new_checks().empty() && context.session.transaction->buffer().changes(table.oid)) {
    throw sql::not_supported("ADD CHECK to a table that the transaction has written");
  }
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::AlterTable& statement) {
  if (statement.object == ast::ObjectType::kType) throw sql::not_supported("ALTER TYPE … ATTRIBUTE");
  {
    bool is_other = false;
    const MakeDraft make = [&](CatalogDraft& draft) {
      const RelationKind kind = relation_kind(draft, statement.relation);
      is_other = kind == RelationKind::kView || kind == RelationKind::kSequence || kind == RelationKind::kIndex;
      if (is_other) return alter_other(draft, statement, kind);
      const TablePtr table = kind == RelationKind::kTable ? find_table(draft, statement.relation) : nullptr;
      const bool is_mapped = table && table->mapping;
      if (statement.object == ast::ObjectType::kForeignTable && kind != RelationKind::kNone && !is_mapped) {
        throw SqlError("42809", fmt::format("\"{}\" is not a foreign table", statement.relation.name));
      }
      if (statement.object == ast::ObjectType::kMaterializedView && kind != RelationKind::kNone && (!table || !table->materialized)) {
        throw SqlError("42809", fmt::format("\"{}\" is not a materialized view", statement.relation.name));
      }
      if (table && table->materialized) check_materialized(statement);
      is_other = is_mapped;
      if (is_mapped) alter_mapped_table(draft, table, statement);
    };
    co_await change_catalog(context, make);
    if (is_other) co_return;
  }
  std::optional<sql::Oid> keys_stored;  // of this table
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    LoadedCatalog loaded = co_await load_definitions(context);
    CatalogDraft first(loaded, context.session);
    const TablePtr before = find_altered(first, statement);
    TableState state;
    if (before) {
      co_await finish_removals_of(context.redis, loaded.removals, before->prefix);
      state = co_await table_state(context.redis, *before);
      const Transaction* transaction = context.session.transaction.get();
      if (transaction != nullptr && transaction->buffer().changes(before->oid)) state.is_empty = false;
      // A first pass tells what the rows must fulfil.
      TableAlteration trial(first, before, state.is_empty);
      trial.apply(statement.commands);
      if (context.session.transaction) refuse_in_transaction(context, trial, *before, state.is_empty);
      if (trial.needs_rewrite()) {
        const bool is_rewritten = co_await try_rewrite_table(context, statement, before);
        if (is_rewritten) co_return;
        continue;
      }
      if (trial.needs_stored_keys() && keys_stored != before->oid) {
        co_await prepare_stored_keys(context, before->oid);
        keys_stored = before->oid;
        continue;
      }
      if (!trial.new_not_null().empty() || !trial.new_checks().empty()) {
        co_await validate_rows(context, loaded.snapshot, trial.result(), trial.new_not_null(), trial.new_checks());
      }
      // They are enforced already.
      if (!trial.validated_foreign_keys().empty()) {
        std::vector<sql::Oid> keys = trial.validated_foreign_keys();
        co_await validate_foreign_keys(context, before->oid, std::move(keys));
      }
    }
    std::vector<sql::Oid> new_indexes, new_foreign_keys;
    bool is_same = true;
    const MakeDraft make = [&](CatalogDraft& draft) {
      const TablePtr table = find_altered(draft, statement);
      is_same = before == nullptr ? table == nullptr : table != nullptr && table->oid == before->oid && table->version == before->version;
      if (!is_same || !table) return;
      TableAlteration alteration(draft, table, state.is_empty);
      alteration.apply(statement.commands);
      const bool looked_at_rows = state.is_empty || !alteration.new_not_null().empty() || !alteration.new_checks().empty();
      if (looked_at_rows) draft.require_unchanged(table->oid, state.change_counter);
      new_indexes = alteration.new_indexes();
      new_foreign_keys = alteration.new_foreign_keys();
      alteration.finish();
    };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (!is_committed || !is_same) continue;
    if (new_indexes.empty()) co_return;

    std::exception_ptr failure;
    try {
      co_await build_indexes(context, before->oid, new_indexes);
      if (!new_foreign_keys.empty()) co_await validate_foreign_keys(context, before->oid, new_foreign_keys);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!failure) co_return;
    co_await restore(context, before);
    std::rethrow_exception(failure);
  }
  throw SqlError("40001", fmt::format("could not alter table \"{}\" due to concurrent writes", statement.relation.name));
}

}  // namespace redquel::executor
