"""The queries of memory.py beside DuckDB with one thread, which npm's @duckdb/node-api brings. Where it cannot be installed, nothing is measured."""
import json
import os
import shutil
import statistics
import subprocess

import memory
import servers
import stopwatch
import whole
from harness.processes import temporary_folder
from harness.programs import psql

PACKAGE = "node_modules/@duckdb/node-api/lib/index.js"


class DuckDB:
    """A process of node with DuckDB in memory."""

    def __init__(self, folder):
        script = f"{os.path.dirname(os.path.abspath(__file__))}/tools/duckdb.mjs"
        self.process = subprocess.Popen(["node", script, f"{folder}/{PACKAGE}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, sql, rounds=1):
        """The rows as texts, and the seconds of each round."""
        self.process.stdin.write(json.dumps({"sql": sql, "rounds": rounds}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["rows"], answer["processor_seconds" if stopwatch.counts_processors else "seconds"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def installed(output):
    """The folder with the package, which is installed into it; None: it cannot be had."""
    folder = f"{output}/duckdb"
    if not os.path.exists(f"{folder}/{PACKAGE}") and shutil.which("npm"):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", folder, "@duckdb/node-api"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder if os.path.exists(f"{folder}/{PACKAGE}") and shutil.which("node") else None


def all_queries(world, options):
    """The sum of the medians of all queries, 'raw' is DuckDB. Issue 22: at most twice its time."""
    folder = installed(options.output)
    times = {"redquel": [], "raw": []}
    if folder is None:
        return whole.result("memory: DuckDB", world, "seconds", {"redquel": [0]}, note="npm's @duckdb/node-api cannot be had")
    data, each = temporary_folder(), []
    _, subject = memory.connections(world)
    with DuckDB(folder) as duck, subject:
        duck.run("CREATE TABLE emp (emp_id integer, ename text, dept integer, city integer, salary integer, hired date)")
        duck.run("CREATE TABLE pay (emp_id integer, amount integer)")
        for table in ("emp", "pay"):
            psql(world.postgres, f"\\copy {table} TO '{data}/{table}' CSV", timeout=300)
            duck.run(f"COPY {table} FROM '{data}/{table}' (FORMAT csv)")
        for name, sql, _ in memory.QUERIES:
            rows, found = duck.run(sql, max(5, options.rounds))
            assert len(rows) == len(subject.run(sql)), name
            own = [stopwatch.seconds(lambda: subject.query(sql), *memory.servers_of(world)) for _ in range(max(5, options.rounds))]
            times["raw"].append(statistics.median(found))
            times["redquel"].append(statistics.median(own))
            each.append(f"{name} {times['raw'][-1] * 1000:.1f}, {times['redquel'][-1] * 1000:.1f}")
    sums = {name: [sum(values)] for name, values in times.items()}
    return whole.result("memory: DuckDB", world, "seconds", sums, target=(0, 0.5), note="'raw' is DuckDB; ms of both: " + "; ".join(each))


DUCKDB = [whole.Whole("memory: DuckDB", all_queries)]
