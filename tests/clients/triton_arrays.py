"""Arrays for programs in Triton without torch: they lie in managed memory, and Triton sees of them what it uses of a
tensor."""

import ctypes

import numpy as np
from checked import checked

cuda = ctypes.CDLL("libcuda.so.1")


def ok(code):
    assert code == 0, code


class Array:
    def __init__(self, content):
        content = np.ascontiguousarray(content)
        self.dtype, self.shape, address = content.dtype, content.shape, ctypes.c_uint64()
        ok(cuda.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(content.nbytes), 1))
        self.address = address.value
        memory = (ctypes.c_char * content.nbytes).from_address(self.address)
        self.content = np.frombuffer(memory, content.dtype).reshape(content.shape)
        self.content[...] = content

    def data_ptr(self):
        return self.address

    def get(self):
        ok(cuda.cuCtxSynchronize())
        return self.content


def zeros(*shape, kind=np.float32):
    return Array(np.zeros(shape, kind))


rng = np.random.default_rng(7)


def normal(*shape, kind=np.float32):
    return rng.standard_normal(shape).astype(kind)


def close(array, wanted, tolerance=1e-5):
    np.testing.assert_allclose(array.get().astype(np.float64), wanted, rtol=tolerance, atol=tolerance)


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def retain_context():
    ok(cuda.cuInit(0))
    context = ctypes.c_void_p()
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(cuda.cuCtxSetCurrent(context))


def check(*parts):
    retain_context()
    for part in parts:
        checked(part.__name__, part)
