#include "executor/direct/direct_run.h"

#include <boost/container/small_vector.hpp>

#include "executor/context/scan_counts.h"
#include "executor/redis/executor_counts.h"
#include "executor/redis/pending_batch.h"
#include "executor/redis/shared_connection.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/field_text.h"
#include "executor/storage/row_reader.h"
#include "executor/storage/stored_text.h"
#include "executor/tables/key_values.h"
#include "executor/tables/read_scripts.h"
#include "executor/tables/zset_walk.h"
#include "planner/direct/direct_read.h"

namespace redquel::executor {

namespace {

using Kind = planner::DirectRead::Kind;

/// More than this is charged to the session's memory while its plan runs.
constexpr std::size_t kMostReplyBytes = 64 * 1024;

/// A column of the answer: where its text is, and the check that it is a value of its type.
struct Output {
  const sql::RowFields::Source* source;
  StoredTextCheck check;  // null: any text is
};

class Program final : public DirectProgram, public std::enable_shared_from_this<Program> {
 public:
  explicit Program(std::shared_ptr<const planner::DirectRead> read) : read_(std::move(read)), keys_(*read_->table) {
    if (!read_->fields) return;
    if (read_->kind == Kind::kRow) row_command_ = CommandBatch::encoded({"HMGET"}, read_->fields->fields);
    if (read_->kind == Kind::kFirstRows) append_first_rows(first_rows_);
    for (const std::size_t position : read_->outputs) {
      const sql::RowFields::Source& source = read_->fields->columns[position];
      outputs_.push_back({&source, stored_text_check(source.type)});
      needs_key_parts_ = needs_key_parts_ || (source.kind == sql::RowFields::Source::Kind::kKeyPart && read_->table->primary_key.size() > 1);
    }
  }

  DirectRunPtr start(SharedConnection& connection, std::span<const sql::Datum> parameters, sql::CatalogPtr catalog, ExecutionCounters& counters,
                     sql::RelationCounts* relations) const override;

  const planner::DirectRead& read() const { return *read_; }
  std::size_t width() const { return read_->fields->fields.size(); }

  /// Gives a row unless it is none. Returns false if one of its values needs a closer look.
  bool add(std::string_view member, std::span<const Reply> values, RowSink& rows, std::size_t& count) const {
    using Source = sql::RowFields::Source;
    if (values.size() < width()) return false;
    if (!values[read_->fields->presence].is_text()) return true;
    std::vector<std::string> parts;
    if (needs_key_parts_) parts = keys_.split_member(member);
    boost::container::small_vector<std::optional<std::string_view>, 16> row;
    for (const Output& output : outputs_) {
      const Source& source = *output.source;
      std::optional<std::string_view> text;
      if (source.kind == Source::Kind::kField) text = field_text(source, values);
      else text = source.kind == Source::Kind::kKeyPart && needs_key_parts_ ? std::string_view(parts[source.index]) : member;
      if (text && output.check != nullptr && !output.check(source.type, *text)) return false;
      row.push_back(text);
    }
    ++count;
    return rows.add(row);
  }

 private:
  /// The values of the read's columns; nullopt: one of them is no value of its column.
  std::optional<std::vector<sql::Datum>> values(std::span<const sql::Datum> parameters) const;
  void append_first_rows(CommandBatch& batch) const;

  std::shared_ptr<const planner::DirectRead> read_;
  sql::TableKeys keys_;
  std::vector<Output> outputs_;
  CommandBatch::Encoded row_command_;  // kRow, without the key
  CommandBatch first_rows_;            // kFirstRows
  bool needs_key_parts_ = false;
};

class Run final : public DirectRun {
 public:
  Run(std::shared_ptr<const Program> program, std::shared_ptr<PendingBatch> pending, std::string member, sql::CatalogPtr catalog,
      ExecutionCounters& counters, sql::RelationCounts* relations)
      : program_(std::move(program)), pending_(std::move(pending)), member_(std::move(member)), catalog_(std::move(catalog)), counters_(counters),
        relations_(relations), commands_(pending_->batch.size()), bytes_sent_(pending_->batch.bytes().size()) {}
  ~Run() override { pending_->abandon(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool is_answered() const override { return pending_->is_finished(); }
  asio::awaitable<void> wait() override { return pending_->wait(); }

  bool give(RowSink& rows) override {
    if (pending_->error) throw sql::SqlError(*pending_->error);
    const Replies& replies = *pending_->replies;
    ++counters_.round_trips;
    counters_.commands += commands_;
    counters_.bytes_sent += bytes_sent_;
    counters_.bytes_received += replies.bytes();
    const std::optional<std::string>& version = replies.catalog_version();
    if (!pending_->knows_version || (version ? std::string_view(*version) : std::string_view()) != catalog_->version) return false;
    if (replies.bytes() > kMostReplyBytes) return false;
    std::size_t count = 0;
    if (!give(replies, rows, count)) return false;
    counts_of_thread().direct_runs.add();
    ScanCounts scan(*program_->read().source, relations_);
    if (program_->read().fields) scan.add_rows(count);
    return true;
  }

 private:
  bool give(const Replies& replies, RowSink& rows, std::size_t& count) const {
    switch (program_->read().kind) {
      case Kind::kRow: return replies[0].is_array() && program_->add(member_, replies[0].children(), rows, count);
      case Kind::kUniqueRow: return replies[0].is_array() && give_elements(replies[0].children(), rows, count);
      case Kind::kCount: return give_count(replies[0], rows);
      case Kind::kFirstRows: return give_first_rows(replies, rows, count);
    }
    return false;
  }

  /// Rows of a member and its fields each.
  bool give_elements(std::span<const Reply> flat, RowSink& rows, std::size_t& count) const {
    const std::size_t width = 1 + program_->width();
    if (flat.size() % width != 0) return false;
    for (std::size_t first = 0; first < flat.size(); first += width) {
      if (!flat[first].is_text() || !program_->add(flat[first].text, flat.subspan(first + 1, width - 1), rows, count)) return false;
    }
    return true;
  }

  bool give_count(const Reply& reply, RowSink& rows) const {
    if (reply.kind != Reply::Kind::integer) return false;
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, reply.integer).ptr;
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    const std::vector<std::optional<std::string_view>> row(program_->read().outputs.size(), text);
    return rows.add(row);
  }

  bool give_first_rows(const Replies& replies, RowSink& rows, std::size_t& count) const {
    const planner::DirectRead& read = program_->read();
    std::span<const Reply> answers = replies.all();
    if (commands_ > 1) answers = answers.back().children();  // of EXEC
    const std::size_t expected = 1 + (read.null_rows.empty() ? 0 : 1) + (read.proves_order ? 2 : 0);
    if (answers.size() != expected || !answers[0].is_array()) return false;
    const std::span<const Reply> elements = answers[0].children();
    const bool is_full = elements.size() == read.most_rows * (1 + program_->width());
    for (std::size_t i = 1; i < answers.size(); ++i) {
      // Rows without a value, where they count; scores that may not order their rows.
      const bool are_nulls = i == 1 && !read.null_rows.empty();
      if (are_nulls && !read.nulls_first && is_full) continue;
      if (answers[i].kind != Reply::Kind::integer || answers[i].integer != 0) return false;
    }
    if (!give_elements(elements, rows, count)) return false;
    // An entry whose row is gone leaves a place for another one.
    return !is_full || count == read.most_rows;
  }

  std::shared_ptr<const Program> program_;
  std::shared_ptr<PendingBatch> pending_;
  std::string member_;  // kRow
  sql::CatalogPtr catalog_;
  ExecutionCounters& counters_;
  sql::RelationCounts* relations_;
  std::size_t commands_, bytes_sent_;
};

std::optional<std::vector<sql::Datum>> Program::values(std::span<const sql::Datum> parameters) const {
  std::vector<sql::Datum> values;
  values.reserve(read_->values.size());
  for (std::size_t i = 0; i < read_->values.size(); ++i) {
    const planner::DirectValue& value = read_->values[i];
    const sql::Datum& given = value.parameter ? parameters[*value.parameter] : value.constant;
    auto converted = to_column_value(read_->table->find_column(read_->columns[i])->type, value.type, given);
    if (!converted) return std::nullopt;
    values.push_back(*std::move(converted));
  }
  return values;
}

void Program::append_first_rows(CommandBatch& batch) const {
  const sql::RowFields& fields = *read_->fields;
  const bool has_more = !read_->null_rows.empty() || read_->proves_order;
  if (has_more) batch.add("MULTI");
  batch.begin(7 + (read_->descending ? 1 : 0) + sort_get_words(fields));
  batch.arg("SORT_RO").arg(read_->zset).arg("BY").arg("nosort");
  if (read_->descending) batch.arg("DESC");
  batch.arg("LIMIT").arg(read_->offset).arg(read_->most_rows);
  append_sort_get(batch, keys_, fields);
  if (!read_->null_rows.empty()) batch.add("SCARD", read_->null_rows);
  if (read_->proves_order) append_score_proof(batch, read_->zset);
  if (has_more) batch.add("EXEC");
}

DirectRunPtr Program::start(SharedConnection& connection, std::span<const sql::Datum> parameters, sql::CatalogPtr catalog,
                            ExecutionCounters& counters, sql::RelationCounts* relations) const {
  const auto key = values(parameters);
  if (!key) return nullptr;
  CommandBatch batch;
  std::string member;
  switch (read_->kind) {
    case Kind::kRow:
      member = keys_.member(*key);
      batch.add(row_command_, keys_.row_of_member(member));
      break;
    case Kind::kUniqueRow: {
      const std::string field = keys_.unique_field(read_->columns, *key);
      append_unique_rows(batch, keys_.uniques(read_->columns), {&field, 1}, row_arguments(*read_->table, *read_->fields));
      break;
    }
    case Kind::kCount:
      if (read_->columns.empty()) batch.add("ZCARD", keys_.all_rows());
      else batch.add("SCARD", keys_.value_set(read_->columns, *key));
      break;
    case Kind::kFirstRows: batch = first_rows_; break;
  }
  return std::make_unique<Run>(shared_from_this(), connection.submit_alone(std::move(batch)), std::move(member), std::move(catalog), counters, relations);
}

}  // namespace

DirectProgramPtr make_direct_program(std::shared_ptr<const planner::DirectRead> read) {
  return read ? std::make_shared<const Program>(std::move(read)) : nullptr;
}

}  // namespace redquel::executor
