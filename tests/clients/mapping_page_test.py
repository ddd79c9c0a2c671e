"""docs/mapping.md as a newcomer would follow it: every command of its pages is run, in order, and every query without a scan where it says so."""
import os
import re
import shlex

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "mapping.md")
COMMANDS = ("SET", "INCR", "ZADD", "ZINCRBY", "LPUSH", "LTRIM", "SADD", "HSET")


def sections():
    """Title and lines of code of each."""
    found = []
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            if line.startswith("#"):
                found.append((line.strip("# \n"), []))
            elif line.startswith("    "):
                found[-1][1].append(line.rstrip("\n"))
    return {title: lines for title, lines in found if lines}


def run_section(connection, redis, lines):
    """Redis commands stand side by side, statements end in a semicolon."""
    statement, answers = "", []
    for line in lines:
        words = line.split()
        if not statement and words[0] in COMMANDS and ";" not in line:
            for command in re.split(r"\s{2,}", line.strip()):
                redis(*shlex.split(command))
            continue
        if not statement and words[0] == "redis-cli":
            command = shlex.split(line)[1:]
            if command[0] == "-n":
                redis("SELECT", command[1])
                command = command[2:]
            redis(*command)
            redis("SELECT", "0")
            continue
        line = re.sub(r"\s+-- .*", "", line)
        statement += line + "\n"
        if line.rstrip().endswith(";"):
            answers.append((statement.strip(), connection.run(statement)))
            statement = ""
    assert not statement, statement
    return answers


def test_every_command_of_the_page_works(make_server):
    pages = sections()
    assert len(pages) >= 7, list(pages)
    for title, lines in pages.items():
        before = pages["Themes and products"] if title == "Several logical databases" else []
        if title in ("Structures beside the rows", "The table"):  # of a table of the first section
            before = ["    CREATE FOREIGN TABLE theme (id bigint, title text, author text) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}');"]
        server = make_server()
        with server.connect() as connection:
            redis = server.redis_connection()
            answers = run_section(connection, redis, before + lines)
            assert answers, title
            empty = [statement for statement, rows in answers if statement.startswith("SELECT") and not rows and "EXCEPT" not in statement]
            assert not empty, (title, empty)
            if title == "Named parts":
                assert redis.keys("user:userid:888:base:mail:*") == [f"user:userid:888:base:mail:{version}" for version in (4, 5, 6)]
            if title == "Models of Ohm":
                assert redis("SMEMBERS", "User:all") == ["2"] and redis.hash("User:uniques:email") == {"bob@x.org": "2"}
            redis.close()
