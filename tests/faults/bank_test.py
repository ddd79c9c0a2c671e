"""Eight clients of two redquel processes move money between 1,000 accounts while both processes and Redis are killed at random, files are
torn, and a process stands still for longer than its locks live. The total never changes, also not for those who look in between; no
acknowledged transfer is lost; the indexes agree with the rows.

`BANK_SECONDS=600 tests/run.py --limit 900 faults -k bank` runs each level for ten minutes; with `BANK_FSYNC=everysec` Redis is not killed,
because it may then lose what was acknowledged."""
import os
import time

from harness import bank
from harness.servers import sharing_redis
from harness.visitors import end as end_visits

CONCURRENT = True
SLOW = True
CLIENTS = 8
SECONDS = float(os.environ.get("BANK_SECONDS", "16"))
LONG = SECONDS >= 120
FSYNC = os.environ.get("BANK_FSYNC", "always")
# Seconds between two kills; milliseconds that a process may stand still before its locks lapse; seconds for which one does.
EVERY, LEASE, PAUSE = (2.5, 30_000, 40) if LONG else (2.0, 2_000, 3)


def run_bank(make_redis, make_server, random, level):
    redis, *servers = sharing_redis(make_redis, make_server, 2, ("--appendonly", "yes", "--appendfsync", FSYNC, "--aof-load-truncated", "yes"),
                                    lock_lease=LEASE, script_rows=300)
    bank.set_up(servers[0])
    # Longer than the process stands still: what was sent to it before may still take place.
    clients = [bank.Client(servers, number, level, random, timeout=PAUSE + 20) for number in range(CLIENTS)]
    readers = [bank.Reader(servers, number, level, timeout=PAUSE + 20) for number in range(2)]
    # A killed one leaves its table to others only after half a minute.
    floods = [bank.Flood(servers, 0, timeout=PAUSE + 20)] if LONG else []
    visitors = clients + readers + floods
    for visitor in visitors:
        visitor.start()
    killer = bank.Killer(redis, servers, random, PAUSE, spares_redis=FSYNC != "always")
    started = time.monotonic()
    end, next_pause = started + SECONDS, started + SECONDS / 4

    def has_seen_enough():
        """Not so on a machine that stood still."""
        return any(client.acknowledged for client in clients) and all(reader.sums > 0 for reader in readers)

    while (time.monotonic() < end or time.monotonic() < end + 120 and not has_seen_enough()) and not any(visitor.trouble for visitor in visitors):
        time.sleep(random.uniform(0.3, 2 * EVERY - 0.3))
        killer.continue_if_due()
        if time.monotonic() > next_pause and not killer.paused_until:
            next_pause += max(SECONDS / 4, 3 * PAUSE)
            killer.stop_one()
        else:
            killer.strike()
    killer.continue_if_due(now=True)
    end_visits(visitors, PAUSE + 120)
    kept = bank.check(servers[0], clients)
    print(f"  {level}: {kept} transfers, {sum(len(client.unknown) for client in clients)} of unknown outcome, "
          f"{sum(client.retries for client in clients)} tried again, {sum(reader.sums for reader in readers)} sums; {killer.deeds}", flush=True)
    assert has_seen_enough()


def test_bank_read_committed(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "READ COMMITTED")


def test_bank_repeatable_read(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "REPEATABLE READ")


def test_bank_serializable(make_redis, make_server, random):
    run_bank(make_redis, make_server, random, "SERIALIZABLE")
