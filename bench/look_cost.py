#!/usr/bin/python3
"""The latency of an application's GETs beside `redquel discover` and beside a full scan of `redquel look`.

    bench/look_cost.py [--build build/release] [--keys 10000000] [--windows 12] [--clients 1 16]

Redis holds keys of eight forms, on a unix socket. redis-benchmark asks for keys in windows of about a second; in every other window redquel
stands still (SIGSTOP), so that noise of the machine meets both kinds alike. Prints percentiles of both kinds, the median of their
ratios, and Redis's share and the time of the whole discovery.
"""
import argparse
import csv
import os
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import processes  # noqa: E402
from harness.processes import temporary_folder  # noqa: E402
from harness.servers import Look, Redis  # noqa: E402
from wire.look_test import EIGHT_SHAPES  # noqa: E402

PERCENTILES = ("p50_latency_ms", "p99_latency_ms")


def window(redis, clients, requests, keys):
    """The percentiles of a window, in microseconds."""
    printed = subprocess.run(["redis-benchmark", "-s", redis.socket_path, "-c", str(clients), "-n", str(requests), "-r", str(keys), "--csv",
                              "--precision", "3", "GET", "page:__rand_int__"], check=True, capture_output=True, text=True).stdout
    row = next(csv.DictReader(line for line in printed.splitlines() if line.startswith('"')))
    return [1000 * float(row[name]) for name in PERCENTILES]


def requests_of_a_second(redis, clients, keys):
    begun = time.monotonic()
    window(redis, clients, 5000, keys)
    return max(int(5000 / (time.monotonic() - begun)), 1000)


def compare(redis, redquel, work, clients, windows, keys):
    """Windows in turns, with the process `redquel` at work and without, until there are enough or the work has ended."""
    requests = requests_of_a_second(redis, clients, keys)
    alone, beside = [], []
    while len(beside) < windows and work.poll() is None:
        os.kill(redquel.pid, signal.SIGSTOP)
        alone.append(window(redis, clients, requests, keys))
        os.kill(redquel.pid, signal.SIGCONT)
        time.sleep(0.1)
        found = window(redis, clients, requests, keys)
        if work.poll() is None:
            beside.append(found)
    texts = []
    for index, name in enumerate(("p50", "p99")):
        ratio = statistics.median(b[index] / a[index] for a, b in zip(alone, beside))
        texts.append(f"{name} {statistics.median(a[index] for a in alone):.0f} µs alone, {statistics.median(b[index] for b in beside):.0f} µs beside it, {ratio:.2f} times")
    return f"{clients} clients, {len(beside)} windows: " + "; ".join(texts)


def fill(redis, keys):
    with redis.connect() as raw:
        for first in range(1, keys // 8 + 1, 1000):
            raw("EVAL", EIGHT_SHAPES, "0", first, min(first + 999, keys // 8))


def redis_seconds(redis, commands):
    """Redis's time for these commands, as it counts it."""
    with redis.connect() as raw:
        found = raw.info("commandstats")
    return sum(int(found[f"cmdstat_{name}"].split("usec=")[1].split(",")[0]) for name in commands if f"cmdstat_{name}" in found) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--windows", type=int, default=12)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--share", default="10", help="look.max_redis_share")
    parser.add_argument("--whole", action="store_true", help="let the discovery go on to its end after the windows")
    options = parser.parse_args()
    processes.start_guardian()
    binary = os.path.join(os.path.abspath(options.build), "redquel")
    redis = Redis().start()
    try:
        fill(redis, options.keys)
        with redis.connect() as raw:
            raw("CONFIG", "RESETSTAT")
        begun = time.monotonic()
        discovery = subprocess.Popen([binary, "discover", "--redis", redis.url, "--max-redis-share", options.share], stdout=subprocess.PIPE, text=True)
        for clients in options.clients:
            print("discovery, " + compare(redis, discovery, discovery, clients, options.windows, options.keys // 8), flush=True)
        with redis.connect() as raw:
            raw("CONFIG", "RESETSTAT")
        begun, used = time.monotonic(), 0
        if not options.whole:
            discovery.kill()
        text = discovery.communicate()[0] or "stopped\n"
        took, used = time.monotonic() - begun, redis_seconds(redis, ("scan", "type", "pttl", "memory|usage", "ping"))
        print(f"the rest of the discovery alone: {took:.0f} s, {100 * used / took:.1f} % of Redis's time; {text.splitlines()[0]}", flush=True)
        catalog = f"{temporary_folder()}/catalog.sql"
        with open(catalog, "w", encoding="utf-8") as file:
            file.write("CREATE FOREIGN TABLE page (id bigint, value text) SERVER redis OPTIONS (layout 'string', key 'page:{id}');\n")
        look = Look(os.path.abspath(options.build), redis, "--catalog", catalog, "--max-redis-share", options.share).start()
        try:
            for clients in options.clients:
                scan = subprocess.Popen(["psql", "-Xqt", "-h", look.host, "-p", str(look.port), "-U", "postgres", "postgres", "-c",
                                         "SELECT count(*) FROM page WHERE value LIKE '%7'"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                print("full scan, " + compare(redis, look.process, scan, clients, options.windows, options.keys // 8), flush=True)
                scan.terminate()
                scan.wait()
        finally:
            look.stop()
    finally:
        redis.stop()


if __name__ == "__main__":
    main()
