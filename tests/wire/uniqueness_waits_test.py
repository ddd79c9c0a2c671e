"""Constraints between two sessions: what an open transaction takes away or makes, and another one wants. Both wait as PostgreSQL does
(harness/interleaving.py)."""
from harness.interleaving import same

CONCURRENT = True
SLOW = True

UNIQUE = ("DROP TABLE IF EXISTS u; CREATE TABLE u (id int PRIMARY KEY, v text UNIQUE, a int, b int, n int, UNIQUE (a, b));"
          "CREATE UNIQUE INDEX u_partial ON u (n) WHERE n > 0; INSERT INTO u VALUES (1, 'x', 1, 1, 1), (2, 'y', 2, 2, 2)")
READ = "SELECT * FROM u ORDER BY id"
NULLS = ("DROP TABLE IF EXISTS u; CREATE TABLE u (id int PRIMARY KEY, v int UNIQUE NULLS NOT DISTINCT); INSERT INTO u VALUES (1, NULL), (2, 2)")
FAMILY = ("DROP TABLE IF EXISTS child, parent; CREATE TABLE parent (id int PRIMARY KEY, code text UNIQUE);"
          "CREATE TABLE child (id int PRIMARY KEY, of int REFERENCES parent, code text REFERENCES parent (code));"
          "INSERT INTO parent VALUES (1, 'a'), (2, 'b'); INSERT INTO child VALUES (10, 1, NULL), (20, NULL, 'b')")
FAMILY_READ = "SELECT 'parent', id, code, NULL FROM parent UNION ALL SELECT 'child', id, code, of FROM child ORDER BY 1, 2"

GIVE_UP = {"DELETE": "DELETE FROM u WHERE id = 1", "UPDATE": "UPDATE u SET v = 'z', a = 9, n = -1 WHERE id = 1",
           "UPDATE of the key, too": "UPDATE u SET id = 11, v = 'z', a = 9, n = -1 WHERE id = 1"}
WANT = {"INSERT of the value": "INSERT INTO u VALUES (3, 'x', 3, 3, 3)", "INSERT of several columns": "INSERT INTO u VALUES (3, 'c', 1, 1, 3)",
        "INSERT into the partial index": "INSERT INTO u VALUES (3, 'c', 3, 3, 1)", "UPDATE": "UPDATE u SET v = 'x' WHERE id = 2",
        "UPDATE of several columns": "UPDATE u SET a = 1, b = 1 WHERE id = 2",
        "DO NOTHING": "INSERT INTO u VALUES (3, 'x', 3, 3, 3) ON CONFLICT DO NOTHING",
        "DO NOTHING of the column": "INSERT INTO u VALUES (3, 'x', 3, 3, 3) ON CONFLICT (v) DO NOTHING",
        "DO UPDATE": "INSERT INTO u VALUES (3, 'x', 3, 3, 3) ON CONFLICT (v) DO UPDATE SET a = 77"}


def all_ends(server, postgres, setup, read, take, want, waits=True):
    """Both ends of the first transaction, the second one in a transaction and alone."""
    for end in ("COMMIT", "ROLLBACK"):
        same(server, postgres, setup, read, ["a: BEGIN", f"a: {take}", f"b: {want}", f"a: {end}"], waits)
        same(server, postgres, setup, read, ["a: BEGIN", "b: BEGIN", f"a: {take}", f"b: {want}", f"a: {end}", "b: COMMIT"], waits)


def test_values_that_an_open_transaction_gives_up(server, postgres):
    for take in GIVE_UP.values():
        for want in WANT.values():
            all_ends(server, postgres, UNIQUE, READ, take, want)


def test_values_that_no_transaction_gives_up(server, postgres):
    """PostgreSQL waits for the row's new version, which has the value, too; redquel need not."""
    for take in ("UPDATE u SET a = 9 WHERE id = 1", "SELECT FROM u WHERE id = 1 FOR NO KEY UPDATE", "UPDATE u SET v = v WHERE id = 1"):
        all_ends(server, postgres, UNIQUE, READ, take, WANT["INSERT of the value"], waits=False)


def test_a_null_that_an_open_transaction_gives_up(server, postgres):
    for take in ("DELETE FROM u WHERE id = 1", "UPDATE u SET v = 5 WHERE id = 1"):
        for want in ("INSERT INTO u VALUES (3, NULL)", "UPDATE u SET v = NULL WHERE id = 2"):
            all_ends(server, postgres, NULLS, "SELECT * FROM u ORDER BY id", take, want)


def test_a_value_that_two_transactions_hand_over(server, postgres):
    """The value goes with a savepoint's end, and comes again within the transaction."""
    same(server, postgres, UNIQUE, READ, ["a: BEGIN", "a: DELETE FROM u WHERE id = 1", "a: INSERT INTO u VALUES (4, 'x', 4, 4, 4)",
                                          "b: INSERT INTO u VALUES (3, 'x', 3, 3, 3)", "a: COMMIT"])
    same(server, postgres, UNIQUE, READ, ["a: BEGIN", "a: UPDATE u SET v = 'z' WHERE id = 1", "b: INSERT INTO u VALUES (3, 'z', 3, 3, 3)",
                                          "c: INSERT INTO u VALUES (5, 'x', 5, 5, 5)", "a: COMMIT"])


def test_values_given_up_crosswise_are_a_deadlock(server, postgres):
    same(server, postgres, UNIQUE, READ, ["a: SET deadlock_timeout = '10min'", "a: BEGIN", "b: BEGIN", "a: DELETE FROM u WHERE id = 1",
                                          "b: DELETE FROM u WHERE id = 2", "a: INSERT INTO u VALUES (3, 'y', 3, 3, 3)", "b!: INSERT INTO u VALUES (4, 'x', 4, 4, 4)", "b: ROLLBACK",
                                          "a: COMMIT"])


def test_the_last_child_of_an_open_transaction(server, postgres):
    for take in ("DELETE FROM child WHERE id = 10", "UPDATE child SET of = NULL WHERE id = 10", "UPDATE child SET id = 11, of = NULL WHERE id = 10",
                 "SELECT FROM child WHERE id = 10 FOR UPDATE", "SELECT FROM child WHERE id = 10 FOR NO KEY UPDATE"):
        for want in ("DELETE FROM parent WHERE id = 1", "UPDATE parent SET id = 5 WHERE id = 1"):
            all_ends(server, postgres, FAMILY, FAMILY_READ, take, want)
    for want in ("DELETE FROM parent WHERE id = 2", "UPDATE parent SET code = 'c' WHERE id = 2"):
        all_ends(server, postgres, FAMILY, FAMILY_READ, "DELETE FROM child WHERE id = 20", want)


def test_one_of_several_children_of_an_open_transaction(server, postgres):
    setup = FAMILY + "; INSERT INTO child VALUES (11, 1, NULL)"
    all_ends(server, postgres, setup, FAMILY_READ, "DELETE FROM child WHERE of = 1", "DELETE FROM parent WHERE id = 1")
    same(server, postgres, setup, FAMILY_READ, ["a: BEGIN", "c: BEGIN", "a: DELETE FROM child WHERE id = 10", "c: DELETE FROM child WHERE id = 11",
                                                "b: DELETE FROM parent WHERE id = 1", "a: COMMIT", "c: COMMIT"])


def test_a_parent_that_an_open_transaction_takes_away(server, postgres):
    for take in ("DELETE FROM parent WHERE id = 2", "UPDATE parent SET id = 5, code = 'e' WHERE id = 2"):
        setup = FAMILY + "; DELETE FROM child"
        for want in ("INSERT INTO child VALUES (30, 2, NULL)", "INSERT INTO child VALUES (30, NULL, 'b')"):
            all_ends(server, postgres, setup, FAMILY_READ, take, want)


def test_a_parent_that_an_open_transaction_makes(server, postgres):
    for want in ("INSERT INTO child VALUES (30, 3, NULL)", "INSERT INTO child VALUES (30, NULL, 'c')", "UPDATE child SET of = 3 WHERE id = 20"):
        all_ends(server, postgres, FAMILY, FAMILY_READ, "INSERT INTO parent VALUES (3, 'c')", want)


def test_a_parent_and_a_child_crosswise_are_a_deadlock(server, postgres):
    same(server, postgres, FAMILY, FAMILY_READ, ["a: BEGIN", "b: BEGIN", "b: SET deadlock_timeout = '1h'",
                                                 "a: DELETE FROM child WHERE id = 10", "b: DELETE FROM parent WHERE id = 1",
                                                 "a!: INSERT INTO child VALUES (30, 1, NULL)", "a: ROLLBACK", "b: COMMIT"])
