"""Random calls of CuPy compared with NumPy's: functions, types, shapes and views drawn by a seed.

    python cupy_sweep.py [FIRST_SEED [NUMBER]]      # each seed is one call; prints those that differ, and how many ran

As a unittest it runs the first of them. What needs cuBLAS, cuFFT, cuRAND and their like is not here.
"""

import sys
import unittest
import warnings

import cupy
import numpy as np

BOOLS, SIGNED, UNSIGNED, FLOATS, COMPLEX = "?", "bhilq", "BHILQ", "efd", "FD"
INTEGERS = SIGNED + UNSIGNED
REALS = INTEGERS + FLOATS
SHAPES = [(), (0,), (1,), (2,), (7,), (31,), (32,), (33,), (255,), (257,), (1023,), (4099,), (0, 3), (1, 1), (3, 5)]
SHAPES += [(17, 33), (32, 32), (64, 1), (1, 64), (5, 257), (129, 31), (2, 3, 4), (7, 1, 9), (5, 16, 33), (2, 3, 4, 5)]
SHAPES += [(3, 1, 2, 1, 7), (2, 2, 2, 2, 2, 2)]
RELATIVE = {"e": 4e-3, "f": 3e-5, "d": 1e-10, "F": 3e-5, "D": 1e-10}
ABSOLUTE = {"e": 4e-3, "f": 3e-5, "d": 1e-10, "F": 3e-5, "D": 1e-10}

ONE = {  # function: types, range of values
    **dict.fromkeys(
        ["negative", "positive", "absolute", "square", "conj", "real", "imag", "sign"],
        (INTEGERS + FLOATS + COMPLEX, (-9, 9)),
    ),
    **dict.fromkeys(["sqrt", "log", "log2", "log10", "log1p"], (REALS + COMPLEX, (0.1, 9))),
    **dict.fromkeys(
        ["exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh"],
        (REALS + COMPLEX, (-4, 4)),
    ),
    **dict.fromkeys(["arcsin", "arccos", "arctanh"], (FLOATS, (-0.9, 0.9))),
    **dict.fromkeys(["arccosh"], (FLOATS, (1.1, 9))),
    **dict.fromkeys(
        ["floor", "ceil", "trunc", "rint", "fix", "cbrt", "deg2rad", "rad2deg", "signbit"], (FLOATS, (-50, 50))
    ),
    **dict.fromkeys(["isnan", "isinf", "isfinite"], (REALS + COMPLEX, (-5, 5))),
    **dict.fromkeys(["invert"], (BOOLS + INTEGERS, (0, 100))),
    **dict.fromkeys(["logical_not"], (BOOLS + REALS + COMPLEX, (0, 2))),
    **dict.fromkeys(["reciprocal", "sinc", "i0"], (FLOATS, (0.5, 4))),
    **dict.fromkeys(["angle"], (FLOATS + COMPLEX, (-3, 3))),
    **dict.fromkeys(["modf", "frexp"], (FLOATS, (-30, 30))),
    **dict.fromkeys(["nan_to_num"], (REALS + COMPLEX, (-3, 3))),
}
TWO = {
    **dict.fromkeys(["add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin"], (REALS + COMPLEX, (1, 9))),
    **dict.fromkeys(["true_divide"], (REALS + COMPLEX, (1, 9))),
    **dict.fromkeys(["floor_divide", "remainder", "fmod"], (REALS, (1, 90))),
    **dict.fromkeys(["power"], (INTEGERS + FLOATS + COMPLEX, (1, 3))),
    **dict.fromkeys(
        ["arctan2", "hypot", "copysign", "nextafter", "logaddexp", "logaddexp2", "heaviside"], (FLOATS, (-9, 9))
    ),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], (BOOLS + INTEGERS, (0, 100))),
    **dict.fromkeys(["left_shift", "right_shift"], (INTEGERS, (0, 6))),
    **dict.fromkeys(["gcd", "lcm"], (INTEGERS, (1, 11))),
    **dict.fromkeys(
        ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"], (BOOLS + REALS + COMPLEX, (0, 4))
    ),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], (BOOLS + REALS, (0, 2))),
    **dict.fromkeys(["divmod"], (REALS, (1, 90))),
    **dict.fromkeys(["float_power", "ldexp"], ("d", (1, 3))),
}
REDUCTIONS = {
    **dict.fromkeys(["sum", "nansum", "mean"], (BOOLS + REALS + COMPLEX, (0, 3))),
    **dict.fromkeys(["prod", "nanprod"], ("hiqfdFD", (0.9, 1.1))),
    **dict.fromkeys(["max", "min", "argmax", "argmin", "ptp", "nanmax", "nanmin"], (REALS, (-90, 90))),
    **dict.fromkeys(["any", "all", "count_nonzero"], (BOOLS + REALS + COMPLEX, (0, 1.2))),
    **dict.fromkeys(["var", "std", "nanmean", "nanvar", "nanstd", "median", "nanmedian", "average"], ("hiqfd", (0, 9))),
}
SCANS = {
    **dict.fromkeys(["cumsum", "nancumsum"], ("bhilqBHILQfdFD", (0, 3))),
    **dict.fromkeys(["cumprod"], ("qfdFD", (0.9, 1.1))),
    **dict.fromkeys(["diff", "ediff1d", "gradient"], ("hiqfdFD", (0, 9))),
}
SORTS = dict.fromkeys(
    ["sort", "argsort", "unique", "partition", "lexsort", "msort", "flatnonzero", "argwhere", "sort_complex"],
    (REALS, (0, 40)),
)
MOVES = "transpose ravel flip fliplr flipud rot90 roll rollaxis moveaxis swapaxes squeeze expand_dims tile repeat pad"
MOVES = (
    MOVES + " concatenate stack hstack vstack dstack array_split broadcast_to atleast_3d tril triu diag trace delete"
).split()
INDEXED = "slice integers mask take put where choose compress extract nonzero set_slice set_mask set_integers add_at"
INDEXED = (
    INDEXED + " max_at select ix take_along_axis put_along_axis fill_diagonal searchsorted digitize bincount"
).split()
INDEXED += [
    "histogram",
    "histogram2d",
    "clip",
    "interp",
    "convolve",
    "in1d",
    "intersect1d",
    "packbits",
    "unpackbits",
    "percentile",
    "quantile",
    "place",
]
KINDS = ["one", "two", "scalar", "reduction", "scan", "sort", "move", "index", "cast", "out", "kernel", "fuse"]


class Case:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.said = []

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def values(self, shape, kind, between):
        low, high = between
        if kind in UNSIGNED or kind == "?":
            low = max(low, 0)
        made = self.rng.random(shape) * (high - low) + low
        if kind in COMPLEX:
            made = made + 1j * (self.rng.random(shape) * (high - low) + low)
        if kind == "?":
            return np.asarray(made > (low + high) / 2)
        return np.asarray(np.rint(made) if kind in INTEGERS else made).astype(kind)

    def array(self, kind, between, shape=None):
        """A pair of equal arrays, of NumPy and of CuPy, often views of others."""
        shape = self.pick(SHAPES) if shape is None else shape
        how = self.pick(["whole", "whole", "step", "back", "turned", "inner", "fortran"])
        if how == "step" and shape:
            base, cut = (*shape[:-1], shape[-1] * 2 + 1), (..., slice(1, None, 2))
        elif how == "back" and shape:
            base, cut = shape, (slice(None, None, -1),)
        elif how == "inner" and shape:
            base, cut = tuple(n + 3 for n in shape), tuple(slice(1, n + 1) for n in shape)
        else:
            base, cut = shape, ...
        if how == "turned":
            host = self.values(base[::-1], kind, between)
            return host.T, self.tell(cupy.asarray(host).T, kind, how)
        host = self.values(base, kind, between)
        device = cupy.asarray(np.asfortranarray(host) if how == "fortran" else host, order="K")
        if how == "fortran":
            host = np.asfortranarray(host)
        host, device = host[cut], device[cut]
        return np.asarray(host).reshape(shape), self.tell(device.reshape(shape), kind, how)

    def tell(self, device, kind, how):
        self.said.append(f"{kind}{device.shape} {how}")
        return device

    def axis(self, shape, among=True):
        options = [None, *range(-len(shape), len(shape))] if among else list(range(-len(shape), len(shape)))
        return self.pick(options) if options else None

    def call(self):
        kind = self.pick(KINDS)
        self.said.insert(0, kind)
        return getattr(self, kind)()

    def named(self, table):
        name = self.pick(sorted(table))
        kinds, between = table[name]
        self.said.append(name)
        return name, self.pick(kinds), between

    def one(self):
        name, kind, between = self.named(ONE)
        if kind in INTEGERS and name in ["expm1", "exp2", "sinh", "cosh", "tan"]:
            between = (0, 2)
        host, device = self.array(kind, between)
        return lambda m: getattr(m, name)(host if m is np else device)

    def two(self):
        name, kind, between = self.named(TWO)
        a, b = self.array(kind, between), None
        other = kind
        if (
            self.rng.random() < 0.3
            and kind in "bhilqfd"
            and name in ["add", "multiply", "maximum", "equal", "less", "true_divide"]
        ):
            other = self.pick("bhilqfd")
        shape = tuple(1 if self.rng.random() < 0.2 else n for n in a[0].shape)
        b = self.array("i" if name == "ldexp" else other, between, shape)
        if name in ("subtract",) and kind in UNSIGNED:
            a = (a[0] + a[0].dtype.type(9), a[1] + a[1].dtype.type(9))
        return lambda m: getattr(m, name)(*((a[0], b[0]) if m is np else (a[1], b[1])))

    def scalar(self):
        kind = self.pick(REALS + COMPLEX)
        host, device = self.array(kind, (1, 9))
        number = self.pick([1, 2, 3])
        operation = self.pick(
            ["x + n", "n + x", "x * n", "x / n", "n - x // n" if kind not in COMPLEX else "x - n", "x ** 2", "x > n"]
        )
        if kind in UNSIGNED and "-" in operation:
            operation = "x + n"
        self.said.append(f"{operation} n={number}")
        return lambda m: eval(operation, {"x": host if m is np else device, "n": number})

    def reduction(self):
        name, kind, between = self.named(REDUCTIONS)
        host, device = self.array(kind, between)
        axis = self.axis(host.shape)
        if host.ndim > 1 and self.rng.random() < 0.3 and name not in ("argmax", "argmin", "nanmedian", "median"):
            axis = (0, -1) if host.ndim > 1 else axis
        more = {"keepdims": True} if self.rng.random() < 0.3 and name not in ("average", "count_nonzero") else {}
        self.said.append(f"axis={axis} {more}")
        return lambda m: getattr(m, name)(host if m is np else device, axis=axis, **more)

    def scan(self):
        name, kind, between = self.named(SCANS)
        host, device = self.array(kind, between)
        if name == "ediff1d":
            return lambda m: m.ediff1d(host if m is np else device)
        axis = self.axis(host.shape, among=name.startswith(("cum", "nancum")))
        self.said.append(f"axis={axis}")
        more = {} if axis is None else {"axis": axis}
        return lambda m: getattr(m, name)(host if m is np else device, **more)

    def sort(self):
        name, kind, between = self.named(SORTS)
        host, device = self.array(kind, between)
        axis = self.axis(host.shape, among=False)
        self.said.append(f"axis={axis}")
        x = lambda m: host if m is np else device  # noqa: E731
        if axis is None:
            return lambda m: m.sum(x(m))
        if name == "unique":
            which = self.pick(["return_index", "return_inverse", "return_counts"])
            return lambda m: [np.ravel(cupy.asnumpy(each)) for each in m.unique(x(m), **{which: True})]
        if name == "partition":
            n = max(host.shape[axis] // 2, 0)
            if not host.size:
                return lambda m: x(m)
            return lambda m: m.take(m.partition(x(m), n, axis=axis), n, axis=axis)
        if name == "argsort":
            return lambda m: m.take_along_axis(x(m), m.argsort(x(m), axis=axis), axis=axis)
        if name == "lexsort":
            return lambda m: m.lexsort(m.stack([m.arange(host.size)[::-1] % 3, m.ravel(x(m))]))
        if name == "msort":
            return lambda m: m.sort(x(m), axis=0)
        if name in ("flatnonzero", "argwhere"):
            return lambda m: getattr(m, name)(x(m) > 20)
        if name == "sort_complex":
            return lambda m: m.sort_complex(x(m))
        return lambda m: m.sort(x(m), axis=axis)

    def move(self):
        name, kind = self.pick(MOVES), self.pick(BOOLS + REALS + COMPLEX)
        host, device = self.array(kind, (0, 50))
        self.said.append(name)
        n, d = int(self.rng.integers(1, 4)), host.ndim
        x = lambda m: host if m is np else device  # noqa: E731
        last, mode = self.pick([0, -1]), self.pick(["constant", "edge", "reflect", "wrap", "symmetric", "linear_ramp"])
        if name == "pad" and (not host.size or kind == "?"):
            mode = "constant"
        mode = "edge" if mode == "linear_ramp" and kind not in FLOATS else mode
        self.said.append(f"n={n} last={last} mode={mode}")
        calls = {
            "transpose": lambda m: m.transpose(x(m)) + x(m).T, "ravel": lambda m: m.ravel(x(m), order="CFAK"[n]),
            "flip": lambda m: m.flip(x(m)), "roll": lambda m: m.roll(x(m), n * 5),
            "tile": lambda m: m.tile(x(m), (n, 2)),
            "repeat": lambda m: m.repeat(x(m), n), "pad": lambda m: m.pad(x(m), n, mode=mode),
            "atleast_3d": lambda m: m.atleast_3d(x(m)), "expand_dims": lambda m: m.expand_dims(x(m), last),
            "squeeze": lambda m: m.squeeze(x(m)), "hstack": lambda m: m.hstack([x(m)] * n),
            "vstack": lambda m: m.vstack([x(m)] * n), "dstack": lambda m: m.dstack([x(m)] * n),
            "stack": lambda m: m.stack([x(m)] * n, axis=last),
            "broadcast_to": lambda m: m.broadcast_to(x(m), (n, *host.shape)) + x(m),
        }  # fmt: skip
        if d >= 1:
            calls |= {
                "concatenate": lambda m: m.concatenate([x(m)] * n, axis=last), "flipud": lambda m: m.flipud(x(m)),
                "array_split": lambda m: m.array_split(x(m), n, axis=last),
                "diag": lambda m: m.diag(x(m)[(0,) * max(d - 2, 0)]) if d != 2 or host.size else x(m),
                "delete": lambda m: m.delete(x(m), slice(0, 1), axis=last) if host.size else x(m),
            }  # fmt: skip
        if d >= 2:
            calls |= {
                "fliplr": lambda m: m.fliplr(x(m)), "rot90": lambda m: m.rot90(x(m), n),
                "rollaxis": lambda m: m.rollaxis(x(m), d - 1),
                "moveaxis": lambda m: m.moveaxis(x(m), 0, -1),
                "swapaxes": lambda m: m.swapaxes(x(m), 0, -1) + m.swapaxes(x(m), 0, -1),
                "tril": lambda m: m.tril(x(m), n - 2), "triu": lambda m: m.triu(x(m), n - 2),
                "trace": lambda m: m.trace(x(m), n - 2),
            }  # fmt: skip
        return calls.get(name, calls["transpose"])

    def index(self):
        name, kind = self.pick(INDEXED), self.pick("bhilqBHIfd" if self.rng.random() < 0.6 else BOOLS + REALS + COMPLEX)
        shape = self.pick([s for s in SHAPES if s and 0 not in s])
        host, device = self.array(kind, (0, 60), shape)
        self.said.append(name)
        x = lambda m: (host if m is np else device).copy()  # noqa: E731
        many = self.rng.integers(1, 300)
        picks = self.rng.integers(-shape[0], shape[0], many)
        firm = self.rng.permutation(shape[0])[:many]
        on = lambda m, a: a if m is np else cupy.asarray(a)  # noqa: E731
        mask = self.rng.random(shape) < 0.4
        a, b, step = sorted(self.rng.integers(0, shape[-1] + 1, 2)) + [int(self.pick([1, 2, 3]))]
        flat = lambda m: x(m).ravel()  # noqa: E731
        small = "BHbh" if kind not in INTEGERS else kind
        whole = self.values((many,), self.pick(small), (0, 50))
        edges = np.unique(self.rng.random(20) * 60)

        def changed(m, change):
            made = x(m)
            change(made)
            return made

        def put(made, m):
            made[on(m, mask)] = 1

        calls = {
            "slice": lambda m: x(m)[..., a:b:step], "integers": lambda m: x(m)[on(m, picks)],
            "mask": lambda m: x(m)[on(m, mask)],
            "take": lambda m: m.take(x(m), on(m, picks), axis=0),
            "where": lambda m: m.where(on(m, mask), x(m), x(m)[::-1]),
            "nonzero": lambda m: list(m.nonzero(x(m))), "compress": lambda m: m.compress(on(m, mask.ravel()), x(m)),
            "extract": lambda m: m.extract(on(m, mask), x(m)), "set_mask": lambda m: changed(m, lambda y: put(y, m)),
            "set_slice": lambda m: changed(m, lambda y: y.__setitem__((..., slice(a, b, step)), 3)),
            "set_integers": lambda m: changed(m, lambda y: y.__setitem__(on(m, firm), 3)),
            "put": lambda m: changed(m, lambda y: m.put(y, on(m, firm), 7)),
            "place": lambda m: changed(m, lambda y: m.place(y, on(m, mask), on(m, host.ravel()[:5]))),
            "choose": lambda m: m.choose(on(m, mask.astype(np.int32)), m.stack([x(m), x(m)[::-1]])),
            "select": lambda m: m.select([on(m, mask), x(m) > 30], [x(m), x(m) + x(m)]) if kind not in "?FD" else x(m),
            "ix": lambda m: x(m)[m.ix_(on(m, firm))],
            "clip": lambda m: m.clip(x(m), 10, 40) if kind not in "?FD" else x(m),
            "take_along_axis": lambda m: m.take_along_axis(x(m), on(m, np.argsort(host.real, axis=-1)), axis=-1),
            "put_along_axis": lambda m: changed(m,
                lambda y: m.put_along_axis(y, on(m, np.argsort(host.real, axis=-1)), 2, axis=-1)),
            "fill_diagonal": lambda m: changed(m, lambda y: m.fill_diagonal(y, 1) if len(shape) == 2 else None),
            "searchsorted": lambda m: m.searchsorted(on(m, edges), x(m)) if kind in "bhilqBHIfd" else x(m),
            "digitize": lambda m: m.digitize(x(m), on(m, edges)) if kind in "bhilqBHIfd" else x(m),
            "bincount": lambda m: m.bincount(on(m, whole)), "packbits": lambda m: m.packbits(on(m, mask.ravel())),
            "unpackbits": lambda m: m.unpackbits(on(m, whole.astype(np.uint8))),
            "histogram": lambda m: list(m.histogram(x(m), bins=on(m, edges)))
                if kind in "fd" and len(edges) > 1 else x(m),
            "histogram2d": lambda m: m.histogram2d(flat(m).astype("d"), flat(m)[::-1].astype("d"), bins=4)[0]
                if kind in "hilqfd" else x(m),
            "interp": lambda m: m.interp(flat(m), on(m, edges), on(m, edges**2)) if kind in "hilqfd" else x(m),
            "convolve": lambda m: m.convolve(flat(m), on(m, host.ravel()[:7])) if kind in "hiq" else x(m),
            "in1d": lambda m: m.isin(x(m), on(m, host.ravel()[:5])) if kind in REALS else x(m),
            "intersect1d": lambda m: m.intersect1d(flat(m), on(m, host.ravel()[:9])) if kind in REALS else x(m),
            "percentile": lambda m: m.percentile(x(m).astype("d"), [10, 35, 80]) if kind in "hiqfd" else x(m),
            "quantile": lambda m: m.quantile(x(m).astype("d"), 0.3, axis=-1) if kind in "hiqfd" else x(m),
            "add_at": lambda m: changed(m, lambda y: m.add.at(y, on(m, picks), on(m, np.asarray(2, host.dtype))))
                if kind in "iIQefdFD" else x(m),
            "max_at": lambda m: changed(m, lambda y: m.maximum.at(y, on(m, picks), on(m, np.asarray(25, host.dtype))))
                if kind in "iIqQf" else x(m),
        }  # fmt: skip
        return calls[name]

    def cast(self):
        kind, to = self.pick(BOOLS + REALS + COMPLEX), self.pick(BOOLS + REALS + COMPLEX)
        host, device = self.array(kind, (0, 100))
        to = to if kind not in COMPLEX else self.pick(COMPLEX)
        order = self.pick("CFAK")
        self.said.append(f"to {to} order {order}")
        return lambda m: (host if m is np else device).astype(to, order=order)

    def out(self):
        name, kind = self.pick(["add", "multiply", "maximum"]), self.pick("bhilqBHILQefdFD")
        a = self.array(kind, (0, 9))
        b = self.array(kind, (0, 9), a[0].shape)
        self.said.append(name)

        def into(m):
            x, y = (a[0], b[0]) if m is np else (a[1], b[1])
            made = m.zeros((*x.shape, 2), kind)[..., 1]
            getattr(m, name)(x, y, out=made)
            made += x
            return made

        return into

    def kernel(self):
        """ElementwiseKernel, ReductionKernel and RawKernel of the same sum of squares."""
        kind, which = self.pick("hiqIQfd"), self.pick(["elementwise", "reduction", "raw"])
        host, device = self.array(kind, (0, 9))
        name = {
            "h": "short",
            "i": "int",
            "q": "long long",
            "I": "unsigned",
            "Q": "unsigned long long",
            "f": "float",
            "d": "double",
        }[kind]
        self.said.append(which)
        if which == "elementwise":
            made = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * x + y; if (z > 40) z -= (T)40;", "squares")
            sums = host * host + host
            return lambda m: np.where(sums > 40, sums - host.dtype.type(40), sums) if m is np else made(device, device)
        if which == "reduction":
            made = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "sum_of_squares")
            axis = self.axis(host.shape)
            return lambda m: (host * host).sum(axis=axis, dtype=kind) if m is np else made(device, axis=axis)
        source = f"""extern "C" __global__ void squares(const {name}* x, {name}* y, int n) {{
            __shared__ {name} kept[64];
            int at = blockIdx.x * 64 + threadIdx.x;
            kept[threadIdx.x] = at < n ? x[at] : ({name})0;
            __syncthreads();
            if (at < n) y[at] = kept[threadIdx.x] * kept[threadIdx.x] + kept[63 - threadIdx.x];
        }}"""

        def raw(m):
            if m is np:
                padded = np.zeros((host.size + 63) // 64 * 64, kind)
                padded[: host.size] = host.ravel()
                return (padded**2 + padded.reshape(-1, 64)[:, ::-1].ravel())[: host.size]
            flat, made = cupy.ascontiguousarray(device).ravel(), cupy.zeros(host.size, kind)
            if host.size:
                cupy.RawKernel(source, "squares")(((host.size + 63) // 64,), (64,), (flat, made, np.int32(host.size)))
            return made

        return raw

    def fuse(self):
        kind = self.pick("hiqfdFD")
        a = self.array(kind, (1, 9))
        b = self.array(kind, (1, 9), a[0].shape)

        def plain(x, y):
            return x * y + x - y * y

        fused = cupy.fuse(kernel_name="fused")(plain)
        return lambda m: plain(a[0], b[0]) if m is np else fused(a[1], b[1])


def difference(found, wanted):
    """What is wrong with what CuPy gave, in words, or nothing."""
    if isinstance(wanted, list | tuple):
        return next((said for f, w in zip(found, wanted, strict=True) if (said := difference(f, w))), "")
    found, wanted = cupy.asnumpy(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    if not wanted.size:
        return ""
    kinds = found.dtype.char + wanted.dtype.char
    relative = max(RELATIVE.get(k, 0) for k in kinds)
    scale = np.nanmax(np.abs(wanted[np.isfinite(wanted)].astype(complex)), initial=1.0)
    absolute = max(ABSOLUTE.get(k, 0) for k in kinds) * scale
    with np.errstate(all="ignore"):
        good = np.isclose(found, wanted, rtol=relative, atol=absolute, equal_nan=True) if relative else found == wanted
    bad = np.argwhere(~np.atleast_1d(good))
    if not len(bad):
        return ""
    at = tuple(bad[0])
    one, other = np.atleast_1d(found)[at], np.atleast_1d(wanted)[at]
    return f"{len(bad)} of {good.size} differ, at {at} {one} for {other} ({kinds})"


def run(seed):
    """Nothing if both gave the same, else what differs; and what NumPy refuses."""
    case = Case(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        call = case.call()
        try:
            wanted = call(np)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            return "", f"numpy refuses {case.said}: {error}"
        try:
            said = difference(call(cupy), wanted)
        except Exception as error:  # whatever it is, it is a difference
            said = f"{type(error).__name__}: {str(error)[-300:]}"
    return (f"seed {seed}: {case.said}: {said}" if said else ""), ""


class Sweep(unittest.TestCase):
    def test_calls(self):
        for seed in range(300):
            said, _ = run(seed)
            with self.subTest(seed=seed):
                self.assertEqual(said, "")


def main():
    first, number = (int(each) for each in (sys.argv[1:] + ["0", "1000"])[:2]) if len(sys.argv) > 2 else (0, 1000)
    wrong = refused = 0
    for seed in range(first, first + number):
        said, skipped = run(seed)
        wrong += bool(said)
        refused += bool(skipped)
        if said or skipped:
            print(said or skipped, flush=True)
    print(f"{number} calls from seed {first}: {wrong} differ, NumPy refuses {refused}")


if __name__ == "__main__":
    main()
