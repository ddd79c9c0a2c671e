"""What an engineer on call asks `redquel look`: the answers, and what they cost Redis."""
import time

from harness import pgwire
from harness.pgwire import ServerError
from harness.waiting import wait_for


def calls(raw, *names):
    """How often Redis has run these commands since CONFIG RESETSTAT."""
    counts = raw.info("commandstats")
    return [int(counts[f"cmdstat_{name}"].split("calls=")[1].split(",")[0]) if f"cmdstat_{name}" in counts else 0 for name in names]


def fill_streams(raw, now):
    for minutes in range(300):  # the newest entry is one minute old
        raw("XADD", "orders", f"{(now - 60 * (300 - minutes)) * 1000}-{minutes % 3}", "total", minutes, "status", "paid")
    for tenant in range(1, 6):
        for hour in range(10):
            raw("XADD", f"events:{tenant}", f"{(now - 3600 * (10 - hour) + 60) * 1000}-0", "kind", "login")
    raw("XGROUP", "CREATE", "orders", "billing", "0")
    raw("XGROUP", "CREATE", "orders", "mail", "$")
    raw("XREADGROUP", "GROUP", "billing", "worker", "COUNT", 7, "STREAMS", "orders", ">")


def test_a_condition_on_the_time_of_entries_bounds_xrange(make_redis, make_look):
    redis, now = make_redis(), int(time.time())
    with redis.connect() as raw:
        fill_streams(raw, now)
    with make_look(redis, "--max-redis-share", "100").connect() as connection, redis.connect() as raw:
        monitored = "SELECT count(*), sum(total) FROM orders WHERE entry_time > now() - interval '1 hour'"
        raw("CONFIG", "RESETSTAT")
        assert connection.run(monitored) == [["59", str(sum(range(241, 300)))]]
        plan = "\n".join(row[0] for row in connection.run("EXPLAIN " + monitored))
        assert "XRANGE orders <" in plan and "XRANGE orders - +" not in plan, plan
        assert connection.run("SELECT count(*) FROM orders") == [["300"]]
        first, last = (f"to_timestamp({now - 60 * minutes})" for minutes in (120, 100))
        assert connection.run(f"SELECT count(*), min(total), max(total) FROM orders WHERE entry_time BETWEEN {first} AND {last}") == [["21", "180", "200"]]
        assert connection.run(f"SELECT count(*) FROM orders WHERE entry_time >= {first} AND entry_time < {last}") == [["20"]]
        assert connection.run(f"SELECT count(*) FROM orders WHERE entry_time = {first}") == [["1"]]
        assert connection.run("SELECT count(*) FROM orders WHERE entry_time < 'infinity'") == [["300"]]
        assert connection.run("SELECT count(*) FROM orders WHERE entry_time < '-infinity' OR entry_time IS NULL") == [["0"]]
        assert connection.run("SELECT count(*) FROM orders WHERE entry_time < '1969-01-01'") == [["0"]]
        assert connection.run("SELECT count(*) FROM orders WHERE entry_time > NULL") == [["0"]]
        # of all streams
        assert connection.run("SELECT count(*) FROM events WHERE entry_time > now() - interval '2 hours'") == [["10"]]


def test_a_condition_on_the_id_of_entries_has_the_answer_of_texts(make_redis, make_look):
    redis, now = make_redis(), int(time.time())
    with redis.connect() as raw:
        for entry in ("5-1", "10-1", "999-0"):
            raw("XADD", "log", entry, "n", "1")
        for entry in (9, 10, 11):
            raw("XADD", "log", f"{now * 1000}-{entry}", "n", "1")
        for entry in range(1, 100):
            raw("XADD", "log", f"{now * 1000 + entry}-0", "n", "1")
        raw("XADD", "log", f"{10 ** 14}-0", "n", "1")
        ids = [entry[0] for entry in raw("XRANGE", "log", "-", "+")]
    with make_look(redis).connect() as connection:
        for bound in (f"{now * 1000}-10", f"{now * 1000 + 50}", f"{now * 1000 + 50}-0", "5-1", "7", "a", f"{now}"):
            for sign, holds in ((">", str.__gt__), ("<=", str.__le__), ("=", str.__eq__)):
                wanted = sum(1 for entry in ids if holds(entry, bound))
                assert connection.run(f"SELECT count(*) FROM log WHERE entry_id {sign} '{bound}'") == [[str(wanted)]], (sign, bound)


def test_groups_of_streams_show_their_lag(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_streams(raw, int(time.time()))
    with make_look(redis).connect() as connection:
        assert connection.run("SELECT key, name, consumers, pending, lag FROM redis.groups ORDER BY name") == [
            ["orders", "billing", "1", "7", "293"], ["orders", "mail", "0", "0", "0"]]
        assert connection.run("SELECT name FROM redis.groups WHERE key = 'orders' AND lag > 0") == [["billing"]]
        assert connection.run("SELECT count(*) FROM redis.groups WHERE key = 'events:1'") == [["0"]]


def test_the_memory_of_prefixes_has_an_error_that_holds(make_redis, make_look, make_server):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 1501):
            raw("SET", f"page:{number}", "x" * (number % 300))
            raw("SET", f"session:user:{number}", "y", "EX", 1000)
        raw("HSET", "config", "a", "b")
        true = {}
        for key in raw("KEYS", "*"):
            prefix = key if key == "config" else key.split(":")[0] + ":*"
            true[prefix] = true.get(prefix, 0) + raw("MEMORY", "USAGE", key)
    with make_look(redis).connect() as connection:
        rows = {row[0]: [int(value) for value in row[1:]] for row in connection.run("SELECT * FROM redis.memory_by_prefix(1)")}
        assert set(rows) == {"page:*", "session:*", "config"}, rows
        assert [rows[prefix][0] for prefix in ("page:*", "session:*", "config")] == [1500, 1500, 1]
        for prefix, (keys, used, error, without_ttl, sampled, keys_error) in rows.items():
            assert abs(used - true[prefix]) <= max(2 * error, 1), (prefix, used, error, true[prefix])
            assert sampled == min(keys, 200) and keys_error == 0 and without_ttl == (0 if prefix == "session:*" else keys)
        assert 0 < rows["page:*"][2] < rows["page:*"][1] / 5 and rows["config"][2] == 0
        assert {row[0] for row in connection.run("SELECT prefix FROM redis.memory_by_prefix(2)")} == {"page:*", "session:user:*", "config"}
    with make_server(redis=redis).connect() as connection:
        assert connection.run("SELECT count(*) FROM redis.memory_by_prefix(1) WHERE prefix = 'page:*'") == [["1"]]
        connection.run("CREATE ROLE stranger; SET ROLE stranger")
        try:
            connection.run("SELECT * FROM redis.memory_by_prefix(1)")
            raise AssertionError("keys are shown")
        except ServerError as error:
            assert error.sqlstate == "42501", error


def test_the_memory_of_prefixes_comes_from_some_of_many_keys(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 20_001):
            raw("SET", f"page:{number}", "x" * (number % 300))
        for number in range(1, 40_001):
            raw("SET", f"user:{number}", "y", "EX", 1000)
        true = {"page:*": 20_000, "user:*": 40_000}
        with make_look(redis).connect() as connection:
            raw("CONFIG", "RESETSTAT")
            rows = {row[0]: [int(value) for value in row[1:]] for row in connection.run("SELECT * FROM redis.memory_by_prefix(1, 10)")}
            assert set(rows) == set(true) and sum(row[0] for row in rows.values()) in range(59_999, 60_002), rows
            for prefix, (keys, _, _, without_ttl, sampled, error) in rows.items():
                assert abs(keys - true[prefix]) < 3 * error and 0 < error < 2_000 and sampled == 200, (prefix, keys, error)
                assert without_ttl == (0 if prefix == "user:*" else keys), rows
            whole = {row[0]: int(row[1]) for row in connection.run("SELECT prefix, bytes FROM redis.memory_by_prefix(1)")}
            assert all(abs(rows[prefix][1] - whole[prefix]) < 4 * rows[prefix][2] for prefix in true), (rows, whole)
            for wrong in ("0", "101", "'NaN'"):
                try:
                    connection.run(f"SELECT * FROM redis.memory_by_prefix(1, {wrong})")
                    raise AssertionError(f"{wrong} is a percentage")
                except ServerError as error:
                    assert error.sqlstate == "22023", error


QUEUES = ("mail", "image", "report")


def fill_queues(raw):
    for queue in QUEUES:
        raw("HSET", f"bull:{queue}:meta", "opts.maxLenEvents", "10000", "version", "bullmq:5.12.0")
        for number in range(1, 101):
            raw("HSET", f"bull:{queue}:{number}", "name", "job", "data", f'{{"customer":{number % 7}}}', "opts", "{}", "timestamp", "1764000000000", "failedReason", "timeout")
            if number % 4 == 0:
                raw("ZADD", f"bull:{queue}:failed", number, number)
            elif number % 4 == 1:
                raw("LPUSH", f"bull:{queue}:wait", number)
            else:
                raw("ZADD", f"bull:{queue}:completed", number, number)
    for number in range(5000):
        raw("SET", f"page:{number}", "x")


def test_tables_of_one_statement_share_the_scan_of_the_keyspace(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_queues(raw)
    with make_look(redis, "--max-redis-share", "100").connect() as connection, redis.connect() as raw:
        keys = raw("DBSIZE")
        raw("CONFIG", "RESETSTAT")
        rows = connection.run("SELECT queue, state, count(*) FROM bullmq_jobs GROUP BY 1, 2 ORDER BY 1, 2")
        assert rows == [[queue, state, count] for queue in sorted(QUEUES) for state, count in (("completed", "50"), ("failed", "25"), ("waiting", "25"))], rows
        [scans] = calls(raw, "scan")
        assert scans <= keys / 1000 + 3, scans  # of eight tables
        failed = connection.run("SELECT data->>'customer', count(*) FROM bullmq_jobs WHERE state = 'failed' GROUP BY 1 ORDER BY 1")
        assert sum(int(row[1]) for row in failed) == 75 and len(failed) == 7, failed
        # A table that is scanned twice is found twice.
        twice = connection.run("SELECT count(*) FROM bullmq_failed a JOIN bullmq_failed b ON a.queue = b.queue JOIN bullmq_waiting w ON w.queue = a.queue")
        assert twice == [[str(3 * 25 * 25 * 25)]], twice


def answer(connection):
    """Reads the rows of a statement that was sent; its texts in order."""
    return sorted(column.decode() for kind, payload in connection.read_until(b"Z") if kind == b"D" for column in [payload[6:]])


def test_statements_that_scan_at_the_same_time_share_the_scan(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        raw.pipeline([("SET", f"page:{number}", "x") for number in range(20_000)] + [("HSET", f"job:{number}", "state", "new") for number in range(20_000)])
    jobs, pages, strings = ("SELECT count(*) FROM job WHERE state = 'new'", "SELECT count(*) FROM page WHERE value = 'x'",
                            "SELECT count(*) FROM redis.keys WHERE type = 'string' AND ttl IS NULL")
    server = make_look(redis, "--max-redis-share", "100", "--max-keys-per-second", "20000")  # steps of 1,000 keys, 20 in a second
    with server.connect() as first, server.connect() as second, server.connect() as third, redis.connect() as raw:
        raw("CONFIG", "RESETSTAT")
        assert first.run(jobs) == [["20000"]]
        [alone] = calls(raw, "scan")
        assert alone >= 40
        raw("CONFIG", "RESETSTAT")
        first.send(pgwire.query(jobs))
        wait_for(lambda: calls(raw, "scan")[0] > alone / 4)
        second.send(pgwire.query(pages))
        third.send(pgwire.query(strings))
        assert [answer(connection) for connection in (first, second, third)] == [["20000"]] * 3
        [scans] = calls(raw, "scan")
        assert scans < 1.8 * alone, (scans, alone)  # each of its own: three times
        # The end of the statement whose step is on its way ends no other one.
        first.send(pgwire.query(jobs))
        wait_for(lambda: calls(raw, "scan")[0] > scans + alone / 4)
        second.send(pgwire.query(pages))
        time.sleep(0.2)
        first.cancel()
        assert answer(second) == ["20000"]
        assert any(kind == b"E" for kind, _ in first.read_until(b"Z"))


def test_a_long_scan_says_so_before_it_begins(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        raw.pipeline([("SET", f"page:{number}", "x") for number in range(6000)])
    with make_look(redis, "--max-keys-per-second", "3000").connect() as connection:
        [result] = connection.query("SELECT count(*) FROM page")
        assert result.texts() == [["6000"]], result
        assert any(notice["M"].startswith('the keyspace is scanned for foreign table "page": 6,000 keys, about 2 s') for notice in result.notices), result.notices
        [result] = connection.query("SELECT count(*) FROM redis.keys WHERE ttl IS NULL")
        assert any("the keyspace is scanned: 6,000 keys" in notice["M"] for notice in result.notices), result.notices
        [result] = connection.query("SELECT count(*) FROM redis.keys")
        assert result.notices == [], "DBSIZE answers it"
