"""Errors that say what is wrong by one type, and are of the type that programs written for cuda.core catch."""

import pickle
import uuid

import pytest

import cucore
from cucore import graph, texture, utils


def cases(device, stream):
    pinned = cucore.LegacyPinnedMemoryResource().allocate(16)
    definition = graph.GraphDefinition()
    definition.empty()
    shared = cucore.DeviceMemoryResource(device, {"max_size": 1 << 20})
    yield lambda: pinned.ipc_descriptor, AttributeError, RuntimeError
    yield lambda: definition.instantiate(5), AttributeError, TypeError
    yield lambda: definition.instantiate({"none": 1}), AttributeError, TypeError
    yield lambda: definition.join(None), RuntimeError, TypeError
    yield lambda: shared.register(None), RuntimeError, TypeError
    yield lambda: texture.OpaqueArrayOptions("x", "float32", 1), ValueError, TypeError
    yield lambda: texture.OpaqueArrayOptions((1,), "float32", "x"), ValueError, ValueError
    yield lambda: utils.StridedMemoryView.from_buffer(5, (4,), itemsize=1), AttributeError, TypeError
    yield lambda: cucore.DeviceMemoryResource.from_allocation_handle(device, "x"), ValueError, TypeError
    yield (
        lambda: utils.make_program_cache_key(code="x", code_type="c++", options=5, target_type="ptx"),
        AttributeError,
        TypeError,
    )
    yield lambda: cucore.ObjectCode.from_ptx("/none/such").get_kernel("k"), cucore.CUDAError, ValueError
    yield lambda: shared.register(uuid.uuid4()), RuntimeError, RuntimeError
    yield lambda: cucore.ObjectCode.from_ltoir(b"x").get_module(), cucore.CUDAError, RuntimeError
    newer = {"arch": "sm_90", "numba_debug": True}
    if cucore.toolkit_info().nvrtc.version < (13, 2):
        yield lambda: cucore.Program("", "c++", newer), cucore.NVRTCError, cucore.UnsupportedOptionError


def test_an_error_is_of_both_types_and_can_be_sent(device, stream):
    for use, theirs, ours in cases(device, stream):
        with pytest.raises(theirs) as caught:
            use()
        assert isinstance(caught.value, ours)
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)


REFUSED = [
    {"max_register_count": 1.5},
    {"max_register_count": 2**40},
    {"max_register_count": -1},
    {"std": "c"},
    {"ofast_compile": "x"},
    {"include_path": 5},
    {"headers": 5},
    {"arch": "nonsense"},
    {"arch": ["sm_90", "sm_90"]},
    {"ptxas_options": 5},
    {"name": "\0"},
]


@pytest.mark.parametrize("options", REFUSED)
@pytest.mark.parametrize("code_type", ["c++", "ptx", "nvvm"])
def test_a_refused_option_is_the_compilers_error_of_both_types_wherever_it_is_told(code_type, options):
    if code_type == "nvvm" and not cucore.toolkit_info().nvvm.available:
        pytest.skip("no libNVVM")
    code = ".version 8.0\n.target sm_80\n.address_size 64\n" if code_type == "ptx" else "void"
    compilers = {"c++": cucore.NVRTCError, "ptx": cucore.NvJitLinkError, "nvvm": cucore.NVVMError}[code_type]
    for _ in range(2):
        with pytest.raises(compilers) as caught:
            program = cucore.Program(code, code_type, {"arch": "sm_90", **options})
            with pytest.raises(compilers) as told:
                program.compile("ptx" if code_type == "nvvm" else "cubin")
            raise told.value
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, TypeError)
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)


def test_a_missing_file_has_the_drivers_code(device):
    for code in (cucore.ObjectCode.from_ptx("/none/such"), cucore.ObjectCode.from_cubin("/none/such")):
        with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_FILE_NOT_FOUND.*/none/such|/none/such") as caught:
            code.get_kernel("k")
        assert (caught.value.code, caught.value.name) == (301, "CUDA_ERROR_FILE_NOT_FOUND")
    with pytest.raises(cucore.CUDAError, match="the path is empty"):
        cucore.ObjectCode.from_cubin("").get_kernel("k")
