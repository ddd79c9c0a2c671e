"""What a copy in memory costs those who write, and those who read single rows beside an endless query."""
import contextlib
import subprocess

import measure
import stopwatch
import whole
import workloads
from harness.processes import temporary_folder
from harness.programs import pgbench_options, psql, run
from harness.servers import Redquel

UPDATE = next(workload for workload in workloads.WORKLOADS if workload.name == "update of an indexed column")


@contextlib.contextmanager
def redquel(world, memory):
    """A redquel and Redis of its own, so that no other redquel keeps tables: `memory` bytes of them."""
    config = f"{temporary_folder()}/redquel.toml"
    with open(config, "w") as file:
        file.write(f"[cache]\nmemory = {memory}\nfirst_scan = 1\n")
    server = Redquel(world.build, world.redis, "--config", config).start()
    try:
        yield server
    finally:
        server.stop()


def keep(server, table):
    """Reads all columns of the table, so that the server keeps it."""
    psql(server, f"SELECT count(t) FROM {table} t", timeout=300)


def without_other_copies(world):
    """Ends the redquel that memory.py has started: its tracking would cost both sides."""
    if hasattr(world, "redquel_memory"):
        world.redquel_memory.stop()
        world.started.remove(world.redquel_memory)
        del world.redquel_memory


def on_and_off(world, options, name, measured, target=0.93):
    """Seconds with the copy ('redquel') and without ('raw'), in turns."""
    without_other_copies(world)
    times = {"redquel": [], "raw": []}
    for _ in range(options.rounds):
        for column, memory in (("raw", 0), ("redquel", 2 << 30)):
            with redquel(world, memory) as server:
                times[column].append(measured(server))
    return whole.result(name, world, "seconds", times, target=(0, target), note="'raw' is redquel without a copy")


def transaction(world, server, script, options):
    """Seconds of one transaction, of 16 clients at a time."""
    if not stopwatch.counts_processors:
        return 1 / measure.pgbench(world, server, script, "prepared", 16, options.seconds)
    count = round(400 * options.seconds)  # of each client
    return stopwatch.seconds(lambda: run([world.pgbench_program(), "-n", "-M", "prepared", "-f", script, "-c", 16, "-t", count, *pgbench_options(server)], timeout=900),
                             server, world.redis) / (16 * count)


def point_selects(world, options):
    script = whole.point_script(world)

    def measured(server):
        keep(server, "emp")
        return transaction(world, server, script, options)
    return on_and_off(world, options, "memory: point select", measured, 0.97)


def updates(world, options):
    script = f"{temporary_folder()}/update.sql"
    measure.write(script, UPDATE.sql.format(ROWS=world.rows, DEPARTMENTS=100))

    def measured(server):
        keep(server, "emp")
        return transaction(world, server, script, options)
    return on_and_off(world, options, "memory: update of an indexed column", measured)


def copy_in(world, options):
    rows = f"{temporary_folder()}/rows"
    psql(world.postgres, f"\\copy emp TO '{rows}'")

    def measured(server):
        psql(server, whole.COPIED.format(hash="USING hash", ordered="USING zset") + "INSERT INTO copied SELECT -i, 'name', 1, 1, 1, '2020-01-01' FROM generate_series(1, 2000) i;")
        keep(server, "copied")
        return stopwatch.seconds(lambda: psql(server, f"\\copy copied FROM '{rows}'", timeout=900), server, world.redis)
    report = on_and_off(world, options, "memory: COPY in", measured)
    psql(world.redquel, "DROP TABLE copied;", timeout=300)
    return report


def beside_aggregate(world, options):
    """99th percentile latency of point selects by 64 clients, alone and while another client aggregates the copy again and again."""
    script = whole.point_script(world)
    times = {"redquel": [], "raw": []}
    without_other_copies(world)
    with redquel(world, 2 << 30) as server:
        keep(server, "emp")
        for _ in range(options.rounds):
            times["raw"].append(whole.percentile(world, script, options.seconds, server))
            scanner = subprocess.Popen([world.pgbench_program(), "-n", "-f", whole.scan_script(), "-c", "1", "-T", str(round(options.seconds) + 30),
                                        *pgbench_options(server)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                times["redquel"].append(whole.percentile(world, script, options.seconds, server))
            finally:
                scanner.kill()
                scanner.wait()
    return whole.result("memory: p99 of 64 point clients beside an aggregate", world, "seconds", times, target=(0, 0.8), note="'raw' is redquel without the aggregate")


WRITES = [
    whole.Whole("memory: point select", point_selects),
    whole.Whole("memory: update of an indexed column", updates),
    whole.Whole("memory: COPY in", copy_in),
    whole.Whole("memory: p99 of 64 point clients beside an aggregate", beside_aggregate),
]
