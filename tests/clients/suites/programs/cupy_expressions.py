"""Expressions of CuPy and cupyx.scipy with drawn arguments, compared with NumPy's and SciPy's.

    python cupy_expressions.py [FIRST_SEED [NUMBER]]    # each seed draws the arguments of every expression once
    python cupy_expressions.py FIRST_SEED NUMBER GROUP  # one group of expressions

What is a name in an expression and not `xp` or `sp` is drawn by `Arguments`: arrays of drawn types, shapes and
strides, and numbers. What needs cuBLAS, cuFFT, cuSOLVER, cuSPARSE or cuRAND is not here; cupy_sweep.py draws the
functions that a program of CuPy meets first. As a unittest it runs the first seed of every group.
"""

import math
import resource
import sys
import unittest
import warnings

import cupy
import cupyx.scipy.interpolate
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import cupyx.scipy.spatial
import cupyx.scipy.special
import cupyx.scipy.stats
import numpy as np
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.spatial
import scipy.special
import scipy.stats
from cupy_sweep import difference

ALL, NUMBERS, REALS, INTEGERS, FLOATS = "?bhilqBHILQefdFD", "bhilqBHILQefdFD", "bhilqBHILQefd", "bhilqBHILQ", "fd"
SIGNED, EXACT = "bhilqefd", "?bhilqBHILQ"

# group: (types of its arrays, the range of their values, expressions)
EXPRESSIONS = {
    "ufuncs": ("efd", (-3, 3), """
        xp.sinh(x); xp.arccosh(xp.abs(x) + 1); xp.logaddexp2(x, y); xp.unwrap(x); xp.around(x, n)
        xp.isclose(x, y, atol=0.5); xp.fabs(x); xp.degrees(x); xp.radians(x); xp.nextafter(x, y); xp.copysign(x, y)
        xp.isneginf(x); xp.isposinf(x); xp.ldexp(x, n); list(xp.frexp(x)); list(xp.modf(x)); list(xp.divmod(x, y + 7))
        xp.sinc(x); xp.i0(x); xp.cbrt(x); xp.nan_to_num(xp.log(x)); xp.isnan(xp.sqrt(x)); xp.maximum(xp.sqrt(x), y)
        xp.fmax(xp.sqrt(x), y); xp.minimum(x, xp.log(y)); xp.fmin(x, xp.log(y)); xp.sign(xp.sqrt(x)); xp.signbit(x)
        xp.heaviside(x, 0.25); xp.angle(x + 1j * y); xp.angle(x, deg=True); xp.real_if_close(x); xp.hypot(x, y)
        xp.exp2(x); xp.expm1(x); xp.clip(x, -1, y); xp.fix(x); xp.float_power(xp.abs(x), 1.5); xp.remainder(x, 0.75)
        xp.fmod(x, 0.75); xp.where(x > y, x, y * 2); xp.nanargmax(x); xp.nanargmin(x); xp.allclose(x, y)
        xp.array_equal(x, x.copy()); xp.round(x); x // (y + 4); x % (y + 4); -x; +x; abs(x); x ** 2; x ** 3; x ** 0.5
        2 ** x; 1 / (x + 9)
        """),
    "complex": ("FD", (-2, 2), """
        xp.exp(x); xp.sin(x); xp.cos(x); xp.tan(x); xp.sinh(x); xp.cosh(x); xp.tanh(x); xp.log(x); xp.log2(x)
        xp.log10(x); xp.log1p(x); xp.expm1(x); xp.sqrt(x); xp.arcsin(x); xp.arccos(x); xp.arctan(x); xp.arcsinh(x)
        xp.arccosh(x); xp.arctanh(x); xp.power(x, y); x ** 2; x ** 3; x ** 1.5; x / y; x * y; 1 / x; xp.abs(x)
        xp.angle(x); xp.conj(x); xp.square(x); xp.reciprocal(x); xp.sum(x, axis=axis); xp.prod(x / 2, axis=axis)
        xp.mean(x, axis=axis); xp.cumsum(x, axis=axis); xp.cumprod(xp.exp(1j * x.real)); xp.isclose(x, y)
        xp.iscomplex(x); xp.isreal(x); xp.nansum(x, axis=axis); xp.var(x, axis=axis); xp.std(x, axis=axis)
        xp.sort(x, axis=-1); xp.unique(x); x == y; xp.max(x.real, axis=axis); xp.isinf(x / 0); xp.rint(x)
        xp.round(x, 1); xp.sinc(x); xp.diff(x); xp.trapezoid(x); xp.interp(xp.abs(v), xp.sort(xp.abs(w)), v)
        xp.nan_to_num(x / 0); xp.exp2(x); xp.sign(x); xp.negative(x)
        """),
    "integers": (INTEGERS, (1, 50), """
        xp.gcd(x, y); xp.lcm(x, y); xp.bitwise_count(x); x & y; x | y; x ^ y; ~x; x << 2; x >> 1; x // y; x % y
        x ** 2; xp.divmod(x, y)[0]; xp.fmod(x, y); xp.packbits(x > y); xp.isin(x, v); xp.union1d(v, w)
        xp.setdiff1d(v, w); xp.setxor1d(v, w); xp.intersect1d(v, w); xp.bincount(v.astype('i'))
        xp.unique(v, return_counts=True)[1]; xp.unique(v, return_index=True)[1]; xp.unique(v, return_inverse=True)[1]
        xp.unique(m, axis=0); xp.lexsort(m); xp.sort(x, axis=axis_); xp.median(x, axis=axis); xp.ptp(x, axis=axis)
        xp.sum(x, axis=axis); xp.prod(x); xp.cumsum(x, axis=axis); xp.cumprod(x, axis=axis); xp.mean(x, axis=axis)
        xp.invert(x); xp.left_shift(x, 1); xp.argmax(x, axis=axis); xp.argmin(x, axis=axis); xp.max(x, axis=axis)
        xp.min(x, axis=axis); xp.trim_zeros(v); xp.bincount(v.astype('i'), weights=w); xp.true_divide(x, y)
        xp.power(x, 3); xp.convolve(v, s); xp.diff(v, n=2); xp.correlate(v, s); xp.correlate(v, s, mode='full')
        xp.searchsorted(xp.sort(v), w); xp.digitize(v, xp.unique(w))
        xp.unravel_index(xp.flatnonzero(m > 20), m.shape)[0]
        xp.ravel_multi_index((v.astype('l'), w.astype('l')), (99, 99)); xp.outer(v, w); xp.kron(s, v)
        xp.cross(c3, d3); xp.inner(v, w); xp.dot(v, w); xp.vdot(v, w); m @ m.T; xp.tensordot(m, m, axes=((1,), (1,)))
        xp.einsum('ij,kj->ik', m, m); xp.einsum('ij->j', m); xp.matmul(m.T, m); xp.einsum('i,i', v, w)
        xp.einsum('ij,j->i', m, m[0]); xp.trace(m); xp.vander(s); xp.histogram(v, bins=7)[1]
        """),
    "reductions": (ALL, (0, 4), """
        xp.sum(x, axis=axis, keepdims=True); xp.any(x, axis=axis); xp.all(x, axis=axis)
        xp.count_nonzero(x, axis=axis); xp.max(x, axis=axis); xp.min(x, axis=axis); xp.mean(x, axis=axis)
        xp.argmax(x.ravel()); xp.argmin(x.ravel()); xp.sum(x, axis=axis, dtype='d'); xp.sum(t, axis=(0, 2))
        xp.sum(t, axis=(1, 2)); xp.sum(t, axis=(0, 1)); xp.max(t, axis=(0, 2)); xp.mean(t, axis=(0, 2), dtype='d')
        xp.any(t, axis=(0, 2)); xp.count_nonzero(t, axis=(0, 1)); x.sum(axis_); x.max(axis_); x.any(axis_)
        x.all(axis_); t[::2, :, ::-1].sum(1); t.T.sum(0); t[:, ::3].max(1); xp.nansum(t, axis=1)
        xp.sum(xp.broadcast_to(v, (3, *v.shape)), axis=0); xp.sum(x[x > 1]); xp.sum(x, where=mask)
        xp.max(x, initial=2, where=mask); xp.apply_along_axis(lambda r: r.max(), axis_, x)
        xp.apply_over_axes(xp.sum, t, [0, 2])
        """),
    "statistics": ("ilfd", (0, 20), """
        xp.average(x, axis=axis, weights=y + 1); xp.percentile(x, [3, 50, 99], axis=axis)
        xp.quantile(x, 0.3, axis=axis, method='lower'); xp.quantile(x, 0.3, axis=axis, method='nearest')
        xp.median(m, axis=1); xp.quantile(x, [0.2, 0.9], axis=axis, method='midpoint')
        xp.percentile(x, 77, method='higher'); xp.std(x, axis=axis); xp.var(x, axis=axis, ddof=1)
        xp.nanvar(x, axis=axis); xp.nanmedian(x, axis=axis); xp.histogramdd(m[:, :2], bins=3)[0]
        xp.histogram(v, bins=9, range=(0.5, 19.5))[0]; xp.histogram2d(v, w, bins=[3, 5])[0]
        xp.bincount(v.astype('i'), w); xp.ptp(x, axis=axis); xp.gradient(v); xp.gradient(m)[0]; xp.gradient(m, axis=1)
        xp.trapezoid(m, axis=axis2); xp.trapezoid(v, xp.cumsum(w)); xp.ediff1d(v); xp.diff(m, axis=axis2, n=2)
        xp.diff(v, prepend=0, append=[3, 4]); xp.cumulative_sum(v); xp.cumulative_prod(v / 20); xp.polyval(s, v)
        xp.interp(v, xp.unique(w), xp.unique(w) ** 2); xp.interp(v, xp.unique(w), xp.unique(w) * 3, left=-5, right=-7)
        xp.interp(v, xp.unique(w), xp.unique(w), period=7)
        xp.nanpercentile(x, 40) if hasattr(cupy, 'nanpercentile') else x; xp.piecewise(v, [v < 5, v > 9], [-1, 2])
        sp.stats.zscore(m, axis=axis2); sp.stats.zmap(v, w); sp.stats.entropy(m + 1, axis=axis2)
        sp.stats.trim_mean(v, 0.1); sp.stats.boxcox_llf(0.7, v + 1); sp.stats.entropy(v + 1, w + 1, base=2)
        """),
    "shapes": (ALL, (0, 9), """
        xp.pad(m, ((1, 2), (0, 3)), mode='constant', constant_values=1); xp.pad(m, 2, mode='reflect')
        xp.pad(m, 3, mode='wrap'); xp.pad(t, 1, mode='edge'); xp.pad(v, (4, 1), mode='symmetric')
        xp.pad(m, 1, mode='maximum'); xp.roll(m, (2, 3), (0, 1)); xp.pad(m, 2, mode='empty').shape; xp.roll(t, -5, 1)
        xp.roll(x, 7); xp.rot90(m, n); xp.rot90(t, n, (0, 2)); xp.flip(t, (0, 2)); xp.tile(m, (2, 1, 3))
        xp.repeat(m, 3, axis=axis2); xp.repeat(m, list(range(m.shape[0])), axis=0); xp.resize(m, (7, 5))
        xp.append(m, m, axis=0); xp.delete(v, [0, -1]); xp.insert(v, 1, 3) if hasattr(cupy, 'insert') else v
        xp.split(v, [1, 3]); xp.array_split(t, 3, axis=2); xp.meshgrid(v, s)[0]; xp.meshgrid(v, s, indexing='ij')[1]
        xp.broadcast_arrays(v, m[:, :1])[0]; xp.moveaxis(t, [0, 1], [-1, -2]); xp.rollaxis(t, 2); xp.tril(t, n - 2)
        xp.triu(m, 1 - n); xp.diag(m, 1); xp.diagflat(s, n); xp.diagonal(t, n - 1, 0, 2)
        xp.block_diag(m) if hasattr(cupy, 'block_diag') else m; xp.column_stack([v, v]); xp.vstack([v, v])
        xp.take(t, [[0, 1], [1, 0]], axis=1); xp.choose(v.astype('i') % 2, [v, v[::-1]])
        xp.select([m > 3, m > 1], [m, -1]) if m.dtype.char in 'ilqfd' else m; xp.tri(5, 7, n, dtype=x.dtype)
        xp.eye(5, 6, n - 2, dtype=x.dtype); xp.full_like(t, 3); xp.ones_like(t.T); xp.matrix_transpose(t)
        xp.nonzero(t)[1]; xp.argwhere(m); xp.flatnonzero(x); xp.indices((3, 4, 5)); xp.ix_(v > 3, s > 3)[0]
        t[xp.ix_([0, 1], [1, 0], [0, 1])]; x.astype('e'); x.astype('b'); x.astype('Q'); x.astype('?'); x.astype('F')
        x.astype('d'); x.view('u1') if x.flags.c_contiguous else 0; t.reshape(-1, t.shape[1])
        t.transpose(1, 2, 0).ravel(); t.swapaxes(0, 2).copy('F'); x.flatten('F'); xp.atleast_3d(v); t[..., None, 1:]
        t[::-1, ::2, -1]; t[:, [0, 1], :1]; t[[0, 1], :, [1, 0]]; m[m > 4]; m[:, v[:1].astype('i') * 0]
        t[0, ..., ::-2]; t[xp.asarray([[0], [1]]), xp.asarray([[0, 1, 1]])]; m[None, ::-1, ::-1].T
        xp.extract(mask, x); xp.compress(m[0] > 3, m, axis=1); xp.concatenate([m, m[:, ::-1]], 1)
        xp.stack([t, t], -1); xp.dstack([m, m]); xp.hsplit(m, [1]); xp.squeeze(x[None])
        """),
    "assignments": (ALL, (0, 9), """
        put(x, mask, 3); put(x, ..., 1); put(t, (slice(None), [0, 1]), 2); put(t, ([0, 1], slice(None), [1, 0]), 5)
        put(m, (slice(None, None, -2),), 4); put(m, (slice(None), slice(1, None, 3)), m[:, :1]); put(t, (0,), t[1])
        put(m, m > 4, m[m > 4][::-1]); put(t, (..., 0), 7)
        put(m, (xp.asarray([0, 1])[:, None], xp.asarray([0, 1])), 6); called(x, lambda a: xp.putmask(a, mask, v))
        called(x, lambda a: a.fill(2)); called(x, lambda a: xp.copyto(a, y, where=mask))
        called(m, lambda a: xp.fill_diagonal(a, 3)); called(x, lambda a: xp.place(a, mask, v))
        called(v, lambda a: a.sort()); called(m, lambda a: a.sort(axis=0))
        called(m, lambda a: xp.put_along_axis(a, xp.argsort(a, axis=0, kind='stable')[:1], 5, axis=0)); x.tolist()
        called(t, lambda a: a.__iadd__(a.dtype.type(1))); called(t, lambda a: a[:, ::-1].__imul__(a[:1]))
        """),
    "scatters": ("iIQfd", (0, 20), """
        called(v, lambda a: xp.add.at(a, picks, 2))
        called(v, lambda a: xp.subtract.at(a, picks, 1)) if v.dtype.char in 'ifd' else v
        called(m, lambda a: xp.add.at(a, (rows, columns), 3))
        called(v, lambda a: xp.minimum.at(a, picks, 4)) if v.dtype.char in 'iIQf' else v
        called(v, lambda a: xp.maximum.at(a, picks, 9)) if v.dtype.char in 'iIQf' else v
        called(m, lambda a: xp.add.at(a, (slice(None), columns), 1)); called(m, lambda a: xp.add.at(a, rows, m[rows]))
        called(v.astype('i'), lambda a: xp.bitwise_or.at(a, picks, 8))
        called(v.astype('i'), lambda a: xp.bitwise_and.at(a, picks, 7))
        called(v.astype('I'), lambda a: xp.bitwise_xor.at(a, picks, 5))
        """),
    "scans": ("bhilqBHILQfdFD", (0, 3), """
        xp.cumsum(v); xp.cumsum(m, axis=axis2); xp.cumsum(t, axis=1); xp.cumprod(v / 3); xp.nancumsum(t, axis=2)
        xp.nancumprod(v); xp.cumsum(long); xp.cumsum(long > 1); xp.cumsum(long[::2]); xp.cumsum(v, dtype='d')
        xp.sort(long.real); xp.cumsum(t[:, ::-1], axis=0); xp.argsort(long.real, kind='stable'); xp.unique(long.real)
        xp.lexsort(xp.stack([long.real, long.real[::-1]])); xp.partition(long.real, 5)[5]; xp.sort(m.real, axis=0)
        xp.sort(t.real, axis=1); xp.argsort(m.real, axis=axis2, kind='stable'); xp.sort(m.real[:, ::-1])
        xp.sort(t.real.T); xp.max(long.real); xp.argmax(long.real); xp.sum(long); xp.mean(long)
        xp.count_nonzero(long); xp.nonzero(long)[0]; long[long.real > 1]
        xp.histogram(long.real, bins=11, range=(0, 3))[1]; xp.flatnonzero(long[1:] != long[:-1])
        xp.repeat(long, 2)[::3]; xp.argpartition(v.real, 1)[1:2] * 0
        """),
    "ndimage": ("BhHifd", (0, 90), """
        nd.convolve(image, k2, mode=mode); nd.correlate(image, k2, mode=mode, origin=1)
        nd.convolve1d(image, s, axis=axis2, mode=mode); nd.gaussian_filter(image, sigma, mode=mode)
        nd.gaussian_filter(image, (sigma, 0.5), order=(1, 0)); nd.gaussian_laplace(image, sigma)
        nd.gaussian_gradient_magnitude(image, sigma); nd.laplace(image); nd.sobel(image, axis=axis2)
        nd.prewitt(image); nd.uniform_filter(image, size); nd.minimum_filter(image, size, mode=mode)
        nd.maximum_filter(image, footprint=foot, mode=mode); nd.median_filter(image, size, mode=mode)
        nd.rank_filter(image, 2, size=size); nd.percentile_filter(image, 30, size=size)
        nd.minimum_filter1d(image, size, axis=axis2); nd.maximum_filter1d(image, size, mode=mode)
        nd.grey_erosion(image, size); nd.grey_dilation(image, footprint=foot); nd.grey_opening(image, size)
        nd.grey_closing(image, size); nd.morphological_gradient(image, size); nd.morphological_laplace(image, size)
        nd.white_tophat(image, size); nd.black_tophat(image, size); nd.binary_erosion(image > 40, iterations=n)
        nd.binary_dilation(image > 60, iterations=n); nd.binary_opening(image > 30)
        nd.binary_closing(image > 50, foot); nd.binary_fill_holes(image > 40)
        nd.binary_propagation(image > 80, mask=image > 40); nd.binary_hit_or_miss(image > 30, foot)
        list(nd.label(image > 50)); list(nd.label(image > 30, structure=xp.ones((3, 3)))); list(nd.label(cube > 60))
        nd.shift(image, (1.25, -2.5), order=order, mode=mode, prefilter=False); nd.zoom(image, 1.7, order=1)
        nd.zoom(image, (0.6, 2), order=0); nd.rotate(image, 30, order=1, reshape=False)
        nd.affine_transform(image, matrix, offset=1.5, order=1); nd.map_coordinates(image, points, order=order2)
        nd.map_coordinates(image.astype('d'), points, order=3, mode='mirror')
        nd.spline_filter(image.astype('d'), order=3, mode='mirror')
        nd.zoom(image.astype('d'), 1.5, order=3, mode='mirror'); nd.sum(image, labels, indices)
        nd.mean(image, labels, indices); nd.variance(image, labels, indices)
        nd.standard_deviation(image, labels, indices); nd.maximum(image, labels, indices)
        nd.minimum(image, labels, indices); nd.median(image, labels, indices)
        nd.maximum_position(image, labels, indices); list(nd.extrema(image, labels, indices))
        nd.center_of_mass(image.astype('d') + 1, labels, indices); nd.histogram(image, 0, 90, 7)
        nd.distance_transform_edt(image > 20); nd.distance_transform_edt(cube > 20); nd.gaussian_filter(cube, 0.8)
        nd.median_filter(cube, 3); nd.uniform_filter1d(cube, 3, axis=1)
        nd.generic_gradient_magnitude(image.astype('d'), nd.sobel)
        nd.iterate_structure(nd.generate_binary_structure(2, 1), n); nd.binary_erosion(cube > 30)
        nd.convolve(cube, k3, mode=mode); nd.maximum_filter(cube, (2, 3, 1))
        """),
    "signal": ("fd", (-5, 5), """
        sg.convolve(v, s, method='direct'); sg.correlate(v, s, mode='same', method='direct')
        sg.convolve2d(m, k2, mode='same'); sg.correlate2d(m, k2, boundary='symm')
        sg.convolve2d(m, k2, boundary='wrap', mode='same'); sg.medfilt(v, 5); sg.medfilt2d(m, 3); sg.wiener(m, 3)
        sg.order_filter(m, foot, 2); sg.sepfir2d(m, s, s); sg.lfilter([0.2, 0.3], [1, -0.4, 0.1], v)
        sg.lfilter([0.2, 0.3, 0.1], [1.0], m, axis=axis2); sg.sosfilt(sos, v); sg.sosfilt(sos, m, axis=1)
        sg.upfirdn(s, v, 3, 2); sg.upfirdn(s, m, 2, 1, axis=axis2); sg.resample_poly(long, 3, 2)
        sg.detrend(long, type='constant'); sg.find_peaks(long)[0]; sg.find_peaks(long, height=1, distance=4)[0]
        sg.find_peaks(long, prominence=2)[0]; sg.peak_prominences(long, sg.find_peaks(long)[0])[0]
        sg.argrelmax(long)[0]; sg.peak_widths(long, sg.find_peaks(long)[0])[0]
        sg.argrelextrema(long, xp.less, order=2)[0]; sg.chirp(v, 1, 5, 9); sg.sawtooth(v, 0.3); sg.square(v, 0.4)
        sg.gausspulse(v, 3); sg.unit_impulse((5, 7), 2); sg.max_len_seq(5)[0]; sg.cspline1d(long, 0.0)
        sg.qspline1d(long, 0.0); sg.symiirorder1(long.astype('d'), 0.5, 0.3); sg.gauss_spline(v, 3)
        sg.lombscargle(xp.cumsum(xp.abs(v)) + 1, w, xp.abs(s) + 0.1); sg.get_window('hann', 9)
        sg.get_window(('kaiser', 4.0), 10); sg.get_window('blackmanharris', 12); sg.windows.gaussian(11, 2)
        sg.windows.tukey(13, 0.3); sg.windows.nuttall(8); sg.windows.cosine(9); sg.windows.parzen(10)
        sg.windows.bohman(9); sg.windows.flattop(9); sg.windows.exponential(9); sg.firwin(9, 0.3)
        sg.freqz([1, 2, 3.0], [1, 0.5], 16)[1]; sg.cspline1d_eval(sg.cspline1d(long, 0.0), xp.abs(v))
        """),
    "special": ("fd", (0.1, 6), """
        ss.gamma(x); ss.gammaln(x); ss.digamma(x); ss.polygamma(n, x); ss.beta(x, y); ss.betaln(x, y)
        ss.betainc(x, y, p); ss.betaincinv(x, y, p); ss.gammainc(x, y); ss.gammaincc(x, y); ss.gammaincinv(x, p)
        ss.gammainccinv(x, p); ss.erf(x - 3); ss.erfc(x - 3); ss.erfcx(x); ss.erfinv(p); ss.erfcinv(p); ss.ndtr(x - 3)
        ss.ndtri(p); ss.log_ndtr(x - 3); ss.logit(p); ss.expit(x - 3); ss.log_expit(x - 3); ss.j0(x); ss.j1(x)
        ss.y0(x); ss.y1(x); ss.yn(n, x); ss.i0(x); ss.i0e(x); ss.i1(x); ss.i1e(x); ss.k0(x); ss.k1(x); ss.k0e(x)
        ss.k1e(x); ss.zeta(x + 1.1, y); ss.zetac(x + 1.1); ss.exp1(x); ss.expi(x); ss.expn(n, x); ss.exp10(x)
        ss.exp2(x); ss.exprel(x); ss.xlogy(x, y); ss.xlog1py(x, y); ss.entr(x); ss.rel_entr(x, y); ss.kl_div(x, y)
        ss.huber(x, y); ss.pseudo_huber(x, y); ss.boxcox(x, y); ss.boxcox1p(x, y); ss.inv_boxcox(x / 6, y)
        ss.ellipk(p); ss.ellipkm1(p); ss.ellipkinc(x, p); ss.ellipeinc(x, p); list(ss.ellipj(x, p)); list(ss.sici(x))
        list(ss.shichi(x)); ss.sinc(x); ss.cosm1(x); ss.cbrt(x); ss.binom(x + 2, y); ss.poch(x, y); ss.rgamma(x)
        ss.loggamma(x); ss.lambertw(x); ss.bdtr(xp.floor(x), 9, p); ss.bdtrc(xp.floor(x), 9, p)
        ss.pdtr(xp.floor(x), y); ss.pdtrc(xp.floor(x), y); ss.nbdtr(xp.floor(x), 3, p); ss.chdtr(x, y)
        ss.chdtrc(x, y); ss.chdtri(x, p); ss.fdtr(x, y, x + y); ss.fdtrc(x, y, x + y); ss.gdtr(x, y, x)
        ss.gdtrc(x, y, x); ss.sindg(x); ss.cosdg(x); ss.tandg(x); ss.cotdg(x); ss.radian(x, y, 3); ss.round(x)
        ss.logsumexp(x, axis=axis); ss.softmax(x, axis=axis); ss.log_softmax(x, axis=axis); ss.spherical_yn(n, x)
        ss.lpmv(1, n, p); ss.wright_bessel(p, y, x); ss.multigammaln(x.astype('d') + 2, 2); ss.log1p(x); ss.expm1(x)
        ss.i0(long); ss.gammaln(long); ss.ndtri(long / 7)
        """),
    "interpolate": ("d", (0, 9), """
        si.BSpline(knots, coefficients, 3)(v); si.BSpline(knots, coefficients, 3).derivative()(v)
        si.BSpline(knots, coefficients, 3, extrapolate=False)(v); si.PPoly(pieces, breaks)(v)
        si.PPoly(pieces, breaks).derivative()(v); si.PPoly(pieces, breaks).antiderivative()(v)
        si.PPoly(pieces, breaks).integrate(1.5, 7); si.BPoly(pieces, breaks)(v)
        si.Akima1DInterpolator(breaks, breaks ** 2)(v); si.PchipInterpolator(breaks, xp.sin(breaks))(v)
        si.CubicHermiteSpline(breaks, xp.sin(breaks), xp.cos(breaks))(v)
        si.KroghInterpolator(breaks[:5], xp.sin(breaks[:5]))(v / 3)
        si.interp1d(breaks, xp.sin(breaks))(v.clip(0, 8.9)); si.RegularGridInterpolator((breaks, breaks), grid)(pairs)
        si.RegularGridInterpolator((breaks, breaks), grid, method='nearest')(pairs)
        si.interpn((breaks, breaks), grid, pairs); si.pchip_interpolate(breaks, xp.cos(breaks), v)
        si.NdPPoly(pieces[:, None, :, None] * xp.ones((1, 2, 1, 1)), (breaks, breaks[:2]))(pairs)
        si.krogh_interpolate(breaks[:4], breaks[:4] ** 3, v)
        """),
    "matrices": ("ld", (1, 9), """
        sl.toeplitz(s); sl.toeplitz(s, v); sl.circulant(v); sl.hankel(s); sl.companion(s); sl.block_diag(m, k2)
        sl.tri(5, 4, 1) if hasattr(sl, 'tri') else s; sl.khatri_rao(m, m); sl.hilbert(4); sl.hadamard(8)
        sl.leslie(s, s[1:]); sl.fiedler(s); sl.helmert(5); sl.dft(5); sl.convolution_matrix(s, 4); sl.bandwidth(m)
        sp.spatial.distance_matrix(m.astype('d'), m.astype('d')[::-1])
        sl.kron(m, k2) if hasattr(sl, 'kron') else xp.kron(m, k2); xp.einsum('ijk->kij', t)
        xp.einsum('ijk,ij->k', t.astype('l'), t[:, :, 0].astype('l')); xp.poly1d(s)(v); xp.polyadd(s, v)
        xp.polymul(s.astype('l'), s.astype('l')); xp.polysub(s, v)
        """),
}  # fmt: skip


def expressions(group):
    kinds, between, text = EXPRESSIONS[group]
    depth, made, out = 0, "", []
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c in ";\n" and not depth:
            out.append(made.strip())
            made = ""
        else:
            made += c
    return kinds, between, [each for each in [*out, made.strip()] if each]


class Arguments(dict):
    """The names of an expression, drawn when they are first met and the same for both libraries."""

    def __init__(self, rng, kinds, between):
        super().__init__()
        self.rng, self.kinds, self.between = rng, kinds, between
        self.kind = self.one_of(kinds)
        self.made = {}

    def one_of(self, options):
        return options[self.rng.integers(len(options))]

    def numbers(self, shape, kind=None):
        kind = kind or self.kind
        low, high = self.between
        low = max(low, 0) if kind in "BHILQ?" else low
        made = self.rng.random(shape) * (high - low) + low
        made = np.rint(made) if kind in EXACT else made
        if kind in "FD":
            made = made + 1j * (self.rng.random(shape) * (high - low) + low)
        return (made > (low + high) / 2) if kind == "?" else made.astype(kind)

    def strided(self, shape):
        """An array of that shape, half of the time a view with steps of another."""
        how = self.rng.integers(6)
        if how == 0:
            return self.numbers(shape[::-1]).T
        if how == 1:
            return self.numbers((*shape[:-1], shape[-1] * 2))[..., ::-2]
        if how == 2:
            return self.numbers(tuple(n + 2 for n in shape))[tuple(slice(1, n + 1) for n in shape)]
        return self.numbers(shape)

    def draw(self, name):
        rng, one_of = self.rng, self.one_of
        shape_of = lambda other: self.value(other).shape  # noqa: E731
        makers = {
            "x": lambda: self.strided(tuple(rng.integers(1, one_of([3, 9, 40]), rng.integers(1, 4)))),
            "y": lambda: self.strided(shape_of("x")),
            "v": lambda: self.strided((int(one_of([2, 7, 33, 64, 257, 1000])),)),
            "w": lambda: self.strided(shape_of("v")),
            "m": lambda: self.strided(
                (int(rng.integers(2, one_of([4, 20, 70]))), int(rng.integers(3, one_of([5, 40]))))
            ),
            "t": lambda: self.strided(tuple(int(n) for n in rng.integers(2, one_of([4, 9, 20]), 3))),
            "long": lambda: self.strided((int(one_of([2049, 4096, 10001])),)),
            "s": lambda: self.numbers((int(one_of([3, 5, 7])),)),
            "p": lambda: (rng.random(shape_of("x")) * 0.9 + 0.05).astype(self.kind),
            "c3": lambda: self.numbers((9, 3)),
            "d3": lambda: self.numbers((9, 3)),
            "k2": lambda: self.numbers((3, int(one_of([3, 5])))),
            "k3": lambda: self.numbers((3, 3, 3)),
            "image": lambda: self.strided((int(rng.integers(5, 40)), int(rng.integers(5, 40)))),
            "cube": lambda: self.strided(tuple(int(n) for n in rng.integers(4, 12, 3))),
            "mask": lambda: rng.random(shape_of("x")) < 0.4,
            "foot": lambda: np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool),
            "labels": lambda: rng.integers(0, 5, shape_of("image")).astype("i"),
            "indices": lambda: np.arange(1, 5),
            "matrix": lambda: np.eye(2) + rng.random((2, 2)) * 0.3,
            "points": lambda: rng.random((2, 50)) * 12 - 3,
            "picks": lambda: rng.integers(0, shape_of("v")[0], int(rng.integers(1, 500))),
            "rows": lambda: rng.integers(0, shape_of("m")[0], 77),
            "columns": lambda: rng.integers(0, shape_of("m")[1], 77),
            "sos": lambda: scipy.signal.butter(4, 0.3, output="sos").astype(self.kind),
            "knots": lambda: np.concatenate([[0.0] * 3, np.linspace(0, 9, 8), [9.0] * 3]),
            "coefficients": lambda: rng.random(10),
            "breaks": lambda: np.linspace(0, 9, 7),
            "pieces": lambda: rng.random((4, 6)),
            "grid": lambda: rng.random((7, 7)),
            "pairs": lambda: rng.random((30, 2)) * 9,
            "n": lambda: int(rng.integers(1, 4)),
            "size": lambda: int(one_of([2, 3, 5])),
            "sigma": lambda: float(one_of([0.5, 1, 2.3])),
            "mode": lambda: one_of(["reflect", "constant", "nearest", "mirror", "wrap"]),
            "order": lambda: int(rng.integers(0, 6)),
            "order2": lambda: int(rng.integers(0, 2)),
            "axis2": lambda: int(rng.integers(-2, 2)),
            "axis": lambda: one_of([None, *range(len(shape_of("x")))]),
            "axis_": lambda: int(rng.integers(len(shape_of("x")))),
        }
        return makers[name]()

    def value(self, name):
        if name not in self.made:
            self.made[name] = self.draw(name)
        return self.made[name]

    def __str__(self):
        arrays = (f"{n}: {v.dtype.char}{v.shape} {v.strides}" if isinstance(v, np.ndarray) else f"{n}={v}"
                  for n, v in self.made.items())  # fmt: skip
        return ", ".join(arrays)


def put(array, where, what):
    array = array.copy()
    array[where] = what
    return array


def called(array, change):
    array = array.copy()
    change(array)
    return array


def on_the_device(array):
    """A copy with the same strides: a view of the same base."""
    base = array.base if isinstance(array.base, np.ndarray) else array
    if base is array:
        return cupy.asarray(array)
    made = cupy.asarray(base)
    offset = array.ctypes.data - base.ctypes.data
    return cupy.ndarray(array.shape, array.dtype, made.data + offset, strides=array.strides)


class Names(dict):
    """What an expression's names mean to one of the two libraries."""

    def __init__(self, arguments, xp, sp):
        super().__init__(xp=xp, sp=sp, put=put, called=called, cupy=cupy)
        self.arguments = arguments
        for short, module in [
            ("nd", "ndimage"),
            ("sg", "signal"),
            ("ss", "special"),
            ("si", "interpolate"),
            ("sl", "linalg"),
        ]:
            self[short] = getattr(sp, module)

    def __missing__(self, name):
        if hasattr(__builtins__, name) or name in vars(sys.modules["builtins"]):
            return vars(sys.modules["builtins"])[name]
        value = self.arguments.value(name)
        self[name] = on_the_device(value) if self["xp"] is cupy and isinstance(value, np.ndarray) else value
        return self[name]


def evaluate(expression, arguments, xp, sp):
    return eval(expression, Names(arguments, xp, sp))


def flat(value):
    """Numbers, lists of them and what else functions return, as lists of arrays."""
    if isinstance(value, list | tuple):
        return [each for part in value for each in flat(part)]
    return [value]


def run(group, which, seed, seconds):
    """Of an expression: nothing if both gave the same in so much processor time, else what differs; and whether NumPy
    refuses it."""
    kinds, between, every = expressions(group)
    expression = every[which]
    arguments = Arguments(np.random.default_rng([seed, which]), kinds, between)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = flat(evaluate(expression, arguments, np, scipy))
        except Exception as error:  # NumPy and SciPy refuse in many ways
            return "", f"{group} {which} seed {seed}: {expression}: NumPy refuses ({arguments}): {error}"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        try:
            found = flat(evaluate(expression, arguments, cupy, cupyx.scipy))
            found = [cupy.asnumpy(each) for each in found]
            said = difference(found, wanted) if len(found) == len(wanted) else f"{len(found)} values, not {len(wanted)}"
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[-300:]}"
        took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    said = said or (f"took {took:.1f} s of processor time" if took > seconds else "")
    return (f"{group} {which} seed {seed}: {expression}: {said} ({arguments})" if said else ""), ""


class Expressions(unittest.TestCase):
    def test_calls(self):
        for group in EXPRESSIONS:
            for which in range(len(expressions(group)[2])):
                said, _ = run(group, which, 0, seconds=math.inf)
                with self.subTest(group=group, which=which):
                    self.assertEqual(said, "")


def main():
    first, number = (int(each) for each in (sys.argv[1:] + ["0", "1"])[:2]) if len(sys.argv) > 2 else (0, 1)
    wrong = refused = done = 0
    for seed in range(first, first + number):
        for group in sys.argv[3:] or EXPRESSIONS:
            for which in range(len(expressions(group)[2])):
                said, skipped = run(group, which, seed, seconds=5)
                done, wrong, refused = done + 1, wrong + bool(said), refused + bool(skipped)
                if said or skipped:
                    print(said or skipped, flush=True)
    print(f"{done} calls from seed {first}: {wrong} differ, NumPy refuses {refused}")


if __name__ == "__main__":
    main()
