"""Tables in several buckets of a Redis Cluster: unique values that lie by value, locked rows, other buckets for a table."""
import time

from harness.cluster_killer import Killer, leftovers
from harness.cluster_nodes import crc16
from harness.crew import all_at_once
from harness.pgwire import ServerError, query
from harness.servers import run_when_it_is_back
from harness.spread_tables import BUCKETS, compare, differences, make_cluster
from harness.visitors import RETRIED, Visitor
from harness.waiting import wait_for

SLOW = True
LIMIT = 300


def plan(connection, statement):
    return "\n".join(row[0] for row in connection.run(f"EXPLAIN {statement}"))


UNIQUE_SCHEMA = [
    "CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE, a int, b int, note text, UNIQUE (a, b)) {options}",
    "CREATE TABLE loose (a int UNIQUE, b text) {options}",
]
UNIQUE_CHANGES = [
    "INSERT INTO account SELECT n, 'mail ' || n, n % 7, n FROM generate_series(1, 100) n",
    "INSERT INTO account VALUES (101, 'mail 5', 0, 0)",
    "INSERT INTO account VALUES (5, 'mail 7', 0, 0)",
    "INSERT INTO account VALUES (101, 'new', 1, 1)",
    "INSERT INTO account VALUES (101, 'twice', 0, 1001), (102, 'twice', 0, 1002)",
    "INSERT INTO account VALUES (101, NULL, NULL, 3), (102, NULL, NULL, 3)",
    "INSERT INTO account VALUES (201, 'mail 9', 0, 2001) ON CONFLICT DO NOTHING",
    "INSERT INTO account VALUES (9, 'mail 9', 0, 2001) ON CONFLICT (mail) DO NOTHING",
    "INSERT INTO account VALUES (9, 'mail 10', 0, 2001) ON CONFLICT (mail) DO NOTHING",
    "INSERT INTO account VALUES (9, 'mail new', 0, 2001) ON CONFLICT (mail) DO NOTHING",
    "INSERT INTO account VALUES (301, 'mail 9', 9, 9, 'up'), (302, 'mail fresh', 9, 10, 'up') ON CONFLICT (mail) DO UPDATE SET note = EXCLUDED.note RETURNING id, note",
    "UPDATE account SET mail = 'mail 11' WHERE id = 12",
    "UPDATE account SET mail = 'mail 12' WHERE id = 12",
    "UPDATE account SET mail = 'changed' WHERE id = 12",
    "INSERT INTO account VALUES (401, 'mail 12', 0, 4001)",
    "UPDATE account SET id = id + 1000 WHERE id BETWEEN 20 AND 29",
    "UPDATE account SET b = b + 1 WHERE mail = 'mail 30'",
    "SELECT * FROM account WHERE mail = 'mail 30'",
    "SELECT id FROM account WHERE mail IN ('mail 31', 'mail 32', 'none') ORDER BY id",
    "SELECT id FROM account WHERE a = 5 AND b = 40",
    "SELECT v.m, x.id FROM (VALUES ('mail 33'), ('mail 34'), ('none')) v (m) LEFT JOIN account x ON x.mail = v.m ORDER BY 1",
    "SELECT count(DISTINCT mail), count(mail), min(mail) FROM account",
    "DELETE FROM account WHERE mail = 'mail 50'",
    "INSERT INTO account VALUES (50, 'mail 50', 0, 5000)",
    "MERGE INTO account t USING (VALUES (60, 'mail 61')) v (id, m) ON t.id = v.id WHEN MATCHED THEN UPDATE SET mail = v.m",
    "BEGIN", "DELETE FROM account WHERE id = 61", "UPDATE account SET mail = 'mail 61' WHERE id = 60", "SELECT id FROM account WHERE mail = 'mail 61'",
    "INSERT INTO account VALUES (70001, 'mail 60', 7, 70001)", "SELECT id FROM account WHERE mail = 'mail 60'", "COMMIT",
    "BEGIN", "INSERT INTO account VALUES (70002, 'own', 7, 70002)", "SAVEPOINT s", "INSERT INTO account VALUES (70003, 'own', 7, 70003)", "ROLLBACK TO s",
    "SELECT id FROM account WHERE mail = 'own'", "INSERT INTO account VALUES (70004, 'own too', 7, 70004)", "ROLLBACK",
    "SELECT id FROM account WHERE mail = 'own'",
    "DELETE FROM account WHERE a = 3",
    "INSERT INTO loose SELECT n, 'b' || n FROM generate_series(1, 50) n",
    "INSERT INTO loose VALUES (17, 'again')",
    "UPDATE loose SET a = a + 100 WHERE a < 10",
    "SELECT b FROM loose WHERE a = 105",
    "DELETE FROM loose WHERE b = 'b20'",
    "INSERT INTO loose VALUES (20, 'again')",
    "ALTER TABLE loose ADD UNIQUE (b)",
    "INSERT INTO loose VALUES (21, 'other')",
    "DELETE FROM loose WHERE b = 'again'",
    "ALTER TABLE account ADD CONSTRAINT note_key UNIQUE (note)",
    "UPDATE account SET note = NULL",
    "CREATE UNIQUE INDEX low ON account (lower(mail)) WHERE id < 100",
    "INSERT INTO account VALUES (77, 'MAIL 76', 77, 77)",
    "INSERT INTO account VALUES (777, 'MAIL 76', 77, 77)",
    "DROP INDEX low",
    "ALTER TABLE account DROP CONSTRAINT account_mail_key",
    "INSERT INTO account VALUES (778, 'MAIL 76', 78, 78)",
]


def test_unique_values_have_the_answers_of_postgresql(make_redis, make_server, postgres):
    _, [server] = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        compare(spread, oracle, UNIQUE_SCHEMA)
        compare(spread, oracle, UNIQUE_CHANGES, ("account", "loose"))
        assert differences(spread, "account", "loose") == []


def test_a_unique_value_lies_in_the_bucket_of_its_hash(make_redis, make_server):
    cluster, [server] = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE) WITH (buckets = {BUCKETS})")
        connection.run("INSERT INTO account SELECT n, 'mail ' || n FROM generate_series(1, 200) n")
        hashes = {key: dict(zip(words[::2], words[1::2])) for node in cluster.masters for key in node("KEYS", "*}account:uniques:mail")
                  for words in [node("HGETALL", key)]}
        assert len(hashes) == BUCKETS and sum(len(values) for values in hashes.values()) == 200
        numbers = {key: {crc16(value) % BUCKETS for value in values} for key, values in hashes.items()}
        assert sorted(numbers.values(), key=min) == [{number} for number in range(BUCKETS)], numbers
        assert all(owner == value.removeprefix("mail ") for values in hashes.values() for value, owner in values.items())
        assert f"at most 2 of {BUCKETS}" in plan(connection, "SELECT * FROM account WHERE mail = 'mail 3'")
        # An entry that is wrong is found, and mended.
        [key] = [key for key, values in hashes.items() if "mail 3" in values]
        node = cluster.master_of(key)
        node("HDEL", key, "mail 3")
        node("HSET", key, "stray", "17")
        found = differences(connection, "account")
        assert len(found) == 2 and {"mail 3", "stray"} == {word for row in found for word in row if word in ("mail 3", "stray")}, found
        connection.run("REINDEX TABLE account")
        assert differences(connection, "account") == []
        assert connection.run("SELECT id FROM account WHERE mail = 'mail 3'") == [["3"]]
        connection.run("TRUNCATE account")
        connection.run("INSERT INTO account VALUES (1, 'mail 3')")
        connection.run("DROP TABLE account")
    assert [key for node in cluster.masters for key in node("KEYS", "*}account*")] == []


def test_reindex_mends_all_buckets_beside_a_duplicate(make_redis, make_server):
    cluster, [server] = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE account (id int PRIMARY KEY, n int, mail text UNIQUE) WITH (buckets = {BUCKETS})")
        connection.run("CREATE INDEX ON account (n)")
        connection.run("INSERT INTO account SELECT n, n, 'mail ' || n FROM generate_series(1, 40) n")
        for number in range(1, 41):
            [key] = [key for node in cluster.masters for key in node("KEYS", f"*}}account:{number}")]
            cluster.master_of(key)("HSET", key, "n", "7", *(["mail", "mail 1"] if number in (2, 20) else []))
        assert connection.query("REINDEX TABLE account")[-1].sqlstate == "23505"
        assert {row[0] for row in differences(connection, "account")} == {"unique"}
        assert connection.run("SELECT count(*) FROM account WHERE n = 7") == [["40"]]


def test_reindex_counts_hidden_keys_of_all_buckets(make_redis, make_server):
    """A wrong score hides the last row of a bucket from the count until that bucket is mended."""
    cluster, [server] = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE loose (n int UNIQUE) WITH (buckets = {BUCKETS})")
        connection.run("INSERT INTO loose SELECT generate_series(1, 40)")
        for node in cluster.masters:
            for key in node("KEYS", "*}loose:rowid"):
                node("DEL", key)
            for key in node("KEYS", "*}loose:zset"):
                node("ZADD", key, "inf", node("ZRANGE", key, "0", "0")[0])
        connection.run("REINDEX TABLE loose")
        assert differences(connection, "loose") == []
        connection.run("INSERT INTO loose SELECT generate_series(41, 80)")
        assert connection.run("SELECT count(*), sum(n) FROM loose") == [["80", "3240"]]


def test_one_of_two_sessions_gets_a_unique_value(make_redis, make_server):
    _, servers = make_cluster(make_redis, make_server, servers=2)
    with servers[0].connect() as one, servers[1].connect() as other:
        one.run(f"CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE) WITH (buckets = {BUCKETS})")
        # The second session waits, and is told once the first one has committed.
        for end, code in ("COMMIT", "23505"), ("ROLLBACK", None):
            one.run("BEGIN")
            one.run("INSERT INTO account VALUES (1, 'x')")
            other.send(query("INSERT INTO account VALUES (2, 'x')"))
            time.sleep(.3)
            one.run(end)
            [result] = other.results()
            assert result.sqlstate == code, (end, result.error)
            if code:
                assert result.error["M"] == 'duplicate key value violates unique constraint "account_mail_key"', result.error
                assert result.error["D"] == "Key (mail)=(x) already exists.", result.error
            one.run("DELETE FROM account")

        def insert(number):
            won = 0
            with servers[number % 2].connect() as connection:
                for turn in range(40):
                    [result] = connection.query(f"INSERT INTO account VALUES ({number * 1000 + turn}, 'turn {turn}')")
                    assert result.sqlstate in (None, "23505"), result.error
                    won += result.error is None
            wins.append(won)

        wins = []
        all_at_once(insert, 4)
        assert sum(wins) == 40, wins
        assert one.run("SELECT count(*), count(DISTINCT mail) FROM account") == [["40", "40"]]
        assert differences(one, "account") == []


def test_a_unique_value_whose_row_another_program_has_deleted_is_free(make_redis, make_server):
    cluster, servers = make_cluster(make_redis, make_server, servers=2)
    with servers[0].connect() as one, servers[1].connect() as other:
        one.run(f"CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE, code int UNIQUE) WITH (buckets = {BUCKETS})")
        one.run("INSERT INTO account SELECT n, 'mail ' || n, n FROM generate_series(1, 40) n")

        def run_on_row(command, number, *words):
            [(node, key)] = [(node, key) for node in cluster.masters for key in node("KEYS", f"*}}account:{number}")]
            node(command, key, *words)

        for number in range(3, 12):
            run_on_row("DEL", number)
        for number in range(12, 20):
            run_on_row("HSET", number, "mail", f"changed {number}")
        one.run("INSERT INTO account VALUES (103, 'mail 3', 103)")
        one.run("UPDATE account SET mail = 'mail 4' WHERE id = 20")
        one.run("INSERT INTO account VALUES (105, 'mail 5', 105) ON CONFLICT (mail) DO UPDATE SET code = 0")
        one.run("INSERT INTO account VALUES (106, 'mail 6', 6) ON CONFLICT DO NOTHING")
        one.run("BEGIN")
        one.run("INSERT INTO account VALUES (107, 'mail 7', 107)")
        one.run("INSERT INTO account VALUES (108, 'mail 8', 8)")
        other.send(query("INSERT INTO account VALUES (109, 'mail 8', 109)"))
        time.sleep(.3)
        one.run("COMMIT")
        assert other.results()[-1].sqlstate == "23505"
        one.run("INSERT INTO account SELECT n + 100, 'mail ' || n, n + 100 FROM generate_series(9, 17) n")
        one.run("BEGIN")
        one.run("UPDATE account SET mail = 'mail 18' WHERE id = 21")
        one.run("ROLLBACK")
        one.run("UPDATE account SET mail = 'mail 18' WHERE id = 22")
        one.run("INSERT INTO account VALUES (19, 'mail 19', 119) ON CONFLICT (id) DO UPDATE SET mail = EXCLUDED.mail")
        assert one.run("SELECT id FROM account WHERE mail IN ('mail 3', 'mail 4', 'mail 5', 'mail 6', 'mail 7', 'mail 8', 'mail 18') ORDER BY 1") == [
            ["20"], ["22"], ["103"], ["105"], ["106"], ["107"], ["108"]]
        for number in (103, 20, 105, 106, 107, 108, 22):
            assert one.run_error(f"INSERT INTO account SELECT 999, mail, 999 FROM account WHERE id = {number}")["C"] == "23505"
        for number in range(23, 41):  # their entries lie beside those that went with their rows
            assert one.run_error(f"INSERT INTO account VALUES (999, 'mail {number}', 999)")["C"] == "23505"
        one.run("REINDEX TABLE account")
        assert differences(one, "account") == []
        assert one.run("SELECT mail FROM account GROUP BY mail HAVING count(*) > 1") == []
    wait_for(lambda: not leftovers(cluster), what="the end of all locks")


class Owner(Visitor):
    """Gives and takes few unique values."""

    def __init__(self, servers, number):
        super().__init__(servers, number, timeout=30)
        self.refused = self.done = 0

    def work(self, connection):
        choice = (self.number * 7919 + self.turn * 104729) % 1000
        mail, key = f"mail {choice % 20}", self.number * 1_000_000 + self.turn
        statements = (f"INSERT INTO account VALUES ({key}, '{mail}', 0)",
                      f"UPDATE account SET mail = '{mail}' WHERE mail = 'mail {choice % 7}'",
                      f"DELETE FROM account WHERE mail = '{mail}'",
                      f"INSERT INTO account VALUES ({key}, '{mail}', 1) ON CONFLICT (mail) DO UPDATE SET turns = account.turns + 1")
        [result] = connection.query(statements[choice // 20 % 4])
        if result.error is None:
            self.done += 1
        elif result.sqlstate in ("23505", *RETRIED):
            self.refused += 1
        else:
            raise ServerError(result.error)


def test_unique_values_stay_whole_when_processes_and_masters_are_killed(make_redis, make_server, random):
    cluster, servers = make_cluster(make_redis, make_server, servers=2, replicas=1)
    with servers[0].connect() as connection:
        connection.run(f"CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE, turns int) WITH (buckets = {BUCKETS})")
    visitors = [Owner(servers, number) for number in range(4)]
    killer = Killer(cluster, servers, random, spares_masters=False)
    killer.strike_beside(visitors, seconds=20)
    with servers[0].connect() as connection:
        run_when_it_is_back(connection, "SELECT 1")
        wait_for(lambda: not leftovers(cluster), what="the end of all commits and locks")
        print(f"  {sum(visitor.done for visitor in visitors)} statements, {sum(visitor.refused for visitor in visitors)} refused; {killer.deeds}", flush=True)
        assert run_when_it_is_back(connection, "SELECT mail FROM account GROUP BY mail HAVING count(*) > 1") == []
        assert differences(connection, "account") == []


LOCK_STATEMENTS = [
    "CREATE TABLE item (id int PRIMARY KEY, kind text, price int) {options}",
    "CREATE TABLE sale (item int, day int, PRIMARY KEY (item, day)) {options}",
    "CREATE TABLE loose (a int, b text) {options}",
    "INSERT INTO item SELECT n, 'kind ' || n % 3, n * 10 FROM generate_series(1, 30) n",
    "INSERT INTO sale SELECT n, d FROM generate_series(1, 30) n, generate_series(1, 2) d",
    "INSERT INTO loose SELECT n, 'b' || n FROM generate_series(1, 30) n",
    "SELECT * FROM item WHERE id = 3 FOR UPDATE",
    "SELECT id FROM item ORDER BY price DESC LIMIT 4 FOR SHARE",
    "BEGIN", "SELECT price FROM item WHERE kind = 'kind 1' ORDER BY id FOR NO KEY UPDATE", "UPDATE item SET price = price + 1 WHERE kind = 'kind 1'",
    "SELECT i.id, s.day FROM item i JOIN sale s ON s.item = i.id WHERE i.id < 4 ORDER BY 1, 2 FOR UPDATE OF s FOR KEY SHARE OF i",
    "SELECT b FROM loose WHERE a < 5 ORDER BY a FOR UPDATE", "COMMIT",
    "SELECT sum(price) FROM item",
]


def test_rows_of_a_spread_table_are_locked(make_redis, make_server, postgres):
    cluster, servers = make_cluster(make_redis, make_server, servers=2)
    database = postgres.create_database()
    with servers[0].connect() as one, servers[1].connect() as other, postgres.connect(database) as oracle:
        compare(one, oracle, LOCK_STATEMENTS)
        one.run("BEGIN")
        assert one.run("SELECT id FROM item WHERE id IN (2, 3, 5, 8) ORDER BY id FOR UPDATE") == [["2"], ["3"], ["5"], ["8"]]
        error = other.run_error("SELECT id FROM item WHERE id < 6 ORDER BY id FOR UPDATE NOWAIT")
        assert error["C"] == "55P03" and 'relation "item"' in error["M"], error
        other.run("BEGIN")
        assert other.run("SELECT id FROM item ORDER BY id LIMIT 5 FOR UPDATE SKIP LOCKED") == [["1"], ["4"], ["6"], ["7"], ["9"]]
        assert other.run("SELECT i.id FROM item i JOIN sale s ON s.item = i.id AND s.day = 1 WHERE i.id < 9 ORDER BY i.id FOR UPDATE SKIP LOCKED") == [
            ["1"], ["4"], ["6"], ["7"]]
        other.run("COMMIT")
        other.send(query("UPDATE item SET price = 0 WHERE id IN (5, 6)"))
        time.sleep(.3)
        one.run("UPDATE item SET price = 1 WHERE id = 5")
        one.run("COMMIT")
        [result] = other.results()
        assert result.tag == "UPDATE 2", result.error
        assert one.run("SELECT id, price FROM item WHERE id IN (5, 6) ORDER BY id") == [["5", "0"], ["6", "0"]]
        # A row that changes while it is waited for is given as it is then.
        one.run("BEGIN")
        one.run("UPDATE item SET price = 77 WHERE id = 11")
        other.send(query("SELECT price FROM item WHERE id = 11 FOR UPDATE"))
        time.sleep(.3)
        one.run("COMMIT")
        assert other.results()[-1].texts() == [["77"]]
    wait_for(lambda: not leftovers(cluster), what="the end of all locks")


def test_a_table_gets_other_buckets(make_redis, make_server):
    cluster, [server] = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        connection.run("CREATE TABLE item (id serial PRIMARY KEY, kind int, mail text UNIQUE)")
        connection.run("INSERT INTO item (kind, mail) SELECT n % 5, 'mail ' || n FROM generate_series(1, 300) n")
        connection.run("CREATE INDEX ON item (kind)")
        rows = connection.run("SELECT * FROM item ORDER BY id")

        def tags():
            return {key.partition("}")[0] for node in cluster.masters for key in node("KEYS", "*}item*:*") if key.rpartition(":")[2].isdigit()}

        def state(buckets):
            assert connection.run("SELECT * FROM item ORDER BY id") == rows
            assert connection.run("SELECT count(*) FROM item WHERE kind = 3") == [["60"]]
            assert connection.run("SELECT id FROM item WHERE mail = 'mail 123'") == [["123"]]
            assert connection.run_error("INSERT INTO item VALUES (5000, 1, 'mail 7')")["C"] == "23505"
            assert differences(connection, "item") == []
            assert len(tags()) == buckets, tags()

        state(1)
        for statement, buckets in ("SET (buckets = 4)", 4), ("SET (buckets = 16)", 16), ("SET (buckets = 4, bucket_by = 'id')", 4), ("SET (buckets = 1)", 1), \
                ("SET (buckets = 8)", 8), ("RESET (buckets)", 1):
            connection.run(f"ALTER TABLE item {statement}")
            state(buckets)
        connection.run("ALTER TABLE item SET (buckets = 4)")
        assert connection.run("SELECT reloptions FROM pg_class WHERE relname = 'item'") == [["{buckets=4,bucket_by=id}"]]
        assert connection.run("INSERT INTO item (kind) VALUES (1) RETURNING id") != []
        error = connection.run_error("ALTER TABLE item SET (bucket_by = 'kind')")
        assert error["C"] == "0A000" and "bucket_by" in error["M"], error
        connection.run("DROP TABLE item")
    assert [key for node in cluster.masters for key in node("KEYS", "*}item*")] == []
