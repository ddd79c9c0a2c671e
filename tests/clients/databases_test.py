"""CREATE DATABASE and its like: each database is a logical database of Redis."""
from harness.programs import connection_options, psql, run


def names(server):
    """Without those of tests that run beside this one."""
    return psql(server, "SELECT datname FROM pg_database WHERE datname !~ '^(template|fresh_)' ORDER BY 1", "-At").split()


def in_database(server, database, sql, check=True):
    return run(["psql", "-X", "-q", "-At", *connection_options(server, database), "-c", sql], check=check)


def test_databases_are_separate(server, postgres):
    for who in (server, postgres):
        psql(who, "CREATE DATABASE shop; CREATE DATABASE \"Second One\" ENCODING 'UTF8' TEMPLATE template0")
        assert names(who) == ["Second", "One", "postgres", "shop"]
        in_database(who, "shop", "CREATE TABLE apart (id integer PRIMARY KEY)")
        in_database(who, "shop", "INSERT INTO apart VALUES (1), (2)")
        in_database(who, "Second One", "CREATE TABLE apart (word text)")
        assert in_database(who, "shop", "SELECT current_database(), count(*) FROM apart") == "shop|2\n"
        assert in_database(who, "Second One", "SELECT count(*) FROM apart") == "0\n"
        assert psql(who, "SELECT to_regclass('apart') IS NULL", "-At") == "t\n"
        psql(who, "ALTER DATABASE shop RENAME TO store")
        assert in_database(who, "store", "SELECT count(*) FROM apart") == "2\n"
        psql(who, "DROP DATABASE store; DROP DATABASE \"Second One\"")
        assert names(who) == ["postgres"]
        psql(who, "CREATE DATABASE store")
        assert in_database(who, "store", "SELECT to_regclass('apart') IS NULL") == "t\n"
        psql(who, "DROP DATABASE store")


def test_errors(server, postgres):
    for sql in ("CREATE DATABASE postgres", "DROP DATABASE nowhere", "DROP DATABASE IF EXISTS nowhere", "DROP DATABASE postgres",
                "ALTER DATABASE nowhere RENAME TO elsewhere", "ALTER DATABASE postgres RENAME TO elsewhere", "CREATE DATABASE x FOO 1"):
        expected, got = ([done.returncode, done.stdout, done.stderr] for done in
                         (run(["psql", "-X", *connection_options(who), "-c", sql], check=False) for who in (postgres, server)))
        assert got == expected, (sql, expected, got)
    assert "database \"nowhere\" does not exist" in in_database(server, "nowhere", "SELECT 1", check=False).stderr


def test_create_database_fails_when_all_logical_databases_are_used(server):
    made = 0
    while made < 100:
        done = run(["psql", "-X", *connection_options(server), "-c", f"CREATE DATABASE many_{made}"], check=False)
        if done.returncode:
            break
        made += 1
    assert 0 < made < 16 and "no empty logical database left" in done.stderr, (made, done.stderr)
    assert 'HINT:  Redis has 16 logical databases. Set "databases" to a greater number in redis.conf' in done.stderr, done.stderr
    for number in range(made):
        psql(server, f"DROP DATABASE many_{number}")
    assert names(server) == ["postgres"]


def test_templates(server, postgres):
    for who in (server, postgres):
        listed = "SELECT datname, datistemplate, datallowconn FROM pg_database WHERE datname LIKE 'template%' ORDER BY 1"
        assert psql(who, listed, "-At") == "template0|t|f\ntemplate1|t|t\n"
        assert in_database(who, "template1", "SELECT current_database(), count(*) FROM pg_tables WHERE schemaname = 'public'") == "template1|0\n"
        assert psql(who, listed, "-At") == "template0|t|f\ntemplate1|t|t\n"
        psql(who, "CREATE DATABASE d2")
        assert psql(who, "SELECT datname, pg_database_size(datname) >= 0, has_database_privilege(datname, 'connect') FROM pg_database "
                         "WHERE datname IN ('d2', 'template1') ORDER BY 1", "-At") == "d2|t|t\ntemplate1|t|t\n"
        psql(who, "\\l+")
        psql(who, "DROP DATABASE d2")
    for sql in ("DROP DATABASE template1", "CREATE DATABASE template1", "CREATE DATABASE template0"):
        expected, got = (run(["psql", "-X", *connection_options(who), "-c", sql], check=False).stderr for who in (postgres, server))
        assert got == expected, (sql, expected, got)
    assert "not currently accepting connections" in in_database(server, "template0", "SELECT 1", check=False).stderr


def test_privileges_and_sizes_of_other_databases(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE DATABASE d2")
        assert connection.run("SELECT has_database_privilege('d2', 'connect'), has_database_privilege('postgres', 'd2', 'create'), pg_database_size('d2') >= 0") == [["t", "t", "t"]]
        assert connection.run("SELECT has_database_privilege(x, 'connect') FROM (VALUES ('d2'), ('postgres')) v(x)") == [["t"], ["t"]]
        connection.run("PREPARE p AS SELECT has_database_privilege($1::text, 'connect')")
        assert connection.run("EXECUTE p('d2')") == [["t"]]
        for call in ("has_database_privilege('nosuch', 'connect')", "pg_database_size('nosuch')"):
            assert connection.run_error(f"SELECT {call}")["C"] == "3D000"
        connection.run("BEGIN; SELECT has_database_privilege('d2', 'connect'); COMMIT")
        connection.run("DROP DATABASE d2")
        assert connection.run_error("SELECT has_database_privilege('d2', 'connect')")["C"] == "3D000"
