#include "executor/storage/write_unit.h"

#include <gmock/gmock.h>

#include "executor/storage/constraint_errors.h"
#include "sql/types/text_io.h"
#include "tests/unit/executor/storage_fixture.h"

namespace redquel::executor {
namespace {

using sql::Datum;
using sql::kFloat8;
using sql::kInt4;
using sql::kText;
using sql::SqlError;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Row = std::vector<Datum>;
using Contents = std::map<std::string, std::string>;

Datum text(std::string value) { return Datum(std::move(value)); }

class WriteUnitTest : public StorageTest {
 protected:
  /// emp(emp_id pk, ename not null, dept, email unique, salary), btree on dept, zset on salary.
  static sql::TableDef employees() {
    sql::TableDef table = sql::make_table(
        "emp", {{"emp_id", kInt4}, {"ename", kText}, {"dept", kInt4}, {"email", kText}, {"salary", kFloat8}}, {"emp_id"});
    table.columns[1].not_null = true;
    sql::add_index(table, {"dept"});
    sql::add_index(table, {"email"}, true);
    sql::add_index(table, {"salary"});
    return table;
  }
  static Row employee(int id, std::string name, Datum dept, Datum email, Datum salary) {
    return {Datum(id), text(std::move(name)), std::move(dept), std::move(email), std::move(salary)};
  }

  WriteStatus insert(const std::vector<Row>& rows) {
    WriteUnit unit;
    for (const Row& row : rows) unit.insert_row(emp_, row);
    return await(unit.execute(connection_));
  }
  WriteStatus update(const std::vector<std::pair<Row, Row>>& changes) {
    WriteUnit unit;
    for (const auto& [before, after] : changes) unit.update_row(emp_, before, after);
    return await(unit.execute(connection_));
  }
  WriteStatus remove(const Row& row) {
    WriteUnit unit;
    unit.delete_row(emp_, row);
    return await(unit.execute(connection_));
  }
  template <typename Run>
  SqlError error_of(Run run) {
    try {
      run();
    } catch (const SqlError& error) {
      return error;
    }
    return SqlError("00000", "no error");
  }

  std::shared_ptr<const sql::TableDef> emp_ = publish(employees());
  const Row ann_ = employee(1, "ann", Datum(7), text("ann@x"), Datum(100.5));
  const Row bob_ = employee(2, "bob", Datum(7), text("bob@x"), Datum(90.0));
  const Row cid_ = employee(3, "cid", Datum(), Datum(), Datum());
};

TEST_F(WriteUnitTest, InsertsRowsWithAllTheirEntries) {
  EXPECT_EQ(insert({ann_, bob_, cid_}), WriteStatus::kApplied);
  EXPECT_EQ(dump("emp:*"), (Contents{
                               {"emp:1", "HASH dept=7 email=ann@x ename=ann salary=100.5"},
                               {"emp:2", "HASH dept=7 email=bob@x ename=bob salary=90"},
                               {"emp:3", "HASH ename=cid"},
                               {"emp:zset", "ZSET 1@1 2@2 3@3"},
                               {"emp:indices:dept", "SET 7"},
                               {"emp:indices:dept:7", "SET 1 2"},
                               {"emp:indices:dept:%N", "SET 3"},
                               {"emp:zset:dept", "ZSET 1@7 2@7"},
                               {"emp:uniques:email", "HASH ann@x=1 bob@x=2"},
                               {"emp:indices:email:%N", "SET 3"},
                               {"emp:zset:salary", "ZSET 2@90 1@100.5"},
                               {"emp:indices:salary:%N", "SET 3"},
                           }));
  EXPECT_EQ(ask({"GET", "redquel:changes:16384"}), "1");
}

TEST_F(WriteUnitTest, DeletesRemoveAllEntries) {
  insert({ann_, bob_, cid_});
  WriteUnit unit;
  for (const Row& row : {ann_, bob_, cid_}) EXPECT_TRUE(unit.delete_row(emp_, row));
  EXPECT_FALSE(unit.delete_row(emp_, bob_));
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_THAT(dump("emp:*"), IsEmpty());
}

TEST_F(WriteUnitTest, UpdatesMoveEntries) {
  insert({ann_, bob_, cid_});
  const Row after = employee(1, "anna", Datum(8), text("anna@x"), Datum());
  const Row cid_after = employee(3, "cid", Datum(7), Datum(), Datum(1e300));
  EXPECT_EQ(update({{ann_, after}, {cid_, cid_after}}), WriteStatus::kApplied);
  EXPECT_EQ(dump("emp:*"), (Contents{
                               {"emp:1", "HASH dept=8 email=anna@x ename=anna"},
                               {"emp:2", "HASH dept=7 email=bob@x ename=bob salary=90"},
                               {"emp:3", "HASH dept=7 ename=cid salary=1e+300"},
                               {"emp:zset", "ZSET 1@1 2@2 3@3"},
                               {"emp:indices:dept", "SET 7 8"},
                               {"emp:indices:dept:7", "SET 2 3"},
                               {"emp:indices:dept:8", "SET 1"},
                               {"emp:zset:dept", "ZSET 2@7 3@7 1@8"},
                               {"emp:uniques:email", "HASH anna@x=1 bob@x=2"},
                               {"emp:indices:email:%N", "SET 3"},
                               {"emp:zset:salary", "ZSET 2@90 3@1.0000000000000001e+300"},
                               {"emp:indices:salary:%N", "SET 1"},
                           }));
  // The last row of a value takes the value with it.
  EXPECT_EQ(remove(after), WriteStatus::kApplied);
  EXPECT_EQ(ask({"SMEMBERS", "emp:indices:dept"}), "7");
}

TEST_F(WriteUnitTest, RefusesDuplicateKeysAsPostgresSaysIt) {
  insert({ann_, bob_});
  const auto before = dump("*");
  SqlError error = error_of([&] { insert({employee(9, "x", Datum(), Datum(), Datum()), employee(1, "y", Datum(), Datum(), Datum())}); });
  EXPECT_EQ(error.sqlstate(), "23505");
  EXPECT_EQ(error.message(), "duplicate key value violates unique constraint \"emp_pkey\"");
  EXPECT_EQ(error.detail(), "Key (emp_id)=(1) already exists.");
  EXPECT_EQ(error.table(), "emp");
  EXPECT_EQ(error.constraint(), "emp_pkey");
  error = error_of([&] { insert({employee(9, "x", Datum(), text("bob@x"), Datum())}); });
  EXPECT_EQ(error.message(), "duplicate key value violates unique constraint \"emp_email_key\"");
  EXPECT_EQ(error.detail(), "Key (email)=(bob@x) already exists.");
  error = error_of([&] { update({{ann_, employee(1, "ann", Datum(7), text("bob@x"), Datum(100.5))}}); });
  EXPECT_EQ(error.constraint(), "emp_email_key");
  error = error_of([&] { update({{ann_, employee(2, "ann", Datum(7), text("ann@x"), Datum(100.5))}}); });
  EXPECT_EQ(error.constraint(), "emp_pkey");
  EXPECT_EQ(dump("*"), before);
}

TEST_F(WriteUnitTest, ReportsTheFirstViolationInOrderOfRows) {
  insert({ann_, bob_});
  // Row 1 meets an existing e-mail, row 2 an existing key, row 3 its predecessor.
  const Row one = employee(5, "x", Datum(), text("bob@x"), Datum()), two = employee(1, "y", Datum(), Datum(), Datum()),
            three = employee(5, "z", Datum(), Datum(), Datum());
  EXPECT_EQ(error_of([&] { insert({one, two, three}); }).detail(), "Key (email)=(bob@x) already exists.");
  EXPECT_EQ(error_of([&] { insert({two, one, three}); }).detail(), "Key (emp_id)=(1) already exists.");
  const Row fine = employee(5, "x", Datum(), Datum(), Datum());
  EXPECT_EQ(error_of([&] { insert({fine, three, two}); }).detail(), "Key (emp_id)=(5) already exists.");
  EXPECT_EQ(error_of([&] { insert({two, fine, three}); }).detail(), "Key (emp_id)=(1) already exists.");
  // Within a row the oldest index speaks first.
  EXPECT_EQ(error_of([&] { insert({employee(1, "x", Datum(), text("bob@x"), Datum())}); }).constraint(), "emp_pkey");
}

TEST_F(WriteUnitTest, SkipsConflictingRowsWithDoNothing) {
  insert({ann_, bob_});
  WriteUnit unit;
  const InsertConflict skip{.skip = true, .columns = {}};
  const std::size_t same_key = unit.insert_row(emp_, employee(1, "x", Datum(), Datum(), Datum()), skip);
  const std::size_t same_mail = unit.insert_row(emp_, employee(8, "x", Datum(), text("bob@x"), Datum()), skip);
  // Would have met the row before, had that not given way itself.
  const std::size_t again = unit.insert_row(emp_, employee(8, "y", Datum(), text("new@x"), Datum()), skip);
  const std::size_t twin = unit.insert_row(emp_, employee(8, "z", Datum(), Datum(), Datum()), skip);
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_TRUE(unit.was_skipped(same_key));
  EXPECT_TRUE(unit.was_skipped(same_mail));
  EXPECT_FALSE(unit.was_skipped(again));
  EXPECT_TRUE(unit.was_skipped(twin));
  EXPECT_EQ(ask({"HGET", "emp:8", "ename"}), "y");

  const InsertConflict only_key{.skip = true, .columns = std::vector<std::int16_t>{1}};
  EXPECT_EQ(error_of([&] {
              WriteUnit other;
              other.insert_row(emp_, employee(11, "x", Datum(), text("bob@x"), Datum()), only_key);
              await(other.execute(connection_));
            }).constraint(),
            "emp_email_key");
}

TEST_F(WriteUnitTest, RowsOfOneStatementMaySwap) {
  insert({ann_, bob_});
  const Row ann_with_bobs_mail = employee(1, "ann", Datum(7), text("bob@x"), Datum(100.5));
  const Row bob_with_anns_mail = employee(2, "bob", Datum(7), text("ann@x"), Datum(90.0));
  EXPECT_EQ(update({{ann_, ann_with_bobs_mail}, {bob_, bob_with_anns_mail}}), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGET", "emp:uniques:email", "ann@x"}), "2");
  EXPECT_EQ(ask({"HGET", "emp:uniques:email", "bob@x"}), "1");

  // Keys: 1 → 2 → 3, the time to live of a row goes with it.
  call({"PEXPIRE", "emp:1", "100000"});
  Row first = ann_with_bobs_mail, second = bob_with_anns_mail;
  first[0] = Datum(2);
  second[0] = Datum(3);
  EXPECT_EQ(update({{ann_with_bobs_mail, first}, {bob_with_anns_mail, second}}), WriteStatus::kApplied);
  EXPECT_EQ(ask({"EXISTS", "emp:1"}), "0");
  EXPECT_EQ(ask({"HGET", "emp:2", "ename"}), "ann");
  EXPECT_EQ(ask({"HGET", "emp:3", "ename"}), "bob");
  EXPECT_GT(std::stol(ask({"PTTL", "emp:2"})), 1000);
  EXPECT_EQ(ask({"PTTL", "emp:3"}), "-1");
  EXPECT_EQ(ask({"SMEMBERS", "emp:indices:dept:7"}, true), "2 3");
  EXPECT_EQ(dump("emp:zset")["emp:zset"], "ZSET 2@2 3@3");
  EXPECT_EQ(ask({"HGETALL", "emp:uniques:email"}, true), "2 3 ann@x bob@x");
}

TEST_F(WriteUnitTest, AChangedRowIsAConflict) {
  insert({ann_});
  call({"HSET", "emp:1", "dept", "9"});
  const auto before = dump("*");
  EXPECT_EQ(update({{ann_, employee(1, "x", Datum(7), text("ann@x"), Datum(1.0))}}), WriteStatus::kConflict);
  EXPECT_EQ(remove(ann_), WriteStatus::kConflict);
  EXPECT_EQ(remove(bob_), WriteStatus::kConflict);  // no such row
  EXPECT_EQ(dump("*"), before);
  // Columns that the statement did not read may change, unless an index entry depends on them.
  WriteUnit unit;
  std::vector<bool> relied(5);
  relied[1] = true;
  unit.update_row(emp_, ann_, employee(1, "new", Datum(7), text("ann@x"), Datum(100.5)), relied);
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HMGET", "emp:1", "ename", "dept"}), "new 9");
}

TEST_F(WriteUnitTest, AnotherSpellingIsNoChange) {
  insert({ann_});
  call({"HSET", "emp:1", "dept", "007", "salary", "1.005e2"});
  EXPECT_EQ(update({{ann_, employee(1, "ann", Datum(8), text("ann@x"), Datum(1.0))}}), WriteStatus::kApplied);
  EXPECT_EQ(dump("emp:1")["emp:1"], "HASH dept=8 email=ann@x ename=ann salary=1");
}

TEST_F(WriteUnitTest, FewRowsTakeOneShortCallUnlessSomethingIsInTheWay) {
  const auto calls = [this] {
    const std::string statistics = ask({"INFO", "commandstats"}), name = "cmdstat_evalsha:calls=";
    const std::size_t at = statistics.find(name);
    return at == std::string::npos ? 0 : std::stoi(statistics.substr(at + name.size()));
  };
  insert({ann_});  // makes the script known
  const int before = calls();
  EXPECT_EQ(insert({bob_}), WriteStatus::kApplied);
  EXPECT_EQ(calls(), before + 1);
  // The lock of a process that is gone.
  call({"HSET", "redquel:locks:16384", "r2", "400000000000000aa.1.1"});
  const Row after = employee(2, "bo", Datum(7), text("bob@x"), Datum(90.0));
  EXPECT_EQ(update({{bob_, after}}), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGET", "emp:2", "ename"}), "bo");
  EXPECT_THAT(dump("redquel:locks:*"), IsEmpty());
}

TEST_F(WriteUnitTest, AnOldDefinitionIsStale) {
  call({"HSET", "redquel:versions", "16384", "2"});
  EXPECT_EQ(insert({ann_}), WriteStatus::kStale);
  EXPECT_THAT(dump("emp:*"), IsEmpty());
}

TEST_F(WriteUnitTest, UniqueValuesOfVanishedRowsAreTakenOver) {
  insert({ann_, bob_});
  call({"DEL", "emp:1"});  // expired
  EXPECT_EQ(insert({employee(4, "eve", Datum(), text("ann@x"), Datum())}), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGET", "emp:uniques:email", "ann@x"}), "4");
  // The row is there, but has another value.
  call({"HSET", "emp:2", "email", "robert@x"});
  EXPECT_EQ(insert({employee(5, "eva", Datum(), text("bob@x"), Datum())}), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGET", "emp:uniques:email", "bob@x"}), "5");
  // Its own entry is no obstacle to a row that comes back.
  EXPECT_EQ(insert({employee(1, "ann", Datum(), text("second@x"), Datum())}), WriteStatus::kApplied);
  // A delete leaves the entry of a new owner.
  Row robert = bob_;
  robert[3] = text("robert@x");
  call({"HSET", "emp:uniques:email", "robert@x", "77"});
  EXPECT_EQ(remove(robert), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGET", "emp:uniques:email", "robert@x"}), "77");
}

TEST_F(WriteUnitTest, WrongTypesHaveNoEffect) {
  insert({ann_});
  const std::vector<std::vector<std::string>> spoilers{{"SET", "emp:indices:dept:8", "x"},  {"SET", "emp:zset:dept", "x"},
                                                       {"SET", "emp:indices:dept", "x"},    {"SET", "emp:uniques:email", "x"},
                                                       {"SET", "emp:indices:salary:%N", "x"}, {"SET", "redquel:changes:16384", "x"}};
  for (const auto& spoiler : spoilers) {
    call({"FLUSHALL"});
    publish(employees());
    insert({ann_});
    call({"DEL", spoiler[1]});
    call(spoiler);
    const auto before = dump("*");
    const SqlError error = error_of([&] { insert({employee(4, "eve", Datum(8), text("eve@x"), Datum())}); });
    EXPECT_EQ(error.sqlstate(), "XX001") << spoiler[1] << " " << error.message();
    EXPECT_EQ(dump("*"), before) << spoiler[1];
  }
}

TEST_F(WriteUnitTest, NullsNotDistinctCollide) {
  sql::TableDef table = sql::make_table("t", {{"id", kInt4}, {"a", kText}}, {"id"});
  sql::add_index(table, {"a"}, true).nulls_not_distinct = true;
  const auto shared = publish(table);
  WriteUnit unit;
  unit.insert_row(shared, Row{Datum(1), Datum()});
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  const SqlError error = error_of([&] {
    WriteUnit other;
    other.insert_row(shared, Row{Datum(2), Datum()});
    await(other.execute(connection_));
  });
  EXPECT_EQ(error.detail(), "Key (a)=(null) already exists.");
  EXPECT_EQ(ask({"HGETALL", "t:uniques:a"}), "\\0 1");
  EXPECT_EQ(ask({"HGETALL", "t:1"}), "id 1");  // a row of NULLs is seen by its key
}

TEST_F(WriteUnitTest, MissingMeansTheDefault) {
  sql::TableDef table = sql::make_table("t", {{"id", kInt4}, {"a", kInt4}, {"b", kInt4}}, {"id"});
  table.columns[1].missing = "5";
  sql::add_index(table, {"a"});
  const auto shared = publish(table);
  // A row of before the column was added.
  call({"HSET", "t:1", "id", "1", "b", "1"});
  call({"ZADD", "t:zset", "1", "1"});
  const auto change = [&](const Row& before, const Row& after) {
    WriteUnit unit;
    unit.update_row(shared, before, after);
    return await(unit.execute(connection_));
  };
  const Row old{Datum(1), Datum(5), Datum(1)}, null{Datum(1), Datum(), Datum(1)}, six{Datum(1), Datum(6), Datum(1)};
  EXPECT_EQ(change(null, six), WriteStatus::kConflict);
  EXPECT_EQ(change(old, null), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGETALL", "t:1"}), "id 1 b 1 a%N ");
  EXPECT_EQ(change(old, six), WriteStatus::kConflict);
  EXPECT_EQ(change(null, six), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGETALL", "t:1"}), "id 1 b 1 a 6");
  EXPECT_EQ(change(six, old), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGETALL", "t:1"}), "id 1 b 1 a 5");
  EXPECT_EQ(change(old, six), WriteStatus::kApplied);  // stored, though it is the default
  WriteUnit unit;
  unit.insert_row(shared, Row{Datum(2), Datum(), Datum()});
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGETALL", "t:2"}), "id 2 a%N ");
}

TEST_F(WriteUnitTest, CompositeAndTextKeys) {
  sql::TableDef table = sql::make_table("t", {{"a", kText}, {"b", kInt4}, {"c", kText}, {"d", kInt4}}, {"a", "b"});
  table.columns[3].not_null = true;
  sql::add_index(table, {"c", "d"});
  sql::add_index(table, {"c"});
  sql::add_index(table, {"d", "c"}, true);
  const auto shared = publish(table);
  WriteUnit unit;
  const Row one{text("x:y"), Datum(1), text("p q"), Datum(2)}, two{text("zset"), Datum(2), Datum(), Datum(3)};
  unit.insert_row(shared, one);
  unit.insert_row(shared, two);
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_EQ(dump("t:*"), (Contents{
                             {"t:x%3Ay:1", "HASH c=p q d=2"},
                             {"t:%7Aset:2", "HASH d=3"},
                             {"t:zset", "ZSET %7Aset:2@0 x%3Ay:1@0"},
                             {"t:indices:c,d", "SET p%20q:2"},
                             {"t:indices:c:p%20q:d:2", "SET x%3Ay:1"},
                             {"t:indices:c", "SET p q"},
                             {"t:indices:c:p%20q", "SET x%3Ay:1"},
                             {"t:indices:c:%N", "SET %7Aset:2"},
                             {"t:zset:c", "ZSET p q\\0x%3Ay:1@0"},
                             {"t:uniques:d:c", "HASH 2:p%20q=x%3Ay:1"},
                         }));
  WriteUnit second;
  second.delete_row(shared, one);
  second.delete_row(shared, two);
  EXPECT_EQ(await(second.execute(connection_)), WriteStatus::kApplied);
  EXPECT_THAT(dump("t:*"), IsEmpty());
}

TEST_F(WriteUnitTest, BigUnitsAreOneScript) {
  std::vector<Row> rows;
  for (int id = 0; id < 20'000; ++id) {
    rows.push_back(employee(id, "name", Datum(id % 3), text("m" + std::to_string(id)), Datum(id * 0.5)));
  }
  EXPECT_EQ(insert(rows), WriteStatus::kApplied);
  EXPECT_EQ(ask({"ZCARD", "emp:zset"}), "20000");
  EXPECT_EQ(ask({"SCARD", "emp:indices:dept:1"}), "6667");
  EXPECT_EQ(ask({"HLEN", "emp:uniques:email"}), "20000");
  EXPECT_EQ(ask({"GET", "redquel:changes:16384"}), "1");
  EXPECT_EQ(error_of([&] { insert({rows[19'999]}); }).sqlstate(), "23505");
  WriteUnit unit;
  for (const Row& row : rows) unit.delete_row(emp_, row);
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_THAT(dump("emp:*"), IsEmpty());
}

TEST_F(WriteUnitTest, HasALimit) {
  WriteUnit unit(WriteOptions{.max_rows = 2});
  unit.insert_row(emp_, ann_);
  unit.insert_row(emp_, bob_);
  const SqlError error = error_of([&] { unit.insert_row(emp_, cid_); });
  EXPECT_EQ(error.sqlstate(), "54000");
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(WriteUnitTest, IndexesRowsOfAnIndexThatIsBuilt) {
  insert({ann_, bob_});
  sql::TableDef changed = *emp_;
  sql::add_index(changed, {"ename"}, true).state = sql::IndexState::kBuilding;
  changed.version = "2";
  const auto table = publish(changed);
  const std::vector<sql::Structure> structures = sql::structures_of(*table, table->indexes.back());
  WriteUnit unit;
  unit.index_row(table, structures, ann_, "emp_ename_key");
  unit.index_row(table, structures, bob_, "emp_ename_key");
  EXPECT_EQ(await(unit.execute(connection_)), WriteStatus::kApplied);
  EXPECT_EQ(ask({"HGETALL", "emp:uniques:ename"}, true), "1 2 ann bob");
  WriteUnit writer;
  writer.insert_row(table, employee(3, "cid", Datum(), Datum(), Datum()));
  EXPECT_EQ(await(writer.execute(connection_)), WriteStatus::kApplied);
  call({"HSET", "emp:2", "ename", "cid"});
  Row same = bob_;
  same[1] = text("cid");
  const SqlError error = error_of([&] {
    WriteUnit duplicate;
    duplicate.index_row(table, structures, same, "emp_ename_key");
    await(duplicate.execute(connection_));
  });
  EXPECT_EQ(error.message(), "could not create unique index \"emp_ename_key\"");
  EXPECT_EQ(error.detail(), "Key (ename)=(cid) is duplicated.");
}

TEST(ConstraintErrors, ShowTheFailingRow) {
  sql::TableDef table = sql::make_table("t", {{"id", kInt4}, {"Name", kText}}, {"id"});
  const Row row{Datum(1), Datum()};
  EXPECT_EQ(row_description(table, row, {}), "(1, null)");
  EXPECT_EQ(row_description(table, Row{Datum(1), text(std::string(70, 'x'))}, {}), "(1, " + std::string(64, 'x') + "...)");
  // 64 bytes end within a character: it is left out.
  EXPECT_EQ(row_description(table, Row{Datum(1), text(std::string(63, 'x') + "é" + "yy")}, {}), "(1, " + std::string(63, 'x') + "...)");
  const SqlError error = null_violation(table, table.columns[1], row, {});
  EXPECT_EQ(error.message(), "null value in column \"Name\" of relation \"t\" violates not-null constraint");
  EXPECT_EQ(error.detail(), "Failing row contains (1, null).");
  EXPECT_EQ(check_violation(table, "c", row, {}).message(), "new row for relation \"t\" violates check constraint \"c\"");
  EXPECT_EQ(duplicate_key(table, "k", std::vector<std::int16_t>{2, 1}, Row{text("x"), Datum(1)}, {}).detail(),
            "Key (\"Name\", id)=(x, 1) already exists.");
}

}  // namespace
}  // namespace redquel::executor
