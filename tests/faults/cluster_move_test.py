"""redquel's own tables in a Redis Cluster while slots move, masters are replaced, stand still or are lost, and replicas are missing.

Short forms take some seconds each; `CLUSTER_MOVE_SECONDS=60 tests/run.py --long faults -k cluster_move` runs longer, with more rows."""
import os
import signal
import threading
import time

from harness.cluster_nodes import Cluster, slot_of
from harness.pgwire import ServerError, query
from harness.processes import temporary_folder
from harness.servers import run_when_it_is_back
from harness.waiting import wait_for

SLOW = True
LIMIT = 600
IS_LONG = os.environ.get("LONG_TESTS") == "1"
SECONDS = float(os.environ.get("CLUSTER_MOVE_SECONDS", "30" if IS_LONG else "4"))
ROWS = 20_000 if IS_LONG else 1000
PASSING = ("08006", "08007", "57P03", "40001", "57P01")


def options(text):
    with open(path := f"{temporary_folder()}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(text)
    return "--config", path


def two_tables(server, rows=ROWS):
    """Tables a and b in buckets of their own, each with an index and so many rows."""
    with server.connect() as connection:
        connection.run("SET redquel.placement = balanced")
        for name in "ab":
            connection.run(f"CREATE TABLE {name} (id int PRIMARY KEY, v int NOT NULL, kind int NOT NULL)")
            connection.run(f"CREATE INDEX ON {name} USING hash (kind)")
            connection.run(f"INSERT INTO {name} SELECT i, 0, i % 10 FROM generate_series(1, {rows}) i")


def tag_of(cluster, table):
    """The tag of the table's bucket."""
    keys = [key for node in cluster.nodes if node.role() == "master" for key in node("KEYS", f"{{*}}{table}:1")]
    assert len(keys) == 1, keys
    return keys[0].split("}")[0] + "}"


def check_indexes(connection, *tables):
    for table in tables:
        assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == [], table


class Work:
    """A statement again and again, in a thread. `passes`: errors of faults are counted, others end it."""

    def __init__(self, server, work, passes=False):
        self.server, self.work, self.passes = server, work, passes
        self.is_over, self.trouble, self.rounds, self.losses, self.longest = False, None, 0, 0, 0.0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with self.server.connect() as connection:
            while not self.is_over:
                begun = time.monotonic()
                try:
                    self.work(connection, self.rounds)
                    self.rounds += 1
                except ServerError as error:
                    connection.run("ROLLBACK")
                    if not self.passes or error.sqlstate not in PASSING:
                        self.trouble = error
                        return
                    self.losses += 1
                except (AssertionError, OSError) as error:
                    self.trouble = error
                    return
                self.longest = max(self.longest, time.monotonic() - begun)

    def end(self):
        self.is_over = True
        self.thread.join(120)
        assert not self.thread.is_alive() and self.trouble is None, self.trouble
        assert self.rounds > 0
        return self.rounds


def test_cluster_move_under_writes_and_commits(make_redis, make_server):
    """Statements of one bucket, and commits over two, go on while both buckets and the home bucket move from node to node."""
    cluster = Cluster(make_redis, masters=3, replicas=0)
    server = make_server(redis=cluster)
    two_tables(server)
    slots = [slot_of(tag) for tag in (tag_of(cluster, "a"), tag_of(cluster, "b"), "{460}")]

    def update(connection, number):
        connection.run(f"UPDATE a SET v = v + 1, kind = (kind + 1) % 10 WHERE id = {1 + number % ROWS}")

    def transfer(connection, number):
        row = 1 + number * 7 % ROWS
        connection.run("BEGIN")
        connection.run(f"UPDATE a SET v = v - 1000000 WHERE id = {row}")
        connection.run(f"UPDATE b SET v = v + 1000000 WHERE id = {row}")
        connection.run("COMMIT")

    def read(connection, _):
        (count, total), = connection.run(f"SELECT count(*), sum(a.v::bigint + b.v) FROM a JOIN b USING (id)")
        assert count == str(ROWS) and 0 <= int(total) < 1000000, (count, total)
    # A transfer and an update of one row may meet.
    visitors = [Work(server, update), Work(server, transfer, passes=True), Work(server, read)]
    moves, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end or moves < 3:
        slot = slots[moves % 3]
        source = cluster.owner(slot)
        cluster.move(slot, cluster.masters[(cluster.masters.index(source) + 1) % 3])
        moves += 1
    updates, transfers, _ = [visitor.end() for visitor in visitors]
    with server.connect() as connection:
        assert connection.run("SELECT (SELECT sum(v::bigint) FROM a) + (SELECT sum(v::bigint) FROM b)") == [[str(updates)]]
        assert connection.run("SELECT sum(v::bigint) FROM b") == [[str(1000000 * transfers)]]
        check_indexes(connection, "a", "b")
    print(f"  {moves} moves, {updates} updates, {transfers} transfers, longest statement {max(visitor.longest for visitor in visitors):.2f} s", flush=True)


def test_cluster_move_under_copy_and_create_index(make_redis, make_server):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    server = make_server(redis=cluster)
    two_tables(server, rows=10)
    slots = [slot_of(tag) for tag in (tag_of(cluster, "a"), tag_of(cluster, "b"), "{460}")]
    is_over, moves = threading.Event(), []

    def move():
        while not is_over.is_set():
            slot = slots[len(moves) % 3]
            cluster.move(slot, cluster.masters[(cluster.masters.index(cluster.owner(slot)) + 1) % 3])
            moves.append(slot)
            is_over.wait(.1)
    mover = threading.Thread(target=move)
    mover.start()
    try:
        with server.connect() as connection:
            rounds, end = 0, time.monotonic() + SECONDS
            while time.monotonic() < end or rounds < 2 or len(moves) < 3:
                first = 1000 + rounds * ROWS
                connection.query("COPY a FROM STDIN", "".join(f"{i}\t1\t{i % 10}\n" for i in range(first, first + ROWS)).encode())
                connection.run("CREATE INDEX again ON a (v)")
                assert connection.run("SELECT count(*) FROM a WHERE v = 1") == [[str((rounds + 1) * ROWS)]]
                connection.run("DROP INDEX again")
                rounds += 1
            assert connection.run("SELECT count(*) FROM a") == [[str(10 + rounds * ROWS)]]
    finally:
        is_over.set()
        mover.join()
    with server.connect() as connection:
        check_indexes(connection, "a")
    print(f"  {len(moves)} moves, {rounds} times {ROWS} rows", flush=True)


def test_cluster_failover_under_a_client(make_redis, make_server):
    """CLUSTER FAILOVER, then SIGKILL of masters: reads wait, writes fail with errors that say so, or take place once.

    A read may see a write that still waits for the replica, and a killed master takes that one with it. What a writer was told to be
    committed stays."""
    cluster = Cluster(make_redis, masters=3, replicas=1)
    server = make_server(redis=cluster)
    two_tables(server, rows=100)
    tag = tag_of(cluster, "a")

    def count(connection, _):
        connection.run("UPDATE a SET v = v + 1 WHERE id = 1")
    for deed in ("asked", "killed") if not IS_LONG else ("asked", "killed") * 3:
        writer, seen = Work(server, count, passes=True), [0]

        def read(connection, _, deed=deed, writer=writer, seen=seen):
            committed = writer.rounds
            seen.append(int(connection.run("SELECT v FROM a WHERE id = 1")[0][0]))
            assert seen[-1] >= committed, (seen[-2:], committed)
            assert deed == "killed" or seen[-1] >= seen[-2], seen[-2:]
        reader = Work(server, read, passes=True)
        wait_for(lambda writer=writer: writer.rounds > 20 or writer.trouble, what="writes")
        master = cluster.master_of(tag)
        replica = next(node for node in cluster.nodes if node.role() == "slave" and node("ROLE")[2] == master.port)
        rounds = writer.rounds
        if deed == "asked":
            wait_for(lambda replica=replica: try_to_fail_over(replica), what="CLUSTER FAILOVER")
        else:
            master.kill()
        cluster.wait_for_promotion(replica)
        wait_for(lambda writer=writer, rounds=rounds: writer.rounds > rounds + 20 or writer.trouble, what="writes after the failover")
        written, losses = writer.end(), writer.losses
        reader.end()
        if deed == "killed":
            master.start()
            wait_for(lambda master=master: master.role() == "slave", what="the old master as a replica")
        cluster.wait_for_replicas(replica, 1)
        with server.connect() as connection:
            total = int(connection.run("SELECT v FROM a WHERE id = 1")[0][0])
            assert written <= total <= written + losses, (written, total, losses)
            connection.run("UPDATE a SET v = 0 WHERE id = 1")
            check_indexes(connection, "a")
        print(f"  {deed}: {written} writes, {losses} ended with an error", flush=True)


def try_to_fail_over(replica):
    try:
        return replica("CLUSTER", "FAILOVER") == "OK"
    except Exception:  # noqa: BLE001  it does not know its master's state yet
        return replica.role() == "master"


def test_a_slow_node_holds_up_only_its_own_buckets(make_redis, make_server):
    cluster = Cluster(make_redis, masters=3, replicas=0, node_timeout=15_000)
    server = make_server("--threads", "1", redis=cluster)
    two_tables(server, rows=20)
    tags = {name: tag_of(cluster, name) for name in "ab"}
    for name, node in (("a", cluster.masters[1]), ("b", cluster.masters[2])):
        if cluster.master_of(tags[name]) is not node:
            cluster.move(slot_of(tags[name]), node)
    slow = cluster.master_of(tags["a"])
    with server.connect() as connection, server.connect() as other:
        connection.run("SELECT count(*) FROM a, b")
        slow.signal(signal.SIGSTOP)
        try:
            waiting = Work(server, lambda session, _: session.run("SELECT v FROM a WHERE id = 1"))
            begun = time.monotonic()
            for number in range(1, 11):
                assert other.run(f"SELECT v FROM b WHERE id = {number}") == [["0"]]
                other.run(f"UPDATE b SET v = 1 WHERE id = {number}")
            assert time.monotonic() - begun < 5 and waiting.rounds == 0
        finally:
            slow.signal(signal.SIGCONT)
        wait_for(lambda: waiting.rounds > 0 or waiting.trouble, what="an answer of the slow node")
        waiting.end()


def test_a_lost_slot_ends_in_57P03(make_redis, make_server):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    server = make_server("--threads", "1", *options("[redis]\nmove_timeout = 1\n"), redis=cluster)
    two_tables(server, rows=20)
    slot = slot_of(tag_of(cluster, "b"))  # a is in the home bucket
    owner = cluster.owner(slot)
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM a JOIN b USING (id)") == [["20"]]
        for node in cluster.nodes:
            node("CLUSTER", "DELSLOTS", slot)
        connection.run("UPDATE a SET v = 1 WHERE id = 1")
        for sql in ("SELECT v FROM b WHERE id = 1", "UPDATE b SET v = 1 WHERE id = 1", "SELECT count(*) FROM a JOIN b USING (id)"):
            begun = time.monotonic()
            error = connection.run_error(sql)
            assert error["C"] == "57P03" and f"slot {slot}" in error["M"], error
            assert time.monotonic() - begun < 20
        for node in cluster.nodes:
            node("CLUSTER", "SETSLOT", slot, "NODE", owner.id) if node is not owner else node("CLUSTER", "ADDSLOTS", slot)
        run_when_it_is_back(connection, "UPDATE b SET v = 1 WHERE id = 1")
        assert connection.run("SELECT sum(v) FROM b") == [["1"]]


def test_a_signal_ends_the_server_although_a_commit_waits_for_a_lost_slot(make_redis, make_server):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    server = make_server("--threads", "1", redis=cluster)
    two_tables(server, rows=20)
    home, other = tag_of(cluster, "a"), tag_of(cluster, "b")
    for node in cluster.nodes:
        node("CLUSTER", "DELSLOTS", slot_of(other))
    # Commits whose owners have ended: the sweeper asks the bucket that no node has.
    buckets = sorted(slot_of(tag) * 1024 // 16384 for tag in (home, other))
    for number in range(4):
        name = f"{number:016x}.{buckets[0]},{buckets[1]}.16400"
        cluster.owner(slot_of(home))("HSET", f"{home}redquel:prepared", name, "")
    wait_for(lambda: cluster.owner(slot_of(home))("HGET", f"{home}redquel:commit_numbers", "touched"), what="the sweeper's first question")
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 15


def test_a_lost_slot_holds_up_its_own_tables_alone(make_redis, make_server):
    """Also in a process that starts while the slot is lost, and where definitions change."""
    cluster = Cluster(make_redis, masters=3, replicas=0)
    patience = 12
    servers = [make_server("--threads", "1", *options(f"[redis]\nmove_timeout = {patience}\n"), redis=cluster)]
    two_tables(servers[0], rows=20)
    slot = slot_of(tag_of(cluster, "b"))  # a is in the home bucket
    owner = cluster.owner(slot)
    with servers[0].connect() as connection:
        connection.run("CREATE TABLE spread (id int PRIMARY KEY, v int) WITH (buckets = 64); INSERT INTO spread SELECT n, 0 FROM generate_series(1, 200) n")
        for node in cluster.nodes:
            node("CLUSTER", "DELSLOTS", slot)
        servers.append(make_server("--threads", "1", *options(f"[redis]\nmove_timeout = {patience}\n"), redis=cluster))
        time.sleep(3)  # each process notices
        for server in servers:
            with server.connect() as session:
                for sql in ("SELECT sum(v) FROM a", "UPDATE a SET v = v + 1 WHERE id = 1", f"CREATE TABLE c{server.port} (id int PRIMARY KEY)",
                            f"INSERT INTO c{server.port} VALUES (1)", "BEGIN", "UPDATE a SET v = v + 1 WHERE id = 2", "COMMIT", f"DROP TABLE c{server.port}",
                            "SELECT v FROM a WHERE id = 1"):
                    begun = time.monotonic()
                    session.run(sql)
                    assert time.monotonic() - begun < patience * .8, sql
                begun = time.monotonic()
                error = session.run_error("SELECT v FROM b WHERE id = 1")
                assert error["C"] == "57P03" and f"slot {slot}" in error["M"], error
                assert time.monotonic() - begun < 3 * patience
        for node in cluster.nodes:
            node("CLUSTER", "SETSLOT", slot, "NODE", owner.id) if node is not owner else node("CLUSTER", "ADDSLOTS", slot)
        time.sleep(3)  # each process notices, and has its lease in that bucket, too
        for server in servers:
            with server.connect() as session:
                run_when_it_is_back(session, "UPDATE b SET v = v + 1 WHERE id = 1")
                session.run("BEGIN")
                session.run("UPDATE b SET v = v + 1 WHERE id IN (1, 2)")
                session.run("UPDATE spread SET v = v + 1")
                session.run("COMMIT")
        assert connection.run("SELECT sum(v) FROM b") == [["6"]]
        assert connection.run("SELECT sum(v) FROM a") == [["4"]]
        assert connection.run("SELECT sum(v) FROM spread") == [["400"]]
        assert [row for table in ("a", "b", "spread") for row in connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")] == []


def test_too_few_replicas(make_redis, make_server):
    """A commit waits for its replicas. A cancelled wait says that the commit is there locally; over several buckets it takes place once they are back."""
    cluster = Cluster(make_redis, masters=3, replicas=1, node_timeout=15_000)
    server = make_server("--threads", "1", redis=cluster)
    two_tables(server, rows=20)
    master = cluster.master_of(tag_of(cluster, "a"))
    replica = master.replicas[0]
    with server.connect() as connection, server.connect() as other:
        connection.run("UPDATE a SET v = 1 WHERE id = 1")
        replica.signal(signal.SIGSTOP)
        try:
            connection.send(query("UPDATE a SET v = 2 WHERE id = 1"))
            wait_for(lambda: other.run("SELECT v FROM a WHERE id = 1") == [["2"]], what="the commit at the master")
            other.run(f"SELECT pg_cancel_backend({connection.process_id})")
            result = connection.results()[-1]
            assert result.error is None and "canceling wait for synchronous replication" in result.notices[0]["M"], (result.error, result.notices)
            connection.run("BEGIN")
            connection.run("UPDATE a SET v = 3 WHERE id = 2")
            connection.run("UPDATE b SET v = 3 WHERE id = 2")
            connection.send(query("COMMIT"))
            time.sleep(.5)
        finally:
            replica.signal(signal.SIGCONT)
        assert connection.results()[-1].error is None
        assert other.run("SELECT a.v, b.v FROM a JOIN b USING (id) WHERE id = 2") == [["3", "3"]]


def test_an_empty_replica_that_was_promoted_is_not_written(make_redis, make_server):
    """The catalog is gone with the data: redquel refuses to found a new database there."""
    cluster = Cluster(make_redis, masters=3, replicas=1)
    server = make_server(redis=cluster)
    two_tables(server, rows=20)
    home = cluster.master_of("{460}redquel:version")
    replica = home.replicas[0]
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM a") == [["20"]]
        home.kill()
        cluster.wait_for_promotion(replica)
        replica("FLUSHALL")  # as a replica whose first synchronisation had not begun
        errors = set()
        for sql in ("CREATE TABLE c (id int PRIMARY KEY)", "CREATE TABLE d (id int PRIMARY KEY)"):
            try:
                connection.run(sql)
            except ServerError as error:
                errors.add(error.sqlstate)
        print(f"  errors {sorted(errors)}, keys {replica('KEYS', '*redquel:*')}", flush=True)
        assert errors and errors <= {"57P03", "08006", "40001"}, errors
        assert not replica("EXISTS", "{460}redquel:catalog")
