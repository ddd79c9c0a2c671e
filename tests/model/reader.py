"""Reads of several buckets: each commit is seen whole or not at all. Nothing is locked, and no old version is kept: buckets that lag
behind others are read again.

A commit is applied anywhere only after it was prepared everywhere. So a bucket that is read later than another one has shown the commit
shows its record or its effect.
"""
from model.protocol import LOST, Call, recover

ROUNDS_BEFORE_HELP = 3
ROUNDS_BEFORE_ERROR = 60  # redis.move_timeout


class Unavailable(Exception):
    """SQLSTATE 57P03: a bucket cannot be read now."""


class Hang(Exception):
    """A reader that never ends."""


def ask(calls):
    """Repeats calls that read until all have answered."""
    replies = yield calls
    while any(reply in (LOST, "broken") for reply in replies):
        replies = yield calls
    return replies


def status(bucket, name):
    return Call(bucket, "status", (name,))


def is_decided(proxy, name, buckets, seen_in):
    """Returns whether a commit with a record in bucket `seen_in` is prepared in all its buckets."""
    answers = yield from ask([status(bucket, name) for bucket in buckets if bucket != seen_in])
    if "never" not in answers:
        return True
    if not proxy.on("second_look"):
        return False
    # "never" may also mean that it is applied everywhere and forgotten. Then the record is not there any more.
    answer, = yield from ask([status(seen_in, name)])
    return answer != "prepared"


def read_quickly(proxy, buckets):
    """One round trip. Returns bucket -> Read; None: a commit may have come. No bucket has a record, and each has the number that this process has seen
    there before: a commit that one of the buckets shows was prepared in all of them when this read began."""
    order = sorted(buckets)
    before = {bucket: proxy.known.get(bucket, (None, 0)) for bucket in order}
    replies = yield from ask([Call(bucket, "read", (before[bucket][1],)) for bucket in order])
    # Another session of the process may have learned a number since.
    known = before if proxy.on("numbers_of_before") else {bucket: proxy.known.get(bucket, (None, 0)) for bucket in order}
    for bucket, reply in zip(order, replies):
        if reply.records or proxy.on("known_numbers") and known[bucket] != (reply.connection, reply.number):
            return None
    return dict(zip(order, replies))


def read(proxy, buckets):
    """One statement over several buckets. Returns bucket -> Read."""
    got, read_in, shown_in, polls = {}, {}, {}, 0
    known = {bucket: proxy.known.get(bucket, (None, 0)) for bucket in buckets}  # bucket -> (connection, number)
    todo = set(buckets)
    for number in range(1, 300):
        if number > ROUNDS_BEFORE_ERROR and proxy.on("readers_give_up"):
            raise Unavailable
        order = sorted(todo)
        replies = yield from ask([Call(bucket, "read", (known[bucket][1],)) for bucket in order])
        todo = set()
        for bucket, reply in zip(order, replies):
            got[bucket], read_in[bucket] = reply, number
            connection = reply.connection
            is_other = known[bucket][0] != connection and known[bucket][1] > 0 and proxy.on("known_per_connection")
            if reply.trimmed > known[bucket][1] or is_other:
                # The list has lost its beginning, or another master counts anew.
                known[bucket] = (connection, reply.number)
                todo |= set(buckets)
            else:
                known[bucket] = (connection, known[bucket][1])
        for bucket in sorted(got):
            for name, others in sorted(got[bucket].records.items()) if proxy.on("look_at_records") else ():
                if any(name in other.applied for other in got.values()) or (yield from is_decided(proxy, name, others, bucket)):
                    todo.add(bucket)
                    polls += 1
                    if polls > ROUNDS_BEFORE_HELP and not (yield from help_commit(proxy, name, others)):
                        raise Unavailable
        for bucket in sorted(got) if proxy.on("compare_lists") else ():
            for name, others in got[bucket].applied.items():
                first = shown_in.setdefault(name, number)
                for other in others:
                    if other in got and other != bucket and name not in got[other].applied and read_in[other] <= first:
                        todo.add(other)
        if not todo:
            break
    else:
        raise Hang
    for bucket, reply in got.items():
        proxy.known[bucket] = (known[bucket][0], max(known[bucket][1], reply.number))
    return got


def help_commit(proxy, name, buckets):
    """Brings a commit to its end for a reader. Returns false if that takes too long."""
    recovery = recover(proxy, name, buckets)
    replies = None
    for _ in range(300):
        try:
            calls = recovery.send(replies)
        except StopIteration:
            return True
        if _ > ROUNDS_BEFORE_ERROR and proxy.on("readers_give_up"):
            return False
        replies = yield calls
    raise Hang


def read_row(proxy, bucket, row):
    """A read by key. It looks at the lock of its row instead of the list of records. Returns (value, commits seen)."""
    for number in range(300):
        if number > ROUNDS_BEFORE_ERROR and proxy.on("readers_give_up"):
            raise Unavailable
        (value, commits, holder), = yield from ask([Call(bucket, "read_row", (row,))])
        if holder is None or not proxy.on("point_reads_look"):
            return value, commits
        name, others = holder
        if not (yield from is_decided(proxy, name, others, bucket)):
            return value, commits
        if number >= ROUNDS_BEFORE_HELP and not (yield from help_commit(proxy, name, others)):
            raise Unavailable
    raise Hang


def is_one_moment(proxy, got):
    """REPEATABLE READ's extra round after a statement: returns true if no bucket that was read has changed, and no record is decided."""
    order = sorted(got)
    replies = yield from ask([Call(bucket, "read", (0,)) for bucket in order])
    for bucket, reply in zip(order, replies):
        if reply.changes != got[bucket].changes:
            return False
    for bucket, reply in zip(order, replies):
        for name, others in sorted(reply.records.items()):
            if (yield from is_decided(proxy, name, others, bucket)):
                return False
    return True
