"""Keys and values of any bytes: look, discover and IMPORT FOREIGN SCHEMA find the tables that are there, and say what they leave out."""
import os
import time

from harness.pgwire import ServerError
from harness.programs import run

HOSTILE = 10_000  # keys
JAVA = b"\xac\xed\x00\x05t"


def java(text):
    return JAVA + len(text).to_bytes(2, "big") + text


def fill_good(raw):
    for number in range(1, 41):
        raw("HSET", f"user:{number}", "name", f"name {number}", "city", "Bern")


def tables(connection):
    return [row[0] for row in connection.run("SELECT relname FROM pg_class WHERE relkind = 'f' ORDER BY relname")]


def test_a_key_that_is_no_utf8_is_a_row(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        raw("SET", b"bin\xff\xfe:1", b"\x00\x01")
        raw("SET", b"bin\xff\xfe:2", b"\x00\x02")
    server = make_look(redis)
    with server.connect() as connection:
        assert tables(connection) == ["bin", "user"]
        assert connection.run('SELECT name FROM "user" WHERE id = 7') == [["name 7"]]
        assert connection.run("SELECT id, value FROM bin ORDER BY id") == [["1", "\\x0001"], ["2", "\\x0002"]]
        assert connection.run("SELECT value FROM bin WHERE id = 2") == [["\\x0002"]]


def test_keys_of_javas_serialization_have_the_names_of_their_texts(make_redis, make_server):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 121):
            raw("SET", java(f"order:{number}".encode()), java(f"value {number}".encode()))
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run('IMPORT FOREIGN SCHEMA "*" FROM SERVER redis INTO public')
        assert tables(connection) == ["order"]
        assert connection.run('SELECT count(*), min(id), max(id) FROM "order"') == [["120", "1", "120"]]
        assert connection.run('SELECT convert_from(substr(value, 8), \'UTF8\') FROM "order" WHERE id IN (7, 107) ORDER BY id') == [["value 7"], ["value 107"]]
        connection.run('INSERT INTO "order" (id, value) VALUES (1234, \'x\')')
    with redis.connect() as raw:
        assert raw("GET", java(b"order:1234")) == "x"
    server.stop()
    with make_server(redis=redis).connect() as connection:
        assert connection.run('SELECT count(*) FROM "order" WHERE id = 1234') == [["1"]]


def test_a_single_key_takes_no_name_from_many(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 41):
            raw("HSET", f"store:city:{number}", "name", f"name {number}", "country", "CH")
        raw("HSET", "city:7", "nothing", "more")
    with make_look(redis).connect() as connection:
        assert connection.run("SELECT name FROM city WHERE id = 7") == [["name 7"]]
        assert len(tables(connection)) == 2


def test_words_of_one_key_take_no_table_with_them(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(4_000):
            letters = "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))
            raw("HSET", f"x{letters}x:{number % 10}", "a", number)
            if number % 100 == 0:
                raw("HSET", f"user:{number // 100}", "name", f"name {number // 100}", "city", "Bern")
    with make_look(redis).connect() as connection:
        assert connection.run('SELECT name FROM "user" WHERE id = 7') == [["name 7"]]
        assert connection.run("SELECT keys > 3900, reason FROM redquel.left_out WHERE pattern = '*:*'") == [["t", "no word in common"]]


def hostile_bytes(random, most):
    """A text as nobody should write it into a key."""
    pieces = [b"'", b'"', b"\n", b"\r\n", b"\\", b"{", b"}", b"{{", b"$$", b"\x00", b"\x1b[31m", b"\xff", b"\xc3", "\u202eevil".encode(), "\u200b".encode(), "ä".encode(),
              "日本".encode(), b"*", b"?", b"[a-", b":", b"::", b" ", b"--", b"/*", b";DROP TABLE x;", b"%s", b"7", b"user", java(b"x"), JAVA, b"\x7f", b"\xed\xa0\x80", b"{x}"]
    return b"".join(random.choice(pieces) if random.random() < 0.7 else bytes([random.randrange(256)]) for _ in range(random.randrange(1, most)))


def fill_hostile(raw, random, number):
    for _ in range(number):
        key = hostile_bytes(random, 8) + random.choice([b"", b":", b":1", b":2:name", b":" + hostile_bytes(random, 4)])
        value, other = hostile_bytes(random, 6), hostile_bytes(random, 6)
        kind = random.randrange(6)
        words = [("SET", key, value, "NX"), ("HSET", key, value, other, other, value), ("SADD", key, value, other), ("ZADD", key, b"1.5", value, b"2", other),
                 ("RPUSH", key, value, other), ("XADD", key, b"*", value, other)][kind]
        try:
            raw(*words)
        except Exception as error:  # another type lies there
            assert "WRONGTYPE" in str(error), error


def read_all(connection):
    """Reads every table. Returns how many there are."""
    found = connection.run("SELECT format('%I.%I', relnamespace::regnamespace::text, relname) FROM pg_class WHERE relkind IN ('f', 'v') AND relnamespace::regnamespace::text "
                           "NOT IN ('pg_catalog', 'information_schema', 'redis', 'redquel')")
    for (name,) in found:
        connection.run(f"SELECT * FROM {name} LIMIT 20")
    return len(found)


def test_hostile_keys_do_not_hide_the_good_ones(build, make_redis, make_look, make_server, random):
    redis = make_redis()
    with redis.connect() as raw:
        fill_good(raw)
        fill_hostile(raw, random, HOSTILE)
        raw("SET", b"l" * 500_000, b"long")
        raw("HSET", b"wide:1", b"f" * 500_000, b"x", b"name", b"y")
        keys = raw("DBSIZE")
    text = run([os.path.join(build, "redquel"), "discover", "--redis", redis.url], timeout=300)
    assert 'CREATE FOREIGN TABLE "user"' in text and "longer" not in text
    assert not any(ord(character) < 0x20 and character != "\n" or character in "\u202e\u200b\x7f" for character in text), "bytes for a terminal"
    server = make_look(redis)
    with server.connect() as connection:
        assert connection.run('SELECT count(*) FROM "user" WHERE city = \'Bern\'') == [["40"]]
        assert read_all(connection) > 10
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public")
        assert connection.run('SELECT count(*) FROM "user" WHERE city = \'Bern\'') == [["40"]]
    with redis.connect() as raw:
        written = [key for key in raw("KEYS", "redquel:*")]
        assert raw("DBSIZE") - len(written) == keys, "keys of the application"


MANY = 60_000
MANY_FORMS = """
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('HSET', 'account:' .. i, 'name', 'name ' .. i, 'balance', i)
  redis.call('SET', 'page:' .. i, 'text of page ' .. i)
end
"""


def fill_many(raw):
    for first in range(1, MANY // 2 + 1, 1000):
        raw("EVAL", MANY_FORMS, "0", first, first + 999)
    for number in range(1, 31):
        raw("HSET", f"rare:{number}", "a", number)


def test_the_port_opens_before_discovery_ends_and_statements_wait_for_their_tables(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_many(raw)
    server = make_look(redis, "--max-keys-per-second", "20000", waits=False)  # three seconds of discovery
    begun = time.monotonic()
    with server.connect() as connection:
        assert connection.run("SELECT count(*) > 0 FROM redis.info") == [["t"]]
        connection.run("SET redquel.discovery_wait = 0; SET redquel.max_keys_per_second = 0")
        try:
            connection.run("SELECT a FROM rare WHERE id = 7")
            assert time.monotonic() - begun > 2, "discovery was not bounded"
        except ServerError as error:
            assert error.sqlstate == "42P01", error
        connection.run("SET redquel.discovery_wait = 60")
        assert connection.run("SELECT a FROM rare WHERE id = 7") == [["7"]]
        assert connection.run("SELECT balance FROM account WHERE id = 11") == [["11"]]
        try:
            connection.run("SELECT 1 FROM there_is_none")
            raise AssertionError("a table that is not there")
        except ServerError as error:
            assert error.sqlstate == "42P01", error
    server.process.wait_for_line("discovery has ended: 60[0-9]+ keys, 3 tables")


def test_what_depends_on_an_early_table_stays(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        fill_many(raw)
    server = make_look(redis, "--max-keys-per-second", "20000", waits=False)
    with server.connect() as connection:
        connection.run("SELECT balance FROM account WHERE id = 11; CREATE VIEW rich AS SELECT id FROM account WHERE balance > 29990")
        server.process.wait_for_line("discovery has ended")
        assert connection.run("SELECT count(*) FROM rich") == [["10"]]
