#include "executor/transaction/transaction.h"

#include <algorithm>

namespace redquel::executor {

void Transaction::follow_definitions(const sql::SessionSettings& settings) {
  for (const TableChangesPtr& changes : buffer_.all_changes()) {
    const RowBuffer::TablePtr now = catalog_->snapshot()->find_table(changes->table->oid);
    // A truncated table has another place in Redis.
    if (now && now->prefix == changes->table->prefix) {
      buffer_.redefine(now, settings);
    } else {
      buffer_.forget(changes->table->oid);
    }
  }
}

bool Transaction::may_write_ahead(const sql::TableDef& table) const {
  if (std::ranges::any_of(table.indexes, &sql::IndexDef::is_deferrable)) return false;  // values that are looked at later may be there twice
  return catalog_ && !table.is_mapped() && catalog_->is_new_place(table.prefix) && savepoints_.empty() && !buffer_.changes(table.oid) &&
         table.foreign_keys.empty() && table.referencing.empty() && table.on_commit == sql::TableDef::OnCommit::kPreserveRows;
}

void Transaction::write_as(sql::Oid table, RedisUserPtr user) {
  const auto [known, is_new] = writers_.emplace(table, user);
  if (known->second != user) throw sql::not_supported("a transaction that writes a foreign table as several Redis users");
}

RedisUserPtr Transaction::writer_of(sql::Oid table) const {
  const auto found = writers_.find(table);
  return found == writers_.end() ? nullptr : found->second;
}

void Transaction::set_savepoint() {
  Savepoint savepoint;
  savepoint.buffer_mark = buffer_.mark();
  savepoint.constraint_times = constraint_times_;
  if (catalog_) savepoint.catalog = catalog_->state();
  savepoints_.push_back(std::move(savepoint));
}

void Transaction::roll_back_to(std::size_t number) {
  savepoints_.resize(number + 1);
  const Savepoint& savepoint = savepoints_.back();
  if (savepoint.catalog.draft) {
    catalog_->restore(savepoint.catalog);
  } else if (catalog_ && !catalog_->claims().empty()) {
    catalog_->restore(catalog_->initial());  // it still has to give back the places that it has claimed
  } else {
    catalog_.reset();
  }
  constraint_times_ = savepoint.constraint_times;
  buffer_.roll_back(savepoint.buffer_mark);
}

}  // namespace redquel::executor
