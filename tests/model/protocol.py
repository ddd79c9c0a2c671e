"""The commit over several buckets: prepare, apply, recover, forget.

A commit is committed at the moment when its last bucket has prepared it and all of that is on the replicas. There is no other decision and
no record of one. Any process can find out the state of a commit and bring it to its end; so a killed owner leaves nothing half done.

Each function is a generator: it yields calls that leave at once, and gets their replies in order. A reply is LOST where the connection broke.
"""
import collections

from model.bucket import LIFE

# One script at one bucket. waits: WAIT follows on the same connection, and the reply is (reply, confirmed).
Call = collections.namedtuple("Call", "bucket script arguments waits", defaults=[False])
LOST = "lost"
LATER = "later"  # refused for want of replicas, again and again
COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"


def words(replies):
    return [reply if reply == LOST else reply[0] for reply in replies]


def are_confirmed(replies):
    return all(reply != LOST and reply[1] for reply in replies)


def calls(buckets, script, *arguments, waits=False):
    return [Call(bucket, script, arguments, waits) for bucket in buckets]


def commit(proxy, name, session, parts):
    """Makes the changes of all parts (bucket -> Part), or none. Returns COMMITTED, ABORTED or UNKNOWN (of one bucket only)."""
    buckets = tuple(sorted(parts))
    if len(buckets) == 1:
        return (yield from commit_one(proxy, name, session, buckets[0], parts[buckets[0]]))
    began = proxy.now()
    waits = proxy.on("wait")
    prepares = [Call(bucket, "prepare", (name, session, buckets, parts[bucket]), waits) for bucket in buckets]
    if proxy.prepares_in_order:
        replies = []
        for prepare in prepares:
            replies += yield [prepare]
    else:
        replies = yield prepares
    answers = words(replies) if waits else replies
    if all(answer == "prepared" for answer in answers) and (not waits or are_confirmed(replies)):
        # A tombstone may have come and gone while a slow owner prepared bucket after bucket.
        if not is_slow(proxy, began) or not proxy.on("slow_owners_recover"):
            return (yield from apply(proxy, name, buckets))
    elif any(answer not in ("prepared", LOST, "broken") for answer in answers):
        replies = yield calls(buckets, "abort", name)
        if all(reply == "aborted" for reply in replies):
            return ABORTED
    result = yield from recover(proxy, name, buckets)
    # Other processes may have brought the commit to its end, and forgotten it a long time ago.
    return UNKNOWN if result == ABORTED and is_slow(proxy, began) and proxy.on("slow_owners_recover") else result


def is_slow(proxy, began):
    """Returns true if a tombstone or an entry that is younger than the commit may be gone."""
    return proxy.now() - began > LIFE / 2


def commit_one(proxy, name, session, bucket, part):
    reply, = yield calls([bucket], "write", name, session, part, waits=proxy.on("wait"))
    answer = words([reply])[0] if proxy.on("wait") else reply
    if answer in (LOST, "broken"):
        return UNKNOWN
    if answer != "applied":
        return ABORTED
    return COMMITTED if not proxy.on("wait") or reply[1] else UNKNOWN


def apply(proxy, name, buckets):
    """The commit is decided. Its owner does not wait for a bucket that cannot be reached."""
    replies = yield calls(buckets, "apply", name)
    if LATER in replies and not proxy.on("refused_apply_is_later"):
        yield calls(buckets, "abort", name)
        return ABORTED
    if not proxy.on("forget_last"):
        yield calls([bucket for bucket, reply in zip(buckets, replies) if reply == "applied"], "forget", name)
    elif all(reply == "applied" for reply in replies):
        proxy.spawn(forget(proxy, name, buckets))
    return COMMITTED


def recover(proxy, name, buckets):
    """Finds out the state of a commit and brings it to its end. Any number of processes may do so at the same time."""
    while True:
        waits = proxy.on("wait") and proxy.on("wait_in_recovery")
        replies = yield calls(buckets, "fence", name, waits=waits)
        answers = words(replies) if waits else replies
        if LOST in answers or LATER in answers or "broken" in answers:
            continue
        # A record or a tombstone that is on a master alone decides nothing.
        if waits and not are_confirmed(replies):
            continue
        if "aborted" in answers and "applied" not in answers:
            replies = yield calls(buckets, "abort", name)
            # "applied": it was committed, and the bucket that said "aborted" has forgotten it.
            if set(replies) <= {"aborted", "applied"}:
                return COMMITTED if "applied" in replies else ABORTED
        else:
            replies = yield calls(buckets, "apply", name)
            if set(replies) <= {"applied", "unknown"}:
                return COMMITTED


def forget(proxy, name, buckets):
    """Removes a commit from the lists of applied ones: only after it is applied in all buckets, and on their replicas."""
    if not proxy.on("recover_before_removal"):
        yield calls(buckets[:1], "forget", name)
        return
    replies = yield calls(buckets, "fence", name, waits=proxy.on("wait"))
    if proxy.on("wait") and not are_confirmed(replies):
        return
    if all(answer == "applied" for answer in (words(replies) if proxy.on("wait") else replies)):
        yield calls(buckets, "forget", name)


def sweep(proxy, name, buckets):
    """Removes what a killed owner has left, a day later: brings the commit to its end first."""
    if proxy.on("recover_before_removal"):
        yield from recover(proxy, name, buckets)
    yield from forget(proxy, name, buckets)
