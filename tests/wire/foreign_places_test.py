"""Foreign tables do not reach redquel's own keys, and redquel's tables do not take places that foreign tables reach."""

OWN = ("42P17", "keys that begin with \"redquel:\" are redquel's own")


def error_of(connection, sql):
    result = connection.query(sql)[-1]
    assert result.error, sql
    return result.sqlstate, result.error["M"]


def foreign(name, key, columns="x text, v text", **options):
    options = {"layout": "hash", **options, "key": key}
    written = ", ".join(f"{option} '{value}'" for option, value in options.items())
    return f"CREATE FOREIGN TABLE {name} ({columns}) SERVER redis OPTIONS ({written})"


def test_no_template_reaches_the_catalog(fresh_server):
    with fresh_server.connect() as connection:
        for key, columns in (("redquel{x}", "x text, v text"), ("{x}", "x text, v text"), ("red{x}", "x text, v text"), ("{a}:{b}", "a text, b text, v text"),
                             ("redquel:{x}", "x text, v text"), ("{a}:catalog", "a text, v text"), ("r{a}l:x", "a text, v text")):
            for options in ({}, {"database": "0"}, {"database": "3"}):
                assert error_of(connection, foreign("f", key, columns, **options)) == OWN, (key, options)
        assert error_of(connection, foreign("f", "f:{id}", "id int, v text", counter="redquel:version")) == OWN
        assert error_of(connection, "CREATE FOREIGN TABLE f (id bigint, v text) SERVER redis OPTIONS (layout 'ohm', model 'redquel')") == OWN
        connection.run(foreign("f", "f:{x}"))
        assert error_of(connection, "ALTER FOREIGN TABLE f OPTIONS (SET key 'redquel{x}')") == OWN
        assert error_of(connection, "CREATE INDEX ON f USING set (v) WITH (key = 'redquel:{v}')") == OWN
        assert error_of(connection, "CREATE INDEX ON f USING zset (v) WITH (key = 'redquel:changes')")[0] in ("42P16", "42P17")
        # A number is no name.
        connection.run("DROP FOREIGN TABLE f")
        connection.run(foreign("g", "{id}:{n}", "id int, n int, v text"))
        assert error_of(connection, "ALTER FOREIGN TABLE g ALTER COLUMN id TYPE text") == OWN
        assert connection.run("SELECT count(*) FROM g") == [["0"]]


def test_no_template_reaches_a_table(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE SCHEMA s; CREATE TABLE emp (id int PRIMARY KEY, a int); CREATE TABLE s.t (a int); CREATE SEQUENCE counter")
        emp = ("42P17", "keys of foreign table \"f\" could be keys of table \"emp\"")
        for key in ("emp:{x}", "emp{x}", "e{x}", "emp:{x}:cart", "emp:indices:{x}"):
            assert error_of(connection, foreign("f", key)) == emp, key
        begins = "keys of foreign table \"f\" could begin with \"{}:\", as keys of redquel's own do"
        assert error_of(connection, foreign("f", "emp:{x}", database="0")) == ("42P17", begins.format("emp"))
        assert error_of(connection, foreign("f", "counter:{x}")) == ("42P17", begins.format("counter"))
        assert error_of(connection, foreign("f", "s:t:{x}")) == ("42P17", "keys of foreign table \"f\" could be keys of table \"t\"")
        connection.run(foreign("f", "s:{x}"))
        connection.run(foreign("there", "emp:{x}", database="3"))
        for statement in ("ALTER FOREIGN TABLE f OPTIONS (SET key 'emp:{x}')", "ALTER FOREIGN TABLE f OPTIONS (SET key 's:t:{x}')",
                          "ALTER FOREIGN TABLE there OPTIONS (SET database '0')", "ALTER FOREIGN TABLE there OPTIONS (DROP database)",
                          "CREATE INDEX ON f USING set (v) WITH (key = 'emp:v:{v}')"):
            assert error_of(connection, statement)[0] == "42P17", statement
            connection.run("BEGIN")
            assert error_of(connection, statement)[0] == "42P17", statement
            connection.run("ROLLBACK")


def test_tables_take_no_place_that_a_foreign_table_reaches(fresh_server):
    with fresh_server.connect() as connection, fresh_server.redis_connection() as raw:
        connection.run(foreign("account", "user:{id}", "id int, name text"))
        connection.run("CREATE INDEX ON account USING set (name) WITH (key = 'names:{name}')")
        for name in ("\"user\"", "names"):
            made = connection.query(f"CREATE TABLE {name} (id int PRIMARY KEY, a int)")[-1]
            plain = name.strip("\"")
            assert [(n["M"], n["D"]) for n in made.notices] == [
                (f"keys of \"{plain}\" begin with \"{plain}~2:\"", f"Keys of foreign table \"account\" may begin with \"{plain}:\".")], made.notices
            connection.run(f"INSERT INTO {name} VALUES (1, 1)")
            assert raw("EXISTS", f"{plain}~2:1") == 1
        connection.run("BEGIN; CREATE FOREIGN TABLE later (id int, name text) SERVER redis OPTIONS (layout 'hash', key 'later:{id}')")
        assert [n["M"] for n in connection.query("CREATE SEQUENCE later_one")[-1].notices] == []
        connection.run("ALTER FOREIGN TABLE later RENAME TO sooner")
        assert [n["M"] for n in connection.query("CREATE SEQUENCE later")[-1].notices] == ["keys of \"later\" begin with \"later~2:\""]
        connection.run("COMMIT")
        assert connection.run("SELECT nextval('later')") == [["1"]]
        # A template that reaches every such place.
        connection.run(foreign("all_of_them", "wide{x}"))
        assert error_of(connection, "CREATE TABLE wide (a int)")[0] == "42P17"
        connection.run("CREATE TEMP TABLE wide (a int)")


def test_places_in_other_logical_databases(make_server):
    server = make_server()
    with server.connect() as home:
        home.run("CREATE DATABASE shop")
        with server.redis_connection() as raw:
            number = raw("HGET", "redquel:databases", "shop")
        with server.connect(database="shop") as shop:
            shop.run("CREATE TABLE emp (id int PRIMARY KEY, a int)")
            begins = "keys of foreign table \"f\" could begin with \"emp:\", as keys of redquel's own do"
            assert error_of(home, foreign("f", "emp:{x}", database=number)) == ("42P17", begins)
            home.run("CREATE TABLE dept (id int PRIMARY KEY); " + foreign("f", "city:{x}", database=number))
            assert error_of(home, "ALTER FOREIGN TABLE f OPTIONS (SET key 'emp:{x}')") == ("42P17", begins)
            assert error_of(shop, foreign("f", "dept:{x}", database="0"))[0] == "42P17"
            made = shop.query("CREATE TABLE city (id int PRIMARY KEY)")[-1]
            assert [(n["M"], n["D"]) for n in made.notices] == [
                ("keys of \"city\" begin with \"city~2:\"", "Keys of foreign table \"f\" may begin with \"city:\".")], made.notices
            assert home.query("CREATE TABLE city (id int PRIMARY KEY)")[-1].notices == []
