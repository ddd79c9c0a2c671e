"""Random tables, queries and changes that PostgreSQL and redquel must answer alike.

What it makes never depends on the order in which a plan computes things: no division by columns, no overflow, no sums in
float8, no equal values that look different (1.0 and 1.00), LIMIT only where the order is total. Types are few, values are small and NULLs frequent, so that conditions meet.
"""

TYPES = ("int", "bigint", "text", "numeric", "bool", "date", "float8", "bytea")
JOINED = ("int", "bigint", "text")  # types of many values: joins stay small
NUMBERS = ("int", "bigint", "numeric", "float8")
BYTES = ("", "00", "0000", "00ff", "61", "6100", "610000", "6101", "61ff", "ff", "ff00")  # many are prefixes of others
WORDS = ("a", "ab", "abc", "b", "ba", "c%", "Zoe", "zoë", "", " x", "A_b", "longer text of some words")


class Table:
    def __init__(self, name, columns, key, required):
        self.name, self.columns, self.key, self.required = name, columns, key, required


class Source:
    """Something in FROM: an alias and its columns (name, type)."""

    def __init__(self, alias, columns):
        self.alias, self.columns = alias, columns


class Generator:
    def __init__(self, random):
        self.random, self.tables, self.aliases = random, [], 0

    # --- small choices

    def chance(self, share):
        return self.random.random() < share

    def pick(self, things):
        return self.random.choice(things)

    def alias(self):
        self.aliases += 1
        return f"q{self.aliases}"

    # --- tables and their rows

    def world(self):
        """Statements that make the tables."""
        statements = []
        for number in range(self.random.randint(2, 4)):
            columns = [(f"c{i}", self.pick(TYPES)) for i in range(self.random.randint(2, 6))]
            key = self.pick(("serial", "int", "text", "pair", "none"))
            if key == "pair":
                columns = [("k1", "int"), ("k2", self.pick(("int", "text")))] + columns
            elif key in ("int", "text"):
                columns = [("k", key)] + columns
            elif key == "serial":
                columns = [("k", "int")] + columns
            keys = {"pair": ("k1", "k2"), "none": ()}.get(key, ("k",))
            required = {name for name, _ in columns if name in keys or self.chance(0.15)}
            table = Table(f"t{number}", columns, key, required)
            self.tables.append(table)
            parts = [f"{name} {type_}" + (" NOT NULL" if name in required else "") for name, type_ in columns]
            if keys:
                parts.append(f"PRIMARY KEY ({', '.join(keys)})")
            create = f"CREATE TABLE {table.name} ({', '.join(parts)})"
            statements.append(create)
            for index in range(self.random.randint(0, 4)):
                statements.append(self.index(table, index))
            for _ in range(self.random.randint(0, 3)):
                insert = self.insert(table)
                statements.append(insert)
        return statements

    def index(self, table, number):
        method = self.pick(("btree", "btree", "hash", "zset"))
        width = 1 if method == "hash" or self.chance(0.2 if method == "zset" else 0.6) else min(2, len(table.columns))
        names = [name for name, _ in self.random.sample(table.columns, width)]
        if table.key == "pair" and self.chance(0.4):
            names = [self.pick(("k1", "k2"))]  # its sets leave this part out of their members
        return f"CREATE INDEX {table.name}_i{number} ON {table.name} USING {method} ({', '.join(names)})"

    def insert(self, table):
        rows = []
        for _ in range(self.random.randint(1, 14)):
            rows.append(f"({', '.join(self.stored(type_, name in table.required) for name, type_ in table.columns)})")
        return f"INSERT INTO {table.name} VALUES {', '.join(rows)} ON CONFLICT DO NOTHING" if table.key != "none" else (
            f"INSERT INTO {table.name} VALUES {', '.join(rows)}")

    def stored(self, type_, required):
        return self.literal(type_, wide=True) if self.chance(0.998 if required else 0.85) else "NULL"

    def literal(self, type_, wide=False):
        if type_ in ("int", "bigint"):
            return str(self.random.randint(-3, 40 if wide else 15))
        if type_ == "numeric":
            return self.pick(("0.00", "1.00", "1.50", "-2.25", "3.00", "10.00", "7.12"))
        if type_ == "float8":
            return self.pick(("0.5", "1", "-1.5", "2.5", "4", "100"))
        if type_ == "bool":
            return self.pick(("true", "false"))
        if type_ == "bytea":
            return f"'\\x{self.pick(BYTES)}'"
        if type_ == "date":
            return f"date '2024-0{self.random.randint(1, 3)}-{self.random.randint(10, 20)}'"
        return "'" + self.pick(WORDS) + (str(self.random.randint(0, 30)) if wide and self.chance(0.6) else "") + "'"

    # --- expressions

    def column(self, type_, scope):
        found = [f"{source.alias}.{name}" for source in scope for name, of in source.columns if of == type_]
        return self.pick(found) if found else None

    def expression(self, type_, scope, depth):
        column = self.column(type_, scope)
        if depth <= 0 or self.chance(0.5):
            return column if column and self.chance(0.8) else self.typed_literal(type_)
        part = lambda of: self.expression(of, scope, depth - 1)  # noqa: E731
        if self.chance(0.2):
            return self.pick((f"CASE WHEN {self.condition(scope, depth - 1)} THEN {part(type_)} ELSE {part(type_)} END",
                              f"coalesce({part(type_)}, {part(type_)})", f"nullif({part(type_)}, {part(type_)})",
                              f"greatest({part(type_)}, {part(type_)})"))
        if type_ in NUMBERS:
            forms = [f"({part(type_)} {self.pick('+-')} {part(type_)})", f"(- {part(type_)})", f"abs({part(type_)})"]
            if type_ == "int":
                forms += [f"length({part('text')})", f"({part('int')} % 7)", f"({part('date')} - {part('date')})"]
            if type_ == "numeric":
                forms += [f"round({part('numeric')}, 2)", f"({part('int')} * {part('numeric')})"]
            # No 0.5 - 0.5: a 0 of float8 may be -0, which equals it and looks different.
            return self.pick(forms if type_ != "float8" else forms[1:])
        if type_ == "text":
            return self.pick((f"({part('text')} || {part('text')})", f"upper({part('text')})", f"substr({part('text')}, 2)",
                              f"({part('int')})::text", f"left({part('text')}, 2)"))
        if type_ == "bool":
            return f"({self.condition(scope, depth - 1)})"
        if type_ == "date":
            return f"({part('date')} + {self.random.randint(-3, 3)})"
        return column or self.typed_literal(type_)

    def typed_literal(self, type_):
        return f"NULL::{type_}" if self.chance(0.07) else f"{self.literal(type_)}::{type_}"

    def condition(self, scope, depth):
        if depth > 0 and self.chance(0.45):
            word = self.pick((" AND ", " OR "))
            parts = [self.condition(scope, depth - 1) for _ in range(self.random.randint(2, 3))]
            return ("NOT " if self.chance(0.2) else "") + "(" + word.join(parts) + ")"
        if depth > 0 and self.chance(0.12):
            return self.subquery_condition(scope, depth - 1)
        type_ = self.pick([of for source in scope for _, of in source.columns] or ["int"])
        value = self.column(type_, scope) if self.chance(0.85) else self.expression(type_, scope, 1)
        value = value or self.typed_literal(type_)
        other = lambda: self.operand(type_, scope, depth)  # noqa: E731
        negated = "NOT " if self.chance(0.25) else ""
        kind = self.random.random()
        if kind < 0.15:
            return f"{value} IS {negated}NULL"
        if kind < 0.3:
            return f"{value} {negated}IN ({', '.join(other() for _ in range(self.random.randint(1, 4)))})"
        if kind < 0.45:
            return f"{value} {negated}BETWEEN {other()} AND {other()}"
        if kind < 0.6 and type_ == "text":
            pattern = self.pick(("a%", "%b%", "_b%", "ab", "%", "c\\%%", "A%"))
            return f"{value} {negated}{self.pick(('LIKE', 'LIKE', 'ILIKE'))} '{pattern}'"
        if kind < 0.65:
            return f"{value} IS {negated}DISTINCT FROM {other()}"
        if type_ == "bool" and kind < 0.85:
            return self.pick((f"{value}", f"{value} IS {negated}TRUE", f"NOT {value}"))
        return f"{value} {self.pick(('=', '=', '<>', '<', '<=', '>', '>='))} {other()}"

    def operand(self, type_, scope, depth):
        """What a column is compared with: mostly a literal; NULLs are written or computed."""
        if self.chance(0.06):
            null = f"NULL::{type_}"
            return self.pick(("NULL", null, f"nullif({self.literal(type_)}, NULL)", f"nullif({null}, {self.literal(type_)})"))
        return self.literal(type_) if self.chance(0.7) else self.expression(type_, scope, depth - 1)

    def subquery_condition(self, scope, depth):
        negated = "NOT " if self.chance(0.3) else ""
        if self.chance(0.5):
            return f"{negated}EXISTS ({self.select(depth, outer=scope)[0]})"
        type_ = self.pick(TYPES)
        query = self.select(depth, types=[type_], outer=scope)[0]
        value = self.expression(type_, scope, 0)
        if self.chance(0.25):
            return f"{value} {self.pick(('=', '<', '>='))} {self.pick(('ANY', 'ALL'))} ({query})"
        return f"{value} {negated}IN ({query})"

    # --- queries

    def source(self, depth):
        if depth > 0 and self.chance(0.15):
            query, types = self.select(depth - 1, named=True)
            alias = self.alias()
            return f"({query}) AS {alias}", Source(alias, [(f"x{i}", of) for i, of in enumerate(types)])
        table, alias = self.pick(self.tables), self.alias()
        return f"{table.name} AS {alias}", Source(alias, table.columns)

    def from_clause(self, depth):
        text, source = self.source(depth)
        scope = [source]
        for _ in range(self.pick((0, 0, 0, 1, 1, 2, 3) if depth > 0 else (0, 0, 1))):
            more, added = self.source(depth)
            equal = [(f"{s.alias}.{a}", f"{added.alias}.{b}") for s in scope for a, ta in s.columns
                     for b, tb in added.columns if ta == tb and ta in JOINED]
            kind = self.pick(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ","))
            if kind == "," and len(scope) < 2 and depth > 0 and self.chance(0.5):
                text, scope = f"{text} CROSS JOIN {more}", scope + [added]
                continue
            conditions = ["%s = %s" % self.pick(equal)] if equal else ["false"]
            if kind != "FULL JOIN" and self.chance(0.3):
                conditions.append(self.condition(scope + [added], 1))
            text = f"{text} {'JOIN' if kind == ',' else kind} {more} ON {' AND '.join(conditions)}"
            scope = scope + [added]
        return text, scope

    def select(self, depth, types=None, outer=(), named=False):
        """A query and the types of its columns."""
        if depth > 0 and self.chance(0.12):
            return self.set_operation(depth, types, named)
        text, scope = self.from_clause(depth)
        types = types or [self.pick(TYPES) for _ in range(self.random.randint(1, 4))]
        everything = list(scope) + list(outer)
        where = f" WHERE {self.condition(everything, depth + 1)}" if self.chance(0.75) else ""
        names = [f" AS x{i}" if named else "" for i in range(len(types))]
        if self.chance(0.25):
            return self.grouped(text, scope, where, types, names, depth), types
        targets = [self.expression(of, everything if self.chance(0.3) else scope, depth) for of in types]
        if depth > 0 and self.chance(0.08):
            of = types[0]
            inner_text, inner = self.from_clause(0)
            targets[0] = f"(SELECT max({self.expression(of, inner, 0)}) FROM {inner_text} WHERE {self.condition(inner + scope, 0)})" if of not in ("bool", "bytea") else targets[0]
        distinct = "DISTINCT " if self.chance(0.15) else ""
        query = f"SELECT {distinct}{', '.join(t + n for t, n in zip(targets, names))} FROM {text}{where}"
        return query + self.tail(len(types), bool(distinct)), types

    def grouped(self, text, scope, where, types, names, depth):
        keys, targets = [], []
        for of in types:
            if self.chance(0.4):
                key = self.expression(of, scope, 1)
                if "::" in key[-9:] or not any(f"{s.alias}." in key for s in scope):
                    key = self.column(of, scope)
                if key:
                    keys.append(key)
                    targets.append(key)
                    continue
            targets.append(self.aggregate(of, scope))
        having = f" HAVING count(*) > {self.random.randint(0, 2)}" if self.chance(0.3) else ""
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(t + n for t, n in zip(targets, names))} FROM {text}{where}{group}{having}{self.tail(len(types), False)}"

    def aggregate(self, of, scope):
        value = self.expression(of, scope, 1)
        distinct = "DISTINCT " if self.chance(0.2) else ""
        filtered = f" FILTER (WHERE {self.condition(scope, 0)})" if self.chance(0.15) else ""
        if of == "bigint":
            inner = self.expression(self.pick(TYPES), scope, 0)
            call = self.pick(("count(*)", f"count({distinct}{inner})", f"sum({distinct}{self.expression('int', scope, 0)})"))
        elif of == "numeric":
            averaged = self.pick((f"{distinct}{value}", self.expression("int", scope, 0)))
            if self.chance(0.5):
                return f"round(avg({averaged}){filtered}, 2)"
            call = self.pick((f"sum({distinct}{value})", f"max({value})"))
        elif of == "bool":
            call = f"{self.pick(('bool_and', 'bool_or'))}({value})"
        elif of == "bytea":
            return f"(array_agg({value} ORDER BY {value}){filtered})[1]"
        else:
            call = f"{self.pick(('min', 'max'))}({value})"
        return call + filtered

    def tail(self, width, distinct):
        if not self.chance(0.35):
            return ""
        order = [f"{i + 1}{self.pick(('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'))}" for i in range(width)]
        self.random.shuffle(order)
        text = f" ORDER BY {', '.join(order)}"
        if self.chance(0.6):
            text += f" LIMIT {self.random.randint(0, 12)}" + (f" OFFSET {self.random.randint(0, 5)}" if self.chance(0.3) else "")
        return text

    def set_operation(self, depth, types, named):
        types = types or [self.pick(TYPES) for _ in range(self.random.randint(1, 3))]
        word = self.pick(("UNION", "INTERSECT", "EXCEPT")) + self.pick(("", " ALL"))
        left = self.select(depth - 1, types=types, named=named)[0]
        right = self.select(depth - 1, types=types, named=named)[0]
        return f"({left}) {word} ({right})", types

    def locked_page(self):
        """Rows of one table in the order of its key, some passed over, locked."""
        table = self.pick(self.tables)
        keys = [name for name, _ in table.columns if name.startswith("k")]
        if not keys:
            return None
        where = f" WHERE {self.condition([Source(table.name, table.columns)], 1)}" if self.chance(0.5) else ""
        order = ", ".join(name + self.pick(("", " DESC")) for name in keys)
        return (f"SELECT * FROM {table.name}{where} ORDER BY {order} LIMIT {self.random.randint(0, 8)} OFFSET {self.random.randint(0, 5)} "
                f"FOR {self.pick(('UPDATE', 'NO KEY UPDATE', 'SHARE', 'KEY SHARE'))}")

    def equalities(self, scope, added):
        return [(f"{s.alias}.{a}", f"{added.alias}.{b}") for s in scope for a, ta in s.columns for b, tb in added.columns if ta == tb and ta in JOINED]

    def dependent(self, scope):
        """Rows of a table that belong to a row of the scope: the table as a source and the condition; None: there is no such table."""
        table, alias = self.pick(self.tables), self.alias()
        source = Source(alias, table.columns)
        equal = self.equalities(scope, source)
        if not equal:
            return None
        condition = "%s = %s" % self.pick(equal)
        if self.chance(0.5):
            condition += f" AND {self.condition([source], 0)}"
        return table, source, condition

    def page(self):
        """The first rows in the order of a column of one table, with those of others that belong to them. The order is total."""
        table, alias = self.pick(self.tables), self.alias()
        outer = Source(alias, table.columns)
        text, scope, conditions = f"{table.name} AS {alias}", [outer], []
        for _ in range(self.random.randint(0, 2)):
            if joined := self.dependent(scope):
                other, source, condition = joined
                text, scope = f"{text} {self.pick(('JOIN', 'JOIN', 'LEFT JOIN'))} {other.name} AS {source.alias} ON {condition}", scope + [source]
        targets = [f"{source.alias}.{name}" for source in scope for name, _ in self.random.sample(source.columns, self.random.randint(1, 2))]
        if self.chance(0.4) and (found := self.dependent([outer])):
            other, source, condition = found
            value = self.pick(("count(*)", f"max({source.alias}.{other.columns[0][0]})"))
            targets.append(f"(SELECT {value} FROM {other.name} AS {source.alias} WHERE {condition})")
        if self.chance(0.25) and (found := self.dependent([outer])):
            other, source, condition = found
            chosen, rows = self.pick(source.columns)[0], self.alias()
            order = ", ".join(f"{source.alias}.{name}" for name, _ in [(chosen, ""), *source.columns])
            newest = f"(SELECT {source.alias}.{chosen} AS v FROM {other.name} AS {source.alias} WHERE {condition} ORDER BY {order} LIMIT {self.random.randint(1, 3)}) AS {rows}"
            text += f" CROSS JOIN LATERAL {newest}" if self.chance(0.5) else f" LEFT JOIN LATERAL {newest} ON true"
            targets.append(f"{rows}.v")
        for _ in range(self.random.randint(0, 2)):
            if self.chance(0.5) and (found := self.dependent([outer])):
                other, source, condition = found
                exists = f"{'NOT ' if self.chance(0.4) else ''}EXISTS (SELECT 1 FROM {other.name} AS {source.alias} WHERE {condition})"
                conditions.append(exists if self.chance(0.7) else f"({exists} OR {self.condition([outer], 0)})")
            else:
                conditions.append(self.condition(self.pick((scope, [outer])), 1))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        first = f"{alias}.{self.pick(table.columns)[0]}{self.pick(('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'))}"
        order = ", ".join([first, *(str(i + 1) for i in range(len(targets)))])
        offset = f" OFFSET {self.random.randint(0, 8)}" if self.chance(0.3) else ""
        return f"SELECT {', '.join(targets)} FROM {text}{where} ORDER BY {order} LIMIT {self.random.randint(0, 12)}{offset}"

    def query(self):
        """A SELECT, and whether its rows have an order."""
        if self.chance(0.2):
            return self.page(), True
        if self.chance(0.02) and (page := self.locked_page()):
            return page, True
        text, types = self.select(self.random.randint(0, 2))
        if self.chance(0.4):
            order = ", ".join(str(i + 1) for i in range(len(types)))
            return f"SELECT * FROM ({text}) AS q ORDER BY {order}", True
        return text, False

    # --- changes

    def change(self):
        table = self.pick(self.tables)
        target = Source(table.name, table.columns)
        where = f" WHERE {self.condition([target], 2)}"
        kind = self.random.random()
        if kind < 0.3:
            return self.insert(table), table
        plain = [(name, of) for name, of in table.columns if not name.startswith("k")]
        if kind < 0.8:
            chosen = self.random.sample(plain, self.random.randint(1, len(plain)))
            changes = ", ".join(f"{name} = {self.literal(of)}" if self.chance(0.5) else f"{name} = {self.expression(of, [target], 1)}" for name, of in chosen)
            return f"UPDATE {table.name} SET {changes}{where}", table
        return f"DELETE FROM {table.name}{where} AND {self.condition([target], 1)}", table
