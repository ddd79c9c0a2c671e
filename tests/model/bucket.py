"""The keys of one bucket and the scripts over them. Redis runs one script at a time, so each method is one step of the model.

Three groups of keys move separately when a slot moves: rows, index entries, and the records of the protocol.
"""
import collections

EXCLUSIVE, SHARED = "exclusive", "shared"

# The part of a commit in one bucket. locks: row -> mode. checks: (kind, key, expected value). changes: (kind, key, value).
Part = collections.namedtuple("Part", "locks checks changes")
# A prepared commit in one bucket: `buckets` are all buckets of the commit, `expiries` those of the rows that it keeps from expiring.
Record = collections.namedtuple("Record", "buckets part expiries")
# One entry of the list of applied commits.
Entry = collections.namedtuple("Entry", "number buckets time")
# references: children that the bucket has.
Read = collections.namedtuple("Read", "rows commits records applied number trimmed changes references connection", defaults=[None])

GROUPS = {
    "index": ("uniques", "sets", "values"),
    "rows": ("rows", "expiries", "commits"),
    "records": ("prepared", "applied", "tombstones", "locks", "state"),
}
FIELDS = [field for fields in GROUPS.values() for field in fields]
LIFE = 400  # of tombstones and of entries that their owner has not removed; in steps of the schedule
LEASE = 60  # of the locks of a session
HALF_ROW = "half a row"
EMPTY_STATE = {"number": 0, "trimmed": 0, "changes": 0, "touched": 0}


class KeyHasMoved(Exception):
    """A command met a key that has left the node while its slot moves. The script ends there; what it has written stays."""


class Bucket:
    def __init__(self, off):
        self.off = off  # protections that are switched off
        self.rows, self.expiries = {}, {}
        self.commits = {}  # commits whose changes are in the rows; for the checks of the model alone
        self.uniques = {}  # value -> commit
        self.sets, self.values = {}, {}  # value -> members; values that have members
        self.prepared, self.applied, self.tombstones = {}, {}, {}
        self.locks = {}  # of sessions: row -> (session, end of its lease)
        self.state = dict(EMPTY_STATE)
        self.is_marked = False  # the mover's mark: the bucket is incomplete
        self.gone = ()  # groups that have left this node

    def copy(self):
        copy = Bucket.__new__(Bucket)
        copy.off, copy.is_marked, copy.gone = self.off, self.is_marked, self.gone
        for field in FIELDS:
            setattr(copy, field, dict(getattr(self, field)))
        return copy

    def run(self, script, arguments, now, is_migrating):
        """Runs a script. Returns its reply."""
        self.now, self.is_migrating = now, is_migrating
        for row, end in list(self.expiries.items()):
            if end <= now:
                del self.rows[row], self.expiries[row]
        return getattr(self, script)(*arguments)

    def _need(self, group):
        if self.is_migrating and group in self.gone:
            raise KeyHasMoved(group)

    # Pieces of scripts.
    def _is_locked(self, name, session, locks):
        if "prepared_locks" in self.off:
            return False
        for row, mode in locks.items():
            holder, end = self.locks.get(row, (None, 0))
            if holder not in (None, session) and end > self.now:
                return True
            for other, record in self.prepared.items():
                held = record.part.locks.get(row)
                if other != name and held and EXCLUSIVE in (held, mode):
                    return True
        return False

    def _holds(self, checks):
        for kind, key, expected in checks:
            if kind == "row" and self.rows.get(key) != expected:
                return False
            if kind == "unique" and self.uniques.get(key) != expected:
                return False
            if kind == "lock":
                holder, end = self.locks.get(key, (None, 0))
                if holder != expected or end <= self.now:
                    return False
        return True

    def _change(self, name, changes):
        for kind, key, value in changes:
            self._need("rows" if kind in ("add", "put", "field") else "index")
            if kind == "add":
                self.rows[key] = self.rows.get(key, 0) + value
            elif kind == "put":
                self.rows[key] = value
            elif kind == "field":
                self.rows[key] = value if key in self.rows else HALF_ROW
            elif kind == "unique":
                self.uniques[key] = value
            elif kind == "join":
                self.sets[key] = self.sets.get(key, frozenset()) | {value}
                self.values[key] = True
            elif kind == "leave":
                self.sets[key] = self.sets.get(key, frozenset()) - {value}
                if not self.sets[key]:
                    self.values.pop(key, None)
            elif kind == "forget value":
                self.values.pop(key, None)
        self._need("records")
        self.commits[name] = True
        self.state["changes"] += 1

    def _touch(self):
        """A WAIT behind a script that has written nothing may return at once. So an answer that repeats writes, too."""
        if "repeats_write" not in self.off:
            self.state["touched"] += 1

    def _remove_record(self, name):
        record = self.prepared.pop(name, None)
        for row, end in (record.expiries if record else {}).items():
            self.expiries[row] = end
        return record

    # Scripts that write.
    def write(self, name, session, part):
        """A commit of one bucket. The token `name` makes a repetition harmless."""
        if name in self.commits:
            self._touch()
            return "applied"
        if self._is_locked(name, session, part.locks):
            return "locked"
        if not self._holds(part.checks):
            return "failed"
        self._change(name, part.changes)
        return "applied"

    def prepare(self, name, session, buckets, part):
        """Verifies the part and stores it with its locks."""
        if self.tombstones.get(name, 0) > self.now:
            self._touch()
            return "aborted"
        if name in self.prepared or name in self.applied:
            self._touch()
            return "prepared"
        if self._is_locked(name, session, part.locks):
            return "locked"
        if not self._holds(part.checks):
            return "failed"
        expiries = {}
        if "hold_expiring_rows" not in self.off:
            expiries = {row: self.expiries.pop(row) for kind, row, _ in part.changes if kind == "field" and row in self.expiries}
        if "sets_at_apply" in self.off:
            part = part._replace(changes=[change for kind, key, value in part.changes for change in self._decided(kind, key, value)])
        self.prepared[name] = Record(buckets, part, expiries)
        return "prepared"

    def _decided(self, kind, key, value):
        """The careless form: a set that looks as if it will be empty is forgotten whatever it holds later."""
        yield kind, key, value
        if kind == "leave" and self.sets.get(key, frozenset()) <= {value}:
            yield "forget value", key, value

    def apply(self, name):
        """Runs a prepared part. "unknown": it was applied long ago, and is forgotten."""
        if name in self.prepared:
            self._change(name, self.prepared[name].part.changes)
            record = self._remove_record(name)
            self.state["number"] += 1
            self.applied[name] = Entry(self.state["number"], record.buckets, self.now)
            return "applied"
        self._touch()
        return "applied" if name in self.applied else "unknown"

    def fence(self, name):
        """Returns the commit's state here. A commit that is not prepared yet never will be."""
        self._touch()
        if name in self.applied:
            return "applied"
        if name in self.prepared:
            return "prepared"
        if "tombstones" not in self.off:
            self.tombstones[name] = self.now + LIFE
        return "aborted"

    def abort(self, name):
        self._touch()
        if name in self.applied:
            return "applied"  # another bucket has forgotten the commit
        self._remove_record(name)
        if "tombstones" not in self.off:
            self.tombstones[name] = self.now + LIFE
        return "aborted"

    def forget(self, name):
        """Removes a commit from the list of applied ones."""
        if name in self.applied:
            self.state["trimmed"] = max(self.state["trimmed"], self.applied.pop(name).number)
        return "forgotten"

    def lock(self, session, row):
        """SELECT … FOR UPDATE: a lock that lives as long as the session's lease."""
        if self._is_locked("", session, {row: EXCLUSIVE}):
            return "locked"
        self.locks[row] = (session, self.now + LEASE)
        return "held"

    def lock_cell(self, session):
        """Locks the row of a table that other sessions may have locked as a whole."""
        if "writers_see_table_locks" not in self.off and self._is_locked("", session, {"cells": EXCLUSIVE}):
            return "locked"
        return self.lock(session, "cell")

    def lock_cells(self, session):
        """LOCK TABLE in this bucket: refused while another session, or a prepared commit, has locked a row."""
        if "table_locks_see_rows" not in self.off and self._is_locked("", session, {"cell": EXCLUSIVE}):
            return "locked"
        return self.lock(session, "cells")

    def remove_rows(self, prefix):
        """Removes the keys of an old definition."""
        self.rows = {row: value for row, value in self.rows.items() if not row.startswith(prefix)}
        return "removed"

    # Scripts that read.
    def status(self, name):
        return "applied" if name in self.applied else "prepared" if name in self.prepared else "never"

    def read(self, known):
        """Rows, records and the commits applied after `known`, all of one moment."""
        self._need("rows")
        self._need("records")
        records = {name: record.buckets for name, record in self.prepared.items()}
        applied = {name: entry.buckets for name, entry in self.applied.items() if entry.number > known}
        return Read(dict(self.rows), dict(self.commits), records, applied, self.state["number"], self.state["trimmed"], self.state["changes"],
                    self.sets.get("children", frozenset()))

    def read_row(self, row):
        """A read by key: the row, and the commit that has locked it, if one has."""
        holders = [(name, record.buckets) for name, record in self.prepared.items() if record.part.locks.get(row) == EXCLUSIVE]
        return self.rows.get(row), dict(self.commits), holders[0] if holders else None


READING = {"status", "read", "read_row"}
