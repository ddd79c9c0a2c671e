"""Queries that read every row, with the tables kept in memory, beside PostgreSQL with one process for each query."""
import whole
from stopwatch import seconds
from harness.processes import temporary_folder
from harness.programs import psql
from harness.servers import Redquel

threads = 0  # that compute for a statement beside its own; set by bench/run

PAY = "CREATE TABLE IF NOT EXISTS pay (emp_id integer PRIMARY KEY, amount integer NOT NULL)"
# name, query, times PostgreSQL's speed that issue 22 asks for
QUERIES = [
    ("full-scan aggregate", "SELECT sum(salary) FROM emp", 10),
    ("filter and sum", "SELECT sum(salary) FROM emp WHERE dept < 50 AND city < 40", 8),
    ("GROUP BY integer", "SELECT dept, count(*), avg(salary) FROM emp GROUP BY dept", 10),
    ("GROUP BY text, as many groups as rows", "SELECT count(*), sum(n) FROM (SELECT ename, count(*) AS n FROM emp GROUP BY ename) s", 3),
    ("join of two whole tables", "SELECT count(*), sum(amount) FROM emp JOIN pay USING (emp_id) WHERE amount <> dept", 8),
    ("range of 1 %, sum", "SELECT count(*), sum(dept) FROM emp WHERE salary BETWEEN 500000 AND 510000", 1),
    ("range of 1 %, rows", "SELECT * FROM emp WHERE salary BETWEEN 500000 AND 510000", 1),
    ("LIKE '%x%'", "SELECT count(*) FROM emp WHERE ename LIKE '%99%'", 2),
    ("ORDER BY … LIMIT 10 without an index", "SELECT * FROM emp ORDER BY hired DESC, emp_id LIMIT 10", 5),
]


def server(world):
    """A redquel of this world that keeps tables in memory."""
    if not hasattr(world, "redquel_memory"):
        config = f"{temporary_folder()}/redquel.toml"
        with open(config, "w") as file:
            file.write(f'[cache]\nmemory = "2GB"\nfirst_scan = 1\nthreads = {threads}\n')
        world.redquel_memory = world._keep(Redquel(world.build, world.redis, "--config", config)).start()
        for one in (world.postgres, world.redquel_memory):
            psql(one, f"{PAY}; INSERT INTO pay SELECT i, i % 1000 FROM generate_series(1, {world.rows}) i;", timeout=600)
        psql(world.postgres, "VACUUM ANALYZE;", timeout=600)
    return world.redquel_memory


def servers_of(world):
    """The processes that answer for redquel."""
    return server(world), world.redis


def connections(world):
    oracle, subject = world.postgres.connect(), server(world).connect()
    for connection in (oracle, subject):
        connection.run("SET work_mem = '256MB'")
    oracle.run("SET max_parallel_workers_per_gather = 0")
    oracle.run("SET jit = off")
    return oracle, subject


def query(name, text, target):
    def run(world, options):
        oracle, subject = connections(world)
        with oracle, subject:
            assert sorted(oracle.run(text)) == sorted(subject.run(text)), name
            times = {"postgres": [], "redquel": []}
            for _ in range(max(5, options.rounds)):
                times["postgres"].append(seconds(lambda: oracle.query(text), world.postgres))
                times["redquel"].append(seconds(lambda: subject.query(text), *servers_of(world)))
        return whole.result(f"memory: {name}", world, "seconds", times, target=(target, 0))
    return run


def copy_out(world, options):
    times = {"postgres": [], "redquel": []}
    psql(server(world), "\\copy emp TO '/dev/null'", timeout=300)
    for _ in range(options.rounds):
        times["postgres"].append(seconds(lambda: psql(world.postgres, "\\copy emp TO '/dev/null'", timeout=300), world.postgres))
        times["redquel"].append(seconds(lambda: psql(server(world), "\\copy emp TO '/dev/null'", timeout=300), *servers_of(world)))
    return whole.result("memory: COPY out", world, "seconds", times, target=(0.8, 0))


def first_scan(world, options):
    """The scan that fills the copy ('redquel') beside the one that reads Redis and keeps nothing ('raw')."""
    times = {"redquel": [], "raw": []}
    note = ""
    with server(world).connect() as connection:
        for _ in range(options.rounds):
            connection.run("DROP TABLE IF EXISTS scanned")
            connection.run("CREATE TABLE scanned (a integer PRIMARY KEY, ename text NOT NULL, dept integer NOT NULL, city integer NOT NULL, salary integer NOT NULL, hired date NOT NULL, manager integer)")
            connection.run("INSERT INTO scanned SELECT emp_id, ename, dept, city, salary, hired, emp_id / 10 FROM emp")
            scan = "SELECT count(ename), sum(dept), sum(city), sum(salary), max(hired), sum(manager) FROM scanned"
            connection.run("SET redquel.cache = off")
            connection.query(scan)
            times["raw"].append(seconds(lambda: connection.query(scan), *servers_of(world)))
            connection.run("SET redquel.cache = on")
            times["redquel"].append(seconds(lambda: connection.query(scan), *servers_of(world)))
            rows, size = map(int, connection.run("SELECT rows, bytes FROM redquel.cached_tables() WHERE \"table\" = 'scanned'")[0])
            note = f"{size / max(rows, 1):.1f} bytes a row of seven columns"
        connection.run("DROP TABLE scanned")
    return whole.result("memory: first scan", world, "seconds", times, target=(0, 0.9), note=note + "; 'raw' is the scan of Redis that keeps nothing")


MEMORY = [whole.Whole("memory: COPY out", copy_out)]
MEMORY += [whole.Whole(f"memory: {name}", query(name, text, target)) for name, text, target in QUERIES]
MEMORY += [whole.Whole("memory: first scan", first_scan)]
