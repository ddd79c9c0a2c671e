"""Clients of two redquel processes move money between accounts while a transfer writes tables of three buckets, each on another master of a
Redis Cluster. Processes are killed at random, and masters, whose replicas take their place. The total never changes, also not for readers
that join the buckets; no acknowledged transfer is lost; nothing that was prepared is left.

`CLUSTER_BANK_SECONDS=300 tests/run.py --limit 600 faults -k cluster_bank` runs for five minutes."""
import os
import signal
import time

from harness import bank
from harness.cluster_killer import Killer, Mover, leftovers
from harness.cluster_nodes import Cluster
from harness.servers import run_when_it_is_back
from harness.visitors import end as end_visits
from harness.waiting import wait_for

SLOW = True
LIMIT = 600
CLIENTS = 6
SPREAD = "SET redquel.buckets = 8"  # each table in so many buckets
SECONDS = float(os.environ.get("CLUSTER_BANK_SECONDS", "20"))


def run_bank(make_redis, make_server, random, level, replicas, setting="SET redquel.placement = balanced", moves=False):
    cluster = Cluster(make_redis, masters=3, replicas=replicas)
    servers = [make_server(redis=cluster) for _ in range(2)]
    bank.set_up(servers[0], setting)
    homes = [{node.port for node in cluster.masters if node("KEYS", f"*}}{table}:zset")} for table in bank.TABLES]
    assert len(set().union(*homes)) > 1, "all tables are at one master"
    clients = [bank.Client(servers, number, level, random) for number in range(CLIENTS)]
    readers = [bank.Reader(servers, number, level) for number in range(2)]
    mover = Mover(cluster, random)
    visitors = clients + readers
    for visitor in visitors:
        visitor.start()
    killer = Killer(cluster, servers, random, spares_masters=replicas == 0)
    end = time.monotonic() + SECONDS

    def has_seen_enough():
        return any(client.acknowledged for client in clients) and all(reader.sums > 0 for reader in readers)

    while (time.monotonic() < end or time.monotonic() < end + 120 and not has_seen_enough()) and not any(visitor.trouble for visitor in visitors):
        time.sleep(random.uniform(1, 4))
        killer.strike()
        if moves:
            mover.strike("bank")
    end_visits(visitors, 120)
    with servers[0].connect() as connection:
        run_when_it_is_back(connection, "SELECT 1")
    # A commit of a killed process may be completed at any moment; the check reads one table after the other.
    wait_for(lambda: not leftovers(cluster), what="the end of all commits and locks")
    kept = bank.check(servers[0], clients)
    print(f"  {level}: {kept} transfers, {sum(len(client.unknown) for client in clients)} of unknown outcome, "
          f"{sum(client.retries for client in clients)} tried again, {sum(reader.sums for reader in readers)} sums; {killer.deeds}, {mover.moves} moves", flush=True)
    assert has_seen_enough()
    assert not leftovers(cluster)


def test_cluster_bank_read_committed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED", 0)


def test_cluster_bank_repeatable_read(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "REPEATABLE READ", 0)


def test_cluster_bank_masters_are_killed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED", 1)


def test_cluster_bank_in_spread_tables(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED", 0, SPREAD, moves=True)


def test_cluster_bank_in_spread_tables_masters_are_killed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "REPEATABLE READ", 1, SPREAD)


def test_sums_are_right_while_masters_stand_still_for_moments(make_redis, make_server, random):
    """The reads of a statement reach the buckets of a slow master later. Sessions of one process learn from each other how many commits a bucket has."""
    cluster = Cluster(make_redis, masters=3, replicas=0)
    servers = [make_server("--threads", "1", redis=cluster) for _ in range(2)]
    bank.set_up(servers[0], SPREAD)
    visitors = [bank.Client(servers[1:], number, "READ COMMITTED", random) for number in range(4)]
    visitors += [bank.Reader(servers[:1], number, "READ COMMITTED") for number in range(6)]
    for visitor in visitors:
        visitor.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not any(visitor.trouble for visitor in visitors):
        node = random.choice(cluster.masters)
        node.signal(signal.SIGSTOP)
        time.sleep(random.uniform(.001, .02))
        node.signal(signal.SIGCONT)
        time.sleep(random.uniform(.001, .01))
    end_visits(visitors, 120)
    assert all(visitor.sums > 0 for visitor in visitors[4:])
