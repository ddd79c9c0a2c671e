#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "executor/operators/spill_file.h"
#include "sql/column.h"

namespace redquel::executor {

/// The RETURNING rows of a statement, kept until all of its rows are written; for a locking clause, until all are locked. Beyond some
/// thousand they are in a temporary file.
class ReturnedRows {
 public:
  /// `space`: where the temporary file is counted.
  explicit ReturnedRows(TemporarySpacePtr space) : space_(std::move(space)) {}

  /// Throws 53400, 53100 and 58030 where the temporary file takes no more.
  void push_back(sql::Batch batch);
  /// In the same order; nullopt at the end. After the last `push_back`.
  std::optional<sql::Batch> next();

 private:
  TemporarySpacePtr space_;
  std::deque<sql::Batch> first_;
  std::size_t kept_rows_ = 0;
  std::optional<SpilledRows> others_;
  bool is_complete_ = false;
};

}  // namespace redquel::executor
