"""redquel over a Redis Cluster beside redquel over one Redis: `bench/run --redis cluster --masters 1,3`.

Rates say how many cores there are: a cluster of three masters is faster only where it has more of them. The time that Redis takes for a
transaction (INFO commandstats of all nodes), the processor time of all nodes, the share of the busiest node, and redquel's own processor time do
not depend on that. INFO commandstats counts the clock's time: on a machine that others load as well, the processor time says more."""
import dataclasses
import os
import re
import statistics

from harness.cluster_nodes import Cluster, free_port_of_cluster, scripts
from harness.processes import temporary_folder
from harness.programs import pgbench_options, psql, run
from harness.servers import Postgres, Redis, Redquel
from measure import write

TABLES, CLIENTS = 12, 32
# Each in a bucket of its own, where there are buckets.
SCHEMA = """SET redquel.placement = balanced;
CREATE TABLE part_{k} (id integer PRIMARY KEY, name text NOT NULL, dept integer NOT NULL);
CREATE INDEX ON part_{k} USING hash (dept);
INSERT INTO part_{k} SELECT i, 'name ' || i, i % 100 FROM generate_series(1, {rows}) i;
"""
# pgbench's tables, in one bucket.
BANK = """SET redquel.placement = together;
CREATE TABLE branch (bid integer PRIMARY KEY, bbalance integer NOT NULL);
CREATE TABLE teller (tid integer PRIMARY KEY, tbalance integer NOT NULL);
CREATE TABLE account (aid integer PRIMARY KEY, abalance integer NOT NULL, filler text);
CREATE TABLE history (tid integer, bid integer, aid integer, delta integer, mtime timestamp);
INSERT INTO branch SELECT i, 0 FROM generate_series(1, 100) i;
INSERT INTO teller SELECT i, 0 FROM generate_series(1, 1000) i;
INSERT INTO account SELECT i, 0, 'filler' FROM generate_series(1, {rows}) i;
"""
TPC_B = """\\set aid random(1, {rows})
\\set bid random(1, 100)
\\set tid random(1, 1000)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE account SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM account WHERE aid = :aid;
UPDATE teller SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE branch SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO history VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;"""
NUMBERS = "\\set id random(1, {rows} - 1)\n\\set d random(0, 99)\n"
TWO = NUMBERS + "BEGIN;\nUPDATE part_{k} SET dept = :d WHERE id = :id;\nUPDATE part_{other} SET dept = :d WHERE id = :id + 1;\nCOMMIT;"


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    sql: str  # of the table {k}; {other}: the next one


WORKLOADS = [
    Workload("select by key", NUMBERS + "SELECT id, name, dept FROM part_{k} WHERE id = :id;"),
    Workload("count by index", NUMBERS + "SELECT count(*) FROM part_{k} WHERE dept = :d;"),
    Workload("update of an indexed column", NUMBERS + "UPDATE part_{k} SET dept = :d WHERE id = :id;"),
    Workload("two rows of one table", TWO.replace("{other}", "{k}")),
    Workload("two rows of two tables", TWO),
    Workload("TPC-B in one bucket", TPC_B),
    Workload("join of two tables", NUMBERS + "SELECT a.name, b.dept FROM part_{k} a JOIN part_{other} b USING (id) WHERE a.id = :id;"),
]


class OneRedis:
    """A Redis that stands alone, over TCP as the nodes of a cluster."""

    def __init__(self, make_redis):
        port = free_port_of_cluster()
        self.nodes = [make_redis("--port", str(port))]
        self.url = f"redis://127.0.0.1:{port}"


def cpu_seconds(server):
    """The processor time of a server's process."""
    with open(f"/proc/{server.process.popen.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Measured:
    """A redquel, its Redis, and what both use."""

    def __init__(self, name, build, redis):
        self.name, self.redis = name, redis
        self.server = Redquel(build, redis, "--threads", "2").start()

    def start_counting(self):
        for node in self.redis.nodes:
            with node.connect() as connection:
                connection("CONFIG", "RESETSTAT")
        self.cpu, self.redis_cpu = cpu_seconds(self.server), self.redis_cpu_seconds()

    def redis_cpu_seconds(self):
        return sum(cpu_seconds(getattr(node, "redis", node)) for node in self.redis.nodes)

    def counted(self, transactions):
        """µs of a transaction: redquel's, all nodes', and the part of the busiest node."""
        nodes = []
        for node in self.redis.nodes:
            with node.connect() as connection:
                lines = connection("INFO", "commandstats").split()
            # A script's time has that of its commands in it.
            nodes.append(sum(int(re.search(r"usec=(\d+)", line)[1]) for line in lines
                             if re.match(r"cmdstat_(?!config|info|replconf|psync|cluster|ping)", line) and self.is_outer(line, lines)))
        return {"redquel": (cpu_seconds(self.server) - self.cpu) / transactions * 1e6, "redis": sum(nodes) / transactions,
                "redis cpu": (self.redis_cpu_seconds() - self.redis_cpu) / transactions * 1e6,
                "busiest": max(nodes) / sum(nodes) if sum(nodes) else 0}

    @staticmethod
    def is_outer(line, lines):
        has_scripts = any(other.startswith("cmdstat_evalsha") for other in lines)
        return not has_scripts or re.match(r"cmdstat_(evalsha|eval|get:|wait|multi|exec|publish)", line) is not None


def pgbench(program, measured, files, seconds):
    command = [program, "-n", "-M", "prepared", *(word for file in files for word in ("-f", file)), "-c", CLIENTS, "-j", 1]
    options = pgbench_options(measured.server)
    # The first statements load definitions and measure tables. pgbench prints no rate if none ends in its time.
    run([*command, "-t", 2, *options], timeout=300)
    measured.start_counting()
    output = run([*command, "-T", max(1, round(seconds)), *options], timeout=seconds + 120)
    failed, rate = re.search(r"number of failed transactions: (\d+)", output), re.search(r"tps = ([\d.]+)", output)
    if not rate:
        raise RuntimeError(f"no transaction of {measured.name} has ended within {seconds} s:\n{output}")
    if failed and failed[1] != "0":
        raise RuntimeError(output)
    transactions = int(re.search(r"actually processed: (\d+)", output)[1])
    return {"tps": float(rate[1]), **measured.counted(transactions)}


def look_cost(build, cluster, calls=100_000, batch=500):
    """Processor time of Redis in µs, with that of the socket, for reading two fields of a row; for the commands that look at the commits of its bucket beside
    that; for one more read of a row beside it; for the script that lists commits beside it. INFO commandstats counts whole microseconds: too few."""
    tag = "{460}"  # of the home bucket
    node = cluster.master_of(tag)
    numbers, prepared = f"{tag}redquel:commit_numbers", f"{tag}redquel:prepared"
    row = ["HMGET", f"{tag}bench:row", "a", "b"]
    number = ["HGET", numbers, "number"]

    def processor_time():
        with open(f"/proc/{getattr(node, 'redis', node).process.popen.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1000

    def taken(commands):
        connection.pipeline(commands * batch)
        before = processor_time()
        for _ in range(calls // batch):
            connection.pipeline(commands * batch)
        return (processor_time() - before) / calls
    with node.connect() as connection:
        connection("HSET", row[1], "a", "1", "b", "2")
        script = ["EVALSHA_RO", connection("SCRIPT", "LOAD", scripts(build)["look_at_commits"][0]), "1", prepared, "0"]
        alone = taken([row])
        figures = {"row": alone, "look": taken([number, row, ["EXISTS", prepared, f"{tag}redquel:moving"], number]) - alone,
                   "second row": taken([row, row]) - alone, "script": taken([row, script]) - alone}
        connection("DEL", row[1])
        return figures


def measure(options):
    """Prints a line for each workload and server; returns all figures."""
    started, results = [], []

    def make_redis(*words):
        started.append(Redis(*words).start())
        return started[-1]
    try:
        measured = [Measured("one Redis", options.build, OneRedis(make_redis))]
        started.append(measured[0].server)
        for count in (int(word) for word in options.masters.split(",")):
            measured.append(Measured(f"{count} masters", options.build, Cluster(make_redis, masters=count, replicas=0)))
            started.append(measured[-1].server)
        rows = min(options.rows, 20_000)
        for one in measured:
            for k in range(TABLES):
                psql(one.server, SCHEMA.format(k=k, rows=rows), timeout=600)
            psql(one.server, BANK.format(rows=rows), timeout=600)
        folder, program = temporary_folder(), Postgres().binary("pgbench")
        print(f"{'workload':30} {'server':10} {'tps':>8} {'redquel µs':>11} {'Redis µs':>9} {'Redis CPU µs':>13} {'busiest node':>13}")
        for workload in (w for w in WORKLOADS if options.only in w.name):
            files = [f"{folder}/{k}.sql" for k in range(TABLES)]
            for k, script in enumerate(files):
                write(script, workload.sql.format(k=k, other=(k + 1) % TABLES, rows=rows))
            runs = {one.name: [] for one in measured}
            for _ in range(options.rounds):
                for one in measured:
                    runs[one.name].append(pgbench(program, one, files, options.seconds))
            for name, figures in runs.items():
                median = {key: statistics.median(run[key] for run in figures) for key in figures[0]}
                results.append({"workload": workload.name, "server": name, "median": median, "all": figures})
                print(f"{workload.name:30} {name:10} {median['tps']:8.0f} {median['redquel']:11.1f} {median['redis']:9.1f} {median['redis cpu']:13.1f} {median['busiest']:12.0%}", flush=True)
        runs = [look_cost(options.build, measured[-1].redis) for _ in range(options.rounds)]
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        results.append({"workload": "look at commits", "median": median, "all": runs})
        print(f"a look at the commits of a bucket: {median['look']:.2f} µs; HMGET of two fields: {median['second row']:.2f} µs; the script: {median['script']:.2f} µs", flush=True)
    finally:
        for thing in reversed(started):
            thing.stop()
    return results
