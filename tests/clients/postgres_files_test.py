"""PostgreSQL's regression files about roles, privileges and row level security: redquel answers as PostgreSQL 15 does.

POSTGRES_SOURCE names PostgreSQL 15's source tree (`apt-get source postgresql-15`); without it nothing runs. POSTGRES_DIFFERENCES=1 prints
every difference."""
import os

from harness.regression_files import run_file
from harness.servers import Postgres

SLOW = True
LIMIT = 1800
SOURCE = os.environ.get("POSTGRES_SOURCE")
IS_TALKATIVE = bool(os.environ.get("POSTGRES_DIFFERENCES"))
LEAST_SHARE = 95.0  # percent

# PostgreSQL's own setup makes this, and a server that redquel has from the beginning.
SETUP = "GRANT ALL ON SCHEMA public TO PUBLIC; CREATE TABLE int8_tbl (q1 int8, q2 int8); INSERT INTO int8_tbl VALUES (123, 456), (123, 4567)"
SERVER = "; CREATE FOREIGN DATA WRAPPER redis_fdw; CREATE SERVER redis FOREIGN DATA WRAPPER redis_fdw"
REPLACED = [
    # The function that shows the rows that it reads is written in PL/pgSQL.
    (r"(FUNCTION f_leak\(text\).*)LANGUAGE plpgsql\s+AS .*", r"\1LANGUAGE sql AS 'SELECT true'"),
    # User mappings are those of redquel's one server.
    (r"(USER MAPPING .*)SERVER sv\d+", r"\1SERVER redis"),
]

# File: beginnings of the statements that differ, and why.
KNOWN = {}


def compare(name, make_redis, make_server, folder="src/test/regress/sql"):
    if not SOURCE:
        print(f"{name}.sql is not run: POSTGRES_SOURCE names no source tree of PostgreSQL 15", flush=True)
        return
    postgres = Postgres().start()  # roles belong to the whole server
    try:
        servers = [postgres, make_server(redis=make_redis())]
        outcome = run_file(f"{SOURCE}/{folder}/{name}.sql", servers, "postgres", "of the superuser", [SETUP + SERVER, SETUP], REPLACED)
    finally:
        postgres.stop()
    print(f"{name}: {outcome.summary()}", flush=True)
    known = KNOWN.get(name, {})
    unnamed = [found for found in outcome.found if not any(found.text.startswith(text) for text in known)]
    if IS_TALKATIVE:
        for found in outcome.found:
            print(f"{name}.sql:{found.line}: {found.text}", *found.lines, sep="\n    ", flush=True)
    assert outcome.share >= LEAST_SHARE, outcome.summary()
    assert not unnamed, [f"{found.line}: {found.text}" for found in unnamed]


def test_roleattributes(make_redis, make_server):
    compare("roleattributes", make_redis, make_server)


def test_password(make_redis, make_server):
    compare("password", make_redis, make_server)


def test_init_privs(make_redis, make_server):
    compare("init_privs", make_redis, make_server)


def test_privileges(make_redis, make_server):
    compare("privileges", make_redis, make_server)


def test_rowsecurity(make_redis, make_server):
    compare("rowsecurity", make_redis, make_server)


def test_rolenames(make_redis, make_server):
    compare("rolenames", make_redis, make_server, "src/test/modules/unsafe_tests/sql")
