#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/operators/spill_file.h"
#include "parser/ast.h"
#include "sql/memory_account.h"
#include "server/prepared_statement.h"

namespace redquel::server {

/// The target of a FETCH or MOVE, and the rows that it passes. Positions: 0 before the first row, 1 … rows on a row, rows + 1 behind the
/// last.
struct CursorMove {
  std::int64_t position = 0;  // from now on
  std::int64_t first = 0;     // row number; meaningless without rows
  std::int64_t count = 0;     // rows passed
  bool backward = false;
};
/// Follows PostgreSQL's FETCH (manual, FETCH). 55000 "cursor can only scan forward" if `scrolls` is false. `moves`: MOVE, which reads no
/// row.
CursorMove move_cursor(std::int64_t position, std::int64_t rows, parser::ast::FetchDirection direction, std::int64_t count,
                       bool scrolls, bool moves = false);

struct Portal;

/// A cursor of DECLARE, or of a portal that FETCH has read. Its rows are those of the moment of DECLARE, kept in memory and, if there are
/// many, in a temporary file.
class Cursor {
 public:
  explicit Cursor(sql::SessionMemory& memory) : memory_(memory, 0) {}

  PreparedStatementPtr query;
  bool binary = false, hold = false, scrolls = true;
  bool outlives = false;  // the transaction that made it has committed
  std::string statement;  // DECLARE's text
  std::string table;      // whose rows the cursor's are, so that WHERE CURRENT OF can find them; empty: of none
  std::int64_t created_at = 0;
  std::size_t savepoints = 0;  // set before it in its transaction: what rolls one of them back ends it, too

  /// Runs the query to its end; where `table` is set, its last column is ctid, which no FETCH shows. What needs more than the session's
  /// work_mem, or more than the client may make the process hold, goes to the file.
  asio::awaitable<void> read(std::unique_ptr<executor::Execution> run, const executor::SessionState& session);
  /// Takes over a portal's run with the rows that it has not sent yet, and reads it to its end.
  asio::awaitable<void> read_rest(Portal& portal, const executor::SessionState& session);
  /// Moves; the rows that are passed are those that `take` gives.
  CursorMove move(const parser::ast::Fetch&);
  /// The next of the rows that a move passes, in their order, and which are left. `count` is above 0.
  sql::Batch take(CursorMove& move) const;
  /// The ctid of the row on which the cursor stands; nullopt: it stands on none.
  std::optional<std::string> place() const;
  /// The query's run: it knows names of oids.
  const executor::Execution& run() const { return *run_; }

 private:
  /// The batch in which a row is, and how many rows are before that.
  std::pair<const sql::Batch&, std::int64_t> batch_of(std::int64_t row) const;

  asio::awaitable<void> read_on(const executor::SessionState& session);
  void keep(sql::Batch batch, const executor::SessionState& session);
  /// Returns false if the session may not hold so many bytes: then the rest of the rows goes to the file.
  bool hold_all();
  std::int64_t rows() const { return ends_.empty() ? passed_ : ends_.back(); }

  std::unique_ptr<executor::Execution> run_;
  std::vector<sql::Batch> batches_;                 // the first ones,
  std::optional<executor::SpilledRows> spilled_;    // and the others, a block each
  mutable std::pair<std::size_t, sql::Batch> read_{SIZE_MAX, {}};  // the block that was read last, and its number among all batches
  std::vector<std::int64_t> ends_;                  // rows of all batches up to each
  std::int64_t passed_ = 0;  // rows before the first that is here
  std::size_t bytes_ = 0;
  sql::HeldBytes memory_;  // of the rows in memory
  std::int64_t position_ = 0;
};

using Cursors = std::unordered_map<std::string, std::unique_ptr<Cursor>>;

}  // namespace redquel::server
