"""Applications that change, move and delete keys with plain commands, members of structures that are stale meanwhile: a query never gives a
wrong row, whatever it misses; changes by SQL lose nothing."""
import random
import threading
import time

from harness.keyspace import MappedKeys
from harness.waiting import wait_for

CONCURRENT = True
PEOPLE, OWNERS, SECONDS = 60, ["ann", "bob", "cid"], 4

TABLES = """
CREATE FOREIGN TABLE item (id bigint, owner text, size bigint NOT NULL, proof text, hits bigint) SERVER redis OPTIONS (layout 'hash', key 'item:{id}');
CREATE INDEX ON item USING set (owner) WITH (key = 'item:owner:{owner}', maintained = 'application');
CREATE INDEX ON item USING zset (size) WITH (key = 'item:size', maintained = 'application');
CREATE INDEX ON item USING lookup (proof) WITH (key = 'item:proof:{proof}', maintained = 'application');
REINDEX TABLE item;
CREATE FOREIGN TABLE text (id bigint, a text, b text) SERVER redis OPTIONS (layout 'strings', key 'text:{id}:{*}');
CREATE FOREIGN TABLE basket (owner text, item_id bigint) SERVER redis OPTIONS (layout 'set', key 'basket:{owner}');
CREATE TABLE known (id bigint PRIMARY KEY);
INSERT INTO known SELECT generate_series(1, 60)
"""


def proof(number, owner, size):
    return f"{number}-{owner}-{size}"


def write(redis, number, chance):
    """A row in one command, its structures in others, before or after, some not at all."""
    owner, size = chance.choice(OWNERS), chance.randrange(1000)
    row = ("HSET", f"item:{number}", "owner", owner, "size", size, "proof", proof(number, owner, size))
    others = [("SADD", f"item:owner:{owner}", number), ("ZADD", "item:size", size, number), ("SET", f"item:proof:{proof(number, owner, size)}", number),
              ("SMOVE", f"basket:{chance.choice(OWNERS)}", f"basket:{owner}", number), ("SADD", f"basket:{owner}", number),
              ("MSET", f"text:{number}:a", f"{number}/{size}", f"text:{number}:b", f"{number}/{size}")]
    commands = [row, *chance.sample(others, chance.randrange(len(others) + 1))]
    chance.shuffle(commands)
    if chance.random() < 0.1:
        commands = [("DEL", f"item:{number}"), ("DEL", f"text:{number}:a", f"text:{number}:b")]
    for command in commands:
        redis(*command)


def load(redis):
    chance = random.Random(1)
    for number in range(1, PEOPLE + 1):
        write(redis, number, chance)


def is_right(row):
    number, owner, size, shown = row[:4]
    return shown == proof(number, owner, size)


QUERIES = [
    ("SELECT id, owner, size, proof FROM item WHERE owner = 'ann'", lambda row: is_right(row) and row[1] == "ann"),
    ("SELECT id, owner, size, proof FROM item WHERE owner IN ('bob', 'cid') AND size > 500", lambda row: is_right(row) and row[1] != "ann" and int(row[2]) > 500),
    ("SELECT id, owner, size, proof FROM item WHERE NOT owner = 'bob' AND owner = 'cid'", lambda row: is_right(row) and row[1] == "cid"),
    ("SELECT id, owner, size, proof FROM item ORDER BY size DESC LIMIT 7", is_right),
    ("SELECT id, owner, size, proof FROM item ORDER BY size LIMIT 7", is_right),
    ("SELECT id, owner, size, proof FROM item WHERE proof IN ('1-ann-5', '2-bob-7', '3-cid-9')", is_right),
    ("SELECT id, owner, size, proof FROM item", is_right),
    ("SELECT i.id, i.owner, i.size, i.proof, b.owner FROM basket b JOIN item i ON i.id = b.item_id WHERE b.owner = 'bob'", lambda row: is_right(row) and row[4] == "bob"),
    ("SELECT i.id, i.owner, i.size, i.proof FROM known k JOIN item i ON i.id = k.id", is_right),
    ("SELECT id, a, b FROM text WHERE id < 30", lambda row: row[1] == row[2] and row[1].startswith(row[0] + "/")),
    ("SELECT t.id, t.a, t.b FROM known k JOIN text t ON t.id = k.id", lambda row: row[1] == row[2] and row[1].startswith(row[0] + "/")),
]


def test_no_wrong_rows(fresh_server, random):
    failures, ended = [], threading.Event()

    def guarded(work):
        def run():
            try:
                work()
            except Exception as error:  # told by the test
                failures.append(repr(error))
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def application(seed):
        chance, redis = random.__class__(seed), fresh_server.redis_connection()
        while not ended.is_set():
            write(redis, chance.randrange(1, PEOPLE + 1), chance)
            redis("HINCRBY", "item:1000", "hits", 1)
            applied[seed] += 1
        redis.close()

    def reader():
        with fresh_server.connect() as connection:
            connection.run("SET client_min_messages = warning")
            while not ended.is_set():
                for query, fits in QUERIES:
                    for row in connection.run(query):
                        if not fits(row):
                            failures.append(f"{query}: {row}")
                            return

    def writer():
        with fresh_server.connect() as connection:
            while not ended.is_set():
                connection.run("UPDATE item SET hits = hits + 1 WHERE id = 1000")
                counted.append(1)

    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        redis("HSET", "item:1000", "owner", "nobody", "size", "-1", "proof", proof("1000", "nobody", "-1"), "hits", "0")
        applied, counted = {1: 0, 2: 0, 3: 0}, []
        threads = [guarded(lambda seed=seed: application(seed)) for seed in applied] + [guarded(reader), guarded(reader), guarded(writer)]
        time.sleep(SECONDS)
        try:
            wait_for(lambda: failures or counted and all(applied.values()), what="a turn of each")
        finally:
            ended.set()
        for thread in threads:
            thread.join()
        assert not failures, failures[:3]
        assert int(redis("HGET", "item:1000", "hits")) == sum(applied.values()) + len(counted)
