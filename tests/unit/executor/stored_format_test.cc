#include "executor/storage/stored_format.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/catalog/stored_keys.h"
#include "sql/error.h"

namespace redquel::executor {
namespace {

std::string sqlstate_of(std::optional<std::string_view> stored) {
  try {
    check_stored_format(stored);
  } catch (const sql::SqlError& error) {
    return std::string(error.sqlstate());
  }
  return "00000";
}

TEST(StoredFormat, OpensOlderDataAndItsOwn) {
  EXPECT_EQ(sqlstate_of(std::nullopt), "00000");
  EXPECT_EQ(sqlstate_of("0"), "00000");
  EXPECT_EQ(sqlstate_of(std::to_string(sql::kStoredFormat)), "00000");
}

TEST(StoredFormat, RefusesNewerData) {
  EXPECT_EQ(sqlstate_of(std::to_string(sql::kStoredFormat + 1)), "0A000");
  EXPECT_EQ(sqlstate_of("99999999999999999999"), "0A000");
}

TEST(StoredFormat, RefusesTextsThatAreNoNumbers) {
  for (const char* text : {"", "x", "-1", "1 ", "1.5"}) EXPECT_EQ(sqlstate_of(text), "XX001") << text;
}

}  // namespace
}  // namespace redquel::executor
