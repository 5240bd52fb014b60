"""NVIDIA's cuda.bindings.runtime on two devices: which is current, peers, copies between them, one that is reset."""

import threading

import numpy as np
from checked import checked
from cuda.bindings import runtime as cudart

Error = cudart.cudaError_t
Kind = cudart.cudaMemcpyKind


def done(answer):
    """What a call gave, once it succeeded."""
    error, *values = answer
    assert error == Error.cudaSuccess, error
    return values[0] if len(values) == 1 else values


def make(value):
    """Memory of the current device, all bytes of a value."""
    pointer = done(cudart.cudaMalloc(256))
    done(cudart.cudaMemset(pointer, value, 256))
    return pointer


def contents(pointer):
    out = np.zeros(256, dtype=np.uint8)
    done(cudart.cudaMemcpy(out.ctypes.data, pointer, out.nbytes, Kind.cudaMemcpyDeviceToHost))
    assert (out == out[0]).all()
    return int(out[0])


def each_thread_has_its_device():
    assert done(cudart.cudaGetDeviceCount()) == 2
    done(cudart.cudaSetDevice(1))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(done(cudart.cudaGetDevice())))
    thread.start()
    thread.join()
    assert seen == [0] and done(cudart.cudaGetDevice()) == 1
    places = [done(cudart.cudaDeviceGetPCIBusId(16, each)) for each in (0, 1)]
    assert places[0] != places[1] and done(cudart.cudaDeviceGetByPCIBusId(places[1])) == 1


def memory_knows_its_device():
    done(cudart.cudaSetDevice(1))
    pointer = make(3)
    assert done(cudart.cudaPointerGetAttributes(pointer)).device == 1
    stream = done(cudart.cudaStreamCreate())
    assert done(cudart.cudaStreamGetDevice(stream)) == 1
    done(cudart.cudaStreamDestroy(stream))
    done(cudart.cudaFree(pointer))


def peers_copy():
    done(cudart.cudaSetDevice(0))
    first = make(1)
    assert done(cudart.cudaDeviceCanAccessPeer(0, 1)) == 1
    done(cudart.cudaDeviceEnablePeerAccess(1, 0))
    again = cudart.cudaDeviceEnablePeerAccess(1, 0)[0]
    assert again == Error.cudaErrorPeerAccessAlreadyEnabled, again
    cudart.cudaGetLastError()
    done(cudart.cudaSetDevice(1))
    second = make(2)
    done(cudart.cudaMemcpyPeer(first, 0, second, 1, 256))
    assert contents(first) == 2
    done(cudart.cudaSetDevice(0))
    done(cudart.cudaDeviceDisablePeerAccess(1))
    done(cudart.cudaFree(first))
    done(cudart.cudaFree(second))


def a_reset_leaves_the_other_device_alone():
    done(cudart.cudaSetDevice(0))
    kept = make(7)
    done(cudart.cudaSetDevice(1))
    lost = make(8)
    done(cudart.cudaDeviceReset())
    assert cudart.cudaFree(lost)[0] != Error.cudaSuccess
    cudart.cudaGetLastError()
    assert contents(kept) == 7
    done(cudart.cudaFree(kept))
    assert contents(make(9)) == 9


for part in (each_thread_has_its_device, memory_knows_its_device, peers_copy, a_reset_leaves_the_other_device_alone):
    checked(part.__name__, part)
