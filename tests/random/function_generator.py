"""Calls of every function, operator and cast that both servers have, over columns and constants with extreme values."""

# Extreme values of each type. A type without an entry appears only as an array, a range or a pseudo-type below.
VALUES = {
    "smallint": ["0", "1", "-1", "7", "32767", "-32768"],
    "integer": ["0", "1", "-1", "2", "12", "100", "2147483647", "-2147483648"],
    "bigint": ["0", "1", "-1", "3", "4294967296", "9223372036854775807", "-9223372036854775808"],
    "numeric": ["0", "0.00", "1", "1.50", "-1", "10", "NaN", "Infinity", "-Infinity", "1e-130", "1e130", "123456789012345678901234567890.5", "-0.0000001"],
    "numeric(12,2)": ["0", "1.5", "-9999999999.99", "NaN", "3"],
    "real": ["0", "-0", "1", "-1.5", "NaN", "Infinity", "-Infinity", "3.4028235e38", "1e-45", "16777217"],
    "double precision": ["0", "-0", "1", "-1.5", "NaN", "Infinity", "-Infinity", "1.7976931348623157e308", "5e-324", "0.1", "9007199254740993"],
    "boolean": ["t", "f"],
    "text": ["", " ", "a", "abc", "ABC abc", "ä€😀", "%_\\", "\\", "NaN", "12", "-1", "{1,2}", '{"a":1}', "[1,2)", "true", "2024-02-29", "(1,2)", "x" * 300,
             "\\x00ff", "a'b\"c", "\t\n", "YYYY-MM-DD HH24:MI:SS", "UTC", "a,b,,c", "1:2", "day", "(a|b)*c", "[", "$.a", "public", "%s %I %L", "base64", "utf8", "9,999.99PR"],
    "character varying(8)": ["", "a", "abc  ", "ä€", "12345678", "NaN"],
    "character(5)": ["", "a", "ab c", "abcde", "ä"],
    "name": ["", "a", "pg_class", "A b", "ä"],
    '"char"': ["", "a", "\\377", "0"],
    "bytea": ["", "\\x00", "\\xff00", "\\x616263", "\\x" + "ab" * 40],
    "date": ["2000-01-01", "2024-02-29", "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "0001-01-01 BC", "1970-01-01"],
    "timestamp without time zone": ["2000-01-01", "2024-02-29 23:59:59.999999", "infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999", "2024-03-10 02:30:00"],
    "timestamp with time zone": ["2000-01-01+00", "2024-03-10 07:00:00+00", "infinity", "-infinity", "4713-01-01 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "1883-11-18 17:00:00+00"],
    "time without time zone": ["00:00", "24:00", "23:59:59.999999", "12:34:56.5"],
    "time with time zone": ["00:00+15:59", "24:00-15:59", "12:34:56.5+00"],
    "interval": ["0", "1 mon", "30 days", "-1 day 25:00", "178000000 years", "-178000000 years", "2147483647 days", "2562047788:00:54.775807", "-2562047788:00:54.775807", "1 year 2 mons 3 days 04:05:06.7"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "json": ["null", "1", '"a"', "[]", "{}", '{"a":{"b":[1,2,null]}}', ' {"a" : 1, "a":2 } ', "1e400", '[[1,2],[3,{"a":null}]]', '"\\u00e4\\n"', "true", '{"":"x"}', '[{"a":1},{"a":"x"}]'],
    "jsonb": ["null", "1", '"a"', "[]", "{}", '{"a":{"b":[1,2,null]}}', '{"a" : 1, "b":"2" }', "1e40", '[[1,2],[3,{"a":null}]]', '"\\u00e4\\n"', "true", '{"":"x"}', '[{"a":1},{"a":"x"}]', "-0.00", "[1]"],
    "jsonpath": ["$", "$.a", "strict $.a[*]", "$[*] ? (@ > 1)", "$.**", "$.a.b[last]", "$.size()", '$ ? (@ like_regex "^a")', "$.a + 1", "$var", "1"],
    "bit(3)": ["000", "101", "111"],
    "bit varying": ["", "1", "0", "10110011100", "1" * 70],
    "inet": ["0.0.0.0/0", "255.255.255.255", "192.168.1.5/24", "::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::1"],
    "cidr": ["0.0.0.0/0", "192.168.1.0/24", "::/0", "2001:db8::/32"],
    "macaddr": ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "08:00:2b:01:02:03"],
    "macaddr8": ["00:00:00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff:ff:ff", "08:00:2b:ff:fe:01:02:03"],
    "money": ["0", "1.5", "92233720368547758.07", "-92233720368547758.08"],
    "oid": ["0", "1", "23", "4294967295"],
    "xid": ["0", "4294967295"],
    "xid8": ["0", "18446744073709551615"],
    "cid": ["0", "4294967295"],
    "tid": ["(0,0)", "(0,1)", "(7,65535)"],
    "pg_lsn": ["0/0", "FFFFFFFF/FFFFFFFF", "16/B374D848"],
    "point": ["(0,0)", "(1,-1)", "(NaN,0)", "(Infinity,-Infinity)", "(1e308,-1e308)", "(1e-300,1)"],
    "line": ["{1,-1,0}", "{0,1,5}", "{1e308,1,0}"],
    "lseg": ["[(0,0),(1,1)]", "[(0,0),(0,0)]", "[(-1e308,0),(1e308,5)]"],
    "box": ["(1,1),(0,0)", "(0,0),(0,0)", "(1e308,1),(-1e308,0)"],
    "path": ["((0,0),(1,1),(2,0))", "[(0,0),(1,1)]", "((0,0))"],
    "polygon": ["((0,0),(1,1),(2,0))", "((0,0))", "((0,0),(0,1),(1,1),(1,0))"],
    "circle": ["<(0,0),1>", "<(1,1),0>", "<(0,0),1e308>"],
    "int4range": ["empty", "(,)", "[1,5)", "(,5)", "[2147483646,2147483647)", "[-2147483648,0)"],
    "int8range": ["empty", "(,)", "[1,5)", "[9223372036854775806,9223372036854775807)"],
    "numrange": ["empty", "(,)", "[1.0,5.5)", "(0,1]", "[-Infinity,NaN]"],
    "tsrange": ["empty", "(,)", "[2024-01-01,2024-02-01)", "[-infinity,infinity]"],
    "tstzrange": ["empty", "(,)", "[2024-01-01 00:00+00,2024-02-01 00:00+00)"],
    "daterange": ["empty", "(,)", "[2024-01-01,2024-02-01)", "[-infinity,infinity]", "(,5874897-12-31)"],
    "int4multirange": ["{}", "{(,)}", "{[1,3),[5,7)}", "{(,1),[5,)}"],
    "int8multirange": ["{}", "{(,)}", "{[1,3),[5,7)}"],
    "nummultirange": ["{}", "{(,)}", "{[1.0,3.0),[5,7]}"],
    "datemultirange": ["{}", "{(,)}", "{[2024-01-01,2024-02-01)}"],
    "tsmultirange": ["{}", "{[2024-01-01,2024-02-01)}"],
    "tstzmultirange": ["{}", "{[2024-01-01 00:00+00,2024-02-01 00:00+00)}"],
    "smallint[]": ["{}", "{1,2}", "{NULL}"],
    "integer[]": ["{}", "{1,2,3}", "{NULL}", "{{1,2},{3,4}}", "[0:1]={1,NULL}", "{-2147483648,2147483647}", "[2147483645:2147483646]={1,2}"],
    "bigint[]": ["{}", "{1,9223372036854775807}", "{NULL,1}"],
    "text[]": ["{}", "{a,NULL,\"\"}", "{{a,b},{c,d}}", "{\"a,b\",\"{}\"}", "{NULL}", "{a,b}"],
    "numeric[]": ["{}", "{NaN,1.50,1.5}", "{{1},{NULL}}"],
    "double precision[]": ["{}", "{NaN,-0,1e308}", "{0.25,0.5}", "{1,2,3}", "{1,2,3,4,5,6}"],
    "real[]": ["{}", "{1.5,NaN}"],
    "boolean[]": ["{}", "{t,NULL,f}"],
    "jsonb[]": ["{}", '{"{\\"a\\": 1}",NULL}'],
    "date[]": ["{}", "{2024-02-29,infinity}"],
    "interval[]": ["{}", "{1 mon,30 days}", "{00:00:01,00:00:02}"],
    "timestamp without time zone[]": ["{}", "{2024-02-29,infinity}"],
    "character varying[]": ["{}", "{a,b}"],
    "name[]": ["{}", "{a,b}"],
    "int4range[]": ["{}", "{\"[1,5)\",NULL}"],
    "int2vector": ["", "1 2 3"],
    "oidvector": ["", "23 25"],
    "regclass": ["0", "pg_class"],
    "regtype": ["0", "integer"],
    "regproc": ["0", "now"],
    "regprocedure": ["0", "abs(integer)"],
    "regoper": ["0"],
    "regoperator": ["0", "+(integer,integer)"],
    "regnamespace": ["0", "pg_catalog"],
    "regrole": ["0"],
    "regcollation": ["0"],
    "refcursor": ["", "c"],
}
# Values of another spelling than redquel writes, as other programs store them: exceptions of packed columns.
OTHERWISE = {
    "smallint": "007", "integer": "+5", "bigint": "0012", "numeric": "00.5", "numeric(12,2)": "01.50", "real": "01.5", "double precision": "1e1", "boolean": "true",
    "date": "2024-2-29", "timestamp without time zone": "2024-02-29 01:02:03.50", "timestamp with time zone": "2024-02-29 01:02:03.50+00",
    "time without time zone": "1:02:03", "interval": "90 minutes", "uuid": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
}
# What a polymorphic parameter may be: element, array, range, multirange.
FAMILIES = [("integer", "integer[]", "int4range", "int4multirange"), ("numeric", "numeric[]", "numrange", "nummultirange"),
            ("date", "date[]", "daterange", "datemultirange"), ("text", "text[]", None, None), ("bigint", "bigint[]", "int8range", "int8multirange"),
            ("jsonb", "jsonb[]", None, None), ("boolean", "boolean[]", None, None), ("interval", "interval[]", None, None),
            ("timestamp without time zone", "timestamp without time zone[]", "tsrange", "tsmultirange")]
POLYMORPHIC = {"anyelement": 0, "anynonarray": 0, "anycompatible": 0, "anycompatiblenonarray": 0, "anyarray": 1, "anycompatiblearray": 1,
               "anyrange": 2, "anycompatiblerange": 2, "anymultirange": 3, "anycompatiblemultirange": 3}
# Names that pg_proc shows for types with modifiers.
UNDER = {"character varying": "character varying(8)", "character": "character(5)", "bit": "bit(3)"}

FUNCTIONS = """
SELECT p.oid::int, quote_ident(p.proname), ARRAY(SELECT format_type(t.oid, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a(oid, n) JOIN pg_type t ON t.oid = a.oid ORDER BY n)::text,
  format_type(p.prorettype, NULL), p.provolatile, p.provariadic <> 0
FROM pg_proc p WHERE p.prokind = 'f' AND NOT p.proretset AND p.provolatile <> 'v' AND p.pronargs > 0 AND p.pronamespace = 'pg_catalog'::regnamespace"""
OPERATORS = """
SELECT o.oid::int, o.oprname, CASE WHEN o.oprleft = 0 THEN '' ELSE format_type(o.oprleft, NULL) END, format_type(o.oprright, NULL), format_type(o.oprresult, NULL), p.provolatile
FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile <> 'v' AND o.oprnamespace = 'pg_catalog'::regnamespace"""
CASTS = "SELECT c.oid::int, format_type(castsource, NULL), format_type(casttarget, NULL) FROM pg_cast c"


def literal(text):
    return "'" + text.replace("'", "''") + "'"


class Call:
    """A function, an operator or a cast with the types of its arguments; `is_compared`: its answer depends on nothing but these."""

    def __init__(self, name, parameters, write, result, is_compared=True):
        self.name, self.parameters, self.write, self.result, self.is_compared = name, parameters, write, result, is_compared


def read_array(text):
    return [part.strip('"').replace('\\"', '"') for part in split_array(text[1:-1])] if len(text) > 2 else []


def split_array(text):
    parts, quoted, part, escaped = [], False, "", False
    for c in text:
        if escaped:
            part, escaped = part + c, False
        elif c == "\\":
            part, escaped = part + c, True
        elif c == '"':
            part, quoted = part + c, not quoted
        elif c == "," and not quoted:
            parts.append(part)
            part = ""
        else:
            part += c
    return [*parts, part]


def calls_of(oracle, subject, random):
    """All calls that both servers' catalogs have. Polymorphic parameters get the types of a random family."""
    calls = []
    known = {table: {row[0] for row in subject.run(f"SELECT oid::int FROM pg_catalog.{table}")} for table in ("pg_proc", "pg_operator", "pg_cast")}
    for oid, name, parameters, result, volatility, is_variadic in oracle.run(FUNCTIONS):
        if oid in known["pg_proc"] and name not in NOT_CALLED:
            types = read_array(parameters)
            calls.append(Call(f"{name}({', '.join(types)})", types, function_writer(name, is_variadic == "t"), result, volatility == "i"))
    for oid, name, left, right, result, volatility in oracle.run(OPERATORS):
        if oid in known["pg_operator"]:
            types = [left, right] if left else [right]
            calls.append(Call(f"{left} {name} {right}", types, operator_writer(name), result, volatility == "i"))
    for oid, source, target in oracle.run(CASTS):
        if oid in known["pg_cast"]:
            write = cast_writer(target)
            calls.append(Call(f"{source}::{target}", [source], write if source != target else lambda value, write=write: write(value) + "::text", target))
    for target in VALUES:
        calls.append(Call(f"text::{target}", ["text"], cast_writer(target), target))
        calls.append(Call(f"{target}::text", [target], cast_writer("text"), "text"))
        calls.append(Call(f"{target} is distinct", [target, target], lambda a, b: f"({a} IS DISTINCT FROM {b})", "boolean"))
        calls.append(Call(f"{target} in", [target, target, target], lambda a, b, c: f"({a} IN ({b}, {c}))", "boolean"))
        calls.append(Call(f"greatest of {target}", [target, target], lambda a, b: f"greatest({a}, {b})", target))
        calls.append(Call(f"case of {target}", ["boolean", target, target], lambda a, b, c: f"(CASE WHEN {a} THEN {b} ELSE {c} END)::text", "text"))
        calls.append(Call(f"coalesce of {target}", [target, target], lambda a, b: f"coalesce({a}, {b})::text", "text"))
    for call in calls:
        family = random.choice(FAMILIES)
        if any(POLYMORPHIC.get(kind, 0) > 1 for kind in call.parameters):
            family = random.choice([family for family in FAMILIES if family[2]])
        call.parameters = [family[POLYMORPHIC[kind]] if kind in POLYMORPHIC else random.choice(list(VALUES)) if kind == '"any"' else UNDER.get(kind, kind)
                           for kind in call.parameters]
    return [call for call in calls if all(kind in VALUES for kind in call.parameters)]


def function_writer(name, is_variadic):
    def write(*arguments):
        arguments = list(arguments)
        if is_variadic:
            arguments[-1] = "VARIADIC " + arguments[-1]
        return f"pg_catalog.{name}({', '.join(arguments)})"
    return write


def operator_writer(name):
    return lambda *operands: f"({operands[0]} {name} {operands[1]})" if len(operands) == 2 else f"({name} {operands[0]})"


def cast_writer(target):
    return lambda value: f"({value})::{target}"


# Functions whose answers are the server's own business, or that do more than compute.
NOT_CALLED = {"pg_sleep"}
