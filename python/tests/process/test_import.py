"""Importing creates nothing and costs little."""

import ast
import dataclasses
from pathlib import Path

import pytest
from conftest import run_python

import cucore


def test_import_loads_neither_numpy_nor_the_driver_nor_the_compiler():
    done = run_python("""
        import sys
        import cucore
        assert "numpy" not in sys.modules and "ctypes" not in sys.modules and "cuda" not in sys.modules
        maps = open("/proc/self/maps").read()
        assert "libcuda" not in maps and "nvrtc" not in maps and "nvJitLink" not in maps
        print("ok")
        """)
    assert done.stdout == "ok\n", done.stderr


def test_import_works_where_no_driver_can_be_used():
    done = run_python(
        """
        import cucore
        try:
            cucore.Device()
        except RuntimeError as error:
            print("refused" if "CPU device" in str(error) else error)
        assert not cucore.driver_available()
        code = cucore.compile_ptx('extern "C" __global__ void k() {}', {"arch": "sm_80"})
        assert cucore.ObjectCode.deserialize(code.serialize()).code == code.code
        try:
            code.get_kernel("k")
        except RuntimeError as error:
            print("refused at the first use")
        """,
        env={"CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": "/nonexistent/libcuda.so.1"},
    )
    assert done.stdout == "refused\nrefused at the first use\n", done.stderr


def test_import_takes_a_few_milliseconds():
    """The budget is 30 ms over a bare interpreter; a loaded machine gets ten times that before this complains."""
    done = run_python("""
        import time
        start = time.perf_counter()
        import cucore
        print(time.perf_counter() - start)
        """)
    assert float(done.stdout) < 0.3


def test_every_public_name_exists():
    for name in cucore.__all__:
        assert getattr(cucore, name) is not None
    assert set(cucore.__all__) <= set(dir(cucore))
    with pytest.raises(AttributeError, match="nothing_like_that"):
        _ = cucore.nothing_like_that


def test_names_of_the_peers_private_module_can_be_imported():
    from cucore._utils.cuda_utils import CUDAError, NVRTCError

    assert CUDAError is cucore.CUDAError
    assert NVRTCError is cucore.NVRTCError


def test_what_calls_of_the_bindings_give_is_checked_by_the_peers_private_function():
    bindings = pytest.importorskip("cuda.bindings")
    assert bindings
    cucore.driver_info()  # opens the driver, which the bindings then find
    from cucore._utils.cuda_utils import driver, handle_return, nvrtc, runtime

    success = driver.CUresult.CUDA_SUCCESS
    assert handle_return((success,)) is None
    assert handle_return((success, 5)) == 5
    assert handle_return((success, 5, 6)) == (5, 6)
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_NOT_FOUND") as raised:
        handle_return((driver.CUresult.CUDA_ERROR_NOT_FOUND, None))
    assert (raised.value.code, raised.value.name) == (500, "CUDA_ERROR_NOT_FOUND")
    with pytest.raises(cucore.CUDAError, match="cudaErrorInvalidValue"):
        handle_return((runtime.cudaError_t.cudaErrorInvalidValue,))
    program = handle_return(nvrtc.nvrtcCreateProgram(b"broken", b"mine.cu", 0, [], []))
    with pytest.raises(cucore.NVRTCError, match="mine.cu") as raised:
        handle_return(nvrtc.nvrtcCompileProgram(program, 0, []), handle=program)
    assert raised.value.name == "NVRTC_ERROR_COMPILATION" and "mine.cu(1)" in raised.value.log
    for wrong, error in ((0, TypeError), ([success], TypeError), ((), IndexError), ((0,), RuntimeError)):
        with pytest.raises(error):
            handle_return(wrong)


def test_stubs_name_what_there_is():
    folder = Path(cucore.__file__).parent
    assert (folder / "py.typed").exists()
    tree = ast.parse((folder / "__init__.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name in cucore.__all__:
        value = getattr(cucore, name)
        if not isinstance(value, type) or name in ("nvvmError", "nvJitLinkError"):
            continue
        assert name in stubs, name
        for member in stubs[name].body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                assert hasattr(value, member.name), f"{name}.{member.name} is in the stubs only"


@pytest.mark.parametrize("options", [cucore.ProgramOptions, cucore.LinkerOptions])
def test_every_option_is_documented(options):
    for field in dataclasses.fields(options):
        assert f"\n    {field.name}: " in options.__doc__, field.name


def test_error_classes_form_one_hierarchy():
    assert issubclass(cucore.NVRTCError, cucore.CUDAError)
    assert issubclass(cucore.NvJitLinkError, cucore.CUDAError)
    assert cucore.nvJitLinkError is cucore.NvJitLinkError
    assert cucore.nvvmError is cucore.NVVMError
    assert issubclass(cucore.CUDAWarning, RuntimeWarning)


def test_enumerations_are_strings():
    assert cucore.typing.CompilerBackendType.NVJITLINK == "nvJitLink"
    assert str(cucore.typing.SourceCodeType.CXX) == "c++"
    assert hash(cucore.typing.ObjectCodeFormatType.CUBIN) == hash("cubin")
    assert f"{cucore.typing.PCHStatusType.CREATED}" == "created"


ALONE = {
    "a graph of a builder": "device.create_graph_builder().begin_building().end_building().complete()",
    "a part of a builder": "device.create_graph_builder().begin_building().split(2)",
    "resources of a stream": "assert stream.resources.sm.sm_count > 0",
    "resources of a context": "assert stream.context.resources.sm.sm_count > 0",
    "resources of a device": "assert device.resources.sm.sm_count > 0",
    "an event and its context": "assert stream.record().context == stream.context",
    "a buffer's owner": "assert device.allocate(16, stream=stream).owner is None",
}


@pytest.mark.parametrize("statement", ALONE.values(), ids=ALONE.keys())
def test_modules_of_the_package_are_loaded_by_what_needs_them(statement):
    setup = "import cucore; device = cucore.Device(); device.set_current(); stream = device.create_stream(); "
    done = run_python(setup + statement)
    assert done.returncode == 0, (done.returncode, done.stderr)
