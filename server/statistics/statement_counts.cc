#include "server/statistics/statement_counts.h"

#include <algorithm>
#include <cmath>

#include "parser/statement_shape.h"
#include "sql/system_tables/roles.h"

namespace redquel::server {

namespace {

/// Entries of one thread. PostgreSQL keeps pg_stat_statements.max = 5000 of all.
constexpr std::size_t kMostEntries = 5000, kMostTexts = 10'000;
/// Longer texts are cut before they are kept, and are not remembered as they come.
constexpr std::size_t kMostTextBytes = 8192;


std::string_view cut_text(std::string_view text) {
  if (text.size() <= kMostTextBytes) return text;
  std::size_t bytes = kMostTextBytes;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

/// The figures of one statement; the owner writes, others read.
struct StatementCounts::Entry {
  std::int64_t query_id = 0;
  Count calls, rows, round_trips, commands;
  std::atomic<double> total = 0, least = 0, most = 0, mean = 0, squares = 0;  // milliseconds

  void add(const Run& run) {
    const double time = static_cast<double>(run.nanoseconds) / 1e6;
    calls.add();
    rows.add(run.rows);
    round_trips.add(run.round_trips);
    commands.add(run.commands);
    const auto count = static_cast<double>(calls.get());
    total.store(total.load(std::memory_order_relaxed) + time, std::memory_order_relaxed);
    if (count == 1 || time < least.load(std::memory_order_relaxed)) least.store(time, std::memory_order_relaxed);
    if (time > most.load(std::memory_order_relaxed)) most.store(time, std::memory_order_relaxed);
    // Welford's method, as PostgreSQL's.
    const double before = mean.load(std::memory_order_relaxed), after = before + (time - before) / count;
    mean.store(after, std::memory_order_relaxed);
    squares.store(squares.load(std::memory_order_relaxed) + (time - before) * (time - after), std::memory_order_relaxed);
  }
};

std::int64_t query_id_of(std::string_view normalized) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a: the same in every process
  for (const char c : normalized) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash == 0 ? 1 : static_cast<std::int64_t>(hash);
}

void StatementCounts::find(const KeyView& statement, Last& last) {
  if (is_reset_asked_.load(std::memory_order_relaxed)) carry_out_resets();
  if (last.generation_ == generation_ && last.role_ == statement.role && last.text_ == statement.text) return;
  const auto known = texts_.find(statement);
  last.entry_ = known != texts_.end() ? known->second : find_or_make(statement);
  last.role_ = statement.role;
  last.text_ = statement.text.size() <= kMostTextBytes ? statement.text : std::string_view();
  last.generation_ = last.text_.empty() ? 0 : generation_;
}

std::int64_t StatementCounts::add(const Run& run, Entry& entry) {
  entry.add(run);
  return entry.query_id;
}

const std::shared_ptr<StatementCounts::Entry>& StatementCounts::find_or_make(const KeyView& statement) {
  const std::string normalized = parser::normalize_statement(cut_text(statement.text));
  const KeyView key{statement.role, statement.database, normalized};
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    auto entry = std::make_shared<Entry>();
    entry->query_id = query_id_of(normalized);
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMostEntries) make_room();
    found = entries_.emplace(Key{statement.role, std::string(statement.database), normalized}, std::move(entry)).first;
  }
  if (statement.text.size() <= kMostTextBytes) {
    if (texts_.size() >= kMostTexts) texts_.clear();
    texts_.emplace(Key{statement.role, std::string(statement.database), std::string(statement.text)}, found->second);
  }
  return found->second;
}

void StatementCounts::forget_texts() {
  texts_.clear();
  ++generation_;
}

/// Drops the twentieth of the entries with the fewest runs.
void StatementCounts::make_room() {
  std::vector<std::uint64_t> calls;
  for (const auto& [key, entry] : entries_) calls.push_back(entry->calls.get());
  const auto limit = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 20);
  std::ranges::nth_element(calls, limit);
  std::size_t rest = calls.size() / 20;
  forget_texts();
  std::erase_if(entries_, [&](const auto& entry) { return rest > 0 && entry.second->calls.get() <= *limit && rest-- > 0; });
  forgotten_.add();
}

void StatementCounts::carry_out_resets() {
  const std::lock_guard lock(mutex_);
  is_reset_asked_.store(false, std::memory_order_relaxed);
  forget_texts();
  for (const Reset& reset : resets_) {
    std::erase_if(entries_, [&](const auto& item) {
      return (reset.role == 0 || item.first.role == reset.role) && (reset.query_id == 0 || item.second->query_id == reset.query_id) &&
             (reset.database == 0 || sql::database_oid(item.first.database) == reset.database);
    });
  }
  resets_.clear();
}

void StatementCounts::forget(sql::Oid role, sql::Oid database, std::int64_t query_id) {
  const std::lock_guard lock(mutex_);
  resets_.push_back({role, database, query_id});
  is_reset_asked_.store(true, std::memory_order_relaxed);
}

void StatementCounts::append_to(std::vector<sql::StatementStatistics>& all) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    const sql::Oid database = sql::database_oid(key.database);
    const bool is_forgotten = std::ranges::any_of(resets_, [&](const Reset& reset) {
      return (reset.role == 0 || key.role == reset.role) && (reset.query_id == 0 || entry->query_id == reset.query_id) &&
             (reset.database == 0 || database == reset.database);
    });
    if (is_forgotten) continue;
    all.push_back({.role = key.role,
                   .database = key.database,
                   .query_id = entry->query_id,
                   .text = key.text,
                   .calls = entry->calls.get(),
                   .rows = entry->rows.get(),
                   .round_trips = entry->round_trips.get(),
                   .commands = entry->commands.get(),
                   .total_time = entry->total.load(std::memory_order_relaxed),
                   .least_time = entry->least.load(std::memory_order_relaxed),
                   .most_time = entry->most.load(std::memory_order_relaxed),
                   .mean_time = entry->mean.load(std::memory_order_relaxed),
                   .squares = entry->squares.load(std::memory_order_relaxed)});
  }
}

}  // namespace redquel::server
