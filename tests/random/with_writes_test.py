"""Random statements that change the same rows in several places, by redquel and by PostgreSQL: after each of 300
statements the answers and all tables are the same, and no index entry is wrong in the end."""
import os
import random as random_module
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from with_generator import WithGenerator  # noqa: E402
from worlds import NOT_BUILT, World, compare_worlds, rows_of  # noqa: E402

SLOW = True
LIMIT = 1500  # seconds
# A join of PostgreSQL that finds its first side empty leaves a part of WITH for the end, so that another part changes the rows first: no order is
# promised. The short form asks the same statements each time. RANDOM_WITH_WRITES=6000 asks others.
IS_LONG = "RANDOM_WITH_WRITES" in os.environ
SEED = 2
STATEMENTS = int(os.environ.get("RANDOM_WITH_WRITES", "300"))
PER_WORLD = 60  # statements over one set of tables
ERROR_FIELDS = "CMD"  # SQLSTATE, message, detail
VIOLATIONS = ("21", "23")  # classes of errors that rows make
FOREIGN_TABLE = re.compile(r"CREATE FOREIGN TABLE (\w+) \(id int")


def of_postgresql(statement):
    """The statement with a plain table in place of a foreign one."""
    return FOREIGN_TABLE.sub(r"CREATE TABLE \1 (id int PRIMARY KEY", statement).split(" SERVER redis")[0]


class WithWrites(World):
    def run(self):
        generator = WithGenerator(random_module.Random(self.seed))
        # With a nested loop PostgreSQL would run two parts row by row.
        self.postgres.query("SET enable_nestloop = off")
        for statement in generator.world():
            if found := self.change(statement):
                return self.told(statement, found)
        while self.statements < PER_WORLD:
            self.statements += 1
            generator.in_transaction, generator.has_failed = self.postgres.status != "I", self.postgres.status == "E"
            statement = generator.statement()
            found = self.change(statement) or self.other_rows(generator)
            if found:
                return self.told(statement, found)
        for connection in (self.postgres, self.redquel):
            connection.query("ROLLBACK")
        return self.wrong_entries(generator)

    def change(self, statement):
        """The difference, if any. redquel goes first: PostgreSQL must not do what redquel refuses as not built."""
        self.history.append(statement)
        got = self.redquel.query(statement)[0]
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            if self.redquel.status == "E":
                self.postgres.query("SELECT 1 / 0")
            return None
        expected = self.postgres.query(of_postgresql(statement))[0]
        if self.postgres.status != self.redquel.status:
            return (f"status {self.postgres.status} against {self.redquel.status}: "
                    f"{expected.error or expected.tag} against {got.error or got.tag}")
        if expected.error and got.error:
            # Of several violations each server reports the first that it finds.
            both_violate = all(result.sqlstate.startswith(VIOLATIONS) for result in (expected, got))
            same = both_violate or all(expected.error.get(f) == got.error.get(f) for f in ERROR_FIELDS)
        else:
            same = not expected.error and not got.error and (expected.tag == got.tag or FOREIGN_TABLE.match(statement))
            same = same and rows_of(expected, False) == rows_of(got, False)
        if same:
            return None
        return f"{expected.error or (expected.tag, expected.rows)} against {got.error or (got.tag, got.rows)}"

    def other_rows(self, generator):
        if self.postgres.status == "E":
            return None
        differences = (self.difference(f"SELECT * FROM {table.name}", False) for table in generator.tables)
        return next(filter(None, differences), None)

    def wrong_entries(self, generator):
        for table in generator.tables:
            if table.is_foreign:
                continue
            result = self.redquel.query(f"SELECT * FROM redquel.check_indexes('{table.name}')")[0]
            if result.rows or result.error:
                return self.told(f"check_indexes('{table.name}')", f"{result.error or result.texts()}")
        return None


def test_with_writes(server, postgres, random):
    compare_worlds(WithWrites, server, postgres, random if IS_LONG else random_module.Random(SEED), STATEMENTS, PER_WORLD)
