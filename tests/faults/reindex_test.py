"""A foreign program changes the hashes of rows: REINDEX makes the index entries right again."""
from harness.pgwire import ServerError


def differences(connection, table="stock"):
    return connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")


def prepare(connection):
    connection.run("""
        CREATE TABLE stock (id integer PRIMARY KEY, place text, amount integer, code text UNIQUE, price numeric, part integer);
        CREATE INDEX ON stock (place); CREATE INDEX ON stock (amount); CREATE INDEX ON stock (place, amount); CREATE INDEX ON stock (price);
        INSERT INTO stock SELECT g, 'p' || g % 7, g % 11, 'c' || g, g * 1.5, g % 3 FROM generate_series(1, 3000) g""")


def test_rows_changed_by_a_foreign_program(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        prepare(connection)
        for number in range(1, 1501, 3):
            raw("HSET", f"stock:{number}", "place", "elsewhere", "amount", "99", "code", f"new{number}", "price", "0.5")
        for number in range(2, 1501, 30):
            raw("HDEL", f"stock:{number}", "place", "amount")
        raw("DEL", "stock:3000", "stock:2999")
        raw("HSET", "stock:5000", "place", "new", "code", "fresh", "part", "1", "id", "5000")
        raw("DEL", "stock:zset:amount")
        raw("SADD", "stock:indices:place:nowhere", "77", "oops")
        raw("SADD", "stock:indices:place", "never")
        assert differences(connection)
        connection.run("REINDEX TABLE stock")
        assert not differences(connection), differences(connection)
        by_index = connection.run("SELECT count(*) FROM stock WHERE place = 'elsewhere'")
        assert by_index == [["500"]], by_index
        assert connection.run("SELECT count(*) FROM stock WHERE amount = 99") == [["500"]]
        assert connection.run("SELECT id FROM stock WHERE code = 'new4'") == [["4"]]
        assert connection.run("SELECT id FROM stock WHERE code = 'c4'") == []
        assert connection.run("SELECT count(*) FROM stock") == connection.run("SELECT count(*) FROM stock WHERE id + 0 > 0")
        connection.run("INSERT INTO stock (id, code) VALUES (9000, 'c4')")


def test_two_rows_with_one_unique_value(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("DROP TABLE IF EXISTS stock")
        prepare(connection)
        raw("HSET", "stock:5", "code", "c6")
        try:
            connection.run("REINDEX TABLE stock")
            raise AssertionError("no error")
        except ServerError as error:
            assert error.sqlstate == "23505", error
        raw("HSET", "stock:5", "code", "c5")
        connection.run("REINDEX INDEX stock_code_key")
        assert not differences(connection), differences(connection)
