#include <map>
#include <random>
#include <set>

#include "tests/unit/executor/operator_plans.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kInt8;
using sql::kText;

class AggregateTest : public OperatorTest {
 protected:
  struct Call {
    planner::AggregateCall call;
    sql::Type result;
  };
  static Call aggregate(const std::string& name, std::vector<sql::ExpressionPtr> arguments) {
    std::vector<sql::Type> types;
    for (const auto& argument : arguments) types.push_back(argument->type);
    const sql::ResolvedAggregate resolved = sql::resolve_aggregate(name, types);
    return {planner::AggregateCall{.function = resolved.function, .arguments = std::move(arguments)}, resolved.result};
  }
  static planner::PhysicalPlan group(const planner::PhysicalPlan& input, const std::vector<std::uint32_t>& keys,
                                     const std::vector<Call>& calls, bool scalar = false) {
    planner::PhysicalAggregate node{input, {}, {}, scalar};
    std::vector<sql::Type> types;
    for (const std::uint32_t key : keys) {
      node.group_by.push_back(column(input, key));
      types.push_back(input->columns[key].type);
    }
    for (const Call& call : calls) {
      node.calls.push_back(call.call);
      types.push_back(call.result);
    }
    return plan_of(std::move(node), types);
  }

  planner::PhysicalPlan emp_ = values({kInt4, kInt4, kText}, {{"7", "100", "b"},
                                                              {"8", "50", "x"},
                                                              {"7", "100", "a"},
                                                              {"NULL", "1", "n"},
                                                              {"7", "NULL", "c"},
                                                              {"NULL", "2", "m"}});
};

TEST_F(AggregateTest, GroupsInOrderOfAppearance) {
  EXPECT_EQ(
      run(group(emp_, {0},
                {aggregate("count", {}), aggregate("sum", {column(emp_, 1)}), aggregate("max", {column(emp_, 2)})})),
      (Rows{"7|3|200|c", "8|1|50|x", "NULL|2|3|n"}));
  EXPECT_EQ(run(group(emp_, {0, 1}, {aggregate("count", {})})),
            (Rows{"7|100|2", "8|50|1", "NULL|1|1", "7|NULL|1", "NULL|2|1"}));
  EXPECT_EQ(run(group(emp_, {0}, {})), (Rows{"7", "8", "NULL"}));
}

TEST_F(AggregateTest, WithoutRows) {
  const auto none = values({kInt4}, {});
  EXPECT_EQ(run(group(none, {}, {aggregate("count", {}), aggregate("sum", {column(none, 0)})}, true)),
            (Rows{"0|NULL"}));
  EXPECT_EQ(run(group(none, {0}, {aggregate("count", {})})), Rows{});
  EXPECT_EQ(run(group(series(5000), {}, {aggregate("count", {}), aggregate("sum", {column(none, 0)})}, true)),
            (Rows{"5000|12502500"}));
}

TEST_F(AggregateTest, FilterIsAskedBeforeTheArguments) {
  Call inverse =
      aggregate("sum", {call("/", constant(kInt4, "100"), call("-", column(emp_, 1), constant(kInt4, "1")))});
  EXPECT_EQ(error_of(group(emp_, {}, {inverse}, true)), "22012 division by zero");
  inverse.call.filter = call(">", column(emp_, 1), constant(kInt4, "1"));
  EXPECT_EQ(run(group(emp_, {0}, {inverse, aggregate("count", {})})), (Rows{"7|2|3", "8|2|1", "NULL|100|2"}));
}

TEST_F(AggregateTest, Distinct) {
  Call count = aggregate("count", {column(emp_, 1)}), sum = aggregate("sum", {column(emp_, 1)});
  count.call.distinct = sum.call.distinct = true;
  EXPECT_EQ(run(group(emp_, {0}, {count, sum, aggregate("count", {column(emp_, 1)})})),
            (Rows{"7|1|100|2", "8|1|50|1", "NULL|2|3|2"}));
}

TEST_F(AggregateTest, OrderWithinTheCall) {
  Call joined = aggregate("string_agg", {column(emp_, 2), constant(kText, ",")});
  EXPECT_EQ(run(group(emp_, {0}, {joined})), (Rows{"7|b,a,c", "8|x", "NULL|n,m"}));
  joined.call.order_by = {{column(emp_, 1), true, true}, {column(emp_, 2), false, false}};
  EXPECT_EQ(run(group(emp_, {0}, {joined})), (Rows{"7|c,a,b", "8|x", "NULL|m,n"}));
  joined.call.order_by = {{column(emp_, 2), true, true}};
  joined.call.distinct = true;
  EXPECT_EQ(run(group(emp_, {}, {joined}, true)), (Rows{"x,n,m,c,b,a"}));
  const auto words = values({kText}, {{"b"}, {"a"}, {"b"}, {"NULL"}, {"a"}});
  Call distinct = aggregate("string_agg", {column(words, 0), constant(kText, "+")});
  distinct.call.distinct = true;
  EXPECT_EQ(run(group(words, {}, {distinct}, true)), (Rows{"a+b"}));
}

TEST_F(AggregateTest, ManyGroupsAgainstTheDefinition) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<std::vector<std::string>> texts;
  std::map<std::string, std::pair<long, long>> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(random() % 3000),
                      word = "a word longer than eight " + std::to_string(random() % 3);
    const int value = static_cast<int>(random() % 100);
    texts.push_back({number, word, std::to_string(value)});
    auto& [count, sum] = expected[number + "|" + word];
    ++count;
    sum += value;
  }
  const auto rows = values({kInt4, kText, kInt4}, texts);
  Rows all;
  for (const auto& [key, value] : expected)
    all.push_back(key + "|" + std::to_string(value.first) + "|" + std::to_string(value.second));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(run_sorted(group(rows, {0, 1}, {aggregate("count", {}), aggregate("sum", {column(rows, 2)})})), all);
}

TEST_F(AggregateTest, GroupsBeyondWorkMemAreSpilled) {
  context_.work_mem = 128 * 1024;
  const auto rows = series(100'000);
  const Rows groups = run_sorted(group(rows, {0}, {aggregate("count", {})}));
  EXPECT_EQ(groups.size(), 100'000u);
  EXPECT_EQ(std::set<std::string>(groups.begin(), groups.end()).size(), 100'000u);
  EXPECT_TRUE(std::all_of(groups.begin(), groups.end(), [](const std::string& row) { return row.ends_with("|1"); }));
  EXPECT_EQ(run(group(rows, {}, {aggregate("count", {column(rows, 0)})}, true)), Rows{"100000"});
}

}  // namespace
}  // namespace redquel::executor
