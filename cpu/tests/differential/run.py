"""Runs random programs on a driver and writes a digest of what each wrote; see README.md.

Usage: run.py --seeds A:B --driver gpu|cpu|interpreter [--form FORM] --out FILE [--expect FILE] [--jobs N]
       run.py --seed N --driver gpu|cpu [--form FORM] [--show] [--minimise]
FORM is scalar, vector or masked.
"""

import argparse
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import compare
from launches import digest, text_of
from program import make_program

BATCH = 20
SECONDS = 300  # that a batch may take


def environment(driver, form):
    out = {**os.environ, "CUCORE_DEVICE": driver if driver == "gpu" else "cpu"}
    if driver == "cpu":
        out |= {"CUCORE_CPU_COMPUTE_CAPABILITY": "9.0", "CUCORE_CPU_CACHE": "0", "CUCORE_CPU_FORM": form}
    return out


class Worker:
    """A process that runs batches; a new one takes its place when it dies, hangs or has lost its context."""

    def __init__(self, driver, form):
        self.env, self.process = environment(driver, form), None
        self.interpret = driver == "interpreter"

    def ask(self, seeds, keep=()):
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, Path(__file__).with_name("launches.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self.env,
            )
        line = ""
        try:
            job = {"seeds": list(seeds), "keep": list(keep), "interpret": self.interpret}
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], SECONDS)[0]:
                line = self.process.stdout.readline()
        except OSError:
            pass
        answer = json.loads(line) if line else {"failure": f"no answer: the process died, or took {SECONDS} s"}
        if "failure" in answer:
            self.close()
        return answer

    def rows(self, seeds):
        """Digests of the programs of these seeds; if one spoils the batch, each runs alone."""
        answer = self.ask(seeds)
        if "rows" in answer:
            return {seed: tuple(row) for seed, *row in answer["rows"]}
        if len(seeds) > 1:
            return {seed: row for one in seeds for seed, row in self.rows([one]).items()}
        program = make_program(seeds[0])
        why = " ".join(answer["failure"].split())
        return {seeds[0]: (program.language, digest(text_of(program).encode()), f"failed: {why[:1000]}")}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


def run(seeds, driver, form="scalar", jobs=None):
    """seed -> (language, digest of the text, digest of the output) from several processes."""
    batches, rows = queue.SimpleQueue(), {}
    jobs = min(jobs or len(os.sched_getaffinity(0)), max(1, len(seeds) // BATCH))
    for start in range(0, len(seeds), BATCH):
        batches.put(seeds[start : start + BATCH])

    def work():
        worker = Worker(driver, form)
        while True:
            try:
                batch = batches.get_nowait()
            except queue.Empty:
                break
            rows.update(worker.rows(batch))
        worker.close()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rows


def describe(driver, form):
    """What computes the digests, in words, and whether it can."""
    if driver == "interpreter":
        return "the interpreter", True
    program = """
import cucore
device = cucore.Device()
print(device.name, "| compute capability %d.%d |" % device.compute_capability, "driver", cucore.driver_info().version)
raise SystemExit(0 if device.compute_capability >= (9, 0) else 3)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment(driver, form), stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"cucore finds no device of the driver '{driver}'")
    return done.stdout.strip() + (f" | {form} form" if driver == "cpu" else ""), done.returncode == 0


def keep_outputs(path, seeds, driver, form):
    """What the programs of these seeds wrote, in hex, for those who have no such driver."""
    worker, kept = Worker(driver, form), {}
    for seed in seeds:
        kept |= worker.ask([seed], [seed]).get("kept", {})
    worker.close()
    Path(path).write_text(json.dumps(kept) + "\n")


def many(arguments):
    start, end = map(int, arguments.seeds.split(":"))
    description, able = describe(arguments.driver, arguments.form)
    if not able:
        print(f"0 passed, 0 failed, 1 skipped: the programs need compute capability 9.0; this is {description}")
        return False
    began = time.monotonic()
    rows = run(list(range(start, end)), arguments.driver, arguments.form, arguments.jobs)
    failed = [seed for seed in sorted(rows) if rows[seed][2].startswith("failed")]
    seconds = time.monotonic() - began
    print(f"{len(rows)} programs in {seconds:.1f} s, {len(failed)} failed")
    for seed in failed[:10]:
        print(f"seed {seed} ({rows[seed][0]}): {rows[seed][2]}")
    if arguments.out:
        compare.write(arguments.out, [description], rows)
    if not arguments.expect:
        return bool(failed)
    expected = compare.read(arguments.expect)
    differing = compare.report({seed: row for seed, row in expected.items() if seed in rows}, rows)
    if differing and arguments.out:
        keep_outputs(f"{arguments.out}.outputs.json", differing[:50], arguments.driver, arguments.form)
    return bool(failed or differing or not expected.keys() & rows.keys())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", help="A:B, from A up to but not B")
    parser.add_argument("--seed", type=int, help="one, compared with the interpreter word by word")
    parser.add_argument("--driver", choices=["gpu", "cpu", "interpreter"], required=True)
    parser.add_argument(
        "--form", choices=["scalar", "vector", "masked"], default="scalar", help="of the CPU device's code"
    )
    parser.add_argument("--out", help="file of digests to write")
    parser.add_argument(
        "--expect", help="file of digests to compare with; what differing programs wrote goes beside --out"
    )
    parser.add_argument("--jobs", type=int, help="processes (default: one for each core)")
    parser.add_argument("--show", action="store_true", help="print the program of --seed")
    parser.add_argument("--minimise", action="store_true", help="take from it what the difference does not need")
    arguments = parser.parse_args()
    if (arguments.seeds is None) == (arguments.seed is None):
        parser.error("either --seeds or --seed")
    if arguments.seed is not None and arguments.driver == "interpreter":
        parser.error("--seed compares a driver with the interpreter")
    if arguments.seeds:
        sys.exit(many(arguments))
    os.environ.update(environment(arguments.driver, arguments.form))
    import reproducer

    sys.exit(reproducer.show(arguments.seed, arguments.show, arguments.minimise))


if __name__ == "__main__":
    main()
