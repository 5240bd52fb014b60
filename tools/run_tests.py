"""Runs every suite of the project and closes with one line: N passed, N failed, N skipped.

A suite is a name and a function that gives a Tally. Everything a suite prints goes to build/test-logs/SUITE.log. What
failed, and the end of what it printed, stands before the last line, where whoever sees only the end of a log finds it.
`tools/run_tests.py NAME ...` runs only those suites. Most of them use one core for most of their time, so after lint as
many run side by side as there are cores, two at most, those that take longest first.

What takes long runs short, but with `--long` (`make test-long`) whole: the sanitizers without what they would only see
once more (LEFT_OUT), a tenth of a million objects of each class, half a minute a fuzzer instead of ten.
"""

import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import test_arm
from tally import JOBS, PYTHON, ROOT, Tally, read_junit, run_logged, tests_of_ctest

BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
KERNEL_CACHE = BUILD / "test-kernel-cache"  # of the CPU device, instead of the user's; CTest's tests name it too
LONG = "--long" in sys.argv
FUZZ_SECONDS = int(os.environ.get("CUCORE_FUZZ_SECONDS", "600" if LONG else "30"))
FUZZ_SEED = os.environ.get("CUCORE_FUZZ_SEED", "1")  # one for all, so that what CI finds is found again; 0: any


def lint(log):
    return Tally.of("tools/lint.py", run_logged(log, [PYTHON, "tools/lint.py"]), log)


def ctest(log, build, env=None, leave_out=(), without=()):
    """Every test CTest knows in a build folder, less those named in `leave_out` and the cases of patterns `without`."""
    tests = (test for test in tests_of_ctest(build) if test.name not in leave_out)
    return sum((test.without(without).run(log, env) for test in tests), Tally())


def cpp(log):
    return ctest(log, BUILD)


def pytest(log):
    report = LOGS / "pytest.xml"
    report.unlink(missing_ok=True)
    folders = ["python/tests", "cpu/tests/instructions", "cpu/tests/differential", "tests"]
    status = run_logged(
        log,
        [
            PYTHON,
            "-m",
            "pytest",
            "-q",
            "-x" if os.environ.get("CUCORE_FAIL_FAST") else "-q",
            f"--junitxml={report}",
            *folders,
        ],
        {
            "CUCORE_DEVICE": os.environ.get("CUCORE_DEVICE", "cpu"),
            # Two, for the tests that need them; `ctest` runs with one.
            "CUCORE_CPU_DEVICES": os.environ.get("CUCORE_CPU_DEVICES", "2"),
            # As in cpu/tests/CMakeLists.txt: a compile's memory would go back to the system and come again.
            "MALLOC_TRIM_THRESHOLD_": "1000000000",
            "MALLOC_TOP_PAD_": "67108864",
        },
        timeout=3600,
    )
    return read_junit("pytest", report, status, log)


NOT_SANITIZED = {"install", "must_not_compile"}  # these compile other programs
# Of many kernels, random ones or one for each combination: generated code is not instrumented. With CUCORE_TEST_BRIEFLY
# the tests of the compiler by itself are not built for the address sanitizer either.
OF_MANY_KERNELS = ("LanePrograms.*", "Exchanges.*")
LEFT_OUT = {
    "asan": OF_MANY_KERNELS,
    "tsan": (*OF_MANY_KERNELS, "Warps.*", "Forms/FaultPlaces.*"),  # where the compiler is not instrumented either
}


def sanitizer(preset, options):
    """The C++ tests, with everything they link built under the preset's sanitizers; unless long, less LEFT_OUT."""
    without = () if LONG else LEFT_OUT[preset]

    def suite(log):
        build = BUILD / preset
        options_of_build = [f"-DPython_EXECUTABLE={PYTHON}", f"-DCUCORE_TEST_BRIEFLY={'OFF' if LONG else 'ON'}"]
        status = run_logged(log, ["cmake", "--preset", preset, *options_of_build]) or run_logged(
            log, ["cmake", "--build", build, "-j", JOBS], timeout=3600
        )
        if status:
            return Tally.of(f"the build of the preset {preset}", status, log)
        return ctest(log, build, options, NOT_SANITIZED, without)

    return suite


def fuzz(log):
    """A short run of every fuzzer; the corpus that grows stays in build/fuzz/corpus for the next run."""
    build = BUILD / "fuzz"
    status = run_logged(log, ["cmake", "--preset", "fuzz", f"-DPython_EXECUTABLE={PYTHON}"]) or run_logged(
        log, ["cmake", "--build", build, "-j", JOBS, "--target", "fuzzers"], timeout=3600
    )
    if status:
        return Tally.of("the build of the fuzzers", status, log)
    targets = sorted(path for path in (build / "fuzzers").iterdir() if path.is_file() and os.access(path, os.X_OK))

    def one(target):
        corpus = build / "corpus" / target.name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = build / "seeds" / target.name
        command = [
            target,
            f"-max_total_time={FUZZ_SECONDS}",
            f"-seed={FUZZ_SEED}",
            "-timeout=25",
            "-rss_limit_mb=3000",
            "-verbosity=0",
            "-print_final_stats=1",
            f"-artifact_prefix={build}/crash-{target.name}-",
            corpus,
        ]
        if seeds.is_dir():
            command.append(seeds)
        target_log = LOGS / f"fuzz-{target.name}.log"
        target_log.unlink(missing_ok=True)
        return run_logged(target_log, command, timeout=FUZZ_SECONDS + 120)

    with ThreadPoolExecutor(max_workers=int(JOBS)) as pool:
        results = list(pool.map(one, targets))
    tally = Tally()
    for target, status in zip(targets, results, strict=True):
        with open(log, "a") as out:
            out.write(f"{target.name}: exit status {status}\n")
            out.write((LOGS / f"fuzz-{target.name}.log").read_text(errors="replace")[-4000:])
        tally += Tally.of(target.name, status, log)
    return tally


def packaging(log):
    """The wheels of the system's Python, made and checked, in an empty environment; then the quick start from there.

    `make test-install` does the same in bare systems. The compiler's cache knows most files from build/.
    """
    tally = Tally()
    folder = BUILD / "packaging"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheels, venv = folder / "wheels", folder / "venv"
    python = os.environ.get("SYSTEM_PYTHON", "/usr/bin/python3")
    install = [venv / "bin/python", "-m", "pip", "install", "-q", "--no-input", "--find-links", wheels]
    steps = [
        [PYTHON, "tools/make_wheels.py", "--python", python, "--output", wheels],
        [python, "-m", "venv", venv],
        [*install, "cucore"],
        [venv / "bin/python", ROOT / "tests/install/quick_start.py"],
        [venv / "bin/python", ROOT / "tests/install/check_environment.py"],
    ]
    for step in steps:
        status = run_logged(log, step, {"CUCORE_DEVICE": "cpu", "CUDA_HOME": "", "VIRTUAL_ENV": ""})
        tally += Tally.of(" ".join(map(str, step)), status, log)
        if tally.failures:
            break
    return tally


def demo(log):
    output = BUILD / "demo-test"
    shutil.rmtree(output, ignore_errors=True)
    programs = [
        [PYTHON, "examples/quick_start.py"],
        [PYTHON, "examples/image_pipeline/main.py", "--output", output],
        [BUILD / "examples/image_pipeline_cpp", "--output", output],
    ]
    return sum((Tally.of(" ".join(map(str, program)), run_logged(log, program), log) for program in programs), Tally())


def arm(log):
    """A sample of `make test-arm`, where that has built something."""
    return test_arm.sample()


SUITES = {
    "lint": lint,
    "tsan": sanitizer(
        "tsan",
        {
            "TSAN_OPTIONS": f"halt_on_error=0:exitcode=66:atexit_sleep_ms=50:suppressions={ROOT}/tools/tsan.supp",
        },
    ),
    "asan": sanitizer(
        "asan",
        {
            # LeakSanitizer of g++ 12 reads what it remembers of the thread-local memory of opened libraries, and has
            # crashed on it at the end of a run ("Tracer caught signal 11"); the rest it finds without remembering.
            "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:intercept_tls_get_addr=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "LSAN_OPTIONS": f"suppressions={ROOT}/tools/lsan.supp:print_suppressions=0",
        },
    ),
    "packaging": packaging,
    "pytest": pytest,
    "cpp": cpp,
    "demo": demo,
    "fuzz": fuzz,
    "arm": arm,
}
ALONE = {"lint"}  # keeps all cores busy


def report(name):
    """Runs a suite and prints its result."""
    log = LOGS / f"{name}.log"
    log.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        tally = SUITES[name](log)
    except Exception as error:  # a suite that cannot even start is a failed suite, and the others still run
        tally = Tally(0, [f"{type(error).__name__}: {error}"])
    if tally.ran_nothing:
        tally.failures.append("no test ran")
    whole = f"   whole log: {log.relative_to(ROOT)}\n" if tally.failures else ""
    print(f"== {name}\n{whole}   {tally} ({time.monotonic() - start:.0f} s)", flush=True)
    tally.failures = [f"{name}: {failure}" for failure in tally.failures]
    return tally


def main(names):
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        sys.exit(f"unknown suite {unknown[0]}; there are: {', '.join(SUITES)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(KERNEL_CACHE, ignore_errors=True)
    os.environ["CUCORE_CPU_CACHE"] = str(KERNEL_CACHE)
    os.environ.setdefault("CUCORE_TEST_SCALE", "1" if LONG else "0.1")
    wanted = [name for name in SUITES if not names or name in names]
    total = sum((report(name) for name in wanted if name in ALONE), Tally())
    with ThreadPoolExecutor(max_workers=min(2, int(JOBS))) as pool:
        total = sum(pool.map(report, (name for name in wanted if name not in ALONE)), total)
    for failure in total.failures:  # each in a line first, for whoever sees only so much of them
        print(f"FAILED {failure.splitlines()[0]}")
    for failure in total.failures:
        print(f"---- {failure}")
    print(total)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main([name for name in sys.argv[1:] if name != "--long"]))
