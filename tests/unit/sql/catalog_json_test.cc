#include "sql/catalog/catalog_json.h"

#include <gtest/gtest.h>

#include "sql/error.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::sql {
namespace {

TEST(CatalogJson, RoundTrips) {
  TableDef table = make_table("emp", {{"id", kInt4}, {"naïve \"name\"", Type{oid::kVarchar, 24}}}, {"id"}, "emp~2");
  table.row_type = 17;
  table.columns[1].default_sql = "'it''s'";
  table.columns[1].missing = "";
  table.columns[1].identity = ColumnDef::Identity::kByDefault;
  table.columns[1].sequence = 99;
  table.used_fields = {"old"};
  table.presence = 0;
  table.stores_key = true;
  table.checks.push_back({"emp_check", "(id > 0)", "positive"});
  IndexDef& index = add_index(table, {"naïve \"name\""}, true, IndexMethod::kZset);
  index.state = IndexState::kBuilding;
  index.nulls_not_distinct = true;
  index.parts[0].descending = true;
  index.definition_suffix = "WITH (fillfactor=80)";
  index.included = {1};

  const TableDef read = decode_table(encode_table(table));
  EXPECT_EQ(encode_table(read), encode_table(table));
  EXPECT_EQ(read.prefix, "emp~2");
  EXPECT_EQ(read.columns[1].type, (Type{oid::kVarchar, 24}));
  EXPECT_EQ(read.columns[1].missing, "");
  EXPECT_FALSE(read.columns[0].missing);
  EXPECT_EQ(read.columns[1].identity, ColumnDef::Identity::kByDefault);
  EXPECT_EQ(read.presence, 0);
  EXPECT_TRUE(read.stores_key);
  EXPECT_EQ(read.indexes[0].state, IndexState::kBuilding);
  EXPECT_EQ(read.indexes[0].method, IndexMethod::kZset);
  EXPECT_TRUE(read.indexes[0].parts[0].descending);
  EXPECT_EQ(read.indexes[0].included, index.included);
  EXPECT_EQ(read.checks[0].expression_sql, "(id > 0)");

  SequenceDef sequence;
  sequence.name = "s";
  sequence.minimum = 0;
  sequence.maximum = INT64_MAX;
  sequence.increment = -1;
  const SequenceDef read_sequence = decode_sequence(encode_sequence(sequence));
  EXPECT_EQ(read_sequence.minimum, 0);
  EXPECT_EQ(read_sequence.maximum, INT64_MAX);
  EXPECT_EQ(read_sequence.increment, -1);
}

TEST(CatalogJson, RefusesInvalidDefinitions) {
  for (const char* text : {"", "{", "[]", "{}", R"({"prefix":7})", R"({"prefix":"a","primary_key":[1]})",
                           R"({"prefix":"a","columns":[{"number":1,"type":{"oid":4294967295}}]})"}) {
    EXPECT_THROW(decode_table(text), SqlError) << text;
  }
  EXPECT_NO_THROW(decode_table(R"({"prefix":"a","from_the_future":{"x":[1]}})"));
}

}  // namespace
}  // namespace redquel::sql
