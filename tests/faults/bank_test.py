"""Clients of two redquel processes move money between accounts while a process is killed now and then. The total never changes, also
not for those who look in between; no acknowledged transfer is lost; the indexes agree with the rows."""
import threading
import time

from harness.pgwire import ConnectionClosed, ServerError

CONCURRENT = True
ACCOUNTS, CLIENTS, OPENING = 40, 8, 1000
RETRIED = ("40001", "40P01")
LOST = ("08006", "08007", "57P01", "57P03", "40003")


class Client(threading.Thread):
    """Moves money, and writes each transfer down in the same transaction, until it is told to stop."""

    def __init__(self, servers, number, level, random):
        super().__init__(daemon=True)
        self.servers, self.number, self.level = servers, number, level
        self.choices = [random.getrandbits(32) for _ in range(4000)]
        self.acknowledged, self.unknown = set(), set()
        self.retries, self.trouble, self.stop = 0, None, threading.Event()

    def run(self):
        turn = 0
        while not self.stop.is_set():
            try:
                with self.servers[(self.number + turn) % len(self.servers)].connect(timeout=30) as connection:
                    while not self.stop.is_set():
                        turn += 1
                        self.transfer(connection, turn)
            except (ConnectionClosed, OSError):
                turn += 1
                time.sleep(0.1)
            except ServerError as error:
                if error.sqlstate not in LOST:
                    self.trouble = error
                    return
                time.sleep(0.1)

    def transfer(self, connection, turn):
        choice = self.choices[turn % len(self.choices)]
        giver, taker, amount = choice % ACCOUNTS, choice // ACCOUNTS % ACCOUNTS, choice % 7 + 1
        if giver == taker:
            return
        mark = self.number * 1_000_000 + turn
        try:
            connection.run(f"BEGIN ISOLATION LEVEL {self.level}")
            [(balance,)] = connection.run(f"SELECT balance FROM bank WHERE id = {giver}")
            connection.run(f"UPDATE bank SET balance = balance - {amount} WHERE id = {giver}")
            connection.run(f"UPDATE bank SET balance = balance + {amount} WHERE id = {taker}")
            connection.run(f"INSERT INTO transfer VALUES ({mark}, {giver}, {taker}, {amount}, {balance})")
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


def set_up(server):
    with server.connect() as connection:
        connection.run("DROP TABLE IF EXISTS bank, transfer")
        connection.run("CREATE TABLE bank (id int PRIMARY KEY, balance int NOT NULL)")
        connection.run("CREATE INDEX ON bank (balance)")
        connection.run("CREATE TABLE transfer (id int PRIMARY KEY, giver int, taker int, amount int, seen int)")
        connection.run(f"INSERT INTO bank SELECT g, {OPENING} FROM generate_series(0, {ACCOUNTS - 1}) AS s(g)")


def check(server, clients):
    with server.connect(timeout=60) as connection:
        assert connection.run("SELECT sum(balance), count(*) FROM bank") == [[str(ACCOUNTS * OPENING), str(ACCOUNTS)]]
        kept = {int(row[0]) for row in connection.run("SELECT id FROM transfer")}
        for client in clients:
            assert client.acknowledged <= kept, client.acknowledged - kept
        known = set().union(*(client.acknowledged | client.unknown for client in clients))
        assert kept <= known, kept - known
        moved = connection.run(f"SELECT b.id FROM bank b WHERE b.balance <> {OPENING} "
                               "- coalesce((SELECT sum(amount) FROM transfer t WHERE t.giver = b.id), 0) "
                               "+ coalesce((SELECT sum(amount) FROM transfer t WHERE t.taker = b.id), 0)")
        assert moved == [], moved
        for table in ("bank", "transfer"):
            assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
    return len(kept)


def run_bank(make_redis, make_server, random, level, seconds, kills):
    redis = make_redis()
    servers = [make_server(redis=redis), make_server(redis=redis)]
    set_up(servers[0])
    clients = [Client(servers, number, level, random) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    sums, end, next_kill = set(), time.monotonic() + seconds, time.monotonic() + seconds / (kills + 1)
    while time.monotonic() < end:
        try:
            with servers[0].connect(timeout=30) as connection:
                sums.add(connection.run("SELECT sum(balance) FROM bank")[0][0])
        except (ConnectionClosed, OSError, ServerError):
            pass
        if kills and time.monotonic() > next_kill:
            next_kill += seconds / (kills + 1)
            servers[1].kill()
            servers[1].restart()
        time.sleep(0.05)
    for client in clients:
        client.stop.set()
    for client in clients:
        client.join(60)
        assert not client.is_alive(), "a client waits for ever"
        assert client.trouble is None, client.trouble
    assert sums == {str(ACCOUNTS * OPENING)}, sums
    assert check(servers[0], clients) > 0


def test_bank_read_committed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED", 8, 0)


def test_bank_while_a_redquel_is_killed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED", 10, 2)


def test_bank_repeatable_read(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "REPEATABLE READ", 6, 0)


def test_bank_serializable(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "SERIALIZABLE", 6, 0)
