#!/usr/bin/python3
"""Costs of passwords: CPU time of a login with SCRAM, of statements behind one, and the latency of statements beside 500 logins a second.

    bench/login_cost.py [--build build/release] [--rate 500] [--seconds 5] [--rounds 5]

redquel has one thread. The clients that log in keep the client's key of the password, as drivers with a pool do: they cost less than redquel.
Prints medians of the rounds, which take turns with and without logins, and with SCRAM and trust.
"""
import argparse
import base64
import glob
import multiprocessing
import os
import socket
import statistics
import struct
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import passwords, processes  # noqa: E402
from harness.passwords import attributes, initial_response  # noqa: E402
from harness.processes import temporary_folder  # noqa: E402
from harness.programs import run  # noqa: E402
from harness.roles import add_role  # noqa: E402
from harness.servers import Redis, Redquel  # noqa: E402

PASSWORD, ITERATIONS, SALT = "secret", 4096, b"0123456789abcdef"
SALTED = passwords.hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), SALT, ITERATIONS)
CLIENT_KEY = passwords.hmac.digest(SALTED, b"Client Key", "sha256")
STORED_KEY = passwords.hashlib.sha256(CLIENT_KEY).digest()
CLIENTS = 4  # processes that log in
STARTUP = b"user\0ann\0database\0postgres\0\0"
SETUP = ["CREATE TABLE emp (empno int PRIMARY KEY, ename text)", "INSERT INTO emp SELECT g, 'name ' || g FROM generate_series(1, 10000) AS s(g)",
         "GRANT SELECT ON emp TO ann"]


def receive(connection, buffer):
    """The next message's type and body, and what is left of the buffer."""
    while len(buffer) < 5 or len(buffer) < 1 + struct.unpack("!i", buffer[1:5])[0]:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError("the server has closed the connection")
        buffer += more
    end = 1 + struct.unpack("!i", buffer[1:5])[0]
    return buffer[:1], buffer[5:end], buffer[end:]


def log_in(address):
    """Logs in until the server is ready, and says goodbye."""
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(struct.pack("!ii", len(STARTUP) + 8, 196608) + STARTUP)
        bare, buffer = b"n=,r=" + base64.b64encode(os.urandom(18)), b""
        while True:
            kind, body, buffer = receive(connection, buffer)
            if kind == b"E":
                raise ConnectionError(body.decode(errors="replace"))
            code = struct.unpack("!i", body[:4])[0] if kind == b"R" else None
            if code == passwords.SASL:
                answer = initial_response(b"SCRAM-SHA-256", passwords.NO_BINDING + bare)
            elif code == passwords.SASL_CONTINUE:
                without_proof = b"c=" + base64.b64encode(passwords.NO_BINDING) + b",r=" + attributes(body[4:])["r"]
                signature = passwords.hmac.digest(STORED_KEY, bare + b"," + body[4:] + b"," + without_proof, "sha256")
                answer = without_proof + b",p=" + base64.b64encode(bytes(a ^ b for a, b in zip(CLIENT_KEY, signature)))
            elif kind == b"Z":
                connection.sendall(b"X\0\0\0\4")
                return
            else:
                continue
            connection.sendall(b"p" + struct.pack("!i", len(answer) + 4) + answer)


def keep_logging_in(address, rate, goes_on, logins):
    """Logs in so many times a second, as well as it can."""
    begun, done = time.monotonic(), 0
    while goes_on.value:
        pause = begun + done / rate - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        log_in(address)
        done += 1
    with logins.get_lock():
        logins.value += done


class Logins:
    """Clients that log in while the block runs."""

    def __init__(self, address, rate):
        self.goes_on, self.count = multiprocessing.Value("b", 1), multiprocessing.Value("l", 0)
        self.clients = [multiprocessing.Process(target=keep_logging_in, args=(address, rate / CLIENTS, self.goes_on, self.count)) for _ in range(CLIENTS)]

    def __enter__(self):
        self.begun = time.monotonic()
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.goes_on.value = 0
        for client in self.clients:
            client.join()
        self.rate = self.count.value / (time.monotonic() - self.begun)


def statements(server, user, seconds, script, mode="prepared"):
    """Percentiles 50 and 99 of the latency in µs, and how many there were, of four clients at 1,000 statements a second."""
    folder = temporary_folder()
    run(["pgbench", "-n", "-M", mode, "-c", "4", "-R", "1000", "-T", str(seconds), "-l", "--log-prefix", f"{folder}/log", "-f", script, "-h", server.host,
         "-p", str(server.port), "-U", user, "postgres"], env={"PGPASSWORD": PASSWORD})
    taken = []
    for name in glob.glob(f"{folder}/log*"):
        with open(name, encoding="ascii") as file:
            taken.extend(int(line.split()[2]) - int(line.split()[6]) for line in file)  # without the lag of the schedule
    taken.sort()
    return taken[len(taken) // 2], taken[len(taken) * 99 // 100], len(taken)


def cpu_seconds(pid):
    """CPU time of a process so far, all of its threads."""
    return sum(int(read(f"{task}/schedstat").split()[0]) for task in glob.glob(f"/proc/{pid}/task/*")) / 1e9


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def cost(server, user, script, count):
    """Microseconds of the server's CPU for a transaction."""
    before = cpu_seconds(server.process.pid)
    run(["pgbench", "-n", "-c", "4", "-t", str(count // 4), *script, "-h", server.host, "-p", str(server.port), "-U", user, "postgres"],
        env={"PGPASSWORD": PASSWORD})
    return (cpu_seconds(server.process.pid) - before) / count * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    processes.start_guardian()
    folder = temporary_folder()
    script, configuration = f"{folder}/point.sql", f"{folder}/redquel.toml"
    with open(script, "w", encoding="ascii") as file:
        file.write("\\set id random(1, 10000)\nSELECT ename FROM emp WHERE empno = :id;\n")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write('[authentication]\nrules = """\nhost all ann all scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n"""\n')
    redis = Redis().start()
    server = Redquel(os.path.abspath(options.build), redis, "--config", configuration, "--threads", "1").start()
    try:
        add_role(redis, "ann", passwords.scram_verifier(PASSWORD, SALT, ITERATIONS), superuser=True)
        run(["psql", "-Xq", "-h", server.host, "-p", str(server.port), "-U", "postgres", "postgres", *[word for sql in SETUP for word in ("-c", sql)]])
        run(["pgbench", "-i", "-q", "-h", server.host, "-p", str(server.port), "-U", "postgres", "postgres"])
        address = (server.host, int(server.port))
        pid = server.process.pid
        for _ in range(50):
            log_in(address)
        before, count = cpu_seconds(pid), 2000
        for _ in range(count):
            log_in(address)
        print(f"a login with SCRAM: {(cpu_seconds(pid) - before) / count * 1e3:.3f} ms of redquel's CPU", flush=True)
        for name, words, number in (("point select", ["-M", "simple", "-f", script], 20000), ("TPC-B", ["-M", "simple"], 8000)):
            costs = {"postgres": [], "ann": []}
            for _ in range(options.rounds):
                for user, found in costs.items():
                    found.append(cost(server, user, words, number))
            trust, scram = (statistics.median(costs[user]) for user in ("postgres", "ann"))
            print(f"{name}: {trust:.1f} µs of CPU behind trust, {scram:.1f} behind SCRAM: {scram / trust:.3f} times", flush=True)
        alone, beside, rates = [], [], []
        for _ in range(options.rounds):
            alone.append(statements(server, "ann", options.seconds, script))
            with Logins(address, options.rate) as logins:
                beside.append(statements(server, "ann", options.seconds, script))
            rates.append(logins.rate)
        print(f"{statistics.median(rates):.0f} logins a second")
        for index, percentile in enumerate((50, 99)):
            quiet, loud = (statistics.median(found[index] for found in rounds) for rounds in (alone, beside))
            ratio = statistics.median(b[index] / a[index] for a, b in zip(alone, beside))
            print(f"{percentile}th percentile: {quiet:.0f} µs alone, {loud:.0f} µs beside them: {ratio:.2f} times", flush=True)
    finally:
        server.stop()
        redis.stop()


if __name__ == "__main__":
    main()
