"""Random queries with window functions, WITH, recursion, LATERAL and grouping sets over the tables of query_generator.py.

Where a result depends on the order of rows, the order is total: each source has a number for each row.
"""
from query_generator import Generator, Source

ORDERED = ("int", "bigint", "text", "numeric", "date")
SUMMED = ("int", "bigint", "numeric")


class WindowGenerator(Generator):
    def query(self):
        make = self.pick((self.windows, self.windows, self.windows, self.with_query, self.recursion, self.lateral, self.grouping_sets))
        text, width = make()
        if make == self.grouping_sets:  # PostgreSQL 15 leaves keys with a constant out of ORDER BY, although sets make NULLs of them
            return text, False
        return f"{text} ORDER BY {', '.join(str(i + 1) for i in range(width))}", True

    # --- windows

    def numbered(self):
        """A table of FROM whose rows have a number, in the order of all their values: equal rows may change places."""
        table, alias = self.pick(self.tables), self.alias()
        order = ", ".join(name for name, _ in table.columns)
        where = f" WHERE {self.condition([Source(table.name, table.columns)], 1)}" if self.chance(0.3) else ""
        text = f"(SELECT *, row_number() OVER (ORDER BY {order}) AS n FROM {table.name}{where}) AS {alias}"
        return text, Source(alias, [*table.columns, ("n", "bigint")])

    def windows(self):
        text, source = self.numbered()
        calls = [self.window_call(source) for _ in range(self.random.randint(1, 4))]
        named = ""
        if self.chance(0.3):
            calls.append(f"count(*) OVER (w ROWS {self.pick(('UNBOUNDED', '2'))} PRECEDING)")
            named = f" WINDOW w AS (ORDER BY {source.alias}.n)"
        query = f"SELECT {source.alias}.n, {', '.join(calls)} FROM {text}{named}"
        if self.chance(0.2):
            return f"SELECT * FROM ({query}) AS f (n, x) WHERE x IS NOT NULL" if len(calls) == 1 else query, len(calls) + 1
        return query, len(calls) + 1

    def window_call(self, source):
        value = lambda types: self.pick([name for name, of in source.columns if of in types])  # noqa: E731
        parts = [f"{source.alias}.{name}" for name, _ in self.random.sample(source.columns, self.pick((0, 0, 1, 2)) if len(source.columns) > 1 else 0)]
        partition = f"PARTITION BY {', '.join(parts)} " if parts else ""
        direction = self.pick(("", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
        key = f"{source.alias}.{value(ORDERED)}"
        total = f"{key}{direction}, {source.alias}.n"
        kind = self.random.random()
        if kind < 0.25:
            call = self.pick(("rank()", "dense_rank()", "round(percent_rank()::numeric, 6)", "round(cume_dist()::numeric, 6)"))
            over = f"OVER ({partition}ORDER BY {key}{direction})"
            return f"round({call[6:-13]} {over}::numeric, 6)" if call.startswith("round") else f"{call} {over}"
        if kind < 0.5:
            name = f"{source.alias}.{value(ORDERED)}"
            call = self.pick(("row_number()", f"ntile({self.random.randint(1, 5)})", f"lag({name})", f"lead({name}, {self.random.randint(0, 3)})",
                              f"lag({name}, 2, {name})", f"first_value({name})", f"last_value({name})", f"nth_value({name}, {self.random.randint(1, 3)})"))
            needs_rows = call.startswith(("first", "last", "nth"))
            return f"{call} OVER ({partition}ORDER BY {total}{self.rows_frame() if needs_rows else ''})"
        of = self.pick([of for _, of in source.columns if of in SUMMED])
        name = f"{source.alias}.{value((of,))}"
        call = self.pick((f"sum({name})", f"count({name})", "count(*)", f"min({name})", f"max({name})", f"round(avg({name}), 4)"))
        filtered = f" FILTER (WHERE {self.condition([source], 0)})" if self.chance(0.2) else ""
        if self.chance(0.5):
            over = f"OVER ({partition}ORDER BY {total}{self.rows_frame()})"
        else:
            over = f"OVER ({partition}ORDER BY {key}{direction}{self.peer_frame(source, key)})"
        return f"round(avg({name}){filtered} {over}, 4)" if call.startswith("round") else f"{call}{filtered} {over}"

    def rows_frame(self):
        return f" ROWS {self.bounds(lambda: str(self.random.randint(0, 3)))}{self.exclusion()}" if self.chance(0.8) else ""

    def peer_frame(self, source, key):
        of = dict(source.columns)[key.split(".")[1]]
        if self.chance(0.4):
            return f" GROUPS {self.bounds(lambda: str(self.random.randint(0, 2)))}{self.exclusion()}"
        if of in SUMMED and self.chance(0.6):
            return f" RANGE {self.bounds(lambda: str(self.random.randint(0, 6)))}{self.exclusion()}"
        return self.pick(("", " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " RANGE CURRENT ROW")) + ""

    def bounds(self, offset):
        starts = ["UNBOUNDED PRECEDING", f"{offset()} PRECEDING", "CURRENT ROW", f"{offset()} FOLLOWING"]
        ends = [f"{offset()} PRECEDING", "CURRENT ROW", f"{offset()} FOLLOWING", "UNBOUNDED FOLLOWING"]
        start = self.random.randrange(4)
        if self.chance(0.2) and start < 3:
            return starts[start]
        return f"BETWEEN {starts[start]} AND {ends[self.random.randrange(max(0, start - 1), 4)]}"

    def exclusion(self):
        return self.pick(("", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"))

    # --- WITH, recursion, LATERAL, grouping sets

    def with_query(self):
        """One or two queries of WITH, used once or twice, also inside of each other."""
        first, types = self.select(1, named=True)
        materialized = self.pick(("", "MATERIALIZED ", "NOT MATERIALIZED "))
        source = [Source(alias, [(f"x{i}", of) for i, of in enumerate(types)]) for alias in (self.alias(), self.alias())]
        words = f"WITH w AS {materialized}({first})"
        where = f" WHERE {self.condition(source[:1], 1)}"
        if self.chance(0.4):
            words += f", u AS (SELECT * FROM w AS {source[0].alias}{where})"
            return f"{words} SELECT * FROM u {self.pick(('UNION ALL', 'EXCEPT', 'INTERSECT ALL'))} SELECT * FROM w", len(types)
        shown = [f"{source[0].alias}.x{i}" for i in range(len(types))]
        if self.chance(0.4):
            equal = f"{source[0].alias}.x0 IS NOT DISTINCT FROM {source[1].alias}.x0"
            return (f"{words} SELECT {', '.join(shown)} FROM w AS {source[0].alias} JOIN w AS {source[1].alias} ON {equal}{where}", len(types))
        table, alias = self.pick(self.tables), self.alias()
        exists = f"EXISTS (SELECT FROM w AS {source[1].alias} WHERE {self.condition([source[1], Source(alias, table.columns)], 0)})"
        columns = [f"{alias}.{name}" for name, _ in table.columns]
        return f"{words} SELECT {', '.join(columns)} FROM {table.name} AS {alias} WHERE {exists}", len(columns)

    def recursion(self):
        table, alias = self.pick(self.tables), self.alias()
        of = self.pick([of for _, of in table.columns if of in ("int", "bigint", "text")] or ["int"])
        scope = [Source(alias, table.columns)]
        start = self.expression(of, scope, 0)
        step = {"text": "left(r.x || 'a', 3)"}.get(of, "(r.x + 1) % 7")
        word = self.pick(("UNION", "UNION ALL"))
        join = f" JOIN {table.name} AS {alias} ON {self.condition(scope, 0)}" if word == "UNION" and self.chance(0.3) else ""
        return (f"WITH RECURSIVE r (n, x) AS (SELECT 1, {start} FROM {table.name} AS {alias} {word} "
                f"SELECT r.n + 1, {step} FROM r{join} WHERE r.n < {self.random.randint(2, 5)}) "
                f"SELECT n, x, count(*) FROM r GROUP BY n, x"), 3

    def lateral(self):
        table, alias, inner = self.pick(self.tables), self.alias(), self.pick(self.tables)
        of = self.pick([of for _, of in inner.columns])
        name, scope = self.alias(), [Source(alias, table.columns)]
        inner_alias = self.alias()
        inner_scope = [Source(inner_alias, inner.columns)]
        value = self.expression(of, inner_scope, 1)
        where = self.condition(inner_scope + scope, 1)
        limit = f" ORDER BY 1 LIMIT {self.random.randint(1, 3)}" if self.chance(0.5) else ""
        join = self.pick(("CROSS JOIN LATERAL", "LEFT JOIN LATERAL"))
        on = " ON true" if join.startswith("LEFT") else ""
        shown = f"{alias}.{self.pick(table.columns)[0]}"
        return (f"SELECT {shown}, {name}.x FROM {table.name} AS {alias} {join} (SELECT {value} AS x FROM {inner.name} AS {inner_alias} "
                f"WHERE {where}{limit}) AS {name}{on}"), 2

    def grouping_sets(self):
        table, alias = self.pick(self.tables), self.alias()
        scope = [Source(alias, table.columns)]
        keys = [f"{alias}.{name}" for name, _ in self.random.sample(table.columns, min(len(table.columns), self.random.randint(1, 3)))]
        sets = self.pick((f"ROLLUP ({', '.join(keys)})", f"CUBE ({', '.join(keys)})", f"GROUPING SETS (({', '.join(keys)}), ({keys[0]}), ())"))
        where = f" WHERE {self.condition(scope, 1)}" if self.chance(0.5) else ""
        having = f" HAVING count(*) > {self.random.randint(0, 2)}" if self.chance(0.3) else ""
        return (f"SELECT {', '.join(keys)}, grouping({', '.join(keys)}), count(*), {self.aggregate('int', scope)} FROM {table.name} AS {alias}{where} "
                f"GROUP BY {sets}{having}"), len(keys) + 3
