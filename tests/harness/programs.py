"""Programs as children: psql, pgbench, perl, python."""
import os
import subprocess


class ProgramFailed(AssertionError):
    pass


def run(command, input=None, timeout=240, check=True, env=None):
    """Runs a program to its end and returns its output (both streams together when it fails)."""
    done = subprocess.run([str(word) for word in command], input=input, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "PGCONNECT_TIMEOUT": "120", **(env or {})})
    if check and done.returncode != 0:
        raise ProgramFailed(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout if check else done


def psql(server, script, *options, timeout=240, check=True):
    """Runs a script in psql as its standard input; stops at the first error. `server` is a Redquel or a Postgres."""
    return run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *connection_options(server), *options], input=script, timeout=timeout,
               check=check)


def connection_options(server, database="postgres"):
    if isinstance(server.address, tuple):
        host, port = server.address
    else:
        host, port = os.path.dirname(server.address), 5432
    return ["-h", host, "-p", str(port), "-U", "postgres", "-d", database]


def pgbench_options(server, database="postgres"):
    """Returns connection_options() for pgbench, whose -d prints debugging output with every message."""
    *address, _, name = connection_options(server, database)
    return [*address, name]
