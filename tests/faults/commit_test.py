"""The connection to Redis breaks during COMMIT: the client learns what became of it, and that stays true."""
import os
import select
import socket
import threading

from harness.pgwire import ServerError
from harness.processes import temporary_folder
from harness.resp import RedisConnection, encode

MARK = b"\r\nredquel:commits:"  # the token that a commit leaves, in the call of its script


class Wire:
    """Stands between a redquel and its Redis, and breaks the connection at the first commit.

    lost answer: the commit reaches Redis, its answer is lost; never sent: the commit is lost; late: it arrives when it is released.
    """

    def __init__(self, target):
        self.target, self.path = target, f"{temporary_folder()}/wire.sock"
        self.url = f"unix://{self.path}"
        self.plan, self.cuts = None, 0
        self.released, self.delivered = threading.Event(), threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def connect(self):
        return RedisConnection(self.target)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            redis = socket.socket(socket.AF_UNIX)
            try:
                redis.connect(self.target)
            except OSError:  # Redis has ended: so does what would have been carried to it
                client.close()
                continue
            threading.Thread(target=self.carry, args=(client, redis), daemon=True).start()

    def carry(self, client, redis):
        try:
            while True:
                for ready in select.select([client, redis], [], [])[0]:
                    data = ready.recv(1 << 20)
                    if not data:
                        return
                    if ready is client and self.plan and MARK in data:
                        return self.cut(client, redis, data)
                    (redis if ready is client else client).sendall(data)
        except OSError:
            pass
        finally:
            client.close()

    def cut(self, client, redis, data):
        plan, self.plan = self.plan, None
        self.cuts += 1
        if plan == "lost answer":
            self.deliver(redis, data)
        client.shutdown(socket.SHUT_RDWR)
        client.close()
        if plan == "late":
            self.released.wait(200)
            self.deliver(redis, data)
            self.delivered.set()
        redis.close()

    @staticmethod
    def deliver(redis, data):
        """Returns when Redis has run it."""
        redis.sendall(data + encode(["ECHO", "delivered"]))
        answer = b""
        while b"delivered" not in answer:
            answer = answer[-20:] + redis.recv(1 << 16)


def outcome(connection, sql):
    try:
        connection.run(sql)
    except ServerError as error:
        return error.sqlstate
    return "done"


def test_the_outcome_of_a_commit_is_found_out(make_redis, make_server):
    redis = make_redis()
    wire = Wire(redis.socket_path)
    server, witness = make_server(redis=wire), make_server(redis=redis)
    with witness.connect() as other:
        other.run("CREATE TABLE account (id integer PRIMARY KEY, balance integer); INSERT INTO account VALUES (1, 0)")
        other.run("INSERT INTO account VALUES (2, 0)")  # the script becomes known to Redis: a call of an unknown one is no commit
        expected = 0
        for plan, answer in (("lost answer", "done"), ("never sent", "40001"), ("late", "40001"), ("lost answer", "done")):
            with server.connect() as connection:
                connection.run("BEGIN")
                connection.run("UPDATE account SET balance = balance - 1, id = id WHERE id = 1")
                connection.run("UPDATE account SET balance = balance + 1 WHERE id = 2 RETURNING balance")
                wire.plan = plan
                given = outcome(connection, "COMMIT")
                assert given == answer, (plan, given)
                expected += answer == "done"
                if plan == "late":
                    wire.released.set()
                    assert wire.delivered.wait(120)  # it arrives, and is refused
                found = other.run("SELECT balance FROM account ORDER BY id")
                assert found == [[str(-expected)], [str(expected)]], (plan, found)
                found = connection.run("SELECT balance FROM account WHERE id = 2")
                assert found == [[str(expected)]], ("the session goes on", found)
        assert wire.cuts == 4, wire.cuts
        # No lock is left.
        other.run("UPDATE account SET balance = 0")


def test_a_restarted_redis_cannot_tell(make_redis, make_server):
    redis = make_redis()
    wire = Wire(redis.socket_path)
    server = make_server(redis=wire)
    with server.connect() as connection:
        connection.run("CREATE TABLE account (id integer PRIMARY KEY, balance integer); INSERT INTO account VALUES (1, 0)")
        connection.run("BEGIN")
        connection.run("UPDATE account SET balance = 5 WHERE id = 1")
        real = wire.cut

        def cut_and_restart(client, behind, data):
            wire.plan = None
            redis.kill()
            os.unlink(redis.socket_path)
            redis.start()
            client.close()

        wire.cut, wire.plan = cut_and_restart, "restart"
        given = outcome(connection, "COMMIT")
        assert given in ("08007", "40001"), given
        wire.cut = real
