#include "executor/ddl/attach_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/maintained_parts.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/row_validation.h"
#include "executor/roles/access.h"
#include "executor/storage/catalog_store.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/catalog/counterparts.h"
#include "sql/catalog/partitions.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

SqlError busy(const std::string& table) {
  return SqlError(sqlstate::kSerializationFailure, fmt::format("could not alter table \"{}\" due to concurrent writes", table));
}

SqlError differs(std::string message) { return SqlError(sqlstate::kDatatypeMismatch, std::move(message)); }

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
  check_not_maintained(child, "ATTACH PARTITION");
  if (!child.referencing.empty()) throw sql::not_supported("ATTACH PARTITION of a table that foreign keys refer to");
  for (const sql::TriggerDef& trigger : child.triggers) {
    const auto is_taken = [&](const sql::TriggerDef& above) { return above.for_each_row && above.name == trigger.name; };
    if (std::ranges::any_of(parent.triggers, is_taken)) {
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("trigger \"{}\" for relation \"{}\" already exists", trigger.name, child.name));
    }
    if (!trigger.for_each_row || !trigger.has_transition_tables()) continue;
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("trigger \"{}\" prevents table \"{}\" from becoming a partition", trigger.name, child.name))
        .detail("ROW triggers with transition tables are not supported on partitions.");
  }
}

void check_keys_like_parent(const sql::TableDef& parent, const sql::TableDef& child) {
  if (parent.primary_key != child.primary_key) throw sql::not_supported("ATTACH PARTITION of a table whose primary key is another than the table's");
  for (const sql::ForeignKeyDef& key : parent.foreign_keys) {
    if (sql::counterpart(parent, key, child) == nullptr) throw sql::not_supported(fmt::format("ATTACH PARTITION of a table without a foreign key like \"{}\"", key.name));
  }
  for (const sql::IndexDef& index : parent.indexes) {
    if (sql::index_like(child, index) == nullptr) throw sql::not_supported(fmt::format("ATTACH PARTITION of a table without an index like \"{}\"", index.name));
  }
}

}  // namespace

asio::awaitable<void> add_partition(DdlContext& context, const ast::RelationName& parent_name, const ast::RelationName* child_name,
                                    const ast::PartitionBound& written, const MakeDraft& make) {
  constexpr int kAttempts = 20;
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
      TableState state = co_await own_table_state(context, table);
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

namespace {

/// An index that a statement names: its table, and itself; null: it is the key of the table's rows.
struct NamedIndex {
  TablePtr table;
  const sql::IndexDef* index = nullptr;

  sql::Oid oid() const { return index != nullptr ? index->oid : table->primary_key_index.oid; }
};

NamedIndex require_index(const CatalogDraft& draft, const ast::RelationName& name) {
  const auto& path = draft.session().search_path;
  if (const TablePtr keyed = draft.catalog().find_primary_key(name.schema, name.name, path)) return {keyed, nullptr};
  const auto [table, index] = draft.catalog().find_index(name.schema, name.name, path);
  if (index != nullptr) return {table, index};
  if (relation_kind(draft, name) == RelationKind::kNone) throw missing_relation(draft, name);
  throw SqlError(sqlstate::kInvalidObjectDefinition, fmt::format("\"{}\" is not an index", name.name));
}

}  // namespace

void attach_index(CatalogDraft& draft, const ast::RelationName& whole_name, const ast::RelationName& part_name) {
  const NamedIndex whole = require_index(draft, whole_name);
  require_owner(draft.session(), whole.table->owner, "index", whole_name.name);
  if (!whole.table->partition_key) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("ALTER action ATTACH PARTITION cannot be performed on relation \"{}\"", whole_name.name))
        .detail("This operation is not supported for indexes.");
  }
  const NamedIndex part = require_index(draft, part_name);
  require_owner(draft.session(), part.table->owner, "index", part_name.name);
  const auto refuse = [&](std::string_view sqlstate, std::string reason) {
    return SqlError(sqlstate, fmt::format("cannot attach index \"{}\" as a partition of index \"{}\"", part_name.name, whole_name.name)).detail(std::move(reason));
  };
  if (!part.table->partition || part.table->partition->parent != whole.table->oid) {
    throw refuse(sqlstate::kObjectNotInPrerequisiteState, fmt::format("Index \"{}\" is not an index on any partition of table \"{}\".", part_name.name, whole.table->name));
  }
  if (sql::partitioned_index(draft.catalog(), *part.table, part.oid()) == whole.oid() && (whole.index == nullptr || whole.index->state == sql::IndexState::kReady)) return;
  if (whole.index == nullptr || part.index == nullptr || !sql::are_alike(*whole.index, *part.index)) {
    throw refuse(sqlstate::kInvalidObjectDefinition, "The index definitions do not match.");
  }
  if (whole.index->state == sql::IndexState::kReady) {
    throw refuse(sqlstate::kObjectNotInPrerequisiteState, fmt::format("Another index is already attached for partition \"{}\".", part.table->name));
  }
  // Of indexes that are alike, their order says which belong together.
  sql::TableDef partition = *part.table;
  const sql::IndexDef* belonging = sql::counterpart(*whole.table, *whole.index, partition);
  const auto place_of = [&](sql::Oid oid) { return std::ranges::find(partition.indexes, oid, &sql::IndexDef::oid); };
  if (belonging != nullptr && belonging->oid != part.index->oid) {
    std::iter_swap(place_of(belonging->oid), place_of(part.index->oid));
    draft.put(partition);
  }
  const std::vector<TablePtr> children = draft.catalog().partitions_of(whole.table->oid);
  const bool is_complete = std::ranges::all_of(children, [&](const TablePtr& child) {
    const sql::IndexDef* below = sql::counterpart(*whole.table, *whole.index, *child);
    return below != nullptr && below->state != sql::IndexState::kDropping;  // one that is being built will be there
  });
  if (!is_complete) return;
  sql::TableDef completed = *whole.table;
  std::ranges::find(completed.indexes, whole.index->oid, &sql::IndexDef::oid)->state = sql::IndexState::kReady;
  draft.put(std::move(completed));
}

}  // namespace redquel::executor
