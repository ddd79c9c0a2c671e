#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "executor/context/operator.h"

namespace redquel::executor {

/// Gives batches that are ready; for tests, and where an operator's input is already in memory.
class VectorSource final : public Operator {
 public:
  explicit VectorSource(std::vector<sql::Batch> batches) : batches_(std::move(batches)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (next_ < batches_.size()) {
      std::optional<sql::Batch> batch = std::move(batches_[next_++]);
      if (batch->rows > 0) co_return batch;
    }
    co_return std::nullopt;
  }

 private:
  std::vector<sql::Batch> batches_;
  std::size_t next_ = 0;
};

}  // namespace redquel::executor
