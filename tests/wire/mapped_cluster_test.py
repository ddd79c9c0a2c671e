"""Foreign tables of a server over a Redis Cluster: rows of many slots are read, rows of one slot are written."""
import threading

from harness.cluster_nodes import Cluster, slot_of
from harness.keyspace import MappedKeys
from harness.pgwire import ServerError
from harness.waiting import wait_for
from wire import mapped_login_test, mapped_themes_test

SLOW = True
LIMIT = 600
MAKE = "CREATE FOREIGN TABLE {} SERVER redis OPTIONS (layout '{}', key '{}')"
ITEMS = 60


def over_cluster(make_redis, make_server, **options):
    """Returns a cluster with keys of an application, and a redquel over it with tables for them."""
    cluster = Cluster(make_redis, masters=3, replicas=0, **options)
    with cluster.connect() as raw:
        for number in range(1, ITEMS + 1):
            raw("HSET", f"item:{number}", "kind", f"k{number % 3}", "price", str(number))
            raw("SADD", f"item:kind:k{number % 3}", str(number))
    return cluster, make_server(redis=cluster)


def run_all(connection, *statements):
    for statement in statements:
        error = connection.query(statement)[-1].error
        assert error is None, (statement, error)


def same(connection, sql, *rows):
    given = connection.run(sql)
    assert given == [[row] if isinstance(row, str) else list(row) for row in rows], (sql, given, rows)


def refused(connection, sql, sqlstate="0A000"):
    error = connection.run_error(sql)
    assert error["C"] == sqlstate, (sql, error)
    return error


def test_rows_of_many_slots(make_redis, make_server):
    cluster, server = over_cluster(make_redis, make_server)
    with server.connect() as connection, server.connect() as other, cluster.connect() as raw:
        run_all(connection, MAKE.format("item (id bigint, kind text, price bigint)", "hash", "item:{id}"),
                "CREATE INDEX ON item USING set (kind) WITH (key = 'item:kind:{kind}', maintained = 'application')")
        same(connection, "SELECT count(*), sum(price) FROM item", [str(ITEMS), str(ITEMS * (ITEMS + 1) // 2)])
        same(connection, "SELECT id FROM item WHERE kind = 'k1' AND price < 8 ORDER BY id", "1", "4", "7")
        same(connection, "SELECT id FROM item WHERE kind IN ('k0', 'k2') AND id IN (3, 4, 5) ORDER BY id", "3", "5")
        same(connection, "SELECT a.id FROM item a JOIN item b ON b.id = a.id + 1 WHERE a.id IN (1, 30, 60) ORDER BY 1", "1", "30")
        connection.run("UPDATE item SET price = price + 1000 WHERE id = 7")
        assert raw("HGET", "item:7", "price") == "1007"
        connection.run("INSERT INTO item VALUES (100, 'k1', 5)")
        assert raw("HGETALL", "item:100") == ["kind", "k1", "price", "5"]
        # The application maintains the set, so the new row is noted until it has an entry.
        same(other, "SELECT id FROM item WHERE kind = 'k1' AND price < 6 ORDER BY id", "1", "4", "100")
        assert raw("SMEMBERS", "{460}redquel:unkept:" + connection.run("SELECT 'item'::regclass::oid")[0][0]) != []
        connection.run("DELETE FROM item WHERE id = 100")
        assert raw("EXISTS", "item:100") == 0
        error = refused(connection, "UPDATE item SET price = 0 WHERE id IN (1, 2)")
        assert "item:1" in error["M"] and "item:2" in error["M"] and "slot" in error["M"], error
        assert raw("HGET", "item:1", "price") == "1" and slot_of("item:1") != slot_of("item:2")
        refused(connection, "INSERT INTO item VALUES (201, 'k0', 1), (202, 'k0', 1)")
        refused(connection, "INSERT INTO item VALUES (1, 'k0', 1)", "23505")
        refused(connection, "CREATE FOREIGN TABLE elsewhere (id bigint, a text) SERVER redis OPTIONS (layout 'hash', key 'else:{id}', database '1')")
        refused(connection, MAKE.format("reached (a text, b text, c text)", "hash", "{a}:{b}"), "42P17")
        connection.run("DROP FOREIGN TABLE item")
        assert raw("EXISTS", "item:1") == 1


def test_all_layouts(make_redis, make_server):
    cluster, server = over_cluster(make_redis, make_server)
    with server.connect() as connection, cluster.connect() as raw:
        run_all(connection,
                MAKE.format("texts (id bigint, a text, b text)", "strings", "texts:{{{id}}}:{*}"),
                MAKE.format("plain (id bigint, a text)", "string", "plain:{id}"),
                MAKE.format("tag (word text, book_id bigint)", "set", "tag:{word}"),
                MAKE.format("board (game text, player text, score float8)", "zset", "board:{game}"),
                MAKE.format("pair (number bigint, field text, value text)", "hash_fields", "pair:{number}"),
                MAKE.format("line (page text, value text, position int)", "list", "line:{page}"),
                MAKE.format("event (day text, id text, what text)", "stream", "event:{day}"))
        for number in (1, 2, 3):
            run_all(connection, f"INSERT INTO texts VALUES ({number}, 'a', 'b')", f"UPDATE texts SET b = NULL, a = 'changed' WHERE id = {number}",
                    f"INSERT INTO plain VALUES ({number}, 'x')", f"UPDATE plain SET a = 'y' WHERE id = {number}",
                    f"INSERT INTO tag VALUES ('t{number}', 1), ('t{number}', 2)", f"DELETE FROM tag WHERE word = 't{number}' AND book_id = 1",
                    f"INSERT INTO board VALUES ('b{number}', 'ann', 1), ('b{number}', 'bob', 2)", f"UPDATE board SET score = score + 5 WHERE game = 'b{number}' AND player = 'ann'",
                    f"INSERT INTO pair VALUES ({number}, 'p', 'v'), ({number}, 'q', 'w')", f"DELETE FROM pair WHERE number = {number} AND field = 'q'",
                    f"INSERT INTO line (page, value) VALUES ('l{number}', 'first'), ('l{number}', 'second')",
                    f"INSERT INTO event (day, what) VALUES ('e{number}', 'made')")
            tagged = f"texts:{{{number}}}"
            assert raw("GET", f"{tagged}:a") == "changed" and raw("EXISTS", f"{tagged}:b") == 0
            assert raw("GET", f"plain:{number}") == "y" and raw("SMEMBERS", f"tag:t{number}") == ["2"]
            assert raw("ZRANGE", f"board:b{number}", "0", "-1", "WITHSCORES") == ["bob", "2", "ann", "6"]
            assert raw("HGETALL", f"pair:{number}") == ["p", "v"] and raw("LRANGE", f"line:l{number}", "0", "-1") == ["first", "second"]
            assert raw("XLEN", f"event:e{number}") == 1
        for table, count in (("texts", 3), ("plain", 3), ("tag", 3), ("board", 6), ("pair", 3), ("line", 6), ("event", 3)):
            same(connection, f"SELECT count(*) FROM {table}", [str(count)])
        same(connection, "SELECT game, player, score FROM board ORDER BY score DESC, game LIMIT 2", ["b1", "ann", "6"], ["b2", "ann", "6"])
        same(connection, "SELECT player, rank() OVER (ORDER BY score DESC) FROM board WHERE game = 'b1' ORDER BY 2", ["ann", "1"], ["bob", "2"])
        same(connection, "SELECT t1.book_id FROM tag t1, tag t2 WHERE t1.word = 't1' AND t2.word = 't2' AND t1.book_id = t2.book_id", "2")


SHOP = """
CREATE FOREIGN TABLE sale (id bigint, owner text, size bigint) SERVER redis OPTIONS (layout 'hash', key '{{shop}}:sale:{id}', counter '{shop}:sale:id');
CREATE INDEX ON sale USING set (owner) WITH (key = '{{shop}}:sale:owner:{owner}', maintained = 'redquel');
CREATE INDEX ON sale USING zset (size) WITH (key = '{{shop}}:sale:size', maintained = 'redquel');
CREATE TABLE own (id bigint PRIMARY KEY, note text);
INSERT INTO own VALUES (1, 'one')
"""


def test_rows_of_one_slot(make_redis, make_server):
    """An application with a hash tag has transactions of several rows and structures."""
    cluster, server = over_cluster(make_redis, make_server)
    with server.connect() as connection, server.connect() as other, cluster.connect() as raw:
        run_all(connection, *SHOP.strip().split(";\n"))
        connection.run("INSERT INTO sale (owner, size) VALUES ('ann', 1), ('bob', 2), ('ann', 3)")
        assert raw("GET", "{shop}:sale:id") == "3"
        assert sorted(raw("SMEMBERS", "{shop}:sale:owner:ann")) == ["1", "3"]
        same(connection, "SELECT id FROM sale WHERE owner = 'ann' ORDER BY size DESC", "3", "1")
        run_all(connection, "BEGIN", "UPDATE sale SET owner = 'cid' WHERE id = 1", "UPDATE sale SET size = size * 10", "DELETE FROM sale WHERE id = 2")
        assert raw("HGET", "{shop}:sale:1", "owner") == "ann"
        connection.run("COMMIT")
        assert raw("ZRANGE", "{shop}:sale:size", "0", "-1", "WITHSCORES") == ["1", "10", "3", "30"]
        assert raw("SMEMBERS", "{shop}:sale:owner:cid") == ["1"] and raw("EXISTS", "{shop}:sale:owner:bob") == 0
        run_all(connection, "BEGIN", "UPDATE sale SET size = 0 WHERE id = 1", "UPDATE own SET note = 'two' WHERE id = 1")
        error = refused(connection, "COMMIT")
        assert '{shop}:sale' in error["D"] and '"own"' in error["D"], error
        assert raw("HGET", "{shop}:sale:1", "size") == "10"
        same(connection, "SELECT note FROM own", "one")
        run_all(connection, "BEGIN", "CREATE TABLE made (id int)", "UPDATE sale SET size = 0 WHERE id = 1")
        assert "definitions" in refused(connection, "COMMIT")["D"]
        run_all(connection, "BEGIN", "SELECT * FROM own WHERE id = 1 FOR UPDATE", "UPDATE sale SET size = 11 WHERE id = 1", "COMMIT")
        # An application was faster.
        run_all(connection, "BEGIN", "UPDATE sale SET size = 12 WHERE id = 1")
        raw("HSET", "{shop}:sale:1", "owner", "dan")
        refused(connection, "COMMIT", "40001")
        # Locks are in the home bucket.
        run_all(connection, "BEGIN", "SELECT * FROM sale WHERE id = 3 FOR UPDATE")
        waiting = threading.Thread(target=other.run, args=("UPDATE sale SET size = 33 WHERE id = 3",))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive() and raw("HGET", "{shop}:sale:3", "size") == "30"
        connection.run("ROLLBACK")
        waiting.join(60)
        assert raw("HGET", "{shop}:sale:3", "size") == "33"
        same(connection, "SELECT count(*) FROM pg_locks WHERE relation = 'sale'::regclass", "0")
        connection.run("TRUNCATE sale")
        assert raw("EXISTS", "{shop}:sale:size") == 0


def test_reads_of_all_layouts_of_the_manual(make_redis, make_server, fresh_server):
    """The tables of docs/mapping.md give the answers that they give over one Redis."""
    cluster, server = over_cluster(make_redis, make_server)
    for example, definitions in ((mapped_login_test, mapped_login_test.LOGIN), (mapped_themes_test, mapped_themes_test.TABLES)):
        with MappedKeys(fresh_server, example.load, definitions) as (one, _), MappedKeys(server, example.load, definitions) as (many, _):
            for table, in one.run("SELECT relname FROM pg_class WHERE relkind = 'f' ORDER BY 1"):
                wanted = one.run(f"SELECT t::text FROM {table} t ORDER BY 1")
                same(many, f"SELECT t::text FROM {table} t ORDER BY 1", *wanted)
                assert wanted, table


def test_a_write_waits_while_its_slot_moves(make_redis, make_server):
    cluster, server = over_cluster(make_redis, make_server)
    key = "item:7"
    slot, target = slot_of(key), next(node for node in cluster.masters if node is not cluster.master_of(key))
    with server.connect() as connection, server.connect() as reader, cluster.connect() as raw:
        connection.run(MAKE.format("item (id bigint, kind text, price bigint)", "hash", "item:{id}"))
        source = cluster.begin_move(slot, target)
        failures = []

        def write():
            try:
                connection.run("UPDATE item SET price = 70 WHERE id = 7")
            except ServerError as error:
                failures.append(error)
        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(2):  # before and after the key has moved
            writer.join(0.3)
            assert writer.is_alive()
            same(reader, "SELECT price FROM item WHERE id = 7", "7")
            cluster.move_keys(slot, source, target)
        cluster.end_move(slot, source, target)
        writer.join(60)
        assert not failures and not writer.is_alive()
        wait_for(lambda: cluster.owner(slot) is target, what="the new owner of the slot")
        assert raw("HGET", key, "price") == "70"


def test_import_and_discovery_leave_out_tables_of_their_own(make_redis, make_server):
    _, server = over_cluster(make_redis, make_server)
    with server.connect() as connection:
        run_all(connection, "SET redquel.placement = balanced", "CREATE TABLE own (id bigint PRIMARY KEY, kind text)", "CREATE INDEX ON own USING hash (kind)",
                "INSERT INTO own SELECT i, 'k' FROM generate_series(1, 50) i", "CREATE SCHEMA found", "IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO found")
        tables = [row[0] for row in connection.run("SELECT relname FROM pg_class WHERE relnamespace = 'found'::regnamespace AND relkind = 'f' ORDER BY 1")]
        assert "item" in tables and not any("own" in name or "redquel" in name for name in tables), tables
        same(connection, "SELECT count(*) FROM found.item", [str(ITEMS)])
