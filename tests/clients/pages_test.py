"""The user pages as a newcomer follows them: every statement and program of docs/tutorial.md, docs/indexes.md and docs/clients.md runs."""
import os
import re
import shutil

from harness.processes import temporary_folder
from harness.programs import psql, run

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
# Explained without the copies in memory, which the page names beside each plan.
SCANS = ("Full Scan", "Memory Scan")


def blocks(page):
    """The language and text of each block of code."""
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        return BLOCK.findall(file.read())


def statements(text):
    """Statements with the comment behind each."""
    statement = ""
    for line in text.splitlines():
        code, *comment = re.split(r"(?<=;)\s+-- ", line)
        statement += code + "\n"
        if code.endswith(";"):
            yield statement.strip(), "".join(comment)
            statement = ""
    assert not statement.strip(), statement


def test_every_query_of_the_index_page_has_its_plan(make_server):
    checked = 0
    with make_server().connect() as connection:
        connection.run("SET redquel.cache = off")
        for language, text in blocks("indexes.md"):
            if language != "sql":
                continue
            for statement, plan in statements(text):
                if statement.startswith("EXPLAIN"):
                    shown = [row[0] for row in connection.run(statement)]
                    assert ("", "\n".join(shown) + "\n") in blocks("indexes.md"), shown
                    continue
                connection.run(statement)
                if plan:
                    shown = "\n".join(row[0] for row in connection.run("EXPLAIN (COSTS OFF) " + statement))
                    assert plan in shown, (statement, plan, shown)
                    assert plan in SCANS or not any(scan in shown for scan in SCANS), (statement, shown)
                    checked += 1
    assert checked >= 20, checked


def plain(text):
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def test_every_command_of_the_tutorial_gives_its_output(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with open(os.path.join(DOCS, "..", "scripts", "demo.sql"), encoding="utf-8") as file:
        psql(server, file.read())
    folder, checked, found = temporary_folder(), 0, blocks("tutorial.md")
    for place, (language, code) in enumerate(found):
        code = code.replace("5433", str(server.port)).replace("-s ~/.local/share/redquel-quickstart/redis.sock", f"-s {redis.socket_path}")
        if language == "python":
            with open(os.path.join(folder, re.match(r"# (\S+)", code)[1]), "w", encoding="utf-8") as file:
                file.write(code)
            continue
        if language not in ("sql", "sh"):
            continue
        if language == "sql":
            done = psql(server, code, check=False)
        else:
            done = run(["sh", "-c", f"cd {folder} && {code}"], env={"PATH": "/usr/bin:/bin"}, check=False)
        output = done.stdout + done.stderr
        expected = found[place + 1][1] if place + 1 < len(found) and found[place + 1][0] == "text" else ""
        assert plain(output) == plain(expected), f"{code}\ngives\n{output}\nnot\n{expected}"
        checked += 1
    assert checked >= 10, checked


def follow(server, section, environment):
    """Runs the commands of a section of docs/clients.md with its files, and compares their output with the page's."""
    with open(os.path.join(DOCS, "clients.md"), encoding="utf-8") as file:
        text = file.read().split(f"\n## {section}\n")[1].split("\n## ")[0].replace("5433", str(server.port))
    folder, commands = temporary_folder(), 0
    found = BLOCK.findall(text)
    for place, (language, code) in enumerate(found):
        name = re.match(r"(?://|#|<!--) (\S+\.\w+)", code)
        if name:
            path = os.path.join(folder, name[1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "a" if "append" in code.split("\n")[0] else "w", encoding="utf-8") as file:
                file.write(code)
        elif language == "sh":
            output = ""
            for command in code.strip().split("\n"):
                if not command.startswith(("apt-get ", "npm ")):
                    output = run(["sh", "-c", f"cd {folder} && {command}"], env={"PATH": "/usr/bin:/bin", **environment})
                    commands += 1
            if place + 1 < len(found) and found[place + 1][0] == "text":
                assert output.strip().endswith(found[place + 1][1].strip()), output
    assert commands, section


def test_sqlalchemy(make_server):
    follow(make_server(), "SQLAlchemy", {})


def test_django(make_server):
    follow(make_server(), "Django", {})


def test_jdbc(make_server):
    follow(make_server(), "JDBC", {})


def test_libreoffice_base(make_server):
    """Runs where LibreOffice is installed: it is no package of the tests."""
    if shutil.which("soffice"):
        follow(make_server(), "LibreOffice Base", {"HOME": temporary_folder()})


def test_node_drivers(make_server):
    """Runs with NODE_DRIVERS=<folder> of `npm i pg @evidence-dev/postgres`."""
    drivers = os.environ.get("NODE_DRIVERS")
    if drivers:
        for section in ("node-postgres", "Evidence"):
            follow(make_server(), section, {"NODE_PATH": f"{drivers}/node_modules"})
