#include "executor/tables/discovery_rows.h"

#include <chrono>
#include <optional>

#include "executor/runtime/clock.h"
#include "sql/system_tables.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/shown_text.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kShownBytes = 200;

std::string_view state_text(DiscoveryProgress::State state) {
  static constexpr std::string_view kTexts[] = {"", "listing keys", "reading keys", "making tables", "done", "interrupted", "failed"};
  return kTexts[static_cast<std::size_t>(state)];
}

/// Returns a moment as a timestamp.
std::int64_t timestamp_of(DiscoveryProgress::Clock::time_point moment) {
  return now_microseconds() - std::chrono::duration_cast<std::chrono::microseconds>(DiscoveryProgress::Clock::now() - moment).count();
}

void add_progress(sql::RowWriter& rows, const DiscoveryProgress& progress) {
  using Clock = DiscoveryProgress::Clock;
  const DiscoveryProgress::Figures figures = progress.figures();
  if (figures.state == DiscoveryProgress::State::kNone) return;
  const auto left = time_left(figures, Clock::now());
  const bool has_ended = figures.ended != Clock::time_point();
  rows.add(state_text(figures.state), figures.walked, figures.all, figures.tables, progress.left_out()->size(),
           left ? std::optional(left->count()) : std::nullopt, timestamp_of(figures.begun),
           has_ended ? std::optional(timestamp_of(figures.ended)) : std::nullopt, sql::null_if_empty(figures.error));
}

}  // namespace

sql::Batch discovery_rows(std::string_view table, const DiscoveryProgress* progress) {
  sql::RowWriter rows(*sql::find_system_table("redquel", table));
  if (progress != nullptr && table == "discovery") add_progress(rows, *progress);
  if (progress != nullptr && table == "left_out") {
    for (const sql::LeftOut& keys : *progress->left_out()) {
      rows.add(sql::shown_text(keys.pattern, kShownBytes), sql::null_if_empty(keys.type), keys.keys, sql::shown_text(keys.example, kShownBytes), keys.reason);
    }
  }
  return rows.finish();
}

}  // namespace redquel::executor
