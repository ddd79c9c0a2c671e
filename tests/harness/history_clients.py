"""Clients whose transactions append to lists and read them by all kinds of ways; what they saw is kept for harness/history.py. Beside the lists
are things whose parts must agree in every statement: counters with their ledger, seats with one holder each, children with parents, jobs."""
import time

from harness.history import ABORTED, COMMITTED, UNKNOWN, History, Read, Transaction
from harness.pgwire import ServerError
from harness.servers import run_when_it_is_back
from harness.visitors import LOST, RETRIED, Visitor

KEYS, TAGS, COUNTERS, SEATS, PARENTS = 12, 3, 4, 6, 5
SCHEMA = (
    "CREATE TABLE lists (k int PRIMARY KEY, alias int NOT NULL, tag int NOT NULL, v text NOT NULL)",
    "CREATE INDEX ON lists (alias)",
    "CREATE INDEX ON lists (tag)",
    "CREATE TABLE names (name text PRIMARY KEY, target int NOT NULL)",
    "CREATE TABLE counters (k int PRIMARY KEY, n int NOT NULL)",
    "CREATE TABLE ledger (k int NOT NULL, c int NOT NULL)",
    "CREATE INDEX ON ledger (k)",
    "CREATE TABLE seats (id int PRIMARY KEY, holder int NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE parents (id int PRIMARY KEY)",
    "CREATE TABLE children (id int PRIMARY KEY, parent int NOT NULL REFERENCES parents)",
    "CREATE TABLE jobs (id int PRIMARY KEY)",
    f"INSERT INTO lists SELECT g, 100 + g, g % {TAGS}, '' FROM generate_series(0, {KEYS - 1}) AS s(g)",
    f"INSERT INTO names SELECT 'n' || g, g FROM generate_series(0, {KEYS - 1}) AS s(g)",
    f"INSERT INTO counters SELECT g, 0 FROM generate_series(0, {COUNTERS - 1}) AS s(g)",
    f"INSERT INTO seats SELECT g, g FROM generate_series(0, {SEATS - 1}) AS s(g)",
    f"INSERT INTO parents SELECT g FROM generate_series(0, {PARENTS - 1}) AS s(g)",
    "INSERT INTO jobs SELECT g FROM generate_series(1, 3000) AS s(g)")
TABLES = ("lists", "names", "counters", "ledger", "seats", "parents", "children", "jobs")
FIRST_TAGS = {key: key % TAGS for key in range(KEYS)}

# Statements that give rows (k, v, tag) of one list, {k}; the locking ones give the newest version.
SINGLE_READS = (
    "SELECT k, v, tag FROM lists WHERE k = {k}",
    "SELECT k, v, tag FROM lists WHERE alias = 100 + {k}",
    "SELECT l.k, l.v, l.tag FROM names n JOIN lists l ON l.k = n.target WHERE n.name = 'n{k}'",
    "SELECT k, v, tag FROM lists WHERE k = {k} FOR UPDATE",
    "SELECT k, v, tag FROM lists WHERE k = {k} FOR SHARE")
# Those that give all.
WHOLE_READS = (
    "SELECT k, v, tag FROM lists",
    "SELECT k, v, tag FROM lists WHERE k BETWEEN 0 AND 1000",
    "SELECT k, v, tag FROM lists ORDER BY alias",
    "SELECT k, v, tag FROM lists WHERE tag IN (0, 1, 2)",
    "SELECT k, v, tag FROM lists WHERE tag >= 0")
READS_ACROSS = (
    "SELECT k, v, tag FROM lists WHERE tag = 0 UNION ALL SELECT k, v, tag FROM lists WHERE tag = 1 "
    "UNION ALL SELECT k, v, tag FROM lists WHERE tag = 2",
    "SELECT l.k, l.v, l.tag FROM names n JOIN lists l ON l.k = n.target",
    "SELECT l.k, l.v, l.tag FROM names n, lists l WHERE l.alias = 100 + n.target")
# Those that append {e} to list {k}, and give it the tag {t} where they name it.
SINGLE_APPENDS = (
    "UPDATE lists SET v = v || ',{e}' WHERE k = {k}",
    "UPDATE lists SET v = v || ',{e}', tag = {t} WHERE k = {k}",
    "UPDATE lists SET v = v || ',{e}' WHERE alias = 100 + {k}",
    "UPDATE lists SET v = v || ',{e}', tag = {t} FROM names n WHERE n.name = 'n{k}' AND lists.k = n.target",
    "INSERT INTO lists VALUES ({k}, 100 + {k}, {t}, ',{e}') ON CONFLICT (k) DO UPDATE SET v = lists.v || excluded.v, tag = excluded.tag")
MULTIPLE_APPENDS = (
    "UPDATE lists SET v = v || ',{e}' WHERE k BETWEEN {k} AND {k} + {t} + 1 RETURNING k",
    "UPDATE lists SET v = v || ',{e}' WHERE k >= {k} RETURNING k",
    "UPDATE lists SET v = v || ',{e}' WHERE tag = {t} RETURNING k")


class Wrong(Exception):
    """What no level allows was seen at once."""


def set_up(server, *settings):
    with server.connect() as connection:
        for statement in (*settings, *SCHEMA):
            connection.run(statement)


class Client(Visitor):
    """Transactions of one level."""

    def __init__(self, servers, number, level, seed, timeout, mutexes=None, looks_across=True):
        """`looks_across`: a statement that reads several tables, or one of them twice, sees one moment of all."""
        super().__init__(servers, number, timeout, ("SET lock_timeout = '2s'", "SET deadlock_timeout = '100ms'",
                                                    f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"))
        self.level, self.random, self.mutexes, self.looks_across = level, seed, mutexes, looks_across
        self.history, self.taken = [], []
        self.connection = self.transaction = None
        self.next, self.in_block, self.allowed = 0, False, set()

    # one transaction

    def work(self, connection):
        self.connection = connection
        self.transaction = transaction = Transaction(f"{self.number}/{len(self.history)}", time.monotonic())
        self.history.append(transaction)
        self.in_block = self.random.random() < 0.85
        self.allowed = set(RETRIED)
        try:
            if self.in_block:
                self.ask(f"BEGIN ISOLATION LEVEL {self.level}")
                transaction.began = time.monotonic()
                for _ in range(self.random.choice((1, 2, 2, 3, 4))):
                    self.step()
                if self.random.random() < 0.1:
                    self.ask("ROLLBACK")
                    transaction.ended = time.monotonic()
                    return
                transaction.outcome, transaction.commit_sent = UNKNOWN, time.monotonic()
                self.ask("COMMIT")
            else:
                transaction.outcome, transaction.commit_sent = UNKNOWN, transaction.began
                self.random.choice((self.append, self.append, self.append_many, self.read, self.read_all))()
            transaction.outcome, transaction.ended = COMMITTED, time.monotonic()
        except ServerError as error:
            if error.sqlstate in LOST:
                raise
            transaction.outcome, transaction.refused = ABORTED, error.sqlstate
            transaction.ended = time.monotonic()
            if error.sqlstate not in self.allowed:
                raise
            if self.in_block:
                self.connection.run("ROLLBACK")

    def step(self):
        step = self.random.choices(
            (self.read, self.read_all, self.read_tag, self.append, self.append_many, self.replace, self.with_savepoint,
             self.count_up, self.look_at_sums, self.swap_seats, self.change_family, self.take_job, self.hold_mutex),
            (20, 8, 4, 25, 5, 5, 5, 5, 5, 3, 5, 3, 2))[0]
        step()

    def ask(self, sql):
        """The rows, and how many were changed."""
        self.transaction.sql.append(sql)
        results = self.connection.query(sql)
        if results[-1].error:
            raise ServerError(results[-1].error)
        tag = (results[-1].tag or "").split()
        return results[-1].texts(), int(tag[-1]) if tag and tag[-1].isdigit() else 0

    # reads

    def see(self, began, rows, keys=None, tags=True):
        """`keys`: the ones that must be there, each once."""
        seen, found = {}, {}
        for key, text, tag in rows:
            key, own = int(key), self.transaction.own(int(key))
            if key in seen:
                raise Wrong(f"list {key} twice in one answer, {self.transaction}: {self.transaction.sql}")
            if own and not text.endswith(own):
                raise Wrong(f"{self.transaction} does not see its own {own} in list {key}: {text[-80:]}: {self.transaction.sql}")
            seen[key] = text[:len(text) - len(own)]
            if tags and not own:
                found[key] = int(tag)
        if keys is not None and seen.keys() != set(keys):
            raise Wrong(f"lists {sorted(set(keys) - seen.keys())} are not there, {self.transaction}: {self.transaction.sql}")
        self.transaction.reads.append(Read(began, time.monotonic(), seen, found, self.transaction.sql[-1]))

    def key(self):
        return self.random.randrange(KEYS)

    def read(self):
        key, began = self.key(), time.monotonic()
        sql = self.random.choice(SINGLE_READS).format(k=key)
        rows, _ = self.ask(sql)
        # Deleted and inserted again while its lock was waited for: PostgreSQL does not find the new row at READ COMMITTED.
        self.see(began, rows, None if " FOR " in sql else [key])

    def read_all(self):
        began = time.monotonic()
        if self.level != "READ COMMITTED" and self.in_block and self.random.random() < 0.3:
            rows = [row for tag in range(TAGS) for row in self.ask(f"SELECT k, v, tag FROM lists WHERE tag = {tag}")[0]]
        else:
            rows, _ = self.ask(self.random.choice(WHOLE_READS + READS_ACROSS if self.looks_across else WHOLE_READS))
        self.see(began, rows, range(KEYS))
        if self.ask("SELECT count(*) FROM lists")[0] != [[str(KEYS)]]:
            raise Wrong(f"count(*) is not {KEYS}: {self.transaction.sql}")

    def read_tag(self):
        began, tag = time.monotonic(), self.random.randrange(TAGS)
        rows, _ = self.ask(f"SELECT k, v, tag FROM lists WHERE tag = {tag}")
        if any(row[2] != str(tag) for row in rows):
            raise Wrong(f"WHERE tag = {tag} gave {rows}")
        self.see(began, rows)

    # appends

    def element(self):
        self.next += 1
        return self.number * 1_000_000 + self.next

    def appended(self, key, element, sql, tag):
        self.transaction.appends.append((key, element, tag if "tag = {t}" in sql or "tag = excluded" in sql else None))

    def append(self):
        key, element, tag = self.key(), self.element(), self.random.randrange(TAGS)
        form = self.random.choice(SINGLE_APPENDS)
        sql = form.format(k=key, e=element, t=tag)
        began = time.monotonic()
        if not self.in_block:
            # The effect of a lone statement is unknown until it has answered.
            self.appended(key, element, form, tag)
            if self.ask(sql)[1] == 0:
                self.transaction.appends.pop()
            return
        returning = self.random.random() < 0.3
        rows, count = self.ask(sql + (" RETURNING lists.k, v, lists.tag" if returning else ""))
        if count:
            self.appended(key, element, form, tag)
        if returning:
            self.see(began, rows, tags=False)

    def append_many(self):
        key, element, tag = self.key(), self.element(), self.random.randrange(TAGS)
        form = self.random.choice(MULTIPLE_APPENDS)
        if not self.in_block:
            # The rows that it finds are unknown until it has answered.
            self.transaction.appends = [(k, element, None) for k in range(KEYS)]
            self.transaction.guessed = True
        rows, _ = self.ask(form.format(k=key, e=element, t=tag))
        if not self.in_block:
            self.transaction.appends, self.transaction.guessed = [], False
        self.transaction.appends += [(int(row[0]), element, None) for row in rows]

    def replace(self):
        key, element, tag, began = self.key(), self.element(), self.random.randrange(TAGS), time.monotonic()
        rows, _ = self.ask(f"DELETE FROM lists WHERE k = {key} RETURNING k, v, tag")
        if rows:
            self.see(began, rows, tags=False)
            self.ask(f"INSERT INTO lists VALUES ({key}, {100 + key}, {tag}, '{rows[0][1]},{element}')")
            self.appended(key, element, "tag = {t}", tag)

    def with_savepoint(self):
        self.ask("SAVEPOINT s")
        before = len(self.transaction.appends)
        for _ in range(self.random.choice((1, 2))):
            self.random.choice((self.append, self.append_many, self.replace, self.read))()
        if self.random.random() < 0.6:
            self.ask("ROLLBACK TO s")
            self.transaction.undone += self.transaction.appends[before:]
            del self.transaction.appends[before:]
        else:
            self.ask("RELEASE s")

    # parts that must agree in every statement

    def count_up(self):
        key, amount = self.random.randrange(COUNTERS), self.random.randrange(1, 9)
        self.ask(f"UPDATE counters SET n = n + {amount} WHERE k = {key}")
        self.ask(f"INSERT INTO ledger VALUES ({key}, {amount})")

    def expect_none(self, sql):
        rows, _ = self.ask(sql)
        if rows:
            raise Wrong(f"{sql} gave {rows}, {self.transaction}: {self.transaction.sql}")

    def look_at_sums(self):
        if not self.looks_across:
            return
        self.expect_none(self.random.choice((
            "SELECT c.k, n, (SELECT sum(l.c) FROM ledger l WHERE l.k = c.k) FROM counters c "
            "WHERE n <> coalesce((SELECT sum(l.c) FROM ledger l WHERE l.k = c.k), 0)",
            "SELECT * FROM (SELECT sum(n) FROM counters) a(n), (SELECT coalesce(sum(c), 0) FROM ledger) b(c) WHERE n <> c",
            "SELECT c.id, parent FROM children c LEFT JOIN parents p ON p.id = c.parent WHERE p.id IS NULL",
            "SELECT id FROM children c WHERE NOT EXISTS (SELECT FROM parents p WHERE p.id = c.parent)")))

    def swap_seats(self):
        one, other = self.random.sample(range(SEATS), 2)
        if "23505" not in self.allowed:
            self.expect_none(f"SELECT count(*), count(DISTINCT holder) FROM seats HAVING count(DISTINCT holder) <> {SEATS}")
        self.ask(f"UPDATE seats SET holder = CASE id WHEN {one} THEN (SELECT holder FROM seats WHERE id = {other}) "
                 f"ELSE (SELECT holder FROM seats WHERE id = {one}) END WHERE id IN ({one}, {other})")
        # At READ COMMITTED the subqueries are of the snapshot, the rows that are written may be newer: refused at COMMIT.
        self.allowed.add("23505")

    def change_family(self):
        parent = self.random.randrange(PARENTS)
        self.allowed.add("23503")
        self.ask(self.random.choice((
            f"INSERT INTO children VALUES ({self.element()}, {parent})",
            f"DELETE FROM parents WHERE id = {parent}",
            f"INSERT INTO parents VALUES ({parent}) ON CONFLICT DO NOTHING",
            f"DELETE FROM children WHERE parent = {parent}")))

    def take_job(self):
        rows, _ = self.ask("DELETE FROM jobs WHERE id = (SELECT id FROM jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id")
        for row in rows:
            self.taken.append((self.transaction, int(row[0])))

    def hold_mutex(self):
        if self.mutexes is None:
            return
        number = self.random.randrange(len(self.mutexes))
        mutex = self.mutexes[number]
        self.ask(f"SELECT pg_advisory_lock({number})")
        try:
            if not mutex.acquire(blocking=False):
                raise Wrong(f"advisory lock {number} has two holders")
            time.sleep(0.002)
            mutex.release()
        finally:
            self.ask(f"SELECT pg_advisory_unlock({number})")


def check(server, clients, level, redquel=True):
    """What was seen that must not be; and the history."""
    problems = []
    with server.connect(timeout=120) as connection:
        final = {int(key): text for key, text in run_when_it_is_back(connection, "SELECT k, v FROM lists")}
        for sql in ("SELECT c.k FROM counters c WHERE n <> coalesce((SELECT sum(l.c) FROM ledger l WHERE l.k = c.k), 0)",
                    f"SELECT 1 FROM seats HAVING count(*) <> {SEATS} OR count(DISTINCT holder) <> {SEATS}",
                    "SELECT id FROM children WHERE parent NOT IN (SELECT id FROM parents)"):
            if found := connection.run(sql):
                problems.append(f"at the end: {sql} gave {found}")
        left = {int(row[0]) for row in connection.run("SELECT id FROM jobs")}
        for table in TABLES if redquel else ():
            if found := connection.run(f"SELECT * FROM redquel.check_indexes('{table}')"):
                problems.append(f"indexes of {table}: {found[:5]}")
    if final.keys() != set(range(KEYS)):
        return problems + [f"lists are there: {sorted(final)}"], None
    transactions = [transaction for client in clients for transaction in client.history]
    history = History(transactions, final, FIRST_TAGS)
    done = [job for client in clients for transaction, job in client.taken if transaction.outcome == COMMITTED]
    if len(done) > len(set(done)) or left & set(done):
        problems.append(f"a job was taken twice, or is still there: {sorted(done)[:20]}")
    return problems + history.check(level), history
