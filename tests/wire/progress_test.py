"""Long work in pg_stat_progress_copy, _create_index and _cluster, and waits for locks in pg_stat_activity, as other sessions see them."""
import threading
import time

from harness import pgwire

CONCURRENT = True
ROWS = 60_000


def make_rows(connection, rows=ROWS):
    connection.run("CREATE TABLE emp (id int PRIMARY KEY, name text, dept int)")
    connection.run(f"INSERT INTO emp SELECT n, 'employee ' || n, n % 50 FROM generate_series(1, {rows}) n")
    return connection.run("SELECT 'emp'::regclass::oid::text")[0][0]


def rows_while(connection, query, work):
    """Every different answer to the query while `work` runs on a thread of its own."""
    thread = threading.Thread(target=work)
    seen = []
    thread.start()
    while thread.is_alive():
        answer = connection.run(query)
        if answer and (not seen or seen[-1] != answer[0]):
            seen.append(answer[0])
    thread.join()
    return seen


def wait_for(connection, query, wanted, seconds=30):
    until = time.monotonic() + seconds
    while (answer := connection.run(query)) != wanted:
        assert time.monotonic() < until, f"{query}: {answer}, not {wanted}"
        time.sleep(0.01)


def test_copy_from_shows_bytes_rows_and_rows_that_where_excludes(fresh_server):
    with fresh_server.connect() as copying, fresh_server.connect() as other:
        table = make_rows(other, 1)
        copying.send(pgwire.query("COPY emp FROM STDIN WHERE dept < 10"))
        copying.read_until(b"G")
        data = "".join(f"{n}\tname\t{n % 20}\n" for n in range(10, 5010)).encode()
        copying.send(pgwire.copy_data(data))
        wait_for(other, "SELECT relid, command, type, bytes_processed, bytes_total, tuples_processed, tuples_excluded FROM pg_stat_progress_copy",
                 [[table, "COPY FROM", "PIPE", str(len(data)), "0", "2500", "2500"]])
        assert other.run("SELECT p.datname, a.state FROM pg_stat_progress_copy p JOIN pg_stat_activity a USING (pid)") == [["postgres", "active"]]
        other.run("CREATE ROLE stranger; SET ROLE stranger")
        assert other.run("SELECT datname, relid, command, tuples_processed FROM pg_stat_progress_copy") == [["postgres", None, None, None]]
        other.run("RESET ROLE")
        copying.send(pgwire.message(b"c"))
        copying.read_until(b"Z")
        assert other.run("SELECT count(*) FROM pg_stat_progress_copy") == [["0"]]
        assert other.run("SELECT count(*) FROM emp") == [["2501"]]


def test_copy_to_of_a_table_and_of_a_query(fresh_server):
    with fresh_server.connect() as copying, fresh_server.connect() as other:
        table = make_rows(other, 6_000)
        other.run("UPDATE emp SET name = repeat('x', 2000)")  # more than fits between server and client: COPY waits until the client reads
        query = "SELECT relid, command, type, tuples_processed::int > 0, bytes_processed >= tuples_processed FROM pg_stat_progress_copy WHERE tuples_processed > 0"
        for statement, relation in (("COPY emp TO STDOUT", table), ("COPY (SELECT * FROM emp) TO STDOUT", "0")):
            copying.send(pgwire.query(statement))
            wait_for(other, query, [[relation, "COPY TO", "PIPE", "t", "t"]])
            assert [payload for kind, payload in copying.read_until(b"Z") if kind == b"C"] == [b"COPY 6000\0"]


def test_create_index_shows_the_rows_that_it_has_indexed(fresh_server):
    with fresh_server.connect() as building, fresh_server.connect() as other:
        table = make_rows(other)
        query = "SELECT relid, command, phase, tuples_total, tuples_done, index_relid FROM pg_stat_progress_create_index"
        seen = rows_while(other, query, lambda: building.run("CREATE INDEX by_dept ON emp (dept)"))
        index = other.run("SELECT 'by_dept'::regclass::oid::text")[0][0]
        built = [row for row in seen if row[3] != "0"]
        assert built and all(row[:4] == [table, "CREATE INDEX", "building index: scanning table", str(ROWS)] and row[5] == index for row in built), seen
        done = [int(row[4]) for row in built]
        assert done == sorted(done) and 0 < done[-1] <= ROWS, done
        assert other.run(query) == []


def test_a_rewrite_by_alter_table_shows_its_rows(fresh_server):
    with fresh_server.connect() as altering, fresh_server.connect() as other:
        table = make_rows(other)
        query = "SELECT relid, command, phase, heap_tuples_scanned, heap_tuples_written FROM pg_stat_progress_cluster"
        seen = rows_while(other, query, lambda: altering.run("ALTER TABLE emp ALTER COLUMN dept TYPE text USING 'dept ' || dept"))
        assert seen and all(row[:3] == [table, "ALTER TABLE", "seq scanning heap"] for row in seen), seen
        assert 0 < int(seen[-1][4]) <= ROWS and other.run(query) == []


def test_a_failed_statement_leaves_no_progress(fresh_server):
    with fresh_server.connect() as connection:
        make_rows(connection, 5000)
        assert connection.run_error("CREATE UNIQUE INDEX ON emp (dept)")["C"] == "23505"
        assert connection.run("SELECT count(*) FROM pg_stat_progress_create_index") == [["0"]]
        assert connection.query("COPY emp FROM STDIN", b"x\ty\tz\n")[-1].error["C"] == "22P02"
        assert connection.run("SELECT count(*) FROM pg_stat_progress_copy") == [["0"]]


def test_waits_for_locks_are_wait_events(fresh_server):
    with fresh_server.connect() as holder, fresh_server.connect() as waiting, fresh_server.connect() as other:
        make_rows(other, 10)
        query = "SELECT wait_event_type, wait_event, state FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        for lock, statement, event in (("UPDATE emp SET dept = 1 WHERE id = 1", "UPDATE emp SET dept = 2 WHERE id = 1", "transactionid"),
                                       ("LOCK TABLE emp", "UPDATE emp SET dept = 2 WHERE id = 1", "relation"),
                                       ("SELECT pg_advisory_xact_lock(7)", "SELECT pg_advisory_lock(7)", "advisory")):
            holder.run("BEGIN")
            holder.run(lock)
            thread = threading.Thread(target=waiting.run, args=(statement,))
            thread.start()
            wait_for(other, query, [["Lock", event, "active"]])
            holder.run("COMMIT")
            thread.join()
            assert other.run(query) == []
