#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>

#include "executor/context/execution_context.h"
#include "executor/writes/referential_actions.h"

namespace redquel::executor {

/// The foreign keys of a statement that writes in several places. Its parts put their rows into the transaction's
/// buffer without a look at foreign keys. After the last part the actions of all changes run, and what is left is
/// checked, as PostgreSQL does at the end of a statement.
class StatementKeys {
 public:
  using TablePtr = ReferentialActions::TablePtr;

  explicit StatementKeys(ExecutionContext& context) : context_(context), actions_(context, true) {}

  /// Notes a change that a part has made; without `new_row` it has deleted.
  void note_change(const TablePtr& table, std::span<const sql::Datum> old_row,
                   std::optional<std::span<const sql::Datum>> new_row);
  void note_insert(const TablePtr& table, std::span<const sql::Datum> row);
  /// Runs the actions and checks the keys. Throws 23502, 23503, 23505, 23514; WriteConflict, StaleCatalog and
  /// LockedByOther for the engine.
  asio::awaitable<void> finish();

 private:
  asio::awaitable<void> execute(WriteUnit& unit);
  /// Fires the triggers BEFORE of the rows that actions change, and notes these for the triggers AFTER.
  asio::awaitable<void> fire_for_actions();
  WriteOptions options() const;
  std::shared_ptr<ForeignKeyChecks> checks() const;
  /// Adds the rows of one stored table that the statement has inserted. `changed`: the table's rows that it has
  /// changed; `number`: of the next row.
  void add_inserted(const TableChanges& changes, const TableChanges* changed, ForeignKeyChecks& checks,
                    std::size_t& number) const;

  ExecutionContext& context_;
  ReferentialActions actions_;
  bool is_concerned_ = false;
};

}  // namespace redquel::executor
