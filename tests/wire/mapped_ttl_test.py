"""How long the keys of foreign tables will live: the hidden column ttl of every layout, and columns that are declared for it."""
from harness.keyspace import MappedKeys, plan, same

TABLES = """
CREATE FOREIGN TABLE h (id int, a text, b text) SERVER redis OPTIONS (layout 'hash', key 'h:{id}');
CREATE FOREIGN TABLE s (id int, a text, b text) SERVER redis OPTIONS (layout 'strings', key 's:{id}:{*}');
CREATE FOREIGN TABLE v (id int, a text) SERVER redis OPTIONS (layout 'string', key 'v:{id}');
CREATE FOREIGN TABLE sets (k text, m int) SERVER redis OPTIONS (layout 'set', key 'set:{k}');
CREATE FOREIGN TABLE zsets (k text, m int, score int) SERVER redis OPTIONS (layout 'zset', key 'zset:{k}');
CREATE FOREIGN TABLE lists (k text, value text, position int) SERVER redis OPTIONS (layout 'list', key 'list:{k}');
CREATE FOREIGN TABLE fields (k text, field text, value text) SERVER redis OPTIONS (layout 'hash_fields', key 'fields:{k}');
CREATE FOREIGN TABLE streams (k text, id text, a text) SERVER redis OPTIONS (layout 'stream', key 'stream:{k}');
CREATE FOREIGN TABLE o (id bigint, a text) SERVER redis OPTIONS (layout 'ohm', model 'O')
"""
ROWS = {"h": "1, 'x', 'y'", "s": "1, 'x', 'y'", "v": "1, 'x'", "sets": "'k', 1", "zsets": "'k', 1, 5", "lists": "'k', 'x'", "fields": "'k', 'f', 'x'",
        "o": "1, 'x'"}
KEYS = {"h": ["h:1"], "s": ["s:1:a", "s:1:b"], "v": ["v:1"], "sets": ["set:k"], "zsets": ["zset:k"], "lists": ["list:k"], "fields": ["fields:k"],
        "streams": ["stream:k"], "o": ["O:1"]}


def load(_):
    pass


def near(seconds, expected):
    return expected - 45 <= seconds <= expected


def test_every_layout(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        for table, row in ROWS.items():
            connection.run(f"INSERT INTO {table} VALUES ({row})")
        connection.run("INSERT INTO streams (k, a) VALUES ('k', 'x')")
        for table, keys in KEYS.items():
            same(connection.run(f"SELECT ttl IS NULL FROM {table}"), [["t"]])
            connection.run(f"UPDATE {table} SET ttl = 1000")
            assert all(near(redis("TTL", key), 1000) for key in keys), table
            same(connection.run(f"SELECT ttl BETWEEN 900 AND 1000 FROM {table} WHERE ttl > 500"), [["t"]])
            same(connection.run(f"SELECT count(*) FROM {table} WHERE ttl IS NULL OR ttl > 1000"), [["0"]])
            same(connection.run(f"UPDATE {table} SET ttl = ttl + 1000 WHERE ttl IS NOT NULL RETURNING ttl BETWEEN 1900 AND 2000"), [["t"]])
            assert all(near(redis("TTL", key), 2000) for key in keys), table
            connection.run(f"UPDATE {table} SET ttl = NULL")
            assert all(redis("TTL", key) == -1 for key in keys), table
            shown = connection.run(f"SELECT * FROM {table}")
            assert len(shown[0]) == (3 if table in ("h", "s", "zsets", "lists", "fields", "streams") else 2), (table, shown)


def test_inserts_give_the_time_to_live(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        connection.run("INSERT INTO h (id, a, ttl) VALUES (1, 'x', 100), (2, 'y', NULL)")
        assert near(redis("TTL", "h:1"), 100) and redis("TTL", "h:2") == -1
        connection.run("INSERT INTO s (id, a, b, ttl) SELECT 1, 'x', 'y', 50")
        assert near(redis("TTL", "s:1:a"), 50) and near(redis("TTL", "s:1:b"), 50)
        connection.run("INSERT INTO sets (k, m, ttl) VALUES ('a', 1, 100), ('a', 2, 100)")
        connection.run("INSERT INTO sets VALUES ('a', 3)")
        assert near(redis("TTL", "set:a"), 100)
        assert connection.run_error("INSERT INTO sets (k, m, ttl) VALUES ('a', 4, 100), ('a', 5, 200)")["M"] == "rows of one key \"set:a\" cannot have different times to live"
        connection.run("INSERT INTO lists (k, value, ttl) VALUES ('a', 'x', 77)")
        connection.run("INSERT INTO streams (k, a, ttl) VALUES ('a', 'x', 78)")
        connection.run("INSERT INTO zsets (k, m, score, ttl) VALUES ('a', 1, 1, 79)")
        connection.run("INSERT INTO fields (k, field, value, ttl) VALUES ('a', 'f', 'x', 80)")
        assert [near(redis("TTL", key), ttl) for key, ttl in (("list:a", 77), ("stream:a", 78), ("zset:a", 79), ("fields:a", 80))] == [True] * 4
        for value in ("0", "-5", "100000000001"):
            assert connection.run_error(f"UPDATE h SET ttl = {value}")["C"] == "22023"
        assert connection.run_error("INSERT INTO h VALUES (3, 'x', 'y', 100)")["C"] == "42601"
        connection.run("INSERT INTO h (id, a, ttl) VALUES (1, 'z', 300) ON CONFLICT (id) DO UPDATE SET a = excluded.a, ttl = excluded.ttl")
        assert redis("HGET", "h:1", "a") == "z" and near(redis("TTL", "h:1"), 300)
        connection.run("PREPARE p AS UPDATE h SET ttl = $1 WHERE id = $2")
        connection.run("EXECUTE p(60, 2)")
        assert near(redis("TTL", "h:2"), 60)
        connection.run("EXECUTE p(NULL, 2)")
        assert redis("TTL", "h:2") == -1


def test_writes_keep_the_time_to_live(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        connection.run("INSERT INTO h (id, a, ttl) VALUES (1, 'x', 100)")
        connection.run("UPDATE h SET a = NULL, b = 'y'")
        assert near(redis("TTL", "h:1"), 100) and redis.hash("h:1") == {"b": "y"}
        connection.run("UPDATE h SET id = 7")
        assert near(redis("TTL", "h:7"), 100)
        connection.run("INSERT INTO s (id, a, b, ttl) VALUES (1, 'x', 'y', 100)")
        connection.run("UPDATE s SET id = 8, a = 'z'")
        assert near(redis("TTL", "s:8:a"), 100) and near(redis("TTL", "s:8:b"), 100) and redis("GET", "s:8:a") == "z"
        connection.run("INSERT INTO v (id, a, ttl) VALUES (1, 'x', 100)")
        connection.run("UPDATE v SET id = 9, a = 'w'")
        assert near(redis("TTL", "v:9"), 100) and redis("GET", "v:9") == "w" and redis("EXISTS", "v:1") == 0
        connection.run("INSERT INTO sets (k, m, ttl) VALUES ('a', 1, 100)")
        connection.run("UPDATE sets SET m = 2")
        assert near(redis("TTL", "set:a"), 100) and redis("SMEMBERS", "set:a") == ["2"]


def test_changes_in_transactions(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        connection.run("INSERT INTO h (id, a, ttl) VALUES (1, 'x', 100), (2, 'y', NULL)")
        connection.run("BEGIN")
        connection.run("UPDATE h SET a = 'z'")
        same(connection.run("SELECT id, ttl BETWEEN 50 AND 100 FROM h ORDER BY id"), [["1", "t"], ["2", None]])
        connection.run("UPDATE h SET ttl = 500 WHERE id = 2")
        connection.run("UPDATE h SET b = 'w'")
        same(connection.run("SELECT id, ttl FROM h WHERE id = 2"), [["2", "500"]])
        assert redis("TTL", "h:2") == -1
        connection.run("SAVEPOINT a")
        connection.run("UPDATE h SET ttl = NULL")
        connection.run("ROLLBACK TO a")
        connection.run("COMMIT")
        assert near(redis("TTL", "h:1"), 100) and near(redis("TTL", "h:2"), 500) and redis("HGET", "h:1", "b") == "w"
        connection.run("INSERT INTO sets VALUES ('a', 1)")
        connection.run("BEGIN")
        connection.run("UPDATE sets SET ttl = 60")
        assert connection.run_error("SELECT ttl FROM sets")["C"] == "0A000"
        connection.run("ROLLBACK")
        connection.run("BEGIN")
        connection.run("UPDATE sets SET ttl = 60")
        connection.run("COMMIT")
        assert near(redis("TTL", "set:a"), 60)


def test_names_and_catalogs(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        redis("HSET", "h:1", "a", "x")
        redis("EXPIRE", "h:1", "100")
        same(connection.run("SELECT count(*) FROM pg_attribute WHERE attrelid = 'h'::regclass AND attname = 'ttl'"), [["0"]])
        same(connection.run("SELECT h, t.ttl > 1 FROM h, (SELECT ttl FROM h) t"), [["(1,x,)", "t"]])
        same(connection.run("SELECT h.ttl > 1, g.ttl > 1 FROM h JOIN h g USING (id)"), [["t", "t"]])
        connection.run("CREATE VIEW w AS SELECT *, ttl AS left_ FROM h")
        same(connection.run("SELECT id, a, b, left_ > 1 FROM w"), [["1", "x", None, "t"]])
        connection.run("CREATE TABLE copied AS SELECT * FROM h")
        assert connection.run_error("SELECT ttl FROM copied")["C"] == "42703"
        connection.run("CREATE TABLE alike (LIKE h)")
        assert connection.run_error("SELECT ttl FROM alike")["C"] == "42703"
        assert connection.run_error("ALTER FOREIGN TABLE h DROP COLUMN ttl")["C"] == "42703"
        connection.run("ALTER FOREIGN TABLE h ADD COLUMN ttl text")
        same(connection.run("SELECT ttl FROM h"), [[None]])
        connection.run("ALTER FOREIGN TABLE h ALTER COLUMN ttl TYPE bigint")
        connection.run("ALTER FOREIGN TABLE h ALTER COLUMN ttl OPTIONS (ADD role 'ttl')")
        same(connection.run("SELECT id, ttl > 1 FROM h"), [["1", "t"]])
        connection.run("DROP VIEW w")
        connection.run("ALTER FOREIGN TABLE h DROP COLUMN ttl")
        same(connection.run("SELECT ttl > 1 FROM h"), [["t"]])
        connection.run("CREATE FOREIGN TABLE seen (k text, m int, expires bigint OPTIONS (role 'ttl')) SERVER redis OPTIONS (layout 'set', key 'seen:{k}')")
        connection.run("INSERT INTO seen VALUES ('a', 1, 100)")
        assert near(redis("TTL", "seen:a"), 100)
        same(connection.run("SELECT k, m, expires > 1 FROM seen WHERE k = 'a'"), [["a", "1", "t"]])
        assert connection.run_error("SELECT ttl FROM seen")["C"] == "42703"


def test_a_hidden_column_is_not_read_unless_named(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        connection.run("INSERT INTO h (id, a, ttl) VALUES (1, 'x', 100)")
        redis("CONFIG", "RESETSTAT")
        connection.run("SELECT * FROM h WHERE id = 1")
        connection.run("UPDATE h SET a = 'y' WHERE id = 1")
        connection.run("SELECT count(*) FROM h WHERE id = 1")
        assert "PTTL" not in redis.command_counts(), redis.command_counts()
        assert "PTTL h:1" in plan(connection, "SELECT id, ttl FROM h WHERE id = 1")
        assert "EXPIRE h:" in plan(connection, "UPDATE h SET ttl = 5 WHERE id = 1")
        connection.run("DELETE FROM h WHERE ttl < 1000")
        assert redis("EXISTS", "h:1") == 0
