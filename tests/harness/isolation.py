"""The table that tests of isolation and locks share, and its interleavings (interleaving.py)."""
from harness import interleaving

SETUP = ("DROP TABLE IF EXISTS iso; CREATE TABLE iso (id integer PRIMARY KEY, value integer, word text UNIQUE);"
         "INSERT INTO iso VALUES (1, 10, 'a'), (2, 20, 'b')")
READ = "SELECT id, value FROM iso ORDER BY id"


def play(server, steps, database=None):
    return interleaving.play(server, SETUP, READ, steps, database)


def same(server, postgres, steps):
    interleaving.same(server, postgres, SETUP, READ, steps)


def both(level, *steps):
    return [f"a: BEGIN ISOLATION LEVEL {level}", f"b: BEGIN ISOLATION LEVEL {level}", *steps]
