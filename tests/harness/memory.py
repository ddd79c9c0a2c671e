"""Servers that keep every table in memory, and what their copies did."""
from harness.processes import temporary_folder
from harness.waiting import wait_for


def start(make_redis, make_server, count=2, memory="64MB", redis_options=(), through=None, **keywords):
    """A Redis and redquels that keep every table from its first scan on. `through`: makes what stands between them, such as a Proxy; it is returned for
    the Redis."""
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[cache]\nmemory = "{memory}"\nleast_rows = 1\nfirst_scan = 1\nthreads = 2\n')
    redis = make_redis("--enable-debug-command", "yes", *redis_options)
    if through:
        redis = through(redis)
    return redis, [make_server("--config", path, redis=redis, **keywords) for _ in range(count)]


def hits(server):
    """Statements that copies of the server have served."""
    with server.connect() as connection:
        return sum(int(row[0]) for row in connection.run("SELECT hits FROM redquel.cached_tables()"))


def served(connection, query):
    """The rows of a query that copies in memory have answered; tried until they do."""
    def attempt():
        before = int(connection.run("SELECT coalesce(sum(hits), 0) FROM redquel.cached_tables()")[0][0])
        rows = connection.run(query)
        after = int(connection.run("SELECT coalesce(sum(hits), 0) FROM redquel.cached_tables()")[0][0])
        return (rows,) if after > before else None
    return wait_for(attempt, what="an answer from memory", pause=0.05)[0]
