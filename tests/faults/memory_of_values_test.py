"""Values are charged before they are allocated: the memory of the process stays near its limit, whichever function makes them."""
import os

from harness.crew import all_at_once

from wire.doors_test import configured

SLOW = True
MEGABYTES = 256
LIMIT = 900  # seconds: sanitizers are slow where much memory is taken

# Each would hold several times the limit.
VALUES = (
    "SELECT length(repeat('a', 400000000) || repeat('b', 400000000))",
    "SELECT length(repeat(repeat('ab', 20000000), 20))",
    "SELECT length(lpad('x', 500000000, 'yz')), length(rpad('x', 500000000, 'yz'))",
    "SELECT length(replace(repeat('a', 20000000), 'a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'))",
    "SELECT length(regexp_replace(repeat('a', 8000000), 'a', repeat('b', 100), 'g'))",
    "SELECT length(translate(repeat('a', 400000000), 'a', 'b'))",
    "SELECT length(upper(repeat('ab', 200000000))), length(reverse(repeat('ab', 200000000)))",
    "SELECT length(format('%s%s%s%s', t, t, t, t)) FROM (SELECT repeat('f', 150000000) AS t) s",
    "SELECT length(concat_ws(',', t, t, t, t, t)) FROM (SELECT repeat('f', 150000000) AS t) s",
    "SELECT length(quote_literal(repeat('''', 300000000)))",
    "SELECT length(to_json(repeat(E'\\n', 150000000))::text)",
    "SELECT length(encode(convert_to(repeat('e', 200000000), 'UTF8'), 'hex'))",
    "SELECT length(decode(encode(repeat('e', 200000000)::bytea, 'base64'), 'base64'))",
    "SELECT length(overlay(repeat('o', 400000000) placing 'x' from 5))",
    "SELECT bit_length(repeat('1', 300000000)::bit varying)",
    "SELECT length(jsonb_build_array(t, t, t, t, t)::text) FROM (SELECT repeat('f', 150000000) AS t) s",
    "SELECT length(jsonb_pretty(('[' || repeat('1,', 10000000) || '1]')::jsonb))",
    "SELECT ('[' || repeat('{\"a\": [1, 2, 3]},', 2000000) || '0]')::jsonb IS NULL",
    "SELECT jsonb_path_query_array(('[' || repeat('{\"a\": [1, 2, 3]},', 1000000) || '0]')::jsonb, '$[*].a[*]') IS NULL",
    "SELECT cardinality(array_fill(repeat('x', 1000), ARRAY[2000000]))",
    "SELECT cardinality(string_to_array(repeat('a,', 8000000), ',') || string_to_array(repeat('a,', 8000000), ','))",
    "SELECT length(array_to_string(array_fill(repeat('x', 100), ARRAY[8000000]), ','))",
    "SELECT length(string_agg(repeat('x', 100000), '')) FROM generate_series(1, 20000)",
    "SELECT cardinality(array_agg(repeat('z', 5000))) FROM generate_series(1, 400000)",
    "SELECT length(jsonb_agg(jsonb_build_object('n', g, 't', repeat('j', 200)))::text) FROM generate_series(1, 2000000) g",
    "SELECT count(*) FROM regexp_split_to_table(repeat('b,', 8000000), ',')",
    "SELECT count(*) FROM regexp_matches(repeat('ab', 4000000), '(a)(b)', 'g')",
    "SELECT count(*) FROM unnest(array_fill('text'::text, ARRAY[8000000])) u",
    "SELECT count(*) FROM (SELECT repeat('r', 1000000) FROM generate_series(1, 1000) OFFSET 1) s",
    "SELECT repeat('r', 100000000), repeat('s', 100000000), repeat('t', 100000000)",
    "SELECT repeat(E'\\\\', 60000000)::bytea, array_fill(repeat('\"', 1000), ARRAY[100000])",
    "SELECT length(normalize(repeat('ä', 100000000)))",
    "SELECT length((10::numeric ^ 100000)::text || repeat('9', 130000)::numeric::text)",
)


def reset_peak(server):
    with open(f"/proc/{server.process.pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def peak_megabytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM"))


def test_no_value_takes_the_process_far_beyond_its_limit(make_redis, make_server, build):
    server = configured(make_server, make_redis(), f"[limits]\nmemory = '{MEGABYTES}MB'\nwork_mem = '32MB'\n[cache]\nmemory = '32MB'\n", "--threads", "2")
    peaks = {}
    reset_peak(server)
    own = peak_megabytes(server)  # the program itself, which the limit does not count
    for sql in VALUES:
        reset_peak(server)

        def run(_):
            with server.connect(timeout=600) as connection:
                result = connection.query(sql)[-1]
                assert result.sqlstate in (None, "53200", "54000"), (sql, result.sqlstate)

        all_at_once(run, 2)
        peaks[sql] = peak_megabytes(server)
    with server.connect() as connection:
        assert connection.run("SELECT length(repeat('x', 20000000))") == [["20000000"]]
    # The allocator keeps freed memory for a while, and a sanitizer for longer.
    assert os.path.basename(build) != "release" or max(peaks.values()) < own + 1.5 * MEGABYTES, sorted(peaks.items(), key=lambda one: -one[1])
