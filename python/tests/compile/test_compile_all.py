"""compile_all: order, errors of all programs, the cache, progress, logging and Ctrl-C. Needs no driver."""

import logging
import sys
import types

import pytest
from conftest import run_python

import cucore

OPTIONS = {"arch": "sm_80"}


def programs(*sources):
    return [
        cucore.Program(source, "c++", cucore.ProgramOptions(**OPTIONS, name=f"number{i}.cu"))
        for i, source in enumerate(sources)
    ]


def kernel(name):
    return f'extern "C" __global__ void {name}(int* p) {{ *p = 1; }}'


def test_results_have_the_order_of_the_programs():
    slow = "".join(kernel(f"slow{i}") for i in range(40))
    codes = cucore.compile_all(programs(slow, kernel("second"), kernel("third")), workers=3)
    assert [code.kernels[-1] for code in codes][1:] == ["second", "third"] and len(codes[0].kernels) == 40
    assert cucore.compile_all([]) == []


def test_templates_come_with_their_names():
    (program,) = programs("template <class T> __global__ void fill(T* p) { *p = 1; }")
    (code,) = cucore.compile_all([(program, ["fill<float>"])], "ptx")
    assert code.code_type == "ptx" and "fill<float>" in code.symbol_mapping


def test_every_error_is_told_and_the_rest_is_compiled():
    with pytest.raises(cucore.CompileErrors, match="2 of 4 programs could not be compiled") as caught:
        cucore.compile_all(programs("first error", kernel("good"), "second error", kernel("fine")), workers=2)
    error = caught.value
    assert error.indices == (0, 2)
    assert [type(each) for each in error.exceptions] == [cucore.NVRTCError] * 2
    assert "number0.cu" in str(error.exceptions[0]) and "number2.cu" in str(error.exceptions[1])
    assert [code and code.kernels for code in error.results] == [None, ["good"], None, ["fine"]]
    if sys.version_info >= (3, 11):
        assert isinstance(error, ExceptionGroup) and error.split(cucore.NVRTCError)[1] is None  # noqa: F821


def test_where_python_has_no_groups_the_errors_are_held_alike():
    program = """
    import builtins
    del builtins.ExceptionGroup, builtins.BaseExceptionGroup
    import cucore
    try:
        cucore.compile_all([cucore.Program("wrong", "c++", {"arch": "sm_80"})])
    except cucore.CompileErrors as error:
        print(error, len(error.exceptions), error.indices, error.results)
    """
    done = run_python(program)
    assert done.stdout == "1 of 1 programs could not be compiled (1 sub-exceptions) 1 (0,) [None]\n", done.stderr


def test_wrong_calls_are_refused_before_anything_is_compiled(tmp_path):
    cache = cucore.ProgramCache(tmp_path)
    (good,) = programs(kernel("good"))
    for wrong, of_kind in (
        (lambda: cucore.compile_all([good, "text"], cache=cache), TypeError),
        (lambda: cucore.compile_all([good], "exe", cache=cache), ValueError),
        (lambda: cucore.compile_all([good], workers=0, cache=cache), ValueError),
    ):
        with pytest.raises(of_kind):
            wrong()
    assert cache.stats.misses == 0


def test_it_takes_the_cache(tmp_path):
    cache = cucore.ProgramCache(tmp_path)
    wanted = programs(*(kernel(f"k{i}") for i in range(4)))
    first = cucore.compile_all(wanted, cache=cache)
    again = cucore.compile_all(wanted, cache=cache)
    assert [a.code for a in first] == [a.code for a in again]
    assert (cache.stats.misses, cache.stats.hits) == (4, 4)


class Bar:
    """What tqdm is called with and told."""

    made = None

    def __init__(self, **given):
        Bar.made, self.given, self.done, self.closed = self, given, 0, False

    def update(self, count):
        self.done += count

    def close(self):
        self.closed = True


def test_progress_is_given_or_tqdms(monkeypatch):
    wanted = programs(kernel("a"), kernel("b"), "wrong")
    with pytest.raises(cucore.CompileErrors):
        cucore.compile_all(wanted, progress=Bar)
    assert (Bar.made.given["total"], Bar.made.done, Bar.made.closed) == (3, 3, True)
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    cucore.compile_all(wanted[:2], progress=True)
    assert Bar.made.given["disable"] is None and Bar.made.done == 2


@pytest.mark.parametrize("is_terminal", [True, False])
def test_without_tqdm_a_line_is_for_terminals_only(monkeypatch, capsys, is_terminal):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    cucore.compile_all(programs(kernel("a"), kernel("b")), progress=True)
    assert capsys.readouterr().err == ("\rcompile: 0 of 2\rcompile: 1 of 2\rcompile: 2 of 2\n" if is_terminal else "")


def test_what_is_done_is_logged(caplog):
    with caplog.at_level(logging.DEBUG, "cucore"), pytest.raises(cucore.CompileErrors):
        cucore.compile_all(programs(kernel("a"), "wrong"), workers=1)
    assert [record.name for record in caplog.records] == ["cucore.compile"] * 3
    first, second, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("number0.cu: ") and first.endswith("cache: not used")
    assert second.startswith("number1.cu: failed: ") and last == "1 programs compiled, 1 failed"


def test_ctrl_c_ends_what_runs_and_starts_no_more():
    program = """
    import logging, os, signal, sys, threading
    import cucore

    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(message)s")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background begins without

    slow = "".join(
        f'extern "C" __global__ void k{i}(float* p) {{ float a = p[0]; for (int j = 0; j < 100; j++) '
        f"{{ a = sinf(a) * p[j] + {i}; a = powf(a, 3.1f); }} p[1] = a; }}\\n" for i in range(60))
    programs = [cucore.Program(slow, "c++", {"arch": "sm_80", "name": f"{i}"}) for i in range(12)]
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        cucore.compile_all(programs, workers=2)
    except KeyboardInterrupt:
        print(sum(program.last_report is not None for program in programs) < 12, threading.active_count())
    """
    done = run_python(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert "NVRTC_ERROR_CANCELLED" in done.stdout and done.stdout.endswith("\nTrue 1\n")
