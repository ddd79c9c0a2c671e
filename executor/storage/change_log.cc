#include "executor/storage/change_log.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "executor/storage/row_record.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kRecentBytes = 8 << 20;
/// The sizes of one read of the file.
constexpr std::size_t kVersionsPerBlock = 64;
constexpr std::size_t kBytesPerBlock = 64 * 1024;
std::uint64_t hash_of_member(std::string_view member) { return std::hash<std::string_view>()(member); }

std::size_t memory_of(const RowValues& row) {
  if (!row) return 0;
  std::size_t bytes = sizeof(std::vector<sql::Datum>) + 2 * sizeof(void*) + row->size() * sizeof(sql::Datum);
  for (const sql::Datum& value : *row) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->capacity() > 15 ? text->capacity() + 1 : 0;
  }
  return bytes;
}

std::size_t memory_of(const ChangeLog::Version& version) {
  return sizeof(ChangeLog::Version) + 4 * sizeof(void*) + version.member.size() + memory_of(version.row.stored) +
         (version.row.current == version.row.stored ? 0 : memory_of(version.row.current)) +
         version.row.increments.size() * sizeof(std::size_t);
}

std::optional<std::span<const sql::Datum>> span_of(const RowValues& row) {
  if (!row) return std::nullopt;
  return std::span<const sql::Datum>(*row);
}

RowValues values_of(std::optional<std::vector<sql::Datum>> row) {
  return row ? std::make_shared<const std::vector<sql::Datum>>(*std::move(row)) : nullptr;
}

}  // namespace

ChangeLog::VersionPtr ChangeLog::at(Position position) const {
  if (position >= first_in_memory_) return recent_[position - first_in_memory_];
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), position,
                                       [](Position wanted, const Block& block) { return wanted < block.first; });
  const std::size_t block = static_cast<std::size_t>(behind - blocks_.begin()) - 1;
  const Bytes bytes = read(block);
  return decode(*bytes, position - blocks_[block].first);
}

std::optional<ChangeLog::Position> ChangeLog::find(std::string_view member, Position length) const {
  std::optional<Position> found = rows_.find(hash_of_member(member), [&](Position position) { return at(position)->member == member; });
  while (found && *found >= length) {
    const Position before = at(*found)->before;
    found = before == kNone ? std::nullopt : std::optional(before);
  }
  return found;
}

bool ChangeLog::is_newest(Position position, const Version& version, Position length) const {
  if (!has_replaced_) return true;
  const std::uint64_t hash = hash_of_member(version.member);
  if (rows_.find(hash, [&](Position newest) { return newest == position; })) return true;
  return length < size() && find(version.member, length) == position;
}

ChangeLog::Position ChangeLog::append(std::string member, BufferedRow row) {
  const Position position = size();
  if (position == kNone - 1) throw sql::SqlError(sqlstate::kProgramLimitExceeded, "too many row changes in one transaction");
  // Before anything is noted: it may fail.
  if (recent_bytes_ > kRecentBytes) spill();
  const std::uint64_t hash = hash_of_member(member);
  const std::optional<Position> before = find(member, position);
  auto version = std::make_shared<const Version>(Version{std::move(member), std::move(row), before.value_or(kNone)});
  recent_bytes_ += memory_of(*version);
  recent_.push_back(std::move(version));
  if (before) {
    rows_.replace(hash, *before, position);
    has_replaced_ = true;
  } else {
    rows_.insert(hash, position);
  }
  return position;
}

ChangeLog::VersionPtr ChangeLog::pop() {
  if (recent_.empty()) recall();
  VersionPtr last = std::move(recent_.back());
  recent_.pop_back();
  recent_bytes_ -= memory_of(*last);
  const Position position = size();
  const std::uint64_t hash = hash_of_member(last->member);
  if (last->before == kNone) {
    rows_.erase(hash, position);
  } else {
    rows_.replace(hash, position, last->before);
  }
  return last;
}

/// The older half of what is in memory goes to the file.
void ChangeLog::spill() {
  if (!file_) file_ = std::make_shared<SpillFile>();
  while (recent_bytes_ > kRecentBytes / 2 && !recent_.empty()) {
    std::size_t count = 0, bytes = 0;
    while (count < std::min(recent_.size(), kVersionsPerBlock) && bytes < kBytesPerBlock) bytes += memory_of(*recent_[count++]);
    blocks_.push_back({first_in_memory_, file_->write(encode(count))});
    recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(count));
    first_in_memory_ += static_cast<Position>(count);
    recent_bytes_ -= bytes;
  }
}

void ChangeLog::recall() {
  const std::size_t block = blocks_.size() - 1;
  const Bytes bytes = read(block);
  const Position first = blocks_[block].first;
  for (Position position = first; position < first_in_memory_; ++position) {
    recent_.push_back(decode(*bytes, position - first));
    recent_bytes_ += memory_of(*recent_.back());
  }
  first_in_memory_ = first;
  blocks_.pop_back();
  for (Cached& cached : cache_) {
    if (cached.block == block) cached.bytes.reset();
  }
}

ChangeLog::Bytes ChangeLog::read(std::size_t block) const {
  for (const Cached& cached : cache_) {
    if (cached.bytes && cached.block == block) return cached.bytes;
  }
  Cached& cached = cache_[next_cached_++ % cache_.size()];
  cached = {block, file_->read(blocks_[block].place)};
  return cached.bytes;
}

/// The oldest versions in memory: where each begins, then the versions.
std::string ChangeLog::encode(std::size_t count) const {
  std::string records;
  std::string block;
  for (std::size_t index = 0; index < count; ++index) {
    const Version& version = *recent_[index];
    put_number(block, static_cast<std::uint32_t>(count * sizeof(std::uint32_t) + records.size()));
    put_number(records, version.before);
    put_number(records, static_cast<std::uint32_t>(version.member.size()));
    records += version.member;
    put_row(records, *table_, span_of(version.row.stored));
    put_row(records, *table_, span_of(version.row.current));
    put_number(records, static_cast<std::uint32_t>(version.row.increments.size()));
    for (const std::size_t position : version.row.increments) put_number(records, static_cast<std::uint32_t>(position));
    put_number(records, version.row.expires_at ? 1 : 0);
    const auto time = static_cast<std::uint64_t>(version.row.expires_at.value_or(0));
    put_number(records, static_cast<std::uint32_t>(time >> 32));
    put_number(records, static_cast<std::uint32_t>(time));
  }
  return block + records;
}

ChangeLog::VersionPtr ChangeLog::decode(std::string_view block, std::size_t index) const {
  RecordReader record(block, RecordReader(block, index * sizeof(std::uint32_t)).number());
  Version version;
  version.before = record.number();
  const std::uint32_t size = record.number();
  version.member = record.text(size);
  version.row.stored = values_of(record.row(*table_));
  version.row.current = values_of(record.row(*table_));
  version.row.increments.resize(record.number());
  for (std::size_t& position : version.row.increments) position = record.number();
  const bool expires = record.number() != 0;
  const std::uint64_t high = record.number();
  const std::uint64_t time = high << 32 | record.number();
  if (expires) version.row.expires_at = static_cast<std::int64_t>(time);
  return std::make_shared<const Version>(std::move(version));
}

}  // namespace redquel::executor
