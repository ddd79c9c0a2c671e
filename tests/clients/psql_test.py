"""psql, as a person and as a script use it; compared with what it prints over PostgreSQL."""
import os

from harness.programs import connection_options, psql, run

LIMIT = 900  # seconds
SCRIPTS = os.path.join(os.path.dirname(__file__), "..", "..", "scripts")


def both(server, postgres, script, *options):
    expected, got = psql(postgres, script, *options), psql(server, script, *options)
    assert got == expected, f"PostgreSQL:\n{expected}\nredquel:\n{got}"
    return got


def test_a_script(server, postgres):
    both(server, postgres, """
        CREATE TABLE psql_script (id integer PRIMARY KEY, word text, at timestamptz);
        INSERT INTO psql_script VALUES (1, 'naïve', '2024-02-29 12:00:00+00'), (2, NULL, NULL);
        \\pset null '(null)'
        SELECT * FROM psql_script ORDER BY id;
        \\x on
        SELECT * FROM psql_script ORDER BY id;
        UPDATE psql_script SET word = word || '!' RETURNING id, word;
        DROP TABLE psql_script;
    """)


def test_forms_of_output(server, postgres):
    for options in (["-A"], ["-t"], ["-H"], ["--csv"], ["-x"]):
        both(server, postgres, "SELECT g, 'a,b' AS text, g * 1.5 AS n, NULL AS nothing, g = 1 AS flag FROM generate_series(1, 3) AS s(g);", *options)


def test_variables_and_cursors_of_psql(server, postgres):
    both(server, postgres, "\\set who world\nSELECT 'hello ' || :'who';\n\\set FETCH_COUNT 0\nSELECT 1 AS a \\gset\nSELECT :a + 1;\n"
                           "SELECT 'x' AS y \\gx\nSELECT 1; \\echo :ROW_COUNT\n")


def test_errors_in_psql(server, postgres):
    for sql in ("SELEKT 1;", "SELECT nothing;", "SELECT 1/0;", "SELECT * FROM no_such_table;", "SELECT 'abc'::int;"):
        results = [run(["psql", "-X", *connection_options(who), "-c", sql], check=False) for who in (postgres, server)]
        assert results[0].stderr == results[1].stderr, (results[0].stderr, results[1].stderr)
        assert results[0].returncode == results[1].returncode


def test_described_columns(server, postgres):
    both(server, postgres, "SELECT 1 AS a, 'x' AS b, 2.5::numeric(6,2) AS c, now() AS d, 'c'::varchar(10) AS e \\gdesc\n")


def test_command_line_with_several_commands(server, postgres):
    outputs = [run(["psql", "-X", "-q", *connection_options(who), "-c", "SELECT 1", "-c", "SELECT 2; SELECT 3", "-Atc", "SHOW server_encoding"])
               for who in (postgres, server)]
    assert outputs[0] == outputs[1], outputs


def test_connection_info(server):
    assert f'port "{server.port}"' in psql(server, "\\conninfo\n")


def test_the_demonstration(server, postgres):
    database = postgres.create_database()
    queries = open(os.path.join(SCRIPTS, "demo_queries.sql")).read()
    # Plans are each server's own.
    plain = ";".join(part for part in queries.split(";") if "EXPLAIN" not in part) + ";"
    plain = "\n".join(line for line in plain.splitlines() if not line.startswith("\\echo"))
    outputs = []
    for who in (postgres, server):
        options = ["-d", database] if who is postgres else []
        psql(who, "", "-f", os.path.join(SCRIPTS, "demo.sql"), *options, timeout=600)
        outputs.append(psql(who, plain, *options, timeout=600))
    postgres.drop_database(database)
    assert outputs[0] == outputs[1], f"PostgreSQL:\n{outputs[0]}\nredquel:\n{outputs[1]}"
    psql(server, "", "-f", os.path.join(SCRIPTS, "demo_queries.sql"), timeout=600)
