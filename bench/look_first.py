#!/usr/bin/python3
"""The first minutes of `redquel look` at a Redis of two million keys: time to the first answer and to all tables, memory, other clients.

    bench/look_first.py [--build build/release] [--keys 2000000] [--client [--rate 1000]] [--questions]

The keys are those of `keyspace.py`. With `--client` a client asks Redis for keys over the same unix socket; every other window of half a second it is
alone (redquel stands still). `--questions` then asks what an engineer on call asks, with the time and the commands of each answer.
"""
import argparse
import os
import signal
import statistics
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, os.path.join(ROOT, "bench"))

from harness import processes  # noqa: E402
from harness.pgwire import ServerError  # noqa: E402
from harness.servers import Look, Redis  # noqa: E402
import keyspace  # noqa: E402

WINDOW = 0.5

# Questions of an engineer on call, and statements that answer them.
QUESTIONS = {
    "failed jobs by customer over all queues": "SELECT data->>'customer' AS customer, count(*) FROM bullmq_jobs WHERE state = 'failed' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    "jobs by queue and state": "SELECT queue, state, count(*) FROM bullmq_jobs GROUP BY 1, 2 ORDER BY 1, 2",
    "memory by prefix": "SELECT prefix, keys, bytes, bytes_error FROM redis.memory_by_prefix(1) ORDER BY bytes DESC LIMIT 10",
    "memory by prefix, and keys without a time to live, of 2 % of the keys": "SELECT prefix, keys, keys_error, bytes, bytes_error, without_ttl FROM redis.memory_by_prefix(1, 2) ORDER BY bytes DESC LIMIT 10",
    "how many keys have no time to live": "SELECT value FROM redis.info WHERE section = 'keyspace'",
    "keys without a time to live, by name": "SELECT count(*) FROM redis.keys WHERE ttl IS NULL",
    "the biggest keys of each type": "SELECT type, max(memory) FROM redis.keys GROUP BY 1",
    "a cart with its user": "SELECT u.name, c.field, c.value FROM cart c JOIN users u ON u.id = c.cart_id WHERE c.cart_id = 7",
    "the top of a leaderboard with names": "SELECT u.name, l.score FROM leaderboard_daily l JOIN users u ON u.id = l.member::bigint WHERE l.day = '2026-11-03' ORDER BY l.score DESC LIMIT 10",
    "entries of a stream in the last hour": "SELECT count(*), sum(total) FROM orders WHERE entry_time > now() - interval '1 hour'",
    "a field of JSON strings": "SELECT value->>'name' FROM product WHERE id = 77",
    "products of one country": "SELECT count(*) FROM product WHERE value->'maker'->>'country' = 'AT'",
    "consumer groups that lag": "SELECT key, name, pending, lag FROM redis.groups WHERE lag > 0 ORDER BY lag DESC LIMIT 5",
}


class Client:
    """A client of Redis that asks for keys: latencies of its GETs, of windows in which redquel runs and of others. `rate`: GETs a second at
    given times, from which their latencies count; 0: each is sent when the last one is answered."""

    def __init__(self, redis, keys, rate=0):
        self.redis, self.keys, self.rate, self.process, self.is_over = redis, keys, rate, None, False
        self.alone, self.beside = [], []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def window(self, raw):
        times, until, number = [], time.perf_counter() + WINDOW, 0
        due = time.perf_counter()
        while (begun := time.perf_counter()) < until:
            if self.rate:
                due += 1 / self.rate
                while time.perf_counter() < due:  # a sleep would end too late
                    continue
                begun = due
            number = (number * 7919 + 17) % self.keys
            raw("GET", f"product:{number}")
            times.append(time.perf_counter() - begun)
        return 1e6 * sorted(times)[len(times) * 99 // 100]

    def run(self):
        with self.redis.connect() as raw:
            while not self.is_over:
                if self.process is None or self.process.popen.poll() is not None:
                    time.sleep(0.05)
                    continue
                os.kill(self.process.pid, signal.SIGSTOP)
                self.alone.append(self.window(raw))
                os.kill(self.process.pid, signal.SIGCONT)
                self.beside.append(self.window(raw))

    def stop(self):
        self.is_over = True
        self.thread.join()
        pairs = list(zip(self.alone, self.beside))
        if not pairs:
            return "no window"
        return (f"p99 {spread(self.alone, 0)} µs alone, {spread(self.beside, 0)} µs beside it, "
                f"ratio {spread([b / a for a, b in pairs], 2)} ({len(pairs)} windows; quartiles in brackets)")


def spread(values, digits):
    """The median and the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{middle:.{digits}f} [{low:.{digits}f} to {high:.{digits}f}]"


def memory_of(process, name):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--keys", type=int, default=keyspace.WHOLE)
    parser.add_argument("--share", default="10", help="look.max_redis_share")
    parser.add_argument("--client", action="store_true", help="measure a client beside the discovery, which then stands still half of the time")
    parser.add_argument("--rate", type=int, default=0, help="its GETs a second, at given times; 0: one after the other")
    parser.add_argument("--questions", action="store_true")
    options = parser.parse_args()
    processes.start_guardian()
    redis = Redis().start()
    look = Look(os.path.abspath(options.build), redis, "--max-redis-share", options.share, waits=False)
    try:
        begun = time.monotonic()
        keys = keyspace.fill(redis.socket_path, options.keys)
        print(f"{keys} keys in {time.monotonic() - begun:.0f} s; load {os.getloadavg()[0]:.1f}", flush=True)
        begun = time.monotonic()
        look.start()
        with look.connect() as connection:
            connection.run("SELECT count(*) FROM redis.keys")
            print(f"first answer after {time.monotonic() - begun:.2f} s", flush=True)
            client = Client(redis, options.keys // 14, options.rate) if options.client else None
            if client:
                client.process = look.process
            last = None
            while True:
                row = connection.run("SELECT state, keys_seen, tables, left_out, coalesce(seconds_left::int::text, '') FROM redquel.discovery")[0]
                if row[0] != last:
                    print(f"{time.monotonic() - begun:.1f} s: {row}, {memory_of(look.process, 'VmRSS'):.0f} MB", flush=True)
                    last = row[0]
                if row[0] in ("done", "failed", "interrupted"):
                    break
                time.sleep(0.1)
            print(f"all tables after {time.monotonic() - begun:.1f} s; memory {memory_of(look.process, 'VmRSS'):.0f} MB, at most {memory_of(look.process, 'VmHWM'):.0f} MB; "
                  f"load {os.getloadavg()[0]:.1f}", flush=True)
            if client:
                print(client.stop(), flush=True)
            if options.questions:
                ask(redis, connection)
    finally:
        look.stop()
        redis.stop()


def ask(redis, connection):
    with redis.connect() as raw:
        for question, statement in QUESTIONS.items():
            raw("CONFIG", "RESETSTAT")
            begun = time.monotonic()
            try:
                rows = connection.run(f"SET statement_timeout = '120s'; {statement}")
                answer = f"{len(rows)} rows, first {rows[0] if rows else ''}"
            except ServerError as error:
                answer = f"{error.sqlstate}: {error}"
            took = time.monotonic() - begun
            commands = sum(int(counts.split("calls=")[1].split(",")[0]) for name, counts in raw.info("commandstats").items() if "config" not in name and "info" != name[-4:])
            print(f"{question}: {took:.2f} s, {commands} commands; {answer[:160]}", flush=True)


if __name__ == "__main__":
    main()
