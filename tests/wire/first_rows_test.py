"""The first rows of joins and subqueries, read in windows of several round trips, are of one moment while transactions move and change them."""
import json
import re
import threading
import time

from harness.crew import crew

SECONDS, ROWS, MOVED = 3, 600, 40
TABLES = """
    CREATE TABLE walked (id int PRIMARY KEY, at timestamp NOT NULL, tag int NOT NULL, children int NOT NULL);
    CREATE TABLE detail (id int PRIMARY KEY, tag int NOT NULL, kind int NOT NULL);
    CREATE TABLE child (id int PRIMARY KEY, walked int NOT NULL);
    CREATE INDEX ON walked (at);
    CREATE INDEX ON detail USING hash (kind);
    CREATE INDEX ON child USING hash (walked);
"""


def fill(connection):
    connection.run(TABLES)
    connection.run(f"INSERT INTO walked SELECT g, timestamp '2024-01-01' + g * interval '1 minute', g, g % 3 FROM generate_series(1, {ROWS}) g")
    connection.run(f"INSERT INTO detail SELECT g, g, g % 9 FROM generate_series(1, {ROWS}) g")
    connection.run(f"INSERT INTO child SELECT g * 10 + n, g FROM generate_series(1, {ROWS}) g, generate_series(1, 2) n WHERE n <= g % 3")


def write(connection):
    """Each transaction moves a row in the order, gives both of its halves another tag, and a child or none to it."""
    turn, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end or turn < 20:
        turn += 1
        id, minutes = ROWS - turn % MOVED, turn * 37 % (2 * ROWS)
        connection.run("BEGIN")
        connection.run(f"UPDATE walked SET at = timestamp '2024-01-01' + {minutes} * interval '1 minute', tag = {turn}, children = {turn % 2} WHERE id = {id}")
        connection.run(f"UPDATE detail SET tag = {turn} WHERE id = {id}")
        connection.run(f"DELETE FROM child WHERE walked = {id}")
        connection.run(f"INSERT INTO child SELECT {ROWS * 10 + turn}, {id} WHERE {turn % 2} = 1")
        connection.run("COMMIT")


PAGES = [
    # Rows, and whether the last two columns of each are equal.
    ("SELECT w.at, w.id, w.tag, d.tag FROM walked w JOIN detail d ON d.id = w.id ORDER BY w.at DESC, w.id LIMIT 12", 12),
    ("SELECT w.at, w.id, w.tag, d.tag FROM walked w JOIN detail d ON d.id = w.id WHERE d.kind = 4 ORDER BY w.at DESC, w.id LIMIT 12", 12),
    ("SELECT w.at, w.id, w.tag, d.tag FROM walked w LEFT JOIN detail d ON d.id = w.id ORDER BY w.at, w.id LIMIT 12 OFFSET 300", 12),
    ("SELECT w.at, w.id, w.children, (SELECT count(*) FROM child c WHERE c.walked = w.id) FROM walked w ORDER BY w.at DESC, w.id LIMIT 30", 30),
    ("SELECT w.at, w.id, w.children, x.n FROM walked w, LATERAL (SELECT count(*) AS n FROM child c WHERE c.walked = w.id) x ORDER BY w.at DESC, w.id LIMIT 30", 30),
    ("SELECT w.at, w.id, w.children, 1 FROM walked w WHERE w.children < 2 AND EXISTS (SELECT 1 FROM child c WHERE c.walked = w.id) ORDER BY w.at DESC, w.id LIMIT 20", 20),
    ("SELECT w.at, w.id, w.children, 0 FROM walked w WHERE NOT EXISTS (SELECT 1 FROM child c WHERE c.walked = w.id) ORDER BY w.at DESC, w.id LIMIT 20", 20),
]


def test_pages_are_of_one_moment(make_server):
    server = make_server()
    with server.connect() as connection:
        fill(connection)
    ended = threading.Event()

    def work(number):
        with server.connect() as connection:
            if number == 0:
                try:
                    write(connection)
                finally:
                    ended.set()
                return
            while not ended.is_set():
                for page, count in PAGES:
                    rows = connection.run(page)
                    assert len(rows) == count, (page, len(rows))
                    assert all(row[2] == row[3] for row in rows), (page, rows)
                    times = [row[0] for row in rows]
                    assert times == sorted(times, reverse="DESC" in page), (page, times)

    with crew(work, 3):
        pass


def test_windows_take_few_commands(make_server):
    server = make_server()
    with server.connect() as connection, server.redis_connection() as redis:
        fill(connection)
        for page, _ in PAGES:
            connection.run(page)
            before = int(redis.info("stats")["total_commands_processed"])
            connection.run(page)
            commands = int(redis.info("stats")["total_commands_processed"]) - before
            assert commands < ROWS, (page, commands)  # one for each row would be a walk of the whole table


WAYS = ["Ordered Index Scan", "Top-N Sort"]


def titles_of(plan):
    return [plan["Node Type"], *(title for below in plan.get("Plans", []) for title in titles_of(below))]


def test_the_way_that_is_not_taken_is_shown_by_verbose_only(make_server):
    walk = "SELECT id FROM walked WHERE tag BETWEEN 3 AND 590 ORDER BY at LIMIT 3"
    few = "SELECT id FROM walked WHERE tag BETWEEN 3 AND 4 ORDER BY at LIMIT 3"
    server = make_server()
    with server.connect() as connection:
        fill(connection)
        connection.run("CREATE INDEX ON walked (tag)")

        def titles(options, query):
            text = [line for (line,) in connection.run(f"EXPLAIN ({options}) {query}")]
            tree = titles_of(json.loads(connection.run(f"EXPLAIN ({options}, FORMAT JSON) {query}")[0][0])[0]["Plan"])
            shown = [title for title in WAYS if title in tree]
            assert shown == [title for title in WAYS if any(re.match(f" *->  {title}", line) for line in text)], text
            assert any("Second Way: Top-N Sort" in line for line in text), text
            return shown

        assert titles("COSTS OFF", walk) == WAYS[:1]
        assert titles("VERBOSE", walk) == WAYS
        assert titles("ANALYZE", walk) == WAYS[:1]
        assert WAYS[1] in titles("ANALYZE", few)
        assert titles("ANALYZE, VERBOSE", few) == WAYS
