"""Data that another redquel has written: older data opens, newer data is refused.

data/format_N.jsonl is what a redquel of that format stored for the statements of format_N.sql and a COPY that was killed
(harness/stored_data.py makes such files). A change of the format adds a file and keeps the older ones.
"""
import json
import os
import subprocess

from harness.pgwire import ServerError
from harness.stored_data import load
from harness.waiting import wait_for

DATA = os.path.join(os.path.dirname(__file__), "data")
NEWEST = 3
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


def check_tables(connection, tables):
    for table in tables:
        found = connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")
        assert found == [], (table, found)


def start_with_data(make_redis, make_server, number):
    redis = make_redis()
    with redis.connect() as raw:
        load(raw, f"{DATA}/format_{number}.jsonl")
    return make_server(redis=redis), redis


def check_answers(connection, answers):
    for query, rows in answers:
        found = connection.run(query)
        assert found == rows, (query, found)


def test_older_data_is_opened(make_redis, make_server):
    server, redis = start_with_data(make_redis, make_server, 0)
    with server.connect() as connection, redis.connect() as raw:
        check_answers(connection, ANSWERS)
        check_tables(connection, TABLES)
        connection.run(CHANGES)
        connection.run("CREATE INDEX ON note (body)")
        check_tables(connection, TABLES)
        assert raw.keys("redquel:journal:*") == [] and not raw("EXISTS", "redquel:exclusive")
        assert raw("GET", "redquel:format") == str(NEWEST)


# The tables that formats 1 and 2 store in other forms.
PARTS = ["tag", "loan", "visit", "half"]
PART_ANSWERS = [
    ("SELECT book_id FROM tag WHERE tagname = 'ruby' ORDER BY book_id", [["1"], ["2"], ["4"], ["5"], ["7"], ["8"], ["10"], ["11"]]),
    ("SELECT tagname, weight FROM tag WHERE book_id = 5 ORDER BY tagname", [["", "0"], ["a b", "0"], ["ruby", "0"], ["web", "0"], ["x:y", "0"]]),
    ("SELECT book_id FROM tag WHERE tagname = 'x:y' AND weight = 1 ORDER BY book_id", [["6"], ["11"]]),
    ("SELECT a.book_id FROM tag a JOIN tag b ON a.book_id = b.book_id WHERE a.tagname = 'ruby' AND b.tagname = 'web' ORDER BY 1",
     [["2"], ["5"], ["8"], ["11"]]),
    ("SELECT count(*) FROM tag WHERE tagname = 'ruby' AND weight = 1", [["2"]]),
    ("SELECT book_id FROM tag WHERE tagname = repeat('long ', 200)", [["31"]]),
    ("SELECT b.title, l.day FROM book b JOIN loan l ON l.book_id = b.id WHERE l.reader = 'r1' ORDER BY b.id LIMIT 1", [["book 1", "2020-01-02"]]),
    ("SELECT book_id FROM loan WHERE reader = 'r2' AND day = '2020-01-06'", [["5"]]),
    ("SELECT reader FROM visit WHERE room = 2 ORDER BY reader", [["r1"], ["r2"]]),
    ("SELECT id FROM half ORDER BY id", [["1"], ["2"]]),
]
PART_CHANGES = """
    INSERT INTO tag VALUES (1, 'web', 7), (32, repeat('long ', 200), 1);
    UPDATE tag SET tagname = 'perl' WHERE book_id = 2 AND tagname = 'ruby';
    DELETE FROM book WHERE id = 3;
    UPDATE loan SET day = day + 1 WHERE reader = 'r1';
    INSERT INTO visit VALUES ('r3', 2);
    DELETE FROM loan WHERE book_id = 4;
    DELETE FROM book WHERE id = 4;
"""
RUBY = {1: ["10:ruby", "11:ruby", "1:ruby", "2:ruby", "4:ruby", "5:ruby", "7:ruby", "8:ruby"], 2: ["1", "10", "11", "2", "4", "5", "7", "8"]}


def test_sets_over_parts_of_the_key_keep_their_form(make_redis, make_server):
    for number in (1, 2):
        server, redis = start_with_data(make_redis, make_server, number)
        with server.connect() as connection, redis.connect() as raw:
            check_answers(connection, PART_ANSWERS)
            check_tables(connection, PARTS)
            assert sorted(raw("SMEMBERS", "tag:indices:tagname:ruby")) == RUBY[number]
            # An index over the same columns shares their sets.
            connection.run("CREATE INDEX ON tag USING hash (tagname); DROP INDEX tag_name")
            assert sorted(raw("SMEMBERS", "tag:indices:tagname:ruby")) == RUBY[number]
            connection.run(PART_CHANGES)
            check_tables(connection, PARTS)
            connection.run("REINDEX TABLE tag")
            check_tables(connection, PARTS)
            assert sorted(raw("SMEMBERS", "tag:indices:tagname:web")) == ["1", "11", "12", "2", "3", "5", "6", "8", "9"]


def test_zsets_of_values_are_read_and_changed(make_redis, make_server):
    server, redis = start_with_data(make_redis, make_server, 3)
    with server.connect() as connection, redis.connect() as raw:
        assert raw("ZRANGE", "loan:zset:reader:r%3A1:day", "0", "-1") == ["1", "7", "13", "19"]
        assert raw("ZRANGE", "loan:zset:reader:r%3A1:day:%N", "0", "-1") == ["16", "4"]
        check_answers(connection, [("SELECT id FROM loan WHERE reader = 'r:1' ORDER BY day DESC NULLS LAST LIMIT 2", [["19"], ["13"]]),
                                   ("SELECT count(*) FROM loan WHERE room = 1 AND reader > 'r:1'", [["2"]])])
        connection.run("UPDATE loan SET reader = 'r:9' WHERE id IN (4, 7); DELETE FROM loan WHERE reader = 'r:2'")
        check_tables(connection, ["loan", "half"])
        assert sorted(raw("SMEMBERS", "loan:zset:reader,day")) == ["r%3A0", "r%3A0:%N", "r%3A1", "r%3A1:%N", "r%3A9", "r%3A9:%N"]


def test_reindex_gives_older_sets_the_new_form(make_redis, make_server):
    server, redis = start_with_data(make_redis, make_server, 1)
    with server.connect() as connection, redis.connect() as raw:
        connection.run("BEGIN; REINDEX TABLE tag; COMMIT")
        assert sorted(raw("SMEMBERS", "tag:indices:tagname:ruby")) == RUBY[1]
        connection.run("REINDEX INDEX tag_name")
        check_tables(connection, PARTS)
        check_answers(connection, PART_ANSWERS)
        assert sorted(raw("SMEMBERS", "tag:indices:tagname:ruby")) == RUBY[2]
        assert raw("SMEMBERS", "tag:indices:book_id:1") == ["ruby"]
        assert raw("SMEMBERS", "tag:indices:tagname:" + long_segment(raw)) == ["31"]
        connection.run("REINDEX TABLE loan")
        connection.run("REINDEX TABLE visit")
        assert raw("SMEMBERS", "loan:indices:reader:r2:day:2020-01-06") == ["5"]
        # A foreign key looks at these at any time. They change when all rows are written anew.
        assert raw("SMEMBERS", "loan:indices:book_id:5") == ["5:r2:2020-01-06"]
        assert sorted(raw("SMEMBERS", "visit:indices:room:2")) == ["r1:2", "r2:2"]
        check_tables(connection, PARTS)
        connection.run("ALTER TABLE loan ALTER day TYPE timestamp")
        assert [raw("SMEMBERS", key) for key in raw.keys("loan*:indices:book_id:5")] == [["r2:2020-01-06%2000%3A00%3A00"]]
        connection.run("DELETE FROM book WHERE id = 5")
        assert connection.run("SELECT count(*) FROM loan") == [["11"]]
        check_tables(connection, PARTS)


def test_reindex_completes_a_killed_reindex(make_redis, make_server):
    redis = make_redis()
    with redis.connect() as raw:
        load(raw, f"{DATA}/format_1.jsonl")
        for field, text in zip(*[iter(raw("HGETALL", "redquel:catalog"))] * 2):
            definition = json.loads(text) if field.startswith("table:") else {}
            if definition.get("name") != "tag":
                continue
            for index in definition["indexes"]:
                if index["name"] == "tag_name":
                    index.update(short_members=True, rebuilding=True, state="building")
            raw("HSET", "redquel:catalog", field, json.dumps(definition))
        raw("SREM", "tag:indices:tagname:ruby", "4:ruby")  # some are repaired already
        raw("SADD", "tag:indices:tagname:ruby", "4", "5")
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        check_answers(connection, PART_ANSWERS)
        connection.run(PART_CHANGES)
        connection.run("VACUUM")
        connection.run("REINDEX TABLE tag")
        check_tables(connection, PARTS)
        assert sorted(raw("SMEMBERS", "tag:indices:tagname:ruby")) == ["1", "10", "11", "4", "5", "7", "8"]
        plan = connection.run("EXPLAIN SELECT * FROM tag WHERE tagname = 'ruby'")
        assert "tag:indices:tagname:ruby" in str(plan), plan


def long_segment(raw):
    (key,) = raw.keys("tag:indices:tagname:%#*")
    return key.rsplit(":", 1)[1]


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
