"""Option database: tables over other logical databases of the same Redis, and joins, statements and transactions over several."""
from harness.copies import Copies
from harness.keyspace import MappedKeys, same

TABLES = """
CREATE FOREIGN TABLE here (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'p:{id}');
CREATE FOREIGN TABLE there (id bigint, here_id bigint, price numeric)
  SERVER redis OPTIONS (layout 'hash', key 'p:{id}', counter 'p:id', database '3');
CREATE INDEX ON there USING set (here_id) WITH (key = 'p:here:{here_id}');
CREATE INDEX there_price ON there USING zset (price) WITH (key = 'p:price');
CREATE FOREIGN TABLE tag (name text, here_id bigint) SERVER redis OPTIONS (layout 'set', key 'tag:{name}', database '5');
CREATE FOREIGN TABLE plain (id bigint, a text, b int) SERVER redis OPTIONS (layout 'strings', key 'q:{id}:{*}', database '3')
"""
OWN = "CREATE TABLE own (id bigint PRIMARY KEY, note text);\nINSERT INTO own SELECT i, 'n' || i FROM generate_series(1, 9) i"


def load(redis):
    for number in range(1, 6):
        redis("HSET", f"p:{number}", "name", f"h{number}")
    redis("SELECT", "3")
    redis("SET", "p:id", "20")
    for number in range(1, 21):
        redis("HSET", f"p:{number}", "here_id", number % 6, "price", f"{number * 3 % 20}.5")
        redis("SADD", f"p:here:{number % 6}", number)
        redis("ZADD", "p:price", f"{number * 3 % 20}.5", number)
        redis("SET", f"q:{number}:a", f"a{number}")
    redis("SET", "q:3:b", "7")
    redis("SELECT", "5")
    redis("SADD", "tag:red", 1, 2, 3)
    redis("SADD", "tag:blue", 2, 3, 99)
    redis("SELECT", "0")


QUERIES = [
    "SELECT * FROM there ORDER BY id",
    "SELECT h.name, t.price FROM here h JOIN there t ON t.here_id = h.id ORDER BY 1, 2",
    "SELECT h.name, t.price FROM here h LEFT JOIN there t ON t.id = h.id AND t.price > 5 ORDER BY 1",
    "SELECT id FROM there WHERE here_id = 4",
    "SELECT id, price FROM there ORDER BY price DESC, id LIMIT 4",
    "SELECT h.name FROM tag a, tag b, here h WHERE a.name = 'red' AND b.name = 'blue' AND a.here_id = b.here_id AND h.id = a.here_id ORDER BY 1",
    "SELECT here_id FROM tag WHERE name = 'blue' EXCEPT SELECT here_id FROM tag WHERE name = 'red'",
    "SELECT o.note, t.price FROM own o JOIN there t ON t.id = o.id ORDER BY 1",
    "SELECT o.note FROM own o WHERE EXISTS (SELECT 1 FROM tag WHERE tag.here_id = o.id) ORDER BY 1",
    "SELECT p.a, t.price FROM plain p JOIN there t USING (id) WHERE p.b IS NULL ORDER BY 1",
    "SELECT h.id, count(t.id), (SELECT count(*) FROM tag g WHERE g.here_id = h.id) FROM here h LEFT JOIN there t ON t.here_id = h.id GROUP BY h.id ORDER BY 1",
]


def test_joins_give_the_rows_of_copies_in_postgresql(fresh_server, postgres):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), Copies(connection, postgres, OWN) as copies:
        copies.same(*QUERIES)
        copies.both("UPDATE there SET price = price + 1, here_id = 2 WHERE id = 7 RETURNING *",
                    "INSERT INTO there VALUES (40, 3, 2.25)",
                    "DELETE FROM tag WHERE name = 'red' AND here_id = 1",
                    "INSERT INTO tag SELECT 'dear', id FROM there WHERE price > 15",
                    "UPDATE plain SET b = coalesce(b, 0) + 1 WHERE id < 5",
                    "UPDATE there SET price = o.id FROM own o WHERE o.id = there.id AND o.id < 3",
                    "INSERT INTO own SELECT id, a FROM plain WHERE id > 10",
                    "WITH moved AS (DELETE FROM there WHERE id = 12 RETURNING id, here_id) INSERT INTO here SELECT 100 + id, 'was' FROM moved")
        copies.same_rows()
        copies.same("SELECT * FROM own", *QUERIES)
        redis("SELECT", "3")
        assert redis("HGET", "p:40", "price") == "2.25" and redis("ZSCORE", "p:price", "40") == "2.25" and redis("SISMEMBER", "p:here:3", "40") == 1
        assert redis("EXISTS", "p:112") == 0
        redis("SELECT", "0")
        assert redis("EXISTS", "p:40", "p:price", "tag:dear") == 0 and redis("HGET", "p:112", "name") == "was"


def test_counters_lie_in_the_database_of_the_table(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        same(connection.run("INSERT INTO there (here_id) VALUES (1), (2) RETURNING id"), [["21"], ["22"]])
        same(connection.run("SELECT nextval(pg_get_serial_sequence('there', 'id'))"), [["23"]])
        assert redis("EXISTS", "p:id") == 0
        redis("SELECT", "3")
        assert redis("GET", "p:id") == "23"


def test_one_transaction_over_all_of_them(fresh_server, postgres):
    statements = ["UPDATE here SET name = upper(name)", "UPDATE there SET here_id = 1 WHERE here_id = 2", "DELETE FROM tag WHERE name = 'blue'",
                  "INSERT INTO own VALUES (50, 'x')", "UPDATE own SET note = h.name FROM here h WHERE h.id = own.id"]
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), Copies(connection, postgres, OWN) as copies:
        copies.both("BEGIN", *statements)
        copies.same("SELECT * FROM own", *QUERIES)
        redis("SELECT", "5")
        assert redis("EXISTS", "tag:blue") == 1  # no other client sees a change
        copies.both("ROLLBACK")
        copies.same_rows()
        redis("SELECT", "0")
        redis("CONFIG", "RESETSTAT")
        copies.both("BEGIN", *statements, "COMMIT")
        assert redis.command_counts()["EVALSHA"] <= 8, redis.command_counts()  # statements look at rows and lock them; the commit is one
        copies.same_rows()
        copies.same("SELECT * FROM own", *QUERIES)


def test_an_application_was_faster(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        connection.run("CREATE TABLE own (id int PRIMARY KEY)")
        connection.run("BEGIN")
        connection.run("UPDATE there SET price = 0 WHERE id = 1")
        connection.run("UPDATE here SET name = 'changed' WHERE id = 1")
        connection.run("INSERT INTO own VALUES (1)")
        redis("SELECT", "3")
        redis("HSET", "p:1", "price", "99")
        assert connection.run_error("COMMIT")["C"] == "40001"
        same(connection.run("SELECT h.name, t.price FROM here h, there t WHERE h.id = 1 AND t.id = 1"), [["h1", "99"]])
        same(connection.run("SELECT count(*) FROM own"), [["0"]])


def test_import_and_refusals(fresh_server):
    with MappedKeys(fresh_server, load, "CREATE SCHEMA other") as (connection, redis):
        connection.run('IMPORT FOREIGN SCHEMA "tag:*" FROM SERVER redis INTO other OPTIONS (database \'5\')')
        same(connection.run("SELECT count(*) FROM other.tag"), [["6"]])
        make = "CREATE FOREIGN TABLE {} (id bigint, a text) SERVER redis OPTIONS (layout 'hash', key 'x:{{id}}', database '{}')"
        assert connection.run_error(make.format("t", "one"))["C"] == "HV024"
        connection.run(make.format("t", "99"))
        assert connection.run_error("SELECT * FROM t WHERE id = 1")["C"] == "3D000"
        connection.run(make.format("a", "6"))
        connection.run(make.format("b", "7"))  # the same keys elsewhere
        assert connection.run_error(make.format("c", "7"))["C"] == "42P17"
        connection.run("CREATE TABLE x (id int)")  # nor are redquel's own there
