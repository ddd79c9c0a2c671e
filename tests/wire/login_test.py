"""Logins: protected mode, rules, passwords, and what the client and the log learn of a refusal."""
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading

from harness import passwords
from harness.crew import all_at_once
from harness.passwords import SASL, Scram, initial_response
from harness.pgwire import Connection, ConnectionClosed, ServerError, decode_fields, message, query, startup
from harness.processes import Process, temporary_folder
from harness.roles import add_role, configured
from harness.servers import Postgres
from harness.waiting import wait_for

EXPIRED = -1  # microseconds since 2000
SCRAM_RULES = 'rules = "host all all all scram-sha-256"\n'


def refusal(server, user, password=None, database="postgres", source=None):
    """(SQLSTATE, message) of a refused login."""
    try:
        with connect(server, user, password, database, source):
            raise AssertionError(f"{user} was let in")
    except ServerError as error:
        return error.fields["C"], error.fields["M"]


def connect(server, user, password=None, database="postgres", source=None):
    """`source`: another address of this machine to come from."""
    connection = Connection(server.address, start=False, password=password)
    if source:
        connection.socket.close()
        connection.socket = socket.create_connection(server.address, 120, (source, 0))
    connection.start(dict(user=user, database=database))
    return connection


def log_of(server):
    return server.process.log()


WRONG = ("28P01", 'password authentication failed for user "{}"')


def wrong(user):
    return WRONG[0], WRONG[1].format(user)


# --- protected mode

# Says what the first message behind a startup packet is: R, or E with its fields.
FOREIGN_CLIENT = """
import socket, struct, sys
body = struct.pack("!i", 196608) + b"user\\0postgres\\0database\\0postgres\\0\\0"
client = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
client.sendall(struct.pack("!i", len(body) + 4) + body)
data = client.recv(65536)
print(data[:1].decode(), data[5:].replace(b"\\0", b" "))
"""


def test_protected_mode_trusts_the_own_user_alone(make_redis, make_server):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        assert connection.authentication == []
        assert connection.run("SELECT current_user") == [["postgres"]]
    assert refusal(server, "mallory") == ("28000", 'role "mallory" does not exist')
    with open("/proc/self/uid_map", encoding="ascii") as file:
        is_root = os.getuid() == 0 and file.read().split()[2] != "1"
    if is_root:
        told = subprocess.run([sys.executable, "-c", FOREIGN_CLIENT, server.host, str(server.port)], user="nobody", group="nogroup",
                              extra_groups=[], capture_output=True, check=True, text=True).stdout
        assert told.startswith("E ") and "28000" in told and "no pg_hba.conf entry" in told and "No role has a password" in told, told
    assert log_of(server).count("protected mode") == 1


def test_protected_mode_trusts_no_other_address(make_redis, make_server):
    server = make_server(redis=make_redis())
    sqlstate, text = refusal(server, "postgres", source="127.0.0.6")
    assert (sqlstate, text) == ("28000", 'no pg_hba.conf entry for host "127.0.0.6", user "postgres", database "postgres", no encryption')


def test_protected_mode_trusts_no_socket_that_its_process_has_closed(make_redis, make_server):
    """The kernel says of such a socket that root owns it."""
    server = make_server("--threads", "1", redis=make_redis())
    with server.connect() as other:
        server.process.popen.send_signal(signal.SIGSTOP)
        connection = server.socket()
        connection.send(startup(dict(user="postgres", database="postgres")) + query("CREATE TABLE ghost (id integer)"))
        connection.socket.close()
        server.process.popen.send_signal(signal.SIGCONT)
        other.run("SELECT pg_sleep(0.5)")
        assert other.run("SELECT count(*) FROM pg_class WHERE relname = 'ghost'") == [["0"]]


def test_addresses_beyond_this_machine_need_passwords_or_rules(build, make_redis, make_server):
    redis = make_redis()
    command = [f"{build}/redquel", "--listen", "0.0.0.0:0", "--redis", redis.url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "refusing to listen on 0.0.0.0" in ended.stderr and "redquel init" in ended.stderr, ended
    add_role(redis, "postgres", passwords.scram_verifier("secret"))
    for rules in ("", '[authentication]\nrules = "host all all 127.0.0.1/32 md5"\n'):
        folder = temporary_folder()
        with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
            file.write(rules)
        process = Process([*command, "--config", f"{folder}/redquel.toml"], f"{folder}/log", cwd=folder)
        port = int(process.wait_for_line(r"^ready 0\.0\.0\.0:(\d+)$")[1])
        with Connection(("127.0.0.1", port), password="secret") as connection:
            assert connection.authentication[0] == SASL
        process.stop()


def test_the_first_password_ends_protected_mode_for_all(make_redis, make_server):
    redis = make_redis()
    servers = [make_server(redis=redis), make_server(redis=redis)]
    with servers[0].connect() as before:
        add_role(redis, "postgres", passwords.scram_verifier("secret"))
        for server in servers:
            assert refusal(server, "postgres", "guess") == wrong("postgres")
            with connect(server, "postgres", "secret") as connection:
                assert connection.authentication == [10, 11, 12]
        assert before.run("SELECT 1") == [["1"]]
    with redis.connect() as connection:
        connection("DEL", "redquel:verifiers")
    for server in servers:  # protected mode does not come back
        assert refusal(server, "postgres", "secret") == wrong("postgres")


def test_a_first_password_without_one_for_a_superuser_is_a_warning(make_redis, make_server):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        warned = 'role "ann" gets a password while no superuser has one'
        connection.run("CREATE ROLE ann LOGIN")
        assert warned not in log_of(server)
        [result] = connection.query("ALTER ROLE ann PASSWORD 'secret'")
        assert "no superuser has a password" in result.notices[0]["M"], result.notices
        assert warned in log_of(server) and "secret" not in log_of(server)
        connection.run("ALTER ROLE postgres PASSWORD 'secret'")
        connection.run("CREATE ROLE bob LOGIN PASSWORD 'secret'")
        assert 'role "bob" gets' not in log_of(server) and 'role "postgres" gets' not in log_of(server)


def test_a_first_password_of_another_role_locks_root_not_out(make_redis, make_server):
    redis = make_redis()
    servers = [make_server(redis=redis), make_server(redis=redis)]
    with servers[0].connect() as connection:
        connection.run("CREATE ROLE ann LOGIN PASSWORD 'secret'; CREATE ROLE bob LOGIN")
    later = make_server(redis=redis)
    for server in (*servers, later):
        assert refusal(server, "ann", "guess") == wrong("ann")
        assert refusal(server, "bob", "guess") == wrong("bob")
        connect(server, "ann", "secret").close()
        with server.connect() as connection:  # root on this machine
            assert connection.authentication == [] and connection.run("SELECT current_user") == [["postgres"]]
    assert refusal(later, "postgres", "guess", source="127.0.0.6") == wrong("postgres")
    with later.connect() as connection:
        connection.run("ALTER ROLE postgres PASSWORD 'secret'")
    for server in (*servers, later):
        assert refusal(server, "postgres", "guess") == wrong("postgres")
        connect(server, "postgres", "secret").close()
    with redis.connect() as connection:
        connection("DEL", "redquel:verifiers")
    assert refusal(later, "postgres", "secret") == wrong("postgres"), "the exception does not come back"


def test_an_emptied_redis_refuses_all_logins(make_redis, make_server):
    for authentication in ("", SCRAM_RULES, 'rules = "host all all 127.0.0.1/32 trust"'):
        redis = make_redis()
        server = configured(make_server, redis, authentication)
        add_role(redis, "postgres", passwords.scram_verifier("secret"))
        connect(server, "postgres", "secret").close()
        redis.flush()
        expected = ("28000", 'role "postgres" does not exist') if "trust" in authentication else wrong("postgres")
        assert refusal(server, "postgres", "secret") == expected, authentication
    redis = make_redis()
    server = make_server(redis=redis)  # in protected mode
    server.connect().close()
    redis.flush()
    assert refusal(server, "postgres") == ("28000", 'role "postgres" does not exist')


# --- passwords

def transcript(server, user, password, source):
    """The messages of a login that fails, without what is random or the client's own."""
    connection = Connection(server.address, start=False)
    connection.socket.close()
    connection.socket = socket.create_connection(server.address, 120, (source, 0))
    client = passwords.PasswordClient(user, password)
    connection.send(startup(dict(user=user, database="postgres")))
    seen = []
    try:
        while True:
            kind, payload = connection.read()
            if kind != b"R":
                seen.append((kind, decode_fields(payload)))
                continue
            code, = struct.unpack_from("!i", payload)
            seen.append((kind, code, len(payload), payload if code == SASL else None))
            connection.send(message(b"p", client.answer(code, payload[4:])))
    except ConnectionClosed:
        return seen


def test_clients_do_not_learn_which_roles_exist(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES)
    add_role(redis, "right", passwords.scram_verifier("secret"))
    add_role(redis, "blank")
    add_role(redis, "stale", passwords.scram_verifier("secret"), valid_until=EXPIRED)
    add_role(redis, "group", passwords.scram_verifier("secret"), can_login=False)
    add_role(redis, "older", passwords.md5_verifier("older", "secret"))
    reasons = {"right": "Password does not match", "nones": "does not exist", "blank": "has no password assigned",
               "stale": "has an expired password", "group": "Password does not match", "older": "does not have a valid SCRAM secret"}
    transcripts = {}
    for number, user in enumerate(reasons):
        password = "guess" if user in ("right", "group") else "secret"
        shown = repr(transcript(server, user, password, f"127.0.1.{number + 1}"))
        transcripts[user] = shown.replace(user, "USER")
    assert len(set(transcripts.values())) == 1, transcripts
    for number, (user, reason) in enumerate(reasons.items()):
        line, = [line for line in log_of(server).splitlines() if f"client at 127.0.1.{number + 1}:" in line]
        assert reason in line and f'"{user}"' in line and "host all all all scram-sha-256" in line and "guess" not in line, line
    assert refusal(server, "group", "secret") == ("28000", 'role "group" is not permitted to log in')
    for user in ("right",):
        connect(server, user, "secret").close()


def test_the_salt_of_a_name_without_a_role_stays_the_same(make_redis, make_server):
    """Also for other processes: a changing salt would reveal that there is no role."""
    redis = make_redis()
    servers = [configured(make_server, redis, SCRAM_RULES) for _ in range(2)]
    salts = {name: set() for name in ("ghost", "other")}
    for server in servers * 2:
        for name, seen in salts.items():
            seen.add(passwords.attributes(challenge_of(server, name))["s"])
    assert [len(seen) for seen in salts.values()] == [1, 1] and salts["ghost"] != salts["other"], salts


def challenge_of(server, user):
    connection = server.socket()
    connection.send(startup(dict(user=user, database="postgres")))
    connection.read()
    connection.send(message(b"p", initial_response(b"SCRAM-SHA-256", Scram("x").first())))
    _, payload = connection.read()
    connection.abandon()
    return payload[4:]


def test_md5_rules_take_both_forms(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, 'rules = "host all all all md5"')
    add_role(redis, "older", passwords.md5_verifier("older", "secret"))
    add_role(redis, "newer", passwords.scram_verifier("secret"))
    add_role(redis, "stale", passwords.md5_verifier("stale", "secret"), valid_until=EXPIRED)
    for user, requests in (("older", [5]), ("newer", [10, 11, 12])):
        with connect(server, user, "secret") as connection:
            assert connection.authentication == requests
        assert refusal(server, user, "guess") == wrong(user)
    assert refusal(server, "stale", "secret") == wrong("stale")
    assert refusal(server, "ghost", "secret") == wrong("ghost")


def test_passwords_beyond_ascii(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES)
    add_role(redis, "zoe", passwords.scram_verifier("pässwörd ☃"))
    connect(server, "zoe", "pässwörd ☃").close()
    assert refusal(server, "zoe", "passwörd ☃") == wrong("zoe")


# --- rules

def test_rules_decide_by_role_database_and_address(make_redis, make_server):
    redis = make_redis()
    rules = """
local all all peer
host all mallory all reject
host postgres +staff 127.0.0.0/8 trust
host sameuser all 127.0.0.2/32 scram-sha-256
"""
    server = configured(make_server, redis, f'rules = """{rules}"""')
    add_role(redis, "staff", can_login=False)
    add_role(redis, "ann", members_of=["staff"])
    add_role(redis, "mallory", members_of=["staff"])
    connect(server, "ann").close()
    connect(server, "ann", source="127.0.0.9").close()
    assert refusal(server, "mallory") == (
        "28000", 'pg_hba.conf rejects connection for host "127.0.0.1", user "mallory", database "postgres", no encryption')
    assert "client at 127.0.0.1: pg_hba.conf rejects connection" in log_of(server)
    assert refusal(server, "staff") == ("28000", 'role "staff" is not permitted to log in')
    assert refusal(server, "bob") == ("28000", 'no pg_hba.conf entry for host "127.0.0.1", user "bob", database "postgres", no encryption')
    assert refusal(server, "postgres", database="nowhere")[1].startswith("no pg_hba.conf entry")
    add_role(redis, "postgres", passwords.scram_verifier("secret"))
    connect(server, "postgres", "secret", source="127.0.0.2").close()


def test_rules_for_addresses_and_networks_of_this_machine(make_redis, make_server):
    """127.0.0.9 lies in the network of the loopback interface, and no interface has it."""
    redis = make_redis()
    server = configured(make_server, redis, 'rules = """\nhost all ann samehost scram-sha-256\nhost all bob samenet scram-sha-256\nhost all carl samehost reject\nhost all carl samenet scram-sha-256\n"""')
    for name in ("ann", "bob", "carl"):
        add_role(redis, name, passwords.scram_verifier("secret"))
    connect(server, "ann", "secret").close()
    assert refusal(server, "ann", source="127.0.0.9")[1].startswith('no pg_hba.conf entry for host "127.0.0.9"')
    connect(server, "bob", "secret").close()
    connect(server, "bob", "secret", source="127.0.0.9").close()
    assert refusal(server, "carl")[1].startswith('pg_hba.conf rejects connection for host "127.0.0.1"')
    connect(server, "carl", "secret", source="127.0.0.9").close()


def test_a_broken_rule_file_ends_the_start(build, make_redis):
    redis, folder = make_redis(), temporary_folder()

    def start(hba, ident=""):
        for name, text in (("hba", hba), ("ident", ident), ("toml", f'[authentication]\nhba_file = "{folder}/hba"\nident_file = "{folder}/ident"\n')):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        ended = subprocess.run([f"{build}/redquel", "--config", f"{folder}/toml", "--listen", "127.0.0.1:0", "--redis", redis.url],
                               capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode != 0
        return ended.stderr.splitlines()[-1]

    good = "local all all peer\n"
    assert start(f"{good}\nhost all all all trust\n") == \
        f"redquel: {folder}/hba:3: trust authentication is only supported for loopback addresses"
    assert start(good, "users root\n") == f"redquel: {folder}/ident:1: missing entry at end of line"
    assert "contains no rules" in start("# none\n")
    os.remove(f"{folder}/hba")
    with open(f"{folder}/toml", "w", encoding="utf-8") as file:
        file.write('[authentication]\nhba_file = "hba"\nrules = "local all all peer"\n')
    ended = subprocess.run([f"{build}/redquel", "--config", f"{folder}/toml"], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "exclude each other" in ended.stderr


def test_settings_name_the_files(make_redis, make_server):
    folder = temporary_folder()
    for name in ("hba", "ident"):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write("host all all 127.0.0.1/32 trust\n" if name == "hba" else "# none\n")
    server = configured(make_server, make_redis(), f'hba_file = "{folder}/hba"\nident_file = "{folder}/ident"\ntimeout = 7',
                        "superuser_reserved_connections = 2")
    with server.connect() as connection:
        assert [connection.run(f"SHOW {name}") for name in ("hba_file", "ident_file", "authentication_timeout", "superuser_reserved_connections")] \
            == [[[f"{folder}/hba"]], [[f"{folder}/ident"]], [["7s"]], [["2"]]]
        assert connection.run("SELECT address, netmask, auth_method FROM pg_hba_file_rules") == [["127.0.0.1", "255.255.255.255", "trust"]]
        os.remove(f"{folder}/hba")
        assert connection.run_error("SELECT * FROM pg_hba_file_rules")["C"] == "58P01"


# --- limits

def test_places_of_roles_and_of_superusers(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, 'rules = "host all all 127.0.0.1/32 trust"', "max_connections = 4\nsuperuser_reserved_connections = 1")
    add_role(redis, "ann", connection_limit=1)
    add_role(redis, "bob")
    with connect(server, "ann"):
        assert refusal(server, "ann") == ("53300", 'too many connections for role "ann"')
        with connect(server, "bob"), connect(server, "bob"):
            assert refusal(server, "bob") == ("53300", "remaining connection slots are reserved for non-replication superuser connections")
            with connect(server, "postgres"):
                assert refusal(server, "postgres") == ("53300", "sorry, too many clients already")
    wait_for(lambda: refused_or_none(server, "ann") is None)


def refused_or_none(server, user):
    try:
        connect(server, user).close()
    except ServerError as error:
        return error.fields["C"]


def test_a_refusal_is_told_after_the_delay(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES, "", "--threads", "1", delay=2000)
    add_role(redis, "ann", passwords.scram_verifier("secret"))
    connection = server.socket()
    connection.send(startup(dict(user="ann", database="postgres")))
    scram = Scram("guess")
    connection.read()
    connection.send(message(b"p", initial_response(b"SCRAM-SHA-256", scram.first())))
    connection.send(message(b"p", scram.final(connection.read()[1][4:])))
    with connect(server, "ann", "secret") as other:  # the pause holds up no other client of this thread
        assert other.run("SELECT 1") == [["1"]]
    assert not connection.has_input()
    assert connection.read()[0] == b"E"


def test_clients_without_a_password_lose_their_slots(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES, "max_startups = 10")
    add_role(redis, "ann", passwords.scram_verifier("secret"))
    waiting = []
    for _ in range(14):
        connection = server.socket()
        connection.send(startup(dict(user="ann", database="postgres")))
        waiting.append(connection)
    connect(server, "ann", "secret").close()
    told = [decode_fields(c.read()[1])["C"] for c in waiting if c.read()[0] == b"R" and c.has_input(0.2)]
    assert told and set(told) == {"53300"}, told


def test_clients_that_send_a_byte_now_and_then_lose_their_slots(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES, "max_startups = 10")
    add_role(redis, "ann", passwords.scram_verifier("secret"))
    packet = startup(dict(user="ann", database="postgres", application_name="x" * 200))
    trickles = [server.socket() for _ in range(10)]
    ends = threading.Event()

    def trickle():
        for byte in packet[:-1]:
            for connection in trickles:
                with contextlib.suppress(OSError):
                    connection.send(bytes([byte]))
            if ends.wait(0.2):
                return

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        for _ in range(3):
            connect(server, "ann", "secret").close()
    finally:
        ends.set()
        thread.join()


# --- hostile answers

def first_request(server, user="ann"):
    connection = server.socket()
    connection.send(startup(dict(user=user, database="postgres")))
    assert connection.read()[0] == b"R"
    return connection


def last_error(connection):
    """SQLSTATE, message and detail of the error that ends a connection; None: it was closed without one."""
    try:
        while True:
            kind, payload = connection.read()
            if kind == b"E":
                fields = decode_fields(payload)
                return fields["S"], fields["C"], fields["M"], fields.get("D")
            assert kind == b"R", kind
    except ConnectionClosed:
        return None


HEADER = b"n,,n=,r=abcdef"
ANSWERS = [
    [b"SCRAM-SHA-1\0" + struct.pack("!i", 3) + b"n,,"], [b"SCRAM-SHA-256-PLUS\0" + struct.pack("!i", 3) + b"n,,"], [b"SCRAM-SHA-256"],
    [b"SCRAM-SHA-256\0" + struct.pack("!i", 100) + b"n,,"], [b"SCRAM-SHA-256\0" + struct.pack("!i", -2) + b"n,,"],
    [initial_response(b"SCRAM-SHA-256", HEADER) + b"x"], [initial_response(b"SCRAM-SHA-256", b"")],
    [initial_response(b"SCRAM-SHA-256", None), HEADER, b"c=biws,r=zzz,p=" + b"A" * 43 + b"="],
    *[[initial_response(b"SCRAM-SHA-256", first)] for first in (
        b"n", b"nn", b"y,x,n=,r=a", b"z,,n=,r=a", b"p=tls-unique,,n=,r=a", b"n,a=me,n=,r=a", b"n,,m=x", b"n,,r=a", b"n,,n,r=a", b"n,,n=,r=a\x7f",
        b"n,,n=,r=a,1=2", b"n,,n=,r=a,xy", b"n,,n=\0,r=a", b"n,\xff")],
    *[[initial_response(b"SCRAM-SHA-256", HEADER), last] for last in (
        b"", b"c", b"c=biws", b"c=eSws,r=a,p=b", b"c=biws,r=a", b"c=biws,r=a,p=b", b"c=biws,x=1", b"c=biws,r=a,x=1,p=" + b"A" * 43 + b"=",
        b"c=biws,r=a,p=" + b"A" * 43 + b"=,x=1", b"c=biws,r=a,?=1,p=x", b"c=biws,r=a\0,p=x")],
]


def test_mistakes_of_scram_clients_have_postgresqls_errors(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES)
    oracle = Postgres()
    oracle.start()
    try:
        verifier = passwords.scram_verifier("secret")
        add_role(redis, "ann", verifier)
        with oracle.connect() as connection:
            connection.run(f"CREATE ROLE ann LOGIN PASSWORD '{verifier}'")
            with open(f"{oracle.folder}/data/pg_hba.conf", "w", encoding="utf-8") as file:
                file.write("local all ann scram-sha-256\nlocal all all trust\n")
            connection.run("SELECT pg_reload_conf()")
            wait_for(lambda: asks_for_password(oracle))
        for bodies in ANSWERS:
            told = []
            for who in (oracle, server):
                connection = first_request(who)
                for body in bodies[:-1]:
                    connection.send(message(b"p", body))
                    connection.read()
                connection.send(message(b"p", bodies[-1]))
                told.append(last_error(connection))
            assert told[0] == told[1], f"{bodies}\nPostgreSQL: {told[0]}\nredquel: {told[1]}"
        for data in (message(b"Q", b"SELECT 1\0"), message(b"X"), b"R\0\0\0\4", message(b"p", b"x" * 1025), b"p\0\0\0\0", b"p\xff\xff\xff\xff"):
            told = []
            for who in (oracle, server):
                connection = first_request(who)
                connection.send(data)
                told.append(last_error(connection))
            assert told[0] == told[1], f"{data[:20]}\nPostgreSQL: {told[0]}\nredquel: {told[1]}"
    finally:
        oracle.stop()


def asks_for_password(server):
    connection = server.socket()
    connection.send(startup(dict(user="ann", database="postgres")))
    _, payload = connection.read()
    connection.abandon()
    return payload[:4] == struct.pack("!i", SASL)


def test_md5_answers_are_bounded(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, 'rules = "host all all all md5"')
    add_role(redis, "ann", passwords.md5_verifier("ann", "secret"))
    for body, expected in ((b"", "08P01"), (b"\0", "28P01"), (b"a\0b\0", "08P01"), (b"a", "08P01"), (b"x" * 65534 + b"\0", "28P01"),
                           (b"x" * 65535 + b"\0", "28P01")):
        connection = first_request(server)
        connection.send(message(b"p", body))
        assert last_error(connection)[1] == expected, body[:10]


def test_random_answers_let_no_client_in(make_redis, make_server, random):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES, "", "--threads", "1")
    add_role(redis, "ann", passwords.scram_verifier("secret"))

    def mutated(data):
        data = bytearray(data)
        for _ in range(random.choice([1, 1, 2, 5])):
            at = random.randrange(len(data) + 1)
            data[at:at + random.choice([0, 0, 1, 3, 50])] = random.randbytes(random.choice([0, 1, 1, 4, 900]))
        return bytes(data)

    for _ in range(200):
        connection = server.socket()
        scram = Scram("secret")
        opening = startup(dict(user="ann", database="postgres"))
        try:
            connection.send(mutated(opening) if random.random() < 0.2 else opening)
            first = message(b"p", initial_response(b"SCRAM-SHA-256", scram.first()))
            is_changed = random.random() < 0.5
            connection.send(mutated(first) if is_changed else first)
            if not is_changed and random.random() < 0.9 and connection.read()[0] == b"R":
                kind, challenge = connection.read()
                if kind == b"R":
                    final = message(b"p", scram.final(challenge[4:]))
                    answer = mutated(final[:-1])
                    if answer.startswith(final):  # the mutation has brought the last byte back
                        continue
                    connection.send(answer)
            connection.socket.settimeout(0.02)
            for _ in range(3):
                kind, payload = connection.read()
                assert kind in (b"R", b"E", b"v") and payload[:4] != struct.pack("!i", 0), (kind, payload)
        except (ConnectionClosed, TimeoutError, OSError):
            pass
        connection.abandon()
    assert server.alive()
    connect(server, "ann", "secret").close()


def test_many_logins_at_once(make_redis, make_server):
    redis = make_redis()
    server = configured(make_server, redis, SCRAM_RULES)
    add_role(redis, "ann", passwords.scram_verifier("secret"))

    def visit(number):
        for turn in range(10):
            if (number + turn) % 3 == 0:
                assert refusal(server, "ann", "guess") == wrong("ann")
            else:
                with connect(server, "ann", "secret") as connection:
                    assert connection.run(f"SELECT {number}") == [[str(number)]]

    all_at_once(visit, 8)


def test_the_log_holds_one_line_a_minute_for_an_address(make_redis, make_server):
    server = configured(make_server, make_redis(), SCRAM_RULES)
    for _ in range(20):
        refusal(server, "ghost", "secret")
    assert len(re.findall("client at 127.0.0.1:", log_of(server))) == 1
