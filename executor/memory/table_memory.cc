#include "executor/memory/table_memory.h"

#include <algorithm>

namespace redquel::executor {

namespace {

/// A newcomer takes the room of copies that are worth less than half as much, byte for byte: scans of two tables in turns displace nothing.
constexpr double kClearGain = 2;

/// Returns true if rows of one definition can be read by the other. Another program may have changed redquel:catalog without a new version.
bool have_same_rows(const sql::TableDef& left, const sql::TableDef& right) {
  if (&left == &right) return true;
  const auto is_same = [](const sql::ColumnDef& a, const sql::ColumnDef& b) {
    return a.number == b.number && a.type == b.type && a.field == b.field && a.not_null == b.not_null && a.missing == b.missing;
  };
  return left.version == right.version && left.primary_key == right.primary_key && std::ranges::equal(left.columns, right.columns, is_same);
}

}  // namespace

std::shared_ptr<Keeper> TableMemory::keeper(int database) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<Keeper>& keeper = keepers_[database];
  if (!keeper) keeper = make_keeper_(database);
  return keeper;
}

TableCopyPtr TableMemory::copy(int database, const std::shared_ptr<const sql::TableDef>& table) {
  TableCopyPtr outdated;
  const std::shared_ptr<Keeper> keeper = this->keeper(database);
  const std::lock_guard guard(mutex_);
  TableCopyPtr& copy = copies_[{database, table->oid}];
  if (!copy || !have_same_rows(copy->table(), *table)) {
    outdated = std::exchange(copy, std::make_shared<TableCopy>(table));
    if (outdated && keeper) keeper->unobserve(*outdated);
    if (outdated) outdated->lost("its definition has changed");
  }
  return copy;
}

void TableMemory::forget_dropped(int database, const sql::CatalogSnapshot& catalog) {
  const std::shared_ptr<Keeper> keeper = this->keeper(database);
  const std::lock_guard guard(mutex_);
  std::erase_if(copies_, [&](const auto& entry) {
    const auto& [place, copy] = entry;
    if (place.database != database || catalog.find_table(place.table)) return false;
    if (keeper) keeper->unobserve(*copy);
    copy->lost("the table is dropped");
    return true;
  });
}

std::vector<TableCopyPtr> TableMemory::copies(int database) const {
  const std::lock_guard guard(mutex_);
  std::vector<TableCopyPtr> copies;
  for (const auto& [place, copy] : copies_) {
    if (place.database == database) copies.push_back(copy);
  }
  return copies;
}

bool TableMemory::make_room(const TableCopyPtr& copy, std::size_t bytes) {
  if (bytes > options_.bytes || (bytes > copy->bytes() && bytes - copy->bytes() > room_)) return false;
  std::vector<TableCopyPtr> dropped;
  {
    const std::lock_guard guard(mutex_);
    std::size_t used = bytes;
    std::vector<std::pair<double, TableCopyPtr>> others;  // by worth of a byte
    for (const auto& [place, other] : copies_) {
      if (other == copy || other->bytes() == 0) continue;
      used += other->bytes();
      others.emplace_back(other->worth() / static_cast<double>(other->bytes()), other);
    }
    std::ranges::sort(others, {}, [](const auto& other) { return other.first; });
    const double worth = copy->worth() / static_cast<double>(std::max<std::size_t>(bytes, 1));
    for (const auto& [other_worth, other] : others) {
      if (used <= options_.bytes) break;
      if (other_worth * kClearGain > worth) return false;
      used -= other->bytes();
      dropped.push_back(other);
    }
    if (used > options_.bytes) return false;
  }
  for (const TableCopyPtr& other : dropped) other->evict();
  return true;
}

std::size_t TableMemory::bytes() const {
  const std::lock_guard guard(mutex_);
  std::size_t sum = 0;
  for (const auto& [place, copy] : copies_) sum += copy->bytes();
  return sum;
}

void TableMemory::shrink(std::size_t bytes) {
  std::vector<std::pair<double, TableCopyPtr>> copies;  // by worth of a byte
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [place, copy] : copies_) {
      if (copy->bytes() > 0) copies.emplace_back(copy->worth() / static_cast<double>(copy->bytes()), copy);
    }
  }
  std::ranges::sort(copies, {}, [](const auto& copy) { return copy.first; });
  std::size_t freed = 0;
  for (const auto& [worth, copy] : copies) {
    if (freed >= bytes) return;
    freed += copy->bytes();
    copy->evict();
  }
}

}  // namespace redquel::executor
