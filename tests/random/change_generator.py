"""Random tables with constraints, and random changes of their rows and definitions, which PostgreSQL and redquel must answer alike.

What it makes has one right answer: unique columns are set to literals or moved far away (redquel looks at uniqueness when the
statement is done, docs/differences.md), UPDATE … FROM and MERGE find at most one source row for each target row, and no column takes
numbers of a sequence, of which a statement that is run again takes more.
"""
from dataclasses import dataclass, field

TYPES = ("int", "bigint", "text", "numeric", "bool", "date", "int[]", "jsonb")
WORDS = ("a", "ab", "b", "", "zoë", "A b")
FAR = 1000  # more than any literal of a key; each statement that moves keys goes further


@dataclass
class Column:
    name: str
    type: str
    required: bool = False
    generated: bool = False
    default: str = None


@dataclass
class Table:
    name: str
    columns: list
    key: tuple = ()
    uniques: list = field(default_factory=list)  # tuples of column names
    references: list = field(default_factory=list)  # (columns, table)
    is_deferrable: bool = False  # some key is
    added: int = 0  # numbers columns, constraints and indexes made later

    def column(self, name):
        return next(column for column in self.columns if column.name == name)

    def is_unique(self, name):
        return name in self.key or any(name in unique for unique in self.uniques)

    def is_bound(self, name):
        """Whether a key, a unique constraint or a foreign key holds the column."""
        return self.is_unique(name) or any(name in columns for columns, _ in self.references)


class ChangeGenerator:
    def __init__(self, random):
        self.random, self.tables, self.savepoints, self.moves = random, [], 0, 0
        self.in_transaction = self.has_failed = False  # of the session, as the test sees it
        self.violates_once = False  # the last statement breaks at most one constraint first, and it is known which

    def chance(self, share):
        return self.random.random() < share

    def pick(self, things):
        return self.random.choice(things)

    # --- tables

    def world(self):
        for number in range(self.random.randint(2, 4)):
            yield self.create_table(number)
            table = self.tables[-1]
            for index in range(self.random.randint(0, 2)):
                yield self.create_index(table)
            for _ in range(self.random.randint(1, 3)):
                yield self.insert(table)

    def create_table(self, number):
        columns = [Column(f"c{i}", self.pick(TYPES), required=self.chance(0.1)) for i in range(self.random.randint(1, 4))]
        table = Table(f"t{number}", columns)
        parts = []
        shape = self.pick(("int", "int", "pair", "text", "none"))
        if shape in ("int", "text"):
            columns.insert(0, Column("k", shape, required=True))
        elif shape == "pair":
            columns[:0] = [Column("k", "int", required=True), Column("k2", "text", required=True)]
        table.key = {"none": (), "pair": ("k", "k2")}.get(shape, ("k",))
        if table.key:
            parts.append(f"PRIMARY KEY ({', '.join(table.key)}){self.deferrable_key(table, 0.05)}")
        if self.chance(0.6):
            columns.append(Column("u", self.pick(("int", "text"))))
            unique = ("u",)
            if self.chance(0.3):
                columns.append(Column("u2", "int"))
                unique = ("u", "u2")
            table.uniques.append(unique)
            nulls = " NULLS NOT DISTINCT" if self.chance(0.3) else ""
            parts.append(f"CONSTRAINT {table.name}_u UNIQUE{nulls} ({', '.join(unique)}){self.deferrable_key(table, 0.1)}")
        for column in columns:
            if not table.is_unique(column.name) and self.chance(0.25):
                column.default = self.literal(column.type)
        parents = [t for t in self.tables if t.key and not t.is_deferrable and all(t.column(k).type in ("int", "text") for k in t.key)]
        if table.key and not table.is_deferrable:
            parents.append(table)
        if parents and self.chance(0.8):
            parent = self.pick(parents)
            names = tuple(f"r{i}" for i in range(len(parent.key)))
            columns += [Column(name, parent.column(k).type) for name, k in zip(names, parent.key)]
            table.references.append((names, parent))
            actions = "".join(f" ON {event} {action}" for event in ("DELETE", "UPDATE") if self.chance(0.7)
                              for action in [self.pick(("CASCADE", "CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"))])
            match = " MATCH FULL" if len(names) > 1 and self.chance(0.3) else ""
            parts.append(f"CONSTRAINT {table.name}_r FOREIGN KEY ({', '.join(names)}) REFERENCES {parent.name}{match}{actions}{self.deferrable(0.3)}")
        numbers = [c.name for c in columns if c.type in ("int", "bigint")]
        if numbers and self.chance(0.4):
            parts.append(f"CONSTRAINT {table.name}_c CHECK ({self.pick(numbers)} < {self.random.randint(25, 38)})")
        if numbers and self.chance(0.3):
            columns.append(Column("g", "bigint", generated=True))
        self.tables.append(table)
        source = self.pick(numbers) if numbers else None
        return f"CREATE TABLE {table.name} ({', '.join([self.definition(c, source) for c in columns] + parts)})"

    def deferrable(self, share):
        return self.pick((" DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED")) if self.chance(share) else ""

    def deferrable_key(self, table, share):
        text = self.deferrable(share)
        table.is_deferrable |= text != ""
        return text

    def definition(self, column, source):
        text = f"{column.name} {column.type}"
        if column.generated:
            return f"{text} GENERATED ALWAYS AS ({source}::bigint * 2) STORED"
        return text + (" NOT NULL" if column.required else "") + (f" DEFAULT {column.default}" if column.default else "")

    def create_index(self, table):
        table.added += 1
        names = [c.name for c in table.columns if c.type not in ("jsonb", "int[]")] or [table.columns[0].name]
        chosen = ", ".join(self.random.sample(names, min(len(names), self.random.randint(1, 2))))
        if self.chance(0.2):
            return f"CREATE INDEX {table.name}_i{table.added} ON {table.name} USING zset ({chosen})"
        if self.chance(0.2):
            chosen = self.pick([f"({n} IS NULL)" if table.column(n).type != "text" else f"lower({n})" for n in names])
        where = f" WHERE {self.condition(table, table.name)}" if self.chance(0.2) else ""
        return f"CREATE INDEX {table.name}_i{table.added} ON {table.name} ({chosen}){where}"

    # --- values

    def literal(self, type_):
        if type_ in ("int", "bigint"):
            return str(self.random.randint(-3, 30))
        if type_ == "numeric":
            return self.pick(("0.00", "1.50", "-2.25", "10.00"))
        if type_ == "bool":
            return self.pick(("true", "false"))
        if type_ == "date":
            return f"date '2024-01-{self.random.randint(10, 20)}'"
        if type_ == "int[]":
            return self.pick(("'{}'::int[]", "'{1,2}'::int[]", "'{NULL,7}'::int[]"))
        if type_ == "jsonb":
            return self.pick(("'{\"a\": 1}'::jsonb", "'[1, null]'::jsonb", "'\"x\"'::jsonb"))
        return "'" + self.pick(WORDS) + (str(self.random.randint(0, 9)) if self.chance(0.7) else "") + "'"

    def stored(self, column):
        if column.generated:
            return "DEFAULT"
        if column.default and self.chance(0.3):
            return "DEFAULT"
        return "NULL" if self.chance(0.02 if column.required else 0.2) else self.literal(column.type)

    def changed(self, table, column, alias):
        """An expression for SET."""
        if column.generated:
            return "DEFAULT"
        name, forms = f"{alias}.{column.name}", [self.literal(column.type)] * 2
        if not column.required:
            forms.append("NULL")
        forms.append("DEFAULT")
        if table.is_unique(column.name):
            self.moves += 1
            return self.pick(forms + ([f"{name} + {FAR * 2 ** (self.moves % 20)}"] if column.type == "int" else [f"{name} || '!'"]))
        if column.type in ("int", "bigint", "numeric"):
            forms += [f"{name} + 1", f"coalesce({name}, 0) - {self.literal(column.type)}"]
        elif column.type == "text":
            forms.append(f"{name} || 'x'")
        elif column.type == "int[]":
            forms.append(f"{name} || {self.literal('int')}")
        elif column.type == "jsonb":
            forms.append(f"jsonb_build_array({name})")
        elif column.type == "date":
            forms.append(f"{name} + 1")
        return self.pick(forms)

    def assignments(self, table, alias):
        columns = [c for c in table.columns if not c.generated]
        chosen = self.random.sample(columns, min(len(columns), self.random.randint(1, 2)))
        return ", ".join(f"{c.name} = {self.changed(table, c, alias)}" for c in chosen)

    def condition(self, table, alias):
        column = self.pick(table.columns)
        if self.chance(0.4) and table.key:
            column = table.column(table.key[0])
        name = f"{alias}.{column.name}"
        kind = self.random.random()
        if kind < 0.15 or column.type in ("jsonb", "int[]"):
            return f"{name} IS {'NOT ' if self.chance(0.5) else ''}NULL"
        if kind < 0.35:
            return f"{name} IN ({', '.join(self.literal(column.type) for _ in range(3))})"
        if kind < 0.6:
            return f"{name} {self.pick('<>')} {self.literal(column.type)}"
        if kind < 0.7:
            return f"({self.condition(table, alias)} {self.pick(('AND', 'OR'))} {self.condition(table, alias)})"
        return f"{name} = {self.literal(column.type)}"

    def where(self, table, alias):
        return f" WHERE {self.condition(table, alias)}" if self.chance(0.92) else ""

    def returning(self, table, alias):
        return f" RETURNING {self.pick(('*', alias + '.' + table.columns[0].name))}" if self.chance(0.3) else ""

    # --- changes of rows

    def rows(self, table):
        count = self.random.randint(1, 5)
        self.violates_once = count == 1 and not table.is_deferrable
        return ", ".join(f"({', '.join(self.stored(c) for c in table.columns)})" for _ in range(count))

    def insert(self, table):
        text = f"INSERT INTO {table.name} AS n VALUES {self.rows(table)}"
        targets = ([table.key] if table.key else []) + table.uniques
        kind = self.random.random()
        if kind < 0.25 and not table.is_deferrable:
            text += " ON CONFLICT DO NOTHING"
        elif kind < 0.5 and targets and not table.is_deferrable:
            target = self.pick(targets)
            # One of several rows may be given a unique value that another gives up: the outcome depends on their order.
            plain = [c for c in table.columns if not c.generated and c.name not in target and (self.violates_once or not table.is_unique(c.name))]
            if plain:
                column = self.pick(plain)
                value = f"excluded.{column.name}" if self.chance(0.6) else self.changed(table, column, "n")
                where = f" WHERE {self.condition(table, 'n')}" if self.chance(0.3) else ""
                text += f" ON CONFLICT ({', '.join(target)}) DO UPDATE SET {column.name} = {value}{where}"
        return text + self.returning(table, "n")

    def update(self, table):
        return f"UPDATE {table.name} AS n SET {self.assignments(table, 'n')}{self.where(table, 'n')}{self.returning(table, 'n')}"

    def update_from(self, table):
        key = " AND ".join(f"n.{k} = o.{k}" for k in table.key)
        return f"UPDATE {table.name} AS n SET {self.assignments(table, 'n')} FROM {table.name} AS o WHERE {key} AND {self.condition(table, 'o')}{self.returning(table, 'n')}"

    def delete(self, table):
        condition = f"{self.condition(table, 'n')} AND {self.condition(table, 'n')}" if self.chance(0.6) else self.condition(table, "n")
        return f"DELETE FROM {table.name} AS n WHERE {condition}{self.returning(table, 'n')}"

    def delete_using(self, table):
        names, parent = self.pick(table.references)
        joined = " AND ".join(f"n.{a} = p.{b}" for a, b in zip(names, parent.key))
        return f"DELETE FROM {table.name} AS n USING {parent.name} AS p WHERE {joined} AND {self.condition(parent, 'p')}"

    def merge(self, table):
        key = table.key[0]
        literals = sorted({self.literal(table.column(key).type) for _ in range(4)})
        source = f"(VALUES {', '.join(f'({literal})' for literal in literals)}) AS s (v)"
        whens, gives_up = [], False
        if self.chance(0.7):
            also = f" AND {self.condition(table, 'n')}" if self.chance(0.5) else ""
            action = self.pick(("DELETE", "DO NOTHING", "UPDATE SET " + self.assignments(table, "n")))
            gives_up = bool(table.uniques) and action != "DO NOTHING"  # unique values, which a new row might have
            whens.append(f"WHEN MATCHED{also} THEN {action}")
        if not whens or (not gives_up and self.chance(0.8)):
            values = ", ".join("s.v" if c.name == key else self.stored(c) for c in table.columns)
            whens.append(f"WHEN NOT MATCHED THEN INSERT VALUES ({values})")
        return f"MERGE INTO {table.name} AS n USING {source} ON n.{key} = s.v {' '.join(whens)}"

    def insert_select(self, table):
        key = table.key[0]
        if table.column(key).type != "int":
            return self.insert(table)
        values = [f"n.{c.name} + {FAR // 10}" if c.name == key else (self.stored(c) if c.name in ("u", "u2") or c.generated else f"n.{c.name}")
                  for c in table.columns if not c.generated]
        values = ["NULL" if v == "DEFAULT" else v for v in values]
        names = ", ".join(c.name for c in table.columns if not c.generated)
        conflict = " ON CONFLICT DO NOTHING" if self.chance(0.4) and not table.is_deferrable else ""
        return f"INSERT INTO {table.name} ({names}) SELECT {', '.join(values)} FROM {table.name} AS n{self.where(table, 'n')} ORDER BY {', '.join(f'n.{k}' for k in table.key)}{conflict}"

    def with_writes(self, table):
        other = self.pick(self.tables)
        if other is table or self.related(table, other):
            return self.update(table)
        return (f"WITH gone AS (DELETE FROM {table.name} AS n WHERE {self.condition(table, 'n')} RETURNING *), "
                f"moved AS (UPDATE {other.name} AS n SET {self.assignments(other, 'n')} WHERE {self.condition(other, 'n')} RETURNING 1) "
                "SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM moved)")

    def related(self, a, b):
        """Whether foreign keys lead from one table to the other, over others, too."""
        seen, more = {a.name}, [a]
        while more:
            table = more.pop()
            near = [parent for _, parent in table.references]
            near += [other for other in self.tables if any(parent is table for _, parent in other.references)]
            more += [other for other in near if other.name not in seen]
            seen |= {other.name for other in near}
        return b.name in seen

    def truncate(self, table):
        return f"TRUNCATE {table.name}{self.pick(('', ' CASCADE'))}{self.pick(('', ' RESTART IDENTITY'))}"

    # --- definitions

    def definition_change(self, table):
        table.added += 1
        kind = self.pick(("add column", "add column", "index", "index", "check", "drop constraint", "required", "default", "drop index", "type", "unique"))
        name = table.name
        if kind == "add column":
            type_ = self.pick(TYPES)
            default = f" DEFAULT {self.literal(type_)}" if self.chance(0.6) else ""
            column = Column(f"a{table.added}", type_)
            # Only where it succeeds do later statements know of it: the test asks.
            return f"ALTER TABLE {name} ADD COLUMN {column.name} {type_}{default}", lambda: table.columns.append(column)
        if kind == "index":
            return self.create_index(table), None
        if kind == "check":
            numbers = [c.name for c in table.columns if c.type in ("int", "bigint")]
            if numbers:
                return f"ALTER TABLE {name} ADD CONSTRAINT {name}_k{table.added} CHECK ({self.pick(numbers)} < {self.random.randint(10, 2000)})", None
        if kind == "drop constraint":
            return f"ALTER TABLE {name} DROP CONSTRAINT IF EXISTS {name}_c", None
        plain = [c for c in table.columns if not table.is_bound(c.name) and not c.generated]
        if not plain:
            return self.create_index(table), None
        column = self.pick(plain)
        if kind == "required":
            def note(value):
                column.required = value
            required = self.chance(0.5)
            return f"ALTER TABLE {name} ALTER COLUMN {column.name} {'SET' if required else 'DROP'} NOT NULL", lambda: note(required)
        if kind == "default":
            return f"ALTER TABLE {name} ALTER COLUMN {column.name} SET DEFAULT {self.literal(column.type)}", None
        if kind == "type" and column.type == "int":
            def note_type():
                column.type = "bigint"
            return f"ALTER TABLE {name} ALTER COLUMN {column.name} TYPE bigint", note_type
        if kind == "unique" and column.type in ("int", "text", "bigint"):
            return f"ALTER TABLE {name} ADD CONSTRAINT {name}_n{table.added} UNIQUE ({column.name})", lambda: table.uniques.append((column.name,))
        return f"DROP INDEX IF EXISTS {name}_i{self.random.randint(1, table.added)}", None

    def may_wait_for_checks(self, table):
        """PostgreSQL refuses definitions while deferred checks wait, redquel only some of them (docs/differences.md)."""
        return table.is_deferrable or table.references or any(parent is table for t in self.tables for _, parent in t.references)

    # --- statements of a session

    def statement(self):
        """A statement and what to do where it succeeds."""
        self.violates_once = False
        if self.chance(0.5 if self.has_failed else 0.12):
            return self.control(), None
        table = self.pick(self.tables)
        if self.chance(0.05) and not (self.in_transaction and self.may_wait_for_checks(table)):
            return self.definition_change(table)
        kinds = [self.insert] * 6 + [self.update] * 6 + [self.delete] * 3 + [self.with_writes]
        if table.key:
            kinds += [self.merge, self.merge, self.insert_select]
        if table.key and not table.is_deferrable:  # a key that waits for its check may find two rows
            kinds.append(self.update_from)
        if table.references:
            kinds.append(self.delete_using)
        if self.chance(0.01) and not (self.in_transaction and self.may_wait_for_checks(table)):
            kinds = [self.truncate]
        return self.pick(kinds)(table), None

    def control(self):
        if not self.in_transaction:
            self.savepoints = 0
            return "BEGIN" + self.pick(("", "", " ISOLATION LEVEL REPEATABLE READ", " ISOLATION LEVEL SERIALIZABLE"))
        kind = self.random.random()
        if kind < 0.3:
            self.savepoints += 1
            return f"SAVEPOINT s{self.savepoints}"
        if kind < 0.55 and self.savepoints:
            return f"{self.pick(('ROLLBACK TO', 'ROLLBACK TO', 'RELEASE'))} s{self.random.randint(1, self.savepoints)}"
        if kind < 0.65:
            return f"SET CONSTRAINTS ALL {self.pick(('IMMEDIATE', 'DEFERRED'))}"
        return self.pick(("COMMIT", "COMMIT", "ROLLBACK"))
