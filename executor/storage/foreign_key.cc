#include "executor/storage/foreign_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/locks.h"
#include "sql/catalog/counterparts.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/sqlstate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

std::vector<std::size_t> positions_of(const sql::TableDef& table, const std::vector<std::int16_t>& numbers) {
  std::vector<std::size_t> positions;
  for (std::int16_t number : numbers) positions.push_back(table.position(number));
  return positions;
}

std::vector<sql::Datum> values_at(ForeignKey::Row row, const std::vector<std::size_t>& positions) {
  std::vector<sql::Datum> values;
  for (std::size_t position : positions) values.push_back(row[position]);
  return values;
}

bool has_null(const std::vector<sql::Datum>& values) { return std::ranges::any_of(values, [](const auto& v) { return sql::is_null(v); }); }

std::vector<sql::Datum> reordered(const std::vector<sql::Datum>& values, const std::vector<std::size_t>& order) {
  std::vector<sql::Datum> result;
  for (std::size_t index : order) result.push_back(values[index]);
  return result;
}

/// Returns the oid of the table; of a part, that of its table.
sql::Oid whole_oid(const sql::TableDef& table) { return table.part_of != 0 ? table.part_of : table.oid; }

}  // namespace

std::string ReferencedPlace::id() const {
  if (!field) return key;
  std::string text = key;
  text += '\0';
  return text += *field;
}

std::vector<std::int16_t> columns_of_references(const sql::TableDef& referencing, const sql::ForeignKeyDef& key) {
  const auto index = std::ranges::find(referencing.indexes, key.index, &sql::IndexDef::oid);
  if (index == referencing.indexes.end())
    throw SqlError(sqlstate::kDataCorrupted, "the index of a foreign key does not exist");
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index->parts) columns.push_back(part.column);
  return columns;
}

ForeignKey::ForeignKey(const sql::ForeignKeyDef& definition, TablePtr referencing, TablePtr referenced,
                       sql::SessionSettings settings, TablePtr declared_at)
    : definition_(definition),
      referencing_(std::move(referencing)),
      referenced_(std::move(referenced)),
      declared_at_(declared_at ? std::move(declared_at) : referencing_),
      referencing_positions_(positions_of(*referencing_, definition_.columns)),
      referenced_positions_(positions_of(*referenced_, definition_.referenced_columns)),
      columns_in_sets_(columns_of_references(*referencing_, definition_)),
      omitted_(sql::omitted_parts(*referencing_, columns_in_sets_)),
      settings_(std::move(settings)) {
  for (std::size_t i = 0; i < referencing_positions_.size(); ++i) {
    columns_.emplace_back(referencing_->columns[referencing_positions_[i]].type,
                          referenced_->columns[referenced_positions_[i]].type);
  }
  is_primary_ = definition_.referenced_index == referenced_->primary_key_index.oid;
  if (is_primary_) {
    key_columns_ = referenced_->primary_key;
  } else {
    const auto index = std::ranges::find(referenced_->indexes, definition_.referenced_index, &sql::IndexDef::oid);
    if (index == referenced_->indexes.end()) throw SqlError(sqlstate::kDataCorrupted, "a foreign key refers to an index that does not exist");
    for (const sql::IndexDef::Part& part : index->parts) key_columns_.push_back(part.column);
  }
  refers_by_value_ = !is_primary_ && sql::lies_by_value(*referenced_, key_columns_);
  for (std::int16_t number : key_columns_) {
    const auto at = std::ranges::find(definition_.referenced_columns, number);
    key_order_.push_back(static_cast<std::size_t>(at - definition_.referenced_columns.begin()));
  }
}

ForeignKey::Nulls ForeignKey::nulls_of(Row row) const {
  const auto nulls = std::ranges::count_if(referencing_positions_, [&](std::size_t position) { return sql::is_null(row[position]); });
  if (nulls == 0) return Nulls::kNone;
  return static_cast<std::size_t>(nulls) == referencing_positions_.size() ? Nulls::kAll : Nulls::kSome;
}

std::optional<std::vector<sql::Datum>> ForeignKey::values_as_referenced(Row row) const {
  std::vector<sql::Datum> values;
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    auto value = columns_[index].as_referenced(row[referencing_positions_[index]], settings_);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

std::optional<std::vector<sql::Datum>> ForeignKey::values_for_references(Row row) const {
  std::vector<sql::Datum> values;
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const sql::Datum& own = row[referenced_positions_[index]];
    if (sql::is_null(own)) return std::nullopt;
    if (columns_in_sets_[index] < 0) {
      values.push_back(columns_[index].referenced_as_compared(own, settings_));
      continue;
    }
    auto value = columns_[index].as_referring(own, settings_);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

std::vector<sql::Datum> ForeignKey::cascaded_values(Row row) const {
  std::vector<sql::Datum> values;
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const sql::Datum& own = row[referenced_positions_[index]];
    values.push_back(sql::is_null(own) ? own : columns_[index].assigned(own, settings_));
  }
  return values;
}

bool ForeignKey::refers_to_itself() const { return whole_oid(*referencing_) == whole_oid(*referenced_); }

std::optional<std::size_t> ForeignKey::part_of_place(std::span<const sql::Datum> values) const {
  if (!referenced_->spread || referenced_->spread->places.empty()) return std::nullopt;
  if (refers_by_value_) {
    return sql::part_of_unique_value(*referenced_, sql::TableKeys(*referenced_).unique_field(key_columns_, values));
  }
  const auto found = std::ranges::find(key_columns_, referenced_->spread->column);
  const sql::Datum& value = values[static_cast<std::size_t>(found - key_columns_.begin())];
  return sql::part_number(sql::canonical_text(referenced_->find_column(*found)->type, value), referenced_->spread->places.size());
}

bool ForeignKey::is_of_first_part() const { return referenced_->part_of == 0 || referenced_->spread->places.front().oid == referenced_->oid; }

bool ForeignKey::concerns(Row row) const {
  if (referenced_->part_of == 0) return true;
  const auto values = values_as_referenced(row);
  if (!values) return is_of_first_part();
  return referenced_->spread->places[*part_of_place(reordered(*values, key_order_))].oid == referenced_->oid;
}

std::string ForeignKey::uniques_key(std::span<const sql::Datum> values, std::string_view field) const {
  const bool is_in_part = !referenced_->parts.empty() && !refers_by_value_;
  const sql::TableDef& stored = is_in_part ? *referenced_->parts[*part_of_place(values)] : *referenced_;
  return sql::TableKeys(stored).uniques_with(key_columns_, field);
}

ReferencedPlace ForeignKey::place(std::span<const sql::Datum> values) const {
  const sql::TableKeys keys(*referenced_);
  if (is_primary_) return {keys.row(values), std::nullopt};
  std::string field = keys.unique_field(key_columns_, values);
  std::string key = uniques_key(values, field);
  return {std::move(key), std::move(field)};
}

std::string ForeignKey::lock_of(std::span<const sql::Datum> values) const {
  const sql::TableKeys keys(*referenced_);
  if (is_primary_) return row_lock_field(keys.member(values));
  const std::string field = keys.unique_field(key_columns_, values);
  return value_lock_field(uniques_key(values, field), field);
}

PlacedTable ForeignKey::own_lock_table(Row row) const {
  const auto part = part_of_place(reordered(values_at(row, referenced_positions_), key_order_));
  if (!part) return *referenced_;
  const sql::SpreadDef::Place& place = referenced_->spread->places[*part];
  return {place.oid, place.bucket};
}

std::optional<ReferencedPlace> ForeignKey::place_of(Row row) const {
  const auto values = values_as_referenced(row);
  if (!values) return std::nullopt;
  return place(reordered(*values, key_order_));
}

std::optional<ReferencedPlace> ForeignKey::own_place(Row row) const {
  const std::vector<sql::Datum> values = values_at(row, referenced_positions_);
  if (has_null(values)) return std::nullopt;
  return place(reordered(values, key_order_));
}

std::string ForeignKey::lock_field(Row row) const { return lock_of(reordered(*values_as_referenced(row), key_order_)); }

std::string ForeignKey::own_lock_field(Row row) const { return lock_of(reordered(values_at(row, referenced_positions_), key_order_)); }

std::optional<std::string> ForeignKey::set_of_references(Row row) const {
  const auto values = values_for_references(row);
  if (!values) return std::nullopt;
  return sql::TableKeys(*referencing_).value_set(columns_in_sets_, *values);
}

std::optional<std::string> ForeignKey::own_set(Row row) const {
  std::vector<sql::Datum> values = values_at(row, referencing_positions_);
  if (has_null(values)) return std::nullopt;
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (columns_in_sets_[index] < 0) values[index] = columns_[index].referring_as_compared(values[index], settings_);
  }
  const sql::TableDef& stored = referencing_->parts.empty() ? *referencing_ : *sql::part_of_row(*referencing_, row);
  return sql::TableKeys(stored).value_set(columns_in_sets_, values);
}

std::string_view ForeignKey::name_in_set(std::string_view member) const {
  return omitted_.any() ? sql::short_member(member, omitted_) : member;
}

sql::MemberEnds ForeignKey::ends_of_references(Row row) const {
  if (!omitted_.any()) return {};
  const auto values = values_for_references(row);
  return values ? sql::member_ends(*referencing_, columns_in_sets_, *values) : sql::MemberEnds();
}

bool ForeignKey::acts_on(bool is_update) const {
  const sql::ForeignKeyDef::Action action = definition_.action_on(is_update);
  return action != sql::ForeignKeyDef::Action::kNoAction && action != sql::ForeignKeyDef::Action::kRestrict;
}

bool ForeignKey::restricts(bool is_update) const { return definition_.action_on(is_update) == sql::ForeignKeyDef::Action::kRestrict; }

SqlError ForeignKey::missing(Row row, const sql::SessionSettings& settings) const {
  const std::vector<sql::Datum> values = values_at(row, referencing_positions_);
  SqlError error = SqlError(sqlstate::kForeignKeyViolation, fmt::format("insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                                                                        referencing_->name, definition_.name))
                       .schema(referencing_->schema)
                       .table(referencing_->name)
                       .constraint(definition_.name);
  if (has_null(values)) return std::move(error).detail("MATCH FULL does not allow mixing of null and nonnull key values.");
  return std::move(error).detail(fmt::format("Key {} is not present in table \"{}\".",
                                             key_description(*referencing_, definition_.columns, values, settings), referenced_->name));
}

SqlError ForeignKey::still_referenced(Row row, const sql::SessionSettings& settings) const {
  const std::vector<sql::Datum> values = values_at(row, referenced_positions_);
  return SqlError(sqlstate::kForeignKeyViolation,
                  fmt::format("update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"", referenced_->name,
                              definition_.name, declared_at_->name))
      .detail(fmt::format("Key {} is still referenced from table \"{}\".",
                          key_description(*referenced_, definition_.referenced_columns, values, settings), declared_at_->name))
      .schema(declared_at_->schema)
      .table(declared_at_->name)
      .constraint(definition_.name);
}

std::vector<ForeignKeyPtr> foreign_keys_by_part(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                                const sql::SessionSettings& settings) {
  std::vector<ForeignKeyPtr> keys;
  for (const ForeignKeyPtr& key : foreign_keys_of(catalog, table, settings)) {
    if (key->referenced()->parts.empty()) keys.push_back(key);
    for (const ForeignKey::TablePtr& part : key->referenced()->parts) {
      keys.push_back(std::make_shared<const ForeignKey>(key->definition(), table, part, settings));
    }
  }
  return keys;
}

std::vector<ForeignKeyPtr> foreign_keys_of(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                           const sql::SessionSettings& settings) {
  std::vector<ForeignKeyPtr> keys;
  for (const sql::ForeignKeyDef& definition : table->foreign_keys) {
    const ForeignKey::TablePtr referenced = definition.referenced == table->oid ? table : catalog.find_table(definition.referenced);
    if (!referenced) throw SqlError(sqlstate::kDataCorrupted, "a foreign key refers to a table that does not exist");
    keys.push_back(std::make_shared<const ForeignKey>(definition, table, referenced, settings));
  }
  return keys;
}

namespace {

/// Returns the table whose foreign key this one is a part of, up to the root of the tree of partitions; the table itself where it is none.
ForeignKey::TablePtr declaring_table(const sql::CatalogSnapshot& catalog, ForeignKey::TablePtr table, sql::ForeignKeyDef key) {
  while (const sql::ForeignKeyDef* above = sql::inherited_foreign_key(catalog, *table, key)) {
    key = sql::ForeignKeyDef(*above);
    table = catalog.find_table(table->partition->parent);
  }
  return table;
}

}  // namespace

std::vector<ForeignKeyPtr> foreign_keys_to(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                           const sql::SessionSettings& settings) {
  std::vector<ForeignKeyPtr> keys;
  for (sql::Oid oid : table->referencing) {
    const ForeignKey::TablePtr referencing = oid == table->oid ? table : catalog.find_table(oid);
    if (!referencing || referencing->partition_key) continue;
    for (const sql::ForeignKeyDef& definition : referencing->foreign_keys) {
      if (definition.referenced != whole_oid(*table)) continue;
      const ForeignKey::TablePtr declared_at = declaring_table(catalog, referencing, definition);
      for (const ForeignKey::TablePtr& stored : sql::stored_tables(referencing)) {
        keys.push_back(std::make_shared<const ForeignKey>(definition, stored, table, settings, declared_at == referencing ? nullptr : declared_at));
      }
    }
  }
  std::ranges::stable_sort(keys, {}, [](const ForeignKeyPtr& key) { return key->definition().oid; });
  return keys;
}

std::string member_of(const sql::TableDef& table, ForeignKey::Row row) {
  std::vector<sql::Datum> key;
  if (table.has_hidden_key()) {
    key.push_back(row.back());
  } else {
    for (std::int16_t number : table.primary_key) key.push_back(row[table.position(number)]);
  }
  return sql::TableKeys(table).member(key);
}

}  // namespace redquel::executor
