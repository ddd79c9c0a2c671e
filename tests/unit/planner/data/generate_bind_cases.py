#!/usr/bin/env python3
"""Asks PostgreSQL 15 what the statements of bind_statements.sql mean and writes bind_cases.txt.

    generate_bind_cases.py 'host=127.0.0.1 port=5432 user=postgres'

Each statement becomes two lines: itself, and either `ok: name type, … ($1 type, …)` or PostgreSQL's error as
`SQLSTATE@byte-offset message | detail | hint`. A statement that redquel refuses on purpose is followed in
bind_statements.sql by a line `-- 0A000@offset message`, which is taken instead of PostgreSQL's answer.
"""
import pathlib
import re
import subprocess
import sys
import uuid

HERE = pathlib.Path(__file__).parent
TABLES = """
CREATE TABLE t(a int PRIMARY KEY, b text NOT NULL, c numeric(10,2), d date);
CREATE TABLE u(id bigint, a int, name varchar(20), flag boolean);
CREATE TABLE k(x int, y int, z int, PRIMARY KEY (x, y));
CREATE TABLE s(id serial PRIMARY KEY, v text DEFAULT 'dflt', n int CHECK (n > 0));
CREATE TABLE ida(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int, e varchar(10) UNIQUE);
"""


def psql(connection, text):
    return subprocess.run(["psql", connection, "-X", "-q", "-At", "-v", "VERBOSITY=verbose"], input=text,
                          capture_output=True, text=True)


def position(error, statement):
    """psql shows an excerpt of the line with a caret below it."""
    lines = error.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("LINE 1: "):
            caret = lines[number + 1].index("^") - len("LINE 1: ")
            shown = line[len("LINE 1: "):]
            if not shown.startswith("..."):
                return caret
            shown = shown[3:].removesuffix("...")
            return statement.find(shown) + caret - 3
    return None


def answer(connection, statement):
    run = psql(connection, statement + " \\gdesc\n")
    found = re.search(r"ERROR:\s+(\w+): (.*)", run.stderr)
    if found:
        where = position(run.stderr, statement)
        text = found.group(1) + (f"@{where}" if where is not None else "") + " " + found.group(2)
        for part in ("DETAIL", "HINT"):
            more = re.search(rf"^{part}:\s+(.*)$", run.stderr, re.M)
            text += f" | {more.group(1)}" if more else ""
        return text
    columns = [line.split("|") for line in run.stdout.splitlines() if line.count("|") == 1]
    text = "ok:" + "".join(f" {name} {type_name}," for name, type_name in columns)
    if "$" in statement:
        types = psql(connection, f"PREPARE p AS {statement};\n"
                                 "SELECT array_to_string(parameter_types, ', ') FROM pg_prepared_statements;\n").stdout
        text += f" ({types.strip()})"
    return text


def main():
    server = sys.argv[1]
    database = "bind_" + uuid.uuid4().hex[:12]
    psql(server + " dbname=postgres", f"CREATE DATABASE {database}")
    connection = f"{server} dbname={database}"
    psql(connection, TABLES)
    lines = []
    for line in (HERE / "bind_statements.sql").read_text().splitlines():
        if line.startswith("-- "):
            lines[-1] = line[3:]
        elif line:
            lines += [line, answer(connection, line.removesuffix(";"))]
    (HERE / "bind_cases.txt").write_text("\n".join(lines) + "\n")
    psql(server + " dbname=postgres", f"DROP DATABASE {database}")


main()
