"""Runs jobs on several processes side by side, and hands what they report to the one that counts.

Each runs beside others: no test may take for granted that something happens within a second.
"""
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import traceback

PR_SET_PDEATHSIG = 1


class ReportToParent:
    """What `Report` does, done in the process that started this one."""

    def __init__(self, pipe):
        self._pipe = pipe

    def passes(self, count=1):
        self._pipe.send(("passes", count))

    def fails(self, where, text=""):
        self._pipe.send(("fails", where, text))

    def says(self, text):
        self._pipe.send(("says", text))

    def file_done(self, name, passed, failed, started):
        self._pipe.send(("file_done", name, passed, failed, started))


def run(jobs, make_worker, count, report):
    """`jobs` are taken one after the other. In each of `count` processes `make_worker()` gives an object with `run(job, report)` and
    `end()`. Call it where no other thread holds a lock: the processes are forked."""
    context = multiprocessing.get_context("fork")
    taken = context.Value("i", 0)
    workers = {}
    for _ in range(min(count, len(jobs))):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(jobs, taken, make_worker, writer, os.getpid()), daemon=True)
        process.start()
        writer.close()
        workers[reader] = process
    job_of = {}
    try:
        while workers:
            for reader in multiprocessing.connection.wait(list(workers)):
                try:
                    action, *arguments = reader.recv()
                except EOFError:
                    process = workers.pop(reader)
                    process.join()
                    if process.exitcode != 0:
                        report.fails(f"{job_of.get(reader, 'worker')}:0", f"its worker ended with {process.exitcode}")
                    continue
                if action == "begins":
                    job_of[reader] = arguments[0]
                else:
                    getattr(report, action)(*arguments)
    finally:
        for process in workers.values():
            process.terminate()
            process.join()


def _work(jobs, taken, make_worker, pipe, parent):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    report = ReportToParent(pipe)
    worker = make_worker()
    try:
        while True:
            with taken.get_lock():
                number = taken.value
                taken.value += 1
            if number >= len(jobs):
                return
            pipe.send(("begins", str(jobs[number])))
            try:
                worker.run(jobs[number], report)
            except Exception:
                report.fails(f"{jobs[number]}:0", traceback.format_exc())
    finally:
        worker.end()
