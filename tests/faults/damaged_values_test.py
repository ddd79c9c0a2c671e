"""Values that another client of Redis has damaged are errors that name their place, and check_indexes lists them."""


COLUMNS = {"d": ("integer", "7", "22P02"), "s": ("smallint", "7", "22P02"), "l": ("bigint", "7", "22P02"), "b": ("boolean", "t", "22P02"),
           "n": ("numeric", "1.50", "22P02"), "f": ("float8", "1.5", "22P02"), "day": ("date", "2026-11-28", "22007"),
           "at": ("timestamp", "2026-11-28 23:59:59.5", "22007"), "atz": ("timestamptz", "2026-11-28 23:59:59+00", "22007"),
           "u": ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "22P02"), "i": ("interval", "1 day", "22007"), "o": ("oid", "7", "22P02")}


def test_an_invalid_value_of_a_type_is_named(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE emp (id integer PRIMARY KEY, " + ", ".join(f"{name} {kind}" for name, (kind, _, _) in COLUMNS.items()) + ", t text)")
        connection.run("INSERT INTO emp VALUES (7, " + ", ".join(f"'{value}'" for _, value, _ in COLUMNS.values()) + ", 'é')")
        rows = connection.run("SELECT * FROM emp")
        for name, (_, value, sqlstate) in COLUMNS.items():
            for junk in ("junk", "", "12345678901234567890123", "2026-02-30", "2026-11-28 25:00:00", "t ' x"):
                raw("HSET", "emp:7", name, junk)
                for sql in ("SELECT * FROM emp", f"SELECT {name} FROM emp WHERE id = 7", f"SELECT {name}::text FROM emp ORDER BY id"):
                    result = connection.query(sql)[-1]
                    if not result.error:  # this one is a value of the type
                        assert junk in ("", "12345678901234567890123", "2026-02-30", "2026-11-28 25:00:00", "t ' x"), (name, junk, sql)
                        assert connection.run(f"SELECT '{junk}'::{COLUMNS[name][0]}"), (name, junk)
                        continue
                    assert "emp:7" in result.error["D"] and f'"{name}"' in result.error["D"], (name, junk, result.error)
                    if junk == "junk":
                        assert result.error["C"] == sqlstate, (name, result.error)
                        listed = connection.run("SELECT * FROM redquel.check_indexes('emp')")
                        assert any("emp:7" in line for line in listed), listed
            raw("HSET", "emp:7", name, value)
        assert connection.run("SELECT * FROM emp") == rows
        raw("HSET", "emp:7", "t", b"\xff\xfe")
        assert connection.run_error("SELECT * FROM emp")["C"] == "22021"


# Types whose values lie as texts that functions take apart.
TEXTS = {"j": ("json", '{"a": [1, "x"]}'), "jb": ("jsonb", '{"a": [1, "x"]}'), "ar": ("int[]", "{1,2}"), "ta": ("text[]", '{a,"b c"}'), "r": ("int4range", "[1,5)"),
         "mr": ("int4multirange", "{[1,5),[7,9)}"), "e": ("mood", "ok"), "c": ("pair", "(1,x)"), "n": ("inet", "10.0.0.1"), "p": ("point", "(1,2)"),
         "bi": ("bit(3)", "101"), "vb": ("varbit", "101"), "m": ("money", "$1.00"), "pa": ("path", "((1,2),(3,4))"),
         "bo": ("box", "(3,4),(1,2)"), "ci": ("circle", "<(1,2),3>"), "li": ("line", "{1,2,3}"), "tz": ("timetz", "12:00:00+00"), "mac": ("macaddr", "08:00:2b:01:02:03"),
         "lsn": ("pg_lsn", "0/1"), "jp": ("jsonpath", '$."a"'), "em": ("mood[]", "{ok}")}
USES = {
    "j": ("j->'a'", "j->0", "j#>'{a,0}'", "json_typeof(j)", "j::jsonb"),
    "jb": ("jb->'a'", "jb->0", "jb @> '{}'", "jb || '[]'", "jb - 'a'", "jsonb_pretty(jb)", "jsonb_path_query_array(jb, '$.**')", "jb = jb", "count(DISTINCT jb)"),
    "ar": ("ar[1]", "cardinality(ar)", "ar || ar", "ar @> ar", "array_agg(ar)"), "ta": ("ta[1]", "array_to_string(ta, ',')", "ta = ta"),
    "r": ("lower(r)", "r && r", "r + r"), "mr": ("lower(mr)", "mr && mr"), "e": ("e < 'ok'", "enum_range(e, NULL)"), "c": ("(c).x", "(c).y"), "em": ("em[1]", "em < em"),
}
JUNK = ("", "{", '"', "[", "{1", "{1,{2", "(", "[1", "(1,", "{[1,", b"\xff\xfe", '{"a"', '{"a":', '"\\u12', "junk", "\\x0", '{"', "{a\\", "<(1", "0x", "xxxxxxx")


def test_texts_that_functions_parse(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection, redis.connect() as raw:
        connection.run("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (x int, y text)")
        connection.run("CREATE TABLE kept (id integer PRIMARY KEY, " + ", ".join(f"{name} {kind}" for name, (kind, _) in TEXTS.items()) + ")")
        connection.run("INSERT INTO kept VALUES (7, " + ", ".join(f"'{value}'" for _, value in TEXTS.values()) + ")")
        rows = connection.run("SELECT * FROM kept")
        stored = {name: raw("HGET", "kept:7", name) for name in TEXTS}
        for name, (kind, _) in TEXTS.items():
            for junk in JUNK:
                raw("HSET", "kept:7", name, junk)
                if isinstance(junk, str) and not connection.query(f"SELECT $q${junk}$q$::{kind}")[-1].error:
                    continue  # a value of the type
                for expression in (name, f"{name}::text", *USES.get(name, ())):
                    result = connection.query(f"SELECT {expression} FROM kept")[-1]
                    assert result.error and "kept:7" in result.error["D"] and f'"{name}"' in result.error["D"], (name, junk, expression, result.error)
            raw("HSET", "kept:7", name, stored[name])
        assert connection.run("SELECT * FROM kept") == rows
