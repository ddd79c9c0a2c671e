#pragma once

#include <atomic>
#include <cstdint>

#include "sql/counts.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// Long work that the views pg_stat_progress_… show.
enum class LongWork : std::uint8_t { kNone, kCopyFrom, kCopyTo, kCreateIndex, kReindex, kRewrite };

/// The progress of a session's long work. The session's thread writes, other threads read; the figures may be of different moments.
struct Progress {
  std::atomic<LongWork> work = LongWork::kNone;
  std::atomic<Oid> table = 0, index = 0;  // 0: none
  Count bytes, rows, excluded_rows, all_rows;  // all_rows: that there were at the beginning; 0: unknown
};

/// The figures of Progress, read by another thread.
struct ProgressFigures {
  LongWork work = LongWork::kNone;
  Oid table = 0, index = 0;
  std::uint64_t bytes = 0, rows = 0, excluded_rows = 0, all_rows = 0;
};
inline ProgressFigures figures_of(const Progress& progress) {
  return {progress.work,           progress.table,      progress.index, progress.bytes.get(), progress.rows.get(), progress.excluded_rows.get(),
          progress.all_rows.get()};
}

/// Shows one piece of long work from its making to its end. Work within other work is not shown.
class ProgressReport {
 public:
  /// `progress`: of the session; null: nothing is shown.
  ProgressReport(Progress* progress, LongWork work, Oid table, Oid index = 0)
      : progress_(progress != nullptr && progress->work == LongWork::kNone ? progress : nullptr) {
    if (progress_ == nullptr) return;
    for (Count* count : {&progress_->bytes, &progress_->rows, &progress_->excluded_rows, &progress_->all_rows}) count->set(0);
    progress_->table = table;
    progress_->index = index;
    progress_->work = work;
  }
  ~ProgressReport() {
    if (progress_ != nullptr) progress_->work = LongWork::kNone;
  }
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  void set_all_rows(std::uint64_t rows) {
    if (progress_ != nullptr) progress_->all_rows.set(rows);
  }
  void add_bytes(std::uint64_t bytes) {
    if (progress_ != nullptr) progress_->bytes.add(bytes);
  }
  void add_rows(std::uint64_t rows, std::uint64_t excluded = 0) {
    if (progress_ == nullptr) return;
    progress_->rows.add(rows);
    progress_->excluded_rows.add(excluded);
  }

 private:
  Progress* progress_;
};

}  // namespace redquel::sql
