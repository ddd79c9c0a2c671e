#include "executor/context/key_filter.h"

#include <gtest/gtest.h>

#include <limits>

namespace redquel::executor {
namespace {

template <class Value>
sql::Column integers(sql::Type type, const std::vector<Value>& values) {
  sql::Column column(type);
  for (const Value value : values) column.append(value);
  return column;
}

bool contains(const KeyFilter& filter, std::int64_t value) {
  return filter.contains_offset(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(filter.smallest()));
}

TEST(KeyFilterTest, KnowsItsKeysAndNoOthers) {
  sql::Column keys = integers<std::int32_t>(sql::kInt4, {7, -3, 7, 1000});
  keys.append_null();
  const KeyFilterPtr filter = KeyFilter::of(keys);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->smallest(), -3);
  EXPECT_EQ(filter->largest(), 1000);
  for (std::int64_t value = -2000; value < 3000; ++value) EXPECT_EQ(contains(*filter, value), value == 7 || value == -3 || value == 1000) << value;
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) EXPECT_FALSE(contains(*filter, value));
}

TEST(KeyFilterTest, EndsOfTheRange) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const KeyFilterPtr filter = KeyFilter::of(integers<std::int64_t>(sql::kInt8, {largest, largest - 64}));
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->largest(), largest);
  EXPECT_TRUE(contains(*filter, largest - 64));
  EXPECT_FALSE(contains(*filter, largest - 63));
  EXPECT_FALSE(contains(*filter, std::numeric_limits<std::int64_t>::min()));
}

TEST(KeyFilterTest, NoFilterOfDistantKeysOtherTypesAndNulls) {
  EXPECT_EQ(KeyFilter::of(integers<std::int64_t>(sql::kInt8, {0, std::int64_t{1} << 40})), nullptr);
  EXPECT_EQ(KeyFilter::of(integers<double>(sql::kFloat8, {1, 2})), nullptr);
  EXPECT_EQ(KeyFilter::of(sql::Column(sql::kInt4)), nullptr);
  sql::Column nulls(sql::kInt4);
  nulls.append_null();
  EXPECT_EQ(KeyFilter::of(nulls), nullptr);
  EXPECT_EQ(KeyFilter::of(sql::Column::constant(sql::kInt4, std::int32_t{5}, 3)), nullptr);
}

}  // namespace
}  // namespace redquel::executor
