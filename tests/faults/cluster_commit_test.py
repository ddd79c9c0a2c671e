"""The scripts of the commit over several buckets, on three masters of a Redis Cluster. The processes are those of tests/model: each of their
calls runs a script of redquel. Processes end, stand still, lose answers and send calls late; nodes are killed between any two steps."""
import hashlib
import time

from harness.cluster_nodes import Nodes, scripts, slot_of
from harness.resp import RedisError
from model.bucket import EXCLUSIVE, Bucket, Entry, Part, Read, Record
from model.cluster import Cluster
from model.schedule import Broken, Faults
from model.workload import Run

SLOW = True
TABLE, VERSION = "16400", "v1"
KINDS = ("transfer", "transfer", "wide transfer", "skew", "read", "read", "point read")
SCRIPT_NAMES = {"prepare": "prepare_commit", "apply": "apply_commit", "fence": "fence_prepared", "abort": "abort_commit",
                "forget": "forget_commits", "status": "commit_state"}
LOADED = [*SCRIPT_NAMES.values(), "look_at_commits"]
TAGS = ["10", "0", "1", "2"]


def full_name(name):
    return f"{hashlib.md5(name.encode()).hexdigest()[:16]}.{name}"


def short_name(name):
    return name[17:]


def packed(texts):
    """Returns an array of texts as MessagePack."""
    def head(size, fixed, most, marks):
        if size <= most:
            return bytes([fixed | size])
        for mark, width in zip(marks, (1, 2, 4)):
            if mark and size < 1 << 8 * width:
                return bytes([mark]) + size.to_bytes(width, "big")
        raise ValueError(size)
    return head(len(texts), 0x90, 15, (0, 0xdc, 0xdd)) + b"".join(head(len(text.encode()), 0xa0, 31, (0xd9, 0xda, 0xdb)) + text.encode() for text in texts)


def program(tag, name, part, owner="", many=False):
    """The program that prepares a part: compares rows, adds to them, and notes the commit in a set. With steps of one row, or of many."""
    def key(text):
        return f"{{{tag}}}{text}"

    def step(kind, *words):
        return [kind, str(len(words)), *words]
    expected = {row: str(value) for kind, row, value in part.checks if kind == "row"}
    rows = list(dict.fromkeys([*expected, *(row for _, row, _ in part.changes)]))
    words = ["unprepared", full_name(name), "version", TABLE, VERSION]
    if owner:
        words += ["lease", key(f"redquel:process:{owner[:16]}")]
    modes = "" if owner else "".join("4" if strength == EXCLUSIVE else "1" for strength in part.locks.values())
    own = str(len(part.locks) if owner else 0)
    words += step("pledge", key(f"redquel:locks:{TABLE}"), owner, own, modes, *(f"r{row}" for row in part.locks))
    if many:
        words += step("same_rows", "1", "balance", *(word for row, value in expected.items() for word in (key(f"account:{row}"), value)))
    else:
        words += [word for row, value in expected.items() for word in step("row", key(f"account:{row}"), "balance", value)]
    words += ["counter", key(f"redquel:changes:{TABLE}"), *step("lasting", *(key(f"account:{row}") for row in rows))]
    effects = ["count", key(f"redquel:changes:{TABLE}")]
    increments = [[key(f"account:{row}"), "balance", str(amount), "1000000"] for _, row, amount in part.changes]
    effects += step("adds", *sum(increments, [])) if many else [word for increment in increments for word in ("hincr", *increment)]
    effects += step("members+", key("history"), name) if many else ["member+", key("history"), name]
    return [*words, *effects, "record", owner, packed(effects)]


class RealCluster(Cluster):
    """The model's cluster, whose buckets are keys of real nodes."""

    def __init__(self, nodes, build, *arguments, **options):
        super().__init__(*arguments, **options)
        self.nodes, self.scripts, self.buckets_of, self.restarts = nodes, scripts(build), {}, 0
        self.has_many_rows = False  # the steps of the programs
        for connection in nodes.connections:
            connection("FLUSHALL")
            for name in LOADED:
                connection("SCRIPT", "LOAD", self.scripts[name][0])

    def key(self, bucket, text):
        return f"{{{TAGS[bucket]}}}{text}"

    def redis(self, bucket):
        return self.nodes.connection(self.key(bucket, ""))

    def script(self, bucket, name, keys=(), arguments=()):
        _, sha1, reads = self.scripts[name]
        words = ["EVALSHA_RO" if reads else "EVALSHA", sha1, str(1 + len(keys)), self.key(bucket, "redquel:prepared"), *keys, *arguments]
        return words

    def fill(self, bucket, state):
        redis = self.redis(bucket)
        redis("HSET", self.key(bucket, "redquel:versions"), TABLE, VERSION)
        for row, value in state.rows.items():
            redis("HSET", self.key(bucket, f"account:{row}"), "balance", str(value))

    def execute(self, server, bucket, script, arguments):
        if self.random.random() < .002:
            self.restarts += 1
            self.nodes.restart(self.random.randrange(len(self.nodes.nodes)))
            for connection in self.nodes.connections:
                for name in LOADED:
                    connection("SCRIPT", "LOAD", self.scripts[name][0])
        try:
            return getattr(self, f"run_{script}", lambda *words: self.run(bucket, script, *words))(*([bucket] if hasattr(self, f"run_{script}") else []),
                                                                                                  *arguments), True
        except RedisError as error:
            assert str(error).split()[0] in ("CLUSTERDOWN", "TRYAGAIN", "LOADING"), error
            return None, "try again"

    def run(self, bucket, script, name):
        return self.redis(bucket)(*self.script(bucket, SCRIPT_NAMES[script], (), [full_name(name)]))

    def run_prepare(self, bucket, name, _session, buckets, part):
        self.buckets_of[name] = buckets
        return self.prepare(bucket, name, part)

    def prepare(self, bucket, name, part, owner=""):
        """Prepares a part, of a transaction whose locks have this token."""
        words = program(TAGS[bucket], name, part, owner, self.has_many_rows)
        return self.redis(bucket)(*self.script(bucket, "prepare_commit", (), words))[0]

    def rows(self, bucket):
        redis = self.redis(bucket)
        names = redis("KEYS", self.key(bucket, "account:*"))
        return {name.split(":", 1)[1]: int(redis("HGET", name, "balance")) for name in names}

    def run_read(self, bucket, known):
        rows = sorted(self.first_rows(bucket))
        replies = self.redis(bucket).pipeline([
            ["MULTI"], self.script(bucket, "look_at_commits", (), [str(known)]), ["SMEMBERS", self.key(bucket, "history")],
            *(["HGET", self.key(bucket, f"account:{row}"), "balance"] for row in rows), ["EXEC"]])[-1]
        if isinstance(replies, RedisError):
            raise replies
        (number, trimmed, records, applied), commits, *values = replies
        return Read({row: int(value) for row, value in zip(rows, values)}, dict.fromkeys(commits, True), self.named(records), self.named(applied),
                    number, trimmed, changes=0, references=())

    @staticmethod
    def first_rows(bucket):
        return [f"account {bucket}", *{0: ["x"], 1: ["y"]}.get(bucket, [])]

    def named(self, names):
        return {short_name(name): self.buckets_of[short_name(name)] for name in names}

    def run_read_row(self, bucket, row):
        value, lock, commits = self.redis(bucket).pipeline([
            ["MULTI"], ["HGET", self.key(bucket, f"account:{row}"), "balance"], ["HGET", self.key(bucket, f"redquel:locks:{TABLE}"), f"r{row}"],
            ["SMEMBERS", self.key(bucket, "history")], ["EXEC"]])[-1]
        name = short_name(lock[1:]) if lock and lock[0] == "4" else None
        return value and int(value), dict.fromkeys(commits, True), name and (name, self.buckets_of[name])

    def state_of(self, bucket):
        redis, state = self.redis(bucket), Bucket(())
        state.rows = self.rows(bucket)
        state.commits = dict.fromkeys(redis("SMEMBERS", self.key(bucket, "history")), True)
        state.prepared = {name: Record(buckets, None, {}) for name, buckets in self.named(redis("HKEYS", self.key(bucket, "redquel:prepared"))).items()}
        state.applied = {name: Entry(0, buckets, self.now)
                         for name, buckets in self.named(redis("ZRANGE", self.key(bucket, "redquel:applied"), "0", "-1")).items()}
        return state


def test_commits_are_whole_on_real_nodes(make_redis, build):
    nodes = Nodes(make_redis)
    assert len({nodes.node_of(f"{{{tag}}}") for tag in TAGS}) == 3
    restarts = commits = 0
    for seed in range(25):
        run = Run(seed, frozenset(["wait"]), Faults(crashes=3, stalls=1, loss=.06), KINDS, 4,
                  make_cluster=lambda *arguments, **options: RealCluster(nodes, build, *arguments, **options))
        run.cluster.has_many_rows = seed % 2 > 0
        try:
            run.run()
        except Broken as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        restarts += run.cluster.restarts
        commits += sum(record.result == "committed" for record in run.commits.values())
        for bucket in range(4):
            redis = run.cluster.redis(bucket)
            left = {key for key in redis("KEYS", run.cluster.key(bucket, "redquel:*"))}
            assert run.cluster.key(bucket, "redquel:prepared") not in left
            assert run.cluster.key(bucket, f"redquel:locks:{TABLE}") not in left
            assert not [key for key in left if "redquel:process:" in key]
    assert restarts > 0 and commits > 50


def prepared_bucket(make_redis, build, **options):
    """Returns a cluster with two accounts, and the words of a transfer between them."""
    import random
    nodes = Nodes(make_redis)
    cluster = RealCluster(nodes, build, random.Random(1), frozenset())
    for bucket in (0, 1):
        state = Bucket(())
        state.rows = {"a": 100}
        cluster.fill(bucket, state)
    return cluster


def transfer_part(amount, expected=None):
    return Part({"a": EXCLUSIVE}, [] if expected is None else [("row", "a", expected)], [("add", "a", amount)])


def test_scripts_wait_while_a_slot_moves(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    source, target = cluster.redis(0), cluster.nodes.connections[1]
    slot = str(slot_of(cluster.key(0, "")))
    for _ in range(2):
        source_id, target_id = source("CLUSTER", "MYID"), target("CLUSTER", "MYID")
        assert cluster.run_prepare(0, "first", "", (0, 1), transfer_part(-1)) == "prepared"
        assert target("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id) == "OK"
        assert source("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id) == "OK"
        for script in ("apply", "fence", "abort", "status"):
            assert refusal(lambda script=script: cluster.run(0, script, "first")).startswith("TRYAGAIN")
        assert refusal(lambda: cluster.run_prepare(0, "second", "", (0, 1), transfer_part(-1))).startswith("TRYAGAIN")
        source("CLUSTER", "SETSLOT", slot, "STABLE")
        target("CLUSTER", "SETSLOT", slot, "STABLE")
    source("SET", cluster.key(0, "redquel:moving"), "to another node")
    assert refusal(lambda: cluster.run(0, "apply", "first")).startswith("TRYAGAIN")
    source("DEL", cluster.key(0, "redquel:moving"))
    assert cluster.run(0, "apply", "first") == "applied"
    assert cluster.rows(0) == {"a": 99}


def refusal(call):
    try:
        return f"no error, but {call()}"
    except RedisError as error:
        return str(error)


def test_a_refused_prepare_leaves_no_part(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    redis = cluster.redis(0)
    before = sorted(redis("KEYS", "*"))
    for cluster.has_many_rows, refused in ((False, "stop"), (True, "found")):
        assert cluster.run_prepare(0, "first", "", (0, 1), transfer_part(-1, expected=7)) == refused
        assert sorted(redis("KEYS", "*")) == before
    assert cluster.run_prepare(0, "first", "", (0, 1), transfer_part(-1, expected=100)) == "prepared"
    assert cluster.run_prepare(0, "second", "", (0, 1), transfer_part(-1)) == "stop"
    assert cluster.run(0, "abort", "first") == "aborted"
    assert cluster.run_prepare(0, "first", "", (0, 1), transfer_part(-1)) == "aborted"
    assert redis("EXISTS", cluster.key(0, f"redquel:locks:{TABLE}")) == 0
    assert cluster.run(0, "apply", "first") == "unknown" and cluster.rows(0) == {"a": 100}


def test_a_transaction_gives_its_locks_to_the_commit(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    redis, session, locks = cluster.redis(0), "0123456789abcdef.1.77", cluster.key(0, f"redquel:locks:{TABLE}")
    other = "89abcdef01234567.5.8"
    redis("SET", cluster.key(0, "redquel:process:89abcdef01234567"), "1")
    assert cluster.prepare(0, "first", transfer_part(-1), session) == "stop"
    redis("SET", cluster.key(0, "redquel:process:0123456789abcdef"), "1")
    assert cluster.prepare(0, "first", transfer_part(-1), session) == "stop"
    redis("HSET", locks, "ra", f"3{session}")
    assert cluster.prepare(0, "first", transfer_part(-1), session) == "prepared"
    assert redis("HGET", locks, "ra") == f"3{full_name('first')}"
    assert redis(*cluster.script(0, "abort_commit", (), [full_name("first"), "goes on"])) == "aborted"
    assert redis("HGET", locks, "ra") == f"3{session}"
    redis("HSET", locks, "ra", f"1{other} 3{session}")  # a key share lock beside it
    assert cluster.prepare(0, "second", transfer_part(-1), session) == "prepared"
    assert redis("HGET", locks, "ra") == f"1{other} 3{full_name('second')}"
    redis("DEL", cluster.key(0, "redquel:process:0123456789abcdef"))  # the lock outlives its session
    assert cluster.run_prepare(0, "third", "", (0, 1), transfer_part(-1)) == "stop"
    assert cluster.run(0, "apply", "second") == "applied"
    assert cluster.rows(0) == {"a": 99} and redis("HGETALL", locks) == ["ra", f"1{other}"]


def test_a_program_that_stops_changes_nothing_and_says_so(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    redis, counter = cluster.redis(0), cluster.key(0, f"redquel:changes:{TABLE}")
    locks, living = cluster.key(0, f"redquel:locks:{TABLE}"), cluster.key(0, "redquel:process:0123456789abcdef")

    def answer(name, part=transfer_part(-1, expected=100)):
        return redis(*cluster.script(0, "prepare_commit", (), program(TAGS[0], name, part)))[0]
    redis("SET", living, "1")
    before = sorted(redis("KEYS", "*"))
    assert answer("first", transfer_part(-1, expected=7)) == "stop"
    for undo, *words in [(("HDEL", locks, "t"), "HSET", locks, "t", "50123456789abcdef.1.7"), (("HDEL", locks, "ra"), "HSET", locks, "ra", "10123456789abcdef.1.7"),
                         (("DEL", counter), "SET", counter, "no number"),
                         (("HSET", cluster.key(0, "redquel:versions"), TABLE, VERSION), "HSET", cluster.key(0, "redquel:versions"), TABLE, "v2")]:
        redis(*words)
        assert answer("first") == "stop", words
        redis(*undo)
        assert sorted(redis("KEYS", "*")) == before, words
    redis("HSET", counter, "of another", "type")
    assert refusal(lambda: answer("first")).startswith("WRONGTYPE")
    redis("DEL", counter)
    redis("HSET", locks, "ra", "4fedcba9876543210.1.7")  # of a process that has ended
    assert answer("first") == "prepared"
    assert answer("first") == "prepared"  # its answer was lost
    assert answer("second") == "stop"
    assert cluster.run(0, "apply", "first") == "applied" and cluster.rows(0) == {"a": 99}
    assert answer("first") == "prepared"
    assert cluster.run(0, "fence", "third") == "aborted"
    assert answer("third") == "aborted"
    assert redis("EXISTS", locks) == 0
    assert sorted(redis("SMEMBERS", cluster.key(0, "history"))) == ["first"] and redis("GET", counter) == "1"


def test_a_commit_of_an_older_redquel_is_left_to_it(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    redis, prepared = cluster.redis(0), cluster.key(0, "redquel:prepared")
    record = b"\x97" + packed(["0", ""]) + b"\xc2\x90\x90\xc2\x90\xa0"  # {"…", false, {}, {}, false, {}, ""}
    redis("HSET", prepared, full_name("old"), record)
    for script in ("apply", "abort"):
        assert "an older redquel has prepared a commit" in refusal(lambda script=script: cluster.run(0, script, "old"))
    assert redis("HLEN", prepared) == 1


def test_rows_do_not_expire_between_prepare_and_apply(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    redis, row = cluster.redis(0), cluster.key(0, "account:a")
    redis("PEXPIREAT", row, str(int(time.time() * 1000) + 3_600_000))
    due = redis("PEXPIRETIME", row)
    assert cluster.run_prepare(0, "first", "", (0, 1), transfer_part(-1)) == "prepared"
    assert redis("PTTL", row) == -1
    assert cluster.run(0, "abort", "first") == "aborted" and redis("PEXPIRETIME", row) == due
    assert cluster.run_prepare(0, "second", "", (0, 1), transfer_part(-1)) == "prepared"
    assert cluster.run(0, "apply", "second") == "applied"
    assert redis("PEXPIRETIME", row) == due and cluster.rows(0) == {"a": 99}


def test_an_application_that_ignores_locks_does_not_stop_half_of_a_commit(make_redis, build):
    cluster = prepared_bucket(make_redis, build)
    for bucket, amount in ((0, -1), (1, 1)):
        assert cluster.run_prepare(bucket, "first", "", (0, 1), transfer_part(amount, expected=100)) == "prepared"
    cluster.redis(1)("HSET", cluster.key(1, "account:a"), "balance", "50")
    assert [cluster.run(bucket, "apply", "first") for bucket in (0, 1)] == ["applied", "applied"]
    assert [cluster.rows(bucket) for bucket in (0, 1)] == [{"a": 99}, {"a": 51}]
