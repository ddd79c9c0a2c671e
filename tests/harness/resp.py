"""A small Redis client (RESP2) for tests: what is really stored, and which commands Redis really received."""
import os
import socket


class RedisError(Exception):
    pass


class RedisConnection:
    def __init__(self, socket_path, timeout=120.0):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        if len(socket_path) < 100:
            self.socket.connect(socket_path)
        else:  # longer than a socket's address may be: through the folder
            folder = os.open(os.path.dirname(socket_path), os.O_DIRECTORY)
            try:
                self.socket.connect(f"/proc/self/fd/{folder}/{os.path.basename(socket_path)}")
            finally:
                os.close(folder)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stream.close()
        self.socket.close()

    def __call__(self, *words):
        """One command, one reply: str, int, list or None. Raises RedisError for an error reply."""
        self.socket.sendall(encode(words))
        return self._reply()

    def pipeline(self, commands):
        """Replies of several commands; an error reply is returned as a RedisError."""
        self.socket.sendall(b"".join(encode(command) for command in commands))
        replies = []
        for _ in commands:
            try:
                replies.append(self._reply())
            except RedisError as error:
                replies.append(error)
        return replies

    def _reply(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if int(rest) < 0:
                return None
            return self.stream.read(int(rest) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"*":
            return None if int(rest) < 0 else [self._reply() for _ in range(int(rest))]
        raise ValueError(f"reply {line!r}")

    def next_message(self):
        """The next message of a channel, after a command that subscribes."""
        return self._reply()

    def hash(self, key):
        flat = self("HGETALL", key)
        return dict(zip(flat[::2], flat[1::2]))

    def info(self, section):
        lines = self("INFO", section).split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def command_counts(self):
        """Calls of each command since the start or the last CONFIG RESETSTAT, without those of this client."""
        counts = {}
        for name, text in self.info("commandstats").items():
            command = name.removeprefix("cmdstat_").upper()
            if command not in ("INFO", "CONFIG|RESETSTAT"):
                counts[command] = int(text.split(",")[0].removeprefix("calls="))
        return counts

    def keys(self, pattern="*"):
        """All keys, by SCAN, sorted."""
        cursor, found = "0", set()
        while True:
            cursor, names = self("SCAN", cursor, "MATCH", pattern, "COUNT", "1000")
            found.update(names)
            if cursor == "0":
                return sorted(found)


def encode(words):
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        raw = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogateescape")
        parts.append(f"${len(raw)}\r\n".encode() + raw + b"\r\n")
    return b"".join(parts)
