#include "executor/writes/returned_rows.h"

#include <memory>
#include <utility>
#include <vector>

namespace redquel::executor {

namespace {

constexpr std::size_t kKeptRows = 10'000;

}  // namespace

void ReturnedRows::push_back(sql::Batch batch) {
  if (batch.rows == 0) return;
  if (kept_rows_ < kKeptRows) {
    kept_rows_ += batch.rows;
    first_.push_back(std::move(batch));
    return;
  }
  if (!others_) {
    std::vector<sql::Type> types;
    for (const sql::ColumnPtr& column : batch.columns) types.push_back(column->type());
    others_.emplace(std::make_shared<SpillFile>(space_), types);
  }
  others_->append_all(batch);
}

std::optional<sql::Batch> ReturnedRows::next() {
  if (!first_.empty()) {
    sql::Batch batch = std::move(first_.front());
    first_.pop_front();
    return batch;
  }
  if (!others_) return std::nullopt;
  if (!is_complete_) others_->finish();
  is_complete_ = true;
  return others_->next();
}

}  // namespace redquel::executor
