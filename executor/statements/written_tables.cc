#include "executor/statements/written_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/write_conflict.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/publications.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

const char* command_of(const planner::PhysicalNode& plan) {
  const planner::PhysicalNode* write = planner::main_write(plan);
  return write != nullptr ? planner::write_command(*write) : nullptr;
}

bool empties_on_commit(const planner::PhysicalPlan& plan) {
  return std::ranges::any_of(planner::tables_of(plan), [](const std::shared_ptr<const sql::TableDef>& table) {
    return table->on_commit == sql::TableDef::OnCommit::kDeleteRows;
  });
}

namespace {

/// Returns true if the plan writes to a table that is not temporary: temporary ones may be written to in any transaction.
bool writes_permanent(const planner::PhysicalNode& plan) {
  const auto* of_view = std::get_if<planner::PhysicalViewWrite>(&plan.node);
  const auto schema = [&]() -> const std::string& { return of_view != nullptr ? of_view->view->schema : (*planner::table_of(plan))->schema; };
  const bool here = planner::is_write(plan) && !sql::is_temporary_schema(schema());
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(plan);
  return here || std::ranges::any_of(inputs, [](const planner::PhysicalPlan& input) { return writes_permanent(*input); });
}

}  // namespace

void refuse_writes(const planner::PlannedStatement& planned, bool is_copy) {
  std::string command;
  if (writes_permanent(*planned.plan)) {
    const char* written = is_copy ? "COPY FROM" : command_of(*planned.plan);
    command = written != nullptr ? written : "SELECT";
  } else if (const std::optional<planner::RowLock> lock = planner::locking_clause(planned.plan)) {
    command = "SELECT " + std::string(planner::lock_clause(lock->strength));
  }
  if (!command.empty()) throw sql::in_read_only_transaction(command);
}

namespace {

/// The kinds of changes that a node makes to rows that are there.
struct RowChanges {
  bool updates = false, deletes = false;
};

RowChanges changes_of(const planner::PhysicalNode& plan) {
  if (std::holds_alternative<planner::PhysicalUpdate>(plan.node)) return {.updates = true};
  if (std::holds_alternative<planner::PhysicalDelete>(plan.node)) return {.deletes = true};
  if (const auto* insert = std::get_if<planner::PhysicalInsert>(&plan.node)) return {.updates = insert->conflict_update.has_value()};
  if (const auto* merge = std::get_if<planner::PhysicalMerge>(&plan.node)) {
    const auto has = [&](planner::MergeAction::Kind kind) {
      return std::ranges::any_of(merge->actions, [&](const planner::MergeAction& action) { return action.kind == kind; });
    };
    return {.updates = has(planner::MergeAction::Kind::kUpdate), .deletes = has(planner::MergeAction::Kind::kDelete)};
  }
  return {};
}

void check_identity(const sql::TableDef& table, RowChanges changes, const sql::CatalogSnapshot& catalog) {
  if (sql::has_replica_identity(table)) return;
  for (const auto& [oid, publication] : catalog.publications) {
    const bool updates = changes.updates && publication.updates, deletes = changes.deletes && publication.deletes;
    if (!updates && !deletes) continue;
    const auto published = sql::published_tables(catalog, publication);
    if (std::ranges::find(published, table.oid, [](const auto& other) { return other->oid; }) == published.end()) continue;
    throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState,
                        fmt::format("cannot {} table \"{}\" because it does not have a replica identity and publishes {}",
                                    updates ? "update" : "delete from", table.name, updates ? "updates" : "deletes"))
        .hint(fmt::format("To enable {} the table, set REPLICA IDENTITY using ALTER TABLE.", updates ? "updating" : "deleting from"));
  }
}

void check_identities(const planner::PhysicalNode& plan, const sql::CatalogSnapshot& catalog) {
  const RowChanges changes = changes_of(plan);
  if (changes.updates || changes.deletes) {
    const sql::TableDef& table = **planner::table_of(plan);
    if (table.partition_key) {
      for (const auto& part : table.parts) check_identity(*part, changes, catalog);
    } else {
      check_identity(table, changes, catalog);
    }
  }
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(plan);
  for (const planner::PhysicalPlan& input : inputs) check_identities(*input, catalog);
}

}  // namespace

void check_replica_identity(const planner::PlannedStatement& planned, const sql::CatalogSnapshot& catalog) {
  if (!catalog.publications.empty()) check_identities(*planned.plan, catalog);
}

bool adds_to_one_row(const planner::PhysicalNode& plan) {
  const planner::PhysicalNode* write = planner::main_write(plan);
  const auto* update = write != nullptr ? std::get_if<planner::PhysicalUpdate>(&write->node) : nullptr;
  return update != nullptr && update->may_write_unread && !update->added.empty();
}

void check_definitions(const Transaction& transaction, const sql::CatalogSnapshot& catalog) {
  if (transaction.catalog() != nullptr) return;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    const auto now = catalog.find_table(changes->table->oid);
    if (!now || now->version != changes->table->version) throw serialization_failure("change of the table's definition");
  }
}

bool writes_alone(const planner::PhysicalNode& plan) {
  const planner::PhysicalNode* write = planner::main_write(plan);
  if (write == nullptr || planner::table_of(*write) == nullptr || planner::is_compound_write(plan)) return false;
  const sql::TableDef& table = **planner::table_of(*write);
  return !table.is_mapped() && !table.has_foreign_keys();
}

bool has_keys_over_buckets(const sql::CatalogSnapshot& catalog, const planner::PhysicalPlan& plan) {
  if (!sql::uses_cluster()) return false;
  const planner::PhysicalNode* write = planner::main_write(*plan);
  const std::shared_ptr<const sql::TableDef>* written = write == nullptr ? nullptr : planner::table_of(*write);
  if (written == nullptr || !(*written)->has_foreign_keys()) return false;
  std::vector<sql::Oid> reached{(*written)->oid};
  for (std::size_t index = 0; index < reached.size(); ++index) {
    const auto table = catalog.find_table(reached[index]);
    if (!table) continue;
    const auto is_elsewhere = [&](sql::Oid oid) {
      const auto other = catalog.find_table(oid);
      return other && (other->tag() != table->tag() || !other->parts.empty() || !table->parts.empty());
    };
    for (const sql::ForeignKeyDef& key : table->foreign_keys) {
      if (is_elsewhere(key.referenced)) return true;
    }
    for (const sql::Oid referencing : table->referencing) {
      if (is_elsewhere(referencing)) return true;
      if (std::ranges::find(reached, referencing) == reached.end()) reached.push_back(referencing);
    }
  }
  return false;
}

void add_tables_of_foreign_keys(const sql::CatalogSnapshot& catalog, std::vector<PlacedTable>& tables) {
  const auto add = [&](sql::Oid oid) {
    if (std::ranges::find(tables, PlacedTable(oid)) == tables.end()) tables.push_back(placed(catalog, oid));
  };
  for (std::size_t index = 0; index < tables.size(); ++index) {
    const auto table = catalog.find_table(tables[index].oid());
    if (!table) continue;
    for (const sql::ForeignKeyDef& key : table->foreign_keys) add(key.referenced);
    for (sql::Oid oid : table->referencing) add(oid);
    for (const PlacedTable& part : placed_parts(catalog, table->oid)) {
      if (std::ranges::find(tables, part) == tables.end()) tables.push_back(part);
    }
  }
}

bool writes_by_definition_of(const sql::CatalogSnapshot& catalog, const planner::PhysicalPlan& plan) {
  const planner::PhysicalNode* write = planner::main_write(*plan);
  if (write == nullptr || planner::table_of(*write) == nullptr) return true;
  const std::shared_ptr<const sql::TableDef>& table = *planner::table_of(*write);
  const auto now = catalog.find_table(table->oid);
  const auto is_same = [](const auto& one, const auto& other) { return one->oid == other->oid && one->version == other->version; };
  return now && is_same(now, table) && std::ranges::equal(now->parts, table->parts, is_same);
}

}  // namespace redquel::executor
