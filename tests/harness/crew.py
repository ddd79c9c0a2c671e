"""Functions that run beside each other, in threads of their own."""
import contextlib
import threading


@contextlib.contextmanager
def crew(work, count):
    """`work(number)` for each number below `count`, beside the body of the `with`, which ends when all have ended. A test fails with
    the first that failed."""
    failures = []

    def guarded(number):
        try:
            work(number)
        except Exception as error:  # raised where the test can see it
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def all_at_once(work, count):
    """`work(number)` for each number below `count`; back when all have ended."""
    with crew(work, count):
        pass
