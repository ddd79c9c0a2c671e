"""Values that another client of Redis has damaged are errors that name their place, and check_indexes lists them."""


COLUMNS = {"d": ("integer", "7", "22P02"), "s": ("smallint", "7", "22P02"), "l": ("bigint", "7", "22P02"), "b": ("boolean", "t", "22P02"),
           "n": ("numeric", "1.50", "22P02"), "f": ("float8", "1.5", "22P02"), "day": ("date", "2026-11-28", "22007"),
           "at": ("timestamp", "2026-11-28 23:59:59.5", "22007"), "atz": ("timestamptz", "2026-11-28 23:59:59+00", "22007"),
           "u": ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "22P02"), "i": ("interval", "1 day", "22007"), "o": ("oid", "7", "22P02")}


def test_a_value_that_is_none_of_its_type_is_named(make_server, make_redis):
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
