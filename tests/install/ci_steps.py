"""The steps of ci/Dockerfile, action.yml and ci/gitlab.yml in a bare Debian 13 (bare_system.py), as runners do them.

No container is built: what is tried is what the files say to do, in the order in which they say it, each in a shell of
its own (GitLab: all in one), with the variables that they set. Exit status 1 if something did not work.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from bare_system import ROOT, entered, environment, make_system, prepare

HELLO = "hello from thread 0\nhello from thread 1"


class System:
    """A bare system with variables that later commands see."""

    def __init__(self, folder):
        self.folder = folder
        self.variables = environment()

    def run(self, script, extra=None):
        done = subprocess.run(
            ["chroot", self.folder, "/bin/bash", "-e", "-c", script],
            env={**self.variables, **(extra or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
        print(f"$ {script.strip()}\n{done.stdout[-1500:].strip()}", flush=True)
        if done.returncode != 0:
            sys.exit(f"exit status {done.returncode}")
        return done.stdout

    def expect(self, script, text):
        if text not in self.run(script):
            sys.exit(f"expected: {text}")


def dockerfile(system):
    for line in (ROOT / "ci/Dockerfile").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "RUN":
            system.run(rest)
        elif word == "ENV":
            system.variables.update(setting.split("=", 1) for setting in rest.split())
        elif word == "COPY":
            source, target = rest.split()
            shutil.copytree(ROOT / source, system.folder / target.lstrip("/"), dirs_exist_ok=True)
        elif word == "WORKDIR":
            (system.folder / rest.lstrip("/")).mkdir(exist_ok=True)
        elif word == "CMD":
            system.expect(" ".join(yaml.safe_load(rest)), "CPU device")
    system.expect("python /root/quick_start.py", "all right")
    system.expect("cd /work && nvcc -arch=sm_80 /root/hello.cu -o hello && ./hello", HELLO)


def github(system):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {"python": "/root/github/bin/python", "pip-options": "--find-links /root/wheels"}
    inputs = {name: given.get(name, what["default"]) for name, what in action["inputs"].items()}
    system.run("python3 -m venv /root/github && : > /root/github.env && : > /root/github.output")
    for step in action["runs"]["steps"]:
        env = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], value)
            for name, value in step["env"].items()
        }
        files = {"GITHUB_ENV": "/root/github.env", "GITHUB_OUTPUT": "/root/github.output"}
        system.run(step["run"], {**env, **files})
    lines = (system.folder / "root/github.env").read_text().splitlines()
    system.variables.update(line.split("=", 1) for line in lines)
    if "driver-path=/root/github/" not in (system.folder / "root/github.output").read_text():
        sys.exit("no output driver-path")
    system.expect("/work/hello", HELLO)


def gitlab(system):
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())[".cucore-cpu-device"]
    variables = {**job["variables"], "CUCORE_PYTHON": "/root/gitlab/bin/python"}
    variables["CUCORE_PIP_OPTIONS"] = "--find-links /root/wheels"
    system.run("python3 -m venv /root/gitlab")
    system.variables.update(variables)
    system.expect("\n".join([*job["before_script"], "/work/hello"]), HELLO)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=Path, default=ROOT / "build/wheels")
    parser.add_argument("--systems", type=Path, default=ROOT / "build/bare", help="the folder of the systems")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("debootstrap and chroot need root")
    folder = arguments.systems / "ci"
    if folder.exists():
        shutil.rmtree(folder)  # its steps install packages: a bare one each time
    make_system("trixie", arguments.systems / "trixie")
    subprocess.run(["cp", "-a", arguments.systems / "trixie", folder], check=True)
    prepare(folder, arguments.wheels)
    shutil.copy(ROOT / "tests/install/hello.cu", folder / "root")
    with entered(folder):
        for steps in (dockerfile, github, gitlab):  # the first makes the program that the others run
            print(f"== {steps.__name__}", flush=True)
            steps(System(folder))
    print("all steps passed")


if __name__ == "__main__":
    main()
