"""Roles over several redquels and restarts, damaged entries, redquel init and check, settings at login."""
import os
import subprocess

from harness.pgwire import ServerError
from harness.processes import temporary_folder

ROLES, VERIFIERS = "redquel:roles", "redquel:verifiers"
TRUST = '[authentication]\nrules = """\nhost all all 127.0.0.1/32 trust\n"""\n'
SCRAM = '[authentication]\ndelay = 0\nrules = """\nhost all all 127.0.0.1/32 scram-sha-256\n"""\n'


def start(make_server, redis, rules=TRUST, *options, **keywords):
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(rules)
    return make_server("--config", f"{folder}/redquel.toml", *options, redis=redis, **keywords)


def error_of(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except ServerError as error:
        return error.sqlstate
    return None


def run_program(build, *words, **keywords):
    return subprocess.run([os.path.join(build, "redquel"), *words], capture_output=True, text=True, timeout=60, **keywords)


def password_file(text="secret\n"):
    path = f"{temporary_folder()}/password"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def test_two_redquels_share_roles(make_redis, make_server):
    redis = make_redis()
    first, second = start(make_server, redis), start(make_server, redis)
    one, other = first.connect(), second.connect()
    other.run("SELECT 1")
    one.run("CREATE ROLE sr_alice LOGIN")
    assert other.run("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'sr_alice'") == [["t"]]
    alice = second.connect(user="sr_alice")
    one.run("CREATE TABLE sr_t (a int PRIMARY KEY); ALTER TABLE sr_t OWNER TO sr_alice")
    alice.run("INSERT INTO sr_t VALUES (1)")
    one.run("CREATE ROLE sr_staff")
    one.run("GRANT sr_staff TO sr_alice")
    alice.run("SET ROLE sr_staff")
    alice.run("RESET ROLE")
    one.run("REVOKE sr_staff FROM sr_alice")
    assert error_of(alice.run, "SET ROLE sr_staff") == "42501"
    one.run("ALTER TABLE sr_t OWNER TO sr_staff")
    assert error_of(alice.run, "SELECT * FROM sr_t") == "42501"
    one.run("ALTER ROLE sr_alice SUPERUSER")
    assert alice.run("SELECT * FROM sr_t") == [["1"]]
    one.run("ALTER ROLE sr_alice NOSUPERUSER")
    assert error_of(alice.run, "SELECT * FROM sr_t") == "42501"
    one.run("DROP ROLE sr_alice")
    assert error_of(alice.run, "SELECT * FROM sr_t") == "42501"
    assert error_of(second.connect, user="sr_alice") == "28000"


def test_roles_are_the_same_in_all_databases(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE ROLE rd_alice LOGIN CREATEDB")
    alice = server.connect(user="rd_alice")
    alice.run("CREATE DATABASE rd_shop")
    assert error_of(alice.run, "CREATE TABLE rd_t (a int)") == "42501"
    shop = server.connect("rd_shop", user="rd_alice")
    shop.run("CREATE TABLE rd_t (a int PRIMARY KEY)")
    shop.run("INSERT INTO rd_t VALUES (1)")
    assert home.run("SELECT datdba::regrole FROM pg_database WHERE datname = 'rd_shop'") == [["rd_alice"]]
    assert error_of(home.run, "DROP ROLE rd_alice") == "2BP01"
    home.run("ALTER ROLE rd_alice RENAME TO rd_anna")
    assert shop.run("SELECT 1") == [["1"]]
    anna = server.connect("rd_shop", user="rd_anna")
    assert anna.run("SELECT tableowner FROM pg_tables WHERE tablename = 'rd_t'") == [["rd_anna"]]
    home.run("ALTER DATABASE rd_shop OWNER TO postgres")
    message = None
    try:
        home.run("DROP ROLE rd_anna")
    except ServerError as error:
        message = error
    assert message.sqlstate == "2BP01" and "in database rd_shop" in message.fields["D"], message.fields
    home.run("CREATE ROLE rd_bob LOGIN")
    bob = server.connect("rd_shop", user="rd_bob")
    assert error_of(bob.run, "SELECT * FROM rd_t") == "42501"
    for connection in (shop, anna, bob, alice):
        connection.close()
    home.run("DROP DATABASE rd_shop")
    home.run("DROP ROLE rd_anna")


def test_settings_of_roles_and_databases_begin_sessions(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE ROLE rs_alice LOGIN")
    home.run("CREATE DATABASE rs_shop")
    home.run("ALTER ROLE rs_alice SET lock_timeout = '6s'")
    home.run("ALTER ROLE rs_alice IN DATABASE rs_shop SET search_path = 'of_both', \"Two\"")
    home.run("ALTER DATABASE rs_shop SET search_path = of_database")
    home.run("ALTER DATABASE rs_shop SET statement_timeout = '7s'")
    home.run("ALTER ROLE ALL SET work_mem = '3MB'")

    def shown(name, database, user):
        return server.connect(database, user=user).run(f"SHOW {name}")[0][0]

    assert shown("lock_timeout", "postgres", "rs_alice") == "6s"
    assert shown("search_path", "rs_shop", "rs_alice") == 'of_both, "Two"'
    assert shown("search_path", "rs_shop", "postgres") == "of_database"
    assert shown("statement_timeout", "rs_shop", "rs_alice") == "7s"
    assert shown("work_mem", "postgres", "postgres") == "3MB"
    home.run("ALTER DATABASE rs_shop RENAME TO rs_store")
    assert shown("statement_timeout", "rs_store", "rs_alice") == "7s"
    # The client's setting wins; RESET returns to it.
    named = server.connect(user="rs_alice", lock_timeout="8s")
    named.run("SET lock_timeout = '9s'; RESET lock_timeout")
    assert named.run("SHOW lock_timeout") == [["8s"]]
    # A stored value that became invalid refuses no login.
    with redis.connect() as stored:
        stored("HSET", ROLES, "setting::16384", '["work_mem=much","lock_timeout=4s"]', "version", "x")
    assert shown("lock_timeout", "postgres", "rs_alice") == "4s"


def test_damaged_roles_refuse_their_own_logins_only(make_redis, make_server, build):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE ROLE dm_alice LOGIN SUPERUSER")
    home.run("CREATE ROLE dm_bob LOGIN")
    with redis.connect() as stored:
        fields = dict(zip(*[iter(stored("HGETALL", ROLES))] * 2))
        alice = next(field for field, value in fields.items() if "dm_alice" in value)
        for number, damage in enumerate(("", "null", '{"name":"dm_alice","superuser":"yes"}', "[" * 100000, '{"name":"' + "x" * 64 + '"}')):
            stored("HSET", ROLES, alice, damage, "version", f"damage {number}", "member:1:2:3", "{}", "setting:x", "7", "nonsense", "y")
            assert error_of(server.connect, user="dm_alice") == "28000"
            assert server.connect(user="dm_bob").run("SELECT current_user") == [["dm_bob"]]
            assert server.connect().run("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'dm%'") == [["1"]]
        checked = run_program(build, "check", "--redis", redis.url)
        assert checked.returncode == 1 and f'the field "{alice}" cannot be read' in checked.stdout, checked.stdout
        # Without its entry postgres is no superuser, until redquel init.
        stored("HSET", ROLES, "role:10", "damaged", "version", "no postgres")
        assert error_of(server.connect) == "28000"
        made = run_program(build, "init", "--redis", redis.url, "--pwfile", password_file())
        assert made.returncode == 0, made.stderr
        assert server.connect().run("SHOW is_superuser") == [["on"]]
        stored("HDEL", ROLES, alice, "member:1:2:3", "setting:x", "nonsense")
    checked = run_program(build, "check", "--redis", redis.url)
    assert checked.returncode == 0 and checked.stdout.endswith("0 errors, 1 warning\n"), checked.stdout


def test_an_emptied_redis_refuses_all_logins_until_init(make_redis, make_server, build):
    redis = make_redis()
    server = start(make_server, redis)
    inside = server.connect()
    redis.flush()
    assert error_of(server.connect) == "28000"
    made = run_program(build, "init", "--redis", redis.url, "--pwfile", password_file())
    assert made.returncode == 0 and made.stdout == "role postgres has a password\n", made
    assert server.connect().run("SELECT current_user") == [["postgres"]]
    assert inside.run("SELECT 1") == [["1"]]


def test_init_gives_a_superuser_its_first_password_while_redquel_runs(make_redis, make_server, build):
    redis = make_redis()
    server = start(make_server, redis, SCRAM)
    assert error_of(server.connect, password="secret") == "28P01"
    words = ["init", "--redis", redis.url, "--pwfile", password_file()]
    assert run_program(build, *words).returncode == 0
    home = server.connect(password="secret")
    again = run_program(build, *words)
    assert again.returncode == 1 and "has a password already" in again.stderr, again
    home.run("CREATE ROLE in_alice LOGIN")
    for name, reason in (("in_alice", "no superuser"), ("in_nobody", "does not exist"), ("pg_monitor", "reserved")):
        refused = run_program(build, *words, "--username", name)
        assert refused.returncode == 1 and reason in refused.stderr, refused
    assert run_program(build, "init", "--redis", redis.url).returncode == 2
    missing = run_program(build, "init", "--redis", redis.url, "--pwfile", "/nowhere/at/all")
    assert missing.returncode == 1 and "/nowhere/at/all" in missing.stderr
    home.run("ALTER ROLE in_alice PASSWORD 'mine'")
    assert server.connect(user="in_alice", password="mine").run("SELECT current_user") == [["in_alice"]]
    assert error_of(server.connect, user="in_alice", password="other") == "28P01"
    home.run("ALTER ROLE in_alice PASSWORD NULL")
    assert error_of(server.connect, user="in_alice", password="mine") == "28P01"


def test_the_password_file_gives_postgres_its_first_password(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis, SCRAM, environment={"REDQUEL_PASSWORD_FILE": password_file("from a file\r\nsecond line\n")})
    server.connect(password="from a file").run("ALTER ROLE postgres PASSWORD 'changed'")
    other = start(make_server, redis, SCRAM, "--pwfile", password_file())  # it has one already
    assert other.connect(password="changed").run("SELECT 1") == [["1"]]


def test_roles_survive_a_restart(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE ROLE rt_alice LOGIN CREATEDB CONNECTION LIMIT 5 VALID UNTIL '2031-02-03 04:05:06+00'")
    home.run("CREATE ROLE rt_staff ROLE rt_alice")
    question = ("SELECT rolname, rolcreatedb, rolconnlimit, rolvaliduntil, pg_has_role('rt_alice', 'rt_staff', 'usage') FROM pg_roles "
                "WHERE rolname = 'rt_alice'")
    before = home.run(question)
    server.restart()
    assert server.connect().run(question) == before


def test_tables_from_before_roles_belong_to_the_role_of_their_owners_name(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE TABLE br_old (a int PRIMARY KEY, b serial); CREATE TABLE br_new (a int PRIMARY KEY)")
    with redis.connect() as stored:
        definitions = dict(zip(*[iter(stored("HGETALL", "redquel:catalog"))] * 2))
        field, text = next((field, text) for field, text in definitions.items() if '"br_old"' in text)
        assert text.count('"owner":"#10"') == 1, text
        stored("HSET", "redquel:catalog", field, text.replace('"owner":"#10"', '"owner":"br_somebody"'))
        stored("SET", "redquel:version", "moved by the test")
    home.run("CREATE ROLE br_alice LOGIN")
    alice = server.connect(user="br_alice")
    home.run("INSERT INTO br_old VALUES (1)")
    assert error_of(alice.run, "SELECT * FROM br_old") == "42501"
    assert error_of(alice.run, "INSERT INTO br_old VALUES (2)") == "42501"
    assert error_of(alice.run, "SELECT * FROM br_new") == "42501"
    assert error_of(alice.run, "DROP TABLE br_old") == "42501"
    assert home.run("SELECT tableowner FROM pg_tables WHERE tablename = 'br_old'") == [["br_somebody"]]
    # A role of the old owner's name is the owner, also under its next name.
    home.run("CREATE ROLE br_somebody LOGIN")
    home.run("ALTER ROLE br_somebody RENAME TO br_other")
    assert home.run("SELECT tableowner FROM pg_tables WHERE tablename = 'br_old'") == [["br_other"]]
    assert error_of(home.run, "DROP ROLE br_other") == "2BP01"
    other = server.connect(user="br_other")
    other.run("ALTER TABLE br_old ADD c int")
    assert other.run("SELECT a, b FROM br_old") == [["1", "1"]]
    other.run("INSERT INTO br_old VALUES (2)")
    other.run("GRANT SELECT ON br_old TO br_alice")
    assert alice.run("SELECT a FROM br_old ORDER BY a") == [["1"], ["2"]]


def test_statements_for_superusers_only(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE ROLE su_alice LOGIN")
    home.run("CREATE SCHEMA su_s AUTHORIZATION su_alice")
    with redis.connect() as stored:
        stored("HSET", "su:1", "v", "x")
    alice = server.connect(user="su_alice")
    table = "CREATE FOREIGN TABLE su_s.f (id text, v text) SERVER redis OPTIONS (layout 'hash', key 'su:{id}')"
    for sql in ("SELECT redis.call('GET', 'su:1')", "SELECT * FROM redis.config", "SELECT * FROM redis.info", "SELECT * FROM redis.clients",
                "SELECT count(*) FROM redis.keys", table, "SELECT * FROM redquel.check_indexes('su_s.t')", "SELECT rolpassword FROM pg_authid",
                f"SELECT pg_cancel_backend({home.process_id})", f"SELECT pg_terminate_backend({home.process_id})",
                "SELECT pg_reload_conf()", "SELECT * FROM pg_hba_file_rules", "SELECT * FROM pg_ident_file_mappings",
                "SET SESSION AUTHORIZATION postgres", "SET ROLE postgres", "EXPLAIN SELECT * FROM redis.config",
                "SELECT set_config('role', 'postgres', false)", "SELECT set_config('session_authorization', 'postgres', false)",
                "WITH c AS (SELECT * FROM redis.config) SELECT 1 FROM c WHERE EXISTS (SELECT FROM c)"):
        assert error_of(alice.run, sql) == "42501", sql
    home.run(table)
    assert error_of(alice.run, "SELECT * FROM su_s.f") == "42501"
    home.run("ALTER TABLE su_s.f OWNER TO su_alice")
    assert error_of(alice.run, "SELECT * FROM su_s.f") == "42704"  # no user mapping
    assert error_of(alice.run, "ALTER FOREIGN TABLE su_s.f OPTIONS (SET key 'other:{id}')") == "42501"
    home.run("CREATE USER MAPPING FOR su_alice SERVER redis OPTIONS (user 'default', password 'any')")
    assert alice.run("SELECT * FROM su_s.f") == [["1", "x"]]
    assert alice.run("SELECT current_user, session_user, current_setting('is_superuser')") == [["su_alice", "su_alice", "off"]]


def test_verifiers_are_in_no_catalog_and_no_log(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis, TRUST, "--log-level", "debug")
    home = server.connect()
    home.run("CREATE ROLE vf_alice LOGIN PASSWORD 'a very secret text'")
    assert error_of(home.run, "CREATE ROLE vf_alice LOGIN PASSWORD 'a very secret text'") == "42710"
    with redis.connect() as stored:
        assert "secret" not in "".join(stored("HGETALL", ROLES) + stored("HGETALL", VERIFIERS))
        assert "SCRAM" not in "".join(stored("HGETALL", ROLES) + stored("HGETALL", "redquel:catalog"))
    with open(f"{server.folder}/redquel.log", encoding="utf-8") as log:
        assert "secret" not in log.read()


def test_a_first_password_for_another_role_warns(make_redis, make_server):
    home = start(make_server, make_redis()).connect()
    home.run("CREATE ROLE fp_alice LOGIN")
    [result] = home.query("ALTER ROLE fp_alice PASSWORD 'x'")
    assert [notice["S"] for notice in result.notices] == ["WARNING"], result.notices
    home.run("ALTER ROLE postgres PASSWORD 'y'")
    [result] = home.query("ALTER ROLE fp_alice PASSWORD 'z'")
    assert result.notices == [], result.notices


def test_roles_of_an_open_transaction(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    second = start(make_server, redis)
    home, other = server.connect(), server.connect()
    home.run("BEGIN; CREATE ROLE tx_alice LOGIN PASSWORD 'secret'; CREATE SCHEMA tx_s AUTHORIZATION tx_alice")
    assert home.run("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'tx_s'") == [["tx_alice"]]
    # Sessions of the same thread run between its statements, and while one of them waits.
    assert other.run("SELECT count(*) FROM pg_roles WHERE rolname = 'tx_alice'") == [["0"]]
    assert error_of(server.connect, user="tx_alice") == "28000"
    home.run("COMMIT")
    for connection in (other, second.connect()):
        assert connection.run("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'tx_s'") == [["tx_alice"]]
    server.connect(user="tx_alice").close()


def test_prepared_statements_know_roles_of_the_transaction(make_redis, make_server):
    home = start(make_server, make_redis()).connect()
    home.run("BEGIN; CREATE ROLE tx_alice")
    assert home.run("SELECT $1::regrole::oid = (SELECT oid FROM pg_roles WHERE rolname = $2)", "tx_alice", "tx_alice") == [["t"]]
    home.run("ROLLBACK")


def test_a_concurrent_change_of_roles_ends_the_transaction(make_redis, make_server):
    redis = make_redis()
    home, other = start(make_server, redis).connect(), start(make_server, redis).connect()
    home.run("BEGIN; CREATE TABLE tx_t (a int PRIMARY KEY); INSERT INTO tx_t VALUES (1); CREATE ROLE tx_alice")
    other.run("CREATE ROLE tx_bob")
    assert error_of(home.run, "COMMIT") == "40001"
    assert home.run("SELECT rolname FROM pg_roles WHERE rolname LIKE 'tx%'") == [["tx_bob"]]
    assert home.run("SELECT to_regclass('tx_t')") == [[None]]
    home.run("BEGIN; CREATE TABLE tx_t (a int PRIMARY KEY); INSERT INTO tx_t VALUES (1); CREATE ROLE tx_alice; COMMIT")
    assert other.run("SELECT count(*) FROM tx_t, pg_roles WHERE rolname = 'tx_alice'") == [["1"]]


def test_roles_of_a_transaction_in_another_database(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    home = server.connect()
    home.run("CREATE DATABASE tx_other")
    with server.connect(database="tx_other") as connection:
        connection.run("BEGIN; CREATE ROLE tx_alice; CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t OWNER TO tx_alice; COMMIT")
        assert connection.run("SELECT tableowner FROM pg_tables WHERE tablename = 't'") == [["tx_alice"]]
    assert home.run("SELECT count(*) FROM pg_roles WHERE rolname = 'tx_alice'") == [["1"]]
    assert home.run("SELECT to_regclass('t')") == [[None]]
    home.run("BEGIN")
    assert error_of(home.run, "DROP ROLE tx_alice") == "2BP01"
    home.run("ROLLBACK")


def test_a_cancelled_statement_of_a_transaction_with_roles(make_redis, make_server):
    server = start(make_server, make_redis())
    home = server.connect()
    home.run("BEGIN; CREATE ROLE tx_alice; SET LOCAL statement_timeout = 200")
    assert error_of(home.run, "SELECT pg_sleep(30)") == "57014"
    home.run("ROLLBACK")
    assert home.run("SELECT count(*) FROM pg_roles WHERE rolname = 'tx_alice'") == [["0"]]
