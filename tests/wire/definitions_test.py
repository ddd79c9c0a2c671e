"""Reads whose first rows have gone out while another session changes definitions: they go on unless it is their own table."""
import os

from harness.pgwire import SYNC, bind, describe, execute, parse

ROWS = 12_000  # more than one command of any walk reads
SETUP = f"""
    DROP TABLE IF EXISTS walked, apart;
    CREATE TABLE walked (id integer PRIMARY KEY, n integer, word text);
    CREATE INDEX ON walked (n);
    INSERT INTO walked SELECT g, nullif(g % 5000, 7), 'w' || g FROM generate_series(1, {ROWS}) g;
"""
WALKS = [
    "SELECT * FROM walked",                              # every row as it comes
    "SELECT n FROM walked ORDER BY n DESC NULLS LAST",   # the index alone, its NULLs at the end
    "SELECT * FROM walked ORDER BY n",                   # rows in the order of an index
    "SELECT w.id, v.id FROM walked w JOIN walked v ON v.id = w.n",
]


def begin(reader, walk):
    """The first rows, in a portal that stays open."""
    reader.run("BEGIN")
    reader.send(parse(walk) + bind("walk") + describe(b"P", "walk") + execute("walk", 10) + SYNC)
    result = reader.results()[0]
    assert result.suspended and len(result.rows) == 10
    return 10


def go_on(reader, count=0):
    reader.send(execute("walk", count) + SYNC)
    return reader.results()[0]


def test_definitions_of_others_do_not_end_a_walk(server):
    with server.connect() as reader, server.connect() as other:
        reader.run(SETUP)
        for walk in WALKS:
            expected = len(reader.query(walk)[0].rows)
            fetched = begin(reader, walk)
            for step in ("CREATE TABLE apart (i integer)", "CREATE INDEX ON apart (i)", "DROP TABLE apart", "CREATE TEMP TABLE apart (i integer)"):
                other.run(step)
                result = go_on(reader, 2000)
                assert not result.error, f"{walk} after {step}: {result.error}"
                fetched += len(result.rows)
            result = go_on(reader)
            assert not result.error, f"{walk} at its end: {result.error}"
            assert fetched + len(result.rows) == expected, walk
            reader.run("COMMIT")
            other.run("DROP TABLE apart")


def test_definitions_of_its_own_table_end_a_read(server):
    ended = []
    with server.connect() as reader, server.connect() as other:
        for walk in WALKS:
            reader.run(SETUP)
            expected = len(reader.query(walk)[0].rows)
            fetched = begin(reader, walk)
            other.run("DROP TABLE walked")
            result = go_on(reader)
            # Rows that had been read already are given: all of them, or an error.
            if result.error:
                assert result.sqlstate == "40001", f"{walk}: {result.error}"
                ended.append(walk)
            else:
                assert fetched + len(result.rows) == expected, walk
            reader.run("ROLLBACK")
    assert set(ended) >= set(WALKS[1:3]), ended


def connect_to_all_threads(server):
    """Sessions, more than there are threads, each of which has its own idea of the definitions."""
    return [server.connect() for _ in range(2 * len(os.sched_getaffinity(0)))]


def test_a_new_table_can_be_locked_in_its_transaction(server):
    sessions = connect_to_all_threads(server)
    for made in range(2):  # another table of the same name, too
        sessions[0].run("DROP TABLE IF EXISTS lockable; CREATE TABLE lockable (id integer)")
        oid = sessions[0].run("SELECT 'lockable'::regclass::oid")
        for session in sessions:
            session.run("BEGIN; LOCK TABLE lockable IN EXCLUSIVE MODE")
            assert session.run(f"SELECT DISTINCT relation FROM pg_locks WHERE locktype = 'relation' AND pid = {session.process_id}") == oid
            session.run("COMMIT")
    for session in sessions:
        session.close()


def test_nextval_has_the_newest_definition(server):
    sessions = connect_to_all_threads(server)
    sessions[0].run("DROP SEQUENCE IF EXISTS bounded; CREATE SEQUENCE bounded; DROP TABLE IF EXISTS numbered; CREATE TABLE numbered (id serial, n integer)")
    for session in sessions:
        session.run("SELECT nextval('bounded'); INSERT INTO numbered (n) VALUES (1)")
    for maximum in (100, 50):
        sessions[0].run(f"ALTER SEQUENCE bounded MAXVALUE {maximum} RESTART WITH {maximum}; SELECT nextval('bounded')")
        sessions[0].run(f"ALTER SEQUENCE numbered_id_seq MAXVALUE {maximum} RESTART WITH {maximum}; INSERT INTO numbered (n) VALUES (1)")
        for session in sessions:
            assert session.run_error("SELECT nextval('bounded')")["C"] == "2200H"
            assert session.run_error("INSERT INTO numbered (n) VALUES (1)")["C"] == "2200H"
    # The wait is as long if an open transaction has the definitions.
    sessions[1].run("BEGIN; ALTER SEQUENCE bounded MAXVALUE 70")
    for session in sessions[2:]:
        assert session.run_error("SELECT nextval('bounded')")["C"] == "2200H"
    assert sessions[1].run("SELECT nextval('bounded')") == [["51"]]
    sessions[1].run("COMMIT")
    for number, session in enumerate(sessions):
        assert session.run("SELECT nextval('bounded')") == [[str(52 + number)]]
        session.close()


def test_rows_of_the_simple_protocol_have_the_columns_of_now(server):
    sessions = connect_to_all_threads(server)
    sessions[0].run("DROP TABLE IF EXISTS growing; CREATE TABLE growing (id integer PRIMARY KEY); INSERT INTO growing VALUES (1)")
    queries = ["TABLE growing", "SELECT * FROM growing WHERE id = 1", "SELECT * FROM growing WHERE id > 0 ORDER BY 1",
               "INSERT INTO growing VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1 RETURNING *", "BEGIN; SELECT * FROM growing; COMMIT"]
    names = ["id"]
    for definition, name in (("ADD COLUMN word text DEFAULT 'w'", "word"), ("ADD COLUMN n integer DEFAULT 3", "n")):
        for session in sessions:
            for text in queries:
                session.run(text)
        sessions[0].run(f"ALTER TABLE growing {definition}")
        names.append(name)
        for number, session in enumerate(sessions):
            results = session.query(queries[number % len(queries)])
            result = next(result for result in results if result.columns)
            assert [column.name for column in result.columns] == names and result.texts() == [["1", "w", "3"][:len(names)]], results
    for session in sessions:
        session.close()
