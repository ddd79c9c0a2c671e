"""Worlds of random tables on both servers, several at a time, each with a schema and an oracle's database of its own."""
import threading
import traceback

from harness.comparison import row_text

WORKERS = 4
SHOWN = 5
TIMEOUT, NOT_BUILT = "57014", "0A000"
MOST_NOT_BUILT = 0.02  # of all statements
# Queries that take longer are left out. Few are, and far from these limits, but on a busy machine any process may stand still for seconds.
PATIENCE = {"PostgreSQL": "5s", "redquel": "120s"}
MOST_LEFT_OUT = 0.01  # of all statements: those that redquel alone does not answer in its time
ERRORS_OF_ROWS = {"23502", "23503", "23505", "23514"}


def of_postgres(statement):
    """The statement with the method that PostgreSQL has for indexes in an order."""
    return statement.replace(" USING zset ", " USING btree ")


class World:
    """One set of tables on both servers. `run` gives None or the first difference."""
    # Any error of one server stands for any of the other. PostgreSQL may also raise those of constants in parts that are never evaluated.
    errors_are_alike = False

    def __init__(self, seed, postgres, redquel):
        self.seed, self.postgres, self.redquel = seed, postgres, redquel
        self.history = []  # what made the tables as they are
        self.statements = self.not_built = self.left_out = 0

    def difference(self, statement, ordered):
        self.postgres.query(f"SET statement_timeout = '{PATIENCE['PostgreSQL']}'")
        expected = self.postgres.query(statement)[0]
        self.postgres.query("SET statement_timeout = 0")
        if expected.sqlstate == TIMEOUT:
            return None
        got = self.redquel.query(statement)[0]
        if got.sqlstate == TIMEOUT:
            self.left_out += 1
            return None
        if expected.sqlstate and got.sqlstate and (self.errors_are_alike or expected.sqlstate == got.sqlstate):
            return None
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            return None
        if self.errors_are_alike and expected.error and self.postgres.query(f"EXPLAIN {statement}")[0].error:
            return None
        if expected.error or got.error:
            return f"{expected.error or expected.tag} against {got.error or got.tag}"
        a, b = rows_of(expected, ordered), rows_of(got, ordered)
        if expected.tag == got.tag and a == b:
            return None
        return (f"{expected.tag} against {got.tag}\n  only PostgreSQL: {[r for r in a if r not in b][:5]}\n"
                f"  only redquel: {[r for r in b if r not in a][:5]}")

    def both(self, statement):
        """The difference, if any. redquel goes first: PostgreSQL must not do what redquel refuses as not built."""
        self.history.append(statement)
        got = self.redquel.query(statement)[-1]
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            return None
        expected = self.postgres.query(statement)[-1]
        same = expected.sqlstate == got.sqlstate
        if statement.startswith("UPDATE") and {expected.sqlstate, got.sqlstate} <= ERRORS_OF_ROWS:
            same = True  # rows that break different rules, met in another order
        if not got.error and not expected.error:
            same = expected.tag == got.tag and rows_of(expected, False) == rows_of(got, False)
        return None if same else f"{expected.error or (expected.tag, expected.rows)} against {got.error or (got.tag, got.rows)}"

    def told(self, statement, found):
        history = ";\n".join(self.history)
        return f"world {self.seed}: {statement}\n  {found}\nafter\n{history};\n"


def rows_of(result, ordered):
    rows = [row_text(row) for row in result.rows]
    return rows if ordered else sorted(rows)


def compare_worlds(kind, server, postgres, random, statements, per_world):
    """So many statements, in worlds of the class `kind`, without a difference."""
    seed = random.randrange(1 << 32)
    worlds = [seed + i for i in range(statements // per_world)]
    complaints, done, not_built, left_out = [], [], [], []

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
            with postgres.connect(name) as oracle, server.connect(timeout=300) as subject:
                for connection in (oracle, subject):
                    connection.run(f"CREATE SCHEMA {schema}")
                    connection.run(f"SET search_path = {schema}")
                subject.run(f"SET statement_timeout = '{PATIENCE['redquel']}'")
                world = kind(world_seed, oracle, subject)
                try:
                    found = world.run()
                    if found:
                        complaints.append(found)
                    done.append(world.statements)
                    not_built.append(world.not_built)
                    left_out.append(world.left_out)
                finally:
                    subject.query("ROLLBACK")  # where a world ended early
                    subject.run("SET statement_timeout = 0")
                    subject.run(f"DROP SCHEMA {schema} CASCADE")
            postgres.drop_database(name)

    def guarded(number):
        try:
            work(number)
        except Exception:
            complaints.append(traceback.format_exc())

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not complaints, "\n".join(complaints[:SHOWN])
    assert sum(done) == statements // per_world * per_world, f"only {sum(done)} statements ran"
    assert sum(not_built) <= sum(done) * MOST_NOT_BUILT, f"{sum(not_built)} statements are not built"
    assert sum(left_out) <= sum(done) * MOST_LEFT_OUT, f"{sum(left_out)} statements took too long"
