// User-made types of snapshots that live beside each other.

#include "sql/types/user_types.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sql/catalog/row_types.h"
#include "sql/error.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"
#include "sql/types/type.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::sql {
namespace {

constexpr Oid kMood = 20000001, kMoods = 20000002, kPair = 20000003, kPairs = 20000004, kGood = 20000005, kGoods = 20000006;

UserTypePtr enumeration(const std::vector<std::string>& labels, Oid oid = kMood, Oid array = kMoods, const std::string& name = "mood") {
  auto type = std::make_shared<UserType>();
  type->oid = oid;
  type->array = array;
  type->name = name;
  for (const std::string& label : labels) {
    const auto number = static_cast<Oid>(type->labels.size() + 1);
    type->labels.push_back({100 + number, label, static_cast<double>(number)});
  }
  return type;
}
UserTypePtr composite(std::vector<CompositeField> fields) {
  auto type = std::make_shared<UserType>();
  type->oid = kPair;
  type->array = kPairs;
  type->name = "pair";
  type->kind = UserType::Kind::kComposite;
  type->fields = std::move(fields);
  return type;
}
UserTypePtr domain_over(Type base) {
  auto type = std::make_shared<UserType>();
  type->oid = kGood;
  type->array = kGoods;
  type->name = "good";
  type->kind = UserType::Kind::kDomain;
  type->base = base;
  return type;
}
UserTypesPtr set_of(std::vector<UserTypePtr> types, UserTypesPtr base = nullptr) {
  auto made = std::make_shared<UserTypes>(std::move(base));
  made->add(std::move(types));
  return made;
}
std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const SqlError& error) {
    return std::string(error.sqlstate()) + " " + error.message();
  }
  return "";
}
std::string printed(Type type, const std::string& text) {
  Column column(type);
  append_parsed(column, text, SessionSettings());
  std::string out;
  format_value(column, 0, SessionSettings(), out);
  return out;
}

TEST(UserTypesTest, WithoutAScopeThereAreNone) {
  EXPECT_EQ(find_type(kMood), nullptr);
  EXPECT_EQ(find_user_type(kMood), nullptr);
  EXPECT_EQ(find_label(kMood, "sad"), nullptr);
  EXPECT_EQ(declared_element(kMoods), 0u);
  EXPECT_EQ(error_of([] { type_info(kMood); }), "XX000 cache lookup failed for type 20000001");
  EXPECT_EQ(error_of([] { user_type(kMood); }), "XX000 cache lookup failed for type 20000001");
  EXPECT_EQ(format_type(Type{kMood}), "???");
}

TEST(UserTypesTest, TwoSetsHaveTypesOfOneOid) {
  const UserTypesPtr first = set_of({enumeration({"sad", "ok"}), composite({{"a", kInt4}})});
  const UserTypesPtr second = set_of({enumeration({"blue", "fine", "ok"}, kMood, kMoods, "feeling"), composite({{"a", kInt4}, {"b", kText}})});
  for (int turn = 0; turn < 2; ++turn) {
    {
      const KnownTypesScope scope(first);
      EXPECT_EQ(format_type(Type{kMoods}), "mood[]");
      EXPECT_EQ(printed(Type{kMood}, "sad"), "sad");
      EXPECT_EQ(printed(Type{kPair}, "(7)"), "(7)");
      EXPECT_EQ(error_of([] { printed(Type{kMood}, "blue"); }), "22P02 invalid input value for enum mood: \"blue\"");
      EXPECT_EQ(error_of([] { printed(Type{kPair}, "(7,x)"); }).substr(0, 5), "22P02");
    }
    const KnownTypesScope scope(second);
    EXPECT_EQ(format_type(Type{kMoods}), "feeling[]");
    EXPECT_EQ(printed(Type{kMood}, "blue"), "blue");
    EXPECT_EQ(printed(Type{kPair}, "(7,x)"), "(7,x)");
    EXPECT_EQ(error_of([] { printed(Type{kMood}, "sad"); }), "22P02 invalid input value for enum feeling: \"sad\"");
  }
}

TEST(UserTypesTest, ScopesLieWithinEachOther) {
  KnownTypes session{set_of({enumeration({"sad"})})};
  const KnownTypesScope outer(&session);
  {
    const KnownTypesScope none(UserTypesPtr{});
    EXPECT_EQ(find_user_type(kMood), nullptr);
    const KnownTypesScope inner(set_of({enumeration({"blue"})}));
    EXPECT_NE(find_label(kMood, "blue"), nullptr);
  }
  EXPECT_NE(find_label(kMood, "sad"), nullptr);
  session.types = set_of({enumeration({"glad"})});  // the session's statement has taken another snapshot
  EXPECT_EQ(find_label(kMood, "sad"), nullptr);
  EXPECT_NE(find_label(kMood, "glad"), nullptr);
}

TEST(UserTypesTest, TypesAreAddedInAnyOrder) {
  // A domain over an array of a composite type, and one over a type that does not exist.
  auto lost = std::make_shared<UserType>(*domain_over(Type{kMood}));
  lost->oid = kMood + 100;
  lost->array = kMood + 101;
  const UserTypesPtr types = set_of({lost, domain_over(Type{kPairs}), composite({{"a", kInt4}})});
  const KnownTypesScope scope(types);
  ASSERT_NE(find_type(kGood), nullptr);
  EXPECT_EQ(find_type(kGood)->element, kPair);
  EXPECT_EQ(declared_element(kGoods), kGood);
  EXPECT_EQ(array_under(Type{kGoods}).oid, kGoods) << "there are no arrays of arrays";
  EXPECT_EQ(find_user_type(kMood + 100), nullptr);
}

TEST(UserTypesTest, ATypeHidesThatOfItsBaseAndKeepsItsLabels) {
  const UserTypesPtr base = set_of({enumeration({"sad", "ok"}), composite({{"a", kInt4}})});
  const KnownTypesScope scope(set_of({enumeration({"blue", "ok"})}, base));
  ASSERT_NE(find_label(kMood, "sad"), nullptr) << "rows that are not written anew yet";
  EXPECT_EQ(find_label(kMood, "sad")->name, "blue");
  EXPECT_LT(compare(Type{kMood}, Datum(std::string("sad")), Datum(std::string("ok"))), 0);
  EXPECT_NE(find_user_type(kPair), nullptr);
}

TEST(UserTypesTest, SnapshotsShareWhatHasNotChanged) {
  CatalogSnapshot catalog;
  TableDef table = make_table("t", {{"a", kInt4}}, {"a"});
  table.row_type = 30000001;
  table.row_array = 30000002;
  catalog.tables[table.oid] = std::make_shared<const TableDef>(table);
  catalog.types[kMood] = enumeration({"sad"});
  const UserTypesPtr first = user_types_of(catalog);
  catalog.user_types = first;
  CatalogSnapshot before = catalog;
  EXPECT_EQ(user_types_of(catalog, before), first);
  catalog.types[kMood] = enumeration({"sad"});  // read again
  const UserTypesPtr same = user_types_of(catalog, before);
  EXPECT_EQ(same->find(kMood), first->find(kMood));
  EXPECT_EQ(same->find(30000002), first->find(30000001));
  table.columns[0].name = "b";
  catalog.tables[table.oid] = std::make_shared<const TableDef>(table);
  catalog.types[kMood] = enumeration({"sad", "ok"});
  const UserTypesPtr changed = user_types_of(catalog, before);
  EXPECT_NE(changed->find(kMood), first->find(kMood));
  EXPECT_EQ(changed->find_type(30000001)->fields[0].name, "b");
  EXPECT_EQ(first->find_type(30000001)->fields[0].name, "a");
  {
    const KnownTypesScope scope(changed);
    EXPECT_TRUE(is_row_type_current(table));
  }
  catalog.user_types = changed;
  before = catalog;
  catalog.tables.erase(table.oid);
  const UserTypesPtr fewer = user_types_of(catalog, before);
  EXPECT_EQ(fewer->find(30000001), nullptr);
  EXPECT_EQ(fewer->find(30000002), nullptr);
  EXPECT_EQ(fewer->find(kMoods), changed->find(kMoods));
}

}  // namespace
}  // namespace redquel::sql
