"""redquel behind sentinels: failovers, an old master that comes back, sentinels that lie, hang or answer garbage."""
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import threading

from harness import bank
from harness.pgwire import query
from harness.processes import temporary_folder
from harness.sentinels import NAME, Group
from harness.servers import Look, connect_when_it_is_back, run_when_it_is_back
from harness.visitors import end as end_visits
from harness.waiting import wait_for

SLOW = True
LIMIT = 600


def run_redquel(build, *words, **options):
    return subprocess.run([os.path.join(build, "redquel"), *words], capture_output=True, text=True, timeout=300, **options)


def test_statements_run_after_failovers(make_redis, make_server):
    """By SENTINEL FAILOVER and by SIGKILL of the master; the old master comes back as a replica and is not written."""
    with Group(make_redis) as group:
        server = make_server(redis=group)
        with server.connect() as connection, server.connect() as idle:
            connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); CREATE INDEX ON t (v); INSERT INTO t VALUES (0, 0)")
            assert idle.run("SELECT count(*) FROM t") == [["1"]]
            with group.master().connect() as raw:
                raw("WAIT", 2, 60000)
            group.fail_over()
            run_when_it_is_back(connection, "INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING")
            assert run_when_it_is_back(idle, "SELECT id FROM t ORDER BY id") == [["0"], ["1"]]
            old = group.master()
            with old.connect() as raw:
                raw("WAIT", 2, 60000)
            old.kill()
            new = group.wait_for_another(old)
            run_when_it_is_back(connection, "INSERT INTO t VALUES (2, 2) ON CONFLICT DO NOTHING")
            old.start()
            run_when_it_is_back(connection, "INSERT INTO t VALUES (3, 3) ON CONFLICT DO NOTHING")
            wait_for(lambda: old.role() == "slave", what="the old master as a replica")
            assert run_when_it_is_back(idle, "SELECT id FROM t ORDER BY id") == [[str(i)] for i in range(4)]
            assert connection.run("SELECT * FROM redquel.check_indexes('t')") == []
            with new.connect() as raw:
                assert raw("EXISTS", "t:3") == 1


def test_answers_of_a_deposed_master_are_not_used(make_redis, make_server):
    with Group(make_redis) as group:
        first, second = make_server("--threads", "1", redis=group), make_server("--threads", "1", redis=group)
        with first.connect() as connection, second.connect() as other:
            connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)")
            other.run("SELECT v FROM t")
            with group.master().connect() as raw:
                raw("WAIT", 2, 60000)
            old = group.master()
            old.signal(signal.SIGSTOP)
            try:
                new = group.wait_for_another(old)
                run_when_it_is_back(other, "UPDATE t SET v = 7 WHERE id = 1")
            finally:
                old.signal(signal.SIGCONT)
            assert run_when_it_is_back(connection, "SELECT v FROM t WHERE id = 1") == [["7"]]
            run_when_it_is_back(connection, "UPDATE t SET v = 8 WHERE id = 1")
            assert run_when_it_is_back(other, "SELECT v FROM t WHERE id = 1") == [["8"]]
            with new.connect() as raw:
                assert raw("HGET", "t:1", "v") == "8"


def test_answers_are_proven_without_messages(make_redis, make_server):
    """The sentinels' messages do not arrive, and the old master answers before the sentinels make it a replica."""
    with Group(make_redis) as group:
        server = make_server("--threads", "1", redis=group)
        with server.connect() as connection:
            connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)")
            with group.master().connect() as raw:
                raw("WAIT", 2, 60000)
            old = group.master()
            server.process.send_signal(signal.SIGSTOP)  # it hears nothing of what follows
            new = group.fail_over()
            wait_for(lambda: old.role() == "slave", what="the old master as a replica")
            with new.connect() as raw:
                raw("HSET", "t:1", "v", "9")
            server.process.send_signal(signal.SIGCONT)
            assert run_when_it_is_back(connection, "SELECT v FROM t WHERE id = 1") == [["9"]]


class Hostile:
    """A sentinel that answers every client with these bytes, or never."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.clients = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.clients.append(client)
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        try:
            while self.answer and client.recv(4096):
                client.sendall(self.answer)
        except OSError:
            pass

    def stop(self):
        for end in (self.listener, *self.clients):
            end.close()


def bulk(*words):
    return f"*{len(words)}\r\n".encode() + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)


def liar(port):
    answer = bulk("127.0.0.1", str(port)) + bulk("config-epoch", "18446744073709551615", "down-after-milliseconds", "0")
    return Hostile(answer)


GARBAGE = (b"", b"HTTP/1.1 200 OK\r\n\r\n", b"$999999999\r\nx", b"*2147483647\r\n", b"*1\r\n" * 2000, b"+OK\r\n" * 3, b"*2\r\n$1\r\nx\r\n$2\r\n99\r\n" * 2,
           bulk("127.0.0.1", "0") * 2, bulk("127.0.0.1", "99999") * 2, bulk("a\nb", "1") * 2, b"x" * 1_000_000)


def test_hostile_sentinels(make_redis, make_server):
    """Three good ones are enough, whatever a liar and others say. Alone, the others make nothing but an error."""
    stranger = make_redis("--port", "0")
    other = Group(make_redis, replicas=0)
    with Group(make_redis) as group, other:
        hostile = [liar(other.nodes[0].port), *(Hostile(answer) for answer in GARBAGE)]
        try:
            places = ",".join(f"127.0.0.1:{one.port}" for one in (*hostile, *group.sentinels))
            server = make_server("--threads", "1", redis=WithUrl(group, f"sentinel://{places}/{NAME}"))
            with connect_when_it_is_back(server) as connection:
                run_when_it_is_back(connection, "CREATE TABLE t (id int PRIMARY KEY)")
                run_when_it_is_back(connection, "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING")
            with group.connect() as raw:
                assert raw("EXISTS", "t:1") == 1
            with other.connect() as raw:
                assert raw("EXISTS", "t:1") == 0
            places = ",".join(f"127.0.0.1:{one.port}" for one in hostile[1:])
            alone = make_server("--threads", "1", redis=WithUrl(stranger, f"sentinel://{places}/{NAME}"))
            error = None
            try:
                alone.connect().close()
            except Exception as failure:
                error = failure
            assert error is not None and error.sqlstate in ("08006", "57P03"), error
        finally:
            for one in hostile:
                one.stop()


class WithUrl:
    def __init__(self, redis, url):
        self.redis, self.url = redis, url

    def connect(self):
        return self.redis.connect()


def test_commands_take_the_url(make_redis, make_server, build):
    with Group(make_redis, replicas=1) as group:
        done = run_redquel(build, "init", "--redis", group.url, "--pwfile", "/dev/stdin", input="secret\n")
        assert done.returncode == 0, done.stderr
        done = run_redquel(build, "check", "--redis", group.url)
        assert "could not" not in done.stdout and "0 errors" in done.stdout, done.stdout
        done = run_redquel(build, "discover", "--redis", group.url)
        assert done.returncode == 0, done.stderr
        sentinel = group.sentinels[0].port
        done = run_redquel(build, "check", "--redis", f"redis://127.0.0.1:{sentinel}")
        assert "sentinel://" in done.stdout, done.stdout
        with group.connect() as raw:
            raw("HSET", "thing:1", "name", "a")
        look = Look(build, group, "--threads", "1").start()
        try:
            with look.connect() as connection:
                assert connection.run("SELECT name FROM thing") == [["a"]]
        finally:
            look.stop()


def test_logins(make_redis, make_server):
    """Passwords of the Redis and of the sentinels differ."""
    with Group(make_redis, replicas=1) as group:
        for node in group.nodes:
            with node.connect() as raw:
                raw("ACL", "SETUSER", "app", "on", ">data", "~*", "&*", "+@all")
        for sentinel in group.sentinels:
            sentinel("ACL", "SETUSER", "watcher", "on", ">watch", "&*", "+@all")
            sentinel("ACL", "SETUSER", "default", "resetpass", ">closed")
        url = group.url.replace("sentinel://", "sentinel://app:data@") + "?db=3&sentinel_user=watcher&sentinel_password=watch"
        server = make_server("--threads", "1", redis=WithUrl(group, url))
        with server.connect() as connection:
            connection.run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
        with group.nodes[0].connect() as raw:
            raw("SELECT", 3)
            assert raw("EXISTS", "t:1") == 1
        assert "watch" not in server.process.log() and "data@" not in server.process.log()


class FailoverKiller:
    """Moves the master while clients work: by SENTINEL FAILOVER, by SIGKILL, and by SIGSTOP with SIGCONT after the failover."""

    def __init__(self, group):
        self.group, self.deeds = group, []

    def strike(self, deed):
        old = self.group.master()
        if deed == "asked":
            self.group.fail_over()
        elif deed == "killed":
            old.kill()
            self.group.wait_for_another(old)
            old.start()
        else:
            old.signal(signal.SIGSTOP)
            try:
                self.group.wait_for_another(old)
            finally:
                old.signal(signal.SIGCONT)
        wait_for(lambda: old.role() == "slave", what="the old master as a replica")
        with self.group.master().connect() as raw:
            wait_for(lambda: raw.info("replication")["connected_slaves"] == "2", what="the replicas")
        self.deeds.append(deed)


def with_replicas(count, timeout=60):
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"[redis]\nsynchronous_replicas = {count}\nreplica_timeout = {timeout}\n[limits]\nscript_rows = 300\n")
    return "--config", path


def test_no_acknowledged_commit_is_lost(make_redis, make_server, random):
    """Both replicas have each commit before it is acknowledged, so whichever is promoted has it. Totals hold in every read, too."""
    with Group(make_redis) as group:
        servers = [make_server("--threads", "1", *with_replicas(2), redis=group) for _ in range(2)]
        bank.set_up(servers[0])
        clients = [bank.Client(servers, number, "READ COMMITTED", random, timeout=120) for number in range(4)]
        readers = [bank.Reader(servers, 0, "READ COMMITTED", timeout=120)]
        for visitor in clients + readers:
            visitor.start()
        killer = FailoverKiller(group)
        for deed in ("asked", "killed", "stopped"):
            before = [len(client.acknowledged) for client in clients]
            wait_for(lambda: any(len(client.acknowledged) > count for client, count in zip(clients, before)) or any(v.trouble for v in clients + readers),
                     what="transfers")
            killer.strike(deed)
        before = sum(len(client.acknowledged) for client in clients)
        wait_for(lambda: sum(len(client.acknowledged) for client in clients) > before or any(v.trouble for v in clients + readers), what="transfers")
        end_visits(clients + readers, 240)
        kept = bank.check(servers[0], clients)
        print(f"  {kept} transfers, {sum(len(client.unknown) for client in clients)} of unknown outcome, {readers[0].sums} sums; {killer.deeds}", flush=True)


def test_planned_failovers_lose_no_acknowledged_commit(make_redis, make_server, random):
    """By default. For a second after a promotion the other replica follows the old master, and confirms what the new one never gets."""
    rounds = 40 if os.environ.get("LONG_TESTS") else 4
    for replicas in (2, 1):
        # Sentinels that find a busy master silent would promote replicas which have just lost their connection: only the asked failovers are planned.
        with Group(make_redis, replicas=replicas, down_after=6000) as group:
            servers = [make_server("--threads", "1", redis=group) for _ in range(2)]
            bank.set_up(servers[0])
            clients = [bank.Client(servers, number, "READ COMMITTED", random, timeout=120) for number in range(6)]
            for client in clients:
                client.start()
            for _ in range(rounds):
                before = sum(len(client.acknowledged) for client in clients)
                wait_for(lambda: sum(len(client.acknowledged) for client in clients) > before + 20 or any(client.trouble for client in clients),
                         what="transfers")
                old = group.master()
                new = group.fail_over()
                # Sentinels may promote an old master again before it has become a replica, and nothing that was written since is there.
                wait_for(lambda: len([line for line in attached(new) if "state=online" in line]) == replicas and old.role() == "slave", what="the replicas")
            before = sum(len(client.acknowledged) for client in clients)
            wait_for(lambda: sum(len(client.acknowledged) for client in clients) > before or any(client.trouble for client in clients), what="transfers")
            end_visits(clients, 240)
            try:
                kept = bank.check(servers[0], clients)
            except AssertionError as failure:
                logs = "\n".join(line for server in servers for line in server.process.log().splitlines()[-60:])
                raise AssertionError(f"{failure}\n{group.events()}\n{logs}")
            print(f"  {replicas} replicas, {rounds} failovers: {kept} transfers", flush=True)


class Tap:
    """A client that reads the stream of replication, as a tool does. `acknowledged`: the offset that it acknowledges once a second; None: none."""

    def __init__(self, node, port, host=None, acknowledged=None):
        self.socket = socket.create_connection(("127.0.0.1", node.port))
        self.acknowledged, self.stopped = acknowledged, threading.Event()
        if host:
            self.ask("REPLCONF", "ip-address", host)
        if port:
            self.ask("REPLCONF", "listening-port", str(port))
        self.ask("REPLCONF", "capa", "eof", "capa", "psync2")
        self.socket.sendall(bulk("PSYNC", "?", "-1"))
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.read, self.acknowledge)]
        for thread in self.threads:
            thread.start()

    def ask(self, *words):
        self.socket.sendall(bulk(*words))
        assert self.socket.recv(4096).startswith(b"+OK")

    def read(self):
        with contextlib.suppress(OSError):
            while self.socket.recv(65536):
                pass

    def acknowledge(self):
        with contextlib.suppress(OSError):
            while not self.stopped.wait(0.5):
                if self.acknowledged is not None:
                    self.socket.sendall(bulk("REPLCONF", "ACK", str(self.acknowledged)))

    def stop(self):
        self.stopped.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.socket.close()


def attached(redis):
    with redis.connect() as raw:
        facts = raw.info("replication")
        return [facts[f"slave{number}"] for number in range(int(facts["connected_slaves"]))]


def test_tools_that_read_the_stream_delay_no_commit(make_redis, make_server, build):
    """redis-cli --replica, a tool with a port that acknowledges nothing, one whose offset stays, and one whose name says that it is no replica."""
    group = Group(make_redis, replicas=0, sentinels=0)
    [node] = group.nodes
    server = make_server("--threads", "1", redis=node)
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
        stream = subprocess.Popen(["redis-cli", "-p", str(node.port), "--replica"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        taps = [Tap(node, 7001), Tap(node, 7002, acknowledged=1), Tap(node, 7003, host="redquel-stream.invalid", acknowledged=10**9)]
        try:
            wait_for(lambda: sum("state=online" in line for line in attached(node)) == 4 and any("offset=1," in line for line in attached(node)), what="the tools")
            # One that has acknowledged something delays commits until it is seen that it does not follow.
            for number in range(30):
                connection.run(f"INSERT INTO t VALUES ({number})")
            assert node.connect()("INFO", "replication").count("state=online") == 4
            checked = subprocess.run([f"{build}/redquel", "check", "--redis", node.url], capture_output=True, text=True, check=False)
            assert "does not count: it has no port" in checked.stdout and "its name says that it is no replica" in checked.stdout, checked.stdout
            numbers = itertools.count(30)
            wait_for(lambda: connection.run(f"INSERT INTO t VALUES ({next(numbers)})") is not None and "does not count" in server.process.log(),
                     what="a line of the log", pause=0.5)
        finally:
            for tap in taps:
                tap.stop()
            stream.kill()
            stream.wait()


def test_a_silent_replica_that_redis_has_dropped_delays_no_commit(make_redis, make_server):
    group = Group(make_redis, replicas=2, sentinels=0, options=("--repl-timeout", "3"))
    server = make_server("--threads", "1", redis=group.nodes[0])
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
        numbers = itertools.count(10)
        wait_for(lambda: connection.run(f"INSERT INTO t VALUES ({next(numbers)})") is not None and "wait for 2 replicas" in server.process.log(),
                 what="both replicas", pause=0.3)
        group.nodes[1].signal(signal.SIGSTOP)
        try:
            connection.run("INSERT INTO t VALUES (1)")  # waits until Redis has dropped it, and some seconds more
            assert len(attached(group.nodes[0])) == 1
            connection.run("INSERT INTO t VALUES (2)")
        finally:
            group.nodes[1].signal(signal.SIGCONT)
        assert "commits wait for 1 replicas" in server.process.log(), server.process.log()


def test_commits_wait_for_replicas(make_redis, make_server):
    """Of a single Redis, too. Reads, locks and statements that fail do not wait. A cancelled wait leaves the commit where it is, as in PostgreSQL."""
    group = Group(make_redis, replicas=1, sentinels=0)
    server = make_server("--threads", "1", redis=group.nodes[0])
    with server.connect() as connection, server.connect() as other:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)")
        wait_for(lambda: connection.run("UPDATE t SET v = 0 WHERE id = 1") is not None and "wait for 1 replicas" in server.process.log(),
                 what="the replica", pause=0.3)
        group.nodes[1].signal(signal.SIGSTOP)
        try:
            connection.send(query("UPDATE t SET v = 1 WHERE id = 1"))
            wait_until_shown(connection, other)
            assert other.run("SELECT v FROM t") == [["1"]]
            assert other.run_error("INSERT INTO t VALUES (1, 5)")["C"] == "23505"
            other.run(f"SELECT pg_cancel_backend({connection.process_id})")
            check_cancelled_wait(connection)
            connection.run("BEGIN; UPDATE t SET v = 2 WHERE id = 1")
            connection.run("SET LOCAL statement_timeout = 1000")
            connection.send(query("COMMIT"))
            check_cancelled_wait(connection)
            connection.send(query("CREATE TABLE u (id int)"))
            wait_until_shown(connection, other)
            other.run(f"SELECT pg_cancel_backend({connection.process_id})")
            check_cancelled_wait(connection)
            connection.run("SET synchronous_commit = off")
            connection.run("UPDATE t SET v = 3 WHERE id = 1")
            connection.run("RESET synchronous_commit")
            assert other.run("SELECT v FROM t") == [["3"]]
            connection.send(query("UPDATE t SET v = 4 WHERE id = 1"))
            wait_until_shown(connection, other)
        finally:
            group.nodes[1].signal(signal.SIGCONT)
        connection.results()
        run_when_it_is_back(connection, "UPDATE t SET v = 5 WHERE id = 1")
        with group.nodes[1].connect() as replica:
            assert replica("HGET", "t:1", "v") == "5"


def test_a_large_commit_whose_confirmation_is_lost_is_not_refused(make_redis, make_server):
    """It took place, so no definite error may come."""
    group = Group(make_redis, replicas=1, sentinels=0)
    server = make_server("--threads", "1", *with_replicas(1), redis=group.nodes[0])
    with server.connect() as connection, server.connect() as other:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 1000) g")
        connection.run("BEGIN; UPDATE t SET v = 1")
        group.nodes[1].signal(signal.SIGSTOP)
        try:
            connection.send(query("COMMIT"))
            wait_until_shown(connection, other)
            group.nodes[0].end_commit_connections()
            [result] = connection.results()
            assert result.sqlstate == "08007", result.error
        finally:
            group.nodes[1].signal(signal.SIGCONT)
        assert run_when_it_is_back(connection, "SELECT count(*) FROM t WHERE v = 1") == [["1000"]]


def wait_until_shown(connection, other):
    shown = f"SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = {connection.process_id}"
    wait_for(lambda: other.run(shown) == [["IPC", "SyncRep"]], what="a commit that waits for replicas")


def check_cancelled_wait(connection):
    result = connection.results()[-1]
    assert result.error is None, result.error
    assert [notice["C"] for notice in result.notices] == ["01000"], result.notices
    assert "canceling wait for synchronous replication" in result.notices[0]["M"], result.notices


def test_a_limited_wait_ends_with_an_error(make_redis, make_server):
    """The error says that the commit took place. A statement that the script refused has its own error."""
    group = Group(make_redis, replicas=1, sentinels=0)
    server = make_server("--threads", "1", *with_replicas(1, timeout=2), redis=group.nodes[0])
    with server.connect() as connection, server.connect() as other:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE); INSERT INTO t VALUES (1, 0)")
        group.nodes[1].signal(signal.SIGSTOP)
        try:
            error = connection.run_error("UPDATE t SET v = 1 WHERE id = 1")
            assert error["C"] == "08007" and "the commit took place" in error["M"], error
            assert connection.run_error("INSERT INTO t VALUES (2, 1)")["C"] == "23505"
            connection.run("BEGIN; UPDATE t SET v = 2 WHERE id = 1")
            error = connection.run_error("COMMIT")
            assert error["C"] == "08007" and "the commit took place" in error["M"], error
            assert other.run("SELECT v FROM t") == [["2"]]
        finally:
            group.nodes[1].signal(signal.SIGCONT)
        run_when_it_is_back(connection, "UPDATE t SET v = 3 WHERE id = 1")
