"""Privileges by psql and pg_dump: what these programs show and write is what PostgreSQL's would."""
from harness.programs import connection_options, psql, run

ROLES = """
CREATE ROLE pv_owner; CREATE ROLE pv_alice; CREATE ROLE "pv Two"; CREATE ROLE pv_group;
GRANT pv_group TO pv_alice;
"""
DROP_ROLES = 'DROP ROLE pv_owner, pv_alice, "pv Two", pv_group;'
OBJECTS = """
CREATE SCHEMA pv_app AUTHORIZATION pv_owner;
SET ROLE pv_owner;
CREATE TABLE pv_app.t (a integer PRIMARY KEY, b text, c text);
CREATE TABLE pv_app.plain (a integer);
CREATE VIEW pv_app.v AS SELECT a, b FROM pv_app.t;
CREATE SEQUENCE pv_app.q;
CREATE FUNCTION pv_app.f(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION pv_app.g() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
CREATE TYPE pv_app.e AS ENUM ('x', 'y');
CREATE DOMAIN pv_app.d AS integer;
GRANT SELECT, INSERT ON pv_app.t TO pv_alice, "pv Two" WITH GRANT OPTION;
GRANT UPDATE (b), SELECT (c) ON pv_app.t TO pv_group;
GRANT REFERENCES (a) ON pv_app.t TO PUBLIC;
GRANT SELECT ON pv_app.v TO PUBLIC;
REVOKE TRUNCATE, TRIGGER ON pv_app.t FROM pv_owner;
GRANT USAGE ON SEQUENCE pv_app.q TO "pv Two";
REVOKE EXECUTE ON FUNCTION pv_app.f(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pv_app.f(integer) TO pv_alice;
REVOKE USAGE ON TYPE pv_app.e FROM PUBLIC;
GRANT USAGE ON TYPE pv_app.d TO pv_group WITH GRANT OPTION;
GRANT USAGE ON SCHEMA pv_app TO PUBLIC;
GRANT CREATE ON SCHEMA pv_app TO pv_alice;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO pv_alice;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA pv_app GRANT USAGE ON SEQUENCES TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO "pv Two";
CREATE TABLE pv_app.later (a integer);
CREATE SEQUENCE pv_app.later_q;
CREATE FUNCTION pv_app.later_f() RETURNS integer LANGUAGE sql AS 'SELECT 1';
RESET ROLE;
SET ROLE pv_alice;
GRANT SELECT ON pv_app.t TO pv_group;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT CREATE ON SCHEMA public TO pv_group;
REVOKE SELECT ON pg_catalog.pg_roles FROM PUBLIC;
GRANT SELECT ON pg_catalog.pg_authid TO pv_alice;
"""
DROP = """
DROP OWNED BY pv_owner CASCADE;
DROP OWNED BY pv_alice, "pv Two", pv_group CASCADE;
GRANT SELECT ON pg_catalog.pg_roles TO PUBLIC;
"""
COMMANDS = ["\\dp pv_app.*", "\\z pv_app.t", "\\ddp", "\\dn+ pv_app", "\\dn+ public", "\\df+ pv_app.*", "\\dT+ pv_app.*", "\\dD+ pv_app.*",
            "\\dp pg_catalog.pg_authid", "\\dp pg_catalog.pg_roles", "\\dp pg_catalog.pg_class"]


def privileges_of(server, database):
    """What a dump says of owners and privileges."""
    text = run(["pg_dump", *connection_options(server, database), "--schema-only"])
    return [line for line in text.splitlines() if line.startswith(("GRANT", "REVOKE", "ALTER DEFAULT", "ALTER")) and
            ("OWNER TO" in line or not line.startswith("ALTER") or "DEFAULT PRIVILEGES" in line)]


def test_psql_shows_privileges(server, postgres):
    shown = []
    for who, database in (server, "postgres"), (postgres, postgres.create_database()):
        psql(who, ROLES + OBJECTS, "-d", database)
        shown.append([psql(who, command, "-d", database) for command in COMMANDS])
        psql(who, DROP + DROP_ROLES, "-d", database)
    for command, own, expected in zip(COMMANDS, *shown):
        assert (command, own) == (command, expected)


def test_privileges_of_databases_are_shown_and_dumped(fresh_server, postgres):
    seen = []
    for who in fresh_server, postgres:
        psql(who, ROLES)
        psql(who, "CREATE DATABASE pv_base OWNER pv_owner;")
        psql(who, "GRANT CREATE ON DATABASE pv_base TO pv_alice WITH GRANT OPTION; REVOKE TEMPORARY ON DATABASE pv_base FROM PUBLIC;")
        dump = run(["pg_dump", *connection_options(who, "pv_base"), "--create", "--schema-only"])
        seen.append((psql(who, "\\l pv_base"), [line for line in dump.splitlines() if line.startswith(("GRANT", "REVOKE", "ALTER DATABASE"))]))
        psql(who, "DROP DATABASE pv_base;")
        psql(who, DROP_ROLES)
    assert seen[0] == seen[1]
    assert len(seen[0][1]) > 2


def test_pg_dump_carries_privileges_to_postgresql_and_back(fresh_server, postgres):
    expected_database = postgres.create_database()
    psql(postgres, ROLES + OBJECTS, "-d", expected_database)
    expected = privileges_of(postgres, expected_database)
    assert len(expected) > 30
    psql(fresh_server, ROLES + "CREATE DATABASE source; CREATE DATABASE copy;")
    psql(fresh_server, OBJECTS, "-d", "source")
    assert privileges_of(fresh_server, "source") == expected

    everything = run(["pg_dump", *connection_options(fresh_server, "source")])
    psql(fresh_server, everything, "-d", "copy")
    assert privileges_of(fresh_server, "copy") == expected
    database = postgres.create_database()
    psql(postgres, everything, "-d", database)
    assert privileges_of(postgres, database) == expected
    for used in database, expected_database:
        psql(postgres, DROP, "-d", used)
    psql(postgres, DROP_ROLES)
