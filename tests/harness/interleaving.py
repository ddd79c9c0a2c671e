"""Sessions, statement by statement, on redquel and on PostgreSQL: what each sees must be the same.

A step is "session: SQL". Where a statement waits for a lock, the next step begins; its answer is taken as soon as it has one. No step
begins before those before it have come to their end or to their lock, however slow the machine is: PostgreSQL says who waits for a lock,
and redquel, for the steps that PostgreSQL answers at once, is waited for. Where it must wait as well, other sessions of the same threads
are asked so often that it has come to its lock meanwhile. "session!: SQL" ends by itself, though it may wait first: a timeout, a deadlock.
In the manner of PostgreSQL's isolation tester.
"""
import os
import select
import struct
import time

from harness.pgwire import query
from harness.servers import Postgres

AT_ONCE, AFTER_WAITING = "at once", "after waiting"
PATIENCE = 60  # seconds, for a step that does not wait for a lock
LOOKS, LEAST_SECONDS = 60, 0.2  # at redquel's other sessions, before a step counts as waiting


def last_answer(results):
    """The SQLSTATE of the step's error, or the rows of its last statement in any order."""
    failed = next((result for result in results if result.error), None)
    return failed.sqlstate if failed else sorted(results[-1].texts(), key=repr) if results else []


class Session:
    """A connection whose statement may wait. Nothing here is left to another thread of ours: it might not have its turn."""

    def __init__(self, connection, describe=last_answer):
        self.connection, self.describe, self.answer, self.step = connection, describe, None, None

    def send(self, step, sql):
        self.step, self.answer = step, None
        self.connection.send(query(sql))

    def is_answered(self, seconds=0.0):
        end = time.monotonic() + seconds
        while not self._is_complete():
            if not select.select([self.connection.socket], [], [], max(0.0, end - time.monotonic()))[0]:
                return False
            self.connection._fill()
        return True

    def _is_complete(self):
        """Notices may come long before the rest."""
        buffer, at = self.connection.buffer, 0
        while at + 5 <= len(buffer):
            kind, (length,) = buffer[at:at + 1], struct.unpack_from("!i", buffer, at + 1)
            at += 1 + length
            if kind == b"Z" and at <= len(buffer):
                return True
        return False

    def take_answer(self):
        self.answer = self.describe(self.connection.results())
        step, self.step = self.step, None
        return step, self.answer


class PostgresView:
    """Asks PostgreSQL who waits for a lock."""

    def __init__(self, connect):
        self.connection = connect()

    def waits(self, session):
        """Whether it does; False once it is answered."""
        end = time.monotonic() + PATIENCE
        while not session.is_answered(0.002):
            pid = session.connection.process_id
            if self.connection.run(f"SELECT WHERE pg_blocking_pids({pid}) <> '{{}}' OR pg_safe_snapshot_blocking_pids({pid}) <> '{{}}'"):
                return not session.is_answered()
            assert time.monotonic() < end, f"neither waits nor ends: {session.step}"
        return False

    def close(self):
        self.connection.close()


class RedquelView:
    """Asks sessions of all threads until what was sent before has come to its lock: each answer takes a turn of the thread and one of Redis."""

    def __init__(self, connect):
        # Threads have sessions in turns.
        self.connections = [connect() for _ in os.sched_getaffinity(0)]

    def waits(self, session):
        end = time.monotonic() + LEAST_SECONDS
        looks = 0
        while looks < LOOKS or time.monotonic() < end:
            for connection in self.connections:
                connection.run("SELECT redis.call('EXISTS', 'nothing')")
            looks += 1
            if session.is_answered(0.002):
                return False
        return True

    def close(self):
        for connection in self.connections:
            connection.close()


def view_of(server, connect):
    return (PostgresView if isinstance(server, Postgres) else RedquelView)(connect)


def play_steps(view, sessions, steps, guide=None, patience=PATIENCE):
    """[(step, whether it waited, answer)] of steps (label, session's name, SQL, whether it ends by itself). `guide`: the log of
    another server for the same steps. `patience`: seconds that a step may take which ends by itself."""
    log = [[label, None, None] for label, *_ in steps]
    waiting = {}

    def take(name, how):
        number = waiting.pop(name)
        log[number][1:] = how, sessions[name].take_answer()[1]

    for number, (label, name, sql, ends_by_itself) in enumerate(steps):
        if name in waiting:
            assert sessions[name].is_answered(patience), f"waits for ever: {steps[waiting[name]][0]}"
            take(name, AFTER_WAITING)
        waiting[name] = number
        sessions[name].send(label, sql)
        ends_by_itself = ends_by_itself or guide and guide[number][1] == AT_ONCE
        if sessions[name].is_answered(patience) if ends_by_itself else not view.waits(sessions[name]):
            take(name, AT_ONCE)
        # A session that waited for this step has its turn before the next one.
        for other in [other for other in waiting if other != name]:
            if not view.waits(sessions[other]):
                take(other, AFTER_WAITING)
    for name in list(waiting):
        assert sessions[name].is_answered(patience), f"waits for ever: {steps[waiting[name]][0]}"
        take(name, AFTER_WAITING)
    return [tuple(entry) for entry in log]


def play(server, setup_sql, read, steps, database=None, guide=None):
    """The log of the steps "session: SQL", and what `read` gives at the end."""
    def connect():
        return server.connect(*([database] if database else []))

    parts = []
    for step in steps:
        name, sql = (part.strip() for part in step.split(":", 1))
        parts.append((step, name.rstrip("!"), sql, name.endswith("!")))
    with connect() as setup:
        setup.run(setup_sql)
        view = view_of(server, connect)
        sessions = {name: Session(connect()) for name in sorted({name for _, name, _, _ in parts})}
        try:
            log = play_steps(view, sessions, parts, guide)
        finally:
            view.close()
            for session in sessions.values():
                session.connection.close()
        return [*log, ("at the end", "", setup.run(read))]


def answers(log):
    """What each step answered, whether it waited or not."""
    return sorted(((step, answer) for step, _, answer in log), key=repr)


def same(server, postgres, setup_sql, read, steps, waits=True):
    """Fails where both servers do not answer the steps alike; with `waits`, where they do not wait alike, too."""
    expected = play(postgres, setup_sql, read, steps, postgres.emptied_database())
    found = play(server, setup_sql, read, steps, guide=expected if waits else None)
    if not waits:
        found, expected = answers(found), answers(expected)
    assert found == expected, "\n".join(f"{'  ' if a == b else '! '}{a}   PostgreSQL: {b}" for a, b in zip(found, expected))
