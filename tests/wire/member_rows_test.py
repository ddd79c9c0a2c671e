"""Joins of the members of a set with the rows whose keys they are see one moment of both, while transactions change them."""
import threading
import time

from harness.crew import crew

SECONDS = 3
POOL = 10  # items of which a half is in the set, in turns


def fill(connection, members):
    connection.run("CREATE TABLE item (id int PRIMARY KEY, v int NOT NULL); CREATE TABLE link (shelf int, item int, PRIMARY KEY (shelf, item)); CREATE INDEX ON link USING hash (shelf)")
    connection.run(f"INSERT INTO item SELECT i, CASE WHEN i <= {POOL // 2} THEN 1 WHEN i <= {POOL} THEN 100 ELSE 0 END FROM generate_series(1, {members + POOL}) i")
    connection.run(f"INSERT INTO link SELECT 1, i FROM generate_series(1, {members + POOL}) i WHERE i <= {POOL // 2} OR i > {POOL}")
    connection.run("INSERT INTO link SELECT 2, i FROM generate_series(1, 20) i")


def see_one_moment(server, members):
    half = POOL // 2
    ended = threading.Event()

    def write(connection):
        rounds, end = 0, time.monotonic() + SECONDS
        while time.monotonic() < end or rounds < 10:
            rounds += 1
            come, go = ((half + 1, POOL), (1, half)) if rounds % 2 else ((1, half), (half + 1, POOL))
            connection.run("BEGIN")
            connection.run(f"DELETE FROM link WHERE shelf = 1 AND item BETWEEN {go[0]} AND {go[1]}")
            connection.run(f"UPDATE item SET v = 100 WHERE id BETWEEN {go[0]} AND {go[1]}")
            connection.run(f"UPDATE item SET v = 1 WHERE id BETWEEN {come[0]} AND {come[1]}")
            connection.run(f"INSERT INTO link SELECT 1, i FROM generate_series({come[0]}, {come[1]}) i")
            connection.run("COMMIT")

    def work(number):
        with server.connect() as connection:
            if number == 0:
                try:
                    write(connection)
                finally:
                    ended.set()
                return
            connection.run(f"SET redquel.cache = {'on' if number == 1 else 'off'}")
            while not ended.is_set():
                assert connection.run("SELECT count(*), sum(v) FROM link JOIN item ON item.id = link.item WHERE shelf = 1") == [[str(members + half), str(half)]]
                assert connection.run("SELECT count(*) FROM item WHERE v < 100 AND id IN (SELECT item FROM link WHERE shelf = 1)") == [[str(members + half)]]
                assert connection.run("SELECT count(*) FROM link JOIN item ON item.id = link.item WHERE shelf = 3") == [["0"]]

    with crew(work, 4):
        pass


def test_joins_of_a_small_set_see_one_moment(make_server):
    server = make_server()
    with server.connect() as connection:
        fill(connection, 20)
    see_one_moment(server, 20)


def test_joins_of_a_set_that_is_read_apart_from_its_rows_see_one_moment(make_server):
    server = make_server()
    with server.connect() as connection:
        fill(connection, 2500)
    see_one_moment(server, 2500)
