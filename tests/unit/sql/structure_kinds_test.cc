#include <gtest/gtest.h>

#include "sql/catalog/structure_kind.h"
#include "sql/error.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

TableDef employees() {
  TableDef table;
  table.prefix = "emp";
  std::int16_t number = 0;
  for (const auto& [name, type] : {std::pair{"id", kInt4}, {"dept", kInt4}, {"job", kText}, {"salary", kNumeric}, {"tags", kTextArray}}) {
    ColumnDef column;
    column.number = ++number;
    column.name = column.field = name;
    column.type = type;
    table.columns.push_back(column);
  }
  table.primary_key = {1};
  return table;
}

StructurePlace place_of(const TableKeys& keys, Structure::Kind kind, std::vector<std::int16_t> columns) {
  StructurePlace place{{kind, columns}, structure_kind(kind).key(keys, columns), {}};
  if (structure_kind(kind).lists_values() && columns.size() == 1) place.value_prefix = place.key + ":";
  return place;
}

/// The elements of row 7 as text: "type key name value", values' lists with a star.
std::vector<std::string> elements_of(Structure::Kind kind, std::vector<std::int16_t> columns, std::vector<Datum> values) {
  const TableDef table = employees();
  const TableKeys keys(table);
  const StructurePlace place = place_of(keys, kind, columns);
  const Type type = table.find_column(columns[0])->type;
  const std::optional<StructureEntry> entry = structure_kind(kind).entry(place, {keys, values, type, "7", {}});
  if (!entry) return {};
  const std::string_view first = entry->first_is_member ? "7" : std::string_view(entry->first);
  std::vector<std::string> texts;
  for (const StructureElement& element : structure_kind(kind).elements(place, first, entry->second, "7")) {
    std::string text(element.form->type);
    for (const std::string_view word : {element.key, element.name, element.value}) text.append(" ").append(word);
    texts.push_back(element.lists_value ? text + "*" : text);
  }
  return texts;
}

using Texts = std::vector<std::string>;
using Kind = Structure::Kind;

TEST(StructureKinds, SetsHaveTheMemberAndListTheValue) {
  EXPECT_EQ(elements_of(Kind::kSets, {2}, {30}), (Texts{"set emp:indices:dept:30 7 ", "set emp:indices:dept 30 *"}));
  EXPECT_EQ(elements_of(Kind::kSets, {2}, {Datum{}}), Texts{});
  EXPECT_EQ(elements_of(Kind::kSets, {2, 3}, {30, "a:b"}),
            (Texts{"set emp:indices:dept:30:job:a%3Ab 7 ", "set emp:indices:dept,job 30:a%3Ab *"}));
}

TEST(StructureKinds, ZsetsHaveAScoreOrOrderedBytes) {
  EXPECT_EQ(elements_of(Kind::kZset, {2}, {30}), Texts{"zset emp:zset:dept 7 30"});
  EXPECT_EQ(elements_of(Kind::kZset, {3}, {"clerk"}), Texts{std::string("zset emp:zset:job clerk\0", 24) + "7 0"});
}

TEST(StructureKinds, UniquesHaveAnOwnerUnlessNull) {
  EXPECT_EQ(elements_of(Kind::kUnique, {3}, {"clerk"}), Texts{"hash emp:uniques:job clerk 7"});
  EXPECT_EQ(elements_of(Kind::kUnique, {3}, {Datum{}}), Texts{});
}

TEST(StructureKinds, NullsHaveTheMembersOfRowsWithNull) {
  EXPECT_EQ(elements_of(Kind::kNulls, {3}, {Datum{}}), Texts{"set emp:indices:job:%N 7 "});
  EXPECT_EQ(elements_of(Kind::kNulls, {3}, {"clerk"}), Texts{});
}

TEST(StructureKinds, EntriesHaveTheMemberInTheSetOfEach) {
  EXPECT_EQ(elements_of(Kind::kElements, {5}, {"{b,a:b,b}"}),
            (Texts{"set emp:indices:%elements:tags:a%3Ab 7 ", "set emp:indices:%elements:tags a:b *", "set emp:indices:%elements:tags:b 7 ",
                   "set emp:indices:%elements:tags b *"}));
  EXPECT_EQ(elements_of(Kind::kElements, {5}, {"{}"}), Texts{});
  EXPECT_EQ(elements_of(Kind::kElements, {5}, {Datum{}}), Texts{});
  EXPECT_EQ(elements_of(Kind::kTrigrams, {3}, {"ab"}).size(), 6u);
}

TEST(StructureKinds, ValueZsetsHaveTheRowsOfAValueInOrder) {
  EXPECT_EQ(elements_of(Kind::kValueZsets, {3, 2}, {"a:b", 30}), (Texts{"zset emp:zset:job:a%3Ab:dept 7 30", "set emp:zset:job,dept a%3Ab *"}));
  EXPECT_EQ(elements_of(Kind::kValueZsets, {2, 3, 1}, {30, "", 7}), (Texts{"zset emp:zset:dept:30:job:%:%69d 7 7", "set emp:zset:dept,job,%69d 30:% *"}));
  EXPECT_EQ(elements_of(Kind::kValueZsets, {2, 3}, {30, "clerk"}),
            (Texts{std::string("zset emp:zset:dept:30:job clerk\0", 32) + "7 0", "set emp:zset:dept,job 30 *"}));
}

TEST(StructureKinds, ValueZsetsKeepRowsWithNullApart) {
  EXPECT_EQ(elements_of(Kind::kValueZsets, {3, 2}, {"x", Datum{}}), (Texts{"zset emp:zset:job:x:dept:%N 7 0", "set emp:zset:job,dept x:%N *"}));
  EXPECT_EQ(elements_of(Kind::kValueZsets, {3, 2}, {Datum{}, 30}), Texts{});
}

TEST(StructureKinds, AListedValueNamesItsKey) {
  const TableDef table = employees();
  const TableKeys keys(table);
  const std::vector<std::int16_t> columns{3, 2};
  EXPECT_EQ(structure_kind(Kind::kSets).value_key(keys, columns, "a%3Ab:30"), "emp:indices:job:a%3Ab:dept:30");
  EXPECT_EQ(structure_kind(Kind::kValueZsets).value_key(keys, columns, "a%3Ab"), "emp:zset:job:a%3Ab:dept");
  EXPECT_EQ(structure_kind(Kind::kValueZsets).value_key(keys, columns, "%25N:%N"), "emp:zset:job:%25N:dept:%N");
  EXPECT_THROW(structure_kind(Kind::kValueZsets).value_key(keys, columns, "a:b"), SqlError);
}

/// The kind, the columns and the values that a name is taken apart into: "set dept,job 7,clerk".
std::string name_parts(std::vector<std::string_view> segments) {
  std::string text;
  for (const StructureKind* kind : structure_kinds()) {
    const std::optional<StructureKeyName> name = kind->read_key(segments);
    if (!name) continue;
    text.append(kind->name());
    for (const auto* part : {&name->columns, &name->values}) {
      text.push_back(' ');
      for (const std::string_view word : *part) text.append(word).append(",");
    }
  }
  return text;
}

TEST(StructureKinds, EachNameIsOfOneKind) {
  EXPECT_EQ(name_parts({"indices", "dept,job"}), "set dept,job, ");
  EXPECT_EQ(name_parts({"indices", "dept", "7", "job", "clerk"}), "set dept,job, 7,clerk,");
  EXPECT_EQ(name_parts({"indices", "dept", "%N"}), "nulls dept, ");
  EXPECT_EQ(name_parts({"zset", "salary"}), "ordered salary, ");
  EXPECT_EQ(name_parts({"zset", "dept,salary"}), "ordered value dept,salary, ");
  EXPECT_EQ(name_parts({"zset", "dept", "7", "salary"}), "ordered value dept,salary, 7,");
  EXPECT_EQ(name_parts({"zset", "dept", "7", "salary", "%N"}), "ordered value dept,salary, 7,%N,");
  EXPECT_EQ(name_parts({"zset", "dept", "7", "salary", "8"}), "");
  EXPECT_EQ(name_parts({"zset", "dept", "7"}), "");
  EXPECT_EQ(name_parts({"uniques", "email", "job"}), "unique email,job, ");
  EXPECT_EQ(name_parts({"indices", "dept", "7", "job"}), "");
  EXPECT_EQ(name_parts({"indices", "%elements", "tags"}), "element tags, ");
  EXPECT_EQ(name_parts({"indices", "%elements", "tags", "a%3Ab"}), "element tags, a%3Ab,");
  EXPECT_EQ(name_parts({"indices", "%elements"}), "");
  EXPECT_EQ(name_parts({"zset"}), "");
  EXPECT_EQ(name_parts({"7"}), "");
}

TEST(StructureKinds, OfAKindIsItsOwnNumber) {
  for (const Kind kind : {Kind::kSets, Kind::kZset, Kind::kUnique, Kind::kNulls, Kind::kValueZsets, Kind::kElements, Kind::kJsonbKeys, Kind::kJsonbPaths, Kind::kLexemes, Kind::kTrigrams}) EXPECT_EQ(structure_kind(kind).kind(), kind);
}

TEST(StructureKinds, ScriptsMoveEntriesThatFollowFromTheField) {
  EXPECT_TRUE(structure_kind(Kind::kSets).is_moved_by_script(kInt8));
  EXPECT_FALSE(structure_kind(Kind::kSets).is_moved_by_script(kText));
  EXPECT_TRUE(structure_kind(Kind::kZset).is_moved_by_script(kTimestamp));
  EXPECT_FALSE(structure_kind(Kind::kZset).is_moved_by_script(kNumeric));
  EXPECT_FALSE(structure_kind(Kind::kUnique).is_moved_by_script(kInt4));
}

}  // namespace
}  // namespace redquel::sql
