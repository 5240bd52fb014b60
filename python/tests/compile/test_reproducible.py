"""The same source, options and toolkit give the same bytes: in two processes, and but for LTO-IR in any folder."""

from conftest import run_python

PROGRAM = """
    import hashlib, os, sys
    import cucore as core
    os.chdir(sys.argv[1])
    TEMPLATE = "template <class T> __global__ void scale(T* x, T a) { x[threadIdx.x] *= a; } __device__ int counter;"
    CALLER = 'extern "C" __device__ int twice(int); extern "C" __global__ void k(int* p) { *p = twice(*p); }'
    CALLEE = 'extern "C" __device__ int twice(int a) { return 2 * a; }'

    def made(source, target, names=(), **options):
        return core.Program(source, "c++", {"arch": "sm_80", **options}).compile(target, names)

    def show(label, code):
        print(label, hashlib.sha256(code.serialize()).hexdigest())

    names = ["scale<int>", "&counter", "scale<double>"]
    for target in ("ptx", "cubin", "ltoir"):
        show(target, made(TEMPLATE, target, names, name="scale.cu"))
    show("fatbin", made(TEMPLATE, "fatbin", names, arch=["sm_80", "sm_90"], headers={"b.h": "", "a.h": ""}))
    ptx = made(CALLEE, "ptx").code.decode()
    show("PTX source", core.Program(ptx, "ptx", {"arch": "sm_80"}).compile("cubin"))
    for target in ("ptx", "ltoir"):
        options = {"relocatable_device_code": True} if target == "ptx" else {}
        inputs = made(CALLER, target, name="caller", **options), made(CALLEE, target, name="callee", **options)
        show("linked " + target, core.Linker(*inputs, options={"arch": "sm_80"}).link("cubin"))
"""


# LTO-IR has the folder in it where it was compiled.
ANYWHERE = ("ptx", "cubin", "fatbin", "PTX source", "linked ptx")


def test_two_processes_compile_and_link_to_the_same_bytes(tmp_path):
    told = []
    for seed, folder in (("1", tmp_path / "a"), ("2", tmp_path / "a"), ("3", tmp_path / "b")):
        folder.mkdir(exist_ok=True)
        result = run_python(PROGRAM, folder, env={"PYTHONHASHSEED": seed})
        assert result.returncode == 0, result.stderr
        told.append(dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines()))
    assert told[0] == told[1] and len(told[0]) == 7
    assert {label: told[2][label] for label in ANYWHERE} == {label: told[0][label] for label in ANYWHERE}
