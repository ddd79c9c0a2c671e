#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "executor/operators/key_table.h"

namespace redquel::executor {
namespace {

sql::ColumnPtr share(sql::Column column) { return std::make_shared<const sql::Column>(std::move(column)); }
sql::ColumnPtr encoded(sql::Type type, const std::vector<std::string>& texts) {
  sql::Column column = sql::Column::encoded(type);
  for (const std::string& text : texts) text == "NULL" ? column.append_null() : column.append(text);
  return share(std::move(column));
}

TEST(KeyTableTest, NumbersInOrderOfAppearance) {
  for (const sql::Type type : {sql::kInt4, sql::kText, sql::kNumeric}) {
    KeyTable table(std::vector<sql::Type>{type}, KeyTable::Nulls::kEqual);
    const sql::ColumnPtr keys = decoded(encoded(type, {"5", "6", "NULL", "5", "NULL", "7"}));
    std::vector<RowNumber> numbers;
    table.find_or_add({&keys, 1}, 6, numbers);
    EXPECT_EQ(numbers, (std::vector<RowNumber>{0, 1, 2, 0, 2, 3}));
    EXPECT_EQ(std::vector<RowNumber>(table.added().begin(), table.added().end()), (std::vector<RowNumber>{0, 1, 2, 5}));
    const sql::ColumnPtr others = decoded(encoded(type, {"7", "8", "NULL"}));
    table.find({&others, 1}, 3, numbers);
    EXPECT_EQ(numbers, (std::vector<RowNumber>{3, kNoRow, 2}));
    table.find_or_add({&others, 1}, 3, numbers);
    EXPECT_EQ(numbers, (std::vector<RowNumber>{3, 4, 2}));
    EXPECT_EQ(table.size(), 5u);
    table.clear();
    table.find({&others, 1}, 3, numbers);
    EXPECT_EQ(numbers, (std::vector<RowNumber>{kNoRow, kNoRow, kNoRow}));
  }
}

/// Texts with the numbers that they have in a dictionary; "NULL" is NULL.
sql::ColumnPtr coded(const std::vector<std::string>& dictionary, const std::vector<std::uint16_t>& codes) {
  sql::Column column(sql::kText);
  for (const std::uint16_t code : codes) dictionary[code] == "NULL" ? column.append_null() : column.append(dictionary[code]);
  column.set_codes(std::make_shared<const sql::Column::Codes>(sql::Column::Codes{codes, dictionary.size(), &dictionary}));
  return share(std::move(column));
}

TEST(KeyTableTest, CodesOfDictionaries) {
  const std::vector<std::string> first{"red", "blue", "NULL", "red"}, second{"blue", "green", "NULL"}, sizes{"small", "large"};
  KeyTable table(std::vector<sql::Type>{sql::kText, sql::kText}, KeyTable::Nulls::kEqual);
  const auto numbers_of = [&](const std::vector<std::string>& colours, const std::vector<std::uint16_t>& colour_codes, const std::vector<std::uint16_t>& size_codes) {
    const std::vector<sql::ColumnPtr> keys{coded(colours, colour_codes), coded(sizes, size_codes)};
    std::vector<RowNumber> numbers;
    table.find_or_add(keys, colour_codes.size(), numbers);
    return numbers;
  };
  // Two codes of one dictionary may have one text.
  EXPECT_EQ(numbers_of(first, {0, 1, 3, 2, 0, 2}, {0, 0, 0, 1, 1, 1}), (std::vector<RowNumber>{0, 1, 0, 2, 3, 2}));
  EXPECT_EQ(std::vector<RowNumber>(table.added().begin(), table.added().end()), (std::vector<RowNumber>{0, 1, 3, 4}));
  EXPECT_EQ(numbers_of(first, {1, 0, 1}, {0, 0, 1}), (std::vector<RowNumber>{1, 0, 4}));
  EXPECT_EQ(std::vector<RowNumber>(table.added().begin(), table.added().end()), (std::vector<RowNumber>{2}));
  // The texts of another dictionary have other codes.
  EXPECT_EQ(numbers_of(second, {0, 1, 2, 0}, {0, 0, 1, 1}), (std::vector<RowNumber>{1, 5, 2, 4}));
  EXPECT_EQ(table.size(), 6u);
  table.clear();
  EXPECT_EQ(numbers_of(second, {1, 0}, {0, 0}), (std::vector<RowNumber>{0, 1}));
}

TEST(KeyTableTest, CodesOfKeysThatNeverMatch) {
  const std::vector<std::string> words{"a", "NULL", "b"};
  KeyTable table(std::vector<sql::Type>{sql::kText}, KeyTable::Nulls::kNeverMatch);
  for (int round = 0; round < 2; ++round) {
    const sql::ColumnPtr keys = coded(words, {1, 2, 0, 1, 2});
    std::vector<RowNumber> numbers;
    table.find_or_add({&keys, 1}, 5, numbers);
    EXPECT_EQ(numbers, (std::vector<RowNumber>{kNoRow, 0, 1, kNoRow, 0}));
  }
}

TEST(KeyTableTest, NullsThatNeverMatch) {
  KeyTable table(std::vector<sql::Type>{sql::kInt4, sql::kText}, KeyTable::Nulls::kNeverMatch);
  const std::vector<sql::ColumnPtr> keys = {decoded(encoded(sql::kInt4, {"1", "NULL", "1", "1"})),
                                            encoded(sql::kText, {"a", "a", "NULL", "a"})};
  std::vector<RowNumber> numbers;
  table.find_or_add(decoded(keys), 4, numbers);
  EXPECT_EQ(numbers, (std::vector<RowNumber>{0, kNoRow, kNoRow, 0}));
}

TEST(KeyTableTest, ConstantColumns) {
  KeyTable table(std::vector<sql::Type>{sql::kInt4, sql::kInt4}, KeyTable::Nulls::kEqual);
  const std::vector<sql::ColumnPtr> keys = {share(sql::Column::constant(sql::kInt4, std::int32_t{3}, 3)),
                                            decoded(encoded(sql::kInt4, {"1", "2", "1"}))};
  std::vector<RowNumber> numbers;
  table.find_or_add(keys, 3, numbers);
  EXPECT_EQ(numbers, (std::vector<RowNumber>{0, 1, 0}));
}

/// Integers lie in an array as long as they are close to each other, else in slots.
TEST(KeyTableTest, RandomIntegersInRangesOfEverySize) {
  const unsigned seed = std::random_device{}();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 200; ++round) {
    KeyTable table(std::vector<sql::Type>{sql::kInt8}, round % 2 == 0 ? KeyTable::Nulls::kEqual : KeyTable::Nulls::kNeverMatch);
    std::map<std::optional<std::int64_t>, RowNumber> expected;
    std::int64_t start = static_cast<std::int64_t>(random());
    for (int batch = 0; batch < 12; ++batch) {
      const std::uint64_t span = std::uint64_t{1} << random() % 64;
      if (random() % 4 == 0) start = random() % 2 == 0 ? static_cast<std::int64_t>(random()) : static_cast<std::int64_t>(random() % 10'000) - 5000;
      sql::Column column(sql::kInt8);
      std::vector<std::optional<std::int64_t>> keys;
      for (int row = 0; row < 300; ++row) {
        std::optional<std::int64_t> key;
        if (random() % 50 != 0) key = static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + (random() % 3 == 0 ? random() % span : random() % 3000));
        if (random() % 1000 == 0) key = random() % 2 == 0 ? INT64_MAX : INT64_MIN;
        keys.push_back(key);
        if (key) column.append(*key);
        else column.append_null();
      }
      const sql::ColumnPtr shared = share(std::move(column));
      std::vector<RowNumber> numbers;
      const bool only_finds = random() % 3 == 0;
      if (only_finds) table.find({&shared, 1}, keys.size(), numbers);
      else table.find_or_add({&shared, 1}, keys.size(), numbers);
      for (std::size_t row = 0; row < keys.size(); ++row) {
        const bool may_match = keys[row] || round % 2 == 0;
        if (may_match && !only_finds) expected.emplace(keys[row], static_cast<RowNumber>(expected.size()));
        const auto known = expected.find(keys[row]);
        ASSERT_EQ(numbers[row], known == expected.end() ? kNoRow : known->second) << "batch " << batch << ", row " << row;
      }
      ASSERT_EQ(table.size(), expected.size());
    }
  }
}

TEST(KeyTableTest, RandomKeysAgainstAMap) {
  const unsigned seed = std::random_device{}();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  KeyTable table(std::vector<sql::Type>{sql::kInt8, sql::kText}, KeyTable::Nulls::kEqual);
  std::map<std::pair<std::int64_t, std::string>, RowNumber> expected;
  for (int batch = 0; batch < 50; ++batch) {
    sql::Column numbers(sql::kInt8), texts(sql::kText);
    std::vector<RowNumber> wanted;
    for (int row = 0; row < 1000; ++row) {
      const auto number = static_cast<std::int64_t>(random() % 100) << (random() % 40);
      const std::string text(random() % 20, 'x');
      numbers.append(number);
      texts.append(text);
      wanted.push_back(expected.try_emplace({number, text}, static_cast<RowNumber>(expected.size())).first->second);
    }
    const std::vector<sql::ColumnPtr> keys = {share(std::move(numbers)), share(std::move(texts))};
    std::vector<RowNumber> found;
    table.find_or_add(keys, 1000, found);
    ASSERT_EQ(found, wanted);
  }
  EXPECT_EQ(table.size(), expected.size());
}

TEST(RowStoreTest, StaysEncodedWhileItCan) {
  RowStore store(std::vector<sql::Type>{sql::kInt4});
  const std::vector<RowNumber> both = {0, 1}, second = {1};
  sql::ColumnPtr column = encoded(sql::kInt4, {"5", "NULL"});
  store.append({&column, 1}, both);
  EXPECT_TRUE(store.columns()[0].is_encoded());
  column = decoded(encoded(sql::kInt4, {"6", "7"}));
  store.append({&column, 1}, second);
  EXPECT_FALSE(store.columns()[0].is_encoded());
  column = encoded(sql::kInt4, {"8", "9"});
  store.append({&column, 1}, second);
  store.append_nulls();
  const sql::Batch batch = store.slice(0, 5);
  EXPECT_EQ(batch.columns[0]->get<std::int32_t>(0), 5);
  EXPECT_TRUE(batch.columns[0]->is_null(1));
  EXPECT_EQ(batch.columns[0]->get<std::int32_t>(2), 7);
  EXPECT_EQ(batch.columns[0]->get<std::int32_t>(3), 9);
  EXPECT_TRUE(batch.columns[0]->is_null(4));
}

TEST(RowStoreTest, OutlivesItsBatchesAndItself) {
  sql::Batch kept;
  {
    RowStore store(std::vector<sql::Type>{sql::kText});
    for (int i = 0; i < 100; ++i) {
      const sql::ColumnPtr column = encoded(sql::kText, {"text number " + std::to_string(i)});
      store.append_all({1, {column}});
    }
    const std::vector<RowNumber> some = {99, 3};
    store.keep(some);
    EXPECT_LT(store.memory(), 200u);
    kept = store.take();
    EXPECT_EQ(store.rows(), 0u);
  }
  EXPECT_EQ(kept.columns[0]->get<std::string_view>(0), "text number 99");
  EXPECT_EQ(kept.columns[0]->get<std::string_view>(1), "text number 3");
}

}  // namespace
}  // namespace redquel::executor
