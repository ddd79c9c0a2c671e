"""Roles by psql and pg_dumpall: what these programs show and write is what PostgreSQL's would."""
import re

from harness.programs import connection_options, psql, run

SETUP = """
CREATE ROLE rc_alice LOGIN CREATEDB VALID UNTIL '2030-01-02 03:04:05+00' CONNECTION LIMIT 3;
CREATE ROLE rc_staff NOINHERIT;
CREATE ROLE "rc Two" SUPERUSER REPLICATION BYPASSRLS CREATEROLE;
GRANT rc_staff TO rc_alice WITH ADMIN OPTION;
GRANT "rc Two" TO rc_staff;
ALTER ROLE rc_alice SET work_mem = '2MB';
ALTER ROLE rc_alice SET search_path = rc_a, "rc B";
"""
PASSWORD = "ALTER ROLE rc_alice PASSWORD 'md5c2e4ed3d2fb0d5d9cd40b2a3ee6d6b73';\n"
DROP = 'DROP ROLE rc_alice, rc_staff, "rc Two";'


def without_noise(dump):
    """The statements of a dump without comments and what differs from run to run."""
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\restrict", "\\unrestrict"))]
    return [line for line in lines if " postgres" not in line.replace("GRANTED BY postgres", "")]


def dumped(server, *options):
    words = connection_options(server)
    return without_noise(run(["pg_dumpall", "--roles-only", *words[:6], "-l", "postgres", *options]))


def test_psql_shows_roles_and_settings(server, postgres):
    shown = []
    for who in (server, postgres):
        psql(who, SETUP)
        shown.append([psql(who, command) for command in ("\\du rc*", "\\dg rc*", "\\drds rc*")])
        psql(who, DROP)
    assert shown[0] == shown[1]


def test_pg_dumpall_carries_roles_to_postgresql_and_back(server, postgres):
    psql(postgres, SETUP + PASSWORD)
    expected = dumped(postgres)
    psql(postgres, DROP)
    psql(server, SETUP)
    psql(server, "ALTER ROLE postgres PASSWORD 'of the superuser'")
    env = {"PGPASSWORD": "of the superuser"}
    run(["psql", "-X", "-q", *connection_options(server), "-c", PASSWORD], env=env)
    words = connection_options(server)
    written = run(["pg_dumpall", "--roles-only", *words[:6], "-l", "postgres"], env=env)
    assert without_noise(written) == expected
    run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *connection_options(server), "-c", DROP], env=env)
    own = re.sub(r"(?m)^(CREATE|ALTER) ROLE postgres\b.*$", "", written)
    psql(postgres, own)
    assert dumped(postgres) == expected
    psql(postgres, DROP)
    run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *connection_options(server)], input=own, env=env)
    assert without_noise(run(["pg_dumpall", "--roles-only", *words[:6], "-l", "postgres"], env=env)) == expected
    run(["psql", "-X", "-q", *connection_options(server), "-c", "ALTER ROLE postgres PASSWORD NULL", "-c", DROP], env=env)
