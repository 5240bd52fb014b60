"""What the driver answers to launches with clusters, right and wrong ones, and says of them: on both drivers."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_uint, c_uint64, c_void_p

import numpy as np
import pytest
from conftest import run_check

import cucore

# Every block writes its rank and the size of its cluster.
RANK_AND_SIZE = r"""{
	.reg .b64 %to;
	.reg .b32 %block, %count, %index, %rank, %size;
	ld.param.u64 %to, [out];
	mov.u32 %block, %ctaid.z;
	mov.u32 %count, %nctaid.y;
	mov.u32 %index, %ctaid.y;
	mad.lo.u32 %block, %block, %count, %index;
	mov.u32 %count, %nctaid.x;
	mov.u32 %index, %ctaid.x;
	mad.lo.u32 %block, %block, %count, %index;
	mad.wide.u32 %to, %block, 8, %to;
	mov.u32 %rank, %cluster_ctarank;
	mov.u32 %size, %cluster_nctarank;
	st.global.v2.u32 [%to], {%rank, %size};
	ret;
}"""
PTX = r"""
.version 8.1
.target sm_90
.address_size 64

.visible .entry plain(.param .u64 out)
RANK_AND_SIZE
.visible .entry pairs(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1
RANK_AND_SIZE
.visible .entry named(.param .u64 out) .explicitcluster
{
	ret;
}

.visible .entry at_most_four(.param .u64 out) .explicitcluster .maxclusterrank 4
{
	ret;
}
""".replace("RANK_AND_SIZE", RANK_AND_SIZE)

SUCCESS, INVALID_VALUE, INVALID_CLUSTER_SIZE = 0, 1, 912
CLUSTER_DIMENSION, SCHEDULING_POLICY, PREFERRED_CLUSTER = 4, 5, 11
MUST_BE_SET, WIDTH, HEIGHT, DEPTH, NON_PORTABLE, POLICY = 10, 11, 12, 13, 14, 15


class Attribute(Structure):
    _fields_ = [("id", c_int), ("padding", c_int), ("value", c_uint * 16)]


class Config(Structure):
    _fields_ = [
        ("shape", c_uint * 7),
        ("stream", c_void_p),
        ("attributes", POINTER(Attribute)),
        ("count", c_uint),
    ]


class Kernels:
    """The kernels above, and the driver's calls on them as they are."""

    def __init__(self):
        cucore.Device().set_current()
        self.driver = ctypes.CDLL(cucore.driver_info().path)
        self.module, self.out = c_void_p(), c_uint64()
        assert self.driver.cuModuleLoadData(byref(self.module), c_char_p(PTX.encode())) == 0
        assert self.driver.cuMemAlloc_v2(byref(self.out), ctypes.c_size_t(4096)) == 0

    def function(self, name):
        found = c_void_p()
        assert self.driver.cuModuleGetFunction(byref(found), self.module, name.encode()) == 0
        return found

    @staticmethod
    def config(grid, block=32, shared=0, **attributes):
        names = {"cluster": CLUSTER_DIMENSION, "policy": SCHEDULING_POLICY, "preferred": PREFERRED_CLUSTER}
        given = []
        for name, value in attributes.items():
            words = value if isinstance(value, tuple) else (value,)
            given.append(Attribute(names[name], 0, (c_uint * 16)(*words)))
        grid = grid if isinstance(grid, tuple) else (grid, 1, 1)
        room = (Attribute * max(1, len(given)))(*given)
        return Config((c_uint * 7)(*grid, block, 1, 1, shared), None, room, len(given))

    def launch(self, name, grid, **config):
        """The code of the launch; what runs has ended."""
        box = (c_void_p * 1)(ctypes.addressof(self.out))
        code = self.driver.cuLaunchKernelEx(byref(self.config(grid, **config)), self.function(name), box, None)
        assert self.driver.cuCtxSynchronize() == 0
        return code

    def written(self, count):
        assert self.driver.cuCtxSynchronize() == 0
        words = np.zeros(2 * count, np.uint32)
        assert self.driver.cuMemcpyDtoH_v2(c_void_p(words.ctypes.data), self.out, ctypes.c_size_t(words.nbytes)) == 0
        return words.reshape(count, 2).tolist()

    def attribute(self, name, which):
        value = c_int(-1)
        assert self.driver.cuFuncGetAttribute(byref(value), c_int(which), self.function(name)) == 0
        return value.value

    def set(self, name, which, value):
        return self.driver.cuFuncSetAttribute(self.function(name), c_int(which), c_int(value))

    def occupancy(self, call, name, grid, **config):
        value = c_int(-1)
        code = getattr(self.driver, call)(byref(value), self.function(name), byref(self.config(grid, **config)))
        return code, value.value


def check_graphs():
    """A launch with clusters that was captured, and a node that got them as an attribute."""
    kernels = Kernels()
    driver, out = kernels.driver, kernels.out
    stream, graph, node, executable = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    assert driver.cuStreamCreate(byref(stream), c_uint(1)) == 0
    box = (c_void_p * 1)(ctypes.addressof(out))
    for_pairs, plain = kernels.config(12, cluster=(3, 1, 1)), kernels.function("plain")
    for_pairs.stream = stream
    assert driver.cuStreamBeginCapture_v2(stream, c_int(2)) == 0
    assert driver.cuLaunchKernelEx(byref(for_pairs), plain, box, None) == 0
    assert driver.cuStreamEndCapture(stream, byref(graph)) == 0

    class Node(Structure):
        _fields_ = [("function", c_void_p), ("shape", c_uint * 7), ("parameters", c_void_p), ("extra", c_void_p)]
        _fields_ += [("kernel", c_void_p), ("context", c_void_p)]

    second = c_uint64(out.value + 1024)
    other_box = (c_void_p * 1)(ctypes.addressof(second))
    shape = (c_uint * 7)(8, 1, 1, 32, 1, 1, 0)
    parameters = Node(plain, shape, ctypes.addressof(other_box), None, None, None)
    assert driver.cuGraphAddKernelNode_v2(byref(node), graph, None, ctypes.c_size_t(0), byref(parameters)) == 0
    words = (c_uint * 16)(2, 1, 1)
    assert driver.cuGraphKernelNodeSetAttribute(node, c_int(CLUSTER_DIMENSION), byref(words)) == 0
    assert driver.cuGraphInstantiateWithFlags(byref(executable), graph, ctypes.c_ulonglong(0)) == 0
    assert driver.cuGraphLaunch(executable, stream) == 0
    assert driver.cuStreamSynchronize(stream) == 0
    assert kernels.written(12) == [[b % 3, 3] for b in range(12)]
    assert kernels.written(136)[128:] == [[b % 2, 2] for b in range(8)]


def check_codes():
    kernels = Kernels()
    wanted, got = {}, {}

    def expect(what, code, answer):
        wanted[what], got[what] = code, answer

    for size in (1, 2, 3, 8):
        expect(f"cluster of {size}", SUCCESS, kernels.launch("plain", 24, cluster=(size, 1, 1)))
        assert kernels.written(24) == [[b % size, size] for b in range(24)]
    expect("2 x 2 x 2", SUCCESS, kernels.launch("plain", (4, 4, 2), cluster=(2, 2, 2)))
    expect("no cluster", SUCCESS, kernels.launch("plain", 24))
    assert kernels.written(24) == [[0, 1]] * 24
    expect("9 blocks", INVALID_CLUSTER_SIZE, kernels.launch("plain", 18, cluster=(9, 1, 1)))
    expect("16 blocks", INVALID_CLUSTER_SIZE, kernels.launch("plain", 16, cluster=(16, 1, 1)))
    expect("no divisor in x", INVALID_CLUSTER_SIZE, kernels.launch("plain", 5, cluster=(2, 1, 1)))
    expect("no divisor in y", INVALID_CLUSTER_SIZE, kernels.launch("plain", (2, 3, 1), cluster=(2, 2, 1)))
    expect("a zero", INVALID_CLUSTER_SIZE, kernels.launch("plain", 4, cluster=(2, 0, 1)))
    expect("policy spread", SUCCESS, kernels.launch("plain", 4, cluster=(2, 1, 1), policy=1))
    expect("required", SUCCESS, kernels.launch("pairs", 4))
    assert kernels.written(4) == [[0, 2], [1, 2], [0, 2], [1, 2]]
    expect("required and given", SUCCESS, kernels.launch("pairs", 4, cluster=(2, 1, 1)))
    expect("required, another given", INVALID_CLUSTER_SIZE, kernels.launch("pairs", 4, cluster=(4, 1, 1)))
    expect("required, no divisor", INVALID_CLUSTER_SIZE, kernels.launch("pairs", 3))
    expect("must be given", INVALID_CLUSTER_SIZE, kernels.launch("named", 4))
    expect("is given", SUCCESS, kernels.launch("named", 4, cluster=(2, 1, 1)))
    expect("up to the largest", SUCCESS, kernels.launch("at_most_four", 8, cluster=(4, 1, 1)))
    expect("beyond the largest", INVALID_CLUSTER_SIZE, kernels.launch("at_most_four", 8, cluster=(8, 1, 1)))

    expect("must_be_set of plain", 0, kernels.attribute("plain", MUST_BE_SET))
    expect("must_be_set of named", 1, kernels.attribute("named", MUST_BE_SET))
    expect("must_be_set of pairs", 1, kernels.attribute("pairs", MUST_BE_SET))
    expect("required of pairs", [2, 1, 1], [kernels.attribute("pairs", a) for a in (WIDTH, HEIGHT, DEPTH)])
    expect("required of plain", [0, 0, 0], [kernels.attribute("plain", a) for a in (WIDTH, HEIGHT, DEPTH)])
    expect("width of pairs set", INVALID_VALUE, kernels.set("pairs", WIDTH, 4))
    expect("a negative width", INVALID_VALUE, kernels.set("plain", WIDTH, -1))
    expect("policy set", SUCCESS, kernels.set("plain", POLICY, 2))
    expect("a policy that is none", INVALID_VALUE, kernels.set("plain", POLICY, 7))

    size_call = "cuOccupancyMaxPotentialClusterSize"
    count_call = "cuOccupancyMaxActiveClusters"
    expect("potential size", (SUCCESS, 8), kernels.occupancy(size_call, "plain", 16))
    code, clusters = kernels.occupancy(count_call, "plain", 16, cluster=(2, 1, 1))
    expect("active clusters", (SUCCESS, True), (code, clusters > 0))
    expect(
        "active clusters of 9", INVALID_CLUSTER_SIZE, kernels.occupancy(count_call, "plain", 18, cluster=(9, 1, 1))[0]
    )
    expect("non-portable", SUCCESS, kernels.set("plain", NON_PORTABLE, 1))
    expect("potential size, non-portable", (SUCCESS, 16), kernels.occupancy(size_call, "plain", 16))
    expect("16 blocks, allowed", SUCCESS, kernels.launch("plain", 16, cluster=(16, 1, 1)))
    assert kernels.written(16) == [[b, 16] for b in range(16)]
    expect("17 blocks", INVALID_CLUSTER_SIZE, kernels.launch("plain", 17, cluster=(17, 1, 1)))

    for which, extent in ((WIDTH, 2), (HEIGHT, 1), (DEPTH, 1)):
        expect(f"attribute {which} set", SUCCESS, kernels.set("plain", which, extent))
    expect("required by attribute", SUCCESS, kernels.launch("plain", 4))
    assert kernels.written(4) == [[0, 2], [1, 2], [0, 2], [1, 2]]
    assert got == wanted, {what: f"{got[what]}, not {wanted[what]}" for what in got if got[what] != wanted[what]}


@pytest.mark.parametrize("check", ["check_codes", "check_graphs"])
def test_cluster_launches(device, check):
    run_check(device, __file__, f"{check}()")
