-- What scripts/quickstart --batch shows: each query, its plan with the exact Redis commands, its answer.

\echo '-- one row by its key'
EXPLAIN (COSTS OFF) SELECT ename, salary FROM emp WHERE emp_id = 7;
SELECT ename, salary FROM emp WHERE emp_id = 7;

\echo '-- one row by a unique column'
EXPLAIN (COSTS OFF) SELECT emp_id, ename FROM emp WHERE email = 'grace.thompson14@example.com';
SELECT emp_id, ename FROM emp WHERE email = 'grace.thompson14@example.com';

\echo '-- two equality indexes: an intersection in Redis'
EXPLAIN (COSTS OFF) SELECT emp_id, ename, salary FROM emp WHERE dept = 7 AND city = 3 ORDER BY salary DESC LIMIT 5;
SELECT emp_id, ename, salary FROM emp WHERE dept = 7 AND city = 3 ORDER BY salary DESC LIMIT 5;

\echo '-- counted without reading a row'
EXPLAIN (COSTS OFF) SELECT count(*) FROM emp WHERE dept = 7 AND city = 3;
SELECT count(*) FROM emp WHERE dept = 7 AND city = 3;

\echo '-- the best paid, from the ordered index'
EXPLAIN (COSTS OFF) SELECT emp_id, ename, salary FROM emp ORDER BY salary DESC LIMIT 10;
SELECT emp_id, ename, salary FROM emp ORDER BY salary DESC LIMIT 10;

\echo '-- a range of the ordered index'
EXPLAIN (COSTS OFF) SELECT count(*), min(hired), max(hired) FROM emp WHERE hired BETWEEN '2010-01-01' AND '2010-01-31';
SELECT count(*), min(hired), max(hired) FROM emp WHERE hired BETWEEN '2010-01-01' AND '2010-01-31';

\echo '-- groups'
EXPLAIN (COSTS OFF) SELECT dept, count(*) AS people, round(avg(salary), 2) AS average FROM emp GROUP BY dept ORDER BY dept LIMIT 5;
SELECT dept, count(*) AS people, round(avg(salary), 2) AS average FROM emp GROUP BY dept ORDER BY dept LIMIT 5;

\echo '-- a self-join: who reports to whom'
EXPLAIN (COSTS OFF) SELECT e.ename, m.ename AS manager FROM emp e JOIN emp m ON m.emp_id = e.mgr_id WHERE e.emp_id IN (24, 25, 26) ORDER BY e.emp_id;
SELECT e.ename, m.ename AS manager FROM emp e JOIN emp m ON m.emp_id = e.mgr_id WHERE e.emp_id IN (24, 25, 26) ORDER BY e.emp_id;

\echo '-- books about ruby and the web'
EXPLAIN (COSTS OFF) SELECT b.name, b.author FROM tag t1, tag t2, book b
  WHERE t1.tagname = 'web' AND t2.tagname = 'ruby' AND t1.book_id = t2.book_id AND b.id = t1.book_id ORDER BY b.id;
SELECT b.name, b.author FROM tag t1, tag t2, book b
  WHERE t1.tagname = 'web' AND t2.tagname = 'ruby' AND t1.book_id = t2.book_id AND b.id = t1.book_id ORDER BY b.id;

\echo '-- themes with what they sell'
EXPLAIN (COSTS OFF) SELECT t.name, count(p.id) AS products, string_agg(p.name, ', ' ORDER BY p.name) AS names
  FROM theme t LEFT JOIN product p ON p.theme_id = t.id GROUP BY t.name ORDER BY t.name;
SELECT t.name, count(p.id) AS products, string_agg(p.name, ', ' ORDER BY p.name) AS names
  FROM theme t LEFT JOIN product p ON p.theme_id = t.id GROUP BY t.name ORDER BY t.name;

\echo '-- a user signs in'
EXPLAIN (COSTS OFF) UPDATE login SET login_times = login_times + 1, last_login_time = '2024-03-06 08:00:00' WHERE name = 'ken thompson';
UPDATE login SET login_times = login_times + 1, last_login_time = '2024-03-06 08:00:00' WHERE name = 'ken thompson';
SELECT name, login_times FROM login ORDER BY login_times DESC LIMIT 3;
