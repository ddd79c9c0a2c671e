"""pg_hba.conf and pg_ident.conf: the lines of made and mutated files are read as PostgreSQL 15 reads them."""
import os
import re

from harness.processes import temporary_folder
from harness.servers import Postgres, Redquel

FILES = 400
RULES = "SELECT line_number, type, database, user_name, address, netmask, auth_method, options, error FROM pg_hba_file_rules"
MAPPINGS = "SELECT line_number, map_name, sys_name, pg_username, error FROM pg_ident_file_mappings"

CONNECTIONS = ["local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc", "Local", "hosts", '"host"', "host,local", "@kinds"]
NAMES = ["all", "sameuser", "samerole", "samegroup", "replication", "alice", '"all"', '"Some Name"', "+staff", '"+staff"', "a,b", "a, b,c",
         "@names", "@empty", "@missing", "@nested", "@folder", '"@names"', "@", 'x"y z"', '""', '"a""b"', "b,@names", "ünï", "a,,b", "x#y"]
ADDRESSES = ["127.0.0.1/32", "127.0.0.0/8", "10.0.0.0/8", "192.168.1.77/24", "0.0.0.0/0", "::1/128", "::/0", "fe80::/10", "2001:db8::1/64",
             "::ffff:10.0.0.1/96", "all", "samehost", "samenet", '"all"', "10.0.0.1/33", "::1/129", "10.0.0.1/", "10.0.0.1/-1", "10.0.0.1/ab",
             "10.0.0.1/+8", "10.1/16", "127.0.0.1 255.255.255.255", "10.0.0.0 255.0.255.0", "10.0.0.0 ffff::", "::1 ffff:ffff::", "10.0.0.0 x",
             "fe80::1%lo/64", "10.0.0.1,10.0.0.2", "1.2.3.4.5", "10.0.0.1/8/8", "0x7f.1/32", '" 127.0.0.1/32"', "host.example", ".example/8"]
METHODS = ["trust", "reject", "scram-sha-256", "md5", "password", "cert", "peer", "ident", "ldap", "pam", "gss", "radius", "Trust", "scram",
           '"md5"', "md5,trust", "crypt"]
OPTIONS = ["map=users", "map=", "clientcert=verify-full", "clientcert=verify-ca", "clientcert=1", "clientname=DN", "clientname=CN", "clientname=x",
           "nonsense", "a=b", '"map=two words"', "map=a,clientname=CN", "ldapserver=x", "pamservice=x", "krb_realm=x", "radiusports=1",
           "upn_username=1", "include_realm=0", "=", "map=a=b"]
MAPS = ["users", '"two words"', "/^(.*)@example$", "/(", "/[", "/a{3,1}", '"/^(a|b) c"', "\\1", "root", "a,b", "@names", "@folder", "ünï", "/(?i)x", "/"]
INSERTED = ['"', ",", " ", "\t", "#", "\\\n", "\n", "\r\n", "@", "+", "=", "/", "\\", "", '""', "é", "\r"]

# Lines that PostgreSQL takes and redquel does not, by redquel's error.
OWN_ERRORS = re.compile(r"^(host name \".*\" is not supported by redquel|trust authentication is only supported for loopback addresses"
                        r"|password authentication is only supported on hostssl and local connections"
                        r"|invalid authentication method \"(ident|ldap|pam|gss|radius)\": not supported by this build)", re.S)

# Errors that PostgreSQL writes into its log alone.
LOGGED_ERRORS = re.compile(r"^invalid value for client(cert|name): ")


def host_line(random):
    """A line of pg_hba.conf, good more often than not."""
    def pick(words, good):
        return random.choice(words[:good] if random.random() < 0.9 else words)

    kind = pick(CONNECTIONS, 4)
    words = [kind, pick(NAMES, 9), pick(NAMES, 9)]
    if kind != "local":
        words.append(pick(ADDRESSES, 14))
    words.append(pick(METHODS, 7))
    words += random.choices(OPTIONS, k=random.choice([0, 0, 0, 1, 1, 2]))
    return random.choice([" ", "\t", "  ", " \t"]).join(words[:random.choice([len(words)] * 9 + [random.randint(0, len(words))])])


def ident_line(random):
    return " ".join(random.choices(MAPS, k=random.choice([3, 3, 3, 3, 2, 1, 4])))


def mutated(random, text):
    for _ in range(random.choice([0, 0, 0, 1, 2, 4])):
        at = random.randint(0, len(text))
        text = text[:at] + random.choice(INSERTED) + text[at + random.choice([0, 0, 1, 3]):]
    return text


def file_text(random, line):
    lines = [line(random) for _ in range(random.randint(1, 12))]
    lines.insert(random.randint(0, len(lines)), random.choice(["# a comment", "", "   ", "\\"]))
    return mutated(random, "\n".join(lines)) + random.choice(["", "\n"])


def write(path, text, owner=None):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    if owner:
        os.chmod(path, 0o644)


def without_folders(rows):
    return [[re.sub(r'"/[^"]*/', '"/', value) if value else value for value in row] for row in rows]


def servers(build, redis):
    """[PostgreSQL, redquel], each with rule files of its own in its folder, and what these include."""
    postgres = Postgres()
    postgres.start_with({"listen_addresses": "", "unix_socket_directories": postgres.folder, "port": 5432, "fsync": "off", "lc_messages": "C"})
    folder = temporary_folder()
    for place in (f"{postgres.folder}/data", folder):
        for name, text in (("names", "bob, carol\n# none\ndave \"two words\"\n"), ("empty", ""), ("kinds", "host"), ("nested", "@names eve")):
            write(f"{place}/{name}", text, postgres.user)
        os.mkdir(f"{place}/folder")
    write(f"{folder}/hba", "host all all 127.0.0.1/32 trust\n")
    write(f"{folder}/ident", "")
    write(f"{folder}/redquel.toml", f'[authentication]\nhba_file = "{folder}/hba"\nident_file = "{folder}/ident"\n')
    redquel = Redquel(build, redis, "--config", f"{folder}/redquel.toml").start()
    return postgres, redquel, folder


def test_rule_files_have_postgresqls_rows(build, make_redis, random):
    postgres, redquel, folder = servers(build, make_redis())
    try:
        with postgres.connect() as oracle, redquel.connect() as subject:
            compared = good = own = 0
            for _ in range(FILES):
                is_ident = random.random() < 0.2
                text = file_text(random, ident_line if is_ident else host_line)
                name, statement = ("ident", MAPPINGS) if is_ident else ("hba", RULES)
                write(f"{postgres.folder}/data/pg_{name}.conf", text, postgres.user)
                write(f"{folder}/{name}", text)
                expected, got = without_folders(oracle.run(statement)), without_folders(subject.run(statement))
                assert [row[0] for row in got] == [row[0] for row in expected], f"{text!r}\nPostgreSQL: {expected}\nredquel: {got}"
                for wanted, row in zip(expected, got):
                    if row[-1] and OWN_ERRORS.match(row[-1]):
                        own += 1
                        continue
                    if row[-1] and LOGGED_ERRORS.match(row[-1]):
                        wanted = [*wanted[:-1], row[-1]]
                    compared += 1
                    good += wanted[-1] is None
                    assert row == wanted, f"{text!r}\nPostgreSQL: {wanted}\nredquel: {row}"
            assert compared > 5 * FILES // 2 and good > compared // 6 and own < compared, (compared, good, own)
    finally:
        redquel.stop()
        postgres.stop()
