#pragma once

#include "sql/error.h"

namespace redquel::executor {

/// An error of one of a statement's new rows, for which COPY reports the line. Rows count from 0.
class RowError : public sql::SqlError {
 public:
  RowError(sql::SqlError error, std::size_t row) : SqlError(std::move(error)), row_(row) {}
  std::size_t row() const { return row_; }

 private:
  std::size_t row_;
};

}  // namespace redquel::executor
