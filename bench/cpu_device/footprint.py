"""What the CPU device needs beside the data: memory and threads of a process that runs one problem's kernels and has
their code from the cache. Prints JSON; run.py starts it.

Usage: footprint.py FILE_OF_KERNELS PROBLEM
"""

import json
import re
import sys
from pathlib import Path

RUNS = 3


def status(key):
    """A number of /proc/self/status; memory in KiB."""
    return int(re.search(rf"^{key}:\s*(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)[1])


def stacks_kib():
    """Resident memory of stacks, those of threads and fibers: what lies above a guard page."""
    total, end_of_guard = 0, None
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) (....)", line):
            begin, end = int(found[1], 16), int(found[2], 16)
            is_stack = begin == end_of_guard and found[3] == "rw-p"
            end_of_guard = end if found[3] == "---p" and end - begin == 4096 else None
        elif line.startswith("Rss:") and is_stack:
            total += int(line.split()[1])
    return total


def main():
    import problems
    from sides import Device

    import cucore

    arrays = problems.Arrays()
    problem = next(make for make in problems.PROBLEMS if make.__name__ == sys.argv[2])(arrays)
    device = Device(cucore, Path(sys.argv[1]).read_bytes(), "native")
    data, threads, stacks = status("VmRSS"), status("Threads"), stacks_kib()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    run = device.prepare(problem, arrays, problem.results)
    for _ in range(RUNS):
        run()
    found = {
        "peak_mib": (status("VmHWM") - data) / 1024,
        "stacks_mib": (stacks_kib() - stacks) / 1024,
        "threads": status("Threads") - threads,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
