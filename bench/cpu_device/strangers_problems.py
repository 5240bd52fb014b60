"""The problems of strangers.py: arrays, the launches that solve them on the device, and what is compared.

The C++ function of a problem's name takes its arrays in their order, then its numbers.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Problem:
    arrays: dict
    numbers: tuple
    launches: list  # kernel, grid, block, arguments: names of arrays, or numbers
    results: list
    steps: int
    check: object = field(default=None)


PROBLEMS = {}


def problem(function):
    PROBLEMS[function.__name__] = function
    return function


SEEDS = itertools.count()


def some(*shape):
    """Floats in [0, 1), others at each call."""
    return np.random.default_rng(next(SEEDS)).random(shape, np.float32)


def integers(low, high, *shape, kind=np.int32):
    return np.random.default_rng(high).integers(low, high, shape, kind)


def zeros(*shape, kind=np.float32):
    return np.zeros(shape, kind)


i32, f32, i64 = np.int32, np.float32, np.int64


def line(n, block=256):
    return -(-n // block), block


def plane(n, x=32, y=8):
    return (-(-n // x), -(-n // y)), (x, y)


# PolyBench
@problem
def atax(n=1024):
    arrays = dict(a=some(n, n), x=some(n), temporary=zeros(n), y=zeros(n))
    launches = [
        ("row_dot", *line(n), ("a", "x", "temporary", i32(n))),
        ("column_dot", *line(n), ("a", "temporary", "y", i32(n))),
    ]
    return Problem(arrays, (n,), launches, ["y"], 2 * n * n)


@problem
def bicg(n=1024):
    arrays = dict(a=some(n, n), p=some(n), r=some(n), q=zeros(n), s=zeros(n))
    launches = [("row_dot", *line(n), ("a", "p", "q", i32(n))), ("column_dot", *line(n), ("a", "r", "s", i32(n)))]
    return Problem(arrays, (n,), launches, ["q", "s"], 2 * n * n)


@problem
def gesummv(n=1024):
    arrays = dict(a=some(n, n), b=some(n, n), x=some(n), y=zeros(n))
    return Problem(arrays, (n,), [("gesummv_k", *line(n), ("a", "b", "x", "y", i32(n)))], ["y"], 2 * n * n)


@problem
def syrk(n=256):
    arrays = dict(a=some(n, n), c=some(n, n))
    return Problem(arrays, (n,), [("syrk_k", *plane(n), ("a", "c", i32(n)))], ["c"], n**3)


@problem
def syr2k(n=256):
    arrays = dict(a=some(n, n), b=some(n, n), c=some(n, n))
    return Problem(arrays, (n,), [("syr2k_k", *plane(n), ("a", "b", "c", i32(n)))], ["c"], n**3)


@problem
def covariance(n=256):
    arrays = dict(data=some(n, n), mean=zeros(n), centred=zeros(n, n), symmetric=zeros(n, n))
    launches = [
        ("mean_k", *line(n), ("data", "mean", i32(n))),
        ("centre_k", *plane(n), ("data", "mean", np.uint64(0), "centred", i32(n))),
        ("products_k", *line(n), ("centred", "symmetric", i32(n))),
    ]
    return Problem(arrays, (n,), launches, ["symmetric"], n**3 // 2)


@problem
def correlation(n=256):
    arrays = dict(data=some(n, n), mean=zeros(n), deviation=zeros(n), centred=zeros(n, n), symmetric=zeros(n, n))
    launches = [
        ("mean_k", *line(n), ("data", "mean", i32(n))),
        ("deviation_k", *line(n), ("data", "mean", "deviation", i32(n))),
        ("centre_k", *plane(n), ("data", "mean", "deviation", "centred", i32(n))),
        ("products_k", *line(n), ("centred", "symmetric", i32(n))),
    ]
    return Problem(arrays, (n,), launches, ["symmetric"], n**3 // 2)


@problem
def two_products(n=256):
    arrays = dict(a=some(n, n), b=some(n, n), c=some(n, n), temporary=zeros(n, n), d=zeros(n, n))
    launches = [
        ("product_k", *plane(n), (*names, i32(n))) for names in (("a", "b", "temporary"), ("temporary", "c", "d"))
    ]
    return Problem(arrays, (n,), launches, ["d"], 2 * n**3)


@problem
def doitgen(n=64):
    arrays = dict(a=some(n, n, n), c4=some(n, n), sum=zeros(n, n, n))
    launches = [("doitgen_k", *plane(n), ("a", "c4", "sum", i32(n), i32(r))) for r in range(n)]
    return Problem(arrays, (n,), launches, ["sum"], n**4)


@problem
def jacobi(n=1024):
    arrays = dict(a=some(n, n), b=zeros(n, n))
    launches = [("jacobi_k", *plane(n), (*("ab" if t % 2 == 0 else "ba"), i32(n))) for t in range(10)]
    return Problem(arrays, (n,), launches, ["a", "b"], 10 * n * n)


@problem
def fdtd(n=1024):
    arrays = dict(ex=some(n, n), ey=some(n, n), hz=some(n, n))
    launches = []
    for t in range(10):
        launches.append(("fdtd_e_k", *plane(n), ("ex", "ey", "hz", i32(n), i32(t))))
        launches.append(("fdtd_h_k", *plane(n), ("ex", "ey", "hz", i32(n))))
    return Problem(arrays, (n,), launches, ["ex", "ey", "hz"], 10 * n * n)


@problem
def gramschmidt(n=256):
    arrays = dict(a=some(n, n) + n * np.eye(n, dtype=f32), r=zeros(n, n), q=zeros(n, n))
    launches = []
    for k in range(n):
        arguments = ("a", "r", "q", i32(n), i32(k))
        launches.append(("gram_norm_k", 1, 256, arguments))
        launches += [(kernel, *line(n), arguments) for kernel in ("gram_column_k", "gram_rest_k")]
    return Problem(arrays, (n,), launches, ["r", "q"], n**3)


@problem
def lu(n=384):
    launches = []
    for k in range(n):
        launches += [("lu_row_k", *line(n), ("a", i32(n), i32(k))), ("lu_rest_k", *plane(n), ("a", i32(n), i32(k)))]
    return Problem(dict(a=some(n, n) + n * np.eye(n, dtype=f32)), (n,), launches, ["a"], n**3 // 3)


@problem
def adi(n=1024):
    arrays = dict(a=some(n, n) / 4, b=some(n, n) + 2, x=some(n, n))
    return Problem(arrays, (n,), [("adi_rows_k", *line(n), ("a", "b", "x", i32(n)))], ["x"], 2 * n * n)


# Rodinia
@problem
def hotspot(n=1024):
    arrays = {"power": some(n, n), "from": 80 + some(n, n), "to": zeros(n, n)}
    grid = -(-n // 14)
    launches = [("hotspot_k", (grid, grid), (16, 16), ("power", "from", "to", i32(n)))]
    return Problem(arrays, (n,), launches, ["to"], n * n)


@problem
def pathfinder(n=100000):
    arrays = {"wall": integers(0, 10, 40, n), "from": integers(0, 10, n), "to": zeros(n, kind=i32)}
    launches = [
        ("pathfinder_k", -(-n // 216), 256, ("wall", *names, i32(n), i32(row), i32(20)))
        for names, row in ((("from", "to"), 0), (("to", "from"), 20))
    ]
    return Problem(arrays, (n,), launches, ["from"], 40 * n)


@problem
def needleman(n=1024):
    score = zeros(n + 1, n + 1, kind=i32)
    score[0] = score[:, 0] = -10 * np.arange(n + 1)
    tiles, launches = n // 16, []
    for diagonal in range(2 * tiles - 1):
        first = max(0, diagonal - tiles + 1)
        blocks = min(diagonal, tiles - 1) - first + 1
        launches.append(("nw_k", blocks, 16, ("similarity", "score", i32(n), i32(diagonal), i32(first))))
    return Problem(dict(similarity=integers(-4, 12, n, n), score=score), (n,), launches, ["score"], n * n)


@problem
def lavamd(boxes=64):
    n = boxes * 128
    arrays = dict(at=some(n, 4), charge=some(n), force=zeros(n, 4))
    return Problem(arrays, (boxes,), [("lavamd_k", boxes, 128, (*arrays, i32(boxes)))], ["force"], n * 640)


@problem
def kmeans(n=100000):
    arrays = dict(features=some(16, n), clusters=some(8, 16), member=zeros(n, kind=i32))

    def check(left, right):  # distances that are nearly the same may be told apart otherwise
        return (left["member"] != right["member"]).mean() < 1e-3

    return Problem(arrays, (n,), [("kmeans_k", *line(n), (*arrays, i32(n), i32(16), i32(8)))], [], n * 128, check)


@problem
def bfs(n=200000):
    cost = np.full(n, -1, i32)
    cost[0] = 0
    arrays = dict(starts=np.arange(0, 6 * n + 1, 6, dtype=i32), edges=integers(0, n, 6 * n), cost=cost)
    launches = [("bfs_k", *line(n), (*arrays, i32(n), i32(level))) for level in range(8)]
    return Problem(arrays, (n,), launches, ["cost"], 6 * n)


@problem
def srad(n=1024):
    arrays = dict(image=some(n, n) + 0.5, c=zeros(n, n))
    return Problem(arrays, (n,), [("srad_k", *plane(n), (*arrays, i32(n), f32(0.05)))], ["c"], n * n)


@problem
def backprop(n=65536):
    arrays = dict(input=some(n), weights=some(n, 16), partial=zeros(n // 16, 16))
    return Problem(arrays, (n,), [("backprop_k", n // 16, (16, 16), (*arrays, i32(16)))], ["partial"], n * 16)


# Operators of machine learning
@problem
def softmax(rows=512, n=2048):
    arrays = {"in": some(rows, n) * 8, "out": zeros(rows, n)}
    return Problem(arrays, (rows, n), [("softmax_k", rows, 256, (*arrays, i32(n)))], ["out"], rows * n)


@problem
def layernorm(rows=1024, n=1024):
    arrays = {"in": some(rows, n), "gain": some(n), "bias": some(n), "out": zeros(rows, n)}
    return Problem(arrays, (rows, n), [("layernorm_k", rows, 256, (*arrays, i32(n)))], ["out"], rows * n)


@problem
def bias_gelu(rows=1024, n=1024):
    arrays = {"in": some(rows, n) - 0.5, "bias": some(n), "out": zeros(rows, n)}
    launches = [("bias_gelu_k", 1024, 256, (*arrays, i32(rows * n), i32(n)))]
    return Problem(arrays, (rows, n), launches, ["out"], rows * n)


@problem
def attention(rows=256, n=1024):
    arrays = dict(q=some(rows, 64), k=some(n, 64), v=some(n, 64), out=zeros(rows, 64))
    return Problem(arrays, (rows, n), [("attention_k", rows, 128, (*arrays, i32(n)))], ["out"], rows * n * 128)


@problem
def embedding(rows=4096, n=256):
    arrays = dict(tokens=integers(0, 10000, rows, kind=i64), table=some(10000, n), out=zeros(rows, n))
    launches = [("embedding_k", 1024, 256, (*arrays, i64(rows * n), i32(n)))]
    return Problem(arrays, (rows, n), launches, ["out"], rows * n)


@problem
def cross_entropy(rows=512, n=2048):
    arrays = {"in": some(rows, n) * 8, "target": integers(0, n, rows), "loss": zeros(rows)}
    return Problem(arrays, (rows, n), [("cross_entropy_k", rows, 256, (*arrays, i32(n)))], ["loss"], rows * n)


@problem
def adam(n=1 << 20):
    arrays = dict(weight=some(n), gradient=some(n), m=some(n), v=some(n))
    return Problem(arrays, (n,), [("adam_k", *line(n), (*arrays, i32(n)))], ["weight", "m", "v"], n)


# Primitives
@problem
def block_scan(n=1 << 20):
    arrays = {"in": integers(0, 100, n), "out": zeros(n, kind=i32)}
    return Problem(arrays, (n,), [("block_scan_k", n // 512, 128, tuple(arrays))], ["out"], n)


@problem
def block_reduce(n=1 << 20):
    arrays = {"in": some(n), "out": zeros(n // 256)}
    return Problem(arrays, (n,), [("block_reduce_k", n // 256, 256, tuple(arrays))], ["out"], n)


@problem
def block_reduce_int(n=1 << 20):
    arrays = {"in": integers(0, 100, n), "out": zeros(n // 256, kind=i32)}
    return Problem(arrays, (n,), [("block_reduce_int_k", n // 256, 256, tuple(arrays))], ["out"], n)


@problem
def block_sort(n=1 << 17):
    arrays = {"in": integers(-(2**31), 2**31 - 1, n), "out": zeros(n, kind=i32)}
    return Problem(arrays, (n,), [("block_sort_k", n // 512, 128, tuple(arrays))], ["out"], n)


@problem
def histogram(n=1 << 22):
    arrays = {"in": integers(0, 256, n, kind=np.uint8), "bins": zeros(256, kind=i32)}
    return Problem(arrays, (n,), [("histogram_k", 256, 256, (*arrays, i32(n)))], ["bins"], n)


@problem
def compact(n=1 << 20):
    arrays = {"in": integers(-100, 100, n), "out": zeros(n, kind=i32), "count": zeros(1, kind=i32)}

    def check(left, right):
        kept = right["count"][0]
        return left["count"][0] == kept and (np.sort(left["out"][:kept]) == np.sort(right["out"][:kept])).all()

    launches = [("clear_k", 1, 1, ("count",)), ("compact_k", *line(n), (*arrays, i32(n)))]
    return Problem(arrays, (n,), launches, [], n, check)


@problem
def match_count(n=1 << 18):
    arrays = {"in": integers(0, 16, n), "bins": zeros(16, kind=i32)}
    return Problem(arrays, (n,), [("match_count_k", *line(n), (*arrays, i32(n)))], ["bins"], n)


@problem
def transpose(n=1024):
    arrays = {"in": some(n, n), "out": zeros(n, n)}
    return Problem(arrays, (n,), [("transpose_k", (n // 32, n // 32), (32, 8), (*arrays, i32(n)))], ["out"], n * n)


# Small
@problem
def saxpy(n=1 << 21):
    arrays = dict(x=some(n), y=some(n))
    return Problem(arrays, (n,), [("saxpy_k", *line(n), (*arrays, i32(n)))], ["y"], n)


@problem
def stencil(n=1 << 21):
    arrays = {"in": some(n), "out": zeros(n)}
    return Problem(arrays, (n,), [("stencil_k", *line(n), (*arrays, i32(n)))], ["out"], n)


@problem
def strided_copy(n=1 << 19, stride=5):
    arrays = {"in": some(n * stride), "out": zeros(n)}
    return Problem(arrays, (n, stride), [("strided_copy_k", *line(n), (*arrays, i32(n), i32(stride)))], ["out"], n)


@problem
def gather(n=1 << 20):
    arrays = {"in": some(n), "index": np.random.default_rng(3).permutation(n).astype(i32), "out": zeros(n)}
    return Problem(arrays, (n,), [("gather_k", *line(n), (*arrays, i32(n)))], ["out"], n)


@problem
def scatter(n=1 << 20):
    arrays = {"in": some(n), "index": np.random.default_rng(3).permutation(n).astype(i32), "out": zeros(n)}
    return Problem(arrays, (n,), [("scatter_k", *line(n), (*arrays, i32(n)))], ["out"], n)


@problem
def broadcast_add(rows=1000, n=1000):
    arrays = {"a": some(rows), "b": some(n), "out": zeros(rows, n)}
    launches = [("broadcast_add_k", *line(rows * n), (*arrays, i64(rows * n), i64(n)))]
    return Problem(arrays, (rows, n), launches, ["out"], rows * n)
