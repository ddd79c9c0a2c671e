"""Transactions on the wire: ReadyForQuery's status, implicit transactions of a Query string and of a pipeline, portals."""
from harness.pgwire import SYNC, bind, close, describe, execute, parse, query
from harness.transcript import same

CONCURRENT = True


def table(name):
    return (f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (id integer PRIMARY KEY, n integer);"
            f"INSERT INTO {name} VALUES (1, 10), (2, 20), (3, 30)")


def run(sql):
    return parse(sql) + bind() + describe(b"P") + execute()


def test_status_follows_the_block(server, postgres):
    same(server, postgres, query("BEGIN"), query("SELECT 1"), query("SELECT 1/0"), query("SELECT 1"), query("ROLLBACK"),
         query("BEGIN; SELECT 1"), query("COMMIT; SELECT 1"), query("COMMIT"), query("ROLLBACK"))


def test_failed_block_in_the_extended_protocol(server, postgres):
    same(server, postgres, parse("SELECT 1", "s") + SYNC, run("BEGIN") + SYNC, run("SELECT nowhere") + SYNC, parse("SELECT 2") + SYNC,
         bind("", "s") + SYNC, describe(b"S", "s") + SYNC, parse("") + SYNC, run("ROLLBACK") + SYNC, bind("", "s") + execute() + SYNC)


def test_a_string_is_one_transaction(server, postgres):
    same(server, postgres,
         query("INSERT INTO t_string VALUES (4, 40); INSERT INTO t_string VALUES (4, 41)"), query("SELECT * FROM t_string ORDER BY id"),
         query("INSERT INTO t_string VALUES (5, 50); SELECT count(*) FROM t_string; COMMIT; INSERT INTO t_string VALUES (6, 60); SELECT 1/0"),
         query("SELECT * FROM t_string ORDER BY id"),
         query("INSERT INTO t_string VALUES (7, 70); ROLLBACK; INSERT INTO t_string VALUES (8, 80)"),
         query("SELECT * FROM t_string ORDER BY id"), setup=table("t_string"))


def test_begin_inside_a_string(server, postgres):
    same(server, postgres, query("INSERT INTO t_begin VALUES (4, 40); BEGIN; INSERT INTO t_begin VALUES (5, 50)"),
         query("ROLLBACK"), query("SELECT count(*) FROM t_begin"), query("SELECT 1; SAVEPOINT a"), query("SELECT 1; COMMIT AND CHAIN"),
         setup=table("t_begin"))


def test_definitions_in_a_string_go_with_it(server, postgres):
    same(server, postgres, query("DROP TABLE IF EXISTS t_made; CREATE TABLE t_made (i int); INSERT INTO t_made VALUES (1); SELECT 1/0"),
         query("SELECT * FROM t_made"))


def test_an_error_rolls_the_pipeline_back(server, postgres):
    same(server, postgres,
         run("INSERT INTO t_pipe VALUES (4, 40)") + run("INSERT INTO t_pipe VALUES (5, 50)") + SYNC,
         run("INSERT INTO t_pipe VALUES (6, 60)") + run("INSERT INTO t_pipe VALUES (1, 0)") + run("INSERT INTO t_pipe VALUES (7, 70)") + SYNC,
         query("SELECT * FROM t_pipe ORDER BY id"),
         run("INSERT INTO t_pipe VALUES (8, 80)") + run("SELECT count(*) FROM t_pipe") + run("ROLLBACK") + SYNC,
         query("SELECT * FROM t_pipe ORDER BY id"),
         run("INSERT INTO t_pipe VALUES (9, 90)") + run("BEGIN") + SYNC, run("ROLLBACK") + SYNC,
         query("SELECT * FROM t_pipe ORDER BY id"), setup=table("t_pipe"))


def test_portals_live_as_long_as_the_block(server, postgres):
    same(server, postgres, query("BEGIN"),
         parse("SELECT id FROM t_portal ORDER BY id", "s") + bind("p", "s") + execute("p", 1) + SYNC,
         query("UPDATE t_portal SET n = 0"),
         execute("p", 1) + SYNC, execute("p", 0) + SYNC, query("COMMIT"), execute("p", 0) + SYNC,
         bind("p", "s") + execute("p", 1) + SYNC + execute("p", 1) + SYNC, setup=table("t_portal"))


def test_changed_parameters_are_reported_after_rollback(server, postgres):
    same(server, postgres, query("BEGIN; SET datestyle = german"), query("ROLLBACK"), query("BEGIN; SET LOCAL timezone = 'CET'"),
         query("COMMIT"), query("BEGIN"), query("SAVEPOINT a; SET application_name = 'x'"), query("ROLLBACK TO a"), query("COMMIT"))


def test_discard_in_a_block(server, postgres):
    same(server, postgres, query("BEGIN"), query("DISCARD ALL"), query("ROLLBACK"), query("SELECT 1; DISCARD ALL"), query("DISCARD ALL"))


def test_closing_in_a_failed_block(server, postgres):
    same(server, postgres, parse("SELECT 1", "s") + SYNC, query("BEGIN; SELECT 1/0"), close(b"S", "s") + SYNC, query("ROLLBACK"),
         bind("", "s") + SYNC)


def test_prepare_transaction_ends_the_transaction(server, postgres):
    same(server, postgres, query("BEGIN"), query("INSERT INTO x_2pc VALUES (9, 9)"), query("PREPARE TRANSACTION 'x'"), query("SELECT * FROM x_2pc ORDER BY id"),
         query("BEGIN"), query("SAVEPOINT a"), query("PREPARE TRANSACTION 'x'"), query("ROLLBACK TO a"), query("ROLLBACK"),
         query("BEGIN; INSERT INTO x_2pc VALUES (9, 9); PREPARE TRANSACTION 'x'; SELECT 1"), query("SELECT count(*) FROM x_2pc"),
         query(f"BEGIN; PREPARE TRANSACTION '{'x' * 200}'"), query("SELECT 1"), setup=table("x_2pc"))


def test_prepare_transaction_outside_of_a_block(server, postgres):
    same(server, postgres, query("PREPARE TRANSACTION 'x'"), query("INSERT INTO x_2pc2 VALUES (9, 9); PREPARE TRANSACTION 'x'"),
         query("SELECT count(*) FROM x_2pc2"), query("BEGIN"), query("SELECT 1/0"), query("PREPARE TRANSACTION 'x'"), query("SELECT 1"),
         run("INSERT INTO x_2pc2 VALUES (8, 8)") + run("PREPARE TRANSACTION 'x'") + SYNC, query("SELECT * FROM x_2pc2 ORDER BY id"),
         setup=table("x_2pc2"))


def test_prepare_transaction_by_the_extended_protocol(server, postgres):
    same(server, postgres, run("BEGIN") + SYNC, run("PREPARE TRANSACTION 'x'") + SYNC, run("SELECT 1") + SYNC)


def test_there_are_no_prepared_transactions(server, postgres):
    same(server, postgres, query("COMMIT PREPARED 'x'"), query("BEGIN"), query("ROLLBACK PREPARED 'x'"), query("ROLLBACK"),
         query("ROLLBACK PREPARED 'x'; SELECT 1"), query("SHOW max_prepared_transactions"), query("SET max_prepared_transactions = 2"),
         query("SELECT name, setting, context FROM pg_settings WHERE name = 'max_prepared_transactions'"))
