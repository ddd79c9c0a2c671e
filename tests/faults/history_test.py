"""Eight clients of two redquel processes run random transactions at each isolation level; the whole history of what they appended and read is
then checked for what the level forbids (harness/history.py). Undisturbed, beside changes of the definitions, and with processes and Redis
killed or standing still. PostgreSQL is checked in the same way: the checker itself is right.

`HISTORY_SECONDS=60 HISTORY_ROUNDS=10 tests/run.py --limit 7200 faults -k history` runs each of them ten times for a minute."""
import os
import random as chance
import signal
import time

from harness import history_clients
from harness.history import LEVELS
from harness.pgwire import ServerError
from harness.servers import sharing_redis

SLOW = True
LIMIT = 3600
CLIENTS = 8
SECONDS = float(os.environ.get("HISTORY_SECONDS", "3"))
ROUNDS = int(os.environ.get("HISTORY_ROUNDS", "1"))
LEASE = 2_000
WAYS = ("undisturbed", "redquel killed", "Redis killed", "paused", "definitions")


class Database:
    """A database of PostgreSQL, as one of the servers."""

    def __init__(self, postgres):
        self.postgres, self.name = postgres, postgres.create_database()

    def connect(self, timeout=120.0):
        return self.postgres.connect(self.name, timeout)


def change_definitions(servers, random):
    """One change, in a session of its own; refused where a transaction is in the way."""
    try:
        with servers[random.randrange(len(servers))].connect(timeout=60) as connection:
            connection.run("SET lock_timeout = '300ms'")
            connection.run(random.choice((
                "CREATE INDEX IF NOT EXISTS more ON lists (v)", "DROP INDEX IF EXISTS more", "DROP INDEX IF EXISTS lists_tag_idx",
                "CREATE INDEX IF NOT EXISTS lists_tag_idx ON lists (tag)", "ALTER TABLE lists ADD COLUMN IF NOT EXISTS more int DEFAULT 7",
                "ALTER TABLE lists DROP COLUMN IF EXISTS more", "REINDEX TABLE lists", "ALTER TABLE ledger ADD COLUMN IF NOT EXISTS more int",
                "ALTER TABLE lists DROP CONSTRAINT IF EXISTS short; ALTER TABLE lists ADD CONSTRAINT short CHECK (tag < 1000)",
                "REINDEX TABLE seats", "CREATE UNIQUE INDEX IF NOT EXISTS lists_alias_key ON lists (alias, k)", "VACUUM")))
    except ServerError as error:
        if error.sqlstate not in ("55P03", "40P01", "40001"):
            raise


def disturb(way, redis, servers, random):
    if way == "redquel killed":
        server = random.choice(servers)
        server.kill()
        server.start()
    elif way == "Redis killed":
        redis.kill()
        redis.start()
    elif way == "paused":
        process = servers[-1].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5 * LEASE / 1000)
        process.send_signal(signal.SIGCONT)
    elif way == "definitions":
        change_definitions(servers, random)


def run_history(servers, level, random, disturbance, redquel=True, mutexes=None, seconds=SECONDS):
    """Problems that were seen, the history, and the clients."""
    history_clients.set_up(servers[0])
    clients = [history_clients.Client(servers, number, level, chance.Random(random.getrandbits(64)), 60, mutexes) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    end = time.monotonic() + seconds
    last = end + 60
    while not any(client.trouble for client in clients):
        now = time.monotonic()
        committed = sum(transaction.outcome == "committed" for client in clients for transaction in client.history)
        if now > end and (committed > 100 or now > last):
            break
        disturbance()
    for client in clients:
        client.stopped.set()
    for client in clients:
        client.join(120)
        assert not client.is_alive(), "somebody waits for ever"
    for client in clients:
        if client.trouble:
            raise client.trouble
    problems, history = history_clients.check(servers[0], clients, level, redquel)
    outcomes = [transaction.outcome for client in clients for transaction in client.history]
    print(f"  {level}: {({outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))})}", flush=True)
    return problems, history
