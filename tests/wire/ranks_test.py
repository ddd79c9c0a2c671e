"""Ranks of single rows while another client changes scores, and in transactions."""
import threading

from harness.crew import crew

CONCURRENT = True
TABLE = """
DROP TABLE IF EXISTS x_board; CREATE TABLE x_board (player text PRIMARY KEY, score int, email text UNIQUE); CREATE INDEX ON x_board (score);
INSERT INTO x_board VALUES ('a', 1, 'a@x'), ('b', 2, 'b@x'), ('c', NULL, 'c@x')
"""
RANKED = "SELECT score, place FROM (SELECT player, email, score, rank() OVER (ORDER BY score DESC NULLS LAST) AS place FROM x_board) s WHERE "


def test_the_rank_belongs_to_the_score_beside_it(server):
    over = threading.Event()
    with server.connect() as reader:
        reader.run(TABLE)
        assert "Index Ranks" in str(reader.run("EXPLAIN " + RANKED + "player = 'a'"))

        def swap(_):
            with server.connect() as writer:
                while not over.is_set():
                    writer.run("UPDATE x_board SET score = 3 - score WHERE player IN ('a', 'b')")

        with crew(swap, 3):
            try:
                for _ in range(300):
                    for condition in ("player = 'a'", "email = 'b@x'", "player IN ('a', 'b')"):
                        rows = reader.run(RANKED + condition)
                        assert rows and all(int(score) + int(place) == 3 for score, place in rows), rows
            finally:
                over.set()
        reader.run("DROP TABLE x_board")


def test_a_snapshot_keeps_its_ranks(server):
    with server.connect() as reader, server.connect() as writer:
        reader.run(TABLE)
        reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert reader.run(RANKED + "player = 'a'") == [["1", "2"]]
        writer.run("INSERT INTO x_board VALUES ('d', 9, 'd@x')")
        result = reader.query(RANKED + "player = 'a'")[-1]
        assert result.sqlstate == "40001" or result.texts() == [["1", "2"]], (result.sqlstate, result.texts())
        reader.run("ROLLBACK")
        assert reader.run(RANKED + "player = 'a'") == [["1", "3"]]
        reader.run("DROP TABLE x_board")
