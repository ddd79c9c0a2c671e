"""Transactions that rely on locks in other buckets than those of their changes: foreign keys between buckets, and LOCK TABLE.

A parent row lies in bucket 0, children in the other ones. The table of cells has a row in each bucket.
"""
from model.bucket import EXCLUSIVE, SHARED, Part
from model.protocol import Call
from model.reader import ask, read

PARENT, CHILDREN, CELL, CELLS = "parent", "children", "cell", "cells"
CHILD_BUCKETS = (1, 2, 3)


class LockKinds:
    """The methods of a Run that make such transactions; each gives its parts, or None."""

    def child(self, proxy, name):
        """Inserts a row that refers to the parent. The lock on the parent lasts until the commit is applied there."""
        yield []
        locks = {PARENT: SHARED} if proxy.on("parent_locks") else {}
        return {0: Part(locks, [("row", PARENT, 1)], []),
                self.random.choice(CHILD_BUCKETS): Part({name: EXCLUSIVE}, [], [("join", CHILDREN, name)])}

    def delete_parent(self, proxy, name):
        """Deletes the parent if no row refers to it: locks it, brings decided commits to their end, looks at the references in all buckets."""
        session = name.split(".")[0]
        lock = [Call(0, "lock", (session, PARENT))]
        if proxy.on("references_after_lock") and (yield from ask(lock)) != ["held"]:
            return None
        if proxy.on("finish_before_references"):
            found = list((yield from read(proxy, CHILD_BUCKETS)).values())
        else:
            found = yield from ask([Call(bucket, "read", (0,)) for bucket in CHILD_BUCKETS])
        if any(reply.references for reply in found):
            return None
        if not proxy.on("references_after_lock") and (yield from ask(lock)) != ["held"]:
            return None
        return {0: Part({PARENT: EXCLUSIVE}, [("row", PARENT, 1), ("lock", PARENT, session)], [("put", PARENT, None)]),
                self.random.choice(CHILD_BUCKETS): Part({name: EXCLUSIVE}, [], [("put", name, 1)])}

    def write_cells(self, proxy, name):
        """Adds to the rows of two buckets, which it locks first."""
        session, buckets = name.split(".")[0], self.random.sample(range(len(self.cluster.owner)), 2)
        for bucket in buckets:
            if (yield from ask([Call(bucket, "lock_cell", (session,))])) != ["held"]:
                return None
        return {bucket: Part({CELL: EXCLUSIVE}, [("lock", CELL, session)], [("add", CELL, 1)]) for bucket in buckets}

    def lock_cells(self, proxy, name):
        """LOCK TABLE, read, and write what follows from it. The rows themselves are neither locked nor compared."""
        session, buckets = name.split(".")[0], range(len(self.cluster.owner))
        locked = buckets if proxy.on("table_lock_in_all_buckets") else buckets[:1]
        for bucket in locked:
            if (yield from ask([Call(bucket, "lock_cells", (session,))])) != ["held"]:
                return None
        got = yield from read(proxy, buckets)
        return {bucket: Part({CELLS: EXCLUSIVE} if bucket in locked else {}, [("lock", CELLS, session)] if bucket in locked else [],
                             [("put", CELL, got[bucket].rows[CELL] + 1)]) for bucket in buckets}

    def lock_trouble(self, state):
        """Returns the promise that the end of a run breaks; None: none."""
        if state[0].rows.get(PARENT) is None and any(bucket.sets.get(CHILDREN) for bucket in state.values()):
            return "a child has no parent"
        for number, bucket in state.items():
            changes = [name for name, record in self.commits.items() if name in bucket.commits and number in record.parts
                       and any(key == CELL for _, key, _ in record.parts[number].changes)]
            if bucket.rows.get(CELL) != len(changes):
                return "an update of a locked table is lost"
        return None
