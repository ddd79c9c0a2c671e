#include "executor/ddl/row_copy.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <vector>

#include "executor/ddl/row_relocation.h"
#include "executor/runtime/failure.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/table_walk.h"
#include "executor/storage/unseen_rows.h"
#include "executor/storage/write_unit.h"
#include "sql/progress.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

sql::Batch unchanged_rows(const sql::Batch& page, const sql::TableDef& table, const TableChanges& changes) {
  const std::vector<std::vector<sql::Datum>> rows = decode_rows(page);
  std::vector<std::uint32_t> kept;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    if (!changes.contains(member_of(table, rows[index]))) kept.push_back(static_cast<std::uint32_t>(index));
  }
  return kept.size() == page.rows ? page : page.gather(kept);
}

sql::Batch page_of_changed(const sql::TableDef& table, const std::vector<RowValues>& rows) {
  sql::Batch page{.rows = rows.size(), .columns = {}};
  for (std::size_t position = 0; position < table.columns.size(); ++position) {
    auto column = std::make_shared<sql::Column>(table.columns[position].type);
    for (const RowValues& row : rows) column->append_datum((*row)[position]);
    page.columns.push_back(std::move(column));
  }
  return page;
}

namespace {

constexpr std::size_t kCopiedRows = 1000;

class RowCopy {
 public:
  RowCopy(DdlContext& context, TablePtr before, TablePtr after, RowConverter& converter, std::vector<TableChangesPtr> changes,
          sql::ProgressReport& progress)
      : context_(context),
        before_(std::move(before)),
        after_(std::move(after)),
        converter_(converter),
        changes_(std::move(changes)),
        progress_(progress),
        written_(context.bulk) {}

  asio::awaitable<void> run() {
    TableWalk walk(before_, kCopiedRows);
    while (auto page = co_await walk.next_of_many(context_.bulk)) {
      for (const TableChangesPtr& changes : changes_) *page = unchanged_rows(*page, *before_, *changes);
      co_await write(*page);
    }
    for (const TableChangesPtr& changes : changes_) co_await write_changed(*changes);
    co_await written_.flush();
  }

  asio::awaitable<void> settle() { return written_.settle(); }

 private:
  asio::awaitable<void> write_changed(const TableChanges& changes) {
    std::vector<RowValues> rows;
    TableChanges::Walk walk(changes);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      if (changed->row.current) rows.push_back(changed->row.current);
      if (rows.size() < kCopiedRows) continue;
      const sql::Batch page = page_of_changed(*before_, rows);
      co_await write(page);
      rows.clear();
    }
    const sql::Batch last = page_of_changed(*before_, rows);
    co_await write(last);
  }

  asio::awaitable<void> write(const sql::Batch& page) {
    if (page.rows == 0) co_return;
    const std::vector<RowConverter::Row> rows = co_await converter_.convert(context_.redis, page);
    WriteOptions options{.settings = context_.session.settings};
    options.ahead_of_commit = true;
    auto unit = std::make_unique<WriteUnit>(std::move(options));
    for (const RowConverter::Row& row : rows) unit->insert_row(after_, row);
    if (UnseenRows::may_take(*after_)) {
      UnseenRows::Written nothing;
      co_await written_.write(std::move(unit), std::move(nothing));
    } else if (co_await unit->execute(context_.bulk) != WriteStatus::kApplied) {
      throw SqlError(sqlstate::kSerializationFailure, "could not alter table due to concurrent changes");
    }
    progress_.add_rows(page.rows);
  }

  DdlContext& context_;
  TablePtr before_, after_;
  RowConverter& converter_;
  std::vector<TableChangesPtr> changes_;  // of the table, or of its parts
  sql::ProgressReport& progress_;
  UnseenRows written_;
};

}  // namespace

asio::awaitable<void> copy_rows(DdlContext& context, TablePtr before, TablePtr after, RowConverter& converter,
                                std::vector<TableChangesPtr> changes) {
  sql::ProgressReport progress(context.session.progress.get(), sql::LongWork::kRewrite, before->oid);
  const bool is_in_one_bucket = before->parts.empty() && after->parts.empty();
  if (changes.empty() && is_in_one_bucket && converter.keeps_values() && may_relocate(before, after)) {
    co_return co_await relocate_rows(context, std::move(before), std::move(after), progress);
  }
  RowCopy copy(context, std::move(before), std::move(after), converter, std::move(changes), progress);
  const std::exception_ptr failure = co_await failure_of(copy.run());
  if (!failure) co_return;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await copy.settle();
  std::rethrow_exception(failure);
}

SqlError as_build_error(const SqlError& error, const sql::TableDef& table) {
  const bool is_exclusion = error.sqlstate() == sqlstate::kExclusionViolation;
  if (error.sqlstate() != sqlstate::kUniqueViolation && !is_exclusion) return error;
  std::string detail = error.detail();
  if (const std::size_t word = detail.rfind("existing key "); is_exclusion && word != std::string::npos) detail.erase(word, sizeof("existing ") - 1);
  if (const std::size_t end = detail.rfind(" already exists."); end != std::string::npos) detail.replace(end, std::string::npos, " is duplicated.");
  const std::string& message = error.message();
  const std::size_t quote = message.find('"');
  const std::string made = is_exclusion ? "could not create exclusion constraint " : "could not create unique index ";
  SqlError failure(error.sqlstate(), made + (quote == std::string::npos ? "" : message.substr(quote)));
  return std::move(failure).detail(detail).schema(table.schema).table(table.name).constraint(error.constraint());
}

}  // namespace redquel::executor
