"""Debian's prometheus-postgres-exporter reads the statistics of redquel as those of PostgreSQL."""
import os
import re
import socket
import urllib.request

from harness.processes import Process, temporary_folder
from harness.waiting import wait_for


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def scrape(port):
    """The exporter's figures by name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("pg_"))


def value(figures, name, *labels):
    found = [float(number) for key, number in figures.items() if re.match(rf"{name}\{{", key) and all(label in key for label in labels)]
    assert len(found) == 1, (name, labels, found)
    return found[0]


def test_exporter(make_server, make_redis):
    server = make_server(redis=make_redis())
    port, folder = free_port(), temporary_folder()
    source = f"postgresql://postgres@{server.host}:{server.port}/postgres?sslmode=disable"
    exporter = Process(["prometheus-postgres-exporter", f"--web.listen-address=127.0.0.1:{port}"], f"{folder}/log",
                       environment={**os.environ, "DATA_SOURCE_NAME": source})
    try:
        exporter.wait_for_line("isten")
        with server.connect() as connection:
            connection.run("CREATE TABLE exported (id integer PRIMARY KEY)")
            before = scrape(port)
            connection.run("INSERT INTO exported VALUES (1), (2), (3)")
            wait_for(lambda: float(scrape(port)["pg_up"]) == 1)
            after = scrape(port)
        assert float(after["pg_exporter_last_scrape_error"]) == 0, exporter.log()
        name = 'datname="postgres"'
        assert value(after, "pg_stat_database_tup_inserted", name) - value(before, "pg_stat_database_tup_inserted", name) == 3
        assert value(after, "pg_stat_database_xact_commit", name) > value(before, "pg_stat_database_xact_commit", name)
        assert value(after, "pg_stat_database_numbackends", name) >= 2
        assert value(after, "pg_stat_activity_count", name, 'state="active"') >= 1
    finally:
        exporter.stop()
