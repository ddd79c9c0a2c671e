"""Locks go with their session, whatever ends it. A proxy between redquel and Redis holds the replies of a statement, one after the other. Then
the statement is cancelled, the connection to Redis breaks, or the client vanishes. A second session keeps the lease of the locks alive: without
redquel's care those of the ended session would stay.

`FAULTS_SECONDS=600 tests/run.py --limit 900 faults -k random` runs the random faults for ten minutes."""
import os
import signal
import time

from harness import bank
from harness.keyspace import living_locks
from harness.pgwire import ConnectionClosed, query
from harness.processes import temporary_folder
from harness.proxy import COMMANDS, REPLIES, Proxy
from harness.servers import run_when_it_is_back
from harness.visitors import end as end_visits
from harness.waiting import wait_for

SLOW = True
LIMIT = 900
SECONDS = float(os.environ.get("FAULTS_SECONDS", "20"))
MANY = 60  # rows of a statement that is committed in chunks

ROW = "INSERT INTO account VALUES (7, 1)"
# Name: statements before, the statement whose replies are held.
STATEMENTS = {
    "UPDATE": (["BEGIN"], "UPDATE account SET balance = 5 WHERE id = 1"),
    "DELETE": (["BEGIN"], "DELETE FROM account WHERE id > 0"),
    "INSERT": (["BEGIN"], ROW),
    "FOR UPDATE": (["BEGIN"], "SELECT * FROM account ORDER BY id FOR UPDATE"),
    "FOR UPDATE alone": ([], "SELECT * FROM account WHERE id = 1 FOR UPDATE"),
    "increment": (["BEGIN; UPDATE account SET balance = balance + 1 WHERE id = 1"], "SELECT * FROM account"),
    "LOCK TABLE": (["BEGIN"], "LOCK TABLE account"),
    "write in WITH": ([], "WITH x AS (UPDATE account SET balance = 5 RETURNING id) SELECT count(*) FROM x"),
    "advisory lock": ([], "SELECT pg_advisory_lock(1)"),
    "advisory lock of the transaction": (["BEGIN"], "SELECT pg_advisory_xact_lock(1)"),
    "advisory unlock": (["SELECT pg_advisory_lock(1), pg_advisory_lock(2)"], "SELECT pg_advisory_unlock_all()"),
    "ROLLBACK": (["BEGIN", "UPDATE account SET balance = 5 WHERE id = 1", "LOCK TABLE other"], "ROLLBACK"),
    "COMMIT": (["BEGIN", "UPDATE account SET balance = balance WHERE id = 1", "SELECT * FROM account FOR UPDATE"], "COMMIT"),
    "COMMIT in chunks": (["BEGIN", "UPDATE wide SET v = v + 1 WHERE v >= 0"], "COMMIT"),
    "COMMIT with definitions": (["BEGIN", "ALTER TABLE other ADD COLUMN w int", "ALTER TABLE other DROP COLUMN w", ROW], "COMMIT"),
    "ALTER TABLE": ([], "ALTER TABLE other ALTER COLUMN v SET DEFAULT 3"),
}


class Place:
    """A redquel of one thread behind a proxy, and one beside it that reaches Redis itself."""

    def __init__(self, make_redis, make_server, random=None, **limits):
        folder = temporary_folder()
        with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
            file.write("[limits]\n" + "".join(f"{name} = {value}\n" for name, value in limits.items()))
        self.redis = make_redis()
        self.proxy = Proxy(self.redis, random)
        self.server = make_server("--config", f"{folder}/redquel.toml", "--threads", "1", redis=self.proxy)
        self.other = make_server("--config", f"{folder}/redquel.toml", "--threads", "1", redis=self.redis)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proxy.stop()


def prepare(place):
    with place.other.connect() as connection:
        for table in ("account", "other", "wide"):
            connection.run(f"CREATE TABLE {table} (id int PRIMARY KEY, {'balance' if table == 'account' else 'v'} int)")
        connection.run(f"INSERT INTO account VALUES (1, 1), (2, 2); INSERT INTO other VALUES (1, 1); "
                       f"INSERT INTO wide SELECT g, g FROM generate_series(1, {MANY}) g")


def cancel(place, client):
    client.cancel()
    # A statement that cannot be cancelled any more waits for its reply.
    client.has_input(0.3)


def cut(place, client):
    place.proxy.cut()


def cut_with_commands_on_their_way(place, client):
    place.proxy.hold(COMMANDS)
    place.proxy.cut()


def vanish(place, client):
    client.abandon()


def vanish_and_cut(place, client):
    client.abandon()
    place.proxy.cut()


def keeper_of_lease(place):
    """A session with a lock, so that the lease of its thread is renewed; and that lock."""
    keeper = place.server.connect()
    keeper.run("SELECT pg_advisory_lock(4711)")
    # A session whose client has vanished may only just notice it.
    return keeper, wait_for(lambda: len(found := living_locks(place.redis)) == 1 and found, 60, "the end of other locks")


def play(place, name, fault, after):
    """Holds the replies behind so many; False: the statement needs fewer."""
    before, statement = STATEMENTS[name]
    keeper, kept = keeper_of_lease(place)
    with keeper:
        client = place.server.connect()
        for sql in before:
            client.run(sql)
        place.proxy.hold(REPLIES, after)
        client.send(query(statement))
        wait_for(lambda: place.proxy.holds(REPLIES) or client.has_input(), what="a reply")
        reached = not client.has_input()
        if reached:
            fault(place, client)
        place.proxy.let_go(REPLIES)
        place.proxy.let_go(COMMANDS)
        has_vanished = reached and fault in (vanish, vanish_and_cut)
        if not has_vanished:
            client.results()
            client.query("ROLLBACK")
            client.query("SELECT pg_advisory_unlock_all()")
            client.close()
        run_when_it_is_back(keeper, "SELECT 1")

        def is_clean():
            return all(lock[:2] == kept[0][:2] for lock in living_locks(place.redis))
        try:
            wait_for(is_clean, 60)
        except AssertionError:
            raise AssertionError(f"{name}, {fault.__name__} at reply {after}: {living_locks(place.redis)} besides {kept}") from None
    with place.other.connect() as connection:
        connection.run("SET lock_timeout = '30s'; BEGIN; LOCK TABLE account, other, wide; ROLLBACK; DELETE FROM account WHERE id = 7")
    return reached


def run_all(make_redis, make_server, fault):
    with Place(make_redis, make_server, lock_lease=3_000, script_rows=20) as place:
        prepare(place)
        for name in STATEMENTS:
            for after in range(40):
                if not play(place, name, fault, after):
                    break
            assert after > 0, name
            print(f"  {name}: {after} replies", flush=True)


def test_a_cancelled_statement_leaves_no_lock(make_redis, make_server):
    run_all(make_redis, make_server, cancel)


def test_a_lost_connection_leaves_no_lock(make_redis, make_server):
    run_all(make_redis, make_server, cut)


def test_a_lost_connection_with_commands_on_their_way_leaves_no_lock(make_redis, make_server):
    run_all(make_redis, make_server, cut_with_commands_on_their_way)


def test_a_client_that_vanishes_leaves_no_lock(make_redis, make_server):
    run_all(make_redis, make_server, vanish)


def test_a_client_that_vanishes_with_the_connection_leaves_no_lock(make_redis, make_server):
    run_all(make_redis, make_server, vanish_and_cut)


def test_a_renewal_removes_locks_of_ended_sessions(make_redis, make_server):
    """Those that a call of a broken connection has taken late, as many as several steps of the walk look at; locks of living sessions stay."""
    with Place(make_redis, make_server, lock_lease=6_000) as place:
        prepare(place)
        with place.server.connect() as keeper, place.other.connect() as other, place.redis.connect() as raw:
            keeper.run("BEGIN; UPDATE account SET balance = 7 WHERE id = 2; SELECT pg_advisory_lock(4711)")
            (_, _, token), *_ = kept = sorted(living_locks(place.redis))
            table = other.run("SELECT 'other'::regclass::oid")[0][0]
            late = f"{token[:16]}.999999.77"
            raw.pipeline([("HSET", f"redquel:locks:{table}", f"r{number}", f"4{late}") for number in range(3000)])
            raw("HSET", "redquel:advisory", "1:5", f"1{late} 1{kept[0][2]}")
            raw("HSET", "redquel:waits", f"{token[:16]}.77", f"{late} {token}")
            other.run("UPDATE other SET v = 9 WHERE id = 1")
            wait_for(lambda: len(living_locks(place.redis)) == len(kept) + 1, what="the end of the late locks")
            found = [lock for lock in sorted(living_locks(place.redis)) if lock[1] != "1:5"]
            assert found == kept, (found, kept)
            keeper.run("COMMIT")
            found = other.run("SELECT balance FROM account WHERE id = 2")
            assert found == [["7"]], found


def test_a_cancelled_write_in_with_gives_its_locks_back(fresh_server):
    with fresh_server.connect() as keeper, fresh_server.connect() as client:
        keeper.run("CREATE TABLE account (id int PRIMARY KEY, balance int); INSERT INTO account VALUES (1, 1)")
        client.run("SET statement_timeout = '500ms'")
        error = client.run_error("WITH x AS (UPDATE account SET balance = 5 RETURNING id) SELECT pg_sleep(600) FROM x")
        assert error["C"] == "57014", error
        found = [lock for lock in living_locks(fresh_server.redis) if lock[0] != "redquel:advisory"]
        assert found == [], found


def test_a_cancelled_create_table_as_leaves_no_table(fresh_server):
    with fresh_server.connect() as client:
        client.run("SET statement_timeout = '500ms'")
        error = client.run_error("CREATE TABLE made AS SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b")
        assert error["C"] == "57014", error
        found = client.run("SELECT count(*) FROM pg_class WHERE relname = 'made'")
        assert found == [["0"]], found


class Weather:
    """What happens to the connections of some proxies at random."""

    def __init__(self, proxies, random):
        self.proxies, self.random = proxies, random
        self.deeds = {"stall": 0, "cut": 0, "slow": 0, "split": 0, "late": 0}

    def change(self):
        proxy = self.random.choice(self.proxies)
        direction = self.random.choice([COMMANDS, REPLIES])
        deed = self.random.choice(list(self.deeds))
        self.deeds[deed] += 1
        if deed == "stall":
            proxy.hold(direction, self.random.randrange(20))
            time.sleep(self.random.uniform(0.05, 1.5))
        elif deed == "cut":
            proxy.cut()
        elif deed == "slow":
            proxy.delays[direction] = self.random.uniform(0.001, 0.03)
        elif deed == "split":
            proxy.splits = not proxy.splits
        else:  # redquel goes on by another connection while Redis has yet to get the commands of the one before
            proxy.hold(COMMANDS, self.random.randrange(20))
            time.sleep(self.random.uniform(0.01, 0.3))
            proxy.cut()
            time.sleep(self.random.uniform(0.01, 1.0))
        proxy.let_go(COMMANDS)
        proxy.let_go(REPLIES)
        if self.random.random() < 0.5:
            proxy.delays = {COMMANDS: 0.0, REPLIES: 0.0}

    def clear(self):
        for proxy in self.proxies:
            proxy.splits, proxy.delays = False, {COMMANDS: 0.0, REPLIES: 0.0}
            proxy.let_go(COMMANDS)
            proxy.let_go(REPLIES)


def test_random_faults_leave_no_lock(make_redis, make_server, random):
    """The bank, two redquels behind a proxy each, random faults of the connections, redquels killed and stopped."""
    lease = 4_000
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(f"[limits]\nlock_lease = {lease}\nscript_rows = 300\n")
    redis = make_redis()
    proxies = [Proxy(redis, random) for _ in range(2)]
    servers = [make_server("--config", f"{folder}/redquel.toml", "--threads", "1", redis=proxy) for proxy in proxies]
    bank.set_up(servers[0])
    level = random.choice(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
    clients = [bank.Client(servers, number, level, random, timeout=60) for number in range(6)]
    readers = [bank.Reader(servers, 0, level, timeout=60)]
    visitors = clients + readers + [bank.Flood(servers, 1, timeout=60)]
    for visitor in visitors:
        visitor.start()
    weather, kills, stops = Weather(proxies, random), 0, 0
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end and not any(visitor.trouble for visitor in visitors):
            time.sleep(random.uniform(0, 0.5))
            weather.change()
            deed = random.random()
            if deed < 0.06:
                server = random.choice(servers)
                server.kill()
                server.start()
                kills += 1
            elif deed < 0.12:
                process = random.choice(servers).process
                process.send_signal(signal.SIGSTOP)
                time.sleep(random.uniform(0.1, 1.5 * lease / 1000))
                process.send_signal(signal.SIGCONT)
                stops += 1
    finally:
        weather.clear()
    end_visits(visitors, 180)
    # Sessions with a lock each, so that leases are renewed: every other lock belongs to no session.
    keepers = [server.connect() for server in servers]
    try:
        for number, keeper in enumerate(keepers):
            run_when_it_is_back(keeper, f"SELECT pg_advisory_lock({number})")
        own = {f"1:{number}" for number in range(len(keepers))}

        def is_clean():
            return not [lock for lock in living_locks(redis) if not (lock[0] == "redquel:advisory" and lock[1] in own)]
        try:
            # A unit of many rows whose process is gone is undone by the next one that wants its table, when its lease is over.
            wait_for(lambda: is_clean() or keepers[0].query("LOCK TABLE wave") and None, 90)
        except AssertionError:
            raise AssertionError(f"left behind: {living_locks(redis)[:20]}") from None
        kept = bank.check(servers[0], clients)
    except ConnectionClosed as error:
        raise AssertionError("a server went away") from error
    finally:
        for keeper in keepers:
            keeper.close()
        for proxy in proxies:
            proxy.stop()
    print(f"  {level}: {kept} transfers, {sum(client.retries for client in clients)} tried again, {sum(visitor.losses for visitor in visitors)} "
          f"connections lost; {weather.deeds}, {kills} killed, {stops} stopped", flush=True)
    assert any(client.acknowledged for client in clients)
