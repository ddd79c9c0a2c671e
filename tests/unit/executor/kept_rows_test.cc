#include "executor/runtime/kept_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "executor/memory/packed_column.h"

namespace redquel::executor {
namespace {

using Values = std::vector<std::optional<std::string>>;

PackedColumnPtr packed(sql::Type type, const Values& texts) {
  ColumnPacker packer(type);
  for (const auto& text : texts) packer.append(text ? std::optional<std::string_view>(*text) : std::nullopt);
  return packer.finish();
}

sql::ColumnPtr some_of(sql::ColumnSourcePtr source, const sql::Selection& rows) {
  return std::make_shared<const sql::Column>(sql::Column::selected(std::move(source), rows));
}

sql::Selection rows_of(std::vector<std::uint32_t> rows) { return std::make_shared<const std::vector<std::uint32_t>>(std::move(rows)); }

/// The stored texts of a column.
Values texts_of(const sql::Column& column) {
  Values texts;
  const sql::Column values = column.is_encoded() ? column : column.decode();
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.is_null(row)) {
      texts.emplace_back();
    } else if (column.is_encoded()) {
      texts.emplace_back(column.get<std::string_view>(row));
    } else {
      append_stored_text(column.type(), column.datum(row), texts.emplace_back().emplace());
    }
  }
  return texts;
}

std::vector<RowNumber> all(std::size_t count) { return row_range(0, count); }

/// Rows of two chunks of (integer, text), and a computed column beside them.
class KeptRowsTest : public testing::Test {
 protected:
  KeptRowsTest() {
    for (int i = 0; i < 100; ++i) {
      numbers_.push_back(i % 10 == 3 ? std::nullopt : std::optional(std::to_string(i * 7)));
      words_.push_back("word " + std::to_string(i % 4));
      computed_.append(std::int64_t{i});
    }
    numbers_[50] = "007";  // not as redquel writes it
  }

  sql::Batch batch(std::uint32_t first, std::uint32_t count) const {
    std::vector<std::uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), first);
    const sql::Selection selection = rows_of(rows);
    const bool is_second = first >= 50;
    const Values numbers(numbers_.begin() + (is_second ? 50 : 0), numbers_.begin() + (is_second ? 100 : 50));
    const Values words(words_.begin() + (is_second ? 50 : 0), words_.begin() + (is_second ? 100 : 50));
    std::vector<std::uint32_t> in_chunk = rows;
    for (std::uint32_t& row : in_chunk) row -= is_second ? 50 : 0;
    const sql::Selection chunk_rows = rows_of(in_chunk);
    return {count, {some_of(packed(sql::kInt4, numbers), chunk_rows), some_of(packed(sql::kText, words), chunk_rows), std::make_shared<const sql::Column>(computed_.gather(rows))}};
  }

  void expect_row(const KeptRows& kept, std::vector<RowNumber> rows, const std::vector<int>& sources) const {
    const sql::Batch given = kept.gather(rows);
    ASSERT_EQ(given.rows, sources.size());
    const Values numbers = texts_of(*given.columns[0]), words = texts_of(*given.columns[1]), computed = texts_of(*given.columns[2]);
    EXPECT_EQ(texts_of(kept.gather(1, rows)), words);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const bool is_null = sources[i] < 0;
      EXPECT_EQ(words[i], is_null ? std::nullopt : words_[static_cast<std::size_t>(sources[i])]) << i;
      EXPECT_EQ(computed[i], is_null ? std::nullopt : std::optional(std::to_string(sources[i]))) << i;
      if (sources[i] != 50) {
        EXPECT_EQ(numbers[i], is_null ? std::nullopt : numbers_[static_cast<std::size_t>(sources[i])]) << i;
      }
    }
  }

  Values numbers_, words_;
  sql::Column computed_{sql::kInt8};
};

const std::vector<sql::Type> kTypes = {sql::kInt4, sql::kText, sql::kInt8};

TEST_F(KeptRowsTest, ColumnsOfChunksAreKeptByPosition) {
  KeptRows kept(kTypes);
  for (const std::uint32_t first : {0U, 25U, 50U, 75U}) kept.append(batch(first, 25).columns, all(25));
  EXPECT_EQ(kept.rows(), 100u);
  const std::size_t computed = 100 * (8 + 1);
  EXPECT_LE(kept.memory(), computed + 2 * 100 * sizeof(RowNumber)) << "both columns share their positions";
  std::vector<int> sources(100);
  std::iota(sources.begin(), sources.end(), 0);
  expect_row(kept, all(100), sources);
  kept.finish();
  expect_row(kept, all(100), sources);
  expect_row(kept, {99, 0, 50, 49, 3}, {99, 0, 50, 49, 3});
  std::vector<RowNumber> backwards(sources.rbegin(), sources.rend());
  std::ranges::reverse(sources);
  expect_row(kept, backwards, sources);
}

TEST_F(KeptRowsTest, RowsOfNullsAndRowsThatAreLeftOut) {
  KeptRows kept(kTypes);
  kept.append(batch(0, 40).columns, all(40));
  kept.append(batch(60, 40).columns, all(40));
  std::vector<RowNumber> even;
  for (RowNumber row = 0; row < 80; row += 2) even.push_back(row);
  kept.keep(even);
  kept.append_nulls();
  kept.finish();
  std::vector<int> sources;
  for (const RowNumber row : even) sources.push_back(static_cast<int>(row < 40 ? row : row + 20));
  sources.push_back(-1);
  expect_row(kept, all(41), sources);
  expect_row(kept, {40, 1}, {-1, 2});
}

TEST_F(KeptRowsTest, ColumnsThatWereReadAreCopied) {
  KeptRows kept(kTypes);
  kept.append(batch(0, 40).columns, all(40));
  const sql::Batch second = batch(50, 40);
  EXPECT_FALSE(second.columns[0]->is_encoded() && second.columns[1]->is_encoded());  // reads both
  EXPECT_EQ(second.columns[1]->unread(), nullptr);
  kept.append(second.columns, all(40));
  kept.finish();
  std::vector<int> sources(40);
  std::iota(sources.begin(), sources.end(), 0);
  for (int i = 50; i < 90; ++i) sources.push_back(i);
  expect_row(kept, all(80), sources);
}

TEST_F(KeptRowsTest, KeptRowsOfKeptRows) {
  KeptRows inner(kTypes);
  inner.append(batch(0, 50).columns, all(50));
  inner.append(batch(50, 50).columns, all(50));
  inner.append_nulls();
  inner.finish();
  std::vector<RowNumber> rows = {100};
  std::vector<int> sources = {-1};
  for (RowNumber row = 99; row > 20; row -= 2) {
    rows.push_back(row);
    sources.push_back(static_cast<int>(row));
  }
  KeptRows outer(kTypes);
  outer.append(inner.gather(rows).columns, all(rows.size()));
  outer.append_nulls();
  outer.finish();
  sources.push_back(-1);
  expect_row(outer, all(sources.size()), sources);
}

TEST_F(KeptRowsTest, SelectedColumnsReadOnlyTheirRows) {
  const sql::Batch rows = batch(0, 50);
  const sql::Batch some = rows.gather(all(40)).gather(std::vector<std::uint32_t>(33, 7));
  ASSERT_NE(some.columns[0]->unread(), nullptr);
  EXPECT_EQ(some.columns[0]->unread()->rows, some.columns[1]->unread()->rows) << "columns of one scan share a selection";
  EXPECT_NE(rows.columns[0]->unread(), nullptr);
  EXPECT_EQ(texts_of(*some.columns[0]), Values(33, "49"));
  EXPECT_EQ(some.columns[0]->unread(), nullptr);
  EXPECT_EQ(texts_of(*some.columns[2]), Values(33, "7"));
  EXPECT_EQ(texts_of(rows.columns[1]->gather(std::vector<std::uint32_t>{5, 2})), (Values{"word 1", "word 2"}));
}

}  // namespace
}  // namespace redquel::executor
