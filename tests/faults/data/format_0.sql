-- What a redquel without a format number ran to write format_0.jsonl (tests/harness/stored_data.py).
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
CREATE SCHEMA shop;
CREATE TABLE dept (dept_id int PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE emp (
  emp_id serial PRIMARY KEY, ename text NOT NULL, dept int REFERENCES dept ON DELETE CASCADE, salary int, email text UNIQUE,
  feels mood DEFAULT 'ok', share percent, born date, paid numeric(10, 2), changed timestamptz, tags text[], extra jsonb);
CREATE INDEX ON emp (dept);
CREATE INDEX ON emp (salary);
CREATE INDEX ON emp USING zset (changed);
CREATE INDEX emp_place ON emp (dept, born);
CREATE UNIQUE INDEX low ON emp (lower(ename)) WHERE dept = 1;
INSERT INTO dept VALUES (1, 'sales'), (2, 'it'), (3, 'a:b%c *{}');
INSERT INTO emp (ename, dept, salary, email, feels, share, born, paid, changed, tags, extra)
  SELECT 'Name ' || i, 1 + i % 3, 1000 * i, 'n' || i || '@x', (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, i, date '2000-01-01' + i, i + 0.5,
         timestamptz '2020-01-01 00:00:00Z' + i * interval '1 day', ARRAY['a', 'b' || i], jsonb_build_object('n', i)
  FROM generate_series(1, 20) i;
UPDATE emp SET dept = NULL, salary = NULL, email = NULL WHERE emp_id IN (4, 9);
DELETE FROM emp WHERE emp_id = 7;
ALTER TABLE emp ADD COLUMN late int DEFAULT 5;
CREATE TABLE note (body text);
INSERT INTO note VALUES ('one'), (NULL), ('three');
CREATE TABLE shop.line (a int, b text, amount float8, PRIMARY KEY (a, b));
INSERT INTO shop.line VALUES (1, 'x', 0.5), (1, 'y:z', 'NaN'), (2, '', -1);
CREATE TABLE pair (id int PRIMARY KEY DEFERRABLE, other int UNIQUE NULLS NOT DISTINCT);
INSERT INTO pair VALUES (1, 2), (2, NULL);
CREATE TABLE session (token text PRIMARY KEY, owner int) WITH (ttl = '10000 days');
CREATE INDEX ON session (owner);
INSERT INTO session VALUES ('abc', 1), ('def', 2);
CREATE SEQUENCE ticket START 100 INCREMENT 7;
SELECT nextval('ticket'), nextval('ticket');
CREATE VIEW paid AS SELECT e.ename, d.name, e.paid FROM emp e JOIN dept d ON d.dept_id = e.dept WHERE e.salary > 10000;
CREATE MATERIALIZED VIEW totals AS SELECT dept, count(*) AS n FROM emp GROUP BY dept;
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n';
CREATE FOREIGN TABLE cart (id int, item text) SERVER redis OPTIONS (layout 'hash', key 'cart:{id}');
INSERT INTO cart VALUES (1, 'apple'), (2, 'pear');
CREATE TABLE dropped (id int PRIMARY KEY);
DROP TABLE dropped;
CREATE TABLE half (id int PRIMARY KEY);
INSERT INTO half VALUES (1), (2);
