"""redquel's own login with the least rights in Redis: the rule that `redquel check --acl` prints is enough, and less is refused at the start."""
import os
import subprocess
import sys

from harness.waiting import wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A share of the .test suite; tests/run.py --least-acl runs all of it.
SHARE = ("tests/sql/storage/integer.test", "tests/sql/transactions/definitions.test", "tests/sql/transactions/lock_table.test", "tests/sql/copy")


def test_a_share_of_the_suite_runs_with_the_least_rule(build):
    run = subprocess.run([sys.executable, "tests/run.py", "--build", build, "--least-acl", "-j", "1", "sql", *SHARE], cwd=ROOT, capture_output=True,
                         text=True)
    assert run.returncode == 0, run.stdout[-4000:]


def test_all_kinds_of_commands(make_redis, make_server, build):
    redis = make_redis()
    redis.restrict(build)
    server = make_server(redis=redis)
    with server.connect() as connection, server.connect() as listener:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY, name text, dept int); CREATE INDEX ON emp (dept)")
        connection.run("INSERT INTO emp SELECT n, 'e' || n, n % 7 FROM generate_series(1, 3000) n")
        assert connection.run("SELECT count(*) FROM emp WHERE dept = 3") == [["429"]]
        connection.run("ALTER TABLE emp ADD COLUMN extra int DEFAULT 7; UPDATE emp SET dept = 8 WHERE id < 10; REINDEX TABLE emp; TRUNCATE emp; DROP TABLE emp")
        listener.run("LISTEN news")
        connection.run("NOTIFY news, 'hello'")
        wait_for(lambda: listener.run("SELECT 1") and listener.notifications == [("news", "hello")])
        connection.run("CREATE DATABASE other")
        connection.run("DROP DATABASE other")
        for table in ("keys", "info", "clients", "slowlog", "commandstats", "config", "memory_stats", "latency", "streams"):
            connection.run(f"SELECT * FROM redis.{table}")
        assert connection.run("SELECT redis.call('SET', 'app:1', 'x')") == [['"OK"']]


def test_rule_for_the_tables_that_are_there(make_redis, make_server, build):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run('CREATE TABLE emp (id int PRIMARY KEY); CREATE TABLE "odd*name" (id int); INSERT INTO emp VALUES (1)')
    server.stop()
    words = redis.restrict(build, "tables")
    assert "~emp:*" in words and "~redquel:*" in words and "~*" not in words, words
    server.start()
    with server.connect() as connection:
        assert connection.run("SELECT * FROM emp") == [["1"]]
        connection.run("INSERT INTO emp VALUES (2); SELECT count(*) FROM emp")


def start_error(build, redis, rule):
    """What redquel says when it starts as a user with this rule."""
    with redis.connect() as connection:
        connection("ACL", "DELUSER", "redquel")
        connection(*rule)
    run = subprocess.run([os.path.join(build, "redquel"), "--listen", "127.0.0.1:0", "--redis", redis.url], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1, run
    return run.stderr + run.stdout


def test_a_start_names_the_missing_rule(make_redis, make_server, build):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE TABLE emp (id int PRIMARY KEY)")
    server.stop()
    rule = redis.restrict(build)
    assert "lacks +hsetnx (" in start_error(build, redis, [word for word in rule if word != "+hsetnx"])
    assert "lacks ~redquel:* (" in start_error(build, redis, ["~emp:*" if word == "~*" else word for word in rule])
    assert "lacks ~emp:* (" in start_error(build, redis, ["~redquel:*" if word == "~*" else word for word in rule])
    message = start_error(build, redis, [word for word in rule if word != "&redquel:*"])
    assert "lacks &redquel:* (" in message and "redquel check --acl" in message
