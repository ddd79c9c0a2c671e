"""Foreign keys from and to tables in several buckets of a Redis Cluster: PostgreSQL's answers, and children that come while their parents go."""
from harness.crew import all_at_once
from harness.spread_tables import BUCKETS, compare, differences, make_cluster

SLOW = True
LIMIT = 300


KEY_SCHEMA = [
    "CREATE TABLE parent (id int PRIMARY KEY, code text UNIQUE) {options}",
    "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, code text) {options}",
    "CREATE TABLE grandchild (child int, n int, PRIMARY KEY (child, n), FOREIGN KEY (child) REFERENCES child ON DELETE CASCADE ON UPDATE CASCADE) {options}",
    "CREATE TABLE note (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE SET NULL, code text REFERENCES parent (code) ON UPDATE CASCADE)",
    "CREATE TABLE strict (id int PRIMARY KEY, parent int REFERENCES parent) {options}",
    "CREATE TABLE tree (id int PRIMARY KEY, above int REFERENCES tree ON DELETE CASCADE) {options}",
]
KEY_CHANGES = [
    "INSERT INTO parent SELECT n, 'code ' || n FROM generate_series(1, 40) n",
    "INSERT INTO child SELECT n, n % 20 + 1, NULL FROM generate_series(1, 60) n",
    "INSERT INTO child VALUES (1000, 1000, NULL)",
    "INSERT INTO child VALUES (1000, NULL, NULL), (1001, 5, NULL)",
    "UPDATE child SET parent = 99 WHERE id = 1001",
    "INSERT INTO grandchild SELECT n, d FROM generate_series(1, 30) n, generate_series(1, 2) d",
    "INSERT INTO grandchild VALUES (5000, 1)",
    "INSERT INTO note SELECT n, n, 'code ' || n FROM generate_series(1, 5) n",
    "INSERT INTO note VALUES (100, 1, 'no code')",
    "INSERT INTO strict VALUES (1, 1), (2, 30)",
    "DELETE FROM parent WHERE id = 1",
    "DELETE FROM parent WHERE id = 30",
    "UPDATE parent SET id = 300 WHERE id = 30",
    "DELETE FROM strict",
    "UPDATE parent SET code = 'new code' WHERE id = 2",
    "DELETE FROM parent WHERE id = 3",
    "UPDATE note SET code = NULL WHERE id = 3",
    "DELETE FROM parent WHERE id = 3",
    "UPDATE parent SET id = 400 WHERE id = 4",
    "UPDATE child SET id = id + 500 WHERE id < 10",
    "DELETE FROM parent WHERE id BETWEEN 5 AND 9",
    "BEGIN", "INSERT INTO parent VALUES (900, 'x')", "INSERT INTO child VALUES (9000, 900, NULL)", "DELETE FROM parent WHERE id = 900", "SELECT count(*) FROM child", "COMMIT",
    "BEGIN", "DELETE FROM child", "ROLLBACK",
    "INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 2), (5, 4)",
    "INSERT INTO tree VALUES (6, 7)",
    "DELETE FROM tree WHERE id = 2",
    "ALTER TABLE child ADD FOREIGN KEY (code) REFERENCES parent (code)",
    "UPDATE child SET code = 'code 20' WHERE id IN (20, 21)",
    "UPDATE child SET code = 'nothing' WHERE id = 22",
    "UPDATE parent SET code = 'other' WHERE id = 20",
    "TRUNCATE parent",
    "TRUNCATE tree",
    "DELETE FROM parent WHERE id NOT IN (SELECT parent FROM note WHERE parent IS NOT NULL) AND id <> 20",
]
KEY_TABLES = ("parent", "child", "grandchild", "note", "strict", "tree")


def test_foreign_keys_have_the_answers_of_postgresql(make_redis, make_server, postgres):
    _, [server] = make_cluster(make_redis, make_server)
    database = postgres.create_database()
    with server.connect() as spread, postgres.connect(database) as oracle:
        compare(spread, oracle, KEY_SCHEMA)
        compare(spread, oracle, KEY_CHANGES, KEY_TABLES)
        assert differences(spread, *KEY_TABLES) == []


def test_no_child_of_a_spread_table_is_left_without_its_parent(make_redis, make_server, random):
    _, servers = make_cluster(make_redis, make_server, servers=2)
    with servers[0].connect() as connection:
        connection.run(f"CREATE TABLE parent (id int PRIMARY KEY, v int) WITH (buckets = {BUCKETS})")
        connection.run(f"CREATE TABLE child (id int PRIMARY KEY, v int REFERENCES parent) WITH (buckets = {BUCKETS})")
        connection.run("INSERT INTO parent SELECT g, g FROM generate_series(0, 3) g")
    choices = [[(random.randrange(4), random.random() < .5) for _ in range(40)] for _ in range(4)]

    def work(number):
        with servers[number % 2].connect() as connection:
            for turn, (parent, is_child) in enumerate(choices[number]):
                child = number * 1000 + turn
                statements = ((f"INSERT INTO child VALUES ({child}, {parent})", f"DELETE FROM child WHERE id < {number * 1000 + 1000} AND id >= {number * 1000}")
                              if is_child else (f"DELETE FROM parent WHERE id = {parent}", f"INSERT INTO parent VALUES ({parent}, {parent}) ON CONFLICT DO NOTHING"))
                for statement in statements:
                    [result] = connection.query(statement)
                    assert result.sqlstate in (None, "23503", "40001", "40P01"), (statement, result.error)

    all_at_once(work, 4)
    with servers[1].connect() as connection:
        assert connection.run("SELECT v FROM child WHERE v NOT IN (SELECT id FROM parent)") == []
        assert differences(connection, "parent", "child") == []
