"""Nodes of a Redis Cluster on ports of this machine, each with a range of slots; and the scripts of a build."""
import os
import re

from harness.sentinels import free_port
from harness.waiting import wait_for

SLOTS = 16384


def slot_of(key):
    """CRC16 (XMODEM) of the key, or of its tag."""
    tag = re.match(r"[^{]*\{([^}]+)\}", key)
    crc = 0
    for byte in (tag[1] if tag else key).encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % SLOTS


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


def free_port_of_cluster():
    """Returns a port whose bus port, 10,000 above, exists."""
    while (port := free_port()) > 55_000:
        pass
    return port


def scripts(build):
    """Returns the texts of the Lua scripts as a build has them: name -> (text, SHA-1, whether it only reads)."""
    with open(os.path.join(build, "generated", "lua_scripts.cc"), encoding="utf-8") as file:
        found = re.findall(r'Script\("(\w+)", R"lua\((.*?)\)lua",\s*"(\w+)", Script::Access::(\w+)\)', file.read(), re.S)
    return {name: (text, sha1, access == "read_only") for name, text, sha1, access in found}
