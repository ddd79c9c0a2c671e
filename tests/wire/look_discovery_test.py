"""Discovery of `redquel look`: its progress in SQL, and a table or a line in redquel.left_out for every key."""
import time

from harness import pgwire
from harness.pgwire import ServerError
from harness.waiting import wait_for
from wire.look_keys_test import fill_good, fill_many, tables

FIGURES = "SELECT state, keys_seen, keys_total, tables, left_out, error FROM redquel.discovery"


def test_the_progress_of_discovery_is_a_view(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_many(raw)
    server = make_look(redis, "--max-keys-per-second", "20000", waits=False)  # three seconds of discovery
    seen = []
    with server.connect() as connection:
        def is_done():
            [row] = connection.run("SELECT state, keys_seen, keys_total, seconds_left, ended_at IS NULL FROM redquel.discovery")
            seen.append(row)
            return row[0] == "done"
        wait_for(is_done, 60)
        assert {row[0] for row in seen} >= {"listing keys", "done"}, seen
        listed = [row for row in seen if row[0] == "listing keys"]
        assert all(row[2] == "60030" and row[4] == "t" for row in listed), listed
        assert any(row[3] is not None and 0 < float(row[3]) < 60 for row in listed), listed
        assert connection.run(FIGURES) == [["done", "60030", "60030", "3", "0", None]]
        assert connection.run("SELECT ended_at > started_at AND ended_at <= clock_timestamp(), seconds_left FROM redquel.discovery") == [["t", None]]


def test_a_server_without_discovery_has_no_progress(server):
    with server.connect() as connection:
        assert connection.run("SELECT * FROM redquel.discovery") == []
        assert connection.run("SELECT * FROM redquel.left_out") == []
        connection.run("CREATE ROLE stranger; SET ROLE stranger")
        assert connection.run("SELECT count(*) FROM redquel.discovery") == [["0"]]
        try:
            connection.run("SELECT * FROM redquel.left_out")
            raise AssertionError("keys are shown")
        except ServerError as error:
            assert error.sqlstate == "42501", error


def test_the_first_notice_of_progress_comes_after_a_second_whatever_the_step(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        raw.pipeline([("SET", f"page:{number}", "text") for number in range(3000)])
    with make_look(redis).connect() as connection:
        connection.run("SET redquel.progress = on; SET redquel.max_keys_per_second = 1")  # the second step begins after seconds
        begun = time.monotonic()
        connection.send(pgwire.query("SELECT count(*) FROM page"))
        times = []
        while len(times) < 3:
            kind, payload = connection.read()
            assert kind == b"N", (kind, payload)
            if b"keys scanned" in payload:
                times.append(time.monotonic() - begun)
        assert 0.9 < times[0] and times[2] > 2.9, times
        connection.cancel()
        connection.read_until(b"Z")


# Keys of one kind each beside many others.
SINGLE = [
    ("XADD", "orders", "1-1", "customer", "7"),
    ("HSET", "config", "theme", "dark", "lang", "de"),
    ("ZADD", "leaderboard:daily:2026-11-29", "10", "ann", "20", "bob"),
    ("RPUSH", "celery", "not a message"),
    ("SADD", "online", "7"),
    ("SET", "visits", "77"),
    ("SET", "motd", "hello"),
]


def check_single(connection):
    assert connection.run("SELECT customer FROM orders") == [["7"]]
    assert connection.run("SELECT value FROM config WHERE field = 'lang'") == [["de"]]
    assert connection.run("SELECT day, member, score FROM leaderboard_daily ORDER BY score DESC LIMIT 1") == [["2026-11-29", "bob", "20"]]
    assert connection.run("SELECT value FROM celery") == [["not a message"]]
    assert connection.run("SELECT member FROM online") == [["7"]]


def test_single_keys_are_tables_named_by_the_key(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        raw.pipeline(SINGLE)
    with make_look(redis).connect() as connection:
        check_single(connection)
        assert connection.run("SELECT value FROM visits") == [["77"]]
        assert connection.run("SELECT value FROM motd") == [["hello"]]
        assert connection.run("SELECT * FROM redquel.left_out") == []


def word(number):
    """A text of letters that no other number has."""
    letters = "w"
    while True:
        letters += chr(ord("a") + number % 26)
        number //= 26
        if number == 0:
            return letters


def test_very_many_forms_hide_no_structure(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        # 24,000 forms: their words have nothing in common.
        raw.pipeline([("SET", f"{word(number)}x{word(number * 7 + 1)}", "x") for number in range(12_000)])
        raw.pipeline([("SET", f"{word(number)}:{word(number * 11)}:{word(number * 13)}", "x") for number in range(12_000)])
        raw.pipeline(SINGLE)
        keys = raw("DBSIZE")
    with make_look(redis).connect() as connection:
        check_single(connection)
        assert connection.run("SELECT name FROM users WHERE id = 7") == [["name 7"]]
        rows = connection.run("SELECT pattern, type, keys, example, reason FROM redquel.left_out")
        assert rows and all(row[0] and int(row[2]) > 0 and row[3] and row[4] for row in rows), rows[:5]
        in_tables = int(connection.run("SELECT count(*) FROM pg_class WHERE relkind = 'f'")[0][0])
        counted = sum(int(row[2]) for row in rows)
        assert counted + in_tables + 39 >= keys - 500, (counted, in_tables, keys)  # 40 keys are one table
        assert connection.run("SELECT left_out FROM redquel.discovery") == [[str(len(rows))]]


def test_values_in_keys_make_one_form(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 400):
            raw("HSET", f"profile:user{number}@example.com", "age", number)
            raw("SET", f"limit:10.0.{number % 250}.{number // 250}:login", number)
            raw("SET", f"report:2026-11-{number % 28 + 1:02}T{number % 24:02}", "x")
            raw("SET", f"token:V1StGXR8_Z5jdHi6B-{word(number)}Q", number)
            raw("SET", f"task:job-{number + 1000}", "x")
            raw("RPUSH", f"trail:01ARZ3NDEKTSV4RRFFQ69G{number:04}", "a")
            raw("SET", f"commit:{number:08x}", "x")
            raw("SET", f"cache:{word(number % 300)}:{word(number * 31)}", "x")
    with make_look(redis).connect() as connection:
        found = tables(connection)
        assert found == ["cache", "commit", "job", "limit", "profile", "report", "token", "trail"], found
        assert connection.run("SELECT age FROM profile WHERE email = 'user7@example.com'") == [["7"]]
        assert connection.run("SELECT value FROM job WHERE id = 1007") == [["x"]]
        assert connection.run("SELECT count(*) FROM redquel.left_out") == [["0"]]


def test_a_table_whose_name_is_a_word_of_sql_has_a_view_without_quotes(build, make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        raw.pipeline([("HSET", f"order:{number}", "total", number) for number in range(1, 40)])
        raw.pipeline([("HSET", f"group:{number}", "title", f"group {number}") for number in range(1, 40)])
        raw("SADD", "groups", "x")  # the name is taken
    server = make_look(redis)
    with server.connect() as connection:
        assert tables(connection) == ["group", "groups", "order", "user"]
        assert connection.run("SELECT name FROM users WHERE id = 7") == [["name 7"]]
        assert connection.run("SELECT total FROM orders WHERE id = 7") == [["7"]]
        assert connection.run("SELECT title FROM group_table WHERE id = 7") == [["group 7"]]
        plan = connection.run("EXPLAIN SELECT name FROM users WHERE id = 7")
        assert any("Mapped Key Lookup" in line for line, in plan), plan
    assert 'view users has the same rows' in server.process.log()


def test_a_pattern_reads_what_is_left_out(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        raw.pipeline(SINGLE)
    with make_look(redis, "--pattern", "leaderboard:*").connect() as connection:
        assert tables(connection) == ["leaderboard_daily"]


def test_a_long_stream_has_the_columns_of_its_entries(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        raw("EVAL", "for i = 1, 60000 do redis.call('XADD', 'orders', i .. '-0', 'customer', i % 97, 'total', i % 500) end "
                    "for i = 1, 3 do redis.call('XADD', 'files', i .. '-0', 'content', string.rep('x', 1000000)) end", "0")
        assert raw("MEMORY", "USAGE", "orders") > 1 << 20
    with make_look(redis).connect() as connection:
        assert connection.run("SELECT customer, total FROM orders WHERE entry_id = '7-0'") == [["7", "7"]]
        assert connection.run("SELECT count(*) FROM files") == [["3"]]
