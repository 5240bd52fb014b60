// Stands for a library of NVIDIA's in api/nvidia_library_test.cpp: built as libcufft.so.12 and as libsomething.so, it
// asks the driver for things that the CPU device does not have.
#include <cuda.h>

extern "C" {

/// As cuFFT does: asks for an unknown table.
__attribute__((visibility("default"))) int cufftPlan1d() {
  const CUuuid unknown{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  const void* table = nullptr;
  return cuGetExportTable(&table, &unknown) == CUDA_SUCCESS ? 0 : 5;
}

/// Loads a cubin without PTX.
__attribute__((visibility("default"))) int cufftLoad(const void* cubin) {
  CUlibrary library = nullptr;
  return cuLibraryLoadData(&library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS ? 0 : 5;
}
}
