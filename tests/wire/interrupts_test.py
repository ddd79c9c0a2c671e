"""A single call that computes for long ends at statement_timeout, and makes no value beyond the limits."""
from harness.pgwire import query

# Each walks the eight megabytes of its parameter, or makes more: that takes longer than the timeout of a millisecond.
LONG_CALLS = {
    "ab": ("md5($1)", "sha256(convert_to($1, 'UTF8'))", "replace($1, 'b', 'cc')", "translate($1, 'xyzabc', 'uvwdef')", "reverse($1)", "initcap($1)", "upper($1)",
           "split_part($1, 'b', 3999999)", "split_part($1, 'b', -3999999)", "encode(convert_to($1, 'UTF8'), 'base64')", "encode(convert_to($1, 'UTF8'), 'escape')",
           "encode(convert_to($1, 'UTF8'), 'hex')", "decode($1, 'hex')", "decode($1, 'base64')", "regexp_replace($1, 'b', 'c', 'g')", "regexp_count($1, 'b')",
           "regexp_split_to_array($1, 'b')", "string_to_array($1, 'b')", "unistr($1)", "ltrim($1, 'ab')", "rtrim($1, 'ab')", "$1 || $1", "format('%s%s', $1::text, $1::text)",
           "to_json($1::text)", "overlay($1 placing 'x' from 2)", "quote_literal($1::text)", "concat($1::text, $1::text)", "left($1, -1) || 'x'"),
    "x": ("repeat('ab', 50000000 + 0 * length($1))", "lpad('', 50000000 + 0 * length($1), 'ab')", "rpad('', 50000000 + 0 * length($1), 'ab')",
          "bpchar($1::bpchar, 50000000, false)", "array_fill(1, ARRAY[5000000 + 0 * length($1)])", "factorial(20000 + 0 * length($1))"),
}


def test_the_timeout_ends_a_single_call(server):
    with server.connect() as connection:
        for part, calls in LONG_CALLS.items():
            value = part * 4_000_000 if part == "ab" else part
            for call in calls:
                connection.run("SET statement_timeout = '1ms'")
                error = connection.run_error(f"SELECT ({call})::text", value)
                connection.run("RESET statement_timeout")
                assert error["C"] == "57014" and "timeout" in error["M"], (call, error)
        assert connection.run("SELECT length(repeat('x', 1000000))") == [["1000000"]]


def test_a_search_with_a_back_reference_is_interrupted(make_server, make_redis):
    """Tcl's engine takes minutes for it. Its thread serves another session meanwhile."""
    server = make_server("--threads", "1", redis=make_redis())
    with server.connect() as connection, server.connect() as other:
        connection.run("SET statement_timeout = '3s'")  # also with a sanitizer beside other programs
        connection.send(query("SELECT repeat('a', 4001) || 'b' ~ '^(a+)\\1b$', regexp_replace(repeat('a', 4001) || 'b', '^(a+)\\1b$', '', 'g')"))
        answers = 0
        while not connection.has_input():
            assert other.run("SELECT 1") == [["1"]]
            answers += 1
        assert connection.results()[-1].sqlstate == "57014" and answers > 1
        connection.run("SET statement_timeout = 0")
        # Long texts have the same answers as short ones.
        for count in (10, 5000):
            assert connection.run(f"SELECT regexp_replace(repeat('abba ', {count}), '(.)(.)\\2\\1', '<\\1\\2>', 'g') = repeat('<ab> ', {count})") == [["t"]]
            assert connection.run(f"SELECT repeat('x', {count}) || 'yy' ~ '(y)\\1$', repeat('xy', {count}) ~ '(y)\\1'") == [["t", "f"]]


def test_values_beyond_the_limits_are_refused_before_they_are_made(server):
    with server.connect() as connection:
        for call in ("bpchar('ab', 1100000000, false)", "repeat('x', 1100000000)"):
            error = connection.run_error(f"SELECT length(({call})::text)")
            assert error["C"] == "54000", (call, error)


def test_a_regular_expression_that_would_compile_for_seconds_is_refused(server):
    with server.connect() as connection:
        for pattern in ("repeat('(', 1000) || 'a' || repeat(')', 1000)", "repeat('a?', 2000)", "'((a{0,20}){0,20}){0,20}'", "repeat('(a)', 1000)"):
            error = connection.run_error(f"SELECT 'aaaa' ~ ({pattern})")
            assert error["C"] == "2201B" and "too complex" in error["M"], (pattern, error)
