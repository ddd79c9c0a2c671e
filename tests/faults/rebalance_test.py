"""`redquel rebalance`: the keys of a Redis Cluster are spread over its masters, while clients read and write; a move that was broken off is
completed by the next run."""
import os
import re
import signal
import subprocess
import threading
import time

from harness.cluster_nodes import Cluster, slot_of
from harness.pgwire import ServerError
from harness.servers import sanitizer_environment
from harness.waiting import wait_for

SLOW = True
LIMIT = 600
TABLES = 6
ROWS = 3000 if os.environ.get("LONG_TESTS") == "1" else 600
MARKS = "*redquel:moving"


def rebalance(build, cluster, *options, status=0):
    done = subprocess.run([os.path.join(build, "redquel"), "rebalance", "--redis", cluster.url, *options], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **sanitizer_environment()})
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def comes_to_rest(build, cluster):
    """Returns true if at most two more runs find nothing to move; nothing else changes the keys."""
    return any("no slot has to move" in rebalance(build, cluster, "--apply") for _ in range(3))


def on_masters(cluster, *words):
    return [node(*words) for node in cluster.nodes if node.role() == "master"]


def skewed(make_redis, make_server, replicas=0):
    """Returns a cluster whose tables lie at one master, a server, and the tables' numbers by the tags of their buckets."""
    cluster = Cluster(make_redis, masters=3, replicas=replicas)
    server = make_server(redis=cluster)
    with server.connect() as connection:
        connection.run("SET redquel.placement = balanced")
        for number in range(TABLES):
            connection.run(f"CREATE TABLE t{number} (id int PRIMARY KEY, v int NOT NULL, note text)")
            connection.run(f"CREATE INDEX ON t{number} USING hash (v)")
            connection.run(f"INSERT INTO t{number} SELECT i, 0, 'note ' || i FROM generate_series(1, {ROWS}) i")
    tags = {key.split("}")[0] + "}": int(re.match(r"t(\d)", key.split("}")[1])[1]) for node in cluster.masters for key in node("KEYS", "{*}t[0-9]:*")}
    assert len(tags) == TABLES
    for tag in tags:
        if cluster.master_of(tag) is not cluster.masters[0]:
            cluster.move(slot_of(tag), cluster.masters[0])
    return cluster, server, tags


class Visitors:
    """A client that writes and one that reads all tables; both go on until the end."""

    def __init__(self, server):
        self.server, self.is_over, self.trouble, self.writes = server, False, [], 0
        self.threads = [threading.Thread(target=self.run, args=(visit,)) for visit in (self.write, self.read)]
        for thread in self.threads:
            thread.start()

    def run(self, visit):
        try:
            with self.server.connect() as connection:
                while not self.is_over:
                    visit(connection)
        except (AssertionError, ServerError, OSError) as error:
            self.trouble.append(error)

    def write(self, connection):
        number = self.writes % TABLES
        connection.run(f"UPDATE t{number} SET v = v + 1 WHERE id = {1 + self.writes % ROWS}")
        self.writes += 1

    @staticmethod
    def read(connection):
        for number in range(TABLES):
            assert connection.run(f"SELECT count(*) FROM t{number}") == [[str(ROWS)]]

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(120)
        assert not self.trouble, self.trouble
        with self.server.connect() as connection:
            sums = [int(connection.run(f"SELECT sum(v) FROM t{number}")[0][0]) for number in range(TABLES)]
            assert sum(sums) == self.writes > 0, (sums, self.writes)
            for number in range(TABLES):
                assert connection.run(f"SELECT * FROM redquel.check_indexes('t{number}')") == []


def test_tables_are_spread_while_clients_work(make_redis, make_server, build):
    cluster, server, tags = skewed(make_redis, make_server)
    checked = subprocess.run([os.path.join(build, "redquel"), "check", "--redis", cluster.url], capture_output=True, text=True, timeout=120, check=False)
    assert re.search(rf"all {TABLES} tables lie at 127\.0\.0\.1:{cluster.masters[0].port}", checked.stdout), checked.stdout + checked.stderr
    with cluster.connect() as raw:
        for number in range(300):
            raw("SET", f"{{app}}:{number}", "x" * 50)
    before = [cluster.owner(slot_of(tag)) for tag in tags]
    plan = rebalance(build, cluster)
    assert "--apply moves" in plan and before == [cluster.owner(slot_of(tag)) for tag in tags], plan
    visitors = Visitors(server)
    rebalance(build, cluster, "--apply")
    visitors.end()
    owners = [cluster.owner(slot_of(tag)) for tag in tags]
    assert set(owners) == set(cluster.masters), [node.port for node in owners]
    assert not any(on_masters(cluster, "KEYS", MARKS))
    with cluster.connect() as raw:
        assert all(raw("GET", f"{{app}}:{number}") == "x" * 50 for number in range(300))
    assert comes_to_rest(build, cluster)


def test_a_broken_move_is_completed(make_redis, make_server, build):
    cluster, server, tags = skewed(make_redis, make_server)
    visitors = Visitors(server)
    run = subprocess.Popen([os.path.join(build, "redquel"), "rebalance", "--redis", cluster.url, "--apply"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for(lambda: any(on_masters(cluster, "KEYS", MARKS)) or run.poll() is not None, what="the first mark", pause=0.001)
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=60)
    assert any(on_masters(cluster, "KEYS", MARKS)), "it was too fast"
    written = visitors.writes
    time.sleep(.5)
    assert visitors.writes <= written + TABLES  # the bucket waits
    assert "not complete" in rebalance(build, cluster)
    rebalance(build, cluster, "--apply")
    visitors.end()
    assert not any(on_masters(cluster, "KEYS", MARKS))
    assert {cluster.owner(slot_of(tag)) for tag in tags} == set(cluster.masters)
    assert comes_to_rest(build, cluster)


def test_a_source_that_fails_in_the_middle(make_redis, make_server, build):
    """The replica that is promoted knows of no migration; the mark keeps scripts out until the move is complete."""
    cluster, server, tags = skewed(make_redis, make_server, replicas=1)
    (tag, number), target = list(tags.items())[-1], cluster.masters[1]
    slot = slot_of(tag)
    source = cluster.owner(slot)
    source("SET", f"{tag}redquel:moving", target.id)
    cluster.begin_move(slot, target)
    keys = [key for key in source("CLUSTER", "GETKEYSINSLOT", slot, 100) if not key.endswith("redquel:moving")]
    assert source("MIGRATE", "127.0.0.1", target.port, "", 0, 10000, "KEYS", *keys) == "OK"
    replicas = [node for node in cluster.nodes if node.role() == "slave" and node("ROLE")[2] == source.port]
    cluster.wait_for_replicas(source, 1)
    source.kill()
    cluster.wait_for_promotion(replicas[0])
    with server.connect() as connection:
        connection.run("SET statement_timeout = '2s'")
        assert connection.run_error(f"UPDATE t{number} SET v = 1 WHERE id = 1")["C"] == "57014"
        source.start()
        wait_for(lambda: source.role() == "slave", what="the old master as a replica")
        rebalance(build, cluster, "--apply")
        assert is_owned(cluster)
        connection.run("SET statement_timeout = 0")
        connection.run(f"UPDATE t{number} SET v = 1 WHERE id = 1")
        assert connection.run(f"SELECT count(*), sum(v) FROM t{number}") == [[str(ROWS), "1"]]
        assert connection.run(f"SELECT * FROM redquel.check_indexes('t{number}')") == []
    assert comes_to_rest(build, cluster)
    assert is_owned(cluster)


def is_owned(cluster):
    """Returns true if each slot has a master that claims it: of two masters that name each other, none serves it."""
    claimed = 0
    for node in cluster.nodes:
        [own] = [line.split() for line in node("CLUSTER", "NODES").splitlines() if "myself" in line]
        for word in own[8:]:
            if not word.startswith("["):
                first, _, last = word.partition("-")
                claimed += int(last or first) - int(first) + 1
    return claimed == 16384


def test_refusals(make_redis, build):
    redis = make_redis()
    done = subprocess.run([os.path.join(build, "redquel"), "rebalance", "--redis", redis.url], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "needs a Redis Cluster" in done.stderr
    cluster = Cluster(make_redis, masters=2, replicas=0)
    for node in cluster.nodes:
        node("CLUSTER", "DELSLOTS", 5)
    wait_for(lambda: "have no node" in rebalance(build, cluster, status=1), what="the finding")
