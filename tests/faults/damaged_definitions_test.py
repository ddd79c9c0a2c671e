"""Definitions in Redis that name what is not there are a clear error: no statement ends the server, whatever redquel:catalog holds."""
import copy
import json
import os
import random as random_numbers

from harness.pgwire import ConnectionClosed, ServerError

SLOW = True
LIMIT = 900

SCHEMA = """
CREATE SCHEMA apart;
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE DOMAIN small AS integer CHECK (value < 100);
CREATE DOMAIN smaller AS small CHECK (value < 10);
CREATE TYPE pair AS (a integer, b mood);
CREATE TYPE span AS RANGE (subtype = integer);
CREATE TABLE parent (id integer, kind text, code serial UNIQUE, PRIMARY KEY (id, kind));
CREATE TABLE child (id serial PRIMARY KEY, parent integer, kind text DEFAULT 'k', m mood, s smaller, p pair, r span, due date,
  doubled integer GENERATED ALWAYS AS (parent * 2) STORED, CHECK (parent > 0),
  FOREIGN KEY (parent, kind) REFERENCES parent (id, kind) ON DELETE CASCADE);
CREATE TABLE apart.leaf (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, child integer REFERENCES child, word text, other parent);
CREATE INDEX ON child (due);
CREATE INDEX ON child (m, s);
CREATE INDEX child_partial ON child (parent) WHERE kind = 'k';
CREATE INDEX ON apart.leaf (lower(word)) INCLUDE (child);
CREATE UNIQUE INDEX ON apart.leaf (word);
CREATE DOMAIN parents AS parent[];
CREATE VIEW children AS SELECT child.id, kind, m FROM child WHERE parent > 1;
CREATE VIEW grandchildren AS SELECT children.id, l.word FROM children JOIN apart.leaf AS l ON l.child = children.id;
CREATE MATERIALIZED VIEW counted AS SELECT kind, count(*) FROM child GROUP BY kind;
CREATE FUNCTION plus(a small, b integer DEFAULT 1) RETURNS integer LANGUAGE sql AS 'SELECT a + b';
CREATE FUNCTION all_of(parent) RETURNS SETOF child LANGUAGE sql AS 'SELECT * FROM child WHERE parent = $1.id';
CREATE FUNCTION cells() RETURNS TABLE (x integer, y mood) LANGUAGE sql AS 'SELECT parent, m FROM child';
CREATE SEQUENCE apart.counter OWNED BY apart.leaf.child;
CREATE FOREIGN TABLE product (id bigint, name text, price numeric) SERVER redis OPTIONS (layout 'hash', key 'product:{id}');
CREATE INDEX ON product USING zset (price) WITH (key = 'product:by_price', member = '{id}');
INSERT INTO parent VALUES (1, 'k'), (2, 'k');
INSERT INTO child (parent, m, s, p, r, due) VALUES (1, 'low', 5, '(1,high)', '[1,5)', '2026-01-01'), (2, 'high', 6, NULL, NULL, NULL);
INSERT INTO apart.leaf (child, word) VALUES (1, 'Aa'), (2, 'Bb');
REFRESH MATERIALIZED VIEW counted
"""

SYSTEM_VIEWS = ("pg_class", "pg_attribute", "pg_type", "pg_constraint", "pg_index", "pg_attrdef", "pg_depend", "pg_proc", "pg_enum", "pg_range",
                "pg_sequence", "pg_sequences", "pg_rewrite", "pg_views", "pg_matviews", "pg_indexes", "pg_tables", "pg_stats", "pg_namespace",
                "pg_description", "pg_foreign_table", "pg_inherits", "pg_trigger",
                "information_schema.columns", "information_schema.table_constraints", "information_schema.key_column_usage",
                "information_schema.referential_constraints", "information_schema.routines", "information_schema.parameters",
                "information_schema.domains", "information_schema.attributes", "information_schema.element_types", "information_schema.views")

STATEMENTS = (
    *(f"SELECT * FROM {view}" for view in SYSTEM_VIEWS),
    "SELECT pg_get_constraintdef(oid), conrelid::regclass, confrelid::regclass FROM pg_constraint",
    "SELECT pg_get_indexdef(indexrelid), pg_get_expr(indpred, indrelid) FROM pg_index",
    "SELECT pg_get_viewdef(oid) FROM pg_class WHERE relkind IN ('v', 'm')",
    "SELECT pg_get_functiondef(oid), pg_get_function_result(oid) FROM pg_proc WHERE oid >= 16384",
    "SELECT format_type(oid, typtypmod), typbasetype::regtype, typrelid::regclass FROM pg_type WHERE oid >= 16384",
    "SELECT pg_get_serial_sequence('child', 'id'), pg_describe_object(classid, objid, objsubid) FROM pg_depend WHERE objid >= 16384",
    "SELECT * FROM child", "SELECT * FROM parent", "SELECT * FROM apart.leaf", "SELECT * FROM children", "SELECT * FROM grandchildren",
    "SELECT * FROM counted", "SELECT * FROM product", "SELECT c, p, (c.p).a FROM child AS c JOIN parent AS p ON p.id = c.parent",
    "SELECT * FROM child WHERE due = '2026-01-01'", "SELECT * FROM child WHERE m = 'low' AND s = 5", "SELECT id FROM child WHERE parent = 1 AND kind = 'k'",
    "SELECT id FROM apart.leaf WHERE lower(word) = 'aa'", "SELECT count(*) FROM child", "SELECT min(due), max(due) FROM child",
    "SELECT m, count(*) FROM child GROUP BY m", "SELECT * FROM product WHERE price > 1 ORDER BY price",
    "SELECT plus(1::small), plus(2::small, 3)", "SELECT * FROM cells()", "SELECT * FROM parent AS p, all_of(p)",
    "SELECT '{}'::parents, 1::smaller, '(1,low)'::pair, '[1,2)'::span, '{low}'::mood[], NULL::span[], ROW(1, 'k', 1)::parent",
    "SELECT nextval('apart.counter'), nextval('child_id_seq')", "SELECT * FROM redquel.check_indexes('child')",
    "INSERT INTO child (parent, m, s) VALUES (1, 'high', 7)", "INSERT INTO apart.leaf (child, word) VALUES (1, 'new')", "INSERT INTO children (kind) VALUES ('q')",
    "INSERT INTO parent VALUES (3, 'k')", "UPDATE parent SET id = 4 WHERE id = 3", "UPDATE child SET m = 'low', due = '2026-02-02'", "DELETE FROM parent WHERE id = 2",
    "TRUNCATE child, apart.leaf", "REFRESH MATERIALIZED VIEW counted", "COPY child TO STDOUT",
    "ALTER TABLE child ADD COLUMN extra smaller", "ALTER TABLE parent DROP COLUMN code CASCADE", "ALTER TABLE child ALTER COLUMN due TYPE text",
    "ALTER TABLE parent RENAME TO renamed", "ALTER TYPE mood ADD VALUE 'mid'", "ALTER TYPE mood RENAME VALUE 'low' TO 'deep'", "ALTER TYPE pair ADD ATTRIBUTE c integer",
    "ALTER DOMAIN small ADD CHECK (value <> 50)", "CREATE INDEX ON child (p)", "REINDEX TABLE child",
    "CREATE TEMP TABLE passing (a child, b parents); DROP TABLE passing",
    "DROP VIEW children CASCADE", "DROP TYPE mood CASCADE", "DROP DOMAIN small CASCADE", "DROP FUNCTION cells()", "DROP SEQUENCE apart.counter",
    "DROP TABLE child CASCADE", "DROP TABLE parent CASCADE", "DROP SCHEMA apart CASCADE", "DROP TABLE product",
)


def places(value, path=()):
    """The paths of all parts of a JSON value."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, path + (key,))


def damaged_value(value, definitions, random):
    """Another value of the same JSON type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return random.choice([0, 1, 2, 7, -1, 32767, 99999999, 2147483000, random.choice(definitions).get("oid", 5)])
    if isinstance(value, str):
        return random.choice(["", "zzz", "'", "child.id +"])
    return type(value)()


def damages(definitions):
    """Every single damage as (field, how, path). A random other value is chosen when it is applied."""
    found = []
    for field in sorted(definitions):
        found.append((field, "missing", ()))
        for path in places(definitions[field]):
            if path:
                found += [(field, "removed", path), (field, "altered", path)]
    return found


def apply(definition, how, path, others, random):
    damaged = copy.deepcopy(definition)
    holder = damaged
    for key in path[:-1]:
        holder = holder[key]
    if how == "removed":
        del holder[path[-1]]
    else:
        holder[path[-1]] = damaged_value(holder[path[-1]], others, random)
    return damaged


class Subject:
    """A redquel over a Redis whose keys are put back before each damage."""

    def __init__(self, make_server, redis):
        self.make_server, self.redis = make_server, redis
        self.server = make_server(redis=redis)
        with self.server.connect() as connection:
            connection.run(SCHEMA)
        self.raw = redis.connect()
        self.raw.timeout = 60
        self.saved = {key: self.raw("DUMP", key) for key in self.raw.keys()}
        fields = self.raw("HGETALL", "redquel:catalog")
        pairs = fields.items() if isinstance(fields, dict) else zip(fields[::2], fields[1::2])
        as_text = lambda word: word.decode() if isinstance(word, bytes) else word
        self.definitions = {as_text(field): json.loads(as_text(value)) for field, value in pairs if as_text(field) != "next_oid"}

    def put_back(self):
        for key in self.raw.keys():
            if key not in self.saved:
                self.raw("DEL", key)
        for key, dump in self.saved.items():
            self.raw("RESTORE", key, "0", dump, "REPLACE")

    def damage(self, field, text):
        if text is None:
            self.raw("HDEL", "redquel:catalog", field)
        else:
            self.raw("HSET", "redquel:catalog", field, text)
        self.raw("SET", "redquel:version", f"damaged{random_numbers.getrandbits(60)}")

    def answers(self, statements):
        """SQLSTATEs of the failed statements; None if the server has ended."""
        states = set()
        try:
            with self.server.connect() as connection:
                for sql in statements:
                    try:
                        connection.run(sql)
                    except ServerError as error:
                        states.add((error.sqlstate, str(error)[:150]) if error.sqlstate == "XX000" else (error.sqlstate, ""))
        except (ConnectionClosed, ConnectionError, OSError):
            return None
        return states

    def restart_if_ended(self):
        if not self.server.alive():
            self.server = self.make_server(redis=self.redis)


def test_no_damaged_definition_ends_the_server(make_server, make_redis, random):
    subject = Subject(make_server, make_redis())
    every = damages(subject.definitions)
    count = int(os.environ.get("DAMAGED_DEFINITIONS", "60"))
    failures = []
    for field, how, path in every if count == 0 else random.sample(every, count):
        damaged = None
        if how != "missing":
            damaged = apply(subject.definitions[field], how, path, list(subject.definitions.values()), random)
        subject.damage(field, None if damaged is None else json.dumps(damaged))
        states = subject.answers(STATEMENTS)
        # (Another type that exists is no missing reference: what is computed with it may fail in any way but end the server.)
        if states is None or "type" not in path and any(state == "XX000" for state, _ in states):
            value = damaged
            for key in path if how == "altered" else ():
                value = value[key]
            failures.append((field, how, path, value if how == "altered" else None, states and [s for s in states if s[0] == "XX000"]))
            if os.environ.get("DAMAGED_DEFINITIONS"):
                print(failures[-1], flush=True)
        subject.put_back()
        subject.raw("SET", "redquel:version", f"whole{random_numbers.getrandbits(60)}")
        subject.restart_if_ended()
    assert not failures, failures


def test_the_index_of_a_foreign_key_has_its_columns(make_server, make_redis):
    subject = Subject(make_server, make_redis())
    field, child = next((field, definition) for field, definition in subject.definitions.items() if definition.get("name") == "child")
    for part, column in ((0, 3), (0, 4), (1, 1), (1, 2)):
        damaged = copy.deepcopy(child)
        damaged["indexes"][0]["parts"][part]["column"] = column
        subject.damage(field, json.dumps(damaged))
        assert subject.answers(["INSERT INTO child (parent, m, s) VALUES (1, 'high', 7)", "DELETE FROM parent WHERE id = 2"]) == {("XX001", "")}, (part, column)
        subject.put_back()
        subject.raw("SET", "redquel:version", f"whole{part}{column}")
    assert subject.answers(["INSERT INTO child (parent, m, s) VALUES (1, 'high', 7)"]) == set()


def test_a_domain_over_a_missing_type_is_named(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE TABLE r1 (x integer); CREATE DOMAIN d AS r1[]")
        domain = connection.run("SELECT oid FROM pg_type WHERE typname = 'd'")[0][0]
    with redis.connect() as raw:
        for field in raw("HKEYS", "redquel:catalog"):
            if field.startswith("table:"):
                raw("HDEL", "redquel:catalog", field)
    server.stop()
    server = make_server(redis=redis)
    with server.connect() as connection:
        for sql in ("SELECT count(*) FROM pg_type", "SELECT NULL::d", "CREATE TABLE t (a d)"):
            try:
                connection.run(sql)
                raise AssertionError(f"{sql} succeeds")
            except ServerError as error:
                assert error.sqlstate == "XX001" and "\"d\"" in str(error), error
                assert f"type:{domain}" in error.fields["H"], error.fields
        with redis.connect() as raw:
            raw("HDEL", "redquel:catalog", f"type:{domain}")
            raw("SET", "redquel:version", "mended")
        assert connection.run("SELECT count(*) FROM pg_type WHERE typname = 'd'") == [["0"]]
