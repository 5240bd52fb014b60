"""C functions of ctypes as host callbacks."""

import sys


def c_function(function):
    """The address of a ctypes function pointer, None for anything else. TypeError unless it is ``void (void *)``."""
    ctypes = sys.modules.get("ctypes")  # a function of ctypes exists only if it is imported
    if ctypes is None or not isinstance(function, ctypes._CFuncPtr):
        return None
    if function.restype is not None or tuple(function.argtypes or ()) != (ctypes.c_void_p,):
        raise TypeError(
            "a C callback must be void (*)(void *), ctypes.CFUNCTYPE(None, ctypes.c_void_p), but this one has restype "
            f"{function.restype} and argtypes {function.argtypes}: a function of a library is declared by setting them"
        )
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise ValueError("the C callback is a null pointer")
    return address
