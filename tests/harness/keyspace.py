"""Keys that an application has made, and tables over them."""


class MappedKeys:
    """A server over the keys that `load` puts into its Redis, with the tables that `definitions` make: (connection, redis)."""

    def __init__(self, server, load, definitions):
        self.redis = server.redis_connection()
        load(self.redis)
        self.connection = server.connect()
        for statement in definitions.strip().split(";\n"):
            self.connection.run(statement)

    def __enter__(self):
        return self.connection, self.redis

    def __exit__(self, *_):
        self.connection.close()
        self.redis.close()


def same(given, wanted):
    assert given == wanted, given


def plan(connection, sql):
    return "\n".join(row[0] for row in connection.run("EXPLAIN " + sql))
