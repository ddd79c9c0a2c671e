"""REVOKE over several redquels: in force when it answers, also for plans, prepared statements and writers beside it."""
import threading

from harness.pgwire import ServerError
from harness.processes import temporary_folder
from harness.waiting import wait_for

TRUST = '[authentication]\nrules = """\nhost all all 127.0.0.1/32 trust\n"""\n'
WRITERS = 3


def start(make_server, redis):
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(TRUST)
    return make_server("--config", f"{folder}/redquel.toml", redis=redis)


def run_each(session, *statements):
    """Each by itself: roles are not made in a block."""
    for statement in statements:
        session.run(statement)


def error_of(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except ServerError as error:
        return error.sqlstate
    return None


class Writer(threading.Thread):
    """Inserts rows until it is refused. Other errors than 42501 end it, too, and fail the test."""

    def __init__(self, server, number, statement):
        super().__init__()
        self.session, self.number, self.statement = server.connect(user="rv_alice"), number, statement
        self.written, self.error = 0, None

    def run(self):
        while self.error is None:
            key = self.number + WRITERS * self.written
            try:
                self.session.run(self.statement.format(key=key))
                self.written += 1
            except ServerError as error:
                if error.sqlstate != "40001":
                    self.error = error.sqlstate


def check_no_write_after(make_redis, make_server, statement, setup, revoke):
    redis = make_redis()
    first, second = start(make_server, redis), start(make_server, redis)
    owner = first.connect()
    run_each(owner, "CREATE ROLE rv_alice LOGIN", "CREATE ROLE rv_group", "CREATE TABLE rv_t (a int PRIMARY KEY, b int)", *setup)
    writers = [Writer(second, number, statement) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    wait_for(lambda: all(writer.written > 5 or writer.error for writer in writers))
    owner.run(revoke)
    rows = owner.run("SELECT count(*), coalesce(sum(b), 0) FROM rv_t")
    for writer in writers:
        writer.join()
        writer.session.close()
    assert [writer.error for writer in writers] == ["42501"] * WRITERS
    assert owner.run("SELECT count(*), coalesce(sum(b), 0) FROM rv_t") == rows


def test_no_insert_after_revoke(make_redis, make_server):
    check_no_write_after(make_redis, make_server, "INSERT INTO rv_t VALUES ({key}, 1)", ["GRANT INSERT ON rv_t TO rv_alice"],
                         "REVOKE INSERT ON rv_t FROM rv_alice")


def test_no_update_after_revoke(make_redis, make_server):
    check_no_write_after(make_redis, make_server, "UPDATE rv_t SET b = b + 1 WHERE a = {key} % 7",
                         ["INSERT INTO rv_t SELECT i, 0 FROM generate_series(0, 6) AS i", "GRANT SELECT, UPDATE ON rv_t TO rv_alice"],
                         "REVOKE UPDATE ON rv_t FROM rv_alice")


def test_no_insert_through_a_view_after_revoke_from_its_owner(make_redis, make_server):
    check_no_write_after(make_redis, make_server, "INSERT INTO rv_v VALUES ({key}, 1)",
                         ["GRANT INSERT ON rv_t TO rv_group", "CREATE VIEW rv_v AS SELECT a, b FROM rv_t", "ALTER VIEW rv_v OWNER TO rv_group",
                          "GRANT INSERT ON rv_v TO rv_alice"],
                         "REVOKE INSERT ON rv_t FROM rv_group")


def test_no_insert_after_revoke_on_the_view(make_redis, make_server):
    check_no_write_after(make_redis, make_server, "INSERT INTO rv_v VALUES ({key}, 1)",
                         ["CREATE VIEW rv_below AS SELECT a, b FROM rv_t", "CREATE VIEW rv_v AS SELECT * FROM rv_below", "GRANT INSERT ON rv_v TO rv_alice"],
                         "REVOKE INSERT ON rv_v FROM rv_alice")


def test_plans_of_other_processes_are_checked_again(make_redis, make_server):
    redis = make_redis()
    first, second = start(make_server, redis), start(make_server, redis)
    owner = first.connect()
    run_each(owner, "CREATE ROLE rv_alice LOGIN", "CREATE TABLE rv_t (a int PRIMARY KEY, b int)", "INSERT INTO rv_t VALUES (1, 10)")
    alice = second.connect(user="rv_alice")
    assert error_of(alice.run, "SELECT b FROM rv_t WHERE a = 1") == "42501"
    owner.run("GRANT SELECT ON rv_t TO rv_alice")
    assert alice.run("SELECT b FROM rv_t WHERE a = 1") == [["10"]]
    alice.run("PREPARE rv_read AS SELECT b FROM rv_t WHERE a = 1")
    assert alice.run("EXECUTE rv_read") == [["10"]]
    owner.run("REVOKE SELECT ON rv_t FROM rv_alice")
    assert error_of(alice.run, "EXECUTE rv_read") == "42501"
    assert error_of(alice.run, "SELECT b FROM rv_t WHERE a = 1") == "42501"


def test_a_recreated_role_gives_old_sessions_no_rights(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    owner = server.connect()
    run_each(owner, "CREATE ROLE rv_alice LOGIN", "CREATE TABLE rv_t (a int PRIMARY KEY)")
    alice = server.connect(user="rv_alice")
    owner.run("DROP ROLE rv_alice")
    run_each(owner, "CREATE ROLE rv_alice LOGIN", "GRANT SELECT ON rv_t TO rv_alice")
    assert error_of(alice.run, "SELECT * FROM rv_t") == "42501"
    assert server.connect(user="rv_alice").run("SELECT * FROM rv_t") == []
    owner.run("ALTER ROLE rv_alice SUPERUSER")
    assert error_of(alice.run, "SELECT * FROM rv_t") == "42501"
    assert alice.run("SELECT current_user")[0][0].startswith("unknown (OID=")
    assert error_of(alice.run, "CREATE TABLE rv_mine (a int)") == "42501"


def test_temporary_schemas_of_others_are_refused(make_redis, make_server):
    redis = make_redis()
    server = start(make_server, redis)
    owner = server.connect()
    run_each(owner, "CREATE ROLE rv_alice LOGIN", "CREATE TEMP TABLE rv_temporary (a int)")
    schema = owner.run("SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'rv_temporary'")[0][0]
    alice = server.connect(user="rv_alice")
    assert error_of(alice.run, f'SELECT * FROM "{schema}".rv_temporary') == "42501"
    assert error_of(alice.run, f'INSERT INTO "{schema}".rv_temporary VALUES (1)') == "42501"
