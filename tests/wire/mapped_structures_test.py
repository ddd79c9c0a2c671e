"""Declared structures of foreign tables: keys with several slots, layouts of members, ranges of scores, composite uniques; read and maintained."""
from harness.keyspace import MappedKeys, plan, same

STAFF = """
CREATE FOREIGN TABLE staff (dept text, id int, name text, salary numeric, hired timestamptz OPTIONS (format 'unix'), boss int)
  SERVER redis OPTIONS (layout 'hash', key 'staff:{dept}:{id}');
CREATE INDEX ON staff USING set (dept, boss) WITH (key = 'staff:{dept}:boss:{boss}');
CREATE INDEX ON staff USING set (name) WITH (key = 'staff:name:{name}');
CREATE INDEX staff_name ON staff USING lookup (dept, name) WITH (key = 'staff:uniques:dept:name');
CREATE INDEX staff_badge ON staff USING lookup (dept, boss, name) WITH (key = 'staff:{dept}:badges', field = '{boss}/{name}');
CREATE INDEX ON staff USING zset (dept, salary) WITH (key = 'staff:{dept}:salary');
CREATE INDEX ON staff USING zset (hired) WITH (key = 'staff:hired', member = '{id}@{dept}');
CREATE INDEX ON staff USING list (dept, hired) WITH (key = 'staff:{dept}:newest', length = 2)
"""


def no_keys(_):
    pass


def hire(connection):
    for dept, number, name, salary, hired, boss in (("it", 1, "ann", 10, 100, 9), ("it", 2, "bob", 20, 200, 9), ("it", 3, "cid", 30.5, 300, 8),
                                                    ("hr", 1, "dan", 15, 150, 9), ("hr", 2, "ann", 99, 250, None)):
        boss = "NULL" if boss is None else boss
        connection.run(f"INSERT INTO staff VALUES ('{dept}', {number}, '{name}', {salary}, to_timestamp({hired}), {boss})")


def test_keys_with_several_slots(fresh_server):
    with MappedKeys(fresh_server, no_keys, STAFF) as (connection, redis):
        hire(connection)
        assert sorted(redis("SMEMBERS", "staff:it:boss:9")) == ["1", "2"] and sorted(redis("SMEMBERS", "staff:name:ann")) == ["hr:2", "it:1"]
        assert redis.hash("staff:uniques:dept:name")["it:bob"] == "it:2" and redis.hash("staff:it:badges") == {"9/ann": "1", "9/bob": "2", "8/cid": "3"}
        assert redis("ZRANGE", "staff:it:salary", "0", "-1") == ["1", "2", "3"] and redis("ZRANGE", "staff:hired", "0", "-1") == ["1@it", "1@hr", "2@it", "2@hr", "3@it"]
        assert redis("LRANGE", "staff:it:newest", "0", "-1") == ["3", "2"]
        same(connection.run("SELECT id FROM staff WHERE dept IN ('it', 'hr') AND boss = 9 ORDER BY dept, id"), [["1"], ["1"], ["2"]])
        connection.run("SET redquel.allow_keyspace_scan = off")
        same(connection.run("SELECT id FROM staff WHERE dept = 'it' AND boss = 9 ORDER BY id"), [["1"], ["2"]])
        same(connection.run("SELECT dept, id FROM staff WHERE name = 'ann' ORDER BY 1"), [["hr", "2"], ["it", "1"]])
        same(connection.run("SELECT salary FROM staff WHERE dept = 'it' AND name = 'cid'"), [["30.5"]])
        same(connection.run("SELECT id FROM staff WHERE dept = 'it' AND salary > 10 AND salary <= 20"), [["2"]])
        same(connection.run("SELECT id FROM staff WHERE dept = 'it' AND salary >= 30.5"), [["3"]])
        same(connection.run("SELECT dept, id FROM staff WHERE hired BETWEEN to_timestamp(150) AND to_timestamp(200) ORDER BY hired"), [["hr", "1"], ["it", "2"]])
        same(connection.run("SELECT dept, id FROM staff WHERE hired >= to_timestamp(150) ORDER BY hired LIMIT 2"), [["hr", "1"], ["it", "2"]])
        same(connection.run("SELECT id FROM staff WHERE dept = 'it' AND salary < 1000 ORDER BY salary DESC LIMIT 2"), [["3"], ["2"]])
        connection.run("PREPARE p AS SELECT id FROM staff WHERE dept = $1 AND salary > $2 ORDER BY id")
        same(connection.run("EXECUTE p('it', 10)"), [["2"], ["3"]])
        same(connection.run("EXECUTE p('it', NULL)"), [])
        same(connection.run("EXECUTE p('it', 'NaN')"), [])
        same(connection.run("SELECT count(*) FROM staff WHERE dept = 'it' AND salary < 'NaN'"), [["3"]])
        same(connection.run("SELECT id FROM staff WHERE dept = 'none' AND salary > 0"), [])
        redis("ZADD", "staff:it:salary", "15", "77", "15", "not a number")  # stale members
        same(connection.run("SELECT id FROM staff WHERE dept = 'it' AND salary BETWEEN 5 AND 25 ORDER BY id"), [["1"], ["2"]])


def test_structures_are_maintained(fresh_server):
    with MappedKeys(fresh_server, no_keys, STAFF) as (connection, redis):
        hire(connection)
        error = connection.run_error("INSERT INTO staff VALUES ('it', 4, 'bob', 1, NULL, NULL)")
        assert error["C"] == "23505" and "staff_name" in error["M"], error
        connection.run("UPDATE staff SET dept = 'hr', id = 3 WHERE dept = 'it' AND id = 2")
        assert redis("SMEMBERS", "staff:it:boss:9") == ["1"] and sorted(redis("SMEMBERS", "staff:hr:boss:9")) == ["1", "3"]
        assert redis.hash("staff:uniques:dept:name")["hr:bob"] == "hr:3" and "it:bob" not in redis.hash("staff:uniques:dept:name")
        assert redis("ZSCORE", "staff:it:salary", "2") is None and redis("ZSCORE", "staff:hr:salary", "3") == "20" and redis("ZSCORE", "staff:hired", "3@hr") == "200"
        connection.run("UPDATE staff SET salary = salary + 5, boss = NULL WHERE dept = 'hr' AND id = 3")
        assert redis("ZSCORE", "staff:hr:salary", "3") == "25" and redis("SMEMBERS", "staff:hr:boss:9") == ["1"]
        assert connection.run_error("UPDATE staff SET salary = 'NaN' WHERE dept = 'hr' AND id = 3")["C"] == "22003"
        assert redis.hash("staff:hr:3")["salary"] == "25"
        assert connection.run_error("UPDATE staff SET dept = 'a:b' WHERE dept = 'hr' AND id = 3")["C"] == "22023"
        connection.run("DELETE FROM staff")
        assert redis.keys("staff:*") == []


def test_layouts_of_members(fresh_server):
    definitions = """
CREATE FOREIGN TABLE tag (tag text, book int) SERVER redis OPTIONS (layout 'set', key 'tag:{tag}');
CREATE INDEX ON tag USING set (book) WITH (key = 'book:{book}:tags');
CREATE FOREIGN TABLE rank (game text, player text, score int) SERVER redis OPTIONS (layout 'zset', key 'rank:{game}');
CREATE INDEX ON rank USING set (player) WITH (key = 'player:{player}:games');
CREATE FOREIGN TABLE setting (name text, value text, owner int) SERVER redis OPTIONS (layout 'hash', key 'setting:{name}');
CREATE FOREIGN TABLE word (field text, value int) SERVER redis OPTIONS (layout 'hash_fields', key 'words');
CREATE INDEX ON word USING lookup (value) WITH (key = 'words:by:number')
"""
    with MappedKeys(fresh_server, no_keys, definitions) as (connection, redis):
        connection.run("INSERT INTO tag VALUES ('ruby', 1), ('web', 1), ('web', 2)")
        assert sorted(redis("SMEMBERS", "book:1:tags")) == ["ruby", "web"]
        connection.run("INSERT INTO rank VALUES ('go', 'ann', 5), ('chess', 'ann', 7)")
        connection.run("INSERT INTO word VALUES ('one', 1), ('two', 2)")
        connection.run("SET redquel.allow_keyspace_scan = off")
        same(connection.run("SELECT tag FROM tag WHERE book = 1 ORDER BY 1"), [["ruby"], ["web"]])
        same(connection.run("SELECT book FROM tag WHERE tag = 'ruby' INTERSECT SELECT book FROM tag WHERE tag = 'web'"), [["1"]])
        same(connection.run("SELECT game, score FROM rank WHERE player = 'ann' ORDER BY score"), [["go", "5"], ["chess", "7"]])
        same(connection.run("SELECT field FROM word WHERE value = 2"), [["two"]])
        assert connection.run_error("INSERT INTO word VALUES ('zwei', 2)")["C"] == "23505"
        connection.run("DELETE FROM tag WHERE book = 1 AND tag = 'web'")
        assert redis("SMEMBERS", "book:1:tags") == ["ruby"]
        connection.run("UPDATE rank SET game = 'poker' WHERE player = 'ann' AND game = 'go'")
        assert sorted(redis("SMEMBERS", "player:ann:games")) == ["chess", "poker"]
        connection.run("BEGIN")
        connection.run("INSERT INTO tag VALUES ('new', 1)")
        same(connection.run("SELECT tag FROM tag WHERE book = 1 ORDER BY 1"), [["new"], ["ruby"]])
        connection.run("COMMIT")
        assert sorted(redis("SMEMBERS", "book:1:tags")) == ["new", "ruby"]


def test_scores_of_the_rows_own_zset(fresh_server):
    def load(redis):
        redis("ZADD", "rank:go", *(word for number in range(3000) for word in (str(number // 3), f"p{number}")))
        redis("ZADD", "rank:chess", "5", "x")

    definitions = "CREATE FOREIGN TABLE rank (game text, player text, score float8) SERVER redis OPTIONS (layout 'zset', key 'rank:{game}')"
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        redis("CONFIG", "RESETSTAT")
        same(connection.run("SELECT count(*), sum(score) FROM rank WHERE game = 'go' AND score > 10 AND score <= 500"), [["1470", "375585"]])
        same(connection.run("SELECT count(*) FROM rank WHERE game = 'go' AND score BETWEEN 999 AND 5000"), [["3"]])
        same(connection.run("SELECT score FROM rank WHERE game = 'go' ORDER BY score DESC LIMIT 4"), [["999"], ["999"], ["999"], ["998"]])
        same(connection.run("SELECT player FROM rank WHERE game = 'go' AND score >= 7 ORDER BY score, player DESC LIMIT 2 OFFSET 1"), [["p22"], ["p21"]])
        same(connection.run("SELECT player FROM rank WHERE game = 'go' AND score < 1 AND player <> 'p1' ORDER BY score DESC, player LIMIT 5"), [["p0"], ["p2"]])
        same(connection.run("SELECT score FROM rank WHERE game = 'none' ORDER BY score LIMIT 1"), [])
        same(connection.run("SELECT count(*) FROM rank WHERE game = 'go' AND score > 'NaN'"), [["0"]])
        same(connection.run("SELECT count(*) FROM rank WHERE game = 'go' AND score >= '-Infinity' AND score < 'Infinity'"), [["3000"]])
        counts = redis.command_counts()
        assert not {"SCAN", "ZSCAN"} & counts.keys(), counts
        same(connection.run("SELECT count(*) FROM rank WHERE score > 998"), [["3"]])  # no key is named
        assert connection.run_error("INSERT INTO rank VALUES ('go', 'nan', 'NaN')")["C"] == "22003"
        assert redis("ZSCORE", "rank:go", "nan") is None
        connection.run("BEGIN")
        connection.run("INSERT INTO rank VALUES ('go', 'best', 1e6)")
        same(connection.run("SELECT player FROM rank WHERE game = 'go' AND score > 999"), [["best"]])
        same(connection.run("SELECT player FROM rank WHERE game = 'go' ORDER BY score DESC LIMIT 1"), [["best"]])
        connection.run("ROLLBACK")


def test_many_equal_scores_and_long_ranges(fresh_server):
    def load(redis):
        for start in range(0, 5000, 1000):
            redis("ZADD", "n:by", *(word for number in range(start, start + 1000) for word in (str(number // 2500), str(number))))
            for number in range(start, start + 1000):
                redis("HSET", f"n:{number}", "v", str(number // 2500))

    definitions = """
CREATE FOREIGN TABLE n (id int, v int) SERVER redis OPTIONS (layout 'hash', key 'n:{id}');
CREATE INDEX ON n USING zset (v) WITH (key = 'n:by', maintained = 'application')
"""
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        redis("CONFIG", "RESETSTAT")
        same(connection.run("SELECT count(*), count(DISTINCT id) FROM n WHERE v >= 0"), [["5000", "5000"]])
        same(connection.run("SELECT count(*), min(id) FROM n WHERE v = 1"), [["2500", "2500"]])
        same(connection.run("SELECT count(*) FROM n WHERE v > 1"), [["0"]])
        assert "SCAN" not in redis.command_counts(), redis.command_counts()
        assert "ZRANGE n:by 1 +inf BYSCORE LIMIT 0 1000 WITHSCORES" in plan(connection, "SELECT * FROM n WHERE v > 1")


def test_versions_are_found_in_their_zset(fresh_server):
    definitions = """
CREATE FOREIGN TABLE name (userid bigint, version int OPTIONS (versions '3'), at bigint, username text)
  SERVER redis OPTIONS (layout 'string', key 'sys:user:userid:{userid}:base:username:{version}:{at}');
CREATE INDEX ON name USING zset (userid, version) WITH (key = 'sys:user:userid:{userid}:base:username:versions');
SET redquel.allow_keyspace_scan = off
"""
    with MappedKeys(fresh_server, no_keys, definitions) as (connection, redis):
        keys = lambda user: redis.keys(f"sys:user:userid:{user}:base:username:*")
        zset = "sys:user:userid:{}:base:username:versions"
        redis("CONFIG", "RESETSTAT")
        for version in range(1, 6):
            connection.run(f"INSERT INTO name VALUES (888, {version}, {1000 + version}, 'v{version}'), (889, {version}, 1, 'w{version}')")
        assert "SCAN" not in redis.command_counts(), redis.command_counts()
        for user in (888, 889):
            assert len(keys(user)) == 4, keys(user)  # three versions and their zset
        assert redis("ZRANGE", zset.format(888), "0", "-1") == ["3:1003", "4:1004", "5:1005"]
        same(connection.run("SELECT username FROM name WHERE userid = 888 ORDER BY version DESC LIMIT 1"), [["v5"]])
        same(connection.run("SELECT username FROM name WHERE userid = 888 AND version = 4"), [["v4"]])
        same(connection.run("SELECT version FROM name WHERE userid = 889 AND version >= 4 ORDER BY 1"), [["4"], ["5"]])
        connection.run("INSERT INTO name SELECT 890, v, v, 'x' FROM generate_series(1, 10) v")
        same(connection.run("SELECT version FROM name WHERE userid = 890 AND version > 0 ORDER BY 1"), [["8"], ["9"], ["10"]])
        connection.run("INSERT INTO name VALUES (890, 2, 2, 'too old')")  # goes at once
        assert redis("ZRANGE", zset.format(890), "0", "-1") == ["8:8", "9:9", "10:10"] and len(keys(890)) == 4
        connection.run("BEGIN")
        connection.run("INSERT INTO name VALUES (888, 6, 1006, 'v6')")
        connection.run("INSERT INTO name VALUES (888, 7, 1007, 'v7'), (888, 8, 1008, 'v8'), (888, 9, 1009, 'v9')")
        connection.run("COMMIT")
        assert redis("ZRANGE", zset.format(888), "0", "-1") == ["7:1007", "8:1008", "9:1009"] and len(keys(888)) == 4
        assert f"ZRANGE {zset.format('<userid>')} 0 999" in plan(connection, "INSERT INTO name VALUES (1, 1, 1, 'x')")


def test_refused_declarations(fresh_server):
    with MappedKeys(fresh_server, no_keys, STAFF) as (connection, redis):
        for statement, state in (
            ("CREATE INDEX ON staff USING set (name) WITH (key = 'x:{boss}')", "42P16"),
            ("CREATE INDEX ON staff USING set (name, boss) WITH (key = 'x:{boss}')", "42P16"),
            ("CREATE INDEX ON staff USING zset (name) WITH (key = 'x')", "42P16"),
            ("CREATE INDEX ON staff USING zset (salary, boss) WITH (key = 'x')", "42P16"),
            ("CREATE INDEX ON staff USING set (dept, id) WITH (key = 'x:{dept}:{id}')", "42P16"),
            ("CREATE INDEX ON staff USING set (name) WITH (key = 'x:{name}', member = '{id}')", "42P16"),
            ("CREATE INDEX ON staff USING set (name) WITH (key = 'x:{name}', member = '{id}{dept}')", "22023"),
            ("CREATE INDEX ON staff USING lookup (name) WITH (key = 'x:{name}', field = '{name}')", "42P16"),
            ("CREATE INDEX ON staff USING set (nothing) WITH (key = 'x:{nothing}')", "42703"),
            ("CREATE INDEX ON staff USING btree (name)", "0A000"),
            ("CREATE INDEX ON staff USING set (name)", "HV00J"),
            ("CREATE INDEX ON staff USING set (name) WITH (key = 'x:{name}', fish = 1)", "HV00D"),
        ):
            error = connection.run_error(statement)
            assert error["C"] == state, (statement, error)
        connection.run("CREATE FOREIGN TABLE l (value text) SERVER redis OPTIONS (layout 'list', key 'l')")
        assert connection.run_error("CREATE INDEX ON l USING set (value) WITH (key = 'x:{value}')")["C"] == "0A000"
        same(connection.run("SELECT pg_get_indexdef('staff_badge'::regclass)"),
             [["CREATE INDEX staff_badge ON public.staff USING lookup (dept, boss, name) WITH (key='staff:{dept}:badges', maintained=redquel, field='{boss}/{name}')"]])


def test_streams_take_no_old_ids(fresh_server):
    definitions = "CREATE FOREIGN TABLE log (name text, id text, who text) SERVER redis OPTIONS (layout 'stream', key 'log:{name}')"
    with MappedKeys(fresh_server, no_keys, definitions) as (connection, redis):
        redis("XADD", "log:a", "50-5", "who", "ann")
        for values in ("('a', '50-5', 'x')", "('a', '49', 'x')", "('b', '1-1', 'x'), ('a', '50-4', 'x')", "('a', '60-1', 'x'), ('a', '60-1', 'y')",
                       "('a', '*', 'x'), ('a', '70-1', 'y')", "('a', 'abc', 'x')", "('a', '0-0', 'x')"):
            assert connection.run_error(f"INSERT INTO log VALUES {values}")["C"] == "22023", values
        assert redis("XLEN", "log:a") == 1 and redis("EXISTS", "log:b") == 0
        connection.run("INSERT INTO log VALUES ('a', '50-*', 'bob'), ('a', '51', 'cid'), ('a', '*', 'dan')")
        assert [entry[0] for entry in redis("XRANGE", "log:a", "-", "+")][:3] == ["50-5", "50-6", "51-0"]


def test_increments_refuse_texts_that_redis_cannot_add_to(fresh_server):
    definitions = """
CREATE FOREIGN TABLE c (id int, n int, m int) SERVER redis OPTIONS (layout 'hash', key 'c:{id}');
CREATE FOREIGN TABLE d (id int, n int) SERVER redis OPTIONS (layout 'string', key 'd:{id}')
"""
    with MappedKeys(fresh_server, no_keys, definitions) as (connection, redis):
        redis("HSET", "c:1", "n", "007", "m", " 5 ")
        redis("SET", "d:1", "+3")
        connection.run("UPDATE c SET n = n + 1, m = m + 1")
        connection.run("UPDATE d SET n = n + 1")
        assert redis.hash("c:1") == {"n": "8", "m": "6"} and redis("GET", "d:1") == "4"


def test_generated_columns(fresh_server):
    definitions = "CREATE FOREIGN TABLE g (id int, a int, b int GENERATED ALWAYS AS (a * 2) STORED) SERVER redis OPTIONS (layout 'hash', key 'g:{id}')"
    with MappedKeys(fresh_server, no_keys, definitions) as (connection, redis):
        connection.run("INSERT INTO g (id, a) VALUES (1, 5)")
        assert redis.hash("g:1") == {"a": "5", "b": "10"}
        connection.run("UPDATE g SET a = 7")
        assert redis.hash("g:1") == {"a": "7", "b": "14"}
        assert connection.run_error("INSERT INTO g VALUES (2, 1, 1)")["C"] == "428C9"
        assert connection.run_error("UPDATE g SET b = 1")["C"] == "428C9"
        assert connection.run_error("CREATE FOREIGN TABLE bad (id int, a int, b int GENERATED ALWAYS AS (b) STORED) SERVER redis OPTIONS (layout 'hash', key 'bad:{id}')")["C"] == "42P17"
