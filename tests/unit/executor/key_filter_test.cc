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
  return filter.may_contain_offset(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(filter.smallest()));
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

TEST(KeyFilterTest, DistantKeysLetFewOthersPass) {
  std::vector<std::int64_t> keys = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t key = 0; key < 10'000; ++key) keys.push_back(key * 1'000'003);
  const KeyFilterPtr filter = KeyFilter::of(integers<std::int64_t>(sql::kInt8, keys));
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->smallest(), keys[0]);
  EXPECT_EQ(filter->largest(), keys[1]);
  for (const std::int64_t key : keys) EXPECT_TRUE(contains(*filter, key)) << key;
  std::size_t passing = 0;
  for (std::int64_t other = 0; other < 10'000; ++other) passing += contains(*filter, other * 1'000'003 + 1) ? 1 : 0;
  EXPECT_LT(passing, 1250u);
}

TEST(KeyFilterTest, NoFilterOfOtherTypesAndNulls) {
  EXPECT_EQ(KeyFilter::of(integers<double>(sql::kFloat8, {1, 2})), nullptr);
  EXPECT_EQ(KeyFilter::of(sql::Column(sql::kInt4)), nullptr);
  sql::Column nulls(sql::kInt4);
  nulls.append_null();
  EXPECT_EQ(KeyFilter::of(nulls), nullptr);
  EXPECT_EQ(KeyFilter::of(sql::Column::constant(sql::kInt4, std::int32_t{5}, 3)), nullptr);
}

}  // namespace
}  // namespace redquel::executor
