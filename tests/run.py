#!/usr/bin/python3
"""Runs redquel's tests against one build, with throw-away servers that it starts and ends itself.

    tests/run.py --build build/release                   everything
    tests/run.py --build build/release sql wire          some kinds: unit model plan sql random wire clients faults
    tests/run.py --build build/release sql -k join       only files (or tests) whose name contains "join"
    tests/run.py --build build/release sql tests/sql/types/integer.test
    tests/run.py --build build/release plan --rewrite    writes the golden plans anew
    tests/run.py --build build/release --long wire       with values of 60 and 512 MB
    tests/run.py --build build/release --cache 1MB sql   tables are kept in memory
    tests/run.py --redis cluster sql                     over a Redis Cluster of three masters (--masters 1: of one)
    tests/run.py --server /opt/valkey/bin sql            with the server program of this folder: redis-server or valkey-server
    tests/run.py --managed sql                           redquel may not run what managed services refuse (harness/other_servers.py)
    tests/run.py --subject postgresql sql wire           PostgreSQL in redquel's place: are the tests right?

The last line is "N passed, N failed"; the exit status is 0 only if nothing failed.
"""
import argparse
import collections
import glob
import os
import random
import re
import signal
import sys
import time
import zlib

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)
sys.dont_write_bytecode = True

from harness import function_runner, other_servers, plan_runner, processes, sql_runner, unit_runner, workers  # noqa: E402
from harness.report import Report  # noqa: E402
from harness.servers import Postgres, compared_versions  # noqa: E402

KINDS = ("unit", "model", "plan", "sql", "random", "wire", "clients", "faults")
SUFFIXES = {"plan": ".plan", "sql": ".test"}
# Tests that take tens of seconds are marked by a line of their own, and start first, so that the run does not end with them.
SLOW = re.compile(r"^# slow\b|^SLOW = True", re.M)
FIRST_KINDS = ("unit", "model", "faults", "wire", "random", "clients", "plan", "sql")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selection", nargs="*", help=f"kinds ({', '.join(KINDS)}) or files; default: all kinds")
    parser.add_argument("--build", default="build/release", help="build directory (default: %(default)s)")
    parser.add_argument("-k", dest="pattern", help="only what contains this text in its name")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count() or 2,
                        help="files that are run at the same time (default: as many as there are cores)")
    parser.add_argument("--rewrite", action="store_true", help="write golden plans anew instead of comparing")
    parser.add_argument("--extended", action="store_true", help="run queries and errors by the extended protocol, too, in both formats")
    parser.add_argument("--least-acl", action="store_true", help="plan and sql: redquel logs in to Redis as `redquel check --acl` says")
    parser.add_argument("--cache", metavar="SIZE", help="sql, random: tables are kept in memory, in so much of it (0, 1MB, 256MB)")
    parser.add_argument("--redis", choices=["one", "cluster"], default="one", help="sql: over one Redis, or over a Redis Cluster (default: %(default)s)")
    parser.add_argument("--server", metavar="FOLDER", help="with the programs of another Redis or Valkey that lie there")
    parser.add_argument("--managed", action="store_true", help="redquel's Redis user may not run commands that managed services refuse")
    parser.add_argument("--masters", type=int, default=3, help="of the cluster (default: %(default)s)")
    parser.add_argument("--spread", type=int, default=1, metavar="BUCKETS", help="of the cluster: each table that may be lies in so many (default: %(default)s)")
    parser.add_argument("--placement", choices=["together", "balanced"], default="together", help="of tables in a cluster (default: %(default)s)")
    parser.add_argument("--left-out", type=int, default=0, metavar="SEED", help="sql: some access rules are left out at some places (redquel.left_out_rules)")
    parser.add_argument("--third", type=int, metavar="NUMBER", help="sql: a third of the files, by the remainder of the number")
    parser.add_argument("--concurrent", action="store_true", help="only modules marked CONCURRENT (for ThreadSanitizer)")
    parser.add_argument("--subject", choices=["redquel", "postgresql"], default="redquel", help="who is compared with PostgreSQL")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds that one answer may take (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that one wire, client or fault test may take")
    parser.add_argument("--shown", type=int, default=10, help="failures printed per file (default: %(default)s)")
    parser.add_argument("--long", action="store_true", help="tests of long values, of the model and of histories in full: hours and gigabytes")
    parser.add_argument("--seed", type=int, default=None, help="of random tests; printed")
    chosen = parser.parse_args()
    if chosen.long:
        os.environ["LONG_TESTS"] = "1"
    if chosen.server:
        other_servers.use(chosen.server)
    if chosen.managed:
        os.environ["MANAGED_REDIS"] = "1"
    if chosen.cache:
        os.environ["CACHE_MEMORY"] = chosen.cache
    chosen.kinds = [word for word in chosen.selection if word in KINDS]
    chosen.files = [os.path.relpath(word, ROOT) for word in chosen.selection if word not in KINDS]
    for file in chosen.files:
        kind = file.split("/")[1] if file.startswith("tests/") and os.path.exists(os.path.join(ROOT, file)) else None
        if kind not in KINDS:
            parser.error(f"{file} is neither a kind nor a test file")
        chosen.kinds.append(kind)
    chosen.kinds = [kind for kind in KINDS if kind in chosen.kinds] or list(KINDS)
    if chosen.subject == "postgresql":
        chosen.kinds = [kind for kind in chosen.kinds if kind in ("sql", "wire")]
    if chosen.redis == "cluster" and chosen.kinds != ["sql"]:
        parser.error("--redis cluster is for sql alone")
    return chosen


class Job(collections.namedtuple("Job", "kind path")):
    """A file of tests, or a binary of unit tests."""
    __slots__ = ()

    def __str__(self):
        return self.path

    def order(self):
        if self.kind == "unit":
            return (0, 0, 0)
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        return (not SLOW.search(text), FIRST_KINDS.index(self.kind), -len(text))


def jobs_of(kind, chosen):
    if kind == "unit":
        return [] if chosen.files else [Job(kind, binary) for binary in unit_runner.binaries(chosen.build)]
    found = sorted(glob.glob(f"tests/{kind}/**/*{SUFFIXES.get(kind, '_test.py')}", recursive=True))
    if chosen.files:
        found = [path for path in found if any(path == file or path.startswith(file.rstrip("/") + "/") for file in chosen.files)]
    if kind == "sql" and chosen.third is not None:
        found = [path for path in found if (zlib.crc32(path.encode()) + chosen.third) % 3 == 0]
    if kind in SUFFIXES and chosen.pattern:
        found = [path for path in found if chosen.pattern in path]
    return [Job(kind, path) for path in found]


class Worker:
    """Runs jobs. The servers of .test and .plan files are started once and emptied for each file."""

    def __init__(self, chosen, postgres):
        self.chosen, self.postgres = chosen, postgres
        self.subject = None

    def run(self, job, report):
        chosen = self.chosen
        if job.kind == "unit":
            unit_runner.run(job.path, chosen.build, report, chosen.pattern)
        elif job.kind == "plan":
            plan_runner.run_file(job.path, self.ready_subject(), report, chosen.rewrite, chosen.timeout)
        elif job.kind == "sql":
            sql_runner.run_file(job.path, self.postgres, self.ready_subject(), report, chosen.extended, chosen.timeout)
        else:
            function_runner.run_module(job.path, chosen.build, self.postgres, report,
                                       lambda name: not chosen.pattern or chosen.pattern in name,
                                       chosen.concurrent, chosen.seed, chosen.limit, chosen.subject)

    def ready_subject(self):
        if not self.subject:
            is_postgres = self.chosen.subject == "postgresql"
            self.subject = sql_runner.Oracle(self.postgres, "subject") if is_postgres else sql_runner.Subject(
                self.chosen.build, least_acl=self.chosen.least_acl, masters=self.chosen.masters if self.chosen.redis == "cluster" else 0, placement=self.chosen.placement, buckets=self.chosen.spread,
                left_out=self.chosen.left_out)
        return self.subject

    def end(self):
        if self.subject:
            self.subject.end()


def main():
    chosen = arguments()
    os.chdir(ROOT)
    chosen.build = os.path.abspath(chosen.build)
    if chosen.seed is None:
        chosen.seed = random.randrange(1 << 32)
    versions = compared_versions()
    print(f"build {os.path.relpath(chosen.build)}, kinds {' '.join(chosen.kinds)}, seed {chosen.seed}\ncompared with {versions}", flush=True)
    processes.start_guardian()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    report = Report(chosen.shown, versions)
    jobs = sorted((job for kind in chosen.kinds for job in jobs_of(kind, chosen)), key=Job.order)
    postgres = Postgres().start() if any(job.kind not in ("unit", "model", "plan") for job in jobs) else None
    try:
        workers.run(jobs, lambda: Worker(chosen, postgres), chosen.jobs, report)
    finally:
        if postgres:
            postgres.stop()
    print(f"{time.monotonic() - started:.0f} s, seed {chosen.seed}")
    print(report.summary())
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
