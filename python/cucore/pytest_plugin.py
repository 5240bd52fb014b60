"""pytest plugin: which device a run of tests uses, whatever library the tests reach it by.

``pytest --cucore=cpu`` makes the CPU device the CUDA driver of the run before anything opens one; ``gpu`` wants a GPU,
``auto`` takes the CPU device where there is none. ``--cucore-check=memory,race`` runs the checker: what it finds in a
test's kernels fails that test. ``--cucore-devices=2`` presents two devices. Tests marked ``gpu_only`` and ``cpu_only``
are skipped on the other. Without ``--cucore`` (or ``cucore = cpu`` in pytest's ini file) nothing is changed.
"""

import os
import subprocess
import sys

import pytest

CHECKS = ("memory", "race", "init", "sync", "fp", "all")
RESTARTED = "CUCORE_PYTEST_RESTARTED"

_run = pytest.StashKey()


class Run:
    """What was chosen: `device` is "cpu", "gpu", or None where nothing was asked for."""

    def __init__(self, device=None, checks=""):
        self.device = device
        self.checks = checks
        self.seen = 0

    def kind(self):
        if self.device is None:
            import cucore

            self.device = cucore.driver_info().kind
        return self.device


def pytest_addoption(parser):
    group = parser.getgroup("cucore", "CUDA on a GPU or on the CPU device")
    group.addoption("--cucore", choices=("cpu", "gpu", "auto"), help="the device that the tests use")
    group.addoption(
        "--cucore-check", metavar="CHECKS", help="on the CPU device, look for " + ", ".join(CHECKS) + "; with commas"
    )
    group.addoption("--cucore-devices", metavar="N", type=int, help="how many devices the CPU device presents")
    parser.addini("cucore", "the device that the tests use: cpu, gpu or auto")


def _has_gpu():
    """Asks in a process of its own, since an opened driver stays open."""
    program = "import cucore; print(cucore.driver_info().kind)"
    environment = {**os.environ, "CUCORE_DEVICE": "gpu"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    return done.stdout.strip() == "gpu", done.stderr.strip().rpartition("\n")[2]


def _choose(options, config):
    chosen = options.cucore or config.getini("cucore") or None
    for name in ("cucore_check", "cucore_devices"):
        if getattr(options, name) is not None and chosen != "cpu":
            if chosen is not None:
                raise pytest.UsageError(f"--{name.replace('_', '-')} is for --cucore=cpu, not for {chosen}")
            chosen = "cpu"
    if chosen not in (None, "cpu", "gpu", "auto"):
        raise pytest.UsageError(f"cucore must be cpu, gpu or auto, not {chosen}")
    if chosen in ("gpu", "auto"):
        found, why_not = _has_gpu()
        if not found and chosen == "gpu":
            raise pytest.UsageError(f"--cucore=gpu, but there is no GPU: {why_not}")
        chosen = "gpu" if found else "cpu"
    return chosen


def _restart(config, why):
    """The same run in a process that has the folder in its library path when it begins."""
    from cucore import _driver_files

    if os.environ.get(RESTARTED):
        raise pytest.UsageError(f"--cucore=cpu does not work here: {why}")
    _driver_files.prepare_environment(_driver_files.find_library(), os.environ)
    os.environ[RESTARTED] = "1"
    config.stash[_run] = Run()
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()  # the new process writes to the terminal
    os.execv(sys.executable, sys.orig_argv)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    device = _choose(options, early_config)
    checks = (options.cucore_check or "") if device == "cpu" else ""
    for name in filter(None, checks.split(",")):
        if name not in CHECKS:
            raise pytest.UsageError(f"--cucore-check: {name} is not one of {', '.join(CHECKS)}")
    early_config.stash[_run] = Run(device, checks)
    if device == "gpu":
        os.environ["CUCORE_DEVICE"] = "gpu"
    if device != "cpu":
        return
    if checks:
        # An error that stays in the context would fail all tests that follow.
        os.environ.update(CUCORE_CPU_CHECK=checks, CUCORE_CPU_CHECK_CONTINUE="1")
    if options.cucore_devices is not None:
        os.environ["CUCORE_CPU_DEVICES"] = str(options.cucore_devices)
    try:
        import cucore.cpu_device  # noqa: F401  (loads it)
    except ImportError as error:
        if "is loaded already" not in str(error):
            raise pytest.UsageError(str(error)) from None
        _restart(early_config, error)


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu_only: skipped where the tests run on the CPU device")
    config.addinivalue_line("markers", "cpu_only: skipped where the tests run on a GPU")


def pytest_report_header(config):
    run = config.stash.get(_run, None)
    if run is None or run.device is None:
        return None
    return f"cucore: {run.device}" + (f", checks {run.checks}" if run.checks else "")


def _findings_since(run):
    from cucore import cpu_device

    cpu_device._wait_for_kernels()
    text, run.seen = cpu_device._findings(run.seen)
    return text


def _checked(item, phase):
    """Around a phase of a test: what the checker found in its kernels is the test's failure, or stands beside it."""
    run = item.config.stash.get(_run, None)
    if run is None or not run.checks:
        return (yield)
    try:
        result = yield
    except BaseException:
        if text := _findings_since(run):
            item.add_report_section(phase, "cucore checker", text)
        raise
    if text := _findings_since(run):
        pytest.fail(text, pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    for kind, other in (("gpu", "cpu"), ("cpu", "gpu")):
        if item.get_closest_marker(f"{kind}_only") and item.config.stash.get(_run, Run()).kind() == other:
            pytest.skip(f"{kind}_only, and the tests run on the {'CPU device' if other == 'cpu' else 'GPU'}")
    return (yield from _checked(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from _checked(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    return (yield from _checked(item, "teardown"))
