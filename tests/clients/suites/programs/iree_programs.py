"""IREE's CUDA target, compared with NumPy: its compiler makes PTX of linear algebra in MLIR by LLVM, and its runtime
gives it to the driver, which it opens as libcuda.so."""

import unittest

import iree.compiler
import iree.runtime
import numpy as np

rng = np.random.default_rng(3)


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def function(name, inputs, output, operation):
    """A function that begins with zeros of the output's type, as %zeros, and returns what the operation makes."""
    arguments = ", ".join(f"%{i}: {each}" for i, each in zip("abc", inputs, strict=False))
    kind = output[:-1].rpartition("x")[2]
    zero = "0" if kind.startswith("i") else "0.0"
    return f"""
        func.func @{name}({arguments}) -> {output} {{
          %zero = arith.constant {zero} : {kind}
          %empty = tensor.empty() : {output}
          %zeros = linalg.fill ins(%zero: {kind}) outs(%empty: {output}) -> {output}
          %result = {operation}
          return %result : {output}
        }}"""


def generic(inputs, output, maps, iterators, body):
    """linalg.generic over the inputs; the last of the maps is that of the output."""
    maps = ", ".join(f"affine_map<{each}>" for each in maps)
    iterators = ", ".join(f'"{each}"' for each in iterators)
    names = ", ".join(f"%{i}" for i, _ in zip("abc", inputs, strict=False))
    kinds = [each[:-1].rpartition("x")[2] for each in [*inputs, output]]
    values = ", ".join(f"%{i}: {kind}" for i, kind in zip([*"xyz"[: len(inputs)], "sum"], kinds, strict=True))
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
            ins({names}: {", ".join(inputs)}) outs(%zeros: {output}) {{
            ^bb0({values}):
              {body}
          }} -> {output}"""


class Programs(unittest.TestCase):
    def run_it(self, source, *arguments, architecture="sm_80"):
        """What the only function of a module gives."""
        code = iree.compiler.compile_str(
            f"module @m {{{source}}}",
            target_backends=["cuda"],
            extra_args=[f"--iree-cuda-target={architecture}", "--iree-input-demote-f64-to-f32=false"],
        )
        context = iree.runtime.SystemContext(config=iree.runtime.Config("cuda"))
        context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
        return np.asarray(context.modules.m.f(*arguments))

    def test_elementwise(self):
        shape = tensor([3, 1001], "f32")
        body = """%s = math.sin %x : f32
              %e = math.exp %y : f32
              %p = arith.mulf %s, %e : f32
              linalg.yield %p : f32"""
        maps = ["(i, j) -> (i, j)"] * 3
        operation = generic([shape, shape], shape, maps, ["parallel", "parallel"], body)
        a, b = rng.random((2, 3, 1001), np.float32)
        found = self.run_it(function("f", [shape, shape], shape, operation), a, b)
        np.testing.assert_allclose(found, np.sin(a) * np.exp(b), rtol=1e-5)

    def test_sums_of_rows_of_several_types(self):
        for kind, numpy, add in (("f32", np.float32, "addf"), ("f64", np.float64, "addf"), ("i32", np.int32, "addi")):
            operand, output = tensor([33, 1025], kind), tensor([33], kind)
            body = f"%s = arith.{add} %x, %sum : {kind}\n linalg.yield %s : {kind}"
            maps = ["(i, j) -> (i, j)", "(i, j) -> (i)"]
            operation = generic([operand], output, maps, ["parallel", "reduction"], body)
            a = (rng.random((33, 1025)) * 100).astype(numpy)
            found = self.run_it(function("f", [operand], output, operation), a)
            np.testing.assert_allclose(found, a.sum(1), rtol=1e-5)

    def test_products_of_matrices(self):
        for architecture in ("sm_80", "sm_89"):
            for kind, numpy in (("f32", np.float32), ("f16", np.float16)):
                left, right, output = tensor([128, 256], kind), tensor([256, 192], kind), tensor([128, 192], "f32")
                operation = f"linalg.matmul ins(%a, %b: {left}, {right}) outs(%zeros: {output}) -> {output}"
                a, b = rng.random((128, 256)).astype(numpy), rng.random((256, 192)).astype(numpy)
                source = function("f", [left, right], output, operation)
                with self.subTest(architecture=architecture, kind=kind):
                    found = self.run_it(source, a, b, architecture=architecture)
                    np.testing.assert_allclose(found, a.astype(float) @ b.astype(float), rtol=2e-3)

    def test_products_of_bytes(self):
        left, right, output = tensor([64, 96], "i8"), tensor([96, 128], "i8"), tensor([64, 128], "i32")
        operation = f"linalg.matmul ins(%a, %b: {left}, {right}) outs(%zeros: {output}) -> {output}"
        a, b = rng.integers(-128, 128, (64, 96), np.int8), rng.integers(-128, 128, (96, 128), np.int8)
        found = self.run_it(function("f", [left, right], output, operation), a, b)
        np.testing.assert_array_equal(found, a.astype(int) @ b.astype(int))

    def test_softmax(self):
        shape = tensor([17, 500], "f32")
        operation = f"linalg.softmax dimension(1) ins(%a: {shape}) outs(%zeros: {shape}) -> {shape}"
        a = rng.random((17, 500), np.float32)
        found = self.run_it(function("f", [shape], shape, operation), a)
        np.testing.assert_allclose(found, np.exp(a) / np.exp(a).sum(1, keepdims=True), rtol=1e-5)

    def test_convolution(self):
        picture, weights = tensor([1, 18, 18, 8], "f32"), tensor([3, 3, 8, 16], "f32")
        output = tensor([1, 16, 16, 16], "f32")
        ones = "dense<1> : tensor<2xi64>"
        operation = (
            f"linalg.conv_2d_nhwc_hwcf {{dilations = {ones}, strides = {ones}}} "
            f"ins(%a, %b: {picture}, {weights}) outs(%zeros: {output}) -> {output}"
        )
        a, b = rng.random((1, 18, 18, 8), np.float32), rng.random((3, 3, 8, 16), np.float32)
        found = self.run_it(function("f", [picture, weights], output, operation), a, b)
        wanted = sum(a[:, i : i + 16, j : j + 16] @ b[i, j] for i in range(3) for j in range(3))
        np.testing.assert_allclose(found, wanted, rtol=1e-4)

    def test_transposition(self):
        operand, output = tensor([70, 130], "f32"), tensor([130, 70], "f32")
        operation = f"linalg.transpose ins(%a: {operand}) outs(%zeros: {output}) permutation = [1, 0]"
        a = rng.random((70, 130), np.float32)
        np.testing.assert_array_equal(self.run_it(function("f", [operand], output, operation), a), a.T)


if __name__ == "__main__":
    unittest.main()
