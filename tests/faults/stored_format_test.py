"""Data that another redquel has written: older data opens, newer data is refused.

data/format_N.jsonl is what a redquel of that format stored for the statements of format_N.sql and a COPY that was killed
(harness/stored_data.py makes such files). A change of the format adds a file and keeps the older ones.
"""
import os
import subprocess

from harness.pgwire import ServerError
from harness.stored_data import load
from harness.waiting import wait_for

DATA = os.path.join(os.path.dirname(__file__), "data")
FORMATS = [0]
NEWEST = 1
TABLES = ["dept", "emp", "note", "shop.line", "pair", "session", "totals", "half"]
# Queries over what the files hold, each with an access path of its own.
ANSWERS = [
    ("SELECT count(*), sum(salary), min(born), max(changed) FROM emp", [["19", "190000", "2000-01-02", "2020-01-21 00:00:00+00"]]),
    ("SELECT ename, feels, share, paid, tags, extra, late FROM emp WHERE emp_id = 3",
     [["Name 3", "sad", "3", "3.50", "{a,b3}", "{\"n\": 3}", "5"]]),
    ("SELECT emp_id FROM emp WHERE dept = 3 AND salary > 5000 ORDER BY salary", [["8"], ["11"], ["14"], ["17"], ["20"]]),
    ("SELECT emp_id FROM emp WHERE email = 'n12@x'", [["12"]]),
    ("SELECT emp_id FROM emp WHERE dept IS NULL ORDER BY emp_id", [["4"], ["9"]]),
    ("SELECT emp_id FROM emp WHERE changed > '2020-01-19' ORDER BY changed", [["19"], ["20"]]),
    ("SELECT emp_id FROM emp WHERE dept = 1 AND born = '2000-01-07'", [["6"]]),
    ("SELECT name FROM dept WHERE name = 'a:b%c *{}'", [["a:b%c *{}"]]),
    ("SELECT body FROM note ORDER BY body", [["one"], ["three"], [None]]),
    ("SELECT a, b, amount FROM shop.line ORDER BY a, b", [["1", "x", "0.5"], ["1", "y:z", "NaN"], ["2", "", "-1"]]),
    ("SELECT id, other FROM pair ORDER BY id", [["1", "2"], ["2", None]]),
    ("SELECT token FROM session WHERE owner = 2 AND redquel.ttl('session', 'def') > '1 day'", [["def"]]),
    ("SELECT count(*), max(paid) FROM paid", [["10", "20.50"]]),
    ("SELECT dept, n FROM totals ORDER BY dept", [["1", "5"], ["2", "5"], ["3", "7"], [None, "2"]]),
    ("SELECT twice(21), item FROM cart WHERE id = 2", [["42", "pear"]]),
    ("SELECT id FROM half ORDER BY id", [["1"], ["2"]]),  # the COPY is undone
    ("SELECT nextval('ticket'), nextval('emp_emp_id_seq')", [["114", "21"]]),
]
CHANGES = """
    INSERT INTO dept VALUES (4, 'law');
    INSERT INTO emp (ename, dept, salary, email) VALUES ('new', 4, 1, 'new@x');
    UPDATE emp SET dept = 4, salary = salary + 1 WHERE emp_id < 4;
    DELETE FROM dept WHERE dept_id = 2;
    INSERT INTO session VALUES ('ghi', 2);
    UPDATE pair SET id = 3 - id;
    INSERT INTO half SELECT generate_series(3, 3000);
    UPDATE cart SET item = 'plum' WHERE id = 1;
"""


def check_tables(connection):
    for table in TABLES:
        found = connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")
        assert found == [], (table, found)


def test_older_data_is_opened(make_redis, make_server):
    for number in FORMATS:
        redis = make_redis()
        with redis.connect() as raw:
            load(raw, f"{DATA}/format_{number}.jsonl")
        server = make_server(redis=redis)
        with server.connect() as connection, redis.connect() as raw:
            for query, rows in ANSWERS:
                found = connection.run(query)
                assert found == rows, (query, found)
            check_tables(connection)
            connection.run(CHANGES)
            connection.run("CREATE INDEX ON note (body)")
            check_tables(connection)
            assert raw.keys("redquel:journal:*") == [] and not raw("EXISTS", "redquel:exclusive")
            assert raw("GET", "redquel:format") == str(NEWEST)


def test_newer_data_is_refused(make_redis, make_server, build):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
        assert raw("GET", "redquel:format") == str(NEWEST)
        raw("SET", "redquel:format", NEWEST + 1)
        raw("SET", "redquel:version", "another")  # the redquel that upgrades the data changes both versions
        for oid in raw("HKEYS", "redquel:versions"):
            raw("HSET", "redquel:versions", oid, "another")
        for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (1)", "CREATE TABLE u (id int PRIMARY KEY)"):
            wait_for(lambda: refused(connection, statement), what="a refusal")
        assert not raw("EXISTS", "t:1") and raw("HKEYS", "redquel:prefixes") == ["t"]
        end = subprocess.run([os.path.join(build, "redquel"), "--listen", "127.0.0.1:0", "--redis", redis.url], capture_output=True, text=True, timeout=120)
        assert end.returncode == 1 and not end.stdout, (end.returncode, end.stdout)
        assert f"the data in Redis has format {NEWEST + 1}, and this redquel knows formats up to {NEWEST}" in end.stderr, end.stderr
        raw("SET", "redquel:format", NEWEST)
        wait_for(lambda: not refused(connection, "SELECT * FROM t"), what="an answer")


def refused(connection, statement):
    try:
        connection.run(statement)
    except ServerError as error:
        return error.sqlstate == "0A000" and f"has format {NEWEST + 1}" in str(error)
    return False
