#include "sql/catalog/table_keys.h"

#include <gtest/gtest.h>

#include <map>

#include "sql/catalog/key_classification.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/prefixes.h"
#include "sql/error.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::sql {
namespace {

using namespace std::string_literals;

Datum text(std::string value) { return Datum(std::move(value)); }

TEST(ReservedPrefixes, CollideAsEachPairOfPrefixesDoes) {
  const std::vector<std::string> all{"a", "a:b", "a:b:c", "ab", "a~2", "b", "b:a", "{29}a:c", "{0}c", "c:d", "a-b", "a;b"};
  for (std::size_t chosen = 0; chosen < 1U << all.size(); chosen += 7) {
    ReservedPrefixes reserved;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1) != 0) reserved.insert(all[i]);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool collides = false;
      for (std::size_t j = 0; j < all.size(); ++j) collides = collides || ((chosen >> j & 1) != 0 && prefixes_collide(all[i], all[j]));
      ASSERT_EQ(reserved.collide(all[i]), collides) << chosen << " " << all[i];
      ASSERT_EQ(reserved.contains(all[i]), (chosen >> i & 1) != 0);
    }
  }
}

TEST(EscapeSegment, IsTheRuleOfTheLayout) {
  EXPECT_EQ(escape_segment("emp"), "emp");
  EXPECT_EQ(escape_segment(""), "%");
  EXPECT_EQ(escape_segment("a:b"), "a%3Ab");
  EXPECT_EQ(escape_segment("100%"), "100%25");
  EXPECT_EQ(escape_segment("{x}"), "%7Bx%7D");
  EXPECT_EQ(escape_segment("*?[]\\"), "%2A%3F%5B%5D%5C");
  EXPECT_EQ(escape_segment("a b\x7F"), "a%20b%7F");
  EXPECT_EQ(escape_segment("a,b"), "a,b");
  EXPECT_EQ(escape_name("a,b"), "a%2Cb");
  EXPECT_EQ(escape_segment("id"), "%69d");
  EXPECT_EQ(escape_segment("rowid"), "%72owid");
  EXPECT_EQ(escape_segment("zset"), "%7Aset");
  EXPECT_EQ(escape_segment("indices"), "%69ndices");
  EXPECT_EQ(escape_segment("uniques"), "%75niques");
  EXPECT_EQ(escape_segment("ids"), "ids");
  EXPECT_EQ(escape_segment("日本"), "日本");
}

TEST(EscapeSegment, HashesLongValues) {
  EXPECT_EQ(escape_segment(std::string(512, 'a')), std::string(512, 'a'));
  // sha256sum of 513 times 'a'
  const std::string hashed = escape_segment(std::string(513, 'a'));
  EXPECT_EQ(hashed.size(), 34u);
  EXPECT_TRUE(hashed.starts_with("%#"));
  EXPECT_NE(hashed, escape_segment(std::string(514, 'a')));
}

TEST(UnescapeSegment, UndoesEveryUnhashedSegment) {
  for (const std::string& value : {""s, "a"s, "id"s, "%"s, "%N"s, "a:b%{c}"s, "x\0y"s, "\x01\x7F é"s, std::string(600, ':')}) {
    EXPECT_EQ(unescape_segment(escape_unhashed(value)), value);
  }
  EXPECT_THROW(unescape_segment("%4"), SqlError);
  EXPECT_THROW(unescape_segment("%zz"), SqlError);
}

TEST(TableKeys, HasTheKeysThatOtherProgramsRead) {
  TableDef emp = make_table("emp", {{"emp_id", kInt4}, {"dept", kInt4}, {"email", kText}, {"salary", kFloat8}}, {"emp_id"});
  const TableKeys keys(emp);
  const std::vector<Datum> pk{Datum(7)};
  EXPECT_EQ(keys.row(pk), "emp:7");
  EXPECT_EQ(keys.member(pk), "7");
  EXPECT_EQ(keys.all_rows(), "emp:zset");
  EXPECT_EQ(keys.row_score(pk), "7");
  const std::int16_t dept = 2, email = 3, salary = 4;
  EXPECT_EQ(keys.values(std::vector{dept}), "emp:indices:dept");
  EXPECT_EQ(keys.value_set(std::vector{dept}, std::vector<Datum>{Datum(7)}), "emp:indices:dept:7");
  EXPECT_EQ(keys.value_set(std::vector{dept}, std::vector<Datum>{Datum()}), "emp:indices:dept:%N");
  EXPECT_EQ(keys.null_set(dept), "emp:indices:dept:%N");
  EXPECT_EQ(keys.ordered(salary), "emp:zset:salary");
  EXPECT_EQ(keys.uniques(std::vector{email}), "emp:uniques:email");
  EXPECT_EQ(keys.unique_field(std::vector{email}, std::vector<Datum>{text("a:b@c")}), "a:b@c");
  EXPECT_EQ(keys.uniques(std::vector{dept, email}), "emp:uniques:dept:email");
  EXPECT_EQ(keys.unique_field(std::vector{dept, email}, std::vector<Datum>{Datum(1), text("a:b")}), "1:a%3Ab");
  EXPECT_EQ(keys.values(std::vector{dept, email}), "emp:indices:dept,email");
  EXPECT_EQ(keys.value_set(std::vector{dept, email}, std::vector<Datum>{Datum(1), text("x")}), "emp:indices:dept:1:email:x");
  EXPECT_EQ(keys.changes(), "redquel:changes:16384");
  EXPECT_TRUE(keys.sort_get_is_safe());
  EXPECT_EQ(keys.row_pattern(), "emp:*");
}

TEST(TableKeys, MembersAreRawKeysAreEscaped) {
  TableDef tag = make_table("tag", {{"name", kText}}, {"name"});
  const TableKeys keys(tag);
  EXPECT_EQ(keys.member(std::vector<Datum>{text("a:b")}), "a:b");
  EXPECT_EQ(keys.row(std::vector<Datum>{text("a:b")}), "tag:a%3Ab");
  EXPECT_EQ(keys.row(std::vector<Datum>{text("zset")}), "tag:%7Aset");
  EXPECT_EQ(keys.row_score(std::vector<Datum>{text("7")}), "0");
  EXPECT_EQ(keys.decode_member("a:b"), std::vector<Datum>{text("a:b")});
  EXPECT_FALSE(keys.sort_get_is_safe());

  TableDef pair = make_table("pair", {{"a", kText}, {"b", kInt4}}, {"a", "b"});
  const TableKeys pairs(pair);
  const std::vector<Datum> pk{text("x:y"), Datum(2)};
  EXPECT_EQ(pairs.member(pk), "x%3Ay:2");
  EXPECT_EQ(pairs.row(pk), "pair:x%3Ay:2");
  EXPECT_EQ(pairs.decode_member("x%3Ay:2"), pk);
  EXPECT_THROW(pairs.decode_member("x"), SqlError);
  EXPECT_THROW(pairs.decode_member("x:y"), SqlError);

  // A long part is hashed in the row's key, never in the member, which must be decoded again.
  const std::vector<Datum> long_pk{text(std::string(600, 'x')), Datum(2)};
  EXPECT_EQ(pairs.decode_member(pairs.member(long_pk)), long_pk);
  EXPECT_LT(pairs.row(long_pk).size(), 50u);
}

TEST(TableKeys, EqualValuesHaveEqualKeys) {
  TableDef table = make_table("t", {{"a", kNumeric}}, {"a"});
  const TableKeys keys(table);
  EXPECT_EQ(keys.row(std::vector<Datum>{Datum(Numeric::parse("1.00"))}), "t:1");
  EXPECT_EQ(keys.row(std::vector<Datum>{Datum(Numeric::parse("1"))}), "t:1");
  EXPECT_TRUE(keys.stores_key_column(table.columns[0]));
}

TEST(TableKeys, KnowsWhereARowsExistenceIsSeen) {
  TableDef table = make_table("t", {{"id", kInt4}, {"a", kInt4}, {"b", kInt4}}, {"id"});
  EXPECT_EQ(TableKeys(table).presence_column(), nullptr);
  EXPECT_EQ(TableKeys(table).presence_field(), "id");
  EXPECT_TRUE(TableKeys(table).stores_key_column(table.columns[0]));
  table.columns[2].not_null = true;
  EXPECT_EQ(TableKeys(table).presence_field(), "b");
  EXPECT_FALSE(TableKeys(table).stores_key_column(table.columns[0]));
  table.columns[2].missing = "1";  // absent in old rows
  EXPECT_EQ(TableKeys(table).presence_field(), "id");
  table.managed().presence = 2;  // as committed: nothing else counts
  EXPECT_EQ(TableKeys(table).presence_field(), "a");

  TableDef heap = make_table("h", {{"a", kInt4}}, {});
  EXPECT_EQ(TableKeys(heap).presence_field(), kHiddenKeyField);
  EXPECT_EQ(TableKeys(heap).row(std::vector<Datum>{Datum(std::int64_t{3})}), "h:3");
}

TEST(Structures, DependOnMethodTypeAndNulls) {
  TableDef table = make_table("t", {{"id", kInt4}, {"a", kInt4}, {"n", kNumeric}}, {"id"});
  using Kind = Structure::Kind;
  const auto kinds = [&] {
    std::vector<Kind> found;
    for (const Structure& structure : structures_of(table)) found.push_back(structure.kind);
    return found;
  };
  add_index(table, {"a"});
  EXPECT_EQ(kinds(), (std::vector{Kind::kSets, Kind::kZset, Kind::kNulls}));
  table.columns[1].not_null = true;
  EXPECT_EQ(kinds(), (std::vector{Kind::kSets, Kind::kZset}));
  table.indexes[0].method = IndexMethod::kHash;
  EXPECT_EQ(kinds(), (std::vector{Kind::kSets}));
  table.indexes[0].method = IndexMethod::kZset;
  EXPECT_EQ(kinds(), (std::vector{Kind::kZset}));
  table.indexes.clear();
  add_index(table, {"n"});
  EXPECT_EQ(kinds(), (std::vector{Kind::kZset, Kind::kNulls}));
  table.indexes.clear();
  add_index(table, {"a", "n"}, true);
  EXPECT_EQ(kinds(), (std::vector{Kind::kUnique, Kind::kNulls}));
  // A structure that two indexes share is one, readable as soon as one of them is complete.
  table.indexes.clear();
  add_index(table, {"a"}).state = IndexState::kBuilding;
  EXPECT_FALSE(structures_of(table)[0].readable);
  add_index(table, {"a"}, false, IndexMethod::kHash);
  EXPECT_EQ(kinds(), (std::vector{Kind::kSets, Kind::kZset}));
  EXPECT_TRUE(structures_of(table)[0].readable);
  EXPECT_FALSE(structures_of(table)[1].readable);
}

ReservedPrefixes reserved(std::initializer_list<std::string> prefixes) {
  ReservedPrefixes all;
  for (const std::string& prefix : prefixes) all.insert(prefix);
  return all;
}

TEST(Prefixes, NeverExtendEachOther) {
  EXPECT_TRUE(prefixes_collide("emp", "emp"));
  EXPECT_TRUE(prefixes_collide("sys", "sys:user"));
  EXPECT_TRUE(prefixes_collide("sys:user", "sys"));
  EXPECT_FALSE(prefixes_collide("emp", "employee"));
  EXPECT_FALSE(prefixes_collide("emp", "emp~2"));
  EXPECT_EQ(choose_prefix("public", "emp", reserved({})), "emp");
  EXPECT_EQ(choose_prefix("public", "emp", reserved({"emp"})), "emp~2");
  EXPECT_EQ(choose_prefix("public", "emp", reserved({"emp", "emp~2"})), "emp~3");
  EXPECT_EQ(choose_prefix("sys", "user", reserved({})), "sys:user");
  EXPECT_EQ(choose_prefix("sys", "user", reserved({"sys"})), "sys~2:user");
  EXPECT_EQ(choose_prefix("public", "sys", reserved({"sys:user"})), "sys~2");
  EXPECT_EQ(choose_prefix("public", "redquel", reserved({})), "redquel~2");
  EXPECT_EQ(choose_prefix("redquel", "t", reserved({})), "redquel~2:t");
  EXPECT_EQ(choose_prefix("public", "a:b", reserved({})), "a%3Ab");
  EXPECT_EQ(choose_prefix("public", "zset", reserved({})), "%7Aset");
}

TEST(Fields, StayTakenAfterADrop) {
  TableDef table = make_table("t", {{"a", kInt4}}, {});
  EXPECT_EQ(choose_field(table, "b"), "b");
  EXPECT_EQ(choose_field(table, "a"), "a~2");
  table.columns.clear();
  table.used_fields = {"a"};
  EXPECT_EQ(choose_field(table, "a"), "a~2");
  table.used_fields.push_back("a~2");
  EXPECT_EQ(choose_field(table, "a"), "a~3");
  EXPECT_EQ(choose_field(table, "x%N"), "x%N~2");
  EXPECT_EQ(choose_field(table, "%rowid"), "%rowid~2");
}

// Every key that a catalog full of awkward names can make, with the place it stands for: no key may stand for two.
TEST(TableKeys, NoTwoPlacesShareAKey) {
  const std::vector<std::string> names{"a", "b", "id", "rowid", "zset", "indices", "uniques", "a,b", "a:b", "sys", "user", "%", "%N", "*", "a~2", "redquel"};
  const std::vector<std::string> values{"", "a", "b", "id", "zset", "indices", "uniques", "%", "%N", "%23", "a:b", "a,b", "1", "a%3Ab", " ", "*", "x:b:y",
                                        std::string(600, 'a'), escape_segment(std::string(600, 'a'))};
  std::map<std::string, std::string> places;
  std::size_t made = 0;
  const auto claim = [&](const std::string& key, const std::string& place) {
    ++made;
    const auto [found, is_new] = places.emplace(key, place);
    EXPECT_TRUE(is_new || found->second == place) << key << ": " << found->second << " and " << place;
  };
  ReservedPrefixes reserved;
  Oid oid = 1;
  for (const std::string schema : {"public", "sys", "a", "indices", "redquel"}) {
    for (const std::string& name : names) {
      for (const bool composite_key : {false, true}) {
        const std::string table_name = composite_key ? name + "2" : name;
        TableDef table = make_table(table_name, {}, {}, choose_prefix(schema, table_name, reserved));
        reserved.insert(table.prefix);
        table.oid = oid++;
        table.columns.clear();
        for (const std::string& column_name : names) {
          ColumnDef column;
          column.number = table.next_column++;
          column.name = column_name;
          column.field = choose_field(table, column_name);
          column.type = kText;
          table.columns.push_back(std::move(column));
        }
        table.primary_key = {1};
        if (composite_key) table.primary_key = {1, 2};
        const TableKeys keys(table);
        const std::string here = std::to_string(table.oid) + " ";
        claim(keys.all_rows(), here + "zset");
        claim(keys.row_counter(), here + "rowid");
        claim(table.prefix + ":id", here + "id");
        claim(keys.changes(), here + "changes");
        for (const std::string& value : values) {
          if (!composite_key) {
            claim(keys.row(std::vector<Datum>{text(value)}), here + "row " + value);
            continue;
          }
          for (const std::string& second : values) claim(keys.row(std::vector<Datum>{text(value), text(second)}), here + "row " + value + "|" + second);
        }
        for (std::int16_t a = 1; a < table.next_column; ++a) {
          const std::string one = here + std::to_string(a);
          claim(keys.values(std::vector{a}), one + " values");
          claim(keys.ordered(a), one + " ordered");
          claim(keys.uniques(std::vector{a}), one + " uniques");
          claim(keys.null_set(a), one + " nulls");
          claim(table.prefix + ":id:" + escape_name(table.find_column(a)->field), one + " sequence");
          for (const std::string& value : values) claim(keys.value_set(std::vector{a}, std::vector<Datum>{text(value)}), one + " set " + value);
          if (schema != "public") continue;
          for (std::int16_t b = 1; b < table.next_column; ++b) {
            if (a == b) continue;
            const std::string two = one + "," + std::to_string(b);
            claim(keys.values(std::vector{a, b}), two + " values");
            claim(keys.uniques(std::vector{a, b}), two + " uniques");
            for (const std::string& value : {values[0], values[4], values[8], values[16]}) {
              for (const std::string& second : {values[1], values[10], values[17]}) {
                claim(keys.value_set(std::vector{a, b}, std::vector<Datum>{text(value), text(second)}), two + " set " + value + "|" + second);
              }
            }
          }
        }
      }
    }
  }
  for (const char* own : {"redquel:version", "redquel:catalog", "redquel:versions", "redquel:prefixes", "redquel:removals", "redquel:databases"}) {
    EXPECT_FALSE(places.contains(own)) << own;
  }
  EXPECT_GT(made, 50000u);
}

TEST(Classify, IsTheInverse) {
  TableDef table = make_table("t", {{"id", kInt4}, {"a", kText}, {"b,c", kInt4}}, {"id"});
  const TableKeys keys(table);
  using Kind = KeyRole::Kind;
  const auto kind = [&](const std::string& key) { return classify(table, key)->kind; };
  const auto structure = [&](const std::string& key) {
    const std::optional<KeyRole> role = classify(table, key);
    return role->kind == Kind::kStructure ? role->structure->name() : std::string_view();
  };
  EXPECT_FALSE(classify(table, "tt:1"));
  EXPECT_FALSE(classify(table, "t"));
  EXPECT_EQ(kind("t:1"), Kind::kRow);
  EXPECT_EQ(kind("t:1:2"), Kind::kUnknown);
  EXPECT_EQ(kind("t:zset"), Kind::kAllRows);
  EXPECT_EQ(structure("t:zset:a"), "ordered");
  EXPECT_EQ(kind("t:zset:nope"), Kind::kUnknown);
  EXPECT_EQ(kind("t:id"), Kind::kSequence);
  EXPECT_EQ(kind("t:rowid"), Kind::kRowCounter);
  EXPECT_EQ(structure("t:indices:a"), "set");
  EXPECT_EQ(structure("t:indices:a:%N"), "nulls");
  EXPECT_EQ(structure("t:uniques:a"), "unique");
  EXPECT_EQ(kind("t:uniques:nope"), Kind::kUnknown);
  EXPECT_EQ(kind("t:uniques"), Kind::kUnknown);
  EXPECT_EQ(kind("t:indices:a:b:c"), Kind::kUnknown);
  const std::optional<KeyRole> set = classify(table, keys.value_set(std::vector<std::int16_t>{2, 3}, std::vector<Datum>{text("x:y"), Datum(5)}));
  EXPECT_EQ(set->kind, Kind::kValueSet);
  EXPECT_EQ(set->structure->name(), "set");
  EXPECT_EQ(set->columns, (std::vector<std::int16_t>{2, 3}));
  EXPECT_EQ(set->segments, (std::vector<std::string>{"x%3Ay", "5"}));
  EXPECT_EQ(classify(table, keys.values(std::vector<std::int16_t>{3, 2}))->columns, (std::vector<std::int16_t>{3, 2}));
  EXPECT_EQ(member_of_row(table, *classify(table, "t:7")), "7");
  EXPECT_EQ(member_of_row(table, *classify(table, "t:007")), std::nullopt);
  EXPECT_EQ(member_of_row(table, *classify(table, "t:x")), std::nullopt);
}

}  // namespace
}  // namespace redquel::sql
