"""Transactions over several buckets of a Redis Cluster: what sessions are told, locks of rows in several buckets, SERIALIZABLE."""
import signal
import time

from harness.cluster_killer import Killer, leftovers
from harness.cluster_nodes import Cluster
from harness.crew import all_at_once
from harness.pgwire import ServerError, query
from harness.processes import temporary_folder
from harness.servers import run_when_it_is_back
from harness.visitors import RETRIED, Visitor
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
            wait_for(lambda: over.has_input() or master("EXISTS", f"{tag}redquel:prepared"), what="the prepared commit")
            assert not over.has_input(), (over.results(), tag, master.port, replica.port, master("INFO", "replication"))
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


def set_up_keys(server, actions=""):
    """A parent and a child in two buckets, and a child of the child in a third one."""
    set_up(server, "parent", "child", "grandchild")
    with server.connect() as connection:
        connection.run("ALTER TABLE parent ADD UNIQUE (v); ALTER TABLE child ADD UNIQUE (v)")
        connection.run(f"ALTER TABLE child ADD CONSTRAINT child_fk FOREIGN KEY (v) REFERENCES parent {actions}")
        connection.run(f"ALTER TABLE grandchild ADD CONSTRAINT grandchild_fk FOREIGN KEY (v) REFERENCES child (v) {actions}")


def test_foreign_keys_over_buckets(make_redis, make_server):
    cluster = Cluster(make_redis, masters=2, replicas=0)
    server = make_server("--threads", "1", *with_small_scripts(), redis=cluster)
    set_up_keys(server)
    with server.connect() as one:
        assert one.run_error("INSERT INTO child VALUES (1, 1)")["C"] == "23503"
        one.run("INSERT INTO parent VALUES (1, 10), (2, 20); INSERT INTO child VALUES (1, 1), (5, NULL); INSERT INTO grandchild VALUES (1, 1)")
        assert len({tag_of(cluster, table) for table in ("parent", "child", "grandchild")}) == 3
        assert one.run_error("DELETE FROM parent WHERE id = 1")["C"] == "23503"
        assert one.run_error("UPDATE parent SET id = 3 WHERE id = 1")["C"] == "23503"
        assert one.run_error("UPDATE child SET v = 7 WHERE id = 5")["C"] == "23503"
        assert one.run_error("DELETE FROM child WHERE id = 1")["C"] == "23503"
        one.run("DELETE FROM parent WHERE id = 2")
        # In a transaction: parent and child together, and in any order where the check waits.
        one.run("BEGIN; INSERT INTO parent VALUES (4, 40); INSERT INTO child VALUES (4, 4); COMMIT")
        one.run("BEGIN; DELETE FROM child WHERE id = 4; DELETE FROM parent WHERE id = 4; COMMIT")
        one.run("ALTER TABLE child ALTER CONSTRAINT child_fk DEFERRABLE INITIALLY DEFERRED")
        one.run("BEGIN; INSERT INTO child VALUES (6, 6); INSERT INTO parent VALUES (6, 60); COMMIT")
        one.run("BEGIN; INSERT INTO child VALUES (7, 7)")
        assert one.run_error("COMMIT")["C"] == "23503"
        one.run("BEGIN; DELETE FROM parent WHERE id = 6")
        assert one.run_error("SET CONSTRAINTS ALL IMMEDIATE")["C"] == "23503"
        one.run("ROLLBACK")
        # Many rows are one journaled unit.
        one.run("INSERT INTO parent SELECT g, g FROM generate_series(100, 999) g")
        one.run("INSERT INTO child SELECT g, g FROM generate_series(100, 999) g")
        assert one.run_error("INSERT INTO child SELECT g, g FROM generate_series(1000, 1500) g")["C"] == "23503"
        assert one.run_error("DELETE FROM parent WHERE id >= 100")["C"] == "23503"
        one.run("BEGIN; DELETE FROM child WHERE id >= 100; DELETE FROM parent WHERE id >= 100; COMMIT")
        assert one.run("SELECT (SELECT count(*) FROM parent), (SELECT count(*) FROM child)") == [["2", "3"]]
        assert one.run_error("TRUNCATE parent")["C"] == "0A000"
        for table in "parent", "child", "grandchild":
            assert one.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
        one.run("DROP TABLE parent CASCADE; INSERT INTO child VALUES (9, 99)")


def test_actions_of_foreign_keys_reach_other_buckets(make_redis, make_server):
    cluster = Cluster(make_redis, masters=2, replicas=0)
    server = make_server("--threads", "1", redis=cluster)
    set_up_keys(server, "ON DELETE CASCADE ON UPDATE CASCADE")
    with server.connect() as one:
        one.run("INSERT INTO parent SELECT g, g FROM generate_series(1, 9) g; INSERT INTO child SELECT g, g FROM generate_series(1, 9) g")
        one.run("INSERT INTO grandchild SELECT g * 100 + n, g FROM generate_series(1, 9) g, generate_series(1, 3) n")
        one.run("UPDATE parent SET id = 50 WHERE id = 5")
        assert one.run("SELECT child.id, child.v, count(*) FROM child JOIN grandchild g ON g.v = child.v WHERE child.v = 50 GROUP BY 1, 2") == [["5", "50", "3"]]
        one.run("DELETE FROM parent WHERE id IN (1, 2, 50)")
        assert one.run("SELECT (SELECT count(*) FROM parent), (SELECT count(*) FROM child), (SELECT count(*) FROM grandchild)") == [["6", "6", "18"]]
        one.run("BEGIN; DELETE FROM parent; ROLLBACK")
        assert one.run("SELECT count(*) FROM grandchild") == [["18"]]
        one.run("CREATE TABLE note (id int PRIMARY KEY, v int REFERENCES parent ON DELETE SET NULL, w int)")
        one.run("ALTER TABLE note ADD FOREIGN KEY (w) REFERENCES child (v) ON DELETE SET NULL; INSERT INTO note SELECT g, g, g FROM generate_series(3, 4) g")
        one.run("DELETE FROM child WHERE v = 3; DELETE FROM parent WHERE id = 4")
        assert one.run("SELECT * FROM note ORDER BY id") == [["3", "3", None], ["4", None, None]]
        [result] = one.query("COPY child FROM STDIN", b"100\t6\n101\t60\n")
        assert result.sqlstate == "23505", result.error
        one.run("ALTER TABLE grandchild DROP CONSTRAINT grandchild_fk; ALTER TABLE note DROP CONSTRAINT note_w_fkey; ALTER TABLE child DROP CONSTRAINT child_v_key")
        [result] = one.query("COPY child FROM STDIN", b"100\t6\n101\t60\n")
        assert result.sqlstate == "23503", result.error
        [result] = one.query("COPY child FROM STDIN", b"100\t6\n101\t7\n")
        assert result.tag == "COPY 2", result.error
        one.run("INSERT INTO child VALUES (100, 60) ON CONFLICT DO NOTHING; INSERT INTO child VALUES (100, 60) ON CONFLICT (id) DO UPDATE SET v = 8")
        assert one.run_error("INSERT INTO child VALUES (100, 60) ON CONFLICT (id) DO UPDATE SET v = 60")["C"] == "23503"
        assert one.run("SELECT v FROM child WHERE id >= 100 ORDER BY id") == [["8"], ["7"]]
        one.run("TRUNCATE parent CASCADE")
        assert one.run("SELECT (SELECT count(*) FROM parent), (SELECT count(*) FROM child), (SELECT count(*) FROM note)") == [["0", "0", "0"]]
        for table in "parent", "child", "grandchild":
            assert one.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
    wait_for(lambda: count_keys(cluster, "*redquel:locks:*") == 0, what="the end of all locks")


def test_no_child_is_left_without_its_parent(make_redis, make_server, random):
    """Parents in one bucket come and go while children in another one come."""
    cluster = Cluster(make_redis, masters=2, replicas=0)
    servers = [make_server("--threads", "1", redis=cluster) for _ in range(2)]
    set_up_keys(servers[0])
    done = {"come": 0, "gone": 0, "refused": 0}
    choices = [[(random.randrange(4), random.random() < .5) for _ in range(60)] for _ in range(4)]

    def work(number):
        with servers[number % 2].connect() as connection:
            for turn, (parent, is_child) in enumerate(choices[number]):
                child = number * 1000 + turn
                statements = ((f"INSERT INTO child VALUES ({child}, {parent})", f"DELETE FROM child WHERE id < {number * 1000 + 1000} AND id >= {number * 1000}")
                              if is_child else (f"DELETE FROM parent WHERE id = {parent}", f"INSERT INTO parent VALUES ({parent}, {parent}) ON CONFLICT DO NOTHING"))
                for statement in statements:
                    [result] = connection.query(statement)
                    assert result.sqlstate in (None, "23503", "23505", "40001", "40P01"), (statement, result.error)
                    done["refused" if result.error else "come" if "INSERT" in statement else "gone"] += 1

    with servers[0].connect() as connection:
        connection.run("INSERT INTO parent SELECT g, g FROM generate_series(0, 3) g")
        connection.run("ALTER TABLE child DROP CONSTRAINT child_v_key CASCADE")
    all_at_once(work, 4)
    print(f"  {done}", flush=True)
    with servers[1].connect() as connection:
        assert connection.run("SELECT v FROM child WHERE v NOT IN (SELECT id FROM parent)") == []
        for table in "parent", "child":
            assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []


class Family(Visitor):
    """Parents and children that come and go."""

    def __init__(self, servers, number):
        super().__init__(servers, number, timeout=30)
        self.refused = self.done = 0

    def work(self, connection):
        choice = (self.number * 7919 + self.turn * 104729) % 1000
        parent, child = choice % 5, self.number * 10_000_000 + self.turn
        statements = ([f"INSERT INTO child VALUES ({child}, {parent})"],
                      [f"DELETE FROM child WHERE v = {parent}", f"DELETE FROM parent WHERE id = {parent}"],
                      [f"INSERT INTO parent VALUES ({parent}, {parent}) ON CONFLICT DO NOTHING", "BEGIN", f"INSERT INTO child VALUES ({child}, {parent})", "COMMIT"])
        for statement in statements[choice // 5 % 3]:
            [result] = connection.query(statement)
            if result.error is None:
                self.done += 1
                continue
            if connection.status != "I":
                connection.run("ROLLBACK")
            if result.sqlstate not in ("23503", *RETRIED):
                raise ServerError(result.error)
            self.refused += 1
            return


def test_no_child_is_left_when_processes_and_masters_are_killed(make_redis, make_server, random):
    cluster = Cluster(make_redis, masters=3, replicas=1)
    servers = [make_server(redis=cluster) for _ in range(2)]
    set_up_keys(servers[0])
    with servers[0].connect() as connection:
        connection.run("INSERT INTO parent SELECT g, g FROM generate_series(0, 4) g")
        connection.run("ALTER TABLE child DROP CONSTRAINT child_v_key CASCADE; CREATE INDEX ON child (v)")
    visitors = [Family(servers, number) for number in range(5)]
    killer = Killer(cluster, servers, random, spares_masters=False)
    killer.strike_beside(visitors, seconds=20)
    with servers[0].connect() as connection:
        run_when_it_is_back(connection, "SELECT 1")
    wait_for(lambda: not leftovers(cluster), what="the end of all commits and locks")
    print(f"  {sum(visitor.done for visitor in visitors)} statements, {sum(visitor.refused for visitor in visitors)} refused; {killer.deeds}", flush=True)
    with servers[1].connect() as connection:
        assert run_when_it_is_back(connection, "SELECT v FROM child WHERE v NOT IN (SELECT id FROM parent)") == []
        for table in "parent", "child":
            assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
