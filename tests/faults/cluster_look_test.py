"""`redquel look` at a Redis Cluster: foreign tables over keys of many slots, while slots move and masters are replaced."""
import json
import os
import signal
import subprocess
import threading
import time

from harness.cluster_nodes import Cluster, slot_of
from harness.pgwire import ServerError
from harness.processes import temporary_folder
from harness.sentinels import free_port
from harness.waiting import wait_for
from wire.look_test import Monitor, check_reads, fill
from wire.redis_tls_test import authority, configuration

SLOW = True
LIMIT = 600
LEAST = ("ACL", "SETUSER", "reader", "on", ">least", "resetkeys", "~*", "resetchannels", "-@all", "+@read", "+@connection", "+cluster|slots", "+cluster|nodes")
ROWS = 400


def run_redquel(build, *words):
    return subprocess.run([os.path.join(build, "redquel"), *words], capture_output=True, text=True, timeout=300)


def fill_rows(cluster, rows=ROWS):
    """Rows with two declared sets each, whose keys lie in as many slots as there are."""
    with cluster.connect() as raw:
        for number in range(1, rows + 1):
            raw("HSET", f"item:{number}", "kind", f"k{number % 3}", "shop", f"s{number % 5}", "price", str(number))
            raw("SADD", f"item:indices:kind:k{number % 3}", str(number))
            raw("SADD", f"item:indices:shop:s{number % 5}", str(number))
            raw("ZADD", "item:zset:price", str(number), str(number))


def questions(rows=ROWS):
    """Statements over `fill_rows`, and their answers."""
    numbers = range(1, rows + 1)
    both = [number for number in numbers if number % 3 == 1 and number % 5 == 2]
    either = [number for number in numbers if number % 3 == 1 or number % 5 == 2]
    return [
        ("SELECT count(*), sum(price) FROM item", [[str(rows), str(sum(numbers))]]),
        ("SELECT count(*) FROM redis.keys WHERE key LIKE 'item:%' AND type = 'hash'", [[str(rows)]]),
        ("SELECT count(*) FROM item WHERE kind = 'k1' AND shop = 's2'", [[str(len(both))]]),
        ("SELECT id FROM item WHERE kind = 'k1' AND shop = 's2' ORDER BY id", [[str(number)] for number in both]),
        ("SELECT count(*), sum(price) FROM item WHERE kind = 'k1' OR shop = 's2'", [[str(len(either)), str(sum(either))]]),
        ("SELECT count(*) FROM item WHERE kind = 'k1' AND shop <> 's2'", [[str(len([n for n in numbers if n % 3 == 1 and n % 5 != 2]))]]),
        ("SELECT id FROM item WHERE id IN (1, 7, 100, 9999) ORDER BY id", [[str(number)] for number in (1, 7, 100) if number <= rows]),
        ("SELECT max(price) FROM item", [[str(rows)]]),
        ("SELECT id FROM item ORDER BY price DESC LIMIT 3", [[str(rows - i)] for i in range(3)]),
    ]


def ask_all(connection, rows=ROWS):
    for sql, answer in questions(rows):
        got = connection.run(sql)
        assert sorted(got) == sorted(answer), (sql, got, answer)


def test_reads_nothing_but_the_keys_of_all_masters(make_redis, make_look):
    cluster = Cluster(make_redis)
    fill(cluster)
    cluster.on_all(*LEAST)
    cluster.login = "reader:least@"
    monitors = [Monitor(master) for master in cluster.masters]
    server = make_look(cluster)
    check_reads(server)
    server.stop()
    for master, monitor in zip(cluster.masters, monitors):
        names = monitor.stop(master) - {"cluster"}
        assert names, "each master is asked"
        for name in names:
            assert set(master("COMMAND", "INFO", name)[0][6]) & {"@read", "@connection"}, name
    assert not [entry for log in cluster.on_all("ACL", "LOG") for entry in log], cluster.on_all("ACL", "LOG")


def test_set_algebra_and_scans_over_many_slots(make_redis, make_look):
    cluster = Cluster(make_redis, replicas=0)
    fill_rows(cluster)
    assert slot_of("item:indices:kind:k1") != slot_of("item:indices:shop:s2")
    server = make_look(cluster)
    with server.connect() as connection:
        ask_all(connection)
        assert len(connection.run("SELECT DISTINCT name FROM redis.clients WHERE name LIKE 'redquel-look%'")) > 0


def test_one_master(make_redis, make_look):
    cluster = Cluster(make_redis, masters=1, replicas=0)
    fill_rows(cluster, 50)
    with make_look(cluster).connect() as connection:
        ask_all(connection, 50)


def test_reads_while_a_slot_is_on_its_way(make_redis, make_look):
    """Half of a slot's keys are at the other node: single commands follow ASK, scans see each key."""
    cluster = Cluster(make_redis, replicas=0)
    with cluster.connect() as raw:
        for number in range(1, 41):
            raw("HSET", f"tag{{x}}:{number}", "v", str(number))
            raw("SADD", "tag{x}:indices:all:1", str(number))
    server = make_look(cluster)
    slot = slot_of("{x}")
    with server.connect() as connection:
        tables = [row[0] for row in connection.run("SELECT relname FROM pg_class WHERE relkind = 'f'")]
        assert tables, "discovery finds the hashes"
        source = cluster.owner(slot)
        target = next(node for node in cluster.masters if node is not source)
        cluster.begin_move(slot, target)
        cluster.move_keys(slot, source, target, 20)
        for _ in range(3):
            assert connection.run("SELECT count(*) FROM redis.keys WHERE key LIKE 'tag%' AND type = 'hash'") == [["40"]]
            for number in (1, 20, 40):
                assert connection.run(f"SELECT count(*) FROM redis.keys WHERE key = 'tag{{x}}:{number}'") == [["1"]]
        cluster.move_keys(slot, source, target)
        cluster.end_move(slot, source, target)
        assert connection.run("SELECT count(*) FROM redis.keys WHERE key LIKE 'tag%' AND type = 'hash'") == [["40"]]


def test_answers_stay_right_while_slots_move(make_redis, make_look):
    cluster = Cluster(make_redis, replicas=0)
    fill_rows(cluster)
    server = make_look(cluster, "--max-redis-share", "100")
    ended = threading.Event()
    moved = []
    busy = sorted({slot_of(f"item:{number}") for number in range(1, ROWS + 1)} | {slot_of(f"item:indices:kind:k{n}") for n in range(3)})

    def move():
        while not ended.is_set():
            slot = busy[len(moved) * 7 % len(busy)]
            source = cluster.owner(slot)
            cluster.move(slot, cluster.masters[(cluster.masters.index(source) + 1) % 3])
            moved.append(slot)
    mover = threading.Thread(target=move)
    mover.start()
    try:
        with server.connect() as connection:
            end = time.monotonic() + 20
            rounds = 0
            while time.monotonic() < end or rounds < 3:
                ask_all(connection)
                rounds += 1
    finally:
        ended.set()
        mover.join()
    assert len(moved) > 10, moved


def has_all(master):
    """Whether the replicas of the master have what it has."""
    with master.connect() as raw:
        facts = raw.info("replication")
    return all(f"offset={facts['master_repl_offset']}," in facts[f"slave{number}"] for number in range(int(facts["connected_slaves"])))


def run_through(connection, sql, seconds):
    """Rows of a statement within so many seconds: reads wait for the new master."""
    begun = time.monotonic()
    rows = connection.run(sql)
    assert time.monotonic() - begun < seconds, time.monotonic() - begun
    return rows


def test_reads_go_on_after_a_master_was_killed(make_redis, make_look):
    cluster = Cluster(make_redis)
    fill_rows(cluster)
    server = make_look(cluster)
    with server.connect() as connection:
        ask_all(connection)
        victim = cluster.master_of("item:1")
        wait_for(lambda: has_all(victim), what="the replica to have all keys")
        victim.kill()
        # Detection and election take two to three times the node timeout; the statement waits for them.
        assert run_through(connection, "SELECT kind FROM item WHERE id = 1", 60) == [["k1"]]
        ask_all(connection)
        victim.start()
        wait_for(lambda: victim.role() == "slave", what="the old master as a replica")
        ask_all(connection)


def test_reads_go_on_after_a_planned_failover(make_redis, make_look):
    cluster = Cluster(make_redis)
    fill_rows(cluster)
    server = make_look(cluster)
    with server.connect() as connection:
        for master in list(cluster.masters):
            cluster.fail_over(master)
            ask_all(connection)


def test_a_deposed_master_that_goes_on_is_not_believed(make_redis, make_look):
    """Stopped while its replica was promoted and written, then continued: it still answers, with old values."""
    cluster = Cluster(make_redis)
    fill_rows(cluster, 30)
    server = make_look(cluster, "--threads", "1")
    with server.connect() as connection:
        ask_all(connection, 30)
        old = cluster.master_of("item:1")
        wait_for(lambda: has_all(old), what="the replica to have all keys")
        replica = old.replicas[0]
        old.signal(signal.SIGSTOP)
        try:
            wait_for(lambda: replica.role() == "master", what="a failover")
            wait_for(lambda: "ok" in replica("CLUSTER", "INFO"), what="the new master")
            replica("HSET", "item:1", "kind", "changed")
            # The old master's answer to this statement comes when it goes on, before it hears of the others.
            result = []
            reader = threading.Thread(target=lambda: result.append(connection.run("SELECT kind FROM item WHERE id = 1")))
            reader.start()
            time.sleep(0.3)
        finally:
            old.signal(signal.SIGCONT)
        reader.join(120)
        assert result == [[["changed"]]], result


def test_a_slot_without_a_node_ends_in_57P03(make_redis, make_look):
    cluster = Cluster(make_redis, replicas=0)
    fill_rows(cluster, 30)
    with open(path := f"{temporary_folder()}/look.toml", "w", encoding="utf-8") as file:
        file.write("[redis]\nmove_timeout = 1\n")
    server = make_look(cluster, "--config", path)
    with server.connect() as connection:
        slot = slot_of("item:1")
        for node in cluster.nodes:
            node("CLUSTER", "DELSLOTS", slot)
        begun = time.monotonic()
        try:
            connection.run("SELECT kind FROM item WHERE id = 1")
            assert False, "no node has the slot"
        except ServerError as error:
            assert error.sqlstate == "57P03" and f"slot {slot}" in str(error), error
        assert time.monotonic() - begun < 30
        assert connection.run("SELECT kind FROM item WHERE id = 2") == [["k2"]]  # the other slots are served


def test_the_right_url_is_named(make_redis, build):
    cluster = Cluster(make_redis, masters=1, replicas=0)
    port = cluster.nodes[0].port
    refused = run_redquel(build, "look", f"redis://127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and f"use cluster://127.0.0.1:{port}" in refused.stderr, refused.stderr
    refused = run_redquel(build, "look", f"cluster://127.0.0.1:{port}?db=1", "--listen", "127.0.0.1:0")
    assert "a cluster has the database 0 alone" in refused.stderr, refused.stderr
    alone = make_redis("--port", str(port := free_port()))
    refused = run_redquel(build, "look", f"cluster://127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "is no node of a cluster" in refused.stderr, refused.stderr
    assert alone.connect()("PING") == "PONG"
    refused = run_redquel(build, "look", f"cluster://127.0.0.1:{free_port()}", "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "could not connect to Redis at cluster" in refused.stderr, refused.stderr


def test_tls_and_a_password(make_redis, make_look, build):
    issued = authority().issue()
    tls = ("--tls-cert-file", issued.certificate, "--tls-key-file", issued.key, "--tls-ca-cert-file", authority().certificate, "--tls-auth-clients", "no")
    cluster = Cluster(make_redis, masters=2, replicas=0, tls=tls)
    fill_rows(cluster, 50)
    cluster.on_all("ACL", "SETUSER", "ann", "on", ">secret", "~*", "+@all")
    cluster.on_all("ACL", "SETUSER", "default", "resetpass", ">other")
    refused = run_redquel(build, "look", cluster.url, "--listen", "127.0.0.1:0", "--config", configuration(ca=authority().certificate))
    assert refused.returncode == 1 and "NOAUTH" in refused.stderr, refused.stderr
    cluster.login = "ann:wrong@"
    refused = run_redquel(build, "look", cluster.url, "--listen", "127.0.0.1:0", "--config", configuration(ca=authority().certificate))
    assert refused.returncode == 1 and "WRONGPASS" in refused.stderr, refused.stderr
    cluster.login = "ann:secret@"
    refused = run_redquel(build, "look", cluster.url, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "certificate" in refused.stderr, refused.stderr
    with make_look(cluster, "--config", configuration(ca=authority().certificate)).connect() as connection:
        ask_all(connection, 50)


def test_discover_and_check(make_redis, build):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    fill_rows(cluster, 60)
    found = run_redquel(build, "discover", "--redis", cluster.url)
    assert found.returncode == 0 and "item" in found.stdout and "60" in found.stdout, (found.stdout, found.stderr)
    checked = run_redquel(build, "check", "--redis", cluster.url, "--json")
    warnings = json.loads(checked.stdout)["warnings"]
    assert sum("has no replica" in warning["message"] for warning in warnings) == 3, warnings
    for node in cluster.nodes:
        node("CLUSTER", "DELSLOTS", 5)
    wait_for(lambda: "1 slots of the cluster have no node" in run_redquel(build, "check", "--redis", cluster.url).stdout, what="the finding")
