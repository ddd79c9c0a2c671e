// The table of types: every built-in type has its operations, its kin, and a value that survives each of its forms.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sql/datum.h"
#include "sql/types/array_value.h"
#include "sql/types/binary_io.h"
#include "sql/types/compare.h"
#include "sql/types/index_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// Two values of each type as it prints them, the smaller one first.
const std::map<std::string_view, std::pair<std::string, std::string>> kValues = {
    {"bool", {"f", "t"}},
    {"bytea", {"\\x00", "\\x0001"}},
    {"char", {"a", "b"}},
    {"name", {"a", "ab"}},
    {"int8", {"-5", "9007199254740993"}},
    {"int2", {"-5", "7"}},
    {"int2vector", {"1 2", "1 3"}},
    {"int4", {"-5", "7"}},
    {"regproc", {"7", "4000000000"}},
    {"text", {"a", "ab"}},
    {"oid", {"7", "4000000000"}},
    {"tid", {"(0,1)", "(1,0)"}},
    {"xid", {"7", "4000000000"}},
    {"cid", {"7", "8"}},
    {"oidvector", {"1 2", "1 3"}},
    {"json", {"{\"a\": 1}", "{\"b\": 1}"}},
    {"point", {"(1,2)", "(3,4)"}},
    {"lseg", {"[(1,2),(3,4)]", "[(2,2),(3,4)]"}},
    {"path", {"((1,2),(3,4))", "[(1,2),(3,4)]"}},
    {"box", {"(3,4),(1,2)", "(4,4),(1,2)"}},
    {"polygon", {"((1,2),(3,4))", "((2,2),(3,4))"}},
    {"line", {"{1,2,3}", "{2,2,3}"}},
    {"cidr", {"10.0.0.0/8", "192.168.0.0/16"}},
    {"float4", {"-0.5", "1e+20"}},
    {"float8", {"-0.5", "1e+100"}},
    {"unknown", {"a", "b"}},
    {"circle", {"<(1,2),3>", "<(2,2),3>"}},
    {"macaddr8", {"08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03:04:06"}},
    {"money", {"-$1,234.50", "$0.01"}},
    {"macaddr", {"08:00:2b:01:02:03", "08:00:2b:01:02:04"}},
    {"inet", {"10.0.0.1", "10.0.0.2"}},
    {"aclitem", {"=r/postgres", "=w/postgres"}},
    {"bpchar", {"a", "ab"}},
    {"varchar", {"a", "ab"}},
    {"date", {"1999-12-31", "2026-11-28"}},
    {"time", {"01:02:03", "01:02:03.5"}},
    {"timestamp", {"1999-12-31 23:59:59", "2026-11-28 00:00:00.000001"}},
    {"timestamptz", {"1999-12-31 23:59:59+00", "2026-11-28 00:00:00.000001+00"}},
    {"interval", {"-1 days", "1 year 2 mons"}},
    {"timetz", {"01:02:03+00", "01:02:04+00"}},
    {"bit", {"01", "1"}},
    {"varbit", {"0", "01"}},
    {"numeric", {"-1.50", "12345678901234567890.5"}},
    {"refcursor", {"a", "b"}},
    {"regprocedure", {"7", "8"}},
    {"regoper", {"7", "8"}},
    {"regoperator", {"7", "8"}},
    {"regclass", {"7", "8"}},
    {"regtype", {"7", "8"}},
    {"uuid", {"00000000-0000-0000-0000-000000000001", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
    {"txid_snapshot", {"10:20:12,15", "10:20:15"}},
    {"pg_lsn", {"0/1", "16/B374D848"}},
    {"tsvector", {"'a'", "'a':1 'b c':2A,3"}},
    {"tsquery", {"'a'", "'a' <-> 'b':*A"}},
    {"regconfig", {"7", "4000000000"}},
    {"regdictionary", {"7", "4000000000"}},
    {"jsonb", {"1", "{\"a\": 1.50}"}},
    {"int4range", {"[1,5)", "[2,5)"}},
    {"numrange", {"[1.5,2]", "(1.5,2]"}},
    {"tsrange", {"empty", "[\"2026-11-28 00:00:00\",)"}},
    {"tstzrange", {"empty", "[\"2026-11-28 00:00:00+00\",)"}},
    {"daterange", {"[2026-11-28,2026-11-29)", "[2026-11-29,2026-11-30)"}},
    {"int8range", {"[1,5)", "[2,5)"}},
    {"jsonpath", {"$.\"a\"", "$.\"b\""}},
    {"regnamespace", {"7", "8"}},
    {"regrole", {"7", "8"}},
    {"regcollation", {"7", "8"}},
    {"int4multirange", {"{[1,3)}", "{[1,3),[5,7)}"}},
    {"nummultirange", {"{}", "{[1,3]}"}},
    {"tsmultirange", {"{}", "{[\"2026-11-28 00:00:00\",)}"}},
    {"tstzmultirange", {"{}", "{[\"2026-11-28 00:00:00+00\",)}"}},
    {"datemultirange", {"{}", "{[2026-11-28,2026-11-29)}"}},
    {"int8multirange", {"{}", "{[1,3)}"}},
    {"pg_snapshot", {"10:20:12,15", "10:20:15"}},
    {"xid8", {"7", "18446744073709551615"}},
};

bool has_values(const TypeInfo& type) {
  return type.category != TypeCategory::kPseudo && type.oid != oid::kNodeTree && (type.category != TypeCategory::kArray || type.name[0] != '_');
}

TEST(TypeRows, EveryTypeHasItsOperations) {
  for (const TypeInfo& type : all_types()) {
    SCOPED_TRACE(type.name);
    const TypeOperations& operations = operations_of(type.oid);
    EXPECT_NE(operations.parse, nullptr);
    EXPECT_NE(operations.format, nullptr);
    EXPECT_EQ(operations.compare_texts != nullptr, type.storage == Storage::kText);
    EXPECT_EQ(operations.score != nullptr, operations.index_order != IndexOrder::kLexical);
    EXPECT_FALSE(type.display_name.empty());
  }
}

TEST(TypeRows, KinPointsBothWays) {
  for (const TypeInfo& type : all_types()) {
    SCOPED_TRACE(type.name);
    if (type.array != 0) {
      EXPECT_EQ(type_info(type.array).element, type.oid);
    }
    if (type.multirange != 0) {
      EXPECT_EQ(type_info(type.multirange).range, type.oid);
    }
    if (type.range != 0) {
      EXPECT_EQ(type_info(type.range).multirange, type.oid);
    }
    if (type.subtype != 0) {
      EXPECT_NE(find_type(type.subtype), nullptr);
    }
    if (type.operators != 0) {
      EXPECT_EQ(type_info(type.operators).storage, type.storage);
    }
  }
}

TEST(TypeRows, NamesOfFunctionsAreUnique) {
  std::set<std::string_view> names;
  for (const std::span<const TypeRow> family : type_families()) {
    for (const TypeRow& row : family) {
      const TypeFunctionNames& functions = row.functions;
      EXPECT_EQ(functions.hash.empty(), functions.hash_extended.empty()) << row.type.name;
      for (const std::string_view name : {functions.input, functions.output, functions.send, functions.hash, functions.hash_extended}) {
        if (!name.empty()) {
          EXPECT_TRUE(names.insert(name).second) << name;
        }
      }
    }
  }
}

TEST(TypeRows, ValuesSurviveTheirTextAndBinaryForms) {
  for (const TypeInfo& info : all_types()) {
    if (!has_values(info)) continue;
    SCOPED_TRACE(info.name);
    const auto found = kValues.find(info.name);
    ASSERT_NE(found, kValues.end()) << "a new type needs a line in kValues";
    const Type type{info.oid};
    for (const std::string& text : {found->second.first, found->second.second}) {
      const Datum value = parse_value(type, text, {});
      EXPECT_EQ(format_value(type, value), text);
      Column column(type);
      append_parsed(column, text, {});
      std::string printed;
      format_value(column, 0, {}, printed);
      EXPECT_EQ(printed, text);
      EXPECT_EQ(compare(type, value, stored_value(type, text)), 0);
      EXPECT_EQ(hash(type, value), hash(column, 0));
      const TypeOperations& operations = operations_of(info.oid);
      if (operations.decode == nullptr || operations.encode == nullptr) continue;
      std::string bytes, row_bytes;
      encode_binary(type, value, bytes);
      encode_binary(column, 0, row_bytes);
      EXPECT_EQ(bytes, row_bytes);
      EXPECT_EQ(compare(type, decode_binary(type, bytes), value), 0);
    }
  }
}

TEST(TypeRows, CitextHasOneFormForBothCases) {
  const Type type{oid::kCitext};
  const Datum upper = parse_value(type, "AB", {}), lower = parse_value(type, "ab", {}), other = parse_value(type, "aC", {});
  EXPECT_EQ(format_value(type, upper), "AB");
  EXPECT_EQ(compare(type, upper, lower), 0);
  EXPECT_LT(compare(type, upper, other), 0);
  EXPECT_EQ(hash(type, upper), hash(type, lower));
  EXPECT_EQ(canonical_text(type, upper), canonical_text(type, lower));
  EXPECT_EQ(ordered_member_prefix(type, upper), ordered_member_prefix(type, lower));
  EXPECT_EQ(find_type("citext"), nullptr);  // it has a name where its extension is created
}

TEST(TypeRows, OrderIsThatOfTheIndexForms) {
  for (const TypeInfo& info : all_types()) {
    if (!has_values(info)) continue;
    SCOPED_TRACE(info.name);
    const Type type{info.oid};
    const auto& [small, large] = kValues.at(info.name);
    const Datum a = parse_value(type, small, {}), b = parse_value(type, large, {});
    EXPECT_LT(compare(type, a, b), 0);
    EXPECT_GT(compare(type, b, a), 0);
    EXPECT_NE(canonical_text(type, a), canonical_text(type, b));
    EXPECT_EQ(compare(type, parse_value(type, canonical_text(type, a), {}), a), 0);
    const TypeOperations& operations = operations_of(info.oid);
    if (!operations.has_order_class || !operations.has_ordered_form(type)) continue;
    if (has_score(type)) {
      EXPECT_LT(score_of(type, a), score_of(type, b));
    } else if (!operations.names_objects && info.name != "xid") {  // these have no order in PostgreSQL, or that of their numbers
      EXPECT_LT(ordered_member_prefix(type, a), ordered_member_prefix(type, b));
    }
  }
}

TEST(TypeRows, StoredTextsFillColumnsWithTheirNulls) {
  Column column(kInt4);
  const std::vector<std::string_view> texts = {"1", "", "3"};
  const std::vector<std::uint8_t> nulls = {0, 1, 0};
  append_stored(column, texts, nulls);
  ASSERT_EQ(column.size(), 3u);
  EXPECT_TRUE(column.is_null(1));
  EXPECT_EQ(column.get<std::int32_t>(2), 3);
}

}  // namespace
}  // namespace redquel::sql
