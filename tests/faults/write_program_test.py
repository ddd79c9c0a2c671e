"""Programs of guarded steps (executor/scripts/steps/write_steps.lua): what each step needs, what it does, and that a program which one of its steps
stops leaves everything as it was."""
from harness.resp import RedisError

LEASE = "redquel:process:0123456789abcdef"
OWNER = "0123456789abcdef.1.2"
STATE = [("HSET", "redquel:versions", "16384", "v1"), ("SET", "redquel:version", "c1"), ("SET", LEASE, "1"), ("SET", "changes", "7"),
         ("HSET", "emp:1", "ename", "ann", "dept", "7", "n", "5"), ("SADD", "emp:indices:dept", "7"), ("SADD", "emp:indices:dept:7", "1"),
         ("ZADD", "emp:zset", "1", "1"), ("ZADD", "emp:zset:dept", "7", "1"), ("HSET", "emp:uniques:email", "ann@x", "1"),
         ("HSET", "locks", "r1", "4" + OWNER), ("HSET", "token", "3", "9 committed"), ("XADD", "stream", "5-1", "a", "b"), ("SET", "text", "t"),
         ("SADD", "names", "emp:indices:dept:7"), ("HSET", "entries", "emp:1", "dept")]
WRONG = [("SET", "odd", "a text")]


def step(name, *words):
    """A step with a list: its words are counted."""
    return [name, str(len(words)), *words]


TAKE = step("take", "emp:1", "ename", "dept", "none")

# Guards that hold, each with one that does not.
GUARDS = [
    (["version", "16384", "v1"], ["version", "16384", "v2"]),
    (["version", "16384", "v1"], ["version", "16385", "v1"]),
    (step("free", "locks", "r2"), step("free", "locks", "r1")),
    (step("free", "no locks", "r1"), step("free", "locks", "r2", "r1")),
    (step("row", "emp:1", "ename", "dept", "none", "ann", "\0+", "\0"), step("row", "emp:1", "ename", "dept", "ann", "8")),
    (step("row", "emp:1", "none", "\0"), step("row", "emp:1", "ename", "\0")),
    (step("row", "emp:1", "ename", "\0+"), step("row", "emp:2", "ename", "\0+")),
    (["absent", "emp:2"], ["absent", "emp:1"]),
    (["lease", LEASE], ["lease", "redquel:process:none"]),
    (step("held", "locks", OWNER, "r1"), step("held", "locks", "other.1.2", "r1")),
    (step("held", "locks", OWNER, "r1"), step("held", "locks", OWNER, "r1", "r2")),
    (["token", "token", "3", "10"], ["token", "token", "3", "9"]),
    (["parent", "emp:1"], ["parent", "emp:2"]),
    (["parent_value", "emp:uniques:email", "ann@x"], ["parent_value", "emp:uniques:email", "bob@x"]),
    (["no_children", "emp:indices:dept:8"], ["no_children", "emp:indices:dept:7"]),
    (["kind", "emp:1", "hash"], ["kind", "emp:1", "set"]),
    (step("fields", "emp:1", "+3:ann-", "ename", "none"), step("fields", "emp:1", "+3:bob-", "ename", "none")),
    (step("fields", "emp:2", "-", "ename"), step("fields", "text", "-", "ename")),
    (step("reply", "t", "GET", "text"), step("reply", "u", "GET", "text")),
    (step("reply", "1", "SISMEMBER", "emp:indices:dept:7", "1"), step("reply", "t", "GET", "emp:1")),
    (step("nothing", "GET", "none"), step("nothing", "GET", "text")),
    (step("nothing", "HGET", "emp:1", "none"), step("nothing", "HGET", "text", "none")),
    (["stream", "stream", "5-2"], ["stream", "stream", "5-1"]),
    (["stream", "stream", "5-*"], ["stream", "stream", "4-9"]),
    (step("take", "emp:1", "ename", "dept"), step("take", "emp:2", "ename", "dept")),
    (["catalog", "c1"], ["catalog", "c2"]),
    (step("respect", "locks", OWNER, "4", "r1"), step("respect", "locks", "", "4", "r1")),
    (step("respect", "locks", "", "4", "r2"), step("respect", "locks", "other.1.2", "1", "r1")),
    (["counter", "changes"], ["counter", "text"]),
]

# Effects, each with the commands that do the same, and with a form of it that is stopped or refused.
EFFECTS = [
    (["count", "changes"], [("INCR", "changes")], ["count", "text"]),
    (["set+", "emp:indices:dept", "8", "2"], [("SADD", "emp:indices:dept:8", "2"), ("SADD", "emp:indices:dept", "8")], ["set+", "odd", "8", "2"]),
    (["set-", "emp:indices:dept", "7", "1"], [("SREM", "emp:indices:dept:7", "1"), ("SREM", "emp:indices:dept", "7")], ["set-", "odd", "8", "2"]),
    (["score+", "emp:zset", "2", "2"], [("ZADD", "emp:zset", "2", "2")], ["score+", "odd", "2", "2"]),
    (["score-", "emp:zset", "1"], [("ZREM", "emp:zset", "1")], ["score-", "odd", "1"]),
    (step("hset", "emp:2", "ename", "bob"), [("HSET", "emp:2", "ename", "bob")], None),
    (step("hdel", "emp:1", "dept", "n"), [("HDEL", "emp:1", "dept", "n")], None),
    (["claim", "emp:uniques:email", "bob@x", "2"], [("HSET", "emp:uniques:email", "bob@x", "2")], ["claim", "emp:uniques:email", "ann@x", "2"]),
    (["claim", "emp:uniques:email", "ann@x", "1"], [], ["claim", "odd", "ann@x", "2"]),
    (["inherit", "emp:uniques:email", "ann@x", "2", "1"], [("HSET", "emp:uniques:email", "ann@x", "2")], ["inherit", "emp:uniques:email", "ann@x", "2", "3"]),
    (["release", "emp:uniques:email", "ann@x", "1"], [("HDEL", "emp:uniques:email", "ann@x")], ["release", "odd", "ann@x", "1"]),
    (["release", "emp:uniques:email", "ann@x", "2"], [], None),
    (["hincr", "emp:1", "n", "3", "10"], [("HINCRBY", "emp:1", "n", "3")], ["hincr", "emp:1", "n", "6", "10"]),
    (["hincr", "emp:1", "n", "-15", "10"], [("HINCRBY", "emp:1", "n", "-15")], ["hincr", "emp:1", "ename", "1", "10"]),
    (["drop", "emp:1"], [("DEL", "emp:1")], None),
    (["member+", "emp:indices:dept:%N", "2"], [("SADD", "emp:indices:dept:%N", "2")], ["member+", "odd", "2"]),
    (["member-", "emp:indices:dept:7", "1"], [("SREM", "emp:indices:dept:7", "1")], ["member-", "odd", "2"]),
    ([*["score-", "emp:zset:dept", "1"], *["emptied", "emp:zset:dept", "emp:indices:dept", "7"]],
     [("ZREM", "emp:zset:dept", "1"), ("SREM", "emp:indices:dept", "7")], ["emptied", "emp:zset", "odd", "7"]),
    (["emptied", "emp:zset", "emp:indices:dept", "7"], [], None),
    (["committed", "token", "4", "11"], [("HSET", "token", "4", "11 committed")], None),
    (step("run", "APPEND", "text", "u"), [("APPEND", "text", "u")], None),
    ([*TAKE, "move", "emp:indices:dept", "8", "1", "2"],
     [("SREM", "emp:indices:dept:7", "1"), ("SREM", "emp:indices:dept", "7"), ("SADD", "emp:indices:dept:8", "1"), ("SADD", "emp:indices:dept", "8")],
     [*TAKE, "move", "emp:indices:dept", "8", "1", "1"]),
    ([*TAKE, "move", "emp:indices:dept", "\0", "1", "2"], [("SREM", "emp:indices:dept:7", "1"), ("SREM", "emp:indices:dept", "7")],
     [*TAKE, "move", "odd", "8", "1", "2"]),
    ([*TAKE, "move", "odd", "7", "1", "2"], [], None),
    ([*TAKE, "move", "emp:indices:dept", "8", "1", "3"], [("SADD", "emp:indices:dept:8", "1"), ("SADD", "emp:indices:dept", "8")], None),
    ([*TAKE, "rescore", "emp:zset:dept", "8", "1", "2", "8"], [("ZADD", "emp:zset:dept", "8", "1")], [*TAKE, "rescore", "odd", "8", "1", "2", "8"]),
    ([*TAKE, "rescore", "emp:zset:dept", "", "1", "2", "\0"], [("ZREM", "emp:zset:dept", "1")], None),
    ([*TAKE, "rescore", "odd", "7", "1", "2", "7"], [], None),
    ([*TAKE, "mark", "emp:indices:dept:%N", "1", "2", "\0"], [("SADD", "emp:indices:dept:%N", "1")], [*TAKE, "mark", "odd", "1", "2", "\0"]),
    ([*TAKE, "mark", "emp:indices:dept:7", "1", "3", "4"], [("SREM", "emp:indices:dept:7", "1")], None),
    ([*TAKE, "mark", "odd", "1", "2", "8"], [], None),
    (["forget_sets", "names", "1"], [("SREM", "emp:indices:dept:7", "1")], None),
    (["forget_fields", "entries"], [("HDEL", "emp:1", "dept")], None),
]


def content(redis):
    reads = {"hash": lambda key: sorted(zip(*[iter(redis("HGETALL", key))] * 2)), "set": lambda key: sorted(redis("SMEMBERS", key)),
             "zset": lambda key: redis("ZRANGE", key, "0", "-1", "WITHSCORES"), "string": lambda key: redis("GET", key),
             "stream": lambda key: redis("XRANGE", key, "-", "+")}
    return {key: reads[redis("TYPE", key)](key) for key in sorted(redis("KEYS", "*"))}


class Programs:
    def __init__(self, make_redis, build):
        self.redis = make_redis().connect()
        with open(f"{build}/generated/lua_scripts.cc", encoding="utf-8") as file:
            self.text = file.read().split('Script("write", Script::Text{R"lua(', 1)[1].split(')lua"', 1)[0]
        self.sha1 = self.redis("SCRIPT", "LOAD", self.text)

    def fill(self, *more):
        self.redis("FLUSHDB")
        for words in (*STATE, *WRONG, *more):
            self.redis(*words)

    def run(self, words):
        """The first word of the answer; an error as its first word."""
        try:
            return self.redis("EVALSHA", self.sha1, "0", *words)[0]
        except RedisError as error:
            return str(error).split()[0]


WRITES = ["count", "changes", *step("hset", "emp:9", "ename", "x"), "set+", "emp:indices:dept", "9", "9", "score+", "emp:zset", "9", "9", "claim",
          "emp:uniques:email", "nine", "9", "drop", "emp:1"]


def test_a_guard_that_does_not_hold_stops_the_program_and_nothing_has_changed(make_redis, build):
    programs = Programs(make_redis, build)
    for holds, fails in GUARDS:
        programs.fill(("SET", "due", "x", "EX", "1000"))
        before = content(programs.redis)
        assert programs.run([*fails, *WRITES]) in ("stop", "WRONGTYPE"), fails
        assert programs.run(["parent", LEASE, *fails, *WRITES]) in ("stop", "WRONGTYPE"), fails
        assert content(programs.redis) == before, fails
        assert programs.run([*holds, *WRITES]) == "applied", holds
        assert programs.redis("HGET", "emp:9", "ename") == "x" and programs.redis("EXISTS", "emp:1") == 0


def test_an_effect_does_what_its_commands_do_or_nothing(make_redis, build):
    programs = Programs(make_redis, build)
    for works, commands, fails in EFFECTS:
        programs.fill()
        before = content(programs.redis)
        if fails is not None:
            # The counter alone is looked at when it is written: it is the first effect of every program.
            words = [*fails, "drop", "text"] if fails[0] == "count" else ["count", "changes", "drop", "emp:zset:dept", *fails]
            assert programs.run(words) in ("stop", "WRONGTYPE"), fails
            assert content(programs.redis) == before, fails
        for command in commands:
            programs.redis(*command)
        expected = content(programs.redis)
        programs.fill()
        assert programs.run(works) == "applied", works
        assert content(programs.redis) == expected, works


def test_words_that_are_no_program_change_nothing(make_redis, build):
    programs = Programs(make_redis, build)
    programs.fill()
    before = content(programs.redis)
    for words in (["drop", "emp:1", "what"], ["drop", "emp:1", "free", "many", "locks"]):
        assert programs.run(words) not in ("applied", "stop"), words
        assert content(programs.redis) == before, words


def test_a_program_with_a_token_is_applied_once(make_redis, build):
    programs = Programs(make_redis, build)
    programs.fill()
    program = ["token", "token", "3", "10", "count", "changes", "hincr", "emp:1", "n", "1", "100", "committed", "token", "3", "10"]
    assert programs.run(program) == "applied"
    after = content(programs.redis)
    assert programs.run(program) == "stop"  # its answer was lost
    assert content(programs.redis) == after and programs.redis("HGET", "emp:1", "n") == "6"


def test_steps_follow_their_logical_databases(make_redis, build):
    programs = Programs(make_redis, build)
    programs.fill()
    other = [*step("run", "SET", "elsewhere", "1")]
    program = ["look_in", "3", *step("nothing", "GET", "elsewhere"), "write_in", "0", "count", "changes", "write_in", "3", *other, "write_in", "0"]
    assert programs.run(program) == "applied"
    assert programs.redis("GET", "changes") == "8" and programs.redis("EXISTS", "elsewhere") == 0
    programs.redis("SELECT", "3")
    assert programs.redis("GET", "elsewhere") == "1"
    programs.redis("SELECT", "0")
    assert programs.run(program) == "stop"
    assert programs.redis("GET", "changes") == "8"
