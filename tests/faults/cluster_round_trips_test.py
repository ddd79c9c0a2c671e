"""The commands that the nodes of a Redis Cluster receive for a statement, and in how many writes: each write of a connection ends by reading the
version of the definitions. Counted by MONITOR, which shows what scripts run, too."""
from collections import Counter

from harness.cluster_nodes import Cluster

BUCKETS = 16
ROWS = 320
TRIES = 40


def received(cluster, connection, statement):
    """Runs the statement, and returns what the nodes received for it: the writes to each node, and the other commands by their names."""
    monitors = [node.connect() for node in cluster.masters]
    writes, commands = [], Counter()
    try:
        for monitor in monitors:
            assert monitor("MONITOR") == "OK"
        connection.run(statement)
        for node, monitor in zip(cluster.masters, monitors):
            node("ECHO", "the end")
            of_node = 0
            while '"ECHO" "the end"' not in (line := monitor._reply()):
                place, words = line.split("] ", 1)
                if place.endswith(" lua"):
                    continue
                names = words.split('"')[1::2]
                if names[0] == "GET" and names[1].endswith("redquel:version"):
                    of_node += 1
                else:
                    commands[names[0]] += 1
            writes.append(of_node)
    finally:
        for monitor in monitors:
            monitor.close()
    return writes, commands


def is_received(cluster, connection, statement, writes, commands):
    """Returns true if a run of the statement needs at most so many writes to each node, and these commands. Background work may add some to other runs."""
    seen = []
    for _ in range(TRIES):
        seen.append(received(cluster, connection, statement))
        of_run, found = seen[-1]
        if max(of_run) <= writes and all(found[name] == calls for name, calls in commands.items()):
            return True
    raise AssertionError(f"{statement}: {seen[-5:]}")


def set_up(make_redis, make_server, masters=3):
    cluster = Cluster(make_redis, masters=masters, replicas=0)
    server = make_server("--threads", "1", redis=cluster)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE item (id int PRIMARY KEY, kind int, price int) WITH (buckets = {BUCKETS})")
        connection.run("CREATE INDEX ON item (kind)")
        connection.run(f"INSERT INTO item SELECT n, n % 7, n FROM generate_series(1, {ROWS}) n")
    return cluster, server


def test_a_count_over_all_buckets_is_one_round_trip(make_redis, make_server):
    cluster, server = set_up(make_redis, make_server)
    with server.connect() as connection:
        # In front of the reads a number, behind them the records and the number again.
        looks = {"HGET": 2 * BUCKETS, "EXISTS": BUCKETS, "EVALSHA_RO": 0}
        assert is_received(cluster, connection, "SELECT count(*) FROM item", 1, {**looks, "ZCARD": BUCKETS})
        assert is_received(cluster, connection, "SELECT count(*) FROM item WHERE kind = 3", 1, looks)
        assert is_received(cluster, connection, "SELECT id FROM item WHERE kind = 3 ORDER BY id", 1, {"HGET": 2 * BUCKETS, "EXISTS": BUCKETS})


def test_a_commit_over_buckets_costs_a_reader_one_more_round_trip(make_redis, make_server):
    cluster, server = set_up(make_redis, make_server)
    count = "SELECT count(*) FROM item"
    with server.connect() as connection, server.connect() as other:
        assert is_received(cluster, connection, count, 1, {"EVALSHA_RO": 0})
        for number in range(3):
            # Another thread would not know of it; this one learns it from the next read.
            other.run(f"INSERT INTO item SELECT n, 1, 1 FROM generate_series({1000 + 10 * number}, {1009 + 10 * number}) n")
            writes, commands = received(cluster, connection, count)
            assert commands["EXISTS"] == 2 * BUCKETS, (writes, commands)
            assert connection.run(count) == [[str(ROWS + 10 * (number + 1))]]
        assert is_received(cluster, connection, count, 1, {"EVALSHA_RO": 0})


def test_writes_of_several_buckets_are_two_round_trips(make_redis, make_server):
    cluster, server = set_up(make_redis, make_server)
    with server.connect() as connection:
        numbers = iter(range(10_000, 100_000, 100))
        for _ in range(TRIES):
            first = next(numbers)
            writes, commands = received(cluster, connection, f"INSERT INTO item SELECT n, 1, 1 FROM generate_series({first}, {first + 99}) n")
            if max(writes) <= 2 and commands["EVALSHA"] == 2 * BUCKETS:
                break
        else:
            raise AssertionError((writes, commands))
        assert connection.run_error("INSERT INTO item VALUES (20000, 1, 1), (7, 1, 1), (5, 1, 1), (20001, 1, 1)")["D"] == "Key (id)=(7) already exists."
        assert connection.run_error("INSERT INTO item VALUES (20000, 1, 1), (20001, 1, 1), (20000, 1, 1)")["D"] == "Key (id)=(20000) already exists."
        refused = connection.query("COPY item FROM STDIN", b"20000\t1\t1\n7\t1\t1\n20001\t1\t1\n")[0].error
        assert (refused["C"], refused["D"], refused["W"]) == ("23505", "Key (id)=(7) already exists.", "COPY item, line 2"), refused
        assert connection.run("SELECT count(*) FROM item WHERE id IN (20000, 20001)") == [["0"]]
        # The rows are read first.
        connection.run("DELETE FROM item WHERE id > 1000")
        assert is_received(cluster, connection, f"UPDATE item SET price = price + 1 WHERE id <= {ROWS}", 4, {"EVALSHA": 2 * BUCKETS})
        assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []


def test_a_write_of_one_row_is_one_script(make_redis, make_server):
    cluster, server = set_up(make_redis, make_server)
    with server.connect() as connection:
        assert is_received(cluster, connection, "UPDATE item SET price = 7 WHERE id = 12", 1, {"EVALSHA": 1, "HMGET": 0, "HGET": 0, "EXISTS": 0})
        assert is_received(cluster, connection, "UPDATE item SET price = price + 1 WHERE id = 12", 1, {"EVALSHA": 1, "HMGET": 0, "HGET": 0, "EXISTS": 0})
        assert is_received(cluster, connection, "SELECT * FROM item WHERE id = 12", 1, {"EVALSHA": 0, "HGET": 0, "EXISTS": 0})
        before = int(connection.run("SELECT price FROM item WHERE id = 12")[0][0])
        connection.run("UPDATE item SET price = price + 1 WHERE id = 12")
        assert connection.run("SELECT price FROM item WHERE id = 12") == [[str(before + 1)]]
        assert connection.run("UPDATE item SET price = 1 WHERE id = NULL") == []
        connection.run("BEGIN; UPDATE item SET price = price + 1 WHERE id = 12; UPDATE item SET kind = 3 WHERE id = 12; COMMIT")
        assert connection.run("SELECT price, kind FROM item WHERE id = 12") == [[str(before + 2), "3"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []


def test_rows_whose_unique_values_lie_elsewhere_are_two_round_trips(make_redis, make_server):
    cluster, server = set_up(make_redis, make_server)
    with server.connect() as connection:
        connection.run(f"CREATE TABLE account (id int PRIMARY KEY, mail text UNIQUE, note text) WITH (buckets = {BUCKETS})")
        for number in range(TRIES):
            writes, commands = received(cluster, connection, f"INSERT INTO account VALUES ({number}, 'a{number}', 'x')")
            if max(writes) <= 2 and commands["EVALSHA"] == 4:  # prepare and apply, in the row's bucket and in the value's
                break
        else:
            raise AssertionError((writes, commands))
        assert connection.run_error("INSERT INTO account VALUES (1000, 'a0', 'y')")["D"] == "Key (mail)=(a0) already exists."
        assert connection.run_error("INSERT INTO account VALUES (0, 'b', 'y')")["D"] == "Key (id)=(0) already exists."
        assert connection.run_error("INSERT INTO account VALUES (1000, 'b', 'y'), (1001, 'b', 'y')")["D"] == "Key (mail)=(b) already exists."
        # A row that violates both constraints: the primary key is reported, as PostgreSQL does.
        assert connection.run_error("INSERT INTO account VALUES (1000, 'c', 'y'), (0, 'a0', 'y')")["D"] == "Key (id)=(0) already exists."
        assert connection.run("INSERT INTO account VALUES (0, 'a0', 'y') ON CONFLICT DO NOTHING") == []
        connection.run("UPDATE account SET mail = 'moved' WHERE id = 0")
        connection.run("INSERT INTO account VALUES (1000, 'a0', 'y')")
        connection.run("DELETE FROM account WHERE id = 1000")
        connection.run("INSERT INTO account VALUES (1001, 'a0', 'y')")
        assert connection.run("SELECT id, mail FROM account WHERE id IN (0, 1000, 1001) ORDER BY id") == [["0", "moved"], ["1001", "a0"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('account')") == []
