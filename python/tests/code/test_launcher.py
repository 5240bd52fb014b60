"""Prepared launches: kernel.launcher(config), kernel[grid, block, shared, stream], and batches."""

import gc
import inspect
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import SAXPY, compile_cubin

import cucore

ONE = cucore.LaunchConfig(grid=1, block=1)
ADD = 'extern "C" __global__ void add(int* to, int value) { atomicAdd(to, value); }'


@pytest.fixture(scope="module")
def add():
    return compile_cubin(ADD).get_kernel("add")


@pytest.fixture
def total(device, stream, pinned):
    memory = pinned.allocate(4)
    view = np.frombuffer(memory, np.int32)
    view[0] = 0
    return memory, view


def test_a_launcher_takes_the_stream_and_the_arguments(stream, add, total):
    memory, view = total
    launcher = add.launcher(cucore.LaunchConfig(grid=2, block=32))
    assert launcher.kernel is add and launcher.stream is None
    assert launcher.config == cucore.LaunchConfig(grid=2, block=32)
    for _ in range(3):
        launcher(stream, memory, 5)
    stream.sync()
    assert view[0] == 3 * 64 * 5


@pytest.mark.parametrize("shape", ["grid, block", "grid, block, shared", "grid, block, shared, stream", "config",
                                   "config, stream", "dict", "dict, stream"])  # fmt: skip
def test_a_kernel_is_indexed_with_how_to_launch_it(stream, add, total, shape):
    memory, view = total
    values = {"grid": (2, 1), "block": 4, "shared": 16, "stream": stream,
              "config": cucore.LaunchConfig(grid=2, block=4), "dict": {"grid": 2, "block": 4}}  # fmt: skip
    index = tuple(values[word] for word in shape.split(", "))
    launcher = add[index if len(index) > 1 else index[0]]
    if "stream" in shape:
        assert launcher.stream is stream
        launcher(memory, 1)
    else:
        launcher(stream, memory, 1)
    stream.sync()
    assert view[0] == 8
    assert launcher.config.shmem_size == (16 if "shared" in shape else 0)


def test_an_index_that_says_nothing_is_refused(stream, add):
    for index in (5, (), (1,), (1, 1, 0, stream, 1), (ONE, stream, 1), "grid"):
        with pytest.raises((TypeError, ValueError), match=r"kernel\[...\] takes"):
            add[index]
    with pytest.raises(TypeError, match="leave it out"):
        add[1, 1, 0, None]
    with pytest.raises(ValueError, match="block must be >= 1"):
        add[1, 0]


def test_a_launcher_checks_as_launch_does(stream, add, total):
    memory, view = total
    launcher = add.launcher({"grid": 1, "block": 1})
    for arguments, error, words in (
        ((), TypeError, "has no stream"),
        ((None, memory, 1), TypeError, "stream is required"),
        ((memory, 1), TypeError, "expected a Stream"),
        ((stream, memory), TypeError, "takes 2 arguments, 1 was given"),
        ((stream, memory, 1, 2), TypeError, "takes 2 arguments, 3 were given"),
        ((stream, memory, 1.5), TypeError, "argument 2"),
        ((stream, memory, 2**40), OverflowError, "does not fit"),
    ):
        with pytest.raises(error, match=words):
            launcher(*arguments)
    with pytest.raises(TypeError, match="no keyword arguments"):
        launcher(stream, memory, value=1)
    with pytest.raises(TypeError):
        add.launcher(5)
    with pytest.raises(TypeError):
        cucore.Launcher()
    stream.sync()
    assert view[0] == 0


def test_a_launcher_keeps_its_config_when_the_original_changes(stream, add, total):
    memory, view = total
    config = cucore.LaunchConfig(grid=1, block=2)
    launcher = add.launcher(config)
    config.block = 64
    launcher(stream, memory, 1)
    stream.sync()
    assert view[0] == 2


def test_a_launcher_keeps_the_code_loaded(stream, total):
    memory, view = total
    launcher = compile_cubin(ADD).get_kernel("add").launcher(ONE)
    gc.collect()
    launcher(stream, memory, 4)
    stream.sync()
    assert view[0] == 4
    reference = weakref.ref(launcher)
    cycle = [launcher]
    cycle.append(cycle)
    del launcher, cycle
    gc.collect()
    assert reference() is None


def test_a_closed_stream_is_refused_at_the_call(device, add, total):
    stream = device.create_stream()
    launcher = add[1, 1, 0, stream]
    stream.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        launcher(total[0], 1)


def test_a_batch_launches_every_row_in_order(stream, pinned):
    source = 'extern "C" __global__ void put(int* to, int index, int value) { to[index] = value; }'
    put = compile_cubin(source).get_kernel("put")
    memory = pinned.allocate(4 * 100)
    view = np.frombuffer(memory, np.int32)
    view[:] = -1
    put.launcher(ONE).batch(stream, [(memory, i, i * i) for i in range(100)])
    stream.sync()
    assert (view == np.arange(100) ** 2).all()
    put[1, 1, 0, stream].batch(iter([[memory, 0, 5], [memory, 0, 6]]))
    stream.sync()
    assert view[0] == 6
    put.launcher(ONE).batch(stream, [])


def test_a_batch_is_checked_before_anything_is_launched(stream, add, total):
    memory, view = total
    launcher = add.launcher(ONE)
    with pytest.raises(TypeError, match="launch 2 of the batch: .*takes 2 arguments, 1 was given"):
        launcher.batch(stream, [(memory, 1), (memory,), (memory, 3)])
    with pytest.raises(OverflowError):
        launcher.batch(stream, [(memory, 1), (memory, 2**40)])
    with pytest.raises(TypeError, match="tuple or a list"):
        launcher.batch(stream, [(memory, 1), 5])
    for wrong in ((), (stream,), (stream, [], [])):
        with pytest.raises(TypeError):
            launcher.batch(*wrong)
    stream.sync()
    assert view[0] == 0


def test_many_arguments_and_many_launches(stream, pinned):
    count = 512
    parameters = ", ".join(f"int a{i}" for i in range(count))
    source = f'extern "C" __global__ void last(int* out, {parameters}) {{ *out = a0 + a{count - 1}; }}'
    kernel = compile_cubin(source).get_kernel("last")
    out = pinned.allocate(4)
    kernel[1, 1, 0, stream](out, *range(count))
    stream.sync()
    assert np.frombuffer(out, np.int32)[0] == count - 1
    kernel.launcher(ONE).batch(stream, [(out, *range(n, n + count)) for n in range(20)])
    stream.sync()
    assert np.frombuffer(out, np.int32)[0] == 2 * 19 + count - 1


def test_threads_share_a_launcher(device, stream, add, total):
    memory, view = total
    launcher = add.launcher(ONE)
    errors = []

    def work():
        try:
            for _ in range(200):
                launcher(stream, memory, 3)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.sync()
    assert not errors and view[0] == 2400


def test_no_reference_is_lost_or_kept(stream, add, total):
    memory, _ = total
    launcher = add.launcher(ONE)
    big = 10**15
    objects = (stream, memory, add, launcher, ONE)
    before = [sys.getrefcount(item) for item in objects]
    for _ in range(100):
        launcher(stream, memory, 1)
        cucore.launch(stream, ONE, add, memory, 1)
        launcher.batch(stream, [(memory, 1)])
        for wrong in ((memory, big), (memory, "x"), (memory,)):
            with pytest.raises((TypeError, OverflowError)):
                launcher(stream, *wrong)
    del wrong
    stream.sync()
    assert [sys.getrefcount(item) for item in objects] == before


def test_a_launcher_shows_what_it_is(add):
    launcher = add.launcher(ONE)
    assert repr(launcher) == f"<Launcher of {add!r} with {ONE!r}>"
    assert "vectorcall" not in dir(launcher)
    assert "stream" in inspect.getdoc(cucore.Launcher)


def test_saxpy_by_launcher(device, stream, pinned):
    kernel = compile_cubin(SAXPY, ["saxpy<float>"]).get_kernel("saxpy<float>")
    n = 1000
    x, y, out = (pinned.allocate(4 * n) for _ in range(3))
    np.frombuffer(x, np.float32)[:] = np.arange(n)
    np.frombuffer(y, np.float32)[:] = 1
    kernel.launcher(cucore.LaunchConfig.for_kernel(kernel, n))(stream, 2, x, y, out, n)
    stream.sync()
    assert (np.frombuffer(out, np.float32) == 2 * np.arange(n) + 1).all()


def test_a_launch_without_all_arguments_is_both_what_the_driver_and_what_python_would_say(add, stream):
    for kind in (cucore.CUDAError, TypeError, cucore.CUDAInvalidArgumentError):
        with pytest.raises(kind, match="CUDA_ERROR_INVALID_VALUE.*takes 2 arguments, 0 were given") as caught:
            cucore.launch(stream, ONE, add)
    assert caught.value.code == 1
