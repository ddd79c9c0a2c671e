"""Tables over an application's keys, and copies of their rows in PostgreSQL: both must give the same answers."""


class Copies:
    """`mapped` is a connection to redquel. Every foreign table gets a table of its name, columns and rows in a fresh database."""

    def __init__(self, mapped, postgres, also=""):
        self.mapped, self.postgres = mapped, postgres
        self.database = postgres.create_database()
        self.copy = postgres.connect(self.database)
        self.tables = [row[0] for row in mapped.run("SELECT relname FROM pg_class WHERE relkind = 'f' ORDER BY relname")]
        for table in self.tables:
            self.copy.run(f"CREATE TABLE {table} ({', '.join(self.columns(table))})")
            self.copy_rows(table)
        for statement in filter(None, (part.strip() for part in also.split(";\n"))):
            self.both(statement)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.copy.close()
        self.postgres.drop_database(self.database)

    def columns(self, table):
        return [" ".join(row) for row in self.mapped.run(
            "SELECT quote_ident(attname), format_type(atttypid, atttypmod) FROM pg_attribute "
            f"WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum")]

    def copy_rows(self, table):
        for row in self.mapped.run(f"SELECT * FROM {table}"):
            values = ", ".join("NULL" if value is None else "'" + value.replace("'", "''") + "'" for value in row)
            self.copy.run(f"INSERT INTO {table} VALUES ({values})")

    def same(self, *queries):
        """In order where the query says so."""
        for query in queries:
            given, wanted = self.mapped.run(query), self.copy.run(query)
            if "ORDER BY" not in query:
                given, wanted = sorted(given, key=repr), sorted(wanted, key=repr)
            assert given == wanted, f"{query}\n  redquel: {given}\n  PostgreSQL: {wanted}"

    def both(self, *statements):
        """Statements that write, or fail, alike."""
        for statement in statements:
            given, wanted = (outcome(connection, statement) for connection in (self.mapped, self.copy))
            assert given == wanted, f"{statement}\n  redquel: {given}\n  PostgreSQL: {wanted}"

    def same_rows(self):
        self.same(*(f"SELECT * FROM {table}" for table in self.tables))


def outcome(connection, statement):
    result = connection.query(statement)[-1]
    return result.error["C"] if result.error else (result.tag, sorted(result.texts(), key=repr))
