"""Reads .test files: sqllogictest's form, with a few directives of our own. tests/README.md describes it for authors."""
import os
import re
from dataclasses import dataclass, replace

SERVERS = ("postgresql", "redquel")
SPREAD = "spread"  # skipif: in runs whose tables lie in several buckets of a cluster
VERSION_MARK = re.compile(r"(skipif|onlyif) postgresql (<|>=) (\d+)\.(\d+)\s*#\s*\S")
# The words of `ignore`, and the fields of an ErrorResponse that they mean.
ERROR_PARTS = {"message": "M", "detail": "D", "hint": "H", "position": "P", "objects": "stcdn", "severity": "SV"}
ANSWER_PARTS = ("names", "types", "rows", "tag", "notices", "context")


class TestFileError(Exception):
    """The file itself is wrong."""


@dataclass
class Record:
    kind: str  # statement, query, copy, restart
    line: int
    sql: str = ""
    outcome: str = "ok"  # ok, error, any
    sqlstate: str = None
    types: str = None
    sort: str = "nosort"
    expected: list = None  # lines after ----
    data: bytes = b""  # copy: lines after ----
    servers: tuple = SERVERS
    ignored: frozenset = frozenset()
    connection: str = "main"
    waits: bool = False  # until it answers so
    skips_spread: bool = False

    @property
    def heading(self):
        return " ".join(filter(None, [self.kind, self.outcome if self.kind != "query" else None, self.sqlstate, self.types,
                                      self.sort if self.sort != "nosort" else None]))


@dataclass
class Pending:
    """Directives that hold for the next record."""
    servers: tuple = SERVERS
    ignored: frozenset = frozenset()
    connection: str = "main"
    waits: bool = False
    skips_spread: bool = False


def read(path, version):
    """Returns the records of a file in order. `version`: of the PostgreSQL that they are compared with, as (major, minor)."""
    with open(path, encoding="utf-8") as file:
        lines = list(enumerate(file.read().split("\n"), 1))
    return list(_records(path, _expand(path, lines), version))


def _expand(path, lines):
    """Replaces loop, foreach and include by what they stand for."""
    expanded, at = [], 0
    while at < len(lines):
        number, line = lines[at]
        words = line.split()
        if words[:1] == ["loop"] and len(words) == 4:
            values = range(int(words[2]), int(words[3]))
        elif words[:1] == ["foreach"] and len(words) > 2:
            values = words[2:]
        elif words[:1] == ["include"] and len(words) == 2:
            with open(os.path.join(os.path.dirname(path), words[1]), encoding="utf-8") as file:
                included = [(number, text) for text in file.read().split("\n")]
            expanded += [*_expand(path, included), (number, "")]
            at += 1
            continue
        else:
            expanded.append((number, line))
            at += 1
            continue
        depth, end = 1, at + 1
        while end < len(lines):
            first = lines[end][1].split()[:1]
            depth += (first in (["loop"], ["foreach"])) - (first == ["endloop"])
            if depth == 0:
                break
            end += 1
        else:
            raise TestFileError(f"{path}:{number}: no endloop")
        for value in values:
            body = [(n, text.replace("${" + words[1] + "}", str(value))) for n, text in lines[at + 1:end]]
            expanded += [*_expand(path, body), (number, "")]
        at = end + 1
    return expanded


def cache_of(path):
    """The size that a line `# cache: 64MB` names: tables of this file are kept in memory; None: there is none."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r"^# cache: (\w+)", file.read(), re.M)
    return found and found[1]


def stays_whole(path):
    """Returns true if a line `# spread: no (reason)` keeps each table of the file in one bucket."""
    with open(path, encoding="utf-8") as file:
        return re.search(r"^# spread: no \(.+\)", file.read(), re.M) is not None


def _records(path, lines, version):
    everywhere = frozenset()
    pending = Pending()
    at = 0
    while at < len(lines):
        number, line = lines[at]
        at += 1
        words = line.split("#")[0].split()
        compare = re.match(r"# compare: (\w+)", line)
        if compare:
            if compare[1] != "sqlstate":
                raise TestFileError(f"{path}:{number}: compare what? sqlstate is the only looser form")
            everywhere |= {"message", "detail", "hint", "position", "objects"}
        if re.match(r"# binary: no \(.+\)", line):
            everywhere |= {"binary"}
        if not words:
            continue
        if words == ["skipif", SPREAD] and _reason(line):
            pending.skips_spread = True
        elif mark := VERSION_MARK.match(line):
            if (mark[1] == "skipif") == _holds(version, mark):
                pending.servers = tuple(s for s in pending.servers if s != "postgresql")
        elif words[0] in ("skipif", "onlyif"):
            if len(words) != 2 or words[1] not in SERVERS or not _reason(line):
                raise TestFileError(f"{path}:{number}: {words[0]} postgresql|redquel # reason, "
                                    f"{words[0]} postgresql <|>= MAJOR.MINOR # reason, or skipif spread # reason")
            pending.servers = tuple(s for s in pending.servers if (s == words[1]) == (words[0] == "onlyif"))
        elif words[0] == "ignore":
            unknown = set(words[1:]) - set(ERROR_PARTS) - set(ANSWER_PARTS)
            if unknown or len(words) < 2 or not _reason(line):
                raise TestFileError(f"{path}:{number}: ignore PART... # reason; parts: {[*ERROR_PARTS, *ANSWER_PARTS]}")
            pending.ignored |= set(words[1:])
        elif words[0] == "connection" and len(words) == 2:
            pending.connection = words[1]
        elif words == ["eventually"] and _reason(line):
            pending.waits = True
        elif words == ["halt"]:
            return
        elif words == ["restart"]:
            yield Record("restart", number)
        elif words[0] in ("statement", "query", "copy"):
            sql, expected = [], None
            while at < len(lines) and lines[at][1].strip():
                if lines[at][1] == "----" and expected is None:
                    expected = []
                else:
                    (sql if expected is None else expected).append(lines[at][1])
                at += 1
            record = Record(words[0], number, "\n".join(sql), expected=expected, servers=pending.servers,
                            ignored=pending.ignored | everywhere, connection=pending.connection, waits=pending.waits,
                            skips_spread=pending.skips_spread)
            if record.kind == "copy" and expected is not None:
                record = replace(record, expected=None, data="".join(f"{text}\n" for text in expected).encode())
            if not sql:
                raise TestFileError(f"{path}:{number}: no SQL")
            yield _with_heading(path, record, words[1:])
            pending = Pending()
        else:
            raise TestFileError(f"{path}:{number}: what is {line!r}? (a blank line inside a statement?)")


def _with_heading(path, record, words):
    if record.kind in ("statement", "copy"):
        if words == ["ok"]:
            return record
        if words == ["ok", "rowsort"] and record.kind == "copy":
            return replace(record, sort="rowsort")
        if words[:1] == ["error"] and len(words) == 2 and re.fullmatch(r"[0-9A-Z]{5}", words[1]):
            return replace(record, outcome="error", sqlstate=words[1])
        if words == ["any"]:
            return replace(record, outcome="any")
        raise TestFileError(f"{path}:{record.line}: {record.kind} ok | error <sqlstate> | any; copy ok rowsort")
    for word in words:
        if word in ("nosort", "rowsort", "valuesort"):
            record = replace(record, sort=word)
        elif re.fullmatch(r"[A-Z]+", word) and record.types is None:
            record = replace(record, types=word)
        elif not re.fullmatch(r"\w+", word):
            raise TestFileError(f"{path}:{record.line}: query [TYPES] [nosort|rowsort|valuesort] [label]")
    return record


def _holds(version, mark):
    """Returns true if the version fulfils the condition of a mark."""
    is_older = version < (int(mark[3]), int(mark[4]))
    return is_older if mark[2] == "<" else not is_older


def _reason(line):
    return "#" in line and line.split("#", 1)[1].strip()
