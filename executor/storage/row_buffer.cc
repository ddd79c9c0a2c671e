#include "executor/storage/row_buffer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/stored_text.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

std::string owner_key(std::string_view uniques_key, std::string_view field) {
  std::string key(uniques_key);
  key += '\0';
  key += field;
  return key;
}

std::shared_ptr<const RowEncoder> unique_encoder(const RowBuffer::TablePtr& table) {
  std::vector<sql::Structure> structures = sql::structures_of(*table);
  std::erase_if(structures, [](const sql::Structure& structure) { return !sql::structure_kind(structure.kind).has_owners(); });
  if (structures.empty()) return nullptr;
  return std::make_shared<const RowEncoder>(table, std::move(structures));
}

std::shared_ptr<const RowEncoder> reference_encoder(const RowBuffer::TablePtr& table) {
  std::vector<sql::Structure> structures;
  for (const sql::ForeignKeyDef& key : table->foreign_keys) {
    sql::Structure sets{sql::Structure::Kind::kSets, columns_of_references(*table, key)};
    if (std::find(structures.begin(), structures.end(), sets) == structures.end()) structures.push_back(std::move(sets));
  }
  if (structures.empty()) return nullptr;
  return std::make_shared<const RowEncoder>(table, std::move(structures));
}

/// Rows of one definition in the form of another.
class RowForm {
 public:
  RowForm(const sql::TableDef& before, const sql::TableDef& now) : now_(now), before_width_(before.columns.size()) {
    for (const sql::ColumnDef& column : now.columns) {
      const sql::ColumnDef* old = before.find_column(column.number);
      if (old == nullptr) {
        sources_.push_back(std::nullopt);
        added_.push_back(column.missing ? parse_stored_text(column.type, *column.missing) : sql::Datum());
        continue;
      }
      if (!(old->type == column.type)) {
        throw sql::not_supported("ALTER COLUMN TYPE of a table that the transaction has written");
      }
      sources_.push_back(before.position(column.number));
      added_.emplace_back();
    }
  }

  RowValues apply(const RowValues& row) const {
    if (!row) return nullptr;
    auto made = std::make_shared<std::vector<sql::Datum>>();
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      made->push_back(sources_[index] ? (*row)[*sources_[index]] : added_[index]);
    }
    for (std::size_t index = before_width_; index < row->size(); ++index) made->push_back((*row)[index]);  // the hidden key
    return made;
  }

  void check_not_null(const std::vector<sql::Datum>& row) const {
    for (std::size_t index = 0; index < now_.columns.size(); ++index) {
      if (!now_.columns[index].not_null || !sql::is_null(row[index])) continue;
      throw column_contains_nulls(now_, now_.columns[index]);
    }
  }

 private:
  const sql::TableDef& now_;
  std::size_t before_width_;
  std::vector<std::optional<std::size_t>> sources_;
  std::vector<sql::Datum> added_;
};

bool has(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

std::uint64_t hash_of_value(std::string_view value) { return std::hash<std::string_view>()(value); }

}  // namespace

ChangeLog::VersionPtr TableChanges::find(std::string_view member) const {
  const std::optional<ChangeLog::Position> position = log->find(member, length);
  return position ? log->at(*position) : nullptr;
}

ChangeLog::VersionPtr TableChanges::Walk::next() {
  // Shorter than the changes is a log of which a savepoint took versions back.
  const ChangeLog::Position end = std::min(changes_->length, changes_->log->size());
  while (position_ < end) {
    const ChangeLog::Position position = position_++;
    ChangeLog::VersionPtr version = changes_->log->at(position);
    if (changes_->log->is_newest(position, *version, end)) return version;
  }
  return nullptr;
}

TableChangesPtr RowBuffer::changes(sql::Oid table) const {
  const auto found = tables_.find(table);
  if (found == tables_.end() || found->second.log->size() == 0) return nullptr;
  const std::shared_ptr<ChangeLog>& log = found->second.log;
  TableChangesPtr& changes = found->second.as_now;
  if (!changes) changes = std::make_shared<const TableChanges>(TableChanges{log->table(), log, log->size(), log->rows()});
  return changes;
}

std::vector<TableChangesPtr> RowBuffer::all_changes() const {
  std::vector<TableChangesPtr> all;
  for (const auto& [oid, table] : tables_) {
    if (TableChangesPtr changed = changes(oid)) all.push_back(std::move(changed));
  }
  return all;
}

std::set<sql::Oid> RowBuffer::changed_tables() const {
  std::set<sql::Oid> changed;
  for (const auto& [oid, table] : tables_) {
    if (table.log->size() > 0) changed.insert(changed.end(), oid);
  }
  return changed;
}

std::size_t RowBuffer::changed_rows() const {
  std::size_t rows = 0;
  for (const auto& [oid, table] : tables_) rows += table.log->table()->is_mapped() ? 0 : table.log->rows();
  return rows;
}

std::optional<BufferedRow> RowBuffer::find(sql::Oid table, std::string_view member) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return std::nullopt;
  const ChangeLog& log = *found->second.log;
  const std::optional<ChangeLog::Position> position = log.find(member, log.size());
  return position ? std::optional(log.at(*position)->row) : std::nullopt;
}

bool RowBuffer::has_increments() const {
  return std::ranges::any_of(tables_, [](const auto& table) { return !table.second.growing.empty(); });
}

std::vector<std::pair<RowBuffer::TablePtr, std::string>> RowBuffer::increments(const std::set<sql::Oid>& tables) const {
  std::vector<std::pair<TablePtr, std::string>> found;
  for (const auto& [oid, table] : tables_) {
    if (!tables.contains(oid)) continue;
    for (const std::string& member : table.growing) found.emplace_back(table.log->table(), member);
  }
  return found;
}

std::vector<std::string> RowBuffer::owners(std::string_view uniques_key, std::string_view field) const {
  std::vector<std::string> members;
  const std::string value = owner_key(uniques_key, field);
  for (const auto& [oid, table] : tables_) {
    if (table.owners.size() == 0) continue;
    table.owners.find(hash_of_value(value), [&](ChangeLog::Position position) {
      const ChangeLog::VersionPtr version = table.log->at(position);
      if (has(unique_values(table, version->row.current), value)) members.push_back(version->member);
      return false;  // there may be others
    });
  }
  return members;
}

std::optional<std::string> RowBuffer::former_owner(std::string_view uniques_key, std::string_view field) const {
  const std::string value = owner_key(uniques_key, field);
  for (const auto& [oid, table] : tables_) {
    if (table.former_owners.size() == 0) continue;
    const auto found = table.former_owners.find(hash_of_value(value), [&](ChangeLog::Position position) {
      return has(unique_values(table, table.log->at(position)->row.stored), value);
    });
    if (found) return table.log->at(*found)->member;
  }
  return std::nullopt;
}

const RowBuffer::References* RowBuffer::references(const std::string& set_key) const {
  for (const auto& [oid, table] : tables_) {
    if (!set_key.starts_with(table.log->table()->prefix)) continue;  // much cheaper: the parts of tables may be hundreds
    const auto found = table.referring.find(set_key);
    if (found != table.referring.end()) return &found->second;
  }
  return nullptr;
}

RowBuffer::Table RowBuffer::make_table(const TablePtr& definition) {
  Table table;
  table.log = std::make_shared<ChangeLog>(definition);
  table.uniques = unique_encoder(definition);
  table.references = reference_encoder(definition);
  return table;
}

void RowBuffer::set(const TablePtr& definition, const std::string& member, BufferedRow row) {
  const auto found = tables_.find(definition->oid);
  // After `forget` the table may come again with another definition, or at another place.
  if (found == tables_.end() || (found->second.log->size() == 0 && found->second.log->table() != definition)) {
    tables_.insert_or_assign(definition->oid, make_table(definition));
  }
  append(tables_.at(definition->oid), member, std::move(row));
  ++changes_;
  if (!undo_.empty() && undo_.back().table == definition->oid && !undo_.back().whole) {
    ++undo_.back().versions;
  } else {
    undo_.push_back({definition->oid, 1, nullptr});
  }
}

void RowBuffer::roll_back(std::size_t mark) {
  while (changes_ > mark) {
    Undo& last = undo_.back();
    if (last.whole) {
      tables_[last.table] = std::move(*last.whole);
    } else {
      take_back(tables_.at(last.table));
      --last.versions;
    }
    if (last.whole || last.versions == 0) undo_.pop_back();
    --changes_;
  }
}

void RowBuffer::replace_table(sql::Oid oid, Table table) {
  Table& place = tables_.at(oid);
  undo_.push_back({oid, 0, std::make_unique<Table>(std::exchange(place, std::move(table)))});
  ++changes_;
}

void RowBuffer::forget(sql::Oid oid) {
  const auto found = tables_.find(oid);
  if (found == tables_.end()) return;
  const TablePtr definition = found->second.log->table();
  replace_table(oid, make_table(definition));
}

void RowBuffer::redefine(const TablePtr& now, const sql::SessionSettings& settings) {
  const TableChangesPtr changed = changes(now->oid);
  if (!changed || changed->table == now) return;
  if (changed->table->primary_key != now->primary_key) {
    throw sql::not_supported("another primary key for a table that the transaction has written");
  }
  const RowForm form(*changed->table, *now);
  Table after = make_table(now);
  const std::vector<std::size_t> stricter = stricter_uniques(tables_.at(now->oid), after);
  TableChanges::Walk walk(*changed);
  while (const ChangeLog::VersionPtr version = walk.next()) {
    const BufferedRow row{form.apply(version->row.stored), form.apply(version->row.current), {}, version->row.expires_at};
    if (row.current) {
      form.check_not_null(*row.current);
      check_unique(after, stricter, version->member, *row.current, settings);
    }
    append(after, version->member, row);
  }
  replace_table(now->oid, std::move(after));
}

std::vector<std::size_t> RowBuffer::stricter_uniques(const Table& before, const Table& after) {
  std::vector<std::size_t> stricter;
  if (!after.uniques) return stricter;
  const sql::TableDef &old_table = *before.log->table(), &table = *after.log->table();
  const auto is_old = [&](const RowEncoder::StructureKeys& structure) {
    const std::vector<std::int16_t>& columns = structure.structure.columns;
    const auto is_same = [&](const RowEncoder::StructureKeys& other) {
      return other.structure == structure.structure && other.nulls_are_equal == structure.nulls_are_equal;
    };
    const auto keeps_type = [&](std::int16_t number) { return old_table.find_column(number)->type == table.find_column(number)->type; };
    // Duplicates that wait for the commit may go on waiting.
    const bool may_wait = !is_deferrable(old_table, columns) || is_deferrable(table, columns);
    return before.uniques && may_wait && std::ranges::any_of(before.uniques->structures(), is_same) && std::ranges::all_of(columns, keeps_type);
  };
  for (std::size_t index = 0; index < after.uniques->structures().size(); ++index) {
    if (!is_old(after.uniques->structures()[index])) stricter.push_back(index);
  }
  return stricter;
}

/// 23505 where another row has one of the row's values of these structures.
void RowBuffer::check_unique(const Table& table, std::span<const std::size_t> structures, const std::string& member,
                             const std::vector<sql::Datum>& row, const sql::SessionSettings& settings) {
  if (structures.empty()) return;
  Words words;
  const RowImage image = table.uniques->encode(row, words);
  for (const std::size_t index : structures) {
    const RowEncoder::StructureKeys& structure = table.uniques->structures()[index];
    const auto entry = RowEncoder::entry(words, image, index);
    if (is_null(entry.first) || !has_other_owner(table, owner_key(RowEncoder::unique_key(structure, entry), entry.first), member)) continue;
    const std::vector<sql::Datum> values = table.uniques->values(structure, row);
    const std::vector<std::int16_t>& columns = structure.structure.columns;
    throw duplicate_in_new_index(*table.log->table(), unique_name(*table.log->table(), columns).name, columns, values, settings);
  }
}

bool RowBuffer::has_other_owner(const Table& table, const std::string& value, const std::string& member) {
  const auto found = table.owners.find(hash_of_value(value), [&](ChangeLog::Position position) {
    const ChangeLog::VersionPtr version = table.log->at(position);
    return version->member != member && has(unique_values(table, version->row.current), value);
  });
  return found.has_value();
}

void RowBuffer::append(Table& table, const std::string& member, BufferedRow row) {
  table.as_now.reset();
  const ChangeLog::Position position = table.log->append(member, std::move(row));
  const ChangeLog::VersionPtr version = table.log->at(position);
  if (version->before != ChangeLog::kNone) note(table, version->before, *table.log->at(version->before), false);
  note(table, position, *version, true);
}

void RowBuffer::take_back(Table& table) {
  table.as_now.reset();
  const ChangeLog::VersionPtr version = table.log->pop();
  note(table, table.log->size(), *version, false);
  if (version->before != ChangeLog::kNone) note(table, version->before, *table.log->at(version->before), true);
}

std::vector<std::string> RowBuffer::unique_values(const Table& table, const RowValues& row) {
  std::vector<std::string> values;
  if (!row) return values;
  Words words;
  const RowImage image = table.uniques->encode(*row, words);
  for (std::size_t index = 0; index < table.uniques->structures().size(); ++index) {
    const auto entry = RowEncoder::entry(words, image, index);
    if (!is_null(entry.first)) values.push_back(owner_key(RowEncoder::unique_key(table.uniques->structures()[index], entry), entry.first));
  }
  return values;
}

void RowBuffer::note(Table& table, ChangeLog::Position position, const ChangeLog::Version& version, bool add) {
  if (table.references) note_references(table, version, add);
  if (table.uniques) note_owners(table, position, version, add);
  if (version.row.increments.empty()) return;
  if (add) {
    table.growing.insert(version.member);
  } else {
    table.growing.erase(version.member);
  }
}

void RowBuffer::note_references(Table& table, const ChangeLog::Version& version, bool add) {
  Words words;
  std::optional<RowImage> current, stored;
  if (version.row.current) current = table.references->encode(*version.row.current, words);
  if (version.row.stored) stored = table.references->encode(*version.row.stored, words);
  const auto set_of = [&](const std::optional<RowImage>& image, std::size_t index) {
    const std::string_view set = image ? RowEncoder::entry(words, *image, index).first : std::string_view();
    return std::string(set);  // empty: in none
  };
  for (std::size_t index = 0; index < table.references->structures().size(); ++index) {
    const std::string now = set_of(current, index), before = set_of(stored, index);
    if (now == before) continue;
    const auto note_in = [&](const std::string& set, std::set<std::string> References::*members) {
      if (set.empty()) return;
      References& references = table.referring[set];
      if (add) {
        (references.*members).insert(version.member);
      } else {
        (references.*members).erase(version.member);
      }
      if (references.arrived.empty() && references.left.empty()) table.referring.erase(set);
    };
    note_in(now, &References::arrived);
    note_in(before, &References::left);
  }
}

void RowBuffer::note_owners(Table& table, ChangeLog::Position position, const ChangeLog::Version& version, bool add) {
  const std::vector<std::string> current = unique_values(table, version.row.current), stored = unique_values(table, version.row.stored);
  const auto note_in = [&](PositionIndex& index, const std::string& value) {
    if (add) {
      index.insert(hash_of_value(value), position);
    } else {
      index.erase(hash_of_value(value), position);
    }
  };
  for (const std::string& value : current) note_in(table.owners, value);
  for (const std::string& value : stored) {
    if (!has(current, value)) note_in(table.former_owners, value);
  }
}

}  // namespace redquel::executor
