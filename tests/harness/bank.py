"""A bank: clients that move money, readers that look at the whole of it, and a thread that kills the servers (faults/bank_test.py)."""
import glob
import signal
import time

from harness.pgwire import ServerError
from harness.servers import run_when_it_is_back
from harness.visitors import RETRIED, Visitor

ACCOUNTS, COUNTERS, OPENING = 1000, 7, 1000
TOTAL = str(ACCOUNTS * OPENING)
TABLES = ("bank", "transfer", "counter", "wave")


def set_up(server, *settings):
    with server.connect() as connection:
        for setting in settings:
            connection.run(setting)
        connection.run("CREATE TABLE bank (id int PRIMARY KEY, balance int NOT NULL)")
        connection.run("CREATE INDEX ON bank (balance)")
        connection.run("CREATE TABLE transfer (id int PRIMARY KEY, giver int NOT NULL, taker int NOT NULL, amount int NOT NULL)")
        connection.run("CREATE INDEX ON transfer (giver)")
        # No index on n: additions at READ COMMITTED take no lock and are made by the commit.
        connection.run("CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)")
        connection.run("CREATE TABLE wave (id int PRIMARY KEY, height int NOT NULL)")
        connection.run(f"INSERT INTO bank SELECT g, {OPENING} FROM generate_series(0, {ACCOUNTS - 1}) AS s(g)")
        connection.run(f"INSERT INTO counter SELECT g, 0 FROM generate_series(0, {COUNTERS - 1}) AS s(g)")
        connection.run(f"INSERT INTO wave SELECT g, 0 FROM generate_series(1, {ACCOUNTS}) AS s(g)")


class Client(Visitor):
    """Moves money, and writes each transfer down in the same transaction."""

    def __init__(self, servers, number, level, random, timeout=30):
        super().__init__(servers, number, timeout)
        self.level = level
        self.choices = [random.getrandbits(32) for _ in range(4099)]
        self.acknowledged, self.unknown = set(), set()

    def work(self, connection):
        choice = self.choices[self.turn % len(self.choices)]
        giver, taker, amount = choice % ACCOUNTS, choice // ACCOUNTS % ACCOUNTS, choice % 7 + 1
        if giver == taker:
            return
        mark = self.number * 10_000_000 + self.turn
        try:
            connection.run(f"BEGIN ISOLATION LEVEL {self.level}")
            if choice & 1 << 30:  # as a client that computes by itself
                [(balance,)] = connection.run(f"SELECT balance FROM bank WHERE id = {giver} FOR UPDATE")
                connection.run(f"UPDATE bank SET balance = {int(balance) - amount} WHERE id = {giver}")
            else:
                connection.run(f"UPDATE bank SET balance = balance - {amount} WHERE id = {giver}")
            connection.run(f"UPDATE bank SET balance = balance + {amount} WHERE id = {taker}")
            connection.run(f"UPDATE counter SET n = n + 1 WHERE id = {choice % COUNTERS}")
            connection.run(f"INSERT INTO transfer VALUES ({mark}, {giver}, {taker}, {amount})")
            self.unknown.add(mark)
            connection.run("COMMIT")
            self.acknowledged.add(mark)
            self.unknown.discard(mark)
        except ServerError as error:
            if error.sqlstate not in RETRIED:
                raise
            self.unknown.discard(mark)
            self.retries += 1
            connection.run("ROLLBACK")


class Reader(Visitor):
    """Every sum over all accounts is the total, whichever way it is taken."""

    def __init__(self, servers, number, level, timeout=30):
        super().__init__(servers, number, timeout)
        self.level, self.sums = level, 0

    def work(self, connection):
        found = connection.run("SELECT sum(balance), count(*) FROM bank")
        assert found == [[TOTAL, str(ACCOUNTS)]], f"money came or went: {found}"
        found = connection.run("SELECT min(height), max(height) FROM wave")
        assert found[0][0] == found[0][1], f"a part of a statement is seen: {found}"
        self.sums += 1
        if self.level == "READ COMMITTED":
            return
        try:
            connection.run(f"BEGIN ISOLATION LEVEL {self.level}")
            [(low,)] = connection.run(f"SELECT sum(balance) FROM bank WHERE id < {ACCOUNTS // 2}")
            [(high,)] = connection.run(f"SELECT sum(balance) FROM bank WHERE id >= {ACCOUNTS // 2}")
            assert int(low) + int(high) == int(TOTAL), f"a mixture of two states: {low} + {high}"
            [(transfers, additions)] = connection.run("SELECT (SELECT count(*) FROM transfer), (SELECT sum(n) FROM counter)")
            assert transfers == additions, f"a part of a transaction is seen: {transfers} transfers, {additions} additions"
            connection.run("COMMIT")
        except ServerError as error:
            if error.sqlstate not in RETRIED:
                raise
            self.retries += 1
            connection.run("ROLLBACK")


class Flood(Visitor):
    """Statements of more rows than one script writes."""

    def work(self, connection):
        connection.run("UPDATE wave SET height = height + 1")
        self.stopped.wait(10)


class Killer:
    """Ends processes at random moments, and starts them again. `spares_redis`: only those of redquel."""

    def __init__(self, redis, servers, random, pause, spares_redis=False):
        self.redis, self.servers, self.random, self.pause = redis, servers, random, pause
        self.deeds_of_a_round = ["redquel", "redquel", "both"] if spares_redis else ["redquel", "redquel", "redis", "torn", "torn", "all"]
        self.paused_until = None
        self.deeds = {"redquel": 0, "both": 0, "redis": 0, "torn": 0, "after a tear": 0, "all": 0, "paused": 0, "refused to start": 0}
        self.torn, self.deck = False, []

    def strike(self):
        if self.torn:
            self.torn = False
            self.deeds["after a tear"] += 1
            self.kill_redis(tear=False)
            return
        if not self.deck:
            self.deck = list(self.deeds_of_a_round)
            self.random.shuffle(self.deck)
        deed = self.deck.pop()
        if deed in ("both", "all"):
            for server in self.running():
                server.kill()
        if deed in ("redis", "torn", "all"):
            self.kill_redis(tear=deed != "redis")
        if deed == "redquel":
            self.random.choice(self.running()).kill()
        for server in self.servers:
            if server.process is None:
                server.start()
        self.deeds[deed] += 1

    def running(self):
        """Those that do not stand still."""
        return self.servers[:1] if self.paused_until else self.servers

    def stop_one(self):
        """The last server stands still for longer than its locks live."""
        self.servers[-1].process.send_signal(signal.SIGSTOP)
        self.paused_until = time.monotonic() + self.pause
        self.deeds["paused"] += 1

    def continue_if_due(self, now=False):
        if self.paused_until and (now or time.monotonic() > self.paused_until):
            self.servers[-1].process.send_signal(signal.SIGCONT)
            self.paused_until = None

    def kill_redis(self, tear):
        self.redis.kill()
        if tear:
            self.tear()
            self.torn = True
        # Killed while it rewrote a torn file, Redis cuts that and refuses to start, twice at most.
        for _ in range(3):
            try:
                self.redis.start()
                return
            except RuntimeError:
                self.deeds["refused to start"] += 1
        self.redis.start()

    def tear(self):
        """What a kill in the middle of a write leaves: a script's block, of which only the beginning has reached the file. No client was told
        that it took place. (Bytes that are cut off might be acknowledged ones.)"""
        changes = [f"*4\r\n$4\r\nHSET\r\n${len(key)}\r\n{key}\r\n$7\r\nbalance\r\n$6\r\n999999\r\n"
                   for key in (f"bank:{self.random.randrange(ACCOUNTS)}" for _ in range(5))]
        block = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*1\r\n$5\r\nMULTI\r\n" + "".join(changes) + "*1\r\n$4\r\nEXEC\r\n"
        files = glob.glob(f"{self.redis.folder}/appendonlydir/*.incr.aof")
        newest = max(files, key=lambda path: int(path.rsplit(".", 3)[-3]))
        with open(newest, "ab") as file:
            file.write(block[:self.random.randrange(1, len(block))].encode())


def check(server, clients):
    """The ledger after the run; returns the number of transfers."""
    with server.connect(timeout=120) as connection:
        found = run_when_it_is_back(connection, "SELECT sum(balance), count(*) FROM bank")
        assert found == [[TOTAL, str(ACCOUNTS)]], found
        kept = {int(row[0]) for row in connection.run("SELECT id FROM transfer")}
        for client in clients:
            lost = sorted(client.acknowledged - kept)
            assert not lost, f"{len(lost)} acknowledged and lost by client {client.number}, which ends at {max(client.acknowledged)}: {lost[:20]}"
        known = set().union(*(client.acknowledged | client.unknown for client in clients))
        assert kept <= known, f"refused and there: {sorted(kept - known)[:20]}"
        moved = connection.run(f"SELECT b.id FROM bank b WHERE b.balance <> {OPENING} "
                               "- coalesce((SELECT sum(amount) FROM transfer t WHERE t.giver = b.id), 0) "
                               "+ coalesce((SELECT sum(amount) FROM transfer t WHERE t.taker = b.id), 0)")
        assert moved == [], moved
        found = connection.run("SELECT sum(n) FROM counter")
        assert found == [[str(len(kept))]], (found, len(kept))
        found = connection.run("SELECT min(height), max(height) FROM wave")
        assert found[0][0] == found[0][1], found
        for table in TABLES:
            found = connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")
            assert found == [], (table, found[:5])
    return len(kept)
