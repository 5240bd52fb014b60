"""The CPU device's checker on the planted bugs: each is found on its line, and clean kernels give no alarm."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_python
from planted_bugs import BUGS, CLEAN, DEADLOCKS, MEMORY, place_of
from test_async_copies import headers

import cucore

SCRIPT = Path(__file__).with_name("planted_bugs.py")
FOLDERS = (SCRIPT.parent, SCRIPT.parent.parent)  # of what programs import
REPORT = re.compile(
    r"^========= ([A-Z].*)\n=========     in kernel (\w+)(?: at (\S+):(\d+) \(PTX line (\d+)|)", re.MULTILINE
)

if cucore.driver_info().kind != "cpu":
    pytest.skip("the checker is the CPU device's", allow_module_level=True)


FORMS = ["auto", "scalar", "vector"]  # of CUCORE_CPU_FORM


def run(names, classes, **environment):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *names],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "CUCORE_CPU_CHECK": classes, "CUCORE_CPU_CHECK_CONTINUE": "1", **environment},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def by_kernel(said):
    """What was said while each kernel ran."""
    return {part.split("\n", 1)[0]: part for part in said.split("#### ")[1:]}


@pytest.fixture(scope="module")
def reports():
    """Everything but the deadlocks, with all classes at once."""
    return by_kernel(
        run([planted.name for planted in BUGS + CLEAN if planted not in DEADLOCKS], "memory,race,init,sync")
    )


def check_found_on_its_line(planted, said):
    found = [match for match in REPORT.finditer(said) if match[1].startswith(planted.found)]
    assert found, said
    assert {match[2] for match in found} == {planted.name}
    assert place_of(planted.name) in {(Path(match[3]).name, int(match[4])) for match in found}, said


@pytest.mark.parametrize("planted", [bug for bug in BUGS if bug not in DEADLOCKS], ids=lambda planted: planted.name)
def test_planted_bug_is_found_on_its_line(reports, planted):
    check_found_on_its_line(planted, reports[planted.name])


@pytest.mark.parametrize("seed", ["1", "2"])
def test_what_is_found_does_not_follow_the_order_of_a_seed(seed):
    names = [planted.name for planted in BUGS + CLEAN if planted not in DEADLOCKS]
    said = by_kernel(run(names, "memory,race,init,sync", CUCORE_CPU_CHECK_SEED=seed))
    for planted in BUGS:
        if planted not in DEADLOCKS:
            check_found_on_its_line(planted, said[planted.name])
    for planted in CLEAN:
        assert not REPORT.search(said[planted.name]), said[planted.name]


PLACE = re.compile(r"0x[0-9a-f]+|\d{9,}")  # which no two runs have in common


@pytest.fixture(scope="module")
def memory_reports():
    """By form: all that the memory check says by itself, which the vector form has too."""
    names = [planted.name for planted in MEMORY + CLEAN]
    return {form: by_kernel(PLACE.sub("PLACE", run(names, "memory", CUCORE_CPU_FORM=form))) for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("planted", MEMORY, ids=lambda planted: planted.name)
def test_memory_error_is_found_in_each_form_of_code(memory_reports, planted, form):
    said = memory_reports[form][planted.name]
    found = [match for match in REPORT.finditer(said) if match[1].startswith(planted.found)]
    assert place_of(planted.name) in {(Path(match[3]).name, int(match[4])) for match in found}, said
    assert said == memory_reports["scalar"][planted.name]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("planted", CLEAN, ids=lambda planted: planted.name)
def test_clean_kernel_gives_no_alarm_in_each_form_of_code(memory_reports, planted, form):
    assert not REPORT.search(memory_reports[form][planted.name]), memory_reports[form][planted.name]


@pytest.mark.parametrize("planted", CLEAN, ids=lambda planted: planted.name)
def test_clean_kernel_gives_no_alarm(reports, planted):
    assert not REPORT.search(reports[planted.name]), reports[planted.name]


@pytest.mark.parametrize("planted", DEADLOCKS, ids=lambda planted: planted.name)
def test_deadlock_is_found_on_its_line(planted):
    said = run([planted.name], "sync")
    match = REPORT.search(said)
    assert match and match[1].startswith(planted.found) and int(match[4]) == place_of(planted.name)[1], said


def test_report_names_thread_block_and_allocation(reports):
    said = reports["write_past_end"]
    assert "by thread (40,0,0) in block (15,0,0)" in said
    assert "0 bytes after the end of 4000 bytes of pool memory" in said
    assert re.search(r"allocated at .*planted_bugs\.py:\d+", said), said


def test_freed_memory_is_told_with_who_freed_it(reports):
    said = reports["use_after_free"]
    assert "which was freed" in said and re.search(r"freed at .*planted_bugs\.py:\d+", said), said


def test_memory_of_the_kernels_heap_is_told_with_its_lines_in_the_kernel(reports):
    said = reports["heap_use_after_free"]
    line = place_of("heap_use_after_free")[1]
    assert re.search(rf"allocated at .*planted_bugs\.cu:{line - 4} ", said), said
    assert re.search(rf"freed at .*planted_bugs\.cu:{line - 1} ", said), said


def test_destroyed_texture_is_told_with_who_made_and_destroyed_it(reports):
    said = reports["destroyed_texture"]
    assert "is a texture object that was destroyed" in said
    assert re.search(r"made at .*planted_bugs\.py:\d+", said), said
    assert re.search(r"destroyed at .*planted_bugs\.py:\d+", said), said


def test_destroyed_array_is_told_with_who_destroyed_it(reports):
    said = reports["surface_of_destroyed_array"]
    assert "512 bytes of a CUDA array" in said and "which was freed" in said, said
    assert re.search(r"freed at .*planted_bugs\.py:\d+", said), said


def test_only_the_classes_asked_for_are_looked_for():
    said = by_kernel(run(["write_past_end", "shared_two_writers", "never_written"], "race"))
    assert [name for name, part in said.items() if REPORT.search(part)] == ["shared_two_writers"]


def test_race_of_lanes_in_step_is_told_in_words(reports):
    said = reports["warp_by_volatile"]
    assert "read and write by lanes of one warp with no __syncwarp() between them" in said
    assert "volatile is no barrier between lanes of a warp" in said
    said = reports["warp_without_sync"]
    assert "read and write by lanes of one warp with no __syncwarp() between them" in said
    assert "nothing is a barrier here between lanes of a warp" in said


def test_races_of_lanes_in_step_can_be_left_out():
    kernels = ["warp_by_volatile", "warp_without_sync", "shared_two_writers"]
    said = by_kernel(run(kernels, "race", CUCORE_CPU_CHECK_LOCKSTEP="0"))
    assert [name for name, part in said.items() if REPORT.search(part)] == ["shared_two_writers"]


FLAG_IN_A_WARP = """
import sys, cucore
device = cucore.Device(); device.set_current(); stream = device.create_stream()
source = '''extern "C" __global__ void wait_in_turn(int* out) {
  __shared__ volatile int turn;
  __shared__ int last;
  if (threadIdx.x == 0) turn = last = 0;
  __syncthreads();
  while (turn != threadIdx.x) {
  }
  __threadfence_block();
  out[threadIdx.x] = last;
  last = threadIdx.x + 100;
  __threadfence_block();
  turn = threadIdx.x + 1;
}'''
kernel = cucore.Program(source, "c++", {"arch": f"sm_{device.arch}"}).compile("cubin").get_kernel("wait_in_turn")
memory = cucore.LegacyPinnedMemoryResource().allocate(4 * 32)
cucore.launch(stream, cucore.LaunchConfig(grid=1, block=32), kernel, int(memory.handle))
stream.sync()
print(*memoryview(memory).cast("B").cast("i")[:32])
"""


@pytest.mark.parametrize("form", FORMS)
def test_lanes_may_wait_for_each_other_at_a_volatile_flag(form):
    environment = {"CUCORE_CPU_CHECK": "memory,race,init,sync" if form == "auto" else "", "CUCORE_CPU_FORM": form}
    done = run_python(FLAG_IN_A_WARP, env=environment)
    assert done.stdout.split() == [str(n and n + 99) for n in range(32)], done.stderr
    assert "=========     in kernel" not in done.stderr, done.stderr


def test_variables_of_the_threads_are_followed_by_init_alone():
    said = by_kernel(run(["clean_local", "local_of_another_thread", "clean_local_structures"], "init"))
    assert [name for name, part in said.items() if REPORT.search(part)] == ["local_of_another_thread"]


def test_memory_error_becomes_the_contexts_error():
    said = run(["write_past_end"], "memory", CUCORE_CPU_CHECK_CONTINUE="0")
    assert "write_past_end ended with" in said and "ILLEGAL_ADDRESS" in said, said


def test_what_goes_beyond_the_limit_is_counted_only():
    said = run(["write_past_end", "before_start", "misaligned"], "memory", CUCORE_CPU_CHECK_LIMIT="1")
    assert len(REPORT.findall(said)) == 1
    assert "SUMMARY: 3 errors, of which 2 are not shown" in said


def test_unknown_class_is_named():
    assert "CUCORE_CPU_CHECK: 'memroy' is none of memory, race" in run(["clean_sum"], "memroy")


# The barrier of cooperative groups: what a block published just before the last look at the word has to be seen.
GRID_BARRIERS = r"""
import cucore
KERNEL = '''
__device__ void wait_for_all(unsigned* word) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned old, now, mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(mine) : "memory");
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
    while (((old ^ now) & 0x80000000u) == 0);
  }
  __syncthreads();
}
extern "C" __global__ void rounds(unsigned* word, int* cells, int* sums, int count) {
  int sum = 0;
  for (int round = 1; round <= count; round++) {
    if (threadIdx.x == 0) cells[blockIdx.x] += round;
    wait_for_all(word);
    sum += cells[(blockIdx.x + threadIdx.x) % gridDim.x];
    wait_for_all(word);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}'''
device = cucore.Device(); device.set_current(); stream = device.create_stream()
rounds = cucore.Program(KERNEL, "c++", {"arch": f"sm_{device.arch}"}).compile("ptx").get_kernel("rounds")
word, cells, sums = (device.allocate(size, stream=stream) for size in (4, 256, 64 * 256 * 4))
for each in (word, cells): each.fill(0, stream=stream)
config = cucore.LaunchConfig(grid=64, block=256)
for _ in range(2): cucore.launch(stream, config, rounds, word, cells, sums, 60)
stream.sync()
"""

PROGRAMS = {
    "clusters": "import test_clusters as t; [getattr(t, check)() for check in t.CHECKS]",
    "launches of clusters": "import test_cluster_launches as t; t.check_codes(); t.check_graphs()",
    "copies that a barrier waits for": """import test_async_copies as t
t.check_reversal(); t.check_sums("stages", 128); t.check_sums("produce_and_consume", 160)""",
    "boxes of tensors": "import test_tensor_maps as t; t.check_all()",
    "barriers of a grid": GRID_BARRIERS,
    "products by warpgroups": "import test_warpgroup_matrices as t; t.check(False); t.check(True)",
}


@pytest.mark.skipif(not headers(), reason="no C++ headers of CUDA")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_clean_program_gives_no_alarm(program):
    source = "import sys; sys.path[:0] = sys.argv[1:]\n" + program
    done = run_python(source, *FOLDERS, env={"CUCORE_CPU_CHECK": "memory,race,init,sync"})
    assert done.returncode == 0, done.stderr
    assert "SUMMARY: 0 errors" in done.stderr, done.stderr


BOX_OF_FREED_TENSOR = """
import ctypes, sys
sys.path[:0] = sys.argv[1:3]
import numpy as np
import cucore, test_tensor_maps as t
device = cucore.Device(); device.set_current(); stream = device.create_stream()
kernel = cucore.Program(t.KERNEL, "c++", {"arch": f"sm_{device.arch}"}).compile("ptx").get_kernel("boxes")
driver = ctypes.CDLL(cucore.driver_info().path)
words, size = int(np.prod(t.BOX)), 4 * int(np.prod(t.SHAPE))
tensor, target, maps = (device.allocate(each, stream=stream) for each in (size, size, 256))
out = device.allocate(4 * words, stream=stream)
tensor.fill(0, stream=stream)
on_host = cucore.LegacyPinnedMemoryResource().allocate(256)
both = b"".join(t.encode(driver, int(each.handle), 0, 0) for each in (tensor, target))
np.frombuffer(memoryview(on_host), np.uint8)[:256] = np.frombuffer(both, np.uint8)
maps.copy_from(on_host, stream=stream)
stream.sync()
if sys.argv[3] == "freed":
    tensor.close(stream)
    stream.sync()
place = int(maps.handle)
config = cucore.LaunchConfig(grid=1, block=64, shmem_size=4 * words)
cucore.launch(stream, config, kernel, place, place + 128, out, words, 0, 0, 0)
stream.sync()
"""


@pytest.mark.parametrize("state", ["alive", "freed"])
def test_box_of_a_tensor_that_was_freed_is_found(state):
    environment = {"CUCORE_CPU_CHECK": "memory,race,init,sync", "CUCORE_CPU_CHECK_CONTINUE": "1"}
    done = run_python(BOX_OF_FREED_TENSOR, *FOLDERS, state, env=environment)
    assert done.returncode == 0, done.stderr
    if state == "alive":
        assert "SUMMARY: 0 errors" in done.stderr, done.stderr
    else:
        assert "Invalid __global__ read of size 128 bytes\n=========     in kernel boxes" in done.stderr, done.stderr
        assert "cp.async.bulk.tensor" in done.stderr and "which was freed" in done.stderr, done.stderr


ORDER = """
import sys, cucore
device = cucore.Device(); device.set_current(); stream = device.create_stream()
source = '''extern "C" __global__ void order(int* turn, int* out) {
  out[atomicAdd(turn, 1)] = blockIdx.x * 64 + threadIdx.x;
}'''
kernel = cucore.Program(source, "c++", {"arch": f"sm_{device.arch}"}).compile("cubin").get_kernel("order")
memory = cucore.LegacyPinnedMemoryResource().allocate(4 * 257)
view = memoryview(memory).cast("B").cast("i")
view[0] = 0
address = int(memory.handle)
cucore.launch(stream, cucore.LaunchConfig(grid=4, block=64), kernel, address, address + 4)
stream.sync()
print(*view[1:257])
"""


def test_order_follows_the_seed_and_nothing_else():
    def order(seed):
        done = subprocess.run(
            [sys.executable, "-c", ORDER],
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
            env={**os.environ, "CUCORE_CPU_CHECK_SEED": seed},
        )
        return [int(word) for word in done.stdout.split()]

    first, again, other = order("1"), order("1"), order("2")
    assert first == again != other
    assert sorted(first) == sorted(other) == list(range(256)) != first
