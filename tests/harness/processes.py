"""Child processes and temporary folders that never outlive the test run, however it ends.

A guardian process is forked first. It is told of every child and folder through a pipe; when the pipe closes, because the run
has ended or was killed, it kills what is left and removes the folders.
"""
import os
import queue
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

    Output goes to `log_path` too. stdout and stderr are one stream.
    """

    def __init__(self, command, log_path, environment=None, user=None, cwd=None):
        self.command = [str(word) for word in command]
        self.log_path = log_path
        self._lines = queue.Queue()
        options = dict(user=user, group=user, extra_groups=[]) if user else {}
        self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=environment, cwd=cwd, start_new_session=True, **options)
        self.pid = self.popen.pid
        _tell_guardian("+", self.pid)
        self._follower = threading.Thread(target=self._follow, daemon=True)
        self._follower.start()

    def _follow(self):
        with open(self.log_path, "ab") as log:
            for line in self.popen.stdout:
                log.write(line)
                log.flush()
                self._lines.put(line.decode("utf-8", "backslashreplace").rstrip("\n"))
        self._lines.put(None)

    def wait_for_line(self, pattern, timeout=120.0):
        """The match of the first line that `pattern` is found in. Raises RuntimeError with the log if there is none in time."""
        deadline = time.monotonic() + timeout
        seen = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"{self.command[0]}: no line like {pattern!r} in {timeout} s\n" + "\n".join(seen)) from None
            if line is None:
                raise RuntimeError(f"{self.command[0]} ended with {self.popen.wait()}\n" + "\n".join(seen[-40:]))
            seen.append(line)
            match = re.search(pattern, line)
            if match:
                return match

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
        self._follower.join(5)
        _tell_guardian("-", self.pid)
        return status

    def kill(self):
        return self.stop(signal.SIGKILL)
