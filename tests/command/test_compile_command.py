"""`cucore compile` of several files: what a terminal sees of it, and which sources get folders of headers."""

import os
import pty
import re
import subprocess

import pytest

pytest_plugins = ["command_line_tool"]

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def compiled(run, *words):
    done = run("compile", *words)
    if "NVRTC" in done.stderr or "nvJitLink" in done.stderr:
        pytest.skip(done.stderr)
    return done


def on_a_terminal(tool, words, folder, **environment):
    """The status, and what the tool writes to standard error, a terminal."""
    controller, terminal = pty.openpty()
    own = {"CUCORE_DEVICE": "cpu", "CUCORE_CACHE_DIR": str(folder / "cache"), **environment}
    process = subprocess.Popen(
        [tool, *map(str, words)], env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=terminal
    )
    os.close(terminal)
    text = b""
    try:
        while part := os.read(controller, 4096):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    return process.wait(timeout=60), text.decode()


@pytest.fixture
def sources(tmp_path):
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.cu").write_text(f'extern "C" __global__ void {name}() {{}}')
    (tmp_path / "out").mkdir()
    return [tmp_path / f"{name}.cu" for name in ("first", "second", "third")]


def test_a_terminal_sees_how_far_it_is_and_in_the_end_nothing(tool, run, sources, tmp_path):
    words = [*sources, "-o", tmp_path / "out", "--to", "ptx", "--arch", "sm_80"]
    compiled(run, *words)
    status, text = on_a_terminal(tool, ["compile", *words], tmp_path)
    assert status == 0
    shown = [f"\rcucore compile: {done} of 3" for done in range(4)]
    assert text == "".join(shown) + "\r\033[K", (
        "each line is written over the one before, and the last one is taken away"
    )
    assert run("compile", *words).stderr == "", "what is no terminal gets none of it"


def test_on_a_terminal_errors_stand_below_the_progress_in_colours_or_not(tool, run, sources, tmp_path):
    compiled(run, sources[0], "-o", tmp_path / "one.ptx", "--to", "ptx", "--arch", "sm_80")
    sources[1].write_text("__global__ void k() { nothing; }")
    words = ["compile", *sources, "-o", tmp_path / "out", "--to", "ptx", "--arch", "sm_80"]
    status, text = on_a_terminal(tool, words, tmp_path)
    progress, _, errors = text.rpartition("\r\033[K")
    assert status == 1 and "3 of 3" in progress and "nothing" not in progress
    assert re.search(r'cucore compile: .*"nothing" is undefined', errors, re.DOTALL)
    status, text = on_a_terminal(tool, ["docter"], tmp_path)
    assert status == 2 and "\033[31m" in text
    assert "\033[31m" not in on_a_terminal(tool, ["docter"], tmp_path, NO_COLOR="1")[1]


def test_cuda_sources_find_headers_beside_them_and_ptx_gets_no_such_folder(run, tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "mine.h").write_text("#define TWO 2\n")
    (folder / "with.cu").write_text('#include "mine.h"\nextern "C" __global__ void k(int* x) { *x = TWO; }')
    (folder / "plain.ptx").write_text(PTX)
    done = compiled(run, folder / "with.cu", "-o", tmp_path / "with.ptx", "--to", "ptx", "--arch", "sm_80")
    assert done.returncode == 0, done.stderr
    done = compiled(run, folder / "plain.ptx", "-o", tmp_path / "plain.cubin", "--arch", "sm_80")
    assert (done.returncode, done.stderr) == (0, "")
    asked = run("compile", folder / "plain.ptx", "-I", folder, "-o", tmp_path / "asked.cubin", "--arch", "sm_80")
    assert asked.returncode == 1 and "include_path" in asked.stderr, "who asks for it is told that it means nothing"
