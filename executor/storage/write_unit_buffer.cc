// A unit of an open transaction: each change is sent to Redis as the difference to what Redis holds, for the checks alone, and noted
// for the transaction's buffer.

#include <algorithm>
#include <utility>

#include "executor/storage/placed_table.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/stored_keys.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace {

RowValues copy_of(std::span<const sql::Datum> row) { return std::make_shared<const std::vector<sql::Datum>>(row.begin(), row.end()); }

}  // namespace

void WriteUnit::buffer_insert(Change& change, std::span<const sql::Datum> row) {
  const RowEncoder& encoder = tables_[change.table].encoder;
  const std::optional<BufferedRow> before = options_.buffer->find(encoder.table().oid, change.new_image.member);
  if (before && before->stored && !before->current) {  // for Redis the row changes
    change.kind = Kind::kUpdate;
    change.revives = true;
    change.old_image = encoder.encode(*before->stored, words_);
    set_expected(change, std::vector<bool>(encoder.table().columns.size(), true));
  }
  records_.push_back({change.table, changes_.size(), std::string(change.new_image.member), {nullptr, copy_of(row)}});
}

void WriteUnit::buffer_change(const TablePtr& definition, std::span<const sql::Datum> old_row, const RowImage& old_image,
                              std::optional<std::span<const sql::Datum>> new_row, const std::vector<std::size_t>& increments) {
  Change change{};
  change.kind = new_row ? Kind::kUpdate : Kind::kDelete;
  change.table = table_number(definition, nullptr, {});
  Table& table = tables_[change.table];
  const std::optional<BufferedRow> before = options_.buffer->find(definition->oid, old_image.member);
  const RowValues stored = before ? before->stored : copy_of(old_row);
  if (!before && !increments.empty()) {
    records_.push_back({change.table, std::nullopt, std::string(old_image.member), {stored, copy_of(*new_row), increments}});
    return;
  }
  if (new_row) change.new_image = table.encoder.encode(*new_row, words_);
  const bool moves = new_row && change.new_image.member != old_image.member;
  const auto expect_stored = [&] {
    change.old_image = table.encoder.encode(*stored, words_);
    set_expected(change, std::vector<bool>(definition->columns.size(), true));
  };
  if (moves || !new_row) {
    records_.push_back({change.table, std::nullopt, std::string(old_image.member), {stored, nullptr}});
    if (stored) {
      change.kind = Kind::kDelete;
      expect_stored();
      changes_.push_back(change);
    }
    if (moves) {
      add_insert(definition, *new_row, {});
      keep_expiry(*definition, old_image);
    }
    return;
  }
  const std::optional<std::int64_t> expires_at = before ? before->expires_at : std::nullopt;
  records_.push_back({change.table, changes_.size(), std::string(old_image.member), {stored, copy_of(*new_row), {}, expires_at}});
  if (stored) {
    expect_stored();
  } else {
    change.kind = Kind::kInsert;
  }
  changes_.push_back(change);
}

void WriteUnit::keep_expiry(const sql::TableDef& table, const RowImage& old_image) {
  if (table.managed().expiry.milliseconds == 0) return;
  const std::size_t row = options_.buffer != nullptr ? records_.size() - 1 : changes_.size() - 1;
  if (options_.buffer != nullptr) {
    const std::optional<BufferedRow> before = options_.buffer->find(table.oid, old_image.member);
    if (before && before->expires_at) return set_expiry_of(row, *before->expires_at);
    if (before && !before->stored) return;  // new
  }
  kept_expiries_.push_back({row, std::string(old_image.key)});
}

void WriteUnit::set_expiry_of(std::size_t row, std::int64_t time) {
  if (options_.buffer != nullptr) records_[row].row.expires_at = time;
  else changes_[row].expires_at = time;
}

asio::awaitable<bool> WriteUnit::read_expiries(RedisClient& client, ExecutionCounters* counters) {
  const std::vector<KeptExpiry> kept = std::exchange(kept_expiries_, {});
  if (kept.empty()) co_return true;
  CommandBatch look;
  for (const KeptExpiry& row : kept) look.add("PTTL", row.key).add("EXISTS", own_key(sql::tag_of(row.key), sql::kPreparedKey));
  const RepliesPtr replies = co_await client.execute(std::move(look), counters);
  for (std::size_t index = 0; index < kept.size(); ++index) {
    const std::int64_t left = replies->integer(2 * index);
    if (left == -2) continue;  // gone: the unit will find that out
    if (left >= 0) set_expiry_of(kept[index].row, sql::current_timestamp() + left * 1000);
    else if (replies->integer(2 * index + 1) == 0) set_expiry_of(kept[index].row, kNeverExpires);
    else co_return false;  // a prepared commit may keep the row (prepare_commit.lua)
  }
  co_return true;
}

bool WriteUnit::is_taken_in_buffer(const Change& change) const {
  if (!options_.buffer) return false;
  const Table& table = tables_[change.table];
  const std::optional<BufferedRow> row = options_.buffer->find(table.encoder.table().oid, change.new_image.member);
  return row && row->current && !table.changed_members.contains(change.new_image.member);
}

bool WriteUnit::is_taken_in_buffer(const Change& change, std::size_t number) const {
  if (!options_.buffer) return false;
  const Table& table = tables_[change.table];
  const RowEncoder::StructureKeys& structure = table.encoder.structures()[number];
  const auto entry = RowEncoder::entry(words_, change.new_image, number);
  const bool names_key = change.kind == Kind::kInsert && change.skip_if_exists && conflicts_[change.conflict].columns;
  // Rows of any part may own a value that lies by value.
  const auto is_changed = [&](const std::string& owner) {
    if (!RowEncoder::lies_by_value(structure)) return table.changed_members.contains(owner);
    return std::ranges::any_of(tables_, [&](const Table& other) {
      return other.encoder.table().part_of == table.encoder.table().part_of && other.changed_members.contains(owner);
    });
  };
  return std::ranges::any_of(options_.buffer->owners(RowEncoder::unique_key(structure, entry), entry.first), [&](const std::string& owner) {
    return (names_key || owner != change.new_image.member) && !is_changed(owner);
  });
}

void WriteUnit::absorb_into(RowBuffer& buffer) const {
  // Rows that leave a key make room for those that take it.
  for (const bool arrivals : {false, true}) {
    for (const Record& record : records_) {
      if ((record.row.current != nullptr) != arrivals) continue;
      if (record.change && changes_[*record.change].skipped) continue;
      const RowBuffer::TablePtr& table = tables_[record.table].encoder.definition();
      const std::optional<BufferedRow> before = buffer.find(table->oid, record.member);
      RowValues stored = before ? before->stored : record.row.stored;
      buffer.set(table, record.member, {std::move(stored), record.row.current, record.row.increments, record.row.expires_at});
    }
  }
}

}  // namespace redquel::executor
