"""Layout ohm: what the Ruby library Ohm (2 and 3) writes is read and written as it would do it."""
from harness.copies import Copies
from harness.keyspace import MappedKeys, plan, same

TABLES = """
CREATE FOREIGN TABLE users (id bigint, name text, email text, age int) SERVER redis OPTIONS (layout 'ohm', model 'User');
CREATE INDEX ON users USING set (name);
CREATE INDEX ON users USING set (age);
CREATE INDEX users_email ON users USING lookup (email);
CREATE FOREIGN TABLE user_counter (user_id bigint, name text, value bigint)
  SERVER redis OPTIONS (layout 'hash_fields', key 'User:{user_id}:counters')
"""


def save(redis, number, **attributes):
    """The commands of Ohm's save, for a model with indices name and age, unique email."""
    own = f"User:{number}"
    redis("SADD", "User:all", number)
    redis("DEL", own)
    fields = [word for pair in attributes.items() for word in pair]
    if fields:
        redis("HSET", own, *fields)
    for key in redis("SMEMBERS", own + ":_indices"):
        redis("SREM", key, number)
        redis("SREM", own + ":_indices", key)
    for field in ("name", "age"):
        if field in attributes:
            key = f"User:indices:{field}:{attributes[field]}"
            redis("SADD", own + ":_indices", key)
            redis("SADD", key, number)
    for key in redis("HKEYS", own + ":_uniques"):
        redis("HDEL", key, redis("HGET", own + ":_uniques", key))
        redis("HDEL", own + ":_uniques", key)
    if "email" in attributes:
        redis("HSET", own + ":_uniques", "User:uniques:email", attributes["email"])
        redis("HSET", "User:uniques:email", attributes["email"], number)


def load(redis):
    redis("SET", "User:id", 4)
    save(redis, 1, name="ann", email="ann@x", age=30)
    save(redis, 2, name="bob:b", email="bob@x", age=30)
    save(redis, 3, name="ann", age=41)
    save(redis, 4)  # no attribute at all: in User:all only
    redis("HINCRBY", "User:1:counters", "logins", 3)


def keys(redis):
    """All of the model's keys with what is in them."""
    found = {}
    for key in redis.keys("User:*"):
        kind = redis("TYPE", key)
        found[key] = redis.hash(key) if kind == "hash" else sorted(redis("SMEMBERS", key)) if kind == "set" else redis("GET", key)
    return found


def test_reading(fresh_server, postgres):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), Copies(connection, postgres) as copies:
        connection.run("SET redquel.allow_keyspace_scan = off")
        connection.run("SET redquel.allow_keyspace_scan = on")
        copies.same("SELECT * FROM users ORDER BY id", "SELECT count(*) FROM users", "SELECT id FROM users WHERE name = 'bob:b'",
                    "SELECT id FROM users WHERE name = 'ann' AND age = 41", "SELECT id FROM users WHERE name = 'ann' OR age = 30",
                    "SELECT name FROM users WHERE email = 'ann@x'", "SELECT * FROM users WHERE id IN (3, 4, 9)",
                    "SELECT u.name, c.value FROM users u JOIN user_counter c ON c.user_id = u.id WHERE u.id = 1")
        connection.run("SET redquel.allow_keyspace_scan = off")  # User:all has the rows
        same(connection.run("SELECT count(*) FROM users WHERE age IS NULL"), [["1"]])
        assert "SSCAN User:all 0 COUNT 1000" in plan(connection, "SELECT * FROM users")
        assert "HGET User:uniques:email ann@x" in plan(connection, "SELECT * FROM users WHERE email = 'ann@x'")
        redis("HSET", "User:77", "name", "gone")  # Ohm does not count it
        same(connection.run("SELECT count(*) FROM users WHERE id = 77"), [["0"]])


def test_writes_leave_the_keys_of_ohm(fresh_server, make_redis):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), make_redis().connect() as ohm:
        load(ohm)
        same(connection.run("INSERT INTO users (name, email, age) VALUES ('cid', 'cid@x', 5) RETURNING id"), [["5"]])
        ohm("INCR", "User:id")
        save(ohm, 5, name="cid", email="cid@x", age=5)
        assert keys(redis) == keys(ohm)
        connection.run("UPDATE users SET name = 'eve', email = NULL WHERE id = 1")
        save(ohm, 1, name="eve", age=30)
        assert keys(redis) == keys(ohm)
        connection.run("UPDATE users SET age = age + 1, email = id || '@y' WHERE age < 40 AND id > 1")
        save(ohm, 2, name="bob:b", email="2@y", age=31)
        save(ohm, 5, name="cid", email="5@y", age=6)
        assert keys(redis) == keys(ohm)
        connection.run("UPDATE users SET name = NULL, age = NULL WHERE id = 3")
        save(ohm, 3)
        assert keys(redis) == keys(ohm)
        connection.run("BEGIN")
        connection.run("DELETE FROM users WHERE id IN (1, 2, 5)")
        connection.run("COMMIT")
        assert keys(redis) == {"User:id": "5", "User:all": ["3", "4"]}
        connection.run("TRUNCATE users")
        assert keys(redis) == {"User:id": "5"}


def test_uniques(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        before = keys(redis)
        error = connection.run_error("INSERT INTO users (id, email) VALUES (50, 'ann@x')")
        assert error["C"] == "23505" and "users_email" in error["M"], error
        assert connection.run_error("INSERT INTO users (id) VALUES (4)")["C"] == "23505"
        assert connection.run_error("INSERT INTO users (id, email) VALUES (51, 'n@x'), (52, 'n@x')")["C"] == "23505"
        assert connection.run_error("UPDATE users SET id = 60 WHERE id = 1")["C"] == "0A000"
        assert keys(redis) == before
        connection.run("UPDATE users SET email = CASE id WHEN 1 THEN 'bob@x' ELSE 'ann@x' END WHERE id < 3")
        assert redis.hash("User:uniques:email") == {"bob@x": "1", "ann@x": "2"}


def test_discovery_finds_ohm_models(fresh_server):
    with MappedKeys(fresh_server, load, "CREATE SCHEMA app") as (connection, redis):
        connection.run('IMPORT FOREIGN SCHEMA "User:*" FROM SERVER redis INTO app')
        options = connection.run("SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'app.user'::regclass")[0][0]
        assert "layout=ohm" in options, options
        connection.run("INSERT INTO app.user (name, email, age) VALUES ('zoe', 'zoe@x', 3)")
        assert redis.hash("User:5:_uniques") == {"User:uniques:email": "zoe@x"}, keys(redis)


def test_wrong_mappings(fresh_server):
    with fresh_server.connect() as connection:
        make = "CREATE FOREIGN TABLE o (id bigint, a text) SERVER redis OPTIONS (layout 'ohm', {})"
        for options, code in (("key 'User-{id}'", "22023"), ("key 'User:{id}:x'", "22023"), ("key 'User:{id:3}'", "22023"),
                              ("model 'User', key 'User:{id}'", "HV024")):
            assert connection.run_error(make.format(options))["C"] == code, options
        assert connection.run_error("CREATE FOREIGN TABLE o (id int) SERVER redis OPTIONS (layout 'hash', model 'U')")["C"] == "HV024"
