"""Child processes and temporary folders that never outlive the test run, however it ends.

A guardian process is forked first. It is told of every child and folder through a pipe; when the pipe closes, because the run
has ended or was killed, it kills what is left and removes the folders.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

_guardian = None
_lock = threading.Lock()


def start_guardian():
    """Call before any thread or child exists."""
    global _guardian
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _guard(reader)
        os._exit(0)
    os.close(reader)
    _guardian = os.fdopen(writer, "w", buffering=1)


def _guard(reader):
    pids, folders = set(), []
    with os.fdopen(reader) as lines:
        for line in lines:
            action, value = line[0], line[1:].rstrip("\n")
            if action == "+":
                pids.add(int(value))
            elif action == "-":
                pids.discard(int(value))
            else:
                folders.append(value)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _tell_guardian(action, value):
    if _guardian:
        with _lock:
            _guardian.write(f"{action}{value}\n")


def guard_process(pid):
    """Has the guardian kill a grandchild at the end, should it still run."""
    _tell_guardian("+", pid)


def temporary_folder(prefix="redquel-test-"):
    """A folder that is removed at the end of the run. Short, because unix socket paths are bounded."""
    folder = tempfile.mkdtemp(prefix=prefix)
    os.chmod(folder, 0o755)
    _tell_guardian("d", folder)
    return folder


def children(pid):
    """Processes that this one has started."""
    found = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{other}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(other))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


class Process:
    """A child whose output is followed line by line, so that readiness is read and not waited for.

    The child writes stdout and stderr into `log_path` itself: what it wrote before it answered a client is in log() when the answer is here.
    """

    def __init__(self, command, log_path, environment=None, user=None, cwd=None, pass_fds=()):
        self.command = [str(word) for word in command]
        self.log_path = log_path
        options = dict(user=user, group=user, extra_groups=[]) if user else {}
        with open(log_path, "ab") as log:
            self._followed = log.tell()
            self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                          env=environment, cwd=cwd, start_new_session=True, pass_fds=pass_fds, **options)
        self.pid = self.popen.pid
        _tell_guardian("+", self.pid)

    def _next_lines(self):
        """The whole lines that were not read yet."""
        with open(self.log_path, "rb") as log:
            log.seek(self._followed)
            for line in log:
                if not line.endswith(b"\n"):
                    return
                self._followed += len(line)
                yield line.decode("utf-8", "backslashreplace").rstrip("\n")

    def wait_for_line(self, pattern, timeout=120.0):
        """The match of the first line that `pattern` is found in. Raises RuntimeError with the log if there is none in time."""
        deadline = time.monotonic() + timeout
        seen = []
        while True:
            has_ended = not self.alive()
            for line in self._next_lines():
                seen.append(line)
                match = re.search(pattern, line)
                if match:
                    return match
            if has_ended:
                raise RuntimeError(f"{self.command[0]} ended with {self.popen.wait()}\n" + "\n".join(seen[-40:]))
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.command[0]}: no line like {pattern!r} in {timeout} s\n" + "\n".join(seen))
            time.sleep(0.002)

    def alive(self):
        return self.popen.poll() is None

    def log(self):
        try:
            with open(self.log_path, errors="backslashreplace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def send_signal(self, number):
        if self.alive():
            self.popen.send_signal(number)

    def stop(self, number=signal.SIGTERM, timeout=60.0):
        """Asks the process to end and returns its status; past the timeout it is killed, and that status is returned."""
        self.send_signal(number)
        try:
            status = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            status = self.popen.wait()
        _tell_guardian("-", self.pid)
        return status

    def kill(self):
        return self.stop(signal.SIGKILL)
