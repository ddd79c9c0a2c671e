#!/usr/bin/python3
"""The instructions that Redis executes for a command, and for a transaction of redquel: over one Redis and over a cluster of one master. Counted by
callgrind, so that other programs on the machine change nothing. The difference between the two has two parts: the cluster mode of Redis itself, and
the commands that redquel sends in addition.

    bench/redis_instructions.py [--build build/release] [--transactions 200] [--only TEXT]

Needs valgrind."""
import argparse
import glob
import os
import re
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "bench")]
from cluster import BANK, SCHEMA, WORKLOADS, OneRedis
from harness.cluster_nodes import Cluster, scripts
from harness.processes import temporary_folder
from harness.programs import pgbench_options, psql, run
from harness.servers import Redis, Redquel, postgres_binary
from harness.waiting import wait_for
from measure import write

TAG = "{460}"  # of the home bucket
TABLES, ROWS, CLIENTS, CALLS = 3, 300, 4, 1000


def wrap_redis(folder):
    """Puts a redis-server into PATH that runs under callgrind."""
    path = f"{folder}/redis-server"
    program = subprocess.run(["which", "redis-server"], capture_output=True, text=True, check=True).stdout.strip()
    write(path, f'#!/bin/sh\nexec valgrind --quiet --tool=callgrind --callgrind-out-file={folder}/counts.$$ {program} "$@"\n')
    os.chmod(path, 0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def counted(folder, redis):
    """Returns the instructions of all nodes since the last call."""
    total = 0
    for node in redis.nodes:
        process = getattr(node, "redis", node).process.popen.pid
        for path in glob.glob(f"{folder}/counts.{process}*"):
            os.remove(path)
        subprocess.run(["callgrind_control", "-d", str(process)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=60)

        def totals(process=process):
            texts = [open(path, encoding="utf-8").read() for path in glob.glob(f"{folder}/counts.{process}*")]
            return [int(number) for text in texts for number in re.findall(r"^totals: (\d+)", text, re.M)]
        wait_for(totals, what="callgrind's counts")
        total += sum(totals())
    return total


def update_of_an_indexed_column():
    """The program of write.lua for the update of an indexed column, and the commands by themselves."""
    key = {name: TAG + name for name in ("redquel:versions", "redquel:locks:16400", "redquel:changes:16400", "redquel:none")}
    row, old, new, values, zset = (TAG + name for name in ("t:1", "t:indices:dept:2", "t:indices:dept:3", "t:indices:dept", "t:zset:dept"))
    types = [["SINTERCARD", "4", key["redquel:none"], old, new, values], ["ZCARD", zset]]
    changes = [["SREM", old, "1"], ["HSET", row, "dept", "3"], ["SADD", new, "1"], ["SADD", values, "3"], ["ZADD", zset, "3", "1"]]
    words = ["version", "16400", "v1", "row", "5", row, "id", "dept", "1", "\0+", "free", "2", key["redquel:locks:16400"], "r1"]
    words += ["count", key["redquel:changes:16400"], "set-", values, "2", "1", "hset", "3", row, "dept", "3", "set+", values, "3", "1"]
    words += ["score+", zset, "3", "1"]
    alone = [["HMGET", key["redquel:versions"], "16400"], ["HMGET", row, "id", "dept"], ["EXISTS", key["redquel:locks:16400"]], *types,
             ["INCR", key["redquel:changes:16400"]], *changes, ["EXISTS", old], ["SREM", values, "2"]]
    return words, alone


def texts_of_write(build):
    """The script of a bucket without and with the probe of a moving bucket."""
    text = scripts(build)["write"][0]
    return re.sub(r"local moving = .*\nif moving .*\n", "", text), text


def commands(connection, build):
    """The raw commands: what Redis needs for them without redquel. Each with its name, as a pipeline."""
    connection("HSET", TAG + "h", "a", "1", "b", "2")
    connection("HSET", TAG + "redquel:versions", "16400", "v1")
    connection("HSET", TAG + "t:1", "id", "1", "dept", "2")

    def script(text, *arguments):
        return [["EVALSHA", connection("SCRIPT", "LOAD", text), "1", TAG + "h", *arguments]]
    yield "GET", [["GET", TAG + "x"]]
    yield "HMGET", [["HMGET", TAG + "h", "a", "b"]]
    yield "HSET", [["HSET", TAG + "h", "a", "3"]]
    yield "script: empty", script("return 1")
    yield "script: five HGET", script("for i = 1, 5 do redis.call('HGET', KEYS[1], 'a') end return 1")
    yield "script: probe of a moving bucket", script("local tag = string.match(KEYS[1], '^{[^}]*}') return redis.pcall('EXISTS', tag .. 'redquel:moving')")
    words, alone = update_of_an_indexed_column()
    yield "update: its commands, no script", alone
    for name, text in zip(("update: script without probe", "update: script with probe"), texts_of_write(build)):
        call = script(text, *words)
        if connection(*call[0]) != ["applied"]:
            raise RuntimeError(f"{name} does not apply the update")
        yield name, call
    yield "look by script", [["EVALSHA_RO", connection("SCRIPT", "LOAD", scripts(build)["look_at_commits"][0]), "1", TAG + "redquel:prepared", "0"]]
    yield "look: HGET before", [["HGET", TAG + "redquel:commit_numbers", "number"]]
    yield "look: EXISTS behind", [["EXISTS", TAG + "redquel:prepared", TAG + "redquel:moving"]]


def show(name, figures):
    one, cluster = figures
    print(f"{name:34} {one:10.0f} {cluster:10.0f} {one / cluster:8.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=os.path.abspath)
    parser.add_argument("--transactions", type=int, default=200)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    options = parser.parse_args()
    folder, started = temporary_folder(), []
    wrap_redis(folder)

    def make_redis(*words):
        started.append(Redis(*words).start())
        return started[-1]
    try:
        places = [OneRedis(make_redis), Cluster(make_redis, masters=1, replicas=0)]
        print(f"{'instructions of Redis':34} {'one Redis':>10} {'1 master':>10} {'ratio':>8}")
        connections = [place.nodes[0].connect() for place in places]
        for names in zip(*(commands(connection, options.build) for connection in connections)):
            figures = []
            for (name, pipeline), place, connection in zip(names, places, connections):
                connection.pipeline(pipeline * 10)
                counted(folder, place)
                connection.pipeline(pipeline * CALLS)
                figures.append(counted(folder, place) / CALLS)
            show(name, figures)
        for place, connection in zip(places, connections):
            connection("FLUSHALL")
            connection.close()
        servers = []
        for place in places:
            servers.append(Redquel(options.build, place, "--threads", "1").start())
            started.append(servers[-1])
            for k in range(TABLES):
                psql(servers[-1], SCHEMA.format(k=k, rows=ROWS))
            psql(servers[-1], BANK.format(rows=ROWS))
        program, script = postgres_binary("pgbench"), f"{folder}/script.sql"
        for workload in (w for w in WORKLOADS if options.only in w.name):
            write(script, workload.sql.format(k=0, other=1, rows=ROWS))
            figures = []
            for place, server in zip(places, servers):
                command = [program, "-n", "-M", "prepared", "-f", script, "-c", CLIENTS, "-j", 1]
                run([*command, "-t", 10, *pgbench_options(server)], timeout=600)
                counted(folder, place)
                begun = time.monotonic()
                run([*command, "-t", options.transactions // CLIENTS, *pgbench_options(server)], timeout=600)
                taken, whole = time.monotonic() - begun, counted(folder, place)
                # What redquel and Redis do in the background in so much time: under callgrind that is a part that it has nowhere else.
                time.sleep(taken)
                figures.append((whole - counted(folder, place)) / options.transactions)
            show(workload.name, figures)
    finally:
        for thing in reversed(started):
            thing.stop()


if __name__ == "__main__":
    main()
