"""Runs a command for as long as it makes progress: until it and what it started have used so many seconds of processor
time, or have used next to none for so many minutes. Neither depends on what else the machine does, unlike a clock."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
IDLE = 600  # seconds of the clock in which a busy machine gives even a patient process a little
interrupted = threading.Event()  # set, it stops all that run
A_LITTLE = 0.5  # seconds of processor time: less is what a process that waits for ever uses to look around


@dataclass(frozen=True)
class Ended:
    why: str  # nothing, if it ended by itself with status 0
    seconds: float  # of processor time


def processor_time(session):
    """Seconds that the processes of a session, and those of theirs that have ended, have used so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[3]) == session:
            ticks += sum(int(each) for each in fields[11:15])  # utime, stime, and both of children waited for
    return ticks / TICKS


def run(command, seconds, *, idle=IDLE, look=1.0, **how):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **how)
    used, seen, moved_at, why = 0.0, 0.0, time.monotonic(), ""
    try:
        while process.poll() is None and not why:
            if interrupted.wait(look):
                why = "interrupted"
                break
            now = processor_time(process.pid)  # less than before where one ended for which nobody waits
            used = max(used, now)
            if abs(now - seen) > A_LITTLE:
                seen, moved_at = now, time.monotonic()
            if used > seconds:
                why = f"stopped after {seconds} s of processor time"
            elif time.monotonic() - moved_at > idle:
                why = f"stopped: no progress in {idle} s"
    finally:  # what it started goes with it, also when this is interrupted
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        status = process.wait()
    return Ended(why or (f"ended with status {status}" if status else ""), used)
