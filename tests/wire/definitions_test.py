"""Reads whose first rows have gone out while somebody else changes definitions: they go on unless it is their own table."""
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


def test_definitions_of_its_own_table_end_it(server):
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
