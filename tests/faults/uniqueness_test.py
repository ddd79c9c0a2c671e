"""Many clients of two redquel processes insert the same keys at once: each key exists once, and exactly one client was told so."""
import os
import threading

from harness import pgwire

CONCURRENT = True
SLOW = True
LIMIT = 600  # seconds
# A build without optimisation, or with sanitizers, takes minutes for all of them.
CLIENTS, ALL_KEYS, KEYS, AT_ONCE = 32, 10_000, 2_000, 50
UNIQUE_VIOLATION = "23505"


class Inserter(threading.Thread):
    """Inserts every key, in an order of its own, many statements in flight."""

    def __init__(self, server, number, random, keys):
        super().__init__(daemon=True)
        self.server, self.number = server, number
        self.keys = list(range(keys))
        random.shuffle(self.keys)
        self.inserted, self.refused, self.others = [], 0, []

    def run(self):
        try:
            self.insert()
        except Exception as error:  # told by the test
            self.others.append(repr(error))

    def insert(self):
        with self.server.connect(timeout=300) as connection:
            for first in range(0, len(self.keys), AT_ONCE):
                chosen = self.keys[first:first + AT_ONCE]
                for key in chosen:
                    connection.send(pgwire.query(f"INSERT INTO contested VALUES ({key}, 'mail{(key * 7 + 1) % len(self.keys)}', {self.number})"))
                for key in chosen:
                    [result] = connection.results()
                    if not result.error:
                        self.inserted.append(key)
                    elif result.sqlstate == UNIQUE_VIOLATION:
                        self.refused += 1
                    else:
                        self.others.append(result.error)


def test_unique_under_fire(build, make_redis, make_server, random):
    keys = ALL_KEYS if os.path.basename(build) == "release" else KEYS
    fire(make_redis, make_server, random, keys, "CREATE TABLE contested (id int PRIMARY KEY, mail text UNIQUE, client int)")


def test_unique_expressions_under_fire(make_redis, make_server, random):
    fire(make_redis, make_server, random, 200, "CREATE TABLE contested (id int, mail text, client int); "
         "CREATE UNIQUE INDEX ON contested ((id * 2), (client < 0)) WHERE client >= 0; CREATE UNIQUE INDEX ON contested (upper(mail))")


def fire(make_redis, make_server, random, keys, definitions):
    redis = make_redis()
    servers = [make_server(redis=redis), make_server(redis=redis)]
    with servers[0].connect() as connection:
        connection.run(definitions)
        connection.run("CREATE INDEX ON contested USING hash (client)")
    inserters = [Inserter(servers[number % 2], number, random, keys) for number in range(CLIENTS)]
    for inserter in inserters:
        inserter.start()
    for inserter in inserters:
        inserter.join()
    others = [other for inserter in inserters for other in inserter.others]
    assert not others, others[:5]
    winners = sorted((key, inserter.number) for inserter in inserters for key in inserter.inserted)
    assert [key for key, _ in winners] == list(range(keys))
    refused = sum(inserter.refused for inserter in inserters)
    assert refused == (CLIENTS - 1) * keys, refused
    with servers[1].connect() as connection:
        rows = connection.run("SELECT id, client FROM contested ORDER BY id")
        assert [(int(key), int(client)) for key, client in rows] == winners
        assert connection.run("SELECT count(DISTINCT mail), count(*) FROM contested") == [[str(keys), str(keys)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('contested')") == []
