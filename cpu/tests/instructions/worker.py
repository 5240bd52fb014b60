"""Runs kernels in a child process, so that a crash, a hang or a sticky error costs one test and not the run.

The child opens the driver once and answers one job a line. Its real stdout is set aside for the answers; what the driver
prints goes into a file that is read back after every launch.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from table import layout

from driver import Driver, DriverError

CAPABILITY_VARIABLE = "CUCORE_CPU_COMPUTE_CAPABILITY"
FORM_VARIABLE = "CUCORE_CPU_FORM"


def job_of(table, ptx_path):
    return {
        "ptx": str(ptx_path),
        "inputs": table.pack_inputs().hex(),
        "out_bytes": layout(table.outputs)[1] * len(table.rows),
        "fill": int(table.headers.get("fill", "0xcd"), 16),
        "grid": table.dimensions("grid"),
        "block": table.dimensions("block"),
        "shared": int(table.headers.get("shared", "0")),
        "params": table.headers.get("params", ""),
    }


def sticky(code):
    """Whether the context is lost: errors of a running kernel are 700 and up; no code at all means the child died."""
    return code is None or 700 <= code < 800 or code == 999


class Worker:
    """A child with a driver of its own, kept until it can no longer be trusted."""

    def __init__(self, driver_path, compute=None, timeout=60, form=None):
        environment = {"CUCORE_CPU_CACHE": "0", **os.environ}
        if compute:
            environment[CAPABILITY_VARIABLE] = compute
        if form:
            environment[FORM_VARIABLE] = form
        self.timeout = timeout
        self.child = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), driver_path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environment,
        )
        self.identity = self.answer()
        self.broken = "failure" in self.identity

    def run(self, job):
        """The child's answer: `outputs` in hex and `stdout`, or `code` and `failure`; a dead or stuck child is a failure."""
        try:
            self.child.stdin.write(json.dumps(job) + "\n")
            answer = self.answer()
        except OSError as error:
            answer = {"failure": f"the worker process is gone: {error}"}
        self.broken = self.broken or ("failure" in answer and sticky(answer.get("code")))
        return answer

    def answer(self):
        ready, _, _ = select.select([self.child.stdout], [], [], self.timeout)
        if not ready:
            self.child.kill()
            self.child.wait()
            return {"failure": f"no answer in {self.timeout} s"}
        line = self.child.stdout.readline()
        if line:
            return json.loads(line)
        code = self.child.wait()
        return {
            "failure": f"the driver crashed: {signal.Signals(-code).name}"
            if code < 0
            else f"the worker exited with {code}"
        }

    def close(self):
        """Ends the child; a driver that hangs at exit is killed."""
        if self.child.poll() is None:
            self.child.stdin.close()
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Workers:
    """One live worker per needed compute capability; a broken one is replaced at the next job."""

    def __init__(self, driver_path, timeout=60, form=None):
        self.driver_path, self.timeout, self.form, self.live = driver_path, timeout, form, {}

    def get(self, compute=None):
        worker = self.live.get(compute)
        if worker is None or worker.broken:
            if worker:
                worker.close()
            worker = self.live[compute] = Worker(self.driver_path, compute, self.timeout, self.form)
        return worker

    def close(self):
        for worker in self.live.values():
            worker.close()
        self.live.clear()


def serve(driver_path):
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    printed = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
    os.dup2(printed.fileno(), 1)
    flush = ctypes.CDLL(None).fflush
    try:
        driver = Driver(driver_path)
        print(json.dumps(driver.identity()), file=answers)
    except (DriverError, OSError, AttributeError) as error:
        print(json.dumps({"failure": f"cannot use {driver_path}: {error}"}), file=answers)
        return
    for line in sys.stdin:
        job = json.loads(line)
        printed.seek(0)
        printed.truncate()
        try:
            answer = {"outputs": driver.run(Path(job["ptx"]).read_bytes(), job).hex()}
        except (DriverError, AttributeError, ValueError) as error:
            answer = {"failure": str(error), "code": getattr(error, "code", None)}
        flush(None)
        printed.seek(0)
        answer["stdout"] = printed.read().decode(errors="replace")
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    serve(sys.argv[1])
