#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <optional>

#include "executor/catalog/dependencies.h"
#include "executor/ddl/alter_composite.h"
#include "executor/ddl/alter_partitioned.h"
#include "executor/ddl/attach_partition.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/implicit_objects.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/mapped_table.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/sequence_restart.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/table_alteration.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/table_rewrite.h"
#include "executor/ddl/transaction_rewrite.h"
#include "executor/ddl/view_options.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction.h"
#include "parser/deparse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/write_target.h"
#include "sql/catalog/spread_table.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Writers may get between the look at the rows and the commit so often.
constexpr int kAlterAttempts = 20;

TablePtr find_altered(CatalogDraft& draft, const ast::AlterTable& statement) {
  TablePtr table = find_table(draft, statement.relation);
  if (table) return table;
  if (!statement.if_exists) throw missing_relation(draft, statement.relation);
  draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("relation \"{}\" does not exist, skipping", statement.relation.name));
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
  std::string_view operator()(const ast::SetRowSecurity& command) const {
    if (command.forces) return command.on ? "FORCE ROW SECURITY" : "NO FORCE ROW SECURITY";
    return command.on ? "ENABLE ROW SECURITY" : "DISABLE ROW SECURITY";
  }
  std::string_view operator()(const ast::SetReplicaIdentity&) const { return "REPLICA IDENTITY"; }
  std::string_view operator()(const ast::SetTriggerFiring& command) const {
    using Firing = ast::SetTriggerFiring::Firing;
    using Scope = ast::SetTriggerFiring::Scope;
    const bool disables = command.firing == Firing::kDisabled;
    if (command.scope == Scope::kAll) return disables ? "DISABLE TRIGGER ALL" : "ENABLE TRIGGER ALL";
    if (command.scope == Scope::kUser) return disables ? "DISABLE TRIGGER USER" : "ENABLE TRIGGER USER";
    if (command.firing == Firing::kAlways) return "ENABLE ALWAYS TRIGGER";
    if (command.firing == Firing::kReplica) return "ENABLE REPLICA TRIGGER";
    return disables ? "DISABLE TRIGGER" : "ENABLE TRIGGER";
  }
  std::string_view operator()(const ast::SetIndexStatistics&) const { return "ALTER COLUMN ... SET STATISTICS"; }
  std::string_view operator()(const ast::AttachPartition&) const { return "ATTACH PARTITION"; }
  std::string_view operator()(const ast::AttachIndex&) const { return "ATTACH PARTITION"; }
  std::string_view operator()(const ast::DetachPartition&) const { return "DETACH PARTITION"; }
  std::string_view operator()(const ast::OtherAlteration& command) const {
    constexpr std::string_view kStatement = "ALTER TABLE ... ";
    const std::string_view name = command.name;
    return name == "ALTER TABLE ... this form" ? "" : name.substr(kStatement.size());
  }
};

SqlError cannot_be_performed(const ast::AlterTable& statement, const ast::Alteration& command, std::string_view plural) {
  const std::string_view name = std::visit(ActionName{}, command);
  return SqlError(sqlstate::kWrongObjectType,
                  fmt::format("ALTER action {}{}cannot be performed on relation \"{}\"", name, name.empty() ? "" : " ", statement.relation.name))
      .detail(fmt::format("This operation is not supported for {}.", plural));
}

/// The default of a view's column, checked now and bound again where rows are written through the view.
void set_view_default(CatalogDraft& draft, const ast::AlterTable& statement, const ast::AlterColumnDefault& command) {
  sql::ViewDef view = *draft.catalog().find_view(statement.relation.schema, statement.relation.name, draft.session().search_path);
  const auto column = std::ranges::find(view.columns, command.column, &sql::ViewDef::Column::name);
  if (column == view.columns.end()) {
    throw sql::undefined_column(command.column, view.name);
  }
  column->default_sql.clear();
  if (command.value) {
    sql::ColumnDef checked;
    checked.name = column->name;
    checked.type = column->type;
    without_positions([&] { planner::bind_default(*command.value, {}, checked, draft.catalog(), bind_settings(draft.session())); });
    column->default_sql = parser::to_sql(*command.value);
  }
  draft.put(std::move(view));
}

/// ALTER VIEW … SET and RESET.
void change_view_options(CatalogDraft& draft, const ast::AlterTable& statement, const ast::SetTableOptions& command) {
  sql::ViewDef view = *draft.catalog().find_view(statement.relation.schema, statement.relation.name, draft.session().search_path);
  if (command.reset) {
    reset_view_options(command.options, view);
  } else {
    set_view_options(command.options, view);
  }
  const std::string reason = planner::set_updatable(view, draft.catalog());
  if (view.check_option != sql::ViewDef::CheckOption::kNone && !reason.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, "WITH CHECK OPTION is supported only on automatically updatable views").hint(reason);
  }
  draft.put(std::move(view));
}

/// SET STATISTICS of an index: accepted without effect for what PostgreSQL keeps statistics of, the computed columns.
void check_index_statistics(const CatalogDraft& draft, const ast::RelationName& name, int place) {
  const auto& path = draft.session().search_path;
  const TablePtr keyed = draft.catalog().find_primary_key(name.schema, name.name, path);
  std::vector<std::int16_t> columns, included;  // 0: computed
  TablePtr table = keyed;
  if (keyed) {
    columns = keyed->primary_key;
    included = keyed->primary_key_index.included;
  } else {
    const auto [owner, index] = draft.catalog().find_index(name.schema, name.name, path);
    table = owner;
    for (const sql::IndexDef::Part& part : index->parts) {
      columns.push_back(part.shown_column != 0 ? part.shown_column : part.expression_sql.empty() ? part.column : std::int16_t{0});
    }
    included = index->included;
  }
  const std::size_t keys = columns.size();
  columns.insert(columns.end(), included.begin(), included.end());
  const auto wanted = static_cast<std::size_t>(place);
  if (wanted > columns.size()) {
    throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column number {} of relation \"{}\" does not exist", place, name.name));
  }
  const std::int16_t number = columns[wanted - 1];
  if (number == 0) return;
  throw SqlError(sqlstate::kFeatureNotSupported,
                 fmt::format("cannot alter statistics on {} column \"{}\" of index \"{}\"", wanted > keys ? "included" : "non-expression",
                             table->find_column(number)->name, name.name))
      .hint(wanted > keys ? "" : "Alter statistics on table column instead.");
}

/// Those of a primary key that is the table's own key are checked, and not kept.
void change_index_options(CatalogDraft& draft, const ast::RelationName& name, const ast::SetTableOptions& written) {
  const auto [owner, index] = draft.catalog().find_index(name.schema, name.name, draft.session().search_path);
  if (index != nullptr) require_owner(draft.session(), owner->owner, "index", name.name);
  if (index != nullptr && owner->is_mapped()) {
    sql::TableDef table = *owner;
    alter_structure(table, *std::ranges::find(table.indexes, index->oid, &sql::IndexDef::oid), written);
    return draft.put(std::move(table));
  }
  if (written.reset) check_reset_parameters(written.options);
  else check_storage_parameters(parameter_owner(index ? index->method : sql::IndexMethod::kBtree), written.options);
  if (index == nullptr) return;
  sql::TableDef table = *owner;
  const auto changed = std::ranges::find(table.indexes, index->oid, &sql::IndexDef::oid);
  set_index_options(*changed, written.options, written.reset);
  draft.put(std::move(table));
}

/// An index belongs to the owner of its table.
void change_owner_of_other(CatalogDraft& draft, const ast::RelationName& name, const std::string& role, RelationKind kind) {
  const std::vector<std::string>& path = draft.session().search_path;
  if (kind == RelationKind::kSequence) {
    return change_sequence_owner(draft, *draft.catalog().find_sequence(name.schema, name.name, path), role);
  }
  if (kind != RelationKind::kView) return require_role(draft.session(), role);
  sql::ViewDef view = *draft.catalog().find_view(name.schema, name.name, path);
  require_owner(draft.session(), view.owner, "view", view.name);
  give_to(view, new_owner_in_schema(draft, role, view.owner, view.schema));
  draft.put(std::move(view));
}

/// ALTER VIEW, SEQUENCE and INDEX with commands of ALTER TABLE: an owner, and options that mean nothing here.
void alter_other(CatalogDraft& draft, const ast::AlterTable& statement, RelationKind kind) {
  const std::string_view plural = kind == RelationKind::kView ? "views" : kind == RelationKind::kIndex ? "indexes" : "sequences";
  for (const ast::Alteration& command : statement.commands) {
    if (const auto* owner = std::get_if<ast::ChangeOwner>(&command)) {
      change_owner_of_other(draft, statement.relation, owner->role, kind);
    } else if (const auto* options = std::get_if<ast::SetTableOptions>(&command); options != nullptr && kind == RelationKind::kIndex) {
      change_index_options(draft, statement.relation, *options);
    } else if (const auto* attach = std::get_if<ast::AttachIndex>(&command); attach != nullptr && kind == RelationKind::kIndex) {
      attach_index(draft, statement.relation, attach->index);
    } else if (const auto* statistics = std::get_if<ast::SetIndexStatistics>(&command); statistics != nullptr && kind == RelationKind::kIndex) {
      check_index_statistics(draft, statement.relation, statistics->column);
    } else if (const auto* value = std::get_if<ast::AlterColumnDefault>(&command); value != nullptr && kind == RelationKind::kView) {
      set_view_default(draft, statement, *value);
    } else if (options != nullptr && options->options.empty() && kind == RelationKind::kSequence) {
      continue;  // LOGGED, UNLOGGED
    } else if (options != nullptr && kind == RelationKind::kView) {
      change_view_options(draft, statement, *options);
    } else {
      throw cannot_be_performed(statement, command, plural);
    }
  }
}

/// 42809 for what a materialized view cannot have.
void check_materialized(const ast::AlterTable& statement) {
  for (const ast::Alteration& command : statement.commands) {
    if (std::holds_alternative<ast::ChangeOwner>(command) || std::holds_alternative<ast::SetTableOptions>(command)) continue;
    if (std::holds_alternative<ast::SetColumnOptions>(command)) continue;
    if (std::holds_alternative<ast::OtherAlteration>(command)) continue;
    throw cannot_be_performed(statement, command, "materialized views");
  }
}

/// From now on writes store the key; then the rows that are there get it.
asio::awaitable<void> prepare_stored_keys(DdlContext& context, sql::Oid oid) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr table = draft.catalog().find_table(oid);
    if (!table || table->managed().stores_key) return;
    sql::TableDef changed = *table;
    changed.managed().stores_key = true;
    draft.put(std::move(changed));
  };
  co_await change_catalog(context, make);
  LoadedCatalog loaded = co_await load_definitions(context);
  if (const TablePtr table = loaded.snapshot->find_table(oid)) co_await store_keys(context, table);
}

/// Returns true if the rows that an open transaction sees must be written to a new place. They must be checked, or get index entries,
/// before it ends, and some of them may be its own.
bool needs_new_place(const TableAlteration& alteration, const sql::TableDef& before, bool has_changes) {
  if (alteration.needs_rewrite() || alteration.needs_stored_keys() || !alteration.new_indexes().empty()) return true;
  if (!has_changes) return false;
  const sql::TableDef& after = alteration.result();
  const bool changes_type = std::ranges::any_of(before.columns, [&](const sql::ColumnDef& column) {
    const sql::ColumnDef* now = after.find_column(column.number);
    return now != nullptr && !(now->type == column.type);
  });
  return changes_type || !alteration.new_not_null().empty() || !alteration.new_checks().empty();
}

std::vector<sql::ForeignKeyDef> valid_keys(const sql::TableDef& table) {
  std::vector<sql::ForeignKeyDef> keys = table.foreign_keys;
  std::erase_if(keys, [](const sql::ForeignKeyDef& key) { return key.not_valid; });
  return keys;
}

/// Foreign keys that rows of before need not have fulfilled.
std::vector<sql::ForeignKeyDef> newly_valid_keys(const sql::TableDef& before, const sql::TableDef& after) {
  const std::vector<sql::ForeignKeyDef> known = valid_keys(before);
  std::vector<sql::ForeignKeyDef> keys = valid_keys(after);
  std::erase_if(keys, [&](const sql::ForeignKeyDef& key) { return std::ranges::find(known, key.oid, &sql::ForeignKeyDef::oid) != known.end(); });
  return keys;
}

/// Blocks writers of the table, and of those that its new foreign keys refer to, until the transaction ends.
asio::awaitable<void> lock_tables(DdlContext& context, const sql::CatalogSnapshot& catalog, const sql::TableDef& before,
                                  const sql::TableDef& after) {
  if (!context.lock_table) throw sql::not_supported("ALTER TABLE of a table with rows within another statement of a transaction");
  co_await context.lock_table(before, TableLock::kAccessExclusive);
  for (const sql::ForeignKeyDef& key : newly_valid_keys(before, after)) {
    const TablePtr referenced = key.referenced != before.oid ? catalog.find_table(key.referenced) : nullptr;
    if (referenced) co_await context.lock_table(*referenced, TableLock::kShareRowExclusive);
  }
}

/// The change of a table's definition that the statement asks for; it outlives the change.
ChangeDefinition change_of(const ast::AlterTable& statement, sql::Oid table) {
  return [&statement, table](CatalogDraft& draft) {
    TableAlteration alteration(draft, draft.catalog().find_table(table), /*is_empty=*/true);
    alteration.apply(statement.commands);
    draft.put(alteration.result());
    return alteration.rewrites();
  };
}

asio::awaitable<void> alter_at_new_place(DdlContext& context, const ast::AlterTable& statement, TablePtr before) {
  const ChangeDefinition change = change_of(statement, before->oid);
  co_await rewrite_in_transaction(context, before->oid, "ALTER TABLE", change);
  const LoadedCatalog loaded = co_await load_definitions(context);
  std::vector<sql::Oid> keys;
  for (const sql::ForeignKeyDef& key : newly_valid_keys(*before, *loaded.snapshot->find_table(before->oid))) keys.push_back(key.oid);
  if (!keys.empty()) co_await validate_foreign_keys(context, before->oid, std::move(keys));
}

/// Returns true if columns of other tables hold rows of the table as values.
bool has_rows_elsewhere(const sql::CatalogSnapshot& catalog, const sql::TableDef& table) {
  if (table.row_array == 0) return false;
  return std::ranges::any_of(catalog.tables, [&](const auto& entry) {
    return std::ranges::any_of(entry.second->columns, [&](const sql::ColumnDef& column) { return uses_type(catalog, column, table.row_type); });
  });
}

bool changes_columns_only(const ast::AlterTable& statement) {
  return std::ranges::all_of(statement.commands, [](const ast::Alteration& command) {
    return std::holds_alternative<ast::AddColumn>(command) || std::holds_alternative<ast::DropColumn>(command);
  });
}

/// ADD and DROP COLUMN of a table whose rows lie in columns of others, too: those change with it.
asio::awaitable<void> alter_row_type(DdlContext& context, const ast::AlterTable& statement, TablePtr before) {
  const TableState state = co_await table_state(context.redis, *before);
  const std::function<TypeChange(CatalogDraft&)> make = [&](CatalogDraft& draft) {
    const TablePtr table = find_altered(draft, statement);
    if (!table || table->oid != before->oid) throw missing_relation(draft, statement.relation);
    TableAlteration alteration(draft, table, state.is_empty);
    alteration.apply(statement.commands);
    if (alteration.needs_rewrite() || alteration.needs_stored_keys() || !alteration.new_indexes().empty() || !alteration.new_checks().empty()) {
      throw sql::not_supported("this change of a table whose row type columns have");
    }
    std::vector<std::optional<std::size_t>> places;
    for (const sql::ColumnDef& column : alteration.result().columns) {
      places.push_back(table->find_column(column.number) == nullptr ? std::nullopt : std::optional(table->position(column.number)));
    }
    for (const sql::ColumnDef& column : table->columns) {
      if (alteration.result().find_column(column.number) == nullptr) check_field_not_named(draft, column.name);
    }
    if (state.is_empty) draft.require_unchanged(state);
    alteration.finish();
    return TypeChange{table->row_type, "", places_text(places), nullptr};
  };
  co_await change_type(context, make);
}

}  // namespace

namespace {

/// Returns the definitions, and the table that the statement names; null: it is no table.
asio::awaitable<std::pair<sql::CatalogPtr, TablePtr>> named_table(DdlContext& context, const ast::AlterTable& statement) {
  const LoadedCatalog loaded = co_await load_definitions(context);
  const CatalogDraft draft(loaded, context.session);
  co_return std::pair(loaded.snapshot, find_table(draft, statement.relation));
}

asio::awaitable<void> alter_table(DdlContext& context, const ast::AlterTable& statement) {
  if (statement.object == ast::ObjectType::kType) {
    const std::function<TypeChange(CatalogDraft&)> make = [&](CatalogDraft& draft) { return alter_composite(draft, statement); };
    co_return co_await change_type(context, make);
  }
  {
    bool is_other = false;
    const MakeDraft make = [&](CatalogDraft& draft) {
      const RelationKind kind = relation_kind(draft, statement.relation);
      is_other = kind == RelationKind::kView || kind == RelationKind::kSequence || kind == RelationKind::kIndex;
      if (is_other) return alter_other(draft, statement, kind);
      const TablePtr table = kind == RelationKind::kTable ? find_table(draft, statement.relation) : nullptr;
      const bool is_mapped = table && table->is_mapped();
      if (statement.object == ast::ObjectType::kForeignTable && kind != RelationKind::kNone && !is_mapped) {
        throw sql::wrong_object_kind(statement.relation.name, "a foreign table");
      }
      if (statement.object == ast::ObjectType::kMaterializedView && kind != RelationKind::kNone && (!table || !table->materialized)) {
        throw sql::wrong_object_kind(statement.relation.name, "a materialized view");
      }
      if (table) require_owner(draft.session(), table->owner, sql::kind_name(*table), table->name);
      if (table && table->materialized) check_materialized(statement);
      is_other = is_mapped;
      if (is_mapped) alter_mapped_table(draft, table, statement);
    };
    co_await change_catalog(context, make);
    if (is_other) co_return;
  }
  if (const auto* attach = std::get_if<ast::AttachPartition>(&statement.commands.front())) co_return co_await attach_partition(context, statement.relation, *attach);
  if (const auto* detach = std::get_if<ast::DetachPartition>(&statement.commands.front())) co_return co_await detach_partition(context, statement.relation, *detach);
  if (const auto [catalog, named] = co_await named_table(context, statement); named) {
    if (named->partition) check_partition_alteration(*catalog, *named, statement);
    if (named->partition_key) co_return co_await alter_partitioned(context, statement);
  }
  std::optional<sql::Oid> keys_stored;  // of this table
  SequenceRestarts restarts;
  bool is_locked = false;
  for (int attempt = 0; attempt < kAlterAttempts; ++attempt) {
    LoadedCatalog loaded = co_await load_definitions(context);
    CatalogDraft first(loaded, context.session);
    const TablePtr before = find_altered(first, statement);
    if (before && changes_columns_only(statement) && has_rows_elsewhere(*loaded.snapshot, *before)) {
      co_return co_await alter_row_type(context, statement, before);
    }
    TableState state;
    if (before) {
      co_await finish_removals_of(context.redis, loaded.removals, before);
      state = co_await table_state(context.redis, *before);
      const Transaction* transaction = context.session.transaction.get();
      const bool has_changes = has_own_changes(context.session, before);
      if (has_changes) state.is_empty = false;
      // A first pass finds the conditions that the rows must satisfy.
      TableAlteration trial(first, before, state.is_empty);
      trial.apply(statement.commands);
      restarts = trial.restarts();
      if (transaction != nullptr && !state.is_empty) {
        const bool moves = needs_new_place(trial, *before, has_changes);
        const bool looks_at_rows = moves || !trial.new_not_null().empty() || !trial.new_checks().empty() || !trial.validated_foreign_keys().empty();
        if (looks_at_rows && !is_locked) {
          co_await lock_tables(context, *loaded.snapshot, *before, trial.result());
          is_locked = true;
          continue;
        }
        if (moves) {
          co_await alter_at_new_place(context, statement, before);
          co_return co_await restart_sequences(context, std::move(restarts));
        }
      }
      if (trial.needs_rewrite()) {
        const ChangeDefinition change = change_of(statement, before->oid);
        const bool is_rewritten = co_await try_rewrite_table(context, before, change);
        if (is_rewritten) co_return co_await restart_sequences(context, std::move(restarts));
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
      if (looked_at_rows) draft.require_unchanged(state);
      new_indexes = alteration.new_indexes();
      new_foreign_keys = alteration.new_foreign_keys();
      alteration.finish();
    };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (!is_committed || !is_same) continue;
    if (new_indexes.empty()) co_return co_await restart_sequences(context, std::move(restarts));

    const auto build = [&]() -> asio::awaitable<void> {
      co_await build_indexes(context, before->oid, new_indexes);
      if (!new_foreign_keys.empty()) co_await validate_foreign_keys(context, before->oid, new_foreign_keys);
    };
    co_await run_or_undo(build(), [&] { return restore_definition(context, before); });
    co_return co_await restart_sequences(context, std::move(restarts));
  }
  throw SqlError(sqlstate::kSerializationFailure, fmt::format("could not alter table \"{}\" due to concurrent writes", statement.relation.name));
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::AlterTable& statement) {
  const bool is_debugging = wants_debug_messages(context.session);
  TablePtr before;
  if (is_debugging) before = (co_await named_table(context, statement)).second;
  co_await alter_table(context, statement);
  if (!before) co_return;
  const auto [catalog, after] = co_await named_table(context, statement);
  if (after) tell_implicit_objects(context.session, implicit_objects("ALTER TABLE", *catalog, before.get(), *after));
}

}  // namespace redquel::executor
