"""Kernels: identity, parameters, attributes, occupancy."""

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest
from conftest import compile_cubin

import cucore

HEADER = b".version 7.0\n.target sm_70\n.address_size 64\n"


@pytest.fixture
def kernel(device, saxpy_code):
    return saxpy_code.get_kernel("saxpy<float>")


def test_identity(kernel, saxpy_code):
    same = saxpy_code.get_kernel("saxpy<float>")
    assert same is not kernel and same == kernel and hash(same) == hash(kernel)
    assert kernel != saxpy_code.get_kernel("saxpy<double>") and kernel != 5
    assert type(kernel.handle).__name__ == "CUkernel"
    assert repr(kernel) == f"<Kernel handle={int(kernel.handle):#x}>"
    assert kernel.signature._repr_html_().startswith("<code>(float")
    assert f" num_regs={kernel.attributes.num_regs}, " in repr(kernel.attributes)
    assert kernel.name.startswith("_Z5saxpyIf")
    assert weakref.ref(kernel)() is kernel
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        cucore.Kernel()


def test_parameters(kernel):
    assert kernel.num_arguments == 5
    assert [tuple(info) for info in kernel.arguments_info] == [(0, 4), (8, 8), (16, 8), (24, 8), (32, 8)]
    assert kernel.arguments_info[0].size == 4


def test_attributes(kernel, device):
    attributes = kernel.attributes
    assert kernel.attributes is attributes
    assert attributes.max_threads_per_block >= 1
    assert attributes.num_regs >= 0 and attributes.shared_size_bytes == 0
    assert attributes[device].max_threads_per_block == attributes[device.device_id].max_threads_per_block
    for name in ("const_size_bytes", "local_size_bytes", "ptx_version", "binary_version",
                 "max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout", "required_cluster_width",
                 "required_cluster_height", "required_cluster_depth",
                 "cluster_scheduling_policy_preference"):  # fmt: skip
        assert type(getattr(attributes, name)) is int, name
    for name in ("cache_mode_ca", "cluster_size_must_be_set", "non_portable_cluster_size_allowed"):
        assert type(getattr(attributes, name)) is bool, name
    with pytest.raises(AttributeError):
        attributes.num_regs = 5
    with pytest.raises(TypeError):
        _ = attributes["gpu"]
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        type(attributes)()


def test_settable_attributes(device):
    kernel = compile_cubin('extern "C" __global__ void k() {}').get_kernel("k")
    kernel.attributes.max_dynamic_shared_size_bytes = 1 << 16
    assert kernel.attributes.max_dynamic_shared_size_bytes == 1 << 16


def test_static_shared_memory_is_reported(device):
    source = 'extern "C" __global__ void k(int* p) { __shared__ int s[256]; s[threadIdx.x] = 1; *p = s[3]; }'
    assert compile_cubin(source).get_kernel("k").attributes.shared_size_bytes == 1024


def test_occupancy(kernel, stream):
    occupancy = kernel.occupancy
    assert kernel.occupancy is occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(128, 0) >= 1
    result = occupancy.max_potential_block_size(0, 0)
    assert result.min_grid_size >= 1 and result.max_block_size >= 32
    assert occupancy.max_potential_block_size(lambda block: 4 * block, 256).max_block_size <= 256
    assert occupancy.available_dynamic_shared_memory_per_block(1, 128) > 0
    with pytest.raises(TypeError):
        occupancy.max_potential_block_size("lots", 0)
    with pytest.raises(TypeError):
        occupancy.max_active_clusters(cucore.LaunchConfig(grid=1, block=1))
    with pytest.raises(TypeError):
        occupancy.max_active_clusters(cucore.LaunchConfig(grid=1, block=1), stream=None)
    with pytest.raises(ZeroDivisionError):
        occupancy.max_potential_block_size(lambda block: 1 // 0, 256)


def test_a_foreign_handle(kernel, saxpy_code):
    wrapped = cucore.Kernel.from_handle(int(kernel.handle), saxpy_code)
    assert wrapped == kernel
    for wrong in ("0", None, 1.5):
        with pytest.raises(TypeError):
            cucore.Kernel.from_handle(wrong)
    with pytest.raises(TypeError):
        cucore.Kernel.from_handle(int(kernel.handle), mod=5)


def test_a_kernel_by_handle_keeps_its_library_when_its_other_owners_have_gone(stream, pinned):
    code = compile_cubin('extern "C" __global__ void seven(int* out) { *out = 7; }')
    kernel = code.get_kernel("seven")
    by_handle = cucore.Kernel.from_handle(int(kernel.handle))
    with_owner = cucore.Kernel.from_handle(int(kernel.handle), code)
    library = weakref.ref(code)
    del kernel, code
    gc.collect()
    out = pinned.allocate(4)
    numbers = np.frombuffer(memoryview(out), np.int32)
    assert by_handle.num_arguments == 1 and by_handle.attributes.num_regs >= 0
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), by_handle, out)
    stream.sync()
    assert numbers[0] == 7
    del with_owner
    gc.collect()
    assert library() is None and by_handle.attributes.num_regs >= 0


def test_a_handle_of_another_library_than_mod_is_warned_of(kernel, saxpy_code):
    again = pickle.loads(pickle.dumps(saxpy_code))  # not loaded
    other = compile_cubin('extern "C" __global__ void k() {}')
    for mod in (again, other):
        with pytest.warns(UserWarning, match="does not match"):
            assert cucore.Kernel.from_handle(int(kernel.handle), mod) == kernel
        assert mod.is_loaded
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cucore.Kernel.from_handle(kernel.handle, saxpy_code)


def test_signature_tells_types_and_places(kernel):
    signature = kernel.signature
    assert str(signature) == "(float, float const*, float const*, float*, unsigned long)"
    assert repr(signature) == f"<KernelSignature {signature}>"
    assert len(signature) == 5 and isinstance(signature, tuple)
    assert signature[0].type == "float" and signature[0].kind == "floating" and signature[0].name is None
    assert (signature[4].offset, signature[4].size, signature[4].kind) == (32, 8, "unsigned_integer")
    ptx = HEADER + b".visible .entry k(.param .u64 .ptr at, .param .f32 x)\n{ ret; }\n"
    written = cucore.ObjectCode.from_ptx(ptx).get_kernel("k").signature
    assert str(written) == "(.u64 at, .f32 x)" and [p.kind for p in written] == ["pointer", "floating"]


def test_signature_without_ptx_comes_from_the_driver_and_the_name(kernel):
    foreign = cucore.Kernel.from_handle(int(kernel.handle))
    assert [p.size for p in foreign.signature] == [4, 8, 8, 8, 8]
    assert str(foreign.signature) == str(kernel.signature)


def test_a_config_for_a_kernel_covers_all_elements(kernel, device):
    for n in (1, 31, 1000, 10**6):
        config = cucore.LaunchConfig.for_kernel(kernel, n)
        threads = config.grid[0] * config.block[0]
        assert n <= threads < n + config.block[0] and config.block[0] % 32 == 0
    small = cucore.LaunchConfig.for_kernel(kernel, 10**6, shmem_size=64, block_size_limit=128, device=device)
    assert small.block[0] <= 128 and small.shmem_size == 64
    for wrong in (0, 10**18):
        with pytest.raises(ValueError, match="n is"):
            cucore.LaunchConfig.for_kernel(kernel, wrong)
    with pytest.raises(TypeError):
        cucore.LaunchConfig.for_kernel("kernel", 5)


def test_a_config_for_a_kernel_keeps_the_block_it_requires():
    ptx = HEADER + b".visible .entry k()\n.reqntid 48, 2, 1\n{ ret; }\n"
    kernel = cucore.ObjectCode.from_ptx(ptx).get_kernel("k")
    config = cucore.LaunchConfig.for_kernel(kernel, 1000)
    assert config.block == (48, 2, 1) and config.grid == (11, 1, 1)


def test_occupancy_of_a_device_that_need_not_be_current(kernel, device, stream):
    occupancy = kernel.occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(
        128, 0, device=device
    ) == occupancy.max_active_blocks_per_multiprocessor(128, 0)
    assert occupancy.max_potential_block_size(0, 0, device=0) == occupancy.max_potential_block_size(0, 0)
    assert occupancy.available_dynamic_shared_memory_per_block(1, 128, device=device) > 0
    with pytest.raises(TypeError):
        occupancy.max_potential_block_size(0, 0, device="gpu")
