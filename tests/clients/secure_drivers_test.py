"""Drivers that log in with SCRAM and over TLS: psycopg 3 (libpq), the JDBC driver; with NODE_DRIVERS=<folder> node-postgres and postgres.js.

The folder is one where `npm install pg postgres` has run: those two have no package in Debian 12 that can be installed."""
import os

import psycopg

from clients.login_test import secure_server
from harness.programs import run

FOLDER = os.path.dirname(os.path.abspath(__file__))


def test_psycopg(make_redis, make_server):
    server, authority = secure_server(make_server, make_redis())
    place = {"host": "localhost", "hostaddr": "127.0.0.1", "port": server.port, "user": "ann", "dbname": "postgres"}
    with psycopg.connect(**place, password="se cret", sslmode="verify-full", sslrootcert=authority.certificate,
                         channel_binding="require") as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("ann",)
    try:
        psycopg.connect(**place, password="guess", sslmode="require")
    except psycopg.OperationalError as error:
        assert 'password authentication failed for user "ann"' in str(error), error
    else:
        raise AssertionError("a wrong password was taken")


def test_jdbc(make_redis, make_server):
    server, authority = secure_server(make_server, make_redis())
    plain = f"jdbc:postgresql://127.0.0.1:{server.port}/postgres?sslmode=disable"
    secure = f"jdbc:postgresql://localhost:{server.port}/postgres?sslmode=verify-full&sslrootcert={authority.certificate}"
    logins = [(plain, "ann", "se cret"), (secure, "ann", "se cret"), (plain, "older", "se cret"), (secure, "plain", "se cret"),
              (secure, "ann", "guess")]
    printed = run(["java", "-cp", "/usr/share/java/postgresql.jar", f"{FOLDER}/SecureLogin.java", *[word for login in logins for word in login]])
    assert printed.split("\n")[:-1] == ["ann false", "ann true", "older false", "plain true", "28P01"], printed


def test_node(make_redis, make_server):
    drivers = os.environ.get("NODE_DRIVERS")
    if not drivers:
        return
    server, authority = secure_server(make_server, make_redis())

    def login(user, password, authority=""):
        return run(["node", f"{FOLDER}/node_login.js", server.port, user, password, authority],
                   env={"NODE_PATH": f"{drivers}/node_modules"}).split("\n")[:-1]

    assert login("ann", "se cret") == ["ann false"] * 2
    assert login("ann", "se cret", authority.certificate) == ["ann true"] * 2
    assert login("older", "se cret") == ["older false"] * 2
    assert login("ann", "guess", authority.certificate) == ["28P01"] * 2
