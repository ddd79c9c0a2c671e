"""Each part of the protocol that keeps copies in memory exact, and what its absence does: builds with assertions leave out the part that
REDQUEL_MEMORY_WITHOUT names, and then the same steps must give a wrong answer."""
import time

from harness.memory import served, start

COUNT = "SELECT count(*), sum(n) FROM t WHERE a <> ''"


def has_assertions(build):
    with open(f"{build}/CMakeCache.txt") as file:
        return "CMAKE_BUILD_TYPE:STRING=Debug" in file.read()


def answers(make_redis, make_server, without, steps):
    """What the copy answers after the steps, and what Redis says."""
    redis, (server,) = start(make_redis, make_server, 1, environment={"REDQUEL_MEMORY_WITHOUT": without})
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, n int, a text) WITH (cache = on); INSERT INTO t SELECT i, i, 'a' || i % 3 FROM generate_series(1, 500) i")
        served(connection, COUNT)
        steps(raw, connection)
        seen = connection.run(COUNT)
        connection.run("SET redquel.cache = off")
        return seen, connection.run(COUNT)


def check(make_redis, make_server, build, part, steps):
    seen, true = answers(make_redis, make_server, "", steps)
    assert seen == true, (seen, true)
    seen, true = answers(make_redis, make_server, part, steps)
    assert (seen != true) == has_assertions(build), (seen, true)


def test_messages_about_keys(make_redis, make_server, build):
    check(make_redis, make_server, build, "keys", lambda raw, _: raw("HSET", "t:7", "n", "100000"))


def test_times_of_expiry(make_redis, make_server, build):
    """Redis names no key whose time is over until it finds it."""
    def steps(raw, connection):
        raw("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        raw("PEXPIRE", "t:9", "400")
        connection.run(COUNT)
        time.sleep(0.5)
    check(make_redis, make_server, build, "expiry", steps)


def test_the_zset_of_all_rows(make_redis, make_server, build):
    """Another program changes which rows there are, without the counter of redquel's changes."""
    check(make_redis, make_server, build, "members", lambda raw, _: raw.pipeline([("ZREM", "t:zset", "10"), ("ZADD", "t:zset", "9999", "9999")]))


def test_rows_that_another_program_writes_in_two_steps(make_redis, make_server, build):
    """Redquel's own write explains why the zset has changed; the halves of rows that were read before are read again nevertheless."""
    def steps(raw, connection):
        raw("COPY", "t:7", "t:900")
        raw("DEL", "t:8")
        connection.run(COUNT)  # now 900 is a row that is no member, and 8 a member without a row
        connection.run("INSERT INTO t VALUES (901, 1, 'mine')")
        raw("ZADD", "t:zset", "900", "900")
        raw("ZREM", "t:zset", "8")
    check(make_redis, make_server, build, "halves", steps)


def test_the_value_of_the_fence(make_redis, make_server, build):
    """Two databases with the same definitions, and a fence's key in both: only its value shows that they were swapped."""
    def steps(raw, connection):
        for key in raw("KEYS", "*"):
            raw("COPY", key, key, "DB", "1")
        fence = next(key for key in raw("KEYS", "*") if "fence" in key)
        raw("SELECT", "1")
        raw("SET", fence, "another value")
        raw("HSET", "t:11", "n", "500000")
        raw("SELECT", "0")
        served(connection, COUNT)  # what was named meanwhile is read again
        raw("SWAPDB", "0", "1")
    check(make_redis, make_server, build, "database", steps)
