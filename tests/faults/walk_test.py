"""Walks along an index while others write: rows that stay are met once, rows that move are met with values of their own."""
import threading

CONCURRENT = True
ROWS, MOVING, WRITERS, READS = 5_000, 1_000, 3, 12
TABLE = """
    CREATE TABLE walked (id integer PRIMARY KEY, score integer NOT NULL, part integer NOT NULL, note text NOT NULL);
    CREATE INDEX ON walked (score);
    CREATE INDEX ON walked USING hash (part);
"""
# Rows up to ROWS stay, with their id as score; those behind them come, go and move among them.


class Writer(threading.Thread):
    def __init__(self, server, random, stop):
        super().__init__(daemon=True)
        self.server, self.random, self.stop = server, random, stop
        self.failure = None

    def run(self):
        try:
            with self.server.connect(timeout=120) as connection:
                while not self.stop.is_set():
                    id, score = ROWS + self.random.randrange(1, MOVING), self.random.randrange(-100, ROWS + 100)
                    connection.run(self.random.choice((
                        f"INSERT INTO walked VALUES ({id}, {score}, 1, 'n' || {score}) ON CONFLICT DO NOTHING",
                        f"UPDATE walked SET score = {score}, note = 'n' || {score} WHERE id = {id}",
                        f"DELETE FROM walked WHERE id = {id}")))
        except Exception as error:
            self.failure = error


def test_ranges_among_writers(make_redis, make_server, random):
    redis = make_redis()
    servers = [make_server(redis=redis), make_server(redis=redis)]
    with servers[0].connect() as connection:
        connection.run(TABLE)
        connection.run(f"INSERT INTO walked SELECT g, g, g % 7, 'n' || g FROM generate_series(1, {ROWS}) g")
        stop = threading.Event()
        writers = [Writer(servers[number % 2], random, stop) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            for turn in range(READS):
                low, high = sorted(random.sample(range(1, ROWS), 2))
                expected = list(range(low, high + 1))
                where = f"WHERE score BETWEEN {low} AND {high}"
                for columns in ("id, score, note", "id, score"):
                    for order in ("", "ORDER BY score", "ORDER BY score DESC"):
                        # Rows of a plain walk stream: this is the way without a snapshot of the whole.
                        rows = connection.run(f"SELECT {columns} FROM walked {where} {order}")
                        check(rows, expected, low, high, order)
                [[count, total]] = connection.run(f"SELECT count(*), sum(length(note) - length(score::text)) FROM walked {where}")
                assert int(count) >= len(expected) and count == total, (count, total)
                [[count, least]] = connection.run("SELECT count(*), count(DISTINCT part) FROM walked")
                assert int(count) >= ROWS and int(least) == 7
                [[count, parts]] = connection.run("SELECT count(part), sum(part) FROM walked WHERE part <> 1")
                assert (int(count), int(parts)) == of_parts(), (count, parts)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        assert not [writer.failure for writer in writers if writer.failure]
        assert connection.run("SELECT * FROM redquel.check_indexes('walked')") == []


def of_parts():
    parts = [g % 7 for g in range(1, ROWS + 1) if g % 7 != 1]
    return len(parts), sum(parts)


def check(rows, expected, low, high, order):
    ids = [int(row[0]) for row in rows]
    assert sorted(id for id in ids if id <= ROWS) == expected, "a row that stays was skipped or doubled"
    scores = [int(row[1]) for row in rows]
    assert all(low <= score <= high for score in scores)
    assert all(row[2] == f"n{row[1]}" for row in rows if len(row) > 2), "a row of two moments"
    if order:
        assert [score for id, score in zip(ids, scores) if id <= ROWS] == sorted(expected, reverse="DESC" in order)
