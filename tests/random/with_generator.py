"""Random statements that change the same rows in several places: writing WITH queries, joins that give a row twice,
cascades.

PostgreSQL's parts see the rows of before the statement. A part that reads another one runs after it: the generator reads
parts behind a sort or a hash, and never behind OR, so that PostgreSQL does not run two of them row by row. Where a join gives a row twice, both
pairs say the same.
"""
from dataclasses import dataclass

MOST_KEYS = 6
NOTHING, CASCADE, SET_NULL = "", "CASCADE", "SET NULL"


@dataclass
class Table:
    name: str
    parent: str = None  # the table that column p refers to
    has_key: bool = True
    has_unique: bool = False
    is_foreign: bool = False  # over hashes of an application in redquel, a plain table in PostgreSQL


class WithGenerator:
    def __init__(self, random):
        self.random, self.tables, self.moves = random, [], 0
        self.in_transaction = self.has_failed = False  # of the session, as the test sees it

    def chance(self, share):
        return self.random.random() < share

    def pick(self, things):
        return self.random.choice(things)

    # --- tables

    def world(self):
        for number in range(self.random.randint(1, 3)):
            name = f"t{number}"
            if self.chance(0.2):
                self.tables.append(Table(name, is_foreign=True))
                key = f"{name}:{self.random.getrandbits(48)}:{{id}}"
                yield (f"CREATE FOREIGN TABLE {name} (id int, a int NOT NULL, p int, u int) "
                       f"SERVER redis OPTIONS (layout 'hash', key '{key}')")
                yield self.fill(self.tables[-1])
                continue
            others = [table.name for table in self.tables if table.has_key and not table.is_foreign]
            parents = [None, None, name, *others]
            table = Table(name, self.pick(parents), has_unique=self.chance(0.4))
            table.has_key = table.parent == name or self.chance(0.85)
            parts = ["id int PRIMARY KEY" if table.has_key else "id int", "a int", "p int"]
            parts.append("u int UNIQUE" if table.has_unique else "u int")
            if table.parent:
                actions = "".join(f" ON {event} {action}" for event in ("DELETE", "UPDATE")
                                  for action in [self.pick((CASCADE, CASCADE, SET_NULL, NOTHING))] if action)
                deferrable = self.pick(("", "", "", " DEFERRABLE INITIALLY DEFERRED"))
                parts.append(f"CONSTRAINT {name}_p FOREIGN KEY (p) REFERENCES {table.parent}{actions}{deferrable}")
            self.tables.append(table)
            yield f"CREATE TABLE {name} ({', '.join(parts)})"
            yield self.fill(table)

    def fill(self, table):
        rows = []
        for key in range(1, MOST_KEYS + 1):
            parent = "NULL" if not table.parent or self.chance(0.3) else str(self.random.randint(1, MOST_KEYS))
            rows.append(f"({key}, {self.random.randint(0, 3)}, {parent}, {key * 10})")
        return f"INSERT INTO {table.name} VALUES {', '.join(rows)} ON CONFLICT DO NOTHING"

    # --- parts of a statement

    def condition(self, alias):
        kind = self.random.random()
        if kind < 0.35:
            return f"{alias}.id = {self.random.randint(1, MOST_KEYS)}"
        if kind < 0.6:
            return f"{alias}.id IN ({self.random.randint(1, 3)}, {self.random.randint(4, MOST_KEYS)})"
        if kind < 0.8:
            return f"{alias}.a {self.pick(('=', '<', '>'))} {self.random.randint(0, 3)}"
        return f"{alias}.id {self.pick(('<', '>='))} {self.random.randint(1, MOST_KEYS)}"

    def reading(self, alias, parts):
        """A condition over the rows of an earlier part, which runs to its end before the first row is asked for."""
        if not parts or self.chance(0.3):
            return self.condition(alias)
        part = self.pick(parts)
        moved = self.pick(("", " + 1", " - 1"))
        return self.pick((f"{alias}.id IN (SELECT id{moved} FROM {part})",
                          f"{alias}.id NOT IN (SELECT id{moved} FROM {part} WHERE id IS NOT NULL)",
                          f"{alias}.a + {self.random.randint(0, 2)} >= (SELECT count(*) FROM {part})"))

    def assignment(self, table):
        kinds = [f"a = n.a + {self.random.randint(1, 9)}", f"a = {self.random.randint(0, 3)}", "a = n.a"]
        if table.parent:
            kinds += ["p = NULL", f"p = {self.random.randint(1, MOST_KEYS)}"]
        self.moves += 1
        if table.has_unique and self.chance(0.3):
            kinds.append(f"u = n.u + {1000 * self.moves}")
        if table.has_key and not table.is_foreign and self.chance(0.15):
            kinds.append(f"id = n.id + {1000 * self.moves}")
        return self.pick(kinds)

    def update(self, table, parts):
        values = self.assignment(table)
        if self.chance(0.3):
            source = self.pick(self.tables).name
            if parts and self.chance(0.6):
                source = f"(SELECT id, a FROM {self.pick(parts)} ORDER BY id, a)"
            joined = f"n.id = o.id{self.pick(('', ' + 1'))} AND {self.condition('n')}"
            return f"UPDATE {table.name} AS n SET {values} FROM {source} AS o WHERE {joined}"
        return f"UPDATE {table.name} AS n SET {values} WHERE {self.reading('n', parts)}"

    def delete(self, table, parts):
        if self.chance(0.3):
            source = self.pick(self.tables).name
            if parts and self.chance(0.6):
                source = f"(SELECT id, a FROM {self.pick(parts)} ORDER BY id, a)"
            joined = f"n.id {self.pick(('=', '=', '>='))} o.id AND {self.condition('n')}"
            return f"DELETE FROM {table.name} AS n USING {source} AS o WHERE {joined}"
        return f"DELETE FROM {table.name} AS n WHERE {self.reading('n', parts)}"

    def insert(self, table, parts):
        key = self.pick([self.random.randint(1, MOST_KEYS)] * 2 + [self.random.randint(7, 9)])
        unique = self.pick((f"{key * 10}", "NULL", f"{self.random.randint(10, 99)}"))
        parent = f"{self.random.randint(1, MOST_KEYS)}" if table.parent and self.chance(0.5) else "NULL"
        text = f"INSERT INTO {table.name} AS n (id, a, p, u) "
        if parts and self.chance(0.4):
            self.moves += 1
            moved = self.pick((0, 0, 1000 * self.moves))
            text += (f"SELECT id + {moved}, a, {parent}, NULL FROM {self.pick(parts)} AS o "
                     f"WHERE {self.condition('o')} ORDER BY id LIMIT 1")
        else:
            text += f"VALUES ({key}, {self.random.randint(0, 3)}, {parent}, {unique})"
        kind = self.random.random()
        if kind < 0.3:
            return text + " ON CONFLICT DO NOTHING"
        if kind < 0.8 and table.has_key and not table.is_foreign:
            return text + f" ON CONFLICT (id) DO UPDATE SET a = n.a + excluded.a + 1{self.pick(('', ' WHERE n.a < 9'))}"
        return text

    def part(self, table, parts):
        return self.pick((self.update, self.update, self.delete, self.insert))(table, parts)

    # --- statements

    def with_statement(self):
        parts, texts = [], []
        for number in range(self.random.randint(1, 3)):
            table = self.pick(self.tables)
            text = self.part(table, parts)
            # A part without rows is never read.
            if self.chance(0.75):
                text += " RETURNING n.id, n.a"
                texts.append(f"m{number} AS ({text})")
                parts.append(f"m{number}")
            else:
                texts.append(f"m{number} AS ({text})")
        kind = self.random.random()
        table = self.pick(self.tables)
        if kind < 0.2:
            reads = [f"(SELECT count(*) FROM {part}), (SELECT sum(a) FROM {part})" for part in parts]
            reads.append(f"(SELECT count(*) FROM {table.name})")
            main = f"SELECT {', '.join(reads)}"
        elif kind < 0.3 and table.has_key:
            main = self.merge(table, parts)
        else:
            returned = ("", " RETURNING *", f" RETURNING n.id, n.a, (SELECT count(*) FROM {table.name})")
            main = self.part(table, parts) + self.pick(returned)
        return f"WITH {', '.join(texts)} {main}"

    def merge(self, table, parts):
        source = f"(VALUES ({self.random.randint(1, 3)}), ({self.random.randint(4, 9)})) AS s (id)"
        if parts and self.chance(0.5):
            source = f"(SELECT DISTINCT id FROM {self.pick(parts)} ORDER BY id) AS s"
        matched = self.pick((f"UPDATE SET {self.assignment(table)}", "DELETE", "DO NOTHING"))
        return (f"MERGE INTO {table.name} AS n USING {source} ON n.id = s.id WHEN MATCHED THEN {matched} "
                "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, 0)")

    def plain_statement(self):
        table = self.pick(self.tables)
        return self.part(table, []) + self.pick(("", " RETURNING *"))

    def statement(self):
        if self.has_failed:
            return "ROLLBACK"
        if self.chance(0.08):
            return self.pick(("COMMIT", "ROLLBACK", "SAVEPOINT s")) if self.in_transaction else "BEGIN"
        if self.chance(0.12):
            return self.fill(self.pick(self.tables))
        return self.plain_statement() if self.chance(0.25) else self.with_statement()
