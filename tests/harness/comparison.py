"""What differs between two servers' answers to the same statement, in words."""
from harness.sql_files import ERROR_PARTS

# ErrorResponse fields that must be equal: severity, SQLSTATE, message, detail, hint, position, and the names of schema, table,
# column, type and constraint. File, line and routine are PostgreSQL's own business.
COMPARED_FIELDS = "SVCMDHPstcdn"
FIELD_NAMES = {"S": "severity", "V": "severity", "C": "SQLSTATE", "M": "message", "D": "detail", "H": "hint", "P": "position",
               "s": "schema", "t": "table", "c": "column", "d": "data type", "n": "constraint"}
SHOWN_ROWS = 12


def differences(oracle, subject, sort="nosort", ignored=frozenset()):
    """Compares two lists of results; returns lines for people, none if they agree."""
    if len(oracle) != len(subject):
        return [f"{len(oracle)} results against {len(subject)}", f"  oracle:  {[summary(r) for r in oracle]}",
                f"  subject: {[summary(r) for r in subject]}"]
    found = []
    for expected, got in zip(oracle, subject):
        found += _result_differences(expected, got, sort, ignored)
    return found


def _result_differences(expected, got, sort, ignored):
    if bool(expected.error) != bool(got.error):
        return [f"  oracle:  {summary(expected)}", f"  subject: {summary(got)}"]
    found = []
    if "notices" not in ignored:
        # A NOTICE with 0A000 says what redquel does not do: PostgreSQL has none.
        own = [notice for notice in got.notices if (notice.get("S"), notice.get("C")) != ("NOTICE", "0A000")]
        a, b = [_notice(n) for n in expected.notices], [_notice(n) for n in own]
        if a != b:
            found += _pair("notices", a, b)
    if expected.error:
        skipped = "".join(ERROR_PARTS[part] for part in ignored if part in ERROR_PARTS)
        for letter in COMPARED_FIELDS:
            if letter not in skipped and expected.error.get(letter) != got.error.get(letter):
                found += _pair(FIELD_NAMES[letter], expected.error.get(letter), got.error.get(letter))
        if copy_context(expected.error) != copy_context(got.error) and "context" not in ignored:
            found += _pair("context", expected.error.get("W"), got.error.get("W"))
        return found
    if (expected.columns is None) != (got.columns is None):
        return found + _pair("columns", _columns(expected), _columns(got))
    if expected.columns is not None:
        for part, pick in (("names", lambda c: c.name), ("types", lambda c: _type(c.type_oid)), ("formats", lambda c: c.format)):
            a, b = [pick(c) for c in expected.columns], [pick(c) for c in got.columns]
            if part not in ignored and a != b:
                found += _pair(f"column {part}", a, b)
        if "rows" not in ignored:
            found += _row_differences(expected.rows, got.rows, sort)
    if "tag" not in ignored and expected.tag != got.tag:
        found += _pair("command tag", expected.tag, got.tag)
    if copied_lines(expected, sort) != copied_lines(got, sort):
        found += _pair("data", expected.copied, got.copied)
    a, b = [[_type(oid) for oid in result.parameter_types or []] for result in (expected, got)]
    if a != b:
        found += _pair("parameter types", a, b)
    return found


def _type(oid):
    """User-made types have the numbers that each server gives them."""
    first_user_oid, types_of_extensions = 16384, range(6190, 6200)
    return first_user_oid if oid in types_of_extensions else min(oid, first_user_oid)


def copy_context(fields):
    """Where in COPY's data an error lies; contexts of other kinds are not compared."""
    context = fields.get("W", "")
    return context if context.startswith("COPY ") else ""


def _row_differences(expected, got, sort):
    a, b = arranged(expected, sort), arranged(got, sort)
    if a == b:
        return []
    found = [f"rows: {len(a)} against {len(b)}"]
    if arranged(expected, "rowsort") == arranged(got, "rowsort"):
        found.append("  the same rows in another order (is the order defined? else: rowsort)")
    shown = 0
    for number in range(max(len(a), len(b))):
        left = row_text(a[number]) if number < len(a) else "(no row)"
        right = row_text(b[number]) if number < len(b) else "(no row)"
        if left != right:
            if shown == SHOWN_ROWS:
                found.append("  …")
                break
            found += [f"  row {number + 1} oracle:  {left}", f"  row {number + 1} subject: {right}"]
            shown += 1
    return found


def arranged(rows, sort):
    if sort == "rowsort":
        return sorted(rows, key=lambda row: [(value is None, value or b"") for value in row])
    if sort == "valuesort":
        return [[value] for value in sorted((v for row in rows for v in row), key=lambda v: (v is None, v or b""))]
    return rows


def copied_lines(result, sort):
    """Returns the lines of COPY TO STDOUT: in order, or sorted with `rowsort`; None: the statement was another one."""
    if result.copied is None:
        return None
    lines = result.copied.split(b"\n")
    return sorted(lines) if sort == "rowsort" else lines


def value_text(value):
    if value is None:
        return "NULL"
    if value == b"":
        return "(empty)"
    try:
        text = value.decode()
        return text if text.isprintable() else repr(text)
    except UnicodeDecodeError:
        return "0x" + value.hex()


def row_text(row):
    return " | ".join(value_text(value) for value in row)


def summary(result):
    if result.error:
        return f"{result.error.get('S')} {result.error.get('C')}: {result.error.get('M')}"
    if result.columns is not None:
        return f"{len(result.rows)} rows, {result.tag}"
    return "empty query" if result.empty else str(result.tag)


def _columns(result):
    return None if result.columns is None else [column.name for column in result.columns]


def _notice(fields):
    return f"{fields.get('S')} {fields.get('C')}: {fields.get('M')}"


def _pair(what, expected, got):
    return [f"{what}:", f"  oracle:  {expected}", f"  subject: {got}"]
