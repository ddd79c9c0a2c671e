"""Statements and values as long as the configuration and Redis allow. `tests/run.py --long` takes minutes and gigabytes for them."""
import os

from harness.pgwire import SYNC, bind, execute, parse

from wire.doors_test import resident_megabytes

LONG_FORM = os.environ.get("LONG_TESTS") == "1"
# Redis and redquel have the statement, its tree and the value in memory at once.
MEGABYTES = 60 if LONG_FORM else 6
SLOW = LONG_FORM
LIMIT = 900


def test_long_literals_and_parameters(fresh_server):
    length = MEGABYTES << 20
    value = "x" * length
    with fresh_server.connect(timeout=600) as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, a text)")
        assert connection.run(f"SELECT length('{value}')") == [[str(length)]]
        connection.run(f"INSERT INTO t VALUES (1, '{value}')")
        connection.send(parse("INSERT INTO t VALUES (2, $1)") + bind(values=(value,)) + execute() + SYNC)
        assert connection.results()[-1].error is None
        assert connection.run("SELECT id, length(a) FROM t ORDER BY id") == [["1", str(length)], ["2", str(length)]]
        assert connection.run("SELECT a FROM t WHERE id = 2") == [[value]]


def test_long_lists(fresh_server):
    count = 900_000 if LONG_FORM else 120_000  # a statement has at most two million tokens, and each comma is one
    with fresh_server.connect(timeout=600) as connection:
        numbers = ",".join(str(10_000_000 + number) for number in range(count))
        assert connection.run(f"SELECT 10000007 IN ({numbers}), 5 IN ({numbers})" if count < 200_000 else f"SELECT 10000007 IN ({numbers})")[0][0] == "t"


def test_a_statement_beyond_the_limit(fresh_server):
    with fresh_server.connect(timeout=600) as connection:
        result = connection.query(f"SELECT length('{'x' * (64 << 20)}')")[-1]
        assert result.sqlstate == "54000", result.error
        assert connection.run("SELECT 1") == [["1"]]


def test_a_value_larger_than_redis_allows(fresh_server):
    if not LONG_FORM:
        return
    with fresh_server.connect(timeout=600) as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, a text)")
        before = resident_megabytes(fresh_server)
        result = connection.query("INSERT INTO t VALUES (1, repeat('x', 540000000))")[-1]
        assert result.sqlstate == "53200", result.error  # the expression's values together are bounded before Redis's limit counts
        assert connection.run("SELECT count(*) FROM t") == [["0"]]
        grown = resident_megabytes(fresh_server) - before
        assert grown < 100, grown
        connection.run("INSERT INTO t VALUES (2, repeat('x', 536870000))")
        assert connection.run("SELECT length(a) FROM t") == [["536870000"]]
