"""Transcripts of the extended protocol, each compared with PostgreSQL's message by message."""
from harness.pgwire import FLUSH, SYNC, bind, close, describe, execute, message, parse, query
from harness.transcript import same

CONCURRENT = True

INT4, INT8, TEXT, FLOAT8, NUMERIC = 23, 20, 25, 701, 1700
THREE = "SELECT g FROM generate_series(1, 3) AS s(g)"


def table(name):
    return (f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (id integer PRIMARY KEY, name text NOT NULL, note text);"
            f"INSERT INTO {name} VALUES (1, 'one', 'first'), (2, 'two', NULL), (3, 'three', '')")


def test_one_statement(server, postgres):
    same(server, postgres, parse("SELECT 1 AS one, 'x' AS letter") + bind() + describe(b"P") + execute() + SYNC)


def test_describe_statement_gives_parameters_and_columns(server, postgres):
    same(server, postgres,
         parse("SELECT id, name FROM x_describe WHERE id = $1 AND name <> $2", "q") + describe(b"S", "q") + SYNC,
         bind("", "q", ["1", "zzz"]) + describe(b"P") + execute() + SYNC, setup=table("x_describe"))


def test_describe_of_statements_without_rows(server, postgres):
    same(server, postgres, parse("INSERT INTO x_norows VALUES ($1, $2)", "i") + describe(b"S", "i") + SYNC,
         bind("p", "i", ["9", "nine"]) + describe(b"P", "p") + execute("p") + SYNC, setup=table("x_norows"))


def test_parameter_types_given_and_inferred(server, postgres):
    same(server, postgres,
         parse("SELECT $1 + 1, $2 || 'x', $3::numeric, $4", "a", [0, 0, 0, INT8]) + describe(b"S", "a") + SYNC,
         parse("SELECT $1 + $2", "b", [FLOAT8, FLOAT8]) + describe(b"S", "b") + SYNC,
         parse("SELECT $2::int, $1", "c") + describe(b"S", "c") + SYNC,
         parse("SELECT coalesce($1, 7), $2 BETWEEN 1 AND 10, $3 IN ('a', 'b')", "d") + describe(b"S", "d") + SYNC,
         parse("SELECT $1 = $2", "e") + describe(b"S", "e") + SYNC)


def test_null_parameters(server, postgres):
    same(server, postgres, parse("SELECT $1::int IS NULL, $2::text") + bind("", "", [None, None]) + execute() + SYNC)


def test_text_and_binary_results(server, postgres):
    sql = "SELECT 7, 7::smallint, 7::bigint, 'seven', true, 7.5::float8, 7.25::numeric, '2024-02-29'::date"
    for formats in ((), (0,), (1,), (0, 1, 0, 1, 0, 1, 0, 1)):
        same(server, postgres, parse(sql) + bind(result_formats=formats) + describe(b"P") + execute() + SYNC)


def test_binary_parameters(server, postgres):
    same(server, postgres, parse("SELECT $1 + 1, $2 || '!', $3 + 1, $4", "", [INT4, TEXT, INT8, 16])
         + bind("", "", [b"\0\0\0\x29", b"hey", b"\xff" * 8, b"\1"], [1, 1, 1, 1]) + execute() + SYNC)


def test_binary_parameters_of_wrong_length(server, postgres):
    for value in (b"", b"\1", b"\0\0\0", b"\0\0\0\0\0"):
        same(server, postgres, parse("SELECT $1", "", [INT4]) + bind("", "", [value], [1]) + execute() + SYNC)


def test_text_parameters_that_are_no_value(server, postgres):
    same(server, postgres, parse("SELECT $1::int") + bind("", "", ["seven"]) + execute() + SYNC,
         parse("SELECT $1", "", [INT4]) + bind("", "", ["99999999999"]) + execute() + SYNC,
         parse("SELECT 1 WHERE $1", "") + bind("", "", ["maybe"]) + execute() + SYNC)


def test_parameters_that_are_not_utf8(server, postgres):
    same(server, postgres, parse("SELECT $1", "", [TEXT]) + bind("", "", [b"caf\xe9"]) + execute() + SYNC,
         parse("SELECT $1", "", [TEXT]) + bind("", "", [b"\xff\xfe"], [1]) + execute() + SYNC,
         parse("SELECT $1", "", [TEXT]) + bind("", "", [b"a\0b"]) + execute() + SYNC)


def test_row_limit_suspends_the_portal(server, postgres):
    same(server, postgres, parse(THREE) + bind() + execute("", 2) + execute("", 2) + execute("", 2) + SYNC,
         parse(THREE) + bind() + execute("", 3) + execute("", 1) + SYNC,
         parse(THREE) + bind() + execute("", 1) + execute("", 0) + SYNC)


def test_several_portals_at_once(server, postgres):
    same(server, postgres,
         parse("SELECT g FROM generate_series(1, $1) AS s(g)", "series", [INT4]) + bind("a", "series", ["4"]) + bind("b", "series", ["3"])
         + execute("a", 2) + execute("b", 1) + execute("a", 1) + execute("b", 5) + execute("a", 9) + SYNC)


def test_sync_ends_portals(server, postgres):
    same(server, postgres, parse(THREE, "s") + bind("p", "s") + execute("p", 1) + SYNC, execute("p", 1) + SYNC)


def test_names_that_do_not_exist(server, postgres):
    same(server, postgres, bind("", "nobody") + SYNC, execute("nobody") + SYNC, describe(b"S", "nobody") + SYNC,
         describe(b"P", "nobody") + SYNC, close(b"S", "nobody") + close(b"P", "nobody") + SYNC)


def test_names_that_exist_already(server, postgres):
    same(server, postgres, parse("SELECT 1", "twice") + SYNC, parse("SELECT 2", "twice") + SYNC,
         bind("", "twice") + execute() + SYNC, bind("p", "twice") + bind("p", "twice") + SYNC)


def test_unnamed_portals_are_replaced(server, postgres):
    same(server, postgres, parse("SELECT 1") + parse("SELECT 2") + bind() + bind() + execute() + SYNC)


def test_closed_statement_is_gone(server, postgres):
    same(server, postgres, parse("SELECT 1", "gone") + close(b"S", "gone") + SYNC, bind("", "gone") + SYNC,
         parse("SELECT 3", "gone") + bind("", "gone") + execute() + SYNC)


def test_skips_to_sync_after_an_error(server, postgres):
    same(server, postgres, parse("SELECT 1/(g-1) FROM generate_series(1,1) g") + bind() + execute() + parse("SELECT 2") + bind() + execute() + SYNC
         + parse("SELECT 3") + bind() + execute() + SYNC)


def test_syntax_error_and_its_position(server, postgres):
    same(server, postgres, parse("SELECT 1 FORM x") + bind() + execute() + SYNC, parse("SELEC 1") + SYNC,
         parse("SELECT 'ä', nothing") + SYNC, query("SELECT 'ä' 'b' c d"))


def test_several_statements_in_parse(server, postgres):
    same(server, postgres, parse("SELECT 1; SELECT 2") + bind() + execute() + SYNC)


def test_empty_statements(server, postgres):
    same(server, postgres, parse("") + describe(b"S") + bind() + describe(b"P") + execute() + SYNC, parse(" ; ") + bind() + execute() + SYNC,
         query(""), query(" ;; "), query("-- only a comment"))


def test_pipeline_of_many(server, postgres):
    one = parse("SELECT $1::int * 2", "", [INT4])
    steps = one + b"".join(bind("", "", [str(n)]) + execute() for n in range(500)) + SYNC
    same(server, postgres, steps)


def test_pipelined_syncs(server, postgres):
    step = parse("SELECT name FROM x_sync WHERE id = $1", "", [INT4])
    same(server, postgres, b"".join(step + bind("", "", [str(n % 5)]) + execute() + SYNC for n in range(100)), setup=table("x_sync"))


def test_flush_delivers_without_sync(server, postgres):
    for who in (server, postgres):
        with who.connect() as connection:
            connection.send(parse("SELECT 5") + bind() + execute() + FLUSH)
            kinds = [kind for kind, _ in connection.read_until(b"C")]
            assert kinds == [b"1", b"2", b"D", b"C"], kinds
            connection.send(SYNC)
            connection.read_until(b"Z")


def test_simple_query_between_extended_messages(server, postgres):
    same(server, postgres, parse("SELECT 1", "kept") + query("SELECT 2") + bind("", "kept") + execute() + SYNC, ready=2)


def test_wrong_numbers_of_parameters(server, postgres):
    same(server, postgres, parse("SELECT $1::int, $2::int", "two") + SYNC, bind("", "two", ["1"]) + SYNC, bind("", "two", ["1", "2", "3"]) + SYNC,
         bind("", "two", []) + SYNC, parse("SELECT 1", "none") + bind("", "none", ["1"]) + SYNC)


def test_wrong_formats(server, postgres):
    same(server, postgres, parse("SELECT $1::int, 2", "f") + SYNC, bind("", "f", ["1"], [0, 0]) + SYNC, bind("", "f", ["1"], [7]) + execute() + SYNC,
         bind("", "f", ["1"], [], [0, 0, 0]) + execute() + SYNC, bind("", "f", ["1"], [], [5]) + execute() + SYNC)


def test_parameter_numbers_with_a_gap(server, postgres):
    same(server, postgres, parse("SELECT $1::int, $3::int") + describe(b"S") + SYNC, parse("SELECT $0") + SYNC, parse("SELECT $60000") + SYNC)


def test_writes_report_their_rows(server, postgres):
    same(server, postgres, parse("UPDATE x_writes SET note = $1 WHERE id < $2") + bind("", "", ["new", "3"]) + execute() + SYNC,
         parse("DELETE FROM x_writes WHERE id = $1 RETURNING id, name") + bind("", "", ["3"]) + describe(b"P") + execute() + SYNC,
         parse("INSERT INTO x_writes VALUES ($1, $2)") + bind("", "", ["1", "again"]) + execute() + SYNC,
         parse("SELECT * FROM x_writes ORDER BY id") + bind() + execute() + SYNC, setup=table("x_writes"))


def test_prepared_statement_after_its_table_changed(server, postgres):
    same(server, postgres, parse("SELECT * FROM x_changed ORDER BY id", "all") + bind("", "all") + execute() + SYNC,
         query("ALTER TABLE x_changed ADD COLUMN more integer"), bind("", "all") + execute() + SYNC, setup=table("x_changed"))


def test_prepared_statement_after_its_table_went(server, postgres):
    same(server, postgres, parse("SELECT id FROM x_dropped", "ids") + bind("", "ids") + execute() + SYNC, query("DROP TABLE x_dropped"),
         bind("", "ids") + execute() + SYNC, setup=table("x_dropped"))


def test_malformed_bind_keeps_the_session(server, postgres):
    same(server, postgres, parse("SELECT 1", "ok") + SYNC, message(b"B", b"\0ok\0\0\1") + SYNC, message(b"B", b"no end") + SYNC,
         message(b"D", b"Qok\0") + SYNC, message(b"E", b"\0") + SYNC, message(b"C", b"") + SYNC, query("SELECT 'still here'"))


def test_function_call_message(server, postgres):
    for who in (server, postgres):
        with who.connect() as connection:
            connection.send(message(b"F", b"\0\0\0\1" + b"\0\0" * 3))
            assert connection.read_until(b"Z")[0][0] == b"E"


def test_where_current_of(server, postgres):
    open_cursor = (query("BEGIN"), query("DECLARE c CURSOR FOR SELECT * FROM x_current ORDER BY id"), query("FETCH 2 FROM c"))
    same(server, postgres, *open_cursor,
         parse("UPDATE x_current SET note = $1 WHERE CURRENT OF c RETURNING id, note", "u") + describe(b"S", "u") + SYNC,
         bind("", "u", ["changed"]) + describe(b"P") + execute() + SYNC,
         query("FETCH FROM c"), bind("", "u", ["changed, too"]) + execute() + SYNC,
         parse("DELETE FROM x_current WHERE CURRENT OF c") + bind() + execute() + SYNC,
         query("SELECT * FROM x_current ORDER BY id"), query("ROLLBACK"), setup=table("x_current"))


def test_where_current_of_no_cursor(server, postgres):
    same(server, postgres, query("BEGIN"),
         parse("DELETE FROM x_nocurrent WHERE CURRENT OF nowhere") + bind() + execute() + SYNC, query("ROLLBACK"), setup=table("x_nocurrent"))
