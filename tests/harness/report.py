"""Counts what passed and failed, and prints failures when they happen; safe to use from several threads."""
import sys
import threading
import time


class Report:
    def __init__(self, shown_per_file=10, versions=""):
        """`versions`: the servers of the comparison, named in each failure."""
        self.passed = self.failed = 0
        self.failures = []  # the first line of each
        self.shown_per_file, self.versions = shown_per_file, versions
        self._shown = {}
        self._lock = threading.Lock()

    def passes(self, count=1):
        with self._lock:
            self.passed += count

    def fails(self, where, text=""):
        """`where` is "file:line" or "file::test"; only the first failures of a file are printed."""
        with self._lock:
            self.failed += 1
            self.failures.append(where)
            file = where.split(":")[0]
            shown = self._shown[file] = self._shown.get(file, 0) + 1
            if shown <= self.shown_per_file:
                print(f"FAIL {where} ({self.versions})" + "".join(f"\n  {line}" for line in text.splitlines()), flush=True)
            elif shown == self.shown_per_file + 1:
                print(f"FAIL {file}: more failures, not shown (--shown N)", flush=True)

    def says(self, text):
        with self._lock:
            print(text, flush=True)

    def file_done(self, name, passed, failed, started):
        seconds = time.monotonic() - started
        self.says(f"{'ok  ' if not failed else 'FAIL'} {name}: {passed} passed, {failed} failed ({seconds:.1f} s)")

    def summary(self):
        return f"{self.passed} passed, {self.failed} failed"


def note(text):
    print(text, file=sys.stderr, flush=True)
