"""Calls of every function, operator and cast that the catalogs of both servers have."""
import re

from extreme_values import FAMILIES, VALUES

# The place in a family of FAMILIES.
POLYMORPHIC = {
    "anyelement": 0, "anynonarray": 0, "anycompatible": 0, "anycompatiblenonarray": 0, "anyarray": 1,
    "anycompatiblearray": 1, "anyrange": 2, "anycompatiblerange": 2, "anymultirange": 3, "anycompatiblemultirange": 3,
}
# Types whose values need a modifier to be extreme.
UNDER = {"character varying": "character varying(8)", "character": "character(5)", "bit": "bit(3)"}
# Functions that do more than compute.
NOT_CALLED = {"pg_sleep"}
# Functions that say by a sign how two values compare.
SIGN_ONLY = re.compile(".*cmp")

FUNCTIONS = """
SELECT p.oid::int, quote_ident(p.proname), p.provolatile, p.provariadic <> 0, format_type(p.prorettype, NULL),
  (SELECT string_agg(format_type(a.oid, NULL), ';' ORDER BY n) FROM unnest(p.proargtypes) WITH ORDINALITY a(oid, n))
FROM pg_proc p
WHERE p.prokind = 'f' AND NOT p.proretset AND p.provolatile <> 'v' AND p.pronargs > 0
  AND p.pronamespace = 'pg_catalog'::regnamespace"""
OPERATORS = """
SELECT o.oid::int, o.oprname, p.provolatile, format_type(o.oprresult, NULL),
  CASE WHEN o.oprleft <> 0 THEN format_type(o.oprleft, NULL) || ';' ELSE '' END || format_type(o.oprright, NULL)
FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
WHERE p.provolatile <> 'v' AND o.oprnamespace = 'pg_catalog'::regnamespace"""
CASTS = "SELECT c.oid::int, format_type(castsource, NULL), format_type(casttarget, NULL) FROM pg_cast c"


class Call:
    """A function, an operator or a cast with the types of its arguments. `write` makes its text of theirs.

    `is_compared`: the answer depends on nothing but the arguments. `ignored`: SQLSTATEs of errors that PostgreSQL alone
    may raise.
    """

    def __init__(self, name, parameters, result, write, is_compared=True, ignored=()):
        self.name, self.parameters, self.result, self.write = name, parameters, result, write
        self.is_compared, self.ignored = is_compared, ignored
        # Texts that are no names of types or operators fail in PostgreSQL's grammar.
        self.has_same_errors = not result.startswith("reg")


def calls_of(oracle, subject, random):
    """Returns the calls whose parameters have extreme values. Polymorphic ones get the types of a random family."""
    calls = [*functions(oracle, subject), *operators(oracle, subject), *casts(oracle, subject)]
    for kind in VALUES:
        calls += expressions(kind)
    for call in calls:
        call.parameters = types_of(call.parameters, random)
    return [call for call in calls if all(kind in VALUES for kind in call.parameters)]


def known(subject, table):
    return {row[0] for row in subject.run(f"SELECT oid::int FROM pg_catalog.{table}")}


def functions(oracle, subject):
    oids = known(subject, "pg_proc")
    for oid, name, volatility, is_variadic, result, parameters in oracle.run(FUNCTIONS):
        if oid in oids and name not in NOT_CALLED:
            kinds = parameters.split(";")
            write = writer(name, is_variadic == "t", SIGN_ONLY.fullmatch(name))
            yield Call(f"{name}({', '.join(kinds)})", kinds, result, write, volatility == "i")


def writer(name, is_variadic, is_sign):
    def write(*arguments):
        *first, last = arguments
        text = f"pg_catalog.{name}({', '.join([*first, ('VARIADIC ' if is_variadic else '') + last])})"
        return f"sign({text})" if is_sign else text
    return write


def operators(oracle, subject):
    oids = known(subject, "pg_operator")
    for oid, name, volatility, result, operands in oracle.run(OPERATORS):
        if oid in oids:
            kinds = operands.split(";")
            yield Call(f" {name} ".join(["", *kinds][-2:]), kinds, result, operator_writer(name), volatility == "i")


def operator_writer(name):
    return lambda *operands: f"({operands[0]} {name} {operands[1]})" if len(operands) > 1 else f"({name} {operands[0]})"


def casts(oracle, subject):
    oids = known(subject, "pg_cast")
    for oid, source, target in oracle.run(CASTS):
        # A value that stays as it is prints as another program wrote it.
        end = "::text" if source == target else ""
        if oid in oids:
            yield Call(f"{source}::{target}", [source], target, lambda a, to=target, end=end: f"({a})::{to}{end}")


def expressions(kind):
    """What is no function: conversions through texts, and the like."""
    if not kind.endswith("vector"):  # PostgreSQL reads "2024-02-29" as three numbers
        yield Call(f"text::{kind}", ["text"], kind, lambda a: f"({a})::{kind}")
    yield Call(f"{kind}::text", [kind], "text", lambda a: f"({a})::text")
    yield Call(f"{kind} IS DISTINCT", [kind] * 2, "boolean", lambda a, b: f"({a} IS DISTINCT FROM {b})")
    yield Call(f"{kind} IN", [kind] * 3, "boolean", lambda a, b, c: f"({a} IN ({b}, {c}))")
    yield Call(f"{kind} greatest", [kind] * 2, kind, lambda a, b: f"greatest({a}, {b})")
    yield Call(f"{kind} coalesce", [kind] * 2, "text", lambda a, b: f"coalesce({a}, {b})::text")
    yield Call(f"{kind} CASE", ["boolean", kind, kind], "text",
               lambda a, b, c: f"(CASE WHEN {a} THEN {b} ELSE {c} END)::text")


def types_of(parameters, random):
    needs_range = any(POLYMORPHIC.get(kind, 0) > 1 for kind in parameters)
    family = random.choice([family for family in FAMILIES if family[2] or not needs_range])
    kinds = [family[POLYMORPHIC[kind]] if kind in POLYMORPHIC else UNDER.get(kind, kind) for kind in parameters]
    return [random.choice(list(VALUES)) if kind == '"any"' else kind for kind in kinds]
