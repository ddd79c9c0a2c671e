#include <string>

#include "executor/scripts/scripts.h"
#include "executor/storage/write_encoding.h"
#include "tests/unit/executor/write_unit_fixture.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kText;

class WriteUnitProgramTest : public EmployeeRowsTest {
 protected:
  /// The program of a unit as text; "": it has none.
  static std::string program_of(WriteUnit& unit) {
    WriteEncoding encoding(unit, unit.size(), false);
    const std::optional<WriteProgram> program = encoding.program();
    return program ? program_text(program->words()) : std::string();
  }
};

TEST_F(WriteUnitProgramTest, ProgramOfAnInsert) {
  WriteUnit unit;
  unit.insert_row(emp_, ann_);
  EXPECT_EQ(program_of(unit), R"(version 16384 1
absent emp:1
free redquel:locks:16384 r1 uemp:uniques:email\0ann@x
count redquel:changes:16384
hset emp:1 ename ann dept 7 email ann@x
claim emp:uniques:email ann@x 1
set+ emp:indices:dept 7 1
score+ emp:zset:dept 7 1
score+ emp:zset 1 1
)");
}

TEST_F(WriteUnitProgramTest, ProgramIsACallOfOneScript) {
  WriteUnit unit;
  unit.insert_row(emp_, cid_);
  WriteEncoding encoding(unit, 1, false);
  CommandBatch batch;
  append_program(batch, kWriteScript, *encoding.program(), encoding.tag());
  const std::string bytes(batch.bytes());
  EXPECT_TRUE(bytes.starts_with("*29\r\n$7\r\nEVALSHA\r\n$40\r\n" + std::string(kWriteScript.sha1()) + "\r\n$1\r\n0\r\n$7\r\nversion\r\n")) << bytes;
}

TEST_F(WriteUnitProgramTest, ProgramOfAnUpdate) {
  WriteUnit unit;
  Row after = ann_;
  after[2] = Datum(8);
  EXPECT_TRUE(unit.update_row(emp_, ann_, after, {true, false, false, false}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
row emp:1 dept ename 7 \0+
free redquel:locks:16384 r1
count redquel:changes:16384
set- emp:indices:dept 7 1
hset emp:1 dept 8
set+ emp:indices:dept 8 1
score+ emp:zset:dept 8 1
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfAnUpdateToNull) {
  WriteUnit unit;
  Row after = ann_;
  after[2] = Datum();
  EXPECT_TRUE(unit.update_row(emp_, ann_, after, {true, false, false, false}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
row emp:1 dept ename 7 \0+
free redquel:locks:16384 r1
count redquel:changes:16384
set- emp:indices:dept 7 1
score- emp:zset:dept 1
hdel emp:1 dept
member+ emp:indices:dept:%N 1
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfADelete) {
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(emp_, ann_));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
row emp:1 ename dept email ann 7 ann@x
free redquel:locks:16384 r1
count redquel:changes:16384
drop emp:1
set- emp:indices:dept 7 1
score- emp:zset:dept 1
release emp:uniques:email ann@x 1
score- emp:zset 1
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfTwoRowsThatExchangeAUniqueValue) {
  WriteUnit unit;
  const Row bob = {Datum(2), text_value("bob"), Datum(7), text_value("bob@x")};
  Row first = ann_, second = bob;
  std::swap(first[3], second[3]);
  EXPECT_TRUE(unit.update_row(emp_, ann_, first, {false, false, false, true}));
  EXPECT_TRUE(unit.update_row(emp_, bob, second, {false, false, false, true}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
row emp:1 email ename ann@x \0+
row emp:2 email ename bob@x \0+
free redquel:locks:16384 r1 r2 uemp:uniques:email\0ann@x uemp:uniques:email\0bob@x
count redquel:changes:16384
release emp:uniques:email ann@x 1
release emp:uniques:email bob@x 2
hset emp:1 email bob@x
hset emp:2 email ann@x
inherit emp:uniques:email bob@x 1 2
inherit emp:uniques:email ann@x 2 1
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfARowThatTakesTheKeyOfOneThatGoes) {
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  Row other = cid_;
  other[1] = text_value("it's new");
  unit.insert_row(emp_, other);
  EXPECT_EQ(program_of(unit), R"(version 16384 1
row emp:3 ename dept email cid \0 \0
free redquel:locks:16384 r3
count redquel:changes:16384
drop emp:3
member- emp:indices:dept:%N 3
member- emp:indices:email:%N 3
score- emp:zset 3
hset emp:3 ename 'it''s new'
member+ emp:indices:dept:%N 3
member+ emp:indices:email:%N 3
score+ emp:zset 3 3
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfAnIncrementHasNoComparisons) {
  const auto table = std::make_shared<const sql::TableDef>([] {
    sql::TableDef counter = sql::make_table("hit", {{"page", kText}, {"n", kInt4}}, {"page"});
    counter.columns[1].not_null = true;
    return counter;
  }());
  WriteUnit unit;
  EXPECT_TRUE(unit.update_row(table, Row{text_value("a"), Datum(5)}, Row{text_value("a"), Datum(8)}, {}, {1}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
free redquel:locks:16384 ra
count redquel:changes:16384
hincr hit:a n 3 2147483647
)");
}

TEST_F(WriteUnitProgramTest, ProgramOfValuesThatKeysEscape) {
  sql::TableDef definition = sql::make_table("tag", {{"id", kInt4}, {"name", kText}, {"kind", kInt4}}, {"id"});
  sql::add_index(definition, {"name"});
  const auto table = std::make_shared<const sql::TableDef>(std::move(definition));
  WriteUnit unit;
  const Row before = {Datum(1), text_value("a:b"), Datum(1)};
  EXPECT_TRUE(unit.delete_row(table, before));
  const std::string text = program_of(unit);
  EXPECT_NE(text.find("member- tag:indices:name:a%3Ab 1\nemptied tag:indices:name:a%3Ab tag:indices:name a:b\n"), std::string::npos) << text;
}

TEST_F(WriteUnitProgramTest, ProgramOfACommitGivesItsLocksBackAndNotesItself) {
  LockSet locks;
  locks.token = "0123456789abcdef.1.2";
  locks.add(16384, "r3");
  WriteOptions options;
  options.locks = &locks;
  options.token = CommitToken{"redquel:commits:x", "1", "9"};
  WriteUnit unit(std::move(options));
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  EXPECT_EQ(program_of(unit), R"(token redquel:commits:x 1 9
version 16384 1
row emp:3 ename dept email cid \0 \0
lease redquel:process:0123456789abcdef
held redquel:locks:16384 0123456789abcdef.1.2 r3
count redquel:changes:16384
drop emp:3
member- emp:indices:dept:%N 3
member- emp:indices:email:%N 3
score- emp:zset 3
hdel redquel:locks:16384 r3
committed redquel:commits:x 1 9
)");
}

TEST_F(WriteUnitProgramTest, ProgramThatPreparesChecksEffectsAndRecordsThem) {
  LockSet locks;
  locks.token = "0123456789abcdef.1.2";
  locks.add(16384, "r1");
  WriteOptions options;
  options.locks = &locks;
  WriteUnit unit(std::move(options));
  Row after = ann_;
  after[2] = Datum(8);
  EXPECT_TRUE(unit.update_row(emp_, ann_, after, {true, false, false, false}));
  WriteEncoding encoding(unit, 1, false);
  const std::string text = program_text(encoding.prepare({}, {}));
  EXPECT_TRUE(text.starts_with(R"(version 16384 1
lease redquel:process:0123456789abcdef
pledge redquel:locks:16384 0123456789abcdef.1.2 1 '' r1
row emp:1 dept ename 7 \0+
counter redquel:changes:16384
lasting emp:1
count redquel:changes:16384
set- emp:indices:dept 7 1
hset emp:1 dept 8
set+ emp:indices:dept 8 1
score+ emp:zset:dept 8 1
record 0123456789abcdef.1.2 )")) << text;
  EXPECT_NE(text.find("\xa5" "count\xb5" "redquel:changes:16384\xa4" "set-"), std::string::npos) << text;
}

TEST_F(WriteUnitProgramTest, ProgramThatPreparesDefinitionsAndManyRows) {
  WriteUnit unit;
  for (int number = 1; number <= 5; ++number) unit.insert_row(emp_, Row{Datum(number), text_value("ann"), Datum(7), Datum()});
  WriteEncoding encoding(unit, 5, false);
  const std::string text = program_text(encoding.prepare({}, {"0", "0", "2", "DEL", "x"}));
  EXPECT_TRUE(text.starts_with(R"(parts 0 0 2 DEL x
version 16384 1
pledge redquel:locks:16384 '' 0 44444 r1 r2 r3 r4 r5
absents emp:1 emp:2 emp:3 emp:4 emp:5
counter redquel:changes:16384
count redquel:changes:16384
hsets 2 ename dept emp:1 ann 7 emp:2 ann 7 emp:3 ann 7 emp:4 ann 7 emp:5 ann 7
sets+ emp:indices:dept 7 5 1 2 3 4 5
)")) << text;
}

TEST_F(WriteUnitProgramTest, UnitsOfManyRowsHaveStepsOfManyRows) {
  WriteUnit unit;
  for (int number = 1; number <= 16; ++number) {
    unit.insert_row(emp_, Row{Datum(number), text_value("ann"), Datum(7), Datum()});
    EXPECT_EQ(program_of(unit).empty(), number > 4) << number << " rows";
  }
}

}  // namespace
}  // namespace redquel::executor
