"""Views WITH (maintained) have the rows of their queries after each commit, while several sessions write their table and two redquel processes and
Redis are killed at random. Few groups, so that sessions meet in them, and that groups vanish and come again.

`VIEW_SECONDS=600 tests/run.py --limit 900 faults -k maintained` runs for ten minutes."""
import os

from harness.pgwire import ServerError
from harness.servers import run_when_it_is_back, sharing_redis
from harness.visitors import RETRIED, Visitor, visit_under_kills

SLOW = True
CLIENTS = int(os.environ.get("VIEW_CLIENTS", "6"))
SECONDS = float(os.environ.get("VIEW_SECONDS", "20"))
VIEWS = {
    "by_shop": "SELECT shop, count(*) AS n, sum(amount) AS amount, avg(pieces) AS pieces FROM sale GROUP BY shop",
    "extremes": "SELECT shop, day, min(amount) AS low, max(pieces) AS high FROM sale WHERE pieces > 2 GROUP BY shop, day",
    "overall": "SELECT count(*) AS n, sum(amount) AS amount, max(amount) AS dearest FROM sale",
}
ROWS = 60  # of each client


def differences(view):
    query = VIEWS[view]
    return f"SELECT 'view', * FROM (SELECT * FROM {view} EXCEPT ALL ({query})) a UNION ALL SELECT 'query', * FROM (({query}) EXCEPT ALL SELECT * FROM {view}) b"


class Client(Visitor):
    """Inserts, changes and deletes rows of its own, alone or in transactions."""

    def __init__(self, servers, number, random, timeout=30):
        super().__init__(servers, number, timeout)
        self.choices = [random.getrandbits(48) for _ in range(4099)]
        self.changes = 0

    def statement(self, choice):
        row = self.number * ROWS + choice % ROWS
        shop = "NULL" if choice >> 8 & 7 == 7 else f"'shop {choice >> 8 & 7}'"
        amount, pieces, day = choice >> 12 & 1023, choice >> 22 & 7, 1 + (choice >> 25 & 1)
        values = f"({row}, {shop}, '2026-11-0{day}', {amount / 100}, {pieces if pieces else 'NULL'})"
        kinds = [
            f"INSERT INTO sale VALUES {values} ON CONFLICT (id) DO UPDATE SET shop = excluded.shop, amount = excluded.amount, pieces = excluded.pieces",
            f"INSERT INTO sale VALUES {values} ON CONFLICT DO NOTHING",
            f"UPDATE sale SET shop = {shop} WHERE id = {row}",
            f"UPDATE sale SET amount = amount + {amount / 100}, pieces = pieces + 1 WHERE id BETWEEN {row} AND {row + 3}",
            f"DELETE FROM sale WHERE id = {row}",
            f"DELETE FROM sale WHERE id BETWEEN {row} AND {self.number * ROWS + ROWS - 1} AND shop = {shop}",
        ]
        return kinds[(choice >> 30) % len(kinds)]

    def work(self, connection):
        choice = self.choices[self.turn % len(self.choices)]
        try:
            if choice & 1 << 40:
                connection.run(self.statement(choice))
            else:
                connection.run("BEGIN")
                for shift in range(choice >> 41 & 3):
                    connection.run(self.statement(choice >> shift))
                connection.run("ROLLBACK" if choice >> 43 & 7 == 0 else "COMMIT")
            self.changes += 1
        except ServerError as error:
            if error.sqlstate not in RETRIED:
                raise
            self.retries += 1
            connection.run("ROLLBACK")


class Reader(Visitor):
    """Compares a view with its query, both of one moment."""

    def __init__(self, servers, number, timeout=30):
        super().__init__(servers, number, timeout, settings=("SET default_transaction_isolation = 'repeatable read'",))
        self.looks = 0

    def work(self, connection):
        view = sorted(VIEWS)[self.turn % len(VIEWS)]
        found = connection.run(differences(view))
        assert found == [], (view, found[:5])
        self.looks += 1


def test_maintained_views_have_the_rows_of_their_queries_under_kills(make_redis, make_server, random):
    redis, *servers = sharing_redis(make_redis, make_server, 2, ("--appendonly", "yes", "--appendfsync", "always"), lock_lease=2_000)
    with servers[0].connect() as connection:
        connection.run("CREATE TABLE sale (id int PRIMARY KEY, shop text, day date NOT NULL, amount numeric(10,2), pieces int)")
        for view, query in VIEWS.items():
            connection.run(f"CREATE MATERIALIZED VIEW {view} WITH (maintained) AS {query}")
    clients = [Client(servers, number, random) for number in range(CLIENTS)]
    readers = [Reader(servers, 0)]

    def has_seen_enough():
        return all(client.changes for client in clients) and readers[0].looks > 0

    visit_under_kills(clients + readers, redis, servers, random, SECONDS, has_seen_enough)
    with servers[0].connect(timeout=120) as connection:
        for view in VIEWS:
            found = run_when_it_is_back(connection, differences(view))
            assert found == [], (view, found[:5])
        for table in ("sale", *VIEWS):
            found = connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")
            assert found == [], (table, found[:5])
    print(f"  {sum(client.changes for client in clients)} changes, {sum(client.retries for client in clients)} tried again, "
          f"{readers[0].looks} looks", flush=True)
    assert has_seen_enough()
