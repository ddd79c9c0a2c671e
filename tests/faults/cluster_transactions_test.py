"""Transactions over several buckets of a Redis Cluster: what sessions are told, locks of rows in several buckets, SERIALIZABLE."""
import signal
import time

from harness.cluster_nodes import Cluster
from harness.pgwire import query
from harness.processes import temporary_folder
from harness.servers import run_when_it_is_back
from harness.waiting import wait_for

SLOW = True
LIMIT = 300
BALANCED = "SET redquel.placement = balanced"


def set_up(server, *names):
    """Makes these tables, each in a bucket of its own."""
    with server.connect() as connection:
        connection.run(BALANCED)
        for name in names:
            connection.run(f"CREATE TABLE {name} (id int PRIMARY KEY, v int)")


def tag_of(cluster, table):
    return next(key.partition("}")[0] + "}" for node in cluster.masters for key in node("KEYS", f"*}}{table}:*"))


def count_keys(cluster, pattern):
    return sum(len(node("KEYS", pattern)) for node in cluster.nodes if node.role() == "master")


def test_a_connection_that_other_commits_lose_refuses_no_commit_over_buckets(make_redis, make_server):
    """One session commits over two buckets and waits for a replica of the first one. Another one commits there, waits, too, and loses its
    connection: nobody knows what became of that commit. The first one takes place, and its session is told so."""
    cluster = Cluster(make_redis, masters=2, replicas=1, node_timeout=10_000)
    server = make_server("--threads", "1", redis=cluster)
    set_up(server, "a", "b")
    with server.connect() as over, server.connect() as alone, server.connect() as reader:
        over.run("INSERT INTO a VALUES (0, 0); INSERT INTO b VALUES (0, 0)")
        tag = tag_of(cluster, "a")
        master = cluster.master_of(tag)
        replica = master.replicas[0]
        over.run("BEGIN; INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1)")
        replica.signal(signal.SIGSTOP)
        try:
            over.send(query("COMMIT"))
            wait_for(lambda: master("EXISTS", f"{tag}redquel:prepared"), what="the prepared commit")
            alone.send(query("INSERT INTO a VALUES (2, 2)"))
            wait_for(lambda: master("EXISTS", f"{tag}a:2"), what="the other commit")
            master.end_commit_connections()
            [result] = alone.results()
            assert result.sqlstate == "08007", result.error
        finally:
            replica.signal(signal.SIGCONT)
        [result] = over.results()
        assert result.error is None, result.error
        assert run_when_it_is_back(reader, "SELECT a.id FROM a JOIN b USING (id) ORDER BY id") == [["0"], ["1"]]


def test_rows_of_several_buckets_are_locked(make_redis, make_server):
    cluster = Cluster(make_redis, masters=2, replicas=0)
    server = make_server(redis=cluster)
    set_up(server, "a", "b")
    with server.connect() as one, server.connect() as other:
        one.run("INSERT INTO a SELECT g, g FROM generate_series(1, 5) g; INSERT INTO b SELECT g, g FROM generate_series(1, 5) g")
        one.run("BEGIN")
        assert one.run("SELECT a.id FROM a JOIN b USING (id) WHERE id < 3 ORDER BY id FOR UPDATE") == [["1"], ["2"]]
        for table in "a", "b":
            assert other.run_error(f"SELECT 1 FROM {table} WHERE id = 2 FOR UPDATE NOWAIT")["C"] == "55P03"
        error = other.run_error("SELECT 1 FROM a JOIN b USING (id) FOR UPDATE NOWAIT")
        assert error["C"] == "55P03" and 'relation "a"' in error["M"], error
        other.run("BEGIN")
        skipping = "SELECT a.id FROM a JOIN b USING (id) ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED"
        assert other.run(skipping) == [["3"], ["4"]]
        # A row that another session has in the second bucket alone is waited for.
        other.run("ROLLBACK; BEGIN; UPDATE b SET v = 50 WHERE id = 5")
        one.send(query("SELECT a.id, b.v FROM a JOIN b USING (id) WHERE id = 5 FOR UPDATE"))
        wait_for(lambda: count_keys(cluster, "*redquel:waits"), what="a session that waits")
        other.run("COMMIT")
        assert one.results()[-1].texts() == [["5", "50"]]
        one.run("UPDATE a SET v = 0 WHERE id = 5; COMMIT")
        assert other.run("SELECT a.v, b.v FROM a JOIN b USING (id) WHERE id = 5 FOR SHARE") == [["0", "50"]]


def test_serializable_over_buckets(make_redis, make_server):
    """Write skew: each transaction reads what the other one writes. One of them must fail."""
    cluster = Cluster(make_redis, masters=2, replicas=0)
    server = make_server(redis=cluster)
    set_up(server, "a", "b")
    begin = "BEGIN ISOLATION LEVEL SERIALIZABLE"
    with server.connect() as one, server.connect() as other:
        one.run("INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1)")
        for read in "SELECT v FROM {} WHERE id = 1", "SELECT sum(v) FROM {}":
            one.run(begin)
            other.run(begin)
            one.run(read.format("a"))
            other.run(read.format("b"))
            one.run("UPDATE b SET v = v + 1 WHERE id = 1")
            other.run("UPDATE a SET v = v + 1 WHERE id = 1")
            one.run("COMMIT")
            assert other.run_error("COMMIT")["C"] == "40001"
        # Nothing that was read has changed.
        one.run(f"{begin}; INSERT INTO b SELECT 2, sum(v) FROM a; COMMIT")
        assert one.run("SELECT a.v, b.v FROM a JOIN b ON a.id = 1 AND b.id = 2") == [["1", "1"]]
        assert count_keys(cluster, "*redquel:prepared") == 0
        wait_for(lambda: count_keys(cluster, "*redquel:locks:*") == 0, what="the end of all locks")


def with_small_scripts():
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write("[limits]\nscript_rows = 100\n")
    return "--config", path


def test_many_rows_over_buckets_are_written_whole_or_not_at_all(make_redis, make_server):
    cluster = Cluster(make_redis, masters=2, replicas=0)
    servers = [make_server("--threads", "1", *with_small_scripts(), redis=cluster) for _ in range(2)]
    set_up(servers[0], "a", "b")
    sums = "SELECT (SELECT count(*) FROM a), (SELECT sum(v) FROM a), (SELECT count(*) FROM b), (SELECT sum(v) FROM b)"
    fill = "INSERT INTO {} SELECT g, 0 FROM generate_series(1, 1000) g"
    with servers[0].connect() as one, servers[1].connect() as other:
        one.run(f"BEGIN; {fill.format('a')}; {fill.format('b')}; COMMIT")
        assert other.run(sums) == [["1000", "0", "1000", "0"]]
        one.run("WITH c AS (UPDATE a SET v = 1 RETURNING id) UPDATE b SET v = 1 FROM c WHERE b.id = c.id")
        assert other.run(sums) == [["1000", "1000", "1000", "1000"]]
        one.run("BEGIN; UPDATE a SET v = v + 1; DELETE FROM b WHERE id > 500; INSERT INTO b VALUES (2000, NULL)")
        other.run("INSERT INTO b VALUES (3000, 0)")
        one.run("COMMIT")
        assert other.run(sums) == [["1000", "2000", "502", "500"]]
        # A chunk of the second bucket fails: those of the first one are undone.
        other.run("BEGIN; UPDATE a SET v = 0")
        other.run("INSERT INTO b SELECT g, 0 FROM generate_series(501, 1000) g")
        other.run("ROLLBACK")
        one.run("BEGIN; UPDATE a SET v = 7; UPDATE b SET v = 7")
        node = cluster.master_of(tag_of(cluster, "b"))
        with node.connect() as raw:
            raw("HSET", f"{tag_of(cluster, 'b')}b:3000", "v", "5")  # as another program would
        assert one.run_error("COMMIT")["C"] == "40001"
        assert other.run("SELECT count(*), sum(v) FROM a") == [["1000", "2000"]]
        for table in "a", "b":
            assert other.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
    wait_for(lambda: not any(count_keys(cluster, f"*redquel:{word}*") for word in ("prepared", "exclusive", "lease:", "journal")), what="the end of all units")


def test_a_process_that_is_killed_leaves_no_half_of_many_rows(make_redis, make_server, random):
    cluster = Cluster(make_redis, masters=2, replicas=0)
    servers = [make_server("--threads", "1", *with_small_scripts(), redis=cluster) for _ in range(2)]
    set_up(servers[0], "a", "b")
    with servers[1].connect() as other:
        other.run("INSERT INTO a SELECT g, 0 FROM generate_series(1, 1000) g; INSERT INTO b SELECT g, 0 FROM generate_series(1, 1000) g")
        for _ in range(2):
            with servers[0].connect() as one:
                one.run("BEGIN; UPDATE a SET v = v + 1; UPDATE b SET v = v + 1")
                one.send(query("COMMIT"))
                time.sleep(random.uniform(0, .2))
                servers[0].kill()
            [[low, high, low_too, high_too]] = other.run("SELECT (SELECT min(v) FROM a), (SELECT max(v) FROM a), min(v), max(v) FROM b")
            assert low == high == low_too == high_too
            servers[0].start()
