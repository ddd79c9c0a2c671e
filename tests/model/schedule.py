"""Runs processes against the cluster in one of the many possible orders: messages overtake each other, get lost, come late; processes end
between any two steps or stand still; nodes fail. A seed repeats a schedule."""
import collections

from model.bucket import LIFE, READING, Read
from model.cluster import NODE_TIMEOUT, Cluster
from model.protocol import LATER, LOST

PATIENCE = 40  # tries of a script that is refused for want of replicas

# The faults of a run: the most of each; the chance of a lost message; how often a replica catches up without a WAIT; for how long a
# replica is cut off.
Faults = collections.namedtuple("Faults", "kills pauses cuts moves crashes stalls loss replicas min_replicas cut_steps replication",
                                defaults=[0, 0, 0, 0, 2, 0, .03, 1, 0, 100, .05])


class Broken(Exception):
    """A promise of the protocol is broken."""


class Proxy:
    """One redquel: its slot map, connections and what it remembers of buckets."""

    def __init__(self, schedule):
        self.schedule, self.cluster = schedule, schedule.cluster
        self.nodes = {bucket: self.cluster.master_of(bucket) for bucket in self.cluster.owner}
        self.connections = collections.Counter()  # server -> how many connections there were before
        self.written = {}  # connection -> offset of its last write
        self.proven = {}  # connection -> when its newest answered command was sent
        self.known = {}  # bucket -> (connection, number of the last applied commit)
        self.prepares_in_order = False

    def on(self, protection):
        return protection not in self.cluster.off

    def now(self):
        return self.cluster.now

    def spawn(self, generator):
        self.schedule.start(generator, self)

    def connection(self, bucket):
        server = self.nodes[bucket]
        return server.name, self.connections[server.name]

    def refresh(self, bucket):
        """Asks the topology for the master of a bucket. Returns true if it is another one."""
        server = self.cluster.master_of(bucket)
        has_moved = server is not self.nodes[bucket]
        self.nodes[bucket] = server
        return has_moved


class Process:
    def __init__(self, generator, proxy):
        self.generator, self.proxy = generator, proxy
        self.turn, self.missing, self.replies = 0, 0, None
        self.wakes = 0  # stands still until then


class Message:
    """A call on its way: to a server, or waiting for its WAIT."""

    def __init__(self, process, proxy, turn, index, call):
        self.process, self.proxy, self.turn, self.index, self.call = process, proxy, turn, index, call
        self.reply = self.confirmed = None
        self.tries = 0
        self.address()

    def address(self):
        self.server, self.connection = self.proxy.nodes[self.call.bucket], self.proxy.connection(self.call.bucket)
        self.sent = self.proxy.now()


class Schedule:
    def __init__(self, random, off, faults, buckets=4, make_cluster=Cluster):
        self.random, self.faults = random, faults
        self.cluster = make_cluster(random, off, buckets, replicas=faults.replicas, min_replicas=faults.min_replicas)
        self.processes, self.messages, self.steps, self.is_over = [], [], 0, False

    def start(self, generator, proxy):
        process = Process(generator, proxy)
        self.processes.append(process)
        self.advance(process, None)

    def advance(self, process, replies):
        process.turn += 1
        try:
            calls = process.generator.send(replies)
            while not calls:
                calls = process.generator.send([])
        except StopIteration:
            self.processes.remove(process)
            return
        process.missing, process.replies = len(calls), [None] * len(calls)
        self.messages += [Message(process, process.proxy, process.turn, index, call) for index, call in enumerate(calls)]

    def deliver(self, message, reply):
        process = message.process
        if process not in self.processes or process.turn != message.turn or process.replies[message.index] is not None:
            return
        process.replies[message.index] = reply
        process.missing -= 1
        if process.missing == 0:
            self.advance(process, process.replies)

    def lose(self, message):
        """The connection breaks. The script may still run, much later."""
        message.proxy.connections[message.server.name] += 1
        message.proxy.refresh(message.call.bucket)
        self.deliver(message, LOST)
        if message.reply is None and self.random.random() < .6:
            message.process = None
            self.messages.append(message)

    def step(self, message):
        cluster, proxy, call = self.cluster, message.proxy, message.call
        server = message.server
        if message.process is None and cluster.now - message.sent > LIFE / 2:
            return  # no connection holds a message for half a day
        if message.process and self.random.random() < self.faults.loss and not self.is_over:
            self.lose(message)
        elif server.is_dead:
            self.lose(message)
        elif server.is_paused:
            self.messages.append(message)  # it lies in the socket of the stopped server
            if message.process and self.random.random() < .05:
                self.lose(message)
        elif message.reply is not None and not call.waits:
            self.accept_later(message)
        elif message.reply is not None:
            # WAIT goes by the last write of its connection. A master that becomes a replica ends it.
            message.confirmed = server.terms == message.terms and cluster.wait(server, proxy.written.get(message.connection, 0))
            self.deliver(message, (message.reply, message.confirmed))
        else:
            self.run(message)

    def run(self, message):
        cluster, proxy, call = self.cluster, message.proxy, message.call
        reply, has_written = cluster.execute(message.server, call.bucket, call.script, call.arguments)
        if reply is None:
            self.send_again(message, has_written)
            return
        if has_written:
            proxy.written[message.connection] = message.server.offset
        message.terms = message.server.terms
        if message.process is None:
            return
        message.reply = reply._replace(connection=message.connection) if isinstance(reply, Read) else reply
        if call.waits:
            if message.confirmed:  # the careless form: the WAIT behind a redirected script counts
                self.deliver(message, (reply, True))
            else:
                self.messages.append(message)
        elif call.script in READING and "read_lease" not in cluster.off:
            self.accept(message)
        else:
            self.deliver(message, reply)

    def send_again(self, message, reason):
        """The server has refused a script before it wrote anything: MOVED, TRYAGAIN or NOREPLICAS."""
        if message.process is None:
            return
        if message.call.waits and "wait_with_script" in self.cluster.off:
            message.confirmed = message.confirmed or self.cluster.wait(message.server, message.proxy.written.get(message.connection, 0))
        message.tries += reason == "no replicas"
        if message.tries > PATIENCE:
            self.deliver(message, (LATER, False) if message.call.waits else LATER)
            return
        message.proxy.refresh(message.call.bucket)
        message.address()
        self.messages.append(message)

    def accept(self, message):
        """Counts a reply under a read lease only: an earlier answered command of the connection was sent not long ago, so that the server was
        still the master. Otherwise the topology is asked."""
        proven = message.proxy.proven
        if self.cluster.now - proven.get(message.connection, -NODE_TIMEOUT) < NODE_TIMEOUT / 2:
            proven[message.connection] = max(message.sent, proven[message.connection])
            self.deliver(message, message.reply)
        else:
            self.messages.append(message)

    def accept_later(self, message):
        """The topology's answer has come."""
        if message.proxy.refresh(message.call.bucket) or self.cluster.master_of(message.call.bucket) is not message.server:
            message.reply = None
            message.address()
            self.messages.append(message)
        else:
            message.proxy.proven[message.connection] = message.sent
            self.deliver(message, message.reply)

    def plan_faults(self):
        """Returns faults in the order in which they will happen."""
        faults, cluster, random = self.faults, self.cluster, self.random

        def shard():
            return random.choice(cluster.shards)
        actions = [lambda: cluster.kill(shard())] * random.randrange(faults.kills + 1)
        actions += [lambda: cluster.pause(shard())] * random.randrange(faults.pauses + 1)
        actions += [lambda: cluster.cut(shard(), faults.cut_steps)] * random.randrange(faults.cuts + 1)
        actions += [lambda: cluster.move(random.randrange(len(cluster.owner)))] * random.randrange(faults.moves + 1)
        actions += [self.crash] * random.randrange(faults.crashes + 1)
        actions += [self.stall] * random.randrange(faults.stalls + 1)
        random.shuffle(actions)
        return actions

    def crash(self):
        """A process ends. Its messages stay on their way."""
        if self.processes:
            self.processes.remove(self.random.choice(self.processes))

    def stall(self):
        """A process stands still for long."""
        if self.processes:
            self.random.choice(self.processes).wakes = self.cluster.now + self.random.randrange(50, 900)

    def run_all(self, limit=40_000):
        """Runs until every process has ended and every repair is done."""
        self.is_over = False
        actions, random = self.plan_faults(), self.random
        while self.processes or self.messages or self.cluster.agenda:
            self.steps += 1
            if self.steps > limit:
                raise Broken("a process does not come to its end")
            self.cluster.advance()
            chance = random.random()
            if actions and chance < .03 and self.processes:
                actions.pop()()
                continue
            if chance > 1 - self.faults.replication:
                self.cluster.replicate(random.choice(self.cluster.shards))
            if not self.messages:
                continue
            at = random.randrange(len(self.messages))
            if self.messages[at].process and self.messages[at].process.wakes > self.cluster.now:
                continue
            self.messages[at], self.messages[-1] = self.messages[-1], self.messages[at]
            self.step(self.messages.pop())
        self.is_over = True
