"""Tables whose rows lie in several buckets of a Redis Cluster (WITH (buckets = n)): PostgreSQL's answers over the same rows, the place of each key,
the plans, and definitions of such tables."""
from harness.cluster_nodes import Cluster, crc16

SLOW = True
BUCKETS = 8
SCHEMA = [
    "CREATE TABLE item (id int PRIMARY KEY, kind text, price int, label text){options}",
    "CREATE INDEX ON item (kind)",
    "CREATE INDEX ON item (price)",
    "INSERT INTO item SELECT n, 'kind ' || n % 7, n * 37 % 101, CASE WHEN n % 5 > 0 THEN 'label ' || n END FROM generate_series(1, 400) n",
    "CREATE TABLE sale (item int, day int, pieces int NOT NULL, PRIMARY KEY (item, day)){options}",
    "CREATE INDEX ON sale (day)",
    "CREATE INDEX ON item USING {zset} (kind, label)",
    "CREATE INDEX ON sale USING {zset} (day, pieces)",
    "INSERT INTO sale SELECT n, d, (n + d) % 9 FROM generate_series(1, 200) n, generate_series(1, 3) d",
    "CREATE TABLE loose (a int, b text){options}",
    "INSERT INTO loose SELECT n % 50, 'b' || n FROM generate_series(1, 120) n",
]
QUERIES = [
    "SELECT * FROM item WHERE id = 17",
    "SELECT * FROM item WHERE id IN (3, 5, 399, 1000) ORDER BY id",
    "SELECT count(*) FROM item",
    "SELECT count(*), count(id) FROM item WHERE kind = 'kind 3'",
    "SELECT count(label) FROM item",
    "SELECT count(*) FROM item WHERE price BETWEEN 10 AND 20",
    "SELECT count(DISTINCT kind) FROM item",
    "SELECT min(price), max(price) FROM item",
    "SELECT min(id), max(id) FROM item WHERE kind = 'kind 3'",
    "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY kind",
    "SELECT kind, count(*), sum(price) FROM item WHERE price > 50 GROUP BY kind ORDER BY 2 DESC, 1",
    "SELECT DISTINCT kind FROM item ORDER BY 1",
    "SELECT id FROM item WHERE kind = 'kind 3' AND price > 50 ORDER BY id",
    "SELECT id FROM item WHERE kind IN ('kind 1', 'kind 2') OR price < 5 ORDER BY id",
    "SELECT id, price FROM item ORDER BY price, id LIMIT 10",
    "SELECT id, price FROM item ORDER BY price DESC, id LIMIT 10 OFFSET 7",
    "SELECT id FROM item ORDER BY id",
    "SELECT id FROM item WHERE id > 100 ORDER BY id LIMIT 20",
    "SELECT price FROM item WHERE kind = 'kind 4' ORDER BY price DESC LIMIT 3",
    "SELECT id, label FROM item WHERE kind = 'kind 4' ORDER BY label DESC, id LIMIT 12",
    "SELECT id, label FROM item WHERE kind = 'kind 4' AND label > 'label 3' ORDER BY label, id OFFSET 3",
    "SELECT item, pieces FROM sale WHERE day = 2 ORDER BY pieces DESC, item LIMIT 5 OFFSET 20",
    "SELECT count(*), min(pieces), max(pieces) FROM sale WHERE day = 2 AND pieces > 4",
    "SELECT count(*) FROM (SELECT * FROM item LIMIT 33) t",
    "SELECT i.id, s.day, s.pieces FROM item i JOIN sale s ON s.item = i.id WHERE i.price < 20 ORDER BY 1, 2",
    "SELECT i.kind, sum(s.pieces) FROM item i LEFT JOIN sale s ON s.item = i.id GROUP BY i.kind ORDER BY 1",
    "SELECT id FROM item i WHERE EXISTS (SELECT FROM sale s WHERE s.item = i.id AND s.pieces = 8) ORDER BY 1",
    "SELECT id, (SELECT sum(pieces) FROM sale s WHERE s.item = i.id) FROM item i WHERE id < 10 ORDER BY 1",
    "SELECT i.id, s.day, s.pieces FROM item i JOIN sale s ON s.item = i.id WHERE i.id IN (3, 5, 399) ORDER BY 1, 2",
    "SELECT i.id, s.day FROM item i LEFT JOIN sale s ON s.item = i.id AND s.day > 1 WHERE i.id IN (3, 5, 399) ORDER BY 1, 2",
    "SELECT s.item, s.day, i.kind FROM item i RIGHT JOIN sale s ON s.item = i.id AND i.price > 50 WHERE s.item IN (3, 5, 7) ORDER BY 1, 2",
    "SELECT i.id, s.day FROM item i FULL JOIN sale s ON s.item = i.id AND s.day = 1 WHERE i.id IN (3, 5, 399) ORDER BY 1, 2",
    "SELECT id FROM item i WHERE id IN (3, 5, 399) AND NOT EXISTS (SELECT FROM sale s WHERE s.item = i.id) ORDER BY 1",
    "SELECT id FROM item i WHERE EXISTS (SELECT FROM sale s WHERE s.item = i.id AND s.item IN (3, 5, 399)) ORDER BY 1",
    "SELECT i.kind, count(*), sum(s.pieces) FROM item i JOIN sale s ON s.item = i.id WHERE i.kind = 'kind 3' GROUP BY i.kind",
    "SELECT a.id, b.day, c.day FROM item a JOIN sale b ON b.item = a.id JOIN sale c ON c.item = b.item AND c.day = b.day + 1 WHERE a.kind = 'kind 3' ORDER BY 1, 2",
    "SELECT a.id, x.pieces FROM (SELECT id * 1 AS id, price FROM item WHERE price < 10) a JOIN sale x ON x.item = a.id ORDER BY 1, 2",
    "SELECT n, s.day FROM (SELECT id AS n FROM item WHERE price < 10) a JOIN (SELECT item AS m, day FROM sale WHERE pieces > 1) s ON s.m = a.n ORDER BY 1, 2",
    "SELECT i.id, s.day FROM item i JOIN sale s ON s.day = i.id WHERE i.id IN (1, 2) ORDER BY 1, 2",
    "SELECT i.id, count(*) FROM item i JOIN sale s ON s.item = i.id WHERE i.kind = 'kind 5' GROUP BY i.id ORDER BY 2 DESC, 1 LIMIT 3",
    "SELECT i.id, s.day FROM item i JOIN sale s ON s.item = i.id WHERE i.id IN (3, 5) ORDER BY 1, 2 FOR UPDATE OF s",
    "SELECT * FROM sale WHERE item = 12 ORDER BY day",
    "SELECT * FROM sale WHERE item = 12 AND day = 2",
    "SELECT a, count(*) FROM loose GROUP BY a ORDER BY a",
    "SELECT count(*) FROM loose WHERE a = 7",
    "SELECT row_number() OVER (ORDER BY price, id), id FROM item ORDER BY 1 LIMIT 5",
    "SELECT * FROM (SELECT id, price, rank() OVER (ORDER BY price DESC) AS place FROM item) s WHERE id = 17",
    "SELECT * FROM (SELECT id, day, rank() OVER (ORDER BY s.item) AS place FROM item i JOIN sale s ON s.item = i.id) t WHERE id IN (3, 4) ORDER BY 1, 2",
    "SELECT id FROM item WHERE kind = 'kind 1' INTERSECT SELECT item FROM sale ORDER BY 1",
    "WITH cheap AS (SELECT * FROM item WHERE price < 10) SELECT count(*) FROM cheap a JOIN cheap b USING (kind)",
]
CHANGES = [
    "INSERT INTO item VALUES (1001, 'new', 1, NULL)",
    "INSERT INTO item VALUES (1002, 'new', 2, 'x'), (1003, 'new', 3, 'y'), (1004, 'new', 4, 'z')",
    "INSERT INTO item VALUES (5, 'twice', 0, NULL)",
    "INSERT INTO item VALUES (2001, 'some', 0, NULL), (6, 'twice', 0, NULL), (2002, 'some', 0, NULL), (5, 'twice', 0, NULL)",
    "INSERT INTO item VALUES (5, 'twice', 0, NULL), (2003, 'some', 0, NULL) ON CONFLICT DO NOTHING",
    "INSERT INTO item VALUES (5, 'twice', 0, NULL), (2004, 'some', 0, NULL) ON CONFLICT (id) DO UPDATE SET kind = EXCLUDED.kind RETURNING id, kind",
    "UPDATE item SET price = price + 1 WHERE id = 7 RETURNING *",
    "UPDATE item SET price = price * 2 WHERE kind = 'kind 6'",
    "UPDATE item SET id = 5000 + id WHERE id BETWEEN 20 AND 29",
    "UPDATE sale SET pieces = pieces + i.price FROM item i WHERE i.id = sale.item AND i.id IN (31, 32, 33)",
    "UPDATE sale SET pieces = pieces + i.price FROM item i WHERE i.id = sale.item AND i.kind = 'kind 2'",
    "DELETE FROM sale USING item i WHERE i.id = sale.item AND i.id IN (41, 42)",
    "UPDATE item SET id = id + 1 WHERE id = 5020",
    "UPDATE item SET label = 'all'",
    "DELETE FROM item WHERE id = 8 RETURNING id",
    "DELETE FROM item WHERE price > 90",
    "UPDATE sale SET item = item + 1000, pieces = 0 WHERE item = 12",
    "UPDATE loose SET a = a + 1 WHERE a < 10",
    "DELETE FROM loose WHERE b LIKE 'b1%'",
    "INSERT INTO loose SELECT a, 'again' FROM loose WHERE a > 40",
    "UPDATE item SET price = s.pieces FROM sale s WHERE s.item = item.id AND s.day = 2",
    "DELETE FROM item USING sale s WHERE s.item = item.id AND s.pieces = 4",
    "MERGE INTO item USING (VALUES (30, 'merged'), (9001, 'made')) v (id, kind) ON item.id = v.id"
    " WHEN MATCHED THEN UPDATE SET kind = v.kind WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.kind, 0, NULL)",
    "BEGIN", "INSERT INTO item VALUES (7001, 'open', 5, NULL), (7002, 'open', 6, NULL)", "SELECT count(*) FROM item",
    "UPDATE item SET kind = 'seen' WHERE kind = 'open'", "SELECT id FROM item WHERE kind = 'seen' ORDER BY id",
    "UPDATE item SET label = 'joined' WHERE id = 30", "SELECT i.label FROM (VALUES (30)) v (id) JOIN item i USING (id)",
    "SAVEPOINT s", "DELETE FROM item", "SELECT count(*) FROM item", "ROLLBACK TO s", "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1",
    "SELECT id FROM item ORDER BY price, id LIMIT 5", "COMMIT",
    "BEGIN", "DELETE FROM item WHERE id < 50", "INSERT INTO item VALUES (33, 'back', 0, NULL)", "SELECT min(id), max(id), count(*) FROM item", "ROLLBACK",
    "COPY sale FROM STDIN",
]
TABLES = {"item": "id", "sale": "item, day", "loose": "a, b"}


def make_cluster(make_redis, make_server):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    return cluster, make_server(redis=cluster)


def set_up(connection, options):
    for statement in SCHEMA:
        connection.run(statement.replace("{options}", options).replace("{zset}", "zset" if options else "btree"))


def outcome(connection, statement, data=b""):
    results = connection.query(statement, data)
    return [(result.tag, result.texts(), result.error and (result.error.get("C"), result.error.get("M"), result.error.get("D"))) for result in results]


def differences(connection):
    return [row for table in TABLES for row in connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")]


def test_spread_tables_have_the_answers_of_postgresql(make_redis, make_server, postgres):
    _, server = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        set_up(spread, f" WITH (buckets = {BUCKETS})")
        set_up(oracle, "")
        for query in QUERIES:
            assert outcome(spread, query) == outcome(oracle, query), query
        data = b"700\t1\t3\n701\t1\t4\n702\t2\t5\n"
        for change in CHANGES:
            sent = data if change.startswith("COPY") else b""
            assert outcome(spread, change, sent) == outcome(oracle, change, sent), change
            for table, order in TABLES.items():
                whole = f"SELECT * FROM {table} ORDER BY {order}"
                assert outcome(spread, whole) == outcome(oracle, whole), f"{table} after {change}"
        for query in QUERIES:
            assert outcome(spread, query) == outcome(oracle, query), f"{query} after the changes"
        assert differences(spread) == []


LARGE_CHANGES = [
    "INSERT INTO item SELECT n, 'kind ' || n % 7, n % 101, NULL FROM generate_series(10001, 17000) n",
    "COPY sale FROM STDIN",
    "UPDATE item SET price = price + 1 WHERE id > 10000",
    "INSERT INTO item SELECT n, 'twice', 0, NULL FROM generate_series(16999, 25000) n",
    "DELETE FROM item WHERE id > 12000",
    "BEGIN", "UPDATE item SET id = id + 20000 WHERE id > 9000", "INSERT INTO loose SELECT n, 'many' FROM generate_series(1, 3000) n", "COMMIT",
    "BEGIN", "DELETE FROM sale", "ROLLBACK",
    "TRUNCATE loose",
]


def test_changes_of_many_rows_take_place_in_all_buckets_or_in_none(make_redis, make_server, postgres):
    _, server = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    data = "".join(f"{number}\t9\t1\n" for number in range(20_001, 26_001)).encode()
    with server.connect() as spread, postgres.connect(database) as oracle:
        set_up(spread, f" WITH (buckets = {BUCKETS})")
        set_up(oracle, "")
        for change in LARGE_CHANGES:
            sent = data if change.startswith("COPY") else b""
            assert outcome(spread, change, sent) == outcome(oracle, change, sent), change
            for table in TABLES:
                whole = f"SELECT count(*), sum(hashtext(t::text)::bigint) FROM {table} t"
                assert outcome(spread, whole) == outcome(oracle, whole), f"{table} after {change}"
        assert differences(spread) == []


def test_rows_lie_in_the_bucket_that_their_column_chooses(make_redis, make_server):
    cluster, server = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        set_up(connection, f" WITH (buckets = {BUCKETS})")
        keys = [key for node in cluster.nodes for key in node("KEYS", "*item:*")]
        rows = {int(key.rpartition(":")[2]): key for key in keys if key.rpartition(":")[2].isdigit() and key.count(":") == 1}
        assert len(rows) == 400
        by_part = {}
        for number, key in rows.items():
            by_part.setdefault(crc16(str(number)) % BUCKETS, set()).add(key.partition("}")[0])
        assert sorted(by_part) == list(range(BUCKETS)) and all(len(tags) == 1 for tags in by_part.values()), by_part
        assert len(set().union(*by_part.values())) == BUCKETS, by_part


def plan(connection, query):
    return "\n".join(row[0] for row in connection.run(f"EXPLAIN {query}"))


def test_explain_names_the_buckets(make_redis, make_server):
    _, server = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        set_up(connection, f" WITH (buckets = {BUCKETS})")
        assert f"Buckets: 1 of {BUCKETS}" in plan(connection, "SELECT * FROM item WHERE id = 3")
        assert f"Buckets: 1 of {BUCKETS}" in plan(connection, "SELECT * FROM sale WHERE item = 3")
        assert f"Buckets: at most 2 of {BUCKETS}" in plan(connection, "SELECT * FROM item WHERE id IN (3, 4)")
        counted = plan(connection, "SELECT count(*) FROM item")
        assert "Gather Sum" in counted and f"Buckets: all {BUCKETS}" in counted and "Index Count" in counted, counted
        assert "Gather Sum" in plan(connection, "SELECT kind, count(*) FROM item GROUP BY kind")
        assert "Gather Merge" in plan(connection, "SELECT id FROM item ORDER BY id LIMIT 5")
        assert "Index Set Scan" in plan(connection, "SELECT label FROM item WHERE kind = 'kind 1'")


def test_joins_over_bucket_by_stay_within_buckets(make_redis, make_server):
    _, server = make_cluster(make_redis, make_server)
    within = "SELECT i.label, s.day FROM item i JOIN sale s ON s.item = i.id"
    with server.connect() as connection:
        set_up(connection, f" WITH (buckets = {BUCKETS})")
        connection.run("ANALYZE")
        found = plan(connection, f"{within} WHERE i.id IN (3, 4)")
        assert found.count("Gather") == 1 and f"Buckets: at most 2 of {BUCKETS}" in found and "Lookup Join on sale" in found, found
        found = plan(connection, f"{within} WHERE s.item IN (3, 4) AND i.kind = 'kind 1'")
        assert found.count("Gather") == 1 and f"Buckets: at most 2 of {BUCKETS}" in found, found
        for kind in ("NOT EXISTS", "EXISTS"):
            found = plan(connection, f"SELECT label FROM item i WHERE id IN (3, 4) AND {kind} (SELECT FROM sale s WHERE s.item = i.id AND day = 2)")
            assert f"Buckets: at most 2 of {BUCKETS}" in found and "Buckets: all" not in found, found
        # All rows of both tables: one hash join reads as much.
        found = plan(connection, f"{within} AND s.day = i.price")
        assert found.count("Gather") == 2, found
        # Not over the columns of bucket_by.
        assert f"Buckets: all {BUCKETS}" in plan(connection, "SELECT 1 FROM item i JOIN sale s ON s.day = i.id WHERE i.id IN (3, 4)")
        # Rows of other buckets than those of the values: of the other side of an outer join.
        found = plan(connection, "SELECT 1 FROM sale s LEFT JOIN item i ON s.item = i.id AND i.id IN (3, 4)")
        assert f"Buckets: all {BUCKETS}" in found, found
        connection.run("BEGIN; INSERT INTO sale VALUES (3, 77, 1); UPDATE item SET label = 'mine' WHERE id = 4")
        own = connection.run(f"{within} WHERE i.id IN (3, 4) ORDER BY 2 DESC, 1")
        assert own[0] == ["label 3", "77"] and ["mine", "1"] in own and len(own) == 7, own
        connection.run("ROLLBACK")
        connection.run("CREATE TABLE other (id bigint PRIMARY KEY, kind text) WITH (buckets = 4)")
        assert f"Buckets: all {BUCKETS}" in plan(connection, "SELECT 1 FROM other o JOIN sale s ON s.item = o.id WHERE o.id IN (3, 4)")
        connection.run(f"CREATE TABLE large (id bigint PRIMARY KEY, kind text) WITH (buckets = {BUCKETS})")
        connection.run("INSERT INTO large SELECT n, 'k' FROM generate_series(1, 100) n")
        query = "SELECT o.kind, s.day FROM large o JOIN sale s ON s.item = o.id WHERE o.id IN (3, 4)"
        assert f"Buckets: at most 2 of {BUCKETS}" in plan(connection, query) and len(connection.run(query)) == 6


def test_definitions_of_spread_tables(make_redis, make_server):
    cluster, server = make_cluster(make_redis, make_server)
    with server.connect() as connection:
        set_up(connection, f" WITH (buckets = {BUCKETS})")
        assert connection.run("SELECT reloptions FROM pg_class WHERE relname = 'item'") == [[f"{{buckets={BUCKETS}}}"]]
        connection.run("CREATE INDEX ON item (label)")
        assert connection.run("SELECT count(*) FROM item WHERE label = 'label 3'") == [["1"]]
        connection.run("ALTER TABLE item ADD COLUMN weight int DEFAULT 5, ALTER COLUMN price SET NOT NULL")
        assert connection.run("SELECT sum(weight) FROM item") == [["2000"]]
        assert connection.run_error("ALTER TABLE item ADD CHECK (price > 50)")["C"] == "23514"
        connection.run("ALTER TABLE item ALTER COLUMN price TYPE numeric")
        assert connection.run("SELECT count(*), sum(price) FROM item WHERE price >= 0") == connection.run("SELECT count(*), sum(price) FROM item")
        connection.run("ALTER TABLE loose ADD PRIMARY KEY (b)")
        assert connection.run("SELECT a FROM loose WHERE b = 'b77'") == [["27"]]
        connection.run("REINDEX TABLE item")
        assert differences(connection) == []
        connection.run("DROP INDEX item_kind_idx")
        connection.run("TRUNCATE sale")
        assert connection.run("SELECT count(*) FROM sale") == [["0"]]
        assert connection.run("SELECT count(*) FROM item WHERE kind = 'kind 3'") == [["57"]]
        assert differences(connection) == []
        for statement, word in [
                ("CREATE TABLE t (id int PRIMARY KEY, mail text) WITH (buckets = 4, bucket_by = 'mail')", "bucket_by"),
                ("CREATE TABLE t (id int, kind int, mail text UNIQUE) WITH (buckets = 4, bucket_by = 'kind')", "without a primary key"),
                ("CREATE TABLE t (id int PRIMARY KEY, mail text UNIQUE) WITH (buckets = 4, ttl = '1 hour')", "time to live")]:
            error = connection.run_error(statement)
            assert error["C"] == "0A000" and word in error["M"], error
        assert connection.run_error("CREATE TABLE t (id int) WITH (buckets = 65)")["C"] == "22023"
        assert connection.run_error("CREATE TABLE t (id int) WITH (buckets = 4, bucket_by = 'x')")["C"] == "42703"
        connection.run("DROP TABLE item, sale, loose")
    left = [key for node in cluster.nodes for key in node("KEYS", "*") if "}item" in key or "}sale" in key or "}loose" in key]
    assert left == []


def test_one_redis_remembers_the_parameters(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, a int) WITH (buckets = 16, bucket_by = 'id')")
        connection.run("INSERT INTO t SELECT n, n FROM generate_series(1, 100) n")
        assert connection.run("SELECT count(*) FROM t") == [["100"]]
        assert connection.run("SELECT reloptions FROM pg_class WHERE relname = 't'") == [["{buckets=16,bucket_by=id}"]]
