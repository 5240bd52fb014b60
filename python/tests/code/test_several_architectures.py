"""Code for several architectures in one ObjectCode: which image is loaded, and what comes back from a file."""

import pickle

import numpy as np
import pytest

import cucore as core

SOURCE = 'extern "C" __global__ void arch(int* p) { *p = __CUDA_ARCH__; }'


def compiled(arch, target="cubin", **options):
    return core.Program(SOURCE, "c++", core.ProgramOptions(arch=arch, name="several", **options)).compile(target)


def runs(code, stream, pinned):
    """What the kernel says it was compiled for."""
    result = pinned.allocate(4, stream=stream)
    core.launch(stream, core.LaunchConfig(grid=1, block=1), code.get_kernel("arch"), result)
    stream.sync()
    return int(np.from_dlpack(result).view(np.int32)[0])


def test_the_best_image_for_the_device_is_loaded_and_told(device, stream, pinned):
    capability = int(device.arch)
    code = core.ObjectCode.from_images([compiled("sm_75"), compiled("sm_80"), compiled("sm_100")])
    assert not code.is_loaded and code.loaded_image is None
    ran = runs(code, stream, pinned) // 10
    kind, arch = code.loaded_image
    assert kind in ("cubin", "ptx")
    assert 75 <= int(arch.split("_")[1]) <= capability
    assert ran in (capability, int(arch.split("_")[1]))


def test_where_no_binary_fits_its_ptx_is_used():
    code = core.ObjectCode.from_images(
        {"sm_120": compiled("sm_120", embed_ptx=False), "compute_75": compiled("compute_75", "ptx")}
    )
    code.get_kernel("arch")
    assert code.loaded_image == ("ptx", "compute_75")


def test_where_nothing_fits_the_error_lists_what_there_is():
    code = core.ObjectCode.from_images([compiled("sm_120")], name="future")
    with pytest.raises(core.CUDAError, match="'future'.*none of its images.*sm_120, compute_120") as refusal:
        code.get_kernel("arch")
    assert refusal.value.name == "CUDA_ERROR_NO_BINARY_FOR_GPU"


def test_a_file_and_a_pickle_bring_all_images_back(tmp_path):
    code = core.ObjectCode.from_images([compiled("sm_80"), compiled("sm_90")], symbol_mapping={"a": "arch"})
    code.save(tmp_path / "code")
    for again in (core.ObjectCode.from_saved(tmp_path / "code"), pickle.loads(pickle.dumps(code))):
        assert again.code == code.code and again.images == code.images
        assert (again.name, again.code_type, set(again.symbol_mapping)) == ("several", "fatbin", {"a"})
        assert not again.is_loaded
        again.get_kernel("a")


def test_a_part_of_the_wrong_type_is_refused():
    with pytest.raises(TypeError, match="ObjectCodes, not str"):
        core.ObjectCode.from_images(["no code"])
    with pytest.raises(ValueError, match="no parts"):
        core.ObjectCode.from_images([])
