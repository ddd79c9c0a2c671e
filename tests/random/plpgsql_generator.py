"""Random bodies in PL/pgSQL: control flow, exceptions, arrays, records and queries, over the table `plpgsql_rows`.

Bodies end: loops count, and calls do not recur. They return one text that holds what happened.
"""
import random

TABLE = """CREATE TABLE plpgsql_rows (id int PRIMARY KEY, n int, t text, CHECK (n IS NULL OR n < 1000));
INSERT INTO plpgsql_rows SELECT i, CASE WHEN i % 4 <> 0 THEN i * 3 END, 'row ' || i FROM generate_series(1, 12) i"""

# Deep enough for values without parts. PostgreSQL plans a statement with the values of its variables: it computes parts of CASE, coalesce and AND that
# are never reached, and no part beside a NULL. So only whole assignments overflow or divide by zero.
PLAIN = 9
INTS = ["i1", "i2", "i3"]
TEXTS = ["t1", "t2"]
CONDITIONS = ["division_by_zero", "OTHERS", "unique_violation", "check_violation OR data_exception", "SQLSTATE '22012'",
              "no_data_found", "raise_exception", "array_subscript_error"]


class Body:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0
        self.fresh = 100

    def choice(self, *items):
        return self.random.choice(items)

    def number(self, depth=0):
        r = self.random
        kind = r.randrange(12 if depth < 2 else 4)
        if kind < 2:
            return str(r.choice([0, 1, 2, 3, 7, -5, 40, 2147483647]))
        if kind < 4:
            return r.choice([*INTS, *INTS, "r.n", "coalesce(array_length(a, 1), 0)", "a[1]", "a[2]"])
        if kind < 8:
            return f"({self.number(depth + 1)} % 700 {r.choice(['+', '-', '*'])} {self.number(depth + 1)} % 30)"
        if kind == 8:
            return f"coalesce({self.number(PLAIN)}, {self.number(PLAIN)})"
        if kind == 9:
            return f"(SELECT {r.choice(['max', 'min', 'count', 'sum'])}(n)::int FROM plpgsql_rows WHERE id {r.choice(['<', '>='])} {self.number(depth + 1)})"
        if kind == 10:
            return f"length({self.text(depth + 1)})"
        return f"CASE WHEN {self.condition(PLAIN)} THEN {self.number(PLAIN)} ELSE {self.number(PLAIN)} END"

    def text(self, depth=0):
        r = self.random
        kind = r.randrange(8 if depth < 2 else 3)
        if kind == 0:
            return r.choice(["'x'", "''", "'a b'", "NULL::text"])
        if kind < 3:
            return r.choice([*TEXTS, "r.t"])
        if kind == 3:
            return f"({self.text(depth + 1)} || {self.number(depth + 1)})"
        if kind == 4:
            return f"upper({self.text(depth + 1)})"
        if kind == 5:
            return f"left({self.text(depth + 1)}, {r.randrange(8)})"
        if kind == 6:
            return f"concat_ws('-', {self.text(depth + 1)}, {self.number(depth + 1)})"
        return f"(SELECT t FROM plpgsql_rows WHERE id = {self.number(depth + 1)})"

    def condition(self, depth=0):
        r = self.random
        kind = r.randrange(7 if depth < 2 else 3)
        if kind < 3:
            return f"{self.number(depth + 1)} {r.choice(['<', '=', '>', '<>', '>='])} {self.number(depth + 1)}"
        if kind == 3:
            return f"{self.text(depth + 1)} IS {r.choice(['', 'NOT '])}NULL"
        if kind == 4:
            return f"({self.condition(PLAIN)} {r.choice(['AND', 'OR'])} NOT {self.condition(PLAIN)})"
        if kind == 5:
            return "FOUND"
        return f"EXISTS (SELECT 1 FROM plpgsql_rows WHERE id = {self.number(depth + 1)})"

    def statements(self, depth, in_loop):
        return "\n".join(self.statement(depth, in_loop) for _ in range(self.random.randint(1, 4)))

    def loop_name(self):
        self.loops += 1
        return f"k{self.loops}"

    def statement(self, depth, in_loop):
        r = self.random
        simple = [self.assign, self.assign, self.note, self.select, self.change, self.element, self.raise_error, self.dynamic]
        deep = [self.branch, self.branch, self.case, self.for_integers, self.while_loop, self.for_rows, self.block, self.block, self.foreach]
        if in_loop and r.random() < 0.12:
            return f"{r.choice(['EXIT', 'CONTINUE'])} WHEN {self.condition()};"
        return r.choice(simple if depth > 2 or r.random() < 0.5 else deep)(depth, in_loop)

    def assign(self, depth, in_loop):
        if self.random.random() < 0.2:
            return f"{self.choice(*INTS)} := {self.choice(*INTS)} {self.choice('/', '%', '*', '+')} {self.choice(*INTS)};"
        if self.random.random() < 0.6:
            return f"{self.choice(*INTS)} := {self.number()};"
        return f"{self.choice(*TEXTS)} := {self.text()};"

    def note(self, depth, in_loop):
        return f"trail := left(trail || {self.choice(self.number(), self.text())} || ';', 2000);"

    def element(self, depth, in_loop):
        return self.choice(f"a[{self.random.randint(1, 4)}] := {self.number()};", f"a := a || {self.number()};", "a := '{5,6}';",
                           f"r.n := {self.number()};", f"r.t := {self.text()};")

    def select(self, depth, in_loop):
        strict = self.choice("", "", "STRICT ")
        return self.choice(f"SELECT n INTO {strict}{self.choice(*INTS)} FROM plpgsql_rows WHERE id = {self.number()};",
                           f"SELECT * INTO {strict}r FROM plpgsql_rows WHERE id = {self.number()};",
                           f"SELECT count(*), min(t) INTO {self.choice(*INTS)}, {self.choice(*TEXTS)} FROM plpgsql_rows WHERE n > {self.number()};",
                           f"PERFORM 1 FROM plpgsql_rows WHERE id = {self.number()};")

    def change(self, depth, in_loop):
        self.fresh += 1
        return self.choice(f"INSERT INTO plpgsql_rows VALUES ({self.choice(str(self.fresh), '3', 'i1')}, {self.number()}, {self.text()});",
                           f"UPDATE plpgsql_rows SET n = {self.number()} WHERE id = {self.number()};",
                           f"UPDATE plpgsql_rows SET t = {self.text()} WHERE id = 2 RETURNING n INTO {self.choice(*INTS)};",
                           f"DELETE FROM plpgsql_rows WHERE id = {self.number()}; GET DIAGNOSTICS i3 = ROW_COUNT;")

    def dynamic(self, depth, in_loop):
        return (f"EXECUTE 'SELECT n FROM plpgsql_rows WHERE id ' || '{self.choice('=', '<', '>')}' || ' $1 ORDER BY id LIMIT 1' "
                f"INTO {self.choice(*INTS)} USING {self.number()};")

    def raise_error(self, depth, in_loop):
        if self.random.random() < 0.6:
            return self.note(depth, in_loop)
        return self.choice(f"RAISE EXCEPTION 'raised %', {self.number()};", "RAISE division_by_zero;",
                           f"IF {self.condition()} THEN RAISE EXCEPTION USING ERRCODE = '23505', MESSAGE = 'made'; END IF;")

    def branch(self, depth, in_loop):
        text = f"IF {self.condition()} THEN\n{self.statements(depth + 1, in_loop)}\n"
        if self.random.random() < 0.4:
            text += f"ELSIF {self.condition()} THEN\n{self.statements(depth + 1, in_loop)}\n"
        if self.random.random() < 0.5:
            text += f"ELSE\n{self.statements(depth + 1, in_loop)}\n"
        return text + "END IF;"

    def case(self, depth, in_loop):
        otherwise = "" if self.random.random() < 0.2 else f"ELSE {self.statements(depth + 1, in_loop)}\n"
        return (f"CASE {self.number()} WHEN {self.number(1)}, 1 THEN {self.statements(depth + 1, in_loop)}\n"
                f"WHEN 2 THEN {self.statements(depth + 1, in_loop)}\n{otherwise}END CASE;")

    def for_integers(self, depth, in_loop):
        name = self.loop_name()
        bounds = self.choice("1..4", "REVERSE 3..1", "1..10 BY 4", "2..1", "1..least(5, i1)")
        return f"FOR {name} IN {bounds} LOOP\ni2 := {name};\n{self.statements(depth + 1, True)}\nEND LOOP;"

    def while_loop(self, depth, in_loop):
        name = self.loop_name()
        return (f"DECLARE {name} int := 0; BEGIN WHILE {name} < 4 LOOP {name} := {name} + 1;\n{self.statements(depth + 1, True)}\n"
                "END LOOP; END;")

    def for_rows(self, depth, in_loop):
        return (f"FOR r IN SELECT * FROM plpgsql_rows WHERE id {self.choice('<', '>', '=')} {self.choice('4', '9', 'i1')} ORDER BY id LIMIT 5 LOOP\n"
                f"{self.statements(depth + 1, True)}\nEND LOOP;")

    def foreach(self, depth, in_loop):
        return f"FOREACH i2 IN ARRAY {self.choice('a', 'ARRAY[1, NULL, 3]', '(a || i1)')} LOOP\n{self.statements(depth + 1, True)}\nEND LOOP;"

    def block(self, depth, in_loop):
        text = f"BEGIN\n{self.statements(depth + 1, in_loop)}\n"
        if self.random.random() < 0.8:
            text += f"EXCEPTION WHEN {self.choice(*CONDITIONS)} THEN\ntrail := trail || SQLSTATE || ' ';\n{self.statements(depth + 2, in_loop)}\n"
            if self.random.random() < 0.4:
                text += "WHEN OTHERS THEN trail := trail || 'others ' || SQLSTATE || ' ';\n"
        return text + "END;"

    def function(self, name):
        body = self.statements(0, False)
        return f"""CREATE OR REPLACE FUNCTION {name}(i1 int, t1 text) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  i2 int; i3 int := 1; t2 text := 'two'; a int[] := '{{1,2}}'; trail text := '';
  r plpgsql_rows%ROWTYPE;
BEGIN
{body}
RETURN concat_ws('|', trail, i1, i2, i3, t1, t2, a, r.id, r.n, r.t);
END $body$"""
