"""Threads that work on servers which may go away, and what errors say then."""
import threading
import time

from harness.pgwire import ConnectionClosed, ServerError

# To be tried again: it did not take place.
RETRIED = ("40001", "40P01", "55P03")
# A server is not there, or went away.
LOST = ("08006", "08007", "57P01", "57P03", "40003")


class Visitor(threading.Thread):
    """Works on one of the servers, on another after each loss, until it is told to stop."""

    def __init__(self, servers, number, timeout, settings=("SET lock_timeout = '1s'",)):
        super().__init__(daemon=True)
        self.servers, self.number, self.timeout, self.settings = servers, number, timeout, settings
        self.turn, self.retries, self.losses = 0, 0, 0
        self.trouble, self.stopped = None, threading.Event()

    def run(self):
        while not self.stopped.is_set():
            try:
                with self.servers[(self.number + self.losses) % len(self.servers)].connect(timeout=self.timeout) as connection:
                    for setting in self.settings:
                        connection.run(setting)
                    while not self.stopped.is_set():
                        self.turn += 1
                        self.work(connection)
            except (ConnectionClosed, OSError):
                self.losses += 1
            except ServerError as error:
                self.losses += 1
                if error.sqlstate not in LOST + RETRIED:
                    self.trouble = error
                    return
            except Exception as error:  # an error in a thread would be lost
                self.trouble = error
                return
            self.stopped.wait(0.1)


def end(visitors, patience):
    """All of them have come to their end; raises what one of them met."""
    for visitor in visitors:
        visitor.stopped.set()
    for visitor in visitors:
        visitor.join(patience)
        assert not visitor.is_alive(), "a visitor waits for ever"
    for visitor in visitors:
        if visitor.trouble is not None:
            raise visitor.trouble


def visit_under_kills(visitors, redis, servers, random, seconds, has_seen_enough):
    """Starts the visitors, kills Redis and the processes at random for so many seconds, or up to two minutes longer until the visitors have seen enough,
    and ends the visitors."""
    for visitor in visitors:
        visitor.start()
    started = time.monotonic()
    while time.monotonic() < started + seconds or time.monotonic() < started + seconds + 120 and not has_seen_enough():
        if any(visitor.trouble for visitor in visitors):
            break
        time.sleep(random.uniform(0.5, 2.5))
        if random.random() < 0.3:
            redis.kill()
            redis.start()
        else:
            random.choice(servers).kill()
        for server in servers:
            if server.process is None:
                server.start()
    end(visitors, 120)
