"""Rows of foreign tables that transactions of redquel lock: SELECT … FOR UPDATE, and writes that wait for each other."""
import threading

from harness.crew import all_at_once
from harness.keyspace import MappedKeys, same
from harness.pgwire import query

TABLES = """
CREATE FOREIGN TABLE account (id int, owner text, balance bigint) SERVER redis OPTIONS (layout 'hash', key 'account:{id}');
CREATE FOREIGN TABLE tag (tag text, book int) SERVER redis OPTIONS (layout 'set', key 'tag:{tag}')
"""


def load(redis):
    for number in range(1, 5):
        redis("HSET", f"account:{number}", "owner", f"o{number}", "balance", "100")
    redis("SADD", "tag:ruby", "1", "2")


def test_rows_are_locked(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), fresh_server.connect() as other:
        same(connection.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE"), [["100"]])  # without a transaction nothing stays
        connection.run("BEGIN")
        same(connection.run("SELECT id, balance FROM account WHERE id IN (1, 2) ORDER BY id FOR UPDATE"), [["1", "100"], ["2", "100"]])
        assert other.run_error("SELECT * FROM account WHERE id = 1 FOR UPDATE NOWAIT")["C"] == "55P03"
        same(other.run("SELECT id FROM account ORDER BY id FOR UPDATE SKIP LOCKED"), [["3"], ["4"]])
        other.run("SET lock_timeout = '200ms'")
        for statement in ("UPDATE account SET balance = 0 WHERE id = 1", "DELETE FROM account WHERE id = 2", "UPDATE account SET id = 9 WHERE id = 1"):
            assert other.run_error(statement)["C"] == "55P03", statement
        other.run("BEGIN")
        assert other.run_error("UPDATE account SET balance = 0 WHERE id = 1")["C"] == "55P03"
        other.run("ROLLBACK")
        other.run("UPDATE account SET balance = 50 WHERE id = 3")  # others are free
        other.run("INSERT INTO account VALUES (5, 'new', 1)")
        connection.run("UPDATE account SET balance = balance - 10 WHERE id = 1")
        connection.run("COMMIT")
        other.run("UPDATE account SET balance = balance + 1 WHERE id = 1")
        assert redis("HGET", "account:1", "balance") == "91"
        assert not redis.keys("redquel:locks:*")


def test_a_waiting_statement_sees_the_new_row(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), fresh_server.connect() as other:
        connection.run("BEGIN")
        connection.run("SELECT * FROM account WHERE id = 1 FOR UPDATE")
        connection.run("UPDATE account SET balance = 7 WHERE id = 1")
        other.send(query("SELECT balance FROM account WHERE id = 1 FOR SHARE"))
        assert not other.has_input(0.5)
        connection.run("COMMIT")
        same(other.results()[0].texts(), [["7"]])


def test_no_increment_is_lost(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis):
        def work(_):
            with fresh_server.connect() as own:
                for _ in range(20):
                    own.run("BEGIN")
                    balance = int(own.run("SELECT balance FROM account WHERE id = 1 FOR UPDATE")[0][0])
                    own.run(f"UPDATE account SET balance = {balance + 1} WHERE id = 1")
                    own.run("COMMIT")

        all_at_once(work, 3)
        assert redis("HGET", "account:1", "balance") == "160"


def test_deadlocks_and_other_layouts(fresh_server):
    with MappedKeys(fresh_server, load, TABLES) as (connection, redis), fresh_server.connect() as other:
        connection.run("BEGIN")
        other.run("BEGIN")
        connection.run("SELECT * FROM tag WHERE tag = 'ruby' AND book = 1 FOR UPDATE")
        other.run("SELECT * FROM tag WHERE tag = 'ruby' AND book = 2 FOR UPDATE")
        errors = []

        def second():
            try:
                other.run("DELETE FROM tag WHERE tag = 'ruby' AND book = 1")
                other.run("COMMIT")
            except Exception as error:  # noqa: BLE001
                errors.append(error)
                other.run("ROLLBACK")

        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        try:
            connection.run("DELETE FROM tag WHERE tag = 'ruby' AND book = 2")
            connection.run("COMMIT")
        except Exception as error:  # noqa: BLE001
            errors.append(error)
            connection.run("ROLLBACK")
        thread.join(120)
        assert len(errors) == 1 and "deadlock" in str(errors[0]), errors
        assert redis("SCARD", "tag:ruby") == 1
