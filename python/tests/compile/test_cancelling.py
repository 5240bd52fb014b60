"""Cancelling compiles: those that run, that wait for their turn, and that others wait for too. Needs no driver."""

import threading
import time

import cucore

SLOW = "".join(
    f'extern "C" __global__ void k{i}(float* p) {{ float a = p[0]; for (int j = 0; j < 100; j++) '
    f"{{ a = sinf(a) * p[j] + {i}; a = powf(a, 3.1f); }} p[1] = a; }}\n"
    for i in range(60)
)
OPTIONS = {"arch": "sm_80", "name": "slow.cu"}


def cancelled_until_done(program, *threads):
    while any(thread.is_alive() for thread in threads):
        program.cancel()
        time.sleep(0.01)


def started(function, *arguments):
    """A thread that runs it, with what came out of it in a list."""
    results = []

    def work():
        try:
            results.append(function(*arguments))
        except cucore.CUDAError as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, results


def test_compiles_that_run_and_that_wait_for_their_turn_are_ended():
    program = cucore.Program(SLOW, "c++", OPTIONS)
    compiles = [started(program.compile, "cubin") for _ in range(3)]
    cancelled_until_done(program, *(thread for thread, _ in compiles))
    for _, (error,) in compiles:
        assert isinstance(error, cucore.NVRTCError) and error.name == "NVRTC_ERROR_CANCELLED"
        assert "'slow.cu'" in str(error) and "cancel() was called" in error.hint


def test_a_compile_that_is_asked_for_later_is_not_concerned():
    program = cucore.Program('extern "C" __global__ void k() {}', "c++", OPTIONS)
    program.cancel()
    assert program.compile("cubin").kernels == ["k"]
    program.close()
    program.cancel()


def test_who_waits_for_the_compile_of_another_program_gets_the_code_all_the_same(tmp_path):
    cache = cucore.ProgramCache(tmp_path)
    first, second = (cucore.Program(SLOW, "c++", OPTIONS) for _ in range(2))
    thread, results = started(lambda: first.compile("ptx", cache=cache))
    while cache.stats.misses == 0:
        time.sleep(0.001)
    other, code = started(lambda: second.compile("ptx", cache=cache))
    cancelled_until_done(first, thread)
    other.join()
    assert len(code[0].kernels) == 60
    assert len(cache) == 1 and getattr(results[0], "name", "") in ("NVRTC_ERROR_CANCELLED", "slow.cu")


def test_the_compile_of_ptx_is_not_concerned():
    program = cucore.Program(cucore.compile_ptx(SLOW, OPTIONS).code.decode(), "ptx", OPTIONS)
    thread, results = started(program.compile, "cubin")
    cancelled_until_done(program, thread)
    assert len(results[0].kernels) == 60
