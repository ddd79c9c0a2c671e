"""REINDEX after random damage by another program: it ends, repeats without an effect, leaves no wrong entry unnamed and
every unique value guarded."""
import os
import random as random_module

from harness.key_damage import Damage
from harness.spread_tables import make_cluster

SLOW = True
LIMIT = 900
ROUNDS = int(os.environ.get("RANDOM_DAMAGES", "300"))
CLUSTER_ROUNDS = int(os.environ.get("RANDOM_DAMAGES", "40"))
MOST_COMMANDS = 30_000  # of one REINDEX of some twenty rows

LONG = "'" + "y" * 600 + "'"
# Definitions, rows, and the unique keys: how a second row with the values of a row is written, whose new key is %s.
TABLES = {
    "one": ("id int PRIMARY KEY, mail text UNIQUE", [],
            ["1, 'q'", "2, 'y'", "3, ''", "4, NULL", f"5, {LONG}", "0, 'zero'"],
            {"mail": "INSERT INTO {t} SELECT {new}, mail FROM {t} WHERE id = {id} AND mail IS NOT NULL"}),
    "word": ("id text PRIMARY KEY, n int, w text NOT NULL",
             ["CREATE INDEX ON {t} (n)", "CREATE INDEX ON {t} (w)", "CREATE UNIQUE INDEX ON {t} (n, w)", "CREATE INDEX ON {t} USING zset (w, n)"],
             ["'', 1, ''", "'a', 2, 'w'", "'b', NULL, 'w'", "'%', 4, 'a:b'", f"{LONG}, 5, {LONG}"],
             {"n": "INSERT INTO {t} SELECT {new}::text, n, w FROM {t} WHERE id = '{id}' AND n IS NOT NULL"}),
    "pair": ("a int, b text, c numeric, PRIMARY KEY (a, b)",
             ["CREATE INDEX ON {t} (b)", "CREATE INDEX ON {t} (a)", "CREATE INDEX ON {t} (c)", "CREATE INDEX ON {t} USING zset (a, b, c)"],
             ["1, 'x', 1.5", "1, '', 2.50", "2, 'x', NULL", "2, 'p:q', 'NaN'", f"3, {LONG}, 0"], {}),
    "loose": ("n int UNIQUE, v int", ["CREATE UNIQUE INDEX ON {t} ((10 / v)) WHERE n > 2", "CREATE INDEX ON {t} (v)"],
              ["1, 5", "2, 5", "3, 1", "4, 2", "NULL, 3"],
              {"n": "INSERT INTO {t} SELECT n, 77 FROM {t} WHERE n = {id}"}),
    "nulls": ("id int PRIMARY KEY, a text, flag bool, UNIQUE NULLS NOT DISTINCT (a)", ["CREATE INDEX ON {t} (flag)"],
              ["1, NULL, true", "2, '', false", "3, 'a', NULL"],
              {"a": "INSERT INTO {t} SELECT {new}, a FROM {t} WHERE id = {id}"}),
    "due": ("id int PRIMARY KEY, mail text UNIQUE, n int", ["CREATE INDEX ON {t} (n)", "CREATE INDEX ON {t} USING zset (n, mail)"],
            ["1, 'q', 1", "2, '', 2", "3, NULL, 2"],
            {"mail": "INSERT INTO {t} SELECT {new}, mail FROM {t} WHERE id = {id} AND mail IS NOT NULL"}),
}
# Differences that REINDEX leaves: keys that are no rows, and those of other programs.
LEFT = {"row", "unknown", "sequence"}


class Round:
    """One damaged table. `count` returns how many commands Redis has run so far, or None."""

    def __init__(self, connection, run, keys, name, options="", count=lambda: None):
        self.connection, self.run, self.keys, self.count = connection, run, keys, count
        self.kind = name
        columns, indexes, rows, self.guards = TABLES[name]
        self.table = name
        connection.run(f"DROP TABLE IF EXISTS {name}")
        for key in keys():  # those that DROP leaves would be in the way of the next table
            run("DEL", key)
        connection.run(f"CREATE TABLE {name} ({columns}) {options}")
        for index in indexes:
            connection.run(index.format(t=name))
        for row in rows:
            connection.run(f"INSERT INTO {name} VALUES ({row})")

    def differences(self):
        return self.connection.run(f"SELECT * FROM redquel.check_indexes('{self.table}')")

    def stored(self):
        return {key: self.run("DUMP", key) for key in self.keys()}

    def reindex(self):
        before = self.count()
        result = self.connection.query(f"REINDEX TABLE {self.table}")[-1]
        if before is not None:
            commands = self.count() - before
            assert commands < MOST_COMMANDS, f"{commands} commands"
        return result

    def check(self):
        result = self.reindex()
        assert result.error is None or result.sqlstate == "23505", result.error
        left = self.differences()
        kinds = {row[0] for row in left}
        # A value that two rows have, or that an unreadable row may have, keeps its owner.
        allowed = LEFT | ({"unique"} if result.error or "row" in kinds else set())
        assert kinds <= allowed, left
        unreadable = {row[1].split("}")[-1] for row in left if row[0] == "row"}  # without the tag of the bucket
        warnings = [notice for notice in result.notices if notice["S"] == "WARNING"]
        assert len(unreadable) <= len(warnings), (left, result.notices)
        before = self.stored()
        again = self.reindex()
        assert again.sqlstate == result.sqlstate, (result.error, again.error)
        if self.kind != "due":  # (the sweeper works there)
            after = self.stored()
            assert after == before, [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
        # The key of a lost row may be another program's by now.
        # A value whose entry names an unreadable row stays so, and check_indexes names the row that has it.
        claims = {row[4] for row in left if row[0] == "unique" and unreadable}
        self.check_answers(result, unreadable, claims, any(row[0] == "unknown" for row in left))

    def check_answers(self, result, unreadable, claims, has_unknown):
        rows = self.connection.query(f"SELECT * FROM {self.table}")[-1]
        if rows.error:
            states = ("22P02", "22003", "22021", "22012", "XX001", "22P03")
            assert unreadable and rows.sqlstate in states, (rows.error, unreadable)
        elif not unreadable:
            assert self.connection.run(f"SELECT count(*) FROM {self.table}") == [[str(len(rows.texts()))]]
        if result.error and not rows.error:
            self.check_duplicates(rows.texts())
        for column, statement in self.guards.items():
            for identity in ("0", "1", "2", "3", "4", "", "a", "%"):
                if identity == "" and self.kind != "word" or not identity.isdigit() and self.kind != "word":
                    continue
                self.connection.run("BEGIN")
                twin = self.connection.query(statement.format(t=self.table, new="900001", id=identity))[-1]
                self.connection.query("ROLLBACK")
                is_guarded = twin.sqlstate == "23505" or twin.tag == "INSERT 0 0"
                may_fail = unreadable or (has_unknown and twin.sqlstate == "XX001")
                # The values of a row that REINDEX has named as unreadable are not known.
                is_named = identity in claims or f"{self.table}:{identity or '%'}" in unreadable or self.kind == "loose" and unreadable
                assert is_guarded or is_named or twin.error and may_fail, (column, identity, twin.error or twin.tag)

    def check_duplicates(self, rows):
        """An error names real duplicates."""
        position = {"one": [1], "word": [1, 2], "nulls": [1], "due": [1], "loose": [0], "pair": [0, 1]}[self.kind]
        values = [tuple(None if row[p] == "\0" else row[p] for p in position) for row in rows]  # that byte alone is stored for NULL
        values = [value for value in values if self.kind == "nulls" or None not in value]
        computed = [10 // int(row[1]) if int(row[1]) > 0 else -(10 // -int(row[1])) for row in rows
                    if self.kind == "loose" and row[0] and int(row[0]) > 2 and row[1] and row[1] != "0"]
        assert len(set(values)) < len(values) or len(set(computed)) < len(computed), (rows, computed)


def rounds(server, run, keys_of, random, count, options=lambda name: "", commands=lambda: None):
    failures = []
    for number in range(count):
        seed = random.getrandbits(32)
        own = random_module.Random(seed)
        name = own.choice(sorted(TABLES))
        with server.connect(options="-c statement_timeout=60s") as connection:
            round_ = Round(connection, run, lambda: keys_of(name), name, options(name), commands)
            damage = Damage(own, name, round_.keys, run)
            for _ in range(own.randrange(1, 7)):
                try:
                    damage.once()
                except Exception as error:  # a command at a key of another type
                    damage.history.append(f"-- {error}")
            try:
                round_.check()
            except Exception as error:
                history = "\n    ".join(damage.history)
                failures.append(f"{name}, seed {seed}:\n    {history}\n  {type(error).__name__} {str(error)[:1500]}")
                assert server.alive(), failures[-1]
        if len(failures) >= 5:
            break
    assert not failures, f"{len(failures)} of {number + 1} rounds:\n" + "\n".join(failures)


def test_reindex_mends_what_other_programs_damage(make_server, make_redis, random):
    redis = make_redis()
    with redis.connect() as raw:
        def options(name):
            return "WITH (ttl = '1 hour')" if name == "due" else ""

        def keys_of(name):
            return raw.keys(f"{name}:*")

        def commands():
            return int(raw.info("stats")["total_commands_processed"])
        rounds(make_server(redis=redis), raw, keys_of, random, ROUNDS, options, commands)


def test_reindex_mends_tables_in_several_buckets(make_server, make_redis, random):
    cluster, [server] = make_cluster(make_redis, make_server)

    def options(name):
        return "" if name == "due" else "WITH (buckets = 4)"

    def keys_of(name):
        return sorted(key for found in cluster.on_all("KEYS", f"*}}{name}:*") for key in found)
    with cluster.connect() as raw:
        rounds(server, raw, keys_of, random, CLUSTER_ROUNDS, options)
