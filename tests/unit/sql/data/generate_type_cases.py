#!/usr/bin/env python3
"""Asks PostgreSQL 15 what its types do and writes the answers as cases for type_cases_test.cc.

Usage: generate_type_cases.py CONNECTION   (e.g. "host=127.0.0.1 port=5432 user=postgres dbname=postgres")

A line of a case file is   name TAB argument TAB … TAB "=>" TAB answer.   An answer that begins with "!" is an error: SQLSTATE,
message, and detail and hint where there are any. A line "set TAB name=value;…" changes the session for the lines after it.
"""
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EVALUATOR = r"""
create or replace function pg_temp.answer(query text) returns text language plpgsql as $body$
declare result text; detail text; hint text;
begin
  execute query into result;
  return coalesce(result, 'NULL');
exception when others then
  get stacked diagnostics detail = pg_exception_detail, hint = pg_exception_hint;
  return '!' || sqlstate || ' ' || sqlerrm || case when detail <> '' then ' | ' || detail else '' end
         || case when hint <> '' then ' | ' || hint else '' end;
end $body$;
create temp table queries (id int, query text);
"""


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def ask(connection, settings, queries):
    script = ["set client_min_messages = error;", EVALUATOR]
    script += [f"set {name} = {literal(value)};" for name, value in settings.items()]
    script.append("copy queries from stdin;")
    for number, query in enumerate(queries):
        escaped = query.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
        script.append(f"{number}\t{escaped}")
    script.append("\\.")
    script.append("select replace(replace(replace(pg_temp.answer(query), E'\\\\', E'\\\\\\\\'), E'\\n', E'\\\\n'), E'\\t', E'\\\\t') "
                  "from queries order by id;")
    result = subprocess.run(["psql", "-XAtq", connection], input="\n".join(script), capture_output=True, text=True)
    answers = result.stdout.rstrip("\n").split("\n")
    if len(answers) != len(queries):
        sys.exit(f"{len(queries)} questions, {len(answers)} answers\n{result.stderr[:2000]}")
    return answers


class Cases:
    """One file: groups of cases under the same settings."""

    def __init__(self, name):
        self.name, self.groups = name, [({}, [])]

    def settings(self, **settings):
        self.groups.append((settings, []))

    def add(self, name, sql, *arguments):
        """`sql` has {0}, {1}… for the arguments as literals."""
        self.groups[-1][1].append((name, sql.format(*map(literal, arguments)), arguments))

    def write(self, connection):
        lines = []
        for settings, cases in self.groups:
            if not cases:
                continue
            lines.append("set\t" + ";".join(f"{name}={value}" for name, value in settings.items()))
            answers = ask(connection, settings, [sql for _, sql, _ in cases])
            for (name, _, arguments), answer in zip(cases, answers):
                if len(answer) > 3000:
                    continue
                fields = [argument.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for argument in arguments]
                lines.append("\t".join([name, *fields, "=>", answer]))
        with open(os.path.join(HERE, self.name), "w", encoding="utf-8") as out:
            out.write("\n".join(dict.fromkeys(lines[:1])) + "\n")
            out.write("\n".join(lines[1:]) + "\n")


def input_output(cases, type_name, texts):
    for text in texts:
        cases.add("io:" + type_name, "select concat({0}::" + type_name + ")", text)


def binary(cases, type_name, send, texts):
    for text in texts:
        cases.add("send:" + type_name, f"select encode({send}({{0}}::{type_name}), 'hex')", text)


INTEGERS = ["0", "1", "-1", " 42 ", "+7", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648", "-2147483648",
            "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
            "", " ", "abc", "1.0", "1e3", "--1", "+-1", "- 1", "1 2", "0x10", "99999999999999999999", "99999999999999999999x",
            "007", "\t5\n", "1_000", "½"]
FLOATS = ["0", "-0", "1", "0.1", "1e10", "1e15", "1e16", "123456789012345", "1234567890123456", "1e-4", "1e-5", "0.0001234",
          "3.14159265358979", "2.718281828459045", "1e20", "1.5e-07", "1e22", "1e23", "1e100", "1e308", "1e309", "-1e309", "1e-307",
          "1e-323", "1e-324", "1e-400", "5e-324", "1e38", "3.4e38", "3.5e38", "1e-37", "1e-45", "1e-46", "NaN", "nan", "infinity",
          "-Infinity", "inf", "+inf", "-inf", "", " ", "x", "1.2.3", "1e", ".5", "5.", ".", "-.5e-3", " 7 ", "0x1p3", "16777217",
          "100000", "1000000", "123456.7", "1234567", "0.3", "1.1", "999999.9", "9999999", "33554432", "1e5x", "- 1"]
NUMERICS = ["0", "-0", "0.0", "0.00", "1", "-1", "1.0", "1.10", "10", "100", "1000", "9999", "10000", "10001", "99999999",
            "123456789", "1234567890123456789", "12345678901234567890123456789", "0.1", "0.01", "0.001", "0.0001", "0.00001",
            "0.12345678901234567890", "-0.5", "0.5", "1.5", "2.5", "-1.5", "3.14159", "2.71828182845904523536", "1e10", "1e-10",
            "1E5", "1e50", "1.5e-20", "-123.456", "99.99", "0.333333333333", "7", "3", "12", "1e20", "12345.6789", "1000000.000001",
            "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "NaN", "Infinity",
            "-Infinity"]
BAD_NUMERICS = ["", " ", "abc", "1e", "1e+", "e5", ".", "-", "1.2.3", "-nan", "+nan", "1 2", "--1", "1,000", "0x1F", "infinit", "1e1e1",
                " 12.50 ", "+5", "inf", "+Infinity", "-inf", ".5", "5.", "-.5", "0e-5", "00012.3400", "1e131072", "1e-16384",
                "1e2147483648", "NaNx", "1_0"]


def random_numeric(generator):
    digits = "".join(generator.choice("0123456789") for _ in range(generator.choice([1, 2, 3, 4, 5, 8, 12, 18, 19, 20, 30])))
    scale = generator.choice([0, 0, 1, 2, 3, 4, 5, 8, 15, 20])
    text = digits.rjust(scale + 1, "0")
    if scale:
        text = text[:-scale] + "." + text[-scale:]
    return generator.choice(["", "-"]) + text


def numeric_cases(generator):
    cases = Cases("numeric_cases.txt")
    input_output(cases, "numeric", NUMERICS + BAD_NUMERICS)
    for modifier in ["5,2", "3", "10,4", "2,4", "3,-2", "1,0", "38,10", "1000,500", "6,6"]:
        input_output(cases, f"numeric({modifier})",
                     ["0", "1.005", "99.995", "999.994", "999.995", "-999.995", "123456", "0.00049", "0.00995", "NaN", "Infinity",
                      "0.5", "-0.5", "99949", "99950", "12345678901234567890", "9.99999995", "0.9999995"])
    pool = NUMERICS + [random_numeric(generator) for _ in range(120)]
    operators = {"numeric_add": "+", "numeric_subtract": "-", "numeric_multiply": "*", "numeric_divide": "/", "numeric_modulo": "%"}
    for name, operator in operators.items():
        for _ in range(350):
            cases.add(name, f"select concat({{0}}::numeric {operator} {{1}}::numeric)", generator.choice(pool), generator.choice(pool))
    for _ in range(150):
        a, b = generator.choice(pool), generator.choice(pool)
        cases.add("numeric_div", "select concat(div({0}::numeric, {1}::numeric))", a, b)
        cases.add("numeric_compare", "select concat(case when {0}::numeric < {1}::numeric then -1 when {0}::numeric = {1}::numeric "
                  "then 0 else 1 end)", a, b)
        cases.add("numeric_gcd", "select concat(gcd({0}::numeric, {1}::numeric))", a, b)
        cases.add("numeric_lcm", "select concat(lcm({0}::numeric, {1}::numeric))", a, b)
    for text in pool:
        for name in ["abs", "ceil", "floor", "trim_scale", "min_scale", "sqrt", "round", "trunc"]:
            cases.add("numeric_" + name, f"select concat({name}({{0}}::numeric))", text)
        cases.add("numeric_negate", "select concat(- {0}::numeric)", text)
        for target in ["int2", "int4", "int8", "float8", "float4"]:
            cases.add("numeric_to_" + target, f"select concat({{0}}::numeric::{target})", text)
        for scale in generator.sample(["-25", "-5", "-2", "-1", "0", "1", "2", "3", "5", "10", "30"], 4):
            cases.add("numeric_round_to", "select concat(round({0}::numeric, {1}::int))", text, scale)
            cases.add("numeric_trunc_to", "select concat(trunc({0}::numeric, {1}::int))", text, scale)
    for text in pool + ["0.9", "1.1", "0.95", "1.05", "1.00000001", "0.99999999", "1e-30", "1e100", "2", "2.0", "5000"]:
        cases.add("numeric_ln", "select concat(ln({0}::numeric))", text)
        cases.add("numeric_exp", "select concat(exp({0}::numeric))", text)
        cases.add("numeric_log10", "select concat(log({0}::numeric))", text)
    small = ["2", "10", "0.5", "1.5", "0.1", "3", "1.0001", "0.999", "100", "12.5", "1e10", "1e-10", "7.25", "-2", "-1.5", "-0.5", "1",
             "0", "-1", "NaN", "Infinity", "-Infinity", "1.23456789012345678901", "99.99"]
    exponents = ["0", "1", "2", "3", "-1", "-2", "10", "0.5", "-0.5", "1.5", "2.5", "20", "-20", "100", "-100", "0.1", "3.3", "-3.3",
                 "NaN", "Infinity", "-Infinity", "1000.5", "17", "33", "0.0001", "2.000", "2147483648", "-2147483648"]
    for base in small:
        for exponent in exponents:
            cases.add("numeric_power", "select concat(power({0}::numeric, {1}::numeric))", base, exponent)
        for other in generator.sample(small, 10):
            cases.add("numeric_log", "select concat(log({0}::numeric, {1}::numeric))", base, other)
    for n in ["-1", "0", "1", "5", "20", "21", "50", "100", "32178"]:
        cases.add("numeric_factorial", "select concat(factorial({0}::bigint))", n)
    for text in FLOATS:
        cases.add("numeric_from_float8", "select concat({0}::float8::numeric)", text)
        cases.add("numeric_from_float4", "select concat({0}::float4::numeric)", text)
    binary(cases, "numeric", "numeric_send", pool)
    return cases


def scalar_cases(generator):
    cases = Cases("scalar_cases.txt")
    for type_name in ["int2", "int4", "int8", "oid"]:
        input_output(cases, type_name, INTEGERS)
    for type_name in ["float4", "float8"]:
        input_output(cases, type_name, FLOATS)
        for _ in range(300):
            input_output(cases, type_name, [repr(generator.uniform(-10, 10) * 10.0 ** generator.randint(-40, 38))])
    input_output(cases, "bool", ["t", "true", "TRUE", "tr", "y", "yes", "on", "1", "f", "fal", "n", "no", "of", "off", "0", "o", "", "2",
                                 "truex", " true ", "01", "yess", "nope"])
    texts = ["", "a", "abc", "abcd", "abc  ", "äöü", "äöüß", "日本語", "  ", "abcde     ", "x" * 70, "ä" * 40, "\\", "'"]
    for type_name in ["text", "varchar", "varchar(3)", "varchar(10)", "char(3)", "char(10)", "char", "name", '"char"', "bpchar"]:
        input_output(cases, type_name, texts)
    for text in texts:
        cases.add("assign:varchar(3)", "select concat(pg_catalog.varchar({0}::varchar, 7, false))", text)
        cases.add("assign:char(3)", "select concat('[', pg_catalog.bpchar({0}::bpchar, 7, false), ']')", text)
    byteas = ["", "\\x", "\\xDEADbeef", "\\xde ad", "\\xdea", "\\xzz", "\\x1g", "abc", "a\\\\b", "\\000\\001", "\\377", "\\400", "\\", "\\12",
              "\\x00ff", "äö", "\\x 41"]
    input_output(cases, "bytea", byteas)
    uuids = ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC999C0B4EF8BB6D6BB9BD380A11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
             "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111",
             "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11", "", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
             "a0-eebc999c0b4ef8bb6d6bb9bd380a11", "00000000-0000-0000-0000-000000000000"]
    input_output(cases, "uuid", uuids)
    input_output(cases, "json", ["{}", "[]", "1", "-1.5e10", "01", "1.", "-", "true", "tru", "null", '"a"', '"a', '"\\u00e4"', '"\\u12"',
                                 '"\\x"', '{"a":1}', '{"a":1,}', '{"a"}', '{1:2}', "[1,2", "[1,]", "[1 2]", "1 2", "", "  ", "[}", "{]", '{"a" 1}',
                                 '{"a":1 "b":2}', '{"a":{"b":[1,2,{"c":null}]}}', "@", "nulll", "\t[ 1 , 2 ]\n", '"\\ud800"', "[1,[2,[3]]]x"])
    binary(cases, "int2", "int2send", ["0", "-1", "32767"])
    binary(cases, "int4", "int4send", ["0", "-1", "2147483647", "-2147483648"])
    binary(cases, "int8", "int8send", ["0", "-1", "9223372036854775807", "-9223372036854775808"])
    binary(cases, "float4", "float4send", ["0", "-0", "1.5", "NaN", "-inf"])
    binary(cases, "float8", "float8send", ["0", "-0", "1.5", "NaN", "-inf", "0.1"])
    binary(cases, "bool", "boolsend", ["t", "f"])
    binary(cases, "bytea", "byteasend", ["", "\\xdeadbeef"])
    binary(cases, "text", "textsend", ["", "abc", "äöü"])
    binary(cases, "uuid", "uuid_send", uuids[:1])
    binary(cases, '"char"', "charsend", ["", "a"])
    binary(cases, "oid", "oidsend", ["0", "4294967295"])
    casts = {"float8": ["int2", "int4", "int8", "float4"], "float4": ["int2", "int4", "int8", "float8"], "int8": ["int2", "int4", "float4",
             "float8", "oid"], "int4": ["int2", "bool"]}
    for source, targets in casts.items():
        values = FLOATS + ["0.5", "1.5", "2.5", "-0.5", "32767.5", "32767.4", "2147483647.5", "2147483646.5", "9.3e18", "-9.223372036854775808e18"]
        values = values if source.startswith("float") else [v for v in INTEGERS if v.strip().lstrip("+-").isdigit()]
        for target in targets:
            for value in values:
                cases.add(f"cast:{source}:{target}", f"select concat({{0}}::{source}::{target})", value)
    for digits in ["-15", "-3", "0"]:
        cases.settings(extra_float_digits=digits)
        input_output(cases, "float8", FLOATS)
        input_output(cases, "float4", FLOATS)
    cases.settings(bytea_output="escape")
    input_output(cases, "bytea", byteas)
    return cases


DATES = ["2000-01-01", "1999-12-31", "2024-02-29", "2023-02-29", "1900-02-29", "January 8, 1999", "1999-01-08", "1/8/1999", "1/18/1999",
         "18/1/1999", "01/02/03", "1999-Jan-08", "Jan-08-1999", "08-Jan-1999", "99-Jan-08", "08-Jan-99", "Jan-08-99", "19990108", "990108",
         "1999.008", "J2451187", "January 8, 99 BC", "0044-03-15 BC", "infinity", "-infinity", "epoch", "0001-01-01", "0001-01-01 BC",
         "4714-11-24 BC", "4714-11-23 BC", "4713-01-01 BC", "5874897-12-31", "5874898-01-01", "2020-13-01", "2020-00-01", "2020-01-00",
         "2020-01-32", "2020-04-31", "13/13/2020", "", " ", "abc", "2020", "2020-01", "20-01-01", "1-1-1", "70-01-01", "69-12-31", "12.31.1999",
         "31.12.1999", "2000-001", "2000.366", "1999.366", "1999 008", "Jan 8 1999", "8 Jan 1999", "1999 Jan 8", "1999 8 Jan", "Sat 8 Jan 2000",
         "2000-01-01 12:34", "2000-01-01T23:59:59Z", "2000-01-01 24:00:00", "2000-01-01 25:00", "Mon Jan 1 2000", "1999-1-8", "99999999999",
         "2020-01-01x", "2020/01/01", "2020-01/01", "0000-01-01", "0-1-1", "2000-01-01 BC", "2000-01-01 AD", "J0", "J-1", "J99999999999", "1 1 1",
         "20200101123456", "2020-W01-1", "feb 30 2020", "septx 1 2020", "SEPTEMBER 1 2020", "allballs", "2000-06-31", "08/Jan/1999",
         "1999-Jan-08 BC", "99-08-Jan", "10/11/12", "2-3-1987"]
TIMES = ["00:00", "04:05", "04:05:06", "04:05:06.789", "04:05:06.7891234", "04:05:06.9999999", "23:59:59.9999999", "24:00", "24:00:00.1", "24:01",
         "040506", "0405", "040506.789", "04:05 AM", "04:05 PM", "12:00 AM", "12:00 PM", "13:00 PM", "00:30 PM", "04:05:06.789-8",
         "04:05:06-08:00", "04:05-08:00", "040506-08", "04:05:06 PST", "2003-04-12 04:05:06 America/New_York", "04:05 America/New_York",
         "04:05 UTC", "allballs", "12:60", "12:30:60", "12:30:61", "-1:00", "1:2:3", "1", "123", "12345", "1234567", "", "x", "12:00:00 BC",
         "25:00:00", "T040506", "T04:05:06", "2020-01-01 12:34:56", "12:34:56 2020-01-01", "23:59:60", "10:20:30.5e2", "10:20:30.", "10:20.5",
         "12:00 EST5EDT", "04:05:06 z", "1 2 3", "04:05 MSK", "12:00 foo", "J2451187 04:05", "12:00 am am", "11:59:59.999999 PM"]
ZONED = ["2020-01-01 00:00:00", "2020-07-01 12:34:56.789", "2020-01-01 00:00:00+00", "2020-01-01 00:00:00+05:30", "2020-01-01 00:00:00-0330",
         "2020-01-01 00:00:00+15:59:59", "2020-01-01 00:00:00+16", "2020-01-01 00:00:00-15:60", "2020-01-01T00:00:00Z", "2020-01-01 00:00 UTC",
         "2020-07-01 00:00 EST", "2020-07-01 00:00 EDT", "2020-07-01 00:00 PST8PDT", "2020-07-01 00:00 America/New_York",
         "2020-01-01 00:00 america/new_york", "2020-07-01 00:00 Europe/Berlin", "2020-01-01 00:00 CET", "2020-01-01 00:00 CEST",
         "2020-01-01 00:00 MET DST", "2020-01-01 00:00 DST", "2020-01-01 00:00 MSK", "2012-01-01 00:00 MSK", "2008-07-01 00:00 MSD",
         "2020-01-01 00:00 Nosuch/Zone", "2020-01-01 00:00 nosuch", "2020-01-01 00:00 FOO+5", "2020-03-08 02:30:00 America/New_York",
         "2020-11-01 01:30:00 America/New_York", "2020-03-29 02:30 Europe/Berlin", "2020-10-25 02:30 Europe/Berlin", "2050-07-01 00:00 Europe/Berlin",
         "1800-01-01 00:00 Europe/Berlin", "1900-01-01 00:00 Asia/Kolkata", "2020-01-01 00:00 Asia/Kathmandu", "infinity", "-infinity", "epoch",
         "294276-12-31 23:59:59.999999", "294277-01-01", "4714-11-24 00:00:00 BC", "4714-11-23 23:59:59 BC", "20200101T123456", "20200101T123456Z",
         "20200101 123456", "20200101123456", "2020-01-01 12:34:56 BC", "Wed Jan 01 12:34:56 2020", "Wed Jan 01 12:34:56 2020 PST", "Jan 1 12:34 2020 PM",
         "2020-01-01 12:34:56 PM", "2020-01-01 13:00 PM", "01/02/2020 10:00", "13/02/2020 10:00", "2020-001 10:00", "J2451187.5", "J2451187 10:00",
         "J2451187-08", "2020-01-01 10:00:60", "2020-01-01 23:59:60", "2020-01-01 10:60", "2020-01-01 24:00", "2020-01-01 24:00:01",
         "2020-01-01 10:00:00.1234567", "2020-01-01 10:00:00.9999999", "", "x", "10:00", "2020-01-01 +02", "2020-01-01+02", "2020-01-01 00:00:00 +02",
         "2020-01-01 00:00:00 + 02", "2020-01-01 00:00:00+2", "2020-01-01 00:00:00+002", "2020-01-01 00:00:00 2020-01-01", "2020.01.01 10:00",
         "2020-01-01 at 10:00", "on 2020-01-01", "2020-01-01t10:00", "2020-01-01 10:00 y", "2020-01-01 j 5", "epoch 10:00", "2020-01-01 epoch",
         "2020-01-01, 10:00", "2020-01-01 10:00:00,5", "(2020-01-01)", "2020-02-30 10:00", "1999-01-08 04:05:06 -8:00", "January 8 04:05:06 1999 PST",
         "2020-01-01 0405", "2020-01-01 040506.5", "2020-01-01 040506-05", "2020-01-01 00:00 GMT+5", "2020-01-01 00:00 Etc/GMT+5", "2020-07-01 00:00 BST",
         "2020-01-01 00:00 IST", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00", "1883-11-18 12:00 America/New_York", "2020-01-01 00:00 ZULU",
         "2020-01-01 12:00:00 am", "2020-01-01\t12:00", "02 Jan 03 04:05", "2020-Dec-25 10:00", "2020-01-01 10:00 <+02>-02"]
INTERVALS = ["1", "1.5", "-1", "1 day", "1 days 02:03:04", "-1 days +02:03:04", "1 year 2 months", "1-2", "-1-2", "+1-2 -3 +4:05:06", "1-2 3 4:05:06",
             "1 year 2 mons 3 days 04:05:06.789", "1.5 years", "1.5 months", "1.5 days", "1.5 weeks", "0.1 months", "1 week", "3 weeks ago",
             "1 year ago", "@ 1 minute", "@ 1 hour ago", "04:05", "04:05:06", "04:05.5", "-04:05:06", "100:00:00", "P1Y2M3DT4H5M6S", "P1.5Y", "PT1.5S",
             "P0001-02-03T04:05:06", "P00010203T040506", "P1W", "P-1Y", "PT-1H", "P1Y-2M", "PT", "P", "P1S", "1 decade", "2 centuries", "1 millennium",
             "1 c", "1 mil", "5 us", "5 ms", "5 microseconds", "5 milliseconds", "1 microsecond", "1h2m3s", "1 h 2 m", "1y 2mon 3d", "1 d 1 d", "", "x",
             "1 foo", "1 year 1 year", "1 quarter", "day", "1 2", "1 day 5", "5 12:00", "0", "00:00", "-0.000001", "0.5 seconds", "1.0000005 seconds",
             "999999999999 years", "178956970 years", "178956971 years", "-178956970 years -8 months", "2147483647 days", "2147483648 days",
             "9223372036854.775807 seconds", "9223372036854.775808 seconds", "2562047788:00:54.775807", "2562047789:00", "infinity", "1e3 days", "1 month -1 day",
             "-1 month 1 day", "1 mon -1 hour", "12:34:56.7891234", "1 day -00:00:01", "1 year -1 day 00:00:01", "1.5 decades", "0.7 years", "0.123456789 days",
             "1 12:59:60", "1 12:60", "2 years 15 months", "1 day 25:00", "P1M2W", "1-13", "1-2-3", "-1.5 hours", "+ 5 days", "- 5 days", "1 day ago ago",
             "1:2:3", "P1YT1M", "PT5M30.25S", "P1.2.3Y", "pt1h", "1.2.3 days", "5 weeks 2.5 days", "365.25 days"]


def datetime_cases(generator):
    cases = Cases("datetime_cases.txt")
    styles = [("ISO, MDY", "UTC"), ("ISO, DMY", "UTC"), ("ISO, YMD", "UTC"), ("SQL, MDY", "Europe/Berlin"), ("SQL, DMY", "America/New_York"),
              ("Postgres, MDY", "PST8PDT"), ("Postgres, DMY", "Asia/Kolkata"), ("German", "Europe/London"), ("ISO, MDY", "America/Sao_Paulo"),
              ("Postgres, MDY", "<+03:30>-03:30"), ("ISO, MDY", "Australia/Lord_Howe")]
    for style, zone in styles:
        cases.settings(datestyle=style, timezone=zone)
        input_output(cases, "date", DATES)
        input_output(cases, "timestamp", ZONED)
        input_output(cases, "timestamptz", ZONED)
        if style == "ISO, MDY" and zone == "UTC":
            input_output(cases, "time", TIMES)
            for precision in range(0, 7):
                input_output(cases, f"time({precision})", ["04:05:06.7891234", "23:59:59.999999", "00:00:00.5"])
                input_output(cases, f"timestamp({precision})", ["2020-01-01 04:05:06.789123", "1999-12-31 23:59:59.999999", "1970-01-01 00:00:00.123455"])
                input_output(cases, f"interval({precision})", ["1 day 04:05:06.789123", "-00:00:00.555555"])
        else:
            input_output(cases, "time", TIMES[:20])
        for _ in range(60):
            year = generator.choice([generator.randint(1, 3000), generator.randint(1880, 2060), generator.randint(1, 294000)])
            text = f"{year:04}-{generator.randint(1, 12):02}-{generator.randint(1, 28):02} {generator.randint(0, 23):02}:" \
                   f"{generator.randint(0, 59):02}:{generator.randint(0, 59):02}.{generator.randint(0, 999999):06}"
            input_output(cases, "timestamptz", [text])
            input_output(cases, "timestamp", [text])
            cases.add("timestamptz_in_utc", "select concat(({0}::timestamptz at time zone 'UTC')::text)", text)
    for style in ["postgres", "postgres_verbose", "sql_standard", "iso_8601"]:
        cases.settings(intervalstyle=style)
        input_output(cases, "interval", INTERVALS)
    cases.settings()
    for fields in ["year", "month", "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute", "day to second",
                   "hour to minute", "hour to second", "minute to second", "second(2)", "day to second(3)"]:
        for text in ["1", "1.5", "1-2", "1 2", "1 2:03", "1 2:03:04", "2:03", "2:03:04.5678", "1 year 2 months 3 days 04:05:06.789"]:
            cases.add("io:interval " + fields, f"select concat({{0}}::interval {fields})", text)

    binary(cases, "date", "date_send", ["2000-01-01", "1999-12-31", "infinity"])
    binary(cases, "time", "time_send", ["00:00", "24:00", "12:34:56.789"])
    binary(cases, "timestamp", "timestamp_send", ["2000-01-01", "1999-12-31 23:59:59.999999", "-infinity"])
    binary(cases, "timestamptz", "timestamptz_send", ["2000-01-01 00:00:00+00", "infinity"])
    binary(cases, "interval", "interval_send", ["1 year 2 mons 3 days 04:05:06", "-1 day"])
    return cases


def datetime_arithmetic_cases(generator):
    cases = Cases("datetime_arithmetic_cases.txt")
    answers = ask(sys.argv[1], {}, [f"select concat({literal(text)}::interval)" for text in INTERVALS])
    valid = [text for text, answer in zip(INTERVALS, answers) if not answer.startswith("!")]
    timestamps = ["2000-01-01 00:00:00", "2020-02-29 12:34:56.789", "2019-01-31 23:59:59.999999", "1999-12-31 00:00:00", "2020-03-29 01:30:00",
                  "2020-10-25 02:30:00", "1900-03-01 06:00:00", "0001-01-01 00:00:00", "0044-03-15 12:00:00 BC", "4714-11-24 00:00:00 BC",
                  "294276-12-31 23:59:59.999999", "infinity", "-infinity", "2023-07-15 08:09:10.111213", "1969-07-20 20:17:40", "2001-02-16 20:38:40"]
    intervals = [text for text in valid if generator.random() < 0.5] + ["1 mon", "-1 mon", "1 year", "12 mons 31 days", "-13 mons", "1 day", "24:00",
                                                                         "-1 day", "30 days", "29 days 23:59:59", "1000000 days", "-5000 years", "178000000 years"]
    for zone in ["UTC", "Europe/Berlin", "America/New_York"]:
        cases.settings(timezone=zone)
        for _ in range(200):
            timestamp, interval = generator.choice(timestamps), generator.choice(intervals)
            for kind in ["timestamp", "timestamptz"]:
                cases.add(f"{kind}_add", f"select concat({{0}}::{kind} + {{1}}::interval)", timestamp, interval)
                cases.add(f"{kind}_subtract", f"select concat({{0}}::{kind} - {{1}}::interval)", timestamp, interval)
        for a in timestamps:
            for b in generator.sample(timestamps, 5):
                if "294276" in a + b:  # PostgreSQL 15 wraps around where the difference exceeds 64 bits
                    continue
                for kind in ["timestamp", "timestamptz"]:
                    cases.add(f"{kind}_difference", f"select concat({{0}}::{kind} - {{1}}::{kind})", a, b)
                    if "infinity" not in a + b:
                        cases.add(f"{kind}_age", f"select concat(age({{0}}::{kind}, {{1}}::{kind}))", a, b)
            for target in ["date", "time", "timestamptz"]:
                cases.add(f"cast:timestamp:{target}", f"select coalesce({{0}}::timestamp::{target}::text, 'NULL')", a)
            for target in ["date", "time", "timestamp"]:
                cases.add(f"cast:timestamptz:{target}", f"select coalesce({{0}}::timestamptz::{target}::text, 'NULL')", a)
            if generator.random() < 0.6 or "294276" in a:
                continue
            for field in ["microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century",
                          "millennium", "epoch", "foo", "Timezone"]:
                for kind in ["timestamp", "timestamptz"]:
                    cases.add(f"{kind}_trunc", f"select concat(date_trunc({{0}}, {{1}}::{kind}))", field, a)
            for field in ["microseconds", "ms", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century", "millennium",
                          "epoch", "julian", "isoyear", "dow", "isodow", "doy", "timezone", "timezone_hour", "timezone_minute", "foo", "now", "EPOCH", "d",
                          "y", "mon"]:
                for kind in ["timestamp", "timestamptz"]:
                    cases.add(f"{kind}_part", f"select concat(date_part({{0}}, {{1}}::{kind}))", field, a)
                    cases.add(f"{kind}_extract", f"select coalesce(extract({field} from {{1}}::{kind})::text, 'NULL')", field, a)
            for other in ["UTC", "Europe/Berlin", "EST", "PST8PDT", "+02", "foo", "MSK", "<+02>-02"]:
                cases.add("timestamp_at_zone", "select concat(timezone({0}, {1}::timestamp))", other, a)
                cases.add("timestamptz_at_zone", "select concat(timezone({0}, {1}::timestamptz))", other, a)
    cases.settings()
    dates = ["2000-01-01", "2020-02-29", "1999-12-31", "infinity", "-infinity", "0001-01-01 BC", "5874897-12-31", "294276-12-31", "294277-01-01",
             "4714-11-24 BC", "2019-12-30", "2021-01-03", "1582-10-15"]
    for date in dates:
        for days in ["0", "1", "-1", "365", "2147483647", "-2147483648"]:
            cases.add("date_add", "select concat({0}::date + {1}::int)", date, days)
        for other in dates:
            cases.add("date_difference", "select concat({0}::date - {1}::date)", date, other)
        cases.add("cast:date:timestamp", "select concat({0}::date::timestamp)", date)
        cases.add("cast:date:timestamptz", "select concat({0}::date::timestamptz)", date)
        for time in ["00:00", "12:34:56", "24:00"]:
            cases.add("date_time", "select concat({0}::date + {1}::time)", date, time)
        for field in ["day", "week", "month", "quarter", "year", "decade", "century", "millennium", "epoch", "julian", "isoyear", "dow", "isodow", "doy",
                      "hour", "foo", "timezone"]:
            cases.add("date_extract", f"select coalesce(extract({field} from {{1}}::date)::text, 'NULL')", field, date)
            cases.add("date_part", "select coalesce(date_part({0}, {1}::date)::text, 'NULL')", field, date)
    for time in ["00:00", "12:34:56.789", "24:00", "23:59:59.999999"]:
        for interval in intervals:
            cases.add("time_add", "select concat({0}::time + {1}::interval)", time, interval)
            cases.add("time_subtract", "select concat({0}::time - {1}::interval)", time, interval)
        for field in ["microseconds", "ms", "second", "minute", "hour", "epoch", "day", "now", "foo", "julian"]:
            cases.add("time_extract", f"select coalesce(extract({field} from {{1}}::time)::text, 'NULL')", field, time)
            cases.add("time_part", "select coalesce(date_part({0}, {1}::time)::text, 'NULL')", field, time)
    for a in valid:
        for name in ["justify_hours", "justify_days", "justify_interval"]:
            cases.add(name, f"select concat({name}({{0}}::interval))", a)
        cases.add("interval_negate", "select concat(- {0}::interval)", a)
        cases.add("cast:interval:time", "select concat({0}::interval::time)", a)
        for factor in generator.sample(["0", "1", "-1", "0.5", "1.5", "0.1", "3", "7", "100", "1e10", "0.3333", "-2.75", "NaN", "1e-10"], 6):
            cases.add("interval_multiply", "select concat({0}::interval * {1}::float8)", a, factor)
            cases.add("interval_divide", "select concat({0}::interval / {1}::float8)", a, factor)
        for b in generator.sample(valid, 4):
            cases.add("interval_add", "select concat({0}::interval + {1}::interval)", a, b)
            cases.add("interval_subtract", "select concat({0}::interval - {1}::interval)", a, b)
            cases.add("interval_compare", "select concat(case when {0}::interval < {1}::interval then -1 when {0}::interval = {1}::interval then 0 else 1 "
                      "end)", a, b)
        for field in generator.sample(["microseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century",
                                       "millennium", "foo", "epoch", "now"], 5):
            cases.add("interval_trunc", "select concat(date_trunc({0}, {1}::interval))", field, a)
            cases.add("interval_extract", f"select coalesce(extract({field} from {{1}}::interval)::text, 'NULL')", field, a)
            cases.add("interval_part", "select coalesce(date_part({0}, {1}::interval)::text, 'NULL')", field, a)
    for stride in ["15 minutes", "1 day", "1 hour", "7 days", "1 month", "0", "-1 day", "00:00:07.5"]:
        for source in ["2020-02-11 15:44:17", "infinity", "1990-01-01 00:00:01", "2001-01-01"]:
            for origin in ["2001-01-01", "2030-01-01 00:02:30", "infinity"]:
                cases.add("date_bin", "select concat(date_bin({0}::interval, {1}::timestamp, {2}::timestamp))", stride, source, origin)
    for arguments in [("2020", "1", "2"), ("0", "1", "1"), ("-44", "3", "15"), ("2020", "2", "30"), ("2020", "13", "1"), ("6000000", "1", "1"),
                      ("-4714", "11", "23"), ("2019", "2", "29")]:
        cases.add("make_date", "select concat(make_date({0}::int, {1}::int, {2}::int))", *arguments)
    for arguments in [("8", "15", "23.5"), ("24", "0", "0"), ("24", "0", "0.1"), ("25", "0", "0"), ("23", "60", "0"), ("23", "59", "60"), ("0", "0", "-1"),
                      ("1", "2", "NaN"), ("1", "2", "3.9999999")]:
        cases.add("make_time", "select concat(make_time({0}::int, {1}::int, {2}::float8))", *arguments)
    for arguments in [("2020", "1", "2", "3", "4", "5.5"), ("294277", "1", "1", "0", "0", "0"), ("-5", "1", "2", "3", "4", "5"), ("2020", "1", "1", "25", "0", "1.5")]:
        cases.add("make_timestamp", "select concat(make_timestamp({0}::int, {1}::int, {2}::int, {3}::int, {4}::int, {5}::float8))", *arguments)
    for zone in ["UTC", "EST", "Europe/Berlin", "+2", "-03:30", "5", "+16", "nosuch", "MSK", "+0530"]:
        cases.add("make_timestamptz", "select concat(make_timestamptz(2020, 7, 1, 12, 0, 0, {0}))", zone)
    for seconds in ["0", "1e9", "1234567890.123456", "-1", "1e20", "NaN", "Infinity", "-Infinity", "9224318015999", "9224318016000", "-210866803200"]:
        cases.add("to_timestamp", "select concat(to_timestamp({0}::float8))", seconds)
    return cases


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generator = random.Random(15)
    for make in (numeric_cases, scalar_cases, datetime_cases, datetime_arithmetic_cases):
        make(generator).write(sys.argv[1])


main()
