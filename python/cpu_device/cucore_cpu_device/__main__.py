"""`python -m cucore_cpu_device` prints the folder to put into LD_LIBRARY_PATH."""

from cucore_cpu_device import folder

print(folder())
