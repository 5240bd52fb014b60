# A client of the driver: memory between processes by the calls of NVIDIA's cuda.bindings, handles and descriptors.
import ctypes
import multiprocessing
import os
import signal

from checked import checked
from cuda.bindings import driver

LAZY = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.value
POSIX = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
SIZE = 3 << 20


def ok(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


def set_up():
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(ok(driver.cuDeviceGet(0))))
    ok(driver.cuCtxSetCurrent(context))


def byte_at(address):
    byte = bytearray(1)
    ok(driver.cuMemcpyDtoH(byte, address, 1))
    return byte[0]


def start(target, *arguments):
    spawn = multiprocessing.get_context("spawn")
    mine, theirs = spawn.Pipe()
    child = spawn.Process(target=target, args=(theirs, *arguments), daemon=True)
    child.start()
    return child, mine


def bytes_of(handle):
    """The memory of a handle, whose fields not every version of the bindings names."""
    return (ctypes.c_ubyte * 64).from_address(int(handle.getPtr()))


def owner(pipe):
    set_up()
    memory = ok(driver.cuMemAlloc(SIZE))
    ok(driver.cuMemsetD8(memory, 5, SIZE))
    handle = ok(driver.cuIpcGetMemHandle(memory))
    pipe.send(bytes(bytes_of(handle)))
    pipe.recv()
    pipe.send(byte_at(memory))
    pipe.recv()


def memory_of_another_process():
    set_up()
    child, pipe = start(owner)
    handle = driver.CUipcMemHandle()
    bytes_of(handle)[:] = pipe.recv()
    memory = ok(driver.cuIpcOpenMemHandle(handle, LAZY))
    assert byte_at(int(memory) + SIZE - 1) == 5
    ok(driver.cuMemsetD8(memory, 6, SIZE))
    pipe.send("read")
    assert pipe.recv() == 6
    os.kill(child.pid, signal.SIGKILL)
    child.join(60)
    assert byte_at(memory) == 6
    ok(driver.cuIpcCloseMemHandle(memory))
    (code, *_) = driver.cuIpcOpenMemHandle(handle, LAZY)
    assert code == driver.CUresult.CUDA_ERROR_INVALID_VALUE, code


def physical_memory(create):
    """What `create(properties, size)` makes, mapped, and its address."""
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.requestedHandleTypes = POSIX
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    granularity = ok(
        driver.cuMemGetAllocationGranularity(
            properties, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        )
    )
    physical = create(properties, granularity)
    address = ok(driver.cuMemAddressReserve(granularity, 0, 0, 0))
    ok(driver.cuMemMap(address, granularity, 0, physical, 0))
    access = driver.CUmemAccessDesc()
    access.location = properties.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(driver.cuMemSetAccess(address, granularity, [access], 1))
    return physical, address


def importer(pipe):
    from multiprocessing.reduction import recv_handle

    set_up()
    file = recv_handle(pipe)
    _, address = physical_memory(lambda *_: ok(driver.cuMemImportFromShareableHandle(file, POSIX)))
    os.close(file)
    seen = byte_at(address)
    ok(driver.cuMemsetD8(address, 8, 16))
    pipe.send(seen)
    os.kill(os.getpid(), signal.SIGKILL)


def physical_memory_outlives_who_imported_it():
    from multiprocessing.reduction import send_handle

    set_up()
    physical, address = physical_memory(lambda properties, size: ok(driver.cuMemCreate(size, properties, 0)))
    ok(driver.cuMemsetD8(address, 7, 16))
    child, pipe = start(importer)
    file = int(ok(driver.cuMemExportToShareableHandle(physical, POSIX, 0)))
    send_handle(pipe, file, child.pid)
    os.close(file)
    assert pipe.recv() == 7
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert byte_at(address) == 8


if __name__ == "__main__":
    for part in (memory_of_another_process, physical_memory_outlives_who_imported_it):
        checked(part.__name__, part)
