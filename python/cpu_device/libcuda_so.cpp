// libcuda.so of the Python package: it holds nothing and needs libcuda.so.1 beside it. Programs that open the driver as
// libcuda.so (IREE) find its functions through this; a wheel cannot hold the symbolic link that installations have
// elsewhere.
