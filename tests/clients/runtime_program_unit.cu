// A unit of its own, for nvcc -rdc=true: what runtime_program.cu calls on the device.
__device__ float times(float value, float by) { return value * by; }
