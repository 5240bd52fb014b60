"""ObjectCode: stores what it is given, loads at the first use that needs the driver, once."""

import ctypes
import os
import pickle
import threading
import weakref
from pathlib import Path

import pytest
from conftest import SAXPY, compile_cubin

import cucore

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n  ret;\n}\n"


def test_making_one_reads_and_loads_nothing(tmp_path):
    code = cucore.ObjectCode.from_ptx(tmp_path / "does not exist.ptx")
    assert not code.is_loaded
    assert code.code == str(tmp_path / "does not exist.ptx")
    assert "handle" not in repr(code) and "code_type='ptx'" in repr(code)
    assert hash(code) == hash(code) and code == code
    assert not code.is_loaded


def test_code_is_what_was_given():
    given = bytearray(PTX)
    assert cucore.ObjectCode.from_ptx(given).code is given
    assert cucore.ObjectCode.from_ptx(PTX).code is PTX
    assert cucore.ObjectCode.from_ptx("a.ptx").code == "a.ptx"
    assert cucore.ObjectCode.from_ptx(Path("a.ptx")).code == "a.ptx"
    assert cucore.ObjectCode.from_ptx(os.fsencode("ä.ptx").decode("utf-8", "surrogateescape")).code == "ä.ptx"


@pytest.mark.parametrize("module", [5, None, ["a"], 1.5])
def test_code_of_another_type_is_refused_by_what_uses_it(module):
    code = cucore.ObjectCode.from_ptx(module, name="none")
    assert (code.code, code.code_type, code.name, code.symbol_mapping) == (module, "ptx", "none", {})
    for use in (lambda: code.get_kernel("k"), lambda: code.handle, code.load, code.serialize, lambda: hash(code)):
        with pytest.raises(TypeError, match="code must be"):
            use()


def test_symbol_mapping_takes_str_and_bytes_and_is_shown_as_it_was_given():
    given = {"one": b"k", b"two": "k", "a": b"k"}
    code = cucore.ObjectCode.from_ptx(PTX, symbol_mapping=given)
    assert list(code.symbol_mapping.items()) == list(given.items())
    assert list(pickle.loads(pickle.dumps(code)).symbol_mapping.items()) == list(given.items())
    assert cucore.ObjectCode.deserialize(code.serialize()).symbol_mapping == {"a": b"k", "one": b"k", "two": b"k"}
    with pytest.raises(TypeError):
        cucore.ObjectCode.from_ptx(PTX, symbol_mapping={"one": 1})


def test_the_first_kernel_loads_and_all_names_find_it(device):
    code = cucore.ObjectCode.from_ptx(PTX, symbol_mapping={"pretty": "k"})
    kernel = code.get_kernel("pretty")
    assert code.is_loaded
    assert kernel == code.get_kernel(b"k") == code.get_kernel("k")
    assert type(code.handle).__name__ == "CUlibrary" and int(code.handle) != 0
    assert f"handle={int(code.handle):#x}" in repr(code)


def test_handle_and_load_load(device):
    code = cucore.ObjectCode.from_ptx(PTX)
    assert int(code.handle) and code.is_loaded
    code = cucore.ObjectCode.from_ptx(PTX)
    code.load()
    assert code.is_loaded


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_for_the_linker_cannot_be_loaded(kind):
    code = getattr(cucore.ObjectCode, f"from_{kind}")(b"anything")
    with pytest.raises(RuntimeError, match=f'Unsupported code type "{kind}"'):
        code.get_kernel("k")
    assert not code.is_loaded


def test_many_threads_load_once(device):
    code = compile_cubin(SAXPY, ["saxpy<float>"])
    barrier = threading.Barrier(8)
    found, errors = [], []

    def work():
        try:
            cucore.Device().set_current()
            barrier.wait()
            found.append((int(code.get_kernel("saxpy<float>").handle), int(code.handle)))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 8 and len(set(found)) == 1


def test_corrupt_code_fails_at_the_first_use_with_the_log(device):
    code = cucore.ObjectCode.from_ptx(PTX.replace(b"ret;", b"frobnicate.u32 %r1;"), name="broken")
    with pytest.raises(cucore.CUDAError) as caught:
        code.get_kernel("k")
    error = caught.value
    assert error.code != 0 and error.name.startswith("CUDA_ERROR_")
    assert "broken" in str(error) and "ptx" in str(error)
    assert error.log
    assert not code.is_loaded
    assert code.serialize()  # everything that needs no driver still works


def test_a_failed_load_is_tried_again(device, tmp_path):
    path = tmp_path / "late.ptx"
    code = cucore.ObjectCode.from_ptx(path)
    with pytest.raises((ValueError, cucore.CUDAError), match="late.ptx"):
        code.get_kernel("k")
    path.write_bytes(PTX)
    assert code.get_kernel("k")


def test_a_file_whose_name_is_no_text_can_be_loaded(device, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"k\xff.ptx")
    with open(path, "wb") as file:
        file.write(PTX)
    assert cucore.ObjectCode.from_ptx(os.fsdecode(path)).get_kernel("k")


def test_a_file_that_changed_or_went_before_the_load_is_an_error(device, tmp_path):
    path = tmp_path / "k.ptx"
    path.write_bytes(PTX)
    code = cucore.ObjectCode.from_ptx(path)
    path.write_bytes(PTX + b"// and more\n")
    for use in (code.load, code.serialize):
        with pytest.raises(ValueError, match="k.ptx.*has changed since the ObjectCode was made"):
            use()
    path.unlink()
    with pytest.raises(ValueError, match="k.ptx"):
        code.load()
    assert not code.is_loaded


@pytest.mark.parametrize("image", [b"", b"not a cubin", b"\x7fELF" + bytes(60), b"\x7fELF\x02\x01\x01" + b"\xff" * 200])
def test_a_corrupt_cubin_is_an_error(device, image):
    with pytest.raises((cucore.CUDAError, ValueError)):
        cucore.ObjectCode.from_cubin(image).get_kernel("k")


def test_a_missing_kernel_is_named_with_close_ones(device, saxpy_code):
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_NOT_FOUND") as caught:
        saxpy_code.get_kernel("saxpi<float>")
    assert caught.value.code == 500
    assert "saxpi<float>" in str(caught.value)
    with pytest.raises(TypeError, match="name"):
        saxpy_code.get_kernel(3)


def test_a_kernel_keeps_the_library_loaded(device, stream, pinned):
    code = compile_cubin('extern "C" __global__ void set(int* x) { *x = 7; }')
    kernel = code.get_kernel("set")
    gone = weakref.ref(code)
    del code
    assert gone() is None
    buffer = pinned.allocate(4)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel, buffer)
    stream.sync()
    assert bytes(memoryview(buffer)) == b"\x07\0\0\0"


def test_globals_are_buffers(device, stream, pinned):
    source = """
    __device__ int counter = 5;
    __constant__ float table[4] = {1, 2, 3, 4};
    extern "C" __global__ void bump() { counter += 1; }
    """
    code = compile_cubin(source, ["&counter", "&table", "bump"])
    counter = code.get_global("&counter")
    assert counter.size == 4 and counter.owner is code
    assert code.get_global("&table").size == 16
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("bump"))
    host = pinned.allocate(4)
    counter.copy_to(host, stream=stream)
    stream.sync()
    assert int.from_bytes(bytes(memoryview(host)), "little") == 6
    with pytest.raises(cucore.CUDAError, match="NOT_FOUND"):
        code.get_global("nothing")


SPELLED = """
namespace ns {
template <class T, int N> __global__ void fill(T* x) { *x = N; }
template __global__ void fill<unsigned, 3>(unsigned*);
__device__ int variable = 5;
__global__ void plain(const float*) { ++variable; }  // else the compiler drops it
}
__global__ void twice(int) {}
__global__ void twice(float) {}
"""


def test_kernels_and_variables_are_found_by_their_cxx_names(device):
    code = compile_cubin(SPELLED, relocatable_device_code=True)
    for name in ("ns::fill<unsigned int, 3>", "&ns::fill<unsigned,3>", b"::ns::fill< uint32_t , 3 >"):
        assert code.get_kernel(name).name == "_ZN2ns4fillIjLi3EEEvPT_"
    assert code.get_kernel("ns::plain").name == "_ZN2ns5plainEPKf"
    whole = compile_cubin(SPELLED)  # NVIDIA's driver finds no variable of relocatable code
    assert whole.get_global("ns::variable").size == whole.get_global("&ns::variable").size == 4


def test_names_are_taken_whole(device):
    code = compile_cubin('extern "C" __global__ void k() {} extern "C" __device__ int v = 1;')
    device.set_current()
    assert code.get_kernel("k").name == "k" and code.get_global("v").size == 4
    for look_up, name in ((code.get_kernel, "k\0x"), (code.get_kernel, "k\0"), (code.get_global, b"v\0")):
        with pytest.raises(cucore.CUDAError, match=r"CUDA_ERROR_NOT_FOUND.* '[kv]\\0x?' in ObjectCode"):
            look_up(name)
    mapped = cucore.ObjectCode.from_cubin(code.code, symbol_mapping={"a\0b": "k", b"\xff": "k"})
    assert mapped.get_kernel("a\0b").name == mapped.get_kernel(b"\xff").name == "k"
    assert mapped.symbol_mapping == {"a\0b": "k", b"\xff": "k"}


def test_a_cxx_name_that_finds_nothing_or_too_much_is_answered_with_what_there_is(device):
    code = compile_cubin(SPELLED, relocatable_device_code=True)
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_NOT_FOUND") as several:
        code.get_kernel("twice")
    for part in ("several kernels", "_Z5twicei is twice(int)", "_Z5twicef is twice(float)"):
        assert part in several.value.hint
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_NOT_FOUND") as near:
        code.get_kernel("ns::fill")
    assert "did you mean 'ns::fill<unsigned int, 3>'?" in near.value.hint
    assert "ns::plain (_ZN2ns5plainEPKf)" in near.value.hint
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_NOT_FOUND") as variable:
        code.get_global("ns::variabel")
    assert "did you mean 'ns::variable'?" in variable.value.hint


def test_kernels_are_listed_from_the_ptx_or_the_binary(saxpy_code):
    assert len(saxpy_code.kernels) == 2 and all(name.startswith("_Z5saxpy") for name in saxpy_code.kernels)
    names = ["saxpy<float>", "saxpy<double>"]
    binary = compile_cubin(SAXPY, names, arch="sm_80", embed_ptx=False)
    assert binary.ptx is None and sorted(binary.kernels) == sorted(saxpy_code.kernels)
    assert cucore.ObjectCode.from_cubin(b"nonsense").kernels == []


def test_a_module_loads_explicitly(device):
    module = cucore.Module()
    with pytest.raises(RuntimeError, match="nothing is loaded"):
        module.get_kernel("k")
    code = cucore.ObjectCode.from_ptx(PTX)
    assert module.load(code) is module
    assert code.is_loaded and module.object_code is code
    assert cucore.Module().load(code).get_kernel("k") == code.get_kernel("k")
    with pytest.raises(TypeError):
        module.load(PTX)


def test_a_module_is_for_calls_of_the_driver_that_know_no_libraries(device):
    code = cucore.ObjectCode.from_ptx(PTX.replace(b".param .u64 a", b""))
    module = code.get_module()
    assert type(module).__name__ == "CUmodule" and int(module) == code.get_module() != 0
    driver = ctypes.CDLL(cucore.driver_info().path)
    function = ctypes.c_void_p()
    assert driver.cuModuleGetFunction(ctypes.byref(function), ctypes.c_void_p(module), b"k") == 0 and function.value
    with pytest.raises(RuntimeError, match="Unsupported code type"):
        cucore.ObjectCode.from_ltoir(b"x").get_module()


def test_an_image_that_is_called_ptx_is_loaded_as_what_it_is(device, tmp_path):
    code = compile_cubin('extern "C" __global__ void k(int a, int b) {}').code
    file = tmp_path / "k.ptx"
    file.write_bytes(code)
    for given in (code, bytearray(code), memoryview(code), file):
        called = cucore.ObjectCode.from_ptx(given)
        assert called.code_type == "ptx" and called.get_kernel("k").num_arguments == 2
    assert isinstance(cucore.ObjectCode.from_cubin(memoryview(code)).code, memoryview)
