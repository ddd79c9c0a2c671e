"""Row level security where rows in Redis are damaged."""
from harness.pgwire import ServerError

SETUP = """CREATE ROLE stored_owner
CREATE TABLE stored (id int PRIMARY KEY, owner text, number int)
INSERT INTO stored VALUES (71, 'postgres', 1), (72, 'stored_owner', 2)"""

RESTRICT = """ALTER TABLE stored OWNER TO stored_owner
ALTER TABLE stored ENABLE ROW LEVEL SECURITY
ALTER TABLE stored FORCE ROW LEVEL SECURITY
CREATE POLICY own ON stored USING (owner = current_user)
SET ROLE stored_owner"""

QUERIES = ("SELECT number FROM stored", "SELECT sum(number) FROM stored", "SELECT id FROM stored ORDER BY number",
           "UPDATE stored SET number = number + 1", "DELETE FROM stored")


def run_all(connection, script):
    for statement in script.splitlines():
        connection.run(statement)


def test_errors_about_stored_values_name_neither_key_nor_value(fresh_server):
    with fresh_server.connect() as connection, fresh_server.redis_connection() as redis:
        run_all(connection, SETUP)
        redis("HSET", "stored:71", "number", "secret")
        error = connection.run_error("SELECT number FROM stored")
        assert error["C"] == "22P02" and "stored:71" in error["D"], error
        run_all(connection, RESTRICT)
        for query in QUERIES:
            try:
                connection.run(query)
            except ServerError as failure:
                shown = " ".join(str(field) for field in failure.fields.values())
                assert failure.sqlstate == "22P02" and "secret" not in shown and "71" not in shown, shown
        connection.run("RESET ROLE")
        error = connection.run_error("SELECT number FROM stored")
        assert error["C"] == "22P02" and "secret" not in str(error), error
