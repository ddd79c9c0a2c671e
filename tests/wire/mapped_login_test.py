"""Login and tags: strings per column, lookups, a trimmed list, a zset and sets of an application, as tables."""
from harness.keyspace import MappedKeys, plan, same

LOGIN = """
CREATE FOREIGN TABLE login (id bigint, name text, login_times bigint NOT NULL, last_login_time timestamptz OPTIONS (format 'unix') NOT NULL)
  SERVER redis OPTIONS (layout 'strings', key 'login:{id}:{*}', counter 'login:userid');
CREATE INDEX login_name ON login USING lookup (name) WITH (key = 'login:{name}:id', maintained = 'redquel');
CREATE INDEX login_often ON login USING zset (login_times) WITH (key = 'login:login_times', maintained = 'redquel');
CREATE INDEX login_last ON login USING list (last_login_time) WITH (key = 'login:last_login_times', length = 5, maintained = 'redquel');
CREATE FOREIGN TABLE tag (tagname text, book_id bigint) SERVER redis OPTIONS (layout 'set', key 'tag:{tagname}');
CREATE FOREIGN TABLE book (id bigint, name text, author text) SERVER redis OPTIONS (layout 'strings', key 'book:{id}:{*}');
"""

BOOKS = {1: ("The Ruby Programming Language", "Mark Pilgrim"), 2: ("Ruby on rail", "David Flanagan"),
         3: ("Programming Erlang", "Joe Armstrong"), 4: ("Javascript", "Crockford")}
TAGS = {"ruby": [1, 2], "web": [2, 4], "erlang": [3], "empty": []}


def load(redis):
    """As an application does it."""
    for number, name in enumerate(("ken thompson", "dennis ritchie", "Joe Armstrong"), 1):
        redis("INCR", "login:userid")
        redis("SET", f"login:{number}:name", name)
        redis("SET", f"login:{name}:id", number)
        redis("SET", f"login:{number}:login_times", number * 5)
        redis("ZADD", "login:login_times", number * 5, number)
        redis("SET", f"login:{number}:last_login_time", 1300000000 + number)
        redis("LPUSH", "login:last_login_times", number)
    for number, (name, author) in BOOKS.items():
        redis("SET", f"book:{number}:name", name)
        redis("SET", f"book:{number}:author", author)
    for tag, books in TAGS.items():
        for book in books:
            redis("SADD", f"tag:{tag}", book)


def tables(server):
    return MappedKeys(server, load, LOGIN)


def test_rows_by_key(fresh_server):
    with tables(fresh_server) as (connection, _):
        same(connection.run("SELECT * FROM login WHERE id = 1"), [["1", "ken thompson", "5", "2011-03-13 07:06:41+00"]])
        same(connection.run("SELECT name FROM login WHERE id IN (3, 1, 99) ORDER BY id"), [["ken thompson"], ["Joe Armstrong"]])
        same(connection.run("SELECT count(*) FROM login WHERE id = NULL"), [["0"]])
        assert "GET login:1:name" in plan(connection, "SELECT name FROM login WHERE id = 1")
        assert "SCAN" not in plan(connection, "SELECT name FROM login WHERE id = 1")
        same(connection.run("SELECT name FROM login WHERE id = $1", "2"), [["dennis ritchie"]])


def test_reverse_lookup(fresh_server):
    with tables(fresh_server) as (connection, redis):
        shown = plan(connection, "SELECT * FROM login WHERE name = 'ken thompson'")
        assert 'GET "login:ken thompson:id"' in shown and "SCAN" not in shown, shown
        same(connection.run("SELECT id, login_times FROM login WHERE name = 'ken thompson'"), [["1", "5"]])
        same(connection.run("SELECT id FROM login WHERE name = 'nobody'"), [])
        redis("SET", "login:1:name", "kenneth")  # the lookup is stale now
        same(connection.run("SELECT id FROM login WHERE name = 'ken thompson'"), [])


def test_update_is_one_unit(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("UPDATE login SET login_times = login_times + 1, last_login_time = to_timestamp(1400000000) WHERE name = 'ken thompson'")
        assert redis("GET", "login:1:login_times") == "6"
        assert redis("GET", "login:1:last_login_time") == "1400000000"
        assert redis("ZSCORE", "login:login_times", "1") == "6"
        assert redis("LRANGE", "login:last_login_times", "0", "-1") == ["1", "3", "2", "1"]
        for second in range(4):
            connection.run(f"UPDATE login SET last_login_time = to_timestamp({1500000000 + second}) WHERE id = 2")
        assert redis("LRANGE", "login:last_login_times", "0", "-1") == ["2", "2", "2", "2", "1"]
        redis("CONFIG", "RESETSTAT")
        connection.run("UPDATE login SET login_times = login_times + 1 WHERE id = 3")
        counts = redis.command_counts()
        assert counts["INCRBY"] == 1 and counts["ZINCRBY"] == 1 and counts["EVALSHA"] == 1 and "SET" not in counts, counts


def test_newest_and_most_frequent(fresh_server):
    with tables(fresh_server) as (connection, redis):
        newest = "SELECT name FROM login ORDER BY last_login_time DESC LIMIT 2"
        often = "SELECT name, login_times FROM login ORDER BY login_times DESC LIMIT 2"
        assert "LRANGE login:last_login_times" in plan(connection, newest)
        assert "ZRANGE login:login_times" in plan(connection, often)
        same(connection.run(newest), [["Joe Armstrong"], ["dennis ritchie"]])
        same(connection.run(often), [["Joe Armstrong", "15"], ["dennis ritchie", "10"]])
        redis("LPUSH", "login:last_login_times", "3", "3", "3")  # a login occurs many times
        same(connection.run(newest), [["Joe Armstrong"], ["dennis ritchie"]])
        redis("SET", "login:1:last_login_time", "1600000000")  # and is not in front: the list contradicts
        redis("LPUSH", "login:last_login_times", "2")
        same(connection.run(newest), [["ken thompson"], ["Joe Armstrong"]])
        same(connection.run("SELECT name FROM login ORDER BY login_times LIMIT 1"), [["ken thompson"]])


def test_insert_and_delete(fresh_server):
    with tables(fresh_server) as (connection, redis):
        row = connection.run("INSERT INTO login (name, login_times, last_login_time) VALUES ('rob pike', 1, to_timestamp(1350000000)) RETURNING id")
        assert row == [["4"]] and redis("GET", "login:userid") == "4"
        assert redis("GET", "login:rob pike:id") == "4" and redis("GET", "login:4:name") == "rob pike"
        assert redis("ZSCORE", "login:login_times", "4") == "1" and redis("LINDEX", "login:last_login_times", "0") == "4"
        assert connection.run_error("INSERT INTO login VALUES (4, 'x', 1, now())")["C"] == "23505"
        assert connection.run_error("INSERT INTO login VALUES (9, 'rob pike', 1, now())")["C"] == "23505"
        assert redis("EXISTS", "login:9:name") == 0
        connection.run("UPDATE login SET name = 'robert pike' WHERE id = 4")
        assert redis("GET", "login:rob pike:id") is None and redis("GET", "login:robert pike:id") == "4"
        connection.run("DELETE FROM login WHERE name = 'robert pike'")
        assert redis("EXISTS", "login:4:name", "login:4:login_times", "login:4:last_login_time", "login:robert pike:id") == 0
        assert redis("ZSCORE", "login:login_times", "4") is None and "4" not in redis("LRANGE", "login:last_login_times", "0", "-1")
        assert redis("GET", "login:userid") == "4"


def test_tags(fresh_server):
    with tables(fresh_server) as (connection, _):
        both = "SELECT b.name FROM tag t1, tag t2, book b WHERE t1.tagname = 'web' AND t2.tagname = 'ruby' AND t1.book_id = t2.book_id AND b.id = t1.book_id"
        same(connection.run(both), [["Ruby on rail"]])
        assert "SCAN 0" not in plan(connection, both), plan(connection, both)
        only = ("SELECT b.name FROM book b JOIN tag t ON t.book_id = b.id WHERE t.tagname = 'ruby' AND "
                "NOT EXISTS (SELECT 1 FROM tag w WHERE w.tagname = 'web' AND w.book_id = b.id)")
        same(connection.run(only), [["The Ruby Programming Language"]])
        either = "SELECT name FROM book WHERE id IN (SELECT book_id FROM tag WHERE tagname IN ('ruby', 'web')) ORDER BY id"
        same(connection.run(either), [["The Ruby Programming Language"], ["Ruby on rail"], ["Javascript"]])
        same(connection.run("SELECT book_id FROM tag WHERE tagname = 'ruby' INTERSECT SELECT book_id FROM tag WHERE tagname = 'web'"), [["2"]])
        same(connection.run("SELECT book_id FROM tag WHERE tagname = 'ruby' EXCEPT SELECT book_id FROM tag WHERE tagname = 'web'"), [["1"]])
        same(connection.run("SELECT tagname, count(*) FROM tag GROUP BY tagname ORDER BY 1"), [["erlang", "1"], ["ruby", "2"], ["web", "2"]])


def test_tags_are_written(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("INSERT INTO tag VALUES ('web', 1), ('new', 3)")
        assert sorted(redis("SMEMBERS", "tag:web")) == ["1", "2", "4"] and redis("SMEMBERS", "tag:new") == ["3"]
        assert connection.run_error("INSERT INTO tag VALUES ('web', 1)")["C"] == "23505"
        connection.run("DELETE FROM tag WHERE tagname = 'web' AND book_id = 4")
        assert sorted(redis("SMEMBERS", "tag:web")) == ["1", "2"]
        connection.run("UPDATE tag SET tagname = 'WEB' WHERE tagname = 'web'")
        assert redis("EXISTS", "tag:web") == 0 and sorted(redis("SMEMBERS", "tag:WEB")) == ["1", "2"]


def test_join_with_a_managed_table(fresh_server):
    with tables(fresh_server) as (connection, _):
        connection.run("CREATE TABLE visit (login_id bigint, page text)")
        connection.run("INSERT INTO visit VALUES (1, 'a'), (3, 'b'), (7, 'c')")
        joined = connection.run("SELECT v.page, l.name FROM visit v LEFT JOIN login l ON l.id = v.login_id ORDER BY v.page")
        assert joined == [["a", "ken thompson"], ["b", "Joe Armstrong"], ["c", None]]
