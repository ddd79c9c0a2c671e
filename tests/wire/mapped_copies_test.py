"""The four layouts of docs/mapping.md against copies of their rows in PostgreSQL: queries, joins with managed tables, changes."""
from wire import mapped_login_test, mapped_themes_test
from harness.copies import Copies
from harness.keyspace import MappedKeys

# A table of redquel's own beside the mapped ones.
VISIT = """
CREATE TABLE visit (who bigint, page text, spent numeric);
INSERT INTO visit VALUES (1, 'a', 1.5), (1, 'b', 2), (2, 'a', NULL), (3, 'c', 7), (9, 'z', 1), (NULL, 'n', 0)
"""

LOGIN = [
    "SELECT * FROM login WHERE name = 'ken thompson'",
    "SELECT * FROM login WHERE id IN (1, 3, 77) OR login_times > 12",
    "SELECT name FROM login ORDER BY last_login_time DESC LIMIT 2",
    "SELECT name FROM login ORDER BY login_times DESC, name LIMIT 2",
    "SELECT name FROM login ORDER BY login_times LIMIT 1 OFFSET 1",
    "SELECT count(*), sum(login_times), max(last_login_time), min(name) FROM login",
    "SELECT b.name FROM tag t1, tag t2, book b WHERE t1.tagname = 'web' AND t2.tagname = 'ruby' AND t1.book_id = t2.book_id AND b.id = t1.book_id",
    "SELECT b.name FROM book b JOIN tag t ON t.book_id = b.id WHERE t.tagname = 'ruby' AND NOT EXISTS "
    "(SELECT 1 FROM tag w WHERE w.tagname = 'web' AND w.book_id = b.id)",
    "SELECT name FROM book WHERE id IN (SELECT book_id FROM tag WHERE tagname IN ('ruby', 'web')) ORDER BY id",
    "SELECT name FROM book WHERE id NOT IN (SELECT book_id FROM tag WHERE tagname = 'ruby') ORDER BY id",
    "SELECT book_id FROM tag WHERE tagname = 'ruby' INTERSECT SELECT book_id FROM tag WHERE tagname = 'web'",
    "SELECT book_id FROM tag WHERE tagname = 'ruby' EXCEPT SELECT book_id FROM tag WHERE tagname = 'web'",
    "SELECT book_id FROM tag WHERE tagname = 'ruby' UNION SELECT book_id FROM tag WHERE tagname = 'web'",
    "SELECT book_id FROM tag WHERE tagname = 'ruby' UNION ALL SELECT book_id FROM tag WHERE tagname = 'web'",
    "SELECT tagname, count(*), array_agg(book_id ORDER BY book_id) FROM tag GROUP BY tagname ORDER BY 1",
    "SELECT v.page, l.name FROM visit v LEFT JOIN login l ON l.id = v.who ORDER BY v.page, l.name",
    "SELECT v.page, l.name FROM login l LEFT JOIN visit v ON l.id = v.who AND v.spent > 1 ORDER BY l.name, v.page",
    "SELECT l.name, sum(v.spent) FROM login l JOIN visit v ON v.who = l.id GROUP BY l.name ORDER BY 1",
    "SELECT v.page, l.name FROM visit v FULL JOIN login l ON l.id = v.who WHERE coalesce(l.login_times, 0) < 12 ORDER BY 1, 2",
    "SELECT page FROM visit WHERE who IN (SELECT id FROM login WHERE login_times > 5) ORDER BY 1",
    "SELECT page FROM visit v WHERE NOT EXISTS (SELECT 1 FROM login l WHERE l.id = v.who) ORDER BY 1",
    "SELECT l.name, (SELECT count(*) FROM tag t WHERE t.book_id = l.id) FROM login l ORDER BY 1",
    "SELECT name, rank() OVER (ORDER BY login_times DESC) FROM login ORDER BY 2",
    "WITH often AS (SELECT * FROM login WHERE login_times > 5) SELECT o.name, b.name FROM often o JOIN book b ON b.id = o.id ORDER BY 1",
]


def test_login_and_tags(fresh_server, postgres):
    with MappedKeys(fresh_server, mapped_login_test.load, mapped_login_test.LOGIN) as (connection, _), Copies(connection, postgres, VISIT) as copies:
        copies.same(*LOGIN)
        copies.both("UPDATE login SET login_times = login_times + 1, last_login_time = '2020-01-02 03:04:05+00' WHERE name = 'ken thompson' RETURNING *",
                    "UPDATE login SET name = upper(name) WHERE login_times >= 10",
                    "INSERT INTO login VALUES (7, 'rob pike', 100, '2021-01-01 00:00:00+00') RETURNING id, name",
                    "INSERT INTO tag SELECT 'seen', who FROM visit WHERE who < 5 GROUP BY who",
                    "DELETE FROM tag WHERE tagname = 'ruby' AND book_id = 1",
                    "UPDATE tag SET book_id = book_id + 10 WHERE tagname = 'web' RETURNING book_id",
                    "UPDATE login SET login_times = login_times + v.n FROM (SELECT who, count(*) AS n FROM visit GROUP BY who) v WHERE v.who = login.id",
                    "INSERT INTO visit SELECT id, name, login_times FROM login WHERE login_times > 6",
                    "DELETE FROM book USING tag WHERE tag.book_id = book.id AND tagname = 'erlang'")
        copies.same_rows()
        copies.same(*LOGIN)


THEMES = [
    "SELECT * FROM theme ORDER BY id",
    "SELECT * FROM theme WHERE hot AND seen > '2011-01-01'",
    "SELECT p.name FROM theme t JOIN theme_product tp ON tp.theme_id = t.id JOIN product p ON p.id = tp.product_id WHERE t.id = 1 ORDER BY 1",
    "SELECT t.title, count(tp.product_id) FROM theme t LEFT JOIN theme_product tp ON tp.theme_id = t.id GROUP BY t.title ORDER BY 1",
    "SELECT DISTINCT g.tag FROM theme_product tp JOIN product_tag g ON g.product_id = tp.product_id WHERE tp.theme_id = 1 ORDER BY 1",
    "SELECT p.name, g.tag FROM product p LEFT JOIN product_tag g ON g.product_id = p.id ORDER BY 1, 2",
    "SELECT p.name FROM product p JOIN product_tag g ON g.product_id = p.id WHERE g.tag = 'red' ORDER BY 1",
    "SELECT t.title, r.score FROM theme_rank r JOIN theme t ON t.id = r.theme_id ORDER BY r.score DESC",
    "SELECT p.name FROM newest n JOIN product p ON p.id = n.product_id ORDER BY n.position LIMIT 2",
    "SELECT tp.theme_id, avg(p.price), sum(p.price) FROM theme_product tp JOIN product p ON p.id = tp.product_id GROUP BY 1 ORDER BY 1",
    "SELECT value FROM setting WHERE name = 'color'",
    "SELECT theme_id FROM theme_product WHERE product_id = 2",
    "SELECT v.page, p.price * v.spent FROM visit v JOIN product p ON p.id = v.who ORDER BY 1, 2",
    "SELECT p.name FROM product p WHERE p.price > (SELECT avg(price) FROM product) ORDER BY 1",
    "SELECT id FROM product EXCEPT SELECT product_id FROM theme_product ORDER BY 1",
]


def test_themes_and_products(fresh_server, postgres):
    with MappedKeys(fresh_server, mapped_themes_test.load, mapped_themes_test.TABLES) as (connection, _), Copies(connection, postgres, VISIT) as copies:
        copies.same(*THEMES)
        copies.both("INSERT INTO theme VALUES (9, 'winter', NULL, '2022-01-01 00:00:00.5+00', true)",
                    "UPDATE theme SET hot = NOT hot, author = 'bob' WHERE id < 3 RETURNING title, hot",
                    "UPDATE product SET price = price * 2 WHERE id IN (SELECT product_id FROM theme_product WHERE theme_id = 1)",
                    "INSERT INTO theme_product VALUES (9, 1), (9, 5)",
                    "DELETE FROM theme_product WHERE product_id = 2 RETURNING theme_id",
                    "UPDATE theme_rank SET score = score + 1.25",
                    "INSERT INTO product_tag SELECT who, page FROM visit WHERE who IN (1, 2)",
                    "UPDATE setting SET value = value || '!' WHERE name = 'size'",
                    "DELETE FROM product p WHERE NOT EXISTS (SELECT 1 FROM theme_product tp WHERE tp.product_id = p.id)")
        copies.same_rows()
        copies.same(*THEMES)


RELATIONAL_TABLES = """
CREATE FOREIGN TABLE emp (id bigint, ename text, mgr_id bigint, dept text, email text, salary numeric)
  SERVER redis OPTIONS (layout 'hash', key 'emp:{id}', counter 'emp:id');
CREATE INDEX ON emp USING set (mgr_id) WITH (key = 'emp:indices:mgr_id:{mgr_id}');
CREATE INDEX ON emp USING set (mgr_id, dept) WITH (key = 'emp:indices:mgr_id:{mgr_id}:dept:{dept}');
CREATE INDEX emp_email ON emp USING lookup (email) WITH (key = 'emp:uniques:email');
CREATE INDEX emp_name ON emp USING lookup (ename, dept) WITH (key = 'emp:uniques:{ename}:{dept}')
"""


def load_relational(redis):
    for number in range(1, 31):
        manager, dept, name = number // 5, "abc"[number % 3], f"name{number}"
        redis("SET", "emp:id", number)
        redis("HSET", f"emp:{number}", "ename", name, "dept", dept, "email", f"{name}@x", *(("mgr_id", manager) if manager else ()),
              *(("salary", f"{number * 10}.5") if number % 4 else ()))
        if manager:
            redis("SADD", f"emp:indices:mgr_id:{manager}", number)
            redis("SADD", f"emp:indices:mgr_id:{manager}:dept:{dept}", number)
        redis("HSET", "emp:uniques:email", f"{name}@x", number)
        redis("SET", f"emp:uniques:{name}:{dept}", number)


RELATIONAL = [
    "SELECT * FROM emp WHERE mgr_id = 3",
    "SELECT ename FROM emp WHERE mgr_id = 3 AND dept = 'a'",
    "SELECT ename FROM emp WHERE mgr_id IN (1, 2) AND NOT dept = 'b'",
    "SELECT ename FROM emp WHERE mgr_id = 4 OR email = 'name1@x'",
    "SELECT ename FROM emp WHERE email IN ('name7@x', 'name8@x', 'nobody')",
    "SELECT email FROM emp WHERE ename = 'name9' AND dept = 'a'",
    "SELECT e.ename, m.ename FROM emp e JOIN emp m ON m.id = e.mgr_id WHERE e.mgr_id = 2 ORDER BY 1",
    "SELECT e.ename, m.ename FROM emp e LEFT JOIN emp m ON m.id = e.mgr_id ORDER BY 1",
    "SELECT mgr_id, count(*), sum(salary), count(salary) FROM emp GROUP BY mgr_id ORDER BY 1",
    "SELECT ename FROM emp WHERE salary IS NULL AND mgr_id = 1",
    "SELECT v.page, e.ename FROM visit v LEFT JOIN emp e ON e.id = v.who ORDER BY 1, 2",
    "SELECT ename FROM emp ORDER BY salary DESC NULLS LAST, id LIMIT 5",
]


def test_relational_mapping(fresh_server, postgres):
    with MappedKeys(fresh_server, load_relational, RELATIONAL_TABLES) as (connection, redis), Copies(connection, postgres, VISIT) as copies:
        copies.same(*RELATIONAL)
        copies.both("UPDATE emp SET mgr_id = mgr_id % 3 + 1 WHERE id % 2 = 0",
                    "UPDATE emp SET dept = 'z', mgr_id = NULL WHERE id < 4 RETURNING id",
                    "INSERT INTO emp VALUES (100, 'new', 2, 'a', 'new@x', 1), (101, 'newer', NULL, NULL, NULL, NULL)",
                    "DELETE FROM emp WHERE mgr_id = 1 AND dept = 'b'",
                    "UPDATE emp SET email = 'moved@x' WHERE id = 8")
        copies.same_rows()
        copies.same(*RELATIONAL)
        # The application's own structures must agree.
        for number, manager, dept, email in connection.run("SELECT id, mgr_id, dept, email FROM emp"):
            if manager:
                assert redis("SISMEMBER", f"emp:indices:mgr_id:{manager}", number) == 1
                assert redis("SISMEMBER", f"emp:indices:mgr_id:{manager}:dept:{dept}", number) == 1
            if email:
                assert redis("HGET", "emp:uniques:email", email) == number
        counted = {row[0]: row[1] for row in connection.run("SELECT mgr_id, count(*) FROM emp WHERE mgr_id IS NOT NULL GROUP BY 1")}
        for manager in range(1, 7):
            assert redis("SCARD", f"emp:indices:mgr_id:{manager}") == int(counted.get(str(manager), 0))
        assert redis("HLEN", "emp:uniques:email") == int(connection.run("SELECT count(email) FROM emp")[0][0])


NAMED_TABLES = """
CREATE FOREIGN TABLE history (userid bigint, version int, at bigint, username text)
  SERVER redis OPTIONS (layout 'string', key 'sys:user:userid:{userid}:base:username:{version}:{at}');
CREATE FOREIGN TABLE seven (userid bigint, version int, at bigint, username text)
  SERVER redis OPTIONS (layout 'string', key 'user:userid:{userid}:base:username:{version}:{at}');
CREATE FOREIGN TABLE plain (userid bigint, username text, mail text) SERVER redis OPTIONS (layout 'strings', key 'user:userid:{userid}:{*}');
CREATE FOREIGN TABLE userid_of (username text, userid bigint) SERVER redis OPTIONS (layout 'string', key 'user:username:{username}:userid');
CREATE FOREIGN TABLE account (id bigint, username text, age int) SERVER redis OPTIONS (layout 'hash', key 'user:{id}');
CREATE FOREIGN TABLE short (id bigint, username text) SERVER redis OPTIONS (layout 'strings', key 'user:{id}:{*}');
CREATE FOREIGN TABLE online (userid bigint) SERVER redis OPTIONS (layout 'set', key 'online:userid');
CREATE FOREIGN TABLE loginlog (value text, position bigint) SERVER redis OPTIONS (layout 'list', key 'loginlog:')
"""


def load_named(redis):
    for user in (888, 889, 890):
        for version in range(1, 5):
            redis("SET", f"sys:user:userid:{user}:base:username:{version}:{217450 + version}", f"u{user}v{version}")
            redis("SET", f"user:userid:{user}:base:username:{version}:{217450 + version}", f"s{user}v{version}")
        redis("SET", f"user:userid:{user}:username", f"u{user}v4")
        redis("SET", f"user:username:u{user}v4:userid", user)
        redis("HSET", f"user:{user}", "username", f"u{user}v4", "age", user % 100)
        redis("SET", f"user:{user}:username", f"u{user}v4")
        redis("RPUSH", "loginlog:", f"{user} came")
    redis("SET", "user:userid:888:mail", "e@x.org")
    redis("SADD", "online:userid", 888, 890)


NAMED = [
    "SELECT userid FROM userid_of WHERE username = 'u888v4'",
    "SELECT username FROM history WHERE userid = 888 ORDER BY version DESC LIMIT 1",
    "SELECT username FROM history WHERE userid = 889 AND version = 2",
    "SELECT username FROM history WHERE userid = 889 AND version = 2 AND at = 217452",
    "SELECT DISTINCT ON (userid) userid, version, username FROM history ORDER BY userid, version DESC",
    "SELECT h.username, s.username FROM history h JOIN seven s USING (userid, version, at) ORDER BY 1",
    "SELECT a.id, a.age FROM userid_of u JOIN account a ON a.id = u.userid WHERE u.username = 'u890v4'",
    "SELECT p.username, p.mail FROM online o JOIN plain p USING (userid) ORDER BY 1",
    "SELECT a.username FROM account a WHERE a.id NOT IN (SELECT userid FROM online)",
    "SELECT s.username, a.age FROM short s JOIN account a USING (id) ORDER BY 1, 2",
    "SELECT userid, count(*), min(at), max(at) FROM history GROUP BY userid ORDER BY 1",
    "SELECT value FROM loginlog ORDER BY position",
    "SELECT v.page, a.age FROM visit v JOIN account a ON a.id = v.who + 887 ORDER BY 1, 2",
]


def test_named_parts(fresh_server, postgres):
    with MappedKeys(fresh_server, load_named, NAMED_TABLES) as (connection, _), Copies(connection, postgres, VISIT) as copies:
        copies.same(*NAMED)
        copies.both("INSERT INTO history VALUES (888, 5, 217460, 'edward')",
                    "UPDATE account SET username = 'edward', age = age + 1 WHERE id = 888 RETURNING age",
                    "UPDATE plain SET mail = userid || '@x' WHERE mail IS NULL",
                    "DELETE FROM seven WHERE version < 3",
                    "INSERT INTO online VALUES (889)",
                    "DELETE FROM userid_of WHERE userid = 890",
                    "UPDATE short SET username = 'x' WHERE id IN (SELECT userid FROM online)")
        copies.same_rows()
        copies.same(*NAMED)
