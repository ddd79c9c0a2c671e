"""Errors of statements under way: what has been sent before them, and what drivers read in them."""
from harness import pgwire
from harness.pgwire import SYNC, bind, execute, parse, query
from harness.transcript import same

CONCURRENT = True

TABLE = "CREATE TABLE x_late (a int PRIMARY KEY, b text); INSERT INTO x_late SELECT g, 'x' || g FROM generate_series(1, 5) g"
AFTER = "DROP TABLE IF EXISTS x_late; "


def test_rows_before_an_error_are_sent(server, postgres):
    for sql in ("SELECT 10 / (3 - g) FROM generate_series(1, 5) g", "SELECT a, 10 / (3 - a) FROM x_late ORDER BY a",
                "SELECT b::int FROM (VALUES ('1'), ('2'), ('x')) v(b)", "SELECT g FROM generate_series(1, 5) g WHERE 10 / (3 - g) > 0",
                "SELECT g FROM generate_series(1, 3000) g WHERE 10 / (2500 - g) > -1000", "SELECT 1.0 / (3 - g), 'a' FROM generate_series(5, 1, -1) g LIMIT 4",
                "SELECT 10 / (g - 1999), g FROM generate_series(1, 3000) g"):
        same(server, postgres, query(sql), parse(sql) + bind() + execute() + SYNC, setup=AFTER + TABLE)


def test_rows_before_an_error_of_a_subquery_or_join_are_sent(server, postgres):
    more = TABLE + "; DROP TABLE IF EXISTS x_more; CREATE TABLE x_more (a int PRIMARY KEY, c int); INSERT INTO x_more SELECT g, 3 - g FROM generate_series(1, 5) g"
    for sql in ("SELECT a, (SELECT 1 / x_more.c) FROM x_more", "SELECT a, (SELECT y.a / x_more.c FROM x_late y WHERE y.a = x_more.a) FROM x_more ORDER BY a",
                "SELECT a, (SELECT sum(y.a) / x_more.c FROM x_late y) FROM x_more",
                "SELECT x.a, 1 / x.c FROM x_more x JOIN x_late y ON y.a = x.a", "SELECT a, l.q FROM x_more, LATERAL (SELECT 1 / x_more.c AS q) l",
                "SELECT a, a IN (SELECT y.a / x_more.c FROM x_late y) FROM x_more"):
        same(server, postgres, query(sql), parse(sql) + bind() + execute() + SYNC, setup=AFTER + more)


def test_row_limits_before_an_error(server, postgres):
    sql = parse("SELECT 10 / (3 - g) FROM generate_series(1, 5) g")
    same(server, postgres, sql + bind() + execute("", 1) + execute("", 5) + SYNC, query("SELECT 10 / (3 - g) FROM generate_series(1, 5) g LIMIT 2"))


def test_the_first_of_several_errors_is_reported(server, postgres):
    same(server, postgres, query("SELECT 10 / (4 - g), sqrt(2.0 - g) FROM generate_series(1, 5) g"),
         query("SELECT sqrt(3.0 - g), 10 / (3 - g) FROM generate_series(1, 5) g"))


def test_copy_sends_rows_before_an_error(server, postgres):
    same(server, postgres, query("COPY (SELECT 10 / (3 - g) FROM generate_series(1, 5) g) TO STDOUT"))


def test_volatile_expressions_are_evaluated_once(server):
    with server.connect() as connection:
        connection.run("DROP SEQUENCE IF EXISTS x_once; CREATE SEQUENCE x_once")
        assert connection.run_error("SELECT 1 / (3 - nextval('x_once')) FROM generate_series(1, 5)")["C"] == "22012"
        assert int(connection.run("SELECT nextval('x_once')")[0][0]) <= 6


def routine(connection, *statements):
    """Field R of the last statement's error."""
    for statement in statements:
        connection.send(statement if isinstance(statement, bytes) else query(statement))
        result = connection.results()[-1]
    return result.error["R"]


def test_routines_that_drivers_decide_by(server, postgres):
    cached = parse("SELECT * FROM x_routine", "s")
    for who in (server, postgres):
        with who.connect() as connection:
            connection.run("DROP TABLE IF EXISTS x_routine; CREATE TABLE x_routine (a int)")
            assert routine(connection, cached + SYNC, "ALTER TABLE x_routine ADD b text", bind("", "s") + execute() + SYNC) == "RevalidateCachedQuery"
            assert routine(connection, "PREPARE q AS SELECT * FROM x_routine", "ALTER TABLE x_routine ADD c text", "EXECUTE q") == "RevalidateCachedQuery"
            assert routine(connection, bind("", "nowhere") + SYNC) == "FetchPreparedStatement"
            assert routine(connection, "EXECUTE nowhere") == "FetchPreparedStatement"
            assert routine(connection, "INSERT INTO x_routine (a) VALUES ('x'::text)") == "transformAssignedExpr"
            assert routine(connection, "UPDATE x_routine SET a = true") == "transformAssignedExpr"
            connection.run("DROP TABLE x_routine")


def last_words(server, data):
    """The messages from the first error on."""
    connection = server.connect()
    connection.send(data)
    messages = []
    try:
        while True:
            messages.append(connection.read())
    except pgwire.ConnectionClosed:
        pass
    kinds = [kind for kind, _ in messages]
    assert b"E" in kinds, kinds
    return [(kind, pgwire.decode_fields(payload)["S"]) if kind == b"E" else (kind,) for kind, payload in messages[kinds.index(b"E"):]]


def test_a_session_that_terminates_itself_sends_fatal_alone(server, postgres):
    sql = "SELECT pg_terminate_backend(pg_backend_pid())"
    for who in (server, postgres):
        for data in (query(sql), parse(sql) + bind() + execute() + SYNC, query("BEGIN; " + sql + "; SELECT 1")):
            assert last_words(who, data) == [(b"E", "FATAL")]


def test_debug_notices_name_implicit_objects(server, postgres):
    def told(who):
        with who.connect() as connection:
            connection.run("DROP TABLE IF EXISTS x_told; SET client_min_messages = debug1")
            notices = []
            for sql in ("CREATE TABLE x_told (a serial PRIMARY KEY, b int UNIQUE, c text, e int GENERATED ALWAYS AS IDENTITY, EXCLUDE USING btree (b WITH =))",
                        "CREATE TABLE IF NOT EXISTS x_told (a serial)", "ALTER TABLE x_told ADD COLUMN f serial, ADD COLUMN g int UNIQUE",
                        "ALTER TABLE x_told ADD CONSTRAINT x_both UNIQUE (b, c)", "ALTER TABLE x_told ALTER COLUMN b TYPE bigint", "CREATE UNIQUE INDEX x_index ON x_told (c)",
                        "ALTER TABLE x_told ADD CONSTRAINT x_index UNIQUE USING INDEX x_index", "ALTER TABLE x_told RENAME c TO h", "DROP TABLE x_told",
                        "CREATE TABLE x_told (a int)", "ALTER TABLE x_told ADD PRIMARY KEY (a)", "DROP TABLE x_told"):
                notices += [(n["S"], n["C"], n["M"]) for result in connection.query(sql) for n in result.notices if "implicit" in n["M"]]
            return notices

    expected = told(postgres)
    assert len(expected) > 4 and told(server) == expected, (expected, told(server))
