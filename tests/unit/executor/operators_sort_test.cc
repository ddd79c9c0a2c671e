#include <numeric>
#include <random>

#include "executor/operators/sort_buffer.h"
#include "tests/unit/executor/operator_plans.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kInt8;
using sql::kText;

class SortTest : public OperatorTest {
 protected:
  struct Key {
    std::uint32_t column;
    bool descending = false, nulls_first = false;
  };
  static planner::PhysicalPlan sort(const planner::PhysicalPlan& input, const std::vector<Key>& keys,
                                    const char* limit = nullptr, const char* offset = nullptr,
                                    std::size_t presorted = 0, bool by_form = false) {
    planner::PhysicalSort node{input, {}, presorted, by_form, {}};
    for (const Key& key : keys) node.keys.push_back({column(input, key.column), key.descending, key.nulls_first});
    if (limit) node.goal.limit = constant(kInt8, limit);
    if (offset) node.goal.offset = constant(kInt8, offset);
    return plan_of(std::move(node), types_of(input));
  }
};

TEST_F(SortTest, DirectionsAndNulls) {
  const auto rows = values({kInt4, kText}, {{"2", "b"}, {"NULL", "n"}, {"1", "a"}, {"2", "a"}, {"-3", "z"}});
  EXPECT_EQ(run(sort(rows, {{0}})), (Rows{"-3|z", "1|a", "2|b", "2|a", "NULL|n"}));
  EXPECT_EQ(run(sort(rows, {{0, true, true}})), (Rows{"NULL|n", "2|b", "2|a", "1|a", "-3|z"}));
  EXPECT_EQ(run(sort(rows, {{0, true, false}, {1}})), (Rows{"2|a", "2|b", "1|a", "-3|z", "NULL|n"}));
  EXPECT_EQ(run(sort(rows, {{1, true}, {0, false, true}})), (Rows{"-3|z", "NULL|n", "2|b", "1|a", "2|a"}));
}

TEST_F(SortTest, OrderOfEveryType) {
  const auto sorted = [&](sql::Type type, std::vector<std::vector<std::string>> texts) {
    return run(sort(values({type}, texts), {{0}}));
  };
  EXPECT_EQ(sorted(sql::kBool, {{"t"}, {"f"}}), (Rows{"f", "t"}));
  EXPECT_EQ(sorted(sql::kInt2, {{"1"}, {"-32768"}, {"32767"}, {"-1"}}), (Rows{"-32768", "-1", "1", "32767"}));
  EXPECT_EQ(sorted(kInt8, {{"9223372036854775807"}, {"-9223372036854775808"}, {"0"}}),
            (Rows{"-9223372036854775808", "0", "9223372036854775807"}));
  EXPECT_EQ(sorted(sql::kFloat8, {{"NaN"}, {"1.5"}, {"-Infinity"}, {"Infinity"}, {"-2"}}),
            (Rows{"-Infinity", "-2", "1.5", "Infinity", "NaN"}));
  EXPECT_EQ(sorted(sql::kFloat4, {{"1.5"}, {"-1.5"}, {"1e30"}}), (Rows{"-1.5", "1.5", "1e+30"}));
  EXPECT_EQ(sorted(sql::kNumeric, {{"NaN"},
                                   {"10000000000000000000000000000000001"},
                                   {"10000000000000000000000000000000000"},
                                   {"-0.5"},
                                   {"1.10"},
                                   {"1.1"}}),
            (Rows{"-0.5", "1.10", "1.1", "10000000000000000000000000000000000", "10000000000000000000000000000000001",
                  "NaN"}));
  EXPECT_EQ(sorted(kText, {{"abcdefghi"}, {"abcdefgh"}, {"abcdefghh"}, {""}, {"B"}, {"\xC3\xA9"}}),
            (Rows{"", "B", "abcdefgh", "abcdefghh", "abcdefghi", "\xC3\xA9"}));
  EXPECT_EQ(sorted(sql::kInterval, {{"1 mon"}, {"29 days"}, {"-1 day"}, {"00:00:01"}}),
            (Rows{"-1 days", "00:00:01", "29 days", "1 mon"}));
  EXPECT_EQ(sorted(sql::kUuid, {{"ffffffff-0000-0000-0000-000000000000"}, {"00000000-0000-0000-0000-000000000001"}}),
            (Rows{"00000000-0000-0000-0000-000000000001", "ffffffff-0000-0000-0000-000000000000"}));
  EXPECT_EQ(sorted(sql::kOidType, {{"4294967295"}, {"1"}}), (Rows{"1", "4294967295"}));
}

/// Many runs, few, and the first rows only: all are the stable order.
TEST_F(SortTest, RandomRowsAgainstStableSort) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<std::vector<std::string>> texts;
  for (int i = 0; i < 30'000; ++i)
    texts.push_back(
        {std::to_string(random() % 500), "prefix-prefix-" + std::to_string(random() % 20), std::to_string(i)});
  const auto rows = values({kInt4, kText, kInt4}, texts);
  for (const bool text_first : {false, true}) {
    auto expected = texts;
    std::stable_sort(expected.begin(), expected.end(), [&](const auto& a, const auto& b) {
      const int numbers = std::stoi(b[0]) - std::stoi(a[0]);  // descending
      const int words = a[1].compare(b[1]);
      const int first = text_first ? words : numbers, second = text_first ? numbers : words;
      return first != 0 ? first < 0 : second < 0;
    });
    Rows all;
    for (const auto& row : expected) all.push_back(row[0] + "|" + row[1] + "|" + row[2]);
    const std::vector<Key> keys = text_first ? std::vector<Key>{{1}, {0, true}} : std::vector<Key>{{0, true}, {1}};
    EXPECT_EQ(run(sort(rows, keys)), all);
    for (const std::size_t wanted : {std::size_t{1}, std::size_t{10}, std::size_t{5000}, std::size_t{20'000}}) {
      EXPECT_EQ(run(sort(rows, keys, std::to_string(wanted).c_str())),
                Rows(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted)));
    }
  }
  EXPECT_LE(largest_batch_, sql::kBatchRows);
}

TEST_F(SortTest, GoalIsLimitAndOffset) {
  EXPECT_EQ(run(sort(series(100'000), {{0, true}}, "2", "1")), (Rows{"100000", "99999", "99998"}));
  EXPECT_EQ(run(sort(series(10), {{0}}, "0")), Rows{});
  EXPECT_EQ(run(sort(series(10), {{0}}, nullptr, "4")).size(), 10u);
}

TEST_F(SortTest, BeyondWorkMemRunsAreSpilled) {
  context_.work_mem = 64 * 1024;  // so many runs that they are merged in two steps
  const Rows rows = run(sort(series(100'000), {{0, true}}));
  ASSERT_EQ(rows.size(), 100'000u);
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], std::to_string(100'000 - i));
  EXPECT_EQ(run(sort(series(100'000), {{0, true}}, "3")), (Rows{"100000", "99999", "99998"}));
}

TEST_F(SortTest, IncrementalSortsWithinGroups) {
  const auto rows =
      values({kInt4, kInt4},
             {{"1", "3"}, {"1", "1"}, {"2", "2"}, {"3", "9"}, {"3", "8"}, {"3", "NULL"}, {"NULL", "2"}, {"NULL", "1"}});
  const Rows expected = {"1|1", "1|3", "2|2", "3|8", "3|9", "3|NULL", "NULL|1", "NULL|2"};
  EXPECT_EQ(run(sort(rows, {{0}, {1}}, nullptr, nullptr, 1)), expected);
  EXPECT_EQ(run(sort(rows, {{0}, {1}}, "4", nullptr, 1)), Rows(expected.begin(), expected.begin() + 4));
  EXPECT_EQ(run(sort(values({kInt4, kInt4}, {}), {{0}, {1}}, nullptr, nullptr, 1)), Rows{});
}

TEST_F(SortTest, IncrementalOverManyBatches) {
  std::vector<std::vector<std::string>> texts;
  Rows expected;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int group = 0; texts.size() < 6000; ++group) {
    std::vector<int> members(random() % 3 == 0 ? 1 + random() % 2000 : 1 + random() % 5);
    std::iota(members.begin(), members.end(), 0);
    for (const int member : members) expected.push_back(std::to_string(group) + "|" + std::to_string(member));
    std::shuffle(members.begin(), members.end(), random);
    for (const int member : members) texts.push_back({std::to_string(group), std::to_string(member)});
  }
  const auto rows = values({kInt4, kInt4}, texts);
  EXPECT_EQ(run(sort(rows, {{0}, {1}}, nullptr, nullptr, 1)), expected);
  EXPECT_EQ(run(sort(rows, {{0}, {1}}, "1000", "17", 1)), Rows(expected.begin(), expected.begin() + 1017));
}

/// An ordered index of bigints gives neighbours beyond 2^53 in any order.
TEST_F(SortTest, PresortedByForm) {
  const auto rows = values({kInt8, kText}, {{"9007199254740991", "a"},
                                            {"9007199254740993", "d"},
                                            {"9007199254740992", "c"},
                                            {"9007199254740992", "b"},
                                            {"9007199254740998", "e"},
                                            {"NULL", "g"},
                                            {"NULL", "f"}});
  EXPECT_EQ(run(sort(rows, {{0}}, nullptr, nullptr, 1, true)),
            (Rows{"9007199254740991|a", "9007199254740992|c", "9007199254740992|b", "9007199254740993|d",
                  "9007199254740998|e", "NULL|g", "NULL|f"}));
  EXPECT_EQ(run(sort(rows, {{0}, {1}}, nullptr, nullptr, 1, true)),
            (Rows{"9007199254740991|a", "9007199254740992|b", "9007199254740992|c", "9007199254740993|d",
                  "9007199254740998|e", "NULL|f", "NULL|g"}));
  const std::string cut(256, 'x');
  const auto texts = values({kText}, {{"a"}, {cut + "b"}, {cut + "a"}, {"y"}});
  EXPECT_EQ(run(sort(texts, {{0}}, nullptr, nullptr, 1, true)), (Rows{"a", cut + "a", cut + "b", "y"}));
}

}  // namespace
}  // namespace redquel::executor
