"""Logins that depend on the way that a client comes: over TLS, with a certificate, by a unix socket."""
import getpass
import hashlib
import os
import signal
import subprocess
import sys

from harness import passwords
from harness.certificates import Authority
from harness.passwords import SASL, Scram, initial_response
from harness.pgwire import Connection, ServerError, message, startup
from harness.processes import temporary_folder
from harness.roles import add_role, configured
from harness.waiting import wait_for


def tls_server(make_server, redis, rules, ident=None):
    """(server, authority): with a certificate for localhost that clients trust."""
    authority = Authority()
    issued = authority.issue()
    if ident is not None:
        with open(f"{authority.folder}/ident", "w", encoding="utf-8") as file:
            file.write(ident)
        rules = rules + f'\nident_file = "{authority.folder}/ident"'
    tables = f'[tls]\ncertificate = "{issued.certificate}"\nkey = "{issued.key}"\nclient_ca = "{authority.certificate}"\n'
    return configured(make_server, redis, rules, tables=tables), authority


def secure_socket(server, authority, client=None):
    connection = server.socket()
    connection.request_tls(authority.trusting(client))
    return connection


def log_in(connection, user, password=None, database="postgres"):
    connection.password = password
    connection.start(dict(user=user, database=database))
    return connection


def refusal(connection, user, password=None):
    try:
        log_in(connection, user, password)
    except ServerError as error:
        return error.fields["C"], error.fields["M"]
    raise AssertionError(f"{user} was let in")


def test_certificates_name_roles(make_redis, make_server):
    redis = make_redis()
    rules = 'rules = """hostssl all ann,bob all cert\nhostssl all carl all cert map=users clientname=DN\n' \
        'hostssl all dora all scram-sha-256 clientcert=verify-full\nhostssl all emil all scram-sha-256 clientcert=verify-ca"""'
    server, authority = tls_server(make_server, redis, rules, ident="users \"/^CN=(.*),O=test$\" \\1\n")
    for name in ("ann", "bob", "carl", "dora", "emil"):
        add_role(redis, name, passwords.scram_verifier("secret"))
    ann, carl, dora = (authority.issue(f"/{organization}CN={name}", names="") for organization, name in (("", "ann"), ("O=test/", "carl"), ("", "dora")))
    assert log_in(secure_socket(server, authority, ann), "ann").authentication == []
    log_in(secure_socket(server, authority, carl), "carl").close()
    failed = "certificate authentication failed for user "
    assert refusal(secure_socket(server, authority, ann), "bob") == ("28000", failed + '"bob"')
    assert refusal(secure_socket(server, authority, ann), "carl") == ("28000", failed + '"carl"')
    assert refusal(secure_socket(server, authority), "ann") == ("28000", "connection requires a valid client certificate")
    assert refusal(server.socket(), "ann")[1].startswith("no pg_hba.conf entry")
    assert log_in(secure_socket(server, authority, dora), "dora", "secret").authentication[0] == SASL
    assert refusal(secure_socket(server, authority, dora), "dora", "guess")[0] == "28P01"
    assert refusal(secure_socket(server, authority, ann), "dora", "secret") == ("28P01", 'password authentication failed for user "dora"')
    log_in(secure_socket(server, authority, ann), "emil", "secret").close()
    assert refusal(secure_socket(server, authority), "emil", "secret")[0] == "28000"


def test_passwords_in_clear_need_tls(make_redis, make_server):
    redis = make_redis()
    server, authority = tls_server(make_server, redis, 'rules = "hostssl all all all password"')
    add_role(redis, "ann", passwords.scram_verifier("secret"))
    add_role(redis, "bob", passwords.md5_verifier("bob", "secret"))
    add_role(redis, "carl")
    for user in ("ann", "bob"):
        assert log_in(secure_socket(server, authority), user, "secret").authentication == [3]
        assert refusal(secure_socket(server, authority), user, "guess")[0] == "28P01"
    for user in ("carl", "ghost"):
        assert refusal(secure_socket(server, authority), user, "secret") == ("28P01", f'password authentication failed for user "{user}"')
    assert refusal(server.socket(), "ann", "secret")[0] == "28000"


def test_channel_binding(make_redis, make_server):
    redis = make_redis()
    server, authority = tls_server(make_server, redis, 'rules = "host all all all scram-sha-256"')
    add_role(redis, "ann", passwords.scram_verifier("secret"))
    for is_right in (True, False):
        connection = secure_socket(server, authority)
        certificate = hashlib.sha256(connection.socket.getpeercert(binary_form=True)).digest()
        connection.send(startup(dict(user="ann", database="postgres")))
        assert connection.read()[1][4:] == b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"
        scram = Scram("secret", header=b"p=tls-server-end-point,,", binding=certificate if is_right else bytes(32))
        connection.send(message(b"p", initial_response(b"SCRAM-SHA-256-PLUS", scram.first())))
        connection.send(message(b"p", scram.final(connection.read()[1][4:])))
        kind, payload = connection.read()
        if is_right:
            assert kind == b"R" and payload[4:] == scram.signature
        else:
            assert kind == b"E" and b"SCRAM channel binding check failed" in payload, payload
    # A client that knows of channel binding, and was told by another one that the server does not.
    connection = secure_socket(server, authority)
    connection.send(startup(dict(user="ann", database="postgres")))
    connection.read()
    connection.send(message(b"p", initial_response(b"SCRAM-SHA-256", Scram("secret", header=b"y,,").first())))
    kind, payload = connection.read()
    assert kind == b"E" and b"C28000" in payload and b"SCRAM channel binding negotiation error" in payload, payload


def unix_server(make_server, redis, rules=""):
    folder = temporary_folder()
    os.chmod(folder, 0o755)
    server = configured(make_server, redis, rules, tables=f'[server]\nunix_socket_directories = "{folder}"\n')
    return server, f"{folder}/.s.PGSQL.{server.port}"


def unix_refusal(path, user, password=None):
    try:
        Connection(path, user=user, password=password).close()
    except ServerError as error:
        return error.fields["C"], error.fields["M"]
    return None


def as_nobody(path, user):
    """What the server's first message says to another operating-system user."""
    script = f"""
import socket, struct
body = struct.pack("!i", 196608) + b"user\\0{user}\\0database\\0postgres\\0\\0"
client = socket.socket(socket.AF_UNIX)
client.settimeout(60)
client.connect({path!r})
client.sendall(struct.pack("!i", len(body) + 4) + body)
print(client.recv(65536).hex())
"""
    answer = subprocess.run([sys.executable, "-c", script], user="nobody", group="nogroup", extra_groups=[], capture_output=True, check=True,
                            text=True).stdout
    return bytes.fromhex(answer)


def test_peer(make_redis, make_server):
    redis = make_redis()
    own = getpass.getuser()
    folder = temporary_folder()
    with open(f"{folder}/ident", "w", encoding="utf-8") as file:
        file.write(f"users {own} ann\n")
    rules = f'rules = """local all ann peer map=users\nlocal all all peer"""\nident_file = "{folder}/ident"'
    server, path = unix_server(make_server, redis, rules)
    for name in ("ann", "bob", own, "nobody"):
        add_role(redis, name)
    Connection(path, user="ann").close()
    Connection(path, user=own).close()
    assert unix_refusal(path, "bob") == ("28000", 'Peer authentication failed for user "bob"')
    if os.getuid() == 0:
        assert as_nobody(path, "nobody").startswith(b"R"), "peer of the same name"
        assert b"Peer authentication failed" in as_nobody(path, "ann")


def test_built_in_rules_on_a_unix_socket(make_redis, make_server):
    """From the first password on: redquel's own user may be any role, others the role of their name."""
    redis = make_redis()
    server, path = unix_server(make_server, redis)
    add_role(redis, "nobody")
    if os.getuid() == 0:
        assert b"no pg_hba.conf entry" in as_nobody(path, "postgres")  # protected mode
    add_role(redis, "postgres", passwords.scram_verifier("secret"))
    assert Connection(path, user="postgres").authentication == []
    assert unix_refusal(path, "ghost") == ("28000", 'role "ghost" does not exist')
    with server.connect(password="secret") as connection:
        assert connection.authentication[0] == SASL
        assert connection.run("SELECT line_number, type, auth_method, options FROM pg_hba_file_rules") == [
            ["1", "local", "peer", "{map=redquel}"], ["2", "host", "scram-sha-256", None]]
    if os.getuid() == 0:
        assert as_nobody(path, "nobody").startswith(b"R")
        assert b"Peer authentication failed" in as_nobody(path, "postgres")


def test_rules_are_reloaded(make_redis, make_server):
    redis, folder = make_redis(), temporary_folder()

    def write(text):
        with open(f"{folder}/hba", "w", encoding="utf-8") as file:
            file.write(text)

    write("host all all 127.0.0.1/32 trust\n")
    server = configured(make_server, redis, f'hba_file = "{folder}/hba"')
    with server.connect() as before:
        write("host all all 127.0.0.1/32 trust\nhost all all all trust\n")
        server.process.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: "not reloaded" in server.process.log())
        assert f"{folder}/hba:2: trust authentication is only supported for loopback addresses" in server.process.log()
        server.connect().close()  # the old rules stay
        write("host all all all reject\n")
        assert before.run("SELECT pg_reload_conf()") == [["t"]]
        wait_for(lambda: is_rejected(server))
        assert before.run("SELECT 1") == [["1"]]


def is_rejected(server):
    try:
        server.connect().close()
        return False
    except ServerError as error:
        return "pg_hba.conf rejects connection" in error.fields["M"]
