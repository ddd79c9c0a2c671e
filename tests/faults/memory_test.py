"""Tables kept in memory while programs of every kind write them: what a statement reads is never older than what was acknowledged before it.

Each witness owns some rows, which it alone writes: by SQL of either of two redquels, by commands of Redis, in MULTI, by scripts, by expiry. After
each write it reads its rows by a condition that no index answers, so that the copy answers it, and compares them with what it wrote. Beside
the witnesses Redis stands still for moments, loses connections, flushes and swaps databases.

`MEMORY_SECONDS=3600 MEMORY_WITNESSES=16 tests/run.py --limit 7200 faults -k memory` runs for an hour, with 16 of them, and prints the number of reads."""
import os
import random as chance
import signal
import threading
import time

from harness.memory import hits, served, start
from harness.pgwire import ServerError

SLOW = True
LIMIT = 3600 * 3
SECONDS = float(os.environ.get("MEMORY_SECONDS", "8"))
WITNESSES = int(os.environ.get("MEMORY_WITNESSES", "4"))
ROWS = 12  # of each witness
FILL = 3000  # rows that never change
SET_A = "redis.call('HSET', KEYS[1], 'a', ARGV[1]) return 1"


def make_table(server):
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, owner int NOT NULL, a text, n bigint) WITH (cache = on)")
        connection.run(f"INSERT INTO t SELECT 1000 + i, -1, 'fill' || i % 7, i FROM generate_series(1, {FILL}) i")


class Witness:
    """Writes rows of its own in random ways, and reads them back."""

    def __init__(self, number, redis, servers, seed):
        self.number, self.redis, self.servers = number, redis, servers
        self.random = chance.Random(seed)
        self.rows = {}  # id → (a, n)
        self.count = 0
        self.reads = 0

    def ids(self):
        return range(self.number * ROWS, self.number * ROWS + ROWS)

    def connect(self):
        self.sessions = [server.connect() for server in self.servers]
        self.raw = self.redis.connect()

    def close(self):
        for session in self.sessions:
            session.close()
        self.raw.close()

    def write(self):
        self.count += 1
        value, random = f"w{self.number}.{self.count}", self.random
        there, absent = sorted(self.rows), [id for id in self.ids() if id not in self.rows]
        ways = ["insert"] if absent else []
        ways += ["update", "key", "hset", "script", "multi", "pipeline", "delete", "del", "expire", "clear", "many", "rollback", "transaction", "rename", "copy"] if there else []
        way = random.choice(ways)
        session = random.choice(self.sessions)
        if way == "insert":
            id = random.choice(absent)
            session.run(f"INSERT INTO t VALUES ({id}, {self.number}, '{value}', {self.count})")
            self.rows[id] = (value, str(self.count))
            return way
        id = random.choice(there)
        key, (a, n) = f"t:{id}", self.rows[id]
        if way == "update":
            session.run(f"UPDATE t SET a = '{value}', n = n + 1 WHERE id = {id}")
            self.rows[id] = (value, None if n is None else str(int(n) + 1))
        elif way == "many":
            session.run(f"UPDATE t SET n = {self.count} WHERE owner = {self.number}")
            self.rows = {one: (text, str(self.count)) for one, (text, _) in self.rows.items()}
        elif way == "key" and absent:
            to = random.choice(absent)
            session.run(f"UPDATE t SET id = {to} WHERE id = {id}")
            self.rows[to] = self.rows.pop(id)
        elif way == "hset":
            self.raw("HSET", key, "a", value)
            self.rows[id] = (value, n)
        elif way == "script":
            self.raw("EVAL", SET_A, "1", key, value)
            self.rows[id] = (value, n)
        elif way == "multi":
            self.raw.pipeline([("MULTI",), ("HSET", key, "a", "not this"), ("HSET", key, "a", value, "n", "77"), ("EXEC",)])
            self.rows[id] = (value, "77")
        elif way == "pipeline":
            self.raw.pipeline([("HSET", key, "a", f"{value}.{i}") for i in range(5)])
            self.rows[id] = (f"{value}.4", n)
        elif way == "delete":
            session.run(f"DELETE FROM t WHERE id = {id}")
            del self.rows[id]
        elif way == "del":
            self.raw("DEL", key)
            self.raw("ZREM", "t:zset", str(id))
            del self.rows[id]
        elif way == "expire":
            self.raw("PEXPIRE", key, str(random.choice((1, 2, 5))))
            time.sleep(0.012)
            del self.rows[id]
            self.raw("ZREM", "t:zset", str(id))
        elif way == "clear":
            self.raw("HDEL", key, "n")
            self.rows[id] = (a, None)
        elif way == "rename" and absent:
            to = random.choice(absent)
            self.raw.pipeline([("MULTI",), ("RENAME", key, f"t:{to}"), ("ZREM", "t:zset", str(id)), ("ZADD", "t:zset", str(to), str(to)), ("EXEC",)])
            self.rows[to] = self.rows.pop(id)
        elif way == "copy" and absent:
            to = random.choice(absent)
            self.raw("COPY", key, f"t:{to}")
            self.raw("ZADD", "t:zset", str(to), str(to))
            self.rows[to] = (a, n)
        elif way == "rollback":
            session.run("BEGIN")
            session.run(f"UPDATE t SET a = 'rolled back' WHERE id = {id}")
            seen = dict((row[0], row[1]) for row in session.run(f"SELECT id, a FROM t WHERE owner = {self.number}"))
            assert seen[str(id)] == "rolled back", (seen, id)
            session.run("ROLLBACK")
        elif way == "transaction":
            session.run("BEGIN")
            session.run(f"UPDATE t SET a = '{value}' WHERE id = {id}; DELETE FROM t WHERE id = {there[-1]}")
            session.run("COMMIT")
            self.rows[id] = (value, n)
            del self.rows[there[-1]]
        return way

    def look(self, way):
        session = self.random.choice(self.sessions)
        seen = {int(id): (a, n) for id, a, n in session.run(f"SELECT id, a, n FROM t WHERE owner = {self.number}")}
        assert seen == self.rows, (way, {id: (seen.get(id), self.rows.get(id)) for id in {*seen, *self.rows} if seen.get(id) != self.rows.get(id)})
        self.reads += 1
        if self.random.random() < 0.2:
            (count, total), = session.run("SELECT count(*), sum(n) FROM t WHERE owner = -1")
            assert (count, total) == (str(FILL), str(FILL * (FILL + 1) // 2)), (way, count, total)


class Disturber(threading.Thread):
    """What is rare: Redis stands still, connections are lost, other databases are emptied."""

    def __init__(self, redis, seed, ways):
        super().__init__(daemon=True)
        self.redis, self.random, self.ways = redis, chance.Random(seed), ways
        self.ended = threading.Event()

    def run(self):
        with self.redis.connect() as raw, self.redis.connect() as other:
            other("SELECT", "1")
            while not self.ended.wait(self.random.uniform(0.005, 0.06)):
                way = self.random.choice(self.ways)
                if way == "sleep":
                    raw("DEBUG", "SLEEP", self.random.choice(("0.001", "0.003", "0.01")))
                elif way == "other":
                    other.pipeline([("HSET", "t:1", "a", "another database"), ("SET", "t:2", "x"), ("FLUSHDB",) if self.random.random() < 0.1 else ("DEL", "t:1")])
                elif way == "keeper":
                    clients = [line for line in raw("CLIENT", "LIST").split("\n") if "flags=" in line and "t" in line.split("flags=")[1].split(" ")[0]]
                    for line in clients:
                        raw("CLIENT", "KILL", "ID", line.split("id=")[1].split(" ")[0])
                    time.sleep(0.3)
                elif way == "slow":
                    raw("DEBUG", "SLEEP", "0.05")
                    time.sleep(0.2)


def run(redis, servers, random, ways, seconds=SECONDS):
    make_table(servers[0])
    witnesses = [Witness(number, redis, servers, random.randrange(1 << 30)) for number in range(WITNESSES)]
    disturber = Disturber(redis, random.randrange(1 << 30), ways)
    disturber.start()
    end, failures = time.monotonic() + seconds, []

    def work(witness):
        try:
            witness.connect()
            while time.monotonic() < end and not failures:
                witness.look(witness.write())
            witness.close()
        except BaseException as failure:  # noqa: BLE001 - told below
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(witness,)) for witness in witnesses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    disturber.ended.set()
    disturber.join()
    if failures:
        raise failures[0]
    served = sum(hits(server) for server in servers)
    reads = sum(witness.reads for witness in witnesses)
    if "MEMORY_SECONDS" in os.environ:
        print(f"{reads} reads in {seconds:.0f} s, copies served {served} statements", flush=True)
    assert served > reads / 20, f"of {reads} reads the copies served {served}"


def test_reads_are_never_older_than_acknowledged_writes(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server)
    run(redis, servers, random, ["other"])


def test_reads_beside_a_redis_that_stands_still(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server)
    run(redis, servers, random, ["sleep", "sleep", "sleep", "other", "slow"], SECONDS / 2)


def test_reads_beside_lost_connections_of_the_keeper(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server)
    run(redis, servers, random, ["keeper", "sleep"], SECONDS / 2)


def test_reads_with_threads_for_input_and_output(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server, redis_options=("--io-threads", "2", "--io-threads-do-reads", "yes"))
    run(redis, servers, random, ["sleep", "other"], SECONDS / 2)


def test_reads_with_every_write_in_a_file(make_redis, make_server, random):
    redis, servers = start(make_redis, make_server, redis_options=("--appendonly", "yes", "--appendfsync", "always"))
    run(redis, servers, random, ["sleep", "other"], SECONDS / 2)


def test_swapped_databases(make_redis, make_server):
    """Both databases have the same definitions and versions: nothing but the fence's own key shows the swap."""
    redis, (server,) = start(make_redis, make_server, 1)
    make_table(server)
    with server.connect() as connection, redis.connect() as raw:
        count = f"SELECT sum(n) FROM t WHERE owner = -1"
        total = str(FILL * (FILL + 1) // 2)
        assert served(connection, count) == [[total]]
        for key in raw("KEYS", "*"):
            if "fence" not in key:
                raw("COPY", key, key, "DB", "1")
        raw("SELECT", "1")
        raw("HINCRBY", "t:1001", "n", "900")
        raw("SELECT", "0")
        for round in range(6):
            raw("SWAPDB", "0", "1")
            expected = str(int(total) + 900) if round % 2 == 0 else total
            assert connection.run(count) == [[expected]], round
        assert served(connection, count) == [[total]]


def test_databases_that_are_emptied(make_redis, make_server):
    redis, (server,) = start(make_redis, make_server, 1)
    make_table(server)
    with server.connect() as connection, redis.connect() as raw:
        count = "SELECT count(*) FROM t WHERE owner = -1"
        assert served(connection, count) == [[str(FILL)]]
        raw("SELECT", "3")
        raw("FLUSHDB")
        assert served(connection, count) == [[str(FILL)]]
        raw("DEBUG", "RELOAD")
        assert connection.run(count) == [[str(FILL)]]
        assert served(connection, count) == [[str(FILL)]]
        raw("FLUSHALL")
        try:
            connection.run(count)
            raise AssertionError("the table is still there")
        except ServerError as error:
            assert error.sqlstate == "42P01", error


def test_chunks_that_are_packed_anew(make_redis, make_server, random):
    """Changed rows gather in small chunks, which are packed together, and large ones lose their rows."""
    redis, (server,) = start(make_redis, make_server, 1)
    count = 30_000
    values = {i: i for i in range(1, count + 1)}
    with server.connect() as connection, redis.connect() as raw:
        connection.run(f"CREATE TABLE t (id int PRIMARY KEY, n bigint, a text) WITH (cache = on); INSERT INTO t SELECT i, i, 'a' || i % 5 FROM generate_series(1, {count}) i")
        query = "SELECT count(a), sum(n), count(*) FILTER (WHERE a = 'changed') FROM t"
        served(connection, query)
        before, changed = hits(server), set()
        for round in range(30):
            some = random.sample(sorted(values), random.choice((1, 10, 300, 1500)))
            if round % 5 == 4:
                connection.run(f"DELETE FROM t WHERE id IN ({', '.join(map(str, some))})")
                for id in some:
                    del values[id]
            else:
                raw.pipeline([("HSET", f"t:{id}", "n", str(round), "a", "changed") for id in some])
                values.update((id, round) for id in some)
                changed.update(some)
            assert connection.run(query) == [[str(len(values)), str(sum(values.values())), str(len(changed & values.keys()))]], round
        assert hits(server) > before + 20


def test_parts_that_are_read_often_fill_columns_that_the_copy_lacks(make_redis, make_server):
    _, (server,) = start(make_redis, make_server, count=1)
    with server.connect() as connection:
        connection.run("CREATE TABLE a (id int PRIMARY KEY, day int, x int); CREATE INDEX ON a (day); CREATE TABLE b (id int PRIMARY KEY, day int, x int); CREATE INDEX ON b (day)")
        for table in "ab":
            connection.run(f"INSERT INTO {table} SELECT i, i, i FROM generate_series(1, 20000) i")
            connection.run(f"SELECT sum(day) FROM {table}")
        expected = [[str(sum(range(10001, 20001))), "10000"]]
        # Each table is read in part only; the first scan of one of them brings both copies to one moment.
        for _ in range(8):
            assert connection.run("SELECT sum(a.x), count(b.x) FROM a JOIN b ON a.id = b.x WHERE a.day > 10000 AND b.day > 10000") == expected
        columns = dict(connection.run('SELECT "table", columns FROM redquel.cached_tables()'))
        assert all("x" in text.split(", ") for text in columns.values()), columns
        before = hits(server)
        plan = "\n".join(line for line, in connection.run("EXPLAIN (ANALYZE) SELECT sum(a.x), count(b.x) FROM a JOIN b ON a.id = b.x WHERE a.day > 10000 AND b.day > 10000"))
        assert hits(server) == before + 2 and "Reads Redis" not in plan, plan


def test_no_table_is_kept_with_maxmemory_and_without_maxmemory_clients(make_redis, make_server):
    redis, (server,) = start(make_redis, make_server, 1, redis_options=("--maxmemory", "200mb", "--maxmemory-policy", "noeviction"))
    make_table(server)
    with server.connect() as connection, redis.connect() as raw:
        for _ in range(3):
            assert connection.run("SELECT count(*) FROM t WHERE owner = -1") == [[str(FILL)]]
        (state,), = connection.run("SELECT state FROM redquel.cached_tables()")
        assert "maxmemory" in state, state
        assert "flags=t" not in raw("CLIENT", "LIST")


def test_tables_are_kept_with_maxmemory_where_maxmemory_clients_bounds_the_tracking_connection(make_redis, make_server):
    """A redquel that stands still takes no memory of the rows: Redis disconnects it, and it reads its tables anew."""
    options = ("--maxmemory", "100mb", "--maxmemory-policy", "noeviction", "--maxmemory-clients", "8mb")
    redis, (server,) = start(make_redis, make_server, 1, redis_options=options)
    make_table(server)
    query = "SELECT count(*), sum(n) FROM t WHERE owner = -1"
    total = FILL * (FILL + 1) // 2
    with server.connect() as connection, redis.connect() as raw:
        assert served(connection, query) == [[str(FILL), str(total)]]
        server.process.popen.send_signal(signal.SIGSTOP)
        try:
            names = [f"t:{i}:{'x' * 1000}" for i in range(100)]
            for round in range(400):
                for reply in raw.pipeline([("SET", name, str(round)) for name in names]):
                    assert reply == "OK", reply
            raw("HINCRBY", "t:1001", "n", "900")
        finally:
            server.process.popen.send_signal(signal.SIGCONT)
        assert int(raw.info("stats")["evicted_clients"]) > 0
        assert connection.run(query) == [[str(FILL), str(total + 900)]]
        assert served(connection, query) == [[str(FILL), str(total + 900)]]
        raw("DEL", *names)


def peak(pid):
    """The most bytes that the process has had in memory."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def test_ten_tables_that_do_not_fit(make_redis, make_server):
    """The budget holds while tables displace each other, and the process keeps to it."""
    budget, work_mem, room = 6 << 20, 4 << 20, 64 << 20
    redis, (server,) = start(make_redis, make_server, 1, memory=str(budget >> 10) + "kB")
    rows, tables = 15_000, range(10)
    with server.connect() as connection:
        connection.run("SET work_mem = '4MB'")
        for table in tables:
            connection.run(f"CREATE TABLE t{table} (id int PRIMARY KEY, a text, b text, n bigint)")
            for first in range(1, rows, 5000):
                connection.run(f"INSERT INTO t{table} SELECT i, md5(i::text), 'text ' || md5((i + {table})::text), i FROM generate_series({first}, {first + 4999}) i")
        before, kept = peak(server.process.popen.pid), set()
        for round in range(4):
            for table in tables:
                for _ in range(3):
                    assert connection.run(f"SELECT count(a), count(b), sum(n) FROM t{table}") == [[str(rows), str(rows), str(rows * (rows + 1) // 2)]]
                copies = connection.run("SELECT \"table\", bytes FROM redquel.cached_tables() WHERE state = 'kept'")
                kept |= {name for name, _ in copies}
                assert sum(int(size) for _, size in copies) <= budget, copies
            connection.run(f"UPDATE t{round} SET n = n + 0 WHERE id % 3 = 0")
        assert len(kept) >= 2, kept
        assert peak(server.process.popen.pid) - before <= budget + work_mem + room, (before, peak(server.process.popen.pid))
