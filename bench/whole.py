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
from harness.programs import pgbench_options, psql, run

AGGREGATE = "SELECT dept, count(*), avg(salary) FROM emp GROUP BY dept"
COLUMNS = "(emp_id integer PRIMARY KEY, ename text NOT NULL, dept integer NOT NULL, city integer NOT NULL, salary integer NOT NULL, hired date NOT NULL)"
COPIED = f"""DROP TABLE IF EXISTS copied; CREATE TABLE copied {COLUMNS};
  CREATE INDEX copied_dept ON copied {{hash}} (dept); CREATE INDEX copied_city ON copied {{hash}} (city); CREATE INDEX copied_salary ON copied {{ordered}} (salary);"""


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
    """COPY into a table with three indexes as CREATE INDEX makes them, which keep sets and an order."""
    return copy_with("COPY in, three indexes", world, options, ("", ""), every_structure, (0.18, 0.6))


def copy_in_chosen(world, options):
    """COPY into a table whose indexes keep what queries need and no more: hash (dept), hash (city), zset (salary)."""
    return copy_with("COPY in, two hash indexes and a zset", world, options, ("USING hash", "USING zset"), chosen_structures, (0.28, 0.6))


def copy_with(name, world, options, methods, structures, target):
    folder = temporary_folder()
    psql(world.postgres, f"\\copy emp TO '{folder}/rows'")
    times = {"postgres": [], "redquel": [], "raw": []}
    peak = 0
    for _ in range(options.rounds):
        for server_name, server, (hash_method, ordered) in (("postgres", world.postgres, (methods[0], "")), ("redquel", world.redquel, methods)):
            psql(server, COPIED.format(hash=hash_method, ordered=ordered))
            times[server_name].append(seconds(lambda: psql(server, f"\\copy copied FROM '{folder}/rows'", timeout=900)))
        peak = max(peak, resident(world.redquel.process.pid))
        times["raw"].append(pipe(world, folder, structures))
    for server in (world.postgres, world.redquel):
        psql(server, "DROP TABLE copied;", timeout=300)
    return result(name, world, "seconds", times, target=target, note=f"redquel's memory after it: {peak / 2**20:.0f} MB")


def every_structure(key, dept, city, salary):
    for column, value in (("dept", dept), ("city", city), ("salary", salary)):
        yield ["SADD", f"raw:indices:{column}:{value}", key]
        yield ["SADD", f"raw:indices:{column}", value]
        yield ["ZADD", f"raw:zset:{column}", value, key]


def chosen_structures(key, dept, city, salary):
    for column, value in (("dept", dept), ("city", city)):
        yield ["SADD", f"raw:indices:{column}:{value}", key]
        yield ["SADD", f"raw:indices:{column}", value]
    yield ["ZADD", "raw:zset:salary", salary, key]


def pipe(world, folder, structures):
    """`redis-cli --pipe` with the commands that such a table's rows are made of; then their keys are removed again."""
    path = f"{folder}/pipe"
    if not os.path.exists(path):
        with open(f"{folder}/rows") as rows, open(path, "w") as file:
            for row in rows:
                key, name, dept, city, salary, hired = row.rstrip("\n").split("\t")
                for words in (["HSET", f"raw:{key}", "ename", name, "dept", dept, "city", city, "salary", salary, "hired", hired],
                              ["ZADD", "raw:zset", key, key], *structures(key, dept, city, salary)):
                    file.write(f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words))
    with open(path) as commands:
        elapsed = seconds(lambda: subprocess.run(["redis-cli", "-s", world.redis.socket_path, "--pipe"], stdin=commands, check=True,
                                                 stdout=subprocess.DEVNULL))
    with world.redis.connect() as redis:
        remove(redis, "raw:*")
    return elapsed


def remove(redis, pattern):
    keys = redis.keys(pattern)
    for first in range(0, len(keys), 1000):
        redis("UNLINK", *keys[first:first + 1000])


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
    rates, memory, connecting = {"alone": [], "beside": []}, [], []
    for _ in range(options.rounds):
        rates["alone"].append(measure.pgbench(world, world.redquel, script, "prepared", 16, options.seconds))
        before, start, idle = resident(pid), time.monotonic(), []
        try:
            for _ in range(count):
                idle.append(pgwire.Connection(world.redquel.address))
            connecting.append(time.monotonic() - start)
            memory.append(resident(pid) - before)
            rates["beside"].append(measure.pgbench(world, world.redquel, script, "prepared", 16, options.seconds))
        finally:
            for connection in idle:
                connection.close()
    report = result("point select beside 5,000 idle clients", world, "transactions per second",
                    {"redquel": [1 / rate for rate in rates["beside"]], "raw": [1 / rate for rate in rates["alone"]]}, target=(0, 0.9),
                    note=f"{max(memory) / count / 1024:.1f} kB and {statistics.median(connecting) / count * 1e6:.0f} µs a connection; 'raw' is redquel without idle clients")
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
                                    *pgbench_options(world.redquel)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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


def percentile(world, script, duration, server=None):
    folder = temporary_folder()
    run([world.pgbench_program(), "-n", "-M", "prepared", "-f", script, "-c", 64, "-j", 1, "-T", max(1, round(duration)), "-l",
         "--log-prefix", f"{folder}/log", *pgbench_options(server or world.redquel)], timeout=duration + 60)
    latencies = []
    for name in os.listdir(folder):
        with open(f"{folder}/{name}") as file:
            latencies += [int(line.split()[2]) for line in file]
    return statistics.quantiles(latencies, n=100)[98] / 1e6


SMALL, LARGE = 10_000, 2_000_000
GROWN = f"""BEGIN; CREATE TABLE grown {COLUMNS}; CREATE SEQUENCE grown_id START {LARGE + 1} CACHE 100; CREATE INDEX ON grown USING hash (dept); CREATE INDEX ON grown USING zset (salary);
  INSERT INTO grown SELECT i, 'name ' || i, i % 100 + 1, i % 50 + 1, (i::bigint * 15485863 % 1000003)::int, date '2000-01-01' + i % 9000
  FROM generate_series(1, {{rows}}) i; COMMIT;"""
GROWN_QUERIES = {
    "point select": "\\set id random(1, {rows})\nSELECT emp_id, ename, dept, city, salary, hired FROM grown WHERE emp_id = :id;",
    "top 10 by index": "SELECT emp_id, ename, dept, city, salary, hired FROM grown ORDER BY salary DESC LIMIT 10;",
    "insert": "INSERT INTO grown VALUES (nextval('grown_id'), 'new', 7, 3, 1000, '2026-01-01');",
}
RAW_INSERT = ("MULTI\nHSET grown:{1000000000:2000000000} ename new dept 7 city 3 salary 1000 hired 2026-01-01\n"
              "ZADD grown:zset {1000000000:2000000000} {1000000000:2000000000}\nSADD grown:indices:dept:7 {1000000000:2000000000}\n"
              "SADD grown:indices:dept 7\nZADD grown:zset:salary 1000 {1000000000:2000000000}\nEXEC")


def growth(world, options):
    """A table of 10,000 rows beside one of 2,000,000: how much slower is the same work? Redis itself grows slower with its keys, which for
    inserts is what redquel is compared with."""
    rates = {rows: {query: [] for query in [*GROWN_QUERIES, "raw insert"]} for rows in (SMALL, LARGE)}
    folder = temporary_folder()
    measure.write(f"{folder}/raw", RAW_INSERT)
    for rows, found in rates.items():
        psql(world.redquel, GROWN.format(rows=rows), timeout=900)
        for query, sql in GROWN_QUERIES.items():
            measure.write(f"{folder}/script", sql.format(rows=rows))
            found[query] = [measure.pgbench(world, world.redquel, f"{folder}/script", "prepared", 16, options.seconds) for _ in range(options.rounds)]
        found["raw insert"] = [measure.raw_redis(world, f"{folder}/raw", 16, options.seconds, turn) for turn in range(options.rounds)]
        psql(world.redquel, "DROP TABLE grown; DROP SEQUENCE grown_id; VACUUM;", timeout=900)
        with world.redis.connect() as redis:
            remove(redis, "grown:*")
    cases = []
    for query in GROWN_QUERIES:
        large, small = (statistics.median(rates[rows][query]) for rows in (LARGE, SMALL))
        own = statistics.median(rates[LARGE]["raw insert"]) / statistics.median(rates[SMALL]["raw insert"]) if query == "insert" else 1
        cases.append({"mode": query, "clients": 16, "median": {"redquel": large, "raw": small * own}, "against_postgres": None, "postgres_target": 0,
                      "all": {str(rows): values[query] for rows, values in rates.items()}, "against_raw": large / (small * own), "raw_target": 1 / 1.25})
    return {"name": "growth from 10,000 to 2,000,000 rows", "durability": world.durability.name, "unit": "transactions per second", "cases": cases,
            "note": "'redquel' at 2,000,000 rows; 'raw' is redquel at 10,000, for inserts times raw Redis's own change between the two"}


WHOLE = [
    Whole("full-scan aggregate", full_scan),
    Whole("COPY in, three indexes", copy_in),
    Whole("COPY in, two hash indexes and a zset", copy_in_chosen),
    Whole("COPY out", copy_out),
    Whole("point select beside 5,000 idle clients", idle_clients),
    Whole("p99 of 64 point clients while another scans", beside_scan),
    Whole("growth from 10,000 to 2,000,000 rows", growth),
]
