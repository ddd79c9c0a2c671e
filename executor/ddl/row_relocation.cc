#include "executor/ddl/row_relocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/scripts/scripts.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_text.h"
#include "executor/storage/table_walk.h"
#include "executor/storage/write_program.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// About three milliseconds of Redis.
constexpr std::size_t kRelocatedRows = 500;

/// About five milliseconds of Redis.
constexpr std::size_t kComparedRows = 2000;

/// Fields of rows of `before` that rows of `after` do not have; nullopt: those have others, too.
std::optional<std::vector<std::string>> lost_fields(const TablePtr& before, const TablePtr& after) {
  const RowEncoder old_rows(before, std::vector<sql::Structure>()), new_rows(after, std::vector<sql::Structure>());
  std::vector<std::string> lost;
  for (std::size_t position = 0; position < before->columns.size(); ++position) {
    const std::string* old_field = old_rows.field(position);
    const std::string* new_field = new_rows.field(position);
    if (new_field != nullptr && (old_field == nullptr || *old_field != *new_field)) return std::nullopt;
    if (old_field != nullptr && new_field == nullptr) lost.push_back(*old_field);
  }
  if (before->has_hidden_key() && old_rows.field(before->columns.size()) != nullptr) lost.push_back(*old_rows.field(before->columns.size()));
  return lost;
}

}  // namespace

bool may_relocate(const TablePtr& before, const TablePtr& after) {
  if (before->is_mapped() || before->rows_expire() || after->rows_expire() || after->primary_key.size() != 1) return false;
  if (!sql::structures_of(*after).empty() || before->columns.size() != after->columns.size()) return false;
  for (std::size_t position = 0; position < before->columns.size(); ++position) {
    const sql::ColumnDef &old_column = before->columns[position], &new_column = after->columns[position];
    const bool is_key = new_column.number == after->primary_key[0];
    if (old_column.number != new_column.number || !(old_column.type == new_column.type) || old_column.domain != new_column.domain) return false;
    if (old_column.missing || old_column.generated_sql != new_column.generated_sql) return false;
    if (!is_key && new_column.not_null && !old_column.not_null) return false;
    if (is_key && !sql::is_integer_type(new_column.type.oid)) return false;
  }
  const bool has_same_checks = std::ranges::equal(before->checks, after->checks, [](const sql::CheckDef& a, const sql::CheckDef& b) {
    return a.name == b.name && a.expression_sql == b.expression_sql;
  });
  const sql::ColumnDef& key = *before->find_column(after->primary_key[0]);
  return has_same_checks && RowEncoder(before, std::vector<sql::Structure>()).field(before->position(key.number)) != nullptr &&
         lost_fields(before, after).has_value();
}

asio::awaitable<bool> may_stay(DdlContext& context, TablePtr before, TablePtr after) {
  if (!may_relocate(before, after) || !lost_fields(before, after)->empty()) co_return false;
  const sql::TableKeys keys(*before);
  const std::vector<std::string> arguments{before->find_column(after->primary_key[0])->field, before->prefix + ":"};
  TableWalk walk(before, kComparedRows);
  while (true) {
    const std::vector<std::string> members = co_await walk.next_members(context.bulk);
    if (members.empty()) co_return true;
    std::vector<std::string> rows;
    for (const std::string& member : members) rows.push_back(keys.row_of_member(member));
    RepliesPtr replies = co_await run_script(context.bulk, kCompareRowKeysScript, rows, arguments);
    if (replies->integer(0) != 1) co_return false;
  }
}

asio::awaitable<void> relocate_rows(DdlContext& context, TablePtr before, TablePtr after, sql::ProgressReport& progress) {
  const sql::TableKeys old_keys(*before), new_keys(*after);
  const sql::ColumnDef& key = *after->find_column(after->primary_key[0]);
  const std::string& field = before->find_column(key.number)->field;
  const std::string zset = new_keys.all_rows(), prefix = after->prefix + ":";
  const std::vector<std::string> lost = lost_fields(before, after).value();
  TableWalk walk(before, kRelocatedRows);
  while (true) {
    const std::vector<std::string> members = co_await walk.next_members(context.bulk);
    if (members.empty()) co_return;
    WriteProgram program;
    std::vector<std::string_view> words(lost.begin(), lost.end());
    for (const std::string& member : members) words.push_back(program.store(old_keys.row_of_member(member)));
    program.add(StepKind::kRelocate, {zset, field, prefix, program.store(std::to_string(lost.size()))}, words);
    const RepliesPtr replies = co_await run_program(context.bulk, kWriteManyScript, program, after->tag());
    const std::span<const Reply> reply = replies->array(0);
    if (!reply.empty() && reply[0].text == "applied") {
      progress.add_rows(members.size());
      continue;
    }
    const std::vector<std::string> found = stop_of(program, reply).found;
    const std::string& what = found.at(0);
    if (what == "null") throw column_contains_nulls(*after, key);
    const std::vector<sql::Datum> values{parse_stored_text(key.type, found.at(1))};  // throws 22P02 for what is no integer
    if (what == "strange") throw strange_row_key(*after, new_keys.row(values));
    if (what == "twice") {
      throw duplicate_in_new_index(*after, after->primary_key_index.name, after->primary_key, values, context.session.settings);
    }
    throw SqlError(sqlstate::kDataCorrupted, fmt::format("a row of table \"{}\" holds {} in another spelling", after->name, key.name));
  }
}

}  // namespace redquel::executor
