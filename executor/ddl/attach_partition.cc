#include "executor/ddl/attach_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/table_alteration.h"
#include "executor/roles/access.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/partitions.h"
#include "sql/catalog/similar_indexes.h"
#include "sql/catalog/spread_table.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

constexpr int kAttempts = 20;

SqlError busy(const std::string& table) {
  return SqlError(sqlstate::kSerializationFailure, fmt::format("could not alter table \"{}\" due to concurrent writes", table));
}

SqlError differs(std::string message) { return SqlError(sqlstate::kDatatypeMismatch, std::move(message)); }

/// Returns the state of the table. It is not empty if the own transaction has changed its rows.
asio::awaitable<TableState> state_of(DdlContext& context, TablePtr table) {
  TableState state = co_await table_state(context.redis, *table);
  const Transaction* transaction = context.session.transaction.get();
  const bool has_changes = transaction != nullptr && std::ranges::any_of(sql::stored_tables(table), [&](const TablePtr& stored) {
    return transaction->buffer().changes(stored->oid) != nullptr;
  });
  if (has_changes) state.is_empty = false;
  co_return state;
}

/// A partitioned table as it would be with one more partition.
class Extended {
 public:
  Extended(const sql::CatalogSnapshot& catalog, const sql::TableDef& parent, const sql::PartitionBoundDef& bound) {
    auto added = std::make_shared<sql::TableDef>(parent);
    added->oid = 0;
    added->partition_key.reset();
    added->partition = sql::PartitionDef{.parent = parent.oid, .bound = bound};
    std::vector<TablePtr> children = catalog.partitions_of(parent.oid);
    children.push_back(std::move(added));
    router_.emplace(parent, children);
  }

  /// Returns true if the new partition takes the row.
  bool takes(std::span<const sql::Datum> row) const {
    const auto* child = router_->child_of(router_->key_of(row));
    return child != nullptr && child->table->oid == 0;
  }

 private:
  std::optional<sql::PartitionRouter> router_;
};

void check_no_other_columns(const sql::TableDef& parent, const sql::TableDef& child) {
  for (const sql::ColumnDef& column : child.columns) {
    if (parent.find_column(column.name) != nullptr) continue;
    throw differs(fmt::format("table \"{}\" contains column \"{}\" not found in parent \"{}\"", child.name, column.name, parent.name))
        .detail("The new partition may contain only the columns present in parent.");
  }
}

/// Checks that the table, whose columns are all in the parent, may become a partition as it is.
void check_like_parent(const sql::TableDef& parent, const sql::TableDef& child) {
  for (const sql::ColumnDef& column : parent.columns) {
    const sql::ColumnDef* own = child.find_column(column.name);
    if (own == nullptr) throw differs(fmt::format("child table is missing column \"{}\"", column.name));
    if (!(own->type == column.type)) throw differs(fmt::format("child table \"{}\" has different type for column \"{}\"", child.name, column.name));
    if (!parent.is_nullable(column) && child.is_nullable(*own)) throw differs(fmt::format("column \"{}\" in child table must be marked NOT NULL", column.name));
  }
  for (const sql::CheckDef& check : parent.checks) {
    const auto own = std::ranges::find(child.checks, check.name, &sql::CheckDef::name);
    if (own == child.checks.end()) throw differs(fmt::format("child table is missing constraint \"{}\"", check.name));
    if (own->expression_sql != check.expression_sql) {
      throw differs(fmt::format("child table \"{}\" has different definition for check constraint \"{}\"", child.name, check.name));
    }
  }
  if (!sql::have_same_columns(parent, child)) throw sql::not_supported("ATTACH PARTITION of a table whose columns lie in another order, or under other names in Redis");
  if (child.spread) throw sql::not_supported("ATTACH PARTITION of a table in several buckets");
  if (child.is_mapped()) throw sql::not_supported("ATTACH PARTITION of a foreign table");
  if (child.has_foreign_keys()) throw sql::not_supported("ATTACH PARTITION of a table with foreign keys");
  if (std::ranges::any_of(child.triggers, &sql::TriggerDef::for_each_row)) throw sql::not_supported("ATTACH PARTITION of a table with triggers for each row");
}

void check_keys_like_parent(const sql::TableDef& parent, const sql::TableDef& child) {
  if (parent.primary_key != child.primary_key) throw sql::not_supported("ATTACH PARTITION of a table whose primary key is another than the table's");
  for (const sql::IndexDef& index : parent.indexes) {
    if (sql::index_like(child, index) == nullptr) throw sql::not_supported(fmt::format("ATTACH PARTITION of a table without an index like \"{}\"", index.name));
  }
}

}  // namespace

asio::awaitable<void> add_partition(DdlContext& context, const ast::RelationName& parent_name, const ast::RelationName* child_name,
                                    const ast::PartitionBound& written, const MakeDraft& make) {
  bool is_locked = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const LoadedCatalog loaded = co_await load_definitions(context);
    const CatalogDraft trial(loaded, context.session);
    CatalogDraft rehearsal(loaded, context.session);
    make(rehearsal);  // what the definitions forbid comes before what the rows do
    const TablePtr parent = require_partitioned(trial, parent_name, child_name != nullptr ? "table " : "");
    const TablePtr child = child_name != nullptr ? require_table(trial, *child_name) : nullptr;
    const auto* fallback = parent->router->default_child();
    const TablePtr rest = fallback != nullptr ? loaded.snapshot->find_table(fallback->table->oid) : nullptr;
    std::vector<TablePtr> concerned;
    if (child) concerned.push_back(child);
    if (rest) concerned.push_back(rest);
    std::vector<std::pair<TablePtr, TableState>> looked_at;
    for (const TablePtr& table : concerned) {
      TableState state = co_await state_of(context, table);
      looked_at.emplace_back(table, std::move(state));
    }
    const bool has_rows = std::ranges::any_of(looked_at, [](const auto& table) { return !table.second.is_empty; });
    if (has_rows && context.session.transaction && !is_locked) {
      if (!context.lock_table) throw sql::not_supported("this statement over tables with rows within another statement of a transaction");
      for (const TablePtr& table : concerned) co_await context.lock_table(*table, TableLock::kAccessExclusive);
      is_locked = true;
      continue;
    }
    if (has_rows) {
      const Extended extended(*loaded.snapshot, *parent, read_bound(trial, *parent, written));
      for (const auto& one : looked_at) {
        if (one.second.is_empty) continue;
        const TablePtr table = one.first;
        const bool is_child = table == child;
        const std::function<void(const sql::Batch&)> examine = [&extended, is_child, &table](const sql::Batch& page) {
          for (const std::vector<sql::Datum>& row : decode_rows(page)) {
            if (extended.takes(row) == is_child) continue;
            const std::string message = is_child ? fmt::format("partition constraint of relation \"{}\" is violated by some row", table->name)
                                                 : fmt::format("updated partition constraint for default partition \"{}\" would be violated by some row", table->name);
            throw SqlError(sqlstate::kCheckViolation, message).schema(table->schema).table(table->name);
          }
        };
        co_await examine_rows(context, table, examine);
      }
    }
    const auto version_of = [](const TablePtr& table) { return table ? table->version : std::string(); };
    bool is_same = true;
    const MakeDraft add = [&](CatalogDraft& draft) {
      const TablePtr now = require_partitioned(draft, parent_name);
      const auto* still = now->router->default_child();
      const TablePtr rest_now = still != nullptr ? draft.catalog().find_table(still->table->oid) : nullptr;
      is_same = version_of(rest_now) == version_of(rest) && (rest_now != nullptr) == (rest != nullptr);
      if (child) is_same = is_same && version_of(draft.catalog().find_table(child->oid)) == version_of(child);
      if (!is_same) return;
      for (const auto& [table, state] : looked_at) draft.require_unchanged(state);
      make(draft);
      // Sessions that do not know the new partition must not write its rows to the default one.
      if (rest_now) {
        for (const TablePtr& table : tree_of(draft.catalog(), rest_now)) draft.put(*table);
      }
    };
    const bool is_committed = co_await try_change_catalog(context, add);
    if (is_committed && is_same) co_return;
  }
  throw busy(parent_name.name);
}

asio::awaitable<void> attach_partition(DdlContext& context, const ast::RelationName& table, const ast::AttachPartition& command) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr parent = require_partitioned(draft, table, "table ");
    sql::PartitionBoundDef bound = read_bound(draft, *parent, command.bound);
    const TablePtr child = require_table(draft, command.partition);
    require_owner(draft.session(), child->owner, "table", child->name);
    if (child->partition) throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is already a partition", child->name));
    for (const TablePtr& below : tree_of(draft.catalog(), child)) {
      if (below->oid != parent->oid) continue;
      throw SqlError(sqlstate::kDuplicateTable, "circular inheritance not allowed").detail(fmt::format("\"{}\" is already a child of \"{}\".", parent->name, child->name));
    }
    if (sql::is_temporary_schema(child->schema) != sql::is_temporary_schema(parent->schema)) {
      const bool is_temporary = sql::is_temporary_schema(child->schema);
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot attach a {} relation as partition of {} relation \"{}\"", is_temporary ? "temporary" : "permanent",
                                                             is_temporary ? "permanent" : "temporary", parent->name));
    }
    check_no_other_columns(*parent, *child);
    check_new_bound(draft, *parent, child->name, bound, command.bound);
    check_like_parent(*parent, *child);
    check_keys_like_parent(*parent, *child);
    sql::TableDef changed = *child;
    changed.partition = sql::PartitionDef{.parent = parent->oid, .bound = std::move(bound)};
    draft.put(std::move(changed));
  };
  co_await add_partition(context, table, &command.partition, command.bound, make);
}

asio::awaitable<void> detach_partition(DdlContext& context, const ast::RelationName& table, const ast::DetachPartition& command) {
  if (command.concurrently && context.session.transaction) {
    throw SqlError(sqlstate::kActiveTransaction, "ALTER TABLE ... DETACH CONCURRENTLY cannot run inside a transaction block");
  }
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr parent = require_partitioned(draft, table, "table "), child = require_table(draft, command.partition);
    if (command.concurrently && parent->router->default_child() != nullptr) {
      throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "cannot detach partitions concurrently when a default partition exists");
    }
    if (!child->partition || child->partition->parent != parent->oid) {
      throw SqlError(sqlstate::kUndefinedTable, fmt::format("relation \"{}\" is not a partition of relation \"{}\"", child->name, parent->name));
    }
    for (const TablePtr& below : tree_of(draft.catalog(), child)) {
      sql::TableDef changed = *below;
      if (below->oid == child->oid) changed.partition.reset();
      draft.put(std::move(changed));  // with a new version: sessions that still know it as a partition must not write to it
    }
  };
  co_await change_catalog(context, make);
}

void check_partition_alteration(const sql::CatalogSnapshot& catalog, const sql::TableDef& partition, const ast::AlterTable& statement) {
  const TablePtr parent = catalog.find_table(partition.partition->parent);
  const auto inherited = [](std::string message) { return SqlError(sqlstate::kInvalidTableDefinition, std::move(message)); };
  const sql::Overloaded check{
      [](const ast::AddColumn&) { throw SqlError(sqlstate::kWrongObjectType, "cannot add column to a partition"); },
      [&](const ast::DropColumn& command) { throw inherited(fmt::format("cannot drop inherited column \"{}\"", command.column)); },
      [&](const ast::AlterColumnType& command) { throw inherited(fmt::format("cannot alter inherited column \"{}\"", command.column)); },
      [&](const ast::AlterColumnNotNull& command) {
        const sql::ColumnDef* above = parent ? parent->find_column(command.column) : nullptr;
        if (!command.not_null && above != nullptr && above->not_null) throw inherited(fmt::format("column \"{}\" is marked NOT NULL in parent table", command.column));
      },
      [&](const ast::AddConstraint& command) {
        const auto* key = std::get_if<ast::KeyConstraint>(&command.constraint.node);
        if (key != nullptr && key->primary) throw sql::not_supported("a primary key of a partition alone");
      },
      [&](const ast::DropConstraint& command) {
        const bool is_check = parent && std::ranges::find(parent->checks, command.name, &sql::CheckDef::name) != parent->checks.end();
        if (is_check || command.name == partition.primary_key_index.name) {
          throw inherited(fmt::format("cannot drop inherited constraint \"{}\" of relation \"{}\"", command.name, partition.name));
        }
      },
      [](const auto&) {},
  };
  for (const ast::Alteration& command : statement.commands) std::visit(check, command);
}

asio::awaitable<void> alter_partitioned(DdlContext& context, const ast::AlterTable& statement) {
  bool is_locked = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const LoadedCatalog loaded = co_await load_definitions(context);
    CatalogDraft trial(loaded, context.session);
    const TablePtr root = require_table(trial, statement.relation);
    const std::vector<TablePtr> tree = tree_of(*loaded.snapshot, root);
    if (statement.only && tree.size() > 1) throw sql::not_supported("ALTER TABLE ONLY of a table with partitions");
    std::vector<TableState> states;
    bool has_rows = false;
    for (const TablePtr& table : tree) {
      TableState state{true, {}};
      if (!table->partition_key) state = co_await state_of(context, table);
      has_rows = has_rows || !state.is_empty;
      states.push_back(std::move(state));
    }
    if (has_rows && context.session.transaction && !is_locked) {
      if (!context.lock_table) throw sql::not_supported("ALTER TABLE of a table with rows within another statement of a transaction");
      for (const TablePtr& table : tree) {
        if (!table->partition_key) co_await context.lock_table(*table, TableLock::kAccessExclusive);
      }
      is_locked = true;
      continue;
    }
    for (std::size_t i = 0; i < tree.size(); ++i) {
      // If one table has rows, all are treated so: absent fields mean the same in all of them.
      TableAlteration alteration(trial, trial.catalog().find_table(tree[i]->oid), !has_rows);
      alteration.apply(statement.commands);
      const bool looks_only = !alteration.needs_rewrite() && !alteration.needs_stored_keys() && (!has_rows || alteration.new_indexes().empty()) &&
                              alteration.validated_foreign_keys().empty() && alteration.new_foreign_keys().empty();
      if (!looks_only) throw sql::not_supported("this form of ALTER TABLE of a partitioned table");
      if (!states[i].is_empty && (!alteration.new_not_null().empty() || !alteration.new_checks().empty())) {
        co_await validate_rows(context, loaded.snapshot, alteration.result(), alteration.new_not_null(), alteration.new_checks());
      }
    }
    bool is_same = true;
    const MakeDraft make = [&](CatalogDraft& draft) {
      const TablePtr now = require_table(draft, statement.relation);
      const std::vector<TablePtr> tree_now = tree_of(draft.catalog(), now);
      is_same = std::ranges::equal(tree, tree_now, [](const TablePtr& a, const TablePtr& b) { return a->oid == b->oid && a->version == b->version; });
      if (!is_same) return;
      for (std::size_t i = 0; i < tree.size(); ++i) {
        TableAlteration alteration(draft, draft.catalog().find_table(tree[i]->oid), !has_rows);
        alteration.apply(statement.commands);
        if (!tree[i]->partition_key) draft.require_unchanged(states[i]);
        alteration.finish();
      }
    };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (is_committed && is_same) co_return;
  }
  throw busy(statement.relation.name);
}

}  // namespace redquel::executor
