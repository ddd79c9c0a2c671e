"""Runs tests/plan/*.plan: golden EXPLAIN texts with their Redis commands, and counts of the commands that Redis received.

A file is a sequence of blocks, separated by blank lines:

    schema                  plan                           commands
    CREATE TABLE …;         SELECT …                       SELECT …
                            ----                           ----
                            (what EXPLAIN answers)         HMGET 1
"""
import re
import time

from harness.pgwire import ServerError
from harness.resp import RedisError
from harness.sql_files import cache_of

HEADINGS = ("schema", "plan", "commands")
# The commands that every turn of a connection sends are part of the count on purpose.


class PlanFile:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")

    def blocks(self):
        """(heading, line number, SQL, index of the first expected line, index after the last) of each block."""
        at = 0
        while at < len(self.lines):
            line = self.lines[at].strip()
            if not line or line.startswith("#"):
                at += 1
                continue
            if line not in HEADINGS:
                raise ValueError(f"{self.path}:{at + 1}: schema, plan or commands, not {line!r}")
            start, sql = at, []
            at += 1
            while at < len(self.lines) and self.lines[at].strip() and self.lines[at] != "----":
                sql.append(self.lines[at])
                at += 1
            if at < len(self.lines) and self.lines[at] == "----":
                at += 1
            first = at
            while at < len(self.lines) and self.lines[at].strip():
                at += 1
            yield line, start + 1, "\n".join(sql), first, at


def explain(connection, sql):
    statement = sql if re.match(r"\s*EXPLAIN\b", sql, re.I) else "EXPLAIN " + sql
    return [line.rstrip() for row in connection.run(statement) for line in row[0].split("\n")]


def count_commands(connection, redis, sql, expected):
    """Runs the statement once, so that scripts are loaded and plans cached, and counts the second time. What redquel asks every second for
    itself may come between: then once more."""
    connection.run(sql)
    for _ in range(20):
        redis("CONFIG", "RESETSTAT")
        connection.run(sql)
        got = [f"{name} {calls}" for name, calls in sorted(redis.command_counts().items())]
        if got == expected:
            break
    return got


def run_file(path, subject, report, rewrite, timeout):
    started = time.monotonic()
    passed = failed = 0
    file = PlanFile(path)
    replaced = []
    subject.open(cache=cache_of(path) or "0")
    try:
        with subject.connect(timeout) as connection, subject.redis.connect() as redis:
            for heading, line, sql, first, end in file.blocks():
                try:
                    if heading == "schema":
                        connection.run(sql)
                        continue
                    expected = file.lines[first:end]
                    got = explain(connection, sql) if heading == "plan" else count_commands(connection, redis, sql, expected)
                except (ServerError, RedisError) as error:
                    failed += 1
                    report.fails(f"{path}:{line}", f"{sql}\n{error}")
                    continue
                if got == expected or rewrite:
                    passed += 1
                    separator = [] if first > 0 and file.lines[first - 1] == "----" else ["----"]
                    replaced.append((first, end, separator + got))
                else:
                    failed += 1
                    report.fails(f"{path}:{line}", "\n".join([sql, "expected:", *("  " + text for text in expected), "given:",
                                                              *("  " + text for text in got)]))
    except Exception as error:
        failed += 1
        report.fails(f"{path}:0", f"{type(error).__name__}: {error}\n{subject.state()}")
    try:
        subject.close()
    except Exception as error:
        failed += 1
        report.fails(f"{path}:0", f"at the end: {error}")
    if rewrite:
        for first, end, lines in reversed(replaced):
            file.lines[first:end] = lines
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(file.lines))
    report.passes(passed)
    report.file_done(path, passed, failed, started)
