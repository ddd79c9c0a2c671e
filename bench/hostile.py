#!/usr/bin/python3
"""Memory of redquel and latency of light clients, while other clients make it hold memory and compute for long.

    bench/hostile.py [--build build/release] [--memory 1GB] [--clients 16] [--seconds 60] [--server redquel|postgres|null]

Four clients of pgbench read and update single rows, first alone, then beside the hostile ones (tests/harness/hostile_clients.py). Prints the
median and the 99th percentile of both, and the largest resident memory of the process beside `limits.memory`. The hostile clients run in a
process of their own with nice 10, so that they take no processor from the servers, as on another machine. With --idle-clients they have only
processor time that no other program wants (SCHED_IDLE): the difference is the share of the clients in the figures.

With --server postgres all clients use PostgreSQL instead. With --server null the light clients use a server that does nothing, beside the
hostile clients of redquel: no server can do better on this machine. With --each, one hostile client at a time has one work, on a server with
one thread; printed is the longest time that `SELECT 1` of another client took meanwhile.
"""
import argparse
import collections
import contextlib
import glob
import multiprocessing
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import processes  # noqa: E402
from harness.hostile_clients import SETUP, WORKS, HostileClients  # noqa: E402
from harness.processes import temporary_folder  # noqa: E402
from harness.programs import pgbench_options  # noqa: E402
from harness.servers import Redis, Redquel  # noqa: E402
from servers import MeasuredPostgres, Null  # noqa: E402

LIGHT = "CREATE TABLE light (id int PRIMARY KEY, n int NOT NULL, t text); INSERT INTO light SELECT g, g, 'row' FROM generate_series(1, 1000) g"
SCRIPTS = {"read": "\\set id random(1, 1000)\nSELECT t FROM light WHERE id = :id;\n",
           "update": "\\set id random(1, 1000)\nUPDATE light SET n = n + 1 WHERE id = :id;\n"}


def resident_megabytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 >> 20


def peak_megabytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM"))


def latencies(server, folder, kind, seconds):
    """Milliseconds of each statement of pgbench, sorted, and its complaint if a statement failed."""
    for path in glob.glob(f"{folder}/log.*"):
        os.unlink(path)
    script = f"{folder}/{kind}.sql"
    with open(script, "w", encoding="ascii") as file:
        file.write(SCRIPTS[kind])
    found, complaint, until = [], "", time.monotonic() + seconds
    while time.monotonic() < until - 1:  # pgbench ends a client whose statement fails
        done = subprocess.run(["pgbench", "-n", "-M", "prepared", "-c", "4", "-T", str(round(until - time.monotonic())), "-f", script, "-l", "--log-prefix",
                               f"{folder}/log", *pgbench_options(server)], capture_output=True, text=True, check=False)
        complaint = complaint or (done.stderr.strip() if done.returncode else "")
        for path in glob.glob(f"{folder}/log.*"):
            with open(path, encoding="ascii") as file:
                found += [int(line.split()[2]) / 1000 for line in file]
            os.unlink(path)
    return sorted(found), complaint


@contextlib.contextmanager
def hostile_process(server, clients, works, is_idle):
    """Hostile clients in another process until the end of the block. Their outcomes are in the dictionary that it gives, afterwards."""
    outcome, (ours, theirs) = {}, multiprocessing.Pipe()

    def work():
        if is_idle:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        else:
            os.nice(10)
        hostile = HostileClients(server, clients, works)
        hostile.start()
        theirs.recv()
        hostile.stop()
        theirs.send({"complete": dict(sorted(hostile.done.items())), "refused": dict(sorted(hostile.refused.items())), "failures": hostile.failures})

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    try:
        yield outcome
    finally:
        ours.send("stop")
        outcome.update(ours.recv())
        process.join()


def longest_wait(server, name, work):
    """Milliseconds."""
    hostile = HostileClients(server, 1, {name: work})
    longest = 0
    with server.connect(timeout=600) as connection:
        hostile.start()
        until = time.monotonic() + 6
        while time.monotonic() < until:
            began = time.monotonic()
            connection.run("SELECT 1")
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.005)
        hostile.stop()
    return longest * 1000


def percentile(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--each", action="store_true", help="the longest wait of a light client beside each work")
    parser.add_argument("--only", help="hostile works whose name has this text")
    parser.add_argument("--idle-clients", action="store_true", help="hostile clients run only where a processor is idle")
    parser.add_argument("--server", default="redquel", choices=("redquel", "postgres", "null"), help="the server of the light clients")
    options = parser.parse_args()
    processes.start_guardian()
    folder = temporary_folder()
    with contextlib.ExitStack() as stack:
        def started(server, *arguments):
            server.start(*arguments)
            stack.callback(server.stop)
            return server

        if options.server == "postgres":
            server = light = started(MeasuredPostgres(), {"fsync": "off", "synchronous_commit": "off"})
        else:
            with open(f"{folder}/redquel.toml", "w", encoding="ascii") as file:
                file.write(f"[limits]\nmemory = '{options.memory}'\n")
            threads = ("--threads", "1") if options.each else ()
            server = light = started(Redquel(os.path.abspath(options.build), started(Redis()), "--config", f"{folder}/redquel.toml", *threads))
            if options.server == "null":
                light = started(Null(os.path.abspath(options.build)))
        with server.connect() as connection:
            connection.run(SETUP + LIGHT)
        works = {name: work for name, work in WORKS.items() if not options.only or options.only in name}
        if options.each:
            for name in works:
                print(f"{name:30} {longest_wait(server, name, works[name]):8.0f} ms, resident {resident_megabytes(server.process.pid)} MB", flush=True)
            return
        measure(options, server, light, folder, works)


def measure(options, server, light, folder, works):
    part = max(2, options.seconds // 2)
    alone = {kind: latencies(light, folder, kind, min(part, 10))[0] for kind in SCRIPTS}
    with hostile_process(server, options.clients, works, options.idle_clients) as outcome:
        time.sleep(1)
        beside = {kind: latencies(light, folder, kind, part) for kind in SCRIPTS}
    for kind in SCRIPTS:
        one, (two, complaint) = alone[kind], beside[kind]
        print(f"{kind}: alone {len(one)} statements, median {percentile(one, .5):.2f} ms, p99 {percentile(one, .99):.2f} ms; "
              f"beside {len(two)}, median {percentile(two, .5):.2f} ms, p99 {percentile(two, .99):.2f} ms, longest {two[-1]:.0f} ms; "
              f"p99 is {percentile(two, .99) / percentile(one, .99):.1f} times as long")
        if complaint:
            print(f"a light client failed: {complaint}")
    if options.server != "postgres":
        print(f"limits.memory {options.memory}, largest resident memory {peak_megabytes(server.process.pid)} MB")
    print("complete:", outcome["complete"])
    print("refused:", outcome["refused"])
    if outcome["failures"]:
        print("failures:", collections.Counter(outcome["failures"]))


if __name__ == "__main__":
    main()
