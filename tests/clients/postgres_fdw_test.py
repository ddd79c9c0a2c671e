"""postgres_fdw of a real PostgreSQL, with redquel as its foreign server (docs/postgres-fdw.md)."""
from contextlib import contextmanager

from harness.pgwire import ServerError
from harness.roles import configured

# Protected mode would refuse PostgreSQL, which runs as another operating-system user.
RULES = 'rules = "host all all 127.0.0.1/32 trust"'

TABLES = """
CREATE TABLE dept (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE emp (id int PRIMARY KEY, ename text NOT NULL, dept int REFERENCES dept, salary numeric(10, 2), hired date, tags text[]);
CREATE INDEX ON emp (dept);
INSERT INTO dept VALUES (1, 'sales'), (2, 'it'), (3, 'idle');
INSERT INTO emp SELECT n, 'name ' || n, n % 2 + 1, n * 10, date '2020-01-01' + n, ARRAY['t' || n % 3] FROM generate_series(1, 500) n;
CREATE VIEW well_paid AS SELECT * FROM emp WHERE salary > 4900;
"""


@contextmanager
def beside(server, postgres, options=""):
    """A connection to PostgreSQL with redquel's schema public imported as schema far, and one to redquel."""
    with server.connect() as redquel, postgres.connect() as connection:
        redquel.run(TABLES)
        connection.run("DROP EXTENSION IF EXISTS postgres_fdw CASCADE")
        connection.run("DROP SCHEMA IF EXISTS far CASCADE")
        connection.run("CREATE EXTENSION postgres_fdw")
        connection.run(f"CREATE SERVER redquel FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{server.host}', port '{server.port}', dbname 'postgres'{options})")
        connection.run("CREATE USER MAPPING FOR CURRENT_USER SERVER redquel OPTIONS (user 'postgres', password_required 'false')")
        connection.run("CREATE SCHEMA far")
        connection.run("IMPORT FOREIGN SCHEMA public FROM SERVER redquel INTO far")
        try:
            yield connection, redquel
        finally:
            connection.run("DROP EXTENSION postgres_fdw CASCADE")
            connection.run("DROP SCHEMA far CASCADE")


def remote_sql(connection, sql):
    lines = [row[0].strip() for row in connection.run("EXPLAIN (VERBOSE, COSTS OFF) " + sql)]
    return [line.removeprefix("Remote SQL: ") for line in lines if line.startswith("Remote SQL: ")]


def same(connection, redquel, sql):
    """The imported tables give what redquel itself gives."""
    far = connection.run(sql.format(emp="far.emp", dept="far.dept"))
    own = redquel.run(sql.format(emp="emp", dept="dept"))
    assert far == own, (sql, far, own)


def test_import_has_types_and_not_null(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        columns = connection.run("SELECT column_name, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'far' AND table_name = 'emp' "
                                 "ORDER BY ordinal_position")
        assert columns == [["id", "int4", "NO"], ["ename", "text", "NO"], ["dept", "int4", "YES"], ["salary", "numeric", "YES"], ["hired", "date", "YES"],
                           ["tags", "_text", "YES"]], columns
        tables = [row[0] for row in connection.run("SELECT foreign_table_name FROM information_schema.foreign_tables WHERE foreign_table_schema = 'far' ORDER BY 1")]
        assert tables == ["dept", "emp", "well_paid"], tables


def test_queries_are_pushed_down(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres, ", use_remote_estimate 'false', extensions ''") as (connection, redquel):
        connection.run("ANALYZE far.emp, far.dept")  # its own joins stay on: by costs it leaves them to redquel
        for sql, parts in {
            "SELECT ename FROM {emp} WHERE id = 7": ["WHERE ((id = 7))"],
            "SELECT id FROM {emp} WHERE dept = 1 AND salary BETWEEN 100 AND 200 ORDER BY id": ["dept = 1", "salary <= 200"],
            "SELECT e.ename, d.name FROM {emp} e JOIN {dept} d ON d.id = e.dept WHERE e.salary > 4950 ORDER BY e.ename": ["INNER JOIN"],
            "SELECT d.name, e.id FROM {dept} d LEFT JOIN {emp} e ON e.dept = d.id AND e.id < 5 ORDER BY 1, 2": ["LEFT JOIN"],
            "SELECT count(*), sum(salary), max(hired) FROM {emp}": ["count(*), sum(salary), max(hired)"],
            "SELECT dept, count(*) FROM {emp} GROUP BY dept HAVING count(*) > 3 ORDER BY dept": ["GROUP BY", "HAVING"],
            "SELECT id FROM {emp} ORDER BY id DESC LIMIT 3": ["LIMIT 3"],
            "SELECT id FROM {emp} WHERE ename = 'name 3' OR hired = '2020-01-11' ORDER BY id": ["ename = 'name 3'", "'2020-01-11'"],
            "SELECT id FROM {emp} WHERE id = ANY ('{{3,5,9}}') ORDER BY id": ["= ANY ('{3,5,9}"],
            "SELECT id, tags FROM {emp} WHERE id < 4 ORDER BY id": ["tags"],
        }.items():
            remote = remote_sql(connection, sql.format(emp="far.emp", dept="far.dept"))
            assert len(remote) == 1 and all(part in remote[0] for part in parts), (sql, remote)
            same(connection, redquel, sql)


def test_estimates_of_redquel(make_server, make_redis, postgres):
    """With use_remote_estimate PostgreSQL asks redquel for EXPLAIN, and ANALYZE reads a sample of the rows."""
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        connection.run("ANALYZE far.emp")
        assert connection.run("SELECT reltuples FROM pg_class WHERE oid = 'far.emp'::regclass") == [["500"]]


def test_joins_with_tables_of_postgresql(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        connection.run("CREATE TEMP TABLE wanted AS SELECT n AS id FROM generate_series(100, 500, 100) n")
        rows = connection.run("SELECT w.id, e.ename FROM wanted w JOIN far.emp e USING (id) ORDER BY 1")
        assert rows == [[str(n), f"name {n}"] for n in range(100, 501, 100)], rows


def test_changes_and_returning(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        assert connection.run("INSERT INTO far.emp VALUES (1000, 'new', 1, 5, '2024-02-03', '{a,b}') RETURNING id, ename, hired") == [["1000", "new", "2024-02-03"]]
        assert connection.run("UPDATE far.emp SET salary = salary + 1 WHERE id = 1000 RETURNING salary") == [["6.00"]]
        assert "UPDATE" in remote_sql(connection, "UPDATE far.emp SET salary = 0 WHERE dept = 2")[0]
        assert connection.run("UPDATE far.emp e SET ename = d.name FROM far.dept d WHERE d.id = e.dept AND e.id = 1000 RETURNING e.ename") == [["sales"]]
        assert connection.run("DELETE FROM far.emp WHERE id = 1000 RETURNING tags") == [["{a,b}"]]
        assert redquel.run("SELECT count(*) FROM emp") == [["500"]]
        try:
            connection.run("INSERT INTO far.emp VALUES (1, 'again')")
            raise AssertionError("a second row 1")
        except ServerError as error:
            assert error.sqlstate == "23505", error
        assert connection.run("INSERT INTO far.emp VALUES (1, 'again') ON CONFLICT DO NOTHING RETURNING id") == []


def test_rows_are_updated_one_by_one(make_server, make_redis, postgres):
    """A condition that PostgreSQL evaluates itself needs the place of each row, ctid."""
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        connection.run("CREATE FUNCTION pg_temp.odd(n int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN n % 2 = 1; END'")
        connection.run("UPDATE far.emp SET ename = 'odd' WHERE id < 10 AND pg_temp.odd(id)")
        assert redquel.run("SELECT id FROM emp WHERE ename = 'odd' ORDER BY id") == [["1"], ["3"], ["5"], ["7"], ["9"]]
        connection.run("DELETE FROM far.emp WHERE id < 10 AND pg_temp.odd(id)")
        assert redquel.run("SELECT count(*) FROM emp WHERE id < 10") == [["4"]]


def test_batches(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres, ", batch_size '100'") as (connection, redquel):
        connection.run("INSERT INTO far.emp (id, ename) SELECT n, 'batch' FROM generate_series(2001, 2500) n")
        assert redquel.run("SELECT count(*) FROM emp WHERE ename = 'batch'") == [["500"]]


def test_transactions(make_server, make_redis, postgres):
    with beside(configured(make_server, make_redis(), RULES), postgres) as (connection, redquel):
        connection.run("BEGIN")
        connection.run("DELETE FROM far.emp")
        assert connection.run("SELECT count(*) FROM far.emp") == [["0"]]
        assert redquel.run("SELECT count(*) FROM emp") == [["500"]]
        connection.run("ROLLBACK")
        assert redquel.run("SELECT count(*) FROM emp") == [["500"]]
        connection.run("BEGIN")
        connection.run("UPDATE far.emp SET ename = 'kept' WHERE id = 1")
        connection.run("SAVEPOINT a")
        connection.run("UPDATE far.emp SET ename = 'lost' WHERE id = 2")
        connection.run("ROLLBACK TO a")
        connection.run("COMMIT")
        assert redquel.run("SELECT id, ename FROM emp WHERE id < 3 ORDER BY id") == [["1", "kept"], ["2", "name 2"]]


def test_tables_over_keys(make_server, make_redis, postgres):
    """Foreign tables of redquel are foreign tables of PostgreSQL, too."""
    server = configured(make_server, make_redis(), RULES)
    with server.redis_connection() as redis:
        redis("HSET", "theme:1", "title", "spring")
        redis("HSET", "theme:2", "title", "autumn")
    with server.connect() as redquel:
        redquel.run("CREATE FOREIGN TABLE theme (id bigint, title text) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}')")
    with beside(server, postgres) as (connection, redquel):
        assert connection.run("SELECT title FROM far.theme WHERE id = 2") == [["autumn"]]
        assert remote_sql(connection, "SELECT title FROM far.theme WHERE id = 2") == ["SELECT title FROM public.theme WHERE ((id = 2))"]
