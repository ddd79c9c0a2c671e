// What a write unit verifies besides its own rows: locks, and what its transaction has read.

#include <algorithm>

#include "executor/storage/write_encoding.h"

namespace redquel::executor {

using sql::Structure;

/// Of a row that stays: nothing that another table could refer to changes.
bool WriteEncoding::keeps_unique_values(const WriteUnit::Change& change) const {
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
    if (encoder.structures()[index].structure.kind != Structure::Kind::kUnique) continue;
    const Word before = RowEncoder::entry(unit_.words_, change.old_image, index).first;
    const Word after = RowEncoder::entry(unit_.words_, change.new_image, index).first;
    if (before != after || is_null(before) != is_null(after)) return false;
  }
  return true;
}

/// The locks that the changes need, as a mode's digit and a field.
void WriteEncoding::collect_locks() {
  if (unit_.options_.locks != nullptr && !unit_.options_.buffer) {  // a commit: those that it has
    for (const auto& [table, fields] : unit_.options_.locks->fields) {
      for (const std::string& field : fields) locks_[table].push_back(unit_.words_.store("4" + field));
    }
    // Increments and new rows without a key of their own have none: those of others are in their way.
    for (const WriteUnit::Change& change : unit_.changes_) {
      const RowEncoder& encoder = unit_.tables_[change.table].encoder;
      const bool is_insert = change.kind == WriteUnit::Kind::kInsert && encoder.is_free_to_insert();
      if (change.increments.empty() && !is_insert) continue;
      const Word member = is_insert ? change.new_image.member : change.old_image.member;
      locks_[encoder.table().oid].push_back(unit_.words_.store("3" + row_lock_field(member)));
    }
    return;
  }
  const auto add = [&](sql::Oid table, LockMode mode, const std::string& field) {
    locks_[table].push_back(unit_.words_.store(std::to_string(static_cast<int>(mode)) + field));
  };
  for (std::size_t number = 0; number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kIndex || !is_active(number)) continue;
    const RowEncoder& encoder = unit_.tables_[change.table].encoder;
    const sql::Oid table = encoder.table().oid;
    const bool stays = change.kind == WriteUnit::Kind::kUpdate && !moves(change);
    if (change.kind != WriteUnit::Kind::kInsert) {
      const bool keeps_keys = stays && keeps_unique_values(change);
      add(table, keeps_keys ? LockMode::kNoKeyUpdate : LockMode::kUpdate, row_lock_field(change.old_image.member));
    }
    if (change.kind == WriteUnit::Kind::kDelete) continue;
    if (!stays) add(table, LockMode::kUpdate, row_lock_field(change.new_image.member));
    for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder.structures()[index];
      if (structure.structure.kind != Structure::Kind::kUnique) continue;
      const Word field = RowEncoder::entry(unit_.words_, change.new_image, index).first;
      if (is_null(field)) continue;
      if (stays && RowEncoder::entry(unit_.words_, change.old_image, index).first == field) continue;
      add(table, LockMode::kUpdate, value_lock_field(structure.key, field));
    }
  }
  for (const ForeignKeyDemands::Lock& lock : foreign_keys_.locks) add(lock.table, lock.mode, lock.field);
}

void WriteEncoding::write_locks() {
  if (!unit_.options_.ahead_of_commit) collect_locks();
  // Of one field the strongest. Rows that only come have different keys.
  const bool are_distinct = old_rows_.empty() && uniques_.keys.empty() && foreign_keys_.locks.empty() && unit_.options_.locks == nullptr;
  for (auto& [table, locks] : locks_) {
    if (are_distinct) break;
    std::sort(locks.begin(), locks.end(), [](Word a, Word b) {
      return std::pair(a.substr(1), b.front()) < std::pair(b.substr(1), a.front());
    });
    const auto is_same_field = [](Word a, Word b) { return a.substr(1) == b.substr(1); };
    locks.erase(std::unique(locks.begin(), locks.end(), is_same_field), locks.end());
  }
  put(unit_.options_.locks != nullptr ? Word(unit_.options_.locks->token) : Word(""));
  put(locks_.size());
  for (const auto& [table, locks] : locks_) {
    keys_.push_back(unit_.words_.store(lock_key(table)));
    put(locks.size());
    for (const Word lock : locks) put(lock);
  }
}

/// Table by table: its counter and, unless the whole of it counts, the rows that were read.
void WriteEncoding::write_reads() {
  if (unit_.options_.reads == nullptr) return put(std::size_t{0});
  put(unit_.options_.reads->tables().size());
  for (const auto& [oid, table] : unit_.options_.reads->tables()) {
    keys_.push_back(table.counter_key);
    put(table.counter);
    put(table.whole ? "whole" : "rows");
    put(table.whole ? 0 : table.rows.size());
    if (table.whole) continue;
    for (const ReadChecks::Row& row : table.rows) {
      keys_.push_back(row.key);
      put(row.fields.size());
      for (const std::string& field : row.fields) put(field);
      for (const auto& value : row.values) put(value ? Word(*value) : kNobody);
    }
  }
}

}  // namespace redquel::executor
