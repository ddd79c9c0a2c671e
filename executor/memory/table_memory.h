#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/memory/keeper.h"
#include "executor/memory/table_copy.h"
#include "executor/runtime/worker_pool.h"
#include "sql/catalog/catalog.h"
#include "sql/memory_account.h"

namespace redquel::executor {

/// The configuration of the copies.
struct MemoryOptions {
  std::size_t bytes = 0;        // of all copies; 0: there are none
  std::size_t least_rows = 1000;  // a smaller table is kept only WITH (cache = on)
  std::size_t first_scan = 2;   // the scan that fills the copy; tables WITH (cache = on): the first one
  std::size_t threads = 0;      // that compute for a statement beside its own thread
};

/// The copies of one process, of all logical databases. Thread-safe. The first memory that the process gives back when sessions need more.
class TableMemory final : public sql::MemoryReserve {
 public:
  using MakeKeeper = std::function<std::shared_ptr<Keeper>(int database)>;
  TableMemory(MemoryOptions options, MakeKeeper make_keeper) : options_(options), make_keeper_(std::move(make_keeper)), workers_(options.threads) {}

  const MemoryOptions& options() const { return options_; }
  /// The threads that compute for statements over copies.
  WorkerPool& workers() { return workers_; }
  std::shared_ptr<Keeper> keeper(int database);
  /// The copy of the table under this definition, perhaps empty. A copy under another definition is dropped.
  TableCopyPtr copy(int database, const std::shared_ptr<const sql::TableDef>& table);
  /// Forgets the copies of tables that the catalog of the database does not have any more.
  void forget_dropped(int database, const sql::CatalogSnapshot& catalog);
  /// All copies of a database, by table.
  std::vector<TableCopyPtr> copies(int database) const;

  /// Makes room for a copy of so many bytes: copies with less than half its worth per byte are dropped. False: there is no room.
  bool make_room(const TableCopyPtr& copy, std::size_t bytes);
  /// Returns the bytes of all copies.
  std::size_t bytes() const override;
  /// Drops copies of about so many bytes, those first that are worth least.
  void shrink(std::size_t bytes) override;
  void set_room(std::size_t bytes) override { room_ = bytes; }

 private:
  struct Place {
    int database;
    sql::Oid table;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  const MemoryOptions options_;
  const MakeKeeper make_keeper_;
  WorkerPool workers_;
  std::atomic<std::size_t> room_ = std::numeric_limits<std::size_t>::max();  // in the process
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<Keeper>> keepers_;
  std::map<Place, TableCopyPtr> copies_;
};

}  // namespace redquel::executor
