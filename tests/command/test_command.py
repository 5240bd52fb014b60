"""The command-line tool: the whole table of commands, what it says to those who misspell, and what `run` runs."""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["command_line_tool"]

COMMANDS = ["run", "devices", "doctor", "compile", "inspect", "dump", "driver-path", "driver-status", "completion"]
COMMANDS += ["trace", "version", "cache", "cache ls", "cache stats", "cache verify", "cache prune", "cache clear"]
COMMANDS += ["trace view", "trace summary"]
COMMANDS += ["cache export", "cache import", "cache push-kernels", "cache pull-kernels"]

FAULTY = """
#include <cstdio>
__global__ void fill(int* out, int n) {
  out[threadIdx.x] = n;
}
int main(int count, char** words) {
  int* out;
  cudaMalloc(&out, 40);
  fill<<<1, count == 2 ? 10 : 32>>>(out, 5);
  std::printf("%s, %d\\n", cudaGetErrorString(cudaDeviceSynchronize()), count);
  return 7;
}
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does(run, command):
    done = run(*command.split(), "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert f"Usage: cucore {command}" in done.stdout and "--help" in done.stdout


def test_the_table_of_commands_is_complete(run):
    listed = run("--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
    assert sorted(line.split()[0] for line in listed.splitlines()) == sorted(c for c in COMMANDS if " " not in c)
    assert run("help").stdout == run("--help").stdout
    assert run("help", "run").stdout == run("run", "--help").stdout


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["docter"], "doctor"),
        (["doctor", "--jsn"], "--json"),
        (["cache", "stat"], "stats"),
        (["cache", "stats", "--jso"], "--json"),
        (["run", "--capabilty", "9.0", "program"], "--capability"),
        (["driver-status", "--lst"], "--list"),
    ],
)
def test_what_it_does_not_know_is_refused_with_a_suggestion(run, words, meant):
    done = run(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert f"did you mean '{meant}'?" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["cache"],
        ["inspect"],
        ["version", "extra"],
        ["inspect", "--block", "0", "file"],
        ["run", "--check", "memory,rac", "program"],
        ["run", "--devices", "many", "program"],
        ["run", "--capability", "new", "program"],
        ["run", "--gpu", "--cpu", "program"],
        ["completion", "csh"],
    ],
)
def test_wrong_calls_have_a_status_of_their_own(run, words):
    done = run(*words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr


@pytest.mark.parametrize(
    "command", ["devices", "doctor", "driver-path", "driver-status", "version", "cache ls", "cache stats"]
)
def test_facts_can_be_had_as_json(run, command):
    done = run(*command.split(), "--json")
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), list if command == "cache ls" else dict)


def test_nobody_but_a_terminal_gets_colours(run):
    assert "\033" not in run("doctor").stdout + run("docter").stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_learn_all_commands_and_options(run, shell):
    script = run("completion", shell).stdout
    for word in ("driver-status", "prune", "capability", "max-bytes"):
        assert word in script
    checker = shutil.which(shell)
    if checker:
        assert subprocess.run([checker, "-n"], input=script, text=True).returncode == 0


def test_bash_completes(run, tool):
    script = run("completion", "bash").stdout
    ask = 'COMP_WORDS=(cucore cache ver); COMP_CWORD=2; _cucore; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["verify"]


def test_code_is_compiled_inspected_and_kept(run, tmp_path):
    source = tmp_path / "axpy.cu"
    source.write_text("template <class T> __global__ void axpy(T a, T* x) { x[threadIdx.x] *= a; }")
    words = ["compile", source, "-o", tmp_path / "axpy.ptx", "--to", "ptx", "--arch", "sm_80", "--json"]
    first = run(*words, "--name-expression", "axpy<float>")
    if "NVRTC" in first.stderr and first.returncode == 1:
        pytest.skip("no NVRTC")
    again = run(*words, "--name-expression", "axpy<float>")
    assert [json.loads(done.stdout)["from_cache"] for done in (first, again)] == [False, True]
    assert "0 unsupported" in run("inspect", tmp_path / "axpy.ptx").stdout
    assert f"'cucore compile {source}' makes an image" in run("inspect", source).stderr
    assert json.loads(run("cache", "stats", "--json").stdout)["entries"] == 1
    (entry,) = json.loads(run("cache", "ls", "--json").stdout)
    assert run("cache", "verify").returncode == 0
    file = tmp_path / "cache/entries" / entry["key"][:2] / entry["key"][2:]
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    damaged = run("cache", "verify", "--json")
    assert damaged.returncode == 1 and json.loads(damaged.stdout)["damaged"] == [entry["key"]]
    run(*words)
    assert "removed 1 entries" in run("cache", "prune", "--max-bytes", "10").stdout
    run(*words)
    assert run("cache", "clear").returncode == 0
    assert json.loads(run("cache", "stats", "--json").stdout)["entries"] == 0


def test_a_cache_is_pruned_counted_and_carried(run, tmp_path):
    source = tmp_path / "k.cu"
    source.write_text('extern "C" __global__ void k() {}')
    if "NVRTC" in run("compile", source, "-o", tmp_path / "k.ptx", "--to", "ptx", "--arch", "sm_80").stderr:
        pytest.skip("no NVRTC")
    assert "cucore_cache_entries 1\n" in run("cache", "stats", "--prometheus").stdout
    assert run("cache", "prune").returncode == 2 and run("cache", "prune", "--unused-for", "3").returncode == 2
    assert "removed 0 entries" in run("cache", "prune", "--unused-for", "1h", "--older-than", "2d").stdout
    assert "1 entries" in run("cache", "prune", "--max-bytes", "0", "--dry-run").stdout

    archive, keys = tmp_path / "kernels.tar", tmp_path / "keys"
    keys.write_text("ours " + "5e" * 32)
    refused = run("cache", "export", archive)
    assert refused.returncode == 1 and "CUCORE_CACHE_KEYS" in refused.stderr and not archive.exists()
    assert "1 entries" in run("cache", "export", archive, "--keys", keys).stdout
    assert json.loads(run("cache", "import", archive, "--keys", keys, "--json").stdout)["already_there"] == 1
    assert run("cache", "clear").returncode == 0
    assert "1 entries taken" in run("cache", "import", archive, "--keys", keys).stdout
    other = run("cache", "import", archive, "--unsigned")
    assert other.returncode == 1 and "not known here" in other.stdout


def test_kernels_of_the_cpu_device_go_to_a_folder_of_all_and_come_from_it(run, tmp_path):
    one, two, store, keys = (tmp_path / name for name in ("one", "two", "store", "keys"))
    one.mkdir(mode=0o700)
    keys.write_text("ours " + "5e" * 32)
    body = b"cucpu001" + bytes(range(32)) + b"code"
    file = one / f"{bytes(range(32)).hex()}.kernel"
    file.write_bytes(body + hashlib.blake2b(body, digest_size=32).digest())
    assert "no key" in run("cache", "push-kernels", store, "--kernels", one).stderr
    pushed = run("cache", "push-kernels", store, "--kernels", one, "--keys", keys)
    assert pushed.returncode == 0 and pushed.stdout == "1 kernels stored, 0 there already, 0 rejected\n"
    pulled = run("cache", "pull-kernels", f"file://{store}", "--keys", keys, "--json", CUCORE_CPU_CACHE=str(two))
    assert json.loads(pulled.stdout) == {"copied": 1, "already_there": 0, "rejected": [], "left": 0, "stopped": ""}
    assert (two / file.name).read_bytes() == file.read_bytes()
    keys.write_text("theirs " + "6f" * 32)
    refused = run("cache", "pull-kernels", store, "--keys", keys, "--kernels", tmp_path / "three")
    assert refused.returncode == 1 and "0 kernels taken, 0 there already, 1 rejected" in refused.stdout
    elsewhere = run("cache", "pull-kernels", "redis://host", "--keys", keys)
    assert elsewhere.returncode == 2 and "cucore.stores" in elsewhere.stderr


FORMS = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry _Z4waitv() { bar.arrive 1, 64; ret; }
.visible .entry fast() { ret; }
"""


def test_forms_are_told_without_running(run, tmp_path):
    (tmp_path / "forms.ptx").write_text(FORMS)
    done = run("inspect", "--forms", tmp_path / "forms.ptx")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "wait(): scalar form, because of a barrier of part of a block at PTX line 5: bar.arrive",
        "fast: vector form, for blocks of 256x1x1 threads",
    ]
    done = run("inspect", "--forms", "--json", "--block", "4,4,2", tmp_path / "forms.ptx")
    wait, fast = json.loads(done.stdout)["kernels"]
    assert wait == {
        "kernel": "wait()",
        "symbol": "_Z4waitv",
        "form": "scalar",
        "block": "4x4x2",
        "reason": "a barrier of part of a block",
        "ptx_line": 5,
        "place": "PTX line 5: bar.arrive",
    }
    assert fast == {"kernel": "fast", "symbol": "fast", "form": "vector", "block": "4x4x2"}
    assert "because of small blocks" in run("inspect", "--forms", "--block", "4", tmp_path / "forms.ptx").stdout
    (one,) = run("inspect", "--forms", "--kernel", "fast", tmp_path / "forms.ptx").stdout.splitlines()
    assert one.startswith("fast: vector form")
    asked = run("inspect", "--forms", tmp_path / "forms.ptx", CUCORE_CPU_FORM="scalar").stdout
    assert "fast: scalar form, because of what the environment asks" in asked


def nvcc_of(run):
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    found = next((each["text"] for each in findings if each["name"] == "nvcc" and each["ok"]), None)
    if found is None or shutil.which("c++") is None:
        pytest.skip("no nvcc, or no C++ compiler")
    return found


@pytest.mark.parametrize("made", ["program", "library", "fatbin", "ptx", "cubin"])
def test_forms_are_told_of_what_compilers_make(run, tmp_path, made):
    source, file = tmp_path / "two.cu", tmp_path / f"two.{made}"
    source.write_text(
        "__global__ void wait(volatile int* flag) {\n  while (flag[threadIdx.x] == 0) __nanosleep(100);\n"
        "  flag[1] = 1;\n  __syncthreads();\n}\n"
        "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n"
        "#ifndef __CUDACC_RTC__\nint main() {}\n#endif\n"
    )
    if made == "cubin":
        done = run("compile", source, "-o", file, "--arch", "sm_90", "--lineinfo")
        if "NVRTC" in done.stderr and "error:" not in done.stderr:
            pytest.skip("no NVRTC")
    else:
        kind = {"program": [], "library": ["-shared", "-Xcompiler", "-fPIC"]}.get(made, [f"-{made}"])
        nvcc = nvcc_of(run).split(", ")[0]
        options = ["-lineinfo", "-gencode", "arch=compute_90,code=compute_90", "-o", file]
        command = [nvcc, *kind, *(["-arch=compute_90", "-lineinfo", "-o", file] if made == "ptx" else options), source]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = sorted(run("inspect", "--forms", file).stdout.splitlines())
    assert lines[0] == "scale(float*): vector form, for blocks of 256x1x1 threads"
    assert lines[1].startswith("wait(int volatile*): scalar form, because of a loop that waits for other threads at ")
    assert "two.cu:2 (PTX line" in lines[1]


def test_errors_of_the_compiler_are_shown(run, tmp_path):
    (tmp_path / "wrong.cu").write_text("__global__ void k() { nothing; }")
    done = run("compile", tmp_path / "wrong.cu", "--arch", "sm_80")
    assert done.returncode == 1 and ("nothing" in done.stderr or "NVRTC" in done.stderr)


def test_several_files_are_compiled_and_all_errors_told(run, tmp_path):
    names = ["first", "wrong", "second"]
    for name in names:
        body = "nothing;" if name == "wrong" else ""
        (tmp_path / f"{name}.cu").write_text(f'extern "C" __global__ void {name}() {{ {body} }}')
    sources = [tmp_path / f"{name}.cu" for name in names]
    (tmp_path / "out").mkdir()
    done = run("compile", *sources, "-o", tmp_path / "out", "--to", "ptx", "--arch", "sm_80", "--json")
    if "NVRTC" in done.stderr and "nothing" not in done.stderr:
        pytest.skip("no NVRTC")
    assert done.returncode == 1 and done.stderr.count("cucore compile: ") == 1 and "\r" not in done.stderr
    assert [one["kernels"] for one in json.loads(done.stdout)] == [["first"], ["second"]]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["first.ptx", "second.ptx"]
    assert run("compile", *sources, "-o", tmp_path / "one.ptx").returncode == 2
    assert run("compile", sources[0], sources[0], "--to", "ptx").returncode == 2


def test_a_program_finds_the_cpu_device(run, tmp_path):
    folder = run("driver-path").stdout.strip()
    script = tmp_path / "count.py"
    script.write_text(
        "import ctypes, os, sys\n"
        "cuda = ctypes.CDLL('libcuda.so.1'); count = ctypes.c_int()\n"
        "cuda.cuInit(0); cuda.cuDeviceGetCount(ctypes.byref(count))\n"
        f"print(count.value, {folder + '/bin'!r} in os.environ['PATH'].split(':'), sys.argv[1:])\n"
        "sys.exit(5)\n"
    )
    done = run("run", "--devices", "3", script, "--devices", "word")
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout == "3 True ['--devices', 'word']\n"
    assert run("run", tmp_path / "nothing").returncode == 127


def test_a_trace_is_written_for_any_program_with_its_nvtx_ranges(run, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(
        "import ctypes, os\nctypes.CDLL('libcuda.so.1').cuInit(0)\n"
        "assert os.environ['NVTX_INJECTION64_PATH'].endswith('/libcuda.so.1')\n"
    )
    done = run("run", "--trace", tmp_path / "trace.json", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert [e["name"] for e in json.loads((tmp_path / "trace.json").read_text()) if e["cat"] == "driver"] == ["cuInit"]


def test_without_nvcc_it_says_what_to_install(run, tmp_path):
    (tmp_path / "hello.cu").write_text(FAULTY)
    if run("doctor", "--json", PATH="/usr/bin:/bin", HOME=str(tmp_path)).stdout.count('"nvcc", "ok": true'):
        pytest.skip("there is an nvcc")
    plain = {name: "" for name in ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")}
    done = run("run", tmp_path / "hello.cu", PATH="/usr/bin:/bin", HOME=str(tmp_path), **plain)
    assert done.returncode == 1 and "pip install 'nvidia-cuda-nvcc" in done.stderr


FAKE_NVCC = """#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in -o) output=$2 ;; -MF) rule=$2 ;; esac
  shift
done
echo "program: $1 \\\\" > "$rule"
echo " $(dirname "$1")/with\\\\ blank.h" >> "$rule"
echo compiled >> "$(dirname "$1")/log"
cp "$1" "$output" && chmod +x "$output"
"""


def test_pips_nvcc_is_found_and_called_again_when_a_header_changes(run, tmp_path):
    nvcc = tmp_path / "environment/lib/python3.99/site-packages/nvidia/cu13/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text(FAKE_NVCC)
    nvcc.chmod(0o755)
    source, header = tmp_path / "program.cu", tmp_path / "with blank.h"
    source.write_text('#!/bin/sh\necho "ran $1"\n')
    header.write_text("first")
    found = {"VIRTUAL_ENV": str(tmp_path / "environment"), "PATH": "/usr/bin:/bin", "CUDA_HOME": "", "CUDA_PATH": ""}
    for contents, compiles in (("first", 1), ("first", 1), ("second", 2), ("second", 2)):
        header.write_text(contents)
        done = run("run", source, "it", **found)
        assert (done.returncode, done.stdout) == (0, "ran it\n"), done.stderr
        assert (tmp_path / "log").read_text().count("compiled") == compiles
    assert str(nvcc) in run("doctor", **found).stdout


def test_programs_find_a_toolkit_whose_nvcc_and_ptxas_are_the_stand_ins(run, tmp_path):
    """By the folder above the nvcc in PATH, links resolved or not, and by $CUDA_HOME where that is set."""
    toolkit = tmp_path / "environment/lib/python3.99/site-packages/nvidia/cu13"
    for name in ("include/cuda_runtime.h", "lib/libcudart.so.13", "nvvm/libdevice/libdevice.10.bc", "bin/nvdisasm"):
        (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
        (toolkit / name).write_text(name)
    script = tmp_path / "client.py"
    script.write_text(
        "import os, shutil, subprocess, sys\n"
        "nvcc = shutil.which('nvcc')\n"
        "for root in (os.path.dirname(os.path.dirname(nvcc)), os.path.realpath(os.path.join(nvcc, '../..'))):\n"
        "    for name in ('include/cuda_runtime.h', 'targets/{}-linux/include/cuda_runtime.h', 'lib64/libcudart.so',\n"
        "                 'lib64/libcudart.so.13', 'nvvm/libdevice/libdevice.10.bc', 'bin/nvdisasm', 'bin/ptxas'):\n"
        "        name = name.format({'aarch64': 'sbsa'}.get(os.uname().machine, 'x86_64'))\n"
        "        assert os.path.isfile(os.path.join(root, name)), os.path.join(root, name)\n"
        "assert (os.environ.get('CUDA_HOME') or None) == (root if sys.argv[1] == 'named' else None)\n"
        "print(subprocess.run([nvcc, '--version', '-o', 'it'], capture_output=True, text=True).stdout)\n"
    )
    base = {name: "" for name in ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")}
    base |= {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    tools = {"CUDA_HOME": str(toolkit)}
    done = run("run", script, "named", **base | tools)
    assert done.returncode == 0 and "cucore's" in done.stdout, done.stderr
    (toolkit / "bin/nvcc").write_text("#!/bin/sh\necho NVIDIA\n")
    (toolkit / "bin/nvcc").chmod(0o755)
    again = f"{run.tool} run {script} named"  # what was started so starts another: the same toolkit
    for words in (["run", script, "named"], ["run", "sh", "-c", again]):
        done = run(*words, **base | tools)
        assert (done.returncode, done.stdout.strip()) == (0, "NVIDIA"), done.stderr
    done = run("run", script, "found", **base | {"PATH": f"/usr/bin:/bin:{toolkit / 'bin'}"})
    assert (done.returncode, done.stdout.strip()) == (0, "NVIDIA"), done.stderr


def test_without_a_host_compiler_it_says_what_to_install(run, tmp_path):
    nvcc = tmp_path / "environment/lib/python3.99/site-packages/nvidia/cu13/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("#!/bin/sh\nexit 3\n")
    nvcc.chmod(0o755)
    (tmp_path / "hello.cu").write_text(FAULTY)
    found = {"VIRTUAL_ENV": str(tmp_path / "environment"), "PATH": "/nowhere", "CUDA_HOME": "", "CUDA_PATH": ""}
    done = run("run", tmp_path / "hello.cu", **found)
    assert done.returncode == 1 and "apt-get install g++" in done.stderr
    for words, variables in ((["--nvcc=-ccbin=clang++"], {}), ([], {"NVCC_CCBIN": "clang++"})):
        done = run("run", *words, tmp_path / "hello.cu", **found, **variables)
        assert done.returncode == 1 and done.stderr == "", "who names another compiler goes to nvcc"


def test_a_source_is_compiled_once_and_its_faults_are_told(run, tmp_path):
    nvcc_of(run)
    source = tmp_path / "fill.cu"
    source.write_text(FAULTY)
    good = run("run", source, "word")
    assert (good.returncode, good.stdout) == (7, "no error, 2\n"), good.stderr
    programs = tmp_path / "cache/programs"
    (program,) = [each for each in programs.iterdir() if not each.suffix]
    made = program.stat().st_mtime_ns
    bad = run("run", "--check", "memory", source)
    assert program.stat().st_mtime_ns == made
    assert "in kernel fill(int*, int) at" in bad.stderr and "fill.cu:4" in bad.stderr
    assert "allocated at fill-" in bad.stderr  # the kept program is named for its source
    assert "source: out[threadIdx.x] = n;" in bad.stderr and "thread (10,0,0)" in bad.stderr
    for check, status, said in (("memory", 9, bad.stdout), ("race", 7, "no error, 1\n")):
        done = run("run", "--error-exitcode", "9", "--check", check, source)
        assert (done.returncode, done.stdout) == (status, said), done.stderr
    assert "0 unsupported" in run("inspect", program).stdout
    source.write_text(FAULTY.replace("return 7", "return 8"))
    assert run("run", source, "word").returncode == 8
    os.chmod(programs, 0o777)
    assert "can be written by others" in run("run", source).stderr


NUMBERS = """
import sys, cucore
source = 'extern "C" __global__ void inverse(float* x) { x[threadIdx.x] = 1.0f / x[threadIdx.x]; }'
device = cucore.Device()
device.set_current()
stream = device.create_stream()
options = cucore.ProgramOptions(lineinfo=True, name="inverse.cu", arch="sm_80")
x = device.allocate(40, stream=stream)
x.fill(0, stream=stream)
kernel = cucore.Program(source, "c++", options).compile("cubin").get_kernel("inverse")
cucore.launch(stream, cucore.LaunchConfig(grid=1, block=10), kernel, x)
stream.sync()
sys.exit(7)
"""


def test_the_first_infinity_of_a_program_is_told(run, tmp_path):
    if importlib.util.find_spec("cucore") is None:
        pytest.skip("the package is not installed")
    (tmp_path / "inverse.py").write_text(NUMBERS)
    done = run("run", "--check", "fp", sys.executable, tmp_path / "inverse.py")
    assert done.returncode == 7, "the program's own status: " + done.stderr
    assert "Division by zero" in done.stderr and "inverse.cu:1" in done.stderr, done.stderr
    assert "by thread (0,0,0) in block (0,0,0), the first of 10" in done.stderr
    assert "1 / 0 = inf" in done.stderr and "SUMMARY: 1 error" in done.stderr


def test_the_package_is_the_same_command(run, tool):
    if importlib.util.find_spec("cucore.__main__") is None:
        pytest.skip("the package is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "cucore", "version"],
        env={**os.environ, "PATH": f"{Path(tool).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, run("version").stdout), done.stderr
