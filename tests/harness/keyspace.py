"""Keys of tables; leases; keys that an application has made, and tables over them."""
from harness.waiting import wait_for


class MappedKeys:
    """A server over the keys that `load` puts into its Redis, with the tables that `definitions` make: (connection, redis)."""

    def __init__(self, server, load, definitions):
        self.redis = server.redis_connection()
        load(self.redis)
        self.connection = server.connect()
        for statement in definitions.strip().split(";\n"):
            self.connection.run(statement)

    def __enter__(self):
        return self.connection, self.redis

    def __exit__(self, *_):
        self.connection.close()
        self.redis.close()


def keys_of_tables(redis):
    """(keys but for redquel's own, entries of redquel:removals, reserved prefixes): what is left of transactions that came to nothing would
    be among them."""
    with redis.connect() as raw:
        found = {key.decode() if isinstance(key, bytes) else key for key in raw("KEYS", "*")}
        removals, prefixes = raw("HLEN", "redquel:removals"), sorted(raw("HKEYS", "redquel:prefixes"))
    return sorted(key for key in found if not key.startswith("redquel:")), removals, prefixes


def leases(redis):
    """Of processes that hold locks, or have held some lately."""
    with redis.connect() as raw:
        return set(raw.keys("redquel:process:*"))


def end_leases(redis, but=()):
    """As if the processes had stood still for longer than their leases last. `but`: those of others."""
    with redis.connect() as raw:
        for lease in leases(redis).difference(but):
            raw("DEL", lease)


def wait_for_renewals(redis, lease, count):
    with redis.connect() as raw:
        for _ in range(count):
            left = [raw("PTTL", lease)]

            def is_longer():
                left.append(raw("PTTL", lease))
                assert left[-1] > 0, f"the lease has ended after {left[-2]} ms"
                return left[-1] > left[-2]
            wait_for(is_longer, what="a renewal of the lease")


def same(given, wanted):
    assert given == wanted, given


def plan(connection, sql):
    return "\n".join(row[0] for row in connection.run("EXPLAIN " + sql))


def living_locks(redis):
    """[(key, field, token)]: locks, waits and tables held alone that count, because the lease of their process is there."""
    found = []
    with redis.connect() as raw:
        def text(value):
            return value.decode(errors="replace") if isinstance(value, bytes) else value

        def is_alive(token):
            return raw("EXISTS", f"redquel:process:{token[:16]}") == 1

        for key in [text(key) for key in raw.keys("redquel:locks:*")] + ["redquel:advisory"]:
            entries = [text(entry) for entry in raw("HGETALL", key)]
            for field, holders in zip(entries[::2], entries[1::2]):
                found += [(key, field, holder[1:]) for holder in holders.split() if is_alive(holder[1:])]
        waits = [text(entry) for entry in raw("HGETALL", "redquel:waits")]
        found += [("redquel:waits", session, waiter) for session, waiter in zip(waits[::2], waits[1::2]) if is_alive(session)]
        exclusive = [text(entry) for entry in raw("HGETALL", "redquel:exclusive")]
        found += [("redquel:exclusive", table, unit) for table, unit in zip(exclusive[::2], exclusive[1::2])
                  if raw("EXISTS", f"redquel:lease:{unit.split()[0]}") == 1]
    return found
