"""Locks of a process that stands still or dies: others get them when its lease is over, and what it then commits is refused."""
import signal

from harness.keyspace import end_leases, leases, wait_for_renewals
from harness.pgwire import ServerError
from harness.servers import sharing_redis
from harness.waiting import wait_for

SLOW = True
LEASE = 6_000  # milliseconds, where a client waits for its end; else as long as no process stands still


def servers(make_redis, make_server, **limits):
    return sharing_redis(make_redis, make_server, 2, **limits)


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


class Paused:
    """A server that stands still."""

    def __init__(self, server):
        self.process = server.process

    def __enter__(self):
        self.process.send_signal(signal.SIGSTOP)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)


TAKES = {"UPDATE": "UPDATE account SET balance = balance - 10 WHERE id = 1 RETURNING balance",
         "FOR UPDATE": "SELECT balance FROM account WHERE id = 1 FOR UPDATE",
         "LOCK TABLE": "LOCK TABLE account IN EXCLUSIVE MODE"}


def test_a_paused_process_does_not_overwrite_later_commits(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server, lock_lease=LEASE)
    for name, take in TAKES.items():
        with first.connect() as paused, second.connect() as other:
            prepare(other)
            others = leases(redis)
            paused.run("BEGIN")
            paused.run("SELECT balance FROM account WHERE id = 1")
            paused.run(take)
            held = leases(redis) - others
            with Paused(first):
                other.run("UPDATE account SET balance = balance + 7 WHERE id = 1")
                # However long that was, it was not shorter.
                left = leases(redis) & held
                assert held and not left, f"{name}: {held}, {left}"
            if name == "UPDATE":
                refused(paused, "COMMIT", "40001")
            else:
                refused(paused, "UPDATE account SET balance = 0 WHERE id = 2; COMMIT", "40001")
                paused.run("ROLLBACK")
            found = other.run("SELECT balance FROM account ORDER BY id")
            assert found == [["107"], ["100"]], (name, found)


def test_a_lapsed_lock_ends_a_transaction_that_wrote_no_row(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server)
    with first.connect() as paused, second.connect() as other:
        prepare(other)
        others = leases(redis)
        paused.run("BEGIN")
        paused.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        with Paused(first):
            end_leases(redis, but=others)
        other.run("UPDATE account SET balance = 0 WHERE id = 1")
        refused(paused, "COMMIT", "40001")
        paused.run("BEGIN")
        found = paused.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        assert found == [["0"]], found
        paused.run("COMMIT")


def test_a_lapsed_lock_ends_a_transaction_with_definitions(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server)
    with first.connect() as paused, second.connect() as other:
        prepare(other)
        others = leases(redis)
        paused.run("BEGIN; CREATE TABLE audit (id integer PRIMARY KEY)")
        paused.run("UPDATE account SET balance = balance - 10 WHERE id = 1; INSERT INTO audit VALUES (1)")
        with Paused(first):
            end_leases(redis, but=others)
        other.run("UPDATE account SET balance = balance + 7 WHERE id = 1")
        refused(paused, "COMMIT", "40001")
        refused(other, "SELECT * FROM audit", "42P01")
        found = other.run("SELECT balance FROM account ORDER BY id")
        assert found == [["107"], ["100"]], found


def test_a_lease_is_renewed(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server, lock_lease=12_000)
    with first.connect() as holder, second.connect() as other:
        prepare(other)
        others = leases(redis)
        holder.run("SELECT pg_advisory_lock(5)")
        holder.run("BEGIN")
        holder.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        lease, = leases(redis) - others
        wait_for_renewals(redis, lease, 2)
        refused(other, "SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT", "55P03")
        found = other.run("SELECT pg_try_advisory_lock(5)")
        assert found == [["f"]], found
        holder.run("UPDATE account SET balance = 1 WHERE id = 1")
        holder.run("COMMIT")
        found = other.run("SELECT balance FROM account WHERE id = 1")
        assert found == [["1"]], found


def test_locks_of_a_killed_process_lapse(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server, lock_lease=LEASE)
    with second.connect() as other:
        prepare(other)
        others = leases(redis)
        holder = first.connect()
        holder.run("SELECT pg_advisory_lock(5)")
        holder.run("BEGIN")
        holder.run("LOCK TABLE account")
        holder.run("UPDATE account SET balance = 1 WHERE id = 1")
        held = leases(redis) - others
        first.kill()
        other.run("SELECT pg_advisory_lock(5)")
        other.run("UPDATE account SET balance = balance + 1 WHERE id = 1")
        left = leases(redis) & held
        assert held and not left, (held, left)
        found = other.run("SELECT balance FROM account WHERE id = 1")
        assert found == [["101"]], found


def test_advisory_locks_end_with_their_connection(make_redis, make_server):
    redis, first, second = servers(make_redis, make_server, lock_lease=3_600_000)  # longer than any wait here
    with second.connect() as other:
        holder = first.connect()
        holder.run("SELECT pg_advisory_lock(5)")
        found = other.run("SELECT pg_try_advisory_lock(5)")
        assert found == [["f"]], found
        holder.close()
        other.run("SELECT pg_advisory_lock(5)")


def test_locks_of_killed_processes_are_removed(make_redis, make_server):
    """No statement needs the rows, so none meets the locks."""
    redis, first, second = servers(make_redis, make_server, lock_lease=3_000)
    with first.connect() as client, second.connect() as other, redis.connect() as raw:
        prepare(other)
        [[oid]] = other.run("SELECT 'account'::regclass::oid")
        client.run("BEGIN; SELECT * FROM account FOR UPDATE; SELECT pg_advisory_lock(7)")
        assert raw("HLEN", f"redquel:locks:{oid}") == 2 and raw("HLEN", "redquel:advisory") == 1
        first.kill()
        other.run("SELECT pg_advisory_lock(8)")  # it renews its lease, and looks around
        wait_for(lambda: raw("HLEN", f"redquel:locks:{oid}") == 0 and raw("HLEN", "redquel:advisory") == 1, what="the end of the locks")
