"""Redis Cluster as the protocol sees it: shards of a master and replicas, asynchronous replication, WAIT, failovers, masters that do not
know yet that they are deposed, and slots that move.

A replica holds the master's state of an earlier moment. A bucket's state is copied when it changes, so replication copies references.
"""
from model.bucket import EMPTY_STATE, FIELDS, GROUPS, READING, Bucket, KeyHasMoved

NODE_TIMEOUT = 60  # steps of silence after which a replica is promoted
MOVING_ORDER = ("index", "rows", "records")


class Server:
    def __init__(self, name):
        self.name = name
        self.data = {}  # bucket -> Bucket
        self.offset = 0
        self.master = None  # None: it takes itself for a master
        self.terms = 0  # how often it has become a replica
        self.is_dead = self.is_paused = self.is_cut = False
        self.slots = set()  # buckets that it takes for its own
        self.migrating = set()  # the flag of CLUSTER SETSLOT MIGRATING, which replicas do not have

    def follow(self, master):
        self.master, self.data, self.offset = master, dict(master.data), master.offset
        self.slots, self.migrating = set(master.slots), set()
        self.terms += 1


class Shard:
    def __init__(self, number, replicas, data):
        self.servers = [Server(f"node {number}.{n}") for n in range(1 + replicas)]
        self.master = self.servers[0]
        self.master.data, self.master.slots = data, set(data)
        for replica in self.servers[1:]:
            replica.follow(self.master)

    def replicas(self):
        return [server for server in self.servers if server is not self.master]

    def attached(self):
        """Replicas that receive what their master writes now."""
        return [server for server in self.replicas() if server.master is self.master and not (server.is_cut or server.is_dead)]

    def candidates(self):
        """Replicas that can be promoted: also one whose link is cut, with what it has."""
        return [server for server in self.replicas() if server.master is self.master and not server.is_dead]


class Cluster:
    def __init__(self, random, off, buckets=4, shards=2, replicas=1, min_replicas=0):
        self.random, self.off, self.min_replicas = random, off, min_replicas
        self.now = 0
        self.shards = [Shard(n, replicas, {b: Bucket(off) for b in range(buckets) if b % shards == n}) for n in range(shards)]
        self.owner = {bucket: self.shards[bucket % shards] for bucket in range(buckets)}
        self.agenda = []  # (time, function) of faults and repairs that have begun
        self.moving = set()  # buckets: each has one mover at a time

    def master_of(self, bucket):
        return self.owner[bucket].master

    def state_of(self, bucket):
        return self.master_of(bucket).data[bucket]

    def fill(self, bucket, state):
        self.master_of(bucket).data[bucket] = state

    def later(self, steps, action):
        self.agenda.append((self.now + steps, action))

    def advance(self):
        """Lets one step of time pass."""
        self.now += 1
        due = [item for item in self.agenda if item[0] <= self.now]
        self.agenda = [item for item in self.agenda if item[0] > self.now]
        for _, action in due:
            action()

    # The answers of one server.
    def serves(self, server, bucket):
        """Returns false where the server answers MOVED. A deposed master that has not heard of its successor still serves."""
        return server.master is None and bucket in server.slots

    def owner_shard(self, server):
        return next(shard for shard in self.shards if server in shard.servers)

    def execute(self, server, bucket, script, arguments):
        """Runs a script. Returns its reply and whether it has written, or None and the reason for which it cannot run now."""
        if not self.serves(server, bucket):
            return None, "moved"
        shard = self.owner_shard(server)
        state = server.data[bucket]
        probes = "probe_in_reads" if script in READING else "probe"
        if probes not in self.off and (bucket in server.migrating or state.is_marked):
            return None, "try again"
        if script not in READING and self.min_replicas and server is shard.master and len(shard.attached()) < self.min_replicas:
            return None, "no replicas"
        copy = state.copy()
        try:
            reply = copy.run(script, arguments, self.now, bucket in server.migrating)
        except KeyHasMoved:
            reply = "broken"
        has_written = script not in READING and any(getattr(copy, field) != getattr(state, field) for field in FIELDS)
        if has_written:
            server.data[bucket] = copy
            server.offset += 1
        return reply, has_written

    def wait(self, server, offset):
        """WAIT: returns true if enough replicas of the server have all that was written up to `offset`."""
        shard = self.owner_shard(server)
        if server is not shard.master:
            return False  # its replicas follow the new master
        wanted = len(shard.servers) - 1 if "wait_for_all_replicas" not in self.off else min(1, len(shard.servers) - 1)
        if self.confirmed(shard, offset) < wanted:
            self.replicate(shard)
        return self.confirmed(shard, offset) >= wanted

    @staticmethod
    def confirmed(shard, offset):
        return sum(replica.offset >= offset for replica in shard.attached())

    def replicate(self, shard):
        for replica in shard.attached():
            if not shard.master.is_dead and not shard.master.is_paused:
                replica.data, replica.offset = dict(shard.master.data), shard.master.offset

    # Faults. Each begins here, and continues by the agenda.
    def promote(self, shard):
        if not shard.candidates():
            self.later(NODE_TIMEOUT, lambda: self.promote(shard))
            return
        new, old = self.random.choice(shard.candidates()), shard.master
        new.master, new.is_cut, shard.master = None, False, new
        for replica in shard.replicas():
            if replica is not old:
                self.later(self.random.randrange(20), lambda replica=replica: self.rejoin(shard, replica))
        if old.is_dead:
            self.later(self.random.randrange(100), lambda: self.rejoin(shard, old))
        else:
            self.later(self.random.randrange(40), lambda: self.resume(shard, old))

    def rejoin(self, shard, server):
        if shard.master.is_dead or shard.master.is_paused:
            self.later(NODE_TIMEOUT, lambda: self.rejoin(shard, server))
        elif server is not shard.master:
            server.is_dead = server.is_paused = server.is_cut = False
            server.follow(shard.master)

    def resume(self, shard, old):
        """A stopped master goes on. It learns of its successor a little later."""
        old.is_paused = False
        self.later(self.random.randrange(10, 150), lambda: self.rejoin(shard, old))

    def kill(self, shard):
        """The master ends; what its replicas have not received is lost."""
        if shard.master.is_dead or shard.master.is_paused or not shard.candidates():
            return
        shard.master.is_dead = True
        self.later(NODE_TIMEOUT, lambda: self.promote(shard))

    def pause(self, shard):
        """The master stands still (SIGSTOP) until after its successor is promoted."""
        if shard.master.is_dead or shard.master.is_paused or not shard.candidates():
            return
        shard.master.is_paused = True
        self.later(NODE_TIMEOUT + self.random.randrange(20), lambda: self.promote(shard))

    def cut(self, shard, steps):
        """A replica loses its link for some time. It can still be promoted."""
        replica = self.random.choice(shard.replicas())
        replica.is_cut = True
        self.later(steps, lambda: self.rejoin(shard, replica))

    # Moving slots.
    def move(self, bucket):
        target = self.random.choice([shard for shard in self.shards if shard is not self.owner[bucket]])
        Move(self, bucket, target).begin()


class Move:
    """`redquel rebalance` for one bucket. Its promises: the bucket's writes are on the source's replicas before the first key leaves; keys
    are on the target's replicas before the source deletes them; a mark in the bucket stops scripts even at a master that was promoted
    meanwhile, because Redis 7 keeps the flag MIGRATING on the old master alone."""

    def __init__(self, cluster, bucket, target):
        self.cluster, self.bucket, self.target = cluster, bucket, target
        self.source = cluster.owner[bucket]
        self.left = list(MOVING_ORDER)

    def on(self, protection):
        return protection not in self.cluster.off

    def again(self, action):
        self.cluster.later(self.cluster.random.randrange(2, 12), action)

    def is_down(self):
        return any(shard.master.is_dead or shard.master.is_paused for shard in (self.source, self.target))

    def change(self, server, change):
        bucket = server.data[self.bucket].copy()
        change(bucket)
        server.data[self.bucket] = bucket
        server.offset += 1

    def begin(self):
        if self.is_down() or self.bucket in self.cluster.moving:
            return
        self.cluster.moving.add(self.bucket)
        source = self.source.master
        source.migrating.add(self.bucket)
        if self.on("mover_leaves_mark"):
            self.change(source, lambda bucket: setattr(bucket, "is_marked", True))
        self.again(self.confirm_source)

    def confirm_source(self):
        """WAIT at the source: no promoted replica brings back an older state of some of the keys."""
        if self.is_down() or self.on("mover_waits_at_source") and not self.cluster.wait(self.source.master, self.source.master.offset):
            return self.again(self.confirm_source)
        if self.on("mover_leaves_mark") and not self.source.master.data[self.bucket].is_marked:
            return self.end()  # a failover has taken the mark back, and nothing has moved yet
        return self.again(self.copy_group)

    def copy_group(self):
        """MIGRATE … COPY REPLACE of one group of keys."""
        if self.is_down():
            return self.again(self.copy_group)
        source, target = self.source.master, self.target.master
        source.migrating.add(self.bucket)
        if self.bucket not in target.data:
            target.data[self.bucket] = Bucket(self.cluster.off)
            target.data[self.bucket].is_marked = self.on("mover_leaves_mark")

        def receive(bucket):
            for field in GROUPS[self.left[0]]:
                getattr(bucket, field).update(getattr(source.data[self.bucket], field))
        self.change(target, receive)
        self.receiver = target, target.terms  # a node that was deposed meanwhile has lost the copy, though it is master again
        return self.again(self.confirm_target)

    def confirm_target(self):
        """WAIT at the target; then the source deletes the group."""
        if self.is_down():
            return self.again(self.confirm_target)
        target = self.target.master
        if self.on("mover_waits_at_target"):
            if (target, target.terms) != self.receiver:
                return self.again(self.copy_group)
            if not self.cluster.wait(target, target.offset):
                return self.again(self.confirm_target)

        def delete(bucket):
            for field in GROUPS[self.left[0]]:
                setattr(bucket, field, dict(EMPTY_STATE) if field == "state" else {})
            bucket.gone += (self.left[0],)
        self.change(self.source.master, delete)
        self.left.pop(0)
        return self.again(self.copy_group if self.left else self.finish)

    def finish(self):
        """The slot changes its owner, and the mark goes."""
        if self.is_down():
            return self.again(self.finish)
        source, target = self.source.master, self.target.master
        if self.bucket not in target.data:  # only where the mover does not wait
            target.data[self.bucket] = Bucket(self.cluster.off)
        self.change(target, lambda bucket: setattr(bucket, "is_marked", False))
        self.cluster.owner[self.bucket] = self.target
        for server in self.target.servers:
            server.slots.add(self.bucket)
        for server in self.source.servers:
            server.slots.discard(self.bucket)
            server.migrating.discard(self.bucket)
            server.data.pop(self.bucket, None)
        source.offset += 1
        return self.again(self.settle)

    def settle(self):
        """The end of the mark must be on the replicas: a failover that brings it back would stop the bucket for ever."""
        if self.is_down():
            return self.again(self.settle)
        target = self.target.master
        if target.data[self.bucket].is_marked:
            self.change(target, lambda bucket: setattr(bucket, "is_marked", False))
        if not self.cluster.wait(target, target.offset):
            return self.again(self.settle)
        return self.end()

    def end(self):
        self.cluster.moving.discard(self.bucket)
