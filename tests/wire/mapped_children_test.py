"""Rows of foreign tables that go with the row they belong to (option "parent"), and keys that hashes repeat in a field."""
from harness.keyspace import MappedKeys, same

TABLES = """
CREATE FOREIGN TABLE theme (id bigint OPTIONS (field 'id'), title text) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}', counter 'theme:key');
CREATE FOREIGN TABLE product (id int, name text) SERVER redis OPTIONS (layout 'hash', key 'product:{id}');
CREATE FOREIGN TABLE theme_product (theme_id bigint OPTIONS (parent 'theme'), product_id bigint OPTIONS (parent 'product'))
  SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id}:product');
CREATE FOREIGN TABLE theme_rank (theme_id int OPTIONS (parent 'public.theme'), score float8) SERVER redis OPTIONS (layout 'zset', key 'theme:zset');
CREATE FOREIGN TABLE theme_log (theme_id bigint OPTIONS (parent 'theme'), line text, position int) SERVER redis OPTIONS (layout 'list', key 'theme:{theme_id}:log');
CREATE FOREIGN TABLE newest (product_id bigint OPTIONS (parent 'product', role 'value'), position int) SERVER redis OPTIONS (layout 'list', key 'product:list')
"""


def load(redis):
    for number in (1, 2, 3):
        redis("HSET", f"theme:{number}", "id", number, "title", f"t{number}")
        redis("SADD", f"theme:{number}:product", number, number + 1)
        redis("ZADD", "theme:zset", number * 10, number)
        redis("RPUSH", f"theme:{number}:log", "made", "changed")
    for number in (1, 2, 3, 4):
        redis("HSET", f"product:{number}", "name", f"p{number}")
    redis("RPUSH", "product:list", 4, 2, 3, 2)
    redis("SADD", "theme:1:other", "stays")


def tables(server):
    return MappedKeys(server, load, TABLES)


def test_deleting_a_row_deletes_the_rows_that_belong_to_it(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("INSERT INTO product VALUES (9, 'loads the script')")
        connection.run("SET redquel.allow_keyspace_scan = off")
        redis("CONFIG", "RESETSTAT")
        result = connection.query("DELETE FROM theme WHERE id = 1")[-1]
        assert result.tag == "DELETE 1" and redis.command_counts()["EVALSHA"] == 1, (result.tag, redis.command_counts())
        same(redis.keys("theme:1*"), ["theme:1:other"])
        same(redis("ZRANGE", "theme:zset", 0, -1), ["2", "3"])
        same(redis("EXISTS", "theme:2:product", "theme:2:log", "product:1"), 3)
        assert connection.run_error("DELETE FROM product WHERE id = 2")["C"] == "55000"  # only a scan finds the sets that have it
        same(redis("EXISTS", "product:2"), 1)
        connection.run("RESET redquel.allow_keyspace_scan")
        connection.run("DELETE FROM product WHERE id IN (2, 3)")
        same(redis("LRANGE", "product:list", 0, -1), ["4"])
        same(redis("EXISTS", "theme:2:product"), 0)
        same(redis("SMEMBERS", "theme:3:product"), ["4"])
        connection.run("CREATE INDEX ON theme_product USING set (product_id) WITH (key = 'product:{product_id}:themes')")
        connection.run("INSERT INTO theme_product VALUES (3, 1)")
        connection.run("SET redquel.allow_keyspace_scan = off")
        connection.run("DELETE FROM product WHERE id = 1")
        same(redis("SMEMBERS", "theme:3:product"), ["4"])
        same(redis("EXISTS", "product:1:themes"), 0)
        connection.run("RESET redquel.allow_keyspace_scan")
        connection.run("UPDATE theme SET title = 'x'")
        same(redis("EXISTS", "theme:3:product"), 1)
        connection.run("DELETE FROM theme")
        same(redis.keys("theme:*"), ["theme:1:other"])


def test_children_in_a_transaction(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("DROP FOREIGN TABLE theme_log")  # a transaction cannot read lists that it has written
        connection.run("BEGIN")
        connection.run("INSERT INTO theme_product VALUES (2, 77)")
        connection.run("DELETE FROM theme_rank WHERE theme_id = 3")
        connection.run("DELETE FROM theme WHERE id IN (2, 3)")
        same(connection.run("SELECT theme_id FROM theme_product ORDER BY 1"), [["1"], ["1"]])
        same(connection.run("SELECT theme_id FROM theme_rank"), [["1"]])
        same(redis("EXISTS", "theme:2:product", "theme:2"), 2)
        connection.run("SAVEPOINT s")
        connection.run("DELETE FROM theme WHERE id = 1")
        connection.run("ROLLBACK TO s")
        connection.run("COMMIT")
        same(redis.keys("theme:*"), ["theme:1", "theme:1:log", "theme:1:other", "theme:1:product", "theme:2:log", "theme:3:log", "theme:zset"])
        same(redis("ZRANGE", "theme:zset", 0, -1), ["1"])


def test_parents_are_checked_and_shown(fresh_server):
    with tables(fresh_server) as (connection, redis):
        make = "CREATE FOREIGN TABLE x (a {type} OPTIONS (parent '{parent}'), b text) SERVER redis OPTIONS (layout '{layout}', key 'x:{key}')"
        for sqlstate, type_name, parent, layout, key in (("42P01", "bigint", "nothing", "set", "{a}"), ("42P16", "text", "theme", "set", "{a}"),
                                                         ("42P16", "bigint", "theme_product", "set", "{a}"), ("42P16", "bigint", "theme", "hash", "{b}"),
                                                         ("HV024", "bigint", "a.b.c", "set", "{a}")):
            error = connection.run_error(make.format(type=type_name, parent=parent, layout=layout, key=key))
            assert error["C"] == sqlstate, (parent, error)
        shown = "SELECT attfdwoptions FROM pg_attribute WHERE attrelid = 'theme_product'::regclass AND attname = 'theme_id'"
        same(connection.run(shown), [["{parent=theme}"]])
        connection.run("ALTER FOREIGN TABLE theme RENAME TO \"Topic\"")
        same(connection.run(shown), [["{\"parent=\\\"Topic\\\"\"}"]])
        connection.run("ALTER FOREIGN TABLE theme_product RENAME TO topic_product")
        connection.run("ALTER FOREIGN TABLE topic_product ADD COLUMN expires bigint OPTIONS (role 'ttl')")
        connection.run("DELETE FROM \"Topic\" WHERE id = 1")
        same(redis("EXISTS", "theme:1:product"), 0)
        connection.run("DROP FOREIGN TABLE \"Topic\"")
        same(connection.run(shown.replace("theme_product", "topic_product")), [[None]])
        connection.run("ALTER FOREIGN TABLE topic_product ALTER product_id OPTIONS (DROP parent)")
        connection.run("DELETE FROM product WHERE id = 3")
        assert "3" in redis("SMEMBERS", "theme:3:product")


def test_new_hashes_repeat_their_key(fresh_server):
    definitions = TABLES.split(";\n")[0] + ";\n" + """
CREATE FOREIGN TABLE room (number int OPTIONS (field 'no'), name text) SERVER redis OPTIONS (layout 'hash', key 'room:{number:3}')"""
    with MappedKeys(fresh_server, load, definitions) as (connection, redis):
        redis("SET", "theme:key", 3)
        same(connection.run("INSERT INTO theme (title) VALUES ('new') RETURNING id"), [["4"]])
        same(redis.hash("theme:4"), {"id": "4", "title": "new"})
        connection.run("UPDATE theme SET title = 'other' WHERE id = 1")
        redis("HDEL", "theme:2", "id")
        connection.run("UPDATE theme SET title = 'other' WHERE id = 2")
        same(redis.hash("theme:2"), {"title": "other"})
        connection.run("UPDATE theme SET id = 9 WHERE id = 1")
        same(redis.hash("theme:9"), {"id": "9", "title": "other"})
        connection.run("UPDATE theme SET title = NULL WHERE id IN (2, 9)")
        same(redis.hash("theme:2"), {"id": "2"})
        connection.run("INSERT INTO theme (id) VALUES (10)")
        same(connection.run("SELECT id, title FROM theme WHERE id IN (2, 9, 10) ORDER BY 1"), [["2", None], ["9", None], ["10", None]])
        connection.run("INSERT INTO room VALUES (7, 'hall')")
        same(redis.hash("room:007"), {"no": "007", "name": "hall"})
        error = connection.run_error("CREATE FOREIGN TABLE y (a int, b text OPTIONS (field 'z'), c text OPTIONS (field 'z')) SERVER redis OPTIONS (layout 'hash', key 'y:{b}')")
        assert error["C"] == "42P16", error
        error = connection.run_error("CREATE FOREIGN TABLE y (a int OPTIONS (field 'z'), b text) SERVER redis OPTIONS (layout 'string', key 'y:{a}')")
        assert error["C"] == "42P16", error


def test_discovered_tables_name_parents_and_repeated_keys(fresh_server):
    with MappedKeys(fresh_server, load, "SELECT 1") as (connection, redis):
        connection.query("IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public")
        same(connection.run("SELECT attrelid::regclass::text, attname, attfdwoptions FROM pg_attribute WHERE attfdwoptions::text ~ 'parent|field=id' ORDER BY 1"),
             [["theme", "id", "{field=id}"], ["theme_log", "theme_id", "{parent=theme}"], ["theme_other", "theme_id", "{parent=theme}"],
              ["theme_product", "theme_id", "{parent=theme}"], ["theme_zset", "theme_id", "{role=member,parent=theme}"]])
        connection.run("DELETE FROM theme WHERE id = 1")
        same(redis.keys("theme:1*"), [])
