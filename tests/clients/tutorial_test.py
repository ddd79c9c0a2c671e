"""docs/tutorial.md as a newcomer follows it: each block of SQL, shell and Python runs over the demonstration data and gives the output of the page."""
import os
import re
import subprocess

from harness.processes import temporary_folder

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PAGER": "cat"}


def psql(server, text):
    command = ["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "postgres"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False)
    return done.stdout + done.stderr


def plain(text):
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def test_every_command_of_the_tutorial_gives_its_output(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with open(os.path.join(ROOT, "scripts", "demo.sql"), encoding="utf-8") as file:
        assert psql(server, file.read()) == ""
    with open(os.path.join(ROOT, "docs", "tutorial.md"), encoding="utf-8") as file:
        found = BLOCK.findall(file.read())
    folder, checked = temporary_folder(), 0
    for place, (language, code) in enumerate(found):
        code = code.replace("5433", str(server.port)).replace("-s ~/.local/share/redquel-quickstart/redis.sock", f"-s {redis.socket_path}")
        if language == "python":
            with open(os.path.join(folder, re.match(r"# (\S+)", code)[1]), "w", encoding="utf-8") as file:
                file.write(code)
            continue
        if language == "sql":
            output = psql(server, code)
        elif language == "sh":
            done = subprocess.run(["sh", "-c", code], cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False)
            output = done.stdout + done.stderr
        else:
            continue
        expected = found[place + 1][1] if place + 1 < len(found) and found[place + 1][0] == "text" else ""
        assert plain(output) == plain(expected), f"{code}\ngives\n{output}\nnot\n{expected}"
        checked += 1
    assert checked >= 10, checked
