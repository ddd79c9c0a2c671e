#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/statistics/counts.h"
#include "server/statistics/shared_owner.h"
#include "sql/statistics.h"

namespace redquel::server {

/// One thread's figures of pg_stat_statements: runs by role, database and text without constants. The thread that owns it finds and adds
/// without a lock and without an allocation, once a text is known. Other threads read under the lock that a new text takes.
class StatementCounts {
  struct Entry;

 public:
  struct Key {
    sql::Oid role = 0;
    std::string database;
    std::string text;
  };
  struct KeyView {
    sql::Oid role = 0;
    std::string_view database, text;
  };
  struct Run {
    std::uint64_t nanoseconds = 0, rows = 0;
    std::uint64_t round_trips = 0, commands = 0;  // with Redis
  };

  /// The statement that a session has run last. Its next run is found without hashes: by the owner of the text, or by comparing the text.
  class Last {
    friend class StatementCounts;
    std::shared_ptr<Entry> entry_;
    SharedOwner owner_;
    sql::Oid role_ = 0;
    std::string text_;
    std::uint64_t generation_ = 0;
  };

  /// Adds a run of a statement, whose text may hold constants. Returns the statement's query id. `last`: of a session, which stays in one
  /// database. `owner`: has the text, which it never changes; may be null.
  template <class Owner>
  std::int64_t add(const KeyView& statement, const Run& run, Last& last, const std::shared_ptr<Owner>& owner) {
    const bool is_known = last.generation_ == generation_ && last.role_ == statement.role && last.owner_.is(owner);
    if (!is_known || is_reset_asked_.load(std::memory_order_relaxed)) {
      find(statement, last);
      last.owner_ = owner;
    }
    return add(run, *last.entry_);
  }

  // From any thread.
  void append_to(std::vector<sql::StatementStatistics>& all) const;
  /// Forgets what the owner has counted so far, of a role, a database, a query; 0: of all. The owner carries it out at its next run.
  void forget(sql::Oid role, sql::Oid database, std::int64_t query_id);
  std::uint64_t forgotten() const { return forgotten_.get(); }

 private:
  struct Hash {
    using is_transparent = void;
    template <class Of>
    std::size_t operator()(const Of& key) const {
      return std::hash<std::string_view>()(key.text) ^ (std::hash<std::string_view>()(key.database) * 31) ^ (key.role * std::size_t{0x9E3779B97F4A7C15});
    }
  };
  struct Equal {
    using is_transparent = void;
    template <class One, class Other>
    bool operator()(const One& one, const Other& other) const {
      return one.role == other.role && one.text == other.text && one.database == other.database;
    }
  };

  struct Reset {
    sql::Oid role = 0, database = 0;
    std::int64_t query_id = 0;
  };
  void find(const KeyView& statement, Last& last);
  static std::int64_t add(const Run& run, Entry& entry);
  const std::shared_ptr<Entry>& find_or_make(const KeyView& statement);
  void forget_texts();
  void make_room();
  void carry_out_resets();

  mutable std::mutex mutex_;  // held by the owner while it changes a map, by others while they read
  std::unordered_map<Key, std::shared_ptr<Entry>, Hash, Equal> entries_;  // by normalized text
  std::unordered_map<Key, std::shared_ptr<Entry>, Hash, Equal> texts_;    // by the text as it comes; of the owner alone
  std::uint64_t generation_ = 1;  // changes when entries are dropped; of the owner alone
  std::atomic<bool> is_reset_asked_ = false;
  std::vector<Reset> resets_;
  Count forgotten_;
};

/// Returns the hash of a normalized text; never 0.
std::int64_t query_id_of(std::string_view normalized);

}  // namespace redquel::server
