"""How drivers log in, as recorded from them (node-postgres 8.23, postgres.js 3.4, the JDBC driver 42.5, libpq 15 under psycopg 3): startup
parameters, the words of SCRAM, and what each sends next. redquel and PostgreSQL answer the same, within TLS and without."""
import grp
import hashlib
import os
from dataclasses import dataclass

from harness import passwords
from harness.certificates import Authority
from harness.passwords import SASL, SASL_CONTINUE, SASL_FINAL, Scram, initial_response
from harness.pgwire import SYNC, Connection, bind, describe, execute, message, parse, query, startup
from harness.roles import add_role, configured
from harness.servers import Postgres
from harness.transcript import answers

PORT = 5432
RULES = 'rules = "host all all all scram-sha-256"\n'
ARRAYS = """
      select b.oid, b.typarray
      from pg_catalog.pg_type a
      left join pg_catalog.pg_type b on b.oid = a.typelem
      where a.typcategory = 'A' and a.oid < 4000 and b.typname in ('int4', 'text', 'timestamptz')
      group by b.oid, b.typarray
      order by b.oid
    """
SSLINFO = query("SELECT ssl, version, bits FROM pg_stat_ssl WHERE pid = pg_backend_pid()")


@dataclass
class Driver:
    startup: dict
    name: bytes = b"*"        # of SCRAM
    binds_channel: bool = False
    statements: tuple = ()    # steps behind the login


def described(name, sql):
    """postgres.js prepares each statement under a name and asks for its description."""
    return parse(sql, name) + describe(b"S", name) + bind("", name) + execute() + SYNC


def set_parameter(sql):
    """The JDBC driver sends SET with a limit of one row."""
    return parse(sql) + bind() + execute(max_rows=1) + SYNC


ANN = {"user": "ann", "database": "postgres"}
DRIVERS = {
    "node-postgres": Driver({**ANN, "client_encoding": "UTF8"}, statements=(query("SELECT 1 AS one"), parse("SELECT $1::text", "", ()) + bind(values=["x"])
                                                                            + describe(b"P") + execute() + SYNC)),
    "node-postgres with channel binding": Driver({**ANN, "client_encoding": "UTF8"}, binds_channel=True, statements=(query("SELECT 1 AS one"),)),
    "postgres.js": Driver({**ANN, "client_encoding": "UTF8", "application_name": "postgres.js"},
                          statements=(described("rg9765mcl81", ARRAYS), described("rg9765mcl82", "SELECT 1 AS one"))),
    "JDBC": Driver({**ANN, "client_encoding": "UTF8", "DateStyle": "ISO", "TimeZone": "Etc/UTC", "extra_float_digits": "2"},
                   statements=(set_parameter("SET extra_float_digits = 3"), set_parameter("SET application_name = 'PostgreSQL JDBC Driver'"),
                               parse("SELECT 1 AS one") + bind() + describe(b"P") + execute() + SYNC)),
    "psycopg": Driver({**ANN, "application_name": "psycopg"}, name=b"", binds_channel=True,
                      statements=(query("BEGIN"), query("SELECT 1 AS one"), query("COMMIT"))),
}


def log_in(address, driver, context):
    """A connection behind the driver's login, and what the server said of itself."""
    connection = Connection(address, start=False)
    said = []
    binding, mechanism, header = b"", b"SCRAM-SHA-256", b"n,,"
    if context:
        connection.request_tls(context)
        said.append(connection.socket.version())
        if driver.binds_channel:
            binding, mechanism = hashlib.sha256(connection.socket.getpeercert(binary_form=True)).digest(), b"SCRAM-SHA-256-PLUS"
            header = b"p=tls-server-end-point,,"
    connection.send(startup(driver.startup))
    scram = Scram("secret", header=header, binding=binding, name=driver.name)
    sequence = ((SASL, lambda _: initial_response(mechanism, scram.first())), (SASL_CONTINUE, scram.final), (SASL_FINAL, None))
    for code, answer in sequence:
        kind, payload = connection.read()
        assert kind == b"R" and payload[:4] == code.to_bytes(4, "big"), (kind, payload)
        if code == SASL:
            said.append(payload[4:])
        if answer:
            connection.send(message(b"p", answer(payload[4:])))
        else:
            assert payload[4:] == scram.signature, payload
    kinds = [kind for kind, _ in connection.read_until(b"Z")]
    own = ("server_version",)
    said.append((kinds, {name: value for name, value in connection.parameters.items() if name not in own}))
    return connection, said


def secure_postgres(authority):
    postgres = Postgres()
    issued = authority.issue()
    if postgres.user:
        for path in (issued.key, os.path.dirname(issued.key)):
            os.chmod(path, 0o755 if os.path.isdir(path) else 0o640)
        os.chown(issued.key, 0, grp.getgrnam(postgres.user).gr_gid)
    port = PORT + os.getpid() % 10000
    postgres.start_with({"listen_addresses": "127.0.0.1", "unix_socket_directories": postgres.folder, "port": port, "fsync": "off", "timezone": "UTC",
                         "ssl": "on", "ssl_cert_file": issued.certificate, "ssl_key_file": issued.key})
    with Connection(("127.0.0.1", port)) as connection:
        connection.run("SET password_encryption = 'scram-sha-256'; CREATE ROLE ann LOGIN SUPERUSER PASSWORD 'secret'")
        with open(f"{postgres.folder}/data/pg_hba.conf", "w", encoding="ascii") as file:
            file.write("host all all all scram-sha-256\n")
        connection.run("SELECT pg_reload_conf()")
    return postgres, ("127.0.0.1", port)


def test_drivers_log_in_as_to_postgresql(make_redis, make_server):
    authority = Authority()
    issued = authority.issue()
    redis = make_redis()
    server = configured(make_server, redis, RULES, tables=f'[tls]\ncertificate = "{issued.certificate}"\nkey = "{issued.key}"\n')
    add_role(redis, "ann", passwords.scram_verifier("secret"), superuser=True)
    postgres, oracle = secure_postgres(authority)
    try:
        for name, driver in DRIVERS.items():
            for context in (None, authority.trusting()):
                expected, wanted = log_in(oracle, driver, context)
                subject, given = log_in(server.address, driver, context)
                with expected, subject:
                    assert given == wanted, (name, bool(context), given, wanted)
                    for step in (*driver.statements, SSLINFO):
                        assert answers(subject, step) == answers(expected, step), (name, bool(context), step)
    finally:
        postgres.stop()
