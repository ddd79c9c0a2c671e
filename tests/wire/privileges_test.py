"""Privileges over several redquels and databases: versions that GRANT moves, lists of databases, parameters of superusers."""
from harness.pgwire import ServerError

VERSION, VERSIONS = "redquel:version", "redquel:versions"


def error_of(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except ServerError as error:
        return error.sqlstate
    return None


def versions(redis):
    with redis.connect() as stored:
        return stored("GET", VERSION), stored.hash(VERSIONS)


def test_grant_and_revoke_move_versions(make_redis, make_server):
    redis = make_redis()
    owner = make_server(redis=redis).connect()
    owner.run("CREATE ROLE gv_alice")
    owner.run("CREATE TABLE gv_t (a int PRIMARY KEY)")
    owner.run("CREATE TABLE gv_other (a int PRIMARY KEY)")
    owner.run("CREATE VIEW gv_v AS SELECT a FROM gv_t")
    owner.run("CREATE VIEW gv_w AS SELECT a FROM gv_v")
    owner.run("CREATE FUNCTION gv_f() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    tables = {name: owner.run(f"SELECT '{name}'::regclass::oid")[0][0] for name in ("gv_t", "gv_other")}

    def moved_by(statement):
        version, before = versions(redis)
        owner.run(statement)
        now, after = versions(redis)
        assert now != version, statement
        return {name for name, oid in tables.items() if before[oid] != after[oid]}

    assert moved_by("GRANT INSERT ON gv_t TO gv_alice") == {"gv_t"}
    assert moved_by("REVOKE INSERT ON gv_t FROM gv_alice") == {"gv_t"}
    assert moved_by("GRANT UPDATE (a) ON gv_t TO gv_alice") == {"gv_t"}
    assert moved_by("REVOKE UPDATE (a) ON gv_t FROM gv_alice") == {"gv_t"}
    assert moved_by("REVOKE INSERT ON gv_w FROM gv_alice") == {"gv_t"}
    assert moved_by("ALTER TABLE gv_t OWNER TO gv_alice") == {"gv_t"}
    assert moved_by("GRANT EXECUTE ON FUNCTION gv_f() TO gv_alice") == set()
    assert moved_by("GRANT USAGE ON SCHEMA public TO gv_alice") == set()
    assert moved_by("GRANT CONNECT ON DATABASE postgres TO gv_alice") == set()


def test_privileges_are_seen_by_other_redquels(make_redis, make_server):
    redis = make_redis()
    one, other = make_server(redis=redis).connect(), make_server(redis=redis).connect()
    other.run("SELECT 1")
    one.run("CREATE ROLE pr_alice")
    one.run("CREATE TABLE pr_t (a int)")
    one.run("GRANT SELECT ON pr_t TO pr_alice")
    assert other.run("SELECT relacl FROM pg_class WHERE relname = 'pr_t'") == [["{postgres=arwdDxt/postgres,pr_alice=r/postgres}"]]
    other.run("REVOKE SELECT ON pr_t FROM pr_alice")
    assert one.run("SELECT relacl FROM pg_class WHERE relname = 'pr_t'") == [["{postgres=arwdDxt/postgres}"]]
    one.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO pr_alice")
    other.run("CREATE TABLE pr_u (a int)")
    assert one.run("SELECT relacl FROM pg_class WHERE relname = 'pr_u'") == [["{postgres=arwdDxt/postgres,pr_alice=r/postgres}"]]


def test_privileges_in_other_databases_keep_a_role(make_redis, make_server):
    server = make_server(redis=make_redis())
    home = server.connect()
    home.run("CREATE ROLE od_alice")
    home.run("CREATE ROLE od_bob")
    home.run("CREATE DATABASE od_shop")
    shop = server.connect("od_shop")
    shop.run("CREATE TABLE od_t (a int)")
    shop.run("GRANT SELECT ON od_t TO od_alice")
    home.run("GRANT CREATE ON DATABASE od_shop TO od_alice")
    detail = home.run_error("DROP ROLE od_alice")["D"]
    assert detail == "privileges for database od_shop\n1 object in database od_shop", detail
    home.run("DROP OWNED BY od_alice")
    assert home.run_error("DROP ROLE od_alice")["D"] == "1 object in database od_shop"
    shop.run("DROP OWNED BY od_alice")
    home.run("ALTER DATABASE od_shop OWNER TO od_alice")
    home.run("REASSIGN OWNED BY od_alice TO od_bob")
    assert home.run("SELECT datdba::regrole FROM pg_database WHERE datname = 'od_shop'") == [["od_bob"]]
    home.run("BEGIN")
    home.run("GRANT CREATE ON DATABASE od_shop TO od_alice; REASSIGN OWNED BY od_bob TO od_alice")
    assert home.run("SELECT datdba::regrole FROM pg_database WHERE datname = 'od_shop'") == [["od_alice"]]
    home.run("ROLLBACK")
    assert home.run("SELECT datdba::regrole FROM pg_database WHERE datname = 'od_shop'") == [["od_bob"]]
    home.run("DROP ROLE od_alice")


def test_parameters_of_superusers(make_redis, make_server):
    server = make_server(redis=make_redis())
    home = server.connect()
    home.run("CREATE ROLE ps_alice LOGIN")
    home.run("ALTER ROLE ps_alice SET log_statement = 'ddl'")
    alice = server.connect(user="ps_alice")
    assert alice.run("SHOW log_statement") == [["ddl"]]
    assert alice.run_error("SET log_statement = 'all'")["M"] == 'permission denied to set parameter "log_statement"'
    assert alice.run_error("RESET log_statement")["C"] == "42501"
    assert alice.run_error("ALTER ROLE ps_alice SET log_statement = 'all'")["C"] == "42501"
    assert error_of(server.connect, user="ps_alice", log_statement="all") == "42501"
    home.run("SET log_statement = 'all'")
    home.run("SET ROLE ps_alice")
    assert home.run_error("SET log_statement = 'none'")["C"] == "42501"
    home.run("RESET ROLE")
    assert home.run("SHOW log_statement") == [["all"]]


def test_temporary_tables_need_a_right_on_the_database(make_redis, make_server):
    server = make_server(redis=make_redis())
    home = server.connect()
    home.run("CREATE ROLE tt_alice LOGIN")
    alice = server.connect(user="tt_alice")
    home.run("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    assert alice.run_error("CREATE TEMP TABLE tt_t (a int)")["M"] == 'permission denied to create temporary tables in database "postgres"'
    assert alice.run_error("CREATE SCHEMA tt_s")["M"] == "permission denied for database postgres"
    home.run("GRANT TEMPORARY, CREATE ON DATABASE postgres TO tt_alice")
    alice.run("CREATE TEMP TABLE tt_t (a int)")
    alice.run("CREATE SCHEMA tt_s")


def test_transactions_lose_no_revoke_of_others(make_redis, make_server):
    server = make_server(redis=make_redis())
    one, other = server.connect(), server.connect()
    one.run("CREATE ROLE tl_alice")
    one.run("CREATE ROLE tl_bob")
    one.run("CREATE SCHEMA tl_s")
    one.run("GRANT USAGE ON SCHEMA tl_s TO tl_alice")
    one.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO tl_alice")
    one.run("GRANT SELECT ON pg_authid TO tl_alice")
    pairs = [
        ("GRANT USAGE ON SCHEMA tl_s TO tl_bob", "REVOKE USAGE ON SCHEMA tl_s FROM tl_alice"),
        ("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO tl_bob", "ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM tl_alice"),
        ("GRANT SELECT ON pg_authid TO tl_bob", "REVOKE SELECT ON pg_authid FROM tl_alice"),
        ("GRANT USAGE ON FOREIGN SERVER redis TO tl_bob", "GRANT USAGE ON FOREIGN SERVER redis TO tl_alice"),
    ]
    for own, others in pairs:
        one.run("BEGIN")
        one.run(own)
        other.run(others)
        assert error_of(one.run, "COMMIT") == "40001", own
        assert error_of(one.run, "ROLLBACK") is None
    one.run("BEGIN")
    one.run("GRANT USAGE ON SCHEMA tl_s TO tl_bob")
    other.run("ALTER DEFAULT PRIVILEGES GRANT UPDATE ON TABLES TO tl_alice")
    one.run("COMMIT")
