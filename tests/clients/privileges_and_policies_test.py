"""Privileges, default privileges and policies by psql, pg_dump and pg_dumpall: what they show and write is what PostgreSQL's would."""
import re

from harness.programs import connection_options, psql, run

GLOBALS = """
CREATE ROLE pv_owner LOGIN CREATEDB VALID UNTIL '2031-02-03 04:05:06+00' CONNECTION LIMIT 5;
CREATE ROLE pv_staff;
CREATE ROLE pv_clerk NOINHERIT LOGIN;
CREATE ROLE "pv Odd" BYPASSRLS;
GRANT pv_staff TO pv_clerk;
GRANT pv_staff TO pv_owner WITH ADMIN OPTION;
GRANT pg_read_all_data TO "pv Odd";
ALTER ROLE pv_clerk SET row_security = off;
ALTER ROLE pv_clerk SET search_path = app, public;
COMMENT ON ROLE pv_staff IS 'those who work here';
"""
DROP = 'DROP ROLE pv_owner, pv_staff, pv_clerk, "pv Odd";'
SCHEMA = """
CREATE SCHEMA app AUTHORIZATION pv_owner;
SET SESSION AUTHORIZATION pv_owner;
CREATE TYPE app.mood AS ENUM ('glad', 'sad');
CREATE DOMAIN app.positive AS int CHECK (VALUE > 0);
CREATE TABLE app.account (id int PRIMARY KEY, owner name, balance numeric, note text);
CREATE TABLE app.entry (id int PRIMARY KEY, account int REFERENCES app.account, mood app.mood);
CREATE VIEW app.shown AS SELECT id, owner FROM app.account;
CREATE VIEW app.guarded WITH (security_barrier = true, security_invoker = true) AS SELECT id, balance FROM app.account WHERE balance > 0;
CREATE MATERIALIZED VIEW app.totals AS SELECT owner, sum(balance) AS total FROM app.account GROUP BY owner;
CREATE SEQUENCE app.numbers;
CREATE FUNCTION app.twice(int) RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER AS 'SELECT 2 * $1';
CREATE PROCEDURE app.clear() LANGUAGE sql AS 'DELETE FROM app.entry';
GRANT USAGE ON SCHEMA app TO PUBLIC;
GRANT CREATE ON SCHEMA app TO pv_staff WITH GRANT OPTION;
GRANT SELECT, INSERT ON app.account TO pv_staff WITH GRANT OPTION;
GRANT SELECT (id, owner), UPDATE (note) ON app.account TO pv_clerk;
GRANT ALL ON app.entry TO "pv Odd";
REVOKE ALL ON app.entry FROM pv_owner;
GRANT SELECT ON app.shown, app.totals TO PUBLIC;
GRANT SELECT, UPDATE ON app.guarded TO pv_clerk;
GRANT USAGE ON SEQUENCE app.numbers TO pv_clerk;
REVOKE EXECUTE ON FUNCTION app.twice(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION app.twice(int) TO pv_clerk;
REVOKE ALL ON PROCEDURE app.clear() FROM PUBLIC;
REVOKE USAGE ON TYPE app.mood FROM PUBLIC;
GRANT USAGE ON TYPE app.mood TO pv_staff;
GRANT USAGE ON DOMAIN app.positive TO pv_clerk;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION pv_staff;
GRANT SELECT ON app.account TO "pv Odd";
RESET SESSION AUTHORIZATION;
ALTER DEFAULT PRIVILEGES FOR ROLE pv_owner IN SCHEMA app GRANT SELECT ON TABLES TO pv_staff;
ALTER DEFAULT PRIVILEGES FOR ROLE pv_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE pv_staff GRANT USAGE, SELECT ON SEQUENCES TO pv_clerk WITH GRANT OPTION;
ALTER TABLE app.account ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.entry FORCE ROW LEVEL SECURITY;
CREATE POLICY inserted ON app.account FOR INSERT TO PUBLIC WITH CHECK (id IN (SELECT account FROM app.entry));
CREATE POLICY own ON app.account USING (owner = current_user);
CREATE POLICY staff ON app.account AS RESTRICTIVE FOR UPDATE TO pv_staff, pv_clerk USING (balance < 1000) WITH CHECK (balance < 2000);
ALTER TABLE app.entry ENABLE ROW LEVEL SECURITY;
"""
COMMANDS = ["\\du pv*", "\\dg pv*", "\\drds pv*", "\\dp app.*", "\\z app.account", "\\ddp", "\\d app.account", "\\d+ app.guarded", "\\dn+ app", "\\dT+ app.*",
            "\\df+ app.*", "\\des", "SELECT * FROM pg_policies ORDER BY policyname;"]


def statements(dump):
    """The lines of a dump that say something, without comments and random words."""
    return [line for line in dump.splitlines() if line and not line.startswith(("--", "\\restrict", "\\unrestrict"))]


def dumped(server, database):
    return run(["pg_dump", *connection_options(server, database)])


def globals_of(server):
    """pg_dumpall's statements about everything but the superuser."""
    words = connection_options(server)
    lines = statements(run(["pg_dumpall", "--globals-only", *words[:6], "-l", "postgres"]))
    return [line for line in lines if not re.match(r"(CREATE|ALTER) ROLE postgres\b", line)]


class Copies:
    """A database of the same name on both servers, with the roles of GLOBALS; all of it is dropped at the end."""

    def __init__(self, *servers):
        self.servers = servers

    def __enter__(self):
        for server in self.servers:
            psql(server, GLOBALS + "CREATE DATABASE pv_source OWNER pv_owner;\nCREATE DATABASE pv_copy OWNER pv_owner;\n")
            psql(server, SCHEMA, "-d", "pv_source")
        return self

    def __exit__(self, *_):
        for server in self.servers:
            psql(server, "DROP DATABASE pv_source;\nDROP DATABASE pv_copy;\n" + DROP)


def test_psql_shows_privileges(server, postgres):
    with Copies(server, postgres):
        for command in COMMANDS:
            given, wanted = (psql(who, command, "-d", "pv_source") for who in (server, postgres))
            assert given == wanted, f"{command}\nPostgreSQL:\n{wanted}\nredquel:\n{given}"


def test_pg_dump_carries_privileges_to_postgresql_and_back(server, postgres):
    with Copies(server, postgres):
        given, wanted = (dumped(who, "pv_source") for who in (server, postgres))
        assert statements(given) == statements(wanted)
        for source, target in ((given, postgres), (wanted, server), (given, server)):
            psql(target, source, "-d", "pv_copy")
            assert statements(dumped(target, "pv_copy")) == statements(wanted)
            psql(target, "DROP DATABASE pv_copy;\nCREATE DATABASE pv_copy OWNER pv_owner;")


def test_pg_dumpall_carries_globals_to_postgresql_and_back(server, postgres):
    psql(postgres, GLOBALS)
    psql(server, GLOBALS)
    given, wanted = globals_of(server), globals_of(postgres)
    assert given == wanted
    for target in (postgres, server):
        psql(target, DROP)
        psql(target, "\n".join(given))
        assert globals_of(target) == wanted
        psql(target, DROP)
