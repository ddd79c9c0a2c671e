#!/usr/bin/python3
"""Runs redquel's tests against one build, with throw-away servers that it starts and ends itself.

    tests/run.py --build build/release                   everything
    tests/run.py --build build/release sql wire          some kinds: unit plan sql random wire clients faults
    tests/run.py --build build/release sql -k join       only files (or tests) whose name contains "join"
    tests/run.py --build build/release sql tests/sql/types/integer.test
    tests/run.py --build build/release plan --rewrite    writes the golden plans anew
    tests/run.py --subject postgresql sql wire           PostgreSQL in redquel's place: are the tests right?

The last line is "N passed, N failed"; the exit status is 0 only if nothing failed.
"""
import argparse
import glob
import os
import random
import signal
import sys
import time

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)
sys.dont_write_bytecode = True

from harness import function_runner, plan_runner, processes, sql_runner, unit_runner  # noqa: E402
from harness.report import Report  # noqa: E402

KINDS = ("unit", "plan", "sql", "random", "wire", "clients", "faults")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selection", nargs="*", help=f"kinds ({', '.join(KINDS)}) or files; default: all kinds")
    parser.add_argument("--build", default="build/release", help="build directory (default: %(default)s)")
    parser.add_argument("-k", dest="pattern", help="only what contains this text in its name")
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="workers for .test files (default: %(default)s)")
    parser.add_argument("--rewrite", action="store_true", help="write golden plans anew instead of comparing")
    parser.add_argument("--extended", action="store_true", help="run queries and errors by the extended protocol, too, in both formats")
    parser.add_argument("--concurrent", action="store_true", help="only modules marked CONCURRENT (for ThreadSanitizer)")
    parser.add_argument("--subject", choices=["redquel", "postgresql"], default="redquel", help="who is compared with PostgreSQL")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds that one answer may take (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds that one wire, client or fault test may take")
    parser.add_argument("--shown", type=int, default=10, help="failures printed per file (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="of random tests; printed")
    chosen = parser.parse_args()
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
    return chosen


def files_of(kind, suffix, chosen):
    found = sorted(glob.glob(f"tests/{kind}/**/*{suffix}", recursive=True))
    if chosen.files:
        found = [path for path in found if any(path == file or path.startswith(file.rstrip("/") + "/") for file in chosen.files)]
    return found


def matching(paths, pattern):
    return [path for path in paths if not pattern or pattern in path]


def run_kind(kind, chosen, postgres, report):
    if kind == "unit":
        if not chosen.files:
            unit_runner.run(chosen.build, report, chosen.pattern)
    elif kind == "plan":
        files = matching(files_of("plan", ".plan", chosen), chosen.pattern)
        if files:
            plan_runner.run_files(files, sql_runner.Subject(chosen.build), report, chosen.rewrite, chosen.timeout)
    elif kind == "sql":
        files = matching(files_of("sql", ".test", chosen), chosen.pattern)
        if files:
            oracle = postgres()
            make = (lambda: sql_runner.Oracle(oracle)) if chosen.subject == "postgresql" else (
                lambda: sql_runner.Subject(chosen.build))
            sql_runner.run_files(files, oracle, make, report, chosen.jobs, chosen.extended, chosen.timeout)
    else:
        for path in files_of(kind, "_test.py", chosen):
            function_runner.run_module(path, chosen.build, postgres, report,
                                       lambda name: not chosen.pattern or chosen.pattern in name,
                                       chosen.concurrent, chosen.seed, chosen.limit, chosen.subject)


def main():
    chosen = arguments()
    os.chdir(ROOT)
    chosen.build = os.path.abspath(chosen.build)
    if chosen.seed is None:
        chosen.seed = random.randrange(1 << 32)
    print(f"build {os.path.relpath(chosen.build)}, kinds {' '.join(chosen.kinds)}, seed {chosen.seed}", flush=True)
    processes.start_guardian()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    report = Report(chosen.shown)
    postgres = function_runner.LazyPostgres()
    try:
        for kind in chosen.kinds:
            run_kind(kind, chosen, postgres, report)
    finally:
        postgres.stop()
    print(f"{time.monotonic() - started:.0f} s, seed {chosen.seed}")
    print(report.summary())
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
