#include "executor/transaction/constraint_times.h"

#include <gtest/gtest.h>

#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {
namespace {

sql::ForeignKeyDef foreign_key(sql::Oid oid, bool deferrable, bool initially_deferred) {
  sql::ForeignKeyDef key;
  key.oid = oid;
  key.deferrable = deferrable;
  key.initially_deferred = initially_deferred;
  return key;
}

TEST(ConstraintTimes, BeginAsConstraintsWereMade) {
  const ConstraintTimes times;
  EXPECT_FALSE(times.is_deferred(foreign_key(1, false, false)));
  EXPECT_FALSE(times.is_deferred(foreign_key(1, true, false)));
  EXPECT_TRUE(times.is_deferred(foreign_key(1, true, true)));
}

TEST(ConstraintTimes, SetAllChangesDeferrableConstraintsOnly) {
  ConstraintTimes times;
  times.set_all(true);
  EXPECT_TRUE(times.is_deferred(foreign_key(1, true, false)));
  EXPECT_FALSE(times.is_deferred(foreign_key(2, false, false)));
  times.set_all(false);
  EXPECT_FALSE(times.is_deferred(foreign_key(1, true, true)));
}

TEST(ConstraintTimes, ASingleConstraintFollowsItsOwnSettingUntilAllAreSet) {
  ConstraintTimes times;
  times.set_all(true);
  times.set(1, false);
  EXPECT_FALSE(times.is_deferred(foreign_key(1, true, true)));
  EXPECT_TRUE(times.is_deferred(foreign_key(2, true, false)));
  times.set_all(true);
  EXPECT_TRUE(times.is_deferred(foreign_key(1, true, false)));
}

TEST(ConstraintTimes, ValuesAreDeferredOnlyIfAllTheirUniqueIndexesAre) {
  sql::TableDef table = sql::make_table("t", {{"id", sql::kInt4}, {"email", sql::kText}}, {"id"});
  const std::int16_t columns[] = {2};
  ConstraintTimes times;
  EXPECT_FALSE(times.is_deferred(table, columns));
  sql::IndexDef& first = sql::add_index(table, {"email"}, true);
  first.constraint->deferrable = first.constraint->initially_deferred = true;
  EXPECT_TRUE(times.is_deferred(table, columns));
  sql::add_index(table, {"email"}, true);
  EXPECT_FALSE(times.is_deferred(table, columns));
}

}  // namespace
}  // namespace redquel::executor
