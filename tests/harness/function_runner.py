"""Runs test functions of tests/wire, tests/clients and tests/faults.

A module `*_test.py` holds functions `test_*`; their parameters name what they need (the properties of `Fixtures`). A test fails by
raising. In a module, `CONCURRENT = True` lets it run under ThreadSanitizer, too, and `LIMIT = 900` lets each of its tests take so many
seconds.
"""
import importlib.util
import inspect
import os
import random
import signal
import time
import traceback

from harness import assertions
from harness.servers import Look, Redis, Redquel, tail


class Fixtures:
    """What a test function may ask for by parameter name. One instance per module; `server` lives as long as the module."""

    def __init__(self, build, postgres, seed, subject):
        """`postgres` is a running server, or None."""
        self.build = build
        self._subject = subject
        self.build_kind = os.path.basename(os.path.normpath(build))
        self._postgres = postgres
        self._seed = seed
        self._redis = self._server = None
        self._for_one_test = []

    def get(self, name):
        return getattr(self, "fixture_" + name)()

    def fixture_server(self):
        """A redquel over a Redis of its own, shared by the tests of a module: use names of your own in it."""
        if self._subject == "postgresql":
            return self._postgres
        if self._server and not (self._server.process and self._server.alive()):
            self._server = None
        if not self._server:
            self._server = Redquel(self.build, self.fixture_redis()).start()
        return self._server

    def fixture_redis(self):
        """The Redis of `server`."""
        if not self._redis:
            self._redis = Redis().start()
        return self._redis

    def fixture_fresh_server(self):
        """A redquel and a Redis for this test alone, to be broken at will."""
        redis = Redis("--appendonly", "no").start()
        server = Redquel(self.build, redis).start()
        self._for_one_test += [server, redis]
        return server

    def fixture_make_server(self):
        """A function (*options, redis=None, **keywords) that starts a redquel: embedded without redis. Ended with the test."""
        def make(*options, redis=None, **keywords):
            server = Redquel(self.build, redis, *options, **keywords).start()
            self._for_one_test.append(server)
            return server
        return make

    def fixture_make_look(self):
        """A function (redis, *options) that starts `redquel look` at a Redis. Ended with the test."""
        def make(redis, *options, **keywords):
            server = Look(self.build, redis, *options, **keywords).start()
            self._for_one_test.append(server)
            return server
        return make

    def fixture_make_redis(self):
        """A function (*options) that starts a Redis. Ended with the test."""
        def make(*options):
            redis = Redis(*options).start()
            self._for_one_test.append(redis)
            return redis
        return make

    def fixture_postgres(self):
        """PostgreSQL 15, shared by everybody."""
        return self._postgres

    def fixture_build(self):
        """The build directory of the binary under test; its last part is release, asan or tsan."""
        return self.build

    def fixture_random(self):
        """A random.Random whose seed the run has printed."""
        return random.Random(self._seed)

    def end_test(self):
        """Ends what belongs to one test; returns complaints."""
        complaints = []
        for thing in self._for_one_test:
            try:
                thing.stop()
            except Exception as error:
                complaints.append(str(error))
        self._for_one_test = []
        return complaints

    def end_module(self):
        complaints = self.end_test()
        if self._server:
            try:
                self._server.stop()
            except Exception as error:
                complaints.append(str(error))
        if self._redis:
            self._redis.stop()
        return complaints

    def server_state(self):
        if not self._server or not self._server.process:
            return ""
        state = "still runs" if self._server.alive() else f"ended with status {self._server.process.popen.wait()}"
        return f"redquel {state}; its log ends:\n{tail(self._server.process.log(), 20)}"


class TookTooLong(Exception):
    pass


def _alarm(_signal, _frame):
    raise TookTooLong("the test took too long")


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(f"{os.path.basename(os.path.dirname(path))}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    module._told = assertions.told
    exec(assertions.compiled(path), vars(module))
    return module


def run_module(path, build, postgres, report, name_filter, concurrent_only, seed, limit, subject):
    started = time.monotonic()
    passed = failed = 0
    try:
        module = load(path)
    except Exception:
        report.fails(f"{path}::", traceback.format_exc())
        return
    if concurrent_only and not getattr(module, "CONCURRENT", False):
        return
    tests = [(name, test) for name, test in vars(module).items() if name.startswith("test_") and inspect.isfunction(test)]
    tests = [(name, test) for name, test in tests if name_filter(f"{path}::{name}")]
    if subject == "postgresql":
        # Only what is compared message by message makes sense there.
        tests = [(name, test) for name, test in tests if set(inspect.signature(test).parameters) <= {"server", "postgres", "random"}]
    if not tests:
        return
    fixtures = Fixtures(build, postgres, seed, subject)
    limit = max(limit, getattr(module, "LIMIT", 0))
    for name, test in tests:
        trouble = []
        signal.signal(signal.SIGALRM, _alarm)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            test(**{parameter: fixtures.get(parameter) for parameter in inspect.signature(test).parameters})
        except Exception:
            trouble = [traceback.format_exc(), fixtures.server_state()]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        trouble += fixtures.end_test()
        if trouble:
            failed += 1
            report.fails(f"{path}::{name}", "\n".join(trouble))
        else:
            passed += 1
    for complaint in fixtures.end_module():
        failed += 1
        report.fails(f"{path}::(end of the module)", complaint)
    report.passes(passed)
    report.file_done(path, passed, failed, started)
