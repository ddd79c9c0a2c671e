#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/runtime/temporary_file.h"
#include "executor/storage/position_index.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::executor {

/// One version of a row: values parallel to the table's columns, then the hidden key where the table has one. Null: no row.
using RowValues = std::shared_ptr<const std::vector<sql::Datum>>;

/// A row that a transaction changed.
struct BufferedRow {
  RowValues stored;   // in Redis, as the transaction first saw it
  RowValues current;  // for the transaction
  /// Columns that only grew. Not empty: nothing else changed, the row is not locked, and what counts is the difference.
  std::vector<std::size_t> increments = {};
  /// A timestamptz: the row got another key and expires when it would have without. Nullopt: as its definition says.
  std::optional<std::int64_t> expires_at = {};
};

/// The rows of one table that a transaction changed, version after version in the order in which it made them. The newest few megabytes
/// are in memory, those before in a temporary file; what stays in memory of each row is its place (PositionIndex).
class ChangeLog {
 public:
  using Position = PositionIndex::Position;
  static constexpr Position kNone = 0xFFFFFFFF;

  struct Version {
    std::string member;  // see RowImage
    BufferedRow row;
    Position before = kNone;  // of the same row
  };
  using VersionPtr = std::shared_ptr<const Version>;

  explicit ChangeLog(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)) {}

  const std::shared_ptr<const sql::TableDef>& table() const { return table_; }
  /// Returns the number of versions.
  Position size() const { return first_in_memory_ + static_cast<Position>(recent_.size()); }
  /// Returns the number of their rows.
  std::size_t rows() const { return rows_.size(); }

  /// Throws 58030 where the temporary file cannot be read.
  VersionPtr at(Position position) const;
  /// The row's newest version of the first `length` ones.
  std::optional<Position> find(std::string_view member, Position length) const;
  /// Returns true if the version at the place is its row's newest of the first `length` ones.
  bool is_newest(Position position, const Version& version, Position length) const;

  /// Gives its place. Throws 53100 and 58030 where the temporary file takes no more, 54000 beyond four thousand million versions.
  Position append(std::string member, BufferedRow row);
  /// Takes the last version away.
  VersionPtr pop();

 private:
  /// Versions in the temporary file.
  struct Block {
    Position first = 0;
    SpillFile::Block place;
  };
  using Bytes = std::shared_ptr<const std::string>;

  void spill();
  /// The last block comes back into memory.
  void recall();
  Bytes read(std::size_t block) const;
  std::string encode(std::size_t count) const;
  VersionPtr decode(std::string_view block, std::size_t index) const;

  std::shared_ptr<const sql::TableDef> table_;
  PositionIndex rows_;  // the newest version of each
  bool has_replaced_ = false;  // some row has more than one version
  std::deque<VersionPtr> recent_;
  std::size_t recent_bytes_ = 0;
  Position first_in_memory_ = 0;
  std::shared_ptr<SpillFile> file_;
  std::vector<Block> blocks_;
  /// Blocks that were read last.
  struct Cached {
    std::size_t block = 0;
    Bytes bytes;
  };
  mutable std::array<Cached, 4> cache_;
  mutable std::size_t next_cached_ = 0;
};

}  // namespace redquel::executor
