"""Programs that log in with passwords: psql and psycopg2 (libpq), Perl's DBD::Pg."""
import os

import psycopg2

from harness import passwords
from harness.certificates import Authority
from harness.programs import run
from harness.roles import add_role, configured

RULES = 'rules = """host all older all md5\nhostssl all plain all password\nhost all all all scram-sha-256"""'


def secure_server(make_server, redis):
    authority = Authority()
    issued = authority.issue()
    server = configured(make_server, redis, RULES, tables=f'[tls]\ncertificate = "{issued.certificate}"\nkey = "{issued.key}"\n')
    add_role(redis, "ann", passwords.scram_verifier("se cret"))
    add_role(redis, "plain", passwords.scram_verifier("se cret"))
    add_role(redis, "older", passwords.md5_verifier("older", "se cret"))
    return server, authority


def psql(server, password, parameters):
    words = " ".join(f"{name}={value}" for name, value in {"host": "localhost", "hostaddr": "127.0.0.1", "port": server.port,
                                                           "dbname": "postgres", **parameters}.items())
    done = run(["psql", "-X", "-A", "-t", "-w", "-c", "SELECT current_user", words], check=False, env={"PGPASSWORD": password})
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def test_psql(make_redis, make_server):
    server, authority = secure_server(make_server, make_redis())
    full = {"sslmode": "verify-full", "sslrootcert": authority.certificate}
    for parameters in ({"sslmode": "disable"}, {"sslmode": "prefer"}, full, {**full, "channel_binding": "require"},
                       {**full, "channel_binding": "disable"}):
        assert psql(server, "se cret", {"user": "ann", **parameters}) == "ann", parameters
        assert 'FATAL:  password authentication failed for user "ann"' in psql(server, "guess", {"user": "ann", **parameters})
    assert psql(server, "se cret", {"user": "older", "sslmode": "disable"}) == "older"
    assert psql(server, "se cret", {"user": "plain", **full}) == "plain"
    assert "no pg_hba.conf entry" not in psql(server, "se cret", {"user": "plain", "sslmode": "disable"})
    assert "channel binding required" in psql(server, "se cret", {"user": "ann", "sslmode": "disable", "channel_binding": "require"})


def test_psycopg2(make_redis, make_server):
    server, authority = secure_server(make_server, make_redis())
    connection = psycopg2.connect(host="localhost", hostaddr="127.0.0.1", port=server.port, user="ann", password="se cret", dbname="postgres",
                                  sslmode="verify-full", sslrootcert=authority.certificate)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("ann",)
    connection.close()
    try:
        psycopg2.connect(host=server.host, port=server.port, user="ann", password="guess", dbname="postgres")
    except psycopg2.OperationalError as error:
        assert 'password authentication failed for user "ann"' in str(error)
    else:
        raise AssertionError("a wrong password was taken")


def test_dbd_pg(make_redis, make_server):
    server, _ = secure_server(make_server, make_redis())
    script = "use DBI; my $d = DBI->connect($ARGV[0], $ARGV[1], $ARGV[2], {RaiseError => 0, PrintError => 0});" \
        "print $d ? $d->selectrow_array('SELECT current_user') : $DBI::errstr"
    source = f"dbi:Pg:dbname=postgres;host={server.host};port={server.port};sslmode=disable"
    for user in ("ann", "older"):
        assert run(["perl", "-e", script, source, user, "se cret"], env={"PGSSLMODE": "disable"}) == user
    assert "password authentication failed" in run(["perl", "-e", script, source, "ann", "guess"], env=dict(os.environ))
