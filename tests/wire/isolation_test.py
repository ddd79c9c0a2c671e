"""The anomalies of the isolation levels: what two sessions see must be what PostgreSQL shows (harness/interleaving.py)."""
from harness.isolation import READ, both, play, same

CONCURRENT = True
SLOW = True


LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
STRICTER = LEVELS[1:]


def test_dirty_write_at_stricter_levels(server, postgres):
    for level in STRICTER:
        same(server, postgres, both(level, "a: UPDATE iso SET value = 11 WHERE id = 1", "b: UPDATE iso SET value = 12 WHERE id = 1", "a: ROLLBACK",
                                    "b: COMMIT"))
        same(server, postgres, both(level, "b: SELECT value FROM iso WHERE id = 1", "a: UPDATE iso SET value = 11 WHERE id = 1",
                                    "b: UPDATE iso SET value = 12 WHERE id = 1", "a: COMMIT", "b: COMMIT"))


def test_dirty_read(server, postgres):
    for level in LEVELS:
        same(server, postgres, both(level, "a: UPDATE iso SET value = 101 WHERE id = 1", "a: INSERT INTO iso VALUES (3, 30, 'c')",
                                    "a: DELETE FROM iso WHERE id = 2", f"b: {READ}", "b: SELECT count(*) FROM iso WHERE value = 101", "b: COMMIT",
                                    "a: COMMIT"))


def test_intermediate_read_at_stricter_levels(server, postgres):
    for level in STRICTER:
        same(server, postgres, both(level, "a: UPDATE iso SET value = 101 WHERE id = 1", f"b: {READ}", "a: UPDATE iso SET value = 11 WHERE id = 1",
                                    f"b: {READ}", "b: COMMIT", "a: COMMIT"))


def test_lost_update_of_a_value_computed_by_the_client(server, postgres):
    """As PostgreSQL's own READ COMMITTED does not prevent it."""
    same(server, postgres, both("READ COMMITTED", "a: SELECT value FROM iso WHERE id = 1", "b: SELECT value FROM iso WHERE id = 1",
                                "a: UPDATE iso SET value = 11 WHERE id = 1", "a: COMMIT", "b: UPDATE iso SET value = 12 WHERE id = 1", "b: COMMIT"))


def test_no_lost_update_with_a_row_lock(server, postgres):
    steps = ["a: SELECT value FROM iso WHERE id = 1 FOR UPDATE", "b: SELECT value FROM iso WHERE id = 1 FOR UPDATE",
             "a: UPDATE iso SET value = 11 WHERE id = 1", "a: COMMIT", "b: ROLLBACK"]
    same(server, postgres, both("READ COMMITTED", *steps))
    for level in STRICTER:
        same(server, postgres, both(level, "b: SELECT value FROM iso WHERE id = 1", *steps))


def test_read_skew_at_read_committed(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: SELECT value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 12 WHERE id = 1",
                                "b: UPDATE iso SET value = 18 WHERE id = 2", "b: COMMIT", "a: SELECT value FROM iso WHERE id = 2", "a: COMMIT"))


def test_write_skew_at_read_committed(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: SELECT sum(value) FROM iso", "b: SELECT sum(value) FROM iso",
                                "a: UPDATE iso SET value = 0 WHERE id = 1", "b: UPDATE iso SET value = 0 WHERE id = 2", "a: COMMIT", "b: COMMIT"))


def test_a_transaction_does_not_vanish_from_view(server, postgres):
    """Observed transaction vanishes: who has seen one write of it sees the others, too."""
    same(server, postgres, ["a: BEGIN", "b: BEGIN", "c: BEGIN", "a: UPDATE iso SET value = 11 WHERE id = 1", "a: UPDATE iso SET value = 19 WHERE id = 2",
                            "b: UPDATE iso SET value = 12 WHERE id = 1", "a: COMMIT", "c: SELECT value FROM iso WHERE id = 1",
                            "b: UPDATE iso SET value = 18 WHERE id = 2", "c: SELECT value FROM iso WHERE id = 2", "b: COMMIT",
                            "c: SELECT value FROM iso WHERE id = 2", "c: SELECT value FROM iso WHERE id = 1", "c: COMMIT"])


def test_circular_flow_at_read_committed(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = 11 WHERE id = 1", "b: UPDATE iso SET value = 22 WHERE id = 2",
                                "a: SELECT value FROM iso WHERE id = 2", "b: SELECT value FROM iso WHERE id = 1", "a: COMMIT", "b: COMMIT"))


def test_dirty_write(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = 11 WHERE id = 1", "b: UPDATE iso SET value = 12 WHERE id = 1",
                                "a: UPDATE iso SET value = 21 WHERE id = 2", "a: COMMIT", "b: UPDATE iso SET value = 22 WHERE id = 2", "b: COMMIT"))


def test_aborted_read(server, postgres):
    for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        same(server, postgres, both(level, "a: UPDATE iso SET value = 101 WHERE id = 1", f"b: {READ}", "a: ROLLBACK", f"b: {READ}", "b: COMMIT"))


def test_intermediate_read(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = 101 WHERE id = 1", f"b: {READ}",
                                "a: UPDATE iso SET value = 11 WHERE id = 1", "a: COMMIT", f"b: {READ}", "b: COMMIT"))


def test_non_repeatable_read_at_read_committed(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: SELECT value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 11 WHERE id = 1", "b: COMMIT",
                                "a: SELECT value FROM iso WHERE id = 1", "a: COMMIT"))


def test_phantom_at_read_committed(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: SELECT count(*) FROM iso WHERE value > 5", "b: INSERT INTO iso VALUES (3, 30, 'c')", "b: COMMIT",
                                "a: SELECT count(*) FROM iso WHERE value > 5", "a: COMMIT"))


def test_lost_update_at_read_committed_waits(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = value + 1 WHERE id = 1 RETURNING value", "b: UPDATE iso SET value = value * 2 WHERE id = 1",
                                "a: COMMIT", "b: SELECT value FROM iso WHERE id = 1", "b: COMMIT"))


def test_lost_update_at_stricter_levels(server, postgres):
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        same(server, postgres, both(level, "a: SELECT value FROM iso WHERE id = 1", "b: SELECT value FROM iso WHERE id = 1",
                                    "a: UPDATE iso SET value = 11 WHERE id = 1", "b: UPDATE iso SET value = 12 WHERE id = 1",
                                    "a: COMMIT", "b: ROLLBACK"))


def test_update_that_no_longer_matches(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = 99 WHERE id = 1", "b: DELETE FROM iso WHERE value = 10", "a: COMMIT",
                                "b: COMMIT"))


def test_insert_of_the_same_key_waits(server, postgres):
    for end in ("COMMIT", "ROLLBACK"):
        same(server, postgres, both("READ COMMITTED", "a: INSERT INTO iso VALUES (3, 1, 'x')", "b: INSERT INTO iso VALUES (3, 2, 'y')", f"a: {end}", "b: COMMIT"))
        same(server, postgres, both("READ COMMITTED", "a: INSERT INTO iso VALUES (3, 1, 'x')", "b: INSERT INTO iso VALUES (4, 2, 'x')", f"a: {end}", "b: COMMIT"))
        same(server, postgres, ["a: BEGIN", "a: INSERT INTO iso VALUES (3, 1, 'x')", "b: INSERT INTO iso VALUES (3, 2, 'y')", f"a: {end}", "b: SELECT 1"])


def test_a_row_that_an_upsert_refuses_is_locked(server, postgres):
    """ON CONFLICT DO UPDATE … WHERE is asked of the row that is there in the end, and all rows that it meets are locked."""
    upsert = "INSERT INTO iso VALUES (1, 5, 'x'), (2, 5, 'y') ON CONFLICT (id) DO UPDATE SET value = 7 WHERE iso.value = 99"
    for end in ("COMMIT", "ROLLBACK"):
        same(server, postgres, both("READ COMMITTED", "b: UPDATE iso SET value = 99 WHERE id = 1", f"a: {upsert}", f"b: {end}", f"a: {READ}", "a: COMMIT"))
    same(server, postgres, both("READ COMMITTED", f"a: {upsert}", "b: UPDATE iso SET value = 99 WHERE id = 2", "a: COMMIT", "b: COMMIT"))
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = 8 WHERE id = 1", f"a: {upsert}", "a: COMMIT", "b: COMMIT"))
    for level in STRICTER:
        same(server, postgres, both(level, "a: SELECT value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 99 WHERE id = 1", f"a: {upsert}", "b: COMMIT",
                                    "a: ROLLBACK"))


def test_an_insert_after_a_stale_read_is_a_serialization_failure(server, postgres):
    """A key that another has brought meanwhile: at SERIALIZABLE a serialization failure, if the transaction had looked for it."""
    for level in LEVELS:
        same(server, postgres, both(level, "a: SELECT max(id) FROM iso", "b: SELECT max(id) FROM iso", "a: INSERT INTO iso VALUES (3, 1, 'x')",
                                    "b: INSERT INTO iso VALUES (3, 2, 'y')", "a: COMMIT", "b: ROLLBACK"))
        same(server, postgres, both(level, "a: SELECT 1", "b: SELECT 1", "a: INSERT INTO iso VALUES (3, 1, 'x')", "b: INSERT INTO iso VALUES (3, 2, 'y')",
                                    "a: COMMIT", "b: ROLLBACK"))


def test_autocommit_waits_for_the_transaction(server, postgres):
    for end in ("COMMIT", "ROLLBACK"):
        same(server, postgres, ["a: BEGIN", "a: UPDATE iso SET value = value + 5 WHERE id = 1 RETURNING value", "b: UPDATE iso SET value = value * 2 WHERE id = 1",
                                f"a: {end}", "b: SELECT 1"])


def test_the_session_that_closes_a_circle_of_waits_ends_it(server, postgres):
    """The other one has looked for a circle before there was one."""
    timeouts = [f"{name}: SET deadlock_timeout = '400ms'" for name in "ab"]
    same(server, postgres, both("READ COMMITTED", *timeouts, "a: UPDATE iso SET value = 0 WHERE id = 1", "b: UPDATE iso SET value = 0 WHERE id = 2",
                                "a: UPDATE iso SET value = 1 WHERE id = 2", "b: SELECT pg_sleep(0.6)", "b!: UPDATE iso SET value = 1 WHERE id = 1",
                                "a: COMMIT", "b: COMMIT"))


def test_deadlock(server, postgres):
    steps = both("READ COMMITTED", "a: SET deadlock_timeout = '10min'", "b: SET deadlock_timeout = '300ms'", "a: UPDATE iso SET value = 0 WHERE id = 1",
                 "b: UPDATE iso SET value = 1 WHERE id = 2", "a: UPDATE iso SET value = 0 WHERE id = 2", "b!: UPDATE iso SET value = 1 WHERE id = 1",
                 "b: ROLLBACK", "a: COMMIT")
    same(server, postgres, steps)


def test_lock_timeout(server, postgres):
    same(server, postgres, ["a: BEGIN", "a: UPDATE iso SET value = 0 WHERE id = 1", "b: SET lock_timeout = '200ms'",
                            "b!: UPDATE iso SET value = 1 WHERE id = 1", "a: COMMIT", "b: UPDATE iso SET value = value + 1 WHERE id = 1"])


# redquel refuses with 40001 where PostgreSQL's snapshot would still show old rows (docs/transactions.md); an answer is never wrong.

def outcome(server, steps):
    return {step: answer for step, _, answer in play(server, steps)}


def test_no_skew_is_shown_at_stricter_levels(server):
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        log = outcome(server, both(level, "a: SELECT value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 11 WHERE id = 1",
                                   "b: UPDATE iso SET value = 19 WHERE id = 2", "b: COMMIT", "a: SELECT value FROM iso WHERE id = 2"))
        assert log["a: SELECT value FROM iso WHERE id = 2"] == "40001", log


def test_no_phantom_at_stricter_levels(server):
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        log = outcome(server, both(level, "a: SELECT count(*) FROM iso WHERE value > 5", "b: INSERT INTO iso VALUES (3, 30, 'c')", "b: COMMIT",
                                   "a: SELECT count(*) FROM iso"))
        assert log["a: SELECT count(*) FROM iso"] == "40001", log


def test_no_non_repeatable_read_at_stricter_levels(server):
    for level in STRICTER:
        log = outcome(server, both(level, "a: SELECT word, value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 11 WHERE id = 1", "b: COMMIT",
                                   "a: SELECT value FROM iso WHERE id = 1"))
        assert log["a: SELECT value FROM iso WHERE id = 1"] == "40001", log


CIRCULAR_FLOW = ["a: UPDATE iso SET value = 11 WHERE id = 1", "b: UPDATE iso SET value = 22 WHERE id = 2",
                 "a: SELECT value FROM iso WHERE id = 2", "b: SELECT value FROM iso WHERE id = 1", "a: COMMIT", "b: COMMIT"]
SKEW_BY_PHANTOMS = ["a: SELECT count(*) FROM iso WHERE value > 25", "b: SELECT count(*) FROM iso WHERE value > 25",
                    "a: INSERT INTO iso VALUES (3, 30, 'c')", "b: INSERT INTO iso VALUES (4, 40, 'd')", "a: COMMIT", "b: COMMIT"]
WRITE_SKEW = ["a: SELECT sum(value) FROM iso", "b: SELECT sum(value) FROM iso", "a: UPDATE iso SET value = 0 WHERE id = 1",
              "b: UPDATE iso SET value = 0 WHERE id = 2", "a: COMMIT", "b: COMMIT"]


def test_no_circular_flow_at_serializable(server):
    log = outcome(server, both("SERIALIZABLE", *CIRCULAR_FLOW))
    assert sorted(str(log[step]) for step in ("a: COMMIT", "b: COMMIT")) == ["40001", "[]"], log


def test_no_write_skew_at_serializable(server):
    for steps in (WRITE_SKEW, SKEW_BY_PHANTOMS):
        log = outcome(server, both("SERIALIZABLE", *steps))
        assert log["a: COMMIT"] == [] and log["b: COMMIT"] == "40001", log


def test_repeatable_read_is_a_snapshot(server, postgres):
    """Write skew is not prevented, as in PostgreSQL."""
    for steps in (CIRCULAR_FLOW, WRITE_SKEW, SKEW_BY_PHANTOMS):
        same(server, postgres, both("REPEATABLE READ", *steps))


def test_rows_that_were_read_may_change_at_repeatable_read(server, postgres):
    """A transaction goes on in tables that have not changed, and commits what it has made of its snapshot."""
    other = "c: DROP TABLE IF EXISTS iso_other; CREATE TABLE iso_other (id integer PRIMARY KEY, n integer); INSERT INTO iso_other VALUES (1, 1), (2, 2)"
    read, changed = "a: SELECT sum(value) FROM iso", ["b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: COMMIT"]
    for steps in (
            [read, "a: UPDATE iso SET value = 21 WHERE id = 2", *changed, "a: COMMIT"],
            [read, *changed, "a: INSERT INTO iso_other VALUES (3, 3)", "a: SELECT sum(n) FROM iso_other", "a: COMMIT"],
            [read, *changed, "a: UPDATE iso_other SET n = n + 10 WHERE id = 1", "a: SELECT sum(n) FROM iso_other",
             "a: DELETE FROM iso_other WHERE id = 2", "a: SELECT n FROM iso_other WHERE id = 1", "a: COMMIT"],
            ["a: UPDATE iso_other SET n = 5 WHERE id = 1", read, *changed, "a: UPDATE iso_other SET n = n + 1", "a: COMMIT"],
            # First come, first served.
            [read, *changed, "a: UPDATE iso SET value = 0 WHERE id = 1", "a: ROLLBACK"],
            ["a: SELECT value FROM iso WHERE id = 1", *changed, "a: UPDATE iso SET value = 0 WHERE id = 1", "a: ROLLBACK"],
            ["a: SELECT value FROM iso WHERE id = 1", *changed, "a: DELETE FROM iso WHERE id = 1", "a: ROLLBACK"]):
        same(server, postgres, [other, *both("REPEATABLE READ", *steps), "c: SELECT * FROM iso_other ORDER BY id", "c: DROP TABLE iso_other"])


def test_a_snapshot_begins_after_the_first_wait(server):
    """PostgreSQL's snapshot is older than the wait, so it answers 40001; one that begins after it is as good."""
    for level in STRICTER:
        log = outcome(server, both(level, "a: UPDATE iso SET value = value + 1 WHERE id = 1", "b: UPDATE iso SET value = value * 2 WHERE id = 1 RETURNING value",
                                   "a: COMMIT", "b: COMMIT"))
        assert log["b: UPDATE iso SET value = value * 2 WHERE id = 1 RETURNING value"] == [["22"]] and log["b: COMMIT"] == [], log


def test_a_write_that_waited_looks_at_the_row_that_it_had_found_alone(server, postgres):
    same(server, postgres, both("READ COMMITTED", "a: UPDATE iso SET value = value + 10", "b: DELETE FROM iso WHERE value = 20", "a: COMMIT", "b: COMMIT"))


def test_reads_of_other_rows_do_not_conflict(server):
    log = outcome(server, both("REPEATABLE READ", "a: SELECT value FROM iso WHERE id = 1", "b: UPDATE iso SET value = 0 WHERE id = 2", "b: COMMIT",
                               "a: UPDATE iso SET value = value + 1 WHERE id = 1", "a: COMMIT"))
    assert log["a: COMMIT"] == [], log


def test_a_reading_transaction_keeps_its_snapshot(server, postgres):
    """What it has read may change: tables that have not changed since are read as of then."""
    other = "c: DROP TABLE IF EXISTS iso_other; CREATE TABLE iso_other (n integer); INSERT INTO iso_other VALUES (1)"
    for level in STRICTER:
        same(server, postgres, [other, *both(level, "a: SELECT sum(value) FROM iso", "b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: COMMIT",
                                             "a: SELECT n FROM iso_other", "a: SELECT 1", "a: SELECT count(*) FROM iso_other", "a: COMMIT"),
                                "c: DROP TABLE iso_other"])
        # Not what has changed, too.
        log = {step: answer for step, _, answer in play(server, [other, *both(
            level, "a: SELECT sum(value) FROM iso", "b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: UPDATE iso_other SET n = 2", "b: COMMIT",
            "a: SELECT n FROM iso_other", "a: ROLLBACK"), "c: DROP TABLE iso_other"])}
        assert log["a: SELECT n FROM iso_other"] == "40001", log
        # A change before any read is seen, and the snapshot's moment is that read.
        log = {step: answer for step, _, answer in play(server, [other, *both(
            level, "a: SELECT sum(value) FROM iso", "b: UPDATE iso_other SET n = 2", "b: COMMIT", "a: SELECT n FROM iso_other",
            "c: UPDATE iso SET value = 0 WHERE id = 2", "a: SELECT n + 1 FROM iso_other", "a: COMMIT"), "c: DROP TABLE iso_other"])}
        assert log["a: SELECT n FROM iso_other"] != "40001", log
        # At SERIALIZABLE it cannot write any more.
        if level == "REPEATABLE READ":
            continue
        log = {step: answer for step, _, answer in play(server, [other, *both(
            level, "a: SELECT sum(value) FROM iso", "b: UPDATE iso SET value = value + 1 WHERE id = 1", "b: COMMIT", "a: SELECT n FROM iso_other",
            "a: UPDATE iso_other SET n = 5", "a: ROLLBACK"), "c: DROP TABLE iso_other"])}
        assert log["a: UPDATE iso_other SET n = 5"] == "40001", log
