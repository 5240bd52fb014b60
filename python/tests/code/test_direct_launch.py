"""The short way that most launches and records go: what it must do no less than the general one."""

import struct
import threading

import pytest

import cucore

EMPTY = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
# PTX type, bytes, the format of struct, and what is passed
KINDS = (("u64", 8, "Q", 2**40 + 1), ("u32", 4, "I", 70000), ("f32", 4, "f", 1.5), ("u16", 2, "H", 60000),
         ("f64", 8, "d", -0.25), ("u8", 1, "B", 200))  # fmt: skip


def kernel_that_stores(kinds):
    """Stores each of its parameters after the first, widened with zeros, in 8 bytes of the array at the first."""
    listing = "".join(f", .param .{kind[0]} p{i}" for i, kind in enumerate(kinds))
    body = ""
    for i, (_, size, _, _) in enumerate(kinds):
        body += f"  ld.param.u{8 * size} {'%rd2' if size == 8 else '%r1'}, [p{i}];\n"
        body += "" if size == 8 else "  cvt.u64.u32 %rd2, %r1;\n"
        body += f"  st.global.u64 [%rd1+{8 * i}], %rd2;\n"
    return cucore.ObjectCode.from_ptx(
        f""".version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 out{listing})
{{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
{body}  ret;
}}
""".encode()
    ).get_kernel("store")


@pytest.mark.parametrize("count", [1, 6, 30, 32, 41, 300, 600])
@pytest.mark.parametrize("prepared", [False, True])
def test_parameters_of_every_width_arrive_however_many_there_are(stream, pinned, count, prepared):
    kinds = [KINDS[i % len(KINDS)] for i in range(count)]
    kernel = kernel_that_stores(kinds)
    out = pinned.allocate(8 * count)
    values = [kind[3] for kind in kinds]
    config = cucore.LaunchConfig(grid=1, block=1)
    if prepared:
        kernel.launcher(config)(stream, out, *values)
    else:
        cucore.launch(stream, config, kernel, out, *values)
    stream.sync()
    stored = bytes(memoryview(out))
    expected = [struct.pack("<" + kind[2], kind[3]).ljust(8, b"\0") for kind in kinds]
    assert [stored[8 * i : 8 * i + 8] for i in range(count)] == expected


@pytest.mark.parametrize("count", [3, 50])
def test_one_argument_that_does_not_fit_is_refused_wherever_it_stands(stream, pinned, count):
    kernel = kernel_that_stores([KINDS[1]] * count)
    out = pinned.allocate(8 * count)
    config = cucore.LaunchConfig(grid=1, block=1)
    for wrong in (0, count - 1):
        values = [7] * count
        values[wrong] = 2**32
        with pytest.raises(OverflowError, match=rf"argument {wrong + 2} .*does not fit"):
            cucore.launch(stream, config, kernel, out, *values)
        values[wrong] = "7"
        with pytest.raises(TypeError, match=rf"argument {wrong + 2} "):
            kernel.launcher(config)(stream, out, *values)


def test_a_changed_config_counts_from_the_next_launch_on(stream, pinned):
    kernel = cucore.ObjectCode.from_ptx(
        b""".version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 out)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  atom.global.add.u32 %r1, [%rd1], 1;
  ret;
}
"""
    ).get_kernel("count")
    out = pinned.allocate(4)
    memoryview(out).cast("B")[:] = bytes(4)
    config = cucore.LaunchConfig(grid=1, block=1)
    prepared = kernel.launcher(config)
    cucore.launch(stream, config, kernel, out)
    config.grid = 5
    cucore.launch(stream, config, kernel, out)
    config.shmem_size = 1024
    cucore.launch(stream, config, kernel, out)
    config.shmem_size = 0
    config.block = 2
    cucore.launch(stream, config, kernel, out)
    prepared(stream, out)
    stream.sync()
    assert int.from_bytes(bytes(memoryview(out)), "little") == 1 + 5 + 5 + 10 + 1


def test_a_thread_with_no_current_context_launches_and_records(device, stream):
    kernel = cucore.ObjectCode.from_ptx(EMPTY).get_kernel("k")
    event = device.create_event()
    failed = []

    def work():
        try:
            cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel)
            assert stream.record(event) is event
            event.sync()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed and event.is_done


def test_streams_and_events_may_be_closed_while_other_threads_use_them(device):
    kernel = cucore.ObjectCode.from_ptx(EMPTY).get_kernel("k")
    launch = kernel.launcher(cucore.LaunchConfig(grid=1, block=1))
    strange = []

    def use(stream, event, started):
        device.set_current()
        for turn in range(2000):
            try:
                launch(stream)
                stream.record(event)
            except RuntimeError as error:
                if "closed" not in str(error):
                    strange.append(error)
                return
            if turn == 5:
                started.release()

    for turn in range(20):
        stream, started = device.create_stream(), threading.Semaphore(0)
        event = device.event_pool.get() if turn % 2 else device.create_event()
        threads = [threading.Thread(target=use, args=(stream, event, started)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in threads:
            started.acquire()
        (event, stream)[turn // 2 % 2].close()
        (stream, event)[turn // 2 % 2].close()
        stream.close()
        for thread in threads:
            thread.join()
        assert stream.is_closed and event.is_closed
    device.sync()
    assert not strange


def test_an_event_on_loan_outlives_its_pool(device, stream):
    pool = cucore.EventPool(device)
    first, second = pool.get(), pool.get()
    pool.put(first)
    pool.close()
    assert stream.record(second) is second
    second.sync()
    assert second.is_done
    second.close()
    assert second.is_closed
