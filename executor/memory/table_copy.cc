#include "executor/memory/table_copy.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>

#include "executor/memory/protocol_part.h"
#include "sql/catalog/key_segments.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

/// More changed rows than this are not worth being read one by one.
constexpr std::size_t kMostChanges = 100'000;
/// The worth of a table's scans is halved in this time.
constexpr std::chrono::minutes kHalfLife{10};
constexpr double kScannedRow = 2.8;  // microseconds of Redis
/// A chunk with more than one of so many rows gone is packed again.
constexpr std::size_t kGoneShare = 4;
/// Rows that one piece of a rewrite packs or places.
constexpr std::size_t kTidiedRows = 1024;

constexpr std::string_view kStructures[] = {"id", "rowid", "zset", "indices", "uniques"};

std::uint32_t position_of(std::size_t slot, std::size_t row) { return static_cast<std::uint32_t>(slot << 16 | row); }

/// Returns the member whose row has the key, given without the table's prefix. None: no row has it.
std::optional<std::string> member_of(std::string_view rest, std::size_t key_size) {
  const std::vector<std::string_view> segments = sql::split_segments(rest);
  if (segments.size() != key_size || std::ranges::find(kStructures, segments[0]) != std::end(kStructures)) return std::nullopt;
  try {
    std::string member = sql::unescape_segment(segments[0]);  // throws for a key that no row can have
    return key_size == 1 ? member : std::string(rest);
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string observed_prefix(const sql::Mapping& mapping) {
  const std::string& head = mapping.key.parts().front().literal;
  return head.starts_with('\xff') ? "" : head;  // the fence's key must come last
}

TableCopy::TableCopy(std::shared_ptr<const sql::TableDef> table)
    : table_(std::move(table)), keys_(*table_), has_runs_(table_->is_mapped() && !sql::has_one_row(table_->mapping().layout)) {}

std::string TableCopy::prefix() const { return table_->is_mapped() ? observed_prefix(table_->mapping()) : table_->prefix + ":"; }

FencedTable TableCopy::fenced() const {
  if (table_->is_mapped()) return {table_->oid, "", ""};
  return {table_->oid, keys_.all_rows(), keys_.changes()};
}

// ---- the keeper's thread --------------------------------------------------------------------------------------------------------

std::optional<std::string> TableCopy::member_of_key(std::string_view key) const {
  const sql::Mapping& mapping = table_->mapping();
  const auto texts = mapping.key.match(key);
  if (!texts) return std::nullopt;
  if (mapping.layout != sql::Mapping::Layout::kStrings) return std::string(key);
  // The strings of a row go by the key of its first column.
  std::string member;
  std::size_t slot = 0;
  for (const sql::KeyTemplate::Part& part : mapping.key.parts()) {
    if (part.column == 0) {
      member += part.literal;
    } else if (part.column == sql::KeyTemplate::kFieldSlot) {
      const auto is_field = [](const sql::Mapping::Column& column) { return column.role == sql::Mapping::Role::kField; };
      const auto first = std::ranges::find_if(mapping.columns, is_field);
      if (first == mapping.columns.end()) return std::nullopt;
      member += first->field;
      ++slot;
    } else {
      member += (*texts)[slot++];
    }
  }
  return member;
}

bool TableCopy::note_change(std::optional<std::string_view> member) {
  if (!member || is_left_out("keys")) return true;
  if (changes_.size() >= kMostChanges) {
    lose("too many rows have changed");
    return false;
  }
  changes_.insert(*member);
  return true;
}

void TableCopy::key_changed(std::string_view key) {
  if (table_->is_mapped()) {
    std::optional<std::string> member = member_of_key(key);
    const std::lock_guard guard(mutex_);
    if (tracking_) note_change(member);
    return;
  }
  if (!key.starts_with(table_->prefix) || key.size() <= table_->prefix.size() + 1) return;
  const std::string_view rest = key.substr(table_->prefix.size() + 1);
  if (keys_.key_size() == 1 && rest.find(':') != std::string_view::npos) return;  // of an index, as most keys that a write changes are
  const std::lock_guard guard(mutex_);
  if (!tracking_) return;
  if (rest == "zset") {
    ++told_;
    return;
  }
  if (keys_.key_size() == 1 && rest.find('%') == std::string_view::npos) {  // as it stands in the key
    const bool is_row = std::ranges::find(kStructures, rest) == std::end(kStructures);
    if (is_row) note_change(rest);
    return;
  }
  const std::vector<std::string_view> segments = sql::split_segments(rest);
  if (segments.size() != keys_.key_size()) return;
  // The hash of a long value does not identify the row.
  const bool is_hashed = std::ranges::any_of(segments, sql::is_hashed_segment);
  if (is_hashed) lose("a row with a long key has changed");
  else note_change(member_of(rest, keys_.key_size()));
}

void TableCopy::lost(std::string_view reason) {
  const std::lock_guard guard(mutex_);
  observed_ = false;
  lose(reason);
}

void TableCopy::evict() {
  const std::lock_guard guard(mutex_);
  lose("cache.memory had no room for it any more");
}

void TableCopy::lose(std::string_view reason) {
  tracking_ = false;
  version_.reset();
  changes_.clear();
  doubts_halves_ = false;
  lost_ = reason;
  if (!locked_) clear_rows();  // else unlock() does
}

// ---- readers --------------------------------------------------------------------------------------------------------------------

std::vector<std::int16_t> TableCopy::missing(std::span<const std::int16_t> numbers) const {
  const std::lock_guard guard(mutex_);
  std::vector<std::int16_t> missing;
  for (const std::int16_t number : numbers) {
    if (!version_ || std::ranges::find(columns_, number) == columns_.end()) missing.push_back(number);
  }
  return missing;
}

bool TableCopy::has_changes() const {
  const std::lock_guard guard(mutex_);
  return !changes_.empty() || !taken_.empty() || doubts_halves_;
}

TableCopy::Seen TableCopy::seen() const {
  const std::lock_guard guard(mutex_);
  return {taken_.empty() ? version_ : nullptr, told_};
}

TableVersionPtr TableCopy::judge(const FencedState& fenced, const Seen& seen) {
  const std::lock_guard guard(mutex_);
  ++rounds_;
  if (!tracking_ || !version_ || filling_) return nullptr;
  if (table_->is_mapped()) return changes_.empty() && taken_.empty() && version_ == seen.version ? version_ : nullptr;
  if (seen.told > explained_) {
    if (fenced.changes == counter_ && !is_left_out("members")) {
      lose("another program has changed which rows there are");
      return nullptr;
    }
    explained_ = seen.told;
    // Redquel has changed the zset, and perhaps another program, too: it may have completed a half row.
    if (version_->halves > 0 && !is_left_out("halves")) doubts_halves_ = true;
  }
  if (told_ == explained_) counter_ = fenced.changes;
  // Rows that another statement has read again meanwhile may be newer than the fence.
  if (told_ != explained_ || doubts_halves_ || !changes_.empty() || !taken_.empty() || version_ != seen.version) return nullptr;
  if (fenced.members != static_cast<std::int64_t>(version_->members)) {
    lose("Redis has another number of rows");
    return nullptr;
  }
  return version_;
}

std::string TableCopy::refusal() const {
  const std::lock_guard guard(mutex_);
  return Clock::now() < not_before_ ? reason_ : "";
}

// ---- the maintenance lock -------------------------------------------------------------------------------------------------------

asio::awaitable<std::unique_ptr<TableCopy::Maintenance>> TableCopy::lock() {
  const auto executor = co_await asio::this_coro::executor;
  for (;;) {
    const auto timer = std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
    {
      const std::lock_guard guard(mutex_);
      if (!locked_) {
        locked_ = true;
        break;
      }
      waiters_.push_back([executor, timer] { asio::post(executor, [timer] { timer->cancel(); }); });
    }
    co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return std::make_unique<Maintenance>(*this);
}

void TableCopy::unlock() {
  std::list<std::function<void()>> waiters;
  {
    const std::lock_guard guard(mutex_);
    if (std::exchange(filling_, false)) tracking_ = false;  // a fill, or changes of rows, were interrupted
    // The rows that were not read again remain pending.
    if (tracking_) {
      for (const std::string& member : taken_) changes_.insert(member);
    }
    taken_.clear();
    if (!tracking_) clear_rows();
    locked_ = false;
    waiters.swap(waiters_);
  }
  for (const auto& wake : waiters) wake();
}

bool TableCopy::is_filled() const {
  const std::lock_guard guard(mutex_);
  return tracking_ && version_ != nullptr;
}

bool TableCopy::is_observed() const {
  const std::lock_guard guard(mutex_);
  return observed_;
}

void TableCopy::set_observed() {
  const std::lock_guard guard(mutex_);
  observed_ = true;
}

void TableCopy::begin_fill(std::vector<std::int16_t> numbers) {
  clear_rows();
  const std::lock_guard guard(mutex_);
  lost_.clear();
  changes_.clear();
  version_.reset();
  doubts_halves_ = false;
  explained_ = told_;
  counter_.clear();
  columns_ = std::move(numbers);
  part_rows_ = 0;
  filling_ = tracking_ = observed_;
}

void TableCopy::set_counter(std::string counter) {
  const std::lock_guard guard(mutex_);
  counter_ = std::move(counter);
}

void TableCopy::clear_rows() {
  working_.clear();
  slots_.clear();
  small_.clear();
  positions_.clear();
  runs_.clear();
  ghosts_.clear();
  strays_.clear();
  rewrite_.reset();
  rows_ = 0;
  bytes_ = 0;
}

std::size_t TableCopy::take_slot(ChunkPtr chunk) {
  std::size_t slot = 0;
  while (slot < working_.size() && working_[slot].chunk) ++slot;
  if (slot == working_.size()) {
    working_.emplace_back();
    slots_.emplace_back();
  }
  slots_[slot] = {};
  working_[slot] = {std::move(chunk), nullptr};
  return slot;
}

std::string TableCopy::member_at(std::uint32_t position) const { return *working_[position >> 16].chunk->members->text(position & 0xffff); }

bool TableCopy::is_at(std::uint32_t position, std::string_view member) const { return member_at(position) == member; }

void TableCopy::mark_gone(std::uint32_t position) {
  const std::size_t slot = position >> 16, row = position & 0xffff;
  TableVersion::Slice& slice = working_[slot];
  if (!slots_[slot].gone) {
    slots_[slot].gone = slice.gone ? std::make_shared<GoneRows>(*slice.gone) : std::make_shared<GoneRows>((slice.chunk->rows + 63) / 64);
    slice.gone = slots_[slot].gone;
  }
  (*slots_[slot].gone)[row / 64] |= std::uint64_t{1} << (row % 64);
  ++slots_[slot].gone_rows;
  --rows_;
}

/// Enters the rows of a chunk behind those that their keys have already.
void TableCopy::place_runs(std::size_t slot, std::size_t first, std::size_t end) {
  const Chunk& chunk = *working_[slot].chunk;
  std::vector<Run>* runs = nullptr;
  std::string member;
  for (std::size_t row = first; row < end; ++row) {
    std::string next = *chunk.members->text(row);
    if (runs == nullptr || next != member) {
      member = std::move(next);
      runs = &runs_[member];
      runs->push_back({position_of(slot, row), 0});
    }
    ++runs->back().rows;
  }
  rows_ += end - first;
}

/// Forgets where the rows of these slots are; they are about to be placed again.
void TableCopy::forget_runs(std::span<const std::size_t> slots) {
  for (const std::size_t slot : slots) rows_ -= working_[slot].chunk->rows - slots_[slot].gone_rows;
  for (auto entry = runs_.begin(); entry != runs_.end();) {
    std::erase_if(entry->second, [&](const Run& run) { return std::ranges::find(slots, std::size_t{run.first >> 16}) != slots.end(); });
    entry = entry->second.empty() ? runs_.erase(entry) : std::next(entry);
  }
}

/// Enters the rows of a chunk: those that had another place leave it.
void TableCopy::place(std::size_t slot, std::size_t first, std::size_t end) {
  end = std::min(end, working_[slot].chunk->rows);
  if (has_runs_) return place_runs(slot, first, end);
  const Chunk& chunk = *working_[slot].chunk;
  for (std::size_t row = first; row < end; ++row) {
    if (working_[slot].is_gone(row)) continue;
    const std::string member = *chunk.members->text(row);
    const std::uint32_t before = positions_.set(
        member, position_of(slot, row), [&](std::uint32_t position) { return is_at(position, member); }, [&](std::uint32_t position) { return member_at(position); });
    ++rows_;
    if (before != PositionMap::kNone) mark_gone(before);
    ghosts_.erase(member);
    strays_.erase(member);
  }
}

void TableCopy::forget(const std::string& member) {
  if (has_runs_) {
    const auto found = runs_.find(member);
    if (found == runs_.end()) return;
    for (const Run& run : found->second) {
      for (std::uint32_t row = 0; row < run.rows; ++row) mark_gone(run.first + row);
    }
    runs_.erase(found);
    return;
  }
  const auto is_member = [&](std::uint32_t position) { return is_at(position, member); };
  const std::uint32_t position = positions_.find(member, is_member);
  if (position == PositionMap::kNone) return;
  positions_.erase(member, is_member, [&](std::uint32_t other) { return member_at(other); });
  mark_gone(position);
}

void TableCopy::add_chunk(ChunkPtr chunk) {
  if (chunk->rows == 0) return;
  const std::size_t rows = chunk->rows, slot = begin_chunk(std::move(chunk));
  place(slot, 0, rows);
  end_chunk(slot);
}

std::size_t TableCopy::begin_chunk(ChunkPtr chunk) { return take_slot(std::move(chunk)); }

void TableCopy::end_chunk(std::size_t slot) {
  if (working_[slot].chunk->rows < kChunkRows / 2) small_.push_back(slot);
}

void TableCopy::reserve(std::size_t rows) {
  if (!has_runs_) positions_.reserve(rows, [&](std::uint32_t position) { return member_at(position); });
}

void TableCopy::add_ghost(std::string member) {
  forget(member);
  strays_.erase(member);
  ghosts_.insert(std::move(member));
}

void TableCopy::publish() {
  auto version = std::make_shared<TableVersion>();
  version->slices = working_;
  version->rows = rows_;
  version->members = rows_ + ghosts_.size();
  version->halves = ghosts_.size() + strays_.size();
  std::size_t bytes = positions_.bytes();
  for (const auto& [member, runs] : runs_) bytes += sizeof runs + 3 * sizeof(void*) + sizeof member + member.capacity() + runs.capacity() * sizeof(Run);
  for (const TableVersion::Slice& slice : working_) bytes += slice.chunk ? slice.chunk->bytes() + (slice.gone ? slice.gone->size() * 8 : 0) : 0;
  for (const auto* halves : {&ghosts_, &strays_}) {
    for (const std::string& member : *halves) bytes += sizeof member + member.capacity();
  }
  bytes_ = bytes;
  for (Slot& slot : slots_) slot.gone.reset();  // readers have them now
  const std::lock_guard guard(mutex_);
  filling_ = false;
  taken_.clear();
  if (tracking_) version_ = std::move(version);
}

std::vector<std::int16_t> TableCopy::columns() const {
  const std::lock_guard guard(mutex_);
  return columns_;
}

void TableCopy::replace_chunk(std::size_t slot, ChunkPtr chunk) { working_[slot].chunk = std::move(chunk); }

void TableCopy::set_columns(std::vector<std::int16_t> numbers) {
  const std::lock_guard guard(mutex_);
  columns_ = std::move(numbers);
}

// ---- rows that have changed -----------------------------------------------------------------------------------------------------

std::vector<std::string> TableCopy::take_changes(std::size_t most) {
  const std::lock_guard guard(mutex_);
  if (std::exchange(doubts_halves_, false)) {
    for (const auto* const halves : {&ghosts_, &strays_}) {
      for (const std::string& member : *halves) changes_.insert(member);
    }
  }
  while (!changes_.empty() && taken_.size() < most) taken_.push_back(changes_.take());
  // Numbers in their order: new rows lie as they were inserted.
  std::ranges::sort(taken_, {}, [](const std::string& member) { return std::pair(member.size(), std::string_view(member)); });
  return taken_;
}

void TableCopy::begin_changes(const std::vector<Changed>& changes) {
  {
    const std::lock_guard guard(mutex_);
    filling_ = true;
  }
  if (!has_runs_) return;
  for (const Changed& change : changes) forget(change.member);
}

void TableCopy::end_changes(const std::vector<Changed>& changes) {
  for (const Changed& change : changes) {
    if (change.has_row) continue;
    if (change.is_member) {
      add_ghost(change.member);
    } else {
      forget(change.member);
      ghosts_.erase(change.member);
      if (change.is_stray) strays_.insert(change.member);
      else strays_.erase(change.member);
    }
  }
  {
    const std::lock_guard guard(mutex_);
    rows_read_again_ += changes.size();
  }
  publish();
}

/// Chooses chunks that are worth to be packed anew. False: there are none.
bool TableCopy::begin_rewrite() {
  std::vector<std::size_t> slots;
  if (small_.size() >= 2) {
    const std::size_t last = small_.back(), before = small_[small_.size() - 2];
    const std::size_t last_rows = working_[last].chunk->rows, rows_before = working_[before].chunk->rows;
    if (rows_before <= 2 * last_rows && rows_before + last_rows <= kChunkRows) slots = {before, last};
  }
  for (std::size_t slot = 0; slot < working_.size() && slots.empty(); ++slot) {
    if (working_[slot].chunk && slots_[slot].gone_rows * kGoneShare > working_[slot].chunk->rows) slots = {slot};
  }
  if (slots.empty()) return false;
  rewrite_.emplace(*table_, columns(), std::move(slots));
  return true;
}

bool TableCopy::tidy() {
  if (!rewrite_ && !begin_rewrite()) return false;
  Rewrite& work = *rewrite_;
  if (work.next_slot < work.slots.size()) {
    const TableVersion::Slice& slice = working_[work.slots[work.next_slot]];
    const std::size_t end = std::min(slice.chunk->rows, work.next_row + kTidiedRows);
    for (; work.next_row < end; ++work.next_row) {
      if (!slice.is_gone(work.next_row)) work.packer.add(*slice.chunk, work.next_row);
    }
    if (end < slice.chunk->rows) return true;
    ++work.next_slot;
    work.next_row = 0;
    return true;
  }
  if (!work.chunk) {
    work.chunk = work.packer.finish_next_column();
    if (!work.chunk) return true;
    if (has_runs_) forget_runs(work.slots);
    if (work.chunk->rows > 0) work.slot = begin_chunk(work.chunk);
    return true;
  }
  if (work.placed < work.chunk->rows) {
    place(work.slot, work.placed, work.placed + kTidiedRows);
    work.placed += kTidiedRows;
    return true;
  }
  // The rows' positions were found in the old chunks until all of them had new ones.
  for (const std::size_t slot : work.slots) {
    working_[slot] = {};
    slots_[slot] = {};
    std::erase(small_, slot);
  }
  if (work.chunk->rows > 0) end_chunk(work.slot);
  rewrite_.reset();
  publish();
  return true;
}

void TableCopy::rest(std::string_view reason, std::chrono::milliseconds pause) {
  const std::lock_guard guard(mutex_);
  reason_ = reason;
  not_before_ = Clock::now() + pause;
}

void TableCopy::drop(std::string_view reason, std::chrono::milliseconds pause) {
  clear_rows();
  const std::lock_guard guard(mutex_);
  filling_ = tracking_ = false;
  version_.reset();
  taken_.clear();
  changes_.clear();
  doubts_halves_ = false;
  lost_ = reason_ = reason;
  not_before_ = Clock::now() + pause;
}

// ---- numbers --------------------------------------------------------------------------------------------------------------------

double TableCopy::decayed_worth(Clock::time_point now) const {
  return worth_ * std::exp2(-std::chrono::duration<double>(now - worth_at_) / std::chrono::duration<double>(kHalfLife));
}

double TableCopy::worth() const {
  const std::lock_guard guard(mutex_);
  return decayed_worth(Clock::now());
}

std::size_t TableCopy::note_scan(double rows) {
  const std::lock_guard guard(mutex_);
  const Clock::time_point now = Clock::now();
  if (now - worth_at_ > kHalfLife) scans_ = 0;
  worth_ = decayed_worth(now) + rows * kScannedRow;
  worth_at_ = now;
  return ++scans_;
}

void TableCopy::note_part(std::size_t rows) {
  part_rows_ += rows;
  const std::lock_guard guard(mutex_);
  const Clock::time_point now = Clock::now();
  worth_ = decayed_worth(now) + static_cast<double>(rows) * kScannedRow;
  worth_at_ = now;
}

void TableCopy::count_hit() {
  const std::lock_guard guard(mutex_);
  ++hits_;
}

void TableCopy::count_miss() {
  const std::lock_guard guard(mutex_);
  ++misses_;
}

TableCopy::Statistics TableCopy::statistics() const {
  const std::lock_guard guard(mutex_);
  Statistics statistics{hits_, misses_, rounds_, rows_read_again_, 0, bytes_, changes_.size() + taken_.size(), columns_, "", decayed_worth(Clock::now())};
  if (version_) statistics.rows = version_->rows;
  statistics.state = version_ ? "kept" : filling_ ? "being read" : !lost_.empty() ? lost_ : reason_;
  return statistics;
}

}  // namespace redquel::executor
