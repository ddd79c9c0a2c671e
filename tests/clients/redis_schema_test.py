"""The schema redis: what Redis says of itself as tables, and redis.call()."""
import json

from harness.pgwire import ServerError
from harness.processes import temporary_folder
from harness.programs import psql


def rows(server, sql):
    with server.connect() as connection:
        return [tuple(row) for row in connection.run(sql)]


def refused(server, sql):
    with server.connect() as connection:
        try:
            connection.run(sql)
        except ServerError as error:
            return error
    raise AssertionError(f"not refused: {sql}")


def explain(server, sql):
    return "\n".join(row[0] for row in rows(server, "EXPLAIN " + sql))


def fill(redis):
    with redis.connect() as raw:
        raw("HSET", "thing:1", "name", "a")
        raw("HSET", "thing:2", "name", "b")
        raw("SET", "thing:count", "2")
        raw("SADD", "thing:tags", "x", "y")
        raw("SET", "odd_key", "1")
        raw("SET", "oddXkey", "1", "EX", "10000")
        raw("DEL", "thing:log")
        raw("XADD", "thing:log", "5-1", "kind", "in")
        raw("XADD", "thing:log", "6-1", "kind", "out")


def test_keys(server, redis):
    fill(redis)
    assert rows(server, "SELECT key, type FROM redis.keys WHERE key LIKE 'thing:%' ORDER BY key") == [
        ("thing:1", "hash"), ("thing:2", "hash"), ("thing:count", "string"), ("thing:log", "stream"), ("thing:tags", "set")]
    assert rows(server, "SELECT key FROM redis.keys WHERE key LIKE 'odd\\_key'") == [("odd_key",)]
    assert rows(server, "SELECT key FROM redis.keys WHERE key LIKE 'odd_key' ORDER BY 1") == [("oddXkey",), ("odd_key",)]
    assert rows(server, "SELECT key, type, encoding, memory > 0 FROM redis.keys WHERE key = 'thing:1'") == [("thing:1", "hash", "listpack", "t")]
    assert rows(server, "SELECT key, ttl BETWEEN 9000 AND 10000 FROM redis.keys WHERE key IN ('oddXkey', 'odd_key', 'nothing') ORDER BY 1") == [
        ("oddXkey", "t"), ("odd_key", None)]
    assert rows(server, "SELECT key FROM redis.keys WHERE type = 'set' AND key LIKE 'thing%'") == [("thing:tags",)]
    assert rows(server, "SELECT key FROM redis.keys WHERE type = 'set' AND key = 'thing:1'") == []
    assert rows(server, "SELECT key FROM redis.keys WHERE key = NULL") == []
    assert rows(server, "SELECT type, count(*) FROM redis.keys WHERE key LIKE 'thing:%' GROUP BY type HAVING count(*) > 1") == [("hash", "2")]
    assert int(rows(server, "SELECT count(*) FROM redis.keys")[0][0]) >= 7
    assert rows(server, "SELECT k.key FROM (VALUES ('thing:1'), ('none')) v (name) JOIN redis.keys k ON k.key = v.name") == [("thing:1",)]
    with redis.connect() as raw:
        raw.socket.sendall(b"*3\r\n$3\r\nSET\r\n$6\r\nbin:\xff\xfe\r\n$1\r\n1\r\n")
        raw._reply()
    assert rows(server, "SELECT key FROM redis.keys WHERE key LIKE 'bin:%'") == [("bin:\\xff\\xfe",)]


def test_many_keys_come_once_each(server, redis):
    with redis.connect() as raw:
        raw.pipeline([("SET", f"many:{i}", "x") for i in range(5000)])
    assert rows(server, "SELECT count(*), count(DISTINCT key) FROM redis.keys WHERE key LIKE 'many:%'") == [("5000", "5000")]
    assert rows(server, "SELECT count(*) FROM redis.keys WHERE key LIKE 'many:%' AND type = 'string'") == [("5000",)]


def test_plans_show_commands(server):
    plan = explain(server, "SELECT key FROM redis.keys WHERE key LIKE 'thing:%' AND type = 'hash'")
    assert "Redis: SCAN <cursor> MATCH thing:* COUNT 1000 TYPE hash" in plan and "TYPE thing" not in plan and "TTL" not in plan, plan
    plan = explain(server, "SELECT ttl FROM redis.keys WHERE key = 'thing:1'")
    assert "Redis: TYPE thing:1" in plan and "Redis: TTL thing:1" in plan and "SCAN" not in plan and "MEMORY" not in plan, plan
    assert "Redis: DBSIZE" in explain(server, "SELECT count(*) FROM redis.keys")
    assert "Redis: CONFIG GET maxmemory" in explain(server, "SELECT value FROM redis.config WHERE name = 'maxmemory'")
    plan = explain(server, "ANALYZE SELECT key FROM redis.keys WHERE key = 'thing:1'")
    assert "Sent: 1 command in 1 round trip" in plan, plan


def test_reports(server, redis):
    fill(redis)
    assert rows(server, "SELECT value FROM redis.info WHERE section = 'server' AND name = 'redis_mode'") == [("standalone",)]
    assert int(rows(server, "SELECT count(DISTINCT section) FROM redis.info")[0][0]) > 5
    assert int(rows(server, "SELECT count(*) FROM redis.clients WHERE name = 'redquel' AND db = 0 AND age >= 0")[0][0]) > 0
    assert rows(server, "SELECT value FROM redis.config WHERE name = 'databases'") == [("16",)]
    assert int(rows(server, "SELECT count(*) FROM redis.config")[0][0]) > 100
    assert int(rows(server, "SELECT calls FROM redis.commandstats WHERE command = 'hset'")[0][0]) > 0
    assert int(rows(server, "SELECT value::bigint FROM redis.memory_stats WHERE name = 'peak.allocated'")[0][0]) > 0
    assert rows(server, "SELECT * FROM redis.latency") == []
    assert rows(server, "SELECT * FROM redis.cluster_nodes") == []
    assert rows(server, "SELECT key, length, groups, first_entry_id, last_entry_id FROM redis.streams") == [("thing:log", "2", "0", "5-1", "6-1")]
    assert rows(server, "SELECT length FROM redis.streams WHERE key = 'thing:1'") == []
    with redis.connect() as raw:
        raw("CONFIG", "SET", "slowlog-log-slower-than", "0")
        raw("SET", "slow", 'a"b\\c')
        raw("CONFIG", "SET", "slowlog-log-slower-than", "100000")
    assert rows(server, "SELECT command, arguments[2], at > '2020-01-01' FROM redis.slowlog WHERE arguments[1] = 'slow'") == [
        ("SET", 'a"b\\c', "t")]


def test_psql_describes_them(server):
    assert "redis  | commandstats" in psql(server, "\\dt redis.*\n")
    described = psql(server, "\\d redis.keys\n")
    assert "encoding | text" in described and "not null" in described, described
    assert refused(server, "INSERT INTO redis.keys (key, type) VALUES ('a', 'b')").fields["C"] == "42501"
    assert refused(server, "CREATE TABLE redis.mine (a int)").fields["C"] == "42501"
    assert refused(server, "CREATE SCHEMA redis").fields["C"] == "42P06"


def call(server, arguments):
    value = rows(server, f"SELECT redis.call({arguments})")[0][0]
    return None if value is None else json.loads(value)


def test_call(server, redis):
    fill(redis)
    assert call(server, "'set', 'called', 'x'") == "OK"
    assert call(server, "'GET', 'called'") == "x"
    assert call(server, "'GET', 'nothing'") is None
    assert call(server, "'LRANGE', 'nothing', '0', '-1'") == []
    assert call(server, "'HGETALL', 'thing:1'") == ["name", "a"]
    assert call(server, "'HMGET', 'thing:1', 'name', 'none'") == ["a", None]
    assert call(server, "'STRLEN', 'called'") == 1
    assert call(server, "'XRANGE', 'thing:log', '-', '+'") == [["5-1", ["kind", "in"]], ["6-1", ["kind", "out"]]]
    assert call(server, "'SETRANGE', 'quoted', '0', 'a\"b'") == 3 and call(server, "'GET', 'quoted'") == 'a"b'
    assert call(server, "'MGET', VARIADIC ARRAY['called', 'nothing']") == ["x", None]
    assert rows(server, "SELECT redis.call('GET', NULL)") == [(None,)]
    assert rows(server, "SELECT k, redis.call('STRLEN', k) FROM unnest(ARRAY['called', 'nothing']) k") == [("called", "1"), ("nothing", "0")]
    assert rows(server, "SELECT redis.call('INCR', 'n'), redis.call('INCR', 'n')") == [("1", "2")]
    assert rows(server, "SELECT pg_typeof(redis.call('GET', 'called'))") == [("jsonb",)]
    error = refused(server, "SELECT redis.call('LPUSH', 'called', '1')")
    assert error.fields["C"] == "XX001" and "WRONGTYPE" in error.fields["M"], error.fields
    assert refused(server, "SELECT redis.call('NOSUCH')").fields["C"] == "XX000"


def not_run(server, words):
    error = refused(server, f"SELECT redis.call({words})")
    return error.fields["C"] == "42501" and "redis.call() does not run" in error.fields["M"]


def test_call_refuses_harmful_commands(server):
    for command in ("'MULTI'", "'subscribe', 'x'", "'SHUTDOWN'", "'BLPOP', 'a', '0'", "'XREAD', 'BLOCK', '0', 'STREAMS', 'a', '$'", "'KEYS', '*'",
                    "'SELECT', '1'", "'CLIENT', 'KILL', 'x'", "'CLIENT', 'PAUSE', '1000'", "'WAIT', '1', '0'", "'FLUSHALL'", "'MONITOR'",
                    "'BZPOPMIN', 'a', '0'", "'DEBUG', 'SLEEP', '1'", "'WATCH', 'a'", "'PUBLISH', 'redquel:1', 'x'"):
        assert not_run(server, command), command
    with server.connect() as connection:
        connection.run("BEGIN READ ONLY")
        assert connection.run("SELECT redis.call('STRLEN', 'a')") == [["0"]]
        for command in ("'SET', 'a', '1'", "'XGROUP', 'CREATE', 'a', 'g', '$'"):
            connection.run("SAVEPOINT s")
            try:
                connection.run(f"SELECT redis.call({command})")
                raise AssertionError(command)
            except ServerError as error:
                assert error.fields["C"] == "25006", error.fields
            connection.run("ROLLBACK TO s")


def test_call_refuses_scripts_and_administration(server, redis):
    with redis.connect() as raw:
        raw("SET", "kept", "1")
        users = raw("ACL", "LIST")
    for command in ("'EVAL', 'redis.call(\"FLUSHALL\")', '0'", "'EVAL', 'return redis.call(\"DEL\", KEYS[1])', '1', 'kept'",
                    "'EVAL_RO', 'return 1', '1', 'kept'", "'EVALSHA', 'x', '1', 'kept'", "'FCALL', 'f', '1', 'kept'", "'FUNCTION', 'FLUSH'",
                    "'SCRIPT', 'FLUSH'", "'CONFIG', 'SET', 'protected-mode', 'no'", "'CONFIG', 'GET', '*'",
                    "'ACL', 'SETUSER', 'evil', 'on', 'nopass', '~*', '+@all'", "'MIGRATE', '127.0.0.1', '1', 'kept', '0', '10'", "'BGSAVE'",
                    "'RESTORE', 'other', '0', 'x'", "'SORT', 'kept', 'BY', 'nosort', 'GET', 'redquel:*'", "'SORT_RO', 'kept'", "'SCAN', '0'",
                    "'RANDOMKEY'", "'DBSIZE'", "'PING'", "'INFO'"):
        assert not_run(server, command), command
    with redis.connect() as raw:
        assert raw("GET", "kept") == "1" and raw("ACL", "LIST") == users


def test_call_of_a_container_needs_its_subcommand(server):
    for command in ("'CLIENT'", "'CONFIG'", "'XGROUP'", "'OBJECT'"):
        assert refused(server, f"SELECT redis.call({command}, 'nothing')").fields["C"] in ("XX000", "42501"), command
    assert not_run(server, "'CLIENT', 'KILL', 'x'") and not_run(server, "'CONFIG', 'SET', 'save', ''")
    assert rows(server, "SELECT redis.call('OBJECT', 'ENCODING', 'nothing')") == [(None,)]


def test_call_reaches_no_other_database(server, redis):
    with redis.connect() as raw:
        raw("SET", "moved", "1")
    assert not_run(server, "'MOVE', 'moved', '1'")
    assert not_run(server, "'COPY', 'moved', 'there', 'DB', '1'") and not_run(server, "'copy', 'moved', 'there', 'replace', 'db', '1'")
    assert call(server, "'COPY', 'moved', 'db'") == 1


def test_call_leaves_keys_of_redquel_alone(server, redis):
    with server.connect() as connection:
        connection.run("DROP TABLE IF EXISTS owned; CREATE TABLE owned (id serial PRIMARY KEY, a int); CREATE INDEX ON owned (a); "
                       "CREATE SEQUENCE counter; INSERT INTO owned (a) VALUES (1); SELECT nextval('counter')")
    with redis.connect() as raw:
        own = [key for key in raw("KEYS", "*") if key.startswith(("owned:", "counter", "redquel:"))]
    assert {"owned:1", "owned:zset", "owned:id", "redquel:catalog"} <= set(own), own
    for key in [*own, "owned:99", "redquel:new"]:
        assert not_run(server, f"'EXISTS', '{key}'"), key
        assert not_run(server, f"'DEL', 'free', '{key}'"), key
        assert not_run(server, f"'RENAME', 'free', '{key}'"), key
    assert call(server, "'SET', 'ownedx', '1'") == "OK"
    with server.connect() as connection:  # what was defined a moment ago, by another session
        assert connection.run("SELECT redis.call('EXISTS', 'later:1')") == [["0"]]
        with server.connect() as other:
            other.run("CREATE TABLE later (id int PRIMARY KEY)")
    assert not_run(server, "'SET', 'later:1', 'x'")


def test_unrestricted_calls_are_for_the_configuration(make_redis, make_server):
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write("[redis]\nunrestricted_call = true\n")
    server = make_server("--config", f"{folder}/redquel.toml", redis=make_redis())
    assert call(server, "'EVAL', 'return {1, {2, \"a\\\"b\"}}', '0'") == [1, [2, 'a"b']]
    assert call(server, "'CONFIG', 'GET', 'port'") == ["port", "0"]
    assert call(server, "'EXISTS', 'redquel:catalog'") in (0, 1)
    for command in ("'MULTI'", "'SELECT', '1'", "'BLPOP', 'a', '0'", "'SUBSCRIBE', 'x'", "'MONITOR'", "'CLIENT', 'REPLY', 'OFF'"):
        assert not_run(server, command), command
    with server.connect() as connection:
        connection.run("BEGIN READ ONLY")
        try:
            connection.run("SELECT redis.call('EVAL', 'return 1', '0')")
            raise AssertionError("a script ran in a read-only transaction")
        except ServerError as error:
            assert error.sqlstate == "25006", error.fields


def test_secrets_of_the_configuration_are_hidden(make_redis, make_server):
    redis = make_redis("--masterauth", "not-to-be-seen")
    server = make_server(redis=redis)
    assert rows(server, "SELECT value FROM redis.config WHERE name = 'masterauth'") == [(None,)]
    assert rows(server, "SELECT value FROM redis.config WHERE name = 'requirepass'") == [("",)]
    assert rows(server, "SELECT count(*) FROM redis.config WHERE value LIKE '%not-to-be-seen%'") == [("0",)]
    assert rows(server, "SELECT value FROM redis.config WHERE name = 'port'") == [("0",)]


def test_pg_monitor_reads_tables_without_keys_and_values(server):
    psql(server, "CREATE ROLE rs_watcher; GRANT pg_monitor TO rs_watcher; CREATE ROLE rs_other;")
    try:
        for query in ("redis.info", "redis.clients", "redis.commandstats", "(SELECT id, at, microseconds, command, client_addr FROM redis.slowlog) s"):
            psql(server, f"SET ROLE rs_watcher; SELECT count(*) FROM {query};")
        for query in ("key FROM redis.keys", "arguments FROM redis.slowlog", "* FROM redis.slowlog", "value FROM redis.config",
                      "key FROM redis.streams"):
            assert refused(server, f"SET ROLE rs_watcher; SELECT {query}").sqlstate == "42501"
        for table in ("info", "keys", "clients", "slowlog"):
            error = refused(server, f"SET ROLE rs_other; SELECT count(*) FROM redis.{table}")
            assert (error.sqlstate, error.fields["M"]) == ("42501", "permission denied for schema redis")
    finally:
        psql(server, "DROP ROLE rs_watcher, rs_other;")
