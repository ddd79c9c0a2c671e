"""Of mapped tables: what absence means, versions that are kept, ids of stream entries as time and sequence, large sets."""
from harness.keyspace import MappedKeys, plan, same


def nothing(_):
    pass


def test_absent_fields_that_mean_a_default(fresh_server):
    with MappedKeys(fresh_server, nothing, """
CREATE FOREIGN TABLE u (id int, name text, role text OPTIONS (absent 'default') DEFAULT 'guest', n int OPTIONS (absent 'default', field 'count') DEFAULT 1 + 1,
  on_ boolean OPTIONS (absent 'default', format 'bool01') DEFAULT true) SERVER redis OPTIONS (layout 'hash', key 'u:{id}')
""") as (connection, redis):
        redis("HSET", "u:1", "name", "ann")
        redis("HSET", "u:2", "role", "admin", "count", "5", "on_", "0")
        same(connection.run("SELECT * FROM u ORDER BY id"), [["1", "ann", "guest", "2", "t"], ["2", None, "admin", "5", "f"]])
        same(connection.run("SELECT id FROM u WHERE role = 'guest' AND n = 2"), [["1"]])
        connection.run("UPDATE u SET n = n + 1, name = 'x' WHERE id = 1")
        assert redis.hash("u:1") == {"name": "x", "count": "3"}, redis.hash("u:1")
        connection.run("INSERT INTO u (id, name) VALUES (3, 'cid')")
        assert redis.hash("u:3") == {"name": "cid", "role": "guest", "count": "2", "on_": "1"}
        assert connection.run_error("UPDATE u SET role = NULL WHERE id = 2")["C"] == "22023"
        connection.run("ALTER FOREIGN TABLE u ALTER COLUMN role SET DEFAULT 'other'")
        redis("HSET", "u:4", "name", "dan")
        same(connection.run("SELECT role FROM u WHERE id = 4"), [["other"]])
        make = "CREATE FOREIGN TABLE v (id int, a {}) SERVER redis OPTIONS (layout 'hash', key 'v:{{id}}')"
        for column in ("text OPTIONS (absent 'default')", "float OPTIONS (absent 'default') DEFAULT random()"):
            assert connection.run_error(make.format(column))["C"] == "42P16", column


def test_versions_that_are_kept(fresh_server):
    with MappedKeys(fresh_server, nothing, """
CREATE FOREIGN TABLE eight (userid bigint, version int OPTIONS (versions '3'), at bigint, username text)
  SERVER redis OPTIONS (layout 'string', key 'sys:user:userid:{userid}:base:username:{version}:{at}');
CREATE FOREIGN TABLE seven (userid bigint, version int OPTIONS (versions '2'), username text)
  SERVER redis OPTIONS (layout 'string', key 'user:userid:{userid}:base:username:{version}')
""") as (connection, redis):
        for version in range(1, 6):
            connection.run(f"INSERT INTO eight VALUES (888, {version}, {1000 + version}, 'v{version}')")
            connection.run(f"INSERT INTO seven VALUES (888, {version}, 's{version}')")
        connection.run("INSERT INTO eight VALUES (889, 1, 7, 'other')")
        assert redis.keys("sys:user:userid:888:*") == [f"sys:user:userid:888:base:username:{v}:{1000 + v}" for v in (3, 4, 5)]
        assert redis.keys("user:userid:*") == [f"user:userid:888:base:username:{v}" for v in (4, 5)]
        same(connection.run("SELECT username FROM eight WHERE userid = 888 ORDER BY version DESC LIMIT 1"), [["v5"]])
        connection.run("BEGIN")
        connection.run("INSERT INTO eight SELECT 888, v, 1000 + v, 'v' || v FROM generate_series(6, 7) v")
        connection.run("INSERT INTO eight VALUES (888, 8, 1008, 'v8')")
        same(connection.run("SELECT version FROM eight WHERE userid = 888 ORDER BY 1"), [["6"], ["7"], ["8"]])
        connection.run("COMMIT")
        assert redis.keys("sys:user:userid:888:*") == [f"sys:user:userid:888:base:username:{v}:{1000 + v}" for v in (6, 7, 8)]
        assert redis("EXISTS", "sys:user:userid:889:base:username:1:7") == 1
        connection.run("SET redquel.allow_keyspace_scan = off")
        assert connection.run_error("INSERT INTO eight VALUES (888, 9, 1009, 'v9')")["C"] == "55000"
        assert connection.run_error("CREATE FOREIGN TABLE x (id int OPTIONS (versions '0'), a text) SERVER redis "
                                    "OPTIONS (layout 'string', key 'x:{id}')")["C"] == "HV024"


def test_ids_of_entries_as_time_and_sequence(fresh_server):
    with MappedKeys(fresh_server, nothing, """
CREATE FOREIGN TABLE log (name text, id text, at timestamptz OPTIONS (role 'time'), number bigint OPTIONS (role 'sequence'), who text)
  SERVER redis OPTIONS (layout 'stream', key 'log:{name}')
""") as (connection, redis):
        redis("XADD", "log:a", "1300000000123-0", "who", "ann")
        redis("XADD", "log:a", "1300000000123-7", "who", "bob")
        same(connection.run("SELECT name, at, number, who FROM log WHERE name = 'a'"), [["a", "2011-03-13 07:06:40.123+00", "0", "ann"], ["a", "2011-03-13 07:06:40.123+00", "7", "bob"]])
        connection.run("INSERT INTO log (name, at, number, who) VALUES ('a', '2020-01-01 00:00:00+00', 5, 'cid'), ('a', '2020-01-01 00:00:00+00', NULL, 'dan')")
        assert [entry[0] for entry in redis("XRANGE", "log:a", "-", "+")][2:] == ["1577836800000-5", "1577836800000-6"]
        connection.run("INSERT INTO log (name, who) VALUES ('a', 'eve')")
        connection.run("DELETE FROM log WHERE name = 'a' AND number = 7")
        assert redis("XLEN", "log:a") == 4
        same(connection.run("SELECT who FROM log WHERE name = 'a' AND at < '2015-01-01'"), [["ann"]])


def test_large_sets_are_read_in_steps(fresh_server):
    def load(redis):
        for tag, first in (("a", 0), ("b", 20_000), ("c", 59_990)):
            for start in range(first, first + 40_000, 10_000):
                redis("SADD", f"tag:{tag}", *(f"m{number}" for number in range(start, start + 10_000)))
        redis("SADD", "tag:few", "m1", "m30000", "none")

    definitions = "CREATE FOREIGN TABLE tag (tag text, member text) SERVER redis OPTIONS (layout 'set', key 'tag:{tag}')"
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        def members(word, *tags):
            return connection.run("SELECT count(*) FROM (" + f" {word} ".join(f"SELECT member FROM tag WHERE tag = '{tag}'" for tag in tags) + ") x")

        redis("CONFIG", "RESETSTAT")
        same(members("INTERSECT", "a", "b"), [["20000"]])
        same(members("EXCEPT", "a", "b"), [["20000"]])
        same(members("UNION", "a", "b", "c"), [["99990"]])
        same(members("INTERSECT", "a", "c"), [["0"]])
        same(members("EXCEPT", "b", "a", "c"), [["19990"]])
        counts = redis.command_counts()
        assert not {"SMEMBERS", "SINTER", "SUNION", "SDIFF"} & counts.keys(), counts
        redis("CONFIG", "RESETSTAT")
        same(members("INTERSECT", "few", "a"), [["2"]])
        counts = redis.command_counts()
        assert counts["SINTER"] == 1 and "SSCAN" not in counts, counts
        assert "SINTER tag:few tag:a" in plan(connection, "SELECT member FROM tag WHERE tag = 'few' INTERSECT SELECT member FROM tag WHERE tag = 'a'")
