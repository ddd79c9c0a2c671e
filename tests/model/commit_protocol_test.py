"""The commit over several buckets of a Redis Cluster: no run breaks a promise, and each protection is needed.

The promises: a commit takes place whole or not at all; each read sees whole commits and a right total; what was acknowledged is there,
later reads see it, and no failover loses it; what was reported as aborted is not there.
"""
import os

from model.schedule import Broken, Faults
from model.workload import KINDS, Run

LONG = 40 if os.environ.get("LONG_TESTS") else 1
SPECIAL_KINDS = ("mutex", "expiring", "member", "statements", "drop", "table", "transfer", "one", "read")
TRANSFERS = ("transfer", "wide transfer", "read", "read")
KEY_KINDS = ("child", "child", "delete parent")
TABLE_LOCK_KINDS = ("write cells", "write cells", "lock cells")
QUICK_KINDS = ("transfer", "wide transfer", "quick read", "quick read", "one")
NONE = frozenset()


def holds(runs, faults, kinds=KINDS, steps=3, are_shared=False):
    for seed in range(runs * LONG):
        try:
            Run(seed, NONE, faults, kinds, steps, are_shared=are_shared).run()
        except Broken as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def holds_in_all_workloads(faults):
    holds(250, faults)
    holds(50, faults, steps=10)
    holds(150, faults, SPECIAL_KINDS)
    holds(50, faults, QUICK_KINDS, steps=6)
    holds(50, faults, QUICK_KINDS, steps=6, are_shared=True)
    holds(80, faults, KEY_KINDS)
    holds(80, faults, TABLE_LOCK_KINDS, steps=4)


def is_needed(protection, faults=Faults(), kinds=KINDS, steps=3, first=0, runs=2000, are_shared=False):
    """Switches a protection off. Some run must break a promise then. `first`: a seed shortly before one that does, where that is rare."""
    for seed in range(first, first + runs):
        try:
            Run(seed, frozenset([protection]), faults, kinds, steps, are_shared=are_shared).run()
        except Broken:
            holds_at(seed, faults, kinds, steps, are_shared)
            return
    raise AssertionError(f"{runs} runs without the protection {protection!r}, and no promise is broken")


def holds_at(seed, faults, kinds, steps, are_shared):
    """The same seed with the protection: the schedule, not the checker, broke the promise."""
    Run(seed, NONE, faults, kinds, steps, are_shared=are_shared).run()


# Every promise holds.

def test_processes_end_and_messages_get_lost():
    holds_in_all_workloads(Faults())


def test_masters_are_killed():
    holds_in_all_workloads(Faults(kills=3, replication=.01))


def test_masters_stand_still_until_they_are_deposed():
    holds_in_all_workloads(Faults(kills=1, pauses=3, stalls=2))


def test_slots_move():
    holds_in_all_workloads(Faults(moves=4))


def test_slots_move_while_masters_fail():
    holds_in_all_workloads(Faults(moves=3, kills=2, pauses=1, replication=.01))


def test_two_replicas_one_of_them_cut_off():
    holds_in_all_workloads(Faults(kills=2, pauses=1, cuts=2, replicas=2))


def test_masters_refuse_writes_without_replicas():
    holds_in_all_workloads(Faults(kills=1, cuts=3, min_replicas=1))


def test_slow_owners():
    holds_in_all_workloads(Faults(stalls=3, kills=1))


def test_everything_at_once():
    holds_in_all_workloads(Faults(kills=2, pauses=2, moves=2, stalls=2, cuts=2, replicas=2, replication=.01))


# Each protection is needed. Readers:

def test_readers_look_at_prepared_records():
    is_needed("look_at_records")


def test_readers_compare_lists_of_applied_commits():
    is_needed("compare_lists")


def test_readers_trust_only_numbers_that_they_knew_before():
    is_needed("known_numbers", kinds=QUICK_KINDS, steps=6)


def test_readers_trust_no_number_that_another_session_learned_meanwhile():
    is_needed("numbers_of_before", kinds=QUICK_KINDS, steps=6, are_shared=True)


def test_readers_look_twice_before_they_call_a_commit_undecided():
    is_needed("second_look", kinds=TRANSFERS, first=2500)


def test_reads_by_key_look_at_the_lock_of_their_row():
    is_needed("point_reads_look", kinds=("transfer", "point read"))


def test_readers_give_up_where_a_bucket_lacks_replicas():
    is_needed("readers_give_up", Faults(cuts=2, min_replicas=1, cut_steps=20_000), TRANSFERS)


def test_repeatable_read_asks_once_more_after_each_statement():
    is_needed("round_after_statements", kinds=("transfer", "statements"))


def test_scripts_that_read_probe_for_a_moving_slot():
    is_needed("probe_in_reads", Faults(moves=3))


# Commits and recovery:

def test_recovery_leaves_tombstones():
    is_needed("tombstones")


def test_prepared_locks_are_respected():
    is_needed("prepared_locks")


def test_serializable_locks_the_rows_that_it_has_read():
    is_needed("read_locks", kinds=("skew", "skew", "read"))


def test_commits_wait_for_replicas():
    is_needed("wait", Faults(kills=2))


def test_recovery_waits_for_replicas():
    is_needed("wait_in_recovery", Faults(kills=3, loss=.1, replication=.005), TRANSFERS)


def test_commits_wait_for_all_replicas():
    is_needed("wait_for_all_replicas", Faults(kills=2, cuts=2, replicas=2), TRANSFERS)


def test_wait_counts_only_behind_its_script():
    is_needed("wait_with_script", Faults(kills=2, moves=3), TRANSFERS)


def test_repeated_answers_write():
    is_needed("repeats_write", Faults(kills=3, loss=.1, replication=.005), TRANSFERS)


def test_slow_owners_recover_instead_of_applying():
    is_needed("slow_owners_recover", Faults(stalls=3, crashes=0), TRANSFERS)


def test_refused_apply_is_tried_again():
    is_needed("refused_apply_is_later", Faults(cuts=3, min_replicas=1, cut_steps=600), TRANSFERS)


def test_commits_are_forgotten_after_all_buckets_have_applied():
    is_needed("forget_last")


def test_sweepers_recover_before_they_forget():
    is_needed("recover_before_removal")


def test_sweepers_forget_a_day_later():
    is_needed("forget_late", Faults(crashes=0, loss=.12), ("transfer", "wide transfer"), first=400)


# Rows, locks, definitions:

def test_buckets_with_locks_alone_take_part():
    is_needed("lock_only_buckets", Faults(stalls=2), ("mutex",), 4)


def test_prepare_keeps_rows_from_expiring():
    is_needed("hold_expiring_rows", kinds=("expiring", "read"))


def test_emptied_sets_are_found_when_a_part_is_applied():
    is_needed("sets_at_apply", kinds=("member",))


def test_keys_of_old_definitions_go_after_replicas_have_the_new_one():
    is_needed("removal_waits", Faults(kills=3), ("drop", "table", "table"))


# Foreign keys between buckets, and locks of tables:

def test_children_lock_their_parent_until_the_commit_is_applied():
    is_needed("parent_locks", kinds=KEY_KINDS)


def test_a_parent_is_locked_before_its_references_are_looked_at():
    is_needed("references_after_lock", kinds=KEY_KINDS)


def test_decided_commits_are_finished_before_references_are_looked_at():
    is_needed("finish_before_references", kinds=KEY_KINDS)


def test_a_table_is_locked_in_all_its_buckets():
    is_needed("table_lock_in_all_buckets", kinds=TABLE_LOCK_KINDS)


def test_locks_of_tables_wait_for_locks_of_rows():
    is_needed("table_locks_see_rows", kinds=TABLE_LOCK_KINDS)


def test_writers_see_locks_of_tables():
    is_needed("writers_see_table_locks", kinds=TABLE_LOCK_KINDS)


# Moving slots:

def test_scripts_that_write_probe_for_a_moving_slot():
    is_needed("probe", Faults(moves=4))


def test_mover_waits_for_replicas_of_the_target():
    is_needed("mover_waits_at_target", Faults(moves=4, kills=2))


def test_mover_waits_for_replicas_of_the_source():
    is_needed("mover_waits_at_source", Faults(moves=4, kills=3, replication=.01), first=2400)


def test_mover_leaves_a_mark_that_failovers_keep():
    is_needed("mover_leaves_mark", Faults(moves=3, kills=2), first=1100)
