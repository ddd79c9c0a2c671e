#include <fmt/format.h>

#include <functional>

#include "sql/interrupts.h"
#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

/// Repetition in a hostile statement must end in an error, or in a plan that later stages can walk.
std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& piece,
                     std::string_view separator = ", ") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? std::string(separator) : "") + piece(i);
  return text;
}

std::string sqlstate_of(const std::string& statement) { return described(statement).substr(0, 5); }

TEST(BindLimits, LongButHarmless) {
  EXPECT_EQ(described("select " + repeated(
                                      1500, [](auto) { return "1"; }, "+")),
            "ok: ?column? integer,");
  EXPECT_EQ(described(repeated(
                500, [](auto) { return "select 1"; }, " union all ")),
            "ok: ?column? integer,");
  EXPECT_EQ(
      described("select a from t where a in (" + repeated(20'000, [](auto i) { return std::to_string(i); }) + ")"),
      "ok: a integer,");
  EXPECT_EQ(
      described("insert into t values " + repeated(5'000, [](auto i) { return fmt::format("({}, 'x', default)", i); })),
      "ok:");
  // WITH queries that are used twice are computed once.
  const auto doubling = [](std::size_t i) { return fmt::format("x{} as (select a.a from x{} a, x{} b)", i + 1, i, i); };
  EXPECT_EQ(described("with x0 as (select 1 a), " + repeated(40, doubling) + " select * from x40"), "ok: a integer,");
}

TEST(BindLimits, TooDeepOrTooMuch) {
  EXPECT_EQ(sqlstate_of("select 1 from " + repeated(3'000, [](auto i) { return fmt::format("t t{}", i); })), "54000");
  EXPECT_EQ(sqlstate_of("select " + repeated(3'000, [](auto) { return "(select 1)"; })), "54000");
  const auto chained = [](std::size_t i) { return fmt::format("x{} as (select * from x{})", i + 1, i); };
  EXPECT_EQ(sqlstate_of("with x0 as (select 1 a), " + repeated(3'000, chained) + " select * from x3000"), "54001");
  EXPECT_EQ(sqlstate_of("select " + std::string(100, '(') + "1" +
                        repeated(
                            100, [](auto) { return " between symmetric 1 and 2)::int"; }, "")),
            "54001");
  EXPECT_EQ(sqlstate_of("select " +
                        repeated(
                            100, [](auto) { return "case"; }, " ") +
                        " 1 " +
                        repeated(
                            100, [](auto) { return "when 1 then 2 when 3 then 4 end"; }, " ")),
            "54001");
}

TEST(BindLimits, WalksOverManyConstantsAreInterrupted) {
  const std::string statement =
      "select a from t where a in (" + repeated(20'000, [](auto i) { return std::to_string(i); }) + ")";
  sql::InListTest list{nullptr, sql::make_column(sql::kInt4, 1, "a"), {}, false};
  for (int i = 0; i < 20'000; ++i) list.list.push_back(sql::make_constant(sql::kInt4, i));
  const sql::ExpressionPtr test = sql::make_expression(sql::kBool, std::move(list));
  std::vector<std::uint32_t> columns;
  const std::vector<std::function<void()>> walks = {
      [&] { sql::is_volatile(*test); },
      [&] { sql::collect_columns(*test, columns); },
      [&] { sql::for_each_child(*test, [](const sql::ExpressionPtr&) {}); },
      [&] {
        sql::map_columns(
            test, [](const sql::Expression&, const sql::ColumnRef&) { return sql::make_constant(sql::kInt4, 1); });
      },
  };
  sql::Interrupts interrupts;
  const sql::InterruptScope scope(interrupts);
  for (const auto& walk : walks) EXPECT_NO_THROW(walk());
  interrupts.request_cancel();
  for (const auto& walk : walks) EXPECT_THROW(walk(), sql::SqlError);
  EXPECT_EQ(sqlstate_of(statement), "57014");
}

TEST(BindParameters, DeclaredTypesAreKept) {
  EXPECT_EQ(described("select a from t where a = $1", {sql::kInt8}), "ok: a integer, (bigint)");
  EXPECT_EQ(described("select $2, $1", {sql::kDate}), "ok: ?column? text, ?column? date, (date, text)");
  EXPECT_EQ(described("select $1 + 1", {sql::kBool}),
            "42883@10 operator does not exist: boolean + integer | No operator matches the given name and argument "
            "types. You "
            "might need to add explicit type casts.");
}

}  // namespace
}  // namespace redquel::planner
