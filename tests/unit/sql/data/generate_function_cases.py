#!/usr/bin/env python3
"""Asks PostgreSQL 15 again for every call listed in function_cases.txt and resolution_cases.txt and rewrites the answers.

    generate_function_cases.py "host=127.0.0.1 port=5432 user=postgres dbname=postgres"

A new case is a line without its answer ("function<TAB>lower<TAB>text<TAB>ABC<TAB>=>").
"""
import pathlib
import subprocess
import sys
import tempfile

TRY = r"""
create function pg_temp.try(query text) returns text language plpgsql as $$
declare answer text; state text; message text;
begin
  execute 'select x::text from (' || query || ') t(x)' into answer;
  return 'OK ' || coalesce(answer, '\N');
exception when others then
  get stacked diagnostics state = returned_sqlstate, message = message_text;
  return 'ERR ' || state || ' ' || message;
end $$;
set timezone = 'UTC';
"""


def unescape(text):
    return text.replace("\\\\", "\0").replace("\0", "\\")


def literal(text):
    return "null" if text == "\\N" else "'" + unescape(text).replace("'", "''") + "'"


def typed(type_name, value):
    if type_name == "unknown":
        return value
    quoted = '"char"' if type_name == "char" else type_name
    return f"{value}::{quoted}"


def call(kind, name, arguments):
    if kind == "cast":
        target = '"char"' if name == "char" else name
        return f"cast({arguments[0]} as {target})"
    if kind == "function":
        return f'pg_catalog."{name}"({", ".join(arguments)})'
    return f"{arguments[0] if len(arguments) == 2 else ''} operator(pg_catalog.{name}) {arguments[-1]}"


def ask(connection, queries):
    with tempfile.TemporaryDirectory() as folder:
        source, answers = pathlib.Path(folder, "queries"), pathlib.Path(folder, "answers")
        rows = (f"{i}\t" + q.replace("\\", "\\\\") + "\n" for i, q in enumerate(queries))
        source.write_text("".join(rows))
        script = (TRY + "create temp table query(i int, q text);\n"
                  f"\\copy query from '{source}'\n"
                  f"\\copy (select pg_temp.try(q) from query order by i) to '{answers}'\n")
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", connection], input=script, text=True, check=True)
        return answers.read_text().split("\n")[:-1]


def rewrite(connection, path, with_values):
    lines = path.read_text().split("\n")
    head = [line for line in lines if line.startswith("#")]
    cases = [line.partition("\t=>")[0].split("\t") for line in lines if line and not line.startswith("#")]
    queries = []
    for kind, name, *rest in cases:
        if with_values:
            arguments = [typed(t, literal(v)) for t, v in zip(rest[::2], rest[1::2])]
            queries.append("select " + call(kind, name, arguments))
        else:
            queries.append("select pg_typeof(" + call(kind, name, [typed(t, "null") for t in rest]) + ")")
    answers = ask(connection, queries)
    with path.open("w") as out:
        for line in head:
            out.write(line + "\n")
        for case, answer in zip(cases, answers):
            if answer.startswith("ERR"):
                answer = answer.replace("pg_catalog.", "")
            out.write("\t".join(case) + "\t=>\t" + (answer if answer != "OK \\\\N" else "OK \\N") + "\n")


folder = pathlib.Path(__file__).parent
rewrite(sys.argv[1], folder / "function_cases.txt", True)
rewrite(sys.argv[1], folder / "resolution_cases.txt", False)
