#include "sql/types/index_value.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

Datum value_of(Type type, std::string_view text) { return parse_value(type, text, {}); }

/// Values of a type that are close to each other and to its corners.
std::vector<Datum> sample(Type type, std::mt19937& random) {
  std::vector<Datum> values;
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  const auto letters = [&](std::string_view alphabet, int longest) {
    std::string text;
    for (int i = pick(0, longest); i > 0; --i)
      text.push_back(alphabet[static_cast<std::size_t>(pick(0, static_cast<int>(alphabet.size()) - 1))]);
    return text;
  };
  const auto add = [&](std::initializer_list<const char*> texts) {
    for (const char* text : texts) values.push_back(value_of(type, text));
  };
  switch (type.oid) {
    case oid::kNumeric:
      add({"0",       "0.00",    "1",        "1.0",       "1.00",
           "10",      "100",     "-1",       "-1.0",      "0.1",
           "-0.1",    "NaN",     "Infinity", "-Infinity", "1e5000",
           "-1e5000", "1e-3000", "-1e-3000", "12",        "1.2",
           "1.23",    "-12",     "-1.2",     "-1.23",     "123456789012345678901234567890"});
      for (int i = 0; i < 60; ++i) {
        const std::string digits = letters("0123456789", 25) + "7";
        const std::string text = (pick(0, 1) == 0 ? "-" : "") + digits + "e" + std::to_string(pick(-30, 10));
        values.push_back(value_of(type, text));
      }
      values.push_back(value_of(type, std::string(300, '1')));
      values.push_back(value_of(type, std::string(299, '1') + "2"));
      values.push_back(value_of(type, "-" + std::string(300, '1')));
      values.push_back(value_of(type, "-" + std::string(299, '1') + "2"));
      break;
    case oid::kInterval:
      add({"0", "1 day", "24 hours", "1 mon", "30 days", "-1 mon", "-720 hours", "1 year", "360 days",
           "-00:00:00.000001", "00:00:00.000001", "178956970 years", "-178956970 years", "2147483647 days",
           "-2147483648 days"});
      for (int i = 0; i < 60; ++i)
        values.emplace_back(Interval{pick(-5, 5) * kMicrosecondsPerDay / pick(1, 4), pick(-40, 40), pick(-3, 3)});
      break;
    case oid::kText:
    case oid::kBpchar:
      for (int i = 0; i < 80; ++i) values.emplace_back(letters("ab \x01\x7F\xC3\xA4", 4));
      values.emplace_back(std::string(255, 'x'));
      values.emplace_back(std::string(256, 'x'));
      values.emplace_back(std::string(257, 'x'));
      values.emplace_back(std::string(256, 'x') + "a");
      break;
    case oid::kBytea:
      for (int i = 0; i < 120; ++i) values.emplace_back(letters(std::string_view("\0\x01\xFF\xFE", 4), 5));
      for (const char last : {'\0', '\x01', '\xFF'}) {
        for (const std::size_t length : {253u, 254u, 255u, 256u}) {
          values.emplace_back(std::string(length, 'x') + last);
          values.emplace_back(std::string(length, 'x') + last + last);
          values.emplace_back(std::string(length, 'x'));
        }
      }
      break;
    case oid::kUuid:
      for (int i = 0; i < 60; ++i) {
        Uuid uuid;
        uuid.bytes[static_cast<std::size_t>(pick(0, 15))] = static_cast<std::uint8_t>(pick(0, 255));
        values.emplace_back(uuid);
      }
      break;
    case oid::kTime:
      add({"00:00", "00:00:00.000001", "09:59:59.9", "10:00", "23:59:59.999999", "24:00"});
      break;
    case oid::kBool:
      add({"t", "f"});
      break;
    case oid::kInt8:
      for (const std::int64_t around :
           {std::int64_t{0}, std::int64_t{1} << 53, std::numeric_limits<std::int64_t>::max() - 9})
        for (int i = -3; i < 9; ++i) values.emplace_back(around + i);
      values.emplace_back(std::numeric_limits<std::int64_t>::min());
      break;
    case oid::kFloat8:
      add({"0", "-0", "1", "-1", "NaN", "Infinity", "-Infinity", "1e308", "-1e308", "5e-324", "-5e-324", "0.1", "0.2",
           "0.30000000000000004"});
      break;
    case oid::kFloat4:
      add({"0", "-0", "0.1", "NaN", "Infinity", "-Infinity", "3.4e38", "1e-45"});
      break;
    case oid::kDate:
      add({"2000-01-01", "1999-12-31", "infinity", "-infinity", "5874897-12-31", "4714-11-24 BC"});
      break;
    case oid::kTimestamptz:
      add({"2000-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "9999-12-31 23:59:59.999998+00", "infinity",
           "-infinity", "294276-12-31", "4714-11-24 BC", "2020-01-01 00:00:00.000001+00"});
      break;
    default:
      add({"0", "1", "-1", "32767", "-32768"});
      break;
  }
  return values;
}

int sign(int order) { return (order > 0) - (order < 0); }

class OrderedForms : public testing::TestWithParam<Type> {};

TEST_P(OrderedForms, KeepTheOrderOfTheType) {
  const Type type = GetParam();
  std::mt19937 random(17);
  const std::vector<Datum> values = sample(type, random);
  std::vector<std::string> canonical, ordered;
  for (const Datum& value : values) {
    canonical.push_back(canonical_text(type, value));
    ordered.push_back(has_score(type) ? ordered_score(type, value) : ordered_member_prefix(type, value));
    EXPECT_EQ(compare(type, value, value_of(type, canonical.back())), 0) << canonical.back();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      const Datum &a = values[i], &b = values[j];
      const int order = sign(compare(type, a, b));
      const std::string shown = canonical[i].substr(0, 100) + " against " + canonical[j].substr(0, 100);
      EXPECT_EQ(order == 0, canonical[i] == canonical[j]) << shown;
      EXPECT_TRUE(order != 0 || hash(type, a) == hash(type, b)) << shown;
      if (has_score(type)) {
        const std::string &text_a = ordered[i], &text_b = ordered[j];
        const double score_a = std::strtod(text_a.c_str(), nullptr), score_b = std::strtod(text_b.c_str(), nullptr);
        EXPECT_EQ(score_a, score_of(type, a)) << text_a;
        const int score_order = (score_a > score_b) - (score_a < score_b);
        if (score_is_exact(type)) {
          EXPECT_EQ(score_order, order) << shown;
        } else {
          EXPECT_TRUE(score_order == order || score_order == 0) << shown;
        }
      } else {
        const std::string &prefix_a = ordered[i], &prefix_b = ordered[j];
        ASSERT_LE(prefix_a.size(), kMaxOrderedPrefix);
        // The form in a zset: the prefix, 0x00, the primary key.
        const std::string zero(1, '\0');
        const int member_order = sign((prefix_a + zero + "5").compare(prefix_b + zero + "5"));
        if (ordered_prefix_may_be_cut(prefix_a) || ordered_prefix_may_be_cut(prefix_b)) {
          EXPECT_TRUE(member_order == order || member_order == 0) << shown;
        } else {
          EXPECT_EQ(member_order, order) << shown;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, OrderedForms,
                         testing::Values(kNumeric, kInterval, kText, kBpchar, kBytea, kUuid, kTime, kBool, kInt2, kInt4,
                                         kInt8, kFloat4, kFloat8, kDate, kTimestamptz),
                         [](const auto& info) { return std::string(type_info(info.param.oid).name); });

TEST(CanonicalText, IsOneTextForEqualValues) {
  EXPECT_EQ(canonical_text(kNumeric, value_of(kNumeric, "1.00")), "1");
  EXPECT_EQ(canonical_text(kNumeric, value_of(kNumeric, "100")), "100");
  EXPECT_EQ(canonical_text(kFloat8, value_of(kFloat8, "-0")), "0");
  EXPECT_EQ(canonical_text(kInterval, value_of(kInterval, "24:00:00")), "1 day");
  EXPECT_EQ(canonical_text({oid::kBpchar, 9}, value_of(kBpchar, "ab   ")), "ab");
  EXPECT_EQ(canonical_text(kTimestamptz, value_of(kTimestamptz, "2020-01-01 02:00:00+02")), "2020-01-01 00:00:00+00");
  EXPECT_EQ(canonical_text(kBool, true), "t");
  EXPECT_FALSE(canonical_text_is_output(kNumeric));
  EXPECT_TRUE(canonical_text_is_output(kText));
}

TEST(OrderedScore, IsValidForZadd) {
  EXPECT_EQ(ordered_score(kInt4, 7), "7");
  EXPECT_EQ(ordered_score(kFloat8, std::nan("")), "+inf");
  EXPECT_EQ(ordered_score(kFloat8, -0.0), "0");
  EXPECT_EQ(ordered_score(kDate, kDateNegativeInfinity), "-inf");
  EXPECT_EQ(ordered_score(kInt8, (std::int64_t{1} << 53) + 1), "9007199254740992");
  EXPECT_TRUE(score_is_exact(kInt4));
  EXPECT_FALSE(score_is_exact(kInt8));
  EXPECT_FALSE(has_score(kText));
}

}  // namespace
}  // namespace redquel::sql
