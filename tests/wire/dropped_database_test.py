"""A database that is dropped and made anew: the process that knew the old one goes on with the new one."""


def one(connection, sql):
    result = connection.query(sql)[-1]
    assert not result.error, result.error
    return result


def test_locks_after_the_database_was_made_anew(server):
    for _ in range(3):
        admin = server.connect()
        one(admin, "DROP DATABASE IF EXISTS again")
        one(admin, "CREATE DATABASE again")
        admin.close()
        session = server.connect(database="again")
        one(session, "CREATE TABLE t (a int PRIMARY KEY, b int)")
        one(session, "INSERT INTO t VALUES (1, 1), (2, 2)")
        one(session, "BEGIN")
        one(session, "UPDATE t SET b = b + 1 WHERE a = 1")
        assert one(session, "SELECT b FROM t WHERE a = 1 FOR UPDATE").rows == [[b"2"]]
        assert one(session, "COMMIT").tag == "COMMIT"
        one(session, "CREATE MATERIALIZED VIEW m AS SELECT sum(b) AS s FROM t")
        one(session, "REFRESH MATERIALIZED VIEW m")
        session.close()


def test_sessions_that_begin_once_it_has_definitions_again(server):
    for _ in range(3):
        admin = server.connect()
        one(admin, "DROP DATABASE IF EXISTS refilled")
        one(admin, "CREATE DATABASE refilled")
        admin.close()
        maker = server.connect(database="refilled")
        one(maker, "CREATE TABLE t (a int PRIMARY KEY)")
        maker.close()
        session = server.connect(database="refilled")
        one(session, "BEGIN")
        one(session, "TRUNCATE t")
        one(session, "INSERT INTO t VALUES (1)")
        assert one(session, "COMMIT").tag == "COMMIT"
        session.close()
