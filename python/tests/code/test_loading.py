"""How often code is loaded, counted in the driver: in a new process, by many threads, and by what must not load."""

import os

import pytest
from conftest import build_stand_in, run_python

import cucore

PRELUDE = """
    import copy, ctypes, gc, pickle, sys, threading
    import cucore
    PTX = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k(.param .u64 a)\\n{ ret; }"
    driver = ctypes.CDLL(sys.argv[1])
    def calls(name):
        return ctypes.c_int.in_dll(driver, name).value
    def hold(on):
        ctypes.c_int.in_dll(driver, "hold").value = on
    def race(count, work):
        barrier, errors, results = threading.Barrier(count), [], []
        def run():
            barrier.wait()
            try:
                results.append(work())
            except Exception as error:
                errors.append(error)
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not errors, errors
        return results
"""


# A driver is opened as libcuda.so.1, or by the name in CUCORE_CPU_DRIVER. The first way is that of every GPU, and works
# with the CPU device behind the stand-in as well.
@pytest.fixture(scope="module", params=["libcuda.so.1", "CUCORE_CPU_DRIVER"])
def counting_driver(request, tmp_path_factory):
    as_cpu_device = request.param == "CUCORE_CPU_DRIVER"
    library = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    marked = ["-DCPU_DEVICE"] if as_cpu_device else []
    build_stand_in("counting_driver.c", library, *marked, for_any_driver=not as_cpu_device)
    environment = {"COUNTED_DRIVER": os.path.realpath(cucore.driver_info().path)}
    if as_cpu_device:
        environment |= {"CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": str(library)}
    else:
        folders = [str(library.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        environment |= {"CUCORE_DEVICE": "gpu", "LD_LIBRARY_PATH": ":".join(folders)}
    return library, environment


def run_counted(source, driver):
    library, environment = driver
    result = run_python(PRELUDE + source, library, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_64_threads_that_start_cold_load_once(counting_driver):
    source = """
    code = cucore.ObjectCode.from_ptx(PTX)
    def work():  # the driver, too, is opened by one of them
        cucore.Device().set_current()
        return int(code.get_kernel("k").handle)
    handles = race(64, work)
    print(len(handles), len(set(handles)), calls("loads"))
    """
    assert run_counted(source, counting_driver) == "64 1 1\n"


def test_a_load_keeps_neither_the_gil_nor_other_objects(counting_driver):
    source = """
    cucore.Device().set_current()
    slow, other = cucore.ObjectCode.from_ptx(PTX), cucore.ObjectCode.from_ptx(PTX)
    hold(1)
    def load(code):
        cucore.Device().set_current()
        code.load()
    threads = [threading.Thread(target=load, args=(code,)) for code in (slow, other)]
    for thread in threads: thread.start()
    while calls("loads") < 2:  # both are in the driver, and this thread goes on
        if not all(thread.is_alive() for thread in threads): sys.exit("a load ended that should be held")
    print(slow.is_loaded, other.is_loaded, repr(slow).startswith("<ObjectCode"), len(pickle.dumps(slow)) > 100)
    hold(0)
    for thread in threads: thread.join()
    print(slow.is_loaded, other.is_loaded, calls("loads"))
    """
    assert run_counted(source, counting_driver) == "False False True True\nTrue True 2\n"


def test_what_needs_no_kernel_loads_nothing(counting_driver):
    source = """
    cucore.Device().set_current()
    code = cucore.ObjectCode.from_ptx(PTX, name="k")
    repr(code), hash(code), code == code, code.images, code.kernels, code.ptx, code.symbol_mapping, code.serialize()
    again = pickle.loads(pickle.dumps(code))
    again == code, copy.copy(code)
    linker = cucore.Linker(code, options={"arch": "sm_80"})
    linker.link("cubin")
    fat = cucore.ObjectCode.from_images([code])
    print(calls("loads"), code.is_loaded, again.is_loaded)
    """
    assert run_counted(source, counting_driver) == "0 False False\n"


def test_a_failed_load_is_tried_again_at_the_next_use(counting_driver):
    source = """
    cucore.Device().set_current()
    code = cucore.ObjectCode.from_ptx(PTX.replace(b"ret;", b"frobnicate;"), name="broken")
    for use in (code.load, lambda: code.get_kernel("k"), lambda: code.handle):
        try:
            use()
        except cucore.CUDAError as error:
            assert error.log and "'broken'" in str(error), error
    print(calls("loads"), code.is_loaded)
    """
    assert run_counted(source, counting_driver) == "3 False\n"


def test_a_library_is_unloaded_once_after_the_last_of_code_and_kernels(counting_driver):
    source = """
    device = cucore.Device(); device.set_current()
    code = cucore.ObjectCode.from_ptx(PTX)
    kernels = [code.get_kernel("k") for _ in range(3)]
    del code; gc.collect()
    print(calls("unloads"))
    cucore.launch(device.default_stream, cucore.LaunchConfig(grid=1, block=1), kernels[0], 0)
    device.sync()
    kernels.clear(); gc.collect()
    print(calls("unloads"), calls("loads"))
    """
    assert run_counted(source, counting_driver) == "0\n1 1\n"


def test_a_kernel_that_cannot_run_here_says_why_and_leaves_the_others_alone(device, stream):
    if cucore.driver_info().kind != "cpu":
        pytest.skip("about the CPU device")
    head = ".version 8.6\n.target sm_80\n.address_size 64\n"
    code = cucore.ObjectCode.from_ptx(
        (
            head + ".visible .entry one() { tcgen05.wait::ld.sync.aligned; ret; }\n.visible .entry other() { ret; }"
        ).encode()
    )
    with pytest.raises(cucore.CUDAError, match=r"NOT_SUPPORTED[^$]*kernel 'one'[^$]*ptx:4: error: tcgen05.wait::ld"):
        code.get_kernel("one")
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("other"))
    stream.sync()
