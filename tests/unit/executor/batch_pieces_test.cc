#include "executor/operators/batch_pieces.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sql/types/type_oids.h"

namespace redquel::executor {
namespace {

sql::Batch numbers(std::int32_t count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return {.rows = values.size(), .columns = {std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt4, std::move(values)))}};
}

/// The rows of each piece, where a row's values take so many bytes.
std::vector<std::size_t> rows_of_pieces(BatchPieces& pieces, std::int32_t count, std::size_t bytes_of_row) {
  pieces.begin(numbers(count));
  std::vector<std::size_t> rows;
  std::int32_t next = 0;
  while (!pieces.is_empty()) {
    EXPECT_EQ(pieces.position(), static_cast<std::size_t>(next));
    const sql::Batch piece = pieces.next();
    for (const std::int32_t value : piece.columns[0]->values<std::int32_t>()) EXPECT_EQ(value, next++);
    rows.push_back(piece.rows);
    pieces.note(piece.rows * bytes_of_row);
  }
  EXPECT_EQ(next, count);
  return rows;
}

TEST(BatchPieces, NarrowRowsSoonComeAsWholeBatches) {
  BatchPieces pieces;
  EXPECT_EQ(rows_of_pieces(pieces, 1024, 8), (std::vector<std::size_t>{16, 64, 256, 688}));
  EXPECT_EQ(rows_of_pieces(pieces, 1024, 8), (std::vector<std::size_t>{1024}));
}

TEST(BatchPieces, WideRowsComeInSmallPieces) {
  BatchPieces pieces;
  EXPECT_EQ(rows_of_pieces(pieces, 24, 100'000), (std::vector<std::size_t>{16, 2, 2, 2, 2}));
  EXPECT_EQ(rows_of_pieces(pieces, 3, 10'000'000), (std::vector<std::size_t>{2, 1}));
}

TEST(BatchPieces, FewRowsAreOnePiece) {
  BatchPieces pieces;
  EXPECT_TRUE(pieces.is_empty());
  EXPECT_EQ(rows_of_pieces(pieces, 1, 8), (std::vector<std::size_t>{1}));
  EXPECT_EQ(rows_of_pieces(pieces, 0, 8), (std::vector<std::size_t>{}));
}

}  // namespace
}  // namespace redquel::executor
