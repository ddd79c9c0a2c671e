"""User-made types belong to the definitions that a statement holds: other databases and other sessions have other ones at the same time."""
from harness.pgwire import SYNC, bind, execute, parse


def run_all(connection, *statements):
    for statement in statements:
        connection.run(statement)


def copy_database(redis, source, target):
    """Copies all keys of a logical database, as a restored backup has them."""
    with redis.connect() as raw:
        raw("SELECT", source)
        for key in raw("KEYS", "*"):
            raw("COPY", key, key, "DB", target, "REPLACE")


def number_of(redis, name):
    with redis.connect() as raw:
        return int(raw.hash("redquel:databases")[name])


def test_two_databases_have_types_of_the_same_oid(make_redis, make_server):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as admin:
        run_all(admin, "CREATE DATABASE one", "CREATE DATABASE two")
    with server.connect(database="one") as one:
        run_all(one, "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')", "CREATE TYPE pair AS (a int, m mood)",
                "CREATE TABLE t (id int PRIMARY KEY, m mood, p pair)",
                "INSERT INTO t VALUES (1, 'happy', (1, 'ok')), (2, 'sad', (2, 'sad')), (3, 'ok', NULL)")
        copy_database(redis, number_of(redis, "one"), number_of(redis, "two"))
        with server.connect(database="two") as two:
            assert two.run("SELECT id FROM t ORDER BY m") == [["2"], ["3"], ["1"]]
            run_all(two, "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'", "ALTER TYPE mood ADD VALUE 'first' BEFORE 'blue'",
                    "ALTER TYPE pair ADD ATTRIBUTE c int")
            assert two.run("SELECT enum_range(NULL::mood), (SELECT p FROM t WHERE id = 2)") == [["{first,blue,ok,happy}", "(2,blue,)"]]
            for _ in range(2):  # in turns
                assert one.run("SELECT enum_range(NULL::mood), 'sad'::mood") == [["{sad,ok,happy}", "sad"]]
                assert one.run("SELECT p, (p).m FROM t WHERE m = 'sad'") == [["(2,sad)", "sad"]]
                assert one.run_error("SELECT 'blue'::mood")["C"] == "22P02"
                assert two.run("SELECT p, (p).c FROM t WHERE m = 'blue'") == [["(2,blue,)", None]]
                assert two.run_error("SELECT 'sad'::mood")["C"] == "22P02"
            run_all(one, "INSERT INTO t VALUES (4, 'sad', (4, 'happy'))", "DROP TABLE t", "DROP TYPE pair", "DROP TYPE mood")
            assert two.run("SELECT id, m, p FROM t ORDER BY m DESC, id LIMIT 2") == [["1", "happy", "(1,ok,)"], ["3", "ok", None]]


def test_a_held_cursor_shows_rows_with_the_type_that_they_were_read_with(server):
    with server.connect() as session, server.connect() as other:
        run_all(other, "CREATE TYPE held_pair AS (a int, b text, c int)", "CREATE TABLE held (id int PRIMARY KEY, p held_pair)",
                "INSERT INTO held VALUES (1, (1, 'x', 2)), (2, (3, 'y', 4))")
        run_all(session, "BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT p FROM held ORDER BY id", "COMMIT")
        run_all(other, "ALTER TYPE held_pair DROP ATTRIBUTE b")
        assert session.run("SELECT p FROM held ORDER BY id") == [["(1,2)"], ["(3,4)"]]
        assert session.run("FETCH 1 FROM c") == [["(1,x,2)"]]
        run_all(other, "DROP TABLE held", "DROP TYPE held_pair")
        assert session.run("FETCH 1 FROM c") == [["(3,y,4)"]]
        run_all(session, "CLOSE c")


def test_a_portal_goes_on_with_the_types_of_its_definitions(server):
    with server.connect() as session, server.connect() as other:
        run_all(other, "CREATE TYPE kept_pair AS (a int, b text)", "CREATE TABLE kept (id int PRIMARY KEY, p kept_pair)",
                "INSERT INTO kept VALUES (1, (1, 'x')), (2, (3, 'y'))")
        run_all(session, "BEGIN")
        session.send(parse("SELECT p FROM kept ORDER BY id") + bind("half") + execute("half", 1) + SYNC)
        first = session.results()[-1]
        assert first.texts() == [["(1,x)"]], first
        run_all(session, "CREATE TYPE beside AS ENUM ('a')")
        assert session.run("SELECT 'a'::beside") == [["a"]]
        session.send(execute("half") + SYNC)
        rest = session.results()[-1]
        assert rest.texts() == [["(3,y)"]], rest
        run_all(session, "ROLLBACK")
        assert session.run_error("SELECT 'a'::beside")["C"] == "42704"
        run_all(other, "DROP TABLE kept", "DROP TYPE kept_pair")


def test_a_transaction_sees_the_types_that_it_has_changed(server):
    with server.connect() as session, server.connect() as other:
        run_all(session, "CREATE TYPE grown AS (a int)", "BEGIN", "ALTER TYPE grown ADD ATTRIBUTE b text")
        assert session.run("SELECT ROW(1, 'x')::grown, (ROW(2, 'y')::grown).b") == [["(1,x)", "y"]]
        assert other.run("SELECT ROW(1)::grown") == [["(1)"]]
        run_all(session, "ROLLBACK")
        assert session.run("SELECT ROW(1)::grown") == [["(1)"]]
        run_all(session, "DROP TYPE grown")


def test_many_temporary_tables_leave_no_types_behind(server):
    with server.connect() as session:
        for number in range(20):
            run_all(session, f"CREATE TEMP TABLE passing (a int, b text{', c int' * (number % 2)})")
            assert session.run("INSERT INTO passing VALUES (1, 'x') RETURNING passing::text") == [["(1,x,)" if number % 2 else "(1,x)"]]
            run_all(session, "DROP TABLE passing")


def test_a_portal_reads_labels_that_came_after_its_first_rows(server):
    with server.connect() as session, server.connect() as other:
        run_all(other, "CREATE TYPE late AS ENUM ('a', 'b')", "CREATE TABLE late_rows (id int PRIMARY KEY, l late)",
                "INSERT INTO late_rows SELECT g, 'a' FROM generate_series(1, 20000) g")
        session.send(parse("SELECT id, l, l > 'a' FROM late_rows ORDER BY id") + bind("slow") + execute("slow", 1))
        session.send(b"H\0\0\0\4")  # Flush: the portal's transaction stays open
        assert session.read_until(b"s", b"E")[-1][0] == b"s"
        run_all(other, "ALTER TYPE late ADD VALUE 'c'", "INSERT INTO late_rows SELECT g, 'c' FROM generate_series(20001, 40000) g")
        session.send(execute("slow") + SYNC)
        rest = session.results()[-1]
        assert not rest.error, rest.error
        assert {row[1] for row in rest.texts()} <= {"a", "c"} and len(rest.rows) >= 19999
        run_all(other, "DROP TABLE late_rows", "DROP TYPE late")


def test_a_transaction_knows_its_types_while_it_reads_committed_definitions(server):
    with server.connect() as session:
        # REFRESH and TRUNCATE look at the committed definitions; the commit encodes rows of the new types.
        session.run("CREATE TYPE fresh AS (a int, b text); CREATE TABLE fresh_rows (id int PRIMARY KEY, f fresh); "
                    "CREATE MATERIALIZED VIEW fresh_count AS SELECT f, count(*) FROM fresh_rows GROUP BY f; "
                    "INSERT INTO fresh_rows VALUES (1, (1, 'x')); TRUNCATE fresh_rows; "
                    "INSERT INTO fresh_rows VALUES (2, (2, 'y')); REFRESH MATERIALIZED VIEW fresh_count")
        assert session.run("SELECT * FROM fresh_count") == [["(2,y)", "1"]]
        run_all(session, "DROP MATERIALIZED VIEW fresh_count", "DROP TABLE fresh_rows", "DROP TYPE fresh")
