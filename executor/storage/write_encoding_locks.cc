// The locks that a write unit needs, what its foreign keys demand, and which unique values wait for the commit.

#include <algorithm>
#include <tuple>

#include "executor/storage/write_encoding.h"

namespace redquel::executor {

/// Returns true for a row that stays if no value that another table could refer to changes.
bool WriteEncoding::keeps_unique_values(const WriteUnit::Change& change) const {
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
    if (!encoder.structures()[index].kind->has_owners()) continue;
    const Word before = RowEncoder::entry(unit_.words_, change.old_image, index).first;
    const Word after = RowEncoder::entry(unit_.words_, change.new_image, index).first;
    if (!are_same(before, after)) return false;
  }
  return true;
}

/// The locks that the changes need, as a mode's digit and a field.
void WriteEncoding::collect_locks() {
  if (unit_.options_.locks != nullptr && unit_.options_.journal) return;  // of a commit that has its tables for itself
  if (unit_.options_.locks != nullptr && !unit_.options_.buffer) {  // a commit: those that it has
    for (std::size_t part = 0; part < unit_.options_.locks->parts(); ++part) {
      for (const auto& [table, fields] : unit_.options_.locks->part(part)) {
        for (const std::string& field : fields) locks_.emplace_back(table, unit_.words_.store("4" + field));
      }
    }
    // Increments and new rows without a key of their own have none: those of others are in their way.
    for (std::size_t number = 0; number < limit_; ++number) {
      const WriteUnit::Change& change = unit_.changes_[number];
      if (is_elsewhere_[number] != 0) continue;
      const RowEncoder& encoder = unit_.tables_[change.table].encoder;
      const bool is_insert = change.kind == WriteUnit::Kind::kInsert && encoder.is_free_to_insert();
      if (change.increments.empty() && !is_insert) continue;
      const Word member = is_insert ? change.new_image.member : change.old_image.member;
      locks_.emplace_back(encoder.table(), unit_.words_.store("3" + row_lock_field(member)));
    }
    return;
  }
  const auto add = [&](const PlacedTable& table, LockMode mode, const std::string& field) {
    locks_.emplace_back(table, unit_.words_.store(std::to_string(static_cast<int>(mode)) + field));
  };
  const bool has_rows = !part_ || part_->has_rows();
  for (std::size_t number = 0; has_rows && number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kIndex || is_skipped(number)) continue;
    const bool is_row_here = is_elsewhere_[number] == 0;
    const RowEncoder& encoder = unit_.tables_[change.table].encoder;
    const PlacedTable table = encoder.table();
    const bool goes = change.kind == WriteUnit::Kind::kDelete, comes = change.kind == WriteUnit::Kind::kInsert;
    const bool stays = !goes && !comes && !moves(change);
    if (!comes && is_row_here) {
      const bool keeps_keys = stays && keeps_unique_values(change);
      add(table, keeps_keys ? LockMode::kNoKeyUpdate : LockMode::kUpdate, row_lock_field(change.old_image.member));
    }
    if (!goes && !stays && is_row_here) add(table, LockMode::kUpdate, row_lock_field(change.new_image.member));
    for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder.structures()[index];
      if (!structure.kind->has_owners()) continue;
      std::pair<Word, Word> before, after;
      if (!comes) before = RowEncoder::entry(unit_.words_, change.old_image, index);
      if (!goes) after = RowEncoder::entry(unit_.words_, change.new_image, index);
      if (stays && are_same(before.first, after.first)) continue;
      const auto lock_value = [&](const std::pair<Word, Word>& entry) {
        if (is_null(entry.first) || !is_here(number, index, entry)) return;
        add(encoder.place_of(structure, entry), LockMode::kUpdate, value_lock_field(RowEncoder::unique_key(structure, entry), entry.first));
      };
      lock_value(after);
      // Others that want the value which a transaction gives up wait for its end. So do those that want one in another bucket than its row's.
      const bool gives_up = unit_.options_.buffer != nullptr || RowEncoder::lies_by_value(structure);
      if (gives_up) lock_value(before);
    }
  }
  for (const ForeignKeyDemands::Lock& lock : foreign_keys_.locks) add(lock.table, lock.mode, lock.field);
}

/// By table; of one field the strongest. Rows that only come have different keys.
void WriteEncoding::order_locks() {
  const bool are_distinct = old_rows_.empty() && uniques_.keys.empty() && foreign_keys_.locks.empty() && unit_.options_.locks == nullptr;
  using Lock = std::pair<PlacedTable, Word>;
  if (are_distinct) {
    std::stable_sort(locks_.begin(), locks_.end(), [](const Lock& a, const Lock& b) { return a.first < b.first; });
    return;
  }
  std::sort(locks_.begin(), locks_.end(), [](const Lock& a, const Lock& b) {
    return std::tuple(a.first, a.second.substr(1), b.second.front()) < std::tuple(b.first, b.second.substr(1), a.second.front());
  });
  const auto is_same_field = [](const Lock& a, const Lock& b) { return a.first == b.first && a.second.substr(1) == b.second.substr(1); };
  locks_.erase(std::unique(locks_.begin(), locks_.end(), is_same_field), locks_.end());
}

void WriteEncoding::demand_foreign_keys() {
  const std::shared_ptr<ForeignKeyChecks>& checks = unit_.options_.foreign_keys;
  if (!checks || unit_.options_.journal || (part_ && part_->kind == UnitPart::Kind::kRows)) return;
  const bool are_known = part_ && part_->demands;
  const auto is_active_change = [this](std::size_t change) { return change >= limit_ || !is_skipped(change); };
  foreign_keys_ = are_known ? *part_->demands : checks->demands(unit_.options_.buffer, is_active_change, unit_.options_.settings);
  for (ForeignKeyDemands::Children& children : foreign_keys_.children) {
    const auto lost = unit_.lost_references_.find(children.set);
    if (lost == unit_.lost_references_.end()) continue;
    for (const std::string& member : lost->second) {
      if (std::find(children.gone.begin(), children.gone.end(), member) == children.gone.end()) children.gone.push_back(member);
    }
  }
  if (part_ && !are_known) foreign_keys_.keep_part(part_->bucket, part_->kind == UnitPart::Kind::kReferences);
}

bool WriteEncoding::is_deferred(std::uint32_t table, std::size_t structure) {
  if (!unit_.options_.defers_unique) return false;
  const auto [found, is_new] = deferred_.try_emplace({table, structure}, false);
  const RowEncoder& encoder = unit_.tables_[table].encoder;
  if (is_new) found->second = unit_.options_.defers_unique(encoder.table(), encoder.structures()[structure].structure.columns);
  return found->second;
}

}  // namespace redquel::executor
