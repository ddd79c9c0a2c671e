"""Each part of the protocol that keeps copies in memory exact, and what its absence does: builds with assertions leave out the part that
REDQUEL_MEMORY_WITHOUT names, and then the same steps must give a wrong answer.

Three rules have no test here. The fence is a write of redquel's own and not a PING, and its message counts only behind its reply: Redis 7 puts the messages of
a turn on the keeper's connection before it acknowledges the writes of that turn. So the absence of these rules shows in what Redis executes, and not in
what clients see. Servers with threads for output may acknowledge a write first. The fence reads the versions of the tables: the reads of changed rows notice
another version, too."""
import dataclasses
import threading
import time
import typing

from harness.memory import served, start
from harness.proxy import COMMANDS, REPLIES, Proxy
from harness.waiting import wait_for

COUNT = "SELECT count(*), sum(n) FROM t WHERE a <> ''"


@dataclasses.dataclass
class Scene:
    """A table t that two redquels keep in memory, both behind one proxy. `raw`: a connection to Redis."""
    proxy: Proxy
    raw: typing.Any
    servers: list
    connection: typing.Any  # to the first redquel, which answers
    others: list

    def meanwhile(self, action):
        """Runs the action while the copy answers."""
        thread = threading.Thread(target=action)
        thread.start()
        self.others.append(thread)

    def wait_until_held(self, direction):
        wait_for(lambda: self.proxy.holds(direction), what="a piece that the proxy holds", pause=0.01)


def has_assertions(build):
    with open(f"{build}/CMakeCache.txt") as file:
        return "CMAKE_BUILD_TYPE:STRING=Debug" in file.read()


def answers(make_redis, make_server, without, rows, steps):
    """What the copy answers after the steps, and what Redis says."""
    proxy, servers = start(make_redis, make_server, 2, through=Proxy, environment={"REDQUEL_MEMORY_WITHOUT": without})
    with servers[0].connect() as connection, proxy.connect() as raw:
        connection.run(f"CREATE TABLE t (id int PRIMARY KEY, n int, a text) WITH (cache = on); INSERT INTO t SELECT i, i, 'a' || i % 3 FROM generate_series(1, {rows}) i")
        served(connection, COUNT)
        scene = Scene(proxy, raw, servers, connection, [])
        steps(scene)
        seen = connection.run(COUNT)
        for direction in (COMMANDS, REPLIES):
            proxy.let_go(direction)
        for thread in scene.others:
            thread.join()
        connection.run("SET redquel.cache = off")
        return seen, connection.run(COUNT)


def check(make_redis, make_server, build, part, steps, rows=500):
    seen, true = answers(make_redis, make_server, "", rows, steps)
    assert seen == true, (seen, true)
    seen, true = answers(make_redis, make_server, part, rows, steps)
    assert (seen != true) == has_assertions(build), (seen, true)


def test_messages_about_keys(make_redis, make_server, build):
    check(make_redis, make_server, build, "keys", lambda scene: scene.raw("HSET", "t:7", "n", "100000"))


def test_times_of_expiry(make_redis, make_server, build):
    """Redis names no key whose time is over until it finds it."""
    def steps(scene):
        raw, connection = scene.raw, scene.connection
        raw("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        raw("PEXPIRE", "t:9", "400")
        connection.run(COUNT)
        time.sleep(0.5)
    check(make_redis, make_server, build, "expiry", steps)


def test_the_zset_of_all_rows(make_redis, make_server, build):
    """Another program changes which rows there are, without the counter of redquel's changes."""
    check(make_redis, make_server, build, "members", lambda scene: scene.raw.pipeline([("ZREM", "t:zset", "10"), ("ZADD", "t:zset", "9999", "9999")]))


def test_rows_that_another_program_writes_in_two_steps(make_redis, make_server, build):
    """Redquel's own write explains why the zset has changed; the halves of rows that were read before are read again nevertheless."""
    def steps(scene):
        raw, connection = scene.raw, scene.connection
        raw("COPY", "t:7", "t:900")
        raw("DEL", "t:8")
        connection.run(COUNT)  # now 900 is a row that is no member, and 8 a member without a row
        connection.run("INSERT INTO t VALUES (901, 1, 'mine')")
        raw("ZADD", "t:zset", "900", "900")
        raw("ZREM", "t:zset", "8")
    check(make_redis, make_server, build, "halves", steps)


def test_the_value_of_the_fence(make_redis, make_server, build):
    """Two databases with the same definitions, and a fence's key in both: only its value shows that they were swapped."""
    def steps(scene):
        raw, connection = scene.raw, scene.connection
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


def test_the_fence(make_redis, make_server, build):
    """A message that is late: without a fence nothing shows that it is still to come."""
    def steps(scene):
        scene.proxy.hold(REPLIES, marker=b"invalidate")
        scene.raw("HSET", "t:7", "n", "100000")
        scene.wait_until_held(REPLIES)
    check(make_redis, make_server, build, "fence", steps)


def test_rows_that_are_read_while_databases_are_swapped(make_redis, make_server, build):
    """The databases are swapped back before the next fence: only the rows' own read shows that they were another database's."""
    def steps(scene):
        raw, proxy = scene.raw, scene.proxy
        for key in raw("KEYS", "*"):
            if "fence" not in key:
                raw("COPY", key, key, "DB", "1")
        raw("SELECT", "1")
        raw("HSET", "t:11", "n", "500000")
        raw("SELECT", "0")
        served(scene.connection, COUNT)  # what was named meanwhile is read again
        raw("HSET", "t:11", "n", "12")
        # The row as a MULTI reads it. The keeper's own MULTI has no HMGET.
        proxy.hold(COMMANDS, marker=b"HMGET\r\n$4\r\nt:11\r\n")

        def swap():
            scene.wait_until_held(COMMANDS)
            raw("SWAPDB", "0", "1")
            proxy.hold(REPLIES, marker=b"500000\r\n")
            proxy.let_go(COMMANDS)
            scene.wait_until_held(REPLIES)
            raw("SWAPDB", "0", "1")
            proxy.let_go(REPLIES)
        scene.meanwhile(swap)
    check(make_redis, make_server, build, "fill", steps)


def test_a_table_that_a_statement_of_many_rows_has_for_itself(make_redis, make_server):
    """A statement that writes more rows than one script begins while changed rows are read again. No answer shows its half."""
    def steps(scene):
        proxy = scene.proxy
        scene.raw("HSET", "t:11", "n", "1234567")
        proxy.hold(REPLIES, marker=b"1234567\r\n")

        def update():
            scene.wait_until_held(REPLIES)
            proxy.hold(COMMANDS, marker=b"1004500\r\n")
            scene.meanwhile(let_go)
            with scene.servers[1].connect() as writer:
                writer.run("UPDATE t SET n = n + 1000000 WHERE id > 100")

        def let_go():
            scene.wait_until_held(COMMANDS)
            proxy.let_go(REPLIES)
            time.sleep(2)
            proxy.let_go(COMMANDS)
        scene.meanwhile(update)
    seen, true = answers(make_redis, make_server, "", 5000, steps)
    assert seen == true, (seen, true)
