#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/stored_text.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

/// `GET # GET emp:*->field …`, the closing words of a SORT_RO; their number. `ends`: what the members of a set leave out.
void append_sort_get(CommandBatch& batch, const sql::TableKeys& keys, const sql::RowFields& fields, const sql::MemberEnds& ends = {});
inline std::size_t sort_get_words(const sql::RowFields& fields) { return 2 + 2 * fields.fields.size(); }

/// Turns the answers of Redis about rows of one table into batches. Texts are not copied: columns view into the replies.
class RowReader {
 public:
  /// `read` outlives the reader. Rows that an open transaction has changed are left out: `changes` may be null.
  explicit RowReader(const planner::TableRead& read, TableChangesPtr changes = nullptr);

  const std::vector<std::string>& fields() const { return fields_->fields; }
  const sql::RowFields& row_fields() const { return *fields_; }
  const sql::TableKeys& keys() const { return keys_; }
  const sql::TableDef& table() const { return *read_.table; }
  const planner::TableRead& read() const { return read_; }

  /// `HMGET emp:<member> field…`
  void append_fetch(CommandBatch& batch, std::string_view member) const;
  /// The same words for its rows.
  std::size_t sort_get_words() const { return executor::sort_get_words(*fields_); }
  void append_sort_get(CommandBatch& batch, const sql::MemberEnds& ends = {}) const { executor::append_sort_get(batch, keys_, *fields_, ends); }

  /// Adds a row unless its presence field is absent or the transaction has changed it; `values` are the fields' answers. Both must stay alive by `keep_alive`.
  /// False: there is no such row.
  bool add(std::string_view member, std::span<const Reply> values);
  /// Adds a row that an element of an index has completely (planner/physical/index_only.h): `value` is that of its only field.
  bool add_entry(std::string_view member, const Reply& value);
  void keep_alive(std::shared_ptr<const void> owner) {
    constexpr std::size_t kMostly = 3;  // members, replies and the table
    if (owners_.empty()) owners_.reserve(kMostly);
    owners_.push_back(std::move(owner));
  }
  std::size_t rows() const { return rows_; }
  /// The members of the rows added so far are remembered.
  void note_members() { notes_members_ = true; }
  std::vector<std::string_view> take_members() { return std::exchange(members_, {}); }
  /// The rows added so far that satisfy the read's condition; may be empty. Starts anew.
  sql::Batch take(const sql::EvaluationContext& context);
  /// Like take(), without the condition.
  sql::Batch take_all();

 private:
  /// Makes the columns: not before there is a row or a batch, because most readers give one batch only.
  void start();
  /// Throws SqlError 22P02 (or what else reading the text throws) that names the row's key and the column.
  [[noreturn]] void refuse(std::size_t column, std::string_view member, std::string_view text) const;

  const planner::TableRead& read_;
  TableChangesPtr changes_;
  sql::TableKeys keys_;
  std::shared_ptr<const sql::RowFields> fields_;
  struct ReadColumn {
    std::shared_ptr<sql::Column> values;
    StoredTextCheck check;  // null: the text is not looked at
  };
  std::vector<ReadColumn> columns_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<Reply> entry_;  // of add_entry
  std::vector<std::string_view> members_;
  bool notes_members_ = false;
  bool needs_key_parts_ = false;
  std::size_t rows_ = 0;
};

/// Children of an array reply from `first`, `count` of them.
inline std::span<const Reply> slice(std::span<const Reply> replies, std::size_t first, std::size_t count) {
  return replies.subspan(first, count);
}

}  // namespace redquel::executor
