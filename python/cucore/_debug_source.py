"""Source text that a debugger can show: a file that line information names, for as long as the Program lives.

A Program is given text, not a file, so without a name of its own there is nothing that cuda-gdb or gdb could list.
"""

import hashlib
import os
import re
import sys
import tempfile
import threading
import weakref

_KERNEL = re.compile(r"__global__\s(?:[\w\s]*__launch_bounds__\s*\([^)]*\))?[^;{(]*?(\w+)\s*\(")
_lock = threading.Lock()
_users = {}  # how many Programs of this process need a file


def with_a_file(program, code):
    """``code`` with a line before it that names a file with the same text; as it is where none can be written.

    The name tells the calling file and the kernel, and the same text has the same one, so that compiles stay
    reproducible. The file goes when ``program`` is closed, or with it.
    """
    path = _written(code)
    if path is None:
        return code
    program._source_file = path, weakref.finalize(program, _release, path)
    return f'#line 1 "{path}"\n{code}'


def named_after_it(program, code):
    """What ``program`` has compiled, with the name of the file."""
    make = getattr(type(code), f"from_{code.code_type}")
    return make(code.code, name=program._source_file[0], symbol_mapping=code.symbol_mapping)


def _written(code):
    text = code.encode()
    kernel = _KERNEL.search(code)
    parts = (_caller(), kernel[1] if kernel else "kernel", hashlib.sha256(text).hexdigest()[:8])
    path = os.path.join(tempfile.gettempdir(), "_".join(parts) + ".cu")
    if '"' in path or "\\" in path:
        return None
    with _lock:
        if not _is_ours(path, text):
            try:
                _write(path, text)
            except OSError:
                return None
        _users[path] = _users.get(path, 0) + 1
    return path


def _caller():
    """The name of the file whose code makes the Program, without what a name of a file should not have."""
    frame = sys._getframe()
    own = os.path.dirname(os.path.abspath(__file__))
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(own + os.sep):
        frame = frame.f_back
    stem = os.path.splitext(os.path.basename(frame.f_code.co_filename))[0] if frame is not None else ""
    return re.sub(r"\W", "_", stem, flags=re.ASCII) or "python"


def _is_ours(path, text):
    """Whether an earlier Program, perhaps of another process of this user, has written the file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            return os.fstat(file.fileno()).st_uid == os.getuid() and file.read() == text
    except OSError:
        return False


def _write(path, text):
    """At once and for this user alone; what somebody else has put there is an OSError."""
    descriptor, unfinished = tempfile.mkstemp(dir=os.path.dirname(path), prefix=os.path.basename(path))
    try:
        with open(descriptor, "wb") as file:
            file.write(text)
        os.link(unfinished, path)
    finally:
        os.unlink(unfinished)


def _release(path):
    with _lock:
        _users[path] -= 1
        if _users[path]:
            return
        del _users[path]
        try:
            os.unlink(path)
        except OSError:
            pass  # somebody has tidied up
