"""Throw-away servers: PostgreSQL (the oracle), Redis, redquel. Each starts on demand and is ready when its log says so."""
import functools
import glob
import os
import re
import signal
import shutil
import subprocess
import time

from harness import pgwire
from harness.other_servers import managed_rule
from harness.processes import Process, guard_process, temporary_folder
from harness.resp import RedisConnection
from harness.waiting import wait_for

# The settings of both servers' connections, so that a difference is never one of settings.
SESSION = {"client_encoding": "UTF8", "DateStyle": "ISO, MDY", "TimeZone": "UTC", "application_name": "tests"}


# The objects of a database besides schemas that a test made (OIDs from 16384 on).
LEFT_OVER = "SELECT " + " + ".join(f"(SELECT count(*) FROM {table} WHERE oid >= 16384)" for table in (
    "pg_cast", "pg_language", "pg_extension", "pg_foreign_data_wrapper", "pg_foreign_server", "pg_event_trigger", "pg_publication",
    "pg_largeobject_metadata", "pg_default_acl", "pg_transform")) + " + (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase > 0)"


# The uses of one emptied database.
USES = 50


def postgres_binary(name):
    """Returns the path of a program of PostgreSQL 15, else of another version."""
    for folder in ["/usr/lib/postgresql/15/bin", *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    return shutil.which(name) or name


@functools.cache
def postgres_version():
    """Returns the version of the installed PostgreSQL: (15, 20)."""
    printed = subprocess.run([postgres_binary("postgres"), "--version"], check=True, capture_output=True, text=True).stdout
    major, minor = re.search(r"PostgreSQL\) (\d+)\.(\d+)", printed).groups()
    return int(major), int(minor)


def compared_versions():
    """Returns the servers that hold the compared answers and the data: "PostgreSQL 15.20, Redis 7.0.15"."""
    redis = subprocess.run(["redis-server", "--version"], check=True, capture_output=True, text=True).stdout
    major, minor = postgres_version()
    return f"PostgreSQL {major}.{minor}, Redis {re.search(r'v=([0-9.]+)', redis)[1]}"


class Postgres:
    """PostgreSQL 15 in C locale and UTF8, on a unix socket, without fsync, and without autovacuum: nothing comes between or changes plans."""

    def __init__(self):
        self.folder = temporary_folder()
        self.user = "postgres" if os.getuid() == 0 else None
        self.process = None
        self._databases = 0
        self._emptied = {}  # process: database
        self._uses = 0

    def start(self):
        return self.start_with({"listen_addresses": "", "unix_socket_directories": self.folder, "port": 5432, "fsync": "off",
                                "full_page_writes": "off", "synchronous_commit": "off", "max_connections": 200, "timezone": "UTC",
                                "lc_messages": "C", "log_min_messages": "log", "log_checkpoints": "off", "autovacuum": "off", "shared_buffers": "64MB"})

    def start_with(self, settings):
        """Makes a cluster and starts it with these run-time parameters."""
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        data = f"{self.folder}/data"
        options = dict(user=self.user, group=self.user, extra_groups=[]) if self.user else {}
        subprocess.run([postgres_binary("initdb"), "-D", data, "--locale=C", "-E", "UTF8", "-U", "postgres", "-A", "trust", "-N",
                        "--no-instructions"], check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **options)
        self.process = Process([postgres_binary("postgres"), "-D", data, "-c", "logging_collector=off",
                                *[word for name, value in settings.items() for word in ("-c", f"{name}={value}")]],
                               f"{self.folder}/log", user=self.user, cwd=self.folder)
        self.process.wait_for_line("ready to accept connections")
        return self

    @property
    def address(self):
        return f"{self.folder}/.s.PGSQL.5432"

    def connect(self, database="postgres", timeout=120.0, **parameters):
        return pgwire.Connection(self.address, database=database, timeout=timeout, **{**SESSION, **parameters})

    def socket(self, timeout=120.0):
        """A connection on which nothing has been sent yet."""
        return pgwire.Connection(self.address, timeout=timeout, start=False)

    def alive(self):
        return self.process.alive()

    def create_database(self):
        """A fresh, empty database; returns its name."""
        self._databases += 1
        name = f"fresh_{os.getpid()}_{self._databases}"
        with self.connect() as connection:
            connection.run(f"CREATE DATABASE {name} TEMPLATE template0")
        return name

    def drop_database(self, name):
        with self.connect() as connection:
            connection.run(f"DROP DATABASE {name} WITH (FORCE)")

    def emptied_database(self, side="oracle"):
        """A database that this process uses again and again for one side of a comparison, without sessions, and with an empty schema
        public: a new one takes twenty times as long. Where more than schemas is left of its last use, or much that was not vacuumed,
        it is a new one all the same."""
        use = (os.getpid(), side)
        name = self._emptied[use] = self._emptied.get(use) or self.create_database()
        with self.connect(name) as connection:
            connection.run("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                           "WHERE datname = current_database() AND pid <> pg_backend_pid()")
            for schema, in connection.run("SELECT quote_ident(nspname) FROM pg_namespace WHERE oid >= 16384 OR nspname = 'public'"):
                connection.run(f"DROP SCHEMA {schema} CASCADE")
            connection.run("CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; "
                           "COMMENT ON SCHEMA public IS 'standard public schema'")
            self._uses += 1
            if self._uses % USES and connection.run(LEFT_OVER) == [["0"]]:
                return name
        self.drop_database(name)
        del self._emptied[use]
        return self.emptied_database(side)

    def stop(self):
        if self.process:
            self.process.stop(signal.SIGQUIT)


class Redis:
    """A plain redis-server on a unix socket, without persistence unless asked for."""

    def __init__(self, *options):
        self.folder = temporary_folder()
        self.socket_path = f"{self.folder}/redis.sock"
        self.options = options
        self.process = None
        self.login = ""  # "user:password@"

    def start(self):
        self.process = Process(["redis-server", "--port", "0", "--unixsocket", self.socket_path, "--dir", self.folder,
                                "--save", "", "--daemonize", "no", *self.options], f"{self.folder}/redis.log")
        self.process.wait_for_line("[Rr]eady to accept connections (at|unix)")  # of Redis, of Valkey
        if os.environ.get("MANAGED_REDIS"):
            with self.connect() as connection:
                connection(*managed_rule(connection("COMMAND", "LIST")))
            self.login = "redquel:managed@"
        return self

    @property
    def url(self):
        return f"unix://{self.login}{self.socket_path}"

    def connect(self):
        return RedisConnection(self.socket_path)

    def restrict(self, build, keys="all"):
        """From now on a redquel logs in as a Redis user with the least rights, as `redquel check --acl` prints them. Returns the rule's words."""
        words = least_acl_rule(build, self, keys)
        with self.connect() as connection:
            connection(*words)
        self.login = "redquel:least@"
        return words

    def flush(self):
        with self.connect() as connection:
            connection("FLUSHALL")

    def stop(self):
        if self.process:
            self.process.stop()

    def kill(self):
        self.process.kill()


def least_acl_rule(build, redis, keys="all"):
    """The words of the ACL SETUSER command that `redquel check --acl` prints."""
    printed = subprocess.run([os.path.join(build, "redquel"), "check", "--redis", redis.url, f"--acl={keys}"], check=True, capture_output=True,
                             text=True, env={**os.environ, **sanitizer_environment()})
    return printed.stdout.replace(">PASSWORD", ">least").split()


def with_cache(options, folder, memory):
    """The options of a redquel that keeps every table in memory; unchanged where `memory` is None."""
    if not memory:
        return options
    text = ""
    if "--config" in options:
        place = options.index("--config")
        with open(options[place + 1], encoding="utf-8") as file:
            text = file.read()
        options = (*options[:place], *options[place + 2:])
    if "[cache]" not in text:
        text += f'\n[cache]\nmemory = "{memory}"\nleast_rows = 1\nfirst_scan = 1\nthreads = 2\n'
    path = f"{folder}/cache.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return ("--config", path, *options)


def passing(sockets):
    """The first words of a command that gets the sockets as systemd passes them: as descriptors from 3 on, counted in LISTEN_FDS."""
    if not sockets:
        return []
    moves = " ".join(f"{number}<&{socket.fileno()}" for number, socket in enumerate(sockets, 3))
    return ["bash", "-c", f'exec {moves}; LISTEN_PID=$$ LISTEN_FDS={len(sockets)} exec "$0" "$@"']


class Redquel:
    """A redquel of the given build, over a Redis of the harness or, with `redis=None`, over its embedded one."""

    def __init__(self, build, redis=None, *options, data_dir=None, environment=None):
        self.binary = os.path.join(build, "redquel")
        self.redis = redis
        self.options = options
        self.folder = temporary_folder()
        self.data_dir = data_dir or f"{self.folder}/data"
        self.environment = {**os.environ, **sanitizer_environment(), **(environment or {})}
        self.cache = None  # the size of memory for tables; None: as tests/run.py --cache says
        self.process = None
        self.address = None
        self.embedded_redis = None
        self.listen = "127.0.0.1:0"
        self.sockets = ()  # listening sockets that it gets as a service manager passes them, in place of an address of its own

    def start(self):
        memory = self.cache or os.environ.get("CACHE_MEMORY")
        command = [*passing(self.sockets), self.binary, *self.words(), "--listen", self.listen, *with_cache(self.options, self.folder, memory)]
        self.process = Process(command, f"{self.folder}/redquel.log", environment=self.environment, cwd=self.folder,
                               pass_fds=[socket.fileno() for socket in self.sockets])
        ready = self.process.wait_for_line(r"^ready (\S+):(\d+)$")
        self.address = (ready[1], int(ready[2]))
        if not self.redis:
            self.embedded_redis = self._child()
            guard_process(self.embedded_redis)
        return self

    def words(self):
        """The words of the command line that name the Redis."""
        return ["--redis", self.redis.url] if self.redis else ["--embedded", "--data-dir", self.data_dir]

    def _child(self):
        """The pid of the embedded Redis."""
        with self.redis_connection() as connection:
            return int(connection.info("server")["process_id"])

    @property
    def host(self):
        return self.address[0]

    @property
    def port(self):
        return self.address[1]

    def connect(self, database="postgres", timeout=120.0, **parameters):
        if not self.address:  # its port may be another server's by now
            raise ConnectionRefusedError("the server does not run")
        return pgwire.Connection(self.address, database=database, timeout=timeout, **{**SESSION, **parameters})

    def socket(self, timeout=120.0):
        """A connection on which nothing has been sent yet."""
        return pgwire.Connection(self.address, timeout=timeout, start=False)

    def redis_connection(self):
        if self.redis:
            return self.redis.connect()
        sockets = [path for path in glob.glob(f"{self.data_dir}/*") if path.endswith(".sock")]
        return RedisConnection(sockets[0])

    def alive(self):
        return self.process.alive()

    def stop(self, timeout=60.0):
        """Ends the server as a service manager does. Raises if that is not a clean end: a sanitizer speaks at the end, too."""
        if not self.process:
            return
        status = self.process.stop(signal.SIGTERM, timeout)
        process, self.process, self.address = self.process, None, None
        if status != 0:
            raise ServerDied(f"redquel ended with status {status}\n{tail(process.log())}")
        if self.embedded_redis and wait_until_gone(self.embedded_redis, 60) is False:
            raise ServerDied(f"the embedded Redis {self.embedded_redis} still runs")

    def kill(self):
        """SIGKILL, now."""
        process, self.process, self.address = self.process, None, None
        process.kill()

    def restart(self):
        self.stop()
        return self.start()


class Look(Redquel):
    """`redquel look` at a Redis of the harness. It has started when its discovery has ended, unless `waits` is false."""

    def __init__(self, *arguments, waits=True, **keywords):
        super().__init__(*arguments, **keywords)
        self.waits = waits

    def words(self):
        return ["look", self.redis.url]

    def start(self):
        options = list(self.options)
        has_definitions = "--catalog" in options and os.path.exists(options[options.index("--catalog") + 1])
        super().start()
        if self.waits and not has_definitions:
            wait_for(lambda: "discovery has " in self.process.log(), 300)
        return self


def sharing_redis(make_redis, make_server, count=1, redis_options=(), **limits):
    """[Redis, redquel...]: so many redquels over one Redis, with these [limits] in their configuration."""
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write("[limits]\n" + "".join(f"{name} = {value}\n" for name, value in limits.items()))
    redis = make_redis(*redis_options)
    return [redis, *(make_server("--config", f"{folder}/redquel.toml", redis=redis) for _ in range(count))]


# The errors of redquel while its Redis is away, or has just come back.
AWAY = ("08006", "57P03")


def connect_when_it_is_back(server, seconds=120):
    """A session, although the server may find only now that its connections to Redis are lost."""
    end = time.monotonic() + seconds
    while True:
        try:
            return server.connect()
        except pgwire.ServerError as error:
            if error.sqlstate not in AWAY or time.monotonic() > end:
                raise
        time.sleep(0.05)


def run_when_it_is_back(connection, sql, seconds=120):
    """Rows of a statement that may be repeated: each of redquel's threads finds for itself that Redis is there again."""
    end = time.monotonic() + seconds
    while True:
        try:
            return connection.run(sql)
        except pgwire.ServerError as error:
            if error.sqlstate not in AWAY or time.monotonic() > end:
                raise
        time.sleep(0.05)


class ServerDied(Exception):
    pass


def wait_until_gone(pid, seconds):
    """Whether the process, not a child of ours, ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def sanitizer_environment():
    return {"ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_leaks=1",
            "LSAN_OPTIONS": f"suppressions={os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lsan.supp')}:print_suppressions=0",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
            "TSAN_OPTIONS": "halt_on_error=0:exitcode=99:second_deadlock_stack=1"}


def tail(text, lines=60):
    return "\n".join(text.splitlines()[-lines:])
