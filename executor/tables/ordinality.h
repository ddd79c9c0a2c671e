#pragma once

#include <memory>

#include "sql/column.h"

namespace redquel::executor {

/// Appends the column of WITH ORDINALITY to all rows of a function: 1, 2, …
inline void append_ordinality(sql::Batch& batch) {
  auto numbers = std::make_shared<sql::Column>(sql::kInt8);
  for (std::size_t row = 1; row <= batch.rows; ++row) numbers->append(static_cast<std::int64_t>(row));
  batch.columns.push_back(std::move(numbers));
}

}  // namespace redquel::executor
