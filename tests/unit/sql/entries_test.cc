#include <gtest/gtest.h>

#include "sql/entries/entry_kind.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Operation = EntryOperation;
using Texts = std::vector<std::string>;

/// A query as text: "all(a, any(b, c))", with a question mark where rows must be looked at again.
std::string text_of(const EntryQuery& query) {
  std::string text;
  switch (query.kind) {
    case EntryQuery::Kind::kEntry: text = query.entry; break;
    case EntryQuery::Kind::kEverything: text = "everything"; break;
    case EntryQuery::Kind::kNothing: text = "nothing"; break;
    case EntryQuery::Kind::kAll:
    case EntryQuery::Kind::kAny:
      text = query.kind == EntryQuery::Kind::kAll ? "all(" : "any(";
      for (const EntryQuery& operand : query.operands) {
        EntryQuery exact = operand;
        exact.exact = true;
        text += (text.ends_with('(') ? "" : ", ") + text_of(exact);
      }
      text += ")";
  }
  return query.exact ? text : text + "?";
}

std::string query_text(Type column, std::string_view operator_class, Operation operation, Type type, std::string value) {
  return text_of(find_entry_kind(column, operator_class)->query(operation, type, std::move(value)));
}

Texts entries_of(Type column, std::string_view operator_class, std::string value) {
  return find_entry_kind(column, operator_class)->entries(column, std::move(value));
}

TEST(Entries, OfArraysAreTheirElements) {
  EXPECT_EQ(entries_of(kTextArray, "", R"({b,a,NULL,"x y",a})"), (Texts{"a", "b", "x y"}));
  EXPECT_EQ(entries_of(kTextArray, "", "{}"), Texts{});
  EXPECT_EQ(entries_of(Type{oid::kNumericArray}, "", "{{1.0,2.50},{3,1}}"), (Texts{"1", "2.5", "3"}));
  const auto query = [](Operation operation, std::string value) { return query_text(kTextArray, "", operation, kTextArray, std::move(value)); };
  EXPECT_EQ(query(Operation::kContains, "{b,a}"), "all(a, b)");
  EXPECT_EQ(query(Operation::kContains, "{}"), "everything?");
  EXPECT_EQ(query(Operation::kContains, "{a,NULL}"), "nothing");
  EXPECT_EQ(query(Operation::kOverlaps, "{b,NULL,a}"), "any(a, b)");
  EXPECT_EQ(query(Operation::kOverlaps, "{}"), "nothing");
  EXPECT_EQ(query_text(kTextArray, "", Operation::kHasElement, kText, "a"), "a");
}

TEST(Entries, OfJsonbAreKeysAndScalars) {
  EXPECT_EQ(entries_of(kJsonb, "", R"({"a": ["x", 1.50], "b": {"c": null}})"), (Texts{"=1.5", "=null", "a", "b", "c", "x"}));
  EXPECT_EQ(entries_of(kJsonb, "", R"("x")"), Texts{"x"});
  EXPECT_EQ(query_text(kJsonb, "", Operation::kContains, kJsonb, R"({"a": "x"})"), "all(=\"x\", a)?");
  EXPECT_EQ(query_text(kJsonb, "", Operation::kContains, kJsonb, "{}"), "everything?");
  EXPECT_EQ(query_text(kJsonb, "", Operation::kHasKey, kText, "a"), "a?");
  EXPECT_EQ(query_text(kJsonb, "", Operation::kHasAnyKey, kTextArray, "{b,a,NULL}"), "any(a, b)?");
  EXPECT_EQ(query_text(kJsonb, "", Operation::kHasAllKeys, kTextArray, "{}"), "everything?");
  EXPECT_EQ(entries_of(kJsonb, "", '"' + std::string(500, 'x') + '"'), Texts{std::string(128, 'x')});
}

TEST(Entries, OfJsonbPathsAreScalarsBehindNames) {
  EXPECT_EQ(entries_of(kJsonb, "jsonb_path_ops", R"({"a": [{"b": 1}, true], "c": {}})"), (Texts{"a.b=1", "a=true"}));
  EXPECT_EQ(query_text(kJsonb, "jsonb_path_ops", Operation::kContains, kJsonb, R"({"a": {"b": 1}})"), "a.b=1?");
  EXPECT_EQ(query_text(kJsonb, "jsonb_path_ops", Operation::kContains, kJsonb, R"({"a": {}})"), "everything?");
  EXPECT_FALSE(find_entry_kind(kJsonb, "jsonb_path_ops")->answers(Operation::kHasKey, kJsonb, kText));
}

TEST(Entries, OfTextSearchAreLexemes) {
  EXPECT_EQ(entries_of(kTsvector, "", "'cat':1A 'ab':2"), (Texts{"ab", "cat"}));
  const auto query = [](std::string value) { return query_text(kTsvector, "", Operation::kMatches, kTsquery, std::move(value)); };
  EXPECT_EQ(query("'a' & ( 'b' | 'c' )"), "all(a, any(b, c))");
  EXPECT_EQ(query("'a' & !'b'"), "a?");
  EXPECT_EQ(query("!'a'"), "everything?");
  EXPECT_EQ(query("'a' | !'b'"), "everything?");
  EXPECT_EQ(query("'a' <-> 'b'"), "all(a, b)?");
  EXPECT_EQ(query("'a':A"), "a?");
  EXPECT_EQ(query("'a' & 'b':*"), "a?");
  EXPECT_EQ(query(""), "nothing");
}

TEST(Entries, OfPatternsAreTrigramsThatAllMatchesHave) {
  EXPECT_EQ(entries_of(kText, "gin_trgm_ops", "Ab"), (Texts{"  a", " ab", "ab "}));
  const auto query = [](std::string value) { return query_text(kText, "gin_trgm_ops", Operation::kLike, kText, std::move(value)); };
  EXPECT_EQ(query("%abcd%"), "all(abc, bcd)?");
  EXPECT_EQ(query("ab%"), "all(  a,  ab)?");
  EXPECT_EQ(query("%ab"), "ab ?");
  EXPECT_EQ(query("%a bc%"), "all(  b,  bc)?");
  EXPECT_EQ(query("%ab_cd%"), "everything?");
  EXPECT_EQ(query(R"(%50\%a%)"), "all(  a, 50 )?");
  EXPECT_EQ(query("%"), "everything?");
}

TEST(Entries, AreOfIndexesThatGinHas) {
  EXPECT_EQ(find_entry_kind(kText, ""), nullptr);
  EXPECT_EQ(find_entry_kind(kInt4, ""), nullptr);
  for (const EntryKind* kind : entry_kinds()) EXPECT_EQ(find_entry_kind(kind->structure()), kind);
}

}  // namespace
}  // namespace redquel::sql
