"""The work of a statement grows as the number of a table's columns does, not as its square."""
import glob
import itertools

FEW, MANY, ROUNDS = 200, 1500, 5
NUMBERS = itertools.count()


def processor_time(server):
    """Nanoseconds that the threads of redquel have run. (Other processes on the machine do not count.)"""
    total = 0
    for path in glob.glob(f"/proc/{server.process.popen.pid}/task/*/schedstat"):
        with open(path, encoding="utf-8") as file:
            total += int(file.read().split()[0])
    return total


def least_time(server, connection, statements):
    times = []
    for _ in range(ROUNDS):
        before = processor_time(server)
        for statement in statements:
            connection.run(f"/* {next(NUMBERS)} */ {statement}")  # another text: it is parsed and planned anew
        times.append(processor_time(server) - before)
    return min(times)


def statements_of(columns):
    """Kinds of statements; each run has rows of its own."""
    names = [f"c{i}" for i in range(columns)]
    values = ", ".join(str(i) for i in range(columns))
    table = f"wide{columns}"
    return table, names, {
        "INSERT": [f"INSERT INTO {table} VALUES ({values})"] * 10,
        "INSERT with a list": [f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"] * 10,
        "INSERT of a query": [f"INSERT INTO {table} SELECT {', '.join(f'g + {i}' for i in range(columns))} FROM generate_series(1, 10) g"],
        "SELECT": [f"SELECT * FROM {table} LIMIT 10"] * 10,
        "UPDATE": [f"UPDATE {table} SET {', '.join(f'{name} = {name}' for name in names)} WHERE c0 = -1"] * 3,
    }


def test_work_is_linear_in_the_columns(make_server, make_redis, build):
    server = make_server("--threads", "1", redis=make_redis("--hash-max-listpack-entries", "128"))
    with server.connect() as connection:
        times = {}
        for columns in (FEW, MANY):
            table, names, statements = statements_of(columns)
            connection.run(f"CREATE TABLE {table} ({', '.join(f'{name} int' for name in names)})")
            connection.run(f"CREATE INDEX ON {table} (c0)")
            for kind, texts in statements.items():
                times[kind, columns] = least_time(server, connection, texts)
        ratios = {kind: times[kind, MANY] / times[kind, FEW] for kind, columns in times if columns == FEW}
        # The columns are 7.5 times as many; a square of them would be 56 times as much work.
        assert all(ratio < 28 for ratio in ratios.values()), (ratios, times)
