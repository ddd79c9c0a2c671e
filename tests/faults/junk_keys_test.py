"""Every kind of key that redquel reads holds junk of every Redis type: errors name the key and the repair, and nothing
ends or hangs the server."""
import os
import re

from harness.crew import all_at_once
from harness.pgwire import ConnectionClosed

SLOW = True
SUBJECTS = 4
LIMIT = 900

SCHEMA = """
CREATE TABLE emp (id serial PRIMARY KEY, name text NOT NULL, dept int, u text UNIQUE);
CREATE INDEX ON emp (dept);
INSERT INTO emp (name, dept, u) SELECT 'n' || g, nullif(g % 3, 2), 'u' || g FROM generate_series(1, 9) g;
CREATE TABLE child (id int PRIMARY KEY, emp int REFERENCES emp ON DELETE CASCADE, word text);
INSERT INTO child SELECT g, g, 'w' FROM generate_series(1, 5) g;
CREATE TABLE hidden (a int, b int);
INSERT INTO hidden SELECT g, g FROM generate_series(1, 5) g;
CREATE TABLE due (id int PRIMARY KEY, n int) WITH (ttl = '1 hour');
CREATE INDEX ON due (n);
INSERT INTO due VALUES (1, 1), (2, 2);
CREATE SEQUENCE counter;
SELECT nextval('counter');
CREATE ROLE reader;
CREATE VIEW names AS SELECT name FROM emp;
CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2';
CREATE FOREIGN TABLE product (id bigint, name text, price numeric) SERVER redis
  OPTIONS (layout 'hash', key 'product:{id}');
CREATE INDEX ON product USING zset (price) WITH (key = 'product:by_price', member = '{id}');
INSERT INTO product VALUES (1, 'p', 2)
"""
STATEMENTS = (
    "SELECT * FROM emp", "SELECT * FROM emp WHERE id = 3", "SELECT count(*) FROM emp WHERE dept = 1",
    "SELECT max(dept), min(dept) FROM emp", "SELECT * FROM emp WHERE u = 'u3'",
    "SELECT * FROM emp WHERE dept IS NULL", "SELECT dept, count(*) FROM emp GROUP BY dept",
    "SELECT * FROM emp ORDER BY dept LIMIT 2", "SELECT e.name FROM emp e JOIN child c ON c.emp = e.id",
    "SELECT * FROM hidden", "SELECT * FROM due", "SELECT count(*) FROM due WHERE n = 1", "SELECT * FROM names",
    "SELECT * FROM product", "SELECT * FROM product ORDER BY price",
    "INSERT INTO emp (name, dept, u) VALUES ('new', 1, 'new')", "INSERT INTO hidden VALUES (7, 7)",
    "INSERT INTO due VALUES (3, 3)", "INSERT INTO child VALUES (77, 1, 'x')",
    "INSERT INTO product VALUES (2, 'q', 3)", "UPDATE emp SET dept = 2, u = 'changed' WHERE id = 4",
    "UPDATE hidden SET b = b + 1", "UPDATE product SET price = 9 WHERE id = 1", "DELETE FROM emp WHERE id = 5",
    "DELETE FROM due WHERE id = 2",
    "BEGIN; SELECT * FROM emp WHERE id = 1 FOR UPDATE; UPDATE emp SET name = 'x' WHERE id = 1; COMMIT", "ROLLBACK",
    "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM emp; INSERT INTO hidden VALUES (8, 8); COMMIT",
    "ROLLBACK", "BEGIN; LOCK TABLE emp; COMMIT", "ROLLBACK", "SELECT pg_try_advisory_lock(7), pg_advisory_unlock(7)",
    "SELECT * FROM pg_locks", "SELECT nextval('counter')", "SELECT last_value FROM counter",
    "SELECT * FROM pg_sequences", "SELECT count(*) FROM pg_class",
    "SELECT pg_total_relation_size('emp'), pg_database_size(current_database())", "SELECT * FROM pg_roles",
    "SELECT * FROM pg_database", "SELECT * FROM pg_stat_activity", "SELECT * FROM redquel.check_indexes('emp')",
    "SELECT * FROM redquel.check_indexes('hidden')", "SELECT * FROM redquel.check_indexes('due')",
    "SELECT redquel.ttl('due', 1)", "NOTIFY here, 'x'", "CREATE TABLE fresh (id serial PRIMARY KEY, a int)",
    "CREATE INDEX ON fresh (a)", "ALTER TABLE fresh ADD COLUMN b text DEFAULT 'x'", "DROP TABLE IF EXISTS fresh",
    "CREATE INDEX other ON emp (name)", "DROP INDEX IF EXISTS other",
    "CREATE TEMP TABLE passing (a int PRIMARY KEY); INSERT INTO passing VALUES (1)", "CREATE ROLE writer",
    "DROP ROLE IF EXISTS writer", "GRANT SELECT ON emp TO reader", "REVOKE SELECT ON emp FROM reader",
    "CREATE DATABASE apart", "DROP DATABASE IF EXISTS apart", "ANALYZE", "TRUNCATE due", "REINDEX TABLE emp",
    "REINDEX TABLE hidden", "REINDEX TABLE due", "SELECT setval('counter', 5)",
)
# Keys that need not be there at a quiet moment.
OTHERS = (
    "redquel:advisory", "redquel:waits", "redquel:exclusive", "redquel:expiring", "redquel:sweep", "redquel:removals",
    "redquel:format", "redquel:locks:{emp}", "redquel:changes:{emp}", "redquel:changes:{hidden}",
    "redquel:unkept:{product}", "redquel:databases", "redquel:mock_nonce", "redquel:verifiers",
    "redquel:exchange_key", "redquel:process_number:1", "redquel:none", "redquel:moving", "redquel:prepared",
    "redquel:building:{emp}", "product:1", "product:by_price", "counter:id", "emp:id", "hidden:rowid",
)
TEXTS = ("junk", "", "{}", "-1", "99999999999999999999", "1.5", b"\xff\xfe\x00")
FIELDS = ("next_oid", "version", "database:postgres", "role:10", "trimmed", "t", "{emp}", "{hidden}", "r3", "postgres", "f")


def junk(raw, key, oids):
    """Commands that make the key hold junk, each with a name."""
    for text in TEXTS:
        yield f"SET {text!r}", [("DEL", key), ("SET", key, text)]
    yield "RPUSH", [("DEL", key), ("RPUSH", key, "junk")]
    yield "SADD", [("DEL", key), ("SADD", key, "junk", "")]
    yield "ZADD", [("DEL", key), ("ZADD", key, "inf", "junk", "-1", "", "0.5", "7")]
    yield "XADD", [("DEL", key), ("XADD", key, "*", "f", "junk")]
    yield "HSET", [("DEL", key), ("HSET", key, "junk", "junk", "", "")]
    yield "DEL", [("DEL", key)]
    if raw("TYPE", key) != "hash":
        return
    present = raw("HKEYS", key)[:12]
    for field in dict.fromkeys([*present, *(name.format(**oids) for name in FIELDS)]):
        for text in ("junk", "", "{}", "99999999999999999999"):
            yield f"HSET {field} {text!r}", [("HSET", key, field, text)]


class Subject:
    def __init__(self, make_server, redis):
        self.make_server, self.redis = make_server, redis
        self.server = make_server(redis=redis)
        with self.server.connect() as connection:
            for statement in SCHEMA.split(";"):
                connection.run(statement)
            names = ("emp", "hidden", "product")
            self.oids = {name: connection.run(f"SELECT '{name}'::regclass::oid")[0][0] for name in names}
        self.raw = redis.connect()
        self.saved = {key: self.raw("DUMP", key) for key in self.raw.keys()}

    def keys(self):
        """One key of each kind that is there, and those that are there at other moments."""
        kinds = {}
        for key in self.raw.keys():
            kind = re.sub(r"[0-9a-f]{16}.*|\d+", "#", key)
            if not key.startswith(("redquel:process:", "redquel:commits:", "\udcff")):
                kinds.setdefault(kind, key)
        return sorted({*kinds.values(), *(key.format(**self.oids) for key in OTHERS)})

    def put_back(self):
        kept = ("redquel:process:", "redquel:commits:", "redquel:process_number:")
        for key in self.raw.keys():
            if key not in self.saved and not key.startswith(kept):
                self.raw("DEL", key)
        for key, dump in self.saved.items():
            if not key.startswith(kept):
                self.raw("RESTORE", key, "0", dump, "REPLACE")
        self.raw("SET", "redquel:version", f"whole{os.urandom(8).hex()}")

    def failures(self):
        """What should not be among the answers."""
        found = []
        try:
            with self.server.connect(timeout=60, options="-c statement_timeout=20s") as connection:
                for sql in STATEMENTS:
                    for result in connection.query(sql):
                        if result.sqlstate in ("XX000", "57014"):
                            found.append((sql, result.error["C"], result.error["M"]))
                        # What needs a repair says which.
                        elif result.sqlstate == "XX001" and not re.search('"|redquel:|row|member', result.error["M"]):
                            found.append((sql, "XX001", result.error["M"]))
        except ConnectionClosed as error:
            if not self.server.alive():
                return [("the server has ended", str(error), "")]
        except Exception as error:  # a login that is refused says why
            state = getattr(error, "sqlstate", None)
            if state is None or state == "XX000":
                found.append(("connect", type(error).__name__, str(error)))
        if not self.server.alive():
            return [("the server has ended", "", "")]
        return found


def look_at(subject, number):
    """The failures of every n-th case, one of each kind."""
    only, failures = os.environ.get("JUNK_KEY", ""), {}
    cases = [(key, *case) for key in subject.keys() if only in key for case in junk(subject.raw, key, subject.oids)]
    for key, name, commands in cases[number::SUBJECTS]:
        for command in commands:
            subject.raw(*command)
        if key != "redquel:version":  # the definitions are read anew
            subject.raw("SET", "redquel:version", f"junk{os.urandom(8).hex()}")
        for failure in subject.failures():
            failures.setdefault((key, failure[2][:80] or failure[0]), (key, name, *failure))
        if not subject.server.alive():
            subject.server = subject.make_server(redis=subject.redis)
        subject.put_back()
    return failures


def test_junk_in_every_key_is_named(make_server, make_redis):
    subjects = [Subject(make_server, make_redis()) for _ in range(SUBJECTS)]
    failures = {}
    # Most of the time a statement waits for what the junk keeps from it.
    all_at_once(lambda number: failures.update(look_at(subjects[number], number)), SUBJECTS)
    for failure in failures.values():
        print(failure)
    assert not failures, f"{len(failures)} kinds of failures"
