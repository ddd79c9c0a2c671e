"""Ends processes and masters of a Redis Cluster at random moments, and moves slots; finds what they leave there."""
import time

from harness.cluster_nodes import slot_of
from harness.visitors import end as end_visits
from harness.waiting import wait_for


class Killer:
    """Kills a redquel, or a master that has a replica in step; starts it again."""

    def __init__(self, cluster, servers, random, spares_masters):
        self.cluster, self.servers, self.random, self.spares_masters = cluster, servers, random, spares_masters
        self.deeds = {"redquel": 0, "master": 0}

    def strike(self):
        if not self.spares_masters and self.random.random() < .4:
            self.kill_master()
        else:
            server = self.random.choice(self.servers)
            server.kill()
            server.start()
            self.deeds["redquel"] += 1

    def strike_beside(self, visitors, seconds):
        """Starts the visitors, strikes every one to three seconds while none has trouble, and ends them."""
        for visitor in visitors:
            visitor.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(visitor.trouble for visitor in visitors):
            time.sleep(self.random.uniform(1, 3))
            self.strike()
        end_visits(visitors, 120)

    def kill_master(self):
        masters = [node for node in self.cluster.nodes if node.role() == "master"]
        for master in self.random.sample(masters, len(masters)):
            with master.connect() as connection:
                facts = connection.info("replication")
            if facts["connected_slaves"] != "1" or "state=online" not in facts["slave0"]:
                continue
            replicas = [node for node in self.cluster.nodes if node.role() == "slave" and node("ROLE")[2] == master.port]
            master.kill()
            self.cluster.wait_for_promotion(replicas[0])
            master.start()
            wait_for(lambda: master.role() == "slave", what="the old master as a replica")
            self.deeds["master"] += 1
            return


class Mover:
    """Moves the slots of tables to other masters, one at a time, as `redis-cli --cluster reshard` does."""

    def __init__(self, cluster, random):
        self.cluster, self.random, self.moves = cluster, random, 0

    def strike(self, table):
        tags = sorted({key.partition("}")[0] + "}" for node in self.cluster.masters for key in node("KEYS", f"*}}{table}:*")})
        slot = slot_of(self.random.choice(tags))
        owner = self.cluster.owner(slot)
        self.cluster.move(slot, self.random.choice([node for node in self.cluster.masters if node is not owner]))
        self.moves += 1


def leftovers(cluster):
    """Keys of commits that are not complete, and locks of processes whose lease is not over. Locks without a lease mean nothing."""
    found, locks, leases = [], [], set()
    for node in cluster.nodes:
        if node.role() == "master":
            with node.connect() as connection:
                for word in ("prepared", "exclusive", "lease:*"):
                    found += connection("KEYS", f"*redquel:{word}")
                for key in connection("KEYS", "*redquel:locks:*"):
                    locks += [(key, word[1:17]) for value in connection("HVALS", key) for word in value.split()]
                leases |= {key.rpartition(":")[2] for key in connection("KEYS", "*redquel:process:*")}
    return found + [lock for lock in locks if lock[1] in leases]
