"""PostgreSQL's own CREATE SUBSCRIPTION follows tables in Redis: random transactions, many rows at once, TRUNCATE, ALTER TABLE, and kills of
redquel, of Redis and of PostgreSQL. In the end the tables are equal."""
import os
import random
import threading
import time

import psycopg2

from harness.processes import Process
from harness.roles import configured
from harness.servers import Postgres, postgres_binary
from harness.waiting import wait_for

SLOW = True
CHANGES = int(os.environ.get("REPLICATED_CHANGES", "4000"))
REDIS_OPTIONS = ("--appendonly", "yes", "--appendfsync", "always", "--repl-backlog-size", "64mb", "--repl-diskless-sync-delay", "0",
                 "--repl-backlog-ttl", "0")
TABLES = {
    "accounts": ("id", "CREATE TABLE accounts (id int PRIMARY KEY, owner text, balance int, mail text)"),
    "events": ("k", "CREATE TABLE events (k text PRIMARY KEY, n bigint, x numeric(12,3), t timestamptz, j jsonb, b bytea, a int[])"),
    "pairs": ("x, y", "CREATE TABLE pairs (x int, y text, n int NOT NULL DEFAULT 0, PRIMARY KEY (x, y))"),
}


class Subscriber(Postgres):
    """A PostgreSQL that can be killed and started again."""

    def start(self):
        self.settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off", "shared_buffers": "64MB",
                         "wal_retrieve_retry_interval": "200", "max_sync_workers_per_subscription": "1"}
        return self.start_with(self.settings)

    def kill(self):
        self.process.kill()

    def start_again(self):
        words = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        for _ in range(20):  # the processes of before end after their parent
            try:
                os.remove(f"{self.folder}/data/postmaster.pid")
            except FileNotFoundError:
                pass
            self.process = Process([postgres_binary("postgres"), "-D", f"{self.folder}/data", *words], f"{self.folder}/log", user=self.user, cwd=self.folder)
            try:
                self.process.wait_for_line("ready to accept connections", 60)
                return
            except RuntimeError:
                time.sleep(0.5)
        raise RuntimeError("PostgreSQL does not start again")


def connect(server, **options):
    host, port = (server.folder, 5432) if isinstance(server, Subscriber) else server.address
    connection = psycopg2.connect(host=host, port=port, user="postgres", dbname="postgres", connect_timeout=20, **options)
    connection.autocommit = True
    return connection


def rows(connection, table):
    cursor = connection.cursor()
    key = ", ".join(f"{name} COLLATE \"C\"" if name in ("k", "y") else name for name in TABLES[table][0].split(", "))
    cursor.execute(f"SET timezone = 'UTC'; SELECT * FROM {table} ORDER BY {key}")
    return [tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in cursor.fetchall()]


def wait_until_equal(source, subscriber, seconds=60):
    """Waits until the tables of both servers are equal. Fails with what differs."""
    differences = {}

    def are_equal():
        try:
            with_source, with_subscriber = connect(source), connect(subscriber)
        except psycopg2.Error as error:
            differences["connection"] = str(error)
            return False
        differences.clear()
        for table in TABLES:
            expected, got = rows(with_source, table), rows(with_subscriber, table)
            if expected != got:
                lacks, has = set(map(str, expected)) - set(map(str, got)), set(map(str, got)) - set(map(str, expected))
                differences[table] = (len(lacks), len(has), sorted(lacks)[:3], sorted(has)[:3])
        with_source.close()
        with_subscriber.close()
        return not differences

    end = time.time() + seconds
    while not are_equal():
        assert time.time() < end, (differences, subscriber.process.log()[-2000:])
        time.sleep(0.2)


class Writer:
    """Random transactions. A connection that is lost is made again."""

    def __init__(self, source, seed, count):
        self.source, self.random, self.count = source, random.Random(seed), count
        self.done = 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def text(self):
        return self.random.choice(["NULL", "'a'", "'it''s'", "'tab\there'", "'ünï'", "''", "'" + "x" * 200 + "'"])

    def key(self):
        return self.random.choice([f"k{self.random.randrange(60)}", "sp ace", "c:{}", "100%", "zset", "long" * 40])

    def statement(self):
        r = self.random
        chance, number = r.random(), r.randrange(1, 400)
        if chance < 0.18:
            return f"INSERT INTO accounts VALUES ({number}, {self.text()}, {r.randrange(1000)}, {self.text()}) ON CONFLICT (id) DO NOTHING"
        if chance < 0.30:
            return f"UPDATE accounts SET owner = {self.text()} WHERE id = {number}"
        if chance < 0.42:
            return f"UPDATE accounts SET balance = balance + {r.randrange(-9, 9)} WHERE id = {number}"
        if chance < 0.50:
            return f"UPDATE accounts SET balance = {r.randrange(1000)}, mail = {self.text()} WHERE id BETWEEN {number} AND {number + 9}"
        if chance < 0.58:
            return f"DELETE FROM accounts WHERE id = {number}"
        if chance < 0.62:
            return f"UPDATE accounts SET id = id + 400 WHERE id = {number} AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = {number + 400})"
        if chance < 0.64:
            return "DELETE FROM accounts WHERE id > 400"
        if chance < 0.80:
            return (f"INSERT INTO events VALUES ('{self.key()}', {r.randrange(10**12)}, {r.choice(['NULL', '12.5', '-0.001'])}, "
                    f"'2026-01-01 10:00:{r.randrange(60):02}+02', '{{\"a\": {number}}}', '\\x{r.randrange(256):02x}00ff', '{{1,NULL,{number}}}') "
                    "ON CONFLICT (k) DO UPDATE SET n = events.n + 1, x = excluded.x, a = excluded.a")
        if chance < 0.86:
            return f"UPDATE events SET j = NULL, t = t + interval '1 day' WHERE k = '{self.key()}'"
        if chance < 0.90:
            return f"DELETE FROM events WHERE k = '{self.key()}'"
        if chance < 0.96:
            return (f"INSERT INTO pairs VALUES ({number % 20}, '{self.key()}') ON CONFLICT (x, y) DO UPDATE SET n = pairs.n + 1")
        if chance < 0.98:
            return f"DELETE FROM pairs WHERE x = {number % 20}"
        if chance < 0.985:
            return "TRUNCATE events"
        return "UPDATE accounts SET balance = coalesce(balance, 0) + 1"

    def run(self):
        connection = None
        while self.done < self.count:
            try:
                connection = connection or connect(self.source)
                cursor = connection.cursor()
                statements = [self.statement() for _ in range(self.random.choice([1, 1, 1, 2, 4]))]
                if len(statements) > 1:
                    cursor.execute("BEGIN")
                for statement in statements:
                    cursor.execute(statement)
                if len(statements) > 1:
                    cursor.execute(self.random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
                self.done += len(statements)
            except (psycopg2.Error, OSError, TypeError):
                try:
                    connection.cursor().execute("ROLLBACK")
                except (psycopg2.Error, AttributeError):
                    connection = None
                    time.sleep(0.2)

    def wait(self):
        self.thread.join(240)
        assert not self.thread.is_alive(), self.done


def write(source, seed, count, writers=2):
    running = [Writer(source, seed * 10 + number, count // writers) for number in range(writers)]
    for writer in running:
        writer.wait()


def subscribed(make_redis, make_server):
    """[Redis, redquel, PostgreSQL], the second one with the tables and a publication, the third with a subscription."""
    redis = make_redis(*REDIS_OPTIONS)
    source = configured(make_server, redis, 'rules = "host all all 127.0.0.1/32 trust"')
    source.listen = f"127.0.0.1:{source.port}"  # also after a restart
    subscriber = Subscriber().start()
    for server in (source, subscriber):
        for _, definition in TABLES.values():
            connect(server).cursor().execute(definition)
    cursor = connect(source).cursor()
    cursor.execute("CREATE INDEX ON accounts (owner); INSERT INTO accounts SELECT i, 'o' || i % 7, i * 10, 'm' || i FROM generate_series(1, 300) i")
    cursor.execute("CREATE PUBLICATION p FOR ALL TABLES")
    return redis, source, subscriber


def subscribe(source, subscriber):
    cursor = connect(subscriber).cursor()
    cursor.execute(f"CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1 port={source.port} user=postgres dbname=postgres' PUBLICATION p")


def wait_until_copied(subscriber, seconds=60):
    cursor = connect(subscriber).cursor()

    def is_copied():
        cursor.execute("SELECT count(*) FILTER (WHERE srsubstate <> 'r'), count(*) FROM pg_subscription_rel")
        return cursor.fetchone() == (0, len(TABLES))

    wait_for(is_copied, seconds)


def test_a_subscription_copies_and_follows(make_redis, make_server):
    redis, source, subscriber = subscribed(make_redis, make_server)
    try:
        writers = [Writer(source, 1 + number, CHANGES // 8) for number in range(2)]
        subscribe(source, subscriber)
        for writer in writers:
            writer.wait()
        wait_until_copied(subscriber)
        wait_until_equal(source, subscriber)
        write(source, 3, CHANGES)
        wait_until_equal(source, subscriber)
        cursor = connect(source).cursor()
        cursor.execute("INSERT INTO accounts SELECT i, 'bulk', 1, NULL FROM generate_series(10000, 16000) i")
        cursor.execute("UPDATE accounts SET balance = balance + 1 WHERE id >= 10000")
        wait_until_equal(source, subscriber)
        cursor.execute("BEGIN; TRUNCATE accounts, pairs; INSERT INTO accounts VALUES (1, 'after', 2, NULL); COMMIT")
        wait_until_equal(source, subscriber)
        for server in (subscriber, source):
            connect(server).cursor().execute("ALTER TABLE accounts ADD COLUMN more text DEFAULT 'm'")
        cursor.execute("INSERT INTO accounts VALUES (2, 'b', 3, NULL, NULL), (4, 'd', 5, NULL, 'more')")
        cursor.execute("INSERT INTO accounts VALUES (3, 'c', 4, NULL)")
        cursor.execute("UPDATE accounts SET more = NULL WHERE id = 1")
        wait_until_equal(source, subscriber)
    finally:
        subscriber.stop()


def test_tables_that_are_written_anew_are_sent_anew(make_redis, make_server):
    redis, source, subscriber = subscribed(make_redis, make_server)
    try:
        subscribe(source, subscriber)
        wait_until_copied(subscriber)
        cursor = connect(source).cursor()
        connect(subscriber).cursor().execute("ALTER TABLE accounts ALTER COLUMN balance TYPE bigint")
        cursor.execute("ALTER TABLE accounts ALTER COLUMN balance TYPE bigint USING balance + 1")
        cursor.execute("UPDATE accounts SET balance = balance + 1 WHERE id < 20; INSERT INTO accounts VALUES (401, 'new', 10000000000, NULL)")
        wait_until_equal(source, subscriber)
        cursor.execute("BEGIN; TRUNCATE accounts; INSERT INTO accounts SELECT i, 'many', i, NULL FROM generate_series(1, 3000) i; COMMIT")
        cursor.execute("DELETE FROM accounts WHERE id % 3 = 0; UPDATE accounts SET id = id + 10000 WHERE id % 3 = 1")
        wait_until_equal(source, subscriber)
        for server in (subscriber, source):
            connect(server).cursor().execute("CREATE TABLE later (a int PRIMARY KEY)")
        cursor.execute("INSERT INTO later VALUES (1); DROP TABLE later; ALTER TABLE pairs RENAME TO couples; ALTER TABLE couples RENAME TO pairs")
        cursor.execute("INSERT INTO pairs VALUES (1, 'a'), (1, 'b:c'), (2, ''); UPDATE pairs SET n = n + 1 WHERE x = 1; UPDATE pairs SET y = 'd' WHERE y = ''")
        wait_until_equal(source, subscriber)
    finally:
        subscriber.stop()


def test_a_subscription_goes_on_after_kills(make_redis, make_server):
    redis, source, subscriber = subscribed(make_redis, make_server)
    try:
        subscribe(source, subscriber)
        wait_until_copied(subscriber)
        for seed in range(2):
            writers = [Writer(source, 20 + seed, CHANGES // 8)]
            time.sleep(0.4)
            source.kill()
            time.sleep(0.3)
            source.start()
            for writer in writers:
                writer.wait()
            wait_until_equal(source, subscriber)
        writers = [Writer(source, 30, CHANGES // 8)]
        time.sleep(0.4)
        subscriber.kill()
        time.sleep(0.5)
        subscriber.start_again()
        for writer in writers:
            writer.wait()
        wait_until_equal(source, subscriber)
        # Redis forgets its stream: the slot goes on in the next one, because nothing was written meanwhile.
        time.sleep(2)
        redis.stop()
        redis.start()
        wait_until_resumed(redis)
        write(source, 40, CHANGES // 8)
        wait_until_equal(source, subscriber)
    finally:
        subscriber.stop()


def wait_until_resumed(redis, seconds=60):
    """Waits until the slot has gone over to the stream of the Redis of now."""

    def is_resumed():
        with redis.connect() as connection:
            return connection.info("replication")["master_replid"] in connection("HGET", "redquel:slots", "s")

    wait_for(is_resumed, seconds)
