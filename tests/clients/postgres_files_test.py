"""PostgreSQL's regression files about roles, privileges and row level security: redquel answers as PostgreSQL 15 does.

POSTGRES_SOURCE names PostgreSQL 15's source tree (`apt-get source postgresql-15`); without it nothing runs. POSTGRES_DIFFERENCES=1 prints
every difference."""
import os
import re

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

# (what a differing statement or its answers contain, why they differ)
KNOWN = [(re.compile(pattern, re.S), reason) for pattern, reason in [
    (r"subject: +(ERROR )?25P02|subject: +ROLLBACK$", "an earlier difference has aborted the transaction"),
    (r"session_preload_libraries", "libraries of PostgreSQL's own C code are not loaded"),
    (r"LANGUAGE internal|FUNCTION leak\(", "functions of PostgreSQL's own C code cannot be made"),
    (r"(CREATE|DROP) CAST\b", "casts cannot be made"),
    (r"CREATE TABLE \w+ OF\b|DROP TABLE test6b", "tables of a composite type"),
    (r"UPDATE pg_toast\.", "there are no TOAST tables"),
    (r"\(fx,fy,tableoid\)|FROM atestp2", "system columns have no privileges of their own"),
    (r"is a system catalog", "the catalog's tables are refused before privileges are looked at"),
    (r"int4\[\]::int8\[\]", "a cast of an array asks for no EXECUTE on the elements' cast"),
    (r"GRANT USAGE ON TYPE _", "array types are not found by the name with an underscore"),
    (r"pg\.dropped", "a dropped column leaves nothing behind"),
    (r"REFRESH MATERIALIZED VIEW sro_mv", "definitions and cursors do not run inside of a query's function"),
    (r"WHERE CURRENT OF", "EXPLAIN does not take WHERE CURRENT OF; the transaction is aborted"),
    (r"most_common_vals", "pg_stats has no lists of values"),
    (r"FROM pg_shdepend", "pg_shdepend has no rows of default privileges and policies"),
    (r"polqual", "expressions are not shown as PostgreSQL's node trees"),
    (r"POLICY r[12] ON rec|DROP VIEW rec1v", "recursion of policies by views is refused when the policy is made"),
    (r"must be owner of table document|AS UGLY", "wording of an error about policies"),
    (r"COPY copy_(t|rel_to) ", "COPY looks at policies before privileges"),
    (r"^[^\n]*: \\dp", "psql shows policies in the order of pg_policy's rows"),
    (r"drop cascades to \d+ other objects", "objects of the differing statements before"),
    (r"Failing row contains[^\n]*\n +subject: +None", "DETAIL is left out where not all columns may be read; PostgreSQL shows the others"),
    (r"CREATE TABLE test11a", "CREATE TABLE AS asks for no USAGE on the types of its query"),
]]


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
    unnamed = []
    for found in outcome.found:
        lines = [f"{name}.sql:{found.line}: {found.text}", *found.lines]
        reason = next((reason for pattern, reason in KNOWN if pattern.search("\n".join(lines))), None)
        if reason is None:
            unnamed.append(lines[0])
        if IS_TALKATIVE:
            print(*lines, f"reason: {reason}", sep="\n    ", flush=True)
    assert outcome.share >= LEAST_SHARE, outcome.summary()
    assert not unnamed, unnamed


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
