#include "executor/ddl/foreign_key_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "executor/ddl/definition_rights.h"
#include "executor/ddl/generated_names.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/ttl_options.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction.h"
#include "parser/deparse.h"
#include "planner/bind/name_uses.h"
#include "sql/catalog/spread_table.h"
#include "sql/functions/key_comparison.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using Action = sql::ForeignKeyDef::Action;

namespace {

std::vector<std::int16_t> named_columns(const sql::TableDef& table, const std::vector<std::string>& names) {
  std::vector<std::int16_t> numbers;
  for (const std::string& name : names) {
    if (is_system_column(name)) throw SqlError(sqlstate::kFeatureNotSupported, "system columns cannot be used in foreign keys");
    const sql::ColumnDef* column = table.find_column(name);
    if (column == nullptr) {
      throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" referenced in foreign key constraint does not exist", name));
    }
    numbers.push_back(column->number);
  }
  if (numbers.size() > 32) throw SqlError(sqlstate::kTooManyColumns, "cannot have more than 32 keys in a foreign key");
  return numbers;
}

std::vector<std::int16_t> columns_of(const sql::IndexDef& index) {
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
  return columns;
}

/// The unique index or primary key over exactly these columns.
sql::Oid find_key(const sql::TableDef& table, const std::vector<std::int16_t>& columns) {
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (std::find(columns.begin() + static_cast<std::ptrdiff_t>(index) + 1, columns.end(), columns[index]) != columns.end()) {
      throw SqlError(sqlstate::kInvalidForeignKey, "foreign key referenced-columns list must not contain duplicates");
    }
  }
  bool is_deferrable = false;
  const auto matches = [&](const std::vector<std::int16_t>& key, bool deferrable) {
    if (key.size() != columns.size() || !std::is_permutation(key.begin(), key.end(), columns.begin())) return false;
    is_deferrable = is_deferrable || deferrable;
    return !deferrable;
  };
  if (matches(table.primary_key, false)) return table.primary_key_index.oid;
  for (const sql::IndexDef& index : table.indexes) {
    if (index.unique && !index.is_exclusion() && index.state == sql::IndexState::kReady && matches(columns_of(index), index.is_deferrable())) return index.oid;
  }
  if (is_deferrable) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                   fmt::format("cannot use a deferrable unique constraint for referenced table \"{}\"", table.name));
  }
  throw SqlError(sqlstate::kInvalidForeignKey,
                 fmt::format("there is no unique constraint matching given keys for referenced table \"{}\"", table.name));
}

/// Throws 42804 if no operator compares the columns.
sql::KeyComparison comparison_of(const std::string& constraint, const sql::ColumnDef& referencing,
                                 const sql::ColumnDef& referenced) {
  const sql::Type from = referencing.type, to = referenced.type;
  if (const auto comparison = sql::key_comparison(to.oid, from.oid)) return *comparison;
  if (sql::is_row_type(from.oid) && sql::is_row_type(to.oid)) {
    throw sql::not_supported(fmt::format("a foreign key between columns of types {} and {}", sql::format_type(from), sql::format_type(to)));
  }
  throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("foreign key constraint \"{}\" cannot be implemented", constraint))
      .detail(fmt::format("Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.", referencing.name, referenced.name,
                          sql::format_type(sql::Type{from.oid}), sql::format_type(sql::Type{to.oid})));
}

/// The hidden index that shows which rows refer to a value. Where several values of the column are equal to one
/// referenced value, it is an index over the converted values.
sql::IndexDef index_of_references(sql::TableDef& table, const sql::ForeignKeyDef& key,
                                  const sql::TableDef& referenced) {
  sql::IndexDef index;
  index.method = sql::IndexMethod::kHash;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const sql::ColumnDef& column = *table.find_column(key.columns[i]);
    const sql::KeyComparison comparison =
        comparison_of(key.name, column, *referenced.find_column(key.referenced_columns[i]));
    index.parts.push_back({.column = column.number});
    if (!comparison.needs_converted_sets()) continue;
    const std::string type = planner::type_in_words(sql::Type{comparison.type});
    index.parts.back().expression_sql = fmt::format("{}::{}", parser::quote_identifier(column.name), type);
  }
  add_computed_columns(table, index, std::vector(index.parts.size(), key.name));
  return index;
}

Action action_of(ast::ForeignKeyAction action) {
  switch (action) {
    case ast::ForeignKeyAction::kRestrict:
      return Action::kRestrict;
    case ast::ForeignKeyAction::kCascade:
      return Action::kCascade;
    case ast::ForeignKeyAction::kSetNull:
      return Action::kSetNull;
    case ast::ForeignKeyAction::kSetDefault:
      return Action::kSetDefault;
    case ast::ForeignKeyAction::kNoAction:
      break;
  }
  return Action::kNoAction;
}

void check_generated(const sql::TableDef& table, const sql::ForeignKeyDef& key) {
  for (std::int16_t number : key.columns) {
    if (table.find_column(number)->generated_sql.empty()) continue;
    const auto refuse = [](std::string_view event) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("invalid {} action for foreign key constraint containing generated column", event));
    };
    if (key.on_update != Action::kNoAction && key.on_update != Action::kRestrict) refuse("ON UPDATE");
    if (key.on_delete == Action::kSetNull || key.on_delete == Action::kSetDefault) refuse("ON DELETE");
  }
}

/// 0A000 if an action of the foreign key would move rows to other partitions.
void check_stays_in_partition(const sql::CatalogSnapshot& catalog, const sql::TableDef& table, const sql::ForeignKeyDef& key) {
  const auto changes = [](Action action) { return action == Action::kSetNull || action == Action::kSetDefault; };
  if (key.on_update != Action::kCascade && !changes(key.on_update) && !changes(key.on_delete)) return;
  const sql::TableDef* level = &table;
  for (TablePtr parent; level != nullptr; level = parent.get()) {
    for (std::size_t i = 0; level->partition_key && i < level->partition_key->parts.size(); ++i) {
      if (std::ranges::find(key.columns, level->partition_key->parts[i].column) == key.columns.end()) continue;
      throw sql::not_supported("a foreign key whose actions change a column of the partition key");
    }
    parent = level->partition ? catalog.find_table(level->partition->parent) : nullptr;
  }
}

std::string choose_constraint_name(const CatalogDraft& draft, const sql::TableDef& table, const ForeignKeyDraft& written) {
  if (!written.name.empty()) {
    if (!constraint_exists(table, written.name)) return written.name;
    throw sql::duplicate_constraint(written.name, table.name);
  }
  return choose_name(table.name, joined_column_names(written.columns), "fkey", [&](std::string_view name) {
    return constraint_exists(table, name) || std::ranges::any_of(draft.catalog().tables, [&](const auto& entry) {
             return entry.second->schema == table.schema && constraint_exists(*entry.second, name);
           });
  });
}

}  // namespace

const sql::ForeignKeyDef& add_foreign_key(CatalogDraft& draft, sql::TableDef& table, const ForeignKeyDraft& written,
                                          sql::IndexState state) {
  const ast::ForeignKeyConstraint& node = *written.node;
  const RelationKind kind = relation_kind(draft, node.referenced);
  if (kind == RelationKind::kNone) throw missing_relation(draft, node.referenced);
  if (kind == RelationKind::kSystemTable) {
    throw sql::is_system_catalog(node.referenced.name);
  }
  if (kind != RelationKind::kTable) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("referenced relation \"{}\" is not a table", node.referenced.name));
  }
  TablePtr referenced = find_table(draft, node.referenced);
  if (referenced->oid == table.oid) referenced = std::make_shared<const sql::TableDef>(table);
  check_rows_stay(*referenced);
  if (referenced->partition_key || referenced->partition) throw sql::not_supported("a foreign key that refers to a partitioned table or a partition");

  sql::ForeignKeyDef key;
  key.referenced = referenced->oid;
  key.columns = named_columns(table, written.columns);
  for (const std::int16_t number : named_columns(table, node.on_delete_columns)) {
    if (std::ranges::find(key.columns, number) == key.columns.end()) {
      throw SqlError(sqlstate::kInvalidColumnReference,
                     fmt::format("column \"{}\" referenced in ON DELETE SET action must be part of foreign key", table.find_column(number)->name));
    }
    if (std::ranges::find(key.set_columns, number) == key.set_columns.end()) key.set_columns.push_back(number);
  }
  if (node.referenced_columns.empty()) {
    const sql::IndexDef* as_index = referenced->primary_key_as_index();
    if (as_index != nullptr && as_index->is_deferrable()) {
      throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                     fmt::format("cannot use a deferrable primary key for referenced table \"{}\"", referenced->name));
    }
    if (!referenced->has_primary_key()) {
      throw SqlError(sqlstate::kUndefinedObject, fmt::format("there is no primary key for referenced table \"{}\"", referenced->name));
    }
    key.referenced_columns = as_index != nullptr ? columns_of(*as_index) : referenced->primary_key;
    key.referenced_index = as_index != nullptr ? as_index->oid : referenced->primary_key_index.oid;
  } else {
    key.referenced_columns = named_columns(*referenced, node.referenced_columns);
    key.referenced_index = find_key(*referenced, key.referenced_columns);
  }
  require_references(draft, *referenced, key.referenced_columns);
  key.match_full = node.match == ast::ForeignKeyMatch::kFull;
  key.on_delete = action_of(node.on_delete);
  key.on_update = action_of(node.on_update);
  check_generated(table, key);
  check_stays_in_partition(draft.catalog(), table, key);
  if (key.columns.size() != key.referenced_columns.size()) {
    throw SqlError(sqlstate::kInvalidForeignKey, "number of referencing and referenced columns for foreign key disagree");
  }
  key.name = choose_constraint_name(draft, table, written);
  key.deferrable = written.deferrable;
  key.initially_deferred = written.initially_deferred;
  key.not_valid = written.not_valid;
  key.oid = draft.new_oid();
  sql::IndexDef index = index_of_references(table, key, *referenced);
  index.oid = key.index = draft.new_oid();
  index.state = state;
  table.indexes.push_back(std::move(index));
  return table.foreign_keys.emplace_back(std::move(key));
}

void erase_foreign_key(sql::TableDef& table, sql::Oid oid) {
  const auto found = std::ranges::find(table.foreign_keys, oid, &sql::ForeignKeyDef::oid);
  if (found == table.foreign_keys.end()) return;
  const sql::Oid index = found->index;
  table.foreign_keys.erase(found);
  std::erase_if(table.indexes, [&](const sql::IndexDef& other) { return other.oid == index; });
}

namespace {

/// Returns true if the session's transaction has the referenced row, false if it has removed it; nullopt: ask Redis.
std::optional<bool> exists_in_transaction(const DdlContext& context, const ForeignKey& key, const ReferencedPlace& place,
                                          const std::vector<sql::Datum>& row) {
  if (!context.session.transaction) return std::nullopt;
  const RowBuffer& buffer = context.session.transaction->buffer();
  if (place.field) {
    if (!buffer.owners(place.key, *place.field).empty()) return true;
    if (buffer.former_owner(place.key, *place.field)) return false;
    return std::nullopt;
  }
  for (const TablePtr& stored : sql::stored_tables(key.referenced())) {
    const std::optional<BufferedRow> changed = buffer.find(stored->oid, std::string_view(key.lock_field(row)).substr(1));
    if (changed) return changed->current != nullptr;
  }
  return std::nullopt;
}

/// Rows of one page that seem to refer to nothing. A row may have changed, and its parent may have come, since the page was read.
asio::awaitable<void> examine(DdlContext& context, ForeignKeyPtr key, std::vector<std::vector<sql::Datum>> suspects) {
  const StoredRows stored(key->referencing());
  for (const std::vector<sql::Datum>& suspect : suspects) {
    const std::string member = member_of(*key->referencing(), suspect);
    const auto place = key->place_of(suspect);
    if (place && exists_in_transaction(context, *key, *place, suspect) == true) continue;
    CommandBatch batch;
    stored.append_fetch(batch, member);
    if (place && place->field) {
      batch.add("HEXISTS", place->key, *place->field);
    } else if (place) {
      batch.add("EXISTS", place->key);
    }
    RepliesPtr replies;
    if (key->spans_buckets()) replies = co_await context.redis.execute(std::move(batch));
    else replies = co_await context.redis.execute_atomic(std::move(batch));
    const auto row = stored.decode(member, replies->array(0));
    if (!row || key->own_set(*row) != key->own_set(suspect)) continue;
    if (place && replies->integer(1) != 0 && !exists_in_transaction(context, *key, *place, suspect)) continue;
    throw key->missing(suspect, context.session.settings);
  }
}

}  // namespace

asio::awaitable<void> validate_foreign_keys(DdlContext& context, sql::Oid oid, std::vector<sql::Oid> keys) {
  LoadedCatalog loaded = co_await load_definitions(context);
  const TablePtr table = loaded.snapshot->find_table(oid);
  if (!table) co_return;
  const TableChangesPtr changes = context.session.transaction ? context.session.transaction->buffer().changes(oid) : nullptr;
  for (const ForeignKeyPtr& key : foreign_keys_of(*loaded.snapshot, table, context.session.settings)) {
    if (std::ranges::find(keys, key->definition().oid) == keys.end()) continue;
    TableWalk walk(table);
    while (std::optional<sql::Batch> page = co_await walk.next(context.bulk)) {
      std::map<std::string, std::vector<sql::Datum>> by_place;
      std::vector<ReferencedPlace> places;
      std::vector<std::vector<sql::Datum>> suspects;
      for (std::vector<sql::Datum>& row : decode_rows(*page)) {
        if (changes && changes->contains(member_of(*table, row))) continue;
        const ForeignKey::Nulls nulls = key->nulls_of(row);
        if (nulls == ForeignKey::Nulls::kAll || (nulls == ForeignKey::Nulls::kSome && !key->definition().match_full)) continue;
        const auto place = nulls == ForeignKey::Nulls::kNone ? key->place_of(row) : std::nullopt;
        if (!place || exists_in_transaction(context, *key, *place, row) == false) {
          suspects.push_back(std::move(row));
        } else if (by_place.try_emplace(place->id(), std::move(row)).second) {
          places.push_back(*place);
        }
      }
      if (!places.empty()) {
        CommandBatch batch;
        for (const ReferencedPlace& place : places) {
          if (place.field) {
            batch.add("HEXISTS", place.key, *place.field);
          } else {
            batch.add("EXISTS", place.key);
          }
        }
        RepliesPtr replies = co_await context.bulk.execute(std::move(batch));
        for (std::size_t index = 0; index < places.size(); ++index) {
          if (replies->integer(index) == 0) suspects.push_back(by_place.at(places[index].id()));
        }
      }
      co_await examine(context, key, std::move(suspects));
    }
  }
}

}  // namespace redquel::executor
