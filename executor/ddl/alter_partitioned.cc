#include "executor/ddl/alter_partitioned.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/table_alteration.h"
#include "executor/runtime/failure.h"
#include "executor/storage/catalog_store.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/catalog/counterparts.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

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
      [&](const ast::DropConstraint& command) {
        const bool is_check = parent && std::ranges::find(parent->checks, command.name, &sql::CheckDef::name) != parent->checks.end();
        const sql::IndexDef* index = partition.find_index(command.name);
        const bool is_key = command.name == partition.primary_key_index.name || (index != nullptr && sql::partitioned_index(catalog, partition, index->oid) != 0);
        const auto foreign = std::ranges::find(partition.foreign_keys, command.name, &sql::ForeignKeyDef::name);
        const bool is_foreign = foreign != partition.foreign_keys.end() && sql::inherited_foreign_key(catalog, partition, *foreign) != nullptr;
        if (is_check || is_key || is_foreign) {
          throw inherited(fmt::format("cannot drop inherited constraint \"{}\" of relation \"{}\"", command.name, partition.name));
        }
      },
      [](const auto&) {},
  };
  for (const ast::Alteration& command : statement.commands) std::visit(check, command);
}

namespace {

/// Returns true if the statement drops keys, or nothing: those of partitions go with that of the table, also with ONLY.
bool drops_keys(const ast::AlterTable& statement, const sql::TableDef& table) {
  return std::ranges::all_of(statement.commands, [&](const ast::Alteration& command) {
    const auto* drop = std::get_if<ast::DropConstraint>(&command);
    return drop != nullptr && std::ranges::find(table.checks, drop->name, &sql::CheckDef::name) == table.checks.end();
  });
}

/// 0A000 for what a partitioned table cannot have without its partitions.
void check_only(const ast::AlterTable& statement) {
  for (const ast::Alteration& command : statement.commands) {
    const auto* constraint = std::get_if<ast::AddConstraint>(&command);
    const bool is_key = constraint != nullptr && std::holds_alternative<ast::KeyConstraint>(constraint->constraint.node);
    const bool concerns_one = std::holds_alternative<ast::SetRowSecurity>(command) || std::holds_alternative<ast::SetReplicaIdentity>(command) ||
                              std::holds_alternative<ast::SetTriggerFiring>(command);
    if (is_key || concerns_one || std::holds_alternative<ast::AlterColumnDefault>(command)) continue;
    if (std::holds_alternative<ast::AddColumn>(command)) throw SqlError(sqlstate::kInvalidTableDefinition, "column must be added to child tables too");
    if (std::holds_alternative<ast::DropConstraint>(command)) {
      throw SqlError(sqlstate::kInvalidTableDefinition, "cannot remove constraint from only the partitioned table when partitions exist").hint("Do not specify the ONLY keyword.");
    }
    if (std::holds_alternative<ast::DropColumn>(command)) {
      throw SqlError(sqlstate::kInvalidTableDefinition, "cannot drop column from only the partitioned table when partitions exist").hint("Do not specify the ONLY keyword.");
    }
    throw sql::not_supported("this form of ALTER TABLE ONLY of a table with partitions");
  }
}

/// 42P16 if a column of a partition may be NULL, and must not be in the table.
void check_not_null_below(const sql::CatalogSnapshot& catalog, const sql::TableDef& table) {
  for (const TablePtr& child : catalog.partitions_of(table.oid)) {
    for (const sql::ColumnDef& column : table.columns) {
      if (table.is_nullable(column) || !child->is_nullable(*child->find_column(column.number))) continue;
      throw SqlError(sqlstate::kInvalidTableDefinition, "constraint must be added to child tables too")
          .detail(fmt::format("Column \"{}\" of relation \"{}\" is not already NOT NULL.", column.name, child->name))
          .hint("Do not specify the ONLY keyword.");
    }
  }
}

/// Indexes of a partition to be filled behind its new definition, and foreign keys that its rows must fulfil.
struct Build {
  TablePtr table;  // before
  std::vector<sql::Oid> indexes, foreign_keys;
};

/// ALTER TABLE applied to the definitions of a tree of partitions, from the table that the statement names downwards.
class TreeAlteration {
 public:
  TreeAlteration(CatalogDraft& draft, const sql::TableDef& root, bool is_empty, bool only) : draft_(draft), before_(root), is_empty_(is_empty), only_(only) {}

  TableAlteration apply(const std::vector<ast::Alteration>& commands, sql::Oid table) {
    TreePlace place{.only = only_};
    if (table != before_.oid) place = {.only = false, .root_before = &before_, .root_after = &after_};
    TableAlteration alteration(draft_, draft_.catalog().find_table(table), is_empty_, place);
    alteration.apply(commands);
    if (table == before_.oid) after_ = alteration.result();
    return alteration;
  }

 private:
  CatalogDraft& draft_;
  const sql::TableDef before_;
  sql::TableDef after_;
  const bool is_empty_, only_;
};

}  // namespace

asio::awaitable<void> alter_partitioned(DdlContext& context, const ast::AlterTable& statement) {
  constexpr int kAttempts = 20;
  bool is_locked = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const LoadedCatalog loaded = co_await load_definitions(context);
    CatalogDraft trial(loaded, context.session);
    const TablePtr root = require_table(trial, statement.relation);
    std::vector<TablePtr> tree = tree_of(*loaded.snapshot, root);
    const bool only = statement.only && tree.size() > 1 && !drops_keys(statement, *root);
    if (only) {
      check_only(statement);
      tree.resize(1);
    }
    std::vector<TableState> states;
    bool has_rows = false;
    for (const TablePtr& table : tree) {
      TableState state{true, {}};
      if (!table->partition_key) state = co_await own_table_state(context, table);
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
    // If one table has rows, all are treated so: absent fields mean the same in all of them.
    TreeAlteration trials(trial, *root, !has_rows, only);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      TableAlteration alteration = trials.apply(statement.commands, tree[i]->oid);
      if (only) check_not_null_below(*loaded.snapshot, alteration.result());
      const bool builds = !alteration.new_indexes().empty() || !alteration.validated_foreign_keys().empty() || !alteration.new_foreign_keys().empty();
      if (alteration.needs_rewrite() || alteration.needs_stored_keys() || (builds && context.session.transaction)) throw sql::not_supported("this form of ALTER TABLE of a partitioned table");
      if (!states[i].is_empty && (!alteration.new_not_null().empty() || !alteration.new_checks().empty())) {
        co_await validate_rows(context, loaded.snapshot, alteration.result(), alteration.new_not_null(), alteration.new_checks());
      }
    }
    bool is_same = true;
    std::vector<Build> builds;
    const MakeDraft make = [&](CatalogDraft& draft) {
      builds.clear();
      const TablePtr now = require_table(draft, statement.relation);
      std::vector<TablePtr> tree_now = tree_of(draft.catalog(), now);
      if (only) tree_now.resize(1);
      is_same = std::ranges::equal(tree, tree_now, [](const TablePtr& a, const TablePtr& b) { return a->oid == b->oid && a->version == b->version; });
      if (!is_same) return;
      TreeAlteration changes(draft, *now, !has_rows, only);
      for (std::size_t i = 0; i < tree.size(); ++i) {
        TableAlteration alteration = changes.apply(statement.commands, tree[i]->oid);
        if (!tree[i]->partition_key) {
          draft.require_unchanged(states[i]);
          std::vector<sql::Oid> keys = alteration.new_foreign_keys();
          std::ranges::copy(alteration.validated_foreign_keys(), std::back_inserter(keys));
          builds.push_back({tree[i], alteration.new_indexes(), std::move(keys)});
        }
        alteration.finish();
      }
    };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (!is_committed || !is_same) continue;
    const auto build = [&]() -> asio::awaitable<void> {
      for (const Build& one : builds) {
        if (!one.indexes.empty()) co_await build_indexes(context, one.table->oid, one.indexes);
        if (!one.foreign_keys.empty()) co_await validate_foreign_keys(context, one.table->oid, one.foreign_keys);
      }
    };
    const auto undo = [&]() -> asio::awaitable<void> {
      for (const TablePtr& before : tree) co_await restore_definition(context, before);
    };
    co_return co_await run_or_undo(build(), undo);
  }
  throw SqlError(sqlstate::kSerializationFailure, fmt::format("could not alter table \"{}\" due to concurrent writes", statement.relation.name));
}

}  // namespace redquel::executor
