"""Several sessions, statement by statement, on redquel and on PostgreSQL: what each sees must be the same.

A step is "session: SQL". A statement that waits is left waiting; its answer is taken when a later step of the same session is due, or
at the end. In the manner of PostgreSQL's isolation tester.
"""
import threading

from harness.pgwire import ServerError

SETUP = ("DROP TABLE IF EXISTS iso; CREATE TABLE iso (id integer PRIMARY KEY, value integer, word text UNIQUE);"
         "INSERT INTO iso VALUES (1, 10, 'a'), (2, 20, 'b')")
READ = "SELECT id, value FROM iso ORDER BY id"


class Session:
    """A connection whose statement may wait."""

    def __init__(self, connection):
        self.connection, self.thread, self.answer = connection, None, None

    def start(self, sql):
        def work():
            try:
                self.answer = sorted(self.connection.run(sql), key=repr)
            except ServerError as error:
                self.answer = error.sqlstate
        self.answer = None
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        self.thread.join(0.5)
        return not self.thread.is_alive()

    def finish(self):
        if self.thread:
            self.thread.join(30)
            assert not self.thread.is_alive(), "waits for ever"
            self.thread = None


def play(server, steps, database=None):
    names = sorted({step.split(":", 1)[0] for step in steps})
    arguments = [database] if database else []
    log = []
    with server.connect(*arguments) as setup:
        setup.run(SETUP)
        sessions = {name: Session(server.connect(*arguments)) for name in names}
        waiting = {}
        try:
            for number, step in enumerate(steps):
                name, sql = (part.strip() for part in step.split(":", 1))
                session = sessions[name]
                if name in waiting:
                    session.finish()
                    log.append((waiting.pop(name), "after waiting", session.answer))
                if session.start(sql):
                    log.append((step, "at once", session.answer))
                else:
                    waiting[name] = step
            for name, step in waiting.items():
                sessions[name].finish()
                log.append((step, "after waiting", sessions[name].answer))
        finally:
            for session in sessions.values():
                session.connection.close()
        log.append(("at the end", "", setup.run(READ)))
    return log


def same(server, postgres, steps):
    database = postgres.create_database()
    try:
        expected = play(postgres, steps, database)
    finally:
        postgres.drop_database(database)
    found = play(server, steps)
    assert found == expected, "\n".join(f"{'  ' if a == b else '! '}{a}   PostgreSQL: {b}" for a, b in zip(found, expected))


def both(level, *steps):
    return [f"a: BEGIN ISOLATION LEVEL {level}", f"b: BEGIN ISOLATION LEVEL {level}", *steps]
