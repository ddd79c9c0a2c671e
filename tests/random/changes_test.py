"""Random changes of tables with constraints, in transactions and outside, by redquel and by PostgreSQL: 10,000 statements after each of
which all tables are the same, and no index entry is wrong in the end."""
import os
import random as random_module
import sys

sys.path.insert(0, os.path.dirname(__file__))
from change_generator import ChangeGenerator  # noqa: E402
from worlds import NOT_BUILT, World, compare_worlds, of_postgres, rows_of  # noqa: E402

SLOW = True
LIMIT = 1500  # seconds
STATEMENTS = int(os.environ.get("RANDOM_CHANGES", "10000"))
PER_WORLD = 100  # statements over one set of tables
ERROR_FIELDS = "CMDntc"  # SQLSTATE, message, detail, constraint, table, column
VIOLATIONS = ("21", "23")  # classes of errors that rows make
OF_POSTGRESQL = "cannot truncate a table referenced in a foreign key constraint"  # 0A000 in PostgreSQL, too


class Changes(World):
    def run(self):
        generator = ChangeGenerator(random_module.Random(self.seed))
        for statement in generator.world():
            found, _ = self.change(statement, generator)
            if found:
                return self.told(statement, found)
        while self.statements < PER_WORLD:
            self.statements += 1
            generator.in_transaction, generator.has_failed = self.postgres.status != "I", self.postgres.status == "E"
            statement, done = generator.statement()
            found, is_done = self.change(statement, generator)
            if done and is_done:
                done()
            found = found or self.other_rows(generator)
            if found:
                return self.told(statement, found)
        for connection in (self.postgres, self.redquel):
            connection.query("ROLLBACK")
        return self.wrong_entries(generator)

    def change(self, statement, generator):
        """The difference, if any, and whether the statement succeeded. redquel goes first: what it does not do, PostgreSQL must not do
        either, or the tables part."""
        self.history.append(statement)
        got = self.redquel.query(statement)[0]
        if got.sqlstate == NOT_BUILT and got.error["M"] != OF_POSTGRESQL:
            self.not_built += 1
            if self.redquel.status == "E":
                self.postgres.query("SELECT 1 / 0")
            return None, False
        expected = self.postgres.query(of_postgres(statement))[0]
        if self.postgres.status != self.redquel.status:
            return f"status {self.postgres.status} against {self.redquel.status}: {expected.error or expected.tag} against {got.error or got.tag}", False
        if expected.error and got.error:
            # Of several violations each server reports the first that it finds.
            both_violate = all(r.sqlstate.startswith(VIOLATIONS) for r in (expected, got))
            same = all(expected.error.get(f) == got.error.get(f) for f in ERROR_FIELDS) or (both_violate and not generator.violates_once)
        else:
            same = not expected.error and not got.error and expected.tag == got.tag and rows_of(expected, False) == rows_of(got, False)
        return (None if same else f"{expected.error or (expected.tag, expected.rows)} against {got.error or (got.tag, got.rows)}"), not got.error

    def other_rows(self, generator):
        if self.postgres.status == "E":
            return None
        return next(filter(None, (self.difference(f"SELECT * FROM {table.name}", False) for table in generator.tables)), None)

    def wrong_entries(self, generator):
        for table in generator.tables:
            result = self.redquel.query(f"SELECT * FROM redquel.check_indexes('{table.name}')")[0]
            if result.rows or result.sqlstate not in (None, "42P01"):  # 42P01: making it failed on both sides
                return self.told(f"check_indexes('{table.name}')", f"{result.error or result.texts()}")
        return None


def test_changes(server, postgres, random):
    compare_worlds(Changes, server, postgres, random, STATEMENTS, PER_WORLD)
