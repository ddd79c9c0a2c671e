"""The same bytes to redquel and to PostgreSQL: the answers, message by message, must be the same.

No expectation is written down; PostgreSQL gives it. Left out of the comparison: OIDs of tables, the place in PostgreSQL's own
source, process ids.
"""
import difflib
import struct

from harness import pgwire
from harness.comparison import COMPARED_FIELDS, copy_context, value_text


def readable(kind, payload):
    """A message as one line."""
    if kind == b"T":
        columns = pgwire.decode_columns(payload)
        return "T " + ", ".join(f"{c.name}:{c.type_oid}/{c.type_length}/{c.type_modifier}/{c.format}"
                                + (f"@{c.attribute}" if c.table_oid else "") for c in columns)
    if kind == b"D":
        return "D " + " | ".join(value_text(value) for value in pgwire.decode_row(payload))
    if kind in (b"E", b"N"):
        fields = pgwire.decode_fields(payload)
        line = f"{kind.decode()} " + " ".join(f"{letter}={fields[letter]!r}" for letter in COMPARED_FIELDS if letter in fields)
        return line + (f" W={copy_context(fields)!r}" if copy_context(fields) else "")
    if kind == b"t":
        return "t " + " ".join(map(str, struct.unpack_from(f"!{struct.unpack_from('!h', payload)[0]}I", payload, 2)))
    return f"{kind.decode()} {payload!r}" if payload else kind.decode()


def answers(connection, data, ready=None):
    """Sends `data` and reads up to the `ready`-th ReadyForQuery (default: one per Sync and Query in it) or the end."""
    if ready is None:
        ready = expected_ready(data)
    lines = []
    try:
        connection.send(data)
        while ready:
            kind, payload = connection.read()
            lines.append(readable(kind, payload))
            ready -= kind == b"Z"
    except pgwire.ConnectionClosed:
        lines.append("(closed)")
    return lines


def expected_ready(data):
    count = at = 0
    while at + 5 <= len(data):
        count += data[at:at + 1] in (b"S", b"Q", b"F")
        at += 1 + struct.unpack_from("!i", data, at + 1)[0]
    return count


def same(server, postgres, *steps, setup="", ready=None):
    """Sends each step (bytes) to both, on one fresh session each, in a schema that `setup` filled; raises on a difference.

    Returns redquel's lines of the last step.
    """
    lines = []
    with postgres.connect(postgres.emptied_database()) as oracle, server.connect() as subject:
        if setup:
            oracle.run(setup)
            subject.run(setup)
        for step in steps:
            expected = answers(oracle, step, ready)
            lines = answers(subject, step, ready)
            if lines != expected:
                raise AssertionError("\n".join(["answers differ (- PostgreSQL, + redquel):",
                                                *difflib.unified_diff(expected, lines, lineterm="", n=4)][0:120]))
    return lines
