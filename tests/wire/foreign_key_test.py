"""Foreign keys between sessions: a deleted parent and a new child never both commit, in either order."""

from harness.crew import all_at_once
from harness.interleaving import same
from harness.pgwire import ServerError

CONCURRENT = True
SETUP = ("DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS parent;"
         "CREATE TABLE parent (id integer PRIMARY KEY, word text UNIQUE, n integer);"
         "CREATE TABLE child (id integer PRIMARY KEY, pid integer REFERENCES parent ON DELETE CASCADE, word text REFERENCES parent (word),"
         " late integer REFERENCES parent DEFERRABLE INITIALLY DEFERRED);"
         "INSERT INTO parent VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0); INSERT INTO child VALUES (1, 1), (2, 2)")
READ = "SELECT 'p', id, word FROM parent UNION ALL SELECT 'c', id, coalesce(pid::text, word) FROM child ORDER BY 1, 2"


def check(server, postgres, *steps):
    same(server, postgres, SETUP, READ, steps)


def test_parent_waits_for_the_child(server, postgres):
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, word) VALUES (5, 'c')", "b: DELETE FROM parent WHERE id = 3", "a: COMMIT")
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, word) VALUES (5, 'c')", "b: DELETE FROM parent WHERE id = 3", "a: ROLLBACK")


def test_child_waits_for_the_parent(server, postgres):
    check(server, postgres, "a: BEGIN", "a: DELETE FROM parent WHERE id = 3", "b: INSERT INTO child (id, pid) VALUES (5, 3)", "a: COMMIT")
    check(server, postgres, "a: BEGIN", "a: DELETE FROM parent WHERE id = 3", "b: INSERT INTO child (id, pid) VALUES (5, 3)", "a: ROLLBACK")
    check(server, postgres, "a: BEGIN", "a: UPDATE parent SET word = 'z' WHERE id = 3", "b: INSERT INTO child (id, word) VALUES (5, 'c')", "a: COMMIT")


def test_other_columns_of_the_parent_do_not_wait(server, postgres):
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, pid) VALUES (5, 3)", "b: UPDATE parent SET n = 1 WHERE id = 3", "a: COMMIT")
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, pid) VALUES (5, 3)", "b: INSERT INTO child (id, pid) VALUES (6, 3)", "a: COMMIT")


def test_deferred_check_sees_committed_rows(server, postgres):
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, late) VALUES (5, 9)", "b: INSERT INTO parent VALUES (9)", "a: COMMIT")
    check(server, postgres, "a: BEGIN", "a: INSERT INTO child (id, late) VALUES (5, 3)", "b: DELETE FROM parent WHERE id = 3", "a: COMMIT")


def orphans(connection):
    return connection.run("SELECT count(*) FROM child c WHERE pid IS NOT NULL AND NOT EXISTS (SELECT FROM parent p WHERE p.id = c.pid)")


def race(server, work, clients=6):
    """Runs work(connection, number) in several sessions at once."""
    def one(number):
        with server.connect() as connection:
            work(connection, number)

    all_at_once(one, clients)


def test_no_orphans_under_fire(server):
    with server.connect() as setup:
        setup.run(SETUP)

    def work(connection, number):
        for turn in range(60):
            key = turn % 7 + 10
            statements = [f"INSERT INTO parent (id) VALUES ({key}) ON CONFLICT DO NOTHING",
                          f"INSERT INTO child (id, pid) VALUES ({1000 * number + turn + 100}, {key})",
                          f"DELETE FROM parent WHERE id = {key}"]
            if number % 3 == 2:
                statements = [f"BEGIN; {statements[1]}; COMMIT", statements[0], statements[2]]
            try:
                connection.run(statements[(turn + number) % 3])
            except ServerError as error:
                assert error.sqlstate in ("23503", "40001", "23505"), error
                connection.run("ROLLBACK")
    race(server, work)
    with server.connect() as connection:
        assert orphans(connection)[0][0] in (0, "0", b"0"), orphans(connection)
        assert not connection.run("SELECT * FROM redquel.check_indexes('child')")
        assert not connection.run("SELECT * FROM redquel.check_indexes('parent')")
