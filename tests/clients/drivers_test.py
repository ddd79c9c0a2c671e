"""Drivers: psycopg2 (libpq, client-side parameters), Perl's DBD::Pg (server-side prepared statements), a C program over libpq."""
import datetime
import decimal
import os
import shutil

import psycopg2
import psycopg2.errors
import psycopg2.extras

from harness.processes import temporary_folder
from harness.programs import run


def connect(server):
    connection = psycopg2.connect(host=server.host, port=server.port, user="postgres", dbname="postgres")
    connection.autocommit = True
    return connection


def test_psycopg2_types(server):
    with connect(server).cursor() as cursor:
        cursor.execute("SELECT 1, 2.50::numeric, 1.5::float8, true, 'text', NULL, %s::date, %s::timestamptz, %s::bytea, %s::interval",
                       (datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc), b"\0\xff'\\", datetime.timedelta(hours=36)))
        row = cursor.fetchone()
        assert row[:7] == (1, decimal.Decimal("2.50"), 1.5, True, "text", None, datetime.date(2024, 2, 29)), row
        assert row[7] == datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc)
        assert bytes(row[8]) == b"\0\xff'\\" and row[9] == datetime.timedelta(hours=36)


def test_psycopg2_statements(server):
    connection = connect(server)
    with connection.cursor(cursor_factory=psycopg2.extras.DictCursor) as cursor:
        cursor.execute("DROP TABLE IF EXISTS driver; CREATE TABLE driver (id serial PRIMARY KEY, name text UNIQUE, n integer)")
        psycopg2.extras.execute_values(cursor, "INSERT INTO driver (name, n) VALUES %s", [(f"name {n}", n) for n in range(500)])
        cursor.execute("SELECT * FROM driver WHERE n BETWEEN %s AND %s ORDER BY n", (10, 12))
        assert [row["name"] for row in cursor] == ["name 10", "name 11", "name 12"]
        cursor.execute("UPDATE driver SET n = n + 1 WHERE name IN %s RETURNING n", (("name 1", "name 2"),))
        assert sorted(row["n"] for row in cursor.fetchall()) == [2, 3]
        assert cursor.description[0].name == "n" and cursor.description[0].type_code == 23
        cursor.execute("DELETE FROM driver WHERE n > %s", (400,))
        assert cursor.rowcount == 99


def test_psycopg2_errors(server):
    connection = connect(server)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS driver_error; CREATE TABLE driver_error (id integer PRIMARY KEY, n integer NOT NULL CHECK (n > 0))")
        cursor.execute("INSERT INTO driver_error VALUES (1, 1)")
        for sql, kind, constraint in (("INSERT INTO driver_error VALUES (1, 1)", psycopg2.errors.UniqueViolation, "driver_error_pkey"),
                                      ("INSERT INTO driver_error VALUES (2, 0)", psycopg2.errors.CheckViolation, "driver_error_n_check"),
                                      ("INSERT INTO driver_error VALUES (3, NULL)", psycopg2.errors.NotNullViolation, None),
                                      ("SELECT * FROM no_such_table", psycopg2.errors.UndefinedTable, None)):
            try:
                cursor.execute(sql)
            except kind as error:
                assert error.diag.constraint_name == constraint
            else:
                raise AssertionError(sql)


PERL = r"""
use strict; use warnings; use DBI;
my $db = DBI->connect("dbi:Pg:dbname=postgres;host=$ARGV[0];port=$ARGV[1]", "postgres", "", {RaiseError => 1, PrintError => 0, AutoCommit => 1});
$db->do("DROP TABLE IF EXISTS perl_driver");
$db->do("CREATE TABLE perl_driver (id integer PRIMARY KEY, name text, price numeric(8,2))");
my $insert = $db->prepare("INSERT INTO perl_driver VALUES (?, ?, ?)");
$insert->execute($_, "name $_", $_ * 1.25) for 1 .. 50;
my $select = $db->prepare("SELECT name, price FROM perl_driver WHERE id = ?");
for my $id (1, 7, 50) { $select->execute($id); print join("|", $select->fetchrow_array), "\n"; }
my $all = $db->selectall_arrayref("SELECT count(*), sum(price), max(name) FROM perl_driver WHERE id > ? AND name LIKE ?", undef, 10, "name %");
print join("|", @{$all->[0]}), "\n";
eval { $insert->execute(1, "again", 0) };
print $db->state, "\n";
print $db->do("UPDATE perl_driver SET price = price + 1 WHERE id <= ?", undef, 5), "\n";
$db->disconnect;
"""


def test_perl_dbd_pg(server):
    path = os.path.join(temporary_folder(), "driver.pl")
    with open(path, "w") as file:
        file.write(PERL)
    output = run(["perl", path, server.host, server.port])
    assert output == "name 1|1.25\nname 7|8.75\nname 50|62.50\n40|1525.00|name 50\n23505\n5\n", output


C = r"""
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
static void check(int good, PGconn* db, const char* what) { if (!good) { fprintf(stderr, "%s: %s\n", what, PQerrorMessage(db)); exit(1); } }
int main(int count, char** words) {
  PGconn* db = PQconnectdb(words[count - 1]);
  check(PQstatus(db) == CONNECTION_OK, db, "connect");
  PGresult* r = PQprepare(db, "p", "SELECT $1::int4 + 1, $2::text || '!'", 2, NULL);
  check(PQresultStatus(r) == PGRES_COMMAND_OK, db, "prepare"); PQclear(r);
  uint32_t seven = htonl(7); const char* values[2] = {(const char*)&seven, "hey"}; int lengths[2] = {4, 0}, formats[2] = {1, 0};
  r = PQexecPrepared(db, "p", 2, values, lengths, formats, 1);
  check(PQresultStatus(r) == PGRES_TUPLES_OK && PQgetlength(r, 0, 0) == 4, db, "execute");
  uint32_t eight; memcpy(&eight, PQgetvalue(r, 0, 0), 4);
  printf("%u %s\n", ntohl(eight), PQgetvalue(r, 0, 1)); PQclear(r);
  /* pipeline mode with an error in the middle */
  check(PQenterPipelineMode(db), db, "pipeline");
  const char* texts[] = {"SELECT 1", "SELECT 1/0", "SELECT 3"};
  for (int i = 0; i < 3; ++i) check(PQsendQueryParams(db, texts[i], 0, NULL, NULL, NULL, NULL, 0), db, "send");
  check(PQpipelineSync(db), db, "sync");
  for (int i = 0; i < 3; ++i) { r = PQgetResult(db); printf("%s\n", PQresStatus(PQresultStatus(r))); PQclear(r); r = PQgetResult(db); check(!r, db, "end"); }
  r = PQgetResult(db); printf("%s\n", PQresStatus(PQresultStatus(r))); PQclear(r);
  check(PQexitPipelineMode(db), db, "leave");
  /* single-row mode */
  check(PQsendQuery(db, "SELECT g FROM generate_series(1, 1000) AS s(g)") && PQsetSingleRowMode(db), db, "send");
  long sum = 0; while ((r = PQgetResult(db))) { if (PQresultStatus(r) == PGRES_SINGLE_TUPLE) sum += atol(PQgetvalue(r, 0, 0)); PQclear(r); }
  printf("%ld\n", sum);
  /* cancel */
  PGcancel* cancel = PQgetCancel(db); char reason[256];
  check(PQsendQuery(db, "SELECT count(*) FROM generate_series(1, 2000000000) AS s(g)"), db, "send");
  PQflush(db);
  struct timespec pause = {0, 200000000}; nanosleep(&pause, NULL);
  struct pollfd answer = {PQsocket(db), POLLIN, 0};  /* a cancel that is there before the statement does nothing */
  do check(PQcancel(cancel, reason, sizeof reason), db, "cancel"); while (poll(&answer, 1, 3000) == 0);
  r = PQgetResult(db); printf("%s\n", PQresultErrorField(r, PG_DIAG_SQLSTATE)); PQclear(r);
  PQfreeCancel(cancel); PQfinish(db);
  return 0;
}
"""


def test_libpq_in_c(server):
    folder = temporary_folder()
    with open(f"{folder}/driver.c", "w") as file:
        file.write(C.replace("#include <stdio.h>", "#include <poll.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <time.h>"))
    run([shutil.which("cc") or "gcc", "-Wall", "-I/usr/include/postgresql", "-o", f"{folder}/driver", f"{folder}/driver.c", "-lpq"])
    output = run([f"{folder}/driver", f"host={server.host} port={server.port} user=postgres dbname=postgres"])
    assert output == "8 hey!\nPGRES_TUPLES_OK\nPGRES_FATAL_ERROR\nPGRES_PIPELINE_ABORTED\nPGRES_PIPELINE_SYNC\n500500\n57014\n", output
