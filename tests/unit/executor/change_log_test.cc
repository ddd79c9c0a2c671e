#include "executor/storage/change_log.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "executor/storage/locks.h"
#include "executor/storage/row_buffer.h"
#include "sql/error.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {
namespace {

using Row = std::vector<sql::Datum>;

std::shared_ptr<const sql::TableDef> emp() {
  sql::TableDef table = sql::make_table("emp", {{"id", sql::kInt4}, {"name", sql::kText}, {"dept", sql::kInt4}}, {"id"});
  sql::add_index(table, {"name"}, true);
  return std::make_shared<const sql::TableDef>(std::move(table));
}

RowValues row(std::int32_t id, std::string name, std::int32_t dept) { return std::make_shared<const Row>(Row{id, std::move(name), dept}); }

/// Long enough that a few thousand rows are more than what stays in memory.
std::string long_name(int number) { return std::to_string(number) + std::string(1000, 'x'); }

TEST(PositionIndex, FindsPlacesByHashAndForgetsThem) {
  PositionIndex index;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> hashes;
  for (std::uint32_t position = 0; position < 1000; ++position) {
    // Many of them begin at few places.
    hashes.push_back(random() & 0xF00000FFFFFFFFFFULL);
    index.insert(hashes.back(), position);
  }
  const auto finds = [&](std::uint32_t position) {
    return index.find(hashes[position], [&](std::uint32_t found) { return found == position; }).has_value();
  };
  for (std::uint32_t position = 0; position < 1000; position += 2) index.erase(hashes[position], position);
  EXPECT_EQ(index.size(), 500U);
  for (std::uint32_t position = 0; position < 1000; ++position) EXPECT_EQ(finds(position), position % 2 == 1) << position;
  index.replace(hashes[1], 1, 5000);
  EXPECT_FALSE(finds(1));
  EXPECT_EQ(index.find(hashes[1], [](std::uint32_t found) { return found == 5000; }), 5000U);
}

TEST(ChangeLog, KeepsVersionsOfRowsInOrder) {
  ChangeLog log(emp());
  EXPECT_EQ(log.append("1", {nullptr, row(1, "a", 10)}), 0U);
  EXPECT_EQ(log.append("2", {row(2, "b", 20), nullptr}), 1U);
  EXPECT_EQ(log.append("1", {nullptr, row(1, "c", 30)}), 2U);
  EXPECT_EQ(log.rows(), 2U);
  EXPECT_EQ(log.find("1", 3), 2U);
  EXPECT_EQ(log.find("1", 2), 0U);
  EXPECT_EQ(log.find("1", 0), std::nullopt);
  EXPECT_EQ(log.find("3", 3), std::nullopt);
  EXPECT_TRUE(log.is_newest(2, *log.at(2), 3));
  EXPECT_FALSE(log.is_newest(0, *log.at(0), 3));
  EXPECT_TRUE(log.is_newest(0, *log.at(0), 2));
  EXPECT_EQ(log.pop()->before, 0U);
  EXPECT_EQ(log.find("1", 2), 0U);
  log.pop();
  log.pop();
  EXPECT_EQ(log.size(), 0U);
  EXPECT_EQ(log.rows(), 0U);
}

TEST(ChangeLog, ReturnsVersionsFromTheFile) {
  ChangeLog log(emp());
  constexpr int kRows = 20'000;
  for (int id = 0; id < kRows; ++id) log.append(std::to_string(id), {row(id, "old", -id), row(id, long_name(id), id), {2}});
  for (const int id : {0, 1, 63, 64, 65, 7777, kRows - 1}) {
    const ChangeLog::VersionPtr version = log.at(static_cast<ChangeLog::Position>(id));
    EXPECT_EQ(version->member, std::to_string(id));
    EXPECT_EQ(*version->row.stored, (Row{id, std::string("old"), -id}));
    EXPECT_EQ(*version->row.current, (Row{id, long_name(id), id}));
    EXPECT_EQ(version->row.increments, std::vector<std::size_t>{2});
    EXPECT_EQ(log.find(std::to_string(id), log.size()), static_cast<ChangeLog::Position>(id));
  }
  // Rows without values, NULLs, and versions taken back from the file.
  log.append("5", {row(5, "old", -5), nullptr});
  log.append("6", {nullptr, std::make_shared<const Row>(Row{6, sql::Datum(), sql::Datum()})});
  for (int id = kRows; id < 2 * kRows; ++id) log.append(std::to_string(id), {nullptr, row(id, long_name(id), id)});
  EXPECT_EQ(log.at(kRows)->row.current, nullptr);
  EXPECT_EQ(*log.at(kRows + 1)->row.current, (Row{6, sql::Datum(), sql::Datum()}));
  while (log.size() > 100) log.pop();
  EXPECT_EQ(log.rows(), 100U);
  EXPECT_EQ(log.find("5", 100), 5U);
  EXPECT_EQ(log.find("100", 100), std::nullopt);
  EXPECT_EQ(*log.at(99)->row.current, (Row{99, long_name(99), 99}));
}

/// In the hash of unique names.
std::string field_of(const sql::TableDef& table, const std::string& name) {
  const std::vector<std::int16_t> columns{table.columns[1].number};
  return sql::TableKeys(table).unique_field(columns, std::vector<sql::Datum>{name});
}

/// The buffer against a map, with savepoints.
TEST(RowBuffer, MatchesAMap) {
  const auto table = emp();
  RowBuffer buffer;
  struct State {
    std::map<std::string, std::int32_t> rows;  // member → dept, of rows that are there
    std::size_t mark = 0;
  };
  State now;
  std::vector<State> savepoints;
  std::mt19937 random(11);
  for (int step = 0; step < 30'000; ++step) {
    const int id = static_cast<int>(random() % 4000);
    const std::string member = std::to_string(id);
    const unsigned what = random() % 1000;
    if (what == 0) {
      now.mark = buffer.mark();
      savepoints.push_back(now);
    } else if (what == 1 && !savepoints.empty()) {
      now = savepoints.back();
      savepoints.pop_back();
      buffer.roll_back(now.mark);
    } else if (what < 200) {
      buffer.set(table, member, {nullptr, nullptr});
      now.rows.erase(member);
    } else {
      const auto dept = static_cast<std::int32_t>(step);
      buffer.set(table, member, {nullptr, row(id, long_name(id), dept)});
      now.rows[member] = dept;
    }
  }
  std::map<std::string, std::int32_t> seen;
  const TableChangesPtr changes = buffer.changes(table->oid);
  TableChanges::Walk walk(*changes);
  std::size_t walked = 0;
  while (const ChangeLog::VersionPtr version = walk.next()) {
    ++walked;
    if (version->row.current) seen[version->member] = std::get<std::int32_t>((*version->row.current)[2]);
  }
  EXPECT_EQ(seen, now.rows);
  EXPECT_EQ(walked, changes->size);
  const std::string uniques = sql::TableKeys(*table).uniques(std::vector<std::int16_t>{table->columns[1].number});
  for (int id = 0; id < 4000; ++id) {
    const std::string member = std::to_string(id);
    const std::optional<BufferedRow> found = buffer.find(table->oid, member);
    EXPECT_EQ(found && found->current, now.rows.contains(member)) << member;
    const std::vector<std::string> owner = now.rows.contains(member) ? std::vector{member} : std::vector<std::string>();
    EXPECT_EQ(buffer.owners(uniques, field_of(*table, long_name(id))), owner) << member;
  }
}

TEST(RowBuffer, KeepsTheVersionsOfAReader) {
  const auto table = emp();
  RowBuffer buffer;
  buffer.set(table, "1", {nullptr, row(1, "a", 1)});
  const TableChangesPtr before = buffer.changes(table->oid);
  buffer.set(table, "1", {nullptr, row(1, "b", 2)});
  buffer.set(table, "2", {nullptr, row(2, "c", 3)});
  EXPECT_EQ(std::get<std::int32_t>((*before->find("1")->row.current)[2]), 1);
  EXPECT_FALSE(before->contains("2"));
  TableChanges::Walk walk(*before);
  EXPECT_EQ(walk.next()->member, "1");
  EXPECT_EQ(walk.next(), nullptr);
  buffer.forget(table->oid);
  EXPECT_EQ(buffer.changes(table->oid), nullptr);
  EXPECT_TRUE(before->contains("1"));
  buffer.roll_back(buffer.mark() - 1);
  EXPECT_EQ(std::get<std::int32_t>((*buffer.find(table->oid, "1")->current)[2]), 2);
}

TEST(LockSet, ManyLocksComeBackFromTheFile) {
  LockSet locks;
  locks.token = "p.1.2";
  for (int number = 0; number < 25'000; ++number) locks.add_written(7, "r" + std::to_string(number));
  locks.add(8, "t");
  locks.add_written(8, "t");
  EXPECT_TRUE(locks.may_repeat());
  EXPECT_EQ(locks.size(), 25'001U);
  LockSet taken = locks.take();
  EXPECT_TRUE(locks.empty());
  EXPECT_EQ(locks.token, "p.1.2");
  LockSet::Fields all;
  for (std::size_t part = 0; part < taken.parts(); ++part) {
    for (auto& [table, fields] : taken.part(part)) all[table].insert(fields.begin(), fields.end());
  }
  EXPECT_EQ(all[7].size(), 25'000U);
  EXPECT_EQ(all[8], std::set<std::string>{"t"});
}

TEST(LockSet, ALockIsHeldOnce) {
  LockSet locks;
  locks.add_written(7, "r1");
  locks.add(7, "r1");
  EXPECT_EQ(locks.size(), 1U);
  EXPECT_TRUE(locks.contains(7, "r1"));
  EXPECT_FALSE(locks.may_repeat());
  locks.remove(7, "r1");
  EXPECT_TRUE(locks.empty());
}

}  // namespace
}  // namespace redquel::executor
