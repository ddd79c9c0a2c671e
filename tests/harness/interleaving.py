"""Two sessions, statement by statement, on redquel and on PostgreSQL: what each sees must be the same.

A step is "session: SQL". A statement that waits is left waiting; its answer is taken when a later step of the same session is due, or
at the end. "session!: SQL" waits for nobody, but has much to do: it is given its time. In the manner of PostgreSQL's isolation tester.
"""
import threading
from concurrent.futures import ThreadPoolExecutor

from harness.pgwire import ServerError


class Session:
    """A connection whose statement may wait."""

    def __init__(self, connection):
        self.connection, self.thread, self.answer = connection, None, None

    def start(self, sql, patience):
        def work():
            try:
                self.answer = sorted(self.connection.run(sql), key=repr)
            except ServerError as error:
                self.answer = error.sqlstate
        self.answer = None
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        self.thread.join(patience)
        return not self.thread.is_alive()

    def finish(self):
        if self.thread:
            self.thread.join(30)
            assert not self.thread.is_alive(), "waits for ever"
            self.thread = None


def play(server, setup_sql, read, steps, database=None):
    names = sorted({step.split(":", 1)[0].rstrip("!") for step in steps})
    arguments = [database] if database else []
    log = []
    with server.connect(*arguments) as setup:
        setup.run(setup_sql)
        sessions = {name: Session(server.connect(*arguments)) for name in names}
        waiting = {}
        try:
            for number, step in enumerate(steps):
                name, sql = (part.strip() for part in step.split(":", 1))
                patience = 30 if name.endswith("!") else 0.5
                name = name.rstrip("!")
                session = sessions[name]
                if name in waiting:
                    session.finish()
                    log.append((waiting.pop(name), "after waiting", session.answer))
                if session.start(sql, patience):
                    log.append((step, "at once", session.answer))
                else:
                    waiting[name] = step
            for name, step in waiting.items():
                sessions[name].finish()
                log.append((step, "after waiting", sessions[name].answer))
        finally:
            for session in sessions.values():
                session.connection.close()
        log.append(("at the end", "", setup.run(read)))
    return log


def same(server, postgres, setup_sql, read, steps):
    """Fails where both servers do not answer the steps alike."""
    with ThreadPoolExecutor(1) as beside:  # many steps wait, on both servers as long
        expecting = beside.submit(play, postgres, setup_sql, read, steps, postgres.emptied_database())
        found = play(server, setup_sql, read, steps)
        expected = expecting.result()
    assert found == expected, "\n".join(f"{'  ' if a == b else '! '}{a}   PostgreSQL: {b}" for a, b in zip(found, expected))
