"""Random rows of arrays, jsonb, text and tsvector under indexes USING gin, changed and queried: redquel's answers by entries are those of
PostgreSQL, and the index checker finds nothing."""
import json
import os
import sys
from random import Random

sys.path.insert(0, os.path.dirname(__file__))
from worlds import World, compare_worlds  # noqa: E402

SLOW = True
LIMIT = 900  # seconds
CHANGES = int(os.environ.get("RANDOM_ENTRIES", "1500"))
PER_WORLD = 50
WORDS = ["red", "green", "blue", "Red", "dark red", "a:b", "50%", "x_y", "", "fat cat", "cats", "rat's", "été", "null", "on the mat"]
INDEXES = ["(tags)", "(numbers)", "(tags, numbers)", "(body)", "(body jsonb_path_ops)", "(words)", "(title gin_trgm_ops)", "(to_tsvector('english', title))",
           "(lower(title) gin_trgm_ops)", "(tags) WHERE id > 5", "((body -> 'a'))"]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Entries(World):
    def run(self):
        self.random = Random(self.seed)
        pick = self.random.choice
        key = pick(["id int PRIMARY KEY", "id int PRIMARY KEY", "id int", "id int, PRIMARY KEY (id, code)"])
        self.postgres.query("CREATE EXTENSION pg_trgm SCHEMA pg_catalog")  # of a database of its own; redquel has it for all worlds
        self.both(f"CREATE TABLE t (code text NOT NULL DEFAULT 'c', tags text[], numbers int[], body jsonb, title text, words tsvector, {key})")
        indexes = self.random.sample(INDEXES, self.random.randrange(2, 7))
        later = self.random.randrange(len(indexes) + 1)
        for index in indexes[:later]:
            self.both(f"CREATE INDEX ON t USING gin {index}")
        while self.statements < PER_WORLD:
            self.statements += 1
            if self.statements == 15:
                for index in indexes[later:]:
                    self.both(f"CREATE INDEX ON t USING gin {index}")
            if found := self.both(self.change()):
                return self.told("change", found)
            query, ordered = self.query()
            if found := self.difference(query, ordered):
                return self.told(query, found)
        wrong = self.redquel.query("SELECT * FROM redquel.check_indexes('t')")[0]
        return self.told("check_indexes", str(wrong.error or wrong.rows)) if wrong.error or wrong.rows else None

    def text(self):
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randrange(4)))

    def tags(self):
        elements = [self.random.choice(WORDS) for _ in range(self.random.randrange(4))]
        texts = ["NULL" if self.random.random() < 0.1 else quoted(element) for element in elements]
        return f"ARRAY[{', '.join(texts)}]::text[]"

    def numbers(self):
        if self.random.random() < 0.1:
            return "'{{1,2},{3,4}}'::int[]"
        return f"ARRAY[{', '.join(str(self.random.randrange(8)) for _ in range(self.random.randrange(4)))}]::int[]"

    def json(self, depth=2):
        pick = self.random.choice
        kind = self.random.randrange(7 if depth > 0 else 4)
        if kind < 4:
            return [pick(WORDS), self.random.randrange(5), pick([True, False, None]), pick([1.5, 100, -2])][kind]
        if kind == 4:
            return [self.json(depth - 1) for _ in range(self.random.randrange(3))]
        return {pick("abc"): self.json(depth - 1) for _ in range(self.random.randrange(3))}

    def body(self):
        return quoted(json.dumps(self.json())) + "::jsonb"

    def words(self):
        return f"to_tsvector('english', {quoted(self.text())})"

    def tsquery(self):
        word = lambda: self.random.choice(["red", "green", "cat", "fat", "rat", "mat", "dark", "gre:*", "cat:A"])  # noqa: E731
        query = word()
        for _ in range(self.random.randrange(3)):
            query = f"({query} {self.random.choice(['&', '|', '<->', '& !', '| !'])} {word()})"
        return f"to_tsquery('english', {quoted(query)})"

    def value(self, column):
        if self.random.random() < 0.1:
            return "NULL"
        return {"tags": self.tags, "numbers": self.numbers, "body": self.body, "title": lambda: quoted(self.text()), "words": self.words}[column]()

    def pattern(self):
        word = self.random.choice(WORDS)
        return quoted(self.random.choice([f"%{word}%", f"{word}%", f"%{word}", word, f"%{word[:3]}%", f"%{word[1:]}_%", "%e%r%", "\\%%", f"%{word} %"]))

    def condition(self):
        pick = self.random.choice
        if self.random.random() < 0.25:
            return f"({self.condition()} {pick(['AND', 'AND', 'OR'])} {self.condition()})"
        if self.random.random() < 0.1:
            return f"NOT ({self.condition()})"
        return pick([
            f"tags {pick(['@>', '&&', '<@', '='])} {self.tags()}", f"{self.tags()} {pick(['@>', '&&', '<@'])} tags", f"{quoted(pick(WORDS))} = ANY (tags)",
            f"numbers {pick(['@>', '&&', '<@'])} {self.numbers()}", f"{self.random.randrange(8)} = {pick(['ANY', 'ANY', 'ALL'])} (numbers)",
            f"body {pick(['@>', '@>', '<@', '='])} {self.body()}", f"{self.body()} <@ body", f"body ? {quoted(pick(['a', 'b', 'red', 'x']))}",
            f"body {pick(['?|', '?&'])} {self.tags()}", f"body -> 'a' @> {self.body()}", f"words @@ {self.tsquery()}", f"{self.tsquery()} @@ words",
            f"to_tsvector('english', title) @@ {self.tsquery()}", f"title {pick(['LIKE', 'ILIKE', 'NOT LIKE'])} {self.pattern()}",
            f"lower(title) LIKE {self.pattern()}", f"id {pick(['<', '>', '='])} {self.random.randrange(40)}",
        ])

    def change(self):
        pick = self.random.choice
        columns = ["tags", "numbers", "body", "title", "words"]
        row = lambda: f"({', '.join(self.value(column) for column in columns)}, {self.random.randrange(40)})"  # noqa: E731
        column = pick(columns)
        return pick([
            f"INSERT INTO t (tags, numbers, body, title, words, id) VALUES {row()}",
            f"INSERT INTO t (tags, numbers, body, title, words, id) VALUES {row()} ON CONFLICT DO NOTHING",
            f"INSERT INTO t (tags, numbers, body, title, words, id) SELECT {', '.join(self.value(c) for c in columns)}, i FROM generate_series(100, 120) i ON CONFLICT DO NOTHING",
            f"UPDATE t SET {column} = {self.value(column)} WHERE {self.condition()}",
            f"UPDATE t SET tags = array_append(tags, {quoted(pick(WORDS))}), numbers = numbers || {self.random.randrange(8)} WHERE id = {self.random.randrange(40)}",
            f"UPDATE t SET body = body || {self.body()} WHERE jsonb_typeof(body) = 'object'",
            f"DELETE FROM t WHERE {self.condition()} AND id % 3 = 0",
            f"DELETE FROM t WHERE id = {self.random.randrange(40)}",
        ])

    def query(self):
        where = self.condition()
        return self.random.choice([
            (f"SELECT id, tags, body, title FROM t WHERE {where}", False),
            (f"SELECT count(*) FROM t WHERE {where}", True),
            (f"SELECT id FROM t WHERE {where} ORDER BY id LIMIT 5", True),
            (f"SELECT a.id, b.id FROM (SELECT * FROM t WHERE {where}) a JOIN t b ON b.id = a.id + 1", False),
        ])


def test_entries(server, postgres, random):
    with server.connect() as connection:
        connection.run("CREATE EXTENSION pg_trgm")
    compare_worlds(Entries, server, postgres, random, CHANGES, PER_WORLD)
