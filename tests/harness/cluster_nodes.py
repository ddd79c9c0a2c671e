"""A Redis Cluster on ports of this machine, each master with a range of slots; and the scripts of a build."""
import binascii
import os
import re
import socket

from harness.resp import RedisError
from harness.sentinels import Node, free_port
from harness.waiting import wait_for

SLOTS = 16384


def crc16(text):
    """The checksum of XMODEM, by which Redis places keys, and redquel rows and unique values."""
    return binascii.crc_hqx(text.encode(), 0)


def slot_of(key):
    """CRC16 of the key, or of its tag."""
    tag = re.match(r"[^{]*\{([^}]+)\}", key)
    return crc16(tag[1] if tag else key) % SLOTS


class Nodes:
    """Masters without replicas. Each write is in the append-only file before it is answered, so a killed node comes back with all of it."""

    def __init__(self, make_redis, count=3):
        self.nodes = []
        for _ in range(count):
            port = free_port_of_cluster()
            self.nodes.append(make_redis("--port", str(port), "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--appendonly", "yes",
                                         "--appendfsync", "always", "--cluster-require-full-coverage", "no"))
            self.nodes[-1].port = port
        self.connections = [node.connect() for node in self.nodes]
        share = SLOTS // count + 1
        for number, connection in enumerate(self.connections):
            connection("CLUSTER", "ADDSLOTSRANGE", str(number * share), str(min((number + 1) * share, SLOTS) - 1))
            connection("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
        for node in self.nodes[1:]:
            self.connections[0]("CLUSTER", "MEET", "127.0.0.1", str(node.port))
        for connection in self.connections:
            wait_for(lambda connection=connection: f"cluster_known_nodes:{count}" in connection("CLUSTER", "INFO")
                     and f"cluster_slots_assigned:{SLOTS}" in connection("CLUSTER", "INFO")
                     and "cluster_state:ok" in connection("CLUSTER", "INFO"))
        self.share = share

    def node_of(self, key):
        return slot_of(key) // self.share

    def connection(self, key):
        return self.connections[self.node_of(key)]

    def restart(self, number):
        """Kills a node and starts it again over its data."""
        self.connections[number].close()
        self.nodes[number].kill()
        self.nodes[number].start()
        self.connections[number] = self.nodes[number].connect()
        wait_for(lambda: "cluster_state:ok" in self.connections[number]("CLUSTER", "INFO"))


class ClusterNode(Node):
    """A node: how the cluster knows it."""

    def __init__(self, redis, port):
        super().__init__(redis, port)
        with self.connect() as connection:
            self.id = connection("CLUSTER", "MYID")
        self.replicas = []  # of the master as which it began

    def __call__(self, *words):
        with self.connect() as connection:
            return connection(*words)

    def facts(self):
        return dict(line.split(":", 1) for line in self("CLUSTER", "INFO").split())


class RoutedConnection:
    """Runs each command at the master of its first key."""

    def __init__(self, cluster):
        self.cluster, self.nodes, self.owners = cluster, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for connection in self.nodes.values():
            connection.close()

    def __call__(self, *words):
        slot = slot_of(words[1])
        node = self.owners.get(slot) or self.cluster.owner(slot)
        self.owners[slot] = node
        if node not in self.nodes:
            self.nodes[node] = node.connect()
        try:
            return self.nodes[node](*words)
        except RedisError as error:
            if not str(error).startswith("MOVED"):
                raise
            del self.owners[slot]
            return self(*words)


class Cluster:
    """The cluster as redquel gets it: by the URL of its masters. Masters have equal ranges of slots, in order. `tls`: the options of certificates
    with which the nodes speak nothing but TLS."""

    def __init__(self, make_redis, masters=3, replicas=1, node_timeout=1500, options=(), tls=()):
        self.nodes, self.node_timeout, self.tls = [], node_timeout, tls
        self.login = ""  # "user:password@"
        for number in range(masters * (1 + replicas)):
            port = free_port_of_cluster()
            place = ("--port", "0", "--tls-port", str(port), "--tls-cluster", "yes", "--tls-replication", "yes", *tls) if tls else ("--port", str(port))
            redis = make_redis(*place, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
                               "--cluster-node-timeout", str(node_timeout), "--cluster-require-full-coverage", "no",
                               "--cluster-replica-validity-factor", "0", "--cluster-migration-barrier", "100",
                               "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", *options)
            self.nodes.append(ClusterNode(redis, port))
        self.masters, spare = self.nodes[:masters], self.nodes[masters:]
        for number, node in enumerate(self.nodes):
            if number < masters:
                node("CLUSTER", "ADDSLOTSRANGE", number * SLOTS // masters, (number + 1) * SLOTS // masters - 1)
            node("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for number, node in enumerate(self.nodes):
            for other in self.nodes[:number]:
                node("CLUSTER", "MEET", "127.0.0.1", other.port)
        wait_for(lambda: all(node.facts()["cluster_known_nodes"] == str(len(self.nodes)) for node in self.nodes), what="the nodes")
        for number, node in enumerate(spare):
            master = self.masters[number % masters]
            master.replicas.append(node)
            wait_for(lambda node=node, master=master: self._replicate(node, master), what="a replica")
        for node in self.nodes:
            wait_for(lambda node=node: self._is_ready(node), what="the cluster")
        for master in self.masters:
            self.wait_for_replicas(master, replicas)
        # A commit waits for the replicas that the asked node knows: any of them.
        wait_for(lambda: all(len(entry) == 3 + replicas for node in self.nodes for entry in node("CLUSTER", "SLOTS")), what="replicas that all nodes know")

    @staticmethod
    def _replicate(node, master):
        try:
            return node("CLUSTER", "REPLICATE", master.id) == "OK"
        except RedisError as error:  # it does not know the master's slots yet
            assert "Unknown node" in str(error) or "only replicate a master" in str(error), error
            return False

    @staticmethod
    def _is_ready(node):
        facts = node.facts()
        return facts["cluster_state"] == "ok" and facts["cluster_slots_assigned"] == str(SLOTS)

    @staticmethod
    def wait_for_replicas(master, count):
        """Waits until so many replicas of the node are in step with it, and it knows them as replicas that may be promoted."""
        def is_complete():
            with master.connect() as connection:
                facts = connection.info("replication")
                listed = [entry for entry in connection("CLUSTER", "SLOTS") if entry[2][2] == master.id]
            return (facts["role"] == "master" and facts["connected_slaves"] == str(count) and all(len(entry) == 3 + count for entry in listed)
                    and all("state=online" in facts[f"slave{number}"] for number in range(count)))
        wait_for(is_complete, what="the replicas")

    @property
    def url(self):
        return f"{'rediss+' if self.tls else ''}cluster://{self.login}{','.join(f'127.0.0.1:{node.port}' for node in self.nodes[:3])}"

    def on_all(self, *words):
        return [node(*words) for node in self.nodes]

    def owner(self, slot):
        """The node that alone names itself as the master of the slot; if there are several, or none, the one that the most nodes name."""
        named, claims = [], []
        for node in self.nodes:
            try:
                of_node = [entry[2][2] for entry in node("CLUSTER", "SLOTS") if entry[0] <= slot <= entry[1]]
            except OSError:  # it is dead
                continue
            named += of_node
            if node.id in of_node:
                claims.append(node.id)
        name = claims[0] if len(claims) == 1 else max(named, key=named.count)
        return next(node for node in self.nodes if node.id == name)

    def master_of(self, key):
        return self.owner(slot_of(key))

    def connect(self):
        return RoutedConnection(self)

    def __call__(self, *words):
        """A command at the master of its first key."""
        return self.master_of(words[1])(*words)

    def flush(self):
        for node in self.nodes:
            if node.role() == "master":
                node("FLUSHALL")

    def stop(self):
        for node in self.nodes:
            node.redis.stop()

    def begin_move(self, slot, target):
        """The slot migrates from its owner, which is returned, to another master. Its keys stay where they are."""
        source = self.owner(slot)
        target("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
        return source

    @staticmethod
    def move_keys(slot, source, target, count=None):
        """Moves so many of the slot's keys, or all of them."""
        with source.connect() as connection:
            while count is None or count > 0:
                keys = connection("CLUSTER", "GETKEYSINSLOT", slot, 100 if count is None else min(count, 100))
                if not keys:
                    return
                connection("MIGRATE", "127.0.0.1", target.port, "", 0, 10000, "KEYS", *keys)
                if count is not None:
                    count -= len(keys)

    def end_move(self, slot, source, target):
        """All masters hear of the new owner: gossip between masters whose epochs collide may not tell the third one for long."""
        others = [node for node in self.masters if node not in (source, target)]
        for node in (target, source, *others):
            try:
                node("CLUSTER", "SETSLOT", slot, "NODE", target.id)
            except OSError:  # it is dead
                if node in (source, target):
                    raise

    def move(self, slot, target):
        """Moves a slot with its keys, as redis-cli --cluster reshard does."""
        source = self.begin_move(slot, target)
        self.move_keys(slot, source, target)
        self.end_move(slot, source, target)
        wait_for(lambda: self.owner(slot) is target and self.agrees_on_epochs(), what="the new owner of a slot")

    def agrees_on_epochs(self):
        """Returns true if all nodes know the same configuration epochs. Before that, a message that is on its way may give a moved slot back."""
        views = set()
        for node in self.nodes:
            try:
                lines = node("CLUSTER", "NODES").splitlines()
            except OSError:  # it is dead
                continue
            views.add(tuple(sorted((words[0], words[6]) for words in map(str.split, lines))))
        return len(views) == 1

    def fail_over(self, master):
        """CLUSTER FAILOVER to the first replica of the master; returns it."""
        replica = next(node for node in master.replicas + [node for node in self.nodes if master in node.replicas] if node.role() == "slave")

        def has_begun():
            try:
                return replica("CLUSTER", "FAILOVER") == "OK"
            except RedisError:  # it does not know its master's state yet
                return replica.role() == "master"
        wait_for(has_begun, what="CLUSTER FAILOVER")
        return self.wait_for_promotion(replica)

    def wait_for_promotion(self, replica):
        """Waits until the replica is a master that all nodes that answer know."""
        def is_known():
            if replica.role() != "master":
                return False
            for node in self.nodes:
                try:
                    if replica.id not in (entry[2][2] for entry in node("CLUSTER", "SLOTS")):
                        return False
                except OSError:
                    continue
            return True
        wait_for(is_known, what="a failover")
        return replica


def free_port_of_cluster():
    """Returns a port that is free with its bus port, 10,000 above."""
    while (port := free_port()) > 55_000 or not is_free(port + 10_000):
        pass
    return port


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True


def scripts(build):
    """Returns the texts of the Lua scripts as a build has them for a bucket of a cluster: name -> (text, SHA-1, whether it only reads)."""
    with open(os.path.join(build, "generated", "lua_scripts.cc"), encoding="utf-8") as file:
        found = re.findall(r'Script\("(\w+)", (?:Script::Text\{R"lua\(.*?\)lua", "\w+"\},\s*Script::Text\{)?R"lua\(((?:(?!\)lua").)*)\)lua",'
                           r'\s*"(\w+)"\}?,\s*Script::Access::(\w+)\)', file.read(), re.S)
    return {name: (text, sha1, access == "read_only") for name, text, sha1, access in found}
