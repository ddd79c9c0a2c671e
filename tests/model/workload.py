"""Sessions over the cluster, and what must hold in each read and at the end.

Each bucket has an account; the sum of all accounts never changes. Other transactions keep unique values in other buckets than their rows,
decide by what they have read, hold locks, drop a table, and change rows that expire.
"""
import random
from collections import Counter

from model.bucket import EXCLUSIVE, HALF_ROW, LIFE, SHARED, Bucket, Part
from model.cluster import Cluster
from model.lock_kinds import CELL, PARENT, LockKinds
from model.protocol import ABORTED, COMMITTED, Call, commit, recover, sweep
from model.reader import Hang, Unavailable, ask, is_one_moment, read, read_quickly, read_row
from model.schedule import Broken, Proxy, Schedule

START = 100
BUCKETS = 4
KINDS = ("transfer", "transfer", "wide transfer", "one", "unique", "skew", "read", "read", "read", "point read")


class Commit:
    """What the checks know of a commit."""

    def __init__(self, kind, parts):
        self.kind, self.parts = kind, parts
        self.result = None


class Run(LockKinds):
    """One run: a seed, protections that are switched off, faults, and the kinds of transactions that sessions choose from. `are_shared`: two
    sessions each belong to one process and share what it knows of buckets."""

    def __init__(self, seed, off, faults, kinds=KINDS, steps=3, sessions=4, make_cluster=Cluster, are_shared=False):
        self.random = random.Random(seed)
        self.off, self.kinds, self.steps = off, kinds, steps
        self.schedule = Schedule(self.random, off, faults, BUCKETS, make_cluster)
        self.cluster = self.schedule.cluster
        self.commits, self.counts = {}, Counter()
        for bucket in range(BUCKETS):
            self.cluster.fill(bucket, self.first_state(bucket))
        for shard in self.cluster.shards:
            self.cluster.replicate(shard)
        proxies = [Proxy(self.schedule) for _ in range(sessions)]
        for number, proxy in enumerate(proxies):
            if are_shared:
                proxy.known = proxies[number // 2].known
            self.schedule.start(self.guarded(self.session, proxy, f"s{number}"), Proxy(self.schedule))
        if seed % 2:
            self.schedule.start(self.meddler(Proxy(self.schedule)), Proxy(self.schedule))

    def state(self, bucket):
        return self.cluster.state_of(bucket)

    def first_state(self, bucket):
        state = Bucket(self.off)
        state.rows = {account(bucket): START, "expiring": 1, "old table": 1, "version": 1}
        state.rows.update({0: {"x": START // 2, PARENT: 1}, 1: {"y": START // 2}}.get(bucket, {}))
        state.rows[CELL] = 0
        state.sets, state.values = {"colour": frozenset({"first"})}, {"colour": True}
        state.expiries = {"expiring": self.random.randrange(30, 200)}
        return state

    def run(self):
        """Runs to the end and checks everything. Raises Broken."""
        self.schedule.run_all()
        self.schedule.faults = self.schedule.faults._replace(kills=0, pauses=0, cuts=0, moves=0, crashes=0, stalls=0)
        self.schedule.start(self.sweeper(), Proxy(self.schedule))
        self.schedule.run_all()
        self.check_end()
        return self.schedule.steps

    # Processes.
    def guarded(self, session, proxy, name):
        proxy.prepares_in_order = self.random.random() < .3
        return self.end_of_hang(session(proxy, name))

    @staticmethod
    def end_of_hang(generator):
        try:
            yield from generator
        except Hang:
            raise Broken("a reader never ends") from None

    def session(self, proxy, name):
        seen = set()
        for step in range(self.steps):
            kind = self.random.choice(self.kinds)
            try:
                if kind in ("read", "quick read", "point read", "statements", "table"):
                    yield from getattr(self, kind.replace(" ", "_"))(proxy, seen)
                    self.counts[kind] += 1
                    continue
                commit_name = f"{name}.{step}"
                parts = yield from getattr(self, kind.replace(" ", "_"))(proxy, commit_name)
            except Unavailable:
                self.counts["57P03"] += 1
                continue
            if parts is None:
                continue
            record = self.commits[commit_name] = Commit(kind, parts)
            record.result = yield from commit(proxy, commit_name, name, parts)
            self.counts[f"{kind} {record.result}"] += 1
            if kind == "drop" and record.result == COMMITTED:
                yield from self.remove_old_table(proxy, commit_name, parts)

    def meddler(self, proxy):
        """Another process that waits for a lock, or sweeps: it meets records of owners that live, and recovers them."""
        for _ in range(12):
            yield [Call(self.random.randrange(BUCKETS), "status", ("",))]
            met = sorted({(name, record.buckets) for b in range(BUCKETS) for name, record in self.state(b).prepared.items()})
            if met and self.random.random() < .3:
                yield from recover(proxy, *self.random.choice(met))
            left = sorted({(name, entry.buckets) for b in range(BUCKETS) for name, entry in self.state(b).applied.items()
                           if entry.time < self.cluster.now - LIFE or not (proxy.on("forget_late") and proxy.on("recover_before_removal"))})
            if left and self.random.random() < .2:
                yield from sweep(proxy, *self.random.choice(left))

    def sweeper(self):
        proxy = Proxy(self.schedule)
        for bucket in range(BUCKETS):
            for name, record in sorted(self.state(bucket).prepared.items()):
                yield from recover(proxy, name, record.buckets)

    # Transactions that write: each gives its parts, or None.
    def transfer(self, proxy, name, width=2):
        buckets = self.random.sample(range(BUCKETS), width)
        amounts = [1 - width] + [1] * (width - 1)
        checks = {bucket: [] for bucket in buckets}
        if self.random.random() < .5:  # read, compute, write: a lost update shows
            got = yield from read(proxy, buckets)
            checks = {bucket: [("row", account(bucket), got[bucket].rows.get(account(bucket)))] for bucket in buckets}
        return {bucket: Part({account(bucket): EXCLUSIVE}, checks[bucket], [("add", account(bucket), amount)])
                for bucket, amount in zip(buckets, amounts)}

    def wide_transfer(self, proxy, name):
        return (yield from self.transfer(proxy, name, 3))

    def one(self, proxy, name):
        bucket = self.random.randrange(BUCKETS)
        yield []
        return {bucket: Part({account(bucket): EXCLUSIVE}, [], [("add", account(bucket), 0)])}

    def unique(self, proxy, name):
        """A row in one bucket, its unique value in another."""
        value, owner_bucket = self.random.choice([("p", 2), ("q", 3)])
        yield []
        return {self.random.choice([0, 1]): Part({name: EXCLUSIVE}, [], [("put", name, 1)]),
                owner_bucket: Part({value: EXCLUSIVE}, [("unique", value, None)], [("unique", value, name)])}

    def skew(self, proxy, name):
        """SERIALIZABLE: x + y must not fall below zero. The row that was only read is locked, too."""
        got = yield from read(proxy, [0, 1])
        x, y = got[0].rows.get("x"), got[1].rows.get("y")
        if x is None or y is None or x + y < START:
            return None
        takes_x = self.random.random() < .5
        rows = [(0, "x", x, takes_x), (1, "y", y, not takes_x)]
        return {bucket: Part({row: EXCLUSIVE if takes else SHARED} if takes or proxy.on("read_locks") else {}, [("row", row, value)],
                             [("add", row, -START)] if takes else []) for bucket, row, value, takes in rows}

    def mutex(self, proxy, name):
        """SELECT … FOR UPDATE of a row in bucket 0 guards an INSERT into bucket 1."""
        session = name.split(".")[0]
        if (yield from ask([Call(0, "lock", (session, "guard"))])) != ["held"]:
            return None
        got = yield from read(proxy, [1])
        if "guarded" in got[1].rows:
            return None
        parts = {1: Part({name: EXCLUSIVE}, [], [("put", name, 1), ("add", "guarded", 1)])}
        if proxy.on("lock_only_buckets"):
            parts[0] = Part({"guard": EXCLUSIVE}, [("lock", "guard", session)], [])
        return parts

    def expiring(self, proxy, name):
        """Changes a field of a row that may expire before it is applied."""
        bucket, other = self.random.sample(range(BUCKETS), 2)
        yield []
        return {bucket: Part({"expiring": EXCLUSIVE}, [("row", "expiring", 1)], [("field", "expiring", 1)]),
                other: Part({account(other): EXCLUSIVE}, [], [("add", account(other), 0)])}

    def member(self, proxy, name):
        """Gives the last member of a set another value, or adds a member: the list of values must fit at the end."""
        bucket, other = self.random.sample(range(BUCKETS), 2)
        yield []
        leaves = self.random.random() < .5
        changes = [("leave", "colour", "first")] if leaves else [("join", "colour", name)]
        return {bucket: Part({"first" if leaves else name: EXCLUSIVE}, [], changes),
                other: Part({account(other): EXCLUSIVE}, [], [("add", account(other), 0)])}

    def drop(self, proxy, name):
        """A definition changes in bucket 0 and in the bucket of its table."""
        yield []
        return {bucket: Part({"version": EXCLUSIVE}, [("row", "version", 1)], [("add", "version", 1)]) for bucket in (0, 1)}

    def remove_old_table(self, proxy, name, parts):
        """The keys of the old definition go after its end is on the replicas of all buckets."""
        while proxy.on("removal_waits"):
            replies = yield [Call(bucket, "apply", (name,), True) for bucket in parts]
            if all(reply in (("applied", True), ("unknown", True)) for reply in replies):
                break
        yield [Call(1, "remove_rows", ("old table",), False)]

    # Transactions that read.
    def quick_read(self, proxy, seen):
        yield from self.read(proxy, seen, True)

    def read(self, proxy, seen, is_quick=False):
        acknowledged = {name for name, record in self.commits.items() if record.result == COMMITTED}
        buckets = list(range(BUCKETS)) if self.random.random() < .6 else self.random.sample(range(BUCKETS), self.random.choice([1, 2]))
        got = (yield from read_quickly(proxy, buckets)) if is_quick else None
        if got is None:
            got = yield from read(proxy, buckets)
        for name, record in self.commits.items():
            found = [name in got[bucket].commits for bucket in record.parts if bucket in got]
            if not found:
                continue
            if len(record.parts) > 1 and any(found) != all(found):
                raise Broken("a reader saw half of a commit")
            if name in acknowledged and not all(found):
                raise Broken("a reader missed a commit that was acknowledged before")
            if len(record.parts) > 1 and name in seen and not all(found):
                raise Broken("a session saw a commit, and later did not")
            if any(found):
                seen.add(name)
        if len(buckets) == BUCKETS and sum(got[bucket].rows.get(account(bucket), 0) for bucket in buckets) != START * BUCKETS:
            raise Broken("a reader saw a wrong total")

    def point_read(self, proxy, seen):
        acknowledged = {name for name, record in self.commits.items() if record.result == COMMITTED}
        bucket = self.random.randrange(BUCKETS)
        _, commits = yield from read_row(proxy, bucket, account(bucket))
        for name in acknowledged:
            part = self.commits[name].parts.get(bucket)
            if part and account(bucket) in part.locks and name not in commits:
                raise Broken("a read by key missed a commit that was acknowledged before")

    def statements(self, proxy, seen):
        """REPEATABLE READ: what several statements have read must be of one moment; otherwise the transaction ends with 40001."""
        got = {}
        for _ in range(self.random.choice([2, 3])):
            part = yield from read(proxy, self.random.sample(range(BUCKETS), self.random.choice([1, 2, 3])))
            if any(bucket in got and is_other_moment(got[bucket], reply) for bucket, reply in part.items()):
                return
            got.update({bucket: reply for bucket, reply in part.items() if bucket not in got})
            if proxy.on("round_after_statements") and not (yield from is_one_moment(proxy, got)):
                return
        for name, record in self.commits.items():
            found = [name in got[bucket].commits for bucket in record.parts if bucket in got]
            if found and any(found) != all(found):
                raise Broken("the statements of a transaction saw half of a commit")

    def table(self, proxy, seen):
        """Reads a table by a plan of the first definition. The turn ends with the definition's version at the node of bucket 0."""
        reply, = yield from ask([Call(1, "read", (0,))])
        version, = yield from ask([Call(0, "read_row", ("version",))])
        if version[0] == 1 and "old table" not in reply.rows:
            raise Broken("a reader took a removed table for an empty one")

    # The end.
    def check_end(self):
        state = {bucket: self.state(bucket) for bucket in range(BUCKETS)}
        for name, record in self.commits.items():
            found = [name in state[bucket].commits for bucket in record.parts]
            if any(found) != all(found):
                raise Broken("a commit is half done")
            if record.result == COMMITTED and not all(found):
                raise Broken("a commit was acknowledged and is lost")
            if record.result == ABORTED and any(found):
                raise Broken("a commit was reported as aborted and took place")
        for bucket in state:
            expected = START + sum(value for name, record in self.commits.items() if name in state[bucket].commits and bucket in record.parts
                                   for kind, key, value in record.parts[bucket].changes if key == account(bucket))
            if state[bucket].rows.get(account(bucket)) != expected:
                raise Broken("an update is lost")
            if HALF_ROW in state[bucket].rows.values():
                raise Broken("a row that had expired came back in part")
            if {value for value, members in state[bucket].sets.items() if members} != set(state[bucket].values):
                raise Broken("the list of values does not fit the sets")
        for value, bucket in (("p", 2), ("q", 3)):
            owners = [name for name, record in self.commits.items() if record.kind == "unique" and bucket in record.parts
                      and name in state[bucket].commits]
            if len(owners) > 1 or owners and state[bucket].uniques.get(value) != owners[0]:
                raise Broken("a unique value has two rows")
        if state[0].rows.get("x", 0) + state[1].rows.get("y", 0) < 0:
            raise Broken("write skew")
        if state[1].rows.get("guarded", 0) > 1:
            raise Broken("two transactions held one lock")
        if trouble := self.lock_trouble(state):
            raise Broken(trouble)


def account(bucket):
    return f"account {bucket}"


def is_other_moment(old, new):
    return old.changes != new.changes or old.connection != new.connection
