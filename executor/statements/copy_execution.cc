#include "executor/statements/copy_execution.h"

#include <fmt/format.h>

#include "executor/copy/copy_encoding.h"
#include "executor/copy/copy_input.h"
#include "executor/copy/copy_writer.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/statements/query_execution.h"
#include "executor/storage/row_error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

class CopyExecution : public Execution {
 public:
  virtual void attach(CopyChannel& channel) = 0;
};

class CopyInExecution final : public CopyExecution {
 public:
  CopyInExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  void attach(CopyChannel& channel) override {
    progress_.emplace(session_.progress.get(), sql::LongWork::kCopyFrom, prepared_->plan->copy.table);
    input_.emplace(channel, *progress_);
    insert_ = make_query_execution(engine_, prepared_, {}, session_, &*input_);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!insert_) throw sql::not_supported("COPY here");
    try {
      co_return co_await insert_->next();
    } catch (const RowError& error) {
      // Unique values are looked at when many rows go to Redis together: their texts are forgotten by then, in PostgreSQL too.
      input_->channel.set_error_context(error.sqlstate() == sqlstate::kUniqueViolation ? input_->context_of_stored_row(error.row())
                                                                    : input_->context_of_row(error.row()));
      throw;
    }
  }

  std::string command_tag() const override { return insert_->command_tag(); }

 private:
  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
  std::optional<sql::ProgressReport> progress_;
  std::optional<CopyInput> input_;
  std::unique_ptr<Execution> insert_;
};

class CopyOutExecution final : public CopyExecution {
 public:
  CopyOutExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : prepared_(std::move(prepared)), session_(session), rows_(make_query_execution(engine, prepared_, {}, session)) {}

  void attach(CopyChannel& channel) override { channel_ = &channel; }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (channel_ == nullptr) throw sql::not_supported("COPY here");
    const planner::CopyOptions& options = prepared_->plan->copy.options;
    set_encoding(*channel_, options);
    std::vector<std::string> names;
    for (const planner::PhysicalColumn& column : prepared_->plan->planned.plan->columns) names.push_back(column.name);
    channel_->begin_out(options.is_binary(), names.size());
    sql::ProgressReport progress(session_.progress.get(), sql::LongWork::kCopyTo, prepared_->plan->copy.table);
    CopyWriter writer(options, std::move(names), session_.settings, *channel_, progress);
    writer.begin();
    EventLoopTurn turn;
    while (auto batch = co_await rows_->next()) {
      if (!options.is_binary()) {
        for (sql::ColumnPtr& column : batch->columns) column = rows_->named(column);
      }
      std::size_t counted = 0;
      for (std::size_t row = 0; row < batch->rows;) {
        {
          const sql::InterruptScope interrupts(session_.backend_pid, sql::InterruptScope::Values::kHeld);
          do writer.write_row(batch->columns, row++);
          while (row < batch->rows && !channel_->is_full() && !turn.is_over());
        }
        if (channel_->is_full()) {
          progress.add_rows(row - counted);
          counted = row;
          co_await channel_->flush();
        }
        if (turn.is_over()) co_await turn.yield();
      }
      sent_ += batch->rows;
      progress.add_rows(batch->rows - counted);
    }
    writer.end();
    channel_->end_out();
    co_return std::nullopt;
  }

  std::string command_tag() const override { return fmt::format("COPY {}", sent_); }

 private:
  PreparedPtr prepared_;
  SessionState& session_;
  std::unique_ptr<Execution> rows_;
  CopyChannel* channel_ = nullptr;
  std::uint64_t sent_ = 0;
};

}  // namespace

void attach_copy_channel(Execution& execution, CopyChannel& channel) { dynamic_cast<CopyExecution&>(execution).attach(channel); }

std::unique_ptr<Execution> make_copy_execution(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  const auto& copy = std::get<parser::ast::Copy>(prepared->plan->statement->node);
  if (copy.from) return std::make_unique<CopyInExecution>(engine, std::move(prepared), session);
  return std::make_unique<CopyOutExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
