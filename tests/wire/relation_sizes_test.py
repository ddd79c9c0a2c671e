"""pg_relation_size() and its like: estimates from samples of MEMORY USAGE, compared with the sum over all keys."""
from harness.pgwire import ServerError

CONCURRENT = True


def usage(redis, pattern):
    """Bytes of all keys of a pattern, as Redis counts them."""
    return sum(redis("MEMORY", "USAGE", key, "SAMPLES", "0") for key in redis("KEYS", pattern))


def size(connection, call):
    value = connection.run(f"SELECT {call}")[0][0]
    return None if value is None else int(value)


def is_near(estimate, exact):
    return 0.7 * exact <= estimate <= 1.4 * exact


def make_rows(connection):
    connection.run("CREATE SCHEMA app; CREATE TABLE app.emp (id int PRIMARY KEY, name text UNIQUE, dept int, boss int)")
    connection.run("CREATE INDEX by_dept ON app.emp (dept); CREATE VIEW names AS SELECT name FROM app.emp; CREATE SEQUENCE numbers")
    connection.run("INSERT INTO app.emp SELECT n, 'employee number ' || n, n % 40 FROM generate_series(1, 4000) n")
    connection.run("SELECT nextval('numbers'); CREATE TABLE empty (id int PRIMARY KEY, other int); CREATE INDEX by_other ON empty (other)")


def test_sizes_are_near_the_sum_over_all_keys(fresh_server):
    with fresh_server.connect() as connection, fresh_server.redis_connection() as redis:
        make_rows(connection)
        prefix = next(key for key in redis("HKEYS", "redquel:prefixes") if key.endswith("emp"))
        rows = sum(redis("MEMORY", "USAGE", f"{prefix}:{n}", "SAMPLES", "0") for n in range(1, 4001))
        assert is_near(size(connection, "pg_relation_size('app.emp')"), rows)
        assert size(connection, "pg_table_size('app.emp')") > 0 and size(connection, "pg_relation_size('app.emp', 'fsm')") == 0
        by_dept = usage(redis, f"{prefix}:indices:dept*") + usage(redis, f"{prefix}:zset:dept")
        assert is_near(size(connection, "pg_relation_size('app.by_dept')"), by_dept)
        assert is_near(size(connection, "pg_relation_size('app.emp_name_key')"), usage(redis, f"{prefix}:uniques:name"))
        assert is_near(size(connection, "pg_relation_size('app.emp_pkey')"), usage(redis, f"{prefix}:zset"))
        every = usage(redis, f"{prefix}:*") - rows
        assert is_near(size(connection, "pg_indexes_size('app.emp')"), every)
        assert is_near(size(connection, "pg_total_relation_size('app.emp')"), every + rows)
        assert size(connection, "pg_relation_size('numbers')") == usage(redis, "numbers*") > 0
        assert connection.run("SELECT pg_relation_size('names'), pg_total_relation_size('empty'), pg_relation_size('by_other'), pg_relation_size('pg_class')") \
            == [["0", "0", "0", "0"]]
        assert size(connection, "pg_relation_size(1)") is None and size(connection, "pg_total_relation_size(999999)") is None


def test_sizes_in_every_place_of_a_statement(fresh_server):
    with fresh_server.connect() as connection:
        make_rows(connection)
        assert connection.run("SELECT relname FROM pg_class WHERE pg_total_relation_size(oid) > 100000 AND relkind = 'r' ORDER BY pg_table_size(oid)") == [["emp"]]
        assert int(connection.run("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'")[0][0]) > 100000
        assert int(connection.run("SELECT * FROM pg_table_size('app.emp')")[0][0]) > 100000
        connection.run("CREATE TABLE sizes (name text, bytes bigint)")
        connection.run("INSERT INTO sizes SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname = 'emp'")
        connection.run("CREATE FUNCTION bytes_of(name text) RETURNS bigint LANGUAGE sql AS 'SELECT pg_relation_size(name::regclass)'")
        assert connection.run("SELECT bytes > 100000, bytes_of('app.emp') > 100000 FROM sizes") == [["t", "t"]]
        connection.run("BEGIN; DECLARE c CURSOR FOR SELECT pg_relation_size('app.emp') > 100000")
        assert connection.run("FETCH c") == [["t"]]
        connection.run("COMMIT; PREPARE p AS SELECT pg_relation_size('sizes') > 0")
        assert connection.run("EXECUTE p") == [["t"]]
        connection.run("DROP TABLE app.emp CASCADE")
        assert connection.run("SELECT pg_size_pretty(pg_total_relation_size('empty'))") == [["0 bytes"]]


def test_size_of_databases(fresh_server):
    with fresh_server.connect() as connection, fresh_server.redis_connection() as redis:
        make_rows(connection)
        connection.run("CREATE DATABASE second")
        with fresh_server.connect(database="second") as other:
            other.run("CREATE TABLE small (id int PRIMARY KEY)")
            other.run("INSERT INTO small SELECT generate_series(1, 100)")
        first, second = (int(value) for value in connection.run("SELECT pg_database_size('postgres'), pg_database_size('second')")[0])
        data = int(dict(line.split(":", 1) for line in redis("INFO", "memory").split("\r\n") if ":" in line)["used_memory_dataset"])
        assert first > second > 0 and 0.8 * data < first + second < 1.2 * data, (first, second, data)
        assert connection.run("SELECT count(*) FROM pg_database WHERE pg_database_size(oid) > 0") == [["2"]]
        assert size(connection, "pg_database_size(4711::oid)") is None
        try:
            connection.run("SELECT pg_database_size('nosuch')")
            raise AssertionError("the database exists")
        except ServerError as error:
            assert error.sqlstate == "3D000", error


def test_sizes_with_the_least_rights(make_redis, make_server, build):
    redis = make_redis()
    redis.restrict(build)
    with make_server(redis=redis).connect() as connection:
        make_rows(connection)
        assert connection.run("SELECT pg_total_relation_size('app.emp') > 100000, pg_database_size('postgres') > 100000") == [["t", "t"]]
