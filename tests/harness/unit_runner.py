"""Runs the GoogleTest binaries of a build and counts their tests."""
import glob
import os
import re
import subprocess
import time

from harness.servers import sanitizer_environment, tail


def binaries(build):
    found = sorted(glob.glob(os.path.join(build, "tests", "unit_tests_*")))
    return [binary for binary in found if os.access(binary, os.X_OK) and os.path.isfile(binary)]


def run(binary, build, report, pattern=None):
    started = time.monotonic()
    name = os.path.join(os.path.basename(os.path.normpath(build)), os.path.basename(binary))
    command = [binary, "--gtest_brief=1"] + ([f"--gtest_filter=*{pattern}*"] if pattern else [])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                          env={**os.environ, **sanitizer_environment()})
    output = done.stdout + done.stderr
    passed = sum(int(count) for count in re.findall(r"^\[  PASSED  \] (\d+) tests?\.", output, re.M))
    failing = re.findall(r"^\[  FAILED  \] (\S+?),? ", output, re.M)
    failed = len(set(failing))
    for test in sorted(set(failing)):
        report.fails(f"{name}::{test}", _excerpt(output, test))
    if done.returncode != 0 and not failing:
        failed += 1
        report.fails(f"{name}::", f"ended with status {done.returncode}\n{tail(output, 60)}")
    report.passes(passed)
    report.file_done(name, passed, failed, started)


def _excerpt(output, test):
    """The lines before the FAILED line of a test: with --gtest_brief they are its own complaints."""
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(f"[  FAILED  ] {test}"):
            return "\n".join(lines[max(0, number - 30):number])
    return ""
