"""EXPLAIN's costs have PostgreSQL's form, so that programs which read them work."""
import json
import re

COST = re.compile(r"  \(cost=(\d+\.\d\d)\.\.(\d+\.\d\d) rows=(\d+) width=(\d+)\)")


def plan_of(connection, query):
    return json.loads(connection.run("EXPLAIN (FORMAT JSON) " + query)[0][0])[0]["Plan"]


def test_each_node_has_costs_unless_they_are_off(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, dept int, name text)")
        connection.run("CREATE INDEX ON emp (dept)")
        connection.run("INSERT INTO emp SELECT n, n % 10, 'x' FROM generate_series(1, 2000) n")
        query = "SELECT dept, max(name) FROM emp WHERE name > 'a' GROUP BY dept ORDER BY dept"
        lines = [line for (line,) in connection.run("EXPLAIN " + query)]
        nodes = [line for number, line in enumerate(lines) if number == 0 or re.match(r" *->  ", line)]
        assert all(COST.search(line) for line in nodes), lines
        for line in nodes:
            startup, total, _, width = COST.search(line).groups()
            assert float(startup) <= float(total) and int(width) > 0, line
        assert not any(COST.search(line) for (line,) in connection.run("EXPLAIN (COSTS OFF) " + query))


def test_planned_rows_follow_the_table(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, dept int)")
        connection.run("CREATE INDEX ON emp (dept)")
        connection.run("INSERT INTO emp SELECT n, n % 10 FROM generate_series(1, 500) n")
        assert plan_of(connection, "SELECT * FROM emp")["Plan Rows"] == 500
        assert plan_of(connection, "SELECT * FROM emp WHERE dept = 3")["Plan Rows"] == 50
        assert plan_of(connection, "SELECT * FROM emp WHERE id = 3")["Plan Rows"] == 1
        connection.run("INSERT INTO emp SELECT n, n % 10 FROM generate_series(501, 5000) n")
        assert plan_of(connection, "SELECT * FROM emp")["Plan Rows"] == 5000
        assert plan_of(connection, "SELECT * FROM emp WHERE dept = 3")["Plan Rows"] == 500


def test_the_names_of_costs_are_postgresqls(fresh_server, postgres):
    with fresh_server.connect() as connection, postgres.connect() as oracle:
        expected, found = plan_of(oracle, "SELECT 1"), plan_of(connection, "SELECT 1")
        for name in ("Startup Cost", "Total Cost", "Plan Rows", "Plan Width"):
            assert name in expected and isinstance(found[name], (int, float)), (name, found)
        assert found["Plan Rows"] == expected["Plan Rows"] and found["Plan Width"] == expected["Plan Width"]
