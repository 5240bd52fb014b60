"""The second process: gets pickled code, loads it at its first use, runs the pipeline, checks it against SciPy.

Usage: worker.py CODE.pickle INPUT.npz OUTPUT.npz REPORT.json
"""

import json
import pickle
import sys
import time

import numpy as np
import pipeline
import reference

import cucore


def main(code_path, input_path, output_path, report_path):
    with open(code_path, "rb") as file:
        code = pickle.load(file)
    with np.load(input_path) as images:
        rgba, gray = images["rgba"], images["gray"]
    cucore.Device().set_current()
    start = time.perf_counter()
    code.get_kernel("sobel<float>")  # the first use loads the module
    load_ms = (time.perf_counter() - start) * 1e3
    results, timings = pipeline.run(code, rgba, gray)
    checks = reference.check(rgba, gray, results)
    np.savez(output_path, **{name: results[name] for name in ("blur_float", "blur_uchar4", "sobel")})
    report = {"device": repr(cucore.Device()), "load_ms": load_ms, "timings": timings, "checks": checks}
    with open(report_path, "w") as file:
        json.dump(report, file)
    return 0 if all(ok for *_, ok in checks) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
