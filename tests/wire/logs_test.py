"""The log: statements, durations, errors, connections, lock waits, Redis going away; as text and as JSON; nothing forged, no passwords."""
import json
import re

from harness.pgwire import Connection, ServerError
from harness.processes import temporary_folder
from harness.servers import SESSION
from harness import pgwire
from harness.waiting import wait_for

CONCURRENT = True

TRUST = '[authentication]\nrules = """\nhost all all 127.0.0.1/32 trust\n"""\n'
LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (trace|debug|info|warning|error) ")


def start(make_server, redis, log, *options):
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{TRUST}\n[log]\n{log}\n")
    return make_server("--config", path, *options, redis=redis)


def fails(connection, sql):
    try:
        connection.run(sql)
    except ServerError as error:
        return error.sqlstate
    raise AssertionError(f"{sql} has not failed")


def lines(server):
    return [line for line in server.process.log().splitlines() if not line.startswith("ready ")]


def messages(server, count=0):
    """What the lines of sessions say, from their severity on; waits for so many."""
    if count:
        wait_for(lambda: len(messages(server)) >= count)
    return [match[1] for match in (re.search(r"\] \S+@\S+ \S+ (\w+: .*)$", line) for line in lines(server)) if match]


def test_programs_of_writes(make_server, make_redis):
    """redquel.show_program sends them to the client, the level trace logs them."""
    server = start(make_server, make_redis(), 'level = "trace"')
    with server.connect() as connection:
        connection.run("CREATE TABLE shown (id integer PRIMARY KEY, n integer, note text); CREATE INDEX ON shown (n)")
        connection.run("CREATE FOREIGN TABLE app (id int, name text) SERVER redis OPTIONS (key 'app:{id}', layout 'hash')")
        oid = connection.run("SELECT 'shown'::regclass::oid")[0][0]

        def shown(sql):
            notices = [notice for result in connection.query(sql) for notice in result.notices]
            assert {(notice["S"], notice["M"]) for notice in notices} <= {("NOTICE", "program of a write")}, notices
            return [re.sub(r"(version|catalog) .*", r"\1", notice["D"].replace(oid, "OID")).split("\n") for notice in notices]

        assert shown("INSERT INTO shown VALUES (1, 7, 'a b')") == []
        connection.run("SET redquel.show_program = on")
        assert shown("INSERT INTO shown VALUES (2, 7, 'it''s')") == [
            ["version", "absent shown:2", "free redquel:locks:OID r2", "count redquel:changes:OID", "hset shown:2 id 2 n 7 note 'it''s'",
             "set+ shown:indices:n 7 2", "score+ shown:zset:n 7 2", "score+ shown:zset 2 2"]]
        many = shown("INSERT INTO shown SELECT g, 7, 'x' FROM generate_series(11, 20) g")
        assert len(many) == 1 and "absents shown:11 shown:12" in "\n".join(many[0]), many
        unread = shown("UPDATE shown SET n = 8 WHERE id = 2")
        assert len(unread) == 1 and any(step.startswith("take shown:2 ") for step in unread[0]), unread
        assert shown("SELECT n FROM shown") == []
        foreign = shown("INSERT INTO app VALUES (1, 'one')")
        assert len(foreign) == 1 and "run HSET app:1 name one" in foreign[0], foreign
        shown("BEGIN; UPDATE shown SET note = 'new' WHERE id = 2")
        commit = shown("COMMIT")
        assert len(commit) == 1 and "hset shown:2 note new" in commit[0], commit
    logged = [line for line in lines(server) if " program of write" in line]
    assert any("hset shown:1 id 1 n 7 note 'a b';" in line for line in logged), logged


def test_statements_by_kind(make_server, make_redis):
    server = start(make_server, make_redis(), 'statement = "mod"')
    with server.connect() as connection:
        connection.run("CREATE TABLE logged (id integer PRIMARY KEY)")
        connection.run("INSERT INTO logged VALUES (1)")
        connection.run("SELECT 1 AS not_logged")
        connection.run("SELECT 2; DELETE FROM logged")
        connection.extended("UPDATE logged SET id = $1", ["3"])
        connection.run("SET log_statement = 'all'")
        connection.run("SELECT 3 AS logged")
        connection.run("SET log_statement = 'ddl'")
        connection.run("DELETE FROM logged")
        connection.run("DROP TABLE logged")
    assert messages(server, 7) == ["LOG: statement: CREATE TABLE logged (id integer PRIMARY KEY)", "LOG: statement: INSERT INTO logged VALUES (1)",
                                   "LOG: statement: SELECT 2; DELETE FROM logged", "LOG: execute: UPDATE logged SET id = $1",
                                   "LOG: statement: SELECT 3 AS logged", "LOG: statement: SET log_statement = 'ddl'", "LOG: statement: DROP TABLE logged"]


def test_durations(make_server, make_redis):
    server = start(make_server, make_redis(), "min_duration_statement = 100")
    with server.connect() as connection:
        connection.run("SELECT 1")
        connection.run("SELECT pg_sleep(0.15)")
        connection.run("SET log_min_duration_statement = 0")
        connection.extended("SELECT 2", [])
        connection.run("SET log_min_duration_statement = -1; SET log_duration = on")
        connection.run("SELECT 4")
    said = [re.sub(r"\d+\.\d{3} ms", "T ms", message) for message in messages(server, 5)]
    assert said[:2] == ["LOG: duration: T ms  statement: SELECT pg_sleep(0.15)", "LOG: duration: T ms  statement: SET log_min_duration_statement = 0"], said
    assert "LOG: duration: T ms  execute: SELECT 2" in said and said[-1] == "LOG: duration: T ms", said


def test_errors(make_server, make_redis):
    server = start(make_server, make_redis(), "")
    with server.connect() as connection:
        assert fails(connection, "SELECT nothing") == "42703"
        connection.run("SET log_min_error_statement = 'fatal'")
        assert fails(connection, "SELECT 1/0") == "22012"
    assert messages(server, 2) == ['ERROR: 42703: column "nothing" does not exist  STATEMENT: SELECT nothing', "ERROR: 22012: division by zero"]


def test_connections(make_server, make_redis):
    server = start(make_server, make_redis(), "connections = true\ndisconnections = true")
    with server.connect(application_name="shop") as connection:
        assert connection.run("SHOW log_connections") == [["on"]]
        assert fails(connection, "SET log_connections = off") == "55P02"
    wait_for(lambda: len([one for one in messages(server) if one.startswith("LOG: ")]) == 2)
    begin, end = [one for one in messages(server) if one.startswith("LOG: ")]
    assert begin == "LOG: connection authorized: user=postgres database=postgres application_name=shop"
    assert re.fullmatch(r"LOG: disconnection: session time: 0:00:0\d\.\d{3} user=postgres database=postgres host=127\.0\.0\.1 port=\d+", end), end


def test_json(make_server, make_redis):
    server = start(make_server, make_redis(), 'format = "json"\nmin_duration_statement = 0')
    with server.connect(application_name='a "name"') as connection:
        pid = int(connection.run("SELECT pg_backend_pid()")[0][0])
        fails(connection, "SELECT 'é', \"noth\ting\"\n-- \"}{\r")
    wait_for(lambda: '"state_code":"42703"' in server.process.log())
    objects = [json.loads(line) for line in lines(server)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC", one["timestamp"]) for one in objects)
    assert all({"timestamp", "pid", "error_severity", "message", "backend_type"} <= set(one) for one in objects)
    [slow, error] = [one for one in objects if one["backend_type"] == "client backend"][:2]
    assert slow["message"].endswith(" ms  statement: SELECT pg_backend_pid()") and slow["query_id"] != 0
    assert {key: error[key] for key in ("user", "dbname", "pid", "remote_host", "error_severity", "state_code", "message", "statement",
                                        "application_name")} == {
        "user": "postgres", "dbname": "postgres", "pid": pid, "remote_host": "127.0.0.1", "error_severity": "ERROR", "state_code": "42703",
        "message": 'column "noth\ting" does not exist', "statement": "SELECT 'é', \"noth\ting\"\n-- \"}{\r", "application_name": 'a "name"'}
    assert re.fullmatch(r"[0-9a-f]+\.[0-9a-f]+", error["session_id"]) and error["remote_port"] > 0


def test_no_line_is_forged(make_server, make_redis):
    server = start(make_server, make_redis(), 'statement = "all"\nconnections = true')
    forged = "\n2026-01-01 00:00:00.000 info forged \x1b[2J"
    with server.connect(application_name="x" + forged) as connection:
        connection.run("CREATE ROLE \"r" + forged + "\" LOGIN")
        fails(connection, f"SELECT '{forged}', nothing")
    with Connection(server.address, user="r" + forged, **SESSION) as connection:
        connection.run("SELECT 1")
    wait_for(lambda: lines(server)[-1].endswith("LOG: statement: SELECT 1"))
    found = lines(server)
    assert all(LINE.match(line) for line in found), found
    assert not any("\x1b" in line for line in found) and any("\\x0a2026-01-01" in line for line in found), found


def test_no_password_is_logged(make_server, make_redis):
    server = start(make_server, make_redis(), 'statement = "all"\nmin_duration_statement = 0', "--log-level", "trace")
    with server.connect() as connection:
        connection.run("CREATE ROLE alice LOGIN PASSWORD 'sesame1'")
        connection.extended("ALTER ROLE alice PASSWORD $x$sesame2$x$", [])
        for statement in ("ALTER ROLE alice PASSWORD 'x' 'sesame3'", "ALTER ROLE alice PASSWORD E'sesame4", "ALTER ROLE nobody PASSWORD 'sesame5'",
                          "SELECT 1; ALTER ROLE nobody ENCRYPTED PASSWORD 'sesame6'", "ALTER ROLE alice PASSWORD sesame7"):
            fails(connection, statement)
        connection.run("CREATE USER MAPPING FOR alice SERVER redis OPTIONS (\"user\" 'u', password 'sesame8')")
    wait_for(lambda: "CREATE USER MAPPING FOR alice" in server.process.log())
    log = server.process.log()
    assert "CREATE ROLE alice LOGIN PASSWORD '********'" in log
    assert "sesame" not in log, [line for line in log.splitlines() if "sesame" in line]


def test_lock_waits(make_server, make_redis):
    server = start(make_server, make_redis(), "lock_waits = true")
    with server.connect() as one, server.connect() as other:
        one.run("CREATE TABLE locked (id integer PRIMARY KEY, n integer)")
        one.run("INSERT INTO locked VALUES (1, 1)")
        other.run("SET deadlock_timeout = 50")
        pid = other.run("SELECT pg_backend_pid()")[0][0]

        def waits():
            return [message for message in messages(server) if f"process {pid} still waiting for a lock after" in message]

        def got():
            return [message for message in messages(server) if f"process {pid} acquired a lock after" in message]

        for number, statement in enumerate(("SELECT n FROM locked WHERE id = 1 FOR UPDATE", "UPDATE locked SET n = 2 WHERE id = 1"), 1):
            one.run("BEGIN; SELECT * FROM locked WHERE id = 1 FOR UPDATE")
            other.send(pgwire.query(statement))
            wait_for(lambda wanted=number: len(waits()) == wanted)
            one.run("COMMIT")
            other.results()
            wait_for(lambda wanted=number: len(got()) == wanted)
    assert len(waits()) == 2


def test_redis_goes_away_and_comes_back(make_server, make_redis):
    redis = make_redis()
    server = start(make_server, redis, "", "--threads", "3")
    with server.connect() as one, server.connect() as two, server.connect() as three:
        for session in (one, two, three):
            session.run("SELECT count(*) FROM pg_class")
        redis.stop()
        wait_for(lambda: " is gone: " in server.process.log())
        redis.start()
        for session in (one, two, three):
            wait_for(lambda: session.query("SELECT count(*) FROM pg_class")[-1].error is None)
    wait_for(lambda: " is back after " in server.process.log())
    said = [line.split(" ", 3)[3] for line in lines(server) if re.search(r" is (gone|back)", line)]
    assert len(said) == 2 and " is gone: " in said[0] and " is back after " in said[1], said


def test_trace_shows_statements_with_their_commands(make_server, make_redis):
    server = start(make_server, make_redis(), "", "--log-level", "trace")
    with server.connect() as connection:
        connection.run("CREATE TABLE traced (id integer PRIMARY KEY, n integer)")
        connection.run("SELECT n FROM traced WHERE id = 1")
    wait_for(lambda: "DEBUG5: statement: SELECT n FROM traced" in server.process.log())
    log = lines(server)
    at = next(i for i, line in enumerate(log) if line.endswith("DEBUG5: statement: SELECT n FROM traced WHERE id = 1"))
    wait_for(lambda: any(" trace redis: " in line for line in lines(server)[at:]))
    log = lines(server)
    assert any(re.search(r" trace redis: .*\b(HMGET|HGETALL|HGET)\b", line) for line in log[at:]), log[at:]


def test_plans_of_slow_statements(make_server, make_redis):
    server = start(make_server, make_redis(), "")
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT n, n FROM generate_series(1, 50) n")
        connection.run("SET auto_explain.log_min_duration = 0")
        connection.run("SELECT v FROM t\nWHERE id = 7")
        connection.run("SET auto_explain.log_analyze = on")
        connection.run("SELECT count(*) FROM t WHERE v > 10 AND v < 20")
        connection.run("UPDATE t SET v = 0 WHERE id = 3")
        connection.run("SET auto_explain.log_min_duration = '10min'")
        connection.run("SELECT v AS quick FROM t WHERE id = 7")
        connection.run("SET auto_explain.log_min_duration = -1")
    text = server.process.log()
    first, second, third = text.split("ms  plan:\n")[1:]
    assert first.startswith("\tQuery Text: SELECT v FROM t\n\tWHERE id = 7\n\tProject\n"), first
    assert "->  Key Lookup on t" in first and "HMGET t:$1 id v" in first and "actual" not in first
    assert "actual" in second and "rows=9" in second and "5 commands" in second, second
    assert "Update on t" in third and "actual" in third
    assert "quick" not in text.split("auto_explain.log_analyze")[-1].split("plan:")[-1]
    # Every line is one of the log, or belongs to a plan.
    assert all(LINE.match(line) or line.startswith("\t") for line in lines(server)), text


def test_round_trips_of_statements_in_json(make_server, make_redis):
    server = start(make_server, make_redis(), 'format = "json"\nmin_duration_statement = 0')
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT n, n FROM generate_series(1, 50) n")
        connection.run("SELECT v FROM t WHERE id = 7")
        connection.run("SELECT 1 AS nothing")
        connection.run("INSERT INTO t VALUES (100, 1)")
        connection.run("BEGIN; UPDATE t SET v = 5 WHERE id = 7; COMMIT")
    entries = [json.loads(line) for line in lines(server)]
    def of(text):
        return next(entry for entry in entries if text in entry.get("message", ""))
    assert of("WHERE id = 7")["redis_round_trips"] == 1 and of("WHERE id = 7")["redis_commands"] == 1
    assert "redis_round_trips" not in of("nothing")
    assert of("VALUES (100, 1)")["redis_commands"] >= 1
    assert of("UPDATE t SET")["redis_round_trips"] >= 2
