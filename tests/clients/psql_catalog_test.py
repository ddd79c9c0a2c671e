"""psql's backslash commands: over the same schema they print what they print over PostgreSQL."""
from harness.programs import psql

SCHEMA = """
CREATE TABLE dept (id integer PRIMARY KEY, name varchar(20) NOT NULL UNIQUE);
CREATE TABLE emp (id serial PRIMARY KEY, name text NOT NULL, dept integer DEFAULT 3, salary numeric(10,2), hired timestamp DEFAULT now(),
                  note text DEFAULT 'it''s', big bigint GENERATED ALWAYS AS IDENTITY, UNIQUE (name, dept));
CREATE INDEX emp_dept_idx ON emp (dept);
CREATE INDEX emp_salary_idx ON emp (salary DESC NULLS LAST, name);
CREATE INDEX emp_name_hash ON emp USING hash (name);
CREATE SEQUENCE counter INCREMENT 5 START 10;
CREATE SCHEMA app;
CREATE TABLE app."Mixed Case" ("Id" integer, "select" text, PRIMARY KEY ("Id", "select"));
COMMENT ON TABLE emp IS 'people';
COMMENT ON COLUMN emp.name IS 'the name';
COMMENT ON INDEX emp_dept_idx IS 'who works where';
"""

CLEAN_UP = "DROP TABLE emp; DROP TABLE dept; DROP TABLE app.\"Mixed Case\"; DROP SEQUENCE counter; DROP SCHEMA app;"

COMMANDS = [
    "\\d", "\\dt", "\\di", "\\ds", "\\dv", "\\dm", "\\dE", "\\dp",
    "\\d dept", "\\d emp", "\\d+ emp", "\\d app.*", "\\d emp_salary_idx", "\\d+ emp_salary_idx", "\\d counter", "\\d emp_id_seq",
    "\\dt emp", "\\dt app.*", "\\dt nosuch*", "\\d nosuch",
    "\\df", "\\da", "\\dT", "\\dD", "\\do", "\\dO", "\\dc", "\\dy", "\\db", "\\dP", "\\dX", "\\ddp", "\\drds", "\\dRp", "\\dRs", "\\des",
    "\\det", "\\deu", "\\dew", "\\dl", "\\dg", "\\du", "\\du postgres",
]


def test_backslash_commands(server, postgres):
    database = postgres.create_database()
    options = {server: [], postgres: ["-d", database]}
    for who in (postgres, server):
        psql(who, SCHEMA, *options[who])
    differences = []
    for command in COMMANDS:
        outputs = [psql(who, command + "\n", *options[who], check=False) for who in (postgres, server)]
        texts = [done.stdout + done.stderr for done in outputs]
        if texts[0] != texts[1]:
            differences.append(f"--- {command}\nPostgreSQL:\n{texts[0]}\nredquel:\n{texts[1]}")
    psql(server, CLEAN_UP)
    postgres.drop_database(database)
    assert not differences, "\n".join(differences)


def test_sizes_and_databases_are_listed(server):
    """Their numbers are each server's own."""
    psql(server, "CREATE TABLE listed (a integer PRIMARY KEY);")
    assert "listed" in psql(server, "\\dt+\n\\di+\n")
    assert "postgres" in psql(server, "\\l\n")
    assert "upper" in psql(server, "\\df upper\n")
    psql(server, "DROP TABLE listed;")
