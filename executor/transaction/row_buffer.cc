#include "executor/transaction/row_buffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/constraint_errors.h"
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
  std::erase_if(structures, [](const sql::Structure& structure) { return structure.kind != sql::Structure::Kind::kUnique; });
  if (structures.empty()) return nullptr;
  return std::make_shared<const RowEncoder>(table, std::move(structures));
}

std::shared_ptr<const RowEncoder> reference_encoder(const RowBuffer::TablePtr& table) {
  std::vector<sql::Structure> structures;
  for (const sql::ForeignKeyDef& key : table->foreign_keys) {
    sql::Structure sets{sql::Structure::Kind::kSets, key.columns};
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
      throw sql::SqlError("23502", fmt::format("column \"{}\" of relation \"{}\" contains null values", now_.columns[index].name, now_.name))
          .schema(now_.schema)
          .table(now_.name)
          .column(now_.columns[index].name);
    }
  }

 private:
  const sql::TableDef& now_;
  std::size_t before_width_;
  std::vector<std::optional<std::size_t>> sources_;
  std::vector<sql::Datum> added_;
};

/// Notes the row's unique values; 23505 where another row has one.
void check_unique(const RowEncoder& encoder, const std::string& member, const std::vector<sql::Datum>& row,
                  std::map<std::string, std::string>& owners, const sql::SessionSettings& settings) {
  Words words;
  const RowImage image = encoder.encode(row, words);
  for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
    const RowEncoder::StructureKeys& structure = encoder.structures()[index];
    const std::string_view field = RowEncoder::entry(words, image, index).first;
    if (is_null(field)) continue;
    if (owners.emplace(owner_key(structure.key, field), member).second) continue;
    const std::vector<sql::Datum> values = encoder.values(structure, row);
    const std::vector<std::int16_t>& columns = structure.structure.columns;
    throw duplicate_in_new_index(encoder.table(), unique_name(encoder.table(), columns).name, columns, values, settings);
  }
}

}  // namespace

TableChangesPtr RowBuffer::changes(sql::Oid table) const {
  const auto found = tables_.find(table);
  if (found == tables_.end() || found->second.changes->rows.empty()) return nullptr;
  return found->second.changes;
}

std::vector<TableChangesPtr> RowBuffer::all_changes() const {
  std::vector<TableChangesPtr> all;
  for (const auto& [oid, table] : tables_) {
    if (!table.changes->rows.empty()) all.push_back(table.changes);
  }
  return all;
}

const BufferedRow* RowBuffer::find(sql::Oid table, std::string_view member) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  const auto row = found->second.changes->rows.find(member);
  return row == found->second.changes->rows.end() ? nullptr : &row->second;
}

std::vector<std::pair<RowBuffer::TablePtr, std::string>> RowBuffer::increments(const std::set<sql::Oid>& tables) const {
  std::vector<std::pair<TablePtr, std::string>> found;
  for (const auto& [oid, table] : tables_) {
    if (!tables.contains(oid)) continue;
    for (const auto& [member, row] : table.changes->rows) {
      if (!row.increments.empty()) found.emplace_back(table.changes->table, member);
    }
  }
  return found;
}

std::ranges::subrange<RowBuffer::Owners::const_iterator> RowBuffer::owners(std::string_view uniques_key, std::string_view field) const {
  const auto [first, last] = owners_.equal_range(owner_key(uniques_key, field));
  return {first, last};
}

const std::string* RowBuffer::former_owner(std::string_view uniques_key, std::string_view field) const {
  const auto found = former_owners_.find(owner_key(uniques_key, field));
  return found == former_owners_.end() ? nullptr : &found->second;
}

const RowBuffer::References* RowBuffer::references(const std::string& set_key) const {
  const auto found = references_.find(set_key);
  return found == references_.end() ? nullptr : &found->second;
}

void RowBuffer::set(const TablePtr& definition, const std::string& member, BufferedRow row) {
  Table& table = tables_[definition->oid];
  if (!table.changes) {
    table.changes = std::make_shared<TableChanges>();
    table.changes->table = definition;
    table.uniques = unique_encoder(definition);
    table.references = reference_encoder(definition);
  }
  const auto found = table.changes->rows.find(member);
  std::optional<BufferedRow> before;
  if (found != table.changes->rows.end()) before = found->second;
  undo_.push_back({definition->oid, member, std::move(before), std::nullopt});
  replace(table, member, std::move(row));
}

void RowBuffer::roll_back(std::size_t mark) {
  while (undo_.size() > mark) {
    const Undo undo = std::move(undo_.back());
    undo_.pop_back();
    if (undo.whole) {
      replace_table(undo.table, *undo.whole);
      continue;
    }
    replace(tables_.at(undo.table), undo.member, undo.before);
  }
}

void RowBuffer::replace_table(sql::Oid oid, Table table) {
  Table& old = tables_[oid];
  if (old.changes) {
    for (const auto& [member, row] : old.changes->rows) note_owners(old, member, row, false);
  }
  old = std::move(table);
  for (const auto& [member, row] : old.changes->rows) note_owners(old, member, row, true);
}

void RowBuffer::forget(sql::Oid oid) {
  const auto found = tables_.find(oid);
  if (found == tables_.end()) return;
  Table empty;
  empty.changes = std::make_shared<TableChanges>();
  empty.changes->table = found->second.changes->table;
  empty.uniques = found->second.uniques;
  empty.references = found->second.references;
  undo_.push_back({oid, {}, std::nullopt, found->second});
  replace_table(oid, std::move(empty));
}

void RowBuffer::redefine(const TablePtr& now, const sql::SessionSettings& settings) {
  const auto found = tables_.find(now->oid);
  if (found == tables_.end() || found->second.changes->table == now) return;
  const TableChanges& before = *found->second.changes;
  if (before.table->primary_key != now->primary_key) {
    throw sql::not_supported("another primary key for a table that the transaction has written");
  }
  const RowForm form(*before.table, *now);
  Table after;
  after.changes = std::make_shared<TableChanges>();
  after.changes->table = now;
  after.uniques = unique_encoder(now);
  after.references = reference_encoder(now);
  std::map<std::string, std::string> owners;
  for (const auto& [member, row] : before.rows) {
    const BufferedRow& changed = after.changes->rows[member] = {form.apply(row.stored), form.apply(row.current)};
    if (!changed.current) continue;
    form.check_not_null(*changed.current);
    if (after.uniques) check_unique(*after.uniques, member, *changed.current, owners, settings);
  }
  undo_.push_back({now->oid, {}, std::nullopt, found->second});
  replace_table(now->oid, std::move(after));
}

TableChanges& RowBuffer::writable(Table& table) {
  // A statement that still reads keeps its own.
  if (table.changes.use_count() > 1) table.changes = std::make_shared<TableChanges>(*table.changes);
  return *table.changes;
}

void RowBuffer::replace(Table& table, const std::string& member, const std::optional<BufferedRow>& row) {
  TableChanges& changes = writable(table);
  const auto found = changes.rows.find(member);
  if (found != changes.rows.end()) note_owners(table, member, found->second, false);
  if (!row) {
    changes.rows.erase(member);
    return;
  }
  note_owners(table, member, *row, true);
  changes.rows[member] = *row;
}

std::vector<std::string> RowBuffer::unique_values(const Table& table, const RowValues& row) const {
  std::vector<std::string> values;
  if (!row) return values;
  Words words;
  const RowImage image = table.uniques->encode(*row, words);
  for (std::size_t index = 0; index < table.uniques->structures().size(); ++index) {
    const std::string_view field = RowEncoder::entry(words, image, index).first;
    if (!is_null(field)) values.push_back(owner_key(table.uniques->structures()[index].key, field));
  }
  return values;
}

void RowBuffer::note_references(const Table& table, const std::string& member, const BufferedRow& row, bool add) {
  Words words;
  std::optional<RowImage> current, stored;
  if (row.current) current = table.references->encode(*row.current, words);
  if (row.stored) stored = table.references->encode(*row.stored, words);
  const auto set_of = [&](const std::optional<RowImage>& image, std::size_t index) {
    const std::string_view set = image ? RowEncoder::entry(words, *image, index).first : std::string_view();
    return std::string(set);  // empty: in none
  };
  for (std::size_t index = 0; index < table.references->structures().size(); ++index) {
    const std::string now = set_of(current, index), before = set_of(stored, index);
    if (now == before) continue;
    const auto note = [&](const std::string& set, std::set<std::string> References::*members) {
      if (set.empty()) return;
      References& references = references_[set];
      if (add) {
        (references.*members).insert(member);
      } else {
        (references.*members).erase(member);
      }
      if (references.arrived.empty() && references.left.empty()) references_.erase(set);
    };
    note(now, &References::arrived);
    note(before, &References::left);
  }
}

void RowBuffer::note_owners(const Table& table, const std::string& member, const BufferedRow& row, bool add) {
  if (table.references) note_references(table, member, row, add);
  if (!table.uniques) return;
  const std::vector<std::string> current = unique_values(table, row.current), stored = unique_values(table, row.stored);
  const auto note = [&](Owners& owners, const std::string& value) {
    if (add) {
      owners.emplace(value, member);
      return;
    }
    const auto [first, last] = owners.equal_range(value);
    const auto found = std::find_if(first, last, [&](const auto& owner) { return owner.second == member; });
    if (found != last) owners.erase(found);
  };
  for (const std::string& value : current) note(owners_, value);
  for (const std::string& value : stored) {
    if (std::find(current.begin(), current.end(), value) == current.end()) note(former_owners_, value);
  }
}

}  // namespace redquel::executor
