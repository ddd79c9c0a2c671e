#include "executor/direct/direct_run.h"

#include <algorithm>
#include <atomic>
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
#include "executor/tables/set_scripts.h"
#include "executor/tables/zset_walk.h"
#include "planner/direct/direct_read.h"
#include "sql/types/compare.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace {

using Kind = planner::DirectRead::Kind;

/// More than this is charged to the session's memory while its plan runs.
constexpr std::size_t kMostReplyBytes = 64 * 1024;

/// After so many refusals in a row a program is tried in one of so many runs alone.
constexpr unsigned kMostRefusals = 3, kRunsBetweenTries = 64;

/// A column of the answer: where its text is, and the check that it is a value of its type.
struct Output {
  const sql::RowFields::Source* source;
  StoredTextCheck check;  // null: any text is
};

/// The rows of an order that are wanted, and those that are read for them: where rows may tie, some before and behind.
struct Page {
  std::uint64_t offset = 0, rows = UINT64_MAX;
  std::uint64_t ties = 0;
  std::uint64_t first_rank() const { return offset - std::min(offset, ties); }
  std::uint64_t before() const { return offset - first_rank(); }
  std::uint64_t rows_read() const { return before() + rows + ties; }
};

/// A row that is there.
struct FoundRow {
  std::string_view member;
  std::span<const Reply> values;
  const sql::Datum* keys = nullptr;  // that order it; null: the rows are in order as they come
};
struct FoundRows {
  std::vector<FoundRow> rows;
  std::vector<sql::Datum> keys;  // of all rows
};

/// Returns true for a type whose equal values have the same stored text.
bool is_stored_one_way(sql::Type type) {
  const auto types = {sql::oid::kInt2, sql::oid::kInt4, sql::oid::kInt8, sql::oid::kDate, sql::oid::kTimestamp, sql::oid::kTimestamptz};
  return std::ranges::find(types, type.oid) != types.end();
}

class Program final : public DirectProgram, public std::enable_shared_from_this<Program> {
 public:
  explicit Program(std::shared_ptr<const planner::DirectRead> read) : read_(std::move(read)), keys_(*read_->table) {
    if (!read_->fields) return;
    if (read_->kind == Kind::kRow) row_command_ = CommandBatch::encoded({"HMGET"}, read_->fields->fields);
    const auto is_constant = [](const std::optional<planner::DirectValue>& value) { return !value || !value->parameter; };
    if (read_->kind == Kind::kFirstRows && is_constant(read_->limit) && is_constant(read_->offset)) {
      if (const std::optional<Page> page = this->page({})) append_first_rows(first_rows_.emplace(), *page);
    }
    for (const std::size_t position : read_->outputs) outputs_.push_back(output(position));
    for (const planner::DirectRead::Order& key : read_->order) keys_of_order_.push_back(output(key.column));
    const auto is_part = [](const Output& output) { return output.source->kind == sql::RowFields::Source::Kind::kKeyPart; };
    needs_key_parts_ = read_->table->primary_key.size() > 1 && (std::ranges::any_of(outputs_, is_part) || std::ranges::any_of(keys_of_order_, is_part));
  }

  DirectRunPtr start(SharedConnection& connection, std::span<const sql::Datum> parameters, sql::CatalogPtr catalog, ExecutionCounters& counters,
                     sql::RelationCounts* relations) const override;

  const planner::DirectRead& read() const { return *read_; }
  std::size_t width() const { return read_->fields->fields.size(); }

  bool is_there(std::span<const Reply> values) const { return values[read_->fields->presence].is_text(); }

  /// Gives a row. Returns false if one of its values needs a closer look.
  bool add(std::string_view member, std::span<const Reply> values, RowSink& rows) const {
    const std::vector<std::string> parts = parts_of(member);
    boost::container::small_vector<std::optional<std::string_view>, 16> row;
    for (const Output& output : outputs_) {
      const std::optional<std::string_view> text = text_of(*output.source, member, parts, values);
      if (text && output.check != nullptr && !output.check(output.source->type, *text)) return false;
      row.push_back(text);
    }
    return rows.add(row);
  }

  /// Adds the values that order the rows. Returns false if one of them is no value of its type.
  bool add_keys(FoundRows& found) const {
    found.keys.reserve(found.rows.size() * keys_of_order_.size());  // they stay where they are
    for (FoundRow& row : found.rows) {
      row.keys = found.keys.data() + found.keys.size();
      const std::vector<std::string> parts = parts_of(row.member);
      for (const Output& key : keys_of_order_) {
        const std::optional<std::string_view> text = text_of(*key.source, row.member, parts, row.values);
        if (text && key.check != nullptr && !key.check(key.source->type, *text)) return false;
        found.keys.push_back(text ? parse_stored_text(key.source->type, *text) : sql::Datum());
      }
    }
    return true;
  }

  /// Returns true if rows in the order of the first column do not tie in it, as their texts show.
  bool differ(std::span<const FoundRow> rows) const {
    const sql::RowFields::Source& first = *keys_of_order_[0].source;
    const auto are_equal = [&](const FoundRow& a, const FoundRow& b) { return field_text(first, a.values) == field_text(first, b.values); };
    return first.kind == sql::RowFields::Source::Kind::kField && is_stored_one_way(first.type) && std::ranges::adjacent_find(rows, are_equal) == rows.end();
  }

  bool comes_before(const FoundRow& a, const FoundRow& b) const {
    for (std::size_t i = 0; i < read_->order.size(); ++i) {
      const planner::DirectRead::Order& key = read_->order[i];
      const bool is_null = sql::is_null(a.keys[i]), other_is_null = sql::is_null(b.keys[i]);
      if (is_null != other_is_null) return is_null == key.nulls_first;
      const int sign = is_null ? 0 : sql::compare(key.type, a.keys[i], b.keys[i]);
      if (sign != 0) return (sign < 0) != key.descending;
    }
    return false;
  }

  void note_answer(bool is_usual) const {
    if (is_usual) refusals_.store(0, std::memory_order_relaxed);
    else refusals_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  /// The values of the read's columns; nullopt: one of them is no value of its column.
  std::optional<std::vector<sql::Datum>> values(std::span<const sql::Datum> parameters) const;
  /// nullopt: none, more rows than are read this way, or a wrong number.
  std::optional<Page> page(std::span<const sql::Datum> parameters) const;
  void append_first_rows(CommandBatch& batch, const Page& page) const;

  Output output(std::size_t column) const {
    const sql::RowFields::Source& source = read_->fields->columns[column];
    return {&source, stored_text_check(source.type)};
  }

  std::vector<std::string> parts_of(std::string_view member) const {
    return needs_key_parts_ ? keys_.split_member(member) : std::vector<std::string>();
  }

  static std::optional<std::string_view> text_of(const sql::RowFields::Source& source, std::string_view member, std::span<const std::string> parts,
                                                 std::span<const Reply> values) {
    using Source = sql::RowFields::Source;
    if (source.kind == Source::Kind::kField) return field_text(source, values);
    return source.kind == Source::Kind::kKeyPart && !parts.empty() ? std::string_view(parts[source.index]) : member;
  }

  /// Returns true for a run that shall not try the program: Redis's last answers were of no use (a large set, many rows that tie).
  bool is_passed_over() const {
    if (refusals_.load(std::memory_order_relaxed) < kMostRefusals) return false;
    return passed_over_.fetch_add(1, std::memory_order_relaxed) % kRunsBetweenTries != 0;
  }

  std::shared_ptr<const planner::DirectRead> read_;
  sql::TableKeys keys_;
  std::vector<Output> outputs_, keys_of_order_;
  CommandBatch::Encoded row_command_;  // kRow, without the key
  std::optional<CommandBatch> first_rows_;  // kFirstRows of a page that is known
  bool needs_key_parts_ = false;
  mutable std::atomic<unsigned> refusals_ = 0, passed_over_ = 0;  // in a row; runs since
};

class Run final : public DirectRun {
 public:
  Run(std::shared_ptr<const Program> program, SharedConnection& connection, CommandBatch batch, std::string member, const Page& page,
      sql::CatalogPtr catalog, ExecutionCounters& counters, sql::RelationCounts* relations)
      : program_(std::move(program)), connection_(connection), page_(page), commands_(batch.size()), bytes_sent_(batch.bytes().size()), pending_(connection.submit_alone(std::move(batch))),
        member_(std::move(member)), catalog_(std::move(catalog)), counters_(counters), relations_(relations) {}
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
    if (knows_no_script(replies)) return false;
    std::size_t count = 0;
    const bool is_usual = replies.bytes() <= kMostReplyBytes && give(replies, rows, count);
    program_->note_answer(is_usual);
    if (!is_usual) return false;
    counts_of_thread().direct_runs.add();
    ScanCounts scan(*program_->read().source, relations_);
    if (program_->read().fields) scan.add_rows(count);
    return true;
  }

 private:
  /// Loads the script for the next run where Redis does not know it: the statement's plan may read the rows without it.
  bool knows_no_script(const Replies& replies) const {
    if (program_->read().kind != Kind::kSetRows || !replies[0].is_error() || !replies[0].text.starts_with("NOSCRIPT")) return false;
    CommandBatch load;
    load.add("SCRIPT", "LOAD", kRowsOfSetsScript.text());
    connection_.submit_alone(std::move(load));  // the reply is not needed
    return true;
  }

  bool give(const Replies& replies, RowSink& rows, std::size_t& count) const {
    switch (program_->read().kind) {
      case Kind::kRow: return replies[0].is_array() && give_row(member_, replies[0].children(), rows, count);
      case Kind::kUniqueRow: return replies[0].is_array() && give_elements(replies[0].children(), rows, count);
      case Kind::kCount: return give_count(replies[0], rows);
      case Kind::kFirstRows: return give_first_rows(replies, rows, count);
      case Kind::kSetRows: return give_set_rows(replies[0], rows, count);
    }
    return false;
  }

  bool give_row(std::string_view member, std::span<const Reply> values, RowSink& rows, std::size_t& count) const {
    if (values.size() < program_->width()) return false;
    if (!program_->is_there(values)) return true;
    ++count;
    return program_->add(member, values, rows);
  }

  /// Rows of a member and its fields each.
  bool give_elements(std::span<const Reply> flat, RowSink& rows, std::size_t& count) const {
    const std::size_t width = 1 + program_->width();
    if (flat.size() % width != 0) return false;
    for (std::size_t first = 0; first < flat.size(); first += width) {
      if (!flat[first].is_text() || !give_row(flat[first].text, flat.subspan(first + 1, width - 1), rows, count)) return false;
    }
    return true;
  }

  /// The rows of a member and its fields each that are there, in order; nullopt: one of them needs a closer look.
  std::optional<FoundRows> in_order(std::span<const Reply> flat) const {
    const std::size_t width = 1 + program_->width();
    if (flat.size() % width != 0) return std::nullopt;
    FoundRows found;
    found.rows.reserve(flat.size() / width);
    for (std::size_t first = 0; first < flat.size(); first += width) {
      if (!flat[first].is_text()) return std::nullopt;
      const FoundRow row{flat[first].text, flat.subspan(first + 1, width - 1)};
      if (program_->is_there(row.values)) found.rows.push_back(row);
    }
    const planner::DirectRead& read = program_->read();
    if (read.order.empty() || (read.kind == Kind::kFirstRows && program_->differ(found.rows))) return found;
    if (!program_->add_keys(found)) return std::nullopt;
    std::ranges::stable_sort(found.rows, [&](const FoundRow& a, const FoundRow& b) { return program_->comes_before(a, b); });
    return found;
  }

  /// The wanted rows among those that were found, from one on.
  bool give_ordered(std::span<const FoundRow> found, std::uint64_t first, RowSink& rows, std::size_t& count) const {
    count += found.size();
    const std::size_t begin = std::min<std::uint64_t>(first, found.size());
    const std::size_t wanted = std::min<std::uint64_t>(page_.rows, found.size() - begin);
    return std::ranges::all_of(found.subspan(begin, wanted), [&](const FoundRow& row) { return program_->add(row.member, row.values, rows); });
  }

  bool give_set_rows(const Reply& reply, RowSink& rows, std::size_t& count) const {
    if (!reply.is_array()) return false;
    const std::optional<RowsOfSets> found = decode_rows_of_sets(reply, program_->width());
    if (!found || !found->members.empty() || found->changes) return false;
    const auto ordered = in_order(found->rows.replies());
    return ordered && give_ordered(ordered->rows, page_.offset, rows, count);
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
    const bool is_full = elements.size() == page_.rows_read() * (1 + program_->width());
    for (std::size_t i = 1; i < answers.size(); ++i) {
      // Rows without a value, where they count; scores that may not order their rows.
      const bool are_nulls = i == 1 && !read.null_rows.empty();
      if (are_nulls && !read.nulls_first && is_full) continue;
      if (answers[i].kind != Reply::Kind::integer || answers[i].integer != 0) return false;
    }
    if (read.order.empty()) {
      // An entry whose row is gone leaves a place for another one.
      return give_elements(elements, rows, count) && (!is_full || count == page_.rows);
    }
    const auto found = in_order(elements);
    if (!found || found->rows.size() != elements.size() / (1 + program_->width())) return false;
    return end_apart(found->rows, is_full) && give_ordered(found->rows, page_.before(), rows, count);
  }

  /// Returns true if no row that was not read can tie with a wanted one: the first and the last row that were read differ from those in the
  /// first column of the order. `is_full`: there may be rows behind the last one.
  bool end_apart(std::span<const FoundRow> found, bool is_full) const {
    const std::uint64_t first = page_.before();
    if (found.size() <= first || found[first].keys == nullptr) return true;
    const sql::Type type = program_->read().order[0].type;
    const auto ties = [&](const FoundRow& a, const FoundRow& b) {
      const bool is_null = sql::is_null(a.keys[0]), other_is_null = sql::is_null(b.keys[0]);
      return is_null || other_is_null ? is_null == other_is_null : sql::equal(type, a.keys[0], b.keys[0]);
    };
    const bool begins_apart = page_.first_rank() == 0 || !ties(found.front(), found[first]);
    return begins_apart && (!is_full || !ties(found[first + page_.rows - 1], found.back()));
  }

  std::shared_ptr<const Program> program_;
  SharedConnection& connection_;
  Page page_;
  std::size_t commands_, bytes_sent_;  // of the batch, which is empty once it was written
  std::shared_ptr<PendingBatch> pending_;
  std::string member_;  // kRow
  sql::CatalogPtr catalog_;
  ExecutionCounters& counters_;
  sql::RelationCounts* relations_;
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

std::optional<Page> Program::page(std::span<const sql::Datum> parameters) const {
  if (!read_->limit && !read_->offset) return Page{};
  const auto number = [&](const planner::DirectValue& value) {
    const auto* given = std::get_if<std::int64_t>(value.parameter ? &parameters[*value.parameter] : &value.constant);
    return given != nullptr && *given >= 0 ? std::optional<std::uint64_t>(*given) : std::nullopt;
  };
  Page page;
  const std::optional<std::uint64_t> rows = read_->limit ? number(*read_->limit) : page.rows;
  const std::optional<std::uint64_t> offset = read_->offset ? number(*read_->offset) : 0;
  if (!rows || *rows == 0 || !offset) return std::nullopt;
  page.rows = *rows;
  page.offset = *offset;
  if (read_->kind != Kind::kFirstRows) return page;
  if (page.rows > planner::kMostFirstRows) return std::nullopt;
  if (!read_->order.empty()) page.ties = 2 + page.rows / 8;
  return page;
}

void Program::append_first_rows(CommandBatch& batch, const Page& page) const {
  const sql::RowFields& fields = *read_->fields;
  const bool has_more = !read_->null_rows.empty() || read_->proves_order;
  if (has_more) batch.add("MULTI");
  batch.begin(7 + (read_->descending ? 1 : 0) + sort_get_words(fields));
  batch.arg("SORT_RO").arg(read_->zset).arg("BY").arg("nosort");
  if (read_->descending) batch.arg("DESC");
  batch.arg("LIMIT").arg(page.first_rank()).arg(page.rows_read());
  append_sort_get(batch, keys_, fields);
  if (!read_->null_rows.empty()) batch.add("SCARD", read_->null_rows);
  if (read_->proves_order) append_score_proof(batch, read_->zset);
  if (has_more) batch.add("EXEC");
}

DirectRunPtr Program::start(SharedConnection& connection, std::span<const sql::Datum> parameters, sql::CatalogPtr catalog,
                            ExecutionCounters& counters, sql::RelationCounts* relations) const {
  if (is_passed_over()) return nullptr;
  const auto key = values(parameters);
  const std::optional<Page> page = this->page(parameters);
  if (!key || !page) return nullptr;
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
    case Kind::kFirstRows:
      if (first_rows_) batch = *first_rows_;
      else append_first_rows(batch, *page);
      break;
    case Kind::kSetRows: {
      const SetProgram set{{keys_.value_set(read_->columns, *key)}, {"s"}};
      append_rows_of_sets(batch, set, row_arguments(*read_->table, *read_->fields), planner::kMostSetRows, planner::kMostSetRows,
                          {.counter = {}, .more_than = planner::kMostSetRows});
      break;
    }
  }
  return std::make_unique<Run>(shared_from_this(), connection, std::move(batch), std::move(member), *page, std::move(catalog), counters, relations);
}

}  // namespace

DirectProgramPtr make_direct_program(std::shared_ptr<const planner::DirectRead> read) {
  return read ? std::make_shared<const Program>(std::move(read)) : nullptr;
}

}  // namespace redquel::executor
