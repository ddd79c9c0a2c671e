-- What a redquel of format 1 ran to write format_1.jsonl, and one of format 2 to write format_2.jsonl (tests/harness/stored_data.py).
CREATE TABLE book (id int PRIMARY KEY, title text NOT NULL);
CREATE TABLE tag (book_id int, tagname text, weight int, PRIMARY KEY (book_id, tagname));
CREATE INDEX tag_name ON tag (tagname);
CREATE INDEX tag_book ON tag (book_id);
CREATE INDEX tag_weight ON tag USING hash (weight);
CREATE TABLE loan (book_id int REFERENCES book ON DELETE CASCADE, reader text, day date, PRIMARY KEY (book_id, reader, day));
CREATE INDEX loan_book ON loan (book_id);
CREATE INDEX loan_time ON loan (reader, day);
CREATE TABLE visit (reader text, room int, PRIMARY KEY (reader, room)) WITH (ttl = '10000 days');
CREATE INDEX visit_room ON visit (room);
INSERT INTO book SELECT g, 'book ' || g FROM generate_series(1, 12) g;
INSERT INTO tag SELECT b, t, b % 5 FROM generate_series(1, 12) b, unnest(ARRAY['ruby', 'web', 'x:y', 'a b', '']) t WHERE (b + length(t)) % 3 <> 1;
INSERT INTO tag VALUES (31, repeat('long ', 200), 1);
INSERT INTO loan SELECT b, 'r' || b % 3, date '2020-01-01' + b FROM generate_series(1, 12) b;
INSERT INTO visit VALUES ('r1', 1), ('r1', 2), ('r2', 2);
CREATE TABLE half (id int PRIMARY KEY);
INSERT INTO half VALUES (1), (2);
