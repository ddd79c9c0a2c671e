"""EXPLAIN names the index that a full scan lacks. The statement that it names is run: the scan is gone then."""
import re

COLUMNS = {"a int": "a = 5", "b bigint": "b BETWEEN 3 AND 9", "c text": "c LIKE 'x%'", '"D d" text': '"D d" = \'x\'', "e numeric": "e > 99.5",
           "f date": "f < '2001-01-01'", "g timestamptz": "g >= '2030-01-01'", "h boolean": "h", "i uuid": "i = '00000000-0000-0000-0000-000000000001'",
           "j jsonb": "j = '1'", "k float8": "k IN (1, 2)", "l int[]": "l = '{1}'", "m bytea": "m = 'x'", "n varchar(9)": "n = 'x' OR n = 'y'",
           "o int ": "o IS NULL"}


def hints(connection, query):
    return [line.strip()[6:] for (line,) in connection.run("EXPLAIN " + query) if line.strip().startswith("Hint: ")]


def test_the_named_index_replaces_the_full_scan(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE SCHEMA app")
        for table in ("emp", 'app."Odd name"'):
            connection.run(f"CREATE TABLE {table} (id int PRIMARY KEY, {', '.join(COLUMNS)})")
            connection.run(f"INSERT INTO {table} (id, a, o) SELECT n, n, n FROM generate_series(1, 500) n")
            for column, condition in COLUMNS.items():
                query = f"SELECT * FROM {table} WHERE {condition}"
                found = hints(connection, query)
                name = re.match(r'"[^"]+"|\w+', column).group(0)
                assert found == [f"CREATE INDEX ON {table} ({name})"], f"{query}: {found}"
                connection.run(found[0])
                plan = "\n".join(line for (line,) in connection.run("EXPLAIN " + query))
                assert "Full Scan" not in plan and "Hint" not in plan, plan


def test_equality_goes_before_ranges_and_every_scan_has_its_own_hint(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, dept int, salary int, name text)")
        assert hints(connection, "SELECT * FROM emp WHERE salary > 5 AND dept = 3") == ["CREATE INDEX ON emp (dept)"]
        assert hints(connection, "SELECT * FROM emp e JOIN emp f ON e.salary = f.salary AND e.dept = 1 AND f.name > 'x'") \
            == ["CREATE INDEX ON emp (dept)", "CREATE INDEX ON emp (name)"]
        assert hints(connection, "UPDATE emp SET salary = 1 WHERE dept = $1".replace("$1", "1")) == ["CREATE INDEX ON emp (dept)"]


def test_where_no_index_would_help_there_is_no_hint(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, dept int, name text, data json)")
        connection.run("CREATE INDEX ON emp (dept)")
        for query in ("SELECT * FROM emp", "SELECT * FROM emp WHERE dept = 3", "SELECT * FROM emp WHERE name LIKE '%x'", "SELECT * FROM emp WHERE name <> 'x'",
                      "SELECT * FROM emp WHERE name = id::text", "SELECT * FROM emp WHERE length(name) = 3", "SELECT * FROM emp WHERE data::text = '1'",
                      "SELECT * FROM emp WHERE name = 'x' OR id = 3 OR length(name) = 4", "SELECT * FROM pg_class WHERE relname = 'x'"):
            assert hints(connection, query) == [], query
        assert "Hint" not in "\n".join(row[0] for row in connection.run("EXPLAIN (FORMAT JSON) SELECT * FROM emp WHERE name = 'x'"))
