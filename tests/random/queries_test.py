"""Random queries and changes, answered by redquel and by PostgreSQL: 20,000 statements without a difference."""
import os
import random as random_module
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from query_generator import Generator  # noqa: E402

from harness.comparison import row_text  # noqa: E402

SLOW = True
LIMIT = 900  # seconds
STATEMENTS = int(os.environ.get("RANDOM_STATEMENTS", "20000"))
PER_WORLD = 250  # statements over one set of tables
WORKERS = 4
SHOWN = 5
TIMEOUT, NOT_BUILT = "57014", "0A000"
MOST_NOT_BUILT = 0.02  # of all statements
PATIENCE = "3s"  # queries that take PostgreSQL longer are left out; redquel may take its time on a busy machine
HEAVY_SECONDS = 0.3  # a query that takes PostgreSQL so long may take redquel longer than its timeout


class World:
    """One set of tables on both servers."""

    def __init__(self, seed, postgres, redquel):
        self.seed, self.postgres, self.redquel = seed, postgres, redquel
        self.generator = Generator(random_module.Random(seed))
        self.history = []  # what made the tables as they are
        self.statements = self.not_built = 0

    def run(self):
        """None, or the first difference."""
        for statement in self.generator.world():
            found = self.difference(statement, True)
            self.history.append(statement)
            if found:
                return self.told(statement, found)
        while self.statements < PER_WORLD:
            self.statements += 1
            if self.generator.chance(0.06):
                statement, table = self.generator.change()
                self.history.append(statement)
                # Changes are checked by reading the whole table.
                found = self.change(statement) or self.difference(f"SELECT * FROM {table.name}", False)
            else:
                statement, ordered = self.generator.query()
                found = self.difference(statement, ordered)
            if found:
                return self.told(statement, found)
        return None

    def change(self, statement):
        """None, or the difference. redquel goes first: what it does not do, PostgreSQL must not do either, or the tables part."""
        got = self.redquel.query(statement)[0]
        if got.sqlstate in (NOT_BUILT, TIMEOUT):
            self.not_built += 1
            return None
        self.postgres.query("SET statement_timeout = 0")
        expected = self.postgres.query(statement)[0]
        self.postgres.query(f"SET statement_timeout = '{PATIENCE}'")
        if expected.sqlstate == got.sqlstate and expected.tag == got.tag and rows_of(expected, True) == rows_of(got, True):
            return None
        return f"{expected.error or expected.tag} against {got.error or got.tag}"

    def difference(self, statement, ordered):
        started = time.monotonic()
        expected = self.postgres.query(statement)[0]
        is_heavy = time.monotonic() - started > HEAVY_SECONDS
        if expected.sqlstate == TIMEOUT:
            return None
        got = self.redquel.query(statement)[0]
        if expected.sqlstate == got.sqlstate and expected.sqlstate or is_heavy and got.sqlstate == TIMEOUT:
            return None
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            return None
        if expected.error or got.error:
            return f"{expected.error or expected.tag} against {got.error or got.tag}"
        a, b = rows_of(expected, ordered), rows_of(got, ordered)
        if expected.tag == got.tag and a == b:
            return None
        return (f"{expected.tag} against {got.tag}\n  only PostgreSQL: {[r for r in a if r not in b][:5]}\n"
                f"  only redquel: {[r for r in b if r not in a][:5]}")

    def told(self, statement, found):
        history = ";\n".join(self.history)
        return f"world {self.seed}: {statement}\n  {found}\nafter\n{history};\n"


def rows_of(result, ordered):
    rows = [row_text(row) for row in result.rows]
    return rows if ordered else sorted(rows)


def test_queries(server, postgres, random):
    seed = random.randrange(1 << 32)
    worlds = [seed + i for i in range(STATEMENTS // PER_WORLD)]
    complaints, done, not_built = [], [], []

    def work(number):
        schema = f"random_{number}"
        while len(complaints) < SHOWN:
            try:
                # Looking first whether one is left would let two workers see the same last one.
                world_seed = worlds.pop()
            except IndexError:
                return
            name = postgres.create_database()
            # Tables of different workers live in schemas of their own: redquel has one database here.
            with postgres.connect(name) as oracle, server.connect() as subject:
                for connection, patience in ((oracle, PATIENCE), (subject, "40s")):
                    connection.query(f"CREATE SCHEMA {schema}")
                    connection.query(f"SET search_path = {schema}")
                    connection.query(f"SET statement_timeout = '{patience}'")
                world = World(world_seed, oracle, subject)
                found = world.run()
                if found:
                    complaints.append(found)
                done.append(world.statements)
                not_built.append(world.not_built)
                subject.query(f"DROP SCHEMA {schema} CASCADE")
            postgres.drop_database(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not complaints, "\n".join(complaints[:SHOWN])
    assert sum(done) == STATEMENTS // PER_WORLD * PER_WORLD, f"only {sum(done)} statements ran"
    assert sum(not_built) <= sum(done) * MOST_NOT_BUILT, f"{sum(not_built)} statements are not built"
