"""One workload by many clients: pgbench against each server, raw_redis against Redis, in turns; then the commands it costs."""
import os
import re
import statistics

import servers
from harness.processes import temporary_folder
from harness.programs import pgbench_options, psql, run


def measure(world, workload, options):
    folder = temporary_folder()
    numbers = dict(ROWS=world.rows, HUNDREDTH=world.rows // 100, DEPARTMENTS=servers.DEPARTMENTS, CITIES=servers.CITIES, THEMES=servers.THEMES)
    script, raw = f"{folder}/script.sql", f"{folder}/raw"
    write(script, workload.sql.format(**numbers))
    write(raw, workload.raw.format(**numbers))
    contenders = {"postgres": world.postgres, "redquel": world.redquel, "null": world.null}
    if workload.over_tcp:
        contenders["redquel_tcp"] = world.redquel_tcp
    if world.bouncer:
        contenders["pgbouncer"] = world.bouncer
    if workload.redis_benchmark:
        world.zero_padded_rows()
    if "fresh" in workload.sql:
        for server in (world.postgres, world.redquel):
            psql(server, f"CREATE SEQUENCE IF NOT EXISTS fresh START {world.rows + 1} CACHE 100;")
    cases = []
    for mode in workload.modes:
        for clients in workload.clients:
            rates = {name: [] for name in contenders}
            rates |= ({"raw": []} if workload.raw else {}) | ({"redis_benchmark": []} if workload.redis_benchmark else {})
            for turn in range(max(options.rounds, workload.rounds) if options.rounds > 1 else 1):
                for name, server in contenders.items():
                    # pgbouncer 1.18 knows no prepared statements in transaction mode.
                    rates[name].append(pgbench(world, server, script, "extended" if name == "pgbouncer" and mode == "prepared" else mode,
                                               clients, options.seconds))
                if workload.raw:
                    rates["raw"].append(raw_redis(world, raw, clients, options.seconds, turn))
                if workload.redis_benchmark:
                    rates["redis_benchmark"].append(redis_benchmark(world, workload.redis_benchmark, clients, options.seconds))
            cases.append(case(workload, mode, clients, rates))
    return {"name": workload.name, "durability": world.durability.name, "unit": "transactions per second",
            "commands": commands(world, script, workload.modes[0]), "cases": cases}


def case(workload, mode, clients, rates):
    median = {name: statistics.median(values) for name, values in rates.items()}
    raw = median.get("redis_benchmark", median.get("raw"))
    return {"mode": mode, "clients": clients, "median": median, "all": rates,
            "against_postgres": median["redquel"] / median["postgres"], "postgres_target": workload.against_postgres,
            "against_raw": median["redquel"] / raw if raw else None, "raw_target": workload.against_raw}


def pgbench(world, server, script, mode, clients, seconds):
    """Transactions per second: the better of one and two pgbench threads, as each server deserves."""
    best = 0.0
    for threads in (1, 2) if clients > 1 else (1,):
        output = run([world.pgbench_program(), "-n", "-M", mode, "-f", script, "-c", clients, "-j", threads, "-T", max(1, round(seconds / 2)),
                      *pgbench_options(server)], timeout=seconds + 120)
        failed = re.search(r"number of failed transactions: (\d+)", output)
        if failed and failed[1] != "0":
            raise RuntimeError(output)
        best = max(best, float(re.search(r"tps = ([\d.]+)", output)[1]))
    return best


def raw_redis(world, script, clients, seconds, seed):
    output = run([f"{world.build}/bench/raw_redis", world.redis.socket_path, clients, seconds / 2, script, seed + 1], timeout=seconds + 60)
    return float(re.search(r"rate ([\d.]+)", output)[1])


def redis_benchmark(world, command, clients, seconds):
    """It knows no duration: so many requests as take about the time of the others."""
    requests = max(1000, round(seconds / 2 * (50_000 if clients > 1 else 10_000)))
    output = run(["redis-benchmark", "-s", world.redis.socket_path, "-c", clients, "-n", requests, "-r", world.rows, "--csv", *command.split()],
                 timeout=seconds + 120)
    return float(output.splitlines()[-1].split(",")[1].strip('"'))


def commands(world, script, mode, transactions=200):
    """Redis commands of a transaction, by INFO commandstats: what a script calls counts, and so does the script. Round trips are Redis's
    reads from its sockets; a pipeline of more than 16 kB is several."""
    with world.redis.connect() as redis:
        redis("CONFIG", "RESETSTAT")
        run([world.pgbench_program(), "-n", "-M", mode, "-f", script, "-c", 1, "-t", transactions, *pgbench_options(world.redquel)])
        counts = redis.command_counts()
        reads = int(redis.info("stats")["total_reads_processed"])
    return {name: round(calls / transactions, 2) for name, calls in sorted(counts.items()) if calls >= transactions / 2} | {
        "round trips": round(reads / transactions, 1)}


def write(path, text):
    with open(path, "w") as file:
        file.write(text + "\n")
    os.chmod(path, 0o644)
