#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/replication/stream_parser.h"
#include "executor/replication/published_catalog.h"
#include "sql/error.h"

namespace redquel::executor {

/// The stream does not tell what has changed: the slot cannot go on.
sql::SqlError lost_changes(const std::string& reason);

/// The value of a column in a change.
struct ChangedValue {
  enum class Kind : std::uint8_t {
    kUnchanged,
    kNull,
    kText,
    kUnread,  // the stream says that it has changed, not to what
  } kind = Kind::kUnchanged;
  std::string text;
};

/// A change of one table.
struct TableChange {
  enum class Kind : std::uint8_t {
    kInsert,
    kUpdate,
    kDelete,     // `values` has the key alone
    kTruncate,
    kReadTable,  // the rows are to be read anew
    kReadRow,    // the row is to be read anew
  } kind = Kind::kInsert;
  PublishedTablePtr table;
  std::string member;                // of the row
  std::vector<ChangedValue> values;  // parallel to the table's columns
};

/// A row of a table, as its fields come.
class StreamRow {
 public:
  StreamRow(PublishedTablePtr table, std::string member);

  void name(std::string member) { member_ = std::move(member); }
  /// A field of the row's hash gets a value; nullopt: it goes.
  void set(std::string_view field, std::optional<std::string> value);
  /// The field gets a value that is not known.
  void set_unread(std::string_view field);
  /// The row as a new one: absent fields mean NULL.
  TableChange insertion() &&;
  /// The fields that were set.
  TableChange update() &&;
  TableChange removal() const;

 private:
  TableChange change(TableChange::Kind kind) const;

  PublishedTablePtr table_;
  std::string member_;
  std::vector<ChangedValue> values_;
};

/// The changes of one commit.
struct StreamTransaction {
  std::uint64_t start = 0, end = 0;  // offsets before and behind its last block
  std::vector<TableChange> changes;
};

/// Makes the transactions of redquel's own tables out of the commands of Redis's stream. Sans I/O.
class StreamDecoder {
 public:
  /// A place in the stream between two commits.
  struct State {
    int database = 0;                           // that is selected there
    std::map<sql::Oid, std::uint64_t> counts;   // redquel:changes:<oid> of the published tables
    std::shared_ptr<const StoredDefinitions> definitions;
  };

  /// `database`: the logical database of the tables.
  StreamDecoder(int database, State state, std::vector<std::string> publications);

  /// Takes the next command. nullopt: no commit ends with it, or one without a change to send.
  std::optional<StreamTransaction> feed(const StreamCommand& command);
  /// Returns true between two commits, where a restart may begin.
  bool may_restart_here() const { return !in_block_ && open_units_.empty(); }
  const State& state() const { return state_; }
  const PublishedCatalog& catalog();

 private:
  struct Command {
    int database;
    std::vector<std::string> words;
  };
  struct RowState;
  class Unit;

  std::optional<StreamTransaction> decode(const std::vector<Command>& block, std::uint64_t start, std::uint64_t end);
  void take_definitions(const Command& command, Unit& unit);
  void forget_catalog();

  int database_;
  State state_;
  std::vector<std::string> publications_;
  std::unique_ptr<PublishedCatalog> catalog_;  // null: made when it is needed
  std::unique_ptr<PublishedCatalog> last_catalog_;
  bool in_block_ = false;
  std::uint64_t block_start_ = 0;
  std::vector<Command> block_;
  /// The changes of units of many rows, which are one transaction at their ends, by table.
  std::map<sql::Oid, std::vector<TableChange>> open_units_;
};

}  // namespace redquel::executor
