"""Runs .test files against redquel and PostgreSQL and reports every difference."""
import re
import time
import traceback

from harness import sql_files
from harness.cluster_nodes import Cluster
from harness.comparison import arranged, differences, row_text, summary
from harness.pgwire import ConnectionClosed
from harness.servers import Redis, Redquel, postgres_version, tail

READS = re.compile(r"\s*(SELECT|VALUES|TABLE|WITH|SHOW|\()", re.I)
WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE|NEXTVAL|SETVAL|INTO)\b", re.I)


PATIENCE = 120  # seconds, for what is to be so eventually


class Oracle:
    """An empty database in the shared PostgreSQL for each file."""
    name = "postgresql"

    def __init__(self, postgres, side="oracle"):
        self.postgres = postgres
        self.side = side

    def open(self, cache=None, whole=False):
        self.database = self.postgres.emptied_database(self.side)

    def connect(self, timeout):
        return self.postgres.connect(self.database, timeout)

    def restart(self):
        pass

    def close(self):
        pass

    def state(self):
        return ""

    def end(self):
        pass


class Subject:
    """A redquel and a Redis of its own for each worker: emptied and started anew for each file. `masters`: of a Redis Cluster; 0: one Redis.
    `placement`: of its tables. `buckets`: of each table that may lie in several. `left_out`: the seed
    of access rules that are left out; 0: none is."""
    name = "redquel"

    def __init__(self, build, options=(), least_acl=False, masters=0, placement="together", buckets=1, left_out=0):
        self.placement, self.buckets, self.is_cluster, self.left_out = placement, buckets, masters > 0, left_out
        self.redis = Cluster(lambda *words: Redis(*words).start(), masters, replicas=0) if masters else Redis().start()
        if least_acl:
            self.redis.restrict(build)
        self.server = Redquel(build, self.redis, *options)

    def open(self, cache=None, whole=False):
        """`cache`: tables are kept in so much memory. `whole`: each table lies in one bucket."""
        self.is_spread = self.buckets > 1 and not whole
        buckets = str(self.buckets if self.is_spread else 1)
        self.parameters = {"redquel.placement": self.placement, "redquel.buckets": buckets} if self.is_cluster else {}
        if self.left_out:
            self.parameters["redquel.left_out_rules"] = f"some:{self.left_out}"
        self.redis.flush()
        self.server.cache = cache
        self.server.start()

    def connect(self, timeout):
        return self.server.connect(timeout=timeout, **self.parameters)

    def restart(self):
        self.server.restart()

    def close(self):
        self.server.stop()

    def state(self):
        process = self.server.process
        return "" if process.alive() else f"redquel ended with status {process.popen.wait()}\n{tail(process.log(), 40)}"

    def end(self):
        self.redis.stop()


class Side:
    """One server during one file: its sessions by name."""

    def __init__(self, server, timeout):
        self.server = server
        self.timeout = timeout
        self.sessions = {}

    def session(self, name):
        if name not in self.sessions:
            self.sessions[name] = self.server.connect(self.timeout)
        return self.sessions[name]

    def run(self, record):
        return self.session(record.connection).query(record.sql, record.data)

    def run_extended(self, record, result_format):
        return [self.session(record.connection).extended(record.sql, result_format=result_format)]

    def restart(self):
        self.close_sessions()
        self.server.restart()

    def close_sessions(self):
        for session in self.sessions.values():
            session.close()
        self.sessions = {}


class FileRun:
    def __init__(self, path, oracle, subject, report, extended, timeout):
        self.path = path
        self.sides = [Side(oracle, timeout), Side(subject, timeout)]
        self.report = report
        self.extended = extended
        self.passed = self.failed = 0

    def run(self):
        started = time.monotonic()
        records = []
        try:
            records = sql_files.read(self.path, postgres_version())
            for side in self.sides:
                side.server.open(cache=sql_files.cache_of(self.path), whole=sql_files.stays_whole(self.path))
            self._run_records(records)
        except Exception as error:  # a broken file or server is a failure of this file, not of the run
            self._fail(0, f"{type(error).__name__}: {error}", "" if isinstance(error, sql_files.TestFileError)
                       else traceback.format_exc())
        for side in self.sides:
            try:
                side.close_sessions()
                side.server.close()
            except Exception as error:
                self._fail(0, f"at the end: {error}", "")
        self.report.passes(self.passed)
        self.report.file_done(self.path, self.passed, self.failed, started)

    def _run_records(self, records):
        for number, record in enumerate(records):
            if record.kind == "restart":
                for side in self.sides:
                    side.restart()
                continue
            try:
                found = self._check(record)
                end = time.monotonic() + PATIENCE
                while found and record.waits and time.monotonic() < end:
                    time.sleep(0.1)
                    found = self._check(record)
            except (ConnectionClosed, OSError, ValueError) as error:
                state = "\n".join(filter(None, (side.server.state() for side in self.sides)))
                self._fail(record.line, record.heading, f"{record.sql}\n{type(error).__name__}: {error}\n{state}")
                left = len(records) - number - 1
                if left:
                    self._fail(record.line, f"{left} further records were not run", "")
                return
            if found:
                self._fail(record.line, record.heading, "\n".join([shortened(record.sql), *found]))
            else:
                self.passed += 1

    def _check(self, record):
        if record.skips_spread and getattr(self.sides[1].server, "is_spread", False):
            return []
        sides = [side for side in self.sides if side.server.name in record.servers]
        if len(sides) < 2:
            return [line for side in sides for line in self._check_alone(record, side)]
        oracle, subject = (side.run(record) for side in sides)
        found = [f"(the oracle itself) {line}" for line in unexpected(record, oracle)]
        found += differences(oracle, subject, record.sort, record.ignored)
        if record.expected is not None and not found:
            found += unexpected_rows(record, subject)
        if found or not self.extended or not self._repeatable(record):
            return found
        for result_format, words in ((0, "extended protocol, text"), (1, "extended protocol, binary")):
            if result_format == 1 and "binary" in record.ignored:
                continue
            oracle, subject = (side.run_extended(record, result_format) for side in self.sides)
            found += [f"{words}: {line}" for line in differences(oracle, subject, record.sort, record.ignored)]
        return found

    @staticmethod
    def _check_alone(record, side):
        results = side.run(record)
        return unexpected(record, results) or (unexpected_rows(record, results) if record.expected is not None else [])

    @staticmethod
    def _repeatable(record):
        if record.outcome == "error":
            return record.kind != "copy"
        return record.kind == "query" and READS.match(record.sql) and not WRITES.search(record.sql)

    def _fail(self, line, heading, text):
        self.failed += 1
        self.report.fails(f"{self.path}:{line}", f"{heading}\n{text}")


def unexpected(record, results):
    """What the file itself says about the outcome."""
    error = next((result.error for result in results if result.error), None)
    if record.outcome == "any":
        return []
    if record.outcome == "error":
        if not error or error.get("C") != record.sqlstate:
            return [f"expected error {record.sqlstate}: {[summary(result) for result in results]}"]
    elif error:
        return [f"expected success: {error.get('C')}: {error.get('M')}"]
    elif record.kind == "query":
        columns = results[-1].columns if results else None
        if columns is None:
            return ["a query gives columns; use `statement ok`"]
        if record.types and len(record.types) != len(columns):
            return [f"{len(columns)} columns, not {len(record.types)}"]
    return []


def unexpected_rows(record, results):
    got = [row_text(row) for row in arranged(results[-1].rows, record.sort)] if results else []
    expected = [line.replace("\t", " | ") for line in record.expected]
    if got == expected:
        return []
    return ["rows written in the file:", *(f"  {line}" for line in expected), "rows given:", *(f"  {line}" for line in got)]


def shortened(sql, limit=2000):
    return sql if len(sql) <= limit else f"{sql[:limit]} … ({len(sql)} characters)"


def run_file(path, postgres, subject, report, extended=False, timeout=60.0):
    FileRun(path, Oracle(postgres), subject, report, extended, timeout).run()
