"""Transactions with definitions of their own beside others' definitions: only what concerns the same objects is in the way."""

import select

from harness import interleaving
from harness.crew import all_at_once
from harness.pgwire import COPY_DONE, ServerError, copy_data, query
from harness.waiting import wait_for

SLOW = True
SETUP = """
    DROP SCHEMA IF EXISTS side CASCADE; DROP SCHEMA IF EXISTS aside CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public;
    CREATE SCHEMA side;
    CREATE TABLE parent (id integer PRIMARY KEY, n integer);
    CREATE TABLE apart (id integer PRIMARY KEY, n integer);
    INSERT INTO parent SELECT g, g FROM generate_series(1, 5) g; INSERT INTO apart SELECT g, g FROM generate_series(1, 5) g;
    CREATE TYPE mood AS ENUM ('good', 'bad');
"""
# Reads the final state: relations, columns, rows.
READ = """
    SELECT n.nspname, c.relname, c.relkind::text, coalesce((SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'side', 'aside')
    UNION ALL SELECT 'type', typname, '', '' FROM pg_type WHERE typname IN ('mood', 'temper', 'tone')
    UNION ALL SELECT 'rows', count(*)::text, sum(id)::text, sum(n)::text FROM parent
    UNION ALL SELECT 'rows', count(*)::text, sum(id)::text, sum(n)::text FROM apart
    ORDER BY 1, 2, 3
"""
MINE = ("CREATE TABLE made (id integer PRIMARY KEY, n integer)", "ALTER TABLE parent ADD COLUMN more integer DEFAULT 7", "CREATE INDEX ON parent (n)",
        "CREATE UNIQUE INDEX unique_n ON parent (n)", "CREATE VIEW seen AS SELECT id FROM parent", "CREATE SEQUENCE counted", "TRUNCATE parent",
        "ALTER TABLE parent ALTER COLUMN n TYPE bigint", "CREATE TYPE temper AS ENUM ('hot')", "CREATE TABLE child (id serial PRIMARY KEY, p integer REFERENCES parent)",
        "DROP TABLE parent CASCADE; CREATE TABLE parent (id integer, n integer)", "CREATE TABLE side.made (m mood)", "ALTER TABLE parent RENAME TO made; CREATE TABLE parent (id integer, n integer)")
THEIRS = ("CREATE TABLE other (id serial PRIMARY KEY)", "ALTER TABLE apart ADD COLUMN more integer", "DROP TABLE apart; CREATE TABLE apart (id integer, n integer)",
          "CREATE VIEW shown AS SELECT n FROM apart", "CREATE TYPE tone AS ENUM ('low')", "CREATE SCHEMA aside; CREATE TABLE aside.made (id integer)",
          "CREATE TEMP TABLE passing (id integer PRIMARY KEY)", "ALTER TYPE mood ADD VALUE 'so so'", "CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql "
          "AS 'SELECT 2 * n'", "TRUNCATE apart", "CREATE INDEX ON apart (n)")


def same(server, postgres, steps):
    interleaving.same(server, postgres, SETUP, READ, steps, waits=False)


def test_definitions_of_other_objects_do_not_disturb(server, postgres):
    for number, mine in enumerate(MINE):
        steps = ["a: BEGIN", f"a!: {mine}"]
        for theirs in THEIRS[number % 3::3]:
            steps += [f"b!: {part}" for part in theirs.split("; ")]
        same(server, postgres, [*steps, "a!: INSERT INTO apart VALUES (100, 100)", "a!: COMMIT"])
    for number, theirs in enumerate(THEIRS):
        mine = MINE[number % len(MINE)]
        same(server, postgres, ["a: BEGIN", f"a!: {mine}", *[f"b!: {part}" for part in theirs.split("; ")], "a!: COMMIT"])


def test_definitions_of_other_sessions_are_seen(server, postgres):
    same(server, postgres, ["a: BEGIN", "a!: CREATE TABLE made (id integer PRIMARY KEY, n integer)", "b!: CREATE TABLE other (id integer PRIMARY KEY, word text)",
                            "b!: INSERT INTO other VALUES (1, 'x')", "a!: SELECT * FROM other", "a!: INSERT INTO other VALUES (2, 'y')",
                            "a!: CREATE VIEW seen AS SELECT word FROM other", "b!: CREATE TABLE another (id integer)", "a!: SELECT * FROM seen", "a!: COMMIT",
                            "b!: SELECT * FROM seen"])


def test_savepoints_go_back_to_their_own_definitions_only(server, postgres):
    same(server, postgres, ["a: BEGIN", "a!: CREATE TABLE made (id integer PRIMARY KEY, n integer)", "a!: SAVEPOINT s",
                            "a!: ALTER TABLE made ADD COLUMN more integer", "b!: CREATE TABLE other (id integer)", "a!: INSERT INTO made VALUES (1, 2, 3)",
                            "a!: ROLLBACK TO s", "a!: INSERT INTO made VALUES (1, 2)", "a!: SELECT count(*) FROM other", "a!: COMMIT", "a!: SELECT * FROM made"])
    # The first definition was made after the savepoint.
    same(server, postgres, ["a: BEGIN", "a!: INSERT INTO apart VALUES (6, 6)", "a!: SAVEPOINT s", "a!: ALTER TABLE parent ADD COLUMN more integer",
                            "b!: CREATE TABLE other (id integer)", "a!: ROLLBACK TO s", "b!: CREATE TABLE another (id integer)",
                            "a!: CREATE TABLE made (id integer)", "a!: COMMIT"])
    # Rows that a definition has copied are taken back, and copied again as they are then.
    same(server, postgres, ["a: BEGIN", "a!: SAVEPOINT s", "a!: CREATE UNIQUE INDEX one_n ON parent (n)", "a!: ROLLBACK TO s",
                            "a!: DELETE FROM parent WHERE id = 3", "a!: CREATE UNIQUE INDEX one_n ON parent (n)", "b!: CREATE TABLE other (id integer)", "a!: COMMIT",
                            "a!: SELECT id FROM parent WHERE n = 3", "a!: SELECT id FROM parent WHERE id = 3", "a!: INSERT INTO parent VALUES (3, 3)"])


def test_two_transactions_define_objects_of_one_table(server):
    """PostgreSQL makes the second wait. Here it may wait, too, or go on and lose: whole, either way."""
    index, child, made = ["public", "parent_n_idx", "i", "n"], ["public", "child", "r", "p"], ["public", "made", "r", "p"]
    for mine, is_mine, theirs, is_theirs in (
            ("ALTER TABLE parent ADD COLUMN a integer", lambda rows: parent_columns(rows) & {"a"},
             "ALTER TABLE parent ADD COLUMN b integer", lambda rows: parent_columns(rows) & {"b"}),
            ("CREATE INDEX ON parent (n)", lambda rows: index in rows, "TRUNCATE parent", lambda rows: ["rows", "0", None, None] in rows),
            ("CREATE TABLE child (p integer REFERENCES parent)", lambda rows: child in rows,
             "CREATE TABLE made (p integer REFERENCES parent)", lambda rows: made in rows)):
        for end in ("COMMIT", "ROLLBACK"):
            log = interleaving.play(server, SETUP, READ, ["a: BEGIN", f"a!: {mine}", "b: BEGIN", "b!: CREATE TABLE other (id integer)", f"b: {theirs}",
                                                          f"a!: {end}", "b!: COMMIT"])
            steps, rows = log[:-1], log[-1][2]
            assert [answer for step, _, answer in steps if step.startswith("a")] == [[], [], []], log
            lost = [answer for step, _, answer in steps if step.startswith("b") and answer]
            assert lost in ([], ["40001"]), log
            assert bool(is_mine(rows)) == (end == "COMMIT"), log
            assert bool(is_theirs(rows)) == (["public", "other", "r", "id"] in rows) == (not lost), log
            with server.connect() as connection:
                assert connection.run("SELECT * FROM redquel.check_indexes('parent')") == []


def parent_columns(rows):
    return {name for _, relation, kind, names in rows if (relation, kind) == ("parent", "r") for name in names.split(",")}


def test_definitions_that_depend_on_changed_objects_conflict(server):
    """PostgreSQL makes the others wait."""
    for mine, theirs in (("CREATE VIEW seen AS SELECT n FROM parent", "ALTER TABLE parent RENAME COLUMN n TO m"),
                         ("CREATE VIEW seen AS SELECT n FROM parent", "DROP TABLE parent"),
                         ("CREATE TABLE made (m mood)", "DROP TYPE mood"),
                         ("CREATE TABLE side.made (id integer)", "DROP SCHEMA side"),
                         ("DROP SCHEMA side", "CREATE TABLE side.made (id integer)"),
                         ("ALTER TABLE apart RENAME COLUMN n TO m", "CREATE VIEW seen AS SELECT n FROM apart"),
                         ("CREATE TABLE made (id integer)", "CREATE TABLE made (n integer)"),
                         ("CREATE TABLE made (id integer)", "CREATE VIEW made AS SELECT 1"),
                         ("CREATE SCHEMA aside", "CREATE SCHEMA aside"),
                         ("CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * n'",
                          "CREATE FUNCTION twice(m integer) RETURNS integer LANGUAGE sql AS 'SELECT m + m'")):
        with server.connect() as a, server.connect() as b:
            b.run(SETUP)
            a.run(f"BEGIN; {mine}")
            b.run(theirs)
            left = b.run(READ) if "parent" not in theirs else []
            try:
                a.run("COMMIT")
            except ServerError as error:
                assert error.sqlstate == "40001", (mine, theirs, error)
            else:
                raise AssertionError(f"{mine} beside {theirs} was committed")
            if left:
                assert b.run(READ) == left, (mine, theirs)


def test_many_transactions_with_definitions(server):
    """Each makes tables of its own, all at once: none fails, none is lost, no two objects have one oid."""
    workers, rounds = 6, 8

    def work(number):
        with server.connect() as client:
            for turn in range(rounds):
                client.run("BEGIN")
                client.run(f"CREATE TABLE many_{number}_{turn} (id serial PRIMARY KEY, word text UNIQUE)")
                client.run(f"INSERT INTO many_{number}_{turn} (word) SELECT 'w' || g FROM generate_series(1, 20) g")
                client.run(f"CREATE VIEW many_view_{number}_{turn} AS SELECT word FROM many_{number}_{turn} WHERE word <> 'w7'")
                if turn % 4 == 3:
                    client.run(f"DROP TABLE many_{number}_{turn - 1} CASCADE")
                client.run("COMMIT")
                client.run(f"CREATE TABLE alone_{number}_{turn} (id integer PRIMARY KEY)")

    all_at_once(work, workers)
    with server.connect() as client:
        tables = client.run("SELECT relname FROM pg_class WHERE relname LIKE 'many%' AND relkind = 'r'")
        assert len(tables) == workers * (rounds - rounds // 4), len(tables)
        assert client.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'alone%' AND relkind = 'r'") == [[str(workers * rounds)]]
        assert client.run("SELECT oid FROM pg_class WHERE oid >= 16384 GROUP BY oid HAVING count(*) > 1") == []
        for (name,) in tables:
            assert client.run(f"SELECT count(*), max(id) - min(id) FROM {name}") == [["20", "19"]], name
            assert client.run(f"SELECT count(*) FROM {name.replace('many', 'many_view')}") == [["19"]], name
            assert client.run(f"SELECT * FROM redquel.check_indexes('{name}')") == [], name


def lines_of(first, last):
    return copy_data(b"".join(b"word %d\t%d\n" % (i, 1 + i % 2) for i in range(first, last)))


def copy_beside(session, other, before, rows):
    """COPY t whose data come when others have made definitions since it began, and once more between its data."""
    for sql in ("DROP TABLE IF EXISTS t, known, made_1, made_2", "CREATE TABLE known (id integer PRIMARY KEY)", "INSERT INTO known VALUES (1), (2)",
                "CREATE TABLE t (id serial PRIMARY KEY, word text UNIQUE, known integer REFERENCES known)", *before):
        session.run(sql)
    session.send(query("COPY t (word, known) FROM STDIN"))
    session.read_until(b"G")
    other.run("CREATE TABLE made_1 (id serial PRIMARY KEY)")
    session.send(lines_of(0, rows // 2))
    other.run("CREATE TABLE made_2 (id integer UNIQUE)")  # also while the COPY of many rows has its table for itself
    session.send(lines_of(rows // 2, rows) + COPY_DONE)
    result = session.results()[-1]
    assert not result.error and result.tag == f"COPY {rows}", (before, rows, result.error, result.tag)
    if before:
        session.run("COMMIT")
    assert other.run("SELECT count(*), count(DISTINCT id), max(known) FROM t") == [[str(rows), str(rows), "2"]]


def test_copy_goes_on_beside_definitions(server):
    session, other = server.connect(), server.connect()
    for rows in (4, 6000):
        copy_beside(session, other, [], rows)
        copy_beside(session, other, ["BEGIN"], rows)
        copy_beside(session, other, ["BEGIN", "TRUNCATE t"], rows)
        copy_beside(session, other, ["ALTER TABLE t DROP CONSTRAINT t_known_fkey", "BEGIN", "TRUNCATE t"], rows)
    session.close()
    other.close()


def test_definitions_wait_for_statements_of_many_rows_over_their_own_tables(server, redis):
    """The COPY has t for itself. Definitions of t wait, those of other tables do not; no row is lost."""
    rows = 6000
    with server.connect() as session, server.connect() as waiter, server.connect() as other, redis.connect() as raw:
        other.run("DROP TABLE IF EXISTS t, apart, made; CREATE TABLE t (id serial PRIMARY KEY, word text UNIQUE, known integer)")
        other.run("CREATE TABLE apart (id integer PRIMARY KEY, n integer); INSERT INTO apart SELECT g, g FROM generate_series(1, 100) g")
        session.send(query("COPY t (word, known) FROM STDIN"))
        session.read_until(b"G")
        session.send(lines_of(0, rows - 1))
        wait_for(lambda: raw("EXISTS", "redquel:exclusive"), what="the exclusive table")
        for sql in ("ALTER TABLE t ADD COLUMN more integer", "DROP TABLE t", "CREATE UNIQUE INDEX ON t (known)", "TRUNCATE t"):
            assert other.query(f"SET lock_timeout = '50ms'; {sql}")[-1].sqlstate == "55P03", sql
        waiter.send(query("ALTER TABLE t ADD COLUMN more integer DEFAULT 7"))
        for sql in ("CREATE TABLE made (id serial PRIMARY KEY)", "ALTER TABLE apart ADD COLUMN more integer DEFAULT 7", "CREATE INDEX ON apart (n)",
                    "CREATE UNIQUE INDEX ON apart (n)", "TRUNCATE made", "CREATE VIEW seen AS SELECT n FROM apart", "DROP VIEW seen",
                    "ALTER TABLE apart ALTER COLUMN n TYPE bigint", "CREATE TYPE passing AS ENUM ('a')", "DROP TYPE passing",
                    "BEGIN; CREATE TABLE more_made (id integer); INSERT INTO apart VALUES (101, 101); COMMIT", "DROP TABLE made, more_made"):
            other.run(sql)
        assert not select.select([waiter.socket], [], [], 0)[0], "the definition of t did not wait"
        session.send(lines_of(rows - 1, rows) + COPY_DONE)
        result = session.results()[-1]
        assert not result.error and result.tag == f"COPY {rows}", (result.error, result.tag)
        made = waiter.results()[-1]
        assert not made.error and made.tag == "ALTER TABLE", made.error
        assert other.run("SELECT count(*), count(DISTINCT id), sum(more) FROM t") == [[str(rows), str(rows), str(7 * rows)]]
        for table, expected in (("t", rows), ("apart", 101)):
            assert other.run(f"SELECT count(*) FROM {table}") == [[str(expected)]]
            assert other.run(f"SELECT * FROM redquel.check_indexes('{table}')") == [], table
