#include <random>

#include "tests/unit/executor/operator_plans.h"

namespace redquel::executor {
namespace {

using planner::JoinKind;
using sql::kInt4;
using sql::kInt8;
using sql::kText;

class JoinTest : public OperatorTest {
 protected:
  static std::vector<sql::Type> joined(JoinKind kind, const planner::PhysicalPlan& left,
                                       const planner::PhysicalPlan& right) {
    return kind == JoinKind::kSemi || kind == JoinKind::kAnti ? types_of(left) : types_of(left, right);
  }
  /// The column of the right input, as a condition over both sees it.
  static sql::ExpressionPtr right_column(const planner::PhysicalPlan& left, const planner::PhysicalPlan& right,
                                         std::uint32_t position) {
    return sql::make_column(right->columns[position].type, static_cast<std::uint32_t>(left->columns.size()) + position,
                            "r");
  }
  static planner::PhysicalPlan hash_join(JoinKind kind, const planner::PhysicalPlan& left,
                                         const planner::PhysicalPlan& right, std::size_t keys = 1,
                                         sql::ExpressionPtr residual = nullptr) {
    planner::HashJoin node{kind, left, right, {}, {}, std::move(residual)};
    for (std::uint32_t i = 0; i < keys; ++i) {
      node.left_keys.push_back(column(left, i));
      node.right_keys.push_back(column(right, i));
    }
    return plan_of(std::move(node), joined(kind, left, right));
  }
  static planner::PhysicalPlan nested_loop(JoinKind kind, const planner::PhysicalPlan& left,
                                           const planner::PhysicalPlan& right, sql::ExpressionPtr condition) {
    return plan_of(planner::NestedLoopJoin{kind, left, right, std::move(condition)}, joined(kind, left, right));
  }

  planner::PhysicalPlan emp_ =
      values({kInt4, kText}, {{"1", "smith"}, {"2", "jones"}, {"NULL", "king"}, {"9", "ford"}, {"1", "clark"}});
  planner::PhysicalPlan dept_ =
      values({kInt4, kText}, {{"1", "sales"}, {"2", "research"}, {"2", "labs"}, {"NULL", "limbo"}, {"3", "empty"}});
};

TEST_F(JoinTest, HashJoinKinds) {
  EXPECT_EQ(run(hash_join(JoinKind::kInner, emp_, dept_)),
            (Rows{"1|smith|1|sales", "2|jones|2|research", "2|jones|2|labs", "1|clark|1|sales"}));
  EXPECT_EQ(run(hash_join(JoinKind::kLeft, emp_, dept_)),
            (Rows{"1|smith|1|sales", "2|jones|2|research", "2|jones|2|labs", "NULL|king|NULL|NULL", "9|ford|NULL|NULL",
                  "1|clark|1|sales"}));
  EXPECT_EQ(run(hash_join(JoinKind::kRight, emp_, dept_)),
            (Rows{"1|smith|1|sales", "2|jones|2|research", "2|jones|2|labs", "1|clark|1|sales", "NULL|NULL|NULL|limbo",
                  "NULL|NULL|3|empty"}));
  EXPECT_EQ(run(hash_join(JoinKind::kFull, emp_, dept_)),
            (Rows{"1|smith|1|sales", "2|jones|2|research", "2|jones|2|labs", "NULL|king|NULL|NULL", "9|ford|NULL|NULL",
                  "1|clark|1|sales", "NULL|NULL|NULL|limbo", "NULL|NULL|3|empty"}));
  EXPECT_EQ(run(hash_join(JoinKind::kSemi, emp_, dept_)), (Rows{"1|smith", "2|jones", "1|clark"}));
  EXPECT_EQ(run(hash_join(JoinKind::kAnti, emp_, dept_)), (Rows{"NULL|king", "9|ford"}));
}

TEST_F(JoinTest, ResidualOfAnOuterJoinOnlyDecidesMatches) {
  const auto not_labs = call("<>", right_column(emp_, dept_, 1), constant(kText, "research"));
  const auto never = call("=", right_column(emp_, dept_, 1), constant(kText, "nowhere"));
  EXPECT_EQ(run_sorted(hash_join(JoinKind::kLeft, emp_, dept_, 1, not_labs)),
            (Rows{"1|clark|1|sales", "1|smith|1|sales", "2|jones|2|labs", "9|ford|NULL|NULL", "NULL|king|NULL|NULL"}));
  EXPECT_EQ(run_sorted(hash_join(JoinKind::kFull, emp_, dept_, 1, never)).size(), 10u);
  EXPECT_EQ(run_sorted(hash_join(JoinKind::kSemi, emp_, dept_, 1, never)), Rows{});
  EXPECT_EQ(run(hash_join(JoinKind::kAnti, emp_, dept_, 1, not_labs)), (Rows{"NULL|king", "9|ford"}));
  EXPECT_EQ(run(hash_join(JoinKind::kAnti, emp_, dept_, 1, never)).size(), 5u);
}

TEST_F(JoinTest, SeveralKeysAndEmptySides) {
  const auto left = values({kInt4, kText}, {{"1", "a"}, {"1", "b"}, {"2", "NULL"}, {"NULL", "a"}});
  const auto right = values({kInt4, kText}, {{"1", "a"}, {"1", "c"}, {"2", "NULL"}, {"1", "b"}, {"1", "a"}});
  const auto none = values({kInt4, kText}, {});
  EXPECT_EQ(run(hash_join(JoinKind::kInner, left, right, 2)), (Rows{"1|a|1|a", "1|a|1|a", "1|b|1|b"}));
  EXPECT_EQ(run(hash_join(JoinKind::kAnti, left, right, 2)), (Rows{"2|NULL", "NULL|a"}));
  for (const JoinKind kind : {JoinKind::kInner, JoinKind::kSemi, JoinKind::kRight})
    EXPECT_EQ(run(hash_join(kind, left, none, 2)), Rows{});
  for (const JoinKind kind : {JoinKind::kLeft, JoinKind::kFull, JoinKind::kAnti})
    EXPECT_EQ(run(hash_join(kind, left, none, 2)).size(), 4u);
  for (const JoinKind kind : {JoinKind::kRight, JoinKind::kFull})
    EXPECT_EQ(run(hash_join(kind, none, right, 2)).size(), 5u);
  for (const JoinKind kind : {JoinKind::kInner, JoinKind::kLeft, JoinKind::kSemi, JoinKind::kAnti}) {
    EXPECT_EQ(run(hash_join(kind, none, right, 2)), Rows{});
  }
}

TEST_F(JoinTest, EqualityIsTheTypes) {
  const auto numbers = values({sql::kNumeric}, {{"1.0"}, {"2.50"}, {"NaN"}});
  const auto others = values({sql::kNumeric}, {{"1"}, {"2.5"}, {"NaN"}});
  EXPECT_EQ(run(hash_join(JoinKind::kInner, numbers, others)), (Rows{"1.0|1", "2.50|2.5", "NaN|NaN"}));
  const auto floats = values({sql::kFloat8}, {{"-0"}, {"NaN"}});
  EXPECT_EQ(run(hash_join(JoinKind::kInner, floats, values({sql::kFloat8}, {{"0"}, {"NaN"}}))),
            (Rows{"-0|0", "NaN|NaN"}));
  const auto intervals = values({sql::kInterval}, {{"1 day"}, {"1 mon"}});
  EXPECT_EQ(run(hash_join(JoinKind::kInner, intervals, values({sql::kInterval}, {{"24:00:00"}, {"30 days"}}))),
            (Rows{"1 day|24:00:00", "1 mon|30 days"}));
}

TEST_F(JoinTest, NestedLoopKinds) {
  const auto left = values({kInt4}, {{"1"}, {"2"}, {"NULL"}, {"5"}});
  const auto right = values({kInt4}, {{"2"}, {"3"}, {"NULL"}});
  const auto none = values({kInt4}, {});
  const auto less = call("<", column(left, 0), right_column(left, right, 0));
  EXPECT_EQ(run(nested_loop(JoinKind::kInner, left, right, less)), (Rows{"1|2", "1|3", "2|3"}));
  EXPECT_EQ(run_sorted(nested_loop(JoinKind::kLeft, left, right, less)),
            (Rows{"1|2", "1|3", "2|3", "5|NULL", "NULL|NULL"}));
  EXPECT_EQ(run_sorted(nested_loop(JoinKind::kRight, left, right, less)), (Rows{"1|2", "1|3", "2|3", "NULL|NULL"}));
  EXPECT_EQ(run_sorted(nested_loop(JoinKind::kFull, left, right, less)),
            (Rows{"1|2", "1|3", "2|3", "5|NULL", "NULL|NULL", "NULL|NULL"}));
  EXPECT_EQ(run(nested_loop(JoinKind::kSemi, left, right, less)), (Rows{"1", "2"}));
  EXPECT_EQ(run(nested_loop(JoinKind::kAnti, left, right, less)), (Rows{"NULL", "5"}));
  EXPECT_EQ(run(nested_loop(JoinKind::kInner, left, right, nullptr)).size(), 12u);
  EXPECT_EQ(run(nested_loop(JoinKind::kSemi, left, right, nullptr)).size(), 4u);
  EXPECT_EQ(run(nested_loop(JoinKind::kAnti, left, right, nullptr)), Rows{});
  EXPECT_EQ(run(nested_loop(JoinKind::kAnti, left, none, nullptr)).size(), 4u);
  EXPECT_EQ(run(nested_loop(JoinKind::kLeft, left, none, nullptr)), (Rows{"1|NULL", "2|NULL", "NULL|NULL", "5|NULL"}));
  EXPECT_EQ(run(nested_loop(JoinKind::kFull, none, right, nullptr)), (Rows{"NULL|2", "NULL|3", "NULL|NULL"}));
}

/// Both joins against the definition, over more rows than a batch has.
TEST_F(JoinTest, RandomRowsAgainstTheDefinition) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  struct Row {
    std::string key, value;
  };
  const auto some = [&](std::size_t count) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back({random() % 12 == 0 ? "NULL" : std::to_string(random() % 700), std::to_string(random() % 100)});
    }
    return rows;
  };
  const std::vector<Row> l = some(1500), r = some(1300);
  const auto table = [](const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> texts;
    for (const Row& row : rows) texts.push_back({row.key, row.value});
    return values({kInt4, kInt4}, texts);
  };
  const auto left = table(l), right = table(r);
  const auto residual = call("<", column(left, 1), right_column(left, right, 1));
  const auto whole = sql::conjunction({call("=", column(left, 0), right_column(left, right, 0)), residual});
  for (const bool with_residual : {false, true}) {
    for (const JoinKind kind :
         {JoinKind::kInner, JoinKind::kLeft, JoinKind::kRight, JoinKind::kFull, JoinKind::kSemi, JoinKind::kAnti}) {
      Rows expected;
      std::vector<bool> right_matched(r.size());
      const bool existence = kind == JoinKind::kSemi || kind == JoinKind::kAnti;
      for (const Row& a : l) {
        bool matched = false;
        for (std::size_t i = 0; i < r.size(); ++i) {
          if (a.key == "NULL" || a.key != r[i].key || (with_residual && std::stoi(a.value) >= std::stoi(r[i].value)))
            continue;
          matched = right_matched[i] = true;
          if (!existence) expected.push_back(a.key + "|" + a.value + "|" + r[i].key + "|" + r[i].value);
        }
        if (existence && matched == (kind == JoinKind::kSemi)) expected.push_back(a.key + "|" + a.value);
        if (!matched && (kind == JoinKind::kLeft || kind == JoinKind::kFull))
          expected.push_back(a.key + "|" + a.value + "|NULL|NULL");
      }
      for (std::size_t i = 0; i < r.size() && (kind == JoinKind::kRight || kind == JoinKind::kFull); ++i) {
        if (!right_matched[i]) expected.push_back("NULL|NULL|" + r[i].key + "|" + r[i].value);
      }
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(run_sorted(hash_join(kind, left, right, 1, with_residual ? residual : nullptr)), expected)
          << static_cast<int>(kind);
      if (with_residual) {
        EXPECT_EQ(run_sorted(nested_loop(kind, left, right, whole)), expected) << static_cast<int>(kind);
      }
    }
  }
  EXPECT_LE(largest_batch_, sql::kBatchRows);
}

TEST_F(JoinTest, BeyondWorkMemInputsAreSpilled) {
  context_.work_mem = 64 * 1024;
  EXPECT_EQ(run(hash_join(JoinKind::kInner, series(10), series(100'000))).size(), 10u);
  EXPECT_EQ(run(hash_join(JoinKind::kLeft, series(60'000), series(50'000))).size(), 60'000u);
  EXPECT_EQ(run(hash_join(JoinKind::kFull, series(40'000), series(50'000))).size(), 50'000u);
  EXPECT_EQ(run(hash_join(JoinKind::kAnti, series(60'000), series(50'000))).size(), 10'000u);
}

TEST_F(JoinTest, StatisticsOfEachNode) {
  planner::RunStatistics statistics;
  context_.statistics = &statistics;
  const auto join = hash_join(JoinKind::kInner, emp_, dept_);
  run(join);
  EXPECT_EQ(statistics.at(join.get()).rows, 4u);
  EXPECT_EQ(statistics.at(join.get()).loops, 1u);
  EXPECT_EQ(statistics.at(emp_.get()).rows, 5u);
  EXPECT_GE(statistics.at(join.get()).milliseconds, statistics.at(dept_.get()).milliseconds);
}

}  // namespace
}  // namespace redquel::executor
