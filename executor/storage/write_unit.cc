#include "executor/storage/write_unit.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_error.h"
#include "executor/storage/stored_text.h"
#include "sql/catalog/spread_table.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;
using sql::Structure;

WriteUnit::WriteUnit(WriteOptions options) : options_(std::move(options)) {}
WriteUnit::~WriteUnit() = default;

std::uint32_t WriteUnit::table_number(const TablePtr& table, const std::vector<Structure>* structures,
                                      const std::string& index_name) {
  const auto [found, is_new] =
      table_numbers_.try_emplace({table->oid, index_name}, static_cast<std::uint32_t>(tables_.size()));
  if (is_new) {
    std::shared_ptr<const RowEncoder> encoder =
        structures != nullptr ? std::make_shared<const RowEncoder>(table, *structures) : encoder_of(table);
    tables_.push_back({.kept = std::move(encoder), .index_name = index_name, .shapes = {}, .shape_numbers = {}, .changed_members = {}});
  }
  assert(&tables_[found->second].encoder.table() == table.get());
  return found->second;
}

std::vector<sql::Oid> WriteUnit::table_oids() const {
  std::vector<sql::Oid> oids;
  for (const Table& table : tables_) oids.push_back(table.encoder.table().oid);
  return oids;
}

void WriteUnit::turn_updates_into_deletes() {
  for (Change& change : changes_) {
    if (change.kind == Kind::kUpdate) change.kind = Kind::kDelete;
  }
}

void WriteUnit::turn_deletes_into_inserts() {
  for (Change& change : changes_) {
    if (change.kind == Kind::kDelete) change.kind = Kind::kInsert;
  }
}

void WriteUnit::check_size() const {
  if (changes_.size() < options_.max_rows) return;
  throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("statement changes more than {} rows", options_.max_rows))
      .hint("A statement is one atomic unit in Redis. Split it, or raise \"redquel.max_write_rows\".");
}

void WriteUnit::note_foreign_keys(const TablePtr& table, std::span<const sql::Datum> before, std::span<const sql::Datum> after,
                                  bool may_give_way) {
  if (options_.tag && table->tag() != *options_.tag) return;  // only its unique values lie in the unit's bucket
  if (options_.foreign_keys) options_.foreign_keys->add(table, changes_.size(), before, after, may_give_way);
}

std::set<int> WriteUnit::buckets() const {
  std::set<int> buckets;
  bool has_values = false;
  for (const Table& table : tables_) {
    buckets.insert(PlacedTable(table.encoder.table()).bucket());
    has_values = has_values || std::ranges::any_of(table.encoder.structures(), &RowEncoder::lies_by_value);
  }
  if (!has_values) return buckets;
  for (const Change& change : changes_) {
    const bool has_old = change.kind == Kind::kUpdate || change.kind == Kind::kDelete, has_new = change.kind != Kind::kDelete;
    tables_[change.table].encoder.add_value_buckets(has_old ? &change.old_image : nullptr, has_new ? &change.new_image : nullptr, words_, buckets);
  }
  return buckets;
}

std::size_t WriteUnit::insert_row(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict) {
  if (table->is_divided()) return insert_row(sql::part_of_row(*table, row), row, conflict);
  check_size();
  note_foreign_keys(table, {}, row, conflict.skip || conflict.run_again);
  return add_insert(table, row, conflict);
}

std::size_t WriteUnit::add_insert(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict) {
  Change change{.kind = Kind::kInsert};
  change.table = table_number(table, nullptr, {});
  change.new_image = tables_[change.table].encoder.encode(row, words_);
  change.skip_if_exists = conflict.skip;
  change.run_again_if_exists = conflict.run_again;
  if (conflict.skip || conflict.run_again) {
    if (conflicts_.empty() || conflicts_.back().columns != conflict.columns) conflicts_.push_back(conflict);
    change.conflict = static_cast<std::uint32_t>(conflicts_.size() - 1);
  }
  if (options_.buffer) {
    // Other sessions cannot have its key or a value of it: the check at commit is soon enough.
    const bool is_free = tables_[change.table].encoder.is_free_to_insert() && !conflict.skip && !conflict.run_again;
    buffer_insert(change, row);
    if (is_free) {
      records_.back().change.reset();
      return changes_.size();
    }
  }
  changes_.push_back(change);
  return changes_.size() - 1;
}

bool WriteUnit::mark_changed(Table& table, const RowImage& image) {
  const bool is_first = !options_.changed_rows || options_.changed_rows->set(image.key);
  if (options_.changed_rows && !options_.buffer) return is_first;
  return is_first && table.changed_members.emplace(image.member).second;
}

bool WriteUnit::update_row(const TablePtr& table, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row,
                           const std::vector<bool>& relied, const std::vector<std::size_t>& increments) {
  if (table->is_divided()) {
    const TablePtr &from = sql::part_of_row(*table, old_row), &to = sql::part_of_row(*table, new_row);
    if (from == to) return update_row(from, old_row, new_row, relied, increments);
    check_size();
    if (table->router) return delete_row(from, old_row, {}) && (insert_row(to, new_row, {}), true);
    const RowImage old_image = tables_[table_number(from, nullptr, {})].encoder.encode(old_row, words_);
    if (!remove_row(from, old_row, {}, table, new_row)) return false;
    add_insert(to, new_row, {});
    keep_expiry(*from, old_image);
    return true;
  }
  check_size();
  Change change{.kind = Kind::kUpdate};
  change.table = table_number(table, nullptr, {});
  Table& target = tables_[change.table];
  change.old_image = target.encoder.encode(old_row, words_);
  if (!mark_changed(target, change.old_image)) return false;
  note_foreign_keys(table, old_row, new_row);
  if (options_.buffer) {
    buffer_change(table, old_row, change.old_image, new_row, increments);
    return true;
  }
  change.increments = increments;
  change.new_image = target.encoder.encode_change(old_row, change.old_image, new_row, words_);

  // A row that gets another key is written anew, with all that was read of it.
  const bool moves = change.old_image.member != change.new_image.member;
  std::vector<bool> columns = relied;
  if ((relied.empty() && increments.empty()) || moves) columns.assign(table->columns.size(), true);
  columns.resize(table->columns.size());
  const auto& structures = target.encoder.structures();
  for (std::size_t index = 0; index < structures.size(); ++index) {
    const auto before = RowEncoder::entry(words_, change.old_image, index);
    const auto after = RowEncoder::entry(words_, change.new_image, index);
    if (before == after && is_null(before.first) == is_null(after.first)) continue;
    for (std::size_t position : structures[index].sources) columns[position] = true;
  }
  set_expected(change, columns);
  changes_.push_back(change);
  return true;
}

bool WriteUnit::delete_row(const TablePtr& table, std::span<const sql::Datum> old_row, const std::vector<bool>& relied) {
  if (table->is_divided()) return delete_row(sql::part_of_row(*table, old_row), old_row, relied);
  check_size();
  return remove_row(table, old_row, relied, table, {});
}

bool WriteUnit::remove_row(const TablePtr& table, std::span<const sql::Datum> old_row, const std::vector<bool>& relied, const TablePtr& whole,
                           std::span<const sql::Datum> new_row) {
  Change change{.kind = Kind::kDelete};
  change.table = table_number(table, nullptr, {});
  Table& target = tables_[change.table];
  change.old_image = target.encoder.encode(old_row, words_);
  if (!mark_changed(target, change.old_image)) return false;
  note_foreign_keys(whole, old_row, new_row);
  if (options_.buffer) {
    buffer_change(table, old_row, change.old_image, std::nullopt);
    return true;
  }
  std::vector<bool> columns = relied;
  if (relied.empty()) columns.assign(table->columns.size(), true);
  for (const auto& structure : target.encoder.structures()) {
    for (std::size_t position : structure.sources) columns[position] = true;
  }
  set_expected(change, columns);
  changes_.push_back(change);
  return true;
}

void WriteUnit::index_row(const TablePtr& table, const std::vector<Structure>& structures, std::span<const sql::Datum> row,
                          const std::string& index_name) {
  if (table->is_divided()) return index_row(sql::part_of_row(*table, row), structures, row, index_name);
  Change change{.kind = Kind::kIndex};
  change.table = table_number(table, &structures, index_name);
  Table& target = tables_[change.table];
  change.old_image = change.new_image = target.encoder.encode(row, words_);
  std::vector<bool> columns(table->columns.size());
  for (const auto& structure : target.encoder.structures()) {
    for (std::size_t position : structure.sources) columns[position] = true;
  }
  set_expected(change, columns);
  changes_.push_back(change);
}

std::uint32_t WriteUnit::shape_number(Table& table, std::vector<bool> columns) {
  const auto [found, is_new] = table.shape_numbers.try_emplace(columns, static_cast<std::uint32_t>(table.shapes.size()));
  if (!is_new) return found->second;
  const RowEncoder& encoder = table.encoder;
  Shape shape;
  std::optional<std::size_t> presence;
  for (std::size_t position = 0; position < columns.size(); ++position) {
    if (!columns[position]) continue;
    // A value that is only in the key cannot change; a field that older rows lack is in the key too.
    const sql::ColumnDef& column = encoder.table().columns[position];
    const bool in_key = encoder.table().in_primary_key(column.number);
    if (in_key && !encoder.keys().stores_key_column(column)) continue;
    if (column.field == encoder.presence_field()) presence = shape.fields.size();
    shape.fields.push_back(column.field);
    shape.field_columns.push_back(position);
    if (encoder.null_marker(position).empty()) continue;
    shape.fields.push_back(encoder.null_marker(position));
    shape.field_columns.push_back(position);
  }
  if (!presence) {
    presence = shape.fields.size();
    shape.fields.push_back(encoder.presence_field());
    std::size_t position = columns.size();  // the hidden key
    for (std::size_t index = 0; index < columns.size(); ++index) {
      if (encoder.table().columns[index].field == encoder.presence_field()) position = index;
    }
    shape.field_columns.push_back(position);
  }
  shape.presence = *presence;
  shape.columns = std::move(columns);
  table.shapes.push_back(std::move(shape));
  return found->second;
}

void WriteUnit::set_expected(Change& change, const std::vector<bool>& columns) {
  Table& table = tables_[change.table];
  change.shape = shape_number(table, columns);
  change.expected = words_.size();
  const Shape& shape = table.shapes[change.shape];
  for (std::size_t index = 0; index < shape.fields.size(); ++index) {
    const std::size_t position = shape.field_columns[index];
    const std::string_view text = words_[change.old_image.texts + position];
    const std::string& marker = table.encoder.null_marker(position);
    const bool is_compared = position < shape.columns.size() && shape.columns[position];
    if (!is_compared) {  // only shows that the row exists
      words_.push(kAnyValue);
    } else if (marker.empty()) {
      words_.push(text);
    } else if (shape.fields[index] == marker) {
      words_.push(is_null(text) ? std::string_view("", 0) : std::string_view());
    } else {
      // Most rows with the default's value are those of before the column was added.
      const bool is_missing = !is_null(text) && text == *table.encoder.table().columns[position].missing;
      words_.push(is_missing ? std::string_view() : text);
    }
  }
}

/// The row that a change brings; of its columns those that are asked for.
std::vector<sql::Datum> WriteUnit::new_row(const Change& change, std::span<const std::size_t> positions) const {
  const RowEncoder& encoder = tables_[change.table].encoder;
  std::vector<sql::Datum> row(encoder.width());
  for (std::size_t position : positions) {
    const std::string_view text = words_[change.new_image.texts + position];
    if (!is_null(text)) row[position] = parse_stored_text(encoder.type(position), text);
  }
  return row;
}

WriteUnit::Violation WriteUnit::violation_of(std::size_t number, std::optional<std::size_t> structure) const {
  const RowEncoder& encoder = tables_[changes_[number].table].encoder;
  if (!structure) return {number, encoder.table().primary_key_index.oid, structure};
  return {number, unique_name(encoder.table(), encoder.structures()[*structure].structure.columns).oid, structure};
}

SqlError WriteUnit::violation_error(const Violation& violation) const {
  const Change& change = changes_[violation.change];
  const Table& table = tables_[change.table];
  const sql::TableDef& definition = table.encoder.table();
  if (!violation.structure && definition.has_hidden_key()) {
    // The counter of hidden keys is behind its rows: another program changed it.
    return SqlError(sqlstate::kDataCorrupted, fmt::format("row key {} of table \"{}\" is taken", change.new_image.member, definition.name));
  }
  std::vector<std::int16_t> columns = definition.primary_key;
  std::vector<sql::Datum> values;
  if (violation.structure) {
    const RowEncoder::StructureKeys& structure = table.encoder.structures()[*violation.structure];
    columns = structure.structure.columns;
    values = table.encoder.values(structure, new_row(change, structure.sources));
  } else {
    std::vector<std::size_t> positions;
    for (std::int16_t number : columns) positions.push_back(definition.position(number));
    const std::vector<sql::Datum> row = new_row(change, positions);
    for (std::size_t position : positions) values.push_back(row[position]);
  }
  if (change.kind == Kind::kIndex) return duplicate_in_new_index(definition, table.index_name, columns, values, options_.settings);
  const std::string name = violation.structure ? unique_name(definition, columns).name : definition.primary_key_index.name;
  return duplicate_key(definition, name, columns, values, options_.settings);
}

void WriteUnit::throw_violation(const Violation& violation) {
  violated_ = {violation.change, violation.constraint};
  const RowEncoder& encoder = tables_[changes_[violation.change].table].encoder;
  SqlError error = violation_error(violation);
  if (violation.structure && sql::is_deferrable(encoder.table(), encoder.structures()[*violation.structure].structure.columns)) throw error;
  throw RowError(std::move(error), options_.first_row + violation.change);
}

bool WriteUnit::may_skip(const Change& change, const Violation& violation) const {
  return change.skip_if_exists && is_expected(change, violation);
}

/// Returns true for the conflict that the insert's ON CONFLICT names.
bool WriteUnit::is_expected(const Change& change, const Violation& violation) const {
  const auto& wanted = conflicts_[change.conflict].columns;
  if (!wanted) return true;
  const RowEncoder& encoder = tables_[change.table].encoder;
  std::vector<std::int16_t> columns = encoder.table().primary_key;
  if (violation.structure) columns = encoder.structures()[*violation.structure].structure.columns;
  return std::is_permutation(columns.begin(), columns.end(), wanted->begin(), wanted->end());
}

}  // namespace redquel::executor
