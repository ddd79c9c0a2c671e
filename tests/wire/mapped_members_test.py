"""Members and fields' names that are not how their value is written."""
from harness.keyspace import MappedKeys, same


def load(redis):
    redis("ZADD", "theme:zset", "1", "001", "2", "002", "3", "3")
    redis("SADD", "theme:001:product", "7", "007")
    redis("HSET", "visits", "001", "5", "2", "6")
    for number in ("001", "002"):
        redis("HSET", f"theme:{number}", "title", "t" + number)


PLAIN = """
CREATE FOREIGN TABLE rank (theme_id bigint, score float8) SERVER redis OPTIONS (layout 'zset', key 'theme:zset');
CREATE FOREIGN TABLE visit (field bigint, value bigint) SERVER redis OPTIONS (layout 'hash_fields', key 'visits');
CREATE FOREIGN TABLE product (theme_id bigint, product_id bigint) SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id:3}:product')
"""
PADDED = """
CREATE FOREIGN TABLE rank (theme_id bigint OPTIONS (width '3'), score float8) SERVER redis OPTIONS (layout 'zset', key 'theme:zset');
CREATE INDEX ON rank USING set (score) WITH (key = 'score:{score}');
CREATE FOREIGN TABLE visit (field bigint OPTIONS (width '3'), value bigint) SERVER redis OPTIONS (layout 'hash_fields', key 'visits');
CREATE FOREIGN TABLE theme (id bigint, title text) SERVER redis OPTIONS (layout 'hash', key 'theme:{id:3}');
CREATE INDEX ON theme USING set (title) WITH (key = 'title:{title}', member = '{id:3}')
"""


def test_a_member_in_another_form_than_its_value_is_no_row(fresh_server):
    with MappedKeys(fresh_server, load, PLAIN) as (connection, redis):
        for condition in ("theme_id = 1", "theme_id + 0 = 1"):
            same(connection.run(f"SELECT theme_id FROM rank WHERE {condition}"), [])
            connection.run(f"UPDATE rank SET score = 9 WHERE {condition}")
            connection.run(f"DELETE FROM rank WHERE {condition}")
        same(connection.run("SELECT theme_id, score FROM rank"), [["3", "3"]])
        same(connection.run("SELECT count(*) FROM rank"), [["1"]])
        same(connection.run("SELECT score FROM rank WHERE score < 10 ORDER BY score LIMIT 5"), [["3"]])
        same(connection.run("SELECT * FROM visit"), [["2", "6"]])
        same(connection.run("SELECT product_id FROM product WHERE theme_id = 1"), [["7"]])
        assert redis("ZCARD", "theme:zset") == 3


def test_members_filled_up_with_zeros(fresh_server):
    with MappedKeys(fresh_server, load, PADDED) as (connection, redis):
        for condition in ("theme_id = 1", "theme_id + 0 = 1"):
            same(connection.run(f"SELECT theme_id, score FROM rank WHERE {condition}"), [["1", "1"]])
        connection.run("UPDATE rank SET score = score + 1 WHERE theme_id = 1")
        assert redis("ZSCORE", "theme:zset", "001") == "2"
        connection.run("UPDATE rank SET score = 8 WHERE theme_id + 0 = 2")
        connection.run("INSERT INTO rank VALUES (4, 4), (1234, 5)")
        assert redis("ZRANGE", "theme:zset", "0", "-1") == ["001", "3", "004", "1234", "002"]
        same(connection.run("SELECT theme_id FROM rank ORDER BY score DESC LIMIT 2"), [["2"], ["1234"]])
        same(connection.run("SELECT title FROM rank JOIN theme ON theme.id = rank.theme_id ORDER BY 1"), [["t001"], ["t002"]])
        connection.run("DELETE FROM rank WHERE theme_id = 4")
        assert redis("ZSCORE", "theme:zset", "004") is None
        connection.run("UPDATE visit SET value = value + 1 WHERE field = 1")
        assert redis.hash("visits") == {"001": "6", "2": "6"}


def test_structures_hold_members_in_their_declared_form(fresh_server):
    with MappedKeys(fresh_server, load, PADDED) as (connection, redis):
        assert redis("SMEMBERS", "title:t001") == ["001"] and redis("SMEMBERS", "score:1") == ["001"]  # filled
        connection.run("SET redquel.allow_keyspace_scan = off")
        same(connection.run("SELECT id FROM theme WHERE title = 't001'"), [["1"]])
        same(connection.run("SELECT theme_id FROM rank WHERE score = 1"), [["1"]])
        connection.run("UPDATE theme SET title = 'new' WHERE id = 1")
        assert redis("EXISTS", "title:t001") == 0 and redis("SMEMBERS", "title:new") == ["001"]


def test_imported_tables_read_the_sampled_values(fresh_server):
    def fill(redis):
        load(redis)
        redis("ZREM", "theme:zset", "3")
        redis("DEL", "theme:001:product", "visits")
        redis("SADD", "theme:owner:ann", "001")
        redis("SADD", "theme:owner:cid", "002")
        redis("HSET", "theme:001", "owner", "ann")
        redis("HSET", "theme:002", "owner", "cid")

    with MappedKeys(fresh_server, fill, 'IMPORT FOREIGN SCHEMA "theme:*" FROM SERVER redis INTO public') as (connection, redis):
        same(connection.run("SELECT id FROM theme WHERE owner = 'ann'"), [["1"]])
        same(connection.run("SELECT t.title FROM theme_zset z JOIN theme t ON t.id = z.theme_id WHERE z.theme_id = 1"), [["t001"]])
        connection.run("UPDATE theme SET owner = 'bob' WHERE id = 1")
        assert redis("SMEMBERS", "theme:owner:bob") == ["001"] and redis("EXISTS", "theme:owner:ann") == 0


def test_widths_belong_to_integers(fresh_server):
    with MappedKeys(fresh_server, load, PLAIN) as (connection, _):
        for column in ("theme_id text OPTIONS (width '3')", "theme_id bigint OPTIONS (width '0')", "theme_id bigint OPTIONS (width 'x')"):
            error = connection.run_error(f"CREATE FOREIGN TABLE bad ({column}, score float8) SERVER redis OPTIONS (layout 'zset', key 'other:zset')")
            assert error["C"] in ("42P16", "HV024"), error
