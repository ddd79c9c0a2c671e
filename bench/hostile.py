#!/usr/bin/python3
"""Memory of redquel and latency of light clients, while other clients make it hold memory and compute for long.

    bench/hostile.py [--build build/release] [--memory 1GB] [--clients 16] [--seconds 60]

Four clients of pgbench read and update single rows, first alone, then beside the hostile ones (tests/harness/hostile_clients.py). Prints the
median and the 99th percentile of both, and the largest resident memory of the process beside `limits.memory`. With --each, one hostile
client at a time has one work, on a server with one thread; printed is the longest time that `SELECT 1` of another client took meanwhile.
"""
import argparse
import collections
import glob
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import processes  # noqa: E402
from harness.hostile_clients import SETUP, WORKS, HostileClients  # noqa: E402
from harness.processes import temporary_folder  # noqa: E402
from harness.programs import run  # noqa: E402
from harness.servers import Redis, Redquel  # noqa: E402

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
    """Milliseconds of each statement of pgbench, sorted."""
    for path in glob.glob(f"{folder}/log.*"):
        os.unlink(path)
    script = f"{folder}/{kind}.sql"
    with open(script, "w", encoding="ascii") as file:
        file.write(SCRIPTS[kind])
    run(["pgbench", "-n", "-M", "prepared", "-c", "4", "-T", str(seconds), "-f", script, "-l", "--log-prefix", f"{folder}/log", "-h", server.host,
         "-p", str(server.port), "-U", "postgres", "postgres"])
    found = []
    for path in glob.glob(f"{folder}/log.*"):
        with open(path, encoding="ascii") as file:
            found += [int(line.split()[2]) / 1000 for line in file]
    return sorted(found)


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
    options = parser.parse_args()
    processes.start_guardian()
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="ascii") as file:
        file.write(f"[limits]\nmemory = '{options.memory}'\n")
    redis = Redis()
    redis.start()
    threads = ("--threads", "1") if options.each else ()
    server = Redquel(os.path.abspath(options.build), redis, "--config", f"{folder}/redquel.toml", *threads)
    server.start()
    with server.connect() as connection:
        connection.run(SETUP + LIGHT)
    works = {name: work for name, work in WORKS.items() if not options.only or options.only in name}
    if options.each:
        for name in works:
            print(f"{name:30} {longest_wait(server, name, works[name]):8.0f} ms, resident {resident_megabytes(server.process.pid)} MB", flush=True)
        server.stop()
        redis.stop()
        return
    part = max(1, options.seconds // 2)
    alone = {kind: latencies(server, folder, kind, min(part, 10)) for kind in SCRIPTS}
    hostile = HostileClients(server, options.clients, works)
    hostile.start()
    time.sleep(1)
    beside = {kind: latencies(server, folder, kind, part) for kind in SCRIPTS}
    hostile.stop()
    for kind in SCRIPTS:
        one, two = alone[kind], beside[kind]
        print(f"{kind}: alone {len(one)} statements, median {percentile(one, .5):.2f} ms, p99 {percentile(one, .99):.2f} ms; "
              f"beside {len(two)}, median {percentile(two, .5):.2f} ms, p99 {percentile(two, .99):.2f} ms, longest {two[-1]:.0f} ms; "
              f"p99 is {percentile(two, .99) / percentile(one, .99):.1f} times as long")
    print(f"limits.memory {options.memory}, largest resident memory {peak_megabytes(server.process.pid)} MB")
    print("complete:", dict(sorted(hostile.done.items())))
    print("refused:", dict(sorted(hostile.refused.items())))
    if hostile.failures:
        print("failures:", collections.Counter(hostile.failures))
    server.stop()
    redis.stop()


if __name__ == "__main__":
    main()
