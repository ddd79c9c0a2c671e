"""Threads that work on servers which may go away, and what errors say then."""
import threading

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
