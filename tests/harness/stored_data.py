"""What Redis holds, as a file: one command a line, in JSON. Tests open data that an older redquel has written.

    python3 tests/harness/stored_data.py BUILD FILE.sql FILE.jsonl    lets the redquel of BUILD run the SQL, and writes what is stored then
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.pgwire import copy_data, query  # noqa: E402
from harness.processes import start_guardian  # noqa: E402
from harness.servers import Redis, Redquel  # noqa: E402
from harness.waiting import wait_for  # noqa: E402

# Leases end with their process.
LEASES = ("redquel:process:", "redquel:lease:", "redquel:sweep")
READS = {"string": ("GET", "SET"), "hash": ("HGETALL", "HSET"), "set": ("SMEMBERS", "SADD"), "list": ("LRANGE", "RPUSH"), "zset": ("ZRANGE", "ZADD")}


def commands_of(raw):
    """The commands that make all keys of the Redis again, but for leases."""
    commands = []
    for key in raw.keys():
        if key.startswith(LEASES):
            continue
        kind = raw("TYPE", key)
        if kind == "stream":
            commands.extend(["XADD", key, entry, *words] for entry, words in raw("XRANGE", key, "-", "+"))
            continue
        read, write = READS[kind]
        ends = {"list": ("0", "-1"), "zset": ("0", "-1", "WITHSCORES")}.get(kind, ())
        found = raw(read, key, *ends)
        words = [found] if kind == "string" else sorted(found) if kind == "set" else found
        if kind == "zset":
            words = [word for pair in zip(found[1::2], found[::2]) for word in pair]
        commands.append([write, key, *words])
        expires = raw("PEXPIRETIME", key)
        if expires > 0:
            commands.append(["PEXPIREAT", key, str(expires)])
    return commands


def save(raw, path):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(json.dumps(command) + "\n" for command in commands_of(raw))


def load(raw, path):
    """Fills the Redis, which is empty."""
    with open(path, encoding="ascii") as file:
        commands = [json.loads(line) for line in file]
    for reply in raw.pipeline(commands):
        assert not isinstance(reply, Exception), reply


def begin_copy(server, raw, table, lines):
    """Leaves a COPY half done: some chunks are written, and the journal has their undo."""
    connection = server.connect()
    connection.send(query(f"COPY {table} FROM STDIN"))
    connection.read_until(b"G")
    connection.send(copy_data(lines))
    wait_for(lambda: raw.keys("redquel:journal:*"), what="a journal")
    return connection


def main(build, sql, path):
    redis = Redis().start()
    server = Redquel(build, redis).start()
    with open(sql, encoding="utf-8") as file:
        statements = file.read()
    with server.connect() as connection, redis.connect() as raw:
        connection.run(statements)
        lines = "".join(f"{number}\n" for number in range(10, 5000)).encode()
        with begin_copy(server, raw, "half", lines):
            server.kill()
        save(raw, path)
    redis.stop()


if __name__ == "__main__":
    start_guardian()
    main(*sys.argv[1:])
