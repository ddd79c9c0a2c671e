"""Waiting for something to be so, instead of for some time."""
import time


def wait_for(condition, seconds=120, what="it", pause=0.01):
    """What `condition` gives once that is true; fails when it never is."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"{what} never came: {found!r}"
        time.sleep(pause)
