#!/usr/bin/python3
"""CPU time of a point select over TLS 1.3 beside one without, of redquel and of PostgreSQL.

    bench/tls_cost.py [--build build/release] [--statements 20000] [--rounds 3]

Prints microseconds of the server's CPU time (user and system) per statement of pgbench, the medians of the rounds, and their ratios.
"""
import argparse
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import processes  # noqa: E402
from harness.certificates import Authority  # noqa: E402
from harness.processes import temporary_folder  # noqa: E402
from harness.programs import run  # noqa: E402
from harness.servers import Postgres, Redis, Redquel  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
SETUP = ["CREATE TABLE emp (empno int PRIMARY KEY, ename text)", "INSERT INTO emp SELECT g, 'name ' || g FROM generate_series(1, 10000) AS s(g)"]


def cpu_seconds(pid, of_children):
    """CPU time of a process, or of its children that have ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(field) for field in (fields[13:15] if of_children else fields[11:13])) / TICK


def cost(pid, of_children, host, port, mode, script, statements):
    """Microseconds of the server's CPU per statement."""
    before = cpu_seconds(pid, of_children)
    run(["pgbench", "-n", "-M", "prepared", "-c", "1", "-t", str(statements), "-f", script, "-h", host, "-p", str(port), "-U", "postgres", "postgres"],
        env={"PGSSLMODE": mode})
    return (cpu_seconds(pid, of_children) - before) / statements * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--statements", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    processes.start_guardian()
    issued = Authority().issue(key_options=("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    folder = temporary_folder()
    script, configuration = f"{folder}/point.sql", f"{folder}/redquel.toml"
    with open(script, "w", encoding="ascii") as file:
        file.write("\\set id random(1, 10000)\nSELECT ename FROM emp WHERE empno = :id;\n")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(f'[tls]\ncertificate = "{issued.certificate}"\nkey = "{issued.key}"\n')
    postgres = Postgres()
    if postgres.user:
        for path in (issued.key, os.path.dirname(issued.key)):
            os.chmod(path, 0o755 if os.path.isdir(path) else 0o640)
        os.chown(issued.key, 0, __import__("grp").getgrnam(postgres.user).gr_gid)
    postgres.start_with({"listen_addresses": "127.0.0.1", "unix_socket_directories": postgres.folder, "port": 5432 + os.getpid() % 10000, "fsync": "off",
                         "ssl": "on", "ssl_cert_file": issued.certificate, "ssl_key_file": issued.key, "autovacuum": "off", "jit": "off"})
    port = 5432 + os.getpid() % 10000
    redis = Redis().start()
    redquel = Redquel(os.path.abspath(options.build), redis, "--config", configuration, "--threads", "1").start()
    servers = {"PostgreSQL": (postgres.process.pid, True, "127.0.0.1", port), "redquel": (redquel.process.pid, False, redquel.host, redquel.port)}
    try:
        for _, _, host, number in servers.values():
            run(["psql", "-Xq", "-h", host, "-p", str(number), "-U", "postgres", "postgres", *[word for sql in SETUP for word in ("-c", sql)]])
        for name, place in servers.items():
            costs = {mode: [] for mode in ("disable", "require")}
            for _ in range(options.rounds):
                for mode, found in costs.items():
                    found.append(cost(*place, mode, script, options.statements))
            plain, encrypted = (statistics.median(costs[mode]) for mode in ("disable", "require"))
            print(f"{name}: {plain:.1f} µs plain, {encrypted:.1f} µs within TLS 1.3: {encrypted - plain:.1f} µs more, {encrypted / plain:.2f} times", flush=True)
    finally:
        redquel.stop()
        redis.stop()
        postgres.stop()


if __name__ == "__main__":
    main()
