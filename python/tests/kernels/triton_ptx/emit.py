"""Writes the PTX of this folder: kernels in Triton (3.6.0 made what is here), compiled for sm_80, or for sm_90a where a
file is named so. Needs no GPU.

python emit.py
"""

import os
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # no paths in what is committed

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + i, powers / tl.sum(powers, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        of_a = tl.load(a + rows[:, None] * k + at + inner[None, :])
        of_b = tl.load(b + (at + inner)[:, None] * n + columns[None, :])
        total = tl.dot(of_a, of_b, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def layer_norm(x, weight, bias, out, n, epsilon, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < n
    values = tl.load(x + row * n + i, mask=inside, other=0.0)
    centred = tl.where(inside, values - tl.sum(values, 0) / n, 0.0)
    scaled = centred / tl.sqrt(tl.sum(centred * centred, 0) / n + epsilon)
    tl.store(out + row * n + i, scaled * tl.load(weight + i, mask=inside) + tl.load(bias + i, mask=inside), mask=inside)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def cumulative_sum(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def philox(out, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.randint(seed, i))


@triton.jit
def swish(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, (values * tl.sigmoid(values)).to(tl.bfloat16), mask=i < n)


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def dot(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), c.dtype.element_ty)
    for at in range(0, k, BK):
        of_a = tl.load(a + rows[:, None] * k + at + inner[None, :])
        of_b = tl.load(b + (at + inner)[:, None] * n + columns[None, :])
        total = tl.dot(of_a, of_b, total, out_dtype=c.dtype.element_ty)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, WIDTH: tl.constexpr):
    rows, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, WIDTH)
    of_q = tl.load(q + rows[:, None] * WIDTH + inner[None, :])
    most, sums = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, WIDTH), tl.float32)
    for at in range(0, length, BN):
        columns = at + tl.arange(0, BN)
        of_k = tl.load(k + columns[None, :] * WIDTH + inner[:, None])
        of_v = tl.load(v + columns[:, None] * WIDTH + inner[None, :])
        scores = tl.dot(of_q, of_k) * scale
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(most - higher)
        sums, most = sums * shrink + tl.sum(weights, 1), higher
        total = tl.dot(weights.to(tl.float16), of_v, total * shrink[:, None])
    tl.store(out + rows[:, None] * WIDTH + inner[None, :], total / sums[:, None])


def types(text):
    return dict(word.split(":") for word in text.split())


TILES = {"BM": 32, "BN": 64, "BK": 32}
KERNELS = [
    (add, types("x:*fp32 y:*fp32 out:*fp32 n:i32"), {"BLOCK": 1024}),
    (softmax, types("x:*fp32 out:*fp32 stride:i32 n:i32"), {"BLOCK": 1024}),
    (matmul, types("a:*fp32 b:*fp32 c:*fp32 m:i32 n:i32 k:i32"), {"BM": 32, "BN": 32, "BK": 16}),
    (layer_norm, types("x:*fp32 weight:*fp32 bias:*fp32 out:*fp32 n:i32 epsilon:fp32"), {"BLOCK": 512}),
    (histogram, types("x:*i32 out:*i32 n:i32"), {"BLOCK": 512}),
    (cumulative_sum, types("x:*fp32 out:*fp32"), {"BLOCK": 512}),
    (philox, types("out:*i32 seed:i32"), {"BLOCK": 512}),
    (swish, types("x:*fp16 out:*bf16 n:i32"), {"BLOCK": 512}),
    (sort, types("x:*i32 out:*i32"), {"BLOCK": 256}),
    (dot, types("a:*fp16 b:*fp16 c:*fp32 m:i32 n:i32 k:i32"), TILES, "dot_f16"),
    (dot, types("a:*bf16 b:*bf16 c:*fp32 m:i32 n:i32 k:i32"), TILES, "dot_bf16"),
    (dot, types("a:*fp32 b:*fp32 c:*fp32 m:i32 n:i32 k:i32"), TILES, "dot_tf32"),
    (dot, types("a:*i8 b:*i8 c:*i32 m:i32 n:i32 k:i32"), TILES, "dot_s8"),
    (attention, types("q:*fp16 k:*fp16 v:*fp16 out:*fp32 length:i32 scale:fp32"), {"BM": 64, "BN": 32, "WIDTH": 64}),
]
# With wgmma: a warpgroup takes 64 rows.
GROUP_TILES = {"BM": 64, "BN": 64, "BK": 64}
KERNELS += [
    (dot, types("a:*fp16 b:*fp16 c:*fp32 m:i32 n:i32 k:i32"), GROUP_TILES, "dot_f16_sm_90a"),
    (dot, types("a:*bf16 b:*bf16 c:*fp32 m:i32 n:i32 k:i32"), GROUP_TILES, "dot_bf16_sm_90a"),
    (dot, types("a:*fp8e4nv b:*fp8e4nv c:*fp32 m:i32 n:i32 k:i32"), GROUP_TILES, "dot_e4m3_sm_90a"),
    (dot, types("a:*i8 b:*i8 c:*i32 m:i32 n:i32 k:i32"), GROUP_TILES, "dot_s8_sm_90a"),
    (attention, types("q:*fp16 k:*fp16 v:*fp16 out:*fp32 length:i32 scale:fp32"), {"BM": 64, "BN": 64, "WIDTH": 64},
     "attention_sm_90a"),
]  # fmt: skip

if __name__ == "__main__":
    for kernel, signature, constants, *file in KERNELS:
        signature |= dict.fromkeys(constants, "constexpr")
        # As Triton itself says of tensors and sizes when it launches: multiples of 16, which lets it use cp.async.
        aligned = {(n,): [["tt.divisibility", 16]] for n, kind in enumerate(signature.values()) if kind != "constexpr"}
        attributes = aligned if file or kernel is attention else {}
        places = {(list(signature).index(name),): constants[name] for name in constants}
        source = ASTSource(kernel, signature, places, attributes)
        name = file[0] if file else kernel.__name__
        target = GPUTarget("cuda", 90 if name.endswith("sm_90a") else 80, 32)
        compiled = triton.compile(source, target=target, options={"num_warps": 4})
        Path(__file__).with_name(f"{name}.ptx").write_text(compiled.asm["ptx"])
        print(f"{name}: {compiled.metadata.shared} bytes of shared memory, {compiled.metadata.num_warps} warps")
