#include "executor/tables/held_locks.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "executor/redis/redis_error.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/storage/locks.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/system_tables.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::executor {

namespace {

/// Elements that one step of HSCAN looks at.
constexpr std::size_t kLocksPerStep = 1000;

constexpr std::string_view kTableModes[] = {"AccessShareLock",     "RowShareLock",          "RowExclusiveLock", "ShareUpdateExclusiveLock",
                                            "ShareLock",           "ShareRowExclusiveLock", "ExclusiveLock",    "AccessExclusiveLock"};
constexpr int kRowShare = 2, kRowExclusive = 3;

struct Holding {
  int strength;
  std::string token;
};

/// "<mode><token>", several of them with blanks between.
std::vector<Holding> holdings_of(std::string_view value) {
  std::vector<Holding> holdings;
  while (!value.empty()) {
    const std::string_view word = value.substr(0, value.find(' '));
    value.remove_prefix(std::min(word.size() + 1, value.size()));
    if (word.size() > 1) holdings.push_back({word[0] - '0', std::string(word.substr(1))});
  }
  return holdings;
}

class LockReader {
 public:
  explicit LockReader(ExecutionContext& context)
      : context_(context), table_(*sql::find_system_table("pg_catalog", "pg_locks")), rows_(table_) {}

  asio::awaitable<sql::Batch> run() {
    std::vector<LockedTable> locked;
    co_await find_locked_tables(locked);
    for (const LockedTable& table : locked) co_await read_table(table);
    co_await read_advisory();
    co_await read_waits();
    co_await find_living();
    write();
    co_return rows_.finish();
  }

 private:
  /// A table, or a part of one, and the oid that the view shows.
  struct LockedTable {
    PlacedTable table;
    sql::Oid shown;
  };

  asio::awaitable<void> find_locked_tables(std::vector<LockedTable>& locked) {
    std::vector<std::shared_ptr<const sql::TableDef>> tables;
    for (const auto& [oid, table] : context_.catalog()->tables) std::ranges::copy(sql::own_stored_tables(table), std::back_inserter(tables));
    CommandBatch batch;
    for (const auto& table : tables) batch.add("EXISTS", lock_key(*table));
    if (batch.empty()) co_return;
    const RepliesPtr replies = co_await context_.ask(std::move(batch), nullptr);
    std::size_t index = 0;
    for (const auto& table : tables) {
      if (replies->integer(index++) == 1) locked.push_back({*table, table->part_of != 0 ? table->part_of : table->oid});
    }
  }

  using Take = std::function<void(std::string_view field, std::string_view value)>;
  /// A hash in bounded steps; what changes meanwhile may come twice.
  asio::awaitable<void> walk(std::string key, Take take) {
    std::string cursor = "0";
    do {
      CommandBatch batch;
      batch.add("HSCAN", key, cursor, "COUNT", kLocksPerStep);
      const RepliesPtr replies = co_await context_.ask(std::move(batch), nullptr);
      const std::span<const Reply> parts = replies->array(0);
      if (parts.size() != 2) throw unexpected_reply("HSCAN", "a cursor and elements");
      cursor = std::string(parts[0].text);
      const std::span<const Reply> elements = parts[1].children();
      for (std::size_t i = 0; i + 1 < elements.size(); i += 2) take(elements[i].text, elements[i + 1].text);
    } while (cursor != "0");
  }

  asio::awaitable<void> read_table(LockedTable table) {
    Take take = [this, table](std::string_view field, std::string_view value) {
      for (const Holding& holding : holdings_of(value)) {
        const int mode = field == "t" ? holding.strength : holding.strength >= 3 ? kRowExclusive : kRowShare;
        tables_.emplace(table.shown, holding.token, mode);
        tokens_.insert(holding.token);
      }
    };
    return walk(lock_key(table.table), std::move(take));
  }

  asio::awaitable<void> read_advisory() {
    Take take = [this](std::string_view field, std::string_view value) {
      for (const Holding& holding : holdings_of(value)) {
        advisory_.emplace(field, holding.token, holding.strength);
        tokens_.insert(holding.token);
      }
    };
    return walk(sql::home_key(sql::kAdvisoryKey), std::move(take));
  }

  asio::awaitable<void> read_waits() {
    Take take = [this](std::string_view, std::string_view value) {
      const std::size_t blank = std::min(value.find(' '), value.size());
      const std::string waiter(value.substr(0, blank)), holder(value.substr(std::min(blank + 1, value.size())));
      waits_[waiter] = holder;
      tokens_.insert({waiter, holder});
    };
    return walk(sql::home_key(sql::kWaitsKey), std::move(take));
  }

  /// Locks of processes without a lease mean nothing.
  asio::awaitable<void> find_living() {
    std::set<std::string> processes;
    for (const std::string& token : tokens_) processes.insert(token.substr(0, token.find('.')));
    CommandBatch batch;
    for (const std::string& process : processes) batch.add("EXISTS", process_key(process));
    if (batch.empty()) co_return;
    end_leases_of_the_dead();
    const RepliesPtr replies = co_await context_.ask(std::move(batch), nullptr);
    std::size_t index = 0;
    for (const std::string& process : processes) {
      if (replies->integer(index++) == 1) living_.insert(process);
    }
  }

  bool is_alive(const std::string& token) const { return living_.contains(token.substr(0, token.find('.'))); }

  void write() {
    std::set<std::string> transactions;
    for (const auto& [table, token, mode] : tables_) {
      if (!is_alive(token)) continue;
      const LockOwner owner = owner_of(token);
      rows_.add("relation", database_, table, sql::kNull, sql::kNull, sql::kNull, sql::kNull, sql::kNull, sql::kNull, sql::kNull,
                virtual_transaction(owner), owner.pid, kTableModes[mode - 1], true, false, sql::kNull);
      if (mode >= kRowExclusive) transactions.insert(token);
    }
    for (const auto& [field, token, strength] : advisory_) {
      if (!is_alive(token)) continue;
      std::int64_t key = 0;
      std::from_chars(field.data() + std::min<std::size_t>(2, field.size()), field.data() + field.size(), key);
      const auto bits = static_cast<std::uint64_t>(key);
      const LockOwner owner = owner_of(token);
      rows_.add("advisory", database_, sql::kNull, sql::kNull, sql::kNull, sql::kNull, sql::kNull, static_cast<std::uint32_t>(bits >> 32),
                static_cast<std::uint32_t>(bits), field.starts_with("1:") ? 1 : 2, virtual_transaction(owner), owner.pid,
                strength == 4 ? "ExclusiveLock" : "ShareLock", true, false, sql::kNull);
    }
    for (const auto& [waiter, holder] : waits_) {
      if (!is_alive(waiter) || !is_alive(holder)) continue;
      transactions.insert(holder);
      write_transaction(owner_of(waiter), owner_of(holder), false);
    }
    for (const std::string& token : transactions) write_transaction(owner_of(token), owner_of(token), true);
  }

  void write_transaction(const LockOwner& owner, const LockOwner& locked, bool is_granted) {
    rows_.add("transactionid", sql::kNull, sql::kNull, sql::kNull, sql::kNull, sql::kNull, locked.number, sql::kNull, sql::kNull, sql::kNull,
              virtual_transaction(owner), owner.pid, is_granted ? "ExclusiveLock" : "ShareLock", is_granted, false, sql::kNull);
  }

  static std::string virtual_transaction(const LockOwner& owner) { return std::to_string(owner.pid) + "/" + std::to_string(owner.number); }

  ExecutionContext& context_;
  const sql::SystemTable& table_;
  sql::RowWriter rows_;
  const std::int64_t database_ = sql::database_oid(context_.evaluation().database);
  std::set<std::tuple<sql::Oid, std::string, int>> tables_;
  std::set<std::tuple<std::string, std::string, int>> advisory_;  // field, token, strength
  std::map<std::string, std::string> waits_;
  std::set<std::string> tokens_, living_;
};

}  // namespace

asio::awaitable<sql::Batch> read_locks(ExecutionContext& context) {
  LockReader reader(context);
  co_return co_await reader.run();
}

}  // namespace redquel::executor
