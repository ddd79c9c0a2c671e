"""What a client can make redquel hold, write or wait for without being let in, or beyond what it may have."""
import os
import re
import stat
import struct
import subprocess
import time

from harness.pgwire import (CANCEL_REQUEST, SYNC, Connection, ConnectionClosed, ServerError, bind, decode_fields, describe, message, parse,
                            query, special_startup, startup)
from harness.processes import temporary_folder
from harness.servers import Redquel
from harness.waiting import wait_for


def configured(make_server, redis, text, *options, **keywords):
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(text)
    return make_server("--config", f"{folder}/redquel.toml", *options, redis=redis, **keywords)


def resident_megabytes(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20


def log_of(server):
    with open(f"{server.folder}/redquel.log", encoding="utf-8", newline="\n") as file:
        return file.read()


def error_of(connection, sql):
    return connection.query(sql)[-1].sqlstate


def test_describe_without_sync_holds_no_answers(make_redis, make_server):
    """The answers leave while they come, so that a client that reads nothing is not read any more."""
    server = make_server("--threads", "1", redis=make_redis())
    connection = server.connect(timeout=3)
    connection.send(parse("SELECT " + ", ".join(f"1 AS column_{n}" for n in range(1200)), "wide") + SYNC)
    connection.results()
    before = resident_megabytes(server)
    try:
        connection.socket.sendall(describe(b"S", "wide") * 5_000)
    except (TimeoutError, OSError):
        pass
    with server.connect() as other:  # each of its turns is one of the describing session, too
        for _ in range(500):
            other.run("SELECT 1")
    assert resident_megabytes(server) - before < 60, resident_megabytes(server) - before
    connection.abandon()


def test_describe_without_sync_answers_at_once(server):
    with server.connect() as connection:
        connection.send(parse("SELECT " + ", ".join(f"1 AS column_{n}" for n in range(1200)), "wide") + describe(b"S", "wide") * 20)
        kinds = [connection.read()[0] for _ in range(20)]
        assert kinds[:3] == [b"1", b"t", b"T"], kinds
        connection.send(SYNC)


def test_portals_and_half_messages_are_bounded(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_statement_bytes = 1048576\nclient_memory = 1048576\n")
    # A session may hold a quarter of 260 MB: room for one message of 64 MB.
    with server.connect() as connection:
        connection.send(parse("SELECT length($1::text)", "s") + SYNC)
        connection.results()
        value = "x" * (6 << 20)
        states = []
        connection.run("BEGIN")
        for number in range(12):
            connection.send(bind(f"portal{number}", "s", [value]) + SYNC)
            states.append(connection.results()[-1].sqlstate)
        assert states[0] is None and "53200" in states, states
        connection.run("ROLLBACK")
        connection.send(bind("again", "s", [value]) + SYNC)  # ROLLBACK has given everything back
        assert connection.results()[-1].sqlstate is None
    halves = [server.connect() for _ in range(12)]
    refused = []
    for half in halves:
        try:
            half.send(b"Q" + struct.pack("!i", 60 << 20) + b"SELECT '" + b"x" * (30 << 20))
        except (ConnectionClosed, OSError):
            pass
    for half in halves:
        half.socket.settimeout(2)
        try:
            kind, payload = half.read()
            refused.append(decode_fields(payload)["C"] if kind == b"E" else kind)
        except TimeoutError:
            pass
        except (ConnectionClosed, OSError):
            refused.append("closed")
    assert refused and set(refused) <= {"53200", "closed"}, refused
    for half in halves:
        half.abandon()
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_prepared_statements_are_bounded(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_statement_bytes = 1048576\nclient_memory = 1048576\n")
    with server.connect() as connection:
        states = []
        for number in range(40):
            connection.send(parse(f"SELECT '{'x' * 1_000_000}', {number}", f"s{number}") + SYNC)
            states.append(connection.results()[-1].sqlstate)
        assert states[0] is None and states[-1] == "53200", states
        assert error_of(connection, f"PREPARE more AS SELECT '{'y' * 1_000_000}'") == "53200"
        connection.run("DEALLOCATE ALL")
        connection.send(parse("SELECT 1", "again") + SYNC)
        assert connection.results()[-1].sqlstate is None


def test_target_lists_are_as_long_as_in_postgresql(server, postgres):
    def answer(who, sql):
        with who.connect() as connection:
            result = connection.query(sql)[-1]
            return result.error and [result.error.get(letter) for letter in "CM"], result.columns and len(result.columns)

    def ones(count):
        return ", ".join(["1"] * count)

    def columns(count):
        return ", ".join(f"c{n} int" for n in range(count))

    for who in (server, postgres):
        with who.connect() as connection:
            connection.run("CREATE TABLE wide_returning (id int PRIMARY KEY)")
    for sql in (f"INSERT INTO wide_returning VALUES (1) RETURNING {ones(1664)}", f"INSERT INTO wide_returning VALUES (2) RETURNING {ones(1665)}",
                f"SELECT {ones(1664)}", f"SELECT {ones(1665)}", f"SELECT {ones(70_000)}", f"VALUES ({ones(1664)})", f"VALUES ({ones(1665)})",
                f"SELECT {ones(1664)} ORDER BY random()", f"SELECT {ones(1663)} ORDER BY random()",
                f"SELECT a.*, b.* FROM (SELECT {ones(1000)}) a, (SELECT {ones(1000)}) b", f"SELECT 1 FROM (SELECT {ones(1665)}) a",
                f"SELECT 1 WHERE EXISTS (SELECT {ones(1665)})", f"SELECT {ones(1665)} UNION SELECT {ones(1665)}",
                f"CREATE TABLE too_wide ({columns(1601)})", f"CREATE TEMP TABLE wide_enough ({columns(1600)})",
                f"CREATE TYPE too_wide AS ({columns(1601)})", f"CREATE VIEW too_wide AS SELECT {', '.join(f'1 AS c{n}' for n in range(1601))}",
                f"CREATE TABLE too_wide AS SELECT {', '.join(f'1 AS c{n}' for n in range(1601))}"):
        assert answer(server, sql) == answer(postgres, sql), (sql[:60], answer(server, sql), answer(postgres, sql))


def test_silent_connections_leave_places_for_others(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_connections = 20\nmax_startups = 20\n")
    silent = [server.socket() for _ in range(150)]
    half = [server.socket() for _ in range(20)]
    for connection in half:
        connection.send(startup({"user": "postgres"})[:9])
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]
    kind, payload = silent[0].read()  # its slot was needed
    assert kind == b"E" and decode_fields(payload)["C"] == "53300", (kind, payload)
    for connection in silent + half:
        connection.abandon()
    sessions = [server.connect() for _ in range(20)]
    try:
        server.connect()
        raise AssertionError("a 21st session")
    except ServerError as error:
        assert error.sqlstate == "53300"
    for session in sessions:
        session.close()


def test_connections_without_login_are_closed(make_redis, make_server):
    server = configured(make_server, make_redis(), "[authentication]\ntimeout = 1\n")
    connection = server.socket()
    connection.send(startup({"user": "postgres"})[:9])
    assert connection.at_end()


def test_a_flood_of_connections_leaves_no_trace(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_startups = 50\n")
    flood = [server.socket() for _ in range(600)]

    def open_sockets():
        return sum(os.readlink(f"/proc/{server.process.pid}/fd/{name}").startswith("socket:") for name in os.listdir(f"/proc/{server.process.pid}/fd"))
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]
        assert open_sockets() < 200, open_sockets()
    for connection in flood:
        connection.abandon()


def test_work_mem_has_a_limit(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nwork_mem_max = 134217728\n")
    with server.connect() as connection:
        result = connection.query("SET work_mem = '2000GB'")[-1]
        assert result.sqlstate == "22023", result.error
        result = connection.query("SET work_mem = '129MB'")[-1]
        assert result.sqlstate == "22023" and "(64 .. 131072)" in result.error["M"], result.error
        assert error_of(connection, "SELECT set_config('work_mem', '1GB', false)") == "22023"
        connection.run("SET work_mem = '128MB'")
    try:
        server.connect(work_mem="1GB")
        raise AssertionError("work_mem of the startup packet is not checked")
    except ServerError as error:
        assert error.sqlstate == "22023", error.fields


def test_temporary_files_have_a_limit(server, postgres):
    big = "(SELECT g, repeat(g::text, 60) AS t FROM generate_series(1, 40000) s(g)) x"
    statements = (f"SELECT count(*) FROM (SELECT t FROM {big} ORDER BY t OFFSET 1) y",
                  f"DECLARE c CURSOR WITH HOLD FOR SELECT * FROM {big}")
    for who in (server, postgres):
        with who.connect() as connection:
            connection.run("SET work_mem = '64kB'; SET enable_sort = on; SET temp_file_limit = '1MB'")
            for sql in statements:
                result = connection.query(sql)[-1]
                assert result.error and [result.error[letter] for letter in "CM"] == [
                    "53400", "temporary file size exceeds temp_file_limit (1024kB)"], (who, sql, result.error)
            connection.run("SET temp_file_limit = -1")
            for sql in statements:
                assert connection.query(sql)[-1].error is None, sql
    with server.connect() as connection:
        connection.run("SET work_mem = '64kB'; SET temp_file_limit = '1MB'")
        for sql in (f"SELECT DISTINCT t FROM {big}", f"SELECT t, count(*) FROM {big} GROUP BY t",
                    f"SELECT count(*) FROM {big} JOIN (SELECT repeat(g::text, 60) AS t FROM generate_series(1, 40000) s(g)) y USING (t)",
                    f"SELECT t FROM {big} EXCEPT SELECT repeat((g + 1)::text, 60) FROM generate_series(1, 40000) s(g)"):
            assert error_of(connection, sql) == "53400", sql
        connection.run("SELECT 1")


def test_temp_file_limit_of_the_configuration(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\ntemp_file_limit = 1048576\n")
    with server.connect() as connection:
        assert connection.run("SHOW temp_file_limit") == [["1MB"]]
        assert error_of(connection, "SET temp_file_limit = -1") == "42501"
        assert error_of(connection, "SET temp_file_limit = '2MB'") == "42501"
        connection.run("SET temp_file_limit = '512kB'")


def test_password_of_redis_is_not_in_the_command_line(make_redis, build):
    password = "do-not-show-this"
    redis = make_redis("--requirepass", password)

    def shown(url, **keywords):
        class At:
            pass
        at = At()
        at.url, at.connect = url, redis.connect
        server = Redquel(build, at, **keywords).start()
        try:
            with server.connect() as connection:
                assert connection.run("SELECT 1") == [["1"]]
            with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
                return file.read().decode()
        finally:
            server.stop()
    line = shown(f"unix://:{password}@{redis.socket_path}")
    assert password not in line and redis.socket_path in line, line
    assert password not in shown(f"unix://{redis.socket_path}", environment={"REDQUEL_REDIS_PASSWORD": password})


def test_password_file(make_redis, make_server):
    redis = make_redis("--requirepass", "from a file")
    folder = temporary_folder()
    with open(f"{folder}/password", "w", encoding="utf-8") as file:
        file.write("from a file\n")
    server = configured(make_server, redis, f"[redis]\npassword_file = '{folder}/password'\n")
    with server.connect() as connection:
        connection.run("CREATE TABLE logged_in (id int PRIMARY KEY)")


def test_log_lines_are_not_forged(make_redis, make_server):
    server = make_server("--log-level", "debug", redis=make_redis())
    for parameters in ({"user": "eve\n2026-01-01 00:00:00.000 info all is well\x1b[2J"}, {"user": "eve", "database": "x\r\nforged"},
                       {"user": "eve", "no\nforged": "1"}):
        try:
            Connection(server.address, **parameters).close()
        except ServerError:
            pass
    with server.connect() as connection:
        connection.run("SELECT 1")
    log = wait_for(lambda: "eve\\x0a2026-01-01" in log_of(server) and log_of(server))
    assert "\x1b[2J" not in log, log
    for line in log.split("\n")[:-1]:
        assert re.match(r"ready |\d{4}-\d\d-\d\d ", line) and not line.startswith("2026-01-01"), line


def test_hostile_startups_are_logged_once_a_minute(make_redis, make_server):
    server = make_server(redis=make_redis())
    for _ in range(20):
        connection = server.socket()
        connection.send(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.at_end()
    wait_for(lambda: "no startup packet" in log_of(server))
    assert log_of(server).count("no startup packet") == 1


def cancel(server, process, secret):
    connection = server.socket()
    connection.send(special_startup(CANCEL_REQUEST, struct.pack("!iI", process, secret)))
    assert connection.at_end()


def test_guesses_of_cancel_keys_are_bounded(make_redis, make_server):
    """Beyond twenty wrong ones in a second the others are dropped, also the right one among them."""
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        process, secret = connection.process_id, connection.secret
        for guess in range(300):
            cancel(server, process, (secret + 1 + guess) % 2**32)
        wait_for(lambda: "too many wrong cancel requests" in log_of(server))
        assert log_of(server).count("too many wrong cancel requests") == 1

        def is_cancelled():
            connection.send(query("SELECT pg_sleep(2)"))
            cancel(server, process, secret)
            return connection.results()[-1].sqlstate == "57014"
        wait_for(is_cancelled)  # a second later the right key is heard again


def test_data_directory_is_private(build, make_server):
    folder = temporary_folder()
    open_folder = f"{folder}/open"
    os.mkdir(open_folder, 0o755)
    os.chmod(open_folder, 0o755)
    server = make_server(data_dir=open_folder)
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
    assert stat.S_IMODE(os.stat(open_folder).st_mode) == 0o700
    for place, _, names in os.walk(open_folder):
        for name in names:
            path = f"{place}/{name}"
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0, (path, oct(os.stat(path).st_mode))
    server.stop()

    shared = f"{folder}/shared"
    os.mkdir(shared)
    os.chmod(shared, 0o755)
    with open(f"{shared}/something", "w", encoding="utf-8"):
        pass
    ended = subprocess.run([f"{build}/redquel", "--listen", "127.0.0.1:0", "--embedded", "--data-dir", shared], capture_output=True, timeout=120)
    assert ended.returncode == 1 and b"0700" in ended.stderr, ended
    assert stat.S_IMODE(os.stat(shared).st_mode) == 0o755


def test_indexes_without_a_structure_give_a_notice(server):
    with server.connect() as connection:
        connection.run("CREATE TABLE remembered (id int PRIMARY KEY, tags text[], place point)")
        for method, column in (("gist", "place"), ("spgist", "place"), ("brin", "id")):
            notices = connection.query(f"CREATE INDEX ON remembered USING {method} ({column})")[-1].notices
            assert [notice["C"] for notice in notices] == ["0A000"] and "keeps nothing in Redis" in notices[0]["M"], notices
        for method in ("btree", "gin"):
            assert connection.query(f"CREATE INDEX ON remembered USING {method} (tags)")[-1].notices == []


def test_work_mem_is_the_one_of_the_commented_configuration(server):
    with server.connect() as connection:
        assert connection.run("SHOW work_mem") == [["64MB"]]


def test_the_log_names_the_sessions_that_delay_the_end(make_redis, make_server):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        connection.run("SELECT 1")
        server.stop()
    wait_for(lambda: "shutting down; running statements of 1 sessions have 10 seconds to end" in log_of(server))
