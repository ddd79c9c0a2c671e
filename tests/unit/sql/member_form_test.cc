#include "sql/catalog/member_form.h"

#include <gtest/gtest.h>

#include "sql/catalog/table_keys.h"

namespace redquel::sql {
namespace {

using Columns = std::vector<std::int16_t>;

/// A table with the key (a, b, c), whose columns are numbered from 1, and an index over each of the given lists of columns.
TableDef table_with(const std::vector<Columns>& indexes) {
  TableDef table;
  table.prefix = "t";
  for (std::int16_t number = 1; number <= 4; ++number) {
    ColumnDef column;
    column.number = number;
    column.name = column.field = std::string(1, static_cast<char>('a' + number - 1));
    column.type = number == 2 ? kText : kInt4;
    table.columns.push_back(column);
  }
  table.primary_key = {1, 2, 3};
  for (const Columns& columns : indexes) {
    IndexDef index;
    index.oid = static_cast<Oid>(100 + table.indexes.size());
    index.short_members = true;
    for (const std::int16_t number : columns) index.parts.push_back({number, false, false});
    table.indexes.push_back(index);
  }
  return table;
}

std::pair<std::size_t, std::size_t> omitted(const TableDef& table, const Columns& columns) {
  const OmittedParts parts = omitted_parts(table, columns);
  return {parts.first, parts.last};
}

using Counts = std::pair<std::size_t, std::size_t>;

TEST(MemberForm, LeavesOutTheFirstOrTheLastPartsOfTheKey) {
  const TableDef table = table_with({{1}, {1, 2}, {3}, {2, 3}, {2}, {1, 3}, {2, 1}, {4}, {1, 2, 3}});
  EXPECT_EQ(omitted(table, {1}), Counts(1, 0));
  EXPECT_EQ(omitted(table, {1, 2}), Counts(2, 0));
  EXPECT_EQ(omitted(table, {3}), Counts(0, 1));
  EXPECT_EQ(omitted(table, {2, 3}), Counts(0, 2));
  for (const Columns& columns : {Columns{2}, Columns{1, 3}, Columns{2, 1}, Columns{4}, Columns{1, 2, 3}}) EXPECT_EQ(omitted(table, columns), Counts(0, 0));
}

TEST(MemberForm, KeepsWholeMembersOfOlderIndexesAndOfRowsThatExpire) {
  TableDef table = table_with({{1}, {1}, {3}});
  table.indexes[1].short_members = false;
  EXPECT_EQ(omitted(table, {1}), Counts(0, 0));
  EXPECT_EQ(omitted(table, {3}), Counts(0, 1));
  table.managed().expiry.milliseconds = 1000;
  EXPECT_EQ(omitted(table, {3}), Counts(0, 0));
}

TEST(MemberForm, EndsMakeShortMembersWhole) {
  const TableDef table = table_with({{1}, {2, 3}});
  const std::vector<Datum> key{std::int32_t{7}, std::string("x:y%"), std::int32_t{-3}};
  const std::string member = TableKeys(table).member(key);
  const MemberEnds first = member_ends(table, Columns{1}, std::vector<Datum>{key[0]});
  EXPECT_EQ(first.head, "7:");
  EXPECT_EQ(short_member(member, omitted_parts(table, Columns{1})), "x%3Ay%25:-3");
  EXPECT_EQ(first.whole("x%3Ay%25:-3"), member);
  EXPECT_EQ(first.name_of(member), "x%3Ay%25:-3");
  EXPECT_EQ(first.name_of("8:a:1"), "8:a:1");
  const MemberEnds last = member_ends(table, Columns{2, 3}, std::vector<Datum>{key[1], key[2]});
  EXPECT_EQ(last.tail, ":x%3Ay%25:-3");
  EXPECT_EQ(short_member(member, omitted_parts(table, Columns{2, 3})), "7");
  EXPECT_EQ(last.whole("7"), member);
}

TEST(MemberForm, ShortensTextsThatAreNoMembers) {
  for (const std::string_view text : {"", "a", ":", "::", "a:"}) {
    EXPECT_LE(short_member(text, {2, 0}).size(), text.size());
    EXPECT_LE(short_member(text, {0, 2}).size(), text.size());
  }
}

TEST(MemberForm, NewIndexesShareTheFormOfOlderOnes) {
  TableDef before = table_with({{1}});
  before.indexes[0].short_members = false;
  TableDef after = table_with({{1}, {1}, {3}});
  after.indexes[0].short_members = false;
  after.indexes[1].short_members = after.indexes[2].short_members = false;
  choose_member_forms(&before, after);
  EXPECT_FALSE(after.indexes[0].short_members);
  EXPECT_FALSE(after.indexes[1].short_members);
  EXPECT_TRUE(after.indexes[2].short_members);
  choose_member_forms(nullptr, after);
  EXPECT_TRUE(after.indexes[0].short_members && after.indexes[1].short_members);
}

}  // namespace
}  // namespace redquel::sql
