#include "sql/catalog/catalog_json.h"

#include <gtest/gtest.h>

#include "sql/catalog/mapping.h"
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
  table.managed().presence = 0;
  table.managed().stores_key = true;
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
  EXPECT_EQ(read.managed().presence, 0);
  EXPECT_TRUE(read.managed().stores_key);
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

constexpr std::string_view kForeign = R"({"oid":7,"name":"f","prefix":"f","columns":[{"number":1,"name":"id","field":"id","type":{"oid":23,"modifier":-1}}],)"
                                      R"("mapping":{"key":{"template":"f:{#1}"},"columns":[{"number":1}]},)"
                                      R"("indexes":[{"oid":8,"name":"i","method":"set","parts":[{"column":1}],"key":"all","maintained":true,"length":0}]})";

TEST(CatalogJson, TablesAreManagedOrMapped) {
  const TableDef foreign = decode_table(kForeign);
  EXPECT_TRUE(foreign.is_mapped());
  EXPECT_EQ(foreign.mapping().columns.size(), 1u);
  EXPECT_EQ(foreign.indexes[0].mapped().key, "all");
  EXPECT_TRUE(foreign.indexes[0].mapped().maintained);
  EXPECT_EQ(encode_table(decode_table(encode_table(foreign))), encode_table(foreign));

  TableDef table = make_table("emp", {{"id", kInt4}, {"a", Type{oid::kInt4Array}}}, {"id"});
  table.managed().expiry = {.milliseconds = 1000, .written = "1 second"};
  add_index(table, {"a"}, false, IndexMethod::kGin).storage = RememberedIndex();
  add_index(table, {"a"}, true, IndexMethod::kGist);  // of an exclusion constraint
  add_index(table, {"id"}, false, IndexMethod::kZset);
  add_index(table, {"a"}, false, IndexMethod::kGin);
  const TableDef read = decode_table(encode_table(table));
  EXPECT_EQ(read.managed().expiry.milliseconds, 1000);
  EXPECT_EQ(read.managed().expiry.written, "1 second");
  EXPECT_TRUE(read.indexes[0].is_remembered());
  EXPECT_TRUE(std::holds_alternative<ManagedIndex>(read.indexes[1].storage));
  EXPECT_TRUE(std::holds_alternative<ManagedIndex>(read.indexes[2].storage));
  EXPECT_TRUE(std::holds_alternative<ManagedIndex>(read.indexes[3].storage));
}

TEST(CatalogJson, IndexesOfForeignTablesHaveAKey) {
  std::string text(kForeign);
  text.replace(text.find(R"("key":"all")"), 11, R"("key":"")");
  EXPECT_THROW(decode_table(text), SqlError);
}

TEST(CatalogJson, StructuresThatOlderVersionsCopiedAreManaged) {
  const TableDef copied = decode_table(
      R"({"oid":7,"name":"t","prefix":"t","columns":[{"number":1,"name":"id","field":"id","type":{"oid":23,"modifier":-1}}],)"
      R"("indexes":[{"oid":8,"name":"i","method":"set","parts":[{"column":1}],"key":"all","maintained":true,"length":0}]})");
  EXPECT_FALSE(copied.is_mapped());
  EXPECT_TRUE(std::holds_alternative<ManagedIndex>(copied.indexes[0].storage));
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
