#include "parser/statement_shape.h"

#include <gtest/gtest.h>

namespace redquel::parser {
namespace {

TEST(StatementShape, ConstantsAndParametersAreNumbered) {
  EXPECT_EQ(normalize_statement("SELECT 1, 'a''b', E'\\'', $q$x$q$, 1.5e-3, $7 FROM t1 WHERE \"a'1\" = -2"),
            "SELECT $1, $2, $3, $4, $5, $6 FROM t1 WHERE \"a'1\" = -$7");
}

TEST(StatementShape, SpaceAndCommentsAroundAreLeftOut) {
  EXPECT_EQ(normalize_statement(" /* x */ SELECT /* 1 */ 1 ; -- 2"), normalize_statement("SELECT /* 1 */ 3"));
  EXPECT_EQ(normalize_statement("SELECT 1 -- i"), "SELECT $1");
}

TEST(StatementShape, OtherStatementsKeepTheirConstants) { EXPECT_EQ(normalize_statement("SET x = 'y';"), "SET x = 'y'"); }

TEST(StatementShape, PasswordsAreHidden) {
  EXPECT_EQ(normalize_statement("CREATE ROLE a PASSWORD 'b'"), "CREATE ROLE a PASSWORD '********'");
  EXPECT_EQ(hide_secrets("ALTER ROLE a password $$b$$ VALID UNTIL 'c'"), "ALTER ROLE a password '********' VALID UNTIL '********'");
  EXPECT_EQ(hide_secrets("CREATE USER MAPPING FOR a SERVER redis OPTIONS (user 'u', \"password\" 'b"),
            "CREATE USER MAPPING FOR a SERVER redis OPTIONS (user 'u', \"password\" '********'");
  EXPECT_EQ(hide_secrets("ALTER ROLE a PASSWORD b"), "ALTER ROLE a PASSWORD '********'");
  EXPECT_EQ(hide_secrets("ALTER ROLE a PASSWORD NULL"), "ALTER ROLE a PASSWORD NULL");
  EXPECT_EQ(hide_secrets("SELECT user, password FROM t"), "SELECT user, password FROM t");
  EXPECT_EQ(hide_secrets("x OPTIONS (U&\"p\\0061ssword\" 'b')"), "x OPTIONS (U&\"p\\0061ssword\" '********')");
}

TEST(StatementShape, AnyTextEnds) {
  for (const char* text : {"", "'", "\"", "$", "$$", "$a", "/*", "/*/*", "--", "E'\\", "U&", "U&'", "1e", "1e+", ".", "((", "SELECT '", "SELECT /*"}) {
    normalize_statement(text);
    EXPECT_EQ(hide_secrets(text), text);
  }
}

}  // namespace
}  // namespace redquel::parser
