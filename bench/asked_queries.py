"""The shop that bench/asked.py asks, and the pages and reports of an application over it. All rows are functions of their numbers."""

STATES = ("paid", "paid", "paid", "sent", "sent", "sent", "sent", "returned")

SCHEMA = """
CREATE TABLE customer (id integer PRIMARY KEY, mail text NOT NULL UNIQUE, name text NOT NULL, city text NOT NULL, joined timestamp NOT NULL, points integer NOT NULL);
CREATE TABLE product (id integer PRIMARY KEY, name text NOT NULL, category text NOT NULL, price numeric(10,2) NOT NULL, stock integer NOT NULL, added timestamp NOT NULL, retired timestamp);
CREATE TABLE purchase (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer, state text NOT NULL, placed timestamp NOT NULL, total integer NOT NULL, note text);
CREATE TABLE item (purchase_id integer NOT NULL REFERENCES purchase, product_id integer NOT NULL REFERENCES product, quantity integer NOT NULL, PRIMARY KEY (purchase_id, product_id));
CREATE TABLE review (id bigint PRIMARY KEY, product_id integer NOT NULL REFERENCES product, customer_id integer NOT NULL REFERENCES customer, stars integer NOT NULL, written timestamp NOT NULL, body text NOT NULL);
CREATE TABLE label (product_id integer NOT NULL, name text NOT NULL, PRIMARY KEY (product_id, name));
CREATE INDEX ON customer USING {hash} (city);
CREATE INDEX ON customer USING {ordered} (joined);
CREATE INDEX ON customer USING {ordered} (points);
CREATE INDEX ON product USING {hash} (category);
CREATE INDEX ON product USING {ordered} (price);
CREATE INDEX ON product USING {ordered} (added);
CREATE INDEX ON product USING {ordered} (name);
CREATE INDEX ON product USING {ordered} (retired);
CREATE INDEX ON purchase USING {hash} (customer_id);
CREATE INDEX ON purchase USING {hash} (state);
CREATE INDEX ON purchase USING {ordered} (placed);
CREATE INDEX ON purchase USING {ordered} (total);
CREATE INDEX ON item USING {hash} (product_id);
CREATE INDEX ON review USING {hash} (product_id);
CREATE INDEX ON review USING {hash} (customer_id);
CREATE INDEX ON review USING {hash} (stars);
CREATE INDEX ON review USING {ordered} (written);
CREATE INDEX ON label USING {hash} (name);
"""

# Indexes for a filter and an order: {method} is zset or btree.
PAIRS = """
CREATE INDEX ON purchase USING {method} (customer_id, placed);
CREATE INDEX ON purchase USING {method} (state, placed);
CREATE INDEX ON product USING {method} (category, price);
CREATE INDEX ON product USING {method} (category, added);
CREATE INDEX ON review USING {method} (product_id, written);
CREATE INDEX ON review USING {method} (customer_id, written);
CREATE INDEX ON review USING {method} (stars, written);
CREATE INDEX ON customer USING {method} (city, joined);
"""

# Rows from {first} to {last}, of a table that has as many as purchases times its share. {customers}, {products}: how many there are.
ROWS = {
    "customer": (1 / 5, """INSERT INTO customer SELECT i, 'c' || i || '@example.com', 'name ' || i, 'city ' || (i::bigint * 104729 % 40)::int,
      timestamp '2020-01-01' + (i::bigint * 7919 % {customers}) * interval '1 hour', (i::bigint * 15485863 % 10007)::int FROM generate_series({first}, {last}) i"""),
    "product": (1 / 10, """INSERT INTO product SELECT i, 'product ' || lpad((i::bigint * 7919 % {products})::text, 8, '0'), 'category ' || (i::bigint * 104729 % 25)::int,
      (i::bigint * 15485863 % 99991)::int / 100.0, i * 31 % 200, timestamp '2021-01-01' + (i::bigint * 3571 % {products}) * interval '1 minute',
      CASE WHEN i % 10 = 0 THEN timestamp '2025-01-01' + i * interval '1 minute' END FROM generate_series({first}, {last}) i"""),
    "purchase": (1, """INSERT INTO purchase SELECT i, CASE WHEN i % 50 = 0 THEN 1 ELSE (i::bigint * 104729 % {customers})::int + 1 END,
      CASE WHEN i % 40 = 7 THEN 'open' ELSE (ARRAY[{states}])[i % 8 + 1] END, timestamp '2022-01-01' + (i::bigint * 7919 % {purchases}) * interval '1 minute',
      (i::bigint * 15485863 % 100003)::int, CASE WHEN i % 3 = 0 THEN 'note ' || i END FROM generate_series({first}, {last}) i"""),
    "item": (1, """INSERT INTO item SELECT i, p, i % 5 + 1 FROM generate_series({first}, {last}) i,
      LATERAL (SELECT DISTINCT (i::bigint * 31 + k * 7727) % {products} + 1 AS p FROM generate_series(0, i % 2) k) s"""),
    "review": (1 / 2, """INSERT INTO review SELECT i, (i::bigint * 271 % {products})::int + 1, (i::bigint * 7907 % {customers})::int + 1, i % 5 + 1,
      timestamp '2023-01-01' + (i::bigint * 104729 % {reviews}) * interval '1 minute', 'body ' || i FROM generate_series({first}, {last}) i"""),
    "label": (1 / 10, """INSERT INTO label SELECT i, 'label ' || n FROM generate_series({first}, {last}) i, generate_series(1, 30) n WHERE (i::bigint * 7919 + n * 104729) % 12 = 0"""),
}

# A leaderboard and its players as an application keeps them; PostgreSQL gets tables with the same rows.
FOREIGN = """
CREATE FOREIGN TABLE player (id bigint NOT NULL, name text, team text) SERVER redis OPTIONS (layout 'hash', key 'player:{id}');
CREATE FOREIGN TABLE board (player_id bigint NOT NULL, score float8 NOT NULL) SERVER redis OPTIONS (layout 'zset', key 'board');
CREATE FOREIGN TABLE team_member (team text NOT NULL, player_id bigint NOT NULL) SERVER redis OPTIONS (layout 'set', key 'team:{team}');
"""
TWIN = """
CREATE TABLE player (id bigint PRIMARY KEY, name text, team text);
CREATE TABLE board (player_id bigint PRIMARY KEY, score float8 NOT NULL);
CREATE TABLE team_member (team text NOT NULL, player_id bigint NOT NULL, PRIMARY KEY (team, player_id));
CREATE INDEX ON board (score);
INSERT INTO player SELECT i, 'player ' || i, 'team ' || i % 50 FROM generate_series(1, {players}) i;
INSERT INTO board SELECT i, i::bigint * 7919 % {players} FROM generate_series(1, {players}) i;
INSERT INTO team_member SELECT 'team ' || i % 50, i FROM generate_series(1, {players}) i;
"""


def foreign_commands(players):
    """The Redis commands that make the same rows."""
    for i in range(1, players + 1):
        yield ("HSET", f"player:{i}", "name", f"player {i}", "team", f"team {i % 50}")
        yield ("ZADD", "board", i * 7919 % players, i)
        yield ("SADD", f"team:team {i % 50}", i)


# class, query. A query with ORDER BY at its end has a total order. {middle}: the number of a purchase, {page}: its time.
NEWEST = "ORDER BY p.placed DESC, p.id DESC LIMIT"
QUERIES = [
    ("point", "SELECT * FROM purchase WHERE id = {middle}"),
    ("point", "SELECT id, name FROM customer WHERE mail = 'c77@example.com'"),
    ("point", "SELECT id, total FROM purchase WHERE id IN (3, {middle}, 77, 5001)"),
    ("point", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE p.id = {middle}"),
    ("newest", "SELECT id, total FROM purchase p ORDER BY placed DESC LIMIT 10"),
    ("newest", "SELECT id, body FROM review ORDER BY written DESC, id DESC LIMIT 10"),
    ("newest", "SELECT id, total FROM purchase p WHERE total > 50000 " + NEWEST + " 10"),
    ("newest", "SELECT id, name, price FROM product ORDER BY price DESC, id LIMIT 10"),
    ("newest", "SELECT id, name FROM product ORDER BY name LIMIT 10"),
    ("newest of a value", "SELECT id, placed FROM purchase p WHERE customer_id = 77 " + NEWEST + " 10"),
    ("newest of a value", "SELECT id, placed FROM purchase p WHERE customer_id = 1 " + NEWEST + " 10"),
    ("newest of a value", "SELECT id, placed FROM purchase p WHERE state = 'open' " + NEWEST + " 10"),
    ("newest of a value", "SELECT id, price FROM product WHERE category = 'category 3' ORDER BY price, id LIMIT 10"),
    ("page", "SELECT id, total FROM purchase p ORDER BY placed DESC LIMIT 20 OFFSET 1000"),
    ("page", "SELECT id FROM review ORDER BY id LIMIT 20 OFFSET 2000"),
    ("page", "SELECT id, total FROM purchase p WHERE (placed, id) < (timestamp '{page}', {middle}) " + NEWEST + " 20"),
    ("page", "SELECT id, total FROM purchase p WHERE state = 'sent' " + NEWEST + " 20 OFFSET 100"),
    ("newest joined", "SELECT p.id, p.placed, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id " + NEWEST + " 10"),
    ("newest joined", "SELECT p.id, p.placed, c.name FROM purchase p LEFT JOIN customer c ON c.id = p.customer_id " + NEWEST + " 10"),
    ("newest joined", "SELECT r.id, r.stars, d.name, c.name FROM review r JOIN product d ON d.id = r.product_id JOIN customer c ON c.id = r.customer_id ORDER BY r.written DESC, r.id LIMIT 20"),
    ("newest joined", "SELECT p.id, i.product_id, d.name FROM purchase p JOIN item i ON i.purchase_id = p.id JOIN product d ON d.id = i.product_id ORDER BY p.placed DESC, i.product_id LIMIT 20"),
    ("newest joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id ORDER BY p.total DESC, p.id LIMIT 5 OFFSET 500"),
    ("newest joined", "SELECT d.id, d.name, l.name FROM product d LEFT JOIN label l ON l.product_id = d.id ORDER BY d.added DESC, l.name LIMIT 20"),
    ("filter on the walked", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE p.state = 'open' " + NEWEST + " 10"),
    ("filter on the walked", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE p.total > 90000 AND p.note IS NOT NULL " + NEWEST + " 10"),
    ("filter on the walked", "SELECT r.id, d.name FROM review r JOIN product d ON d.id = r.product_id WHERE r.stars = 5 ORDER BY r.written DESC LIMIT 10"),
    ("filter on the walked", "SELECT p.id, c.name FROM purchase p LEFT JOIN customer c ON c.id = p.customer_id WHERE p.customer_id = 77 " + NEWEST + " 10"),
    ("filter on the joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE c.city = 'city 3' " + NEWEST + " 10"),
    ("filter on the joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE c.points > 9000 " + NEWEST + " 10"),
    ("filter on the joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE c.mail = 'c77@example.com' " + NEWEST + " 10"),
    ("filter on the joined", "SELECT r.id, d.name FROM review r JOIN product d ON d.id = r.product_id WHERE d.category = 'category 3' AND d.stock > 100 ORDER BY r.written DESC LIMIT 10"),
    ("filter on the joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE c.name LIKE '%77%' " + NEWEST + " 10"),
    ("keyset page joined", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE (p.placed, p.id) < (timestamp '{page}', {middle}) " + NEWEST + " 20"),
    ("keyset page joined", "SELECT r.id, d.name FROM review r JOIN product d ON d.id = r.product_id WHERE r.id < {middle} ORDER BY r.id DESC LIMIT 20"),
    ("keyset page joined", "SELECT d.id, d.name, c.name FROM product d JOIN review r ON r.product_id = d.id JOIN customer c ON c.id = r.customer_id WHERE d.name > 'product 00000100' ORDER BY d.name, c.name, r.id LIMIT 10"),
    ("exists", "SELECT p.id FROM purchase p WHERE EXISTS (SELECT 1 FROM item i WHERE i.purchase_id = p.id AND i.quantity > 3) ORDER BY p.id LIMIT 20"),
    ("exists", "SELECT c.id, c.name FROM customer c WHERE EXISTS (SELECT 1 FROM purchase p WHERE p.customer_id = c.id AND p.state = 'open') ORDER BY c.id LIMIT 20"),
    ("exists", "SELECT d.id FROM product d WHERE EXISTS (SELECT 1 FROM label l WHERE l.product_id = d.id AND l.name = 'label 3') ORDER BY d.added DESC LIMIT 20"),
    ("exists", "SELECT d.id, EXISTS (SELECT 1 FROM review r WHERE r.product_id = d.id AND r.stars = 5) FROM product d ORDER BY d.price DESC, d.id LIMIT 20"),
    ("exists", "SELECT c.id FROM customer c WHERE c.points > 9900 OR EXISTS (SELECT 1 FROM purchase p WHERE p.customer_id = c.id AND p.state = 'open') ORDER BY c.id LIMIT 20"),
    ("not exists", "SELECT d.id, d.name FROM product d WHERE NOT EXISTS (SELECT 1 FROM label l WHERE l.product_id = d.id) ORDER BY d.id LIMIT 20"),
    ("not exists", "SELECT p.id FROM purchase p WHERE NOT EXISTS (SELECT 1 FROM item i WHERE i.purchase_id = p.id AND i.quantity > 1) " + NEWEST + " 20"),
    ("not exists", "SELECT c.id FROM customer c WHERE city = 'city 5' AND NOT EXISTS (SELECT 1 FROM review r WHERE r.customer_id = c.id AND r.stars = 1) ORDER BY c.id LIMIT 20"),
    ("in subquery", "SELECT id, name FROM product WHERE id IN (SELECT product_id FROM review WHERE customer_id = 77) ORDER BY price, id LIMIT 10"),
    ("in subquery", "SELECT id, placed FROM purchase p WHERE id IN (SELECT purchase_id FROM item WHERE product_id = 77) " + NEWEST + " 10"),
    ("in subquery", "SELECT id FROM customer WHERE id NOT IN (SELECT customer_id FROM purchase WHERE state = 'open') ORDER BY id LIMIT 20"),
    ("scalar", "SELECT c.id, (SELECT count(*) FROM purchase p WHERE p.customer_id = c.id) FROM customer c ORDER BY c.id LIMIT 20"),
    ("scalar", "SELECT d.id, (SELECT count(*) FROM review r WHERE r.product_id = d.id), (SELECT max(written) FROM review r WHERE r.product_id = d.id) FROM product d WHERE category = 'category 3' ORDER BY d.added DESC LIMIT 20"),
    ("scalar", "SELECT d.id, (SELECT avg(stars) FROM review r WHERE r.product_id = d.id) FROM product d ORDER BY d.price DESC, d.id LIMIT 20"),
    ("scalar", "SELECT p.id, (SELECT name FROM customer c WHERE c.id = p.customer_id) FROM purchase p " + NEWEST + " 20"),
    ("scalar", "SELECT c.id, (SELECT count(*) FROM purchase p WHERE p.customer_id = c.id AND p.state = 'open') FROM customer c WHERE c.city = 'city 7' ORDER BY c.joined DESC LIMIT 20"),
    ("scalar", "SELECT c.id, c.name FROM customer c ORDER BY (SELECT count(*) FROM purchase p WHERE p.customer_id = c.id) DESC, c.id LIMIT 10"),
    ("lateral", "SELECT c.id, x.id, x.placed FROM customer c CROSS JOIN LATERAL (SELECT id, placed FROM purchase p WHERE p.customer_id = c.id ORDER BY placed DESC LIMIT 1) x ORDER BY c.id LIMIT 20"),
    ("lateral", "SELECT d.id, x.id, x.stars FROM product d LEFT JOIN LATERAL (SELECT id, stars FROM review r WHERE r.product_id = d.id ORDER BY written DESC LIMIT 2) x ON true WHERE d.category = 'category 4' ORDER BY d.id, x.id LIMIT 30"),
    ("lateral", "SELECT c.id, x.n FROM customer c, LATERAL (SELECT count(*) AS n FROM review r WHERE r.customer_id = c.id) x ORDER BY c.joined DESC LIMIT 20"),
    ("distinct on", "SELECT DISTINCT ON (customer_id) customer_id, id, placed FROM purchase WHERE customer_id BETWEEN 100 AND 119 ORDER BY customer_id, placed DESC"),
    ("distinct on", "SELECT DISTINCT category FROM product ORDER BY category LIMIT 10"),
    ("top n of groups", "SELECT * FROM (SELECT category, id, row_number() OVER (PARTITION BY category ORDER BY price DESC, id) AS place FROM product WHERE category IN ('category 1', 'category 2')) s WHERE place <= 2 ORDER BY category, place"),
    ("top n of groups", "SELECT state, id FROM (VALUES ('open'), ('paid'), ('sent')) v(s), LATERAL (SELECT state, id FROM purchase WHERE state = v.s ORDER BY placed DESC LIMIT 2) x ORDER BY state, id"),
    ("count", "SELECT count(*) FROM purchase WHERE state = 'open'"),
    ("count", "SELECT count(*) FROM purchase WHERE customer_id = 1 AND state = 'sent'"),
    ("count", "SELECT state, count(*) FROM purchase GROUP BY state ORDER BY state"),
    ("count", "SELECT count(*) FROM purchase WHERE placed >= timestamp '{page}' AND placed < timestamp '{page}' + interval '7 days'"),
    ("count", "SELECT count(*) FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE c.city = 'city 3' AND p.state = 'open'"),
    ("sum of a range", "SELECT count(*), sum(total) FROM purchase WHERE placed >= timestamp '{page}' AND placed < timestamp '{page}' + interval '1 day'"),
    ("sum of a range", "SELECT date_trunc('day', placed) AS day, sum(total) FROM purchase WHERE placed >= timestamp '{page}' AND placed < timestamp '{page}' + interval '3 days' GROUP BY 1 ORDER BY 1"),
    ("sum of a range", "SELECT customer_id, count(*) FROM purchase WHERE placed >= timestamp '{page}' AND placed < timestamp '{page}' + interval '1 day' GROUP BY customer_id ORDER BY count(*) DESC, customer_id LIMIT 10"),
    ("ends of a group", "SELECT min(placed), max(placed) FROM purchase WHERE customer_id = 77"),
    ("ends of a group", "SELECT max(price), min(price) FROM product WHERE category = 'category 3'"),
    ("ends of a group", "SELECT max(placed) FROM purchase WHERE state = 'open'"),
    ("or", "SELECT id FROM purchase p WHERE customer_id = 77 OR state = 'open' " + NEWEST + " 10"),
    ("or", "SELECT p.id, c.name FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE p.customer_id = 77 OR p.customer_id = 78 " + NEWEST + " 10"),
    ("null, like", "SELECT id FROM product WHERE retired IS NULL ORDER BY added DESC LIMIT 10"),
    ("null, like", "SELECT id FROM product WHERE retired IS NOT NULL ORDER BY retired DESC LIMIT 10"),
    ("null, like", "SELECT id, state FROM purchase p WHERE state <> 'sent' " + NEWEST + " 10"),
    ("null, like", "SELECT id FROM customer WHERE name LIKE '%777%' ORDER BY id LIMIT 5"),
    ("null, like", "SELECT id FROM product WHERE name LIKE 'product 0000012%' ORDER BY name LIMIT 10"),
    ("having", "SELECT customer_id, count(*) FROM purchase GROUP BY customer_id HAVING count(*) > 8 ORDER BY customer_id LIMIT 20"),
    ("having", "SELECT customer_id FROM review GROUP BY customer_id HAVING min(stars) > 3 ORDER BY customer_id LIMIT 20"),
    ("labels", "SELECT product_id FROM label WHERE name = 'label 1' INTERSECT SELECT product_id FROM label WHERE name = 'label 13' ORDER BY product_id LIMIT 20"),
    ("labels", "SELECT d.id, d.name FROM product d WHERE d.id IN (SELECT product_id FROM label WHERE name = 'label 1') AND d.id NOT IN (SELECT product_id FROM label WHERE name = 'label 2') ORDER BY d.id LIMIT 20"),
    ("labels", "SELECT product_id FROM label WHERE name IN ('label 1', 'label 13') GROUP BY product_id HAVING count(*) = 2 ORDER BY product_id LIMIT 20"),
    ("groups in order", "SELECT p.id, count(*), sum(i.quantity) FROM purchase p JOIN item i ON i.purchase_id = p.id GROUP BY p.id ORDER BY p.id LIMIT 20"),
    ("groups in order", "SELECT d.id, array_agg(l.name ORDER BY l.name) FROM product d JOIN label l ON l.product_id = d.id GROUP BY d.id ORDER BY d.id LIMIT 20"),
    ("groups in order", "SELECT purchase_id, sum(quantity) FROM item GROUP BY purchase_id ORDER BY purchase_id DESC LIMIT 10"),
    ("union", "(SELECT placed AS at, id FROM purchase ORDER BY placed DESC LIMIT 10) UNION ALL (SELECT written, id FROM review ORDER BY written DESC LIMIT 10) ORDER BY at DESC, id LIMIT 10"),
    ("union", "SELECT at, id FROM (SELECT placed AS at, id FROM purchase UNION ALL SELECT written, id FROM review) s ORDER BY at DESC, id LIMIT 10"),
    ("order of two", "SELECT id, total, placed FROM purchase ORDER BY total DESC, placed DESC LIMIT 10"),
    ("order of two", "SELECT id, state, placed FROM purchase ORDER BY state, placed DESC LIMIT 10"),
    ("running sum", "SELECT id, sum(total) OVER (ORDER BY placed) FROM purchase WHERE customer_id = 77 ORDER BY placed"),
    ("cte", "WITH last AS (SELECT id, customer_id, placed FROM purchase ORDER BY placed DESC LIMIT 50) SELECT c.city, count(*) FROM last JOIN customer c ON c.id = last.customer_id GROUP BY c.city ORDER BY count(*) DESC, c.city LIMIT 5"),
    ("cte", "WITH bought AS (SELECT DISTINCT i.product_id FROM purchase p JOIN item i ON i.purchase_id = p.id WHERE p.customer_id = 77) SELECT d.id, d.name FROM bought b JOIN product d ON d.id = b.product_id ORDER BY d.id"),
    ("write", "UPDATE product SET stock = stock + 1 WHERE id = 77 RETURNING stock"),
    ("write", "UPDATE purchase SET total = total + 1 WHERE customer_id = 78 RETURNING id, total"),
    ("write", "UPDATE product d SET stock = stock + 1 FROM label l WHERE l.product_id = d.id AND l.name = 'label 3' AND d.category = 'category 4' AND d.id < 400 RETURNING d.id, stock"),
    ("write", "DELETE FROM review WHERE product_id = 77 AND stars = 9 RETURNING id"),
    ("foreign", "SELECT player_id, score FROM board ORDER BY score DESC LIMIT 10"),
    ("foreign", "SELECT b.player_id, b.score, p.name FROM board b JOIN player p ON p.id = b.player_id ORDER BY b.score DESC LIMIT 10"),
    ("foreign", "SELECT b.player_id, b.score, p.name FROM board b LEFT JOIN player p ON p.id = b.player_id ORDER BY b.score DESC LIMIT 10"),
    ("foreign", "SELECT m.player_id, p.name FROM team_member m JOIN player p ON p.id = m.player_id WHERE m.team = 'team 7' ORDER BY m.player_id LIMIT 10"),
    ("foreign", "SELECT id, name FROM player WHERE id = 77"),
]
