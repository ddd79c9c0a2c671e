"""Binary values under other client encodings, and binary COPY: PostgreSQL's transcripts."""
import struct

from harness.pgwire import SYNC, bind, execute, parse, query
from harness.transcript import same

CONCURRENT = True

SETUP = ("DROP SCHEMA IF EXISTS bf CASCADE; CREATE SCHEMA bf; SET search_path = bf; CREATE TYPE mood AS ENUM ('käse', 'ok'); "
         "CREATE TYPE pair AS (a int, b text)")
LATIN1 = query("SET client_encoding = 'LATIN1'")

# Values of every type that has a binary form.
VALUES = ["true", "'x'::\"char\"", "7::int2", "-7::int4", "7000000000::int8", "1.5::float4", "-2.25::float8", "'NaN'::float8", "12345.6789::numeric",
          "'text'::text", "'varying'::varchar", "'pad'::char(5)", "'name'::name", "'\\x00ff'::bytea", "'{\"a\": [1, null]}'::json",
          "'{\"a\": [1, null]}'::jsonb", "'$.\"a\"[*]'::jsonpath", "'2024-02-29'::date", "'12:34:56.789'::time", "'12:34:56+02'::timetz",
          "'2024-02-29 12:00'::timestamp", "'2024-02-29 12:00+01'::timestamptz", "'1 mon 2 days 03:00'::interval", "'infinity'::timestamp",
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "'1.2.3.4/24'::inet", "'::1'::inet", "'10.0.0.0/8'::cidr", "'08:00:2b:01:02:03'::macaddr",
          "'08:00:2b:01:02:03:04:05'::macaddr8", "B'10101'::bit(5)", "B'1010101010'::varbit", "'$12.34'::money", "'16/B374D848'::pg_lsn",
          "'(1,2)'::point", "'{1,2,3}'::line", "'[(1,2),(3,4)]'::lseg", "'(3,4),(1,2)'::box", "'((1,2),(3,4))'::path", "'[(1,2),(3,4)]'::path",
          "'((1,2),(3,4),(5,6))'::polygon", "'<(1,2),3>'::circle", "'[1,5)'::int4range", "'empty'::int4range", "'(,7]'::int8range",
          "'[1.5,2.5]'::numrange", "'[2024-01-01,)'::daterange", "'[2024-01-01 00:00,2024-01-02 00:00)'::tsrange", "'{[1,3),[5,7)}'::int4multirange",
          "'{1,NULL,3}'::int4[]", "'{{a,b},{c,NULL}}'::text[]", "'{}'::int4[]", "'[2:3]={1,2}'::int8[]", "'{1.5,NaN}'::numeric[]",
          "'{\"1.2.3.4\",\"::1/64\"}'::inet[]", "'{t,f}'::bool[]", "'{2024-01-01,NULL}'::date[]", "'{\"[1,2)\",empty}'::int4range[]",
          "'{\"(1,2)\"}'::point[]", "'{12:00:00+01}'::timetz[]", "'{10,11}'::bit(2)[]", "'käse'::mood", "NULL::int4"]
# Their binary forms name types of the user, whose numbers are each server's own.
OF_USER_TYPES = ["'{ok,käse}'::mood[]", "'(1,\"b ß\")'::pair", "'(,)'::pair", "'{\"(1,x)\",NULL}'::pair[]"]


def compare(server, postgres, *steps):
    same(server, postgres, *[query(step) if isinstance(step, str) else step for step in steps], setup=SETUP)


def latin1(sql):
    return parse(sql.encode("latin-1"))


def test_binary_results_in_the_clients_encoding(server, postgres):
    for value in ("'é'::text", "'é'::varchar", "'é'::char(3)", "'é'::name", "'käse'::mood", "'{é,a}'::text[]", "'{\"é\": \"ü\"}'::jsonb", "'{\"é\": 1}'::json",
                  "'$.\"é\"'::jsonpath", "'\\xe9ff'::bytea", "ARRAY[7, 233]", "'1.2.3.233/24'::inet", "int4range(1, 233)", "point(1, 2)", "B'11101001'",
                  "ROW(1, 'é'::text)", "'{\"{\\\"é\\\": 1}\"}'::jsonb[]"):
        compare(server, postgres, LATIN1, latin1("SELECT " + value) + bind(result_formats=(1,)) + execute() + SYNC)


def test_binary_parameters_in_the_clients_encoding(server, postgres):
    array = struct.pack("!iiIii", 1, 0, 25, 1, 1) + struct.pack("!i", 1) + b"\xe9"
    numbers = struct.pack("!iiIii", 1, 0, 23, 1, 1) + struct.pack("!ii", 4, 233)
    for sql, value in (("SELECT $1::text", b"\xe9"), ("SELECT $1::name", b"\xe9"), ("SELECT $1::mood", b"k\xe4se"), ("SELECT $1::text[]", array),
                       ("SELECT $1::int[]", numbers), ("SELECT $1::inet", b"\2\x20\0\4\1\2\3\xe9"), ("SELECT $1::bytea", b"\xe9\xff"),
                       ("SELECT $1::int4range", b"\2" + struct.pack("!iiii", 4, 1, 4, 233)), ("SELECT $1::point", struct.pack("!dd", 1.5, -233.0)),
                       ("SELECT $1::varbit", struct.pack("!i", 8) + b"\xe9"), ("SELECT $1::jsonb", b"\1\"\xe9\""), ("SELECT $1::json", b"\"\xe9\""),
                       ("SELECT $1::macaddr", b"\xe9\xe9\xe9\xe9\xe9\xe9"), ("SELECT $1::uuid", b"\xe9" * 16)):
        compare(server, postgres, LATIN1, latin1(sql) + bind("", "", [value], [1]) + execute() + SYNC)


def test_binary_texts_that_are_not_utf8_at_any_depth(server, postgres):
    array = struct.pack("!iiIii", 1, 0, 25, 1, 1) + struct.pack("!i", 1) + b"\xe9"
    compare(server, postgres, parse("SELECT $1::text[]") + bind("", "", [array], [1]) + execute() + SYNC)


def copied(connection, sql):
    return connection.query(sql)[-1].copied


def round_trip(connection, value):
    """The value as text after COPY TO and COPY FROM in binary, and the data between."""
    connection.run(f"DROP TABLE IF EXISTS bf.one; CREATE TABLE bf.one AS SELECT {value} AS v; DROP TABLE IF EXISTS bf.other; "
                   "CREATE TABLE bf.other (LIKE bf.one)")
    data = copied(connection, "COPY bf.one TO STDOUT (FORMAT binary)")
    result = connection.query("COPY bf.other FROM STDIN (FORMAT binary)", data)[-1]
    assert result.error is None, (value, result.error)
    before, after = connection.run("SELECT v::text FROM bf.one"), connection.run("SELECT v::text FROM bf.other")
    assert before == after, (value, before, after)
    return after, data


def test_binary_copies_of_every_type_are_postgresqls(server, postgres):
    with server.connect() as subject, postgres.connect(postgres.emptied_database()) as oracle:
        for connection in (subject, oracle):
            connection.run(SETUP)
        for value in VALUES:
            expected, got = round_trip(oracle, value), round_trip(subject, value)
            assert got == expected, (value, expected, got)


def test_binary_copies_of_users_types_read_back(server):
    with server.connect() as connection:
        connection.run(SETUP)
        for value in OF_USER_TYPES:
            round_trip(connection, value)


def test_binary_copy_in_the_clients_encoding(server, postgres):
    with server.connect(client_encoding="LATIN1") as subject, postgres.connect(postgres.emptied_database(), client_encoding="LATIN1") as oracle:
        data = []
        for connection in (subject, oracle):
            connection.send(query("DROP SCHEMA IF EXISTS bf CASCADE; CREATE SCHEMA bf; CREATE TABLE bf.t (t text, l text[], b bytea, i inet, n int[])"))
            connection.results()
            connection.send(query("INSERT INTO bf.t VALUES ('é', '{ö,ü}', '\\xe9', '1.2.3.233', '{233}')".encode("latin-1")))
            connection.results()
            data.append(copied(connection, "COPY bf.t TO STDOUT (FORMAT binary)"))
            assert connection.query("COPY bf.t FROM STDIN (FORMAT binary)", data[-1])[-1].error is None
            assert connection.run("SELECT count(DISTINCT (t, l::text, b, i, n::text)) FROM bf.t") == [["1"]]
        assert data[0] == data[1], data
