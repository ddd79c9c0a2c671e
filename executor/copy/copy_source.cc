#include "executor/copy/copy_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/copy/copy_binary_reader.h"
#include "executor/copy/copy_encoding.h"
#include "executor/copy/copy_input.h"
#include "executor/copy/copy_line_reader.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/writes/writes.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/object_names.h"
#include "sql/sqlstate.h"
#include "sql/types/binary_io.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The number of rows that PostgreSQL buffers before it inserts them: decides which of two errors comes first.
constexpr std::size_t kRows = 1000;

/// The part that all formats share: reading from the channel, batches, WHERE, errors with their place.
class CopySource : public Operator {
 public:
  CopySource(const std::vector<planner::PhysicalColumn>& columns, const planner::PlannedCopy& plan, CopyInput& input,
             ExecutionContext& context)
      : described_(columns), plan_(plan), options_(plan.options), context_(context), input_(input) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!begun_) begin();
    while (!failure_) {
      if (at_end()) {
        if (!drained_) co_await drain();
        if (failure_) break;
        if (!batch_open_) co_return std::nullopt;
        if (auto batch = close_batch()) co_return batch;
        continue;
      }
      if (turn_.is_over()) co_await turn_.yield();
      if (!batch_open_) open_batch();
      bool full = false;
      try {
        for (; rows_ < kRows && read_row(); ++rows_) unfinished_bytes_ = 0;
        full = rows_ == kRows;
      } catch (const SqlError&) {
        failure_ = std::current_exception();
      }
      // Rows before the damaged one are looked at first.
      if (failure_ || full) {
        if (auto batch = close_batch()) co_return batch;
        continue;
      }
      if (at_end()) continue;
      input_.channel.set_error_context(context_here());
      const std::optional<std::string_view> data = co_await input_.channel.read();
      input_.channel.set_error_context({});
      drained_ = !data;
      try {
        data ? append(*data) : end();
        if (data) {
          input_.progress.add_bytes(data->size());
          unfinished_bytes_ += data->size();
          input_.channel.hold(unfinished_bytes_);
        }
      } catch (const SqlError&) {
        failure_ = std::current_exception();
      }
    }
    std::exception_ptr failure = std::move(failure_);
    input_.channel.hold(0);
    input_.channel.set_error_context(failure_context_);
    std::rethrow_exception(failure);
  }

 protected:
  virtual void append(std::string_view data) = 0;
  virtual void append_after_end(std::string_view) {}
  virtual void end() = 0;
  /// Appends one row to `columns_`; false when there is none yet. On errors sets `failure_context_`.
  virtual bool read_row() = 0;
  virtual bool at_end() const = 0;
  /// Returns the context of errors while data are read.
  virtual std::string context_here() const = 0;

  std::size_t width() const { return described_.size(); }
  const std::string& name(std::size_t column) const { return described_[column].name; }
  sql::Type type(std::size_t column) const { return described_[column].type; }
  void append_value(std::size_t column, sql::Datum value) {
    columns_[column]->append_datum(sql::apply_modifier(type(column), std::move(value), false));
  }

  const std::vector<planner::PhysicalColumn>& described_;
  const planner::PlannedCopy& plan_;
  const planner::CopyOptions& options_;
  ExecutionContext& context_;
  CopyInput& input_;
  std::vector<std::shared_ptr<sql::Column>> columns_;
  std::string failure_context_;

 private:
  void begin() {
    begun_ = true;
    if (input_.started) {
      throw SqlError(sqlstate::kSerializationFailure, "could not serialize access due to concurrent change of the table's definition");
    }
    set_encoding(input_.channel, options_);
    input_.started = true;
    input_.relation = plan_.relation;
    input_.channel.begin_in(options_.is_binary(), width());
  }

  void open_batch() {
    batch_open_ = true;
    rows_ = 0;
    input_.begin_batch();
    columns_.clear();
    for (std::size_t i = 0; i < width(); ++i) {
      columns_.push_back(std::make_shared<sql::Column>(type(i)));
      columns_.back()->reserve(kRows);
    }
  }

  /// The batch without rows that WHERE refuses; nullopt when none is left.
  std::optional<sql::Batch> close_batch() {
    batch_open_ = false;
    sql::Batch batch;
    batch.rows = rows_;
    for (const auto& column : columns_) {
      if (column->size() == rows_) {
        batch.columns.push_back(column);
      } else {  // the row that failed has left a part of itself
        std::vector<std::uint32_t> whole(rows_);
        for (std::uint32_t row = 0; row < rows_; ++row) whole[row] = row;
        batch.columns.push_back(std::make_shared<const sql::Column>(column->gather(whole)));
      }
    }
    if (plan_.condition && batch.rows > 0) {
      const std::vector<std::uint32_t> kept = rows_that_pass(batch);
      input_.keep_rows_of_batch(kept);
      if (kept.size() < batch.rows) batch = batch.gather(kept);
    }
    input_.progress.add_rows(batch.rows, rows_ - batch.rows);
    if (batch.rows == 0) return std::nullopt;
    return batch;
  }

  std::vector<std::uint32_t> rows_that_pass(const sql::Batch& batch) {
    try {
      return sql::select_rows(*plan_.condition, batch, context_.evaluation());
    } catch (const SqlError&) {
    }
    // A row cannot be computed: finds out which one.
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      failure_context_ = input_.context_in_batch(row);
      const std::uint32_t one[] = {row};
      try {
        sql::select_rows(*plan_.condition, batch.gather(one), context_.evaluation());
      } catch (const SqlError&) {
        input_.channel.set_error_context(failure_context_);
        throw;
      }
    }
    throw SqlError(sqlstate::kInternalError, "a condition failed for many rows, but for none of them");
  }

  /// Skips the data after the end marker, if the format allows them.
  asio::awaitable<void> drain() {
    while (!drained_ && !failure_) {
      const std::optional<std::string_view> data = co_await input_.channel.read();
      drained_ = !data;
      try {
        if (data) append_after_end(*data);
      } catch (const SqlError&) {
        failure_ = std::current_exception();
      }
    }
  }

  EventLoopTurn turn_;
  std::exception_ptr failure_;
  std::size_t rows_ = 0;
  std::size_t unfinished_bytes_ = 0;  // of the pieces of data since the last complete row, and of the one in which it ended
  bool begun_ = false, batch_open_ = false, drained_ = false;
};

class TextCopySource final : public CopySource {
 public:
  TextCopySource(const std::vector<planner::PhysicalColumn>& columns, const planner::PlannedCopy& plan, CopyInput& input,
                 ExecutionContext& context)
      : CopySource(columns, plan, input, context), reader_(options_), header_pending_(options_.header != planner::CopyOptions::Header::kNone) {
    for (std::size_t i = 0; i < width(); ++i) {
      force_not_null_.push_back(in_list(options_.force_not_null, i));
      force_null_.push_back(in_list(options_.force_null, i));
      reads_values_.push_back(sql::has_modifier_effect(type(i)) || sql::shows_object_names(type(i).oid));
    }
  }

 private:
  bool in_list(const std::optional<planner::CopyOptions::ColumnList>& list, std::size_t column) const {
    return list && std::ranges::find(list->names, name(column)) != list->names.end();
  }

  void append(std::string_view data) override {
    if (input_.channel.converter() == nullptr) return reader_.append(data);
    // Characters may be cut by the end of a piece, but a newline is never a part of one.
    unconverted_.append(data);
    const std::size_t newline = unconverted_.rfind('\n');
    if (newline != std::string::npos) convert(newline + 1);
  }

  void end() override {
    convert(unconverted_.size());
    reader_.end();
  }

  void convert(std::size_t bytes) {
    if (bytes == 0) return;
    failure_context_ = input_.context_of_line(reader_.line_number() + 1);
    reader_.append(input_.channel.converter()->from_client(std::string_view(unconverted_).substr(0, bytes)));
    unconverted_.erase(0, bytes);
  }

  bool at_end() const override { return reader_.at_end(); }
  std::string context_here() const override { return input_.context_of_line(reader_.line_number()); }

  std::optional<std::string_view> next_line() {
    try {
      const std::optional<std::string_view> line = reader_.next();
      if (line && input_.channel.converter() == nullptr) sql::check_utf8(*line);
      return line;
    } catch (const SqlError&) {
      failure_context_ = context_here();
      throw;
    }
  }

  void split(std::string_view line) {
    try {
      if (options_.is_csv()) {
        split_csv_line(line, options_, scratch_, fields_);
      } else {
        split_text_line(line, options_, scratch_, fields_);
      }
    } catch (const SqlError&) {
      failure_context_ = input_.context_of_line(reader_.line_number(), line);
      throw;
    }
  }

  bool read_row() override {
    if (header_pending_) {
      const std::optional<std::string_view> header = next_line();
      if (!header) return false;
      header_pending_ = false;
      if (options_.header == planner::CopyOptions::Header::kMatch) match_header(*header);
    }
    const std::optional<std::string_view> line = next_line();
    if (!line) return false;
    split(*line);
    if (width() == 0 ? !line->empty() : fields_.size() > width()) {
      failure_context_ = input_.context_of_line(reader_.line_number(), *line);
      throw SqlError(sqlstate::kBadCopyFileFormat, "extra data after last expected column");
    }
    for (std::size_t i = 0; i < width(); ++i) {
      if (i >= fields_.size()) {
        failure_context_ = input_.context_of_line(reader_.line_number(), *line);
        throw SqlError(sqlstate::kBadCopyFileFormat, fmt::format("missing data for column \"{}\"", name(i)));
      }
      append_field(i, fields_[i]);
    }
    input_.add_row(reader_.line_number(), *line);
    return true;
  }

  void append_field(std::size_t column, CopyField field) {
    if (options_.is_csv()) {
      if (field.is_null && force_not_null_[column]) {
        field.is_null = false;
        field.text = options_.null_text;
      } else if (!field.is_null && force_null_[column] && field.text == options_.null_text) {
        field.is_null = true;
      }
    }
    if (field.is_null) return columns_[column]->append_null();
    try {
      const sql::EvaluationContext& evaluation = context_.evaluation();
      if (reads_values_[column]) {
        append_value(column, sql::read_value(type(column), field.text, evaluation));
      } else {
        sql::append_parsed(*columns_[column], field.text, *evaluation.settings, sql::Now{evaluation.transaction_timestamp});
      }
    } catch (const SqlError&) {
      failure_context_ = input_.context_of_value(reader_.line_number(), name(column), field.text);
      throw;
    }
  }

  void match_header(std::string_view header) {
    split(header);
    failure_context_ = input_.context_of_line(reader_.line_number(), header);
    if (fields_.size() != width()) {
      throw SqlError(sqlstate::kBadCopyFileFormat,
                     fmt::format("wrong number of fields in header line: got {}, expected {}", fields_.size(), width()));
    }
    for (std::size_t i = 0; i < width(); ++i) {
      if (fields_[i].is_null) {
        throw SqlError(sqlstate::kBadCopyFileFormat,
                       fmt::format("column name mismatch in header line field {}: got null value (\"{}\"), expected \"{}\"", i + 1,
                                   options_.null_text, name(i)));
      }
      if (fields_[i].text != name(i)) {
        throw SqlError(sqlstate::kBadCopyFileFormat,
                       fmt::format("column name mismatch in header line field {}: got \"{}\", expected \"{}\"", i + 1, fields_[i].text, name(i)));
      }
    }
  }

  CopyLineReader reader_;
  bool header_pending_;
  std::string unconverted_, scratch_;
  std::vector<CopyField> fields_;
  std::vector<bool> force_not_null_, force_null_, reads_values_;
};

class BinaryCopySource final : public CopySource {
 public:
  BinaryCopySource(const std::vector<planner::PhysicalColumn>& columns, const planner::PlannedCopy& plan, CopyInput& input,
                   ExecutionContext& context)
      : CopySource(columns, plan, input, context), reader_(width()) {}

 private:
  void append(std::string_view data) override {
    reader_.append(data);
    if (reader_.at_end()) read_row();  // throws: nothing may follow the trailer
  }
  void append_after_end(std::string_view data) override { append(data); }
  void end() override { reader_.end(); }
  bool at_end() const override { return reader_.at_end(); }
  std::string context_here() const override { return context_of(std::nullopt); }

  bool read_row() override {
    bool found = false;
    try {
      found = reader_.next(values_);
    } catch (const SqlError&) {
      // A damaged header belongs to no line.
      failure_context_ = reader_.line_number() == 0 ? std::string() : context_of(reader_.failed_column());
      throw;
    }
    if (!found) return false;
    for (std::size_t i = 0; i < width(); ++i) {
      if (!values_[i]) {
        columns_[i]->append_null();
        continue;
      }
      try {
        append_value(i, sql::decode_binary(type(i), *values_[i], input_.channel.converter()));
      } catch (const SqlError&) {
        failure_context_ = context_of(i);
        throw;
      }
    }
    input_.add_row(reader_.line_number(), std::nullopt);
    return true;
  }

  std::string context_of(std::optional<std::size_t> column) const {
    if (column) return input_.context_of_column(reader_.line_number(), name(*column));
    return input_.context_of_line(reader_.line_number());
  }

  CopyBinaryReader reader_;
  std::vector<std::optional<std::string_view>> values_;
};

}  // namespace

OperatorPtr make_copy_source(const std::vector<planner::PhysicalColumn>& columns, const planner::PlannedCopy& plan,
                             CopyInput& input, ExecutionContext& context) {
  if (plan.options.is_binary()) return std::make_unique<BinaryCopySource>(columns, plan, input, context);
  return std::make_unique<TextCopySource>(columns, plan, input, context);
}

OperatorPtr make_copy_insert(const planner::PhysicalNode& node, const planner::PlannedCopy& copy, CopyInput& input,
                             ExecutionContext& context) {
  if (const auto* of_view = std::get_if<planner::PhysicalViewWrite>(&node.node)) {
    return make_view_write(*of_view, context, make_copy_source(of_view->source->columns, copy, input, context));
  }
  const auto& insert = std::get<planner::PhysicalInsert>(node.node);
  return make_insert(node, insert, context, make_copy_source(insert.source->columns, copy, input, context));
}

}  // namespace redquel::executor
