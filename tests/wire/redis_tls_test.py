"""TLS between redquel and Redis: rediss://."""
import os
import signal
import socket
import subprocess

from harness import pgwire
from harness.certificates import Authority
from harness.processes import temporary_folder
from harness.programs import run
from harness.servers import run_when_it_is_back
from harness.waiting import wait_for

_authority = None


def authority():
    global _authority
    _authority = _authority or Authority()
    return _authority


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def secure_redis(make_redis, issued=None, clients="no", host="127.0.0.1", password=None, port=None):
    """A Redis with a port for TLS."""
    issued = issued or authority().issue()
    port = port or free_port()
    redis = make_redis("--tls-port", str(port), "--tls-cert-file", issued.certificate, "--tls-key-file", issued.key, "--tls-ca-cert-file",
                       authority().certificate, "--tls-auth-clients", clients, *(["--requirepass", password] if password else []))
    return SecureRedis(redis, f"rediss://{host}:{port}", port)


class SecureRedis:
    """The Redis as redquel gets it: by the URL of its port for TLS."""

    def __init__(self, redis, url, port):
        self.redis, self.url, self.port = redis, url, port

    def connect(self):
        return self.redis.connect()


def configuration(**settings):
    path = f"{temporary_folder()}/redquel.toml"
    write_configuration(path, **settings)
    return path


def write_configuration(path, **settings):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[redis.tls]\n" + "".join(f"{name} = {str(value).lower() if isinstance(value, bool) else repr(value)}\n" for name, value in settings.items()))


def test_statements_over_tls(make_server, make_redis):
    redis = secure_redis(make_redis)
    server = make_server("--config", configuration(ca=authority().certificate), redis=redis)
    with server.connect() as connection, server.connect() as other:
        connection.run("CREATE TABLE t (i int PRIMARY KEY, s text)")
        connection.run("INSERT INTO t SELECT g, repeat('z', 1000) FROM generate_series(1, 20000) AS s(g)")
        assert connection.run("SELECT count(*), sum(length(s)) FROM t") == [["20000", "20000000"]]  # the bulk connection
        assert connection.run("SELECT length(s) FROM t WHERE i = 7") == [["1000"]]
        connection.run("LISTEN channel")  # the subscription
        other.run("NOTIFY channel, 'heard'")
        wait_for(lambda: connection.run("SELECT 1") and connection.notifications)
        assert connection.run("SELECT 1") == [["1"]]
    with redis.connect() as plain:
        kinds = {field.split(b"=")[1] if isinstance(field, bytes) else field.split("=")[1] for line in lines(plain("CLIENT", "LIST"))
                 for field in line.split() if field.startswith(("name=" if isinstance(line, str) else b"name="))}
    names = {name.decode() if isinstance(name, bytes) else name for name in kinds}
    assert {"redquel", "redquel-bulk", "redquel-listen"} <= names, names


def lines(text):
    return text.splitlines()


def end_of_start(build, redis, *options, environment=None):
    done = subprocess.run([f"{build}/redquel", "--listen", "127.0.0.1:0", "--redis", redis.url, *options], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stderr


def test_a_wrong_certificate_ends_the_start(build, make_redis):
    for redis, settings, reason in (
            (secure_redis(make_redis), {}, "TLS: certificate verify failed: self-signed certificate in certificate chain"),
            (secure_redis(make_redis), dict(ca=Authority("other").certificate), "TLS: certificate verify failed"),
            (secure_redis(make_redis, authority().issue(names="DNS:elsewhere")), dict(ca=authority().certificate), "IP address mismatch"),
            (secure_redis(make_redis, host="localhost", issued=authority().issue(names="DNS:elsewhere")), dict(ca=authority().certificate),
             "hostname mismatch"),
            (secure_redis(make_redis, authority().issue(days=-1)), dict(ca=authority().certificate), "certificate has expired")):
        status, said = end_of_start(build, redis, "--config", configuration(**settings))
        assert status == 1 and reason in said and f"Redis at {redis.url.removeprefix('rediss://')}" in said, (status, said)
    path = configuration(ca="/nowhere/ca.crt")
    status, said = end_of_start(build, redis, "--config", path)
    assert status == 2 and f"redquel: {path}:2: redis.tls.ca: /nowhere/ca.crt: No such file or directory" in said, said


def test_names_and_verification(make_server, make_redis):
    redis = secure_redis(make_redis, authority().issue(names="DNS:elsewhere"))
    for settings in (dict(ca=authority().certificate, server_name="elsewhere"), dict(verify=False)):
        server = make_server("--config", configuration(**settings), redis=redis)
        with server.connect() as connection:
            assert connection.run("SELECT 1 FROM pg_class LIMIT 1") == [["1"]]


def test_the_name_of_the_server_is_sent(build, random):
    """SNI: of a name, never of an address."""
    for host, sent in (("localhost", "localhost"), ("127.0.0.1", None)):
        issued = authority().issue()
        context = __import__("ssl").SSLContext(__import__("ssl").PROTOCOL_TLS_SERVER)
        context.load_cert_chain(issued.certificate, issued.key)
        names = []
        context.sni_callback = lambda _socket, name, _context: names.append(name)
        listener = socket.create_server(("127.0.0.1", 0))
        child = subprocess.Popen([f"{build}/redquel", "discover", "--redis", f"rediss://{host}:{listener.getsockname()[1]}", "--tls-ca",
                                  authority().certificate], stderr=subprocess.PIPE)
        accepted, _ = listener.accept()
        secure = context.wrap_socket(accepted, server_side=True)
        assert secure.recv(100).startswith(b"*"), "a command of Redis within TLS"
        secure.close()
        listener.close()
        child.kill()
        child.wait()
        assert names == [sent], names


def test_certificates_towards_redis(build, make_server, make_redis):
    redis = secure_redis(make_redis, clients="yes")
    own = authority().issue(subject="/CN=redquel", names="")
    server = make_server("--config", configuration(ca=authority().certificate, certificate=own.certificate, key=own.key), redis=redis)
    with server.connect() as connection:
        connection.run("CREATE TABLE t (i int PRIMARY KEY)")
    without = make_server("--config", configuration(ca=authority().certificate), redis=redis)
    # A login reads Redis. Whether TLS's alert ("certificate required") arrives before the reset of the connection is up to Redis.
    try:
        without.connect().close()
    except pgwire.ServerError as error:
        assert error.fields["C"] == "08006" and f"could not connect to Redis at 127.0.0.1:{redis.port}" in error.fields["M"], error.fields
    else:
        raise AssertionError("a Redis that wants a certificate answered without one")


def test_a_redis_without_tls_is_a_clear_error(build, make_redis):
    port = free_port()
    redis = make_redis("--port", str(port))
    done = run([f"{build}/redquel", "discover", "--redis", f"rediss://127.0.0.1:{port}"], check=False)
    assert done.returncode == 1 and "timeout of the TLS handshake" in done.stderr, done.stderr
    assert redis.process.alive()


def test_discover_uses_tls(build, make_redis):
    redis = secure_redis(make_redis, password="secret word")
    with redis.redis.connect() as plain:
        plain("AUTH", "secret word")
        for i in range(20):
            plain("HSET", f"user:{i}", "name", f"n{i}")
    command = [f"{build}/redquel", "discover", "--redis", redis.url, "--tls-ca", authority().certificate]
    assert "CREATE FOREIGN TABLE" in run(command, env={"REDQUEL_REDIS_PASSWORD": "secret word"})
    done = run(command[:-2], check=False, env={"REDQUEL_REDIS_PASSWORD": "secret word"})
    assert done.returncode == 1 and "certificate verify failed" in done.stderr, done.stderr


def test_new_certificates_are_used_after_a_reload(make_server, make_redis):
    port = free_port()
    first = secure_redis(make_redis, port=port)
    path = configuration(ca=authority().certificate)
    server = make_server("--config", path, redis=first)
    with server.connect() as connection:
        connection.run("CREATE TABLE t (i int PRIMARY KEY)")
        first.redis.stop()
        other = Authority("next")
        issued = other.issue()
        make_redis("--tls-port", str(port), "--tls-cert-file", issued.certificate, "--tls-key-file", issued.key, "--tls-ca-cert-file", other.certificate,
                   "--tls-auth-clients", "no")
        result = connection.query("SELECT * FROM pg_class LIMIT 1")[-1]
        wait_for(lambda: (connection.query("SELECT * FROM t")[-1].error or {}).get("C") == "28000")
        write_configuration(path, ca=other.certificate)
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "configuration reloaded" in server.process.log())
        wait_for(lambda: (connection.query("SELECT * FROM t")[-1].error or {}).get("C") == "42P01")  # the new Redis is empty
        assert result
        assert run_when_it_is_back(connection, "SELECT 1") == [["1"]]
