-- The demonstration tables. Plain PostgreSQL: the same file loads there.
-- A statement of more than 2,000 rows (limits.script_rows) has its tables for itself while it writes.

-- Employees: every kind of index on one table.
CREATE TABLE emp (
  emp_id integer PRIMARY KEY,
  ename  text NOT NULL,
  mgr_id integer,
  email  text UNIQUE,
  dept   integer NOT NULL,
  city   integer NOT NULL,
  salary integer NOT NULL CHECK (salary > 0),
  hired  date NOT NULL
);

INSERT INTO emp (emp_id, ename, mgr_id, email, dept, city, salary, hired)
SELECT g,
       first_name || ' ' || last_name,
       CASE WHEN g = 1 THEN NULL ELSE g / 12 + 1 END,
       lower(first_name) || '.' || lower(last_name) || g || '@example.com',
       g % 40 + 1,
       g / 40 % 25 + 1,
       2400 + g * 7919 % 20011,
       date '2001-01-01' + g * 31 % 8700
FROM (
  SELECT g,
         CASE g % 12 WHEN 0 THEN 'Ada' WHEN 1 THEN 'Edgar' WHEN 2 THEN 'Grace' WHEN 3 THEN 'Ken' WHEN 4 THEN 'Barbara'
                     WHEN 5 THEN 'Dennis' WHEN 6 THEN 'Frances' WHEN 7 THEN 'Donald' WHEN 8 THEN 'Radia'
                     WHEN 9 THEN 'Niklaus' WHEN 10 THEN 'Adele' ELSE 'Leslie' END AS first_name,
         CASE g % 11 WHEN 0 THEN 'Lovelace' WHEN 1 THEN 'Codd' WHEN 2 THEN 'Hopper' WHEN 3 THEN 'Thompson' WHEN 4 THEN 'Liskov'
                     WHEN 5 THEN 'Ritchie' WHEN 6 THEN 'Allen' WHEN 7 THEN 'Knuth' WHEN 8 THEN 'Perlman' WHEN 9 THEN 'Wirth'
                     ELSE 'Goldberg' END AS last_name
  FROM generate_series(1, 20000) AS s(g)
) AS people;

CREATE INDEX emp_mgr_id ON emp USING hash (mgr_id);
CREATE INDEX emp_dept ON emp USING hash (dept);
CREATE INDEX emp_city ON emp USING hash (city);
CREATE INDEX emp_salary ON emp (salary);
CREATE INDEX emp_hired ON emp (hired);

-- Who signed in, how often, and when last.
CREATE TABLE login (
  id              serial PRIMARY KEY,
  name            text NOT NULL UNIQUE,
  login_times     integer NOT NULL DEFAULT 0,
  last_login_time timestamp
);

INSERT INTO login (name, login_times, last_login_time) VALUES
  ('ken thompson',    12, '2024-01-01 09:15:00'),
  ('dennis ritchie',   7, '2024-02-11 18:40:12'),
  ('joe armstrong',   31, '2024-03-05 07:05:59'),
  ('radia perlman',    4, '2023-12-24 23:59:59'),
  ('yukihiro matz',   18, '2024-03-04 12:00:00'),
  ('never seen',       0, NULL);

CREATE INDEX login_login_times ON login (login_times);
CREATE INDEX login_last_login_time ON login (last_login_time);

-- Books and their tags: what set algebra is for.
CREATE TABLE book (
  id     integer PRIMARY KEY,
  name   text NOT NULL,
  author text NOT NULL
);

CREATE TABLE tag (
  tagname text NOT NULL,
  book_id integer NOT NULL,
  PRIMARY KEY (tagname, book_id)
);

INSERT INTO book (id, name, author) VALUES
  (1, 'The Ruby Programming Language',     'David Flanagan'),
  (2, 'Ruby on Rails Guide',               'David Heinemeier Hansson'),
  (3, 'Programming Erlang',                'Joe Armstrong'),
  (4, 'The C Programming Language',        'Brian Kernighan'),
  (5, 'Learning Web Design',               'Jennifer Robbins'),
  (6, 'Sinatra: Up and Running',           'Alan Harris');

INSERT INTO tag (tagname, book_id) VALUES
  ('ruby', 1), ('ruby', 2), ('web', 2), ('erlang', 3), ('concurrent', 3), ('c', 4), ('unix', 4), ('web', 5), ('design', 5),
  ('ruby', 6), ('web', 6);

CREATE INDEX tag_tagname ON tag USING hash (tagname);
CREATE INDEX tag_book_id ON tag USING hash (book_id);

-- Themes, the products of each, and the tags of each product.
CREATE TABLE theme (
  id    serial PRIMARY KEY,
  name  text NOT NULL UNIQUE,
  since date
);

CREATE TABLE product (
  id       serial PRIMARY KEY,
  theme_id integer NOT NULL,
  name     text NOT NULL,
  price    numeric(8,2) NOT NULL CHECK (price >= 0),
  comment  text
);

CREATE TABLE product_tag (
  product_id integer NOT NULL,
  tag        text NOT NULL,
  PRIMARY KEY (product_id, tag)
);

INSERT INTO theme (name, since) VALUES
  ('garden', '2011-01-01'), ('kitchen', '2011-06-15'), ('workshop', '2012-03-01'), ('sea', NULL);

INSERT INTO product (theme_id, name, price, comment) VALUES
  (1, 'watering can',   12.50, 'zinc, nine litres'),
  (1, 'pruning shears', 24.90, NULL),
  (1, 'hammock',        79.00, 'two trees not included'),
  (2, 'iron pan',       45.00, 'gets better with age'),
  (2, 'paring knife',    8.75, NULL),
  (3, 'spokeshave',     38.20, 'flat sole'),
  (3, 'folding rule',    6.40, NULL);

INSERT INTO product_tag (product_id, tag) VALUES
  (1, 'metal'), (2, 'metal'), (2, 'sharp'), (3, 'gift'), (4, 'metal'), (4, 'gift'), (5, 'sharp'), (5, 'metal'), (6, 'sharp'),
  (6, 'metal'), (7, 'gift');

CREATE INDEX product_theme_id ON product USING hash (theme_id);
CREATE INDEX product_price ON product (price);
CREATE INDEX product_tag_tag ON product_tag USING hash (tag);
