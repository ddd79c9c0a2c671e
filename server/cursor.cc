#include "server/cursor.h"

#include <algorithm>
#include <cstdlib>

#include "server/portal.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::server {

using parser::ast::Fetch;
using parser::ast::FetchDirection;

namespace {

CursorMove forward(std::int64_t position, std::int64_t rows, std::int64_t count) {
  const std::int64_t left = std::max<std::int64_t>(rows - position, 0), passed = std::min(count, left);
  return {passed < count ? rows + 1 : position + passed, position + 1, passed, false};
}

CursorMove backward(std::int64_t position, std::int64_t count) {
  const std::int64_t passed = std::min(count, std::max<std::int64_t>(position - 1, 0));
  return {passed < count ? 0 : position - passed, position - 1, passed, true};
}

/// To one row, or to an end.
CursorMove to_row(std::int64_t wanted, std::int64_t rows) {
  if (wanted < 1) return {0, 0, 0, false};
  if (wanted > rows) return {rows + 1, 0, 0, false};
  return {wanted, wanted, 1, false};
}

/// Returns true if PostgreSQL has to go back for it, even to read a row again.
bool needs_scrolling(std::int64_t position, std::int64_t rows, FetchDirection direction, std::int64_t count, bool moves) {
  const bool reads_again = count == 0 && !moves && position >= 1 && position <= rows;
  switch (direction) {
    case FetchDirection::kForward:
    case FetchDirection::kRelative:
      return count < 0 || reads_again;
    case FetchDirection::kBackward:
      return count > 0 || reads_again;
    case FetchDirection::kAbsolute:
      return count < 0 || (position > 0 && count <= position);
  }
  return false;
}

}  // namespace

CursorMove move_cursor(std::int64_t position, std::int64_t rows, FetchDirection direction, std::int64_t count, bool scrolls, bool moves) {
  if (!scrolls && needs_scrolling(position, rows, direction, count, moves)) {
    throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.");
  }
  switch (direction) {
    case FetchDirection::kForward:
    case FetchDirection::kBackward: {
      const bool is_backward = (direction == FetchDirection::kBackward) != (count < 0);
      if (count == 0) return position >= 1 && position <= rows ? CursorMove{position, position, 1, false} : CursorMove{position};
      const std::int64_t steps = count == INT64_MIN ? INT64_MAX : std::abs(count);
      return is_backward ? backward(position, steps) : forward(position, rows, steps);
    }
    case FetchDirection::kAbsolute:
      if (count < 0) return to_row(count < -rows ? 0 : rows + 1 + count, rows);
      return to_row(count, rows);
    case FetchDirection::kRelative:
      if (count > rows) return to_row(rows + 1, rows);
      if (count < -rows - 1) return to_row(0, rows);
      return to_row(position + count, rows);
  }
  return {position};
}

asio::awaitable<void> Cursor::read(std::unique_ptr<executor::Execution> run, const executor::SessionState& session) {
  run_ = std::move(run);
  return read_on(session);
}

asio::awaitable<void> Cursor::read_rest(Portal& portal, const executor::SessionState& session) {
  run_ = std::move(portal.execution);
  passed_ = static_cast<std::int64_t>(portal.sent - portal.next_row);
  const bool is_behind_last = portal.ended && portal.pulled.empty();
  position_ = static_cast<std::int64_t>(portal.sent) + (is_behind_last ? 1 : 0);
  for (sql::Batch& batch : portal.pulled) keep(std::move(batch), session);
  portal.pulled.clear();
  if (!portal.ended) co_await read_on(session);
}

asio::awaitable<void> Cursor::read_on(const executor::SessionState& session) {
  while (auto batch = co_await run_->next()) keep(*std::move(batch), session);
}

bool Cursor::hold_all() {
  try {
    memory_.resize(bytes_);
    return true;
  } catch (const sql::SqlError&) {
    return false;
  }
}

void Cursor::keep(sql::Batch batch, const executor::SessionState& session) {
  bytes_ += batch.memory();
  ends_.push_back(rows() + static_cast<std::int64_t>(batch.rows));
  if (!spilled_ && bytes_ <= session.work_mem && hold_all()) {
    batches_.push_back(std::move(batch));
    return;
  }
  if (!spilled_) {
    std::vector<sql::Type> types;
    for (const sql::ColumnPtr& column : batch.columns) types.push_back(column->type());
    spilled_.emplace(std::make_shared<executor::SpillFile>(session.temporary_space), types);
  }
  spilled_->append_all(batch);
  spilled_->finish();
}

std::pair<const sql::Batch&, std::int64_t> Cursor::batch_of(std::int64_t row) const {
  const auto found = static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
  const std::int64_t before = found == 0 ? passed_ : ends_[found - 1];
  if (found < batches_.size()) return {batches_[found], before};
  if (read_.first != found) read_ = {found, spilled_->block(found - batches_.size())};
  return {read_.second, before};
}

std::optional<std::string> Cursor::place() const {
  if (table.empty() || position_ < 1 || position_ > rows()) return std::nullopt;
  const auto [batch, before] = batch_of(position_);
  std::string text;
  const sql::KnownTypesScope types(run_->user_types());
  sql::format_value(*batch.columns.back(), static_cast<std::size_t>(position_ - before - 1), {}, text);
  return text;
}

CursorMove Cursor::move(const parser::ast::Fetch& fetch) {
  const CursorMove move = move_cursor(position_, rows(), fetch.direction, fetch.count, scrolls, fetch.move);
  position_ = move.position;
  return move;
}

sql::Batch Cursor::take(CursorMove& move) const {
  const sql::KnownTypesScope types(run_->user_types());
  const auto [batch, before] = batch_of(move.first);
  const std::int64_t end = before + static_cast<std::int64_t>(batch.rows);
  std::vector<std::uint32_t> rows;
  for (; move.count > 0 && move.first > before && move.first <= end; --move.count, move.first += move.backward ? -1 : 1) {
    rows.push_back(static_cast<std::uint32_t>(move.first - before - 1));
  }
  sql::Batch taken = batch.gather(rows);
  if (!table.empty()) taken.columns.pop_back();
  return taken;
}

}  // namespace redquel::server
