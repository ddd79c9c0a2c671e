"""User mappings: foreign tables, the schema redis and redis.call run as the Redis user of the role whose rights are checked."""
from harness.waiting import wait_for
TABLES = """
CREATE FOREIGN TABLE login (id bigint, name text, visits bigint) SERVER redis OPTIONS (layout 'hash', key 'login:{id}');
CREATE FOREIGN TABLE secret (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'secret:{id}');
"""
RULE = "+@read +@write +@scripting +multi +exec +select +ping +client|setname -@dangerous".split()


def each(connection, statements):
    for statement in statements.split(";"):
        if statement.strip():
            connection.run(statement)


def prepare(server):
    """Foreign tables of alice, who may see login:* in Redis; bob without a mapping."""
    with server.redis.connect() as redis:
        for number in (1, 2):
            redis("HSET", f"login:{number}", "name", f"user {number}", "visits", number)
            redis("HSET", f"secret:{number}", "name", "hidden")
        redis("ACL", "SETUSER", "alice", "reset", "on", ">wonder", "~login:*", *RULE)
        redis("ACL", "SETUSER", "carol", "reset", "on", ">lewis", "~secret:*", *RULE)
    with server.connect() as connection:
        each(connection, "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN")
        connection.run("CREATE USER MAPPING FOR alice SERVER redis OPTIONS (user 'alice', password 'wonder')")
        each(connection, "CREATE SCHEMA app AUTHORIZATION alice; GRANT USAGE ON SCHEMA app TO bob, carol; GRANT USAGE ON FOREIGN SERVER redis TO alice")
        connection.run("ALTER DATABASE postgres SET search_path = app, public")
        each(connection, "SET ROLE alice; SET search_path = app")
        each(connection, TABLES)


def as_role(connection, role):
    connection.run(f"SET ROLE {role}")
    return connection


def error(connection, sql):
    found = connection.run_error(sql)
    return found["C"], found["M"]


def commands(redis, user):
    """The names of the users of connections that redquel has in Redis."""
    return [line for line in redis("CLIENT", "LIST").splitlines() if f"user={user} " in line]


def test_reads_and_writes_are_the_redis_users(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        as_role(connection, "alice")
        assert connection.run("SELECT name FROM login WHERE id = 1") == [["user 1"]]
        assert connection.run("SELECT count(*) FROM login") == [["2"]]
        state, message = error(connection, "SELECT name FROM secret WHERE id = 1")
        assert state == "42501" and "secret:1" not in message, message
        connection.run("INSERT INTO login VALUES (3, 'user 3', 3)")
        connection.run("UPDATE login SET visits = visits + 10 WHERE id = 3")
        assert redis("HGET", "login:3", "visits") == "13"
        connection.run("DELETE FROM login WHERE id = 3")
        assert redis("EXISTS", "login:3") == 0
        assert error(connection, "INSERT INTO secret VALUES (3, 'mine')")[0] == "42501"
        assert redis("EXISTS", "secret:3") == 0
        assert commands(redis, "alice")


def test_a_write_that_is_refused_in_the_middle_has_no_effect(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        redis("ACL", "SETUSER", "alice", "-del")
        redis("ACL", "SETUSER", "alice", "resetkeys", "%R~*", "~login:1")
        as_role(connection, "alice")
        assert error(connection, "UPDATE login SET visits = 7")[0] == "42501"
        assert [redis("HGET", f"login:{number}", "visits") for number in (1, 2)] == ["1", "2"]


def test_transactions(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        as_role(connection, "alice")
        connection.run("CREATE TABLE managed (id int)")
        connection.run("BEGIN")
        connection.run("UPDATE login SET visits = 50 WHERE id = 1")
        connection.run("INSERT INTO login VALUES (9, 'nine', 9)")
        assert redis("HGET", "login:1", "visits") == "1"
        connection.run("COMMIT")
        assert redis("HGET", "login:1", "visits") == "50" and redis("HGET", "login:9", "name") == "nine"
        connection.run("BEGIN")
        connection.run("UPDATE login SET visits = 51 WHERE id = 1")
        connection.run("INSERT INTO managed VALUES (1)")
        state, message = error(connection, "COMMIT")
        assert state == "0A000" and "user mapping" in message, message
        assert redis("HGET", "login:1", "visits") == "50"
        assert connection.run("SELECT count(*) FROM managed") == [["0"]]


def test_writers_of_two_users_see_each_others_locks(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as one, fresh_server.connect() as other, fresh_server.redis.connect() as redis:
        as_role(one, "alice")
        each(one, "BEGIN; UPDATE login SET visits = 60 WHERE id = 1")
        as_role(other, "alice").run("SET lock_timeout = '200ms'")
        assert error(other, "UPDATE login SET visits = 61 WHERE id = 1")[0] == "55P03"
        one.run("COMMIT")
        other.run("UPDATE login SET visits = visits + 1 WHERE id = 1")
        assert redis("HGET", "login:1", "visits") == "61"


def test_the_password_decides(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        connection.run("ALTER USER MAPPING FOR alice SERVER redis OPTIONS (SET password 'wrong')")
        as_role(connection, "alice")
        found = connection.run_error("SELECT name FROM login WHERE id = 1")
        assert found["C"] == "08001" and found["M"] == 'could not connect to server "redis"' and "WRONGPASS" in found["D"], found
        each(connection, "RESET ROLE; ALTER USER MAPPING FOR alice SERVER redis OPTIONS (SET password 'wonder'); SET ROLE alice")
        assert connection.run("SELECT name FROM login WHERE id = 1") == [["user 1"]]
        # Redis's password changes while connections are open; a write logs in anew.
        redis("ACL", "SETUSER", "alice", "resetpass", ">other")
        assert error(connection, "UPDATE login SET visits = 70 WHERE id = 1")[0] == "08001"
        assert redis("HGET", "login:1", "visits") == "1"
        each(connection, "RESET ROLE; DROP USER MAPPING FOR alice SERVER redis")
        assert connection.run("SELECT name FROM login WHERE id = 1") == [["user 1"]]
        wait_for(lambda: commands(redis, "alice") == [])
        assert redis("KEYS", "redquel:mapping_password*") == []


def test_passwords_are_in_no_definition(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        assert all("wonder" not in text for text in redis("HGETALL", "redquel:catalog"))
        shown = "SELECT usename, umoptions FROM pg_user_mappings ORDER BY usename"
        assert connection.run(shown) == [["alice", "{user=alice,password=wonder}"]]
        options = "SELECT option_name, option_value FROM information_schema.user_mapping_options ORDER BY 1"
        assert connection.run(options) == [["password", "wonder"], ["user", "alice"]]
        as_role(connection, "carol")
        assert connection.run(shown) == [["alice", None]]
        assert error(connection, "SELECT * FROM pg_user_mapping")[0] == "42501"


def test_statements(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection:
        assert error(connection, "CREATE USER MAPPING FOR alice SERVER redis OPTIONS (user 'x')") == (
            "42710", 'user mapping for "alice" already exists for server "redis"')
        connection.run("CREATE USER MAPPING IF NOT EXISTS FOR alice SERVER redis OPTIONS (user 'x')")
        assert error(connection, "CREATE USER MAPPING FOR bob SERVER redis OPTIONS (host 'x')")[0] == "HV00D"
        assert error(connection, "CREATE USER MAPPING FOR bob SERVER redis OPTIONS (password 'x')")[0] == "HV00J"
        assert error(connection, "CREATE USER MAPPING FOR bob SERVER other OPTIONS (user 'x')") == ("42704", 'server "other" does not exist')
        assert error(connection, "CREATE USER MAPPING FOR nobody SERVER redis OPTIONS (user 'x')") == ("42704", 'role "nobody" does not exist')
        assert error(connection, "ALTER USER MAPPING FOR bob SERVER redis OPTIONS (SET user 'x')") == (
            "42704", 'user mapping for "bob" does not exist for server "redis"')
        assert error(connection, "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (ADD password 'x')")[0] == "42710"
        assert error(connection, "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (DROP user)")[0] == "HV00J"
        each(connection, "DROP USER MAPPING IF EXISTS FOR bob SERVER redis; DROP USER MAPPING IF EXISTS FOR nobody SERVER redis")
        connection.run("CREATE USER MAPPING FOR PUBLIC SERVER redis OPTIONS (user 'carol', password 'lewis')")
        assert connection.run("SELECT umuser, usename FROM pg_user_mappings ORDER BY umuser")[0] == ["0", "public"]
        as_role(connection, "bob")
        assert error(connection, "CREATE USER MAPPING FOR alice SERVER redis OPTIONS (user 'x')") == ("42501", "must be owner of foreign server redis")
        assert error(connection, "CREATE USER MAPPING FOR bob SERVER redis OPTIONS (user 'x')") == ("42501", "permission denied for foreign server redis")
        each(connection, "RESET ROLE; BEGIN; DROP USER MAPPING FOR alice SERVER redis; ROLLBACK")
        as_role(connection, "alice")
        assert connection.run("SELECT name FROM login WHERE id = 1") == [["user 1"]]


def test_a_table_of_a_mapped_role_needs_a_mapping(fresh_server):
    """Otherwise its maker would read by redquel's own login what his Redis user may not see."""
    prepare(fresh_server)
    with fresh_server.connect() as connection:
        each(connection, "CREATE SCHEMA hers AUTHORIZATION alice; GRANT USAGE ON SCHEMA hers TO bob")
        as_role(connection, "bob")
        assert error(connection, "CREATE FOREIGN TABLE t (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'x:{id}')")[0] == "42501"
        assert error(connection, "IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public")[0] == "42501"
        connection.run("RESET ROLE")
        as_role(connection, "alice")
        connection.run("CREATE FOREIGN TABLE hers.all_secrets (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'secrets:{id}')")
        each(connection, "RESET ROLE; DROP USER MAPPING FOR alice SERVER redis")
        as_role(connection, "alice")
        assert error(connection, "SELECT * FROM hers.all_secrets WHERE id = 1") == ("42704", 'user mapping not found for "alice"')


def test_redis_call_and_the_schema_redis(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection:
        as_role(connection, "alice")
        assert connection.run("SELECT redis.call('HGET', 'login:1', 'name')") == [['"user 1"']]
        assert error(connection, "SELECT redis.call('HGET', 'secret:1', 'name')")[0] == "42501"
        for words in ("'SCAN', '0'", "'SELECT', '1'", "'MULTI'", "'PUBLISH', 'c', 'm'", "'BLPOP', 'login:1', '0'", "'MOVE', 'login:1', '1'",
                      "'COPY', 'login:1', 'login:7', 'DB', '1'", "'EVAL', 'return 1', '0'", "'GET', 'redquel:version'", "'ACL', 'WHOAMI'"):
            assert error(connection, f"SELECT redis.call({words})")[0] == "42501", words
        each(connection, "RESET ROLE; SET ROLE bob")
        assert error(connection, "SELECT redis.call('HGET', 'login:1', 'name')")[0] == "42501"
        each(connection, "RESET ROLE; GRANT pg_monitor TO bob; SET ROLE bob")
        assert error(connection, "SELECT redis.call('HGET', 'login:1', 'name')")[0] == "42501"


def test_keys_of_the_schema_redis_are_those_of_the_user(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        redis("ACL", "SETUSER", "alice", "+scan")
        as_role(connection, "alice")
        assert connection.run("SELECT key FROM redis.keys ORDER BY key") == [["login:1"], ["login:2"]]
        assert connection.run("SELECT count(*) FROM redis.keys") == [["2"]]
        assert error(connection, "SELECT * FROM redis.config")[0] == "42501"


# --- no role escapes from its Redis user

def refused(connection, state, *statements):
    for statement in statements:
        assert error(connection, statement)[0] == state, (statement, error(connection, statement))


def test_a_role_does_not_change_the_mapping_of_a_superuser(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        each(connection, "GRANT alice TO bob; CREATE SCHEMA definers AUTHORIZATION alice; GRANT USAGE ON SCHEMA definers TO bob")
        for role in ("alice", "bob"):
            as_role(connection, role)
            if role == "bob":
                connection.run("SET ROLE alice")
            refused(connection, "42501",
                    "ALTER USER MAPPING FOR CURRENT_USER SERVER redis OPTIONS (SET user 'default', DROP password)",
                    "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (SET user 'carol', SET password 'lewis')",
                    "ALTER USER MAPPING FOR USER SERVER redis OPTIONS (SET password 'other')",
                    "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (DROP password)",
                    "DROP USER MAPPING FOR alice SERVER redis", "DROP USER MAPPING IF EXISTS FOR CURRENT_ROLE SERVER redis",
                    "DROP OWNED BY alice", "DROP OWNED BY CURRENT_USER CASCADE",
                    "CREATE USER MAPPING FOR PUBLIC SERVER redis OPTIONS (user 'alice', password 'wonder')",
                    "ALTER SERVER redis OWNER TO alice")
            connection.run("CREATE USER MAPPING IF NOT EXISTS FOR alice SERVER redis OPTIONS (user 'carol', password 'lewis')")
            assert connection.run("SELECT name FROM app.login WHERE id = 1") == [["user 1"]]
            refused(connection, "42501", "SELECT name FROM app.secret WHERE id = 1")
            connection.run("RESET ROLE")
        # A refused statement keeps no password.
        assert [key for key in redis("KEYS", "redquel:mapping_password*") if ":0:" in key] == []
        # The owner of the server has the right, and is no superuser for all that.
        connection.run("ALTER SERVER redis OWNER TO alice")
        as_role(connection, "alice")
        refused(connection, "42501", "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (SET user 'default')")
        refused(connection, "2F003", "ALTER USER MAPPING FOR alice SERVER redis OPTIONS (DROP password)")
        connection.run("ALTER USER MAPPING FOR alice SERVER redis OPTIONS (SET user 'carol', SET password 'lewis')")
        assert connection.run("SELECT name FROM app.secret WHERE id = 1") == [["hidden"]]


def test_a_role_that_maps_itself_gives_a_password(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        each(connection, "GRANT USAGE ON FOREIGN SERVER redis TO carol; GRANT CREATE ON SCHEMA app TO carol")
        redis("ACL", "SETUSER", "open", "reset", "on", "nopass", "~*", *RULE)
        as_role(connection, "carol")
        create = "CREATE USER MAPPING FOR carol SERVER redis OPTIONS (user {})"
        refused(connection, "2F003", create.format("'carol'"), create.format("'carol', password ''"), create.format("'Default'"))
        refused(connection, "42501", create.format("'default'"), create.format("'default', password 'any'"))
        refused(connection, "HV00J", create.format("'', password 'any'"))
        refused(connection, "HV00D", 'CREATE USER MAPPING FOR carol SERVER redis OPTIONS ("USER" \'default\')')
        connection.run(create.format("'carol', password 'lewis'"))
        each(connection, "SET search_path = app; CREATE FOREIGN TABLE hers (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'hers:{id}')")
        refused(connection, "42501", "SELECT * FROM hers WHERE id = 1")
        refused(connection, "2F003", "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (DROP password)",
                "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET password '')")
        refused(connection, "42501", "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET user 'default')")
        # Redis knows no such user, and one that it lets in with any password.
        connection.run("ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET user 'DEFAULT')")
        refused(connection, "08001", "SELECT * FROM hers WHERE id = 1", "SELECT redis.call('GET', 'x')")
        connection.run("ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET user 'open')")
        refused(connection, "2F003", "SELECT * FROM hers WHERE id = 1", "SELECT redis.call('GET', 'x')", "SELECT * FROM redis.keys",
                "IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO app")
        connection.run("RESET ROLE")
        connection.run("ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET user 'open')")  # a superuser vouches for it
        as_role(connection, "carol")
        assert connection.run("SELECT count(*) FROM hers WHERE id = 1") == [["0"]]
        refused(connection, "42501", "DROP USER MAPPING FOR carol SERVER redis")


def test_a_role_drops_the_mapping_that_it_has_made(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection:
        each(connection, "GRANT USAGE ON FOREIGN SERVER redis TO carol")
        as_role(connection, "carol")
        each(connection, "CREATE USER MAPPING FOR carol SERVER redis OPTIONS (user 'carol', password 'lewis'); "
                         "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET password 'other'); DROP USER MAPPING FOR carol SERVER redis; BEGIN; "
                         "CREATE USER MAPPING FOR carol SERVER redis OPTIONS (user 'carol', password 'lewis'); "
                         "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET password 'wrong'); "
                         "ALTER USER MAPPING FOR carol SERVER redis OPTIONS (SET password 'lewis'); COMMIT")
        assert connection.run("SELECT redis.call('HGET', 'secret:1', 'name')") == [['"hidden"']]
        connection.run("DROP OWNED BY carol")
        assert connection.run("SELECT count(*) FROM pg_user_mappings WHERE usename = 'carol'") == [["0"]]


def test_counters_of_foreign_tables_are_the_redis_users(fresh_server):
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        redis("SET", "balance", 7)
        as_role(connection, "alice")
        each(connection, "SET search_path = app; CREATE TABLE own (id int); "
                         "CREATE FOREIGN TABLE trap (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'login:x:{id}', counter 'balance')")
        refused(connection, "42501", "SELECT nextval('trap_id_seq')", "SELECT setval('trap_id_seq', 1000)", "SELECT last_value FROM trap_id_seq",
                "ALTER SEQUENCE trap_id_seq RESTART", "INSERT INTO trap (name) VALUES ('x')")
        refused(connection, "0A000", "ALTER SEQUENCE trap_id_seq OWNED BY NONE", "ALTER SEQUENCE trap_id_seq OWNED BY own.id")
        each(connection, "DROP FOREIGN TABLE trap")
        assert redis("GET", "balance") == "7"


def test_work_for_a_table_is_its_owners(fresh_server):
    """What a superuser deletes or reindexes leads to no keys that the owner of a table may not write."""
    prepare(fresh_server)
    with fresh_server.connect() as connection, fresh_server.redis.connect() as redis:
        redis("HSET", "parent:1", "name", "one")
        each(connection, "SET search_path = app; CREATE FOREIGN TABLE parent (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'parent:{id}')")
        as_role(connection, "alice")
        trap = "CREATE FOREIGN TABLE trap (id bigint OPTIONS (parent 'parent'), owner text) SERVER redis OPTIONS (layout 'hash', key 'login:p:{id}')"
        refused(connection, "42501", trap)
        each(connection, "RESET ROLE; GRANT REFERENCES ON parent TO alice; SET ROLE alice; DROP FOREIGN TABLE secret")
        connection.run(trap.replace("login:p:", "secret:"))
        each(connection, "CREATE INDEX login_name ON login USING set (name) WITH (key = 'secret:names:{name}')")
        connection.run("RESET ROLE")
        assert error(connection, "DELETE FROM parent WHERE id = 1")[0] in ("0A000", "42501")
        assert error(connection, "REINDEX TABLE login")[0] == "42501"
        assert redis("HGET", "secret:1", "name") == "hidden" and redis("KEYS", "secret:names*") == []
