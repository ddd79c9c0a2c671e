"""Extensions for psql and pg_dump: a dump creates the extension and leaves its members out."""
from harness.programs import connection_options, psql, run

SCHEMA = """
CREATE SCHEMA tools;
CREATE EXTENSION "uuid-ossp" SCHEMA tools;
CREATE EXTENSION citext;
COMMENT ON EXTENSION "uuid-ossp" IS 'ids';
CREATE TABLE users (id uuid PRIMARY KEY DEFAULT tools.uuid_generate_v4(), email citext UNIQUE, space uuid DEFAULT tools.uuid_ns_dns());
CREATE VIEW nothing AS SELECT tools.uuid_nil() AS id, email FROM users;
INSERT INTO users (id, email) VALUES ('00000000-0000-0000-0000-000000000001', 'Ann@example.com');
"""
QUERY = "SELECT * FROM users WHERE email = 'ANN@example.com'; SELECT * FROM nothing;"


def dump(server, database):
    text = run(["pg_dump", *connection_options(server, database)])
    return "\n".join(line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict", "--"))) + "\n"


def test_a_dump_creates_the_extension_and_not_its_members(fresh_server, postgres):
    psql(fresh_server, "CREATE DATABASE source;\nCREATE DATABASE copy;")
    psql(fresh_server, SCHEMA, "-d", "source")
    text = dump(fresh_server, "source")
    assert 'CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA tools;' in text, text
    assert "CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;" in text, text
    assert "CREATE FUNCTION" not in text and "CREATE TYPE" not in text and "plpgsql" not in text, text
    psql(fresh_server, text, "-d", "copy")
    assert dump(fresh_server, "copy") == text
    before = psql(fresh_server, QUERY, "-d", "copy")
    assert before == psql(fresh_server, QUERY, "-d", "source")
    database = postgres.create_database()
    psql(postgres, text, "-d", database)
    assert psql(postgres, QUERY, "-d", database) == before
    psql(fresh_server, "DROP DATABASE copy;\nCREATE DATABASE copy;")
    psql(fresh_server, dump(postgres, database), "-d", "copy")
    assert psql(fresh_server, QUERY, "-d", "copy") == before
    postgres.drop_database(database)


def test_psql_lists_extensions_and_their_members(fresh_server, postgres):
    database = postgres.create_database()
    psql(postgres, SCHEMA, "-d", database)
    psql(fresh_server, SCHEMA)
    for command in ("\\dx uuid-ossp", "\\dx+ uuid-ossp", "\\dx citext", "\\dx plpgsql", "\\df tools.*", "\\d users", "\\dT", "\\sf tools.uuid_nil"):
        outputs = [psql(who, command + "\n", *options) for who, options in ((postgres, ["-d", database]), (fresh_server, []))]
        assert outputs[0] == outputs[1], f"{command}\n{outputs[0]}\n{outputs[1]}"
    postgres.drop_database(database)
