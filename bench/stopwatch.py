"""What an action takes: seconds of the clock, or, on machines that others load as well, seconds of the servers' processor time (`bench/run --processor-time`)."""
import os
import time

counts_processors = False  # set by bench/run


def children(pid):
    """The process and all processes under it."""
    found = [pid]
    for process in found:
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
        except OSError:  # it has ended
            pass
    return found


def processor_seconds(pid):
    """Of the process, its children and, in steps of 10 ms, of those that have ended."""
    total = 0
    for process in children(pid):
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0]) / 1e9
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                ended = file.read().rsplit(")", 1)[1].split()[13:15]
            total += sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass
    return total


def seconds(action, *servers):
    """What the action takes the servers, which have a `process`."""
    def now():
        return sum(processor_seconds(server.process.pid) for server in servers) if counts_processors and servers else time.monotonic()
    start = now()
    action()
    return now() - start
