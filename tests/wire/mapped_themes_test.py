"""Themes and products: hashes, relations that only sets hold, a zset and a list of an application, as tables."""
from harness.keyspace import MappedKeys, plan, same

TABLES = """
CREATE FOREIGN TABLE theme (id bigint, title text, author text OPTIONS (field 'by'), seen timestamptz OPTIONS (format 'unix_ms'), hot boolean OPTIONS (format 'bool01'))
  SERVER redis OPTIONS (layout 'hash', key 'theme:{id}', counter 'theme:key');
CREATE FOREIGN TABLE product (id bigint, name text, price numeric(10,2)) SERVER redis OPTIONS (layout 'hash', key 'product:{id}');
CREATE FOREIGN TABLE theme_product (theme_id bigint, product_id bigint) SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id}:product');
CREATE FOREIGN TABLE product_tag (product_id bigint, tag text) SERVER redis OPTIONS (layout 'set', key 'product:{product_id}:tag');
CREATE FOREIGN TABLE theme_rank (theme_id bigint, score double precision) SERVER redis OPTIONS (layout 'zset', key 'theme:zset');
CREATE FOREIGN TABLE newest (product_id bigint, position int) SERVER redis OPTIONS (layout 'list', key 'product:list');
CREATE FOREIGN TABLE setting (name text, value text) SERVER redis OPTIONS (layout 'hash_fields', key 'theme:settings');
"""


def load(redis):
    redis("SET", "theme:key", "2")
    redis("HSET", "theme:1", "title", "spring", "by", "ann", "seen", "1300000000123", "hot", "1")
    redis("HSET", "theme:2", "title", "autumn", "hot", "0", "unknown", "kept")
    for number in range(1, 6):
        redis("HSET", f"product:{number}", "name", f"product {number}", "price", f"{number}.50")
    redis("SADD", "theme:1:product", 1, 2, 3)
    redis("SADD", "theme:2:product", 4)
    redis("SADD", "product:1:tag", "red", "round")
    redis("SADD", "product:2:tag", "red")
    redis("SADD", "product:4:tag", "blue")
    redis("ZADD", "theme:zset", 10, 1, 20.5, 2)
    redis("RPUSH", "product:list", 5, 4, 3)
    redis("HSET", "theme:settings", "color", "blue", "size", "12")


def tables(server):
    return MappedKeys(server, load, TABLES)


def test_hashes(fresh_server):
    with tables(fresh_server) as (connection, _):
        same(connection.run("SELECT * FROM theme WHERE id = 1"), [["1", "spring", "ann", "2011-03-13 07:06:40.123+00", "t"]])
        same(connection.run("SELECT * FROM theme WHERE id = 2"), [["2", "autumn", None, None, "f"]])
        same(connection.run("SELECT id FROM theme ORDER BY id"), [["1"], ["2"]])
        same(connection.run("SELECT author FROM theme WHERE id = 2"), [[None]])
        same(connection.run("SELECT count(*) FROM theme WHERE id = 3"), [["0"]])
        assert "HMGET theme:1 title" in plan(connection, "SELECT title FROM theme WHERE id = 1")


def test_relations_without_a_scan(fresh_server):
    with tables(fresh_server) as (connection, _):
        products = "SELECT p.name FROM theme t JOIN theme_product tp ON tp.theme_id = t.id JOIN product p ON p.id = tp.product_id WHERE t.id = 1 ORDER BY 1"
        same(connection.run(products), [["product 1"], ["product 2"], ["product 3"]])
        assert "SCAN 0" not in plan(connection, products), plan(connection, products)
        tags = ("SELECT DISTINCT g.tag FROM theme_product tp JOIN product_tag g ON g.product_id = tp.product_id WHERE tp.theme_id = 1 ORDER BY 1")
        same(connection.run(tags), [["red"], ["round"]])
        counts = "SELECT t.title, count(tp.product_id) FROM theme t LEFT JOIN theme_product tp ON tp.theme_id = t.id GROUP BY t.title ORDER BY 1"
        same(connection.run(counts), [["autumn", "1"], ["spring", "3"]])


def test_zset_list_and_fields(fresh_server):
    with tables(fresh_server) as (connection, _):
        ranked = "SELECT t.title, r.score FROM theme_rank r JOIN theme t ON t.id = r.theme_id ORDER BY r.score DESC"
        same(connection.run(ranked), [["autumn", "20.5"], ["spring", "10"]])
        same(connection.run("SELECT score FROM theme_rank WHERE theme_id = 1"), [["10"]])
        same(connection.run("SELECT p.name FROM newest n JOIN product p ON p.id = n.product_id ORDER BY n.position LIMIT 2"), [["product 5"], ["product 4"]])
        same(connection.run("SELECT value FROM setting WHERE name = 'color'"), [["blue"]])
        same(connection.run("SELECT name FROM setting ORDER BY 1"), [["color"], ["size"]])


def test_hashes_are_written(fresh_server):
    with tables(fresh_server) as (connection, redis):
        same(connection.run("INSERT INTO theme (title, hot) VALUES ('winter', true) RETURNING id"), [["3"]])
        assert redis("GET", "theme:key") == "3" and redis("HGETALL", "theme:3") == ["title", "winter", "hot", "1"]
        connection.run("UPDATE theme SET title = 'fall', seen = to_timestamp(1), hot = NULL WHERE id = 2")
        fields = redis("HGETALL", "theme:2")
        assert dict(zip(fields[::2], fields[1::2])) == {"title": "fall", "seen": "1000", "unknown": "kept"}
        connection.run("DELETE FROM theme WHERE id = 2")
        assert redis("EXISTS", "theme:2") == 0 and redis("EXISTS", "theme:2:product") == 1
        assert connection.run_error("INSERT INTO theme (id, title) VALUES (1, 'again')")["C"] == "23505"
        assert connection.run_error("INSERT INTO theme (id) VALUES (7)")["C"] == "22023"
        connection.run("UPDATE theme SET id = 8 WHERE id = 1")
        assert redis("EXISTS", "theme:1") == 0 and redis("HGET", "theme:8", "title") == "spring"


def test_zset_list_and_fields_are_written(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("UPDATE theme_rank SET score = score + 1.5 WHERE theme_id = 1")
        connection.run("INSERT INTO theme_rank VALUES (7, 3)")
        connection.run("DELETE FROM theme_rank WHERE theme_id = 2")
        assert redis("ZRANGE", "theme:zset", 0, -1, "WITHSCORES") == ["7", "3", "1", "11.5"]
        connection.run("INSERT INTO newest VALUES (9, 0)")
        connection.run("INSERT INTO newest (product_id) VALUES (1), (2)")
        assert redis("LRANGE", "product:list", 0, -1) == ["9", "5", "4", "3", "1", "2"]
        connection.run("DELETE FROM newest WHERE position IN (0, 2, 4)")
        connection.run("UPDATE newest SET product_id = 33 WHERE position = 1")
        assert redis("LRANGE", "product:list", 0, -1) == ["5", "33", "2"]
        connection.run("INSERT INTO setting VALUES ('font', 'serif')")
        connection.run("UPDATE setting SET value = 'red' WHERE name = 'color'")
        connection.run("DELETE FROM setting WHERE name = 'size'")
        fields = redis("HGETALL", "theme:settings")
        assert dict(zip(fields[::2], fields[1::2])) == {"color": "red", "font": "serif"}


def test_bad_values_and_wrong_types(fresh_server):
    with tables(fresh_server) as (connection, redis):
        redis("HSET", "product:2", "price", "cheap")
        error = connection.run_error("SELECT * FROM product")
        assert error["C"] == "22P02" and 'key "product:2", field "price"' in error["M"], error
        connection.run("SET redquel.on_bad_value = 'null'")
        same(connection.run("SELECT price FROM product WHERE id = 2"), [[None]])
        connection.run("SET redquel.on_bad_value = 'skip'")
        same(connection.run("SELECT count(price) FROM product"), [["4"]])
        redis("SET", "product:77", "no hash")
        assert connection.run_error("SELECT name FROM product WHERE id = 77")["C"] == "XX001"
        same(connection.run("SELECT count(name) FROM product"), [["5"]])


def test_keyspace_scans_can_be_forbidden(fresh_server):
    with tables(fresh_server) as (connection, _):
        connection.run("SET redquel.cache = off")
        assert "SCAN 0 MATCH product:* COUNT 1000 TYPE hash" in plan(connection, "SELECT * FROM product")
        result = connection.query("SELECT count(*) FROM product")[-1]
        assert [notice["M"] for notice in result.notices] == ['the keyspace is scanned for foreign table "product"'], result.notices
        connection.run("SET redquel.allow_keyspace_scan = off")
        assert connection.run_error("SELECT count(*) FROM product")["C"] == "55000"
        same(connection.run("SELECT name FROM product WHERE id = 1"), [["product 1"]])


def test_definitions(fresh_server):
    with tables(fresh_server) as (connection, redis):
        same(connection.run("SELECT relkind FROM pg_class WHERE relname = 'theme'"), [["f"]])
        same(connection.run("SELECT table_type FROM information_schema.tables WHERE table_name = 'theme'"), [["FOREIGN"]])
        keys = redis.keys()
        connection.run("ALTER FOREIGN TABLE theme RENAME TO topic")
        connection.run("ALTER FOREIGN TABLE topic RENAME COLUMN title TO heading")
        connection.run("ALTER FOREIGN TABLE topic ADD COLUMN extra text OPTIONS (field 'unknown')")
        connection.run("ALTER FOREIGN TABLE topic DROP COLUMN hot")
        same(connection.run("SELECT * FROM topic WHERE id = 2"), [["2", "autumn", None, None, "kept"]])
        assert connection.run_error("DROP TABLE topic")["C"] == "42809"
        connection.run("DROP FOREIGN TABLE topic, product")
        assert redis.keys() == keys


def test_wrong_mappings_are_refused(fresh_server):
    with tables(fresh_server) as (connection, _):
        for sqlstate, sql in (
            ("22023", "CREATE FOREIGN TABLE x (id int, a text) SERVER redis OPTIONS (layout 'hash', key 'x:{nothing}')"),
            ("42P16", "CREATE FOREIGN TABLE x (id int, a text, b text OPTIONS (field 'a')) SERVER redis OPTIONS (layout 'hash', key 'x:{id}')"),
            ("42P17", "CREATE FOREIGN TABLE x (id int, a text) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}')"),
            ("22023", "CREATE FOREIGN TABLE x (id int, n int, a text) SERVER redis OPTIONS (layout 'hash', key 'x:{id}{n}')"),
            ("HV024", "CREATE FOREIGN TABLE x (id int) SERVER redis OPTIONS (layout 'heap', key 'x:{id}')"),
            ("HV00D", "CREATE FOREIGN TABLE x (id int) SERVER redis OPTIONS (layout 'hash', key 'x:{id}', color 'red')"),
            ("HV00J", "CREATE FOREIGN TABLE x (id int) SERVER redis OPTIONS (layout 'hash')"),
            ("42704", "CREATE FOREIGN TABLE x (id int) SERVER other OPTIONS (layout 'hash', key 'x:{id}')"),
            ("42P16", "CREATE FOREIGN TABLE x (id int, a int OPTIONS (format 'bool01')) SERVER redis OPTIONS (layout 'hash', key 'x:{id}')"),
            ("0A000", "CREATE FOREIGN TABLE x (id int PRIMARY KEY) SERVER redis OPTIONS (layout 'hash', key 'x:{id}')"),
            ("42710", "CREATE SERVER redis FOREIGN DATA WRAPPER redis"),
        ):
            assert connection.run_error(sql)["C"] == sqlstate, (sql, connection.run_error(sql))


def test_overlaps_and_wrong_types_are_refused(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("CREATE TABLE own (id int PRIMARY KEY, a text)")
        make = "CREATE FOREIGN TABLE x (id int, a text, m int) SERVER redis OPTIONS "
        for options, other in (("(layout 'hash', key 'own:{id}')", "table \"own\""), ("(layout 'hash', key 'redquel:{id}')", None),
                               ("(layout 'set', key 'theme:{id}:{a}')", "foreign table \"theme_product\""), ("(layout 'hash', key '{a}:{id}')", "foreign table")):
            error = connection.run_error(make + options)
            assert error["C"] == "42P17" and (other is None or other in error["M"]), (options, error)
        connection.run("CREATE FOREIGN TABLE mine (id int, a text) SERVER redis OPTIONS (layout 'hash', key 'mine:{id}')")
        assert connection.run_error("ALTER FOREIGN TABLE mine OPTIONS (SET key 'theme:{id}')")["C"] == "42P17"
        redis("SET", "mine:1", "no hash")
        for statement in ("SELECT * FROM mine WHERE id = 1", "INSERT INTO mine VALUES (1, 'x')", "UPDATE mine SET a = 'x' WHERE id = 1", "DELETE FROM mine WHERE id = 1"):
            error = connection.run_error(statement)
            assert error["C"] == "XX001" and '"mine:1"' in error["M"], (statement, error)
        redis("HSET", "theme:9:product", "no", "set")
        for statement in ("SELECT * FROM theme_product WHERE theme_id = 9", "INSERT INTO theme_product VALUES (9, 1)"):
            assert connection.run_error(statement)["C"] == "XX001", statement
        assert redis("GET", "mine:1") == "no hash"


def test_transactions(fresh_server):
    with tables(fresh_server) as (connection, redis):
        connection.run("BEGIN")
        connection.run("INSERT INTO product VALUES (6, 'six', 6)")
        connection.run("INSERT INTO product VALUES (7, 'seven', 7)")
        connection.run("SAVEPOINT s")
        connection.run("INSERT INTO product VALUES (8, 'eight', 8)")
        connection.run("ROLLBACK TO s")
        connection.run("DELETE FROM theme_product WHERE theme_id = 1 AND product_id = 2")
        assert redis("EXISTS", "product:6") == 0
        connection.run("COMMIT")
        assert redis("EXISTS", "product:6", "product:7", "product:8") == 2
        assert sorted(redis("SMEMBERS", "theme:1:product")) == ["1", "3"]
        connection.run("BEGIN")
        connection.run("UPDATE product SET name = 'other' WHERE id = 6")
        same(connection.run("SELECT name FROM product WHERE id = 6"), [["other"]])
        connection.run("ROLLBACK")
        same(connection.run("SELECT name FROM product WHERE id = 6"), [["six"]])
        connection.run("BEGIN")
        connection.run("UPDATE product SET name = 'other' WHERE id = 6")
        redis("HSET", "product:6", "name", "faster")
        assert connection.run_error("COMMIT")["C"] == "40001"
        assert redis("HGET", "product:6", "name") == "faster"
        connection.run("CREATE TABLE managed (a int)")
        connection.run("BEGIN")
        connection.run("INSERT INTO managed VALUES (1)")
        connection.run("INSERT INTO newest VALUES (6, 0)")
        assert connection.run_error("SELECT * FROM newest")["C"] == "0A000"  # which position the new one will have is not known
        connection.run("ROLLBACK")
        connection.run("BEGIN")
        connection.run("DELETE FROM product WHERE id = 6")
        connection.run("INSERT INTO newest VALUES (6, 0), (7, 0)")
        connection.run("INSERT INTO managed VALUES (1)")
        connection.run("COMMIT")
        assert redis("EXISTS", "product:6") == 0 and redis("LRANGE", "product:list", 0, 1) == ["7", "6"]
        same(connection.run("SELECT count(*) FROM managed"), [["1"]])
