"""A statement or message that is too long is 54000, and the session goes on."""


def test_a_statement_that_is_too_long_is_an_error(server):
    with server.connect() as connection:
        literal = "x" * (100 << 20)
        assert connection.run_error(f"SELECT length('{literal}')")["C"] == "54000"
        assert connection.run("SELECT 1") == [["1"]]
        assert connection.run_error("SELECT length($1)", literal)["C"] == "54000"
        assert connection.run("SELECT 1") == [["1"]]
