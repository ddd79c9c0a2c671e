"""SELECT … FOR UPDATE, LOCK TABLE and advisory locks: who waits for whom, beside PostgreSQL; and what lapses with its process."""
import re
import time

from harness.crew import all_at_once
from harness.isolation import both, play, same
from harness.pgwire import query
from harness.waiting import wait_for

CONCURRENT = True
SLOW = True
RC = "READ COMMITTED"
STRENGTHS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")


def test_strengths(server, postgres):
    for first in STRENGTHS:
        steps = ["a: BEGIN", f"a: SELECT value FROM iso WHERE id = 1 FOR {first}"]
        for second in STRENGTHS:
            steps += [f"b: SELECT value FROM iso WHERE id = 1 FOR {second} NOWAIT", f"b: SELECT value FROM iso WHERE id = 1 FOR {second} SKIP LOCKED"]
        same(server, postgres, [*steps, "a: COMMIT"])


def test_strengths_and_writes(server, postgres):
    for strength in STRENGTHS:
        same(server, postgres, ["a: BEGIN", f"a: SELECT value FROM iso WHERE id = 1 FOR {strength}", "b: SET lock_timeout = '200ms'",
                                "b!: UPDATE iso SET value = 5 WHERE id = 1", "b!: DELETE FROM iso WHERE id = 1", "b: UPDATE iso SET value = 6 WHERE id = 2",
                                "a: COMMIT"])
    for write in ("UPDATE iso SET value = 5 WHERE id = 1", "DELETE FROM iso WHERE id = 1"):
        steps = ["a: BEGIN", f"a: {write}"]
        for strength in STRENGTHS:
            steps.append(f"b: SELECT value FROM iso WHERE id = 1 FOR {strength} NOWAIT")
        same(server, postgres, [*steps, "a: ROLLBACK"])


def test_waits_and_sees_the_new_version(server, postgres):
    for end in ("COMMIT", "ROLLBACK"):
        same(server, postgres, both(RC, "a: UPDATE iso SET value = 99 WHERE id = 1", "b: SELECT value FROM iso WHERE id = 1 FOR UPDATE", f"a: {end}",
                                    "b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: COMMIT"))


def test_a_row_that_no_longer_matches_is_left_out(server, postgres):
    same(server, postgres, both(RC, "a: UPDATE iso SET value = 99 WHERE id = 1", "b: SELECT id FROM iso WHERE value = 10 FOR UPDATE", "a: COMMIT", "b: COMMIT"))
    same(server, postgres, both(RC, "a: DELETE FROM iso WHERE id = 1", "b: SELECT id FROM iso WHERE value < 30 FOR UPDATE", "a: COMMIT", "b: COMMIT"))


def test_shared_locks_do_not_wait_for_each_other(server, postgres):
    same(server, postgres, both(RC, "a: SELECT value FROM iso WHERE id = 1 FOR SHARE", "b: SELECT value FROM iso WHERE id = 1 FOR SHARE",
                                "a: UPDATE iso SET value = 1 WHERE id = 1", "b: COMMIT", "a: COMMIT"))


def test_upgrade_deadlock(server, postgres):
    same(server, postgres, both(RC, "a: SET deadlock_timeout = '10min'", "b: SET deadlock_timeout = '300ms'",
                                "a: SELECT value FROM iso WHERE id = 1 FOR SHARE", "b: SELECT value FROM iso WHERE id = 1 FOR SHARE",
                                "a: UPDATE iso SET value = 1 WHERE id = 1", "b!: UPDATE iso SET value = 2 WHERE id = 1", "b: ROLLBACK", "a: COMMIT"))


def test_repeatable_read(server):
    log = {step: answer for step, _, answer in play(server, both(
        "REPEATABLE READ", "b: SELECT value FROM iso WHERE id = 1", "a: UPDATE iso SET value = 99 WHERE id = 1",
        "b: SELECT value FROM iso WHERE id = 1 FOR UPDATE", "a: COMMIT", "b: ROLLBACK"))}
    assert log["b: SELECT value FROM iso WHERE id = 1 FOR UPDATE"] == "40001", log


def test_skip_locked_with_limit(server, postgres):
    take = "SELECT id FROM iso ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    same(server, postgres, both(RC, f"a: {take}", f"b: {take}", "a: COMMIT", f"b: {take}", "b: COMMIT"))
    take = "SELECT i.id FROM iso i JOIN iso j ON j.id = 3 - i.id ORDER BY i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED"
    same(server, postgres, both(RC, f"a: {take}", f"b: {take}", "a: COMMIT", "b: COMMIT"))


def test_no_more_rows_are_locked_than_the_limit_wants(server, postgres):
    same(server, postgres, both(RC, "a: SELECT id FROM iso ORDER BY id LIMIT 1 FOR UPDATE", "b: SELECT id FROM iso WHERE id = 2 FOR UPDATE NOWAIT",
                                "b: SELECT id FROM iso WHERE id = 1 FOR UPDATE NOWAIT", "b: ROLLBACK", "a: COMMIT"))


def test_table_locks(server, postgres):
    modes = ("ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")
    for first in modes:
        steps = ["a: BEGIN", f"a: LOCK TABLE iso IN {first} MODE"]
        for second in modes:
            steps += ["b: BEGIN", f"b: LOCK TABLE iso IN {second} MODE NOWAIT", "b: ROLLBACK"]
        steps += ["b: SET lock_timeout = '200ms'", "b!: UPDATE iso SET value = 1 WHERE id = 1", "b!: INSERT INTO iso VALUES (5, 5, 'e')",
                  "b!: SELECT id FROM iso WHERE id = 1 FOR UPDATE", "a: COMMIT"]
        same(server, postgres, steps)


def test_table_locks_wait_for_writers(server, postgres):
    for mode in ("ROW EXCLUSIVE", "SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE"):
        same(server, postgres, both(RC, "a: UPDATE iso SET value = 1 WHERE id = 1", f"b: LOCK TABLE iso IN {mode} MODE",
                                    "a: COMMIT", "b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: COMMIT"))
    same(server, postgres, both(RC, "a: SELECT id FROM iso WHERE id = 1 FOR SHARE", "b: LOCK TABLE iso IN EXCLUSIVE MODE NOWAIT", "b: ROLLBACK", "a: COMMIT"))


def test_table_locks_look_at_many_row_locks(server, postgres):
    """More of them than one script looks at."""
    many = "INSERT INTO iso SELECT g, 0 FROM generate_series(1001, 8000) g"
    for lock in ("SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE"):
        same(server, postgres, ["a: BEGIN", f"a!: {many}", "b: BEGIN", f"b: LOCK TABLE iso IN {lock} MODE NOWAIT", "b: ROLLBACK",
                                "c: UPDATE iso SET value = 3 WHERE id = 1", "b: BEGIN", f"b: LOCK TABLE iso IN {lock} MODE", "a!: COMMIT",
                                "b: SELECT count(*) FROM iso", "b: COMMIT", "c: UPDATE iso SET value = 4 WHERE id = 1"])
    # A session's own locks never block it.
    same(server, postgres, ["a: BEGIN", f"a!: {many}", "a!: LOCK TABLE iso IN SHARE MODE", "a!: LOCK TABLE iso", "b: SET lock_timeout = '200ms'",
                            "b!: UPDATE iso SET value = 5 WHERE id = 1", "a!: ROLLBACK", "b: UPDATE iso SET value = 5 WHERE id = 1"])


def test_definitions_wait_for_writers(server, postgres):
    write = "a: UPDATE iso SET value = 7 WHERE id = 1"
    for change in ("CREATE INDEX ON iso (value)", "ALTER TABLE iso ADD COLUMN more integer DEFAULT 3", "ALTER TABLE iso DROP COLUMN word",
                   "ALTER TABLE iso ALTER COLUMN value SET NOT NULL", "ALTER TABLE iso RENAME COLUMN word TO text", "TRUNCATE iso"):
        for end in ("COMMIT", "ROLLBACK"):
            same(server, postgres, ["a: BEGIN", write, "a: INSERT INTO iso VALUES (3, 30)", f"b: {change}", f"a: {end}", "b: DELETE FROM iso WHERE id = 2"])
        same(server, postgres, ["a: BEGIN", write, "b: SET lock_timeout = '200ms'", f"b!: {change}", "a: COMMIT", f"b!: {change}"])
    same(server, postgres, ["a: BEGIN", "a: SELECT id FROM iso WHERE id = 1 FOR SHARE", "b: ALTER TABLE iso ADD COLUMN more integer", "a: COMMIT"])


def test_writers_wait_for_definitions(server, postgres):
    for change in ("ALTER TABLE iso ADD COLUMN more integer DEFAULT 3", "ALTER TABLE iso DROP COLUMN word", "CREATE INDEX ON iso (value)"):
        for end in ("COMMIT", "ROLLBACK"):
            same(server, postgres, ["b: BEGIN", f"b: {change}", "a: UPDATE iso SET value = 7 WHERE id = 1", f"b: {end}", "a: INSERT INTO iso VALUES (3, 30)"])
    # The transaction's own rows never block it.
    same(server, postgres, ["a: BEGIN", "a: UPDATE iso SET value = 7 WHERE id = 1", "a: ALTER TABLE iso ADD COLUMN more integer DEFAULT 3",
                            "b: UPDATE iso SET value = value + 1 WHERE id = 1", "a: COMMIT"])
    timeouts = ["a: SET deadlock_timeout = '100ms'", "b: SET deadlock_timeout = '10min'"]
    same(server, postgres, [*timeouts, "a: BEGIN", "b: BEGIN", "a: UPDATE iso SET value = 7 WHERE id = 1", "b: UPDATE iso SET value = 8 WHERE id = 2",
                            "b: ALTER TABLE iso ADD COLUMN more integer", "a!: UPDATE iso SET value = 9 WHERE id = 2", "a: ROLLBACK", "b: COMMIT"])


def test_advisory_locks_wait(server, postgres):
    same(server, postgres, ["a: SELECT pg_advisory_lock(7)", "b: SELECT pg_advisory_lock(7)", "a: SELECT pg_advisory_unlock(7)",
                            "b: SELECT pg_try_advisory_lock(7)", "a: SELECT pg_try_advisory_lock_shared(7)"])
    same(server, postgres, ["a: BEGIN", "a: SELECT pg_advisory_xact_lock(7)", "b: SELECT pg_advisory_xact_lock_shared(7)", "a: COMMIT", "b: SELECT 1"])
    same(server, postgres, ["a: SET deadlock_timeout = '10min'", "b: SET deadlock_timeout = '300ms'", "a: SELECT pg_advisory_lock(1)",
                            "b: SELECT pg_advisory_lock(2)", "a: SELECT pg_advisory_lock(2)", "b!: SELECT pg_advisory_lock(1)", "b: SELECT pg_advisory_unlock(2)",
                            "a: SELECT 1"])


def test_deadlocks_across_kinds_of_locks(server, postgres):
    """A session waits with its transaction's locks in its hands, and with its advisory ones."""
    timeouts = ["a: SET deadlock_timeout = '10min'", "b: SET deadlock_timeout = '300ms'"]
    same(server, postgres, [*timeouts, "a: BEGIN", "b: BEGIN", "a: UPDATE iso SET value = 1 WHERE id = 1", "b: SELECT pg_advisory_xact_lock(1)",
                            "a: SELECT pg_advisory_xact_lock(1)", "b!: UPDATE iso SET value = 2 WHERE id = 1", "b: ROLLBACK", "a: COMMIT"])
    same(server, postgres, [*timeouts, "a: BEGIN", "b: BEGIN", "a: SELECT pg_advisory_xact_lock(1)", "b: UPDATE iso SET value = 1 WHERE id = 1",
                            "a: UPDATE iso SET value = 3 WHERE id = 1", "b!: SELECT pg_advisory_lock(1)", "b: ROLLBACK", "a: COMMIT"])
    same(server, postgres, [*timeouts, "a: BEGIN", "b: BEGIN", "a: LOCK TABLE iso IN SHARE MODE", "b: SELECT pg_advisory_xact_lock(1)",
                            "a: SELECT pg_advisory_xact_lock(1)", "b!: INSERT INTO iso VALUES (3, 3, 'c')", "b: ROLLBACK", "a: COMMIT"])
    same(server, postgres, [*timeouts, "a: BEGIN", "b: BEGIN", "b: SELECT pg_advisory_xact_lock(1)", "a: UPDATE iso SET value = 1 WHERE id = 1",
                            "a: SELECT pg_advisory_xact_lock(1)", "b!: LOCK TABLE iso", "b: ROLLBACK", "a: COMMIT"])
    # Advisory locks of a session, and a statement that stands for itself.
    same(server, postgres, [*timeouts, "a: BEGIN", "a: UPDATE iso SET value = 1 WHERE id = 1", "b: SELECT pg_advisory_lock(5)",
                            "a: SELECT pg_advisory_xact_lock(5)", "b!: UPDATE iso SET value = 2 WHERE id = 1", "b: SELECT pg_advisory_unlock(5)", "a: COMMIT"])
    # Three of them.
    same(server, postgres, [*timeouts, "c: SET deadlock_timeout = '10min'", "a: BEGIN", "b: BEGIN", "c: BEGIN", "a: UPDATE iso SET value = 1 WHERE id = 1",
                            "b: SELECT pg_advisory_xact_lock(1)", "c: UPDATE iso SET value = 1 WHERE id = 2", "a: SELECT pg_advisory_xact_lock(1)",
                            "c: UPDATE iso SET value = 5 WHERE id = 1", "b!: UPDATE iso SET value = 2 WHERE id = 2", "b: ROLLBACK", "a: COMMIT", "c: COMMIT"])


def test_a_waiter_that_gave_up_is_in_no_deadlock(server):
    with server.connect() as a, server.connect() as b:
        a.run("DROP TABLE IF EXISTS given; CREATE TABLE given (id integer PRIMARY KEY, n integer); INSERT INTO given VALUES (1, 1)")
        a.run("SELECT pg_advisory_lock(11)")
        b.run("BEGIN; UPDATE given SET n = 2; SAVEPOINT s; SET LOCAL lock_timeout = '200ms'")
        error = b.run_error("SELECT pg_advisory_lock(11)")
        assert error["C"] == "55P03", error
        # All statements that have this limit, till it is taken back, are to take less.
        b.run("ROLLBACK TO s; SAVEPOINT t; SET LOCAL statement_timeout = '5s'")
        error = b.run_error("SELECT pg_advisory_lock(11)")
        assert error["C"] == "57014", error
        b.run("ROLLBACK TO t")
        a.run("SET deadlock_timeout = '200ms'; SET lock_timeout = '1500ms'")
        error = a.run_error("UPDATE given SET n = 3")
        assert error["C"] == "55P03", error
        b.run("ROLLBACK")


def test_idle_in_transaction_session_timeout(server):
    with server.connect() as client:
        client.run("SET idle_in_transaction_session_timeout = '300ms'")
        time.sleep(1)
        client.run("BEGIN")
        kind, payload = client.read()
        assert kind == b"E" and b"25P03" in payload, (kind, payload)


def test_a_queue_gives_each_job_once(server):
    with server.connect() as client:
        client.run("CREATE TABLE job (id integer PRIMARY KEY, state text)")
        client.run("INSERT INTO job SELECT i, 'new' FROM generate_series(1, 300) i")
    taken = []

    def work(number):
        with server.connect() as client:
            while True:
                if number % 2:
                    rows = client.run("UPDATE job SET state = 'done' WHERE id = (SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 "
                                      "FOR UPDATE SKIP LOCKED) RETURNING id")
                else:
                    client.run("BEGIN")
                    rows = client.run("SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED")
                    if rows:
                        client.run(f"UPDATE job SET state = 'done' WHERE id = {rows[0][0]}")
                    client.run("COMMIT")
                if not rows:
                    return
                taken.append(rows[0][0])

    all_at_once(work, 8)
    assert sorted(taken, key=int) == [str(i) for i in range(1, 301)], (len(taken), len(set(taken)))


def test_key_share_and_unique_columns(server, postgres):
    same(server, postgres, ["a: BEGIN", "a: SELECT id FROM iso WHERE id = 1 FOR KEY SHARE", "b: SET lock_timeout = '200ms'",
                            "b!: UPDATE iso SET value = 5 WHERE id = 1", "b!: UPDATE iso SET word = 'z' WHERE id = 1", "b!: UPDATE iso SET id = 9 WHERE id = 1",
                            "a: COMMIT"])


def test_increments(server, postgres):
    """Locks that conflict with none, and those that a session looks for."""
    add = "UPDATE iso SET value = value + 1 WHERE id = 1"
    look = "SELECT value FROM iso WHERE id = 1"
    same(server, postgres, both(RC, f"a: {add}", f"a: {look}", f"a: {add}", f"a: {look}", "a: COMMIT", f"b: {look}", f"b: {add}", "b: COMMIT"))
    same(server, postgres, both(RC, f"a: {add}", "a: SAVEPOINT s", f"a: {add}", "a: ROLLBACK TO s", "a: COMMIT", "b: ROLLBACK"))
    same(server, postgres, both(RC, f"a: {add}", "a: ROLLBACK", f"b: {add}", "b: COMMIT"))
    same(server, postgres, ["a: BEGIN", f"a: {add}", "a: COMMIT", "a: UPDATE iso SET value = 2147483647 WHERE id = 1", f"a: {add}",
                            "a: UPDATE iso SET value = NULL WHERE id = 1", f"a: {add}", look.replace("SELECT", "a: SELECT", 1),
                            "a: UPDATE iso SET value = 3 - value WHERE id = 2", f"a: {add} RETURNING value"])


def test_increments_do_not_wait(server):
    add = "UPDATE iso SET value = value + {} WHERE id = 1"
    log = play(server, both(RC, "a: " + add.format(1), "b: " + add.format(20), "b: COMMIT", "a: COMMIT", "a: SELECT value FROM iso WHERE id = 1"))
    assert ("b: " + add.format(20), "at once", []) in log, log
    assert ("a: SELECT value FROM iso WHERE id = 1", "at once", [["31"]]) in log, log


def test_a_sum_that_was_looked_at_is_locked(server):
    add, look = "UPDATE iso SET value = value + {} WHERE id = 1", "SELECT value FROM iso WHERE id = 1"
    log = play(server, both(RC, "a: " + add.format(1), "b: " + add.format(20), "b: COMMIT", f"a: {look}", f"b: {add.format(300)}", "a: COMMIT"))
    assert (f"a: {look}", "at once", [["31"]]) in log, log
    assert (f"b: {add.format(300)}", "after waiting", []) in log, log
    assert log[-1][2][0] == ["1", "331"], log


def test_an_increment_and_its_row_deleted(server):
    log = play(server, both(RC, "a: UPDATE iso SET value = value + 1 WHERE id = 1", "b: DELETE FROM iso WHERE id = 1", "b: COMMIT", "a: COMMIT"))
    assert log[-1][2] == [["2", "20"]], log


def test_many_add_to_one_row(server):
    """Autocommit and transactions, 8 clients: no update is lost, no client fails."""
    with server.connect() as client:
        client.run("DROP TABLE IF EXISTS hot; CREATE TABLE hot (id integer PRIMARY KEY, n bigint NOT NULL, m integer)")
        client.run("INSERT INTO hot VALUES (1, 0, 0)")

    def work(number):
        with server.connect() as client:
            for _ in range(50):
                if number % 2:
                    client.run("BEGIN; UPDATE hot SET n = n + 1, m = m - 1 WHERE id = 1; UPDATE hot SET n = n + 1 WHERE id = 1; COMMIT")
                else:
                    client.run("UPDATE hot SET n = n + 2, m = m - 1 WHERE id = 1")

    all_at_once(work, 8)
    with server.connect() as client:
        found = client.run("SELECT n, m FROM hot")
        assert found == [["800", "-400"]], found


def test_the_commit_of_an_increment_waits_for_the_row(server):
    log = play(server, both(RC, "a: UPDATE iso SET value = value + 1 WHERE id = 1", "b: UPDATE iso SET value = value * 2 WHERE id = 1", "a: COMMIT",
                            "b: SELECT value FROM iso WHERE id = 1", "b: COMMIT"))
    assert ("b: SELECT value FROM iso WHERE id = 1", "at once", [["20"]]) in log, log
    assert ("a: COMMIT", "after waiting", []) in log, log
    assert log[-1][2][0] == ["1", "21"], log


def test_pg_locks(server):
    with server.connect() as holder, server.connect() as waiter, server.connect() as watcher:
        holder.run("DROP TABLE IF EXISTS shown; CREATE TABLE shown (id integer PRIMARY KEY, n integer); INSERT INTO shown VALUES (1, 1), (2, 2)")
        holder.run("BEGIN; UPDATE shown SET n = 5 WHERE id = 1; SELECT pg_advisory_lock(7), pg_advisory_lock_shared(1, 2); LOCK TABLE shown IN SHARE MODE")
        seen = ("SELECT locktype, relation = 'shown'::regclass::oid, classid, objid, objsubid, mode, granted FROM pg_locks "
                "WHERE pid = {} ORDER BY 1, 2, 3, 4, 6")
        mine = watcher.run(seen.format(holder.process_id))
        assert mine == [["advisory", None, "0", "7", "1", "ExclusiveLock", "t"], ["advisory", None, "1", "2", "2", "ShareLock", "t"],
                        ["relation", "t", None, None, None, "RowExclusiveLock", "t"], ["relation", "t", None, None, None, "ShareLock", "t"],
                        ["transactionid", None, None, None, None, "ExclusiveLock", "t"]], mine
        waiter.send(query("BEGIN; SELECT id FROM shown WHERE id = 2 FOR SHARE; UPDATE shown SET n = 6 WHERE id = 1"))
        blocked = wait_for(lambda: watcher.run("SELECT w.pid, h.pid FROM pg_locks w JOIN pg_locks h USING (locktype, transactionid) "
                                               "WHERE NOT w.granted AND h.granted"), what="a session that is shown to wait")
        assert blocked == [[str(waiter.process_id), str(holder.process_id)]], blocked
        holder.run("COMMIT; SELECT pg_advisory_unlock_all()")
        waiter.results()
        waiter.run("ROLLBACK")
        # Sessions of other tests may still be at their end.
        wait_for(lambda: watcher.run("SELECT count(*) FROM pg_locks") == [["0"]], what="an end of all locks")


def test_details_of_a_deadlock(server):
    with server.connect() as first, server.connect() as second:
        first.run("DROP TABLE IF EXISTS dead; CREATE TABLE dead (id integer PRIMARY KEY, n integer); INSERT INTO dead VALUES (1, 1), (2, 2)")
        first.run("SET deadlock_timeout = '10min'; BEGIN; UPDATE dead SET n = 5 WHERE id = 1")
        second.run("SET deadlock_timeout = '300ms'; BEGIN; UPDATE dead SET n = 6 WHERE id = 2")
        first.send(query("UPDATE dead SET n = 7 WHERE id = 2"))
        error = second.run_error("UPDATE dead SET n = 8 WHERE id = 1")  # looks for circles until there is one
        assert error["C"] == "40P01", error
        found = re.fullmatch(r"Process (\d+) waits for ShareLock on transaction (\d+); blocked by process (\d+)\.\n"
                             r"Process (\d+) waits for ShareLock on transaction (\d+); blocked by process (\d+)\.", error["D"])
        one, other = str(second.process_id), str(first.process_id)
        assert found and found.group(1, 3, 4, 6) == (one, other, other, one), error
        second.run("ROLLBACK")
        first.results()
        first.run("ROLLBACK")


def test_waits_of_killed_processes_are_removed(server, redis):
    """The process that looks for deadlocks removes the entries."""
    killed = [f"{number:016x}.7" for number in range(30)]
    with server.connect() as holder, server.connect() as waiter, redis.connect() as raw:
        holder.run("DROP TABLE IF EXISTS waited; CREATE TABLE waited (id integer PRIMARY KEY, n integer); INSERT INTO waited VALUES (1, 1)")
        holder.run("BEGIN; UPDATE waited SET n = 2")
        for session in killed:
            raw("HSET", "redquel:waits", session, f"{session[:16]}.1.7 {session[:16]}.2.8")
        waiter.run("SET deadlock_timeout = '10ms'; BEGIN")
        waiter.send(query("UPDATE waited SET n = 3"))
        wait_for(lambda: not any(raw("HMGET", "redquel:waits", *killed)), what="an end of waits without a waiter")
        holder.run("COMMIT")
        assert waiter.results()[-1].tag == "UPDATE 1"
        waiter.run("ROLLBACK")


def test_row_locks_wait_for_the_table_lock(server, redis):
    """A statement of many rows has a table for itself. Here it begins when the table was read, but its rows are not locked yet."""
    with server.connect() as client, redis.connect() as hold:
        client.run("DROP TABLE IF EXISTS held; CREATE TABLE held (id integer PRIMARY KEY, n integer); INSERT INTO held VALUES (1, 1), (2, 2)")
        oid = client.run("SELECT 'held'::regclass::oid")[0][0]
        version = hold("HGET", "redquel:versions", oid)
        hold("SET", "redquel:lease:feed", "feed", "PX", "600000")
        hold("HSET", "redquel:exclusive", oid, f"feed feed {version} {hold('GET', 'redquel:version')}")
        try:
            client.run("SET lock_timeout = '300ms'")
            for lock in ("SELECT n FROM held WHERE id = 1 FOR UPDATE", "SELECT n FROM held FOR KEY SHARE", "SELECT n FROM held FOR SHARE SKIP LOCKED"):
                assert client.run_error(lock)["C"] == "55P03", lock
            client.run("SET lock_timeout = 0")
            client.send(query("SELECT n FROM held WHERE id = 1 FOR UPDATE"))
            assert not client.has_input(0.5), client.results()
        finally:
            hold("HDEL", "redquel:exclusive", oid)
        found = client.results()[0].texts()
        assert found == [["1"]], found
