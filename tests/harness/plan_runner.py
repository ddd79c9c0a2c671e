"""Runs tests/plan/*.plan: golden EXPLAIN texts with their Redis commands, and counts of the commands that Redis received.

Each plan is run, too. Redis must receive the commands that EXPLAIN names, and no others. EXPLAIN says of some
that they come only sometimes: in the line "As Needed", or by words such as "or", "if", "where". The heading of a plan lists the
commands that the test's data do not need (`plan unsent HMGET`: no row is found), and those that EXPLAIN does not name (`plan unnamed HGET`).

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
EXPLAIN = re.compile(r"\s*EXPLAIN\s*(\([^)]*\)|(ANALYZE|VERBOSE|\s)*)", re.I)
# A plan names commands in its lines "Redis:", each at the beginning of the line or behind one of these.
COMMAND = re.compile(r"(?:^|, (?:and |or )?| and | or |otherwise |[:;] )([A-Z]{3,}(?:_RO)?)(?= |,|;|$)(?: (ENCODING|STREAM|LIST|GET|USAGE)\b)?")
NO_COMMANDS = {"BYLEX", "BYSCORE"}
SOMETIMES = re.compile(r"\b(or|if|where|otherwise|of NULLs|of few rows)\b")
FAMILIES = {"OBJECT", "XINFO", "CLIENT", "CONFIG", "MEMORY"}
PROPERTY = re.compile(r"( *)(?:->  )?([A-Z][A-Za-z/ ]*): (.*)")
NODE = re.compile(r" *->  ")
# What every turn of a connection sends besides the statement's own commands is part of the count on purpose.
# Commands of every run: the version of the definitions, snapshots, scripts, counters of tables.
HOUSEKEEPING = {"GET", "MGET", "MULTI", "EXEC", "EVALSHA", "EVALSHA_RO", "EVAL", "EVAL_RO", "SCRIPT|LOAD"}
# Scripts that write also look at locks and at what they replace, and count the table's changes.
LOCK_HOUSEKEEPING = {"EXISTS", "HDEL", "HEXISTS", "HGET", "HSET", "PTTL", "SET", "UNLINK"}
WRITE_HOUSEKEEPING = LOCK_HOUSEKEEPING | {"HMGET", "HLEN", "INCR", "SISMEMBER", "SINTERCARD", "SCARD", "TYPE", "ZCARD"}

# A connection of redquel begins with these.
HANDSHAKE = {"CLIENT|SETNAME", "SORT_RO"}


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
            if line.split()[0] not in HEADINGS:
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


def explain(connection, sql, *options):
    found = EXPLAIN.match(sql)
    options = ["COSTS OFF", *options]
    if found:
        options += re.split(r"\s*,\s*", found[1].strip(" ()")) if found[1].startswith("(") else found[1].split()
    statement = f"EXPLAIN ({', '.join(options)}) {sql[found.end() if found else 0:]}"
    return [line.rstrip() for row in connection.run(statement) for line in row[0].split("\n")]


def nodes_of(plan):
    """The properties of each node of a plan: lists of [name, text]. Lines that go on are joined. One of the plans below a Choice runs: their nodes have
    the property "Choice", too."""
    nodes, choice = [], None
    for number, line in enumerate(plan):
        if number == 0 or NODE.match(line):
            nodes.append([])
            depth = len(line) - len(line.lstrip())
            if choice is not None and depth <= choice:
                choice = None
            if choice is not None:
                nodes[-1].append(["Choice", "", -1])
            elif line.split("->")[-1].strip().startswith("Choice"):
                choice = depth
            continue
        found = PROPERTY.match(line)
        if found and (nodes[-1] in ([], [["Choice", "", -1]]) or len(found[1]) == nodes[-1][-1][2]):
            nodes[-1].append([found[2], found[3], len(found[1])])
        elif nodes[-1]:
            nodes[-1][-1][1] += " " + line.strip()
    return [[(name, text) for name, text, _ in properties] for properties in nodes]


def named_commands(plan):
    """(all commands that a plan names, those among them that each run sends)."""
    everything, always = set(), set()
    for properties in nodes_of(plan):
        sizes = {name for title, text in properties if title == "As Needed" for name in text.split(", ")}
        is_chosen = any(title == "Choice" for title, _ in properties)
        everything |= sizes
        for title, text in properties:
            if title != "Redis":
                continue
            names = {"|".join(filter(None, match)) if match[0] in FAMILIES else match[0] for match in COMMAND.findall(text)} - NO_COMMANDS
            everything |= names
            if not sizes and not is_chosen and not SOMETIMES.search(text) and not text.startswith("EVALSHA"):
                always |= names
    return everything, always


def compare_commands(connection, redis, sql, plan, unsent, unnamed):
    """Runs the statement of a plan. Returns (named but not received, received but not named), both sorted. What redquel asks every second for
    itself may come between: then once more."""
    statement = EXPLAIN.sub("", sql, 1) if re.match(r"\s*EXPLAIN\b", sql, re.I) else sql
    everything, always = named_commands(plan)
    locks = re.search(r"\bFOR (NO KEY )?(UPDATE|(KEY )?SHARE)\b", statement, re.I)
    writes = re.search(r"\b(INSERT|DELETE|MERGE)\b|^\s*UPDATE\b|\(UPDATE\b", statement, re.I)
    housekeeping = HOUSEKEEPING | (WRITE_HOUSEKEEPING if writes else LOCK_HOUSEKEEPING if locks else set())
    if not writes:
        connection.run(statement)  # its planning may ask how large tables are
    for _ in range(1 if writes else 20):
        redis("CONFIG", "RESETSTAT")
        connection.run(statement)
        received = set(redis.command_counts())
        if "CLIENT|SETNAME" in received:
            received -= HANDSHAKE
        missing, others = sorted(always - received), sorted(received - everything - housekeeping)
        if missing == unsent and others == unnamed:
            break
    return missing, others


def heading_of(missing, others):
    return " ".join(["plan", *(["unsent", *missing] if missing else []), *(["unnamed", *others] if others else [])])


def lists_of(words):
    """The commands behind `unsent` and `unnamed` in a heading."""
    lists = {"unsent": [], "unnamed": []}
    for word in words:
        if word in lists:
            into = lists[word]
        else:
            into.append(word)
    return lists["unsent"], lists["unnamed"]


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
            for words, line, sql, first, end in file.blocks():
                heading, *rest = words.split()
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
                # What a copy in memory asks Redis for depends on its state.
                if heading != "plan" or any("Memory Scan" in text for text in got):
                    replaced += [(line - 1, line, [heading])]
                    continue
                try:
                    if any("Choice" in text for text in got):  # VERBOSE shows both of its ways
                        got = explain(connection, sql, "VERBOSE")
                    heading = heading_of(*compare_commands(connection, redis, sql, got, *lists_of(rest)))
                except (ServerError, RedisError) as error:
                    heading = f"the plan does not run: {error}"
                if heading == words or (rewrite and heading.startswith("plan")):
                    passed += 1
                    replaced.append((line - 1, line, [heading]))
                else:
                    failed += 1
                    report.fails(f"{path}:{line}", "\n".join([sql, *got, f"expected commands: {words}", f"given commands: {heading}"]))
    except Exception as error:
        failed += 1
        report.fails(f"{path}:0", f"{type(error).__name__}: {error}\n{subject.state()}")
    try:
        subject.close()
    except Exception as error:
        failed += 1
        report.fails(f"{path}:0", f"at the end: {error}")
    if rewrite:
        for first, end, lines in sorted(replaced, reverse=True):
            file.lines[first:end] = lines
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(file.lines))
    report.passes(passed)
    report.file_done(path, passed, failed, started)
