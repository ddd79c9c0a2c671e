"""Definitions of tables in several buckets of a Redis Cluster beside CREATE TABLE: temporary tables, ON COMMIT, materialized views, other buckets in a
transaction, and rows that expire."""
import time

from harness.spread_tables import BUCKETS, compare, differences, make_cluster
from harness.waiting import wait_for

SLOW = True
LIMIT = 300

TEMPORARY = [
    "CREATE TEMP TABLE kept (id int PRIMARY KEY, kind text, mail text UNIQUE) {options}",
    "INSERT INTO kept SELECT n, 'kind ' || n % 3, 'mail ' || n FROM generate_series(1, 60) n",
    "INSERT INTO kept VALUES (100, 'x', 'mail 7')",
    "CREATE INDEX ON kept (kind)",
    "SELECT kind, count(*) FROM kept GROUP BY kind ORDER BY 1",
    "CREATE TEMP TABLE emptied (id int PRIMARY KEY, kind text) {options} ON COMMIT DELETE ROWS",
    "INSERT INTO emptied VALUES (1, 'gone'), (2, 'gone'), (3, 'gone')",
    "SELECT count(*) FROM emptied",
    "BEGIN", "INSERT INTO emptied SELECT id, kind FROM kept", "SELECT kind, count(*) FROM emptied GROUP BY kind ORDER BY 1",
    "UPDATE emptied SET kind = 'same' WHERE id < 10", "DELETE FROM emptied WHERE id = 3", "SELECT count(*), min(id) FROM emptied WHERE kind = 'same'",
    "SELECT k.id FROM kept k JOIN emptied e USING (id) WHERE e.kind = 'same' ORDER BY 1", "COMMIT",
    "SELECT count(*) FROM emptied",
    "BEGIN", "CREATE TEMP TABLE dropped (id int PRIMARY KEY, kind text) {options} ON COMMIT DROP",
    "INSERT INTO dropped SELECT n, 'kind' FROM generate_series(1, 40) n", "SELECT count(*), sum(id) FROM dropped", "UPDATE kept SET kind = 'new' WHERE id = 1", "COMMIT",
    "SELECT * FROM dropped",
    "BEGIN", "CREATE TEMP TABLE dropped {options} ON COMMIT DROP AS SELECT * FROM kept", "SELECT count(*) FROM dropped", "COMMIT",
    "SELECT * FROM dropped",
    "CREATE TEMP TABLE copied {options} AS SELECT id, mail FROM kept",
    "SELECT count(*), max(mail) FROM copied",
    "BEGIN", "INSERT INTO emptied SELECT n, 'many' FROM generate_series(1, 4000) n", "SELECT count(*) FROM emptied", "COMMIT",
    "SELECT count(*) FROM emptied",
    "DISCARD TEMP",
    "SELECT * FROM kept",
]


def test_temporary_tables_have_the_answers_of_postgresql(make_redis, make_server, postgres):
    cluster, [server] = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        compare(spread, oracle, TEMPORARY)

    def left():
        return [key for node in cluster.nodes for key in node("KEYS", "*") if any(f"}}{name}" in key for name in ("kept", "emptied", "dropped", "copied"))]

    wait_for(lambda: not left(), what="the end of the temporary tables' keys")


VIEWS = [
    "CREATE TABLE item (id int PRIMARY KEY, kind text, price int) {options}",
    "INSERT INTO item SELECT n, 'kind ' || n % 7, n * 37 % 101 FROM generate_series(1, 300) n",
    "CREATE MATERIALIZED VIEW by_kind {options} AS SELECT kind, count(*) AS pieces, sum(price) AS price FROM item GROUP BY kind",
    "SELECT * FROM by_kind ORDER BY kind",
    "CREATE MATERIALIZED VIEW copied {options} AS SELECT id, kind FROM item WHERE id <= 200",
    "CREATE UNIQUE INDEX copied_id ON copied (id)",
    "CREATE INDEX ON copied (kind)",
    "SELECT count(*) FROM copied WHERE kind = 'kind 3'",
    "SELECT kind FROM copied WHERE id = 77",
    "INSERT INTO copied VALUES (1000, 'x')",
    "UPDATE item SET kind = 'other' WHERE id % 10 = 0",
    "DELETE FROM item WHERE id % 10 = 1",
    "REFRESH MATERIALIZED VIEW by_kind",
    "SELECT * FROM by_kind ORDER BY kind",
    "REFRESH MATERIALIZED VIEW CONCURRENTLY copied",
    "SELECT kind, count(*) FROM copied GROUP BY kind ORDER BY 1",
    "REFRESH MATERIALIZED VIEW copied WITH NO DATA",
    "SELECT * FROM copied",
    "REFRESH MATERIALIZED VIEW copied",
    "SELECT count(*), max(id) FROM copied",
    "BEGIN", "INSERT INTO item VALUES (5000, 'last', 1)", "REFRESH MATERIALIZED VIEW by_kind", "SELECT * FROM by_kind WHERE kind = 'last'", "ROLLBACK",
    "SELECT * FROM by_kind WHERE kind = 'last'",
    "BEGIN", "CREATE MATERIALIZED VIEW in_block {options} AS SELECT DISTINCT kind FROM item", "SELECT * FROM in_block ORDER BY 1", "COMMIT",
    "SELECT * FROM in_block ORDER BY 1",
    "CREATE MATERIALIZED VIEW later {options} AS SELECT id FROM item WITH NO DATA",
    "REFRESH MATERIALIZED VIEW later",
    "SELECT count(*) FROM later",
    "ALTER MATERIALIZED VIEW copied {fewer}",
    "SELECT kind, count(*) FROM copied GROUP BY kind ORDER BY 1",
    "REFRESH MATERIALIZED VIEW copied",
    "SELECT kind FROM copied WHERE id = 77",
    "UPDATE item SET id = id + 10000 WHERE id = 77",
    "CREATE MATERIALIZED VIEW kinds {options} AS SELECT kind FROM item WHERE id IN (2, 9, 3)",
    "CREATE UNIQUE INDEX ON kinds (kind)",
    "DROP MATERIALIZED VIEW later, in_block",
]


def test_materialized_views_have_the_answers_of_postgresql(make_redis, make_server, postgres):
    _, [server] = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        compare(spread, oracle, VIEWS)
        assert differences(spread, "item", "by_kind", "copied") == []
        assert spread.run("SELECT reloptions FROM pg_class WHERE relname = 'by_kind'") == [[f"{{buckets={BUCKETS}}}"]]


IN_BLOCKS = [
    "CREATE TABLE item (id serial PRIMARY KEY, kind text, mail text UNIQUE)",
    "CREATE TABLE note (id int PRIMARY KEY, item int REFERENCES item)",
    "INSERT INTO item (kind, mail) SELECT 'kind ' || n % 7, 'mail ' || n FROM generate_series(1, 200) n",
    "INSERT INTO note SELECT n, n FROM generate_series(1, 50) n",
    "CREATE INDEX ON item (kind)",
    "BEGIN", "ALTER TABLE item {spread}", "SELECT count(*) FROM item WHERE kind = 'kind 3'", "SELECT id FROM item WHERE mail = 'mail 77'",
    "INSERT INTO item (kind, mail) VALUES ('new', 'new mail') RETURNING id", "UPDATE item SET kind = 'new' WHERE id < 5", "DELETE FROM item WHERE id = 100",
    "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1", "ROLLBACK",
    "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1",
    "BEGIN", "UPDATE item SET kind = 'before' WHERE id BETWEEN 10 AND 20", "DELETE FROM item WHERE id = 101", "ALTER TABLE item {spread}",
    "INSERT INTO item (kind, mail) VALUES ('new', 'newer mail') RETURNING id", "UPDATE item SET kind = 'after' WHERE id = 11", "SAVEPOINT s",
    "INSERT INTO item (kind, mail) VALUES ('new', 'mail 5')", "ROLLBACK TO s", "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1", "COMMIT",
    "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1",
    "INSERT INTO item (kind, mail) VALUES ('new', 'mail 5')",
    "INSERT INTO note VALUES (100, 101)",
    "DELETE FROM item WHERE id = 7",
    "BEGIN", "ALTER TABLE item {fewer}", "ALTER TABLE item ADD COLUMN weight int DEFAULT 3", "SELECT sum(weight) FROM item", "COMMIT",
    "SELECT sum(weight), count(*) FROM item",
    "BEGIN", "ALTER TABLE item {fewer}", "ALTER TABLE item {spread}", "SELECT count(*) FROM item", "COMMIT",
    "BEGIN", "CREATE TABLE fresh (id int PRIMARY KEY, kind text)", "INSERT INTO fresh SELECT n, 'x' FROM generate_series(1, 30) n", "ALTER TABLE fresh {spread}",
    "SELECT count(*), sum(id) FROM fresh", "UPDATE fresh SET kind = 'y' WHERE id = 4", "COMMIT",
    "SELECT kind, count(*) FROM fresh GROUP BY kind ORDER BY 1",
    "BEGIN", "ALTER TABLE item RESET (buckets, fillfactor)", "SELECT count(*) FROM item WHERE kind = 'kind 3'", "COMMIT",
    "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1",
    "BEGIN", "ALTER TABLE note {spread}", "ALTER TABLE item {spread}", "DELETE FROM note WHERE id = 8", "DELETE FROM item WHERE id = 8", "COMMIT",
    "BEGIN", "INSERT INTO item (kind, mail) SELECT 'many', 'many ' || n FROM generate_series(1, 3000) n", "ALTER TABLE item {fewer}",
    "INSERT INTO item (kind, mail) SELECT 'many', 'more ' || n FROM generate_series(1, 3000) n", "SELECT count(*) FROM item", "COMMIT",
    "DELETE FROM item WHERE id = 9",
    "SELECT count(*), sum(id) FROM note",
]


def test_a_table_gets_other_buckets_in_a_transaction(make_redis, make_server, postgres):
    cluster, [server] = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        compare(spread, oracle, IN_BLOCKS, ("item", "note"))
        assert differences(spread, "item", "note", "fresh") == []
        spread.run("DROP TABLE item, note, fresh")
        left = [key for node in cluster.nodes for key in node("KEYS", "*") if any(f"}}{name}" in key for name in ("item", "note", "fresh"))]
        assert left == []


def keys_of(cluster, name):
    return [key for node in cluster.masters for key in node("KEYS", f"*}}{name}*")]


def test_rows_of_spread_tables_expire(make_redis, make_server):
    cluster, [server] = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE visit (token text PRIMARY KEY, owner int, kind int) WITH (buckets = {BUCKETS}, ttl = '2 seconds')")
        connection.run(f"CREATE TABLE offer (id int PRIMARY KEY, shop int, until timestamptz) WITH (buckets = {BUCKETS}, ttl_column = 'until')")
        connection.run("CREATE INDEX ON visit (owner)")
        connection.run("CREATE INDEX ON offer (shop)")
        connection.run("INSERT INTO offer SELECT n, n % 3, CASE WHEN n <= 30 THEN now() + '2 seconds' WHEN n <= 40 THEN NULL ELSE now() + '1 hour' END"
                       " FROM generate_series(1, 60) n")
        begin = time.time()
        connection.run("INSERT INTO visit SELECT 'token ' || n, n % 5, 1 FROM generate_series(1, 100) n")
        connection.run("INSERT INTO visit VALUES ('single', 1, 1)")
        time.sleep(.8)
        # UPDATE keeps the remaining time, of the key and in commits over several buckets, too.
        connection.run("UPDATE visit SET kind = 2 WHERE owner = 3")
        connection.run("UPDATE visit SET token = 'moved ' || token WHERE token LIKE 'token 1%'")
        connection.run("BEGIN")
        connection.run("UPDATE visit SET token = 'again ' || token, owner = 9 WHERE token = 'token 2'")
        connection.run("UPDATE visit SET kind = 3 WHERE owner = 4")
        connection.run("COMMIT")
        ttl = connection.run("SELECT extract(epoch FROM redquel.ttl('visit', token)) FROM (SELECT token FROM visit OFFSET 0) v")
        assert len(ttl) == 101 and all(0 < float(left) < 1.3 for [left] in ttl), (time.time() - begin, sorted(ttl))
        connection.run("UPDATE offer SET until = now() + '1 hour' WHERE id IN (1, 2, 3)")
        connection.run("UPDATE offer SET id = id + 1000 WHERE id IN (4, 5, 55)")
        wait_for(lambda: connection.run("SELECT count(*) FROM visit") == [["0"]], what="the end of the visits")
        assert connection.run("SELECT count(*) FROM visit WHERE owner = 3") == [["0"]]
        wait_for(lambda: connection.run("SELECT count(*), count(until) FROM offer") == [["33", "23"]], what="the end of the offers")
        assert connection.run("SELECT shop, count(*) FROM offer GROUP BY shop ORDER BY 1") == connection.run(
            "SELECT shop, count(*) FROM (SELECT * FROM offer OFFSET 0) o GROUP BY shop ORDER BY 1")
        wait_for(lambda: not keys_of(cluster, "visit"), what="the end of the visits' index entries")
        assert differences(connection, "visit", "offer") == []
        # Many rows, in a unit of several chunks, and other buckets for rows that expire.
        connection.run("INSERT INTO offer SELECT n, n % 3, now() + '1 hour' FROM generate_series(2001, 8000) n")
        connection.run("ALTER TABLE offer SET (buckets = 4)")
        assert connection.run("SELECT count(*) FROM offer") == [["6033"]]
        assert connection.run("SELECT count(*) FROM offer WHERE redquel.ttl('offer', id) IS NULL") == [["10"]]
        assert differences(connection, "offer") == []
        connection.run("DELETE FROM offer")
        wait_for(lambda: not [key for key in keys_of(cluster, "offer") if not key.endswith(":rowid")], what="the end of the offers' keys")
        error = connection.run_error("CREATE TABLE t (id int PRIMARY KEY, mail text UNIQUE) WITH (buckets = 4, ttl = '1 hour')")
        assert error["C"] == "0A000" and "time to live" in error["M"], error
