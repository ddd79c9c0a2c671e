"""Random queries and changes, answered by redquel and by PostgreSQL: 20,000 statements without a difference, 5,000 with windows, WITH,
LATERAL and grouping sets, and 5,000 by other ways than the planner chooses."""
import os
import random as random_module
import sys

sys.path.insert(0, os.path.dirname(__file__))
from query_generator import Generator  # noqa: E402
from window_generator import WindowGenerator  # noqa: E402
from worlds import NOT_BUILT, TIMEOUT, World, compare_worlds, of_postgres, rows_of  # noqa: E402

SLOW = True
LIMIT = 1500  # seconds
STATEMENTS = int(os.environ.get("RANDOM_STATEMENTS", "20000"))
PATHS = int(os.environ.get("RANDOM_PATHS", "5000"))
WINDOWS = int(os.environ.get("RANDOM_WINDOWS", "5000"))
PER_WORLD = 250  # statements over one set of tables


class Queries(World):
    generator = Generator

    def run(self):
        generator = self.generator(random_module.Random(self.seed))
        for statement in generator.world():
            found = self.change(statement)
            self.history.append(statement)
            if found:
                return self.told(statement, found)
        while self.statements < PER_WORLD:
            self.statements += 1
            if generator.chance(0.06):
                statement, table = generator.change()
                self.history.append(statement)
                # Changes are checked by reading the whole table.
                found = self.change(statement) or self.difference(f"SELECT * FROM {table.name}", False)
            else:
                statement, ordered = generator.query()
                found = self.difference(statement, ordered)
            if found:
                return self.told(statement, found)
        return None

    def change(self, statement):
        """None, or the difference. redquel goes first: what it does not do, PostgreSQL must not do either, or the tables part."""
        got = self.redquel.query(statement)[0]
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            return None
        if got.sqlstate == TIMEOUT:
            self.left_out += 1
            return None
        expected = self.postgres.query(of_postgres(statement))[0]
        if expected.sqlstate == got.sqlstate and expected.tag == got.tag and rows_of(expected, True) == rows_of(got, True):
            return None
        return f"{expected.error or expected.tag} against {got.error or got.tag}"


class OtherPaths(Queries):
    """Each query runs with other access rules left out."""
    def difference(self, statement, ordered):
        self.redquel.run(f"SET redquel.left_out_rules = 'some:{self.seed % 1_000_003 + self.statements}'")
        found = super().difference(statement, ordered)
        if found:
            found += f"\n  redquel.left_out_rules = some:{self.seed % 1_000_003 + self.statements}"
        self.redquel.run("RESET redquel.left_out_rules")
        return found


def test_queries_by_other_paths(server, postgres, random):
    compare_worlds(OtherPaths, server, postgres, random, PATHS, PER_WORLD)


def test_queries(server, postgres, random):
    compare_worlds(Queries, server, postgres, random, STATEMENTS, PER_WORLD)


class Windows(Queries):
    generator = WindowGenerator


def test_windows_and_with(server, postgres, random):
    compare_worlds(Windows, server, postgres, random, WINDOWS, PER_WORLD)
