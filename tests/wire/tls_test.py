"""TLS between clients and redquel."""
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading

from harness import pgwire
from harness.certificates import Authority
from harness.pgwire import ConnectionClosed, special_startup, startup
from harness.processes import temporary_folder
from harness.programs import run
from harness.servers import SESSION
from harness.waiting import wait_for

STARTUP = dict(user="postgres", database="postgres")
_authority = None


def authority():
    """One of this module: keys take a moment to make."""
    global _authority
    _authority = _authority or Authority()
    return _authority


def configuration(**settings):
    """A configuration file with these keys of [tls]."""
    path = f"{temporary_folder()}/redquel.toml"
    write_configuration(path, **settings)
    return path


def write_configuration(path, **settings):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[tls]\n" + "".join(f'{name} = "{value}"\n' for name, value in settings.items()))


def secure_server(make_server, make_redis, issued=None, **settings):
    issued = issued or authority().issue()
    server = make_server("--config", configuration(certificate=issued.certificate, key=issued.key, **settings), redis=make_redis())
    return server


def secure(server, context=None, **parameters):
    connection = server.socket()
    connection.request_tls(context or authority().trusting())
    connection.start({**STARTUP, **SESSION, **parameters})
    return connection


def refused(server, context):
    """Why TLS fails for such a client. A server of TLS 1.3 refuses a client's certificate after the client has taken its own part as done."""
    try:
        secure(server, context)
    except (ssl.SSLError, ConnectionResetError) as error:
        return str(error)
    except ConnectionClosed:
        return "closed"
    raise AssertionError("TLS succeeded")


SSLINFO = "ssl_is_used(), ssl_version(), ssl_cipher(), ssl_client_cert_present(), ssl_client_dn(), ssl_client_serial(), ssl_issuer_dn()"


def test_functions_of_sslinfo(make_server, make_redis):
    issued = authority().issue(subject="/O=redquel/CN=alice", names="")
    server = secure_server(make_server, make_redis, client_ca=authority().certificate)
    with secure(server, authority().trusting(client=issued)) as connection:
        connection.run("CREATE EXTENSION sslinfo; CREATE EXTENSION IF NOT EXISTS sslinfo")
        [[used, version, cipher, shown, *names]] = connection.run(f"SELECT {SSLINFO}")
        assert (used, version, cipher, shown) == ("t", connection.socket.version(), connection.socket.cipher()[0], "t")
        assert [names] == connection.run("SELECT client_dn, client_serial, issuer_dn FROM pg_stat_ssl") and None not in names, names
        assert connection.run("SELECT ssl_client_serial() = client_serial, pg_typeof(ssl_client_serial()) FROM pg_stat_ssl") == [["t", "numeric"]]
        assert connection.query("SELECT ssl_client_dn_field('CN')")[-1].sqlstate == "0A000"
    with secure(server) as connection:
        [[*facts]] = connection.run(f"SELECT {SSLINFO}")
        assert facts == ["t", connection.socket.version(), connection.socket.cipher()[0], "f", None, None, None], facts
    with server.connect() as connection:
        assert connection.run(f"SELECT {SSLINFO}") == [["f", None, None, "f", None, None, None]]


def test_statements_within_tls(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = authority().trusting(minimum_version=version, maximum_version=version)
        with secure(server, context) as connection:
            assert connection.run("SELECT 1") == [["1"]]
            [[used, name, cipher, bits, subject]] = connection.run("SELECT ssl, version, cipher, bits, client_dn FROM pg_stat_ssl")
            assert (used, name, cipher) == ("t", version.name.replace("_", "."), connection.socket.cipher()[0]), (used, name, cipher)
            assert int(bits) == connection.socket.cipher()[2] and subject is None
            assert connection.run("SHOW ssl") == [["on"]]
    with server.connect() as connection:
        assert connection.run("SELECT ssl, version FROM pg_stat_ssl") == [["f", None]]


def test_large_results_copy_and_interrupts_within_tls(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    with secure(server) as connection:
        assert connection.run("SELECT repeat('x', 30000000)") == [["x" * 30000000]]
        connection.run("CREATE TABLE t (i int PRIMARY KEY, s text)")
        lines = "".join(f"{i}\t{'y' * 500}\n" for i in range(20000)).encode()
        assert connection.query("COPY t FROM STDIN", lines)[-1].tag == "COPY 20000"
        copied = connection.query("COPY (SELECT * FROM t ORDER BY i) TO STDOUT")[-1].copied
        assert copied == lines
        connection.run("LISTEN channel")
        with secure(server) as other:
            other.run("NOTIFY channel, 'heard'")
        assert connection.has_input(60)  # an idle session is woken up
        assert connection.run("SELECT 1") == [["1"]]
        assert connection.notifications == [("channel", "heard")]


def test_cancel_within_tls(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    with secure(server) as connection:
        connection.send(pgwire.query("SELECT count(*) FROM generate_series(1, 2000000000) AS s(g)"))

        def cancel():
            other = server.socket()
            other.request_tls(authority().trusting())
            other.send(special_startup(pgwire.CANCEL_REQUEST, struct.pack("!iI", connection.process_id, connection.secret)))
            assert other.at_end()
            return connection.has_input(1)
        wait_for(cancel)
        assert connection.results()[-1].sqlstate == "57014"


def test_clients_that_do_not_trust_the_server_end_the_handshake(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    assert "unable to get local issuer" in refused(server, Authority("another").trusting())
    connection = server.socket()
    try:
        connection.request_tls(authority().trusting(), server_name="another.example")
        raise AssertionError("the name was not compared")
    except ssl.SSLCertVerificationError as error:
        assert "Hostname mismatch" in str(error), error
    expired = secure_server(make_server, make_redis, issued=authority().issue(days=-1))
    assert "expired" in refused(expired, authority().trusting())
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_certificates_of_clients(make_server, make_redis):
    good = authority().issue(subject="/O=redquel/CN=alice", names="")
    revoked = authority().issue(subject="/CN=mallory", names="")
    late = authority().issue(subject="/CN=late", names="", days=-1)
    stranger = Authority("stranger").issue(subject="/CN=alice", names="")
    server = secure_server(make_server, make_redis, client_ca=authority().certificate, crl=authority().revoke(revoked))
    with secure(server, authority().trusting(client=good)) as connection:
        [[subject, serial, issuer]] = connection.run("SELECT client_dn, client_serial, issuer_dn FROM pg_stat_ssl")
        assert (subject, issuer) == ("/O=redquel/CN=alice", "/CN=test authority")
        expected = subprocess.run(["openssl", "x509", "-in", good.certificate, "-noout", "-serial"], capture_output=True, text=True).stdout
        assert int(serial) == int(expected.strip().removeprefix("serial="), 16)
    with secure(server) as connection:  # a client may have none
        assert connection.run("SELECT client_dn FROM pg_stat_ssl") == [[None]]
    for client, reason in ((revoked, "revoked"), (late, "expired"), (stranger, "unknown ca")):
        said = refused(server, authority().trusting(client=client))
        assert reason in said or said == "closed", said
    wait_for(lambda: "TLS handshake failed: certificate verify failed: certificate revoked" in server.process.log())


def test_zero_bytes_in_names_of_clients_are_refused(make_server, make_redis):
    issuer = Authority("zero")
    forged = forge_subject(issuer, issuer.issue(subject="/CN=aliceXb", names=""), b"aliceXb", b"alice\0b")
    server = secure_server(make_server, make_redis, client_ca=issuer.certificate)
    refused(server, authority().trusting(client=forged))
    wait_for(lambda: "the certificate's name contains a zero byte" in server.process.log())


def forge_subject(issuer, certificate, before, after):
    """The certificate with another text of the same length in its subject, signed by its issuer. The openssl program writes no such name."""
    def openssl(*words):
        return subprocess.run(["openssl", *words], check=True, capture_output=True).stdout
    signed = element(openssl("x509", "-in", certificate.certificate, "-outform", "DER"))[1]
    body, _ = element(signed)
    path = f"{issuer.folder}/forged"
    with open(path + ".body", "wb") as file:
        file.write(body.replace(before, after))
    signature = openssl("dgst", "-sha256", "-sign", f"{issuer.folder}/ca.key", path + ".body")
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")  # ecdsa-with-SHA256
    content = body.replace(before, after) + algorithm + b"\x03" + bytes([len(signature) + 1]) + b"\0" + signature
    with open(path + ".der", "wb") as file:
        file.write(b"\x30\x82" + len(content).to_bytes(2, "big") + content)
    openssl("x509", "-in", path + ".der", "-inform", "DER", "-out", path + ".crt")
    certificate.certificate = path + ".crt"
    return certificate


def element(der):
    """The first element of DER bytes, and its content."""
    size, header = der[1], 2
    if size >= 0x80:
        header = 2 + (size & 0x7F)
        size = int.from_bytes(der[2:header], "big")
    return der[:header + size], der[header:header + size]


def test_negotiation(make_server, make_redis):
    """Each kind of encryption is asked for once, and nothing is asked for within TLS."""
    server = secure_server(make_server, make_redis)
    connection = server.socket()
    connection.send(special_startup(pgwire.GSSENC_REQUEST))
    assert connection.read_bytes(1) == b"N"
    connection.request_tls(authority().trusting())
    connection.send(special_startup(pgwire.SSL_REQUEST))
    kind, payload = connection.read()
    assert kind == b"E" and pgwire.decode_fields(payload)["C"] == "0A000"
    assert connection.at_end()
    connection = server.socket()
    connection.request_tls(authority().trusting())
    connection.send(special_startup(pgwire.GSSENC_REQUEST))
    kind, payload = connection.read()
    assert kind == b"E" and pgwire.decode_fields(payload)["C"] == "0A000"


def test_bytes_before_tls_are_not_read_as_the_clients(make_server, make_redis):
    """CVE-2021-23214: a man in the middle sends a startup packet in the client's name, behind its SSLRequest."""
    server = secure_server(make_server, make_redis)
    connection = server.socket()
    connection.send(special_startup(pgwire.SSL_REQUEST) + startup(STARTUP))
    assert connection.read_bytes(1) == b"S"
    connection.begin_tls(authority().trusting())
    kind, payload = connection.read()
    fields = pgwire.decode_fields(payload)
    assert kind == b"E" and (fields["S"], fields["C"], fields["M"]) == ("FATAL", "08P01", "received unencrypted data after SSL request"), fields
    assert connection.at_end()


def test_bytes_behind_requests_without_tls_end_the_connection(server):
    for code, name in ((pgwire.SSL_REQUEST, "SSL"), (pgwire.GSSENC_REQUEST, "GSSAPI encryption")):
        connection = server.socket()
        connection.send(special_startup(code) + startup(STARTUP))
        assert connection.read_bytes(1) == b"N"
        kind, payload = connection.read()
        fields = pgwire.decode_fields(payload)
        assert kind == b"E" and (fields["C"], fields["M"]) == ("08P01", f"received unencrypted data after {name} request"), fields
        assert connection.at_end()


def test_tls_at_once(make_server, make_redis):
    """sslnegotiation=direct of libpq 17."""
    server = secure_server(make_server, make_redis)
    connection = server.socket()
    connection.begin_tls(authority().trusting(protocol="postgresql"))
    assert connection.socket.selected_alpn_protocol() == "postgresql"
    connection.start(STARTUP)
    assert connection.run("SELECT 1") == [["1"]]
    connection.close()
    direct_refusal(server, None)
    wait_for(lambda: "must offer the protocol postgresql" in server.process.log())
    said = direct_refusal(server, "http/1.1")
    assert "no application protocol" in said.lower(), said
    with secure(server, authority().trusting(protocol="postgresql")) as connection:
        assert connection.run("SELECT 1") == [["1"]]


def direct_refusal(server, protocol):
    connection = server.socket()
    try:
        connection.begin_tls(authority().trusting(protocol=protocol))
        connection.start(STARTUP)
    except (ssl.SSLError, ConnectionResetError, ConnectionClosed) as error:
        return str(error)
    raise AssertionError("TLS succeeded")


def test_tls_at_once_where_there_is_none(server):
    connection = server.socket()
    try:
        connection.begin_tls(authority().trusting(protocol="postgresql"))
        raise AssertionError("TLS succeeded")
    except (ssl.SSLError, ConnectionResetError):
        pass
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_old_versions_and_renegotiation_are_refused(make_server, make_redis):
    server = secure_server(make_server, make_redis, min_version="1.3")
    refused(server, authority().trusting(maximum_version=ssl.TLSVersion.TLSv1_2))
    server = secure_server(make_server, make_redis)
    done = subprocess.run(["openssl", "s_client", "-starttls", "postgres", "-tls1_2", "-connect", f"{server.host}:{server.port}"], input=b"R\n",
                          capture_output=True, timeout=60)
    assert b"no renegotiation" in done.stderr or done.returncode != 0, done.stderr
    resumed = subprocess.run(["openssl", "s_client", "-starttls", "postgres", "-tls1_2", "-reconnect", "-connect", f"{server.host}:{server.port}"],
                             input=b"", capture_output=True, timeout=60)
    assert b"Reused, TLS" not in resumed.stdout


def test_hostile_bytes(make_server, make_redis, random):
    server = secure_server(make_server, make_redis)
    hello = client_hello()
    for number in range(60):
        sock = socket.create_connection(server.address, 60)
        if number % 2:
            sock.sendall(special_startup(pgwire.SSL_REQUEST))
            assert sock.recv(1) == b"S"
        data = bytearray(hello)
        if number % 3 == 0:
            del data[random.randrange(1, len(data)):]
        else:
            for _ in range(random.randrange(1, 20)):
                data[random.randrange(1, len(data))] = random.randrange(256)
        sock.sendall(bytes(data))
        sock.shutdown(socket.SHUT_WR)
        try:
            while sock.recv(65536):
                pass
        except ConnectionResetError:
            pass
        sock.close()
    with secure(server) as connection:
        assert connection.run("SELECT 1") == [["1"]]
    assert server.process.log().count("TLS handshake failed") <= 2, "one line a minute"


def client_hello():
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = authority().trusting(protocol="postgresql").wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def test_bytes_come_one_by_one(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    sock = socket.create_connection(server.address, 60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = authority().trusting(protocol="postgresql").wrap_bio(incoming, outgoing, server_hostname="localhost")

    def step(action):
        while True:
            try:
                return action()
            except ssl.SSLWantReadError:
                for byte in outgoing.read():
                    sock.sendall(bytes([byte]))
                incoming.write(sock.recv(65536))
    step(client.do_handshake)
    client.write(startup(STARTUP))
    assert step(lambda: client.read(1)) == b"R"
    sock.close()


def test_a_silent_handshake_ends_with_the_time_for_the_login(make_server, make_redis):
    issued = authority().issue()
    path = configuration(certificate=issued.certificate, key=issued.key)
    with open(path, "a", encoding="utf-8") as file:
        file.write("[authentication]\ntimeout = 1\n")
    server = make_server("--config", path, redis=make_redis())
    sock = socket.create_connection(server.address, 60)
    sock.sendall(client_hello()[:20])
    assert sock.recv(1) == b""


def test_wrong_certificates_end_the_start(build, make_redis):
    issued, other = authority().issue(), authority().issue()
    open_key = f"{temporary_folder()}/open.key"
    shutil.copy(issued.key, open_key)
    os.chmod(open_key, 0o644)
    garbage = f"{temporary_folder()}/garbage.crt"
    with open(garbage, "w", encoding="ascii") as file:
        file.write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    redis = make_redis()
    for settings, key, reason in (
            (dict(certificate="/nowhere.crt", key=issued.key), "tls.certificate", "/nowhere.crt: No such file or directory"),
            (dict(certificate=garbage, key=issued.key), "tls.certificate", garbage),
            (dict(certificate=issued.certificate, key=open_key), "tls.key", "others may read this private key"),
            (dict(certificate=issued.certificate, key=other.key), "tls.key", "key values mismatch"),
            (dict(certificate=issued.certificate), "tls.certificate", "need each other"),
            (dict(certificate=issued.certificate, key=issued.key, client_ca=garbage), "tls.client_ca", garbage),
            (dict(certificate=issued.certificate, key=issued.key, crl="/nowhere.crl"), "tls.crl", "/nowhere.crl"),
            (dict(certificate=issued.certificate, key=issued.key, min_version="1.1"), "tls.min_version", "expected 1.2 or 1.3"),
            (dict(certificate=issued.certificate, key=issued.key, ciphers="NONE"), "tls.ciphers", "no cipher match"),
            (dict(certificate=issued.certificate, key=issued.key, groups="P-1"), "tls.groups", "P-1")):
        path = configuration(**settings)
        done = subprocess.run([f"{build}/redquel", "--config", path, "--listen", "127.0.0.1:0", "--redis", redis.url], capture_output=True, text=True,
                              timeout=60)
        line = 2 + list(settings).index(key.removeprefix("tls."))
        lines = [text for text in done.stderr.splitlines() if text.startswith("redquel:")]
        assert done.returncode == 2 and len(lines) == 1, (done.returncode, done.stderr)
        assert lines[0].startswith(f"redquel: {path}:{line}: {key}: ") and reason in lines[0], lines


def test_reload_keeps_the_sessions(make_server, make_redis):
    first, second = authority().issue(subject="/CN=first"), authority().issue(subject="/CN=second")
    path = configuration(certificate=first.certificate, key=first.key)
    server = make_server("--config", path, redis=make_redis())
    sessions = [secure(server) for _ in range(50)]
    assert subject_of(secure(server)) == "first"
    write_configuration(path, certificate=second.certificate, key=second.key)
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: subject_of(secure(server)) == "second")
    write_configuration(path, certificate=first.certificate, key=second.key)  # wrong: the old state stays
    with secure(server) as connection:
        assert connection.run("SELECT pg_reload_conf()") == [["t"]]
    wait_for(lambda: f"{path}:3: tls.key: {second.key}: key values mismatch" in server.process.log())
    assert subject_of(secure(server)) == "second"
    for number, session in enumerate(sessions):
        assert session.run(f"SELECT {number}, count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()") == [[str(number), "1"]]
        assert session.run("SHOW ssl_cert_file") == [[second.certificate]]
        session.close()


def subject_of(connection):
    """The common name of the server's certificate."""
    subject = dict(pair for parts in connection.socket.getpeercert()["subject"] for pair in parts)
    connection.close()
    return subject["commonName"]


def test_tls_is_turned_on_and_off_by_a_reload(make_server, make_redis):
    issued = authority().issue()
    path = configuration()
    server = make_server("--config", path, redis=make_redis())
    with server.connect() as connection:
        assert connection.run("SHOW ssl") == [["off"]]
        write_configuration(path, certificate=issued.certificate, key=issued.key)
        connection.run("SELECT pg_reload_conf()")
        wait_for(lambda: connection.run("SHOW ssl") == [["on"]])
        with secure(server) as other:
            write_configuration(path)
            other.run("SELECT pg_reload_conf()")
            wait_for(lambda: connection.run("SHOW ssl") == [["off"]])
            assert other.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [["t"]]
    connection = server.socket()
    connection.send(special_startup(pgwire.SSL_REQUEST))
    assert connection.read_bytes(1) == b"N"


def test_psql_verifies_the_server(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    words = f"host=localhost port={server.port} user=postgres dbname=postgres sslmode=verify-full"
    done = run(["psql", "-XAt", "-c", "\\conninfo", "-d", f"{words} sslrootcert={authority().certificate}"], check=False)
    assert "SSL connection (protocol: TLSv1.3, cipher: TLS_AES_256_GCM_SHA384" in done.stdout, done
    done = run(["psql", "-XAt", "-c", "SELECT 1", "-d", f"{words} sslrootcert={Authority('other').certificate}"], check=False)
    assert done.returncode != 0 and "certificate verify failed" in done.stderr, done


def test_threads_use_tls_beside_reloads(make_server, make_redis):
    server = secure_server(make_server, make_redis)
    stop = threading.Event()
    failures = []

    def visit():
        try:
            while not stop.is_set():
                with secure(server) as connection:
                    assert connection.run("SELECT 1") == [["1"]]
        except Exception as error:
            failures.append(error)
    threads = [threading.Thread(target=visit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        server.process.send_signal(signal.SIGHUP)
        with secure(server) as connection:
            connection.run("SELECT pg_reload_conf()")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
