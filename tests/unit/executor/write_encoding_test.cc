#include "executor/storage/write_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executor/redis/resp_codec.h"
#include "tests/unit/executor/resp_text.h"
#include "tests/unit/executor/write_unit_fixture.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kText;

class WriteEncodingTest : public EmployeeRowsTest {
 protected:
  /// The program of a unit with steps of many rows, as text.
  static std::string program_of(WriteUnit& unit, bool verify_only = false) {
    WriteEncoding encoding(unit, unit.size(), verify_only);
    encoding.divide();
    EXPECT_EQ(encoding.calls(), 1u);
    return program_text(encoding.program(0).words());
  }
};

TEST_F(WriteEncodingTest, InsertOfOneRow) {
  WriteUnit unit;
  unit.insert_row(emp_, ann_);
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 44 r1 uemp:uniques:email\0ann@x
absents emp:1
count redquel:changes:16384
hsets 3 ename dept email emp:1 ann 7 ann@x
sets+ emp:indices:dept 7 1 1
scores+ emp:zset:dept 7 1
scores+ emp:zset 1 1
claims emp:uniques:email ann@x 1
)");
}

TEST_F(WriteEncodingTest, WhatGoesToOneKeyIsOneStep) {
  WriteUnit unit;
  unit.insert_row(emp_, ann_);
  unit.insert_row(emp_, cid_);
  unit.insert_row(emp_, Row{Datum(5), text_value("eve"), Datum(8), text_value("eve@x")});
  unit.insert_row(emp_, Row{Datum(6), text_value("fay"), Datum(7), text_value("fay@x")});
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 4444444 r1 r3 r5 r6 uemp:uniques:email\0ann@x uemp:uniques:email\0eve@x uemp:uniques:email\0fay@x
absents emp:1 emp:3 emp:5 emp:6
count redquel:changes:16384
hsets 3 ename dept email emp:1 ann 7 ann@x
hsets 1 ename emp:3 cid
hsets 3 ename dept email emp:5 eve 8 eve@x emp:6 fay 7 fay@x
sets+ emp:indices:dept 7 2 1 6 8 1 5
members+ emp:indices:dept:%N 3
members+ emp:indices:email:%N 3
scores+ emp:zset:dept 7 1 8 5 7 6
scores+ emp:zset 1 1 3 3 5 5 6 6
claims emp:uniques:email ann@x 1 eve@x 5 fay@x 6
)");
}

TEST_F(WriteEncodingTest, UpdateOfAnIndexedColumn) {
  WriteUnit unit;
  Row after = ann_;
  after[2] = Datum(8);
  EXPECT_TRUE(unit.update_row(emp_, ann_, after, {true, false, false, false}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 3 r1
same_rows 2 dept ename emp:1 7 \0+
count redquel:changes:16384
sets- emp:indices:dept 7 1 1
changes emp:1 2 dept 8 0
sets+ emp:indices:dept 8 1 1
scores+ emp:zset:dept 8 1
)");
}

TEST_F(WriteEncodingTest, UpdateOfTheKeyMovesTheRow) {
  WriteUnit unit;
  Row after = cid_;
  after[0] = Datum(4);
  EXPECT_TRUE(unit.update_row(emp_, cid_, after));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 44 r3 r4
absents emp:4
same_rows 3 ename dept email emp:3 cid \0 \0
count redquel:changes:16384
depart emp:3
members- emp:indices:dept:%N 3
members- emp:indices:email:%N 3
scores- emp:zset 3
hsets 1 ename emp:4 cid
arrive emp:4
members+ emp:indices:dept:%N 4
members+ emp:indices:email:%N 4
scores+ emp:zset 4 4
)");
}

TEST_F(WriteEncodingTest, UniqueValueThatAnotherRowGivesUp) {
  WriteUnit unit;
  Row eve = {Datum(5), text_value("eve"), Datum(), text_value("ann@x")};
  EXPECT_TRUE(unit.delete_row(emp_, ann_));
  unit.insert_row(emp_, eve);
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 444 r1 r5 uemp:uniques:email\0ann@x
absents emp:5
same_rows 3 ename dept email emp:1 ann 7 ann@x
owners emp:uniques:email ann@x 1
count redquel:changes:16384
drops emp:1
sets- emp:indices:dept 7 1 1
scores- emp:zset:dept 1
scores- emp:zset 1
releases emp:uniques:email ann@x 1
hsets 2 ename email emp:5 eve ann@x
members+ emp:indices:dept:%N 5
scores+ emp:zset 5 5
owns emp:uniques:email ann@x 5
)");
}

TEST_F(WriteEncodingTest, DeleteOfOneRow) {
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(emp_, ann_));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 4 r1
same_rows 3 ename dept email emp:1 ann 7 ann@x
room redquel:none
count redquel:changes:16384
drops emp:1
sets- emp:indices:dept 7 1 1
scores- emp:zset:dept 1
scores- emp:zset 1
releases emp:uniques:email ann@x 1
)");
}

TEST_F(WriteEncodingTest, CommitGivesItsLocksBackAndNotesItself) {
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
lease redquel:process:0123456789abcdef
give redquel:locks:16384 0123456789abcdef.1.2 '' r3
same_rows 3 ename dept email emp:3 cid \0 \0
room redquel:none
count redquel:changes:16384
drops emp:3
members- emp:indices:dept:%N 3
members- emp:indices:email:%N 3
scores- emp:zset 3
committed redquel:commits:x 1 9
)");
}

TEST_F(WriteEncodingTest, ChunkOfAJournaledUnitSaysHowToUndoIt) {
  WriteOptions options;
  options.journal = JournalStep{JournalStep::Kind::kDo, "owner", "redquel:journal:u"};
  WriteUnit unit(std::move(options));
  unit.insert_row(emp_, cid_);
  const std::string found = program_of(unit);
  EXPECT_TRUE(found.starts_with("version 16384 owner\n")) << found;
  EXPECT_TRUE(found.ends_with("\njournal redquel:journal:u 5:163841:3-\n")) << found;
}

TEST_F(WriteEncodingTest, VerifyHasNoEffect) {
  WriteUnit unit;
  unit.insert_row(emp_, cid_);
  EXPECT_EQ(program_of(unit, true), R"(version 16384 1
absents emp:3
are_sets emp:indices:dept:%N emp:indices:email:%N
are_zsets emp:zset
)");
}

TEST_F(WriteEncodingTest, BuildOfAnIndexAddsEntriesAlone) {
  WriteUnit unit;
  std::vector<sql::Structure> structures;
  for (const sql::Structure& structure : sql::structures_of(*emp_)) {
    const bool is_of_dept = structure.columns == std::vector<std::int16_t>{emp_->find_column("dept")->number};
    if (is_of_dept) structures.push_back(structure);
  }
  unit.index_row(emp_, structures, ann_, "emp_dept_idx");
  unit.index_row(emp_, structures, cid_, "emp_dept_idx");
  EXPECT_EQ(program_of(unit), R"(version 16384 1
same_rows 2 dept ename emp:1 7 \0+ emp:3 \0 \0+
count redquel:changes:16384
sets+ emp:indices:dept 7 1 1
members+ emp:indices:dept:%N 3
scores+ emp:zset:dept 7 1
)");
}

TEST_F(WriteEncodingTest, RowsThatExpireHaveTheirTimes) {
  sql::TableDef table = *emp_;
  table.managed().expiry.milliseconds = 60'000;
  const auto brief = std::make_shared<const sql::TableDef>(std::move(table));
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(brief, cid_));
  unit.insert_row(brief, ann_);
  EXPECT_EQ(program_of(unit), R"(version 16384 1
pass redquel:locks:16384 '' 444 r1 r3 uemp:uniques:email\0ann@x
absents emp:1
same_rows 3 ename dept email emp:3 cid \0 \0
count redquel:changes:16384
drops emp:3
members- emp:indices:dept:%N 3
members- emp:indices:email:%N 3
scores- emp:zset 3
hsets 3 ename dept email emp:1 ann 7 ann@x
expire emp:zset:%ttl emp:indices:%ttl emp gone emp:3 3 '' '' new emp:1 1 60000 5:emp:14:zset8:emp:zset1:10:5:value18:emp:indices:dept:716:emp:indices:dept1:74:zset13:emp:zset:dept1:10:6:unique17:emp:uniques:email5:ann@x0:
sets+ emp:indices:dept 7 1 1
scores+ emp:zset 1 1
scores+ emp:zset:dept 7 1
claims emp:uniques:email ann@x 1
)");
}

/// child(id pk, emp_id → emp).
class ForeignKeyEncodingTest : public WriteEncodingTest {
 protected:
  ForeignKeyEncodingTest() {
    sql::TableDef table = sql::make_table("child", {{"id", kInt4}, {"emp_id", kInt4}}, {"id"});
    table.oid = 17000;
    table.primary_key_index.oid = 17001;
    sql::IndexDef& index = sql::add_index(table, {"emp_id"});
    sql::ForeignKeyDef key;
    key.oid = 17050;
    key.name = "child_emp_id_fkey";
    key.columns = {table.find_column("emp_id")->number};
    key.referenced = emp_->oid;
    key.referenced_columns = emp_->primary_key;
    key.referenced_index = emp_->primary_key_index.oid;
    key.index = index.oid;
    table.foreign_keys.push_back(std::move(key));
    child_ = std::make_shared<const sql::TableDef>(std::move(table));
    sql::TableDef parent = *emp_;
    parent.referencing = {child_->oid};
    emp_ = std::make_shared<const sql::TableDef>(std::move(parent));
    auto catalog = std::make_shared<sql::CatalogSnapshot>();
    catalog->tables = {{emp_->oid, emp_}, {child_->oid, child_}};
    catalog_ = std::move(catalog);
  }
  WriteOptions checked() const {
    WriteOptions options;
    options.foreign_keys = std::make_shared<ForeignKeyChecks>(catalog_, sql::SessionSettings{});
    return options;
  }

  std::shared_ptr<const sql::TableDef> child_;
  sql::CatalogPtr catalog_;
};

TEST_F(ForeignKeyEncodingTest, RowThatRefersNeedsItsParent) {
  WriteUnit unit(checked());
  unit.insert_row(child_, Row{Datum(5), Datum(1)});
  EXPECT_EQ(program_of(unit), R"(version 17000 1
version 16384 1
pass redquel:locks:16384 '' 1 r1
pass redquel:locks:17000 '' 4 r5
absents child:5
parents emp:1 \0
count redquel:changes:17000
hsets 2 id emp_id child:5 5 1
sets+ child:indices:emp_id 1 1 5
scores+ child:zset:emp_id 1 5
scores+ child:zset 5 5
)");
}

TEST_F(ForeignKeyEncodingTest, RowThatIsReferredToLeavesNoChildren) {
  WriteUnit unit(checked());
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  EXPECT_TRUE(unit.delete_row(child_, Row{Datum(5), Datum(3)}));
  EXPECT_EQ(program_of(unit), R"(version 16384 1
version 17000 1
version 17000 1
pass redquel:locks:16384 '' 4 r3
pass redquel:locks:17000 '' 4 r5
same_rows 3 ename dept email emp:3 cid \0 \0
same_rows 2 id emp_id child:5 5 3
children child:indices:emp_id:3 0 5
room redquel:none
count redquel:changes:16384
count redquel:changes:17000
drops emp:3 child:5
sets- child:indices:emp_id 3 1 5
members- emp:indices:dept:%N 3
members- emp:indices:email:%N 3
scores- emp:zset 3
scores- child:zset:emp_id 5
scores- child:zset 5
)");
}

/// Returns what the answer means for a unit's program of many rows. In the words of the answer a number with ":" in front is one of Redis;
/// "@claims" is the place of that step.
WriteAnswer answer_of(WriteUnit& unit, const std::vector<std::string>& words) {
  WriteEncoding encoding(unit, unit.size(), false);
  encoding.divide();
  const auto program = encoding.program(0).words();
  std::string reply = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    if (word.starts_with('@')) reply += resp::integer(std::ranges::find(program, word.substr(1)) - program.begin() + 1);
    else reply += word.starts_with(':') ? resp::integer(std::stoi(word.substr(1))) : resp::text(word);
  }
  ReplyDecoder decoder(1 << 20);
  decoder.feed(reply);
  Replies replies;
  EXPECT_TRUE(decoder.next(replies));
  return encoding.decode(0, replies.array(0));
}

TEST_F(WriteEncodingTest, RepliesAreValues) {
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  unit.insert_row(emp_, ann_);
  EXPECT_EQ(answer_of(unit, {"applied"}).status, WriteStatus::kApplied);
  EXPECT_EQ(answer_of(unit, {"stop", "@version"}).status, WriteStatus::kStale);
  EXPECT_EQ(answer_of(unit, {"stop", "@pass"}).status, WriteStatus::kLostLock);
  const WriteAnswer locked = answer_of(unit, {"stop", "@pass", "holder", "r1"});
  EXPECT_EQ(locked.status, WriteStatus::kLocked);
  EXPECT_EQ(locked.blocker.holder + " " + locked.blocker.key + " " + locked.blocker.field, "holder redquel:locks:16384 r1");
  const WriteAnswer found = answer_of(unit, {"found", "@absents", ":0", "", "@claims", ":0", "5", "@same_rows", ":0", ""});
  EXPECT_EQ(found.status, WriteStatus::kApplied);
  ASSERT_EQ(found.findings.size(), 3u);
  EXPECT_EQ(std::get<TakenKey>(found.findings[0]).change, 1u);
  EXPECT_EQ(std::get<TakenValue>(found.findings[1]).change, 1u);
  EXPECT_EQ(std::get<TakenValue>(found.findings[1]).owner, "5");
  EXPECT_EQ(std::get<ChangedRow>(found.findings[2]).change, 0u);
  EXPECT_THROW(answer_of(unit, {"hello"}), sql::SqlError);
  EXPECT_THROW(answer_of(unit, {"found", "@claims", ":7", ""}), std::exception);
  EXPECT_THROW(answer_of(unit, {"found", ":2", ":0", ""}), sql::SqlError);
  const auto error_of = [&](const std::string& error) {
    try {
      answer_of(unit, {"stop", "@count", error});
    } catch (const sql::SqlError& thrown) {
      return thrown.sqlstate() + std::string(" ") + thrown.what();
    }
    return std::string("none");
  };
  EXPECT_NE(error_of("WRONGTYPE Operation against a key holding the wrong kind of value").find("redquel:changes:16384 is not a counter"), std::string::npos);
  EXPECT_TRUE(error_of("OOM command not allowed when used memory > 'maxmemory'.").starts_with("53200"));
}

}  // namespace
}  // namespace redquel::executor
