"""Transactions over mapped tables and redquel's own: what they read of what they wrote, savepoints, one commit for all."""
import threading

from harness.copies import Copies
from harness.keyspace import MappedKeys, same
from wire import mapped_login_test, mapped_themes_test

LOGIN, THEMES = mapped_login_test, mapped_themes_test
OWN = "CREATE TABLE visit (who bigint, page text);\nINSERT INTO visit VALUES (1, 'a'), (3, 'b')"
READS = ["SELECT * FROM login ORDER BY id", "SELECT * FROM login WHERE id = 1", "SELECT id FROM login WHERE name = 'KEN'",
         "SELECT name FROM login ORDER BY login_times DESC, id LIMIT 2", "SELECT name FROM login ORDER BY last_login_time DESC LIMIT 2",
         "SELECT count(*), sum(login_times) FROM login", "SELECT * FROM tag", "SELECT book_id FROM tag WHERE tagname = 'ruby'",
         "SELECT book_id FROM tag WHERE tagname = 'ruby' INTERSECT SELECT book_id FROM tag WHERE tagname = 'web'",
         "SELECT b.name FROM tag t1, tag t2, book b WHERE t1.tagname = 'web' AND t2.tagname = 'ruby' AND t1.book_id = t2.book_id AND b.id = t1.book_id",
         "SELECT v.page, l.name FROM visit v LEFT JOIN login l ON l.id = v.who", "SELECT tagname, count(*) FROM tag GROUP BY tagname"]
WRITES = ["UPDATE login SET name = 'KEN', login_times = 100 WHERE id = 1",
          "INSERT INTO login VALUES (9, 'new', 1, '2020-01-01 00:00:00+00')",
          "UPDATE login SET login_times = login_times + 1 WHERE id IN (1, 9)",
          "DELETE FROM login WHERE id = 2", "INSERT INTO tag VALUES ('ruby', 4), ('fresh', 1)", "DELETE FROM tag WHERE tagname = 'web' AND book_id = 2",
          "UPDATE tag SET book_id = 77 WHERE tagname = 'erlang'", "INSERT INTO visit SELECT id, name FROM login",
          "INSERT INTO login VALUES (2, 'again', 2, '2019-01-01 00:00:00+00')", "UPDATE book SET author = NULL WHERE id = 1",
          "INSERT INTO login VALUES (1, 'x', 1, '2020-01-01 00:00:00+00')"]


def test_reads_see_earlier_writes(fresh_server, postgres):
    with MappedKeys(fresh_server, LOGIN.load, LOGIN.LOGIN) as (connection, _), Copies(connection, postgres, OWN) as copies:
        copies.copy.run("ALTER TABLE login ADD PRIMARY KEY (id)")
        copies.both("BEGIN")
        for statement in WRITES[:-1]:
            copies.both(statement)
            copies.same(*READS)
        copies.both("SAVEPOINT s", WRITES[-1], "ROLLBACK TO s", "DELETE FROM login", "DELETE FROM tag WHERE tagname <> 'ruby'")
        copies.same(*READS)
        copies.both("ROLLBACK TO s")
        copies.same(*READS)
        copies.both("COMMIT")
        copies.same(*READS)
        copies.same_rows()


def test_one_commit_keeps_the_structures(fresh_server):
    with MappedKeys(fresh_server, LOGIN.load, LOGIN.LOGIN) as (connection, redis):
        connection.run("BEGIN")
        for statement in WRITES[:4]:
            connection.run(statement)
        assert redis("GET", "login:1:name") == "ken thompson" and redis("EXISTS", "login:2:name") == 1
        connection.run("COMMIT")
        assert redis("GET", "login:KEN:id") == "1" and redis("EXISTS", "login:ken thompson:id", "login:dennis ritchie:id") == 0
        assert redis("GET", "login:new:id") == "9" and redis("ZSCORE", "login:login_times", "9") == "2"
        assert redis("ZSCORE", "login:login_times", "1") == "101" and redis("ZSCORE", "login:login_times", "2") is None


def test_definitions_rows_and_keys_together(fresh_server):
    with MappedKeys(fresh_server, LOGIN.load, LOGIN.LOGIN) as (connection, redis):
        connection.run("BEGIN")
        connection.run("CREATE TABLE copied (id bigint PRIMARY KEY, name text)")
        connection.run("INSERT INTO copied SELECT id, name FROM login")
        connection.run("UPDATE login SET login_times = 0")
        redis("SET", "login:3:login_times", "16")  # an application was faster
        assert connection.run_error("COMMIT")["C"] == "40001"
        assert connection.run_error("SELECT * FROM copied")["C"] == "42P01" and redis("GET", "login:1:login_times") == "5"
        connection.run("BEGIN")
        connection.run("CREATE TABLE copied (id bigint PRIMARY KEY, name text)")
        connection.run("INSERT INTO copied SELECT id, name FROM login")
        connection.run("UPDATE login SET login_times = 0")
        connection.run("CREATE FOREIGN TABLE more (id bigint, a text) SERVER redis OPTIONS (layout 'hash', key 'more:{id}')")
        connection.run("INSERT INTO more VALUES (1, 'x')")
        connection.run("COMMIT")
        same(connection.run("SELECT count(*) FROM copied"), [["3"]])
        assert redis("GET", "login:3:login_times") == "0" and redis("HGET", "more:1", "a") == "x"


def test_moves_and_lookups(fresh_server):
    with MappedKeys(fresh_server, LOGIN.load, LOGIN.LOGIN) as (connection, redis):
        connection.run("BEGIN")
        connection.run("UPDATE login SET id = 30 WHERE id = 3")
        connection.run("UPDATE login SET login_times = 31 WHERE id = 30")
        same(connection.run("SELECT id, login_times FROM login WHERE id IN (3, 30)"), [["30", "31"]])
        connection.run("UPDATE login SET name = 'free' WHERE id = 1")
        connection.run("INSERT INTO login VALUES (5, 'ken thompson', 1, now())")
        connection.run("SAVEPOINT s")
        assert connection.run_error("INSERT INTO login VALUES (6, 'free', 1, now())")["C"] == "23505"
        connection.run("ROLLBACK TO s")
        connection.run("COMMIT")
        assert redis("GET", "login:ken thompson:id") == "5" and redis("GET", "login:free:id") == "1"
        assert redis("GET", "login:30:login_times") == "31" and redis("EXISTS", "login:3:login_times") == 0
        assert redis("GET", "login:Joe Armstrong:id") == "30" and redis("ZSCORE", "login:login_times", "3") is None


def test_a_moved_hash_keeps_fields_without_a_column(fresh_server):
    with MappedKeys(fresh_server, THEMES.load, THEMES.TABLES) as (connection, redis):
        connection.run("BEGIN")
        connection.run("UPDATE theme SET id = 20, title = 'moved' WHERE id = 2")
        connection.run("COMMIT")
        assert redis.hash("theme:20") == {"title": "moved", "hot": "0", "unknown": "kept"} and redis("EXISTS", "theme:2") == 0


def test_on_conflict_merge_truncate(fresh_server, postgres):
    statements = [
        "INSERT INTO theme (id, title) VALUES (1, 'x'), (5, 'five') ON CONFLICT DO NOTHING",
        "INSERT INTO theme (id, title, hot) VALUES (1, 'one', true), (6, 'six', false) "
        "ON CONFLICT (id) DO UPDATE SET title = excluded.title || theme.title RETURNING id, title",
        "INSERT INTO theme (id, title) VALUES (6, 'y') ON CONFLICT (id) DO UPDATE SET title = 'never' WHERE theme.title = 'other'",
        "INSERT INTO setting VALUES ('color', 'green'), ('new', '1') ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        "INSERT INTO product_tag VALUES (1, 'red'), (1, 'soft') ON CONFLICT (product_id, tag) DO NOTHING",
        "MERGE INTO theme t USING (VALUES (1, 'm1'), (2, 'm2'), (8, 'm8')) v(id, title) ON t.id = v.id "
        "WHEN MATCHED AND v.id = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET title = v.title WHEN NOT MATCHED THEN INSERT (id, title) VALUES (v.id, v.title)",
    ]
    with MappedKeys(fresh_server, THEMES.load, THEMES.TABLES) as (connection, redis), Copies(connection, postgres) as copies:
        for table, columns in (("theme", "id"), ("setting", "name"), ("product_tag", "product_id, tag")):
            copies.copy.run(f"ALTER TABLE {table} ADD PRIMARY KEY ({columns})")
        copies.both("BEGIN", *statements, "ROLLBACK")
        copies.same_rows()
        copies.both(*statements)
        copies.same_rows()
        copies.both("TRUNCATE theme, product_tag")
        copies.same_rows()
        assert redis("EXISTS", "theme:1", "product:1:tag") == 0 and redis("EXISTS", "theme:1:product", "theme:key", "theme:zset") == 3
        connection.run("CREATE TABLE own (a int)")
        assert connection.run_error("TRUNCATE own, product")["C"] == "0A000"


def test_definitions_of_other_tables_end_no_transaction(fresh_server):
    """A commit of foreign tables is made under one version of the definitions, which others change all the time."""
    with MappedKeys(fresh_server, LOGIN.load, LOGIN.LOGIN) as (connection, _):
        is_over = threading.Event()

        def define():
            with fresh_server.connect() as other:
                while not is_over.is_set():
                    other.run("CREATE TABLE passing (id int)")
                    other.run("DROP TABLE passing")

        definer = threading.Thread(target=define)
        definer.start()
        try:
            for number in range(200):
                connection.run("BEGIN")
                connection.run(f"UPDATE login SET login_times = {number} WHERE id = 1")
                connection.run("COMMIT")
        finally:
            is_over.set()
            definer.join()
        assert connection.run("SELECT login_times FROM login WHERE id = 1") == [["199"]]
