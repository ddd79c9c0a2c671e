"""What is measured as a whole: a scan of every row, COPY, thousands of idle clients, a lookup's latency while others scan."""
import dataclasses
import os
import re
import statistics
import subprocess
import time
import typing

import measure
import workloads
from harness import pgwire
from harness.processes import temporary_folder
from harness.programs import connection_options, psql, run

AGGREGATE = "SELECT dept, count(*), avg(salary) FROM emp GROUP BY dept"
COPIED = """DROP TABLE IF EXISTS copied; CREATE TABLE copied (emp_id integer PRIMARY KEY, ename text NOT NULL, dept integer NOT NULL,
  city integer NOT NULL, salary integer NOT NULL, hired date NOT NULL);
  CREATE INDEX copied_dept ON copied {hash} (dept); CREATE INDEX copied_city ON copied {hash} (city); CREATE INDEX copied_salary ON copied {ordered} (salary);"""


@dataclasses.dataclass(frozen=True)
class Whole:
    name: str
    measure: typing.Callable
    durabilities: tuple = ("memory",)


def seconds(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def result(name, world, unit, times, target=None, note=""):
    """Times are seconds: the ratios are other/redquel, so that more is better as with rates."""
    median = {server: statistics.median(values) for server, values in times.items()}
    return {"name": name, "durability": world.durability.name, "unit": unit, "note": note, "cases": [{
        "mode": "", "clients": 1, "median": median, "all": times,
        "against_postgres": median["postgres"] / median["redquel"] if median.get("postgres") else None, "postgres_target": (target or (0, 0))[0],
        "against_raw": median["raw"] / median["redquel"] if median.get("raw") else None, "raw_target": (target or (0, 0))[1]}]}


def full_scan(world, options):
    """Every row's two columns to an aggregate. Raw: SORT … GET of the same columns in chunks of 1,000, pipelined."""
    script = f"{temporary_folder()}/scan"
    measure.write(script, "\n".join(f"SORT_RO emp:zset:salary BY nosort LIMIT {first} 1000 GET emp:*->dept GET emp:*->salary"
                                    for first in range(0, world.rows, 1000)))
    times = {"postgres": [], "redquel": [], "raw": []}
    with world.postgres.connect() as oracle, world.redquel.connect() as subject:
        for _ in range(options.rounds):
            for name, connection in (("postgres", oracle), ("redquel", subject)):
                times[name].append(seconds(lambda: connection.query(AGGREGATE)))
            output = run([f"{world.build}/bench/raw_redis", world.redis.socket_path, 1, options.seconds, script])
            times["raw"].append(float(re.search(r"median_us ([\d.]+)", output)[1]) / 1e6)
    return result("full-scan aggregate", world, "seconds", times, target=(0, 1 / 1.3))


def copy_in(world, options):
    folder = temporary_folder()
    psql(world.postgres, f"\\copy emp TO '{folder}/rows'")
    times = {"postgres": [], "redquel": [], "raw": []}
    for _ in range(options.rounds):
        for name, server, index in (("postgres", world.postgres, ("USING hash", "USING btree")),
                                    ("redquel", world.redquel, ("USING hash", "USING zset"))):
            psql(server, COPIED.format(hash=index[0], ordered=index[1]))
            times[name].append(seconds(lambda: psql(server, f"\\copy copied FROM '{folder}/rows'", timeout=900)))
        times["raw"].append(pipe(world, folder))
    for server in (world.postgres, world.redquel):
        psql(server, "DROP TABLE copied;", timeout=300)
    return result("COPY in, three indexes", world, "seconds", times, target=(0.28, 0.6))


def pipe(world, folder):
    """`redis-cli --pipe` with a row's hash and its index entries; then they are removed again."""
    path = f"{folder}/pipe"
    if not os.path.exists(path):
        with open(f"{folder}/rows") as rows, open(path, "w") as file:
            for row in rows:
                key, name, dept, city, salary, hired = row.rstrip("\n").split("\t")
                for words in (["HSET", f"raw:{key}", "emp_id", key, "ename", name, "dept", dept, "city", city, "salary", salary, "hired", hired],
                              ["SADD", f"raw:indices:dept:{dept}", key], ["SADD", f"raw:indices:city:{city}", key],
                              ["ZADD", "raw:zset:salary", salary, key]):
                    file.write(f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words))
    with open(path) as commands:
        elapsed = seconds(lambda: subprocess.run(["redis-cli", "-s", world.redis.socket_path, "--pipe"], stdin=commands, check=True,
                                                 stdout=subprocess.DEVNULL))
    with world.redis.connect() as redis:
        keys = redis.keys("raw:*")
        for first in range(0, len(keys), 1000):
            redis("UNLINK", *keys[first:first + 1000])
    return elapsed


def copy_out(world, options):
    times = {"postgres": [], "redquel": []}
    for _ in range(options.rounds):
        for name, server in (("postgres", world.postgres), ("redquel", world.redquel)):
            times[name].append(seconds(lambda: psql(server, "\\copy emp TO '/dev/null'", timeout=300)))
    return result("COPY out", world, "seconds", times)


def point_script(world):
    path = f"{temporary_folder()}/point.sql"
    measure.write(path, workloads.WORKLOADS[0].sql.format(ROWS=world.rows))
    return path


def idle_clients(world, options, count=5000):
    """Memory and connection time of idle sessions, and point selects beside them. PostgreSQL is not asked: a process each."""
    pid, script = world.redquel.process.pid, point_script(world)
    alone = [measure.pgbench(world, world.redquel, script, "prepared", 16, options.seconds) for _ in range(options.rounds)]
    before, start, idle = resident(pid), time.monotonic(), []
    try:
        for _ in range(count):
            idle.append(pgwire.Connection(world.redquel.address))
        connecting, memory = time.monotonic() - start, resident(pid) - before
        beside = [measure.pgbench(world, world.redquel, script, "prepared", 16, options.seconds) for _ in range(options.rounds)]
    finally:
        for connection in idle:
            connection.close()
    report = result("point select beside 5,000 idle clients", world, "transactions per second",
                    {"redquel": [1 / rate for rate in beside], "raw": [1 / rate for rate in alone]}, target=(0, 0.9),
                    note=f"{memory / count / 1024:.1f} kB and {connecting / count * 1e6:.0f} µs a connection; 'raw' is redquel without idle clients")
    return report


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024


def beside_scan(world, options):
    """99th percentile latency of point selects by 64 clients, alone and while another client scans the table again and again."""
    script = point_script(world)
    times = {"redquel": [], "raw": []}
    for _ in range(options.rounds):
        times["raw"].append(percentile(world, script, options.seconds))
        scanner = subprocess.Popen([world.pgbench_program(), "-n", "-f", scan_script(), "-c", "1", "-T", str(round(options.seconds) + 30),
                                    *connection_options(world.redquel)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            times["redquel"].append(percentile(world, script, options.seconds))
        finally:
            scanner.kill()
            scanner.wait()
    return result("p99 of 64 point clients while another scans", world, "seconds", times, target=(0, 0.5), note="'raw' is redquel without the scan")


def scan_script():
    path = f"{temporary_folder()}/scan.sql"
    measure.write(path, AGGREGATE + ";")
    return path


def percentile(world, script, duration):
    folder = temporary_folder()
    run([world.pgbench_program(), "-n", "-M", "prepared", "-f", script, "-c", 64, "-j", 1, "-T", max(1, round(duration)), "-l",
         "--log-prefix", f"{folder}/log", *connection_options(world.redquel)], timeout=duration + 60)
    latencies = []
    for name in os.listdir(folder):
        with open(f"{folder}/{name}") as file:
            latencies += [int(line.split()[2]) for line in file]
    return statistics.quantiles(latencies, n=100)[98] / 1e6


WHOLE = [
    Whole("full-scan aggregate", full_scan),
    Whole("COPY in, three indexes", copy_in),
    Whole("COPY out", copy_out),
    Whole("point select beside 5,000 idle clients", idle_clients),
    Whole("p99 of 64 point clients while another scans", beside_scan),
]
