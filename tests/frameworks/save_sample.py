"""Writes a sample file: the keys that a framework's own library has written into an empty Redis.

    python3 tests/frameworks/save_sample.py bullmq.jsonl node tests/frameworks/writers/bullmq.js

runs the writer with a port as its last argument and saves what is stored then, one command a line in JSON. README.md beside this file lists the
writers and the packages that they need. Times to live become the year 2100, so that a sample never expires.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.resp import RedisConnection  # noqa: E402
from harness.stored_data import commands_of  # noqa: E402

PORT = "7799"
YEAR_2100 = "4102444800000"
FOLDER = re.compile(r"/[\w./-]*?/(?=node_modules/|writers/)")


def save(path, *writer):
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "redis.sock")
        with subprocess.Popen(["redis-server", "--port", PORT, "--bind", "127.0.0.1", "--unixsocket", socket, "--save", "", "--dir", folder],
                              stdout=subprocess.DEVNULL) as redis:
            try:
                while not os.path.exists(socket):
                    time.sleep(0.05)
                subprocess.run([*writer, PORT], check=True, timeout=120)
                with RedisConnection(socket) as raw:
                    commands = list(commands_of(raw))
            finally:
                redis.terminate()
    for command in commands:
        if command[0] == "PEXPIREAT":
            command[2] = YEAR_2100
    with open(path, "w", encoding="ascii") as file:
        file.writelines(FOLDER.sub("/app/", json.dumps(command)) + "\n" for command in commands)


if __name__ == "__main__":
    save(os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[1]), *sys.argv[2:])
