#include <filesystem>
#include <fstream>

#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

/// Columns, parameter types and errors of a few hundred statements, as PostgreSQL 15 has them:
/// data/generate_bind_cases.py.
TEST(BindCases, MatchPostgres) {
  std::ifstream file("tests/unit/planner/data/bind_cases.txt");  // run from the root of the tree
  ASSERT_TRUE(file);
  std::string statement, expected;
  std::size_t count = 0;
  while (std::getline(file, statement) && std::getline(file, expected)) {
    EXPECT_EQ(described(statement), expected) << statement;
    ++count;
  }
  EXPECT_GT(count, 300u);
}

}  // namespace
}  // namespace redquel::planner
