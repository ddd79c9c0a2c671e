// The router of partitioned tables: the partition of a row, and the partitions within limits.

#include "sql/catalog/partitions.h"

#include <gtest/gtest.h>

namespace redquel::sql {
namespace {

using Kind = PartitionBoundDef::Value::Kind;
using TablePtr = std::shared_ptr<const TableDef>;

/// A table t (a int, b text) that is partitioned by these columns.
TableDef partitioned(PartitionKeyDef::Strategy strategy, const std::vector<std::int16_t>& columns) {
  TableDef table;
  table.oid = 1;
  table.name = "t";
  table.columns = {{.number = 1, .name = "a", .field = "a", .type = kInt4}, {.number = 2, .name = "b", .field = "b", .type = kText}};
  PartitionKeyDef key{.strategy = strategy, .parts = {}};
  for (const std::int16_t column : columns) key.parts.push_back({.column = column, .operator_class = {}});
  table.partition_key = key;
  return table;
}

TablePtr partition(const std::string& name, PartitionBoundDef bound) {
  TableDef table = partitioned(PartitionKeyDef::Strategy::kList, {});
  table.partition_key.reset();
  table.oid = static_cast<Oid>(name.back());
  table.name = name;
  table.partition = PartitionDef{.parent = 1, .bound = std::move(bound)};
  return std::make_shared<const TableDef>(std::move(table));
}

PartitionBoundDef::Value value(std::string text) { return {Kind::kValue, std::move(text)}; }
PartitionBoundDef range(PartitionBoundDef::Value from, PartitionBoundDef::Value to) { return {.from = {std::move(from)}, .to = {std::move(to)}}; }

std::string name_of(const PartitionRouter& router, const Datum& a, const Datum& b) {
  const auto part = router.part_of_row(std::vector<Datum>{a, b});
  return part ? router.parts()[*part]->name : "none";
}

std::string names_within(const PartitionRouter& router, const PartitionKeyLimits& limits) {
  std::string names;
  for (const std::size_t part : router.parts_within([&](std::int16_t) { return limits; })) names += router.parts()[part]->name;
  return names;
}

PartitionRouter three_ranges(bool has_default) {
  std::vector<TablePtr> children{partition("c", range(value("20"), {Kind::kMaximum, ""})), partition("a", range({Kind::kMinimum, ""}, value("10"))),
                                 partition("b", range(value("10"), value("20")))};
  PartitionBoundDef rest;
  rest.is_default = true;
  if (has_default) children.push_back(partition("d", rest));
  return {partitioned(PartitionKeyDef::Strategy::kRange, {1}), children};
}

TEST(PartitionRouter, BeginsWithALowerEndAndEndsBeforeAnUpperOne) {
  const PartitionRouter router = three_ranges(false);
  EXPECT_EQ(name_of(router, 9, "x"), "a");
  EXPECT_EQ(name_of(router, 10, "x"), "b");
  EXPECT_EQ(name_of(router, 20, "x"), "c");
  EXPECT_EQ(name_of(router, Datum{}, "x"), "none");
  EXPECT_EQ(name_of(three_ranges(true), Datum{}, "x"), "d");
}

TEST(PartitionRouter, ReadsThePartitionsThatMayHaveRowsWithinLimits) {
  const PartitionRouter router = three_ranges(true);
  EXPECT_EQ(names_within(router, {}), "abcd");
  EXPECT_EQ(names_within(router, {.equal = std::vector<Datum>{10, 25}}), "bc");
  EXPECT_EQ(names_within(router, {.lower = PartitionKeyLimits::End{10, true}, .upper = PartitionKeyLimits::End{20, false}}), "bd");
  EXPECT_EQ(names_within(router, {.upper = PartitionKeyLimits::End{10, true}}), "abd");
  EXPECT_EQ(names_within(router, {.upper = PartitionKeyLimits::End{10, false}}), "ad");
  EXPECT_EQ(names_within(router, {.only_null = true}), "d");
  EXPECT_EQ(names_within(router, {.equal = std::vector<Datum>{}}), "");
}

TEST(PartitionRouter, ComparesBoundsOfSeveralColumnsInOrder) {
  const auto bound = [](std::vector<PartitionBoundDef::Value> from, std::vector<PartitionBoundDef::Value> to) {
    return PartitionBoundDef{.from = std::move(from), .to = std::move(to)};
  };
  const PartitionRouter router(partitioned(PartitionKeyDef::Strategy::kRange, {1, 2}),
                               {partition("a", bound({value("1"), value("f")}, {value("3"), {Kind::kMinimum, ""}})), partition("b", bound({value("3"), {Kind::kMinimum, ""}}, {value("3"), value("m")}))});
  EXPECT_EQ(name_of(router, 1, "e"), "none");
  EXPECT_EQ(name_of(router, 1, "f"), "a");
  EXPECT_EQ(name_of(router, 2, "a"), "a");
  EXPECT_EQ(name_of(router, 3, ""), "b");
  EXPECT_EQ(name_of(router, 3, "m"), "none");
}

TEST(PartitionRouter, PutsListsInTheOrderOfTheirValues) {
  const auto list = [](std::vector<PartitionBoundDef::Value> values) { return PartitionBoundDef{.values = std::move(values)}; };
  const PartitionRouter router(partitioned(PartitionKeyDef::Strategy::kList, {2}), {partition("b", list({value("m"), {Kind::kNull, ""}})), partition("a", list({value("z"), value("c")}))});
  EXPECT_EQ(name_of(router, 0, "z"), "a");
  EXPECT_EQ(name_of(router, 0, Datum{}), "b");
  EXPECT_EQ(name_of(router, 0, "q"), "none");
  EXPECT_EQ(names_within(router, {}), "ab");
  EXPECT_EQ(names_within(router, {.not_null = true}), "ab");
  EXPECT_EQ(names_within(router, {.lower = PartitionKeyLimits::End{"n", true}}), "a");
}

TEST(PartitionRouter, RefusesBoundsThatAreNoValues) {
  EXPECT_ANY_THROW(PartitionRouter(partitioned(PartitionKeyDef::Strategy::kRange, {1}), {partition("a", range(value("x"), value("10")))}));
  EXPECT_ANY_THROW(PartitionRouter(partitioned(PartitionKeyDef::Strategy::kRange, {1}), {partition("a", PartitionBoundDef{})}));
  EXPECT_ANY_THROW(PartitionRouter(partitioned(PartitionKeyDef::Strategy::kHash, {1}), {partition("a", PartitionBoundDef{})}));
}

}  // namespace
}  // namespace redquel::sql
