"""Kernels: identity, parameters, attributes, occupancy."""

import weakref

import pytest
from conftest import compile_cubin

import cucore


@pytest.fixture
def kernel(device, saxpy_code):
    return saxpy_code.get_kernel("saxpy<float>")


def test_identity(kernel, saxpy_code):
    same = saxpy_code.get_kernel("saxpy<float>")
    assert same is not kernel and same == kernel and hash(same) == hash(kernel)
    assert kernel != saxpy_code.get_kernel("saxpy<double>") and kernel != 5
    assert type(kernel.handle).__name__ == "CUkernel"
    assert repr(kernel) == f"<Kernel handle={int(kernel.handle):#x}>"
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
