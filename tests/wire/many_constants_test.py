"""Statements of very many constants: they end, with their answer or with their timeout."""
MANY, SOME = 100_000, 2_000
SLOW = True


def statements(count):
    numbers = ",".join(str(number) for number in range(count))
    pairs = ",".join(f"({number},{number})" for number in range(count // 2))
    yield f"SELECT count(*) FROM many WHERE id IN ({numbers})", [["50"]]
    yield f"SELECT count(*) FROM many WHERE v = ANY (ARRAY[{numbers}])", [["50"]]
    yield f"SELECT count(*) FROM many WHERE t IN ({','.join(repr(f'a{number}') for number in range(count))})", [["50"]]
    yield f"SELECT count(*) FROM many WHERE {' OR '.join(f'v = {number}' for number in range(count // 2))}", [["50"]]
    yield f"SELECT count(*) FROM many WHERE (id, v) IN ({pairs})", [["50"]]
    yield f"SELECT count(*), sum(a) FROM (VALUES {pairs}) v(a, b)", [[str(count // 2), str(sum(range(count // 2)))]]
    yield f"SELECT array_length(ARRAY[{numbers}], 1)", [[str(count)]]
    yield f"SELECT coalesce(NULL, {numbers})", [["0"]]


def make_table(connection):
    connection.run("CREATE TABLE many (id int PRIMARY KEY, v int, t text)")
    connection.run("CREATE INDEX ON many (v)")
    connection.run("INSERT INTO many SELECT n, n, 'a' || n FROM generate_series(1, 50) n")


def test_statements_of_many_constants_are_answered(fresh_server):
    with fresh_server.connect() as connection:
        make_table(connection)
        for statement, rows in statements(SOME):
            assert connection.run(statement) == rows, statement[:60]


def test_the_timeout_ends_statements_of_many_constants(fresh_server):
    """A millisecond is over while the statement is parsed; more milliseconds are over at any step behind that."""
    with fresh_server.connect() as connection:
        make_table(connection)
        for statement, rows in statements(MANY):
            for milliseconds in (1, 20, 60, 120):
                connection.run(f"SET statement_timeout = {milliseconds}")
                result = connection.query(statement)[-1]
                connection.run("SET statement_timeout = 0")
                if result.error:
                    assert result.error["C"] == "57014" and "statement timeout" in result.error["M"], (statement[:60], result.error)
                else:
                    assert result.texts() == rows, statement[:60]
            assert connection.run("SELECT count(*) FROM many") == [["50"]]
