#include "sql/column.h"

#include <gtest/gtest.h>

#include "sql/error.h"
#include "sql/expressions/row_selection.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

std::vector<std::string> shown(const Column& column) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < column.size(); ++row) {
    std::string text;
    if (column.is_null(row)) {
      text = "NULL";
    } else {
      format_value(column, row, {}, text);
    }
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Column, HoldsValuesAndNulls) {
  Column column(kInt4);
  column.append(1);
  EXPECT_FALSE(column.has_nulls());
  column.append_null();
  column.append(3);
  EXPECT_EQ(shown(column), (Texts{"1", "NULL", "3"}));
  EXPECT_TRUE(is_null(column.datum(1)));
  EXPECT_EQ(std::get<std::int32_t>(column.datum(2)), 3);
}

TEST(Column, CopiesTextIntoItsArena) {
  Column column(kText);
  {
    std::string text = "gone soon";
    column.append(text);
    column.append_datum(Datum(text));
    column.append(std::string());
  }
  EXPECT_EQ(shown(column), (Texts{"gone soon", "gone soon", ""}));
}

TEST(Column, ConstantsStandForEveryRow) {
  const Column column = Column::constant(kText, std::string("x"), 3);
  EXPECT_TRUE(column.is_constant());
  EXPECT_EQ(shown(column), (Texts{"x", "x", "x"}));
  const std::vector<std::uint32_t> rows{2, 0};
  EXPECT_EQ(column.gather(rows).size(), 2u);
  EXPECT_EQ(shown(Column::constant(kInt4, {}, 2)), (Texts{"NULL", "NULL"}));
}

TEST(Column, GathersAndShares) {
  auto source = std::make_unique<Column>(kText);
  for (const char* text : {"a", "b", "c"}) source->append(std::string_view(text));
  source->append_null();
  const std::vector<std::uint32_t> rows{3, 1, 1};
  const Column gathered = source->gather(rows);
  Column appended(kText);
  appended.append_from(*source, 2);
  appended.append_from(*source, 3);
  source->append(std::string_view("later"));  // must not disturb what was shared
  source.reset();
  EXPECT_EQ(shown(gathered), (Texts{"NULL", "b", "b"}));
  EXPECT_EQ(shown(appended), (Texts{"c", "NULL"}));
}

TEST(Column, AppendsBehindSharedText) {
  Column first(kText);
  first.append(std::string_view("one"));
  Column second = first;
  second.append(std::string_view("two"));
  first.append(std::string_view("three"));
  EXPECT_EQ(shown(first), (Texts{"one", "three"}));
  EXPECT_EQ(shown(second), (Texts{"one", "two"}));
}

TEST(Column, DecodesStoredText) {
  for (const auto& [type, text] :
       std::vector<std::pair<Type, std::string>>{{kInt2, "-5"},
                                                 {kInt4, "42"},
                                                 {kInt8, "9223372036854775807"},
                                                 {kFloat4, "1.5"},
                                                 {kFloat8, "1e+20"},
                                                 {kNumeric, "12.340"},
                                                 {kBool, "t"},
                                                 {kText, "abc"},
                                                 {kBytea, "\\xdeadbeef"},
                                                 {kDate, "2020-02-29"},
                                                 {kTime, "12:34:56.789"},
                                                 {kTimestamp, "2020-02-29 12:34:56.789"},
                                                 {kTimestamptz, "2020-02-29 12:34:56.789+00"},
                                                 {kInterval, "1 year 2 mons"},
                                                 {kUuid, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}}) {
    Column column = Column::encoded(type);
    column.append_view(text);
    column.append_null();
    EXPECT_EQ(shown(column), (Texts{text, "NULL"}));
    const Column decoded = column.decode();
    EXPECT_FALSE(decoded.is_encoded());
    EXPECT_EQ(shown(decoded), (Texts{text, "NULL"}));
  }
  Column broken = Column::encoded(kInt4);
  broken.append_view("seven");
  EXPECT_THROW(broken.decode(), SqlError);
}

TEST(Column, PrintsStoredTextUnderTheSessionsSettings) {
  Column column = Column::encoded(kTimestamptz);
  column.append_view("2020-01-01 00:00:00+00");
  SessionSettings settings;
  settings.time_zone = "Europe/Berlin";
  std::string text;
  format_value(column, 0, settings, text);
  EXPECT_EQ(text, "2020-01-01 01:00:00+01");
  settings.date_style = DateStyle::kPostgres;
  text.clear();
  format_value(column, 0, settings, text);
  EXPECT_EQ(text, "Wed Jan 01 01:00:00 2020 CET");
  EXPECT_FALSE(output_is_storage_form(kTimestamptz, settings));
  settings = {.time_zone = "Etc/UTC"};
  EXPECT_TRUE(output_is_storage_form(kTimestamptz, settings));
}

TEST(Batch, GathersEveryColumn) {
  Batch batch{.rows = 3};
  Column numbers(kInt4);
  for (const std::int32_t value : {1, 2, 3}) numbers.append(value);
  batch.columns = {std::make_shared<const Column>(std::move(numbers)),
                   std::make_shared<const Column>(Column::constant(kText, std::string("c"), 3))};
  const std::vector<std::uint32_t> rows{2, 0};
  const Batch gathered = batch.gather(rows);
  EXPECT_EQ(gathered.rows, 2u);
  EXPECT_EQ(shown(*gathered.columns[0]), (Texts{"3", "1"}));
  EXPECT_EQ(shown(*gathered.columns[1]), (Texts{"c", "c"}));
  EXPECT_GT(batch.memory(), 0u);
}

TEST(CompareColumns, AgreesWithCompareOfDatums) {
  Column column(kBpchar);
  column.append(std::string_view("a "));
  column.append(std::string_view("a"));
  column.append(std::string_view("b"));
  EXPECT_EQ(compare(column, 0, column, 1), 0);
  EXPECT_LT(compare(column, 1, column, 2), 0);
  EXPECT_EQ(hash(column, 0), hash(column, 1));
  EXPECT_EQ(hash(column, 0), hash(kBpchar, std::string("a   ")));
}

TEST(Column, IsAssembledOfEncodedAndDecodedPieces) {
  Column texts = Column::encoded(kInt4), values(kInt4);
  texts.append(std::string_view("007"));
  texts.append_null();
  values.append(5);
  const auto share = [](const Column& column) { return std::make_shared<const Column>(column); };
  const Piece first{{2, 0}, share(texts)}, second{{3}, share(values)};
  const Column encoded = assembled(kInt4, 4, {{first}});
  EXPECT_TRUE(encoded.is_encoded());
  EXPECT_EQ(shown(encoded), (Texts{"NULL", "NULL", "007", "NULL"}));
  const Column mixed = assembled(kInt4, 4, {{first, second}});
  EXPECT_FALSE(mixed.is_encoded());
  EXPECT_EQ(shown(mixed), (Texts{"NULL", "NULL", "7", "5"}));
  EXPECT_EQ(shown(assembled(kInt4, 2, {})), (Texts{"NULL", "NULL"}));
}

}  // namespace
}  // namespace redquel::sql
