#include "executor/memory/packed_column.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

#include "executor/memory/member_set.h"
#include "executor/memory/position_map.h"
#include "sql/error.h"

namespace redquel::executor {
namespace {

using Texts = std::vector<std::optional<std::string>>;

PackedColumnPtr pack(sql::Type type, const Texts& texts) {
  ColumnPacker packer(type);
  for (const auto& text : texts) packer.append(text ? std::optional<std::string_view>(*text) : std::nullopt);
  return packer.finish();
}

/// The rows' texts, out of the column and out of the values that it gives.
void expect_texts(const PackedColumnPtr& packed, const Texts& texts) {
  ASSERT_EQ(packed->size(), texts.size());
  std::vector<std::uint32_t> rows(texts.size());
  std::iota(rows.begin(), rows.end(), 0);
  const sql::Column decoded = packed->gather(rows).decode();
  ColumnPacker again(packed->type());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    EXPECT_EQ(packed->text(row), texts[row]) << row;
    EXPECT_EQ(packed->is_null(row), !texts[row]) << row;
    EXPECT_EQ(decoded.is_null(row), !texts[row]) << row;
    again.append(decoded, row);
  }
  const PackedColumnPtr copied = again.finish();
  for (std::size_t row = 0; row < texts.size(); ++row) EXPECT_EQ(copied->text(row).has_value(), texts[row].has_value()) << row;
}

TEST(PackedColumnTest, TextsComeBack) {
  expect_texts(pack(sql::kInt4, {"5", "-7", std::nullopt, "0", "2147483647", "-2147483648"}),
               {"5", "-7", std::nullopt, "0", "2147483647", "-2147483648"});
  expect_texts(pack(sql::kInt8, {"9223372036854775807", "-9223372036854775808"}), {"9223372036854775807", "-9223372036854775808"});
  expect_texts(pack(sql::kNumeric, {"1.25", "-0.50", "100.00", std::nullopt, "1.5", "99999999999999999999999"}),
               {"1.25", "-0.50", "100.00", std::nullopt, "1.5", "99999999999999999999999"});
  expect_texts(pack(sql::kDate, {"2020-02-29", "infinity", std::nullopt}), {"2020-02-29", "infinity", std::nullopt});
  expect_texts(pack(sql::kText, {"", "a", std::nullopt, "ä"}), {"", "a", std::nullopt, "ä"});
  expect_texts(pack(sql::kBool, {"t", "f", std::nullopt}), {"t", "f", std::nullopt});
  expect_texts(pack(sql::kFloat8, {"0.1", "-0", "NaN"}), {"0.1", "-0", "NaN"});
}

TEST(PackedColumnTest, TextsThatAreNotCanonicalStayAsTheyAre) {
  Texts texts{"007", "7", "+5", std::nullopt, " 9"};
  expect_texts(pack(sql::kInt4, texts), texts);
  EXPECT_FALSE(pack(sql::kInt4, texts)->range());
  texts.clear();
  for (int i = 0; i < 1000; ++i) texts.push_back(i % 3 == 0 ? "0" + std::to_string(i) : std::to_string(i));
  expect_texts(pack(sql::kInt4, texts), texts);  // so many that the column is kept as texts
}

/// Values that are parsed one by one, as texts that are no canonical ones are, and values of canonical texts.
TEST(PackedColumnTest, CanonicalTextsAreTheValuesThatParsingGives) {
  const std::map<sql::Oid, std::vector<std::string>> texts{
      {sql::oid::kDate, {"2000-01-01", "0001-01-01", "9999-12-31", "1999-12-31", "2024-02-29", "2026-11-28", "0044-03-15 BC", "infinity", "10000-01-01"}},
      {sql::oid::kTimestamp,
       {"2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2026-11-28 15:04:05.25", "2026-11-28 15:04:05.000001", "-infinity", "0001-01-01 00:00:00"}},
      {sql::oid::kTimestamptz, {"2000-01-01 00:00:00+00", "2026-11-28 15:04:05.5+00", "infinity"}},
      {sql::oid::kNumeric, {"0.00", "-12.50", "12.50", "999999999999999.99", "-0.01", "NaN", "99999999999999999999.99"}},
      {sql::oid::kInt2, {"-32768", "32767", "0"}},
  };
  for (const auto& [oid, values] : texts) {
    const sql::Type type{oid};
    ColumnPacker packer(type);
    for (const std::string& text : values) packer.append(text);
    const PackedColumnPtr packed = packer.finish();
    std::vector<std::uint32_t> rows(values.size());
    std::iota(rows.begin(), rows.end(), 0);
    const sql::Column column = packed->gather(rows).decode();
    for (std::size_t row = 0; row < values.size(); ++row) {
      std::string shown;
      append_stored_text(type, column.datum(row), shown);
      EXPECT_EQ(shown, values[row]);
      EXPECT_EQ(packed->text(row), values[row]);
    }
  }
}

TEST(PackedColumnTest, TextsThatAreWrittenOtherwiseAreKeptWithTheirValues) {
  for (const auto& [type, text, value] : std::vector<std::tuple<sql::Type, std::string, std::string>>{
           {sql::kNumeric, "00.5", "0.5"}, {sql::kNumeric, "-0.0", "0.0"}, {sql::kNumeric, "1e3", "1000"}, {sql::kNumeric, "+1", "1"}, {sql::kDate, "2026-1-2", "2026-01-02"},
           {sql::kTimestamp, "2026-11-28 15:04:05.50", "2026-11-28 15:04:05.5"}, {sql::kTimestamp, "2026-11-28 24:00:00", "2026-11-29 00:00:00"}}) {
    const PackedColumnPtr packed = pack(type, {text});
    const std::uint32_t row = 0;
    std::string shown;
    append_stored_text(type, packed->gather({&row, 1}).decode().datum(0), shown);
    EXPECT_EQ(shown, value);
    EXPECT_EQ(packed->text(0), text);
  }
}

TEST(PackedColumnTest, RefusesTextsThatAreNoUtf8UnlessTheyAreNames) {
  EXPECT_THROW(pack(sql::kText, {"\xff"}), sql::SqlError);
  ColumnPacker names(sql::kText);
  names.take_any_text();
  names.append("\xff");
  EXPECT_EQ(names.finish()->text(0), "\xff");
  names.append("\xfe");
  EXPECT_EQ(names.finish()->text(0), "\xfe");
}

TEST(PackedColumnTest, RefusesTextsThatAreNoValues) {
  EXPECT_THROW(pack(sql::kInt4, {"five"}), sql::SqlError);
  EXPECT_THROW(pack(sql::kDate, {"2021-02-29"}), sql::SqlError);
  EXPECT_THROW(pack(sql::kDate, {"0000-01-01"}), sql::SqlError);
  EXPECT_THROW(pack(sql::kTimestamp, {"2021-02-28 25:00:00"}), sql::SqlError);
  EXPECT_THROW(pack(sql::kNumeric, {"1.2.3"}), sql::SqlError);
  Texts integers{"x"};
  for (int i = 0; i < 200; ++i) integers.insert(integers.begin(), "0" + std::to_string(i));
  EXPECT_THROW(pack(sql::kInt4, integers), sql::SqlError);  // behind so many that the column is kept as texts
}

TEST(PackedColumnTest, RangeIsThatOfTheValues) {
  EXPECT_EQ(pack(sql::kInt4, {"5", std::nullopt, "-3"})->range(), (std::pair<std::int64_t, std::int64_t>(-3, 5)));
  EXPECT_FALSE(pack(sql::kInt4, {std::nullopt})->range());
  EXPECT_FALSE(pack(sql::kText, {"5"})->range());
}

TEST(PackedColumnTest, WidthsOfIntegers) {
  for (const auto& [largest, width] : std::map<std::int64_t, int>{{255, 1}, {256, 2}, {65535, 2}, {65536, 4}, {4294967295, 4}, {4294967296, 8}}) {
    const PackedColumnPtr column = pack(sql::kInt8, {"0", std::to_string(largest)});
    EXPECT_EQ(std::get<PackedColumn::Integers>(column->values()).width, width) << largest;
    EXPECT_EQ(std::get<PackedColumn::Integers>(column->values()).value(1), largest);
  }
}

TEST(PackedColumnTest, DictionaryOfRepeatedTexts) {
  Texts texts;
  for (int i = 0; i < 3000; ++i) texts.push_back(i % 10 == 9 ? std::nullopt : std::optional("text " + std::to_string(i % 700)));
  const PackedColumnPtr column = pack(sql::kText, texts);
  const auto& dictionary = std::get<PackedColumn::Dictionary>(column->values());
  EXPECT_EQ(dictionary.width, 2);
  std::vector<std::uint32_t> codes(dictionary.ends.size());
  std::iota(codes.begin(), codes.end(), 0);
  const sql::Column values = column->dictionary_values(codes);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::uint32_t code = dictionary.code(row);
    ASSERT_EQ(values.is_null(code), !texts[row]);
    if (!texts[row]) continue;
    EXPECT_EQ(values.get<std::string_view>(code), *texts[row]);
  }
  expect_texts(column, texts);
}

TEST(PackedColumnTest, NullIsNoTextOfADictionary) {
  for (const Texts& texts : {Texts{}, Texts{std::nullopt}, Texts{std::nullopt, "a", std::nullopt}, Texts{"", std::nullopt}, Texts{"a"}}) {
    const PackedColumnPtr column = pack(sql::kText, texts);
    const auto& dictionary = std::get<PackedColumn::Dictionary>(column->values());
    std::set<std::string> different;
    for (const auto& text : texts) {
      if (text) different.insert(*text);
    }
    ASSERT_EQ(dictionary.null_code(), different.size());
    for (std::size_t row = 0; row < texts.size(); ++row) EXPECT_EQ(dictionary.code(row) == dictionary.null_code(), !texts[row]);
    expect_texts(column, texts);
  }
  EXPECT_THROW(pack(sql::Type{sql::oid::kJsonb}, {""}), sql::SqlError);
}

TEST(PositionMapTest, RandomMembersAgainstAMap) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  PositionMap positions;
  std::vector<std::string> members;  // by position
  std::map<std::string, std::uint32_t> expected;
  const auto member_at = [&](std::uint32_t position) { return members[position]; };
  for (int step = 0; step < 20'000; ++step) {
    const std::string member = std::to_string(random() % 900);
    const auto is_member = [&](std::uint32_t position) { return members[position] == member; };
    const auto known = expected.find(member);
    const std::uint32_t before = known == expected.end() ? PositionMap::kNone : known->second;
    ASSERT_EQ(positions.find(member, is_member), before);
    switch (random() % 5) {
      case 0:
        positions.erase(member, is_member, member_at);
        expected.erase(member);
        break;
      case 1:
        positions.reserve(random() % 2000, member_at);
        break;
      default:
        members.push_back(member);
        ASSERT_EQ(positions.set(member, static_cast<std::uint32_t>(members.size() - 1), is_member, member_at), before);
        expected[member] = static_cast<std::uint32_t>(members.size() - 1);
    }
    ASSERT_EQ(positions.size(), expected.size());
  }
}

TEST(MemberSetTest, HoldsEachMemberOnceAndGivesThemBack) {
  MemberSet members;
  std::set<std::string> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 3 == 0 && !members.empty()) {
      EXPECT_EQ(expected.erase(members.take()), 1u);
    } else {
      const std::string member = random() % 50 == 0 ? "" : std::to_string(random() % 3000);
      members.insert(member);
      expected.insert(member);
    }
    ASSERT_EQ(members.size(), expected.size());
  }
  while (!members.empty()) EXPECT_EQ(expected.erase(members.take()), 1u);
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace redquel::executor
