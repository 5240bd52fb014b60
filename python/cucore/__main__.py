"""``python -m cucore``: the command-line tool ``cucore`` that was installed with this package."""

import os
import shutil
import sys
import sysconfig


def find_tool():
    """Where installers put it, seen from the package and from the interpreter; then PATH."""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    folders = [beside, *schemes, *os.get_exec_path()]
    return shutil.which("cucore", path=os.pathsep.join(folder for folder in folders if folder))


def main():
    tool = find_tool()
    if tool is None:
        sys.exit("python -m cucore: the program 'cucore' is not installed; install the package anew, or set PATH")
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
