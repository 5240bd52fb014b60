// Kernel statistics: see kernel_statistics.hpp.
#include "python/bindings/compile/kernel_statistics.hpp"

#include "python/bindings/package.hpp"

namespace cucore::python {

nb::list statistics_list(const std::vector<KernelStatistics>& kernels) {
  nb::list result;
  const nb::handle make = from_package(Package::KernelStatistics);
  for (const KernelStatistics& k : kernels) {
    result.append(make(text_object(k.kernel), text_object(k.arch), k.registers, k.barriers, k.stack_bytes,
                       k.spill_store_bytes, k.spill_load_bytes, k.shared_bytes, k.constant_bytes, k.local_bytes));
  }
  return result;
}

}  // namespace cucore::python
