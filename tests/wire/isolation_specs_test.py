"""Isolation specs: sessions take turns as a spec says. Each step must answer as PostgreSQL's, wait as PostgreSQL's, and
leave the same rows.

The specs of `tests/isolation` always run. POSTGRES_SOURCE names PostgreSQL 15's source tree, whose own specs
(src/test/isolation/specs) run then, too. ISOLATION_SPECS chooses some of them by a regular expression.
ISOLATION_DIFFERENCES=1 prints each difference."""
import glob
import os
import re

from harness.isolation_specs import read_spec, run_spec
from harness.servers import Postgres

SLOW = True
LIMIT = 3600
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("POSTGRES_SOURCE")
CHOSEN = re.compile(os.environ.get("ISOLATION_SPECS", ""))
PATIENCE = 10  # seconds, for a step that waits where PostgreSQL's does not
IS_TALKATIVE = bool(os.environ.get("ISOLATION_DIFFERENCES"))
LEAST_SPECS = 60
# Permutations of one spec; many of PostgreSQL's have dozens that hardly differ.
MOST_PERMUTATIONS = int(os.environ.get("ISOLATION_PERMUTATIONS", "8"))

NO_QUEUE = "locks have no queue"  # so that the right session may get a lock, too
# Specs whose steps differ, and why (docs/differences.md).
DIFFERENT = {
    "aborted-keyrevoke": "ROLLBACK TO gives no locks back",
    "alter-table-1": "definitions wait for writers, and end transactions that write with 40001",
    "alter-table-2": "definitions wait for writers",
    "async-notify": "pg_notification_queue_usage() is 0",
    "deadlock-parallel": NO_QUEUE,
    "deadlock-simple": "a lock that a transaction makes stronger is in no queue",
    "deadlock-soft": NO_QUEUE,
    "deadlock-soft-2": NO_QUEUE,
    "delete-abort-savept-2": "ROLLBACK TO gives no locks back",
    "drop-index-concurrently-1": "readers hold no lock that DROP INDEX waits for",
    "insert-conflict-do-update-3": "a statement that writes in several places runs again after a wait",
    "lock-committed-keyupdate": "a row that has got another primary key counts as deleted",
    "sequence-ddl": "nextval() does not wait for a sequence that an open transaction changes",
    "timeouts": "LOCK TABLE does not wait for readers",
    "truncate-conflict": "TRUNCATE does not wait for readers",
    "tuplelock-upgrade-no-deadlock": NO_QUEUE,
}


def play(paths, server, postgres, *limits):
    """The outcomes of the specs that ran."""
    ran = []
    for path in paths:
        outcome = run_spec(server, postgres, read_spec(path), *limits)
        print(outcome.summary(), flush=True)
        if not outcome.left_out:
            ran.append(outcome)
        for compared in outcome.found if IS_TALKATIVE else []:
            print("  " + " ".join(compared.permutation), *compared.lines, sep="\n    ", flush=True)
    return ran


def check(outcomes):
    unnamed = [outcome.summary() for outcome in outcomes if outcome.found and outcome.spec not in DIFFERENT]
    assert not unnamed, unnamed
    alike = [] if CHOSEN.pattern else [outcome.spec for outcome in outcomes
                                       if not outcome.found and DIFFERENT.get(outcome.spec, NO_QUEUE) != NO_QUEUE]
    assert not alike, f"no longer different: {alike}"


def test_own_specs(fresh_server, postgres):
    check(play(sorted(glob.glob(f"{HERE}/../isolation/*.spec")), fresh_server, postgres, 100))


def test_specs_of_postgresql(fresh_server):
    if not SOURCE:
        print("not run: POSTGRES_SOURCE names no source tree of PostgreSQL 15", flush=True)
        return
    postgres = Postgres().start()
    try:
        paths = sorted(glob.glob(f"{SOURCE}/src/test/isolation/specs/*.spec"))
        chosen = [path for path in paths if CHOSEN.search(os.path.basename(path))]
        ran = play(chosen, fresh_server, postgres, MOST_PERMUTATIONS, PATIENCE)
    finally:
        postgres.stop()
    check(ran)
    assert CHOSEN.pattern or len(ran) >= LEAST_SPECS, f"only {len(ran)} specs ran"
