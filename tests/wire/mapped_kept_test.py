"""Structures of foreign tables that queries believe: kept by redquel's writes, compared with rows when they are declared, mended by REINDEX."""
from harness.keyspace import MappedKeys, plan, same

EMP = """
CREATE FOREIGN TABLE emp (id bigint, name text, mgr bigint, email text, score float8) SERVER redis OPTIONS (layout 'hash', key 'emp:{id}')
"""


def load_emp(redis):
    for number, (name, mgr, email) in enumerate((("ann", 8, "a@x"), ("bob", 8, "b@x"), ("cid", 9, "c@x")), 1):
        redis("HSET", f"emp:{number}", "name", name, "mgr", str(mgr), "email", email, "score", str(number))
        redis("SADD", f"emp:indices:mgr:{mgr}", str(number))
        redis("HSET", "emp:uniques:email", email, str(number))
        redis("ZADD", "emp:score", str(number), str(number))


def is_scan(connection, sql):
    return "SCAN 0 MATCH" in plan(connection, sql)


def differences(connection, table):
    rows = connection.run(f"SELECT structure, key, id, stored, expected FROM redquel.check_indexes('{table}')")
    return sorted((tuple(row) for row in rows), key=lambda row: [text or "" for text in row])


def test_an_import_maintains_the_discovered_structures(fresh_server):
    with MappedKeys(fresh_server, load_emp, 'IMPORT FOREIGN SCHEMA "emp:*" FROM SERVER redis INTO public') as (connection, redis):
        assert connection.run("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%maintained=redquel%'") == [["3"]]
        connection.run("UPDATE emp SET mgr = 7 WHERE id = 1")
        assert not is_scan(connection, "SELECT id FROM emp WHERE mgr = 7")
        same(connection.run("SELECT id FROM emp WHERE mgr = 7"), [["1"]])
        assert redis("SMEMBERS", "emp:indices:mgr:7") == ["1"] and redis("SMEMBERS", "emp:indices:mgr:8") == ["2"]
        assert connection.run_error("INSERT INTO emp (id, name, mgr, email, score) VALUES (4, 'dan', 8, 'a@x', 0)")["C"] == "23505"
        same(differences(connection, "emp"), [])


def test_rows_that_redquel_wrote_are_found_where_the_application_keeps_a_structure(fresh_server):
    definitions = """IMPORT FOREIGN SCHEMA "emp:*" FROM SERVER redis INTO public OPTIONS (maintained 'application')"""
    with MappedKeys(fresh_server, load_emp, definitions) as (connection, redis):
        assert connection.run("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%maintained=application%'") == [["3"]]
        connection.run("UPDATE emp SET mgr = 7, score = 9 WHERE id = 1")
        connection.run("BEGIN")
        connection.run("INSERT INTO emp (id, name, mgr, email, score) VALUES (4, 'dan', 8, 'd@x', 0)")
        connection.run("COMMIT")
        connection.run("UPDATE emp SET name = 'bo' WHERE id = 2")  # stands in no structure
        assert redis("SMEMBERS", "emp:indices:mgr:7") == [] and redis("HGET", "emp:uniques:email", "d@x") is None
        assert not is_scan(connection, "SELECT id FROM emp WHERE mgr = 7")
        same(connection.run("SELECT id FROM emp WHERE mgr = 7"), [["1"]])
        same(connection.run("SELECT id FROM emp WHERE mgr = 8 ORDER BY id"), [["2"], ["4"]])
        same(connection.run("SELECT id FROM emp WHERE mgr IN (7, 9) ORDER BY id"), [["1"], ["3"]])
        same(connection.run("SELECT id FROM emp WHERE email = 'd@x'"), [["4"]])
        same(connection.run("SELECT id FROM emp WHERE score > 2 ORDER BY id"), [["1"], ["3"]])
        same(connection.run("SELECT id FROM emp WHERE score >= 0 ORDER BY score LIMIT 2"), [["4"], ["2"]])
        same(connection.run("SELECT id FROM emp WHERE score >= 0 ORDER BY score DESC LIMIT 2"), [["1"], ["3"]])
        key = redis.keys("redquel:unkept:*")
        assert len(key) == 1 and redis("SCARD", key[0]) == 2, key
        redis("SADD", "emp:indices:mgr:7", "1")  # the application comes to it: still one row
        same(connection.run("SELECT id FROM emp WHERE mgr = 7"), [["1"]])
        connection.run("DELETE FROM emp WHERE id = 4")
        same(connection.run("SELECT id FROM emp WHERE email = 'd@x'"), [])
        connection.run("REINDEX TABLE emp")
        assert redis.keys("redquel:unkept:*") == [] and redis("ZSCORE", "emp:score", "1") == "9"
        same(differences(connection, "emp"), [])
        connection.run("UPDATE emp SET mgr = 6 WHERE id = 1")
        connection.run("DROP FOREIGN TABLE emp")
        assert redis.keys("redquel:unkept:*") == []


def test_alter_index_changes_the_maintainer(fresh_server):
    definitions = EMP.strip() + ";\nCREATE INDEX emp_mgr ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}')"
    with MappedKeys(fresh_server, load_emp, definitions) as (connection, redis):
        connection.run("ALTER INDEX emp_mgr SET (maintained = 'application')")
        connection.run("UPDATE emp SET mgr = 7 WHERE id = 1")
        assert redis("SMEMBERS", "emp:indices:mgr:7") == []
        same(connection.run("SELECT id FROM emp WHERE mgr = 7"), [["1"]])
        connection.run("ALTER INDEX emp_mgr RESET (maintained)")  # compared with the rows: it lacks one
        assert is_scan(connection, "SELECT id FROM emp WHERE mgr = 7")
        same(connection.run("SELECT id FROM emp WHERE mgr = 7"), [["1"]])
        connection.run("REINDEX INDEX emp_mgr")
        assert not is_scan(connection, "SELECT id FROM emp WHERE mgr = 7") and redis("SMEMBERS", "emp:indices:mgr:7") == ["1"]
        assert redis("SMEMBERS", "emp:indices:mgr:8") == ["2"]  # without the entry of before
        connection.run("UPDATE emp SET mgr = 6 WHERE id = 1")
        assert redis("SMEMBERS", "emp:indices:mgr:6") == ["1"]
        connection.run("BEGIN")
        connection.run("ALTER INDEX emp_mgr SET (maintained = 'application')")
        connection.run("ROLLBACK")
        assert connection.run("SELECT indexdef LIKE '%maintained=redquel%' FROM pg_indexes WHERE indexname = 'emp_mgr'") == [["t"]]
        assert connection.run_error("ALTER INDEX emp_mgr SET (maintained = 'nobody')")["C"] == "HV024"
        assert connection.run_error("ALTER INDEX emp_mgr SET (fillfactor = 70)")["C"] == "HV00D"


def test_a_declared_structure_is_filled_or_not_used(fresh_server):
    with MappedKeys(fresh_server, load_emp, EMP) as (connection, redis):
        connection.run("CREATE INDEX ON emp USING set (name) WITH (key = 'emp:named:{name}')")  # there is none: filled
        assert redis("SMEMBERS", "emp:named:ann") == ["1"] and not is_scan(connection, "SELECT id FROM emp WHERE name = 'ann'")
        redis("DEL", "emp:score")
        redis("ZADD", "emp:score", "2", "2")
        connection.run("CREATE INDEX emp_score ON emp USING zset (score) WITH (key = 'emp:score')")  # lacks two rows
        assert redis("ZCARD", "emp:score") == 1 and is_scan(connection, "SELECT id FROM emp WHERE score > 0")
        assert connection.run("SELECT indisvalid FROM pg_index WHERE indexrelid = 'emp_score'::regclass") == [["f"]]
        same(connection.run("SELECT count(*) FROM emp WHERE score > 0"), [["3"]])
        same(connection.run("SELECT id FROM emp WHERE score > 0 ORDER BY score LIMIT 1"), [["1"]])
        connection.run("INSERT INTO emp (id, score) VALUES (4, 4)")  # kept, though not believed
        assert redis("ZCARD", "emp:score") == 2
        same([row[:3] for row in differences(connection, "emp")], [("zset", "emp:score", "1"), ("zset", "emp:score", "3")])
        connection.run("REINDEX TABLE emp")
        assert redis("ZCARD", "emp:score") == 4 and not is_scan(connection, "SELECT id FROM emp WHERE score > 0")
        same(connection.run("SELECT count(*) FROM emp WHERE score > 0"), [["4"]])
        connection.run("BEGIN")
        connection.run("CREATE INDEX ON emp USING lookup (email) WITH (key = 'emp:by:email')")
        assert redis.keys("emp:by:*") == []
        connection.run("COMMIT")
        assert redis("HGET", "emp:by:email", "c@x") == "3"
        assert not is_scan(connection, "SELECT id FROM emp WHERE email = 'c@x'")


def test_an_application_s_structure_is_compared_too(fresh_server):
    with MappedKeys(fresh_server, load_emp, EMP) as (connection, redis):
        redis("SREM", "emp:indices:mgr:8", "2")
        connection.run("CREATE INDEX ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}', maintained = 'application')")
        same(connection.run("SELECT id FROM emp WHERE mgr = 8 ORDER BY id"), [["1"], ["2"]])
        connection.run("CREATE INDEX ON emp USING set (name) WITH (key = 'emp:named:{name}', maintained = 'application')")
        assert redis.keys("emp:named:*") == []  # the application's: not filled
        same(connection.run("SELECT id FROM emp WHERE name = 'ann'"), [["1"]])
        connection.run("CREATE INDEX ON emp USING lookup (email) WITH (key = 'emp:uniques:email', maintained = 'application')")
        assert not is_scan(connection, "SELECT id FROM emp WHERE email = 'c@x'")


def test_two_rows_of_one_value_are_no_lookup(fresh_server):
    with MappedKeys(fresh_server, load_emp, EMP) as (connection, redis):
        redis("HSET", "emp:4", "email", "a@x")
        connection.run("CREATE INDEX emp_email ON emp USING lookup (email) WITH (key = 'emp:uniques:email')")
        same(connection.run("SELECT id FROM emp WHERE email = 'a@x' ORDER BY id"), [["1"], ["4"]])
        connection.run("CREATE INDEX emp_other ON emp USING lookup (email) WITH (key = 'emp:other:{email}')")
        same(connection.run("SELECT id FROM emp WHERE email = 'a@x' ORDER BY id"), [["1"], ["4"]])
        error = connection.run_error("REINDEX INDEX emp_email")
        assert error["C"] == "23505" and "emp_email" in error["M"], error
        redis("DEL", "emp:4")
        connection.run("REINDEX TABLE emp")
        assert not is_scan(connection, "SELECT id FROM emp WHERE email = 'a@x'")


def test_check_and_reindex(fresh_server):
    definitions = EMP.strip() + """;
CREATE INDEX ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}');
CREATE INDEX ON emp USING lookup (email) WITH (key = 'emp:uniques:email');
CREATE INDEX ON emp USING lookup (name) WITH (key = 'emp:{name}:id');
CREATE INDEX ON emp USING zset (score) WITH (key = 'emp:score')"""
    with MappedKeys(fresh_server, load_emp, definitions) as (connection, redis):
        same(differences(connection, "emp"), [])
        redis("HSET", "emp:1", "score", "6")
        redis("HDEL", "emp:uniques:email", "b@x")
        redis("HSET", "emp:uniques:email", "old@x", "2", "gone@x", "77")
        redis("SADD", "emp:indices:mgr:3", "1")
        redis("SADD", "emp:indices:mgr:8", "77", "x")
        redis("SET", "emp:zoe:id", "3")
        same(differences(connection, "emp"), [
            ("lookup", "emp:uniques:email", "2", None, "2"), ("lookup", "emp:uniques:email", "2", "2", None),
            ("lookup", "emp:uniques:email", "77", "77", None), ("lookup", "emp:zoe:id", "3", "3", None), ("set", "emp:indices:mgr:3", "1", "", None),
            ("set", "emp:indices:mgr:8", "77", "", None), ("set", "emp:indices:mgr:8", "x", "", None), ("zset", "emp:score", "1", "1", "6")])
        connection.run("REINDEX TABLE emp")
        same(differences(connection, "emp"), [("set", "emp:indices:mgr:8", "x", "", None)])  # no row has such a key: it belongs to another program
        assert redis("ZSCORE", "emp:score", "1") == "6" and redis("EXISTS", "emp:zoe:id") == 0 and redis("EXISTS", "emp:indices:mgr:3") == 0
        assert redis.hash("emp:uniques:email") == {"a@x": "1", "b@x": "2", "c@x": "3"}


def test_structures_of_sets_and_of_another_database(fresh_server):
    def load(redis):
        redis("SADD", "tag:web", "1", "2")
        redis("SADD", "tag:ruby", "1")
        redis("SADD", "book:1:tags", "web", "perl")
        redis("SELECT", "3")
        redis("HSET", "price:1", "amount", "5")
        redis("SELECT", "0")

    definitions = """
CREATE FOREIGN TABLE tag (tag text, book int) SERVER redis OPTIONS (layout 'set', key 'tag:{tag}');
CREATE INDEX ON tag USING set (book) WITH (key = 'book:{book}:tags');
CREATE FOREIGN TABLE price (id int, amount int) SERVER redis OPTIONS (layout 'hash', key 'price:{id}', database '3');
CREATE INDEX price_amount ON price USING zset (amount) WITH (key = 'price:amounts', maintained = 'application')"""
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        same(connection.run("SELECT tag FROM tag WHERE book = 1 ORDER BY 1"), [["ruby"], ["web"]])
        connection.run("REINDEX TABLE tag")
        assert sorted(redis("SMEMBERS", "book:1:tags")) == ["ruby", "web"] and redis("SMEMBERS", "book:2:tags") == ["web"]
        connection.run("REINDEX INDEX price_amount")
        connection.run("INSERT INTO price VALUES (2, 7)")
        redis("SELECT", "3")
        assert redis("ZRANGE", "price:amounts", "0", "-1") == ["1"] and redis.keys("redquel:*") == []
        assert not is_scan(connection, "SELECT id FROM price WHERE amount > 1")
        same(connection.run("SELECT id FROM price WHERE amount > 1 ORDER BY id"), [["1"], ["2"]])


def test_other_options_of_the_table_are_compared_again(fresh_server):
    def load(redis):
        load_emp(redis)
        redis("HSET", "emp:1", "boss", "5")

    definitions = EMP.strip() + ";\nCREATE INDEX ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}')"
    with MappedKeys(fresh_server, load, definitions) as (connection, _):
        assert not is_scan(connection, "SELECT id FROM emp WHERE mgr = 8")
        connection.run("ALTER FOREIGN TABLE emp ALTER COLUMN mgr OPTIONS (ADD field 'boss')")
        same(connection.run("SELECT id FROM emp WHERE mgr = 5"), [["1"]])


def test_a_list_that_contradicts_the_rows_is_not_used(fresh_server):
    def load(redis):
        load_emp(redis)
        redis("RPUSH", "emp:newest", "2", "1")

    definitions = EMP.strip() + ";\nCREATE INDEX ON emp USING list (score) WITH (key = 'emp:newest')"
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        same(connection.run("SELECT id FROM emp WHERE score > 0 ORDER BY score DESC LIMIT 1"), [["3"]])
        redis("LPUSH", "emp:newest", "3")
        connection.run("REINDEX TABLE emp")
        assert "LRANGE" in plan(connection, "SELECT id FROM emp WHERE score > 0 ORDER BY score DESC LIMIT 1")


def test_members_that_were_left_behind_hide_no_rows(fresh_server):
    definitions = EMP.strip() + """;
CREATE INDEX ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}');
CREATE INDEX ON emp USING set (name) WITH (key = 'emp:named:{name}')"""
    with MappedKeys(fresh_server, load_emp, definitions) as (connection, redis):
        redis("SADD", "emp:named:zoe", "1")
        same(connection.run("SELECT id FROM emp WHERE mgr = 8 AND name <> 'zoe' ORDER BY id"), [["1"], ["2"]])
        same(connection.run("SELECT id FROM emp WHERE mgr = 8 AND name NOT IN ('bob', 'zoe')"), [["1"]])
        assert not is_scan(connection, "SELECT id FROM emp WHERE mgr = 8 AND name <> 'zoe'")


def test_many_rows_are_filled_page_by_page(fresh_server):
    def load(redis):
        for number in range(2500):
            redis("HSET", f"emp:{number}", "name", f"n{number}", "mgr", str(number % 3), "score", str(number))

    definitions = EMP.strip() + """;
CREATE INDEX ON emp USING set (mgr) WITH (key = 'emp:indices:mgr:{mgr}');
CREATE INDEX emp_score ON emp USING zset (score) WITH (key = 'emp:score', maintained = 'application')"""
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        assert redis("SCARD", "emp:indices:mgr:1") == 833 and redis("EXISTS", "emp:score") == 0
        connection.run("UPDATE emp SET mgr = 7, score = 1 WHERE id < 600")
        same(connection.run("SELECT count(*) FROM emp WHERE mgr = 7"), [["600"]])
        assert len(differences(connection, "emp")) == 1000  # the first ones
        connection.run("REINDEX TABLE emp")
        same(differences(connection, "emp"), [])
        assert redis("ZCARD", "emp:score") == 2500 and redis.keys("redquel:unkept:*") == []
