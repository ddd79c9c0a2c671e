"""Named parts, strings of several columns, streams, times to live, declared sets and lookups in hashes, concurrent plain writers."""
import threading

from harness.keyspace import same


def connect(server, *statements):
    connection = server.connect()
    for statement in statements:
        connection.run(statement)
    return connection


def test_named_parts(fresh_server):
    redis = fresh_server.redis_connection()
    for version, name in enumerate(("ed", "eddy", "edwin"), 1):
        redis("SET", f"sys:user:userid:888:base:username:{version}:{217450 + version}", name)
    redis("SET", "user:username:edwin:userid", "888")
    redis("HSET", "user:888", "username", "edwin")
    with connect(
        fresh_server,
        "CREATE FOREIGN TABLE version (userid bigint, version int, at bigint, username text) SERVER redis "
        "OPTIONS (layout 'string', key 'sys:user:userid:{userid}:base:username:{version}:{at}')",
        "CREATE FOREIGN TABLE userid_of (username text, userid bigint) SERVER redis OPTIONS (layout 'string', key 'user:username:{username}:userid')",
        "CREATE FOREIGN TABLE account (id bigint, username text) SERVER redis OPTIONS (layout 'hash', key 'user:{id}')",
    ) as connection:
        same(connection.run("SELECT version, username FROM version WHERE userid = 888 ORDER BY version DESC LIMIT 1"), [["3", "edwin"]])
        same(connection.run("SELECT username FROM version WHERE userid = 888 AND version = 1 AND at = 217451"), [["ed"]])
        same(connection.run("SELECT a.id FROM userid_of u JOIN account a ON a.id = u.userid WHERE u.username = 'edwin'"), [["888"]])
        connection.run("INSERT INTO version VALUES (888, 4, 217460, 'edward')")
        assert redis("GET", "sys:user:userid:888:base:username:4:217460") == "edward"
        assert connection.run_error("INSERT INTO userid_of VALUES ('a:b', 1)")["C"] == "22023"
    redis.close()


def test_padded_ids(fresh_server):
    redis = fresh_server.redis_connection()
    redis("HSET", "item:001", "n", "one")
    redis("HSET", "item:2", "n", "not padded")
    with connect(fresh_server, "CREATE FOREIGN TABLE item (id int, n text) SERVER redis OPTIONS (layout 'hash', key 'item:{id:3}')") as connection:
        same(connection.run("SELECT * FROM item WHERE id = 1"), [["1", "one"]])
        same(connection.run("SELECT * FROM item"), [["1", "one"]])
        connection.run("INSERT INTO item VALUES (20, 'twenty')")
        assert redis("HGET", "item:020", "n") == "twenty"
    redis.close()


def test_strings_of_several_columns(fresh_server):
    redis = fresh_server.redis_connection()
    redis("SET", "point:1", "3,4")
    redis("SET", "doc:1", '{"a": 1, "b": "x", "other": [1]}')
    with connect(
        fresh_server,
        "CREATE FOREIGN TABLE point (id int, x int, y int) SERVER redis OPTIONS (layout 'string', key 'point:{id}', delimiter ',')",
        "CREATE FOREIGN TABLE doc (id int, a int, b text, ttl int) SERVER redis OPTIONS (layout 'string', key 'doc:{id}', format 'json')",
        "ALTER FOREIGN TABLE doc ALTER COLUMN ttl OPTIONS (ADD role 'ttl')",
    ) as connection:
        same(connection.run("SELECT * FROM point"), [["1", "3", "4"]])
        connection.run("UPDATE point SET y = 5")
        assert redis("GET", "point:1") == "3,5"
        same(connection.run("SELECT * FROM doc"), [["1", "1", "x", None]])
        connection.run("UPDATE doc SET a = 2, ttl = 1000 WHERE id = 1")
        assert redis("GET", "doc:1") == '{"a":2,"b":"x","other":[1]}' and 900 < redis("TTL", "doc:1") <= 1000
        same(connection.run("SELECT ttl > 900 FROM doc"), [["t"]])
    redis.close()


def test_absence(fresh_server):
    redis = fresh_server.redis_connection()
    redis("HSET", "a:1", "n", "", "t", "")
    redis("HSET", "a:2", "n", "5")
    with connect(fresh_server, "CREATE FOREIGN TABLE a (id int, n int OPTIONS (absent 'empty'), t text OPTIONS (absent 'empty'), u text[] OPTIONS (format 'list', absent 'empty')) "
                 "SERVER redis OPTIONS (layout 'hash', key 'a:{id}')") as connection:
        same(connection.run("SELECT * FROM a ORDER BY id"), [["1", None, "", "{}"], ["2", "5", "", "{}"]])
        connection.run("UPDATE a SET n = 7, u = '{x,y}' WHERE id = 1")
        assert redis.hash("a:1") == {"n": "7", "t": "", "u": "x,y"}
    redis.close()


def test_streams(fresh_server):
    redis = fresh_server.redis_connection()
    redis("XADD", "log:a", "5-1", "who", "ann", "n", "1")
    redis("XADD", "log:a", "6-0", "who", "bob")
    with connect(fresh_server, "CREATE FOREIGN TABLE log (name text, id text, who text, n int) SERVER redis OPTIONS (layout 'stream', key 'log:{name}')") as connection:
        same(connection.run("SELECT * FROM log WHERE name = 'a'"), [["a", "5-1", "ann", "1"], ["a", "6-0", "bob", None]])
        connection.run("INSERT INTO log (name, who, n) VALUES ('a', 'cid', 3)")
        assert redis("XLEN", "log:a") == 3
        connection.run("DELETE FROM log WHERE name = 'a' AND who = 'ann'")
        assert redis("XLEN", "log:a") == 2
    redis.close()


def test_relational_mapping(fresh_server):
    redis = fresh_server.redis_connection()
    redis("SET", "emp:id", "2")
    for number, name in ((1, "ann"), (2, "bob")):
        redis("HSET", f"emp:{number}", "ename", name, "mgr_id", "8", "email", f"{name}@x")
        redis("SADD", "emp:indices:mgr_id:8", number)
        redis("HSET", "emp:uniques:email", f"{name}@x", number)
    with connect(
        fresh_server,
        "CREATE FOREIGN TABLE emp (id bigint, ename text, mgr_id bigint, email text) SERVER redis OPTIONS (layout 'hash', key 'emp:{id}', counter 'emp:id')",
        "CREATE INDEX ON emp USING set (mgr_id) WITH (key = 'emp:indices:mgr_id:{mgr_id}')",
        "CREATE INDEX emp_email ON emp USING lookup (email) WITH (key = 'emp:uniques:email')",
        "SET redquel.allow_keyspace_scan = off",
    ) as connection:
        same(connection.run("SELECT id FROM emp WHERE mgr_id = 8 ORDER BY id"), [["1"], ["2"]])
        same(connection.run("SELECT id FROM emp WHERE email = 'bob@x'"), [["2"]])
        redis("SADD", "emp:indices:mgr_id:8", "99")  # a stale member
        same(connection.run("SELECT count(*) FROM emp WHERE mgr_id = 8"), [["2"]])
        same(connection.run("INSERT INTO emp (ename, mgr_id, email) VALUES ('cid', 9, 'cid@x') RETURNING id"), [["3"]])
        assert redis("SMEMBERS", "emp:indices:mgr_id:9") == ["3"] and redis("HGET", "emp:uniques:email", "cid@x") == "3"
        assert connection.run_error("INSERT INTO emp (ename, email) VALUES ('dan', 'cid@x')")["C"] == "23505"
        connection.run("UPDATE emp SET mgr_id = 8, email = 'c@x' WHERE id = 3")
        assert redis("EXISTS", "emp:indices:mgr_id:9") == 0 and redis("SISMEMBER", "emp:indices:mgr_id:8", "3") == 1
        assert redis("HGET", "emp:uniques:email", "cid@x") is None and redis("HGET", "emp:uniques:email", "c@x") == "3"
        connection.run("DELETE FROM emp WHERE id = 3")
        assert redis("SISMEMBER", "emp:indices:mgr_id:8", "3") == 0 and redis("HGET", "emp:uniques:email", "c@x") is None
    redis.close()


def test_autocommit_writers_lose_no_update(fresh_server):
    """An application increments the same counter with plain commands: no increment of either is lost."""
    redis = fresh_server.redis_connection()
    redis("SET", "hit:1:n", "0")
    connection = connect(fresh_server, "CREATE FOREIGN TABLE hit (id int, n int) SERVER redis OPTIONS (layout 'strings', key 'hit:{id}:{*}')")

    def application():
        other = fresh_server.redis_connection()
        for _ in range(300):
            other("INCR", "hit:1:n")
        other.close()

    thread = threading.Thread(target=application)
    thread.start()
    for _ in range(50):
        connection.run("UPDATE hit SET n = n + 1 WHERE id = 1")
    thread.join()
    same(connection.run("SELECT n FROM hit WHERE id = 1"), [["350"]])
    connection.close()
    redis.close()
