"""psycopg2's replication cursor and pg_recvlogical read the changes of a publication."""
import subprocess
import time

import psycopg2
import psycopg2.extras

from harness.programs import connection_options, psql, run

OPTIONS = {"proto_version": "1", "publication_names": "p"}


def connect(server, replicates=False, user="postgres"):
    factory = psycopg2.extras.LogicalReplicationConnection if replicates else None
    connection = psycopg2.connect(host=server.host, port=server.port, user=user, dbname="postgres", connection_factory=factory)
    if not replicates:
        connection.autocommit = True
    return connection


def code_of(cursor, command):
    try:
        cursor.execute(command)
    except psycopg2.Error as error:
        return error.pgcode
    return None


def published(server):
    cursor = connect(server).cursor()
    cursor.execute("CREATE TABLE t (a int PRIMARY KEY, b text)")
    cursor.execute("CREATE PUBLICATION p FOR TABLE t")
    return cursor


def kinds_until(cursor, count, seconds=20):
    """The first letters of so many messages."""
    kinds, end = "", time.time() + seconds
    while len(kinds) < count and time.time() < end:
        message = cursor.read_message()
        if message is None:
            time.sleep(0.01)
            continue
        kinds += chr(message.payload[0])
        cursor.send_feedback(flush_lsn=message.wal_end, force=True)
    return kinds


def test_psycopg2_reads_changes_and_goes_on_where_it_was(fresh_server):
    sql = published(fresh_server)
    stream = connect(fresh_server, replicates=True).cursor()
    stream.create_replication_slot("reader", output_plugin="pgoutput")
    sql.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    stream.start_replication(slot_name="reader", options=OPTIONS, decode=False)
    assert kinds_until(stream, 5) == "BRIIC"
    sql.execute("BEGIN; UPDATE t SET b = 'z' WHERE a = 1; DELETE FROM t WHERE a = 2; COMMIT")
    assert kinds_until(stream, 4) == "BDUC"
    sql.execute("SELECT slot_name, plugin, active FROM pg_replication_slots")
    assert sql.fetchall() == [("reader", "pgoutput", True)]
    time.sleep(1.5)  # the slot's record is written
    sql.execute("SELECT confirmed_flush_lsn < '1/0' FROM pg_replication_slots")
    assert sql.fetchall() == [(True,)]
    stream.connection.close()
    sql.execute("TRUNCATE t")
    stream = connect(fresh_server, replicates=True).cursor()
    deadline = time.time() + 20
    while True:
        try:
            stream.start_replication(slot_name="reader", options=OPTIONS, decode=False)
            break
        except psycopg2.Error as error:
            assert error.pgcode == "55006" and time.time() < deadline, error
            time.sleep(0.2)
    assert kinds_until(stream, 4) == "BRTC"
    stream.connection.close()


def test_commands_of_replication_and_their_errors(fresh_server):
    sql = published(fresh_server)
    cursor = connect(fresh_server, replicates=True).cursor()
    cursor.execute("IDENTIFY_SYSTEM")
    assert cursor.fetchone()[1:] != (None,)
    assert [code_of(cursor, command) for command in (
        'CREATE_REPLICATION_SLOT "Bad" LOGICAL pgoutput', "CREATE_REPLICATION_SLOT s LOGICAL test_decoding", "CREATE_REPLICATION_SLOT s PHYSICAL",
        "CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL pgoutput", "CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'nothing')",
        "CREATE_REPLICATION_SLOT s LOGICAL pgoutput NOEXPORT_SNAPSHOT", "DROP_REPLICATION_SLOT nowhere", "START_REPLICATION SLOT nowhere LOGICAL 0/0 (proto_version '1', publication_names 'p')",
        "START_REPLICATION SLOT s LOGICAL 0/0", "START_REPLICATION SLOT s LOGICAL x", "START_REPLICATION 0/0", "DROP_REPLICATION_SLOT s WAIT")
    ] == ["42602", "0A000", "0A000", "0A000", None, "42710", "42704", "42704", "22023", "42601", "0A000", None]
    cursor.execute("SHOW wal_level")
    assert cursor.fetchone() == ("logical",)
    sql.execute("CREATE ROLE reader LOGIN")
    try:
        connect(fresh_server, replicates=True, user="reader")
        raise AssertionError("a role without REPLICATION must not replicate")
    except psycopg2.OperationalError as error:
        assert "must be superuser or replication role to start walsender" in str(error), error


def test_pg_recvlogical_writes_changes(fresh_server):
    sql = published(fresh_server)
    options = ["pg_recvlogical", *connection_options(fresh_server, "postgres"), "--slot", "recv"]
    subprocess.run([*options, "--create-slot", "-P", "pgoutput"], check=True)
    program = subprocess.Popen([*options, "--start", "-o", "proto_version=1", "-o", "publication_names=p", "-f", "-", "-F", "0"], stdout=subprocess.PIPE)
    sql.execute("INSERT INTO t VALUES (1, 'received')")
    text = b""
    while b"received" not in text:
        text += program.stdout.read1(4096)
    program.terminate()
    program.wait(20)
    deadline = time.time() + 20
    while subprocess.run([*options, "--drop-slot"]).returncode != 0:
        assert time.time() < deadline
        time.sleep(0.3)


PUBLICATIONS = """
CREATE SCHEMA other;
CREATE TABLE t (a int PRIMARY KEY, b text);
CREATE TABLE other.u (a int PRIMARY KEY);
ALTER TABLE other.u REPLICA IDENTITY NOTHING;
CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, truncate');
CREATE PUBLICATION p FOR TABLE t, TABLES IN SCHEMA other;
COMMENT ON PUBLICATION p IS 'some tables';
"""


def dump(server, database):
    text = run(["pg_dump", *connection_options(server, database)])
    return "\n".join(line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict", "--"))) + "\n"


def test_a_dump_makes_publications_anew_and_psql_lists_them(fresh_server, postgres):
    psql(fresh_server, "CREATE DATABASE source;\nCREATE DATABASE copy;")
    psql(fresh_server, PUBLICATIONS, "-d", "source")
    text = dump(fresh_server, "source")
    for line in ("CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, truncate');", "ALTER PUBLICATION p ADD TABLE ONLY public.t;",
                 "ALTER PUBLICATION p ADD TABLES IN SCHEMA other;", "ALTER TABLE ONLY other.u REPLICA IDENTITY NOTHING;",
                 "COMMENT ON PUBLICATION p IS 'some tables';"):
        assert line in text, text
    psql(fresh_server, text, "-d", "copy")
    assert dump(fresh_server, "copy") == text
    database = postgres.create_database()
    psql(postgres, text, "-d", database)
    for command in ("\\dRp", "\\dRp+", "\\d t", "\\d other.u", "\\d+ other.u"):
        outputs = [psql(who, command + "\n", "-d", name) for who, name in ((postgres, database), (fresh_server, "copy"))]
        assert outputs[0] == outputs[1], f"{command}\n{outputs[0]}\n{outputs[1]}"
    postgres.drop_database(database)
