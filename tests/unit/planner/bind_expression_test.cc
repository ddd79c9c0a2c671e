#include "planner/bind/bind_expression.h"

#include <fmt/format.h>

#include "parser/parse.h"
#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

enum class Use { kDefault, kCheck };

/// The bound expression of column s.n's DEFAULT or CHECK as text, or the error.
std::string bound_for_column(Use use, const std::string& expression) {
  static const sql::CatalogSnapshot catalog = test_catalog();
  const sql::TableDef& table = *catalog.tables.at(20004);
  try {
    const auto written = parser::parse_expression(expression);
    const auto bound = use == Use::kDefault ? bind_default(*written, table, table.columns[2], catalog, {})
                                            : bind_check(*written, table, {10, 11, 12}, catalog, {});
    return sql::to_string(*bound);
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
}

TEST(BindColumnExpression, DefaultsHaveTheColumnsType) {
  EXPECT_EQ(bound_for_column(Use::kDefault, "5"), "5");
  EXPECT_EQ(bound_for_column(Use::kDefault, "'7'"), "7");
  EXPECT_EQ(bound_for_column(Use::kDefault, "1.5"), "(1.5)::integer");
  EXPECT_EQ(bound_for_column(Use::kDefault, "'x'::text"),
            "42804 column \"n\" is of type integer but default expression is of type text | You will need to rewrite "
            "or cast the "
            "expression.");
  EXPECT_EQ(bound_for_column(Use::kDefault, "id"), "0A000 cannot use column reference in DEFAULT expression");
  EXPECT_EQ(bound_for_column(Use::kDefault, "(SELECT 1)"), "0A000 cannot use subquery in DEFAULT expression");
  EXPECT_EQ(bound_for_column(Use::kDefault, "max(1)"),
            "42803 aggregate functions are not allowed in DEFAULT expressions");
  EXPECT_EQ(bound_for_column(Use::kDefault, "generate_series(1, 2)"),
            "0A000 set-returning functions are not allowed in DEFAULT expressions");
  EXPECT_EQ(bound_for_column(Use::kDefault, "$1"), "42P02 there is no parameter $1");
}

TEST(BindColumnExpression, ChecksSeeTheRow) {
  EXPECT_EQ(bound_for_column(Use::kCheck, "n > 0 AND v <> ''"), "(n > 0) AND (v <> ''::text)");
  EXPECT_EQ(bound_for_column(Use::kCheck, "s.n > 0"), "n > 0");
  EXPECT_EQ(bound_for_column(Use::kCheck, "n"), "42804 argument of CHECK must be type boolean, not type integer");
  EXPECT_EQ(bound_for_column(Use::kCheck, "nope > 0"), "42703 column \"nope\" does not exist");
  EXPECT_EQ(bound_for_column(Use::kCheck, "EXISTS (SELECT 1)"), "0A000 cannot use subquery in check constraint");
  EXPECT_EQ(bound_for_column(Use::kCheck, "max(n) > 0"),
            "42803 aggregate functions are not allowed in check constraints");
}

}  // namespace
}  // namespace redquel::planner
