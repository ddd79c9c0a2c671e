"""A PostgreSQL protocol 3.0 client that shows everything: values as they were sent, every field of an error, every message.

`Connection` speaks the simple and the extended protocol; the functions at the top build single messages, so that a test can
send any bytes it likes, well formed or not.
"""
import select
import socket
import struct
from dataclasses import dataclass, field

from harness.passwords import PasswordClient

SSL_REQUEST = 80877103
GSSENC_REQUEST = 80877104
CANCEL_REQUEST = 80877102
PROTOCOL_3_0 = 196608


# --- messages of the frontend -------------------------------------------------------------------------------------------

def message(kind: bytes, payload: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(payload) + 4) + payload


def text(value) -> bytes:
    """A NUL-terminated string; bytes are sent as they are."""
    return (value if isinstance(value, bytes) else value.encode()) + b"\0"


def startup(parameters: dict, version: int = PROTOCOL_3_0) -> bytes:
    payload = struct.pack("!i", version) + b"".join(text(k) + text(v) for k, v in parameters.items()) + b"\0"
    return struct.pack("!i", len(payload) + 4) + payload


def special_startup(code: int, payload: bytes = b"") -> bytes:
    return struct.pack("!ii", 8 + len(payload), code) + payload


def query(sql) -> bytes:
    return message(b"Q", text(sql))


def parse(sql, name="", parameter_types=()) -> bytes:
    return message(b"P", text(name) + text(sql) + struct.pack("!h", len(parameter_types))
                   + b"".join(struct.pack("!I", oid) for oid in parameter_types))


def bind(portal="", statement="", values=(), formats=(), result_formats=()) -> bytes:
    """`values` are bytes, str or None; `formats` and `result_formats` hold 0 (text) or 1 (binary): none, one, or one each."""
    payload = text(portal) + text(statement) + struct.pack("!h", len(formats))
    payload += b"".join(struct.pack("!h", code) for code in formats) + struct.pack("!h", len(values))
    for value in values:
        if value is None:
            payload += struct.pack("!i", -1)
        else:
            raw = value if isinstance(value, bytes) else str(value).encode()
            payload += struct.pack("!i", len(raw)) + raw
    payload += struct.pack("!h", len(result_formats)) + b"".join(struct.pack("!h", code) for code in result_formats)
    return message(b"B", payload)


def describe(kind: bytes, name="") -> bytes:
    """`kind` is b"S" (statement) or b"P" (portal)."""
    return message(b"D", kind + text(name))


def execute(portal="", max_rows=0) -> bytes:
    return message(b"E", text(portal) + struct.pack("!i", max_rows))


def close(kind: bytes, name="") -> bytes:
    return message(b"C", kind + text(name))


def copy_data(data: bytes) -> bytes:
    return message(b"d", data)


def copy_fail(reason: str) -> bytes:
    return message(b"f", text(reason))


COPY_DONE = message(b"c")
SYNC = message(b"S")
FLUSH = message(b"H")
TERMINATE = message(b"X")


# --- what the backend answers -------------------------------------------------------------------------------------------

@dataclass
class Column:
    name: str
    table_oid: int
    attribute: int
    type_oid: int
    type_length: int
    type_modifier: int
    format: int


@dataclass
class Result:
    """What one statement answered. `rows` hold bytes or None, exactly as sent; `tag` is None if it did not complete."""
    columns: list = None
    rows: list = field(default_factory=list)
    tag: str = None
    error: dict = None  # field letter to text: S, V, C, M, D, H, P, n, t, c, ...
    notices: list = field(default_factory=list)
    empty: bool = False  # EmptyQueryResponse
    suspended: bool = False  # PortalSuspended
    parameter_types: list = None
    copied: bytes = None  # data of COPY TO STDOUT

    @property
    def sqlstate(self):
        return self.error["C"] if self.error else None

    def texts(self):
        """The rows as str or None, for text results."""
        return [[None if value is None else value.decode() for value in row] for row in self.rows]


class ServerError(Exception):
    """An ErrorResponse where the caller wanted none."""

    def __init__(self, fields):
        super().__init__(f"{fields.get('C')}: {fields.get('M')}")
        self.fields = fields
        self.sqlstate = fields.get("C")


class ConnectionClosed(Exception):
    """The server ended the connection."""


def decode_fields(payload: bytes) -> dict:
    fields = {}
    for item in payload.split(b"\0"):
        if item:
            fields[chr(item[0])] = item[1:].decode("utf-8", "backslashreplace")
    return fields


def decode_columns(payload: bytes) -> list:
    count, = struct.unpack_from("!h", payload)
    columns, at = [], 2
    for _ in range(count):
        end = payload.index(b"\0", at)
        columns.append(Column(payload[at:end].decode(), *struct.unpack_from("!IhIhih", payload, end + 1)))
        at = end + 19
    if at != len(payload):
        raise ValueError("RowDescription has bytes left over")
    return columns


def decode_row(payload: bytes) -> list:
    count, = struct.unpack_from("!h", payload)
    row, at = [], 2
    for _ in range(count):
        length, = struct.unpack_from("!i", payload, at)
        at += 4
        if length < 0:
            row.append(None)
        else:
            row.append(payload[at:at + length])
            at += length
    if at != len(payload):
        raise ValueError("DataRow has bytes left over")
    return row


class Connection:
    """One session. `address` is (host, port) or the path of a unix socket. With `start=False` only the socket is opened."""

    def __init__(self, address, user="postgres", database="postgres", timeout=120.0, start=True, password=None, **parameters):
        self.address = address
        self.password = password
        self.authentication = []  # codes of the requests for it
        self.timeout = timeout
        self.socket = open_socket(address, timeout)
        self.buffer = bytearray()
        self.parameters = {}  # ParameterStatus
        self.process_id = self.secret = None
        self.status = None  # transaction status of the last ReadyForQuery: I, T or E
        self.notices = []  # NoticeResponses that belong to no statement
        self.notifications = []
        if start:
            self.start(dict(user=user, database=database, **parameters))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # bytes and messages

    def send(self, data: bytes):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            # Bytes that the server sent before it closed may still wait to be read.
            if not self.buffer and not self._has_input():
                raise ConnectionClosed(str(error)) from None

    def _has_input(self):
        try:
            self._fill()
            return True
        except (ConnectionClosed, OSError):
            return False

    def _fill(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError as error:
            raise ConnectionClosed(str(error)) from None
        if not data:
            raise ConnectionClosed("end of stream")
        self.buffer += data

    def read_bytes(self, count: int) -> bytes:
        while len(self.buffer) < count:
            self._fill()
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def read(self):
        """The next message as (kind, payload). Raises ConnectionClosed at the end of the stream."""
        header = self.read_bytes(5)
        length, = struct.unpack("!i", header[1:])
        if length < 4:
            raise ValueError(f"message {header[:1]} has length {length}")
        return header[:1], self.read_bytes(length - 4)

    def read_until(self, *kinds: bytes) -> list:
        """All messages up to and with the first of one of `kinds`; asynchronous ones are kept apart."""
        messages = []
        while True:
            kind, payload = self.read()
            if self._asynchronous(kind, payload, self.notices):
                continue
            messages.append((kind, payload))
            if kind == b"Z":
                self.status = payload.decode()
            if kind in kinds:
                return messages

    def at_end(self) -> bool:
        """Whether the server closes the connection without another message."""
        try:
            self.read()
            return False
        except ConnectionClosed:
            return True

    def _asynchronous(self, kind, payload, notices) -> bool:
        if kind == b"S":
            name, value = payload[:-1].decode().split("\0")
            self.parameters[name] = value
        elif kind == b"N":
            notices.append(decode_fields(payload))
        elif kind == b"A":
            end = payload.index(b"\0", 4)
            self.notifications.append((payload[4:end].decode(), payload[end + 1:-1].decode()))
        else:
            return False
        return True

    # start and end

    def request_tls(self, context, server_name="localhost"):
        """SSLRequest, and TLS once the server agrees. `context` is an ssl.SSLContext."""
        self.send(special_startup(SSL_REQUEST))
        answer = self.read_bytes(1)
        if answer != b"S":
            raise ValueError(f"the server answers {answer} to an SSLRequest")
        self.begin_tls(context, server_name)

    def begin_tls(self, context, server_name="localhost"):
        """TLS at once."""
        self.socket = context.wrap_socket(self.socket, server_hostname=server_name)

    def start(self, parameters: dict):
        self.send(startup(parameters))
        passwords = PasswordClient(parameters.get("user"), self.password)
        self.authentication = passwords.requests
        while True:
            kind, payload = self.read()
            if kind == b"R":
                code, = struct.unpack_from("!i", payload)
                answer = passwords.answer(code, payload[4:]) if code != 0 else None
                if answer is not None:
                    self.send(message(b"p", answer))
            elif kind == b"K":
                self.process_id, self.secret = struct.unpack("!iI", payload)
            elif kind == b"E":
                raise ServerError(decode_fields(payload))
            elif kind == b"Z":
                self.status = payload.decode()
                return
            elif not self._asynchronous(kind, payload, self.notices):
                raise ValueError(f"unexpected message {kind} at the start")

    def cancel(self):
        """A CancelRequest for this session, on a connection of its own; returns when the server has closed that."""
        with open_socket(self.address, self.timeout) as other:
            other.sendall(special_startup(CANCEL_REQUEST, struct.pack("!iI", self.process_id, self.secret)))
            try:
                other.recv(1)
            except ConnectionResetError:
                pass

    def has_input(self, seconds=0.0) -> bool:
        """Whether the server says something, or has closed the connection, in that time."""
        return bool(self.buffer) or bool(select.select([self.socket], [], [], seconds)[0])

    def close(self):
        try:
            self.socket.sendall(TERMINATE)
        except OSError:
            pass
        self.socket.close()

    def abandon(self):
        """Vanishes without a word, as a killed client does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    # statements

    def query(self, sql, data=b"") -> list:
        """Runs a string by the simple protocol: one Result per statement, the last of them perhaps with an error.

        `data` is what COPY FROM STDIN gets.
        """
        self.send(query(sql))
        return self.results(data)

    def extended(self, sql, values=(), formats=(), result_format=0, parameter_types=(), max_rows=0) -> Result:
        """Runs one statement by the extended protocol: Parse, Bind, Describe, Execute, Sync on the unnamed statement."""
        self.send(parse(sql, "", parameter_types) + describe(b"S")
                  + bind("", "", values, formats, (result_format,)) + describe(b"P") + execute("", max_rows) + SYNC)
        results = self.results()
        if len(results) == 2 and results[1].error:  # complete, but the commit at Sync failed
            results.pop(0)
        if len(results) != 1:
            raise ValueError(f"{len(results)} results of one statement")
        return results[0]

    def results(self, data=b"") -> list:
        """Collects answers up to ReadyForQuery; gives `data` to COPY FROM STDIN."""
        results, current, ended = [], Result(), True
        while True:
            kind, payload = self.read()
            if kind == b"Z":
                self.status = payload.decode()
                if not ended or current.notices:
                    results.append(current)
                return results
            if self._asynchronous(kind, payload, current.notices):
                continue
            ended = False
            if kind == b"T":
                current.columns = decode_columns(payload)
            elif kind == b"D":
                current.rows.append(decode_row(payload))
            elif kind == b"t":
                count, = struct.unpack_from("!h", payload)
                current.parameter_types = list(struct.unpack_from(f"!{count}I", payload, 2))
            elif kind in (b"C", b"E", b"I", b"s"):
                if kind == b"C":
                    current.tag = payload[:-1].decode()
                elif kind == b"E":
                    current.error = decode_fields(payload)
                elif kind == b"I":
                    current.empty = True
                else:
                    current.suspended = True
                results.append(current)
                current, ended = Result(), True
            elif kind == b"G":
                self.send(b"".join(copy_data(data[at:at + 60000]) for at in range(0, len(data), 60000)) + COPY_DONE)
            elif kind == b"d":
                current.copied += payload
            elif kind == b"H":
                current.copied = b""
            elif kind not in (b"1", b"2", b"3", b"n", b"c"):
                raise ValueError(f"unexpected message {kind}")

    def run(self, sql, *values) -> list:
        """Rows of a statement that must succeed, as str or None. With values: extended protocol, text parameters."""
        results = [self.extended(sql, values)] if values else self.query(sql)
        for result in results:
            if result.error:
                raise ServerError(result.error)
        return results[-1].texts() if results else []

    def run_error(self, sql, *values) -> dict:
        """The fields of the error of a statement that must fail."""
        result = self.extended(sql, values) if values else self.query(sql)[-1]
        if not result.error:
            raise AssertionError(f"no error from: {sql}")
        return result.error


def open_socket(address, timeout):
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        connection.connect(address)
        return connection
    connection = socket.create_connection(address, timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
