"""The steps of many rows (executor/scripts/steps), each on a Redis: what it finds, what it does, and that a program which is stopped
changes nothing."""
import os
import re

from harness.resp import RedisError

PROCESS, TOKEN, GONE = "redquel:process:0123456789abcdef", "0123456789abcdef.1.2", "fedcba9876543210.1.2"


class Programs:
    """Runs programs by the script with steps of many rows, or of single rows."""

    def __init__(self, make_redis, build):
        self.redis = make_redis().connect()
        with open(os.path.join(build, "generated", "lua_scripts.cc"), encoding="utf-8") as file:
            text = file.read()
        self.texts = {name: re.search(rf'Script\("{name}", (?:Script::Text\{{)?R"lua\((.*?)\)lua"', text, re.S)[1] for name in ("write", "write_many")}

    def __call__(self, *steps, script="write_many"):
        return self.redis("EVAL", self.texts[script], "0", *(word for step in steps for word in step))

    def content(self):
        return sorted((key, self.redis("DUMP", key)) for key in self.redis("KEYS", "*"))


def many(kind, *words):
    """A step with a list."""
    return [kind, str(len(words)), *words]


def fill(run):
    assert run(many("absents", "a", "b"), ["count", "counter"], many("hsets", "2", "f", "g", "a", "1", "2", "b", "3", "4"),
               many("sets+", "index", "7", "2", "a", "b", "8", "1", "c"), many("scores+", "rows", "1", "a", "2", "b"),
               many("claims", "unique", "v", "a", "w", "b")) == ["applied"]


def test_effects_of_many_rows(make_redis, build):
    run = Programs(make_redis, build)
    redis = run.redis
    fill(run)
    assert sorted(redis("SMEMBERS", "index")) == ["7", "8"] and sorted(redis("SMEMBERS", "index:7")) == ["a", "b"]
    assert run(many("changes", "a", "2", "f", "9", "1", "g", "b", "0", "1", "f"), many("adds", "a", "f", "5", "100"),
               many("sets-", "index", "7", "1", "a", "8", "1", "c"), many("scores-", "rows", "a"), many("releases", "unique", "v", "w", "a", "other"),
               many("members+", "set", "1", "2"), many("members-", "set", "1"), many("owns", "unique", "k", "m"),
               many("emptieds", "set", "no key", "2")) == ["applied"]
    assert redis("HGETALL", "a") == ["f", "14"] and redis("HGETALL", "b") == ["g", "4"]
    assert redis("HGETALL", "unique") == ["w", "b", "k", "m"]
    assert redis("SMEMBERS", "index") == ["7"] and redis("SMEMBERS", "index:7") == ["b"]
    assert redis("EXISTS", "set") == 0 and redis("ZRANGE", "rows", "0", "-1") == ["b"]
    redis("PEXPIRE", "b", "100000")
    assert run(["room", "redquel:none"], many("drops", "a"), many("depart", "b"), many("hsets", "1", "f", "new", "1"), many("arrive", "new"),
               ["journal", "journal", "record"]) == ["applied"]
    assert redis("EXISTS", "a", "b") == 0 and redis("PTTL", "new") > 90000 and redis("LRANGE", "journal", "0", "-1") == ["record"]
    assert run(["unjournal", "journal"]) == ["applied"] and redis("EXISTS", "journal") == 0
    assert run(many("hsets", "1", "f", "e", "1"), many("expire", "due", "entries", "t", "gone", "o", "o", "", "", "new", "e", "e", "60000", "1:e"))
    assert 0 < redis("PTTL", "e") <= 60000 and redis("ZRANGE", "due", "0", "-1") == ["e"] and redis("HGETALL", "entries") == ["e", "1:e"]


def test_guards_of_many_rows_note_all_that_they_find(make_redis, build):
    run = Programs(make_redis, build)
    fill(run)
    before = run.content()
    steps = [many("absents", "a", "x", "b"), many("same_rows", "2", "f", "g", "a", "1", "2", "b", "3", "5"), many("owners", "unique", "v", "w", "a", "z"),
             many("parents", "a", "\0", "q", "\0", "unique", "v", "unique", "n"), many("children", "index:7", "0", "a"),
             many("children", "index:7", "1", "a", "b"), ["count", "counter"], many("claims", "unique", "v", "a", "w", "z")]
    places = [1 + sum(len(step) for step in steps[:number]) for number in range(len(steps))]
    absent, rows, owners, parents, children, more, _, claims = places
    assert run(*steps) == ["found", absent, 0, "", absent, 2, "", rows, 1, "", owners, 1, "b", parents, 1, "", parents, 3, "", children, 0, 1,
                           more, 1, 2, claims, 1, "b"]
    assert run.content() == before


def test_what_stops_a_program_leaves_all_as_it_was(make_redis, build):
    run = Programs(make_redis, build)
    fill(run)
    run.redis("HSET", "redquel:versions", "16384", "5")
    run.redis("SET", "no counter", "x")
    run.redis("HSET", "commits", "slot", "7 fenced")
    run.redis("HSET", "locks", "r1", "4" + TOKEN)
    run.redis("SET", PROCESS, "1")
    before = run.content()
    effects = [["count", "counter"], many("hsets", "1", "f", "c", "1"), many("members+", "index:7", "c")]
    for guard in (["version", "16384", "4"], ["token", "commits", "slot", "7"], ["token", "commits", "slot", "6"], ["lease", "redquel:process:fedcba9876543210"],
                  many("pass", "locks", "", "1", "r1"), many("give", "locks", GONE, "", "r1"), many("lock", "locks", GONE, "3", "r1"), ["still", "counter", "0"],
                  ["counter", "no counter"]):
        assert run(guard, *effects)[:2] == ["stop", 1], guard
        assert run.content() == before
    assert run(["since", "counter", "0"], many("as_read", "a", "f", "2"), *effects)[0] == "stop"
    assert run(["count", "no counter"], *effects)[:2] == ["stop", 1]
    for effect in (many("sets+", "rows", "1", "1", "1"), many("members+", "rows", "1"), many("scores+", "index", "1", "1"), many("owns", "index", "1", "1"),
                   many("claims", "index", "1", "1"), many("releases", "index", "1", "1"), many("emptieds", "rows", "k", "v"), ["journal", "a", "record"]):
        try:
            answer = run(*effects, effect)
        except RedisError as error:
            answer = str(error)
        assert "WRONGTYPE" in answer, effect
    assert run.content() == before


def test_locks_of_many_rows(make_redis, build):
    run = Programs(make_redis, build)
    redis = run.redis
    redis("SET", PROCESS, "1", "PX", "20000")
    redis("HSET", "a", "f", "1")
    redis("HSET", "locks", "r9", "4" + GONE)
    answer = run(["lease", PROCESS], many("lock", "locks", TOKEN, "344", "r1", "r2", "r9"), many("absents", "a"))
    assert answer[0] == "found", "and the locks are taken"
    assert redis("HGETALL", "locks") == ["r9", "4" + TOKEN, "r1", "3" + TOKEN, "r2", "4" + TOKEN]
    assert run(many("pass", "locks", "", "1", "r1")) == ["applied"] and run(many("pass", "locks", "", "3", "r1")) == ["stop", 1, TOKEN, "r1"]
    assert run(many("give", "locks", TOKEN, "", "r1", "r9"), ["count", "counter"]) == ["applied"]
    assert redis("HGETALL", "locks") == ["r2", "4" + TOKEN]
    redis("HSET", "locks", "r2", "4" + GONE)
    assert run(many("pass", "locks", "", "4", "r2"), ["count", "counter"]) == ["applied"] and redis("EXISTS", "locks") == 0
    redis("HSET", "locks", "t", "5" + TOKEN)
    assert run(many("pass", "locks", "", "1", "r1")) == ["stop", 1, TOKEN, "t"]
    assert 0 < redis("PTTL", PROCESS) <= 20000
    assert run(["lease", PROCESS], many("absents", *(str(number) for number in range(5000)))) == ["applied"]
    assert redis("PTTL", PROCESS) > 50000, "a long program makes the lease last longer"


def test_steps_that_mend(make_redis, build):
    run = Programs(make_redis, build)
    redis = run.redis
    fill(run)
    redis("SET", "no zset", "x")
    assert run(many("retypes", "zset", "no zset", "rows", "none")) == ["applied"]
    assert redis("EXISTS", "no zset") == 0 and redis("ZCARD", "rows") == 2
    assert run(["no_hash", "rows"], ["adopt", "unique", "v", "c", "b"], ["adopt", "unique", "w", "c", "b"], ["adopt", "unique", "n", "d", "\0"]) == ["applied"]
    assert redis("HGETALL", "unique") == ["v", "a", "w", "c", "n", "d"], "a value whose owner is another one stays"
    assert run(["no_hash", "a"], ["raise", "counter", "10"]) == ["stop", 1]
    for before, least, after in (("7", "10", "10"), ("11", "10", "11"), ("x", "3", "3"), (None, "4", "4"), ("8", "", "8"), ("-1", "", None), (None, "", None)):
        redis("DEL", "counter")
        if before is not None:
            redis("SET", "counter", before)
        assert run(["raise", "counter", least]) == ["applied"] and redis("GET", "counter") == after, (before, least)


def test_rows_that_move_to_other_keys(make_redis, build):
    run = Programs(make_redis, build)
    redis = run.redis

    def relocate(*rows):
        return run(many("relocate", "new:rows", "id", "new:", "2", "id", "gone", *rows))

    for number in range(1, 4001):
        redis("HSET", f"old:{number}", "id", str(number - 5), "gone", "x", "f", str(number))
    assert relocate(*(f"old:{number}" for number in range(1, 4001)), "no row") == ["applied"]
    assert redis("ZCARD", "new:rows") == 4000 and redis("HGETALL", "new:-4") == ["f", "1"] and redis("ZSCORE", "new:rows", "3995") == "3995"
    for fields, answer in ((("id", "7"), ["twice", "7"]), (("id", "x9"), ["odd", "x9"]), (("id", "05"), ["odd", "05"]), (("f", "1"), ["null"]),
                           (("id", "9001"), ["twice", "9001"]), (("id", "9000"), ["strange", "9000"])):
        redis("SET", "new:9000", "another program's")
        redis("HSET", "one", "id", "9001")
        redis("DEL", "row")
        redis("HSET", "row", *fields)
        before = run.content()
        assert relocate("one", "row") == ["stop", 1, *answer], fields
        assert run.content() == before


def test_lists_of_more_words_than_the_stack_of_lua_has(make_redis, build):
    run = Programs(make_redis, build)
    pairs = [word for number in range(9000) for word in (str(number), str(number))]
    assert run(many("sets+", "n", *(word for number in range(5000) for word in (str(number), "1", "m"))), many("scores+", "z", *pairs),
               many("claims", "u", *pairs), many("hsets", "1", "f", *pairs)) == ["applied"]
    assert [run.redis("SCARD", "n"), run.redis("ZCARD", "z"), run.redis("HLEN", "u")] == [5000, 9000, 9000]
    assert run(many("claims", "u", *pairs[:-1], "other")) == ["found", 1, 8999, "8999"]
    numbers, others = pairs[::2], [number if number not in ("4001", "8999") else "other" for number in pairs[::2]]
    assert run(many("owners", "u", *numbers, *others)) == ["found", 1, 4001, "4001", 1, 8999, "8999"]
    assert run(many("releases", "u", *numbers, *others), many("drops", *numbers)) == ["applied"]
    assert run.redis("HLEN", "u") == 2 and run.redis("EXISTS", "7") == 0
