"""Each access rule of the planner has a query whose plan is another one without it, with the same rows."""
import re

SCHEMA = """
CREATE TABLE emp (id int PRIMARY KEY, dept int NOT NULL, salary int NOT NULL, mail text UNIQUE, hired timestamp NOT NULL, name text, boss int NOT NULL);
CREATE INDEX ON emp (dept);
CREATE INDEX ON emp USING zset (salary);
CREATE INDEX ON emp USING zset (hired);
CREATE INDEX ON emp USING zset (boss, salary);
CREATE INDEX busy ON emp USING zset (boss) WHERE name = 'busy';
INSERT INTO emp SELECT n, n % 10, n % 77, 'm' || n, timestamp '2020-01-01' + n * interval '1 minute', CASE n % 50 WHEN 0 THEN 'busy' ELSE 'x' || n END, n % 13
  FROM generate_series(1, 3000) n;
CREATE TABLE dept (id int PRIMARY KEY, city text NOT NULL);
CREATE INDEX ON dept (city);
INSERT INTO dept SELECT n, 'city ' || n % 3 FROM generate_series(0, 9) n;
CREATE TABLE tag (emp_id int, name text, PRIMARY KEY (emp_id, name));
CREATE INDEX ON tag (name);
INSERT INTO tag SELECT n, 'tag ' || k FROM generate_series(1, 300) n, generate_series(1, 4) k WHERE n % k = 0;
CREATE FOREIGN TABLE board (player text, score float8) SERVER redis OPTIONS (layout 'zset', key 'board');
CREATE FOREIGN TABLE theme (theme_id bigint, product_id bigint) SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id}');
CREATE FOREIGN TABLE person (id bigint, name text, city text) SERVER redis OPTIONS (layout 'hash', key 'person:{id}');
CREATE INDEX ON person USING set (city) WITH (key = 'city:{city}')
"""

QUERIES = {
    "key_lookup": "SELECT name FROM emp WHERE id = 7",
    "unique_lookup": "SELECT id FROM emp WHERE mail = 'm7'",
    "value_walk": "SELECT id, name FROM emp WHERE boss = 4 ORDER BY salary DESC LIMIT 3",
    "window_walk": "SELECT e.id, d.city FROM emp e JOIN dept d ON d.id = e.dept WHERE e.dept IN (3, 4) AND d.city = 'city 0' ORDER BY e.hired DESC LIMIT 5",
    "first_of_sets": "SELECT id, name FROM emp WHERE dept = 3 ORDER BY hired DESC LIMIT 3",
    "index_sets": "SELECT name FROM emp WHERE dept = 3",
    "key_start": "SELECT name FROM tag WHERE emp_id = 8",
    "range": "SELECT name FROM emp WHERE salary BETWEEN 5 AND 7",
    "partial_index": "SELECT id, name FROM emp WHERE name = 'busy'",
    "order": "SELECT name FROM emp ORDER BY hired LIMIT 3",
    "scores": "SELECT sum(salary) FROM emp",
    "index_keys": "SELECT id FROM emp WHERE dept = 3",
    "index_values": "SELECT dept FROM emp",
    "few_lookups": "SELECT e.name, d.city FROM emp e JOIN dept d ON d.id = e.dept WHERE e.id = 7",
    "many_lookups": "SELECT e.name, d.city FROM emp e JOIN dept d ON d.id = e.dept WHERE e.salary < 50",
    "semi_join_reduction": "SELECT name FROM emp WHERE id IN (SELECT emp_id FROM tag WHERE name = 'tag 3')",
    "part_sets": "SELECT count(*) FROM tag a JOIN tag b ON a.emp_id = b.emp_id WHERE a.name = 'tag 2' AND b.name = 'tag 3'",
    "join_in_order": "SELECT e.id, d.city FROM emp e JOIN dept d ON d.id = e.dept ORDER BY e.hired LIMIT 5",
    "end_of_order": "SELECT max(salary) FROM emp WHERE dept = 3",
    "index_count": "SELECT count(*) FROM emp WHERE dept = 3",
    "index_groups": "SELECT dept, count(*) FROM emp GROUP BY dept",
    "index_ends": "SELECT min(salary), max(salary) FROM emp",
    "index_distinct": "SELECT DISTINCT dept FROM emp",
    "answer_of_lateral": "SELECT count(*) FROM (VALUES (3)) v (n), LATERAL (SELECT id FROM emp WHERE dept = v.n) x",
    "groups_in_order": "SELECT e.id, count(*) FROM emp e JOIN tag t ON t.emp_id = e.id GROUP BY e.id ORDER BY e.id LIMIT 5",
    "counted_sets": "SELECT count(*) FROM tag a JOIN tag b ON a.emp_id = b.emp_id WHERE a.name = 'tag 2' AND b.name = 'tag 3'",
    "all_values": "SELECT emp_id FROM tag WHERE name IN ('tag 2', 'tag 3') GROUP BY emp_id HAVING count(*) = 2",
    "index_ranks": "SELECT id, place FROM (SELECT id, rank() OVER (ORDER BY salary DESC) AS place FROM emp) x WHERE id = 7",
    "rank_limit": "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY hired) AS place FROM emp) x WHERE place <= 5",
    "apply_in_order": "SELECT id, n FROM emp e, LATERAL (SELECT count(*) AS n FROM tag t WHERE t.emp_id = e.id) x ORDER BY hired LIMIT 3",
    "decorrelated": "SELECT d.id, (SELECT max(e.salary) FROM emp e WHERE e.boss = d.id) FROM dept d",
    "kept_rows": "SELECT d.id, (SELECT name FROM emp e WHERE e.boss > d.id ORDER BY id LIMIT 1) FROM dept d",
    "sorted_outer": "SELECT e.id, t.name FROM emp e JOIN tag t ON t.emp_id = e.id WHERE e.dept = 3 ORDER BY e.name, e.id, t.name LIMIT 3",
    "direct_read": "SELECT name, dept FROM emp WHERE id = 8",
    "walk_beside": "SELECT id, name FROM emp WHERE salary < 70 ORDER BY hired DESC LIMIT 3",
    "foreign_count": "SELECT count(*) FROM board WHERE score > 5",
    "foreign_structure": "SELECT name FROM person WHERE city = '1'",
    "member_sets": "SELECT product_id FROM theme WHERE theme_id = 1 INTERSECT SELECT product_id FROM theme WHERE theme_id = 2",
    "foreign_scores": "SELECT player FROM board WHERE score > 5",
}
# A Redis Cluster has tables with parts (tests/faults/spread_tables_test.py).
ELSEWHERE = {"join_of_parts"}


def plan_of(connection, query):
    return [line for (line,) in connection.run("EXPLAIN (COSTS OFF) " + query)]


def ready(fresh_server):
    with fresh_server.redis_connection() as redis:
        redis("SADD", "theme:1", 1, 2, 3)
        redis("SADD", "theme:2", 2, 3, 4)
        for person in range(10):
            redis("HSET", f"person:{person}", "name", f"name {person}", "city", str(person % 2))
            redis("SADD", f"city:{person % 2}", person)
        redis("ZADD", "board", *[word for n in range(50) for word in (n, f"player {n}")])
    connection = fresh_server.connect()
    connection.run("SET redquel.cache = off")  # else a copy in memory stands for several of the ways
    for statement in SCHEMA.strip().split(";\n"):
        connection.run(statement)
    return connection


def test_a_query_has_another_plan_without_the_rule_and_the_same_rows(fresh_server):
    with ready(fresh_server) as connection:
        useless = []
        for rule, query in QUERIES.items():
            connection.run("RESET redquel.left_out_rules")
            plan, rows = plan_of(connection, query), connection.run(query)
            connection.run(f"SET redquel.left_out_rules = '{rule}'")
            if plan_of(connection, query) == plan:
                useless.append(rule)
            found = connection.run(query)
            is_ordered = query.endswith(("LIMIT 3", "LIMIT 5"))
            assert (rows == found) if is_ordered else sorted(map(str, rows)) == sorted(map(str, found)), (rule, rows, found)
        assert not useless, useless


def test_every_rule_has_its_query(fresh_server):
    with fresh_server.connect() as connection:
        result = connection.query("SET redquel.left_out_rules = 'key_lookup, nothing'")[0]
        assert result.sqlstate == "22023", result
        names = set(re.search(r"Available rules: (.*)\.", str(result.error)).group(1).split(", "))
        assert names == set(QUERIES) | ELSEWHERE, names ^ (set(QUERIES) | ELSEWHERE)
