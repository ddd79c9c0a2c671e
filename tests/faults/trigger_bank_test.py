"""Triggers keep a total and a log of the changes of accounts, while two redquel processes and Redis are killed at random: accounts, total and
log always agree, also for those who look in between.

`BANK_SECONDS=600 tests/run.py --limit 900 faults -k trigger` runs for ten minutes."""
import os

from harness.pgwire import ServerError
from harness.servers import run_when_it_is_back, sharing_redis
from harness.visitors import RETRIED, Visitor, visit_under_kills

SLOW = True
CLIENTS, ACCOUNTS = 4, 100
SECONDS = float(os.environ.get("BANK_SECONDS", "10"))
SETUP = (
    "CREATE TABLE bank (id int PRIMARY KEY, balance int NOT NULL, changed int NOT NULL DEFAULT 0)",
    "CREATE TABLE total (id int PRIMARY KEY, sum bigint NOT NULL, changes int NOT NULL)",
    "CREATE TABLE log (n bigserial PRIMARY KEY, account int NOT NULL, difference int NOT NULL)",
    "INSERT INTO total SELECT i, 0, 0 FROM generate_series(0, 9) i",
    """CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN NEW.changed := OLD.changed + 1; RETURN NEW; END $$""",
    """CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
       DECLARE difference int := COALESCE(NEW.balance, 0) - COALESCE(OLD.balance, 0);
       BEGIN
         INSERT INTO log (account, difference) VALUES (NEW.id, difference);
         UPDATE total SET sum = sum + difference, changes = changes + 1 WHERE id = NEW.id % 10;
         RETURN NULL;
       END $$""",
    "CREATE TRIGGER counts BEFORE UPDATE ON bank FOR EACH ROW EXECUTE FUNCTION count_change()",
    "CREATE TRIGGER keeps AFTER INSERT OR UPDATE ON bank FOR EACH ROW EXECUTE FUNCTION keep()",
    f"INSERT INTO bank SELECT i, 1000 FROM generate_series(0, {ACCOUNTS - 1}) i",
)
DISAGREEMENT = """SELECT b.id, b.balance, b.changed, l.sum, l.count FROM bank b
                  LEFT JOIN (SELECT account, sum(difference), count(*) FROM log GROUP BY account) l ON l.account = b.id
                  WHERE b.balance <> l.sum OR b.changed + 1 <> l.count OR l.sum IS NULL"""
SUMS = "SELECT (SELECT sum(balance) FROM bank), (SELECT sum(sum) FROM total), (SELECT sum(difference) FROM log), " \
       "(SELECT sum(changed + 1) FROM bank), (SELECT sum(changes) FROM total), (SELECT count(*) FROM log)"


class Client(Visitor):
    """Changes an account, or several by one statement."""

    def __init__(self, servers, number, random, timeout=30):
        super().__init__(servers, number, timeout)
        self.choices = [random.getrandbits(32) for _ in range(4099)]
        self.changes = 0

    def work(self, connection):
        choice = self.choices[self.turn % len(self.choices)]
        account, amount = choice % ACCOUNTS, choice // ACCOUNTS % 20 - 10
        where = f"id = {account}" if choice & 1 << 30 else f"id BETWEEN {account} AND {account + 3}"
        try:
            connection.run(f"UPDATE bank SET balance = balance + {amount} WHERE {where}")
            self.changes += 1
        except ServerError as error:
            if error.sqlstate not in RETRIED:
                raise
            self.retries += 1


class Reader(Visitor):
    """At READ COMMITTED a statement that writers disturb for two seconds may answer from several moments (docs/differences.md)."""

    def __init__(self, servers, number, timeout=30):
        super().__init__(servers, number, timeout, settings=("SET default_transaction_isolation = 'repeatable read'",))
        self.looks = 0

    def work(self, connection):
        check_sums(connection.run(SUMS))
        self.looks += 1


def check_sums(rows):
    [(balances, totals, differences, changed, changes, entries)] = rows
    assert balances == totals == differences, rows
    assert changed == changes == entries, rows


def test_triggers_and_their_statement_are_one_unit_under_kills(make_redis, make_server, random):
    redis, *servers = sharing_redis(make_redis, make_server, 2, ("--appendonly", "yes", "--appendfsync", "always"), lock_lease=2_000)
    with servers[0].connect() as connection:
        for statement in SETUP:
            connection.run(statement)
    clients = [Client(servers, number, random) for number in range(CLIENTS)]
    readers = [Reader(servers, 0)]

    def has_seen_enough():
        return any(client.changes for client in clients) and readers[0].looks > 0

    visit_under_kills(clients + readers, redis, servers, random, SECONDS, has_seen_enough)
    with servers[0].connect(timeout=120) as connection:
        check_sums(run_when_it_is_back(connection, SUMS))
        found = connection.run(DISAGREEMENT)
        assert found == [], found[:5]
        for table in ("bank", "total", "log"):
            found = connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")
            assert found == [], (table, found[:5])
    print(f"  {sum(client.changes for client in clients)} changes, {sum(client.retries for client in clients)} tried again, "
          f"{readers[0].looks} looks", flush=True)
    assert has_seen_enough()
