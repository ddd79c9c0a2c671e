#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

struct Case {
  const char* statement;
  const char* error;  // as PostgreSQL 15 says it: SQLSTATE@byte offset message | detail | hint
};

class BindErrors : public testing::TestWithParam<Case> {};

TEST_P(BindErrors, ArePostgres) { EXPECT_EQ(bound(GetParam().statement), GetParam().error); }

CASES

}  // namespace
}  // namespace redquel::planner
