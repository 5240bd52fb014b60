"""`make bench`, `make bench-gpu`: runs the C++ and Python benchmarks, pairs each operation with the bare driver call of
the same run, prints the table and writes it with the machine's description to bench/results/.

Usage: run.py [--python PYTHON] [--build FOLDER] [--output FILE] [--fast]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from machine import machine  # noqa: E402


def cpp_times(build):
    """{operation: {who: nanoseconds}}, medians."""
    output = subprocess.run(
        [build / "bench/driver_bench", "--benchmark_format=json"], check=True, capture_output=True, text=True
    ).stdout
    times = {}
    for entry in json.loads(output)["benchmarks"]:
        if entry.get("aggregate_name") != "median":
            continue
        operation, who = entry["run_name"].split("/iterations:")[0].rsplit("/", 1)
        times.setdefault(operation, {})[who] = entry["real_time"]
    return times


def python_times(python, build, fast):
    import pyperf

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        environment = ",".join(name for name in os.environ if name.startswith(("CU", "LD_", "PYTHON", "PATH")))
        command = [python, ROOT / "bench/python_bench.py", "--loops-library", build / "bench/libbare_loops.so", "-o",
                   report, "--quiet", "--inherit-environ", environment]  # fmt: skip
        subprocess.run([str(word) for word in (*command, *(["--fast"] if fast else []))], check=True)
        suite = pyperf.BenchmarkSuite.load(str(report))
    times = {}
    for benchmark in suite.get_benchmarks():
        operation, who = benchmark.get_name().rsplit("/", 1)
        times.setdefault(operation, {})[who] = benchmark.median() * 1e9
    return times


def table(title, times):
    lines = [title, f"  {'operation':<28}{'who':<12}{'ns':>12}{'over bare':>12}{'ratio':>8}"]
    for operation, by_who in times.items():
        bare = by_who["bare"]
        for who, nanoseconds in by_who.items():
            over = "" if who == "bare" else f"{nanoseconds - bare:12.0f}{nanoseconds / bare:8.2f}"
            lines.append(f"  {operation:<28}{who:<12}{nanoseconds:12.0f}{over}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--fast", action="store_true", help="fewer samples")
    arguments = parser.parse_args()
    output = arguments.output or ROOT / f"bench/results/bench-{os.environ.get('CUCORE_DEVICE', 'auto')}.txt"
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for part in (
        machine,
        lambda: table("C++ (Google Benchmark, medians of 5)", cpp_times(arguments.build)),
        lambda: table("Python (pyperf, medians)", python_times(arguments.python, arguments.build, arguments.fast)),
    ):
        added = part()
        print("\n".join(added), flush=True)
        lines += added
        output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
