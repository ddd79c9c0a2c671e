"""Parameters whose values go into a domain are described as the domain, and the domain tests them."""
from harness.pgwire import SYNC, bind, decode_fields, describe, execute, parse

TYPES = """
DROP TABLE IF EXISTS x_domains; DROP DOMAIN IF EXISTS x_small, x_positive;
CREATE DOMAIN x_positive AS int CHECK (value > 0); CREATE DOMAIN x_small AS x_positive CHECK (value < 100);
CREATE TABLE x_domains (a x_positive, b x_small, c int)
"""
DESCRIBED = (
    "INSERT INTO x_domains (a) VALUES ($1)", "INSERT INTO x_domains (a, b) SELECT $1, $2", "INSERT INTO x_domains (b) VALUES ($1), ($2)",
    "SELECT $1::x_positive", "SELECT $1::x_small + $2", "SELECT * FROM x_domains WHERE a = $1", "UPDATE x_domains SET a = $1, c = $2 WHERE b = $3",
    "SELECT coalesce(a, $1) FROM x_domains", "INSERT INTO x_domains (a) VALUES ($1 + 1)", "INSERT INTO x_domains (a) VALUES ($1) ON CONFLICT DO NOTHING RETURNING a",
    "MERGE INTO x_domains USING (SELECT 1 AS x) s ON a = $1 WHEN NOT MATCHED THEN INSERT (a) VALUES ($2)",
)


def names_of(connection):
    return {int(oid): name for name, oid in connection.run("SELECT typname, oid FROM pg_type WHERE typname LIKE 'x\\_%'")}


def described(connection, sql):
    names = names_of(connection)
    connection.send(parse(sql) + describe(b"S") + SYNC)
    for kind, payload in connection.read_until(b"Z"):
        if kind == b"t":
            oids = [int.from_bytes(payload[at:at + 4], "big") for at in range(2, len(payload), 4)]
            return [names.get(oid, oid) for oid in oids]
    raise AssertionError(f"{sql} has no parameters")


def test_parameters_of_domains_are_described_as_in_postgresql(server, postgres):
    answers = []
    for who in (server, postgres):
        with who.connect() as connection:
            connection.run(TYPES)
            answers.append([(sql, described(connection, sql)) for sql in DESCRIBED])
            connection.run("PREPARE x_prepared AS INSERT INTO x_domains (a) VALUES ($1)")
            answers[-1].append(connection.run("SELECT parameter_types FROM pg_prepared_statements WHERE name = 'x_prepared'"))
            connection.run("DROP TABLE x_domains; DROP DOMAIN x_small, x_positive")
    assert answers[0] == answers[1], [pair for pair in zip(*answers) if pair[0] != pair[1]]


def test_parameters_declared_with_a_domain(server, postgres):
    answers = []
    for who in (server, postgres):
        with who.connect() as connection:
            connection.run(TYPES)
            oids = {name: oid for oid, name in names_of(connection).items()}
            answers.append([])
            for sql in ("INSERT INTO x_domains (a) VALUES ($1)", "SELECT $1", "SELECT $1 + 1", "INSERT INTO x_domains (c) VALUES ($1)"):
                for value in ("5", "-5") if "(a)" in sql else ("5",):
                    connection.send(parse(sql, "", (oids["x_positive"],)) + bind(values=(value,)) + execute() + SYNC)
                    messages = connection.read_until(b"Z")
                    answers[-1].append([(kind, decode_fields(payload)["M"] if kind == b"E" else payload) for kind, payload in messages if kind in b"ED"])
            connection.run("DROP TABLE x_domains; DROP DOMAIN x_small, x_positive")
    assert answers[0] == answers[1], answers
