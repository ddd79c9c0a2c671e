"""The 22 queries of TPC-H over tables kept in memory, beside PostgreSQL with one process for each query: the same rows, the same indexes."""
import functools
import os

import memory
import tpch_data
import whole
from stopwatch import seconds
from harness.processes import temporary_folder
from harness.programs import psql
from tpch_queries import QUERIES

SCALE = float(os.environ.get("TPCH_SCALE", "0.1"))
# Issue 22: faster than PostgreSQL in sum, and none below a third of its speed.
IN_SUM, EACH = 1, 1 / 3


@functools.cache
def connections(world):
    """Connections to both servers with the tables loaded and kept in memory."""
    subject_server = memory.server(world)
    folder = f"{temporary_folder()}/tpch"
    tpch_data.generate(folder, SCALE)
    copies = "\n".join(f"\\copy {table} FROM '{folder}/{table}'" for table in tpch_data.NAMES)
    for server, methods in ((world.postgres, {"hash": "", "ordered": ""}), (subject_server, {"hash": "USING hash", "ordered": "USING zset"})):
        psql(server, f"{tpch_data.TABLES}{tpch_data.INDEXES.format(**methods)}\n{copies}\nVACUUM ANALYZE;\n", timeout=1800)
    oracle, subject = memory.connections(world)
    for table in tpch_data.NAMES:
        subject.run(f"SELECT count(t) FROM {table} t")  # all columns
    return oracle, subject


def query(number, text):
    def run(world, options):
        oracle, subject = connections(world)
        assert sorted(oracle.run(text)) == sorted(subject.run(text)), f"query {number}"
        times = {"postgres": [], "redquel": []}
        for _ in range(max(5, options.rounds)):
            times["postgres"].append(seconds(lambda: oracle.query(text), world.postgres))
            times["redquel"].append(seconds(lambda: subject.query(text), *memory.servers_of(world)))
        return whole.result(f"tpch: query {number}", world, "seconds", times, target=(EACH, 0))
    return run


def all_queries(world, options):
    oracle, subject = connections(world)
    times = {"postgres": [], "redquel": []}
    for _ in range(options.rounds):
        for name, connection, servers in (("postgres", oracle, [world.postgres]), ("redquel", subject, memory.servers_of(world))):
            times[name].append(seconds(lambda: [connection.query(text) for text in QUERIES.values()], *servers))
    return whole.result("tpch: all queries", world, "seconds", times, target=(IN_SUM, 0), note=f"scale {SCALE:g}")


TPCH = [whole.Whole(f"tpch: query {number}", query(number, text)) for number, text in QUERIES.items()]
TPCH += [whole.Whole("tpch: all queries", all_queries)]
