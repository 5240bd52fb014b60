// In place of export_tables.cpp where the CPU device is built without CUCORE_CPU_RUNTIME_LIBRARY: no table, and why.
#include "cpu/api/entry.hpp"

CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  if (!ppExportTable || !pExportTableId) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  cucore::cpu::runtime::report(
      "cuGetExportTable: this CPU device was built without what programs on NVIDIA's runtime library need "
      "(CMake: CUCORE_CPU_RUNTIME_LIBRARY)");
  return CUDA_ERROR_NOT_SUPPORTED;
}
