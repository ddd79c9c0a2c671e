"""The servers that are compared, with the same tables in each: one world for each durability."""
import dataclasses
import functools
import os
import shutil
import socket
import subprocess

from harness.processes import Process, temporary_folder
from harness.programs import psql
from harness.servers import Postgres, Redis, Redquel


@dataclasses.dataclass(frozen=True)
class Durability:
    """What a commit survives, paired so that both sides promise the same."""
    name: str
    redis: tuple
    postgres: dict


DURABILITIES = [
    Durability("memory", (), {"fsync": "off", "synchronous_commit": "off"}),
    Durability("second", ("--appendonly", "yes", "--appendfsync", "everysec"), {"fsync": "on", "synchronous_commit": "off"}),
    Durability("always", ("--appendonly", "yes", "--appendfsync", "always"), {"fsync": "on", "synchronous_commit": "on"}),
]

# Sets of integers stay compact up to this size, as with the embedded Redis and conf/.
REDIS_OPTIONS = ("--set-max-intset-entries", "16384")

DEPARTMENTS, CITIES, TAGS, BOOKS, THEMES, PRODUCTS = 100, 50, 200, 20_000, 500, 10_000

TABLES = """
CREATE TABLE emp (emp_id integer PRIMARY KEY, ename text NOT NULL, dept integer NOT NULL, city integer NOT NULL,
                  salary integer NOT NULL, hired date NOT NULL);
CREATE INDEX emp_dept ON emp USING hash (dept);
CREATE INDEX emp_city ON emp USING hash (city);
CREATE INDEX emp_salary ON emp USING {ordered} (salary);
CREATE TABLE department (dept integer PRIMARY KEY, dname text NOT NULL);
CREATE TABLE counter (id integer PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE tag (book_id integer NOT NULL, tag text NOT NULL, PRIMARY KEY (tag, book_id));
CREATE INDEX tag_tag ON tag USING hash (tag);
CREATE TABLE book (book_id integer PRIMARY KEY, title text NOT NULL);
CREATE TABLE product (product_id integer PRIMARY KEY, name text NOT NULL, price numeric NOT NULL);
CREATE TABLE theme_product (theme_id integer NOT NULL, product_id integer NOT NULL, PRIMARY KEY (theme_id, product_id));
CREATE INDEX theme_product_theme ON theme_product USING hash (theme_id);
INSERT INTO department SELECT d, 'department ' || d FROM generate_series(1, {departments}) d;
INSERT INTO counter SELECT i, 0 FROM generate_series(1, 10000) i;
INSERT INTO tag SELECT b, 'tag' || t FROM generate_series(1, {books}) b, generate_series(1, {tags}) t WHERE (b * 7919 + t * 104729) % 40 = 0;
INSERT INTO book SELECT b, 'book ' || b FROM generate_series(1, {books}) b;
INSERT INTO product SELECT p, 'product ' || p, p / 100.0 FROM generate_series(1, {products}) p;
INSERT INTO theme_product SELECT t, (t * 7919 + p * 104729) % {products} + 1 FROM generate_series(1, {themes}) t, generate_series(1, 30) p;
"""

# Deterministic, so that every server holds the same rows.
ROWS = """INSERT INTO emp SELECT i, 'name ' || i, (i::bigint * 7919 % {departments})::int + 1, (i::bigint * 104729 % 5003 % {cities})::int + 1,
  (i::bigint * 15485863 % 1000003)::int, date '2000-01-01' + i % 9000 FROM generate_series({first}, {last}) i;"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class MeasuredPostgres(Postgres):
    """PostgreSQL over TCP as a server that is measured: memory enough, durability as told."""

    def start(self, settings):
        self.port = free_port()
        return self.start_with({"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "",
                                "shared_buffers": "1GB", "max_wal_size": "4GB", "max_connections": 300, **settings})

    @property
    def address(self):
        return ("127.0.0.1", self.port)


class Bouncer:
    """pgbouncer in transaction mode before a PostgreSQL. It refuses to run as root."""

    def __init__(self, postgres):
        self.postgres = postgres
        self.folder = temporary_folder()
        self.address = ("127.0.0.1", free_port())

    def start(self):
        with open(f"{self.folder}/pgbouncer.ini", "w") as file:
            file.write(f"[databases]\npostgres = host=127.0.0.1 port={self.postgres.port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                       f"listen_port = {self.address[1]}\nauth_type = any\npool_mode = transaction\nmax_client_conn = 500\n"
                       "default_pool_size = 16\nserver_reset_query =\nignore_startup_parameters = extra_float_digits\nunix_socket_dir =\n")
            file.write("[users]\n")
        user = self.postgres.user
        if user:
            shutil.chown(self.folder, user, user)
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        self.process = Process([program, f"{self.folder}/pgbouncer.ini"], f"{self.folder}/log", user=user, cwd=self.folder)
        self.process.wait_for_line("process up")
        return self

    def stop(self):
        self.process.stop()


class Null:
    """bench/tools/null_server: what pgbench and the kernel leave room for."""

    def __init__(self, build):
        self.binary = f"{build}/bench/null_server"
        self.address = ("127.0.0.1", free_port())

    def start(self):
        self.process = Process([self.binary, self.address[1], 2], f"{temporary_folder()}/log")
        self.process.wait_for_line("ready")
        return self

    def stop(self):
        self.process.stop()


@dataclasses.dataclass(frozen=True)
class RedisAddress:
    """A Redis that was started elsewhere."""
    url: str


class World:
    """The servers of one durability with the tables loaded. `postgres`, `redquel`, `redquel_tcp` (which reaches the same Redis over TCP
    instead of the unix socket), `null`, `bouncer` (None where pgbouncer is not installed) are what pgbench connects to."""

    def __init__(self, build, durability, rows):
        self.build, self.durability, self.rows = build, durability, rows
        self.started = []

    def __enter__(self):
        subprocess.run(["cmake", "--build", self.build, "--target", "bench_tools"], check=True, stdout=subprocess.DEVNULL)
        redis_port = free_port()
        self.redis = self._keep(Redis(*REDIS_OPTIONS, "--bind", "127.0.0.1", "--port", str(redis_port), *self.durability.redis)).start()
        config = f"{temporary_folder()}/redquel.toml"
        with open(config, "w") as file:
            file.write("[limits]\nmax_connections = 6000\n")
        self.redquel = self._keep(Redquel(self.build, self.redis, "--config", config)).start()
        self.redquel_tcp = self._keep(Redquel(self.build, RedisAddress(f"redis://127.0.0.1:{redis_port}/0"), "--config", config)).start()
        self.postgres = self._keep(MeasuredPostgres()).start(self.durability.postgres)
        self.null = self._keep(Null(self.build)).start()
        self.bouncer = None
        if shutil.which("pgbouncer") or os.path.exists("/usr/sbin/pgbouncer"):
            self.bouncer = self._keep(Bouncer(self.postgres)).start()
        for server, ordered in ((self.redquel, "zset"), (self.postgres, "btree")):
            psql(server, TABLES.format(ordered=ordered, departments=DEPARTMENTS, cities=CITIES, tags=TAGS, books=BOOKS, themes=THEMES, products=PRODUCTS), timeout=600)
            for first in range(1, self.rows + 1, 100_000):
                last = min(first + 99_999, self.rows)
                psql(server, ROWS.format(departments=DEPARTMENTS, cities=CITIES, first=first, last=last), timeout=600)
            psql(server, "VACUUM ANALYZE;")
        return self

    @functools.cache
    def zero_padded_rows(self):
        """Copies of emp's rows under the keys that redis-benchmark makes of __rand_int__: padded:000000000001 and so on."""
        with self.redis.connect() as redis:
            for first in range(1, self.rows + 1, 1000):
                redis("EVAL", "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do redis.call('COPY', 'emp:' .. i, string.format('padded:%012d', i - 1)) end",
                      0, first, min(first + 999, self.rows))

    def __exit__(self, *_):
        for server in reversed(self.started):
            server.stop()

    def _keep(self, server):
        self.started.append(server)
        return server

    def pgbench_program(self):
        return self.postgres.binary("pgbench")
