"""Giving way to those who want a processor, as a scheduler's idle class would, which nobody may leave again without a privilege."""

import os
import time


class GivingWay:
    """A finder that finds nothing: it is asked before each module is loaded, and waits while more want to run than there are processors."""

    def __init__(self, patience=3.0):
        #: How long it may wait altogether, seconds.
        self._patience = patience

    def find_spec(self, name, path=None, target=None):
        until = time.monotonic() + self._patience
        while self._patience > 0 and wanting() > (os.cpu_count() or 1):
            time.sleep(0.01)
            self._patience = until - time.monotonic()


def wanting():
    """How many threads of the machine run or could, this one among them. Source: proc(5), loadavg."""
    with open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].partition(b"/")[0])
