"""Random partitioned tables, changes of their rows and of their partitions, and queries over them, by redquel and by PostgreSQL: the rows lie in
the same partitions, and the answers are the same."""
import os
import sys
from random import Random

sys.path.insert(0, os.path.dirname(__file__))
from worlds import World, compare_worlds  # noqa: E402

SLOW = True
LIMIT = 900  # seconds
CHANGES = int(os.environ.get("RANDOM_PARTITIONS", "1500"))
PER_WORLD = 50
COLUMNS = "a int{}, b text{}, c int, d date"
RANGES = [("MINVALUE", 0), (0, 10), (10, 20), (20, 25), (25, 40), (40, "MAXVALUE")]
LISTS = ["'a', 'b'", "'c'", "'d', NULL", "'e', 'f', 'g'", "''"]


class Partitions(World):
    def run(self):
        self.random = Random(self.seed)
        pick = self.random.choice
        self.strategy = pick(["RANGE (a)", "RANGE (a)", "LIST (b)", "HASH (a)", "HASH (b, a)", "RANGE (a, b)", "RANGE (d)"])
        self.key = pick(["", "", ", PRIMARY KEY (a, b, d)", ", PRIMARY KEY (d, b, a)"])
        null = " NOT NULL" if self.random.random() < 0.2 else ""
        self.both(f"CREATE TABLE t ({COLUMNS.format(null, '')}{self.key}) PARTITION BY {self.strategy}")
        self.made = 0
        for bound in self.bounds():
            if self.random.random() < 0.9:
                self.both(self.creation(bound))
        if "HASH" not in self.strategy and self.random.random() < 0.6:
            self.both("CREATE TABLE t_rest PARTITION OF t DEFAULT")
        for column in self.random.sample("abcd", self.random.randrange(3)):
            self.both(f"CREATE INDEX ON t ({column})")
        self.refers = self.random.random() < 0.5
        if self.refers:
            self.both("CREATE TABLE p (id int PRIMARY KEY)")
            self.both("INSERT INTO p SELECT generate_series(-5, 45)")
            self.both(self.foreign_key())
        while self.statements < PER_WORLD:
            self.statements += 1
            statement = self.change() if self.random.random() < 0.8 else self.definition()
            if found := self.both(statement) or self.difference("SELECT tableoid::regclass::text, * FROM t", False):
                return self.told(statement, found)
            query, ordered = self.query()
            if found := self.difference(query, ordered):
                return self.told(query, found)
        return None

    def bounds(self):
        if "HASH" in self.strategy:
            return [f"WITH (MODULUS {m}, REMAINDER {r})" for m, r in self.random.choice([[(3, 0), (3, 1), (3, 2)], [(2, 0), (4, 1), (4, 3)], [(1, 0)]])]
        if "LIST" in self.strategy:
            return [f"IN ({values})" for values in LISTS]
        if "(a, b)" in self.strategy:
            return ["FROM (MINVALUE, MINVALUE) TO (10, 'c')", "FROM (10, 'c') TO (10, 'f')", "FROM (10, 'f') TO (20, MINVALUE)",
                    "FROM (20, MINVALUE) TO (30, MAXVALUE)", "FROM (31, 'a') TO (MAXVALUE, MAXVALUE)"]
        if "(d)" in self.strategy:
            return [f"FROM ('2026-{month:02}-01') TO ('2026-{month + 1:02}-01')" for month in range(1, 6)]
        return [f"FROM ({low}) TO ({high})" for low, high in RANGES]

    def creation(self, bound):
        """A partition, or a partitioned one with two below it."""
        self.made += 1
        name = f"t{self.made}"
        if self.random.random() < 0.8 or "HASH" in self.strategy:
            return f"CREATE TABLE {name} PARTITION OF t FOR VALUES {bound}"
        return (f"CREATE TABLE {name} PARTITION OF t FOR VALUES {bound} PARTITION BY HASH (b); "
                f"CREATE TABLE {name}_0 PARTITION OF {name} FOR VALUES WITH (MODULUS 2, REMAINDER 0); "
                f"CREATE TABLE {name}_1 PARTITION OF {name} FOR VALUES WITH (MODULUS 2, REMAINDER 1)")

    def foreign_key(self):
        actions = ["", "ON DELETE CASCADE", "ON DELETE SET NULL ON UPDATE CASCADE", "ON DELETE CASCADE ON UPDATE SET NULL"]
        return f"ALTER TABLE t ADD CONSTRAINT refers FOREIGN KEY (c) REFERENCES p {self.random.choice(actions)}"

    def definition(self):
        if self.refers and self.random.random() < 0.3:
            return self.random.choice([self.foreign_key(), "ALTER TABLE t DROP CONSTRAINT refers"])
        part = f"t{self.random.randrange(1, max(2, self.made + 1))}"
        return self.random.choice([
            f"ALTER TABLE t DETACH PARTITION {part}",
            f"ALTER TABLE t ATTACH PARTITION {part} FOR VALUES {self.random.choice(self.bounds())}",
            "ALTER TABLE t DETACH PARTITION t_rest",
            "ALTER TABLE t ATTACH PARTITION t_rest DEFAULT",
            f"TRUNCATE {part}",
            f"CREATE INDEX ON t ({self.random.choice('abcd')})",
            self.creation(self.random.choice(self.bounds())),
        ])

    def value(self, column):
        if column in "ac":
            return str(self.random.randrange(-5, 45))
        if column == "b":
            return "'" + self.random.choice(["a", "b", "c", "d", "e", "f", "g", "h", ""]) + "'"
        return f"date '2026-01-01' + {self.random.randrange(170)}"

    def condition(self):
        if self.random.random() < 0.25:
            return f"({self.condition()} {self.random.choice(['AND', 'OR'])} {self.condition()})"
        column = self.random.choice("aabbcd")
        return self.random.choice([
            f"{column} = {self.value(column)}", f"{column} {self.random.choice(['<', '<=', '>', '>=', '<>'])} {self.value(column)}",
            f"{column} BETWEEN {self.value(column)} AND {self.value(column)}", f"{column} IN ({self.value(column)}, {self.value(column)})",
            f"{column} IS {self.random.choice(['', 'NOT '])}NULL", f"NOT ({column} = {self.value(column)})",
        ])

    def change(self):
        pick, value = self.random.choice, self.value
        row = lambda: "(" + ", ".join(value(c) if self.random.random() < 0.93 else "NULL" for c in "abcd") + ")"  # noqa: E731
        part = f"t{self.random.randrange(1, max(2, self.made + 1))}"
        changes = [
            f"INSERT INTO t VALUES {', '.join(row() for _ in range(self.random.randrange(1, 6)))}",
            f"INSERT INTO t VALUES {row()} RETURNING *",
            f"INSERT INTO t SELECT i, {value('b')}, i, {value('d')} FROM generate_series({value('a')}, {value('a')}) i",
            f"INSERT INTO {part} VALUES {row()}",
            f"UPDATE t SET a = {value('a')} WHERE {self.condition()}",
            f"UPDATE t SET b = {value('b')} WHERE {self.condition()}",
            f"DELETE FROM t WHERE {self.condition()}",
            f"DELETE FROM {part} WHERE {self.condition()} RETURNING a, b",
        ]
        if self.refers:
            changes += [f"DELETE FROM p WHERE id IN ({value('c')}, {value('c')})", f"UPDATE p SET id = {value('c')} WHERE id = {value('c')}",
                        f"INSERT INTO p SELECT generate_series({value('c')}, {value('c')}) ON CONFLICT DO NOTHING",
                        f"WITH gone AS (DELETE FROM p WHERE id = {value('c')} RETURNING id) DELETE FROM t USING gone WHERE c = id RETURNING c"]
        if self.key:
            changes += [f"INSERT INTO t VALUES {row()} ON CONFLICT DO NOTHING",
                        f"INSERT INTO t VALUES {row()}, {row()} ON CONFLICT (a, b, d) DO UPDATE SET c = t.c + 1 RETURNING c"]
        else:  # else PostgreSQL may meet two rows with one key on the way
            changes += [f"UPDATE t SET a = a + {self.random.randrange(1, 9)}, c = c + 1 WHERE {self.condition()} RETURNING *",
                        f"UPDATE t SET d = d + {self.random.randrange(-20, 40)}, c = {value('c')} WHERE {self.condition()}",
                        f"UPDATE {part} SET c = c + 1, a = a + {self.random.randrange(2)} WHERE {self.condition()}"]
        return pick(changes)

    def query(self):
        pick = self.random.choice
        where = self.condition()
        key = pick("abcd")
        return pick([
            (f"SELECT * FROM t WHERE {where}", False),
            (f"SELECT tableoid::regclass::text, a, b FROM t WHERE {where}", False),
            (f"SELECT count(*), count({key}), min({key}), max({key}) FROM t WHERE {where}", True),
            (f"SELECT {key}, count(*), sum(c) FROM t WHERE {where} GROUP BY 1", False),
            (f"SELECT {key} FROM t WHERE {where} ORDER BY {key} {pick(['', 'DESC'])} LIMIT {self.random.randrange(1, 9)}", True),
            (f"SELECT DISTINCT {key} FROM t WHERE {where}", False),
            (f"SELECT x.a, y.b FROM t x JOIN t y ON x.{key} = y.{key} WHERE x.{where}" if where[0] in "abcd" else "SELECT count(*) FROM t x NATURAL JOIN t y", False),
            (f"SELECT * FROM t WHERE {key} IN (SELECT {key} FROM t WHERE {where})", False),
        ])

    def both(self, statement):
        not_built = self.not_built
        found = super().both(statement)
        assert self.not_built == not_built or ";" not in statement, statement  # a part of it would have run
        return found


def test_partitions(server, postgres, random):
    compare_worlds(Partitions, server, postgres, random, CHANGES, PER_WORLD)
