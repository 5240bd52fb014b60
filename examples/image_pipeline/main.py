"""The main job, in Python: compile CUDA C++ templates at run time, keep the result in the program cache, pickle it,
send it to a second process that loads it lazily, launches it, times it with events and checks it against SciPy.

Usage: main.py [--output FOLDER]    Exit status 1 on any mismatch.
"""

import argparse
import json
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pipeline
from skimage import data, io

import cucore
from cucore import utils

HERE = Path(__file__).resolve().parent


def compile_pipeline(cache):
    """Returns (ObjectCode, milliseconds)."""
    source = (HERE / "kernels.cu").read_text()
    options = cucore.ProgramOptions(std="c++17", arch=f"sm_{cucore.Device().arch}", name="kernels.cu")
    start = time.perf_counter()
    with cucore.Program(source, "c++", options) as program:
        code = program.compile("cubin", name_expressions=pipeline.NAMES, cache=cache)
    return code, (time.perf_counter() - start) * 1e3


def load_photograph():
    """A photograph that scikit-image ships (astronaut Eileen Collins, NASA, public domain), as RGBA and float gray."""
    rgb = data.astronaut()
    rgba = np.dstack([rgb, np.full(rgb.shape[:2], 255, np.uint8)])
    gray = (rgb.astype(np.float32) @ np.float32([0.2126, 0.7152, 0.0722])).astype(np.float32)
    return rgba, gray


def save_picture(path, rgba, output):
    """Input, blurred input and edges, side by side."""
    edges = np.clip(output["sobel"] / 4, 0, 255).astype(np.uint8)
    panels = [rgba[..., :3], output["blur_uchar4"][..., :3], np.dstack([edges] * 3)]
    io.imsave(path, np.hstack(panels), check_contrast=False)


def main(output):
    output.mkdir(parents=True, exist_ok=True)
    cache_folder = output / "cache"
    shutil.rmtree(cache_folder, ignore_errors=True)
    rgba, gray = load_photograph()
    np.savez(output / "input.npz", rgba=rgba, gray=gray)
    io.imsave(output / "input.ppm", rgba[..., :3], check_contrast=False)

    _, cold_ms = compile_pipeline(utils.FileStreamProgramCache(cache_folder))
    code, cached_ms = compile_pipeline(utils.FileStreamProgramCache(cache_folder))
    (output / "code.pickle").write_bytes(pickle.dumps(code))

    command = [sys.executable, HERE / "worker.py", "code.pickle", "input.npz", "output.npz", "report.json"]
    status = subprocess.run(command, cwd=output).returncode
    if not (output / "report.json").exists():
        sys.exit(f"the second process failed with status {status} before it wrote its report")
    report = json.loads((output / "report.json").read_text())

    print(f"Python: {report['device']}, {gray.shape[1]}x{gray.shape[0]} photograph, {len(code.code)} bytes of code")
    print(f"  {'compile, cold':<24}{cold_ms:10.2f} ms")
    print(f"  {'compile, from cache':<24}{cached_ms:10.2f} ms")
    print(f"  {'load in process 2':<24}{report['load_ms']:10.2f} ms")
    for name, ms, moved in report["timings"]:
        print(f"  {name:<24}{ms:10.3f} ms {moved / ms / 1e6:9.2f} GB/s")
    for name, difference, allowed, ok in report["checks"]:
        print(
            f"  {name:<24}{'ok' if ok else 'MISMATCH':>10}   largest difference {difference:.2g}, allowed {allowed:.2g}"
        )
    with np.load(output / "output.npz") as results:
        save_picture(output / "python.png", rgba, results)
    print(f"  picture: {output / 'python.png'}")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/demo"))
    sys.exit(main(parser.parse_args().output))
