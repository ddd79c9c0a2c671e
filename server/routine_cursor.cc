// Cursors that functions have opened, for the client's FETCH, MOVE and CLOSE.

#include <deque>

#include "executor/routines/routine_state.h"
#include "executor/runtime/clock.h"
#include "server/cursor.h"
#include "server/session_statements.h"

namespace redquel::server {

namespace {

/// Rows that have been read already.
class KnownRows final : public executor::Execution {
 public:
  explicit KnownRows(const std::vector<sql::Batch>& rows) : rows_(rows.begin(), rows.end()) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (rows_.empty()) co_return std::nullopt;
    sql::Batch batch = std::move(rows_.front());
    rows_.pop_front();
    co_return batch;
  }
  std::string command_tag() const override { return {}; }

 private:
  std::deque<sql::Batch> rows_;
};

}  // namespace

asio::awaitable<void> SessionStatements::adopt_cursor(const std::string& name) {
  if (!state_.routines || !state_.transaction || cursors_.contains(name)) co_return;
  auto& opened = executor::routine_state(state_).cursors;
  const auto found = opened.find(name);
  if (found == opened.end()) co_return;
  const std::shared_ptr<executor::RoutineCursor> source = found->second;
  opened.erase(found);
  auto query = std::make_shared<PreparedStatement>();
  query->columns = source->columns;
  query->returns_rows = true;
  auto cursor = std::make_unique<Cursor>(memory_);
  cursor->query = std::move(query);
  cursor->scrolls = source->scrolls;
  cursor->created_at = executor::now_microseconds();
  cursor->savepoints = state_.savepoints;
  co_await cursor->read(std::make_unique<KnownRows>(source->rows), state_);
  if (source->position > 0) {
    parser::ast::Fetch passed;
    passed.count = static_cast<std::int64_t>(source->position);
    passed.move = true;
    cursor->move(passed);
  }
  cursors_.insert_or_assign(name, std::move(cursor));
}

}  // namespace redquel::server
