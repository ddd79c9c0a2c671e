#include "server/cursor.h"

#include <gtest/gtest.h>

#include "sql/error.h"

namespace redquel::server {
namespace {

using parser::ast::Fetch;
using parser::ast::FetchDirection;

struct Step {
  std::int64_t from;
  FetchDirection direction;
  std::int64_t count;
  std::int64_t position, first, passed;
};

TEST(Cursor, MovesAsFetchSays) {
  constexpr std::int64_t kRows = 5;
  const Step steps[] = {
      {0, FetchDirection::kForward, 1, 1, 1, 1},
      {0, FetchDirection::kForward, Fetch::kAll, 6, 1, 5},
      {3, FetchDirection::kForward, 2, 5, 4, 2},
      {3, FetchDirection::kForward, 3, 6, 4, 2},
      {6, FetchDirection::kForward, 1, 6, 7, 0},
      {6, FetchDirection::kBackward, 2, 4, 5, 2},
      {3, FetchDirection::kBackward, Fetch::kAll, 0, 2, 2},
      {3, FetchDirection::kForward, -1, 2, 2, 1},
      {3, FetchDirection::kForward, 0, 3, 3, 1},
      {0, FetchDirection::kAbsolute, -1, 5, 5, 1},
      {0, FetchDirection::kAbsolute, -9, 0, 0, 0},
      {0, FetchDirection::kAbsolute, 9, 6, 0, 0},
      {2, FetchDirection::kRelative, 2, 4, 4, 1},
      {2, FetchDirection::kRelative, 0, 2, 2, 1},
      {2, FetchDirection::kRelative, -5, 0, 0, 0},
      {2, FetchDirection::kRelative, INT64_MAX, 6, 0, 0},
  };
  for (const Step& step : steps) {
    const CursorMove move = move_cursor(step.from, kRows, step.direction, step.count, true);
    EXPECT_EQ(move.position, step.position) << step.from << " " << step.count;
    EXPECT_EQ(move.count, step.passed) << step.from << " " << step.count;
    if (step.passed > 0) {
      EXPECT_EQ(move.first, step.first) << step.from << " " << step.count;
    }
  }
}

TEST(Cursor, WithoutScrollOnlyGoesForward) {
  EXPECT_THROW(move_cursor(3, 5, FetchDirection::kBackward, 1, false), sql::SqlError);
  EXPECT_THROW(move_cursor(3, 5, FetchDirection::kAbsolute, 1, false), sql::SqlError);
  EXPECT_THROW(move_cursor(3, 5, FetchDirection::kAbsolute, 3, false), sql::SqlError);
  EXPECT_THROW(move_cursor(3, 5, FetchDirection::kAbsolute, -1, false), sql::SqlError);
  EXPECT_THROW(move_cursor(3, 5, FetchDirection::kRelative, 0, false), sql::SqlError);
  EXPECT_EQ(move_cursor(3, 5, FetchDirection::kRelative, 0, false, true).position, 3);
  EXPECT_EQ(move_cursor(0, 5, FetchDirection::kAbsolute, 1, false).position, 1);
  EXPECT_EQ(move_cursor(3, 5, FetchDirection::kForward, 1, false).position, 4);
}

}  // namespace
}  // namespace redquel::server
