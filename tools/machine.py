"""The machine as results name it: what a reader needs to place them."""

import os
import platform
import re
import subprocess
from pathlib import Path


def machine():
    """GPU name, driver, CPU and software: what a reader needs to place the results."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader"]
    try:
        gpu = subprocess.run(query, capture_output=True, text=True)
        gpu_text = gpu.stdout.strip() or gpu.stderr.strip()
    except FileNotFoundError:
        gpu_text = "none"
    about = dict(re.findall(r"^([^\t:]+?)\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE))
    cpu = about.get("model name", platform.processor())
    if "cpu family" in about:  # virtual machines name several generations alike
        cpu += f", family {about['cpu family']}, model {about['model']}"
    return [
        f"gpu: {gpu_text}",
        f"cpu: {os.cpu_count()} x {cpu}",
        f"system: {platform.platform()}, Python {platform.python_version()}",
    ]
