-- What a redquel of format 3 ran to write format_3.jsonl (tests/harness/stored_data.py).
CREATE TABLE loan (id int PRIMARY KEY, reader text, day date, room int NOT NULL);
CREATE INDEX loan_time ON loan USING zset (reader, day);
CREATE INDEX loan_place ON loan USING zset (room, reader);
INSERT INTO loan SELECT g, CASE WHEN g % 5 > 0 THEN 'r:' || g % 3 END, CASE WHEN g % 4 > 0 THEN date '2020-01-01' + g END, g % 2 FROM generate_series(1, 20) g;
CREATE TABLE half (id int PRIMARY KEY);
INSERT INTO half VALUES (1), (2);
