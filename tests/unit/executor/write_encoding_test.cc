#include "executor/storage/write_encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "executor/redis/resp_codec.h"
#include "executor/scripts/scripts.h"
#include "tests/unit/executor/resp_text.h"
#include "tests/unit/executor/write_unit_fixture.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kText;

/// Sections by their names in the script, each with its words.
using Sections = std::vector<std::pair<std::string, std::string>>;

/// Words with blanks between: '' is an empty one, \0 a zero byte.
std::string joined(std::span<const Reply> words) {
  std::string out;
  for (const Reply& word : words) {
    if (!out.empty()) out += ' ';
    if (word.text.empty()) out += "''";
    for (const char character : word.text) out += character == '\0' ? std::string("\\0") : std::string(1, character);
  }
  return out;
}

std::string joined(const Sections& sections) {
  std::string out;
  for (const auto& [name, words] : sections) {
    if (!words.empty()) out += (out.empty() ? "" : " ") + words;
  }
  return out;
}

struct Call {
  std::string sha1, keys, arguments;
};

Call decode_call(const CommandBatch& batch) {
  ReplyDecoder decoder(1 << 20);
  decoder.feed(batch.bytes());
  Replies replies;
  EXPECT_TRUE(decoder.next(replies));
  const std::span<const Reply> words = replies.array(0);
  const auto keys = static_cast<std::size_t>(std::stoul(std::string(words[2].text)));
  return {std::string(words[1].text), joined(words.subspan(3, keys)), joined(words.subspan(3 + keys))};
}

class WriteEncodingTest : public EmployeeRowsTest {
 protected:
  static Call call(WriteUnit& unit, bool verify_only = false) {
    WriteEncoding encoding(unit, unit.size(), verify_only);
    encoding.divide();
    EXPECT_EQ(encoding.calls(), 1u);
    EXPECT_EQ(&encoding.script(), &kWriteRowsScript);
    return decode_call(encoding.command(0));
  }
};

TEST_F(WriteEncodingTest, InsertOfOneRow) {
  WriteUnit unit;
  unit.insert_row(emp_, ann_);
  const Call found = call(unit);
  EXPECT_EQ(found.sha1, kWriteRowsScript.sha1());
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:locks:16384 emp:1 emp:uniques:email emp:indices:dept emp:indices:dept:7 "
            "emp:zset:dept emp:zset");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 1 2 4r1 4uemp:uniques:email\\0ann@x"},
                                     {"reads", "0"},
                                     {"new keys", "1 1"},
                                     {"old rows", "0"},
                                     {"unique values", "1 1 ann@x 1"},
                                     {"sets", "2"},
                                     {"zsets", "2"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "0"},
                                     {"zset removals", "0"},
                                     {"unique removals", "0"},
                                     {"new rows", "1 1 3 ename dept email ann 7 ann@x"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "2 0 1 7 1 1 1"},
                                     {"zset additions", "2 0 2 7 1 1 2 1 1"},
                                     {"unique additions", "1 0 2 ann@x 1"},
                                     {"emptied sets", "0"},
                                     {"journal", "''"}}));
}

TEST_F(WriteEncodingTest, UpdateOfAnIndexedColumn) {
  WriteUnit unit;
  Row after = ann_;
  after[2] = Datum(8);
  EXPECT_TRUE(unit.update_row(emp_, ann_, after, {true, false, false, false}));
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:locks:16384 emp:1 emp:indices:dept emp:indices:dept:7 emp:indices:dept:8 "
            "emp:zset:dept");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 1 1 3r1"},
                                     {"reads", "0"},
                                     {"new keys", "0 0"},
                                     {"old rows", "1 keep 1 2 dept ename 7 \\0+"},
                                     {"unique values", "0"},
                                     {"sets", "3"},
                                     {"zsets", "1"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "1 1 1 1"},
                                     {"zset removals", "0"},
                                     {"unique removals", "0"},
                                     {"new rows", "0"},
                                     {"moved rows", ""},
                                     {"changed rows", "1 0 2 dept 8 0"},
                                     {"expiries", "0"},
                                     {"set additions", "2 0 1 8 2 1 1"},
                                     {"zset additions", "1 0 2 8 1"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "1 1 0 7"},
                                     {"journal", "''"}}));
}

TEST_F(WriteEncodingTest, UpdateOfTheKeyMovesTheRow) {
  WriteUnit unit;
  Row after = cid_;
  after[0] = Datum(4);
  EXPECT_TRUE(unit.update_row(emp_, cid_, after));
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:locks:16384 emp:4 emp:3 emp:indices:dept:%N "
            "emp:indices:email:%N emp:zset");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 1 2 4r3 4r4"},
                                     {"reads", "0"},
                                     {"new keys", "1 1"},
                                     {"old rows", "1 move 1 3 ename dept email cid \\0 \\0"},
                                     {"unique values", "0"},
                                     {"sets", "2"},
                                     {"zsets", "1"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "2 0 1 3 1 1 3"},
                                     {"zset removals", "1 0 1 3"},
                                     {"unique removals", "0"},
                                     {"new rows", "1 1 1 ename cid"},
                                     {"moved rows", "0"},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "2 0 1 4 1 1 4"},
                                     {"zset additions", "1 0 2 4 4"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "0"},
                                     {"journal", "''"}}));
}

TEST_F(WriteEncodingTest, DeleteOfOneRow) {
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(emp_, ann_));
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:locks:16384 emp:1 emp:uniques:email emp:indices:dept emp:indices:dept:7 "
            "emp:zset:dept emp:zset");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 1 1 4r1"},
                                     {"reads", "0"},
                                     {"new keys", "0 0"},
                                     {"old rows", "1 drop 1 3 ename dept email ann 7 ann@x"},
                                     {"unique values", "1 0"},
                                     {"sets", "2"},
                                     {"zsets", "2"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "1 1 1 1"},
                                     {"zset removals", "2 0 1 1 1 1 1"},
                                     {"unique removals", "1 0 1 ann@x 1"},
                                     {"new rows", "0"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "0"},
                                     {"zset additions", "0"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "1 1 0 7"},
                                     {"journal", "''"}}));
}

TEST_F(WriteEncodingTest, CommitKeepsItsLocksAndNotesItself) {
  LockSet locks;
  locks.token = "0123456789abcdef.1.2";
  locks.add(16384, "r3");
  WriteOptions options;
  options.locks = &locks;
  options.token = CommitToken{"redquel:commits:x", "1", "9"};
  WriteUnit unit(std::move(options));
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  const Call found = call(unit);
  EXPECT_TRUE(found.arguments.starts_with(joined({{"mode", "commit"},
                                                  {"token", "redquel:commits:x 1 9"},
                                                  {"tables", "1 16384 1"},
                                                  {"relied tables", "0"},
                                                  {"locks", "0123456789abcdef.1.2 1 1 4r3"}})))
      << found.arguments;
}

TEST_F(WriteEncodingTest, ChunkOfAJournaledUnitSaysHowToUndoIt) {
  WriteOptions options;
  options.journal = JournalStep{JournalStep::Kind::kDo, "owner", "redquel:journal:u"};
  WriteUnit unit(std::move(options));
  unit.insert_row(emp_, cid_);
  const Call found = call(unit);
  EXPECT_TRUE(found.keys.ends_with(" redquel:journal:u")) << found.keys;
  EXPECT_NE(found.arguments.find(" 1 16384 owner 0 "), std::string::npos) << found.arguments;
  EXPECT_TRUE(found.arguments.ends_with("do 5:163841:3-")) << found.arguments;
}

TEST_F(WriteEncodingTest, VerifyHasNoEffect) {
  WriteUnit unit;
  unit.insert_row(emp_, cid_);
  EXPECT_EQ(call(unit, true).arguments, joined({{"mode", "verify"},
                                                {"token", "'' '' ''"},
                                                {"tables", "1 16384 1"},
                                                {"relied tables", "0"},
                                                {"locks", "'' 1 1 4r3"},
                                                {"reads", "0"},
                                                {"new keys", "1 1"},
                                                {"old rows", "0"},
                                                {"unique values", "0"},
                                                {"sets", "2"},
                                                {"zsets", "1"},
                                                {"parents", "0"},
                                                {"children", "0"},
                                                {"increments", "0"}}));
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
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 emp:1 emp:3 emp:indices:dept emp:indices:dept:7 emp:indices:dept:%N emp:zset:dept");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 0"},
                                     {"reads", "0"},
                                     {"new keys", "0 0"},
                                     {"old rows", "1 keep 2 2 dept ename 7 \\0+ \\0 \\0+"},
                                     {"unique values", "0"},
                                     {"sets", "3"},
                                     {"zsets", "1"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "0"},
                                     {"zset removals", "0"},
                                     {"unique removals", "0"},
                                     {"new rows", "0"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "3 0 1 7 1 1 1 2 1 3"},
                                     {"zset additions", "1 0 2 7 1"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "0"},
                                     {"journal", "''"}}));
}

TEST_F(WriteEncodingTest, RowsThatExpireHaveTheirTimes) {
  sql::TableDef table = *emp_;
  table.managed().expiry.milliseconds = 60'000;
  const auto brief = std::make_shared<const sql::TableDef>(std::move(table));
  WriteUnit unit;
  EXPECT_TRUE(unit.delete_row(brief, cid_));
  unit.insert_row(brief, ann_);
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:locks:16384 emp:1 emp:3 emp:uniques:email emp:indices:dept:%N "
            "emp:indices:email:%N emp:indices:dept emp:indices:dept:7 emp:zset emp:zset:dept emp:zset:%ttl emp:indices:%ttl");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 16384 1"},
                                     {"relied tables", "0"},
                                     {"locks", "'' 1 3 4r1 4r3 4uemp:uniques:email\\0ann@x"},
                                     {"reads", "0"},
                                     {"new keys", "1 1"},
                                     {"old rows", "1 drop 1 3 ename dept email cid \\0 \\0"},
                                     {"unique values", "1 1 ann@x 1"},
                                     {"sets", "4"},
                                     {"zsets", "2"},
                                     {"parents", "0"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "2 0 1 3 1 1 3"},
                                     {"zset removals", "1 0 1 3"},
                                     {"unique removals", "0"},
                                     {"new rows", "1 1 3 ename dept email ann 7 ann@x"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "1 emp 2 gone 0 3 '' '' new 0 1 60000 5:emp:14:zset8:emp:zset1:10:5:value18:emp:indices:dept:716:emp:indices:dept1:74:zset13:emp:zset:dept1:10:6:unique17:emp:uniques:email5:ann@x0:"},
                                     {"set additions", "2 2 1 7 3 1 1"},
                                     {"zset additions", "2 0 2 1 1 1 2 7 1"},
                                     {"unique additions", "1 0 2 ann@x 1"},
                                     {"emptied sets", "0"},
                                     {"journal", "''"}}));
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
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:17000 redquel:locks:16384 redquel:locks:17000 child:5 child:indices:emp_id child:indices:emp_id:1 "
            "child:zset:emp_id child:zset emp:1");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "1 17000 1"},
                                     {"relied tables", "1 16384 1"},
                                     {"locks", "'' 2 1 1r1 1 4r5"},
                                     {"reads", "0"},
                                     {"new keys", "1 1"},
                                     {"old rows", "0"},
                                     {"unique values", "0"},
                                     {"sets", "2"},
                                     {"zsets", "2"},
                                     {"parents", "1 row ''"},
                                     {"children", "0"},
                                     {"increments", "0"},
                                     {"set removals", "0"},
                                     {"zset removals", "0"},
                                     {"unique removals", "0"},
                                     {"new rows", "1 1 2 id emp_id 5 1"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "2 0 1 1 1 1 5"},
                                     {"zset additions", "2 0 2 1 5 1 2 5 5"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "0"},
                                     {"journal", "''"}}));
}

TEST_F(ForeignKeyEncodingTest, RowThatIsReferredToLeavesNoChildren) {
  WriteUnit unit(checked());
  EXPECT_TRUE(unit.delete_row(emp_, cid_));
  EXPECT_TRUE(unit.delete_row(child_, Row{Datum(5), Datum(3)}));
  const Call found = call(unit);
  EXPECT_EQ(found.keys,
            "redquel:versions redquel:changes:16384 redquel:changes:17000 redquel:locks:16384 redquel:locks:17000 emp:3 child:5 "
            "emp:indices:dept:%N emp:indices:email:%N child:indices:emp_id child:indices:emp_id:3 emp:zset child:zset:emp_id child:zset "
            "child:indices:emp_id:3");
  EXPECT_EQ(found.arguments, joined({{"mode", "apply"},
                                     {"token", "'' '' ''"},
                                     {"tables", "2 16384 17000 1 1"},
                                     {"relied tables", "1 17000 1"},
                                     {"locks", "'' 2 1 4r3 1 4r5"},
                                     {"reads", "0"},
                                     {"new keys", "0 0"},
                                     {"old rows", "2 drop 1 3 ename dept email cid \\0 \\0 drop 1 2 id emp_id 5 3"},
                                     {"unique values", "0"},
                                     {"sets", "4"},
                                     {"zsets", "3"},
                                     {"parents", "0"},
                                     {"children", "1 1 0 5"},
                                     {"increments", "0"},
                                     {"set removals", "3 0 1 3 1 1 3 3 1 5"},
                                     {"zset removals", "3 0 1 3 1 1 5 2 1 5"},
                                     {"unique removals", "0"},
                                     {"new rows", "0"},
                                     {"moved rows", ""},
                                     {"changed rows", "0"},
                                     {"expiries", "0"},
                                     {"set additions", "0"},
                                     {"zset additions", "0"},
                                     {"unique additions", "0"},
                                     {"emptied sets", "1 3 2 3"},
                                     {"journal", "''"}}));
}

/// The reply as it comes from Redis.
WriteAnswer answer_of(WriteUnit& unit, const std::string& reply) {
  WriteEncoding encoding(unit, unit.size(), false);
  encoding.divide();
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
  EXPECT_EQ(answer_of(unit, resp::texts({"applied"})).status, WriteStatus::kApplied);
  EXPECT_EQ(answer_of(unit, resp::texts({"stale", "16384"})).status, WriteStatus::kStale);
  EXPECT_EQ(answer_of(unit, resp::texts({"lost"})).status, WriteStatus::kLostLock);
  const WriteAnswer locked = answer_of(unit, resp::texts({"locked", "holder", "redquel:locks:16384", "r1"}));
  EXPECT_EQ(locked.status, WriteStatus::kLocked);
  EXPECT_EQ(locked.blocker.holder + " " + locked.blocker.key + " " + locked.blocker.field, "holder redquel:locks:16384 r1");
  const WriteAnswer failed = answer_of(unit, resp::texts({"failed", "row", "0", "", "unique", "0", "5", "old", "0", "", "old", "1", ""}));
  EXPECT_EQ(failed.status, WriteStatus::kApplied);
  ASSERT_EQ(failed.findings.size(), 4u);
  EXPECT_EQ(std::get<TakenKey>(failed.findings[0]).change, 1u);
  EXPECT_EQ(std::get<TakenValue>(failed.findings[1]).change, 1u);
  EXPECT_EQ(std::get<TakenValue>(failed.findings[1]).owner, "5");
  EXPECT_EQ(std::get<ChangedRow>(failed.findings[2]).change, 0u);
  EXPECT_TRUE(std::holds_alternative<ChangedGuard>(failed.findings[3]));
  EXPECT_THROW(answer_of(unit, resp::texts({"hello"})), sql::SqlError);
  EXPECT_THROW(answer_of(unit, resp::texts({"failed", "unique", "7", ""})), std::exception);
}

}  // namespace
}  // namespace redquel::executor
