"""Figures about sessions and statements: the pg_stat_ views, /metrics, /health and `redquel health`."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess

from harness import pgwire
from harness.pgwire import SYNC, ServerError, parse
from harness.processes import temporary_folder
from harness.waiting import wait_for

CONCURRENT = True

TRUST = '[authentication]\nrules = """\nhost all all 127.0.0.1/32 trust\n"""\n'
SAMPLE = re.compile(r'^([a-z_]+)(\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+|\+Inf|NaN)$')


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(make_server, redis, text=""):
    """A server with a status address; returns it and the port of that."""
    port = free_port()
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[status]\nlisten = "127.0.0.1:{port}"\n{text}\n{TRUST}')
    return make_server("--config", path, redis=redis), port


def get(port, target, host="localhost", method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, target, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def samples(port):
    """The figures of /metrics by name and labels. Each line has the form that Prometheus reads."""
    status, text, headers = get(port, "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), (status, headers)
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, name
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.match(line)
            assert match, line
            found[match[1] + (match[2] or "")] = float(match[3])
            family = re.sub(r"_(bucket|sum|count)$", "", match[1])
            assert match[1] in types or types.get(family) == "histogram", line
    assert all(kind != "counter" or name.endswith("_total") for name, kind in types.items()), types
    return found


def test_metrics_move(make_server, make_redis):
    server, port = start(make_server, make_redis())
    with server.connect() as connection:
        connection.run("CREATE TABLE counted (id integer PRIMARY KEY, secret_column text)")
        before = samples(port)
        connection.run("INSERT INTO counted VALUES (1, 'a'), (2, 'b')")
        connection.run("UPDATE counted SET secret_column = 'c' WHERE id = 1")
        connection.run("SELECT * FROM counted ORDER BY id")
        connection.run("DELETE FROM counted WHERE id = 2")
        try:
            connection.run("SELECT 1/0")
        except ServerError:
            pass
        after = samples(port)

        def moved(name):
            return after.get(name, 0) - before.get(name, 0)

        for operation, rows in (("inserted", 2), ("updated", 1), ("returned", 2), ("deleted", 1)):
            assert moved(f'redquel_rows_total{{database="postgres",operation="{operation}"}}') == rows, operation
        assert moved('redquel_statements_total{database="postgres",kind="insert",result="ok"}') == 1
        assert moved('redquel_statements_total{database="postgres",kind="select",result="error"}') == 1
        assert moved('redquel_statement_duration_seconds_count{kind="select"}') == 1
        assert moved('redquel_statement_duration_seconds_bucket{kind="select",le="+Inf"}') == 1
        assert moved('redquel_errors_total{class="22"}') == 1
        assert moved('redquel_transactions_total{database="postgres",result="commit"}') == 4
        assert moved('redquel_transactions_total{database="postgres",result="rollback"}') == 1
        assert moved('redquel_client_bytes_total{direction="received"}') > 0
        assert after['redquel_sessions{database="postgres",state="idle"}'] == 1
        assert after['redquel_connections_total{result="accepted"}'] >= 1
        wait_for(lambda: samples(port)["redquel_redis_commands_total"] > before["redquel_redis_commands_total"])
        wait_for(lambda: samples(port)["redquel_redis_up"] == 1)
        wait_for(lambda: samples(port)["redquel_memory_limit_bytes"] > 0)
        connection.send(parse("SELECT '" + "x" * 1_000_000 + "'", "large") + SYNC)
        connection.results()
        wait_for(lambda: samples(port)['redquel_memory_bytes{part="clients"}'] > 3_000_000)
    text = get(port, "/metrics")[1]
    assert "secret_column" not in text and "127.0.0.1" not in text and "tests" not in text


def test_requests_that_are_refused(make_server, make_redis):
    server, port = start(make_server, make_redis(), 'hosts = ["metrics.example"]')
    wait_for(lambda: get(port, "/health/live")[0] == 200)
    assert get(port, "/metrics", host="attacker.example")[0] == 421
    assert [get(port, "/health/live", host=host)[0] for host in ("127.0.0.1", "[::1]:9433", "LOCALHOST:1", "metrics.example:9433")] == [200] * 4
    assert get(port, "/metrics", method="POST")[0] == 405
    assert get(port, "/nothing")[0] == 404
    assert get(port, "/metrics", method="HEAD")[:2] == (200, "")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 10000)
        try:
            assert client.recv(100) == b""
        except ConnectionResetError:
            pass
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_unfinished_requests_yield_to_new_ones(make_server, make_redis):
    server, port = start(make_server, make_redis())
    with contextlib.ExitStack() as open_ones:
        for begun in (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ") * 20:
            one = open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.sendall(begun)
        for target in ("/health/ready", "/health/live", "/metrics") * 3:
            assert get(port, target)[0] == 200, target
        # A client of another address keeps its place while the first one floods.
        quiet = open_ones.enter_context(socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.2", 0)))
        quiet.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n")
        for _ in range(40):
            open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
        quiet.sendall(b"Connection: close\r\n\r\n")
        assert b" 200 " in quiet.recv(100)


def test_health(make_server, make_redis, build):
    redis = make_redis()
    server, port = start(make_server, redis)

    def health(*words):
        done = subprocess.run([os.path.join(build, "redquel"), "health", "--status", f"127.0.0.1:{port}", *words], capture_output=True, text=True,
                              timeout=60)
        return done.returncode, json.loads(done.stdout)

    # The server is ready for clients when it says so.
    assert json.loads(get(port, "/health/ready")[1]) == {"ready": True, "reasons": []}
    assert health() == (0, {"live": True})
    assert health("--ready") == (0, {"ready": True, "reasons": []})
    redis.stop()
    wait_for(lambda: get(port, "/health/ready")[0] == 503)
    assert json.loads(get(port, "/health/ready")[1]) == {"ready": False, "reasons": ["redis does not answer"]}
    assert health() == (0, {"live": True}) and health("--ready")[0] == 1
    server.stop()
    unanswered = subprocess.run([os.path.join(build, "redquel"), "health", "--status", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=60)
    assert unanswered.returncode == 1 and unanswered.stderr.startswith("redquel health: no answer: "), unanswered


ACTIVITY = ("SELECT datname, usename, application_name, state, wait_event_type, wait_event, query, backend_type, backend_start <= state_change, "
            "xact_start IS NULL, query_start <= state_change FROM pg_stat_activity WHERE pid = {}")


def test_activity_of_other_sessions(make_server, make_redis, postgres):
    """Every step shows the same as in PostgreSQL, whatever thread the other session lives on."""
    shown = []
    for side in (make_server("--threads", "3", redis=make_redis()), postgres):
        with side.connect() as watcher, side.connect(application_name="watched") as other:
            steps = []
            pid = other.run("SELECT pg_backend_pid()")[0][0]

            def note():  # PostgreSQL shows the state a moment before the wait
                wait_for(lambda: watcher.run(ACTIVITY.format(pid))[0][4] == "Client")
                steps.append(watcher.run(ACTIVITY.format(pid)))

            note()
            other.run("BEGIN; SELECT 'naïve' AS word")
            note()
            try:
                other.run("SELECT nothing")
            except ServerError:
                pass
            note()
            other.run("ROLLBACK")
            other.run("SET application_name = 'renamed'")
            note()
            other.run("SELECT '" + "é" * 2000 + "'")
            steps.append(watcher.run(f"SELECT length(query), octet_length(query) FROM pg_stat_activity WHERE pid = {pid}"))
            steps.append(watcher.run(f"SELECT pg_terminate_backend({pid})"))
            wait_for(lambda: watcher.run(f"SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}") == [["0"]])
            shown.append(steps)
    assert shown[0] == shown[1], shown


def test_a_running_statement_is_seen_and_cancelled(make_server, make_redis):
    server = make_server("--threads", "2", redis=make_redis())
    with server.connect() as watcher, server.connect() as other:
        pid = other.run("SELECT pg_backend_pid()")[0][0]
        other.send(pgwire.query("SELECT pg_sleep(60)"))
        look = f"SELECT state, query FROM pg_stat_activity WHERE pid = {pid}"
        wait_for(lambda: watcher.run(look) == [["active", "SELECT pg_sleep(60)"]])
        assert watcher.run(f"SELECT pg_cancel_backend({pid})") == [["t"]]
        wait_for(lambda: watcher.run(look)[0][0] == "idle")


def test_other_roles_see_no_queries(make_server, make_redis):
    server, _ = start(make_server, make_redis())
    with server.connect() as owner:
        for statement in ("CREATE ROLE reader LOGIN", "CREATE ROLE watcher LOGIN", "GRANT pg_read_all_stats TO watcher"):
            owner.run(statement)
        pid = owner.run("SELECT pg_backend_pid()")[0][0]
        look = f"SELECT usename, query, state, client_addr, backend_type FROM pg_stat_activity WHERE pid = {pid}"
        with server.connect(user="reader") as reader:
            assert reader.run(look) == [["postgres", "<insufficient privilege>", None, None, None]]
            assert reader.run("SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE 'SELECT count%'") == [["1"]]
            assert {row[0] for row in reader.run("SELECT query FROM pg_stat_statements WHERE userid = 10")} == {"<insufficient privilege>"}
            assert reader.run(f"SELECT ssl FROM pg_stat_ssl WHERE pid = {pid}") == [[None]]
            try:
                reader.run("SELECT pg_stat_statements_reset()")
                raise AssertionError("a role without rights has reset the figures")
            except ServerError as error:
                assert error.sqlstate == "42501"
        with server.connect(user="watcher") as watcher:
            assert watcher.run(look)[0][2] == "idle"


def test_statements(make_server, make_redis):
    server = make_server("--threads", "2", redis=make_redis())
    with server.connect() as one, server.connect() as other:
        one.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        one.run("CREATE TABLE texts (id integer PRIMARY KEY, word text)")
        one.run("INSERT INTO texts SELECT g, 'w' || g FROM generate_series(1, 10) AS s(g)")
        for session in (one, other):
            for number in (1, 2, 3):
                session.run(f"SELECT word FROM texts WHERE id = {number}")
        look = ("SELECT calls, rows, toplevel, min_exec_time <= mean_exec_time AND mean_exec_time <= max_exec_time, "
                "abs(total_exec_time - calls * mean_exec_time) < 0.001 FROM pg_stat_statements WHERE query = '{}'")
        assert one.run(look.format("SELECT word FROM texts WHERE id = $1")) == [["6", "6", "t", "t", "t"]]
        one.run("SELECT word, 5 FROM texts WHERE id < 4 -- a comment")
        one.run("SELECT word, 77 FROM texts WHERE id < 3 -- a comment")
        assert one.run(look.format("SELECT word, $1 FROM texts WHERE id < $2"))[0][:2] == ["2", "5"]
        assert one.run("SELECT count(DISTINCT queryid) = count(*) FROM pg_stat_statements") == [["t"]]
        assert len(one.query("SELECT * FROM pg_stat_statements LIMIT 0")[0].columns) == 43
        one.run("SELECT pg_stat_statements_reset()")
        assert one.run(look.format("SELECT word FROM texts WHERE id = $1")) == []
        assert one.run("SELECT dealloc, stats_reset <= now() FROM pg_stat_statements_info") == [["0", "t"]]


def test_passwords_are_not_shown(make_server, make_redis):
    server, _ = start(make_server, make_redis())
    with server.connect() as one, server.connect() as other:
        pid = one.run("SELECT pg_backend_pid()")[0][0]
        for statement in ("CREATE ROLE carl PASSWORD 'open sesame'", "ALTER ROLE carl ENCRYPTED /* x */ PassWord $x$open sesame$x$",
                          "ALTER ROLE carl PASWORD 'ok'; ALTER ROLE carl PASSWORD E'open sesame"):
            try:
                one.run(statement)
            except ServerError:
                pass
            [[query]] = other.run(f"SELECT query FROM pg_stat_activity WHERE pid = {pid}")
            assert "sesame" not in query and "carl" in query, query
        texts = [row[0] for row in other.run("SELECT query FROM pg_stat_statements WHERE query ILIKE '%role carl%'")]
        assert "CREATE ROLE carl PASSWORD '********'" in texts and not any("sesame" in text for text in texts), texts


def test_numbers_of_rows(make_server, make_redis):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        connection.run("CREATE TABLE many (id integer PRIMARY KEY)")
        connection.run("CREATE TABLE none (id integer PRIMARY KEY)")
        connection.run("INSERT INTO many SELECT generate_series(1, 250)")
        look = "SELECT relname, {} FROM {} WHERE relname IN ('many', 'none', 'pg_am') ORDER BY 1"
        assert connection.run(look.format("reltuples", "pg_class")) == [["many", "250"], ["none", "0"], ["pg_am", "-1"]]
        assert connection.run(look.format("n_live_tup", "pg_stat_user_tables")) == [["many", "250"], ["none", "0"]]
        assert connection.run(look.format("n_live_tup", "pg_stat_all_tables")) == [["many", "250"], ["none", "0"], ["pg_am", "0"]]
        connection.run("DELETE FROM many WHERE id <= 50")
        assert connection.run(look.format("reltuples", "pg_class"))[0] == ["many", "200"]


def test_databases(make_server, make_redis):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        connection.run("CREATE TABLE sums (id integer PRIMARY KEY)")
        look = ("SELECT numbackends, xact_commit, xact_rollback, tup_inserted, sessions, sessions_killed, session_time >= 0, active_time > 0 "
                "FROM pg_stat_database WHERE datname = 'postgres'")
        [before] = connection.run(look)
        connection.run("INSERT INTO sums VALUES (1), (2), (3)")
        connection.run("BEGIN; INSERT INTO sums VALUES (4); ROLLBACK")
        with server.connect() as other:
            [after] = connection.run(look)
        assert [int(b) - int(a) for a, b in zip(before[:6], after[:6])] == [1, 2, 1, 4, 1, 0], (before, after)
        assert after[6:] == ["t", "t"]
        assert connection.run("SELECT datname FROM pg_stat_database WHERE datname IN ('postgres', 'template1') ORDER BY 1") == [["postgres"], ["template1"]]


TABLE = "SELECT seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 'emp'"
INDEX = "SELECT indexrelname, idx_scan, idx_tup_fetch FROM pg_stat_user_indexes WHERE relname = 'emp' ORDER BY 1"


def moved(connection, statement):
    """What a statement adds to the counts of table emp, and to those of its indexes that it uses."""
    table, indexes = connection.run(TABLE)[0], {row[0]: row[1:] for row in connection.run(INDEX)}
    connection.run(statement)
    after = connection.run(TABLE)[0]
    used = {name: [int(now) - int(before) for now, before in zip(values, indexes[name])] for name, *values in connection.run(INDEX)}
    return [int(now) - int(before) for now, before in zip(after, table)], {name: counts for name, counts in used.items() if counts != [0, 0]}


def test_scans_and_rows_of_tables_and_indexes(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, name text UNIQUE, dept int, salary float8)")
        connection.run("CREATE INDEX by_dept ON emp (dept); CREATE INDEX by_salary ON emp (salary)")
        assert moved(connection, "INSERT INTO emp SELECT n, 'e' || n, n % 5, n * 1.5 FROM generate_series(1, 100) n") == ([0, 0, 0, 0, 100, 0, 0], {})
        assert moved(connection, "SELECT sum(salary) FROM emp") == ([1, 100, 0, 0, 0, 0, 0], {})
        assert moved(connection, "SELECT * FROM emp WHERE id IN (7, 8, 900)") == ([0, 0, 1, 2, 0, 0, 0], {"emp_pkey": [1, 2]})
        assert moved(connection, "SELECT * FROM emp WHERE name = 'e9'") == ([0, 0, 1, 1, 0, 0, 0], {"emp_name_key": [1, 1]})
        assert moved(connection, "SELECT name FROM emp WHERE dept = 3") == ([0, 0, 1, 20, 0, 0, 0], {"by_dept": [1, 20]})
        assert moved(connection, "SELECT name FROM emp WHERE salary < 5") == ([0, 0, 1, 3, 0, 0, 0], {"by_salary": [1, 3]})
        assert moved(connection, "SELECT count(*) FROM emp WHERE dept = 3") == ([0, 0, 1, 0, 0, 0, 0], {"by_dept": [1, 0]})
        assert moved(connection, "SELECT count(*) FROM emp") == ([0, 0, 1, 0, 0, 0, 0], {"emp_pkey": [1, 0]})
        changes, indexes = moved(connection, "UPDATE emp SET salary = 0 WHERE dept = 1")
        assert changes == [0, 0, 1, 20, 0, 20, 0] and indexes == {"by_dept": [1, 20]}, (changes, indexes)
        assert moved(connection, "DELETE FROM emp WHERE id = 4")[0][4:] == [0, 0, 1]
        assert moved(connection, "INSERT INTO emp VALUES (4, 'again', 1, 1), (5, 'e5', 1, 1) ON CONFLICT (id) DO NOTHING")[0][4:] == [1, 0, 0]
        assert moved(connection, "INSERT INTO emp VALUES (5, 'x', 1, 1), (500, 'y', 1, 1) ON CONFLICT (id) DO UPDATE SET dept = 9")[0][4:] == [1, 1, 0]
        assert moved(connection, "MERGE INTO emp USING (VALUES (500), (501), (1)) v (id) ON emp.id = v.id WHEN MATCHED AND v.id = 500 THEN DELETE "
                                 "WHEN MATCHED THEN UPDATE SET dept = 2 WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'z' || v.id, 1, 1)")[0][4:] == [1, 1, 1]
        assert moved(connection, "UPDATE emp SET dept = dept + 1 WHERE id = 3")[0][4:] == [0, 1, 0]
        assert moved(connection, "BEGIN; INSERT INTO emp VALUES (900, 'u', 1, 1); UPDATE emp SET dept = 4 WHERE id = 900; ROLLBACK")[0][4:] == [1, 1, 0]
        joined = "SELECT e.name FROM emp e JOIN (VALUES (1), (2)) v (id) ON e.id = v.id"
        assert moved(connection, joined)[0][2:4] == [1, 2]


def test_counts_of_tables_are_those_of_all_sessions_of_one_database(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY); CREATE TABLE bare (id int)")
        connection.run("CREATE DATABASE second")
        others = [fresh_server.connect() for _ in range(8)]  # on every thread
        for number, other in enumerate(others):
            other.run(f"INSERT INTO emp VALUES ({number})")
        with fresh_server.connect(database="second") as second:
            second.run("CREATE TABLE emp (id int PRIMARY KEY)")
            assert second.run(TABLE) == [["0", "0", "0", "0", "0", "0", "0"]]
        assert connection.run(TABLE) == [["0", "0", "0", "0", "8", "0", "0"]]
        assert connection.run("SELECT idx_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'bare'") == [[None, None]]
        for other in others:
            other.close()


def test_metrics_of_engines_logins_and_redis(make_server, make_redis):
    redis = make_redis("--maxmemory", "1gb")
    server, port = start(make_server, redis)
    with server.connect() as one, server.connect() as two:
        one.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)")
        before = samples(port)
        for _ in range(3):
            one.run("SELECT v FROM t WHERE id = 1 AND v < 77")
        one.run("SET work_mem = '64kB'; SELECT count(*) FROM (SELECT n FROM generate_series(1, 30000) n ORDER BY md5(n::text)) q")
        one.run("BEGIN; UPDATE t SET v = 2 WHERE id = 1")
        two.run("SET lock_timeout = '50ms'")
        try:
            two.run("UPDATE t SET v = 3 WHERE id = 1")
        except ServerError as error:
            assert error.sqlstate == "55P03", error
        one.run("COMMIT")
        try:
            one.run("SELECT redis.call('SET', 'plain', 'x')")
            one.run("SELECT redis.call('LPUSH', 'plain', 'y')")
        except ServerError:
            pass
        after = samples(port)

        def grown(name):
            return after.get(name, 0) - before.get(name, 0)
        assert grown("redquel_plan_cache_hits_total") >= 2 and grown("redquel_plan_cache_misses_total") >= 3
        assert grown("redquel_planning_duration_seconds_count") >= 3 and grown("redquel_planning_duration_seconds_sum") > 0
        assert grown("redquel_temporary_bytes_total") > 100_000
        assert grown("redquel_lock_wait_seconds_count") == 1 and grown("redquel_lock_wait_seconds_sum") >= 0.04
        assert grown('redquel_redis_round_trip_seconds_count{purpose="statements"}') >= 5
        scripts = [name for name in after if name.startswith("redquel_redis_script_seconds_count{") and after[name] > before.get(name, 0)]
        assert scripts, "no script ran"
        assert grown('redquel_redis_errors_total{code="WRONGTYPE"}') >= 1, {name: value for name, value in after.items() if "errors" in name}
        assert after['redquel_authentications_total{method="trust",result="ok"}'] >= 2
        assert after["redquel_redis_writes_held"] == 0
        wait_for(lambda: samples(port).get("redquel_redis_memory_max_bytes") == 1 << 30)
        assert samples(port)["redquel_redis_memory_used_bytes"] > 500_000


def test_failed_logins_count_by_method(make_server, make_redis):
    port = free_port()
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[status]\nlisten = "127.0.0.1:{port}"\n[authentication]\nrules = """\nhost all nobody 127.0.0.1/32 reject\nhost postgres all 127.0.0.1/32 trust\n"""\n')
    server = make_server("--config", path, redis=make_redis())
    for user, database, method in (("nobody", "postgres", "reject"), ("postgres", "other", "none")):
        try:
            server.connect(user=user, database=database)
            raise AssertionError("the login succeeds")
        except ServerError:
            pass
        assert samples(port)[f'redquel_authentications_total{{method="{method}",result="failed"}}'] == 1
