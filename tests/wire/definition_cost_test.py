"""A definition statement reads and writes what it touches: its commands and bytes do not grow with the definitions that are there."""
from harness.pgwire import ServerError

SLOW = True

MANY = "; ".join("CREATE TABLE many_{0}_%d (id serial PRIMARY KEY, a int CHECK (a > 0), b text UNIQUE)" % i for i in range(200))
STATEMENTS = ("CREATE TABLE probe_{0} (id serial PRIMARY KEY, a int CHECK (a > 0), b text UNIQUE)", "CREATE INDEX ON probe_{0} (a)",
              "ALTER TABLE probe_{0} ADD COLUMN c int", "CREATE VIEW probe_view_{0} AS SELECT a FROM probe_{0}", "CREATE TYPE probe_type_{0} AS ENUM ('a')",
              "CREATE FUNCTION probe_function_{0}() RETURNS int LANGUAGE sql AS 'SELECT 1'", "COMMENT ON TABLE probe_{0} IS 'x'",
              "GRANT SELECT ON probe_{0} TO PUBLIC", "ALTER TABLE probe_{0} RENAME TO renamed_{0}", "CREATE SCHEMA probe_schema_{0}",
              "DROP FUNCTION probe_function_{0}", "DROP TABLE renamed_{0} CASCADE")


def traffic(redis):
    """Commands that Redis has run, bytes that it has received and sent."""
    stats = redis.info("stats")
    return [int(stats[name]) for name in ("total_commands_processed", "total_net_input_bytes", "total_net_output_bytes")]


def cost(connection, redis, statement):
    before = traffic(redis)
    connection.run(statement)
    return [now - then for now, then in zip(traffic(redis), before)]


def test_a_definition_costs_the_same_with_many_tables(make_server, make_redis):
    redis_server = make_redis()
    server = make_server("--threads", "1", redis=redis_server)
    with server.connect() as connection, redis_server.connect() as redis:
        for statement in STATEMENTS:  # scripts are known to Redis from then on
            connection.run(statement.format("first"))
        few = [cost(connection, redis, statement.format("few_")) for statement in STATEMENTS]
        for part in range(3):
            connection.run(f"BEGIN; {MANY.format(part)}; COMMIT")
        many = [cost(connection, redis, statement.format("many")) for statement in STATEMENTS]
    for statement, then, now in zip(STATEMENTS, few, many):
        # SCAN looks at some thousand keys with a command; leases are renewed beside.
        assert now[0] <= then[0] + 12, (statement, then, now)
        assert now[1] <= then[1] + 3000 and now[2] <= then[2] + 6000, (statement, then, now)


CHANGES = (
    "CREATE TABLE a (id serial PRIMARY KEY, n int)", "CREATE TYPE mood AS ENUM ('good', 'bad')", "CREATE TABLE b (m mood, a a, d int REFERENCES a)",
    "CREATE VIEW v AS SELECT * FROM a", "CREATE FUNCTION f(mood) RETURNS a LANGUAGE sql AS 'SELECT * FROM a'", "CREATE SCHEMA side",
    "CREATE SEQUENCE side.q", "ALTER TABLE b DROP COLUMN a", "ALTER TABLE a ADD COLUMN more text DEFAULT 'x'", "ALTER TABLE b SET SCHEMA side", "CREATE DOMAIN side.pos AS int CHECK (value > 0)",
    "ALTER TYPE mood ADD VALUE 'so so'", "ALTER DEFAULT PRIVILEGES IN SCHEMA side GRANT SELECT ON TABLES TO PUBLIC", "CREATE ROLE somebody",
    "GRANT SELECT ON a TO somebody", "CREATE USER MAPPING FOR somebody SERVER redis OPTIONS (user 'x', password 'y')", "DROP VIEW v", "ALTER TABLE a RENAME TO c",
    "CREATE TYPE pair AS (x int, m mood)", "DROP FUNCTION f(mood)", "DROP TABLE side.b", "CREATE TABLE b (id int)", "DROP TYPE pair", "DROP SEQUENCE side.q",
    "BEGIN; CREATE TABLE d (id int); CREATE TABLE e (id int PRIMARY KEY); DROP TABLE d; COMMIT", "TRUNCATE c CASCADE", "DROP USER MAPPING FOR somebody SERVER redis",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA side REVOKE SELECT ON TABLES FROM PUBLIC", "REVOKE ALL ON c FROM somebody", "DROP ROLE somebody", "DROP SCHEMA side CASCADE",
    "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "CREATE TABLE c (id int)",
)
LOOKS = ("SELECT relname, relkind, relacl, relowner, relnamespace::regnamespace FROM pg_class WHERE oid >= 16384 ORDER BY oid",
         "SELECT typname, typtype, typarray, typbasetype FROM pg_type WHERE oid >= 16384 ORDER BY oid", "SELECT enumlabel FROM pg_enum ORDER BY oid",
         "SELECT proname, prorettype::regtype FROM pg_proc WHERE oid >= 16384 ORDER BY oid", "SELECT nspname, nspacl FROM pg_namespace ORDER BY nspname",
         "SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute WHERE attrelid >= 16384 ORDER BY attrelid, attnum",
         "SELECT defaclnamespace::regnamespace, defaclacl FROM pg_default_acl", "SELECT usename, umoptions FROM pg_user_mappings",
         "SELECT conname, conrelid::regclass, confrelid::regclass FROM pg_constraint WHERE oid >= 16384 ORDER BY oid", "SELECT rolname FROM pg_roles ORDER BY 1")


def seen(connection):
    return [connection.run(look) for look in LOOKS]


def test_other_processes_see_each_change_as_a_fresh_one_does(make_server, make_redis):
    redis = make_redis()
    writer, follower = make_server(redis=redis), make_server(redis=redis)
    with writer.connect() as one, follower.connect() as other:
        for number, change in enumerate(CHANGES):
            one.run(change)
            assert seen(other) == seen(one), change
            if number % 8 == 0 or change == CHANGES[-1]:
                fresh = make_server(redis=redis)
                with fresh.connect() as connection:
                    assert seen(connection) == seen(one), change
                fresh.stop()
        assert other.run("SELECT count(*) FROM c") == [["0"]]
        # Longer than the log of changes: a process that was away reads all definitions.
        with redis.connect() as raw:
            for number in range(70):
                one.run(f"CREATE TABLE away_{number} (id int)")
            assert raw("HLEN", "redquel:definition_log") <= 2 * 64 + 1
        assert seen(other) == seen(one)


def test_a_damaged_log_of_definitions_stops_nothing(make_server, make_redis):
    redis = make_redis()
    writer, follower = make_server(redis=redis), make_server(redis=redis)
    with writer.connect() as one, follower.connect() as other, redis.connect() as raw:
        for damage in (("SET", "redquel:definition_log", "x"), ("DEL", "redquel:definition_log"),
                       ("HSET", "redquel:definition_log", "#", "x"), ("DEL", "redquel:definition_log")):
            raw(*damage)
            one.run("CREATE TABLE t (id int PRIMARY KEY)")
            assert other.run("SELECT count(*) FROM t") == [["0"]]
            other.run("DROP TABLE t")
            try:
                one.run("SELECT * FROM t")
                raise AssertionError("the table is there")
            except ServerError as error:
                assert error.sqlstate == "42P01", error
        one.run("CREATE TABLE t (id int)")
        for version in [field for field in raw("HKEYS", "redquel:definition_log") if not field.startswith("#")]:
            raw("HSET", "redquel:definition_log", version, "junk")
        other.run("CREATE TABLE u (id int)")
        assert one.run("SELECT count(*) FROM u") == [["0"]]
