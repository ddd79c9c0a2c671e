#include "server/run_time_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/ascii.h"
#include "sql/error.h"

namespace redquel::server {
namespace {

class RunTimeParametersTest : public testing::Test {
 protected:
  executor::SessionState state;
  RunTimeParameters parameters{state, {{"port", "5433"}}};

  std::string set(std::string_view name, std::string_view value) {
    try {
      parameters.set(name, value);
    } catch (const sql::SqlError& error) {
      std::string text = error.sqlstate() + " " + error.message();
      if (!error.detail().empty()) text += " D " + error.detail();
      if (!error.hint().empty()) text += " H " + error.hint();
      return text;
    }
    return parameters.show(name);
  }
};

TEST_F(RunTimeParametersTest, TheTableIsInOrderAndConsistent) {
  std::string last;
  for (const ParameterDefinition& definition : parameter_definitions()) {
    EXPECT_LT(last, lower_case(definition.name));
    last = lower_case(definition.name);
    if (definition.kind == ParameterKind::kEnumeration) {
      EXPECT_NE(definition.traits.choices, "") << definition.name;
    }
    // The initial value is one that SET would accept and keep.
    if (definition.context != ParameterContext::kUser) continue;
    const std::string shown = parameters.show(definition.name);
    if (shown != "none") {
      EXPECT_EQ(set(definition.name, shown), shown) << definition.name;
    }
  }
}

TEST_F(RunTimeParametersTest, Integers) {
  EXPECT_EQ(set("work_mem", "10MB"), "10MB");
  EXPECT_EQ(state.work_mem, 10u << 20);
  EXPECT_EQ(set("work_mem", "100"), "100kB");
  EXPECT_EQ(set("work_mem", "0x100"), "256kB");
  EXPECT_EQ(set("work_mem", "1.5MB"), "1536kB");
  EXPECT_EQ(set("work_mem", "1"),
            "22023 1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)");
  EXPECT_EQ(set("work_mem", "100B"),
            "22023 0 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)");
  EXPECT_EQ(set("work_mem", "abc"), "22023 invalid value for parameter \"work_mem\": \"abc\"");
  EXPECT_EQ(set("work_mem", "1xx"),
            "22023 invalid value for parameter \"work_mem\": \"1xx\" H "
            "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
  EXPECT_EQ(set("work_mem", "99999999999"),
            "22023 invalid value for parameter \"work_mem\": \"99999999999\" H Value exceeds integer range.");
  EXPECT_EQ(set("statement_timeout", "1.5s"), "1500ms");
  EXPECT_EQ(parameters.statement_timeout_ms(), 1500);
  EXPECT_EQ(set("statement_timeout", "1min"), "1min");
  EXPECT_EQ(set("statement_timeout", "1500us"), "2ms");
  EXPECT_EQ(set("statement_timeout", "0"), "0");
  EXPECT_EQ(set("statement_timeout", "-1"),
            "22023 -1 ms is outside the valid range for parameter \"statement_timeout\" (0 .. 2147483647)");
  EXPECT_EQ(set("extra_float_digits", "4"),
            "22023 4 is outside the valid range for parameter \"extra_float_digits\" (-15 .. 3)");
}

TEST_F(RunTimeParametersTest, OtherKinds) {
  EXPECT_EQ(set("enable_seqscan", "of"), "off");
  EXPECT_EQ(set("enable_seqscan", "maybe"), "22023 parameter \"enable_seqscan\" requires a Boolean value");
  EXPECT_EQ(set("client_min_messages", "WARNING"), "warning");
  EXPECT_EQ(set("bytea_output", "foo"),
            "22023 invalid value for parameter \"bytea_output\": \"foo\" H Available values: escape, hex.");
  EXPECT_EQ(set("seq_page_cost", "1.25"), "1.25");
  EXPECT_EQ(set("seq_page_cost", "-1"),
            "22023 -1 is outside the valid range for parameter \"seq_page_cost\" (0 .. 1.79769e+308)");
  EXPECT_EQ(set("application_name", "h\xc3\xa4"), "h??");
  EXPECT_EQ(set("client_encoding", "iso-8859-1"), "LATIN1");
  EXPECT_EQ(set("client_encoding", "nix"), "22023 invalid value for parameter \"client_encoding\": \"nix\"");
}

TEST_F(RunTimeParametersTest, DateStyle) {
  EXPECT_EQ(set("datestyle", "german"), "German, DMY");
  EXPECT_EQ(state.settings.date_style, sql::DateStyle::kGerman);
  EXPECT_EQ(set("datestyle", "iso"), "ISO, DMY");
  EXPECT_EQ(set("datestyle", "sql, mdy"), "SQL, MDY");
  EXPECT_EQ(
      set("datestyle", "iso, sql"),
      "22023 invalid value for parameter \"DateStyle\": \"iso, sql\" D Conflicting \"datestyle\" specifications.");
  EXPECT_EQ(set("datestyle", "foo"),
            "22023 invalid value for parameter \"DateStyle\": \"foo\" D Unrecognized key word: \"foo\".");
  parameters.reset("datestyle");
  EXPECT_EQ(parameters.show("DATESTYLE"), "ISO, MDY");
}

TEST_F(RunTimeParametersTest, SearchPath) {
  EXPECT_EQ(state.written_path, (std::vector<std::string>{"$user", "public"}));
  EXPECT_EQ(RunTimeParameters::join_values("search_path", {"a", "B c", "public"}), "a, \"B c\", public");
  EXPECT_EQ(set("search_path", "a, \"B c\", Public"), "a, \"B c\", Public");
  EXPECT_EQ(state.search_path, (std::vector<std::string>{"a", "B c", "public"}));
  EXPECT_EQ(set("search_path", "\"\""), "\"\"");
  EXPECT_TRUE(state.search_path.empty());
  EXPECT_THROW(RunTimeParameters::join_values("work_mem", {"1", "2"}), sql::SqlError);
}

TEST_F(RunTimeParametersTest, Names) {
  EXPECT_EQ(set("foo", "1"), "42704 unrecognized configuration parameter \"foo\"");
  EXPECT_THROW(parameters.show("foo.bar"), sql::SqlError);
  EXPECT_EQ(set("foo.bar", "x"), "x");
  EXPECT_EQ(set("FOO.bar.baz", "y"), "y");
  EXPECT_EQ(set("1foo.bar", "x"),
            "42602 invalid configuration parameter name \"1foo.bar\" D "
            "Custom parameter names must be two or more simple identifiers separated by dots.");
  EXPECT_EQ(set("redquel.nix", "x"),
            "42602 invalid configuration parameter name \"redquel.nix\" D \"redquel\" is a reserved prefix.");
  parameters.reset("foo.bar");
  EXPECT_EQ(parameters.show("foo.bar"), "");
  EXPECT_EQ(set("server_version", "1"), "55P02 parameter \"server_version\" cannot be changed");
  EXPECT_EQ(set("max_connections", "1"),
            "55P02 parameter \"max_connections\" cannot be changed without restarting the server");
}

TEST_F(RunTimeParametersTest, UnsupportedValuesAreRefused) {
  EXPECT_EQ(set("standard_conforming_strings", "off"),
            "0A000 standard_conforming_strings = off is not supported by redquel");
}

TEST_F(RunTimeParametersTest, ATransactionTakesItsSettingsBack) {
  set("work_mem", "8MB");
  parameters.begin_transaction();
  set("work_mem", "16MB");
  const std::size_t mark = parameters.mark();
  set("my.own", "one");
  parameters.set("work_mem", "32MB", true);
  EXPECT_EQ(parameters.show("work_mem"), "32MB");
  parameters.roll_back_to(mark);
  EXPECT_EQ(parameters.show("work_mem"), "16MB");
  parameters.set("work_mem", "64MB", true);
  parameters.end_transaction(true);
  EXPECT_EQ(parameters.show("work_mem"), "16MB");
  parameters.begin_transaction();
  set("work_mem", "1MB");
  parameters.set("transaction_read_only", "on");
  parameters.end_transaction(false);
  EXPECT_EQ(parameters.show("work_mem"), "16MB");
  EXPECT_EQ(parameters.show("transaction_read_only"), "off");
}

TEST_F(RunTimeParametersTest, TransactionsStartWithTheDefaults) {
  set("default_transaction_isolation", "serializable");
  EXPECT_EQ(parameters.show("transaction_isolation"), "serializable");
  EXPECT_EQ(state.modes.isolation, executor::IsolationLevel::kSerializable);
}

TEST_F(RunTimeParametersTest, ChangesAreReportedOnce) {
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters.reported()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"application_name", "client_encoding", "DateStyle",
                                             "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
                                             "IntervalStyle", "is_superuser", "server_encoding", "server_version",
                                             "session_authorization", "standard_conforming_strings", "TimeZone"}));
  EXPECT_TRUE(parameters.take_changes().empty());
  parameters.set("datestyle", "sql");
  parameters.set("datestyle", "iso");
  parameters.set("work_mem", "1MB");
  EXPECT_TRUE(parameters.take_changes().empty());
  parameters.set("timezone", "UTC");
  parameters.set("application_name", "x");
  EXPECT_EQ(parameters.take_changes(), (std::vector<ParameterValue>{{"application_name", "x"}}));
  EXPECT_TRUE(parameters.take_changes().empty());
}

TEST_F(RunTimeParametersTest, ResetGoesBackToTheStart) {
  parameters.set_at_start("work_mem", "1MB");
  parameters.set_at_start("my.own", "a");
  parameters.set("work_mem", "2MB");
  parameters.set("my.own", "b");
  parameters.reset_all();
  EXPECT_EQ(parameters.show("work_mem"), "1MB");
  EXPECT_EQ(parameters.show("my.own"), "a");
  EXPECT_EQ(parameters.show("port"), "5433");
}

}  // namespace
}  // namespace redquel::server
