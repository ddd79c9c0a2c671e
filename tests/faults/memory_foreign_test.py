"""Foreign tables kept in memory while other programs write their keys: each statement sees what was written before it.

Each witness owns some keys of every layout, which it alone changes, by commands of Redis and by SQL. After each change it reads the rows of its keys by a
condition that no key answers, and compares them with what Redis has."""
import os
import random as chance
import threading
import time

from harness.memory import hits, served, start
from harness.waiting import wait_for

SLOW = True
LIMIT = 3600 * 3
SECONDS = float(os.environ.get("MEMORY_SECONDS", "8"))
WITNESSES = 3
KEYS = 4  # of each witness and layout

TABLES = """
CREATE FOREIGN TABLE h (id int, a text, n bigint) SERVER redis OPTIONS (layout 'hash', key 'h:{id}');
CREATE FOREIGN TABLE s (id int, a text, b text) SERVER redis OPTIONS (layout 'strings', key 's:{id}:{*}');
CREATE FOREIGN TABLE g (id int, v text) SERVER redis OPTIONS (layout 'string', key 'g:{id}');
CREATE FOREIGN TABLE m (id int, e text) SERVER redis OPTIONS (layout 'set', key 'm:{id}');
CREATE FOREIGN TABLE z (id int, e text, score float8) SERVER redis OPTIONS (layout 'zset', key 'z:{id}');
CREATE FOREIGN TABLE l (id int, v text, position int) SERVER redis OPTIONS (layout 'list', key 'l:{id}');
CREATE FOREIGN TABLE f (id int, field text, value text) SERVER redis OPTIONS (layout 'hash_fields', key 'f:{id}');
CREATE FOREIGN TABLE x (k int, id text, a text) SERVER redis OPTIONS (layout 'stream', key 'x:{k}')"""


def number(score):
    return str(int(score)) if float(score).is_integer() else str(float(score))


class Witness:
    """Changes keys of its own and looks at them."""

    def __init__(self, place, redis, servers, seed):
        self.place, self.redis, self.servers, self.random = place, redis, servers, chance.Random(seed)
        self.count = self.reads = 0

    def connect(self):
        self.sessions = [server.connect() for server in self.servers]
        for session in self.sessions:
            session.run("SET client_min_messages = warning")
        self.raw = self.redis.connect()

    def close(self):
        for session in self.sessions:
            session.close()
        self.raw.close()

    def ids(self):
        return [self.place + WITNESSES * i for i in range(KEYS)]

    def keys(self, layout, id):
        return [f"s:{id}:a", f"s:{id}:b"] if layout == "s" else [f"{layout}:{id}"]

    def expected(self, layout):
        rows, raw = [], self.raw
        for id in self.ids():
            key = f"{layout}:{id}"
            if layout == "s":
                a, b = raw("GET", f"s:{id}:a"), raw("GET", f"s:{id}:b")
                rows += [[str(id), a, b]] if a is not None or b is not None else []
                continue
            kind = raw("TYPE", key)
            if layout == "h" and kind == "hash":
                rows.append([str(id), *raw("HMGET", key, "a", "n")])
            elif layout == "g" and kind == "string":
                rows.append([str(id), raw("GET", key)])
            elif layout == "m" and kind == "set":
                rows += [[str(id), e] for e in raw("SMEMBERS", key)]
            elif layout == "z" and kind == "zset":
                found = raw("ZRANGE", key, "0", "-1", "WITHSCORES")
                rows += [[str(id), e, number(score)] for e, score in zip(found[::2], found[1::2])]
            elif layout == "l" and kind == "list":
                rows += [[str(id), v, str(i)] for i, v in enumerate(raw("LRANGE", key, "0", "-1"))]
            elif layout == "f" and kind == "hash":
                found = raw("HGETALL", key)
                pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2])
                rows += [[str(id), name, value] for name, value in pairs]
            elif layout == "x" and kind == "stream":
                rows += [[str(id), entry, fields[1]] for entry, fields in raw("XRANGE", key, "-", "+")]
        return sorted(rows, key=str)

    def write(self, layout):
        raw, random, id = self.raw, self.random, self.random.choice(self.ids())
        self.count += 1
        key, value, other = f"{layout}:{id}", f"w{self.place}.{self.count}", f"{layout}:{random.choice(self.ids())}"
        way = random.choice(["change", "change", "change", "change", "delete", "rename", "copy", "expire", "kind", "sql"])
        session = random.choice(self.sessions)
        if way == "delete":
            raw("DEL", *self.keys(layout, id))
        elif way == "rename" and layout != "s" and raw("EXISTS", key):
            raw("RENAME", key, other)
        elif way == "copy" and layout != "s" and key != other:
            raw("COPY", key, other, "REPLACE")
        elif way == "expire":
            at = str(int(time.time() * 1000) + random.choice((2, 5)))
            raw.pipeline([("MULTI",), *[("PEXPIREAT", one, at) for one in self.keys(layout, id)], ("EXEC",)])
            time.sleep(0.012)
        elif way == "kind" and layout not in "sg":
            raw("DEL", key)
            raw("SET", key, "of another kind")
        elif way == "sql" and layout in "hgmzf" and raw("TYPE", key) in ("none", {"h": "hash", "g": "string", "m": "set", "z": "zset", "f": "hash"}[layout]):
            session.run(f"DELETE FROM {layout} WHERE id = {id}")
            session.run({"h": f"INSERT INTO h VALUES ({id}, '{value}', {self.count})", "g": f"INSERT INTO g VALUES ({id}, '{value}')",
                         "m": f"INSERT INTO m VALUES ({id}, '{value}'), ({id}, 'more')", "z": f"INSERT INTO z VALUES ({id}, '{value}', {self.count})",
                         "f": f"INSERT INTO f VALUES ({id}, '{value}', 'v')"}[layout])
        else:
            way = "change"
            if layout not in "sg" and raw("TYPE", key) == "string":
                raw("DEL", key)
            self.change(layout, key, value)
        return way

    def change(self, layout, key, value):
        raw, random = self.raw, self.random
        if layout == "h":
            raw(*random.choice([("HSET", key, "a", value), ("HSET", key, "n", str(self.count)), ("HSET", key, "other", value), ("HDEL", key, "a")]))
        elif layout == "s":
            raw(*random.choice([("SET", f"{key}:a", value), ("SET", f"{key}:b", value), ("MSET", f"{key}:a", value, f"{key}:b", value), ("DEL", f"{key}:a")]))
        elif layout == "g":
            raw("SET", key, value)
        elif layout == "m":
            raw(*random.choice([("SADD", key, value), ("SADD", key, "a", "b", value), ("SPOP", key)]))
        elif layout == "z":
            raw(*random.choice([("ZADD", key, str(self.count), value), ("ZADD", key, "1", "a", str(self.count), "b"), ("ZPOPMIN", key)]))
        elif layout == "l":
            raw(*random.choice([("RPUSH", key, value), ("LPUSH", key, value, value), ("LPOP", key), ("LTRIM", key, "0", "3")]))
        elif layout == "f":
            raw(*random.choice([("HSET", key, value, "v"), ("HSET", key, "a", value, "b", value), ("HDEL", key, "a")]))
        else:
            raw(*random.choice([("XADD", key, "*", "a", value), ("XADD", key, "*", "a", value), ("XTRIM", key, "MAXLEN", "2")]))

    def look(self, layout, way):
        session, column = self.random.choice(self.sessions), "k" if layout == "x" else "id"
        seen = sorted(session.run(f"SELECT * FROM {layout} WHERE {column} % {WITNESSES} = {self.place} AND {column} < 1000"), key=str)
        expected = self.expected(layout)
        assert seen == expected, (layout, way, seen, expected)
        self.reads += 1


def run(redis, servers, random, seconds=SECONDS, disturb=None):
    with servers[0].connect() as connection:
        for statement in TABLES.strip().split(";\n"):
            connection.run(statement)
    with redis.connect() as raw:
        for i in range(1000, 1500):
            raw.pipeline([("HSET", f"h:{i}", "a", "fill", "n", str(i)), ("SADD", f"m:{i}", "a", "b"), ("SET", f"s:{i}:a", "fill"), ("RPUSH", f"l:{i}", "a", "b")])
    witnesses = [Witness(place, redis, servers, random.randrange(1 << 30)) for place in range(WITNESSES)]
    end, failures = time.monotonic() + seconds, []

    def work(witness):
        try:
            witness.connect()
            while time.monotonic() < end and not failures:
                layout = witness.random.choice("hsgmzlfx")
                witness.look(layout, witness.write(layout))
            witness.close()
        except BaseException as failure:  # noqa: BLE001 - raised below
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(witness,)) for witness in witnesses]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if disturb:
            disturb()
        time.sleep(0.01)
    if failures:
        raise failures[0]
    reads, served = sum(witness.reads for witness in witnesses), sum(hits(server) for server in servers)
    assert served > reads / 20, f"of {reads} reads the copies served {served}"


def test_rows_of_every_layout_beside_their_writers(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server)
    run(redis, servers, random)


def test_rows_of_every_layout_beside_lost_connections(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server)
    with redis.connect() as raw:
        def disturb():
            if random.random() < 0.02:
                for line in raw("CLIENT", "LIST").split("\n"):
                    if "flags=" in line and "t" in line.split("flags=")[1].split(" ")[0]:
                        raw("CLIENT", "KILL", "ID", line.split("id=")[1].split(" ")[0])
            elif random.random() < 0.1:
                raw("DEBUG", "SLEEP", "0.003")
        run(redis, servers, random, SECONDS / 2, disturb)


def test_bad_values_in_memory_are_reported_like_bad_values_in_redis(make_redis, make_server):
    redis, (server,) = start(make_redis, make_server, 1)
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE FOREIGN TABLE h (id int, n bigint) SERVER redis OPTIONS (layout 'hash', key 'h:{id}')")
        raw.pipeline([("HSET", f"h:{i}", "n", str(i)) for i in range(10)])
        total = "SELECT sum(n) FROM h"

        def is_served():
            before = hits(server)
            assert connection.run(total) == [["45"]]
            return hits(server) > before
        wait_for(is_served, what="an answer from memory")
        raw("HSET", "h:3", "n", "three")
        error = connection.run_error(total)
        assert error["C"] == "22P02" and "h:3" in error["M"], error
        connection.run("SET redquel.on_bad_value = skip")
        assert connection.run(total) == [["42"]]
        raw("HSET", "h:3", "n", "3")
        assert connection.run(total) == [["45"]]


def test_a_role_with_a_user_mapping_reads_redis(make_redis, make_server):
    redis, (server,) = start(make_redis, make_server, 1)
    with server.connect() as connection, redis.connect() as raw:
        raw("ACL", "SETUSER", "alice", "reset", "on", ">wonder", "~h:1*", *"+@read +@write +@scripting +multi +exec +select +ping +client|setname -@dangerous".split())
        raw.pipeline([("HSET", f"h:{i}", "n", str(i)) for i in range(5)])
        for statement in ("CREATE ROLE alice LOGIN", "CREATE FOREIGN TABLE h (id int, n bigint) SERVER redis OPTIONS (layout 'hash', key 'h:{id}')",
                          "GRANT USAGE ON FOREIGN SERVER redis TO alice", "ALTER FOREIGN TABLE h OWNER TO alice",
                          "CREATE USER MAPPING FOR alice SERVER redis OPTIONS (user 'alice', password 'wonder')"):
            connection.run(statement)
        total = "SELECT sum(n) FROM h"
        wait_for(lambda: connection.run(total) == [["10"]] and hits(server) > 0, what="an answer from memory")
        connection.run("SET ROLE alice")
        before = hits(server)
        error = connection.run_error(total)
        assert error["C"] == "42501", error
        raw("ACL", "SETUSER", "alice", "~h:*")
        assert connection.run(total) == [["10"]]
        assert hits(server) == before


def test_a_large_key_is_read_again_after_each_change(make_redis, make_server):
    redis, (server,) = start(make_redis, make_server, 1)
    count = 70_000  # more rows than a chunk has
    with server.connect() as connection, redis.connect() as raw:
        for first in range(0, count, 1000):
            raw("ZADD", "leaderboard", *(word for i in range(first, first + 1000) for word in (str(i), f"player {i}")))
        connection.run("CREATE FOREIGN TABLE score (name text, score float8) SERVER redis OPTIONS (layout 'zset', key 'leaderboard')")
        query = "SELECT count(name), sum(score) FROM score WHERE name LIKE 'player%'"
        total = count * (count - 1) // 2
        assert served(connection, query) == [[str(count), str(total)]]
        before = hits(server)
        for round in range(3):
            raw("ZINCRBY", "leaderboard", "1000", f"player {round * 30_000}")
            total += 1000
            assert connection.run(query) == [[str(count), str(total)]], round
        raw("ZREM", "leaderboard", "player 0")
        total -= 1000
        assert connection.run(query) == [[str(count - 1), str(total)]]
        assert hits(server) == before + 4
        raw("DEL", "leaderboard")
        assert connection.run(query) == [["0", None]]


def test_overlapping_prefixes(make_redis, make_server):
    """Redis tracks no prefix of a prefix: the tables are kept by a new connection."""
    redis, (server,) = start(make_redis, make_server, 1)
    with server.connect() as connection, redis.connect() as raw:
        for name, key in (("long", "user:post:{id}"), ("short", "user:{id}")):
            connection.run(f"CREATE FOREIGN TABLE {name} (id text, n bigint) SERVER redis OPTIONS (layout 'hash', key '{key}')")
        raw.pipeline([("HSET", f"user:{kind}{i}", "n", str(i)) for i in range(5) for kind in ("", "post:")])
        counts = {"long": "5", "short": "5"}

        def all_are_kept():
            for table, count in counts.items():
                assert connection.run(f"SELECT count(n) FROM {table}") == [[count]], table
            kept = connection.run("SELECT count(*) FROM redquel.cached_tables() WHERE state = 'kept'")
            return kept == [["2"]]
        wait_for(all_are_kept, what="two copies", pause=0.3, seconds=60)
        raw("HSET", "user:post:9", "n", "9")
        raw("HSET", "user:9", "n", "9")
        for table, count in counts.items():
            assert connection.run(f"SELECT count(n) FROM {table}") == [[str(int(count) + 1)]], table
