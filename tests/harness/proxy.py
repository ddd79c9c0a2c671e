"""A proxy between redquel and Redis that holds, delays, splits and cuts what passes through it."""
import os
import socket
import threading

from harness.processes import temporary_folder

COMMANDS, REPLIES = "commands", "replies"


class Way:
    """One direction of all connections. While it is held, nothing passes."""

    def __init__(self):
        self.condition = threading.Condition()
        self.left = None     # pieces that may still pass; None: all
        self.marker = b""    # only pieces that contain it count
        self.is_held = False  # a piece has come that may not

    def hold(self, after, marker):
        with self.condition:
            self.left, self.marker, self.is_held = after, marker, False

    def let_go(self):
        with self.condition:
            self.left = None
            self.condition.notify_all()

    def pass_one(self, piece):
        """Returns when the piece may pass."""
        with self.condition:
            while self.left == 0 and self.marker in piece:
                self.is_held = True
                self.condition.wait()
            if self.left and self.marker in piece:
                self.left -= 1


class Proxy:
    """Stands in for a Redis of servers.py."""

    def __init__(self, redis, random=None):
        self.redis, self.random = redis, random
        self.path = f"{temporary_folder()}/proxy.sock"
        self.ways = {COMMANDS: Way(), REPLIES: Way()}
        self.delays = {COMMANDS: 0.0, REPLIES: 0.0}  # seconds, of each piece
        self.splits = False  # bytes go on in random pieces
        self.lock, self.clients = threading.Lock(), set()
        self.ended = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(100)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"unix://{self.path}"

    def connect(self):
        """A connection to Redis past the proxy."""
        return self.redis.connect()

    def hold(self, direction, after=0, marker=b""):
        """Lets so many pieces pass, and none after them. Pieces without the marker always pass, but not behind one that is held on their connection."""
        self.ways[direction].hold(after, marker)

    def let_go(self, direction):
        self.ways[direction].let_go()

    def holds(self, direction):
        """Returns true if something has come that may not pass."""
        return self.ways[direction].is_held

    def cut(self):
        """Ends redquel's side of all connections. Commands that are held or delayed still arrive at Redis later."""
        with self.lock:
            clients, self.clients = self.clients, set()
        for client in clients:
            self._shut(client)

    def stop(self):
        self.ended.set()
        for way in self.ways.values():
            way.let_go()
        self.listener.close()
        self.cut()
        if os.path.exists(self.path):
            os.unlink(self.path)

    @staticmethod
    def _shut(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _accept(self):
        while not self.ended.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.redis.socket_path)
            except OSError:  # it does not run now
                client.close()
                continue
            with self.lock:
                self.clients.add(client)
            threading.Thread(target=self._pump, args=(client, server, COMMANDS), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, REPLIES), daemon=True).start()

    def _pump(self, source, target, direction):
        try:
            while piece := source.recv(65536):
                self._wait_for_way(direction, piece)
                for part in self._parts(piece):
                    target.sendall(part)
        except OSError:
            pass
        # Whichever side ended first, the other one learns of it after the bytes that were on their way.
        self._shut(target)
        if direction == REPLIES:
            with self.lock:
                self.clients.discard(target)
            self._shut(source)

    def _wait_for_way(self, direction, piece):
        self.ways[direction].pass_one(piece)
        if self.delays[direction] > 0:
            self.ended.wait(self.delays[direction])

    def _parts(self, piece):
        if not self.splits:
            return [piece]
        cuts = sorted(self.random.randrange(len(piece)) for _ in range(3))
        return [part for part in (piece[a:b] for a, b in zip([0, *cuts], [*cuts, len(piece)])) if part]
