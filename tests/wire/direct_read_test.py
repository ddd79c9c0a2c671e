"""Statements that are one turn of Redis commands run without operators: same answers, message by message, as PostgreSQL's."""
import random
import socket
import struct
import threading
import urllib.request

from harness.pgwire import SYNC, bind, describe, execute, parse, query
from harness.processes import temporary_folder
from harness.proxy import REPLIES, Proxy
from harness.transcript import same
from harness.waiting import wait_for

TABLE = """DROP TABLE IF EXISTS part, typed, direct;
CREATE TABLE direct (id int PRIMARY KEY, name text NOT NULL, note varchar(20), mail text UNIQUE, size numeric, day date NOT NULL, at timestamp NOT NULL, good boolean, code char(5), raw bytea, tag uuid);
CREATE INDEX ON direct (name);
CREATE INDEX ON direct USING btree (day);
CREATE INDEX ON direct USING btree (size);
INSERT INTO direct SELECT n, 'name ' || n % 7, CASE WHEN n % 3 > 0 THEN 'note:' || n END, 'm' || n || '@x', n / 7.0, date '2026-01-01' + n, timestamp '2026-01-01' + n * interval '1 hour',
  n % 2 = 0, 'c' || n, ('\\x0' || n % 10)::bytea, ('00000000-0000-0000-0000-0000000000' || (n % 90 + 10))::uuid FROM generate_series(1, 60) n;
CREATE TABLE part (a int, b text, c int, PRIMARY KEY (a, b));
INSERT INTO part SELECT n % 5, 'b:%' || n, n FROM generate_series(1, 20) n"""
COUNTED = "redquel_direct_runs_total"


def run(statement, values=(), formats=(), result_formats=(), describes=True):
    return bind("", statement, values, formats, result_formats) + (describe(b"P") if describes else b"") + execute() + SYNC


def test_rows_by_key_in_text_and_binary(server, postgres):
    same(server, postgres, parse("SELECT * FROM direct WHERE id = $1", "k") + SYNC,
         *(run("k", [key]) for key in ("7", "08", " 9 ", "+3", "0", "99", "-1", "2147483647")),
         *(run("k", [struct.pack("!i", key)], [1], [form]) for key in (5, 61, -5) for form in (0, 1)),
         run("k", ["12"], describes=False), run("k", ["12"], result_formats=[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]), setup=TABLE)


def test_wrong_parameters_and_formats_are_refused_as_always(server, postgres):
    same(server, postgres, parse("SELECT * FROM direct WHERE id = $1", "k") + SYNC,
         run("k", [None]), run("k", ["x"]), run("k", ["99999999999"]), run("k", [b"\0\0"], [1]), run("k", []), run("k", ["1", "2"]),
         run("k", ["1"], [0, 0]), run("k", ["1"], [], [0, 1]), run("k", ["1"], [2]), run("k", ["1"], [], [7]), run("none", ["1"]),
         run("k", ["3"]), setup=TABLE)


def test_other_answers_that_are_one_turn(server, postgres):
    statements = {
        "unique": ("SELECT id, note FROM direct WHERE mail = $1", ["m3@x", "m99@x", "", "M3@x"]),
        "composite": ("SELECT c, b, a FROM part WHERE b = $1 AND a = 3", ["b:%3", "b:%4", "b", "b%3A%253"]),
        "count": ("SELECT count(*) FROM direct WHERE name = $1", ["name 3", "name 9", ""]),
        "limited": ("SELECT name FROM direct WHERE id = $1 LIMIT 1", ["4", "400"]),
    }
    for name, (text, values) in statements.items():
        same(server, postgres, parse(text, name) + SYNC, *(run(name, [value]) for value in values), setup=TABLE)
    for text in ("SELECT count(*) FROM direct", "SELECT id, name FROM direct ORDER BY id LIMIT 5", "SELECT id FROM direct ORDER BY day DESC LIMIT 3 OFFSET 2",
                 "SELECT id, size FROM direct ORDER BY size LIMIT 4", "SELECT id FROM direct ORDER BY size DESC NULLS LAST LIMIT 100", "SELECT count(*), count(*) FROM direct"):
        same(server, postgres, parse(text) + run("") + query(text), setup=TABLE)


TIED = """DROP TABLE IF EXISTS tied, pairs;
CREATE TABLE tied (id int PRIMARY KEY, place int, score numeric, at timestamp NOT NULL, kind text, far bigint NOT NULL);
CREATE INDEX ON tied USING btree (place);
CREATE INDEX ON tied USING btree (at);
CREATE INDEX ON tied USING btree (far);
CREATE INDEX ON tied (kind);
INSERT INTO tied SELECT n, n * n % 37, CASE WHEN n % 5 > 0 THEN (n % 7)::numeric / (1 + n % 2) END, timestamp '2026-01-01' + n / 3 * interval '1 hour',
  CASE WHEN n % 11 > 0 THEN 'kind ' || CASE WHEN n < 240 THEN n % 13 ELSE 40 END END, CASE WHEN n % 50 = 0 THEN 9007199254740992 + n ELSE n / 4 END FROM generate_series(1, 400) n;
CREATE TABLE pairs (a int, b text, c int, PRIMARY KEY (a, b));
CREATE INDEX ON pairs (c);
INSERT INTO pairs SELECT n % 9, 'b' || n % 40, n % 6 FROM generate_series(1, 180) n"""


def test_rows_that_tie_and_rows_of_a_value_in_every_order(server, postgres):
    chosen = random.Random(36)
    texts = []
    for _ in range(120):
        first = chosen.choice(["place", "at", "far"])
        rest = chosen.choice(["", ", kind", ", score", ", kind DESC NULLS LAST, score NULLS FIRST"])
        last = chosen.choice([", id", ", id DESC"])
        order = first + chosen.choice(["", " DESC", " DESC NULLS LAST", " NULLS FIRST"]) + rest + last
        limit = f" LIMIT {chosen.choice([1, 3, 10, 50, 100])}" + chosen.choice(["", "", f" OFFSET {chosen.choice([1, 2, 7, 60, 390, 500])}"])
        texts.append(f"SELECT {chosen.choice(['id, place', 'kind, id', '*'])} FROM tied ORDER BY {order}{limit}")
        value = chosen.choice(["0", "3", "40", "none"])
        of_value = chosen.choice(["", f" ORDER BY {chosen.choice(['', 'score, '])}{order}"])
        found = f"SELECT id, score, kind FROM tied WHERE kind = 'kind {value}'{of_value}{limit if of_value else ''}"
        texts.append(found if of_value else f"SELECT count(*), sum(id) FROM ({found}) s")
        texts.append(f"SELECT a, b FROM pairs WHERE c = {chosen.randrange(8)} ORDER BY {chosen.choice(['b, a', 'a DESC, b', 'b DESC, c, a'])}{limit}")
    same(server, postgres, *(query(text) for text in dict.fromkeys(texts) for _ in range(2)), setup=TIED)
    prepared = "SELECT id, at, score FROM tied WHERE kind = $1 ORDER BY score DESC, at, id LIMIT 7 OFFSET 2"
    same(server, postgres, parse(prepared, "k") + SYNC, *(run("k", [value], result_formats=[form]) for value in ("kind 3", "kind 40", "", "kind 0") for form in (0, 1)),
         run("k", [None]), setup=TIED)
    pages = "SELECT id, at FROM tied ORDER BY place DESC NULLS LAST, id LIMIT $1 OFFSET $2"
    same(server, postgres, parse(pages, "k") + SYNC, *(run("k", page) for page in (["3", "0"], ["10", "7"], ["100", "350"], ["101", "1"], ["0", "2"], ["5", "500"], ["-1", "0"],
         ["3", "-2"], [None, "3"], ["3", None], ["9223372036854775807", "9223372036854775807"])), setup=TIED)
    of_kind = "SELECT id, at FROM tied WHERE kind = $1 ORDER BY at, id LIMIT $2"
    same(server, postgres, parse(of_kind, "k") + SYNC, *(run("k", values) for values in (["kind 3", "4"], ["kind 3", "0"], ["kind 40", "1000"], ["", "-3"])), setup=TIED)


def test_a_set_that_is_not_small_is_seldom_asked_first(server):
    with server.connect() as connection:
        connection.run(TIED)
        connection.run("INSERT INTO tied SELECT n, 1, 1, now(), 'kind large', n FROM generate_series(1001, 1300) n")
        text = "SELECT sum(n) FROM (SELECT id AS n FROM tied WHERE kind = 'kind {}' ORDER BY at, id LIMIT 5) s"
        for _ in range(200):  # the rows are right whichever way is taken
            assert connection.run(text.format("large")) == [["5015"]]
            assert connection.run("SELECT id FROM tied WHERE kind = 'kind large' ORDER BY at, id LIMIT 2") == [["1001"], ["1002"]]
        assert connection.run("SELECT id FROM tied WHERE kind = 'kind 3' ORDER BY at, id LIMIT 2") == [["3"], ["16"]]


def test_names_of_portals_and_other_orders_of_messages(server, postgres):
    begin = parse("SELECT name FROM direct WHERE id = $1", "k")
    same(server, postgres, begin + SYNC, bind("p", "k", ["1"]) + execute("p") + execute("p") + SYNC,
         bind("", "k", ["1"]) + execute("", 1) + execute("", 1) + SYNC, bind("", "k", ["1"]) + bind("", "k", ["2"]) + execute() + execute() + SYNC,
         bind("", "k", ["1"]) + describe(b"S", "k") + execute() + SYNC, bind("", "k", ["1"]) + execute() + bind("", "k", ["2"]) + execute() + SYNC,
         query("BEGIN") + run("k", ["3"]) + query("UPDATE direct SET name = 'new' WHERE id = 3") + run("k", ["3"]) + query("ROLLBACK") + run("k", ["3"]),
         query("BEGIN") + run("k", ["3"]) + execute() + SYNC + describe(b"P") + execute("", 1) + SYNC + run("k", ["4"]) + bind("p", "k", ["5"]) + SYNC
         + run("k", ["6"]) + execute("p") + SYNC + query("COMMIT") + execute("p") + SYNC,
         query("BEGIN") + query("SELECT name FROM direct WHERE id = 2") + run("k", ["2"]) + query("SAVEPOINT s") + run("k", ["x"]) + run("k", ["2"])
         + query("ROLLBACK TO s") + run("k", ["2"]) + query("SHOW transaction_isolation; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE") + query("ROLLBACK"),
         query("BEGIN; SELECT 1 / 0") + run("k", ["3"]) + query("ROLLBACK") + run("k", ["4"]),
         query("BEGIN ISOLATION LEVEL SERIALIZABLE") + run("k", ["3"]) + query("COMMIT"),
         run("k", ["1"]) + run("k", ["x"]) + run("k", ["2"]), setup=TABLE)


def test_settings_that_change_the_output(server, postgres):
    steps = [parse("SELECT day, at, good, raw, size FROM direct WHERE id = $1", "k") + SYNC, run("k", ["5"])]
    for setting in ("datestyle = 'german'", "bytea_output = 'escape'", "client_encoding = 'LATIN1'", "statement_timeout = 60000", "search_path = pg_catalog"):
        steps += [query(f"SET {setting}"), run("k", ["5"])]
    same(server, postgres, *steps, setup=TABLE)


def test_definitions_and_rights_that_change_between_runs(server, postgres):
    def other(sql):
        return query(sql) + (query("SELECT name FROM direct WHERE id = 5") if "ROLE" in sql or "LEVEL" in sql else run("k", ["5"]))

    same(server, postgres, parse("SELECT name FROM direct WHERE id = $1", "k") + SYNC, run("k", ["5"]), other("ALTER TABLE direct ADD more int DEFAULT 3"),
         other("ALTER TABLE direct RENAME name TO title"), other("ALTER TABLE direct RENAME title TO name"), other("DROP ROLE IF EXISTS direct_reader"),
         other("CREATE ROLE direct_reader"), other("SET ROLE direct_reader"), other("RESET ROLE"), other("GRANT SELECT ON direct TO direct_reader"),
         other("SET ROLE direct_reader"), other("RESET ROLE"), other("ALTER TABLE direct ENABLE ROW LEVEL SECURITY"), other("SET ROLE direct_reader"),
         other("RESET ROLE"), other("DROP OWNED BY direct_reader; DROP ROLE direct_reader"), other("DROP TABLE direct"), setup=TABLE)


def direct_runs(port):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(COUNTED))


def test_they_run_directly(make_redis, make_server):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write(f'[status]\nlisten = "127.0.0.1:{port}"\n')
    with make_server("--config", f"{folder}/redquel.toml", redis=make_redis()).connect() as connection:
        connection.run(TABLE)
        connection.run("CREATE TABLE many (id int PRIMARY KEY, kind int NOT NULL, at timestamp NOT NULL); CREATE INDEX ON many USING hash (kind)")
        connection.run("INSERT INTO many SELECT n, n % 1000, timestamp '2026-01-01' + n % 77 * interval '1 day' FROM generate_series(1, 5000) n")
        wait_for(lambda: direct_runs(port) >= 0)
        for text, values in (("SELECT * FROM direct WHERE id = $1", ["1"]), ("SELECT id FROM direct WHERE mail = $1", ["m3@x"]), ("SELECT count(*) FROM direct", []),
                             ("SELECT count(*) FROM direct WHERE name = $1", ["name 3"]), ("SELECT id FROM direct ORDER BY day LIMIT 3", []), ("SELECT id, at FROM direct ORDER BY day DESC, name, id LIMIT 3 OFFSET 9", []),
                             ("SELECT id, at FROM many WHERE kind = $1 ORDER BY at DESC, id LIMIT 3", ["7"]), ("SELECT id, at FROM many WHERE kind = $1", ["7"]),
                             ("SELECT id, at FROM direct ORDER BY day, id LIMIT $1 OFFSET $2", ["3", "5"]), ("SELECT id, at FROM direct ORDER BY day LIMIT $1", ["4"])):
            connection.send(parse(text, "") + SYNC)
            connection.results()
            before = direct_runs(port)
            for _ in range(5):
                connection.send(run("", values))
                assert connection.results()[-1].sqlstate is None
            assert direct_runs(port) - before >= 4, text  # the first run checks the rights


def test_damaged_rows_and_lost_scripts_get_their_usual_answers(make_redis, make_server):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection, redis.connect() as raw:
        connection.run(TABLE)
        connection.send(parse("SELECT * FROM direct WHERE id = $1", "k") + parse("SELECT id FROM direct WHERE mail = $1", "u") + SYNC)
        connection.results()

        def result(statement, value):
            connection.send(run(statement, [value]))
            return connection.results()[-1]

        for _ in range(3):
            assert result("k", "5").rows and result("u", "m5@x").rows
            raw("SCRIPT", "FLUSH")
        raw("HSET", "direct:5", "day", "no day")
        assert result("k", "5").sqlstate == "22007" and "direct:5" in result("k", "5").error["D"]
        raw("DEL", "direct:6")
        raw("SET", "direct:6", "text")
        assert result("k", "6").sqlstate == "XX001" and result("k", "7").rows
        raw("DEL", "direct:6")
        assert result("k", "6").rows == []


def test_cancel_timeout_and_a_lost_connection_end_the_wait(make_redis, make_server):
    redis = make_redis()
    proxy = Proxy(redis)
    server = make_server(redis=proxy)
    with server.connect() as connection:
        connection.run(TABLE)
        connection.send(parse("SELECT name FROM direct WHERE id = $1", "k") + SYNC)
        connection.results()
        connection.send(run("k", ["1"]))
        connection.results()
        proxy.hold(REPLIES)
        connection.send(run("k", ["2"]))
        assert not connection.has_input(0.3)
        connection.cancel()
        assert connection.results()[-1].sqlstate == "57014"
        proxy.let_go(REPLIES)
        connection.send(run("k", ["3"]))
        assert connection.results()[-1].rows == [[b"name 3"]]
        connection.run("SET statement_timeout = 200")
        proxy.hold(REPLIES)
        connection.send(run("k", ["2"]))
        assert connection.results()[-1].sqlstate == "57014"
        proxy.let_go(REPLIES)
        connection.run("RESET statement_timeout")
        proxy.hold(REPLIES)
        connection.send(run("k", ["4"]))
        assert not connection.has_input(0.3)
        proxy.cut()
        assert connection.results()[-1].sqlstate == "08006"
        proxy.let_go(REPLIES)
        connection.send(run("k", ["4"]))
        assert connection.results()[-1].rows == [[b"name 4"]]


def test_rows_are_whole_beside_writers_and_definitions(make_redis, make_server):
    """Each write gives two columns the same value; a row with two values was read in the middle of one."""
    server = make_server(redis=make_redis())
    chance, ended, problems = random.Random(4), threading.Event(), []
    with server.connect() as setup:
        setup.run("CREATE TABLE twin (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL); INSERT INTO twin SELECT n, 0, 0 FROM generate_series(1, 5) n")

    def write():
        with server.connect() as connection:
            for number in range(1, 400):
                connection.run(f"UPDATE twin SET a = {number}, b = {number} WHERE id = {number % 5 + 1}")
                if number % 50 == 0:
                    connection.run(f"ALTER TABLE twin ADD c{number} int DEFAULT {number}")
        ended.set()

    def read():
        with server.connect() as connection:
            connection.send(parse("SELECT a, b FROM twin WHERE id = $1", "k") + SYNC)
            connection.results()
            while not ended.is_set():
                connection.send(run("k", [str(chance.randint(1, 5))]))
                result = connection.results()[-1]
                if result.sqlstate or len(result.rows) != 1 or result.rows[0][0] != result.rows[0][1]:
                    problems.append((result.sqlstate, result.rows))

    threads = [threading.Thread(target=write)] + [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[:5]
