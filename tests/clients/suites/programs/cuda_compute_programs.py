"""cuda.compute (of the wheel cuda-cccl), compared with NumPy: its algorithms are compiled by NVRTC, operators of Python
by Numba's MLIR compiler, and linked by nvJitLink."""

import unittest

import cuda.compute as compute
import numpy as np
from cuda.bindings import driver
from cuda.compute import OpKind
from cuda.core import Device

rng = np.random.default_rng(1)
device = Device()
device.set_current()


class Array:
    """Memory of the device that says of itself what it is."""

    def __init__(self, host):
        self.shape, self.dtype = host.shape, host.dtype
        self.buffer = device.allocate(max(host.nbytes, 1), stream=device.default_stream)
        (error,) = driver.cuMemcpyHtoD(int(self.buffer.handle), host.ctypes.data, host.nbytes)
        assert error == 0, error

    @property
    def __cuda_array_interface__(self):
        pointer = (int(self.buffer.handle), False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": pointer, "version": 3, "strides": None}

    def numpy(self):
        device.sync()
        host = np.empty(self.shape, self.dtype)
        (error,) = driver.cuMemcpyDtoH(host.ctypes.data, int(self.buffer.handle), host.nbytes)
        assert error == 0, error
        return host


def empty(shape, kind):
    return Array(np.zeros(shape, kind))


KINDS = ["int8", "uint64", "float32"]
SIZES = [1, 1000, 20_011]


def values(size, kind, most=100):
    return rng.integers(0, most, size).astype(kind)


class Algorithms(unittest.TestCase):
    def test_reductions(self):
        for kind in KINDS:
            for size in SIZES:
                host, out, start = values(size, kind, 5), empty(1, kind), np.zeros(1, kind)
                compute.reduce_into(d_in=Array(host), d_out=out, num_items=size, op=OpKind.PLUS, h_init=start)
                self.assertEqual(out.numpy()[0], host.sum(dtype=kind), (kind, size))
        host, out = values(5000, "int32"), empty(1, "int32")
        compute.reduce_into(d_in=Array(host), d_out=out, num_items=5000, op=OpKind.MAXIMUM, h_init=np.zeros(1, "int32"))
        self.assertEqual(out.numpy()[0], host.max())

    def test_an_operator_of_python(self):
        def larger(a, b):
            return a if a > b else b

        host, out, moved = values(3001, "int32"), empty(1, "int32"), empty(3001, "int32")
        compute.reduce_into(d_in=Array(host), d_out=out, num_items=3001, op=larger, h_init=np.zeros(1, "int32"))
        self.assertEqual(out.numpy()[0], host.max())
        compute.unary_transform(d_in=Array(host), d_out=moved, op=lambda x: 3 * x + 1, num_items=3001)
        np.testing.assert_array_equal(moved.numpy(), 3 * host + 1)

    def test_scans(self):
        for kind in ("int32", "float64"):
            for size in SIZES:
                host, out, start = values(size, kind, 9), empty(size, kind), np.full(1, 3, kind)
                compute.inclusive_scan(d_in=Array(host), d_out=out, op=OpKind.PLUS, init_value=start, num_items=size)
                np.testing.assert_array_equal(out.numpy(), host.cumsum(dtype=kind) + start)
                compute.exclusive_scan(d_in=Array(host), d_out=out, op=OpKind.PLUS, init_value=start, num_items=size)
                np.testing.assert_array_equal(out.numpy(), host.cumsum(dtype=kind) - host + start)

    def test_sorts(self):
        for kind in KINDS:
            for size in SIZES:
                keys, items = values(size, kind), np.arange(size, dtype="int32")
                out, moved = empty(size, kind), empty(size, "int32")
                compute.radix_sort(d_in_keys=Array(keys), d_out_keys=out, d_in_values=Array(items), d_out_values=moved,
                                   num_items=size, order=compute.SortOrder.ASCENDING)  # fmt: skip
                order = np.argsort(keys, kind="stable")
                np.testing.assert_array_equal(out.numpy(), keys[order])
                np.testing.assert_array_equal(moved.numpy(), order)
        keys, out = values(7001, "float32"), empty(7001, "float32")
        compute.merge_sort(d_in_keys=Array(keys), d_in_values=None, d_out_keys=out, d_out_values=None, num_items=7001,
                           op=OpKind.LESS)  # fmt: skip
        np.testing.assert_array_equal(out.numpy(), np.sort(keys))

    def test_selections(self):
        host, out, count = values(9001, "int32"), empty(9001, "int32"), empty(1, "uint64")
        compute.select(d_in=Array(host), d_out=out, d_num_selected_out=count, cond=lambda x: x > 40, num_items=9001)
        wanted = host[host > 40]
        self.assertEqual(count.numpy()[0], len(wanted))
        np.testing.assert_array_equal(out.numpy()[: len(wanted)], wanted)
        keys, out2 = np.sort(values(9001, "int32")), empty(9001, "int32")
        compute.unique_by_key(d_in_keys=Array(keys), d_in_items=Array(host), d_out_keys=out, d_out_items=out2,
                              d_out_num_selected=count, op=OpKind.EQUAL_TO, num_items=9001)  # fmt: skip
        self.assertEqual(count.numpy()[0], len(np.unique(keys)))
        np.testing.assert_array_equal(out.numpy()[: len(np.unique(keys))], np.unique(keys))

    def test_histograms_and_bounds(self):
        host, out = values(30_011, "float32"), empty(10, "int32")
        compute.histogram_even(d_samples=Array(host), d_histogram=out, num_output_levels=11, lower_level=np.float32(0),
                               upper_level=np.float32(100), num_samples=30_011)  # fmt: skip
        np.testing.assert_array_equal(out.numpy(), np.histogram(host, 10, (0, 100))[0])
        edges, found = np.sort(values(777, "int32")), empty(1000, "uint64")
        host = values(1000, "int32", 120)
        compute.lower_bound(d_data=Array(edges), num_items=777, d_values=Array(host), num_values=1000, d_out=found)
        np.testing.assert_array_equal(found.numpy(), np.searchsorted(edges, host, "left"))

    def test_segments(self):
        ends = np.sort(rng.integers(0, 5000, 40)).astype("int64")
        begins = np.concatenate([[0], ends[:-1]]).astype("int64")
        host, out = values(5000, "int32"), empty(40, "int32")
        compute.segmented_reduce(d_in=Array(host), d_out=out, num_segments=40, start_offsets_in=Array(begins),
                                 end_offsets_in=Array(ends), op=OpKind.PLUS, h_init=np.zeros(1, "int32"))  # fmt: skip
        np.testing.assert_array_equal(out.numpy(), [host[a:b].sum() for a, b in zip(begins, ends)])

    def test_iterators(self):
        out = empty(1, "int64")
        numbers = compute.CountingIterator(np.int64(1))
        squares = compute.TransformIterator(numbers, lambda x: x * x)
        compute.reduce_into(d_in=squares, d_out=out, num_items=100, op=OpKind.PLUS, h_init=np.zeros(1, "int64"))
        self.assertEqual(out.numpy()[0], sum(x * x for x in range(1, 101)))


if __name__ == "__main__":
    unittest.main()
