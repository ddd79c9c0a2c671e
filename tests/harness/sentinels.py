"""A master, its replicas and three sentinels, on ports of this machine."""
import socket

from harness.processes import Process, temporary_folder
from harness.resp import RedisConnection, RedisError
from harness.waiting import wait_for

NAME = "mymaster"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """A Redis with a port."""

    def __init__(self, redis, port):
        self.redis, self.port = redis, port

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def connect(self):
        return self.redis.connect()

    def kill(self):
        self.redis.kill()

    def start(self):
        self.redis.start()

    def signal(self, number):
        self.redis.process.send_signal(number)

    def end_commit_connections(self):
        """Closes the connections whose commits wait for replicas."""
        with self.connect() as connection:
            for line in connection("CLIENT", "LIST").splitlines():
                facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
                if facts["name"].endswith("-commits"):
                    connection("CLIENT", "KILL", "ID", facts["id"])

    def role(self):
        """The node's role; None if the node closes the connection: sentinels let a node that they reconfigure close all."""
        try:
            with self.connect() as connection:
                return connection("ROLE")[0]
        except (ConnectionResetError, BrokenPipeError):
            return None


class Sentinel:
    def __init__(self, master_port, down_after):
        self.folder, self.port = temporary_folder(), free_port()
        self.socket_path = f"{self.folder}/s.sock"
        path = f"{self.folder}/sentinel.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"port {self.port}\nunixsocket {self.socket_path}\ndir {self.folder}\n"
                       f"sentinel monitor {NAME} 127.0.0.1 {master_port} 2\nsentinel down-after-milliseconds {NAME} {down_after}\n"
                       f"sentinel failover-timeout {NAME} 5000\nsentinel parallel-syncs {NAME} 2\n")
        self.process = Process(["redis-server", path, "--sentinel"], f"{self.folder}/log")
        self.process.wait_for_line(r"\+monitor master")

    def __call__(self, *words):
        with RedisConnection(self.socket_path) as connection:
            return connection(*words)

    def master_port(self):
        return int(self("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def facts(self):
        words = self("SENTINEL", "MASTER", NAME)
        return dict(zip(words[::2], words[1::2]))


class Group:
    """The Redis as redquel gets it: by the URL of its sentinels."""

    def __init__(self, make_redis, replicas=2, down_after=1500, options=(), sentinels=3):
        first = free_port()
        self.nodes = []
        for number in range(replicas + 1):
            port = free_port() if number else first
            follows = ("--replicaof", "127.0.0.1", str(first)) if number else ()
            redis = make_redis("--port", str(port), "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", *follows, *options)
            self.nodes.append(Node(redis, port))
        self.wait_for_replicas(replicas)
        self.sentinels = [Sentinel(first, down_after) for _ in range(sentinels)]
        wait_for(lambda: all(self._is_complete(sentinel, replicas) for sentinel in self.sentinels), what="the sentinels")

    @staticmethod
    def _is_complete(sentinel, replicas):
        facts = sentinel.facts()
        return (facts["num-slaves"], facts["num-other-sentinels"], facts["flags"]) == (str(replicas), "2", "master")

    def wait_for_replicas(self, count):
        """Waits until so many replicas of the first node are connected."""
        with self.nodes[0].connect() as connection:
            wait_for(lambda: connection.info("replication").get("connected_slaves") == str(count) and
                     all("state=online" in connection.info("replication")[f"slave{number}"] for number in range(count)), what="the replicas")

    @property
    def url(self):
        return f"sentinel://{','.join(f'127.0.0.1:{sentinel.port}' for sentinel in self.sentinels)}/{NAME}"

    def master(self):
        """The node that most sentinels name."""
        ports = [sentinel.master_port() for sentinel in self.sentinels]
        port = max(ports, key=ports.count)
        return next(node for node in self.nodes if node.port == port)

    def connect(self):
        return self.master().connect()

    def wait_for_another(self, node):
        """Waits until the sentinels name another master, which says so itself; returns it."""
        def is_other():
            master = self.master()
            return master is not node and master.role() == "master" and len({sentinel.master_port() for sentinel in self.sentinels}) == 1
        wait_for(is_other, what="a failover")
        return self.master()

    def fail_over(self):
        """SENTINEL FAILOVER, asked for until the sentinels begin one; returns the new master."""
        old = self.master()

        def has_begun():
            try:
                return self.sentinels[0]("SENTINEL", "FAILOVER", NAME) == "OK"
            except RedisError as error:  # another one is under way, or no replica is good enough yet
                assert "INPROG" in str(error) or "NOGOODSLAVE" in str(error), error
                return old is not self.master()
        wait_for(has_begun, what="SENTINEL FAILOVER", pause=0.2)
        return self.wait_for_another(old)

    def events(self):
        """What the sentinels have written down, for an assertion that fails."""
        lines = [f"{line.rstrip()} (sentinel {sentinel.port})" for sentinel in self.sentinels for line in sentinel.process.log().splitlines() if " # " in line or " * +" in line]
        return "\n".join(sorted(lines, key=lambda line: line.split(" ", 1)[1]))

    def stop(self):
        for sentinel in self.sentinels:
            sentinel.process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
