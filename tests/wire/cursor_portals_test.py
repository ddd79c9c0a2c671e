"""Portals of Bind as cursors of SQL, cursors of DECLARE as portals, and parameters of statements that hold a query: PostgreSQL's transcripts."""
from harness.pgwire import SYNC, bind, close, describe, execute, parse, query
from harness.transcript import same

CONCURRENT = True

INT4, TEXT = 23, 25
TABLE = "CREATE TABLE x_portal (a int PRIMARY KEY, b text); INSERT INTO x_portal SELECT g, 'x' || g FROM generate_series(1, 5) g"
AFTER = "DROP TABLE IF EXISTS x_portal CASCADE; DROP TABLE IF EXISTS x_made; "
BY_KEY = "SELECT a FROM x_portal ORDER BY a"


def compare(server, postgres, *steps):
    same(server, postgres, *[query(step) if isinstance(step, str) else step for step in steps], setup=AFTER + TABLE)


def bound(sql, name="p", **options):
    return parse(sql, "s") + bind(name, "s", **options)


def test_parameters_of_declare(server, postgres):
    compare(server, postgres, "BEGIN",
            parse("DECLARE c CURSOR FOR SELECT * FROM x_portal WHERE a > $1 ORDER BY a") + describe(b"S") + bind("", "", ["2"])
            + describe(b"P") + execute() + SYNC, "FETCH ALL FROM c",
            parse("DECLARE d CURSOR FOR SELECT $1::int + a, $2 FROM x_portal ORDER BY 1", "", [0, TEXT]) + describe(b"S")
            + bind("", "", ["2", "y"]) + execute() + SYNC, "FETCH ALL FROM d", "COMMIT")


def test_parameters_of_a_cursor_with_hold(server, postgres):
    compare(server, postgres, "BEGIN",
            parse("DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT a FROM x_portal WHERE a < $1 ORDER BY a") + bind("", "", ["4"]) + execute() + SYNC,
            "COMMIT", "FETCH ALL FROM c", "FETCH FIRST FROM c", "CLOSE c")


def test_where_current_of_a_cursor_with_parameters(server, postgres):
    compare(server, postgres, "BEGIN",
            parse("DECLARE c CURSOR FOR SELECT a FROM x_portal WHERE a = $1 FOR UPDATE") + bind("", "", ["1"]) + execute() + SYNC, "FETCH 1 FROM c",
            parse("UPDATE x_portal SET b = $1 WHERE CURRENT OF c") + bind("", "", ["z"]) + execute() + SYNC,
            "SELECT * FROM x_portal ORDER BY a", "COMMIT")


def test_declare_is_analyzed_at_parse(server, postgres):
    compare(server, postgres, "BEGIN", parse("DECLARE c CURSOR FOR SELECT nosuch FROM x_portal") + SYNC, "ROLLBACK",
            parse("DECLARE c CURSOR FOR SELECT a FROM x_portal WHERE a = $1") + bind("", "", ["1"]) + execute() + SYNC,
            "BEGIN", parse("DECLARE c CURSOR FOR SELECT a FROM x_portal WHERE a = $1") + bind("", "", ["zz"]) + execute() + SYNC, "ROLLBACK",
            "BEGIN", "DECLARE c CURSOR FOR SELECT a FROM x_portal WHERE a = $1", "ROLLBACK")


def test_parameters_of_create_table_as(server, postgres):
    read = "SELECT *, pg_typeof(c) FROM x_made ORDER BY 1"
    for sql, values in (("CREATE TABLE x_made AS SELECT a, b, $2::text AS c FROM x_portal WHERE a > $1", ["2", "k"]),
                        ("CREATE TEMP TABLE x_made (c) AS SELECT a + $1 FROM x_portal WITH NO DATA", ["2"]),
                        ("SELECT a, $1::text AS c INTO x_made FROM x_portal", ["2"]), ("CREATE TABLE x_made AS SELECT $1 AS c", ["2"]),
                        ("CREATE TABLE x_made AS VALUES ($1::int, $2::bool)", ["2", "t"])):
        made = read if " c" in sql else "SELECT * FROM x_made"
        compare(server, postgres, parse(sql) + describe(b"S") + bind("", "", values) + describe(b"P") + execute() + SYNC, made)


def test_create_table_as_if_not_exists_with_parameters(server, postgres):
    create = parse("CREATE TABLE IF NOT EXISTS x_made AS SELECT $1::int AS a") + bind("", "", ["2"]) + execute() + SYNC
    compare(server, postgres, create, create, "SELECT * FROM x_made",
            parse("CREATE MATERIALIZED VIEW x_seen AS SELECT a + $1 FROM x_portal") + describe(b"S") + bind("", "", ["2"]) + execute() + SYNC)


def test_literals_of_create_table_as_keep_their_types(server, postgres):
    compare(server, postgres, "SELECT 'x' AS c, 1 AS d INTO x_made", "SELECT 'yy' AS c, 3000000000 AS d INTO x_made2",
            "SELECT pg_typeof(c), pg_typeof(d) FROM x_made2", "DROP TABLE x_made2")


def test_declared_parameters_that_a_statement_does_not_use(server, postgres):
    compare(server, postgres, parse("PREPARE q AS SELECT a FROM x_portal WHERE a = $1", "", [INT4]) + describe(b"S") + bind("", "", ["1"]) + execute() + SYNC,
            "EXECUTE q(3)", parse("CREATE TABLE x_made (a int)", "", [INT4]) + describe(b"S") + bind("", "", ["1"]) + execute() + SYNC,
            parse("SHOW DateStyle", "", [INT4, TEXT]) + describe(b"S") + bind("", "", ["1", "x"]) + execute() + SYNC,
            parse("DEALLOCATE q", "", [0]) + SYNC)


def test_fetch_and_move_over_a_bound_portal(server, postgres):
    compare(server, postgres, "BEGIN", bound(BY_KEY) + execute("p", 1) + SYNC, "FETCH 1 FROM p", "MOVE 1 FROM p", "FETCH ALL FROM p", "COMMIT")
    compare(server, postgres, "BEGIN", bound(BY_KEY) + SYNC, "MOVE FORWARD ALL IN p", "FETCH 1 FROM p",
            "SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors", "COMMIT")
    compare(server, postgres, "BEGIN", bound("VALUES (1), (2)") + SYNC, parse("MOVE 1 p") + bind() + describe(b"P") + execute() + SYNC,
            execute("p") + SYNC, "ROLLBACK")


def test_execute_goes_on_where_fetch_stopped(server, postgres):
    compare(server, postgres, "BEGIN", bound(BY_KEY) + SYNC, "FETCH 2 FROM p", execute("p", 1) + SYNC, execute("p", 1) + execute("p") + SYNC, "COMMIT")
    compare(server, postgres, "BEGIN", bound(BY_KEY, result_formats=(1,)) + SYNC, "FETCH 2 FROM p",
            parse("FETCH 1 FROM p") + describe(b"S") + bind() + describe(b"P") + execute() + SYNC, execute("p") + SYNC,
            "FETCH 1 FROM p", execute("p") + SYNC, "CLOSE p", "COMMIT")
    compare(server, postgres, bound(BY_KEY) + execute("p", 1) + parse("FETCH 2 FROM p") + bind() + execute() + execute("p") + SYNC)


def test_a_bound_portal_only_scans_forward(server, postgres):
    for wrong in ("FETCH PRIOR FROM p", "FETCH 0 FROM p", "FETCH BACKWARD 1 FROM p", "FETCH LAST FROM p", "FETCH RELATIVE 0 FROM p"):
        compare(server, postgres, "BEGIN", bound(BY_KEY) + SYNC, "FETCH 1 FROM p", "FETCH ABSOLUTE 3 FROM p", wrong, "ROLLBACK")
    compare(server, postgres, "BEGIN", bound(BY_KEY) + execute("p") + SYNC, "FETCH PRIOR FROM p", "ROLLBACK")


def test_fetch_from_portals_of_other_statements(server, postgres):
    compare(server, postgres, "BEGIN", bound("INSERT INTO x_portal VALUES (100) RETURNING a") + SYNC, "FETCH 1 FROM p", "FETCH 1 FROM p",
            "SELECT count(*) FROM x_portal", execute("p") + SYNC, "COMMIT")
    compare(server, postgres, "BEGIN", bound("INSERT INTO x_portal VALUES (100)") + SYNC, "FETCH 1 FROM p", "ROLLBACK")
    compare(server, postgres, "BEGIN", bound("SHOW DateStyle") + SYNC, "FETCH 1 FROM p", "FETCH 1 FROM p", "ROLLBACK")
    compare(server, postgres, "BEGIN", bound("FETCH 1 FROM p") + execute("p") + SYNC, "ROLLBACK")


def test_a_declared_cursor_is_a_portal(server, postgres):
    compare(server, postgres, "BEGIN", "DECLARE c SCROLL CURSOR FOR " + BY_KEY, describe(b"P", "c") + execute("c", 2) + execute("c", 1) + SYNC,
            "FETCH 1 FROM c", "FETCH PRIOR FROM c", execute("c") + SYNC, execute("c") + SYNC, close(b"P", "c") + SYNC, "FETCH 1 FROM c", "COMMIT")
    compare(server, postgres, "BEGIN", "DECLARE c BINARY CURSOR FOR " + BY_KEY, execute("c", 2) + SYNC, "COMMIT")


def test_names_of_portals_and_cursors_are_one(server, postgres):
    compare(server, postgres, "BEGIN", bound(BY_KEY) + execute("p", 1) + SYNC, "DECLARE p CURSOR FOR SELECT 1", "ROLLBACK",
            "BEGIN", "DECLARE p CURSOR FOR SELECT 1", bind("p", "s") + SYNC, "ROLLBACK")


def test_fetch_from_a_portal_that_fails(server, postgres):
    compare(server, postgres, "BEGIN", bound("SELECT 1 / (a - 1) FROM x_portal ORDER BY a") + SYNC, "SAVEPOINT s", "FETCH 1 FROM p",
            "ROLLBACK TO s", execute("p") + SYNC, "ROLLBACK")


def test_where_current_of_a_bound_portal_is_not_supported(server):
    with server.connect() as connection:
        connection.run(AFTER + TABLE + "; BEGIN")
        connection.send(bound(BY_KEY) + SYNC)
        connection.read_until(b"Z")
        connection.run("FETCH 1 FROM p")
        error = connection.run_error("UPDATE x_portal SET b = 'cur' WHERE CURRENT OF p")
        assert error["C"] == "0A000", error
