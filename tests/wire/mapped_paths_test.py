"""Foreign tables whose declared structures, zsets and lists answer in place of a scan: joins, ends of orders, ranks, positions, members."""
from harness.keyspace import MappedKeys, plan, same
from harness.pgwire import ServerError

TABLES = """
CREATE FOREIGN TABLE theme (id bigint, title text, rank int) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}');
CREATE INDEX ON theme USING zset (rank) WITH (key = 'theme:ranks');
CREATE FOREIGN TABLE product (id bigint, name text, theme_id bigint) SERVER redis OPTIONS (layout 'hash', key 'product:{id}');
CREATE INDEX ON product USING set (theme_id) WITH (key = 'theme:{theme_id}:products');
CREATE INDEX ON product USING lookup (name) WITH (key = 'product:names');
CREATE FOREIGN TABLE board (player text, score float8) SERVER redis OPTIONS (layout 'zset', key 'board');
CREATE FOREIGN TABLE recent (product_id bigint, position int) SERVER redis OPTIONS (layout 'list', key 'recent');
CREATE FOREIGN TABLE log (day text, line text, position int) SERVER redis OPTIONS (layout 'list', key 'log:{day}');
CREATE FOREIGN TABLE tag (name text, book_id bigint) SERVER redis OPTIONS (layout 'set', key 'tag:{name}')
"""


def load(redis):
    for number in range(1, 6):
        redis("HSET", f"theme:{number}", "title", f"t{number}", "rank", number * 10)
        redis("ZADD", "theme:ranks", number * 10, number)
    for number in range(1, 31):
        redis("HSET", f"product:{number}", "name", f"p{number}", "theme_id", number % 5 + 1)
        redis("SADD", f"theme:{number % 5 + 1}:products", number)
        redis("HSET", "product:names", f"p{number}", number)
        redis("ZADD", "board", number % 7, f"player {number}")
        redis("RPUSH", "recent", number * 2)
        redis("SADD", f"tag:t{number % 4}", *range(number * 100, number * 100 + 50), number)
    redis("RPUSH", "log:mon", "a", "b", "c")
    redis("RPUSH", "log:tue", "d", "e")


def tables(server):
    return MappedKeys(server, load, TABLES)


def counts_of(redis, connection, sql):
    """(rows, commands that Redis got)."""
    redis("CONFIG", "RESETSTAT")
    rows = connection.run(sql)
    return rows, redis.command_counts()


def test_a_join_reads_the_sets_of_the_outer_rows(fresh_server):
    with tables(fresh_server) as (connection, redis):
        join = "SELECT t.title, p.name FROM theme t JOIN product p ON p.theme_id = t.id WHERE t.id = 2 ORDER BY p.id"
        assert "SSCAN theme:<t.id>:products 0 COUNT 1000" in plan(connection, join), plan(connection, join)
        rows, counts = counts_of(redis, connection, join)
        same(rows, [["t2", f"p{number}"] for number in (1, 6, 11, 16, 21, 26)])
        assert counts["SSCAN"] == 1 and counts["HMGET"] == 7 and "SCAN" not in counts, counts
        redis("SADD", "theme:2:products", 2, 99, "no number")  # stale members
        same(connection.run(join), rows)
        connection.run("SET redquel.allow_keyspace_scan = off")
        same(connection.run("SELECT t.id, count(p.id) FROM theme t LEFT JOIN product p ON p.theme_id = t.id AND p.id > 20 WHERE t.id IN (1, 2, 77) GROUP BY 1 ORDER BY 1"),
             [["1", "2"], ["2", "2"]])
        same(connection.run("SELECT id FROM theme t WHERE id IN (1, 9) AND EXISTS (SELECT FROM product p WHERE p.theme_id = t.id AND p.name = 'p5')"), [["1"]])
        same(connection.run("SELECT count(*) FROM product WHERE theme_id IN (SELECT id FROM theme WHERE id IN (1, 2) AND title <> 't1')"), [["6"]])
        same(connection.run("SELECT p.id FROM (VALUES ('p3'), ('p4'), (NULL), ('none')) v(name) JOIN product p USING (name) ORDER BY 1"), [["3"], ["4"]])
        connection.run("BEGIN")
        connection.run("UPDATE product SET theme_id = 3 WHERE id = 1")
        connection.run("INSERT INTO product VALUES (31, 'p31', 2)")
        same(connection.run(join.replace("p.name", "p.id")), [["t2", str(number)] for number in (6, 11, 16, 21, 26, 31)])
        connection.run("ROLLBACK")


def test_a_join_pages_through_large_sets(fresh_server):
    with tables(fresh_server) as (connection, redis):
        for number in range(100, 2600):
            redis("HSET", f"product:{number}", "name", f"p{number}", "theme_id", number % 2 + 1)
            redis("SADD", f"theme:{number % 2 + 1}:products", number)
        same(connection.run("SELECT t.id, count(*), count(DISTINCT p.id) FROM theme t JOIN product p ON p.theme_id = t.id WHERE t.id IN (1, 2) GROUP BY 1 ORDER BY 1"),
             [["1", "1256", "1256"], ["2", "1256", "1256"]])


def test_a_join_without_conditions_scans_one_side(fresh_server):
    with tables(fresh_server) as (connection, _):
        connection.run("SET redquel.cache = off")
        shown = plan(connection, "SELECT * FROM theme t LEFT JOIN product p ON p.theme_id = t.id")
        assert shown.count("SCAN 0 MATCH") == 1 and "SSCAN theme:<t.id>:products" in shown, shown
        same(connection.run("SELECT count(*) FROM theme t LEFT JOIN product p ON p.theme_id = t.id"), [["30"]])


def test_ends_of_orders(fresh_server):
    with tables(fresh_server) as (connection, redis):
        rows, counts = counts_of(redis, connection, "SELECT max(score), min(score), max(score) FROM board")
        same(rows, [["6", "0", "6"]])
        assert counts["ZRANGE"] == 2 and "ZSCAN" not in counts, counts
        rows, counts = counts_of(redis, connection, "SELECT max(rank) + 1, min(rank) FROM theme WHERE title <> 't5'")
        same(rows, [["41", "10"]])
        assert counts["ZRANGE"] == 2 and "SCAN" not in counts, counts
        rows, counts = counts_of(redis, connection, "SELECT max(position), min(position) FROM recent")
        same(rows, [["29", "0"]])
        assert counts["LLEN"] == 1 and counts["LRANGE"] == 2, counts
        same(connection.run("SELECT max(score), count(*) FROM board"), [["6", "30"]])
        same(connection.run("SELECT max(score) FROM board WHERE score < 0"), [[None]])
        same(connection.run("SELECT max(position) FROM log WHERE day = 'sun'"), [[None]])
        same(connection.run("SELECT max(rank), min(rank) FROM theme WHERE id = 3"), [["30", "30"]])
        redis("HDEL", "theme:5", "rank")  # the zset is stale: the row has no rank
        same(connection.run("SELECT max(rank) FROM theme"), [["40"]])


def test_ranks_of_the_first_rows(fresh_server):
    with tables(fresh_server) as (connection, redis):
        ranks = "SELECT player, rank() OVER (ORDER BY score DESC) AS place FROM board "
        for tail in ("ORDER BY score DESC, player LIMIT 3", "LIMIT 3", "ORDER BY place LIMIT 3", "ORDER BY place LIMIT 2 OFFSET 1"):
            rows, counts = counts_of(redis, connection, ranks + tail)
            assert {row[1] for row in rows} == {"1"} and {row[0] for row in rows} <= {"player 6", "player 13", "player 20", "player 27"}, rows
            assert tail.startswith("ORDER BY score DESC, player") or ("ZRANGE" in counts and "ZSCAN" not in counts), (tail, counts)
        same(connection.run(ranks + "ORDER BY place, player LIMIT 5"), [["player 13", "1"], ["player 20", "1"], ["player 27", "1"], ["player 6", "1"], ["player 12", "5"]])
        same(connection.run("SELECT dense_rank() OVER w, row_number() OVER w, score FROM board WINDOW w AS (ORDER BY score DESC) ORDER BY 2 LIMIT 6"),
             [["1", "1", "6"], ["1", "2", "6"], ["1", "3", "6"], ["1", "4", "6"], ["2", "5", "5"], ["2", "6", "5"]])
        same(connection.run("SELECT count(*) OVER (ORDER BY score DESC), rank() OVER (ORDER BY score DESC) FROM board LIMIT 1"), [["4", "1"]])
        same(connection.run("SELECT rank() OVER (ORDER BY score DESC) AS place FROM board ORDER BY place DESC LIMIT 1"), [["27"]])


def test_the_rank_of_one_member(fresh_server):
    with tables(fresh_server) as (connection, redis):
        ranked = "SELECT {} FROM (SELECT player, score, rank() OVER (ORDER BY score DESC) AS place FROM board) s WHERE "
        for where, wanted in (
            ("player = 'player 6'", [["player 6", "6", "1"]]),
            ("player = 'player 7'", [["player 7", "0", "27"]]),
            ("player IN ('player 5', 'player 4', 'none') ", [["player 4", "4", "9"], ["player 5", "5", "5"]]),
            ("player = 'player 6' AND place > 1", []),
            ("player = 'none'", []),
        ):
            rows, counts = counts_of(redis, connection, ranked.format("*") + where + " ORDER BY player")
            same(rows, wanted)
            assert "ZSCORE" in counts and "ZSCAN" not in counts and "ZRANGE" not in counts, (where, counts)
        shown = plan(connection, ranked.format("place") + "player = 'player 6'")
        assert "ZCOUNT board (<score> +inf" in shown, shown
        ascending = ("SELECT * FROM (SELECT player, rank() OVER w, row_number() OVER w FROM board WINDOW w AS (ORDER BY score)) s WHERE player = 'player 14'")
        assert "ZRANK board" in plan(connection, ascending) and "ZCOUNT board -inf (<score>" in plan(connection, ascending)
        first = connection.run(ascending)
        assert first[0][1] == "1" and 1 <= int(first[0][2]) <= 4, first
        same(connection.run("SELECT place FROM (SELECT player, row_number() OVER (ORDER BY score DESC) place FROM board) s WHERE player = 'player 5'"),
             [[str(redis("ZREVRANK", "board", "player 5") + 1)]])
        # The ranks of some of the rows, and functions that need all rows, are computed from them.
        for other in ("SELECT place FROM (SELECT player, rank() OVER (ORDER BY score DESC) place FROM board WHERE score < 6) s WHERE player = 'player 5'",
                      "SELECT place FROM (SELECT player, dense_rank() OVER (ORDER BY score DESC) place FROM board) s WHERE player = 'player 4'",
                      "SELECT place FROM (SELECT player, rank() OVER (ORDER BY score DESC, player) place FROM board) s WHERE player = 'player 13'",
                      "SELECT place FROM (SELECT player, rank() OVER (ORDER BY score DESC) place FROM board) s WHERE player LIKE '%13'"):
            assert "ZCOUNT" not in plan(connection, other), other
            connection.run(other)
        same(connection.run("SELECT place FROM (SELECT player, rank() OVER (ORDER BY score DESC) place FROM board WHERE score < 6) s WHERE player = 'player 5'"), [["1"]])
        connection.run("PREPARE place(text) AS SELECT place FROM (SELECT player, rank() OVER (ORDER BY score DESC) place FROM board) s WHERE player = $1")
        same(connection.run("EXECUTE place('player 6')"), [["1"]])
        same(connection.run("EXECUTE place(NULL)"), [])
        connection.run("BEGIN")
        connection.run("INSERT INTO board VALUES ('best', 100)")  # no zset of Redis has it yet
        same(connection.run("EXECUTE place('player 6')"), [["2"]])
        connection.run("ROLLBACK")


def test_positions_of_a_list(fresh_server):
    with tables(fresh_server) as (connection, redis):
        for sql, command, wanted in (
            ("SELECT product_id FROM recent ORDER BY position LIMIT 3", "LRANGE recent 0 2", [2, 4, 6]),
            ("SELECT product_id FROM recent LIMIT 3", "LRANGE recent 0 2", [2, 4, 6]),
            ("SELECT product_id FROM recent ORDER BY position DESC LIMIT 2 OFFSET 1", "LRANGE recent -3 -1", [58, 56]),
            ("SELECT product_id FROM recent WHERE position = 2", "LRANGE recent 2 2", [6]),
            ("SELECT product_id FROM recent WHERE position BETWEEN 5 AND 7", "LRANGE recent 5 7", [12, 14, 16]),
            ("SELECT product_id FROM recent WHERE position > 5 AND position < 8", "LRANGE recent 6 7", [14, 16]),
            ("SELECT product_id FROM recent WHERE position >= 27", "LRANGE recent 27 999", [56, 58, 60]),
            ("SELECT product_id FROM recent WHERE position > 10 LIMIT 1", "LRANGE recent 11 11", [24]),
            ("SELECT product_id FROM recent WHERE position > 10 AND product_id > 30 LIMIT 1", "LRANGE recent 11 999", [32]),
            ("SELECT product_id FROM recent WHERE position > 3 AND position > 10 LIMIT 1", "LRANGE recent 4 999", [24]),
            ("SELECT product_id FROM recent WHERE position <= -1", "LRANGE recent 0 0", []),
            ("SELECT product_id FROM recent WHERE position > 9223372036854775806", "LRANGE recent 9223372036854775807 999", []),
            ("SELECT product_id FROM recent ORDER BY position LIMIT 0", "LRANGE recent 0 -1", []),
            ("SELECT product_id FROM recent WHERE position IN (20, 2, 2, -1, 99, NULL) ORDER BY 1", "LRANGE recent 20 20", [6, 42]),
            ("SELECT product_id FROM recent WHERE position = ANY ('{3,1}') AND product_id > 4", "LRANGE recent 1 1", [8]),
            ("SELECT product_id FROM recent WHERE position IN (4, 1) ORDER BY position DESC LIMIT 1", "LRANGE recent 1 1", [10]),
        ):
            shown = plan(connection, sql)
            assert command in shown, (sql, shown)
            same(connection.run(sql), [[str(value)] for value in wanted])
        same(connection.run("SELECT line FROM log WHERE day = 'mon' ORDER BY position DESC LIMIT 2"), [["c"], ["b"]])
        same(connection.run("SELECT line FROM log WHERE day IN ('mon', 'tue') AND position < 1 ORDER BY 1 LIMIT 5"), [["a"], ["d"]])
        same(connection.run("SELECT line FROM log WHERE day IN ('mon', 'tue') ORDER BY position DESC, line LIMIT 2"), [["c"], ["b"]])
        rows, counts = counts_of(redis, connection, "SELECT product_id FROM recent WHERE position IN (5, 7)")
        same(rows, [["12"], ["16"]])
        assert counts["LRANGE"] == 2, counts
        same(connection.run("SELECT line FROM log WHERE day IN ('mon', 'tue') AND position IN (0, 2) ORDER BY 1"), [["a"], ["c"], ["d"]])
        connection.run("PREPARE p AS SELECT product_id FROM recent WHERE position >= $1 ORDER BY position LIMIT $2")
        same(connection.run("EXECUTE p(3, 2)"), [["8"], ["10"]])
        same(connection.run("EXECUTE p(NULL, 2)"), [])
        same(connection.run("EXECUTE p(28, NULL)"), [["58"], ["60"]])
        redis("RPUSH", "recent", *range(1000, 3500))
        same(connection.run("SELECT count(*), max(product_id) FROM recent WHERE position >= 30 AND position < 2000"), [["1970", "2969"]])
        same(connection.run("SELECT count(*) FROM (SELECT product_id FROM recent ORDER BY position DESC LIMIT 1500) s"), [["1500"]])


def test_a_limit_ends_the_scan_of_a_key(fresh_server):
    with tables(fresh_server) as (connection, redis):
        redis("ZADD", "board", *(word for number in range(5000) for word in ("1", f"many {number}")))
        redis("CONFIG", "RESETSTAT")
        same(connection.run("SELECT count(*) FROM (SELECT player FROM board LIMIT 3) s"), [["3"]])
        assert "ZSCAN board 0 COUNT 10" in plan(connection, "SELECT player FROM board LIMIT 3")
        rows, counts = counts_of(redis, connection, "SELECT id FROM product LIMIT 3")
        assert len(rows) == 3 and counts["HLEN"] == 10, counts
        same(connection.run("SELECT count(*) FROM (SELECT id FROM product LIMIT 29) s"), [["29"]])
        same(connection.run("SELECT count(*) FROM (SELECT player FROM board LIMIT 4000) s"), [["4000"]])


def test_the_tags_of_one_book(fresh_server):
    with tables(fresh_server) as (connection, redis):
        rows, counts = counts_of(redis, connection, "SELECT name FROM tag WHERE book_id = 2")
        same(rows, [["t2"]])
        assert counts["SISMEMBER"] == 4 and "SSCAN" not in counts, counts
        for number in range(1, 31):  # all of them: a structure that lacks rows is not read
            for book in (*range(number * 100, number * 100 + 50), number):
                redis("SADD", f"book:{book}:tags", f"t{number % 4}")
        connection.run("CREATE INDEX ON tag USING set (book_id) WITH (key = 'book:{book_id}:tags')")
        rows, counts = counts_of(redis, connection, "SELECT name FROM tag WHERE book_id = 2")
        same(rows, [["t2"]])
        assert counts["SSCAN"] == 1 and counts["SISMEMBER"] == 1 and "SCAN" not in counts, counts


def test_rows_without_a_value_come_first(fresh_server):
    with tables(fresh_server) as (connection, redis):
        first = "SELECT id, rank FROM theme ORDER BY rank DESC LIMIT "
        assert "ZRANGE theme:ranks 0 9 REV" in plan(connection, first + "3"), plan(connection, first + "3")
        rows, counts = counts_of(redis, connection, first + "2")
        same(rows, [["5", "50"], ["4", "40"]])
        assert counts["ZMSCORE"] == 1 and counts["ZRANGE"] == 1 and counts["HMGET"] == 5, counts
        redis("HSET", "theme:7", "title", "t7")
        redis("HSET", "theme:6", "title", "t6")
        same(connection.run(first.replace(" LIMIT", ", id LIMIT") + "1"), [["6", None]])
        same(connection.run(first.replace(" LIMIT", ", id LIMIT") + "4"), [["6", None], ["7", None], ["5", "50"], ["4", "40"]])
        same(connection.run(first + "100 OFFSET 5"), [["2", "20"], ["1", "10"]])
        same(connection.run("SELECT id FROM theme WHERE title <> 't7' ORDER BY rank NULLS FIRST LIMIT 2"), [["6"], ["1"]])
        same(connection.run("SELECT id FROM theme WHERE title = 't3' ORDER BY rank DESC LIMIT 2"), [["3"]])
        same(connection.run("SELECT id FROM theme WHERE rank < 30 ORDER BY rank DESC LIMIT 1"), [["2"]])
        connection.run("BEGIN")
        connection.run("UPDATE theme SET rank = NULL WHERE id = 1")
        connection.run("DELETE FROM theme WHERE id IN (6, 7)")
        same(connection.run(first + "2"), [["1", None], ["5", "50"]])
        connection.run("ROLLBACK")
        redis("HSET", "theme:6", "rank", "99")  # the zset does not know: it is not believed
        same(connection.run(first + "2"), [["7", None], ["6", "99"]])
        redis("ZREM", "theme:ranks", "5")
        same(connection.run(first + "3"), [["7", None], ["6", "99"], ["5", "50"]])


def load_both_sides(redis):
    for book, tags in ((1, ("ruby", "web")), (2, ("web",)), (3, ("ruby", "erlang"))):
        redis("SADD", f"book:{book}:tags", *tags)
        redis("HSET", f"book:{book}", "name", f"book {book}")
        for tag in tags:
            redis("SADD", f"tag:{tag}", book)


def test_discovery_sees_both_sides_of_a_relation(fresh_server):
    with MappedKeys(fresh_server, load_both_sides, "SELECT 1") as (connection, redis):
        connection.query("IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public")
        connection.run("SET redquel.allow_keyspace_scan = off")
        table, member = connection.run("SELECT relname, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attfdwoptions = '{role=member}' AND relname = 'tag'")[0]
        rows, counts = counts_of(redis, connection, f"SELECT tag FROM {table} WHERE {member} = 1 ORDER BY 1")
        same(rows, [["ruby"], ["web"]])
        assert counts["SSCAN"] == 1, counts
        same(connection.run("SELECT book_id FROM book_tags WHERE tags = 'web' ORDER BY 1"), [["1"], ["2"]])


def test_the_place_of_one_member(fresh_server):
    def load(redis):
        redis("ZADD", "points:chess", "10", "ann", "20", "bob", "20", "cid", "30", "dan")
        redis("SET", "points:broken", "x")

    table = "CREATE FOREIGN TABLE points (game text, player text, score float8) SERVER redis OPTIONS (layout 'zset', key 'points:{game}')"
    with MappedKeys(fresh_server, load, table) as (connection, redis):
        place = "SELECT {wanted} FROM (SELECT *, {function} OVER (ORDER BY score {order}) AS place FROM points WHERE game = '{game}') s WHERE player {players}"

        def ask(wanted, function, order, players, game="chess"):
            return connection.run(place.format(wanted=wanted, function=function, order=order, players=players, game=game))

        same(ask("place", "row_number()", "DESC", "= 'dan'"), [["1"]])
        same(ask("place", "row_number()", "", "= 'dan'"), [["4"]])
        same(ask("place, score", "row_number()", "", "= 'ann'"), [["1", "10"]])
        same(ask("place", "rank()", "DESC", "= 'cid'"), [["2"]])
        same(sorted(ask("player, place", "rank()", "DESC", "IN ('ann', 'bob', 'nobody')")), [["ann", "4"], ["bob", "2"]])
        for function in ("rank()", "row_number()"):
            same(ask("place", function, "DESC", "= 'nobody'"), [])
            same(ask("place", function, "DESC", "= 'ann'", "none"), [])
            try:
                ask("place", function, "DESC", "= 'ann'", "broken")
                raise AssertionError("a string has ranks")
            except ServerError as error:
                assert error.sqlstate == "XX001", error.fields
