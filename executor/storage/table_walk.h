#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/column.h"
#include "sql/datum.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// All rows of a table, page by page, for work that must see every row but no snapshot: index builds, checks of constraints. The cursor is
/// the last (score, member): rows that stay throughout are seen exactly once, regardless of other changes. The parts of a table in several
/// buckets follow each other; a row that moves from one to another meanwhile may be seen twice, or not at all.
class TableWalk {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;
  explicit TableWalk(TablePtr table, std::size_t page_rows = 500);
  ~TableWalk();
  TableWalk(const TableWalk&) = delete;
  TableWalk& operator=(const TableWalk&) = delete;

  /// Returns the table, or the part of it that is being read.
  const TablePtr& table() const { return table_; }
  /// Goes on with another definition of table().
  void rebase(TablePtr table) { table_ = std::move(table); }

  /// The next page's rows: every live column in order, and the hidden key where there is one. nullopt: the end. A page may be empty.
  asio::awaitable<std::optional<sql::Batch>> next(RedisClient& client);
  /// The last page comes again, as its rows are then.
  void repeat();

  /// Like next(), always with one client: Redis reads the following page while the caller works on this one.
  asio::awaitable<std::optional<sql::Batch>> next_of_many(RedisClient& client);
  /// Returns the members of the next page's rows, which are not read. Empty: the end.
  asio::awaitable<std::vector<std::string>> next_members(RedisClient& client);

 private:
  struct Element {
    std::string score, member;
  };
  struct Page;
  void append_range(CommandBatch& batch, std::size_t count) const;
  std::vector<Element> elements_of(std::span<const Reply> found) const;
  /// Also where elements of the page before are read again.
  bool may_have_more(std::span<const Reply> found, std::size_t count) const;
  std::unique_ptr<Page> start_page(RedisClient& client, std::vector<Element> elements);
  asio::awaitable<std::vector<Element>> next_elements(RedisClient& client);
  bool is_scored() const;
  /// Goes on to the next part after the end of one. Returns false at the end of the last one.
  bool start_next_part();

  TablePtr table_;
  std::vector<TablePtr> later_parts_;  // the next one is the last
  std::size_t page_rows_;
  std::optional<Element> last_, before_;  // before_: where the page that was given last began
  bool at_end_ = false;
  std::unique_ptr<Page> page_;  // of next_of_many: on its way
};

/// The rows of a batch as TableWalk gives it, value by value.
std::vector<std::vector<sql::Datum>> decode_rows(const sql::Batch& batch);

/// The emptiness of the table and its counter of changes, in one snapshot; of a table in several buckets, each part in one.
struct TableState {
  bool is_empty = false;
  std::vector<std::pair<sql::Oid, std::string>> change_counters;  // by table, or by part
};
asio::awaitable<TableState> table_state(RedisClient& client, const sql::TableDef& table);

}  // namespace redquel::executor
