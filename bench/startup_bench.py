"""What a program waits for on the CPU device: the first launch of kernels of several sizes, compiled and from the cache
on disk, and the launch and wait of an empty one, each in a process of its own. Prints a table with the targets.

Usage: startup_bench.py [--build FOLDER] [--rounds N] [--output FILE]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from machine import machine  # noqa: E402

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 memory)\n{\n"
# (instructions, where the code comes from) -> the most that the first launch may take, in milliseconds
TARGETS = {(200, "compiled"): 60, (200, "cache"): 2, (5000, "compiled"): 500}


def kernel(instructions):
    """PTX of about as many instructions: arithmetic on integers and floats, loads, stores, branches."""
    if instructions == 0:
        return HEAD + "  ret;\n}\n"
    lines = [
        "  .reg .pred %p<2>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<9>;",
        "  ld.param.u64 %rd1, [memory]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;",
        "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; ld.global.f32 %f0, [%rd4]; mov.u32 %r2, %r1;",
    ]
    count = 7
    group = 0
    while count < instructions - 3:
        a, b, c = group % 30, (group + 1) % 30, (group + 2) % 30
        at = group % 64 * 128
        lines += [
            f"  ld.global.f32 %f{b}, [%rd4+{at}];",
            f"  fma.rn.f32 %f{c}, %f{b}, %f0, %f{b};",
            f"  add.f32 %f0, %f0, %f{c};",
            f"  cvt.rzi.s32.f32 %r{a + 3}, %f0;",
            f"  xor.b32 %r2, %r2, %r{a + 3};",
            "  shl.b32 %r2, %r2, 1;",
            "  mad.lo.s32 %r2, %r2, 3, %r1;",
        ]
        count += 7
        if group % 4 == 3:
            lines += [
                f"  setp.gt.s32 %p1, %r2, {group};",
                f"  @%p1 bra L{group};",
                "  mul.f32 %f0, %f0, 0f3F000000;",
                f"  st.global.u32 [%rd4+{at}], %r2;",
                f"L{group}:",
            ]
            count += 4
        group += 1
    lines += ["  st.global.f32 [%rd4], %f0;", "  ret;"]
    return HEAD + "\n".join(lines) + "\n}\n"


def start(build, ptx, cache, form):
    environment = {**os.environ, "CUCORE_CPU_CACHE": str(cache), "CUCORE_CPU_FORM": form}
    command = [build / "bench/startup_program", build / "cpu/driver/libcuda.so.1", ptx, "kernel"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def measure(build, rounds, folder):
    """Rows of (instructions, form, source, runs)."""
    for instructions in (0, 200, 1000, 5000):
        ptx = Path(folder) / f"{instructions}.ptx"
        ptx.write_text(kernel(instructions))
        for form in ("scalar", "vector"):
            cache = Path(folder) / "cache"
            compiled = []
            for _ in range(rounds):
                shutil.rmtree(cache, ignore_errors=True)
                compiled.append(start(build, ptx, cache, form))
            yield instructions, form, "compiled", compiled
            yield instructions, form, "cache", [start(build, ptx, cache, form) for _ in range(rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines = [*machine(), "best of the rounds (median); a launch of 32 threads and its wait, one process each;",
             "processor time is that of the first launch, by all threads",
             f"{'instructions':>12} {'form':<7} {'code':<9}{'load ms':>16}{'first launch ms':>20}{'processor ms':>18}"
             f"{'later ns':>18}{'private MiB':>12}{'threads':>8}  target"]  # fmt: skip
    print("\n".join(lines), flush=True)

    def best(runs, key, digits=2):
        values = [run[key] for run in runs]
        return f"{min(values):.{digits}f} ({statistics.median(values):.{digits}f})"

    with tempfile.TemporaryDirectory() as folder:
        for instructions, form, source, runs in measure(arguments.build, arguments.rounds, folder):
            after = runs[0]["after"]
            memory = (after["private_kib"] - runs[0]["before"]["private_kib"]) / 1024
            line = (
                f"{instructions:>12} {form:<7} {source:<9}{best(runs, 'load_ms'):>16}"
                f"{best(runs, 'first_launch_ms'):>20}"
                f"{best(runs, 'first_launch_processor_ms'):>18}{best(runs, 'later_ns', 0):>18}"
                f"{memory:>12.1f}{after['threads']:>8}"
            )
            first = min(run["first_launch_ms"] for run in runs)
            if most := TARGETS.get((instructions, source)):
                line += f"  first launch < {most} ms: {'met' if first < most else 'missed'}"
            if instructions == 0 and source == "cache":
                line += f"  later < 2000 ns: {'met' if min(run['later_ns'] for run in runs) < 2000 else 'missed'}"
            lines.append(line)
            print(line, flush=True)
        idle, before = runs[0]["idle"], runs[0]["before"]
        lines.append(f"the driver alone, before any kernel: {best(runs, 'start_ms')} ms to start, "
                     f"{(idle['private_kib'] - before['private_kib']) / 1024:.1f} MiB private, "
                     f"{idle['threads'] - before['threads']} threads beside the program's")  # fmt: skip
        print(lines[-1])
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
