#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "executor/context/operator.h"

namespace redquel::executor {

/// Batches that were read already, then the rest of their source. `rest` may be null.
class ReplayedSource final : public Operator {
 public:
  ReplayedSource(std::vector<sql::Batch> batches, OperatorPtr rest) : batches_(std::move(batches)), rest_(std::move(rest)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (next_ < batches_.size()) co_return std::move(batches_[next_++]);
    if (!rest_) co_return std::nullopt;
    co_return co_await rest_->next();
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    if (rest_) rest_->leave_out(column, filter);
  }

 private:
  std::vector<sql::Batch> batches_;
  OperatorPtr rest_;
  std::size_t next_ = 0;
};

}  // namespace redquel::executor
