"""Locks of a process that stands still or dies: others get them when its lease is over, and what it then commits is refused."""
import os
import signal
import time

from harness.pgwire import ServerError
from harness.servers import sharing_redis

LEASE = 2.0  # seconds


def servers(make_redis, make_server):
    return sharing_redis(make_redis, make_server, 2, lock_lease=int(LEASE * 1000))[1:]


def prepare(client):
    client.run("DROP TABLE IF EXISTS account; CREATE TABLE account (id integer PRIMARY KEY, balance integer)")
    client.run("INSERT INTO account VALUES (1, 100), (2, 100)")


def refused(client, sql, sqlstate):
    try:
        client.run(sql)
    except ServerError as error:
        assert error.sqlstate == sqlstate, f"{sql}: {error.sqlstate} in place of {sqlstate}"
    else:
        raise AssertionError(f"{sql} went through")


def pause(server, seconds):
    os.kill(server.process.popen.pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(server.process.popen.pid, signal.SIGCONT)


def test_a_paused_process_commits_nothing_over_what_others_wrote(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    takes = {"UPDATE": "UPDATE account SET balance = balance - 10 WHERE id = 1 RETURNING balance",
             "FOR UPDATE": "SELECT balance FROM account WHERE id = 1 FOR UPDATE",
             "LOCK TABLE": "LOCK TABLE account IN EXCLUSIVE MODE"}
    for name, take in takes.items():
        with first.connect() as paused, second.connect() as other:
            prepare(other)
            paused.run("BEGIN")
            paused.run("SELECT balance FROM account WHERE id = 1")
            paused.run(take)
            os.kill(first.process.popen.pid, signal.SIGSTOP)
            try:
                started = time.monotonic()
                other.run("UPDATE account SET balance = balance + 7 WHERE id = 1")
                waited = time.monotonic() - started
            finally:
                os.kill(first.process.popen.pid, signal.SIGCONT)
            assert LEASE / 3 < waited < 3 * LEASE, f"{name}: waited {waited}"
            if name == "UPDATE":
                refused(paused, "COMMIT", "40001")
            else:
                refused(paused, "UPDATE account SET balance = 0 WHERE id = 2; COMMIT", "40001")
                paused.run("ROLLBACK")
            assert other.run("SELECT balance FROM account ORDER BY id") == [["107"], ["100"]], name


def test_a_lapsed_lock_is_noticed_where_nothing_was_written(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    with first.connect() as paused, second.connect() as other:
        prepare(other)
        paused.run("BEGIN")
        paused.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        pause(first, 1.5 * LEASE)
        other.run("UPDATE account SET balance = 0 WHERE id = 1")
        refused(paused, "COMMIT", "40001")
        paused.run("BEGIN")
        assert paused.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE") == [["0"]]
        paused.run("COMMIT")


def test_a_lapsed_lock_takes_definitions_along(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    with first.connect() as paused, second.connect() as other:
        prepare(other)
        paused.run("BEGIN; CREATE TABLE audit (id integer PRIMARY KEY)")
        paused.run("UPDATE account SET balance = balance - 10 WHERE id = 1; INSERT INTO audit VALUES (1)")
        pause(first, 1.5 * LEASE)
        other.run("UPDATE account SET balance = balance + 7 WHERE id = 1")
        refused(paused, "COMMIT", "40001")
        refused(other, "SELECT * FROM audit", "42P01")
        assert other.run("SELECT balance FROM account ORDER BY id") == [["107"], ["100"]]


def test_a_lease_is_renewed(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    with first.connect() as holder, second.connect() as other:
        prepare(other)
        holder.run("SELECT pg_advisory_lock(5)")
        holder.run("BEGIN")
        holder.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        time.sleep(2 * LEASE)
        refused(other, "SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT", "55P03")
        assert other.run("SELECT pg_try_advisory_lock(5)") == [["f"]]
        holder.run("UPDATE account SET balance = 1 WHERE id = 1")
        holder.run("COMMIT")
        assert other.run("SELECT balance FROM account WHERE id = 1") == [["1"]]


def test_locks_of_a_killed_process_lapse(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    with second.connect() as other:
        prepare(other)
        holder = first.connect()
        holder.run("SELECT pg_advisory_lock(5)")
        holder.run("BEGIN")
        holder.run("LOCK TABLE account")
        holder.run("UPDATE account SET balance = 1 WHERE id = 1")
        first.kill()
        started = time.monotonic()
        other.run("SELECT pg_advisory_lock(5)")
        other.run("UPDATE account SET balance = balance + 1 WHERE id = 1")
        assert time.monotonic() - started < 2 * LEASE
        assert other.run("SELECT balance FROM account WHERE id = 1") == [["101"]]


def test_advisory_locks_end_with_their_connection(make_redis, make_server):
    first, second = servers(make_redis, make_server)
    with second.connect() as other:
        holder = first.connect()
        holder.run("SELECT pg_advisory_lock(5)")
        assert other.run("SELECT pg_try_advisory_lock(5)") == [["f"]]
        holder.close()
        started = time.monotonic()
        other.run("SELECT pg_advisory_lock(5)")
        assert time.monotonic() - started < LEASE / 2
