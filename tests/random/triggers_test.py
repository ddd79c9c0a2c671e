"""Random triggers over a table and its child, and random changes, by redquel and by PostgreSQL: the rows, what triggers log and the totals that
they keep are the same."""
import os
import sys
from random import Random

sys.path.insert(0, os.path.dirname(__file__))
from worlds import World, compare_worlds  # noqa: E402

SLOW = True
LIMIT = 900  # seconds
CHANGES = int(os.environ.get("RANDOM_TRIGGERS", "1000"))
PER_WORLD = 50
TABLES = ("CREATE TABLE item (id int PRIMARY KEY, a int CHECK (a < 1000), b text, g int GENERATED ALWAYS AS (a + 1) STORED)",
          "CREATE TABLE part (id int PRIMARY KEY, item int REFERENCES item ON DELETE CASCADE ON UPDATE CASCADE, n int)",
          "CREATE TABLE total (name text PRIMARY KEY, n bigint)",
          "CREATE TABLE log (entry text)",
          "INSERT INTO total VALUES ('item', 0), ('part', 0), ('part_low', 0), ('part_high', 0)",
          """CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO log VALUES (concat_ws(' ', TG_NAME, TG_WHEN, TG_OP, TG_LEVEL, TG_TABLE_NAME, OLD, '->', NEW, TG_ARGV[0], pg_trigger_depth()));
               IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$""",
          """CREATE FUNCTION change_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
               NEW.a := NEW.a + TG_ARGV[0]::int; NEW.b := left(COALESCE(NEW.b, '') || TG_NAME, 20); RETURN NEW; END $$""",
          """CREATE FUNCTION skip_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF COALESCE(NEW.id, OLD.id) % 5 = TG_ARGV[0]::int THEN RETURN NULL; END IF;
               IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$""",
          """CREATE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF COALESCE(NEW.id, OLD.id) % 17 = 3 THEN RAISE EXCEPTION 'refused' USING ERRCODE = 'P0099'; END IF; RETURN NULL; END $$""",
          """CREATE FUNCTION sum_it() RETURNS trigger LANGUAGE plpgsql AS $$
             DECLARE d bigint := 0; BEGIN
               IF TG_OP <> 'INSERT' THEN d := d - OLD.id; END IF; IF TG_OP <> 'DELETE' THEN d := d + NEW.id; END IF;
               UPDATE total SET n = n + d WHERE name = TG_TABLE_NAME; RETURN NULL; END $$""",
          """CREATE FUNCTION rows_it() RETURNS trigger LANGUAGE plpgsql AS $$
             DECLARE line text; BEGIN
               IF TG_OP = 'INSERT' THEN line := (SELECT concat_ws(' ', count(*), sum(n.id), string_agg(n::text, ';' ORDER BY n.id)) FROM n);
               ELSIF TG_OP = 'DELETE' THEN line := (SELECT concat_ws(' ', count(*), sum(o.id), string_agg(o::text, ';' ORDER BY o.id)) FROM o);
               ELSE line := (SELECT concat_ws(' ', (SELECT string_agg(o::text, ';' ORDER BY o.id) FROM o), (SELECT string_agg(n::text, ';' ORDER BY n.id) FROM n)));
               END IF;
               INSERT INTO log VALUES (concat_ws(' ', TG_NAME, TG_OP, TG_TABLE_NAME, line)); RETURN NULL; END $$""",
          "CREATE VIEW pair AS SELECT i.id, i.a, i.b, p.id AS part, p.n FROM item i LEFT JOIN part p ON p.item = i.id",
          """CREATE FUNCTION pair_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF TG_OP = 'INSERT' THEN
                 INSERT INTO item (id, a, b) VALUES (NEW.id, NEW.a, NEW.b) ON CONFLICT DO NOTHING;
                 IF NEW.part IS NOT NULL THEN INSERT INTO part VALUES (NEW.part, NEW.id, NEW.n); END IF;
                 NEW.b := 'inserted'; RETURN NEW;
               ELSIF TG_OP = 'UPDATE' THEN
                 UPDATE item SET a = NEW.a, b = NEW.b WHERE id = OLD.id;
                 UPDATE part SET n = NEW.n WHERE id = OLD.part;
                 RETURN NEW;
               END IF;
               DELETE FROM item WHERE id = OLD.id;
               IF FOUND THEN RETURN OLD; END IF; RETURN NULL; END $$""",
          "CREATE TRIGGER pairs INSTEAD OF INSERT OR UPDATE OR DELETE ON pair FOR EACH ROW EXECUTE FUNCTION pair_it()")


class Triggers(World):
    def run(self):
        self.random = Random(self.seed)
        self.is_partitioned = self.random.random() < 0.4
        for statement in TABLES:
            is_part = self.is_partitioned and statement.startswith("CREATE TABLE part")
            self.both(statement + " PARTITION BY RANGE (id)" if is_part else statement)
        if self.is_partitioned:
            self.both("CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (MINVALUE) TO (2000)")
            self.both("CREATE TABLE part_high PARTITION OF part DEFAULT")
        for table in ("item", "part"):
            self.both(f"CREATE TRIGGER z_sum AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION sum_it()")
        for number in range(self.random.randrange(2, 7)):
            self.both(self.trigger(number))
        while self.statements < PER_WORLD:
            self.statements += 1
            if self.random.random() < 0.1:
                self.both(self.trigger(self.random.randrange(7)))
            statement = self.change()
            found = self.both(statement)
            for table in ("item", "part", "total", "log"):
                found = found or self.difference(f"SELECT * FROM {table}", False)
            if found:
                return self.told(statement, found)
        found = self.difference("SELECT (SELECT sum(id) FROM item), (SELECT sum(id) FROM part), (SELECT n FROM total WHERE name = 'item'), "
                                "(SELECT sum(n) FROM total WHERE name LIKE 'part%')", True)
        return self.told("totals", found) if found else None

    def trigger(self, number):
        pick = self.random.choice
        events = self.random.sample(["INSERT", "UPDATE", "DELETE"], self.random.randrange(1, 4))
        when, kind = "", pick(["log", "log", "change", "skip", "refuse", "rows"])
        table, row = pick(["item", "item", "item", "part"]), self.random.random() < 0.75
        timing = pick(["BEFORE", "AFTER"])
        name = f"t{number}"
        if table == "part" and self.is_partitioned and self.random.random() < 0.4:
            table, name = "part_low", f"p{number}"
        if kind in ("change", "skip"):  # an action of a foreign key may not be changed
            table, name, row, timing = "item", f"t{number}", True, "BEFORE"
        if kind == "refuse":
            row, timing = True, "AFTER"
        if self.is_partitioned and table == "part" and (kind == "rows" or not row):
            name = f"s{number}"  # PostgreSQL leaves a trigger for rows in the partitions when one for statements replaces it
        if kind == "rows":
            event = events[0]
            rows = {"INSERT": "NEW TABLE AS n", "DELETE": "OLD TABLE AS o", "UPDATE": "OLD TABLE AS o NEW TABLE AS n"}[event]
            return (f"CREATE OR REPLACE TRIGGER {name} AFTER {event} ON {table} REFERENCING {rows} FOR EACH STATEMENT "
                    f"EXECUTE FUNCTION rows_it()")
        if row and events == ["UPDATE"]:
            when = pick(["", "WHEN (OLD.* IS DISTINCT FROM NEW.*) ", "WHEN (NEW.id > OLD.id OR NEW.id < 10) "])
        elif row and "DELETE" not in events:
            when = pick(["", "WHEN (NEW.id % 2 = 0) "])
        columns = [" OF a", " OF b, id", ""] if table == "item" else [" OF item", ""]
        written = " OR ".join(event + (pick(columns) if event == "UPDATE" else "") for event in events)
        return (f"CREATE OR REPLACE TRIGGER {name} {timing} {written} ON {table} FOR EACH {'ROW' if row else 'STATEMENT'} {when}"
                f"EXECUTE FUNCTION {kind}_it('{self.random.randrange(1, 5)}')")

    def change(self):
        pick, number = self.random.choice, lambda: self.random.randrange(40)
        condition = pick([f"id = {number()}", f"id BETWEEN {number()} AND {number()}", f"id % 7 = {self.random.randrange(7)}", "a > 20"])
        first = number()
        if self.is_partitioned and self.random.random() < 0.1:
            return pick([f"UPDATE part SET id = {3000 + self.statements * 100} + id WHERE item % 4 = {first % 4} AND id < 2000",
                         f"UPDATE part SET id = id - {3000 + self.statements * 100} WHERE id > 3000 AND n > {number()} RETURNING id",
                         f"INSERT INTO part_low VALUES ({self.statements * 20}, {first}, 1) ON CONFLICT DO NOTHING"])
        return pick([
            f"INSERT INTO item (id, a, b) VALUES ({first}, {number()}, 'x'), ({first + 40}, {number()}, NULL)",
            f"INSERT INTO item (id, a) SELECT i, i FROM generate_series({first}, {first + 5}) i ON CONFLICT DO NOTHING",
            f"INSERT INTO item (id, a) VALUES ({first}, {number()}) ON CONFLICT DO NOTHING",
            f"UPDATE item SET a = a + {number()} WHERE {condition}",
            f"UPDATE item SET b = 'u{number()}' WHERE {condition} RETURNING id, a, b, g",
            f"UPDATE item SET id = id + 100 WHERE id = {first}",
            f"DELETE FROM item WHERE {condition}",
            f"INSERT INTO part SELECT {self.statements * 100} + id, id, a FROM item WHERE {condition}",
            f"UPDATE part SET n = {number()} WHERE item % 3 = 1",
            f"DELETE FROM part WHERE n % 4 = {self.random.randrange(4)}",
            f"INSERT INTO pair VALUES ({first}, {number()}, 'p', {self.statements * 100 + 99}, {number()}) RETURNING *",
            f"UPDATE pair SET a = a + 1, n = {number()} WHERE {condition}",
            f"DELETE FROM pair WHERE {condition} AND part IS NOT NULL",
            f"MERGE INTO item USING (SELECT i AS n FROM generate_series({first}, {first + 3}) i) AS v ON item.id = v.n "
            "WHEN MATCHED AND v.n % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET a = v.n WHEN NOT MATCHED THEN INSERT (id, a) VALUES (v.n, v.n)",
        ])


def test_changes_with_triggers(server, postgres, random):
    compare_worlds(Triggers, server, postgres, random, CHANGES, PER_WORLD)
